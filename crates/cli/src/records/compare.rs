//! `cosim compare`: two runs of a block.

use crate::terminal::options::{Format, Formatting, check_output, heading, path};
use crate::{next_line, print_json, print_text, written};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::files::{Sync, folder_of, write_whole};
use cosim_harness::value::short;
use cosim_report::paths::word;
use cosim_report::report::{Change, Comparison};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Number of bins to list per profile.
const BINS_SHOWN: usize = 4;
const FAILURES_SHOWN: usize = 20;

/// The runs.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directory of the older run.
    #[arg(value_name = "OLD", value_parser = path)]
    old: PathBuf,
    /// Run directory of the newer run.
    #[arg(value_name = "NEW", value_parser = path)]
    new: PathBuf,
    /// Write the page to FILE.
    #[arg(short, long, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    #[command(flatten)]
    formatting: Formatting,
}

/// Compares the runs. Exit code 1 if the newer one has a failure that the older one lacks.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    arguments.out.as_deref().map_or(Ok(()), check_output)?;
    let compared = Comparison::compare_runs([&arguments.old, &arguments.new])?;
    if let Some(out) = &arguments.out {
        let page = compared.page(folder_of(out))?;
        write_whole(out, page.as_bytes(), Sync::Lazy)?;
    }
    match arguments.formatting.format {
        Format::Json => print_json(&compared)?,
        Format::Text => {
            let [old, new] = [&arguments.old, &arguments.new].map(|run| word(run));
            let end = match &arguments.out {
                Some(out) => written(out, &["open", &word(out)]),
                None if compared.is_worse() => next_line(&["explain", "1", "--run", &new]),
                None => next_line(&["compare", &old, &new, "--out", "compare.html"]),
            };
            print_text(&(text_of(&compared) + &end))?;
        }
    }
    Ok(ExitCode::from(u8::from(compared.is_worse())))
}

fn text_of(compared: &Comparison) -> String {
    let [old, new] = &compared.runs;
    let changes = [Change::New, Change::Still, Change::Gone, Change::NotRun];
    let counts = changes.map(|change| format!("{} {}", compared.count(change), change.word()));
    let verdict = if compared.is_worse() { "WORSE" } else { "NOT WORSE" };
    let mut text = format!(
        "{verdict}  {}: {} was {}, {} is {}; failures: {}\n",
        compared.block,
        old.folder,
        old.verdict,
        new.folder,
        new.verdict,
        counts.join(", ")
    );
    for line in &compared.settings {
        let _ = writeln!(text, "      other {line}");
    }
    for one in compared.failures.iter().take(FAILURES_SHOWN) {
        let (word, [before, now]) = (one.change.word(), one.cases);
        let _ = writeln!(text, "  {word:<8} {}: {before} cases before, {now} now", one.signature);
    }
    if let Some(more) = compared.failures.len().checked_sub(FAILURES_SHOWN + 1) {
        let _ = writeln!(text, "  and {} more", more + 1);
    }
    for one in &compared.coverage {
        let [(before, of), (now, of_now)] = one.bins;
        let _ = writeln!(
            text,
            "  profile {}: {before} of {of} bins before, {now} of {of_now} now",
            one.profile
        );
        for (word, bins) in [("lost", &one.lost), ("gained", &one.gained)] {
            for bin in bins.iter().take(BINS_SHOWN) {
                let _ = writeln!(text, "    {word}: {bin}");
            }
            if bins.len() > BINS_SHOWN {
                let _ = writeln!(text, "    {word}: {} more", bins.len() - BINS_SHOWN);
            }
        }
    }
    if let (Some(before), Some(now), Some(percent)) =
        (old.cycles_per_second, new.cycles_per_second, compared.speed_change())
    {
        let (before, now) = (short(before), short(now));
        let _ = writeln!(text, "  {before} cycles/s before, {now} now ({percent:+.1} %)");
    }
    text
}
