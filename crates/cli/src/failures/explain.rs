//! `cosim explain`.

use crate::failures::failure::NumberedRun;
use crate::failures::replay::load;
use crate::running::summary::rtl_files;
use crate::terminal::options::{Format, Formatting, ModelLimits, VectorRtl, VectorTarget, path};
use crate::terminal::progress;
use crate::{interruption, print_json};
use anstyle::{AnsiColor, Style};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::program;
use cosim_base::text::{line as line_of, lines as lines_of, path as path_of};
use cosim_block::explanation::{
    CycleLine, Difference, Explanation, InputLine, PortValue, Step, Suspect,
};
use cosim_block::rtl::{Rtl, command_line};
use cosim_regress::loaded::LoadedVector;
use cosim_regress::suspects::suspicious_lines;
use cosim_regress::worker::one_shot::VectorJob;
use cosim_regress::worker::{Finish, OneShotWorker};
use cosim_rtl::models::FileRead;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use verilated_runtime::Tracing;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// A vector to explain.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Vector to explain, or the number of a failure of the latest run.
    #[arg(value_name = "VECTOR|N", value_parser = path, default_value = "1")]
    vector: PathBuf,
    #[command(flatten)]
    run: NumberedRun,
    #[command(flatten)]
    target: VectorTarget,
    #[command(flatten)]
    rtl: VectorRtl,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    limits: ModelLimits,
}

impl Arguments {
    pub fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.vector)
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    explain(arguments, interruption()?)
}

/// Explains a vector that was just written, on this RTL.
pub fn show(
    vector: PathBuf,
    rtl: Rtl,
    limits: ModelLimits,
    interrupted: Arc<AtomicBool>,
) -> Result<ExitCode, Error> {
    let (target, rtl) = (VectorTarget::default(), VectorRtl::from(rtl));
    let formatting = Formatting { format: Format::Text };
    let run = NumberedRun::default();
    explain(&Arguments { vector, run, target, rtl, formatting, limits }, interrupted)
}

fn explain(arguments: &Arguments, interrupted: Arc<AtomicBool>) -> Result<ExitCode, Error> {
    let path = arguments.run.vector(&arguments.vector)?;
    let vector = load(&path, arguments.target.block.as_deref())?;
    let rtl = arguments.rtl.of_vector(&path, &vector.loaded)?;
    let (fixes, overrides) =
        (arguments.target.choice.fixes.as_deref(), arguments.target.choice.overrides()?);
    let all = vector.loaded.profiles(fixes, &overrides)?;
    vector.loaded.check_profiles(&rtl, &all)?;
    let worker = OneShotWorker::new(arguments.limits.program()?, interrupted);
    let mut explanations = Vec::new();
    for profile in &all {
        let subject = VectorJob { block: vector.block, vector: &vector.file, profile, rtl: &rtl };
        explanations.push(match worker.explain(&subject, Tracing::Off)? {
            Finish::Lost(verdict) => Explanation::lost(profile, &verdict),
            other => other.done()?,
        });
    }
    let mut suspects: Vec<Vec<Suspect>> = Vec::new();
    for (profile, explanation) in all.iter().zip(&explanations) {
        suspects.push(match explanation.cycles.is_empty() || explanation.signature.is_none() {
            true => Vec::new(),
            false => {
                let (block, file) = (vector.block, &vector.file);
                let subject = VectorJob { block, vector: file, profile, rtl: &rtl };
                suspicious_lines(&worker, &subject)?
            }
        });
    }
    match arguments.formatting.format {
        Format::Json => {
            let examined = vector.loaded.examine(&rtl)?;
            let both = explanations.iter().zip(&suspects);
            let reports: Vec<Report<'_>> = both
                .map(|(explanation, suspects)| Report {
                    explanation,
                    suspects,
                    rtl_identity: &examined.identity,
                    rtl_files: &examined.files,
                })
                .collect();
            print_json(&reports)?;
        }
        Format::Text => {
            let about = vector.loaded.about();
            let mut options = rtl.arguments();
            if rtl.is_built_in() && !vector.loaded.origin().given.is_built_in() {
                options.extend(["--rtl".to_owned(), Rtl::BUILT_IN.to_owned()]);
            }
            let waves = match all.len() {
                1 => written_waves(&path, &rtl, &vector.loaded)?,
                _ => None,
            };
            let pages = explanations.iter().zip(&suspects).map(|(one, suspects)| {
                page(&path, about, &options, waves.as_deref(), one, suspects)
            });
            let mut text: String = pages.collect();
            if !rtl.is_built_in() {
                let examined = vector.loaded.examine(&rtl)?;
                let files = rtl_files(&examined.files);
                text += &lines_of(&format!("RTL {}, {files}\n", examined.identity));
            }
            // Colour on a terminal, plain text in a pipe.
            progress::suspended(|| anstream::stdout().write_all(text.as_bytes()))
                .map_err(Error::write("standard output"))?;
        }
    }
    let failed = explanations.iter().any(|explanation| explanation.signature.is_some());
    Ok(ExitCode::from(u8::from(failed)))
}

