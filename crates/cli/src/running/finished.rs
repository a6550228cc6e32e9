//! Prints the results of several regressions and a final summary line.

use crate::failures::failure::explain_command;
use crate::running::conclude::{EarlierRuns, RunReport};
use crate::running::summary::{Detail, Summary};
use crate::terminal::fit::Terminal;
use crate::terminal::options::Format;
use crate::{INTERRUPTED, counted, print_json, print_text, written};
use cosim_base::error::Error;
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::command_line;
use cosim_formats::run::{self, End, JOURNAL, WaiverUse};
use cosim_harness::harness::Case;
use cosim_regress::blocks;
use cosim_regress::regression::{FinishedRun, NOT_WRITTEN};
use cosim_report::paths::word;
use cosim_report::report::{self, Ci, Reproduce, Results};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use verilated_build::activity;

/// Exit code of a run that passed but could not write all its files.
const UNWRITTEN: u8 = 3;

pub fn exit_code(run: &FinishedRun) -> u8 {
    match run.end {
        End::Interrupted => INTERRUPTED,
        _ if !run.passed => 1,
        _ if run.unwritten.count > 0 => UNWRITTEN,
        _ => 0,
    }
}

/// The results of the runs so far: of several blocks, or of a plan.
pub struct FinishedRuns {
    names: Vec<String>,
    format: Format,
    /// The name by which this program was called.
    program: String,
    ci: Option<Ci>,
    /// The time of compilations before the last printed run.
    built: Duration,
    codes: Vec<(String, u8)>,
    /// The cases that each waiver matched, over all runs.
    waivers: Vec<WaiverUse>,
    summaries: Vec<serde_json::Value>,
    /// The folder above the runs of several blocks.
    folder: Option<PathBuf>,
    /// Whether the index page could not be written.
    unwritten: bool,
}

