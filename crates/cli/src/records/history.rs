//! `cosim history`.

use crate::terminal::options::{Format, Formatting, check_output, heading, path};
use crate::{counted, next_line, print_json, print_text, written};
use clap::{Args, Subcommand};
use cosim_base::error::Error;
use cosim_harness::value::short;
use cosim_report::history::{FailureHistory, History, RecordedRun, Run};
use cosim_report::paths::word;
use cosim_report::report;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// A file with runs, and what is to be done with it.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: HistoryQuery,
}

#[derive(Debug, Subcommand)]
enum HistoryQuery {
    /// Add runs to a history file; known runs are skipped.
    Add {
        /// History file; created if it does not exist.
        #[arg(value_name = "FILE", value_parser = path)]
        file: PathBuf,
        /// Run directories to add.
        #[arg(value_name = "DIR", value_parser = path, required = true)]
        folders: Vec<PathBuf>,
    },
    /// Write a page with charts, failures and all runs.
    Report {
        /// History file.
        #[arg(value_name = "FILE", value_parser = path)]
        file: PathBuf,
        /// Show this block only.
        #[arg(long, value_name = "NAME", help_heading = heading::WHAT)]
        block: Option<String>,
        /// Write the page to PAGE [default: FILE.html].
        #[arg(long, value_name = "PAGE", value_parser = path, help_heading = heading::OUTPUT)]
        out: Option<PathBuf>,
    },
    /// Show runs, and failures with first and last occurrence, count and RTL.
    Show {
        /// History file.
        #[arg(value_name = "FILE", value_parser = path)]
        file: PathBuf,
        /// Show this block only.
        #[arg(long, value_name = "NAME", help_heading = heading::WHAT)]
        block: Option<String>,
        #[command(flatten)]
        formatting: Formatting,
    },
}

/// Number of runs in text output. JSON output lists all.
const RUNS_SHOWN: usize = 20;

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    match &arguments.what {
        HistoryQuery::Add { file, folders } => {
            // Read all runs first, so that an error leaves no new file.
            let runs = folders.iter().map(|folder| RecordedRun::read(folder));
            let runs = runs.collect::<Result<Vec<RecordedRun>, Error>>()?;
            let (_, added) = History::record(file, runs)?;
            let known = folders.len() as u64 - added;
            let next = ["history", "report", &word(file)];
            let end = if added > 0 { written(file, &next) } else { next_line(&next) };
            let added = counted(added, "run");
            print_text(&format!("{added} added, {known} already recorded\n{end}"))?;
        }
        HistoryQuery::Report { file, block, out } => {
            let history = History::existing(file)?;
            let page = out.clone().unwrap_or_else(|| {
                let mut name = file.clone().into_os_string();
                name.push(".html");
                PathBuf::from(name)
            });
            if out.is_some() {
                check_output(&page)?;
            }
            report::write_history(&page, &history, block.as_deref())?;
            print_text(&written(&page, &["open", &word(&page)]))?;
        }
        HistoryQuery::Show { file, block, formatting } => {
            let history = History::existing(file)?;
            let block = block.as_deref();
            let runs = history.runs(block);
            match formatting.format {
                Format::Json => {
                    let failures = history.failures(block);
                    print_json(&json!({ "runs": runs, "failures": failures }))?;
                }
                Format::Text => {
                    let next = next_line(&["history", "report", &word(file)]);
                    print_text(&(history_text(&runs, &history.causes(block)) + &next))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn history_text(runs: &[Run], failures: &[FailureHistory]) -> String {
    let mut text = String::new();
    for FailureHistory { block, signature, more, first, last, runs, cases, status } in failures {
        let runs = counted(*runs, "run");
        let more = match more {
            0 => String::new(),
            more => format!(" and {} of this cause", counted(*more, "more signature")),
        };
        let (status, cases) = (status.word(), counted(*cases, "case"));
        let _ = writeln!(text, "{block} {signature}{more}, {status}: {cases} in {runs}");
        let _ = writeln!(
            text,
            "  first {} on RTL {}, last {} on RTL {}",
            first.0, first.1, last.0, last.1
        );
    }
    if failures.is_empty() {
        let _ = writeln!(text, "no failures recorded");
    }
    let _ = writeln!(text, "\n{}", counted(runs.len() as u64, "run"));
    for run in runs.iter().rev().take(RUNS_SHOWN) {
        let _ = writeln!(
            text,
            "  {} {:12} {:10} seed {}, RTL {}: {}, {} failed, {} cycles, {} cycles/s, {} of {} bins",
            run.ended,
            run.verdict,
            run.block,
            run.seed,
            run.rtl,
            counted(run.cases, "case"),
            run.failed,
            short(run.cycles as f64),
            short(run.cycles_per_second),
            run.bins_hit,
            run.bins_reachable,
        );
    }
    if runs.len() > RUNS_SHOWN {
        let _ = writeln!(
            text,
            "  and {} earlier runs; --format json lists them all",
            runs.len() - RUNS_SHOWN
        );
    }
    text
}
