//! What came of regressions of several blocks: told one after another, and all of them in the last line.

use super::options::Format;
use super::regression::{Report, UNWRITTEN};
use super::summary::Detail;
use super::{INTERRUPTED, counted, print_json, print_text};
use crate::error::Error;
use crate::harness::Case;
use crate::program;
use crate::report::{self, Ci, Reproduce, Results};
use std::env;
use std::process::ExitCode;

/// What came of the blocks so far.
pub struct Done {
    /// All that there are.
    names: Vec<&'static str>,
    format: Format,
    /// As this program was called.
    program: String,
    ci: Option<Ci>,
    blocks: Vec<(&'static str, u8)>,
    summaries: Vec<serde_json::Value>,
}

impl Done {
    /// Nothing yet.
    pub fn new(names: Vec<&'static str>, format: Format) -> Self {
        let program = env::args().next().unwrap_or_else(|| program::name().to_owned());
        let (blocks, summaries) = (Vec::new(), Vec::new());
        Self { names, format, program, ci: Ci::detect(), blocks, summaries }
    }

    /// Tells what came of a block, with `more` behind it.
    ///
    /// # Errors
    /// If it cannot be printed.
    pub fn tell(
        &mut self,
        block: &'static str,
        report: &Report,
        detail: Detail,
        more: &str,
    ) -> Result<(), Error> {
        let reproduce = Reproduce { program: &self.program, run: &report.header };
        let command = |case: &Case| reproduce.command(&case.name);
        let summary = report.summary(&command);
        if self.format == Format::Text {
            print_text(&format!("{}\n{more}", summary.text(detail).trim_end()))?;
            if self.names.len() > 1 {
                print_text("")?;
            }
        }
        if let Some(ci) = &self.ci {
            tell(ci, report);
        }
        self.blocks.push((block, report.exit_code()));
        self.summaries.push(summary.json());
        Ok(())
    }

    /// Tells of a block whose run had ended before.
    ///
    /// # Errors
    /// If it cannot be printed.
    pub fn before(&mut self, block: &'static str, results: &Results) -> Result<(), Error> {
        if self.format == Format::Text {
            print_text(&format!("{}  {block}: it had ended before\n", results.verdict()))?;
        }
        self.blocks.push((block, u8::from(!results.passed)));
        self.summaries.push(serde_json::json!({
            "run": results.run,
            "passed": results.passed,
            "ended": results.ended,
            "totals": results.totals,
        }));
        Ok(())
    }

    /// Tells what came of all of them; the exit code.
    ///
    /// # Errors
    /// If it cannot be printed.
    pub fn end(&self) -> Result<ExitCode, Error> {
        match (self.format, self.summaries.as_slice()) {
            (Format::Json, [summary]) if self.names.len() == 1 => print_json(summary)?,
            (Format::Json, summaries) => print_json(&summaries)?,
            (Format::Text, _) if self.names.len() > 1 => print_text(&self.text())?,
            _ => {}
        }
        Ok(ExitCode::from(self.code()))
    }

    /// The exit code of all: the gravest.
    fn code(&self) -> u8 {
        let gravest = [INTERRUPTED, 1, UNWRITTEN];
        let is_there = |code: &u8| self.blocks.iter().any(|(_, other)| other == code);
        gravest.into_iter().find(is_there).unwrap_or(0)
    }

    /// What came of all of them, in one line.
    fn text(&self) -> String {
        let names = &self.names;
        let verdict = match self.code() {
            INTERRUPTED => "INTERRUPTED",
            1 => "FAIL",
            _ => "PASS",
        };
        let word = |name: &&str| {
            let code = self.blocks.iter().find(|(other, _)| other == name).map(|(_, code)| *code);
            let word = match code {
                Some(0) => "passed",
                Some(UNWRITTEN) => "passed, not all is written",
                Some(INTERRUPTED) => "interrupted",
                Some(_) => "failed",
                None => "not run",
            };
            format!("{name} {word}")
        };
        let words: Vec<String> = names.iter().map(word).collect();
        format!("{verdict}  {}: {}", counted(names.len() as u64, "block"), words.join(", "))
    }
}

/// Tells the CI system around this process. What it cannot be told is in the run directory all the same.
fn tell(ci: &Ci, report: &Report) {
    if report.is_written() {
        match report::annotate(ci, &report.folder) {
            Ok(lines) => eprint!("{lines}"),
            Err(error) => eprintln!("cosim: warning: the CI system is not told: {error}"),
        }
    }
}