impl FinishedRuns {
    pub fn new(names: Vec<String>, format: Format) -> Self {
        let program = program::called();
        let (codes, waivers, summaries) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            names,
            format,
            program,
            ci: Ci::detect(),
            built: Duration::ZERO,
            codes,
            waivers,
            summaries,
            folder: None,
            unwritten: false,
        }
    }

    /// Prints the result of a run, followed by `more`.
    pub fn print(
        &mut self,
        name: &str,
        report: &RunReport,
        detail: Detail,
        more: &str,
    ) -> Result<(), Error> {
        let reproduce = Reproduce { program: &self.program, run: &report.run.header };
        let command = |case: &Case| reproduce.command(&case.name);
        let terminal = Terminal::new(&self.program);
        let before = std::mem::replace(&mut self.built, activity::built());
        let summary = Summary {
            run: &report.run,
            known: report.known.as_ref(),
            command: &command,
            terminal: &terminal,
            built: self.built - before,
        };
        if self.format == Format::Text {
            let mut text = format!("{}\n{more}", summary.text(detail).trim_end());
            if let Some(next) = self.next(&report.run, detail) {
                text = format!("{}\n  next: {next}", text.trim_end());
            }
            print_text(&terminal.fit(&text::lines(&text)))?;
            if self.names.len() > 1 {
                print_text("")?;
            }
        }
        if let Some(ci) = &self.ci {
            annotate(ci, report);
        }
        self.codes.push((name.to_owned(), exit_code(&report.run)));
        self.folder = report.run.folder.parent().map(Path::to_owned);
        self.summaries.push(summary.json());
        self.add_waivers(report.run.waivers());
        Ok(())
    }

    /// The command to type after a run.
    fn next(&self, run: &FinishedRun, detail: Detail) -> Option<String> {
        run.results.as_ref()?;
        if run.end == End::Interrupted && run.folder.join(JOURNAL).is_file() {
            // The runs of several blocks are resumed together.
            let all = run.folder.parent().filter(|_| self.names.len() > 1).unwrap_or(&run.folder);
            return Some(command_line(&[self.program.clone(), "resume".to_owned(), word(all)]));
        }
        // Those of several blocks have one page, which is named at the end.
        if run.passed && self.names.len() == 1 && !matches!(detail, Detail::Result) {
            return Some(command_line(&[
                self.program.clone(),
                "open".to_owned(),
                word(&run.folder),
            ]));
        }
        let main = run::causes(&run.failures).first()?.main;
        main.first.vector.as_ref()?;
        Some(explain_command(1, &run.folder, &run.header, &run.header.given))
    }

    /// Prints the result of a run that had ended before.
    pub fn before(&mut self, name: &str, results: &Results) -> Result<(), Error> {
        if self.format == Format::Text {
            print_text(&format!("{}  {name}: it had ended before\n", results.verdict()))?;
        }
        self.codes.push((name.to_owned(), u8::from(!results.passed)));
        if results.run.is_whole() {
            self.add_waivers(run::uses(&results.run.waivers, &results.failures));
        }
        self.summaries.push(serde_json::json!({
            "run": results.run,
            "passed": results.passed,
            "ended": results.ended,
            "totals": results.totals,
        }));
        Ok(())
    }

    fn add_waivers(&mut self, uses: Vec<WaiverUse>) {
        for one in uses {
            match self.waivers.iter_mut().find(|known| known.waiver == one.waiver) {
                Some(known) => known.cases = known.cases.saturating_add(one.cases),
                None => self.waivers.push(one),
            }
        }
    }

    fn unused_waivers(&self) -> impl Iterator<Item = String> {
        let unused = self.waivers.iter().filter(|one| one.cases == 0);
        unused.map(|WaiverUse { waiver, .. }| {
            format!(
                "waiver of {} {} until {} is unused: no failure has this signature; remove it from \
                 the plan",
                waiver.block, waiver.signature, waiver.expires
            )
        })
    }

    /// Writes the index page of several runs and prints the final summary. Returns the exit code.
    pub fn end(&mut self, earlier: &EarlierRuns) -> Result<ExitCode, Error> {
        if let Some(folder) = self.folder.take().filter(|_| self.names.len() > 1) {
            match earlier.index(&folder, &self.names) {
                Ok(page) if self.format == Format::Text => {
                    print_text(&written(&page, &["open", &word(&folder)]))?;
                }
                Ok(_) => {}
                Err(error) => {
                    program::print_note(format_args!("error: {error}"));
                    self.unwritten = true;
                }
            }
        }
        match (self.format, self.summaries.as_slice()) {
            (Format::Json, [summary]) if self.names.len() == 1 => print_json(summary)?,
            (Format::Json, summaries) => print_json(&summaries)?,
            (Format::Text, _) if self.names.len() > 1 => print_text(&self.text())?,
            _ => {}
        }
        // A run that did not start may use the waiver.
        if self.format == Format::Text && self.code() != INTERRUPTED {
            self.unused_waivers().try_for_each(|line| print_text(&line))?;
        }
        Ok(ExitCode::from(self.code()))
    }

    /// The overall exit code: the most severe of all runs.
    fn code(&self) -> u8 {
        let by_severity = [INTERRUPTED, 1, UNWRITTEN];
        let is_there = |code: &u8| {
            self.codes.iter().any(|(_, other)| other == code)
                || (*code == UNWRITTEN && self.unwritten)
        };
        by_severity.into_iter().find(is_there).unwrap_or(0)
    }

    fn text(&self) -> String {
        let names = &self.names;
        let verdict = match self.code() {
            INTERRUPTED => "INTERRUPTED",
            1 => "FAIL",
            UNWRITTEN => NOT_WRITTEN,
            _ => "PASS",
        };
        let word = |name: &String| {
            let code = self.codes.iter().find(|(other, _)| other == name).map(|(_, code)| *code);
            let word = match code {
                Some(0) => "passed",
                Some(UNWRITTEN) => "passed, but some files could not be written",
                Some(INTERRUPTED) => "interrupted",
                Some(_) => "failed",
                None => "not run",
            };
            format!("{name} {word}")
        };
        let words: Vec<String> = names.iter().map(word).collect();
        let are_blocks = names.iter().all(|name| blocks::find(name).is_some());
        let thing = if are_blocks { "block" } else { "run" };
        format!("{verdict}  {}: {}", counted(names.len() as u64, thing), words.join(", "))
    }
}

/// Reports to the CI system of this process. Failures only cause a warning, because the run
/// directory has all results.
fn annotate(ci: &Ci, report: &RunReport) {
    if report.run.results.is_some() {
        match report::annotate(ci, &report.run.folder) {
            Ok(lines) => program::show(&lines),
            Err(error) => program::warn(format_args!(
                "cannot write the annotations for the \
                 CI system: {error}"
            )),
        }
    }
}