/// An explanation with the RTL that it applies to.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    suspects: &'a [Suspect],
    rtl_identity: &'a str,
    rtl_files: &'a [FileRead],
}

fn page(
    path: &Path,
    about: &str,
    options: &[String],
    waves: Option<&Path>,
    explanation: &Explanation,
    suspects: &[Suspect],
) -> String {
    let Explanation { fixes, sentence, judgement, differences, golden, rtl, in_flight, .. } =
        explanation;
    let mut text = String::new();
    let _ = writeln!(text, "{BOLD}{}{BOLD:#} ({fixes})", path_of(path));
    let _ = writeln!(text, "{DIM}{}{DIM:#}\n\n{BOLD}{}{BOLD:#}", line_of(about), line_of(sentence));
    if !differences.is_empty() {
        text.push_str("\nWhat differs\n");
        for Difference { port, field, expected, actual } in differences {
            let name =
                field.as_ref().map_or_else(|| port.clone(), |field| format!("{port}.{field}"));
            let _ = writeln!(
                text,
                "  {name}: expected {GREEN}{expected}{GREEN:#}, actual {RED}{actual}{RED:#}"
            );
        }
    }
    if let Some(judgement) = judgement {
        let style = if judgement.is_decided() { RED } else { YELLOW };
        let _ = writeln!(text, "\nBlame: {style}{}{style:#}", judgement.badge());
        for line in judgement.reasons() {
            let _ = writeln!(text, "  {}", line_of(&line));
        }
    }
    if !suspects.is_empty() {
        text.push_str("\nSuspicious lines\n");
        for suspect in suspects {
            let _ = writeln!(text, "  {}", line_of(&suspect.to_string()));
        }
    }
    for (who, step) in [("golden model", golden), ("RTL", rtl)] {
        if let Some(Step { from, to, rules }) = step {
            // The next state of a crashed model is unknown.
            let to = to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
            let _ = writeln!(text, "\n{who}: {from}{to}");
            for (name, meaning) in rules {
                let _ = writeln!(text, "  {name}: {meaning}");
            }
            if rules.is_empty() {
                let _ = writeln!(text, "  no rule leads to this state");
            }
        }
    }
    if !in_flight.is_empty() {
        text.push_str("\nStimulus\n");
        for line in in_flight {
            let _ = writeln!(text, "  {}", line_of(line));
        }
    }
    if !explanation.any.is_empty() {
        text.push_str("\nValues that do not matter");
        let mut last = None;
        for pointer in &explanation.any {
            let (place, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
            let _ = match last.replace(place) == Some(place) {
                true => write!(text, ", {}", line_of(name)),
                false => write!(text, "\n  any: {}", line_of(pointer)),
            };
        }
        text.push('\n');
    }
    if !explanation.inputs.is_empty() {
        inputs(&explanation.inputs, &mut text);
    }
    if !explanation.cycles.is_empty() {
        table(explanation, &mut text);
    }
    if let Some(signature) = &explanation.signature {
        let waves = waves
            .map_or_else(|| line_of(&waves_command(path, options, fixes)).into_owned(), path_of);
        let _ = writeln!(text, "\nsignature: {signature}\nwaves: {waves}");
    }
    text.push('\n');
    text
}

fn inputs(lines: &[InputLine], text: &mut String) {
    text.push_str("\nNonzero inputs\n");
    for InputLine { cycle, last_cycle, high, values } in lines {
        let cycles = match last_cycle {
            last if last == cycle => format!("cycle {cycle}"),
            last => format!("cycles {cycle} to {last}"),
        };
        let nothing = if high.is_empty() && values.is_empty() { "none" } else { "" };
        let _ = writeln!(text, "  {cycles}: {}{nothing}", high.join(" "));
        for PortValue { port, value, fields } in values {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name} {value}")).collect();
            let shown = if fields.is_empty() { value.clone() } else { fields.join(", ") };
            let _ = writeln!(text, "    {port}: {shown}");
        }
    }
}

