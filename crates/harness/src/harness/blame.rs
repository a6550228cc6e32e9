//! Decides which side of a failing case violates the specification.
//!
//! In a case, environment and scoreboard follow the golden model, whatever the DUT does. Here,
//! each side runs alone with its own environment and scoreboard in a closed loop, so the
//! scoreboard sees that side only. Until the first mismatch, the cycles are those of the case.

use super::block::{Block, reset_inputs};
use super::case::{Dut, Source, Traffic, Watch};
use super::comparison::follows_dut;
use super::golden::Golden;
use super::parameters::Parameters;
use super::scoreboard::Violation;
use super::stimulus::{Drive, Stimulus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Error, Pins};

/// Harness check: the side makes no progress.
const GOES_ON: &str = "goes-on";
/// Harness check: the side never finishes the stimulus.
const ENDS: &str = "ends";
/// Harness check: the side stops by itself.
const RUNS: &str = "runs";

/// Whether a check belongs to the harness and not to the scoreboard.
pub fn is_of_the_harness(check: &str) -> bool {
    [GOES_ON, ENDS, RUNS].contains(&check)
}

/// Limit of the cycles of the golden model's side.
const GOLDEN_CYCLES: u64 = 20_000_000;
/// Limit of the DUT's cycles per cycle of the golden model, and the allowance on top.
const DUT_CYCLES: [u64; 2] = [4, 100_000];

/// The verdict of the specification's checks on both sides of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// The side that violates the specification.
    pub broken_by: Culprit,
    /// The first check that the RTL fails.
    pub rtl: Option<SideFailure>,
    /// The first check that the golden model fails.
    pub golden: Option<SideFailure>,
}

/// The side that violates the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// Only the RTL.
    Rtl,
    /// Only the golden model.
    GoldenModel,
    /// Both.
    Both,
    /// No check fails on either side.
    Undecided,
    /// The stimulus is unconstrained, so no check of the specification applies as a whole.
    RawPins,
    /// The command was interrupted before the decision.
    Cancelled,
}

/// A check that a side fails when it runs alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideFailure {
    /// The cycle.
    pub cycle: u64,
    /// The check and its message.
    #[serde(flatten)]
    pub violation: Violation,
}

impl fmt::Display for SideFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycle, violation: Violation { check, message, .. } } = self;
        write!(f, "check {check}, cycle {cycle}: {message}")
    }
}

impl Blame {
    fn undecidable(broken_by: Culprit) -> Self {
        Self { broken_by, rtl: None, golden: None }
    }

    /// Blames the sides that fail a check.
    pub fn from_failures(rtl: Option<SideFailure>, golden: Option<SideFailure>) -> Self {
        let broken_by = match (&rtl, &golden) {
            (Some(_), None) => Culprit::Rtl,
            (None, Some(_)) => Culprit::GoldenModel,
            (Some(_), Some(_)) => Culprit::Both,
            (None, None) => Culprit::Undecided,
        };
        Self { broken_by, rtl, golden }
    }

    /// Whether a check fails on one of the sides.
    pub fn is_decided(&self) -> bool {
        self.rtl.is_some() || self.golden.is_some()
    }

    /// Whether the stimulus is unconstrained, so that no check decides.
    pub fn is_of_raw_pins(&self) -> bool {
        self.broken_by == Culprit::RawPins
    }

    /// The side that violates the specification, in the words of a badge.
    pub fn badge(&self) -> &'static str {
        match self.broken_by {
            Culprit::Rtl => "the RTL violates the specification",
            Culprit::GoldenModel => "the golden model violates the specification, the RTL does not",
            Culprit::Both => "both the RTL and the golden model violate the specification",
            Culprit::Undecided | Culprit::RawPins | Culprit::Cancelled => "unknown",
        }
    }

    /// What decides: the check that each side fails, or why no check does.
    pub fn reasons(&self) -> Vec<String> {
        let sides = [("RTL", &self.rtl), ("golden model", &self.golden)];
        let breaches = sides.iter().filter_map(|(who, breach)| Some((who, breach.as_ref()?)));
        let why = match self.broken_by {
            Culprit::Rtl | Culprit::GoldenModel | Culprit::Both => None,
            Culprit::Undecided => Some(
                "no check of the scoreboard decides which side is wrong; compare both with the \
                 specification",
            ),
            Culprit::RawPins => Some(
                "unconstrained random stimulus: no check applies; compare both sides with the \
                 specification",
            ),
            Culprit::Cancelled => Some("the command was interrupted before the blame was decided"),
        };
        let breaches = breaches.map(|(who, breach)| format!("{who}: {breach}"));
        why.map(str::to_owned).into_iter().chain(breaches).collect()
    }

    /// The result in words, with a line for each side that fails a check.
    pub fn lines(&self) -> Vec<String> {
        let reasons = self.reasons();
        match self.badge() {
            "unknown" => reasons,
            badge => std::iter::once(badge.to_owned()).chain(reasons).collect(),
        }
    }
}

