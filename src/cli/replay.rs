//! `cosim replay`.

use super::options::{Choice, Format, Patience, check_output, find_block};
use super::{INTERRUPTED, interruption, print_json, print_text};
use crate::engine::{LoadedVector, Replayed, Waves};
use crate::error::Error;
use crate::harness::{Signature, Verdict, Watch};
use crate::models::Rtl;
use crate::runner::guarded;
use crate::vector::VectorFile;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Vectors to run again. No random number is drawn.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Vectors.
    #[arg(required = true, value_name = "VECTOR")]
    vectors: Vec<PathBuf>,
    /// The block the vectors must be of [default: whichever they name].
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// Another RTL of the block: a Verilog file or a folder.
    #[arg(long, value_name = "DIR|FILE")]
    rtl: Option<PathBuf>,
    /// Write waves of RTL and golden model: 50 cycles before the end and 10 after a mismatch.
    #[arg(long, value_name = "FILE.fst|FILE.vcd")]
    trace: Option<PathBuf>,
    /// Write every cycle to the trace.
    #[arg(long, requires = "trace")]
    trace_all: bool,
    /// Succeed only if exactly the recorded mismatch happens.
    #[arg(long)]
    expect_recorded: bool,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print failures only.
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    patience: Patience,
}

/// Reads a vector; its block must be `expected`, if one is.
pub fn load(path: &Path, expected: Option<&str>) -> Result<Arc<dyn LoadedVector>, Error> {
    expected.map(find_block).transpose()?;
    let file = VectorFile::read(path)?;
    let wrong = |message: String| Error::File { path: path.to_owned(), message };
    let block = find_block(&file.block).map_err(|error| wrong(format!("block: {error}")))?;
    if let Some(expected) = expected
        && expected != file.block
    {
        return Err(wrong(format!("is a vector of block {}, not of {expected}", file.block)));
    }
    Ok(Arc::from(block.load(&file)?))
}

/// Replays vectors.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(trace) = &arguments.trace {
        Waves::format(trace)?;
        check_output(trace)?;
    }
    // All are read before the first is run: a bad one changes nothing.
    let mut runs = Vec::new();
    for path in &arguments.vectors {
        let vector = load(path, arguments.block.as_deref())?;
        let profiles =
            vector.profiles(arguments.choice.fixes.as_deref(), &arguments.choice.overrides()?)?;
        runs.push((path, vector, profiles));
    }
    let count: usize = runs.iter().map(|(_, _, profiles)| profiles.len()).sum();
    if arguments.trace.is_some() && count != 1 {
        let message = "--trace takes one vector and one profile: choose with --fixes";
        return Err(Error::Usage(message.to_owned()));
    }
    let waves = arguments.trace.clone().map(|path| Waves { path, all: arguments.trace_all });
    let rtl = arguments.rtl.clone().map_or(Rtl::BuiltIn, Rtl::Path);
    let interrupted = interruption()?;

    let mut failed = false;
    let mut reports = Vec::new();
    for (path, vector, profile) in runs.iter().flat_map(|(path, vector, profiles)| {
        profiles.iter().map(move |profile| (path, vector, profile))
    }) {
        let (vector, name) = (Arc::clone(vector), profile.name.clone());
        let (profile, rtl, waves) = (profile.clone(), rtl.clone(), waves.clone());
        let work = move |watch: &Watch| vector.replay(&profile, &rtl, waves.as_ref(), watch);
        let replayed = match guarded(arguments.patience.stuck_after, &interrupted, work) {
            Err(Error::Stuck(_)) => Replayed::stuck(),
            other => other??,
        };
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let ok = if arguments.expect_recorded {
            replayed.is_recorded == Some(true)
        } else {
            replayed.outcome.verdict == Verdict::Match
        };
        failed |= !ok;
        match arguments.format {
            Format::Json => reports.push(report(path, &name, &replayed, ok)),
            Format::Text if ok && arguments.quiet => {}
            Format::Text => print_text(&line(path, &name, &replayed, ok))?,
        }
    }
    if arguments.format == Format::Json {
        print_json(&reports)?;
    } else if let Some(waves) = &waves {
        print_text(&format!("waves: {}", waves.path.display()))?;
    }
    Ok(ExitCode::from(if interrupted.load(Ordering::Relaxed) {
        INTERRUPTED
    } else {
        u8::from(failed)
    }))
}

fn report(path: &Path, fixes: &str, replayed: &Replayed, ok: bool) -> Value {
    json!({
        "vector": path,
        "fixes": fixes,
        "ok": ok,
        "outcome": replayed.outcome.verdict,
        "signature": Signature::of(&replayed.outcome.verdict),
        "is_recorded": replayed.is_recorded,
        "cycles": replayed.outcome.cycles,
        "rules": replayed.rules,
    })
}

fn line(path: &Path, fixes: &str, replayed: &Replayed, ok: bool) -> String {
    let recorded = match replayed.is_recorded {
        None => "",
        Some(true) => " (as recorded)",
        Some(false) => " (not what was recorded)",
    };
    format!(
        "{}  {} {fixes}: {}{recorded}, {} cycles",
        if ok { "ok  " } else { "FAIL" },
        path.display(),
        replayed.outcome.verdict,
        replayed.outcome.cycles,
    )
}
