//! `cosim signoff`: what shows each rule of a block's specification.

use crate::failures::failure::latest;
use crate::terminal::options::{Format, Formatting, check_output, heading, path};
use crate::{counted, next_line, print_json, print_text, written};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::files::{Sync, write_whole};
use cosim_base::text;
use cosim_harness::harness::Blocks;
use cosim_regress::blocks;
use cosim_report::paths::word;
use cosim_report::report::{RuleEvidence, SignOff, Sources};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Number of rules with empty cells that are listed.
const RULES_SHOWN: usize = 20;

/// The results.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directories, and results of `mutate` and `prove`, of one block and RTL [default: the
    /// latest run].
    #[arg(value_name = "DIR", value_parser = path)]
    folders: Vec<PathBuf>,
    /// Count the vectors in DIR that name a rule; may be repeated.
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::WHAT)]
    vectors: Vec<PathBuf>,
    /// Count the planted bugs in DIR, patches whose first lines name a rule; may be repeated.
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::WHAT)]
    bugs: Vec<PathBuf>,
    /// Write the page to FILE.
    #[arg(short, long, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    /// Write the matrix as CSV to FILE.
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    csv: Option<PathBuf>,
    #[command(flatten)]
    formatting: Formatting,
}

impl Arguments {
    pub fn inputs(&self) -> &[PathBuf] {
        &self.folders
    }
}

/// Collects the matrix. Exit code 1 if a run failed, or if no case uses a rule.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { folders, vectors, bugs, out, csv, formatting } = arguments;
    let folders = if folders.is_empty() { &vec![latest()] } else { folders };
    for file in [out, csv].into_iter().flatten() {
        check_output(file)?;
    }
    let infos = blocks::infos();
    let blocks = Blocks(&infos);
    let sign_off = SignOff::collect(&Sources { folders, vectors, bugs }, blocks)?;
    if let Some(file) = out {
        write_whole(file, sign_off.page(blocks)?.as_bytes(), Sync::Lazy)?;
    }
    if let Some(file) = csv {
        write_whole(file, sign_off.csv().as_bytes(), Sync::Lazy)?;
    }
    let (without_case, empty) = sign_off.gaps();
    match formatting.format {
        Format::Json => print_json(&sign_off)?,
        Format::Text => {
            let mut printed = format!(
                "{}: {}, {without_case} without a case, {} empty\n",
                sign_off.block,
                counted(sign_off.rules.len() as u64, "rule"),
                counted(empty as u64, "cell"),
            );
            let has_gap = |rule: &&RuleEvidence| rule.cells.iter().any(|cell| cell.is_empty());
            let gaps: Vec<&RuleEvidence> = sign_off.rules.iter().filter(has_gap).collect();
            for RuleEvidence { rule, cells, .. } in gaps.iter().take(RULES_SHOWN) {
                let columns = sign_off.columns.iter().zip(cells);
                let missing = columns.filter(|(_, cell)| cell.is_empty());
                let missing: Vec<&str> = missing.map(|(column, _)| *column).collect();
                let _ = writeln!(printed, "  {rule}: no {}", missing.join(", no "));
            }
            if gaps.len() > RULES_SHOWN {
                let _ = writeln!(printed, "  and {} more rules", gaps.len() - RULES_SHOWN);
            }
            for (column, source) in &sign_off.missing {
                let _ = writeln!(printed, "  not analysed: {column}; add {source}");
            }
            if let Some(file) = csv {
                let _ = writeln!(printed, "  wrote {}", text::path(file));
            }
            printed += &match out {
                Some(file) => written(file, &["open", &word(file)]),
                None => {
                    let folders: Vec<String> = folders.iter().map(|folder| word(folder)).collect();
                    let folders = folders.iter().map(String::as_str);
                    let out = ["--out", "signoff.html"];
                    let words = std::iter::once("signoff").chain(folders).chain(out);
                    next_line(&words.collect::<Vec<_>>())
                }
            };
            print_text(&printed)?;
        }
    }
    Ok(ExitCode::from(u8::from(!sign_off.passed || without_case > 0)))
}
