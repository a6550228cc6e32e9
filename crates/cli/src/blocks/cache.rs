//! `cosim cache`.

use crate::proofs::diff::top;
use crate::terminal::options::{Format, Formatting};
use crate::{counted, print_json, print_text};
use clap::{Args, ValueEnum};
use cosim_base::error::Error;
use cosim_rtl::answers::store::{Store, Total};
use cosim_rtl::models::{answer_store, model_cache};
use serde_json::json;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use verilated_build::{Entry, Kept, Removed};

/// What to do with compiled models and kept answers.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    action: Action,
    #[command(flatten)]
    formatting: Formatting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Action {
    /// Show where they are, which there are, and how large they are.
    #[default]
    Show,
    /// Remove all that no process uses.
    Clear,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let (kept, answers) = (model_cache()?, answer_store()?);
    match arguments.action {
        Action::Show => show(&kept, answers.as_ref(), arguments.formatting.format)?,
        Action::Clear => clear(&kept, answers.as_ref(), arguments.formatting.format)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(kept: &Kept, store: Option<&Store>, format: Format) -> Result<(), Error> {
    let entries = kept.entries()?;
    let answers = of_answers(store, Store::total)?;
    let limit = kept.limit() + store.map_or(0, Store::limit);
    let total = entries.iter().map(|entry| entry.size).sum::<u64>() + answers.bytes;
    let seconds_ago =
        |entry: &Entry| SystemTime::now().duration_since(entry.used).unwrap_or_default().as_secs();
    if format == Format::Json {
        let list = entries.iter().map(|entry| {
            json!({
                "file": entry.path.to_string_lossy(),
                "about": entry.about,
                "bytes": entry.size,
                "used_seconds_ago": seconds_ago(entry),
            })
        });
        return print_json(&json!({
            "folder": kept.folder().to_string_lossy(),
            "limit": limit,
            "bytes": total,
            "entries": list.collect::<Vec<_>>(),
            "answers": { "number": answers.entries, "bytes": answers.bytes },
        }));
    }
    let mut text = format!(
        "{}: {}, {} of at most {}\n",
        kept.folder().display(),
        counted(entries.len() as u64, "file"),
        size(total),
        size(limit),
    );
    for entry in &entries {
        let ago = humantime::format_duration(Duration::from_secs(seconds_ago(entry)));
        let _ = writeln!(text, "  {:>10}  {}, used {ago} ago", size(entry.size), entry.about);
    }
    if answers.entries > 0 {
        let number = counted(answers.entries, "answer");
        let _ = writeln!(text, "  {:>10}  {number} of Yosys and ABC", size(answers.bytes));
    }
    print_text(&text)
}

/// Applies `does` to the answer store, if there is one.
fn of_answers(
    store: Option<&Store>,
    does: impl Fn(&Store) -> io::Result<Total>,
) -> Result<Total, Error> {
    let Some(store) = store else { return Ok(Total::default()) };
    does(store).map_err(Error::write(store.folder()))
}

fn clear(kept: &Kept, store: Option<&Store>, format: Format) -> Result<(), Error> {
    top::clear(kept.folder())?;
    let Removed { files, bytes, in_use } = kept.clear()?;
    let answers = of_answers(store, Store::clear)?;
    let bytes = bytes + answers.bytes;
    if format == Format::Json {
        return print_json(&json!({
            "folder": kept.folder().to_string_lossy(),
            "removed": files,
            "bytes": bytes,
            "in_use": in_use,
            "answers": answers.entries,
        }));
    }
    let stay = match in_use {
        0 => String::new(),
        in_use => format!("; kept {} that a process uses", counted(in_use, "file")),
    };
    let removed = match answers.entries {
        0 => counted(files, "file"),
        answers => format!("{} and {}", counted(files, "file"), counted(answers, "answer")),
    };
    print_text(&format!("{}: removed {removed}, {}{stay}", kept.folder().display(), size(bytes)))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
