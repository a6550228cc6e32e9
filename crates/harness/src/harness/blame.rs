//! Who broke the specification: each side of a failing case is judged alone.
//!
//! In a case the environment and the scoreboard follow the golden model, whatever the DUT does. Here they
//! follow one side at a time, in a closed loop, so the scoreboard judges what that side made of the
//! stimulus, with nothing of the other in it. Until the first mismatch this is the same case, cycle by
//! cycle; what a side does after it is its own doing, too.

use super::case::{Dut, Source, Traffic, Watch};
use super::contract::{Block, Golden, Violation, reset_inputs};
use super::parameters::Parameters;
use super::stimulus::{Drive, Stimulus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Error, Pins};

/// The check that a side fails in which nothing happens any more.
const GOES_ON: &str = "goes-on";
/// The check that a side fails in which the stimulus never ends.
const ENDS: &str = "ends";
/// The check that a side fails that stops by itself.
const RUNS: &str = "runs";

/// Whether a check is one that the harness itself makes of a side, beside those of the scoreboard.
pub fn is_of_the_harness(check: &str) -> bool {
    [GOES_ON, ENDS, RUNS].contains(&check)
}

/// Cycles after which the golden model's side is not waited for any more.
const GOLDEN_CYCLES: u64 = 20_000_000;
/// Cycles the DUT may take for each one of the golden model, and beyond that.
const DUT_CYCLES: [u64; 2] = [4, 100_000];

/// What the specification says of both sides of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// Who broke it.
    pub broken_by: Culprit,
    /// The first check that the RTL failed.
    pub rtl: Option<SideFailure>,
    /// The first check that the golden model failed.
    pub golden: Option<SideFailure>,
}

/// The side that broke the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// The RTL alone.
    Rtl,
    /// The golden model alone.
    GoldenModel,
    /// Both.
    Both,
    /// No check objects to either side.
    Undecided,
    /// The stimulus is raw pins, of which the specification asks nothing as a whole.
    RawPins,
    /// The judging was cut short.
    Cancelled,
}

/// A check that a side failed when it was alone with the stimulus.
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
        let Self { cycle, violation: Violation { check, message } } = self;
        write!(f, "check {check}, cycle {cycle}: {message}")
    }
}

impl Blame {
    fn undecidable(broken_by: Culprit) -> Self {
        Self { broken_by, rtl: None, golden: None }
    }

    /// The judgement on the first breach of each side.
    pub fn of(rtl: Option<SideFailure>, golden: Option<SideFailure>) -> Self {
        let broken_by = match (&rtl, &golden) {
            (Some(_), None) => Culprit::Rtl,
            (None, Some(_)) => Culprit::GoldenModel,
            (Some(_), Some(_)) => Culprit::Both,
            (None, None) => Culprit::Undecided,
        };
        Self { broken_by, rtl, golden }
    }

    /// Whether a check objects to one of the sides.
    pub fn is_decided(&self) -> bool {
        self.rtl.is_some() || self.golden.is_some()
    }

    /// Whether the stimulus is raw pins, on which no check decides, whatever their number.
    pub fn is_of_raw_pins(&self) -> bool {
        self.broken_by == Culprit::RawPins
    }

    /// The judgement in words, a line for each side that is objected to.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            match self.broken_by {
                Culprit::Rtl => "the RTL violates the specification",
                Culprit::GoldenModel => {
                    "the golden model violates the specification, the RTL does not"
                }
                Culprit::Both => "both the RTL and the golden model violate the specification",
                Culprit::Undecided => {
                    "no check of the scoreboard decides which side is wrong; compare both with the \
                     specification"
                }
                Culprit::RawPins => {
                    "unconstrained random stimulus: no check applies; compare both sides with the \
                     specification"
                }
                Culprit::Cancelled => "the command was interrupted before the blame was decided",
            }
            .to_owned(),
        ];
        let sides = [("RTL", &self.rtl), ("golden model", &self.golden)];
        let breaches = sides.iter().filter_map(|(who, breach)| Some((who, breach.as_ref()?)));
        lines.extend(breaches.map(|(who, breach)| format!("{who}: {breach}")));
        lines
    }
}

/// Judges both sides of a case on its stimulus; `dut` is a new model.
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
        let (golden, cycles) = follow(traffic, parameters, &mut golden, GOLDEN_CYCLES, watch)?;
        let [times, more] = DUT_CYCLES;
        let (rtl, _) = follow(traffic, parameters, dut, times * cycles + more, watch)?;
        Some(Blame::of(rtl, golden))
    });
    judged.unwrap_or_else(|| Blame::undecidable(Culprit::Cancelled))
}

/// A golden model in the place of a DUT: a side of its own, or one to be tampered with.
pub struct GoldenDut<B: Block> {
    golden: B::Golden,
    inputs: B::Inputs,
}

impl<B: Block> GoldenDut<B> {
    /// One after reset.
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

/// Runs one side with an environment and a scoreboard that see nothing else. The first breach, and the
/// cycles it took; `None` if it was cancelled.
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