struct Column {
    heading: &'static str,
    cell: fn(&CycleLine) -> &str,
}

fn table(explanation: &Explanation, text: &mut String) {
    let cycles = &explanation.cycles;
    let columns = [
        Column { heading: "golden", cell: |line| &line.golden },
        Column { heading: "rule", cell: |line| &line.rules },
        Column { heading: "RTL", cell: |line| line.rtl.as_deref().unwrap_or("") },
    ];
    // Omit the columns of states if the block has none.
    let columns = columns.map(|Column { heading, cell }| {
        let widest = cycles.iter().map(|line| cell(line).len()).max().unwrap_or(0);
        (heading, cell, if widest == 0 { 0 } else { widest.max(heading.len()) + 1 })
    });
    let _ = write!(text, "\n  {:>6}  ", "cycle");
    for (heading, _, width) in columns.iter().filter(|(.., width)| *width > 0) {
        let _ = write!(text, "{heading:width$} ");
    }
    text.push_str("handshakes (VR: valid and ready, V-: valid waits)\n");
    for line in cycles {
        let wrong = explanation.is_wrong(line);
        let style = if wrong { RED } else { Style::new() };
        let mark = if wrong { ">" } else { " " };
        let mut row = format!("{mark} {:>6}  ", line.cycle);
        for (_, cell, width) in columns.iter().filter(|(.., width)| *width > 0) {
            let _ = write!(row, "{:width$} ", cell(line));
        }
        row.push_str(&line.handshakes.join(" "));
        let _ = write!(text, "{style}{}{style:#}", row.trim_end());
        if !line.differing.is_empty() {
            let _ = write!(text, "  {RED}differs: {}{RED:#}", line.differing.join(", "));
        }
        text.push('\n');
    }
}

/// The waves that the run wrote beside the vector, if they are of this RTL.
fn written_waves(path: &Path, rtl: &Rtl, vector: &LoadedVector) -> Result<Option<PathBuf>, Error> {
    let waves = path.with_extension("fst");
    if !waves.symlink_metadata().is_ok_and(|file| file.is_file()) {
        return Ok(None);
    }
    let now = &vector.examine(rtl)?.identity;
    let is_same = vector.origin().rtl.as_ref() == Some(now) && vector.origin().given == *rtl;
    Ok(is_same.then_some(waves))
}

fn waves_command(path: &Path, options: &[String], fixes: &str) -> String {
    let mut words = vec![program::called(), "replay".to_owned(), path.display().to_string()];
    words.extend(["--fixes".to_owned(), fixes.to_owned()]);
    words.extend_from_slice(options);
    words.extend(["--trace".to_owned(), "waves.fst".to_owned()]);
    command_line(&words)
}
