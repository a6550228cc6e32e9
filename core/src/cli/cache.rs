//! `cosim cache`.

use super::options::Format;
use super::{counted, print_json, print_text};
use crate::error::Error;
use crate::models::kept;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use verilated_build::{Entry, Kept, Removed};

/// What to do with compiled models.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    action: Action,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Action {
    /// Show where they are, which there are, and how large they are.
    #[default]
    Show,
    /// Remove all that no process uses.
    Clear,
}

/// Shows or clears the cache of compiled models.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let kept = kept()?;
    match arguments.action {
        Action::Show => show(&kept, arguments.format)?,
        Action::Clear => clear(&kept, arguments.format)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(kept: &Kept, format: Format) -> Result<(), Error> {
    let entries = kept.entries()?;
    let total: u64 = entries.iter().map(|entry| entry.size).sum();
    let seconds_ago =
        |entry: &Entry| SystemTime::now().duration_since(entry.used).unwrap_or_default().as_secs();
    if format == Format::Json {
        let list = entries.iter().map(|entry| {
            json!({
                "file": entry.path,
                "about": entry.about,
                "bytes": entry.size,
                "used_seconds_ago": seconds_ago(entry),
            })
        });
        return print_json(&json!({
            "folder": kept.folder(),
            "limit": kept.limit(),
            "bytes": total,
            "entries": list.collect::<Vec<_>>(),
        }));
    }
    let mut text = format!(
        "{}: {}, {} of at most {}\n",
        kept.folder().display(),
        counted(entries.len() as u64, "file"),
        size(total),
        size(kept.limit()),
    );
    for entry in &entries {
        let ago = humantime::format_duration(Duration::from_secs(seconds_ago(entry)));
        let _ = writeln!(text, "  {:>10}  {}, used {ago} ago", size(entry.size), entry.about);
    }
    print_text(&text)
}

fn clear(kept: &Kept, format: Format) -> Result<(), Error> {
    let Removed { files, bytes, in_use } = kept.clear()?;
    if format == Format::Json {
        return print_json(&json!({
            "folder": kept.folder(),
            "removed": files,
            "bytes": bytes,
            "in_use": in_use,
        }));
    }
    let stay = match in_use {
        0 => String::new(),
        in_use => format!("; {} that a process uses stayed", counted(in_use, "file")),
    };
    let folder = kept.folder().display();
    print_text(&format!("{folder}: removed {}, {}{stay}", counted(files, "file"), size(bytes)))
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
