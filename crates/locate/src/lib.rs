//! Lines of the RTL that may hold the cause of a failure.
//!
//! Verilator's description of the design is simulated with the pins of the failing case and of
//! others, see [`rank`]. Only the compiled model decides whether a case fails: this says where to
//! look. A design with constructs that [`design`] does not know has no suspicious lines.

mod bits;
mod design;
mod operators;
mod rank;
mod simulate;
mod slice;

use cosim_block::driven::DrivenPins;
use cosim_block::explanation::Suspect;
use design::{Design, Place};
use rank::Ranking;
use simulate::{Simulator, Stimulus};
use verilated::Port;
use verilated_build::tree::Tree;

/// Cycles of another case that are compared.
const MOST_CYCLES: usize = 400;
/// Cycles of a failing case, which is shrunk.
const MOST_FAILING: usize = 10_000;
const MOST_LINES: usize = 5;

#[derive(Debug, Clone, Copy)]
pub struct Pins<'a> {
    pub clock: &'a str,
    pub inputs: &'a [Port],
    pub outputs: &'a [Port],
}

/// The pins of a failing case and of others.
#[derive(Debug)]
pub struct Cases<'a> {
    pub failing: &'a DrivenPins,
    pub others: &'a [DrivenPins],
}

/// Finds the suspicious lines of a design, the most suspicious one first. Their files have the
/// names that Verilator uses.
///
/// # Errors
/// Why there are none.
pub fn suspicious_lines(
    tree: &Tree,
    top: &str,
    Pins { clock, inputs, outputs }: Pins<'_>,
    cases: &Cases<'_>,
) -> Result<Vec<Suspect>, String> {
    let mut simulator = Simulator::new(Design::from_tree(tree, top)?, clock, inputs, outputs)?;
    let failing = Stimulus::record_cycles(cases.failing, inputs, outputs, MOST_FAILING);
    let other = |pins: &DrivenPins| Stimulus::record_cycles(pins, inputs, outputs, MOST_CYCLES);
    let others: Vec<Stimulus> = cases.others.iter().map(other).collect();
    let ranking = Ranking::new(&mut simulator, &failing, &others);
    let mut ranking = ranking.ok_or("the failure needs more than the description of the RTL")?;
    let mut lines = ranking.lines();
    // A file in angle brackets is Verilator's.
    lines.retain(|(place, _)| place.line > 0 && !place.file.starts_with('<'));
    lines.truncate(MOST_LINES);
    let suspect = |(Place { file, line, column }, reason)| Suspect { file, line, column, reason };
    Ok(lines.into_iter().map(suspect).collect())
}

#[cfg(test)]
mod tests;