/// Runs both sides of a case with its stimulus; `dut` is a new model.
pub fn judge<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Blame {
    let Drive::Traffic(traffic) = &stimulus.drive else {
        return Blame::undecidable(Culprit::RawPins);
    };
    let mut golden = GoldenDut::<B>::new(parameters);
    let judged = watch.during(|| {
        if follows_dut::<B>() {
            // The golden model alone has no transactions.
            let (rtl, _) = follow(traffic, parameters, dut, GOLDEN_CYCLES, watch)?;
            return Some(Blame::from_failures(rtl, None));
        }
        let (golden, cycles) = follow(traffic, parameters, &mut golden, GOLDEN_CYCLES, watch)?;
        let [times, more] = DUT_CYCLES;
        let (rtl, _) = follow(traffic, parameters, dut, times * cycles + more, watch)?;
        Some(Blame::from_failures(rtl, golden))
    });
    judged.unwrap_or_else(|| Blame::undecidable(Culprit::Cancelled))
}

/// A golden model in the place of a DUT. Tests also use it with injected faults.
pub struct GoldenDut<B: Block> {
    golden: B::Golden,
    inputs: B::Inputs,
}

impl<B: Block> GoldenDut<B> {
    /// The golden model after reset.
    pub fn new(parameters: &Parameters) -> Self {
        Self { golden: B::Golden::new(parameters), inputs: B::Inputs::new_zeroed() }
    }
}

impl<B: Block> Dut<B> for GoldenDut<B> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error> {
        self.golden.show(inputs, outputs);
        self.inputs = *inputs;
        Ok(())
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.golden.edge(&self.inputs);
        Ok(())
    }
}

/// Runs one side with its own environment and scoreboard. Returns the first failed check and the
/// number of cycles, or `None` if the run was cancelled.
pub fn follow<B: Block>(
    traffic: &B::Traffic,
    parameters: &Parameters,
    side: &mut impl Dut<B>,
    most_cycles: u64,
    watch: &Watch,
) -> Option<(Option<SideFailure>, u64)> {
    let mut source = Traffic::<'_, B>::new(traffic, parameters);
    let mut cycle = 0;
    let mut inputs = reset_inputs::<B>();
    let mut outputs = B::Outputs::new_zeroed();
    let violation = loop {
        let settled = if cycle == 0 { side.power_up() } else { Ok(()) };
        if let Err(error) = settled.and_then(|()| side.settle(&inputs, &mut outputs)) {
            break Some(Violation::new(RUNS, error));
        }
        if let Err(violation) = source.judge(&inputs, &outputs) {
            break Some(violation);
        }
        if cycle > 0 && source.clock(&inputs, &outputs, cycle) {
            let timeout = source.progress_timeout();
            let message = format!("no handshake for more than {timeout} cycles");
            break Some(Violation::new(GOES_ON, message));
        }
        if let Err(error) = side.edge() {
            break Some(Violation::new(RUNS, error));
        }
        cycle += 1;
        if !watch.goes_on(cycle) {
            return None;
        }
        if cycle > most_cycles {
            let message = format!("the stimulus is not finished after {most_cycles} cycles");
            break Some(Violation::new(ENDS, message));
        }
        if !source.next(&mut inputs) {
            break source.finish().err();
        }
    };
    Some((violation.map(|violation| SideFailure { cycle, violation }), cycle))
}
