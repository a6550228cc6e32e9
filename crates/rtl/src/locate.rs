//! Lines of the RTL that may hold the cause of a failure.
//!
//! Verilator's description of the design is simulated with the pins of the failing case and of
//! others, see [`rank`]. Only the compiled model decides whether a case fails: this says where to
//! look. A design with constructs that [`design`] does not know has no suspicious lines.

mod bits;
mod design;
mod parameters;
mod rank;
mod simulate;
mod slice;

use crate::models::{Examined, verilator};
use cosim_base::error::Error;
use cosim_block::driven::DrivenPins;
use cosim_block::explanation::Suspect;
use cosim_harness::harness::{BlockInfo, Parameters};
use design::{Design, Place};
use parameters::Texts;
use rank::Ranking;
use simulate::{Simulator, Stimulus};
use tempfile::TempDir;
use verilated::Port;
use verilated_build::SourceFile;
use verilated_build::tree::Tree;
use verilated_files::foreign::lay_out;

/// Cycles of another case that are compared.
const MOST_CYCLES: usize = 400;
/// Cycles of a failing case, which is shrunk.
const MOST_FAILING: usize = 10_000;
/// Lines that are named.
const MOST_LINES: usize = 5;

/// The pins of a failing case and of others.
#[derive(Debug)]
pub struct Cases<'a> {
    pub failing: &'a DrivenPins,
    pub others: &'a [DrivenPins],
}

/// The suspicious lines, the most suspicious one first, or why there are none.
pub type Located = Result<Vec<Suspect>, String>;

/// Finds the suspicious lines of an RTL.
///
/// # Errors
/// If Verilator cannot be run.
pub fn suspects(
    info: &'static BlockInfo,
    examined: &Examined,
    parameters: &Parameters,
    cases: &Cases<'_>,
) -> Result<Located, Error> {
    let temporary = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let files = examined.texts.iter().map(SourceFile::named);
    let folder = lay_out(&temporary.path().join("files"), files)
        .map_err(|error| examined.plain(error.into()))?;
    let mut design = verilated_build::Design { folder: Some(folder), ..examined.design.clone() };
    design.parameters = parameters.verilog(info.rtl.mask_parameter);
    design.parameters.retain(|(name, _)| examined.parameters.contains(name));
    let ports = (info.rtl.clock, info.inputs, info.outputs);
    let text = |file: &SourceFile| {
        let text = String::from_utf8_lossy(&file.text).into_owned();
        (file.name.to_string_lossy().into_owned(), text)
    };
    let texts = Texts(examined.texts.iter().map(text).collect());
    let read = |tree: &Tree| located(tree, &design.top, ports, cases, &texts);
    let located = design.with_tree(&verilator()?, &temporary.path().join("described"), read);
    let located = located.map_err(|error| examined.plain(error))?;
    let suspect = |(Place { file, line, column }, reason)| Suspect {
        file: examined.typed(&file),
        line,
        column,
        reason,
    };
    Ok(located
        .map(|lines| lines.into_iter().map(suspect).collect())
        .map_err(|reason| examined.typed(&reason)))
}

fn located(
    tree: &Tree,
    top: &str,
    (clock, inputs, outputs): (&str, &[Port], &[Port]),
    cases: &Cases<'_>,
    texts: &Texts,
) -> Result<Vec<(Place, String)>, String> {
    let mut simulator = Simulator::new(Design::of(tree, top)?, clock, inputs, outputs)?;
    let failing = Stimulus::of(cases.failing, inputs, outputs, MOST_FAILING);
    let other = |pins: &DrivenPins| Stimulus::of(pins, inputs, outputs, MOST_CYCLES);
    let others: Vec<Stimulus> = cases.others.iter().map(other).collect();
    let ranking = Ranking::new(&mut simulator, &failing, &others, texts);
    let mut ranking = ranking.ok_or("the failure needs more than the description of the RTL")?;
    let mut lines = ranking.lines();
    // A file in angle brackets is Verilator's.
    lines.retain(|(place, _)| place.line > 0 && !place.file.starts_with('<'));
    lines.truncate(MOST_LINES);
    Ok(lines)
}

#[cfg(test)]
mod tests;
