//! The lock-step loop: one case, DUT and golden model side by side.

use super::contract::{Block, Environment, Golden, RuleSet, Scoreboard, Stimulus, Violation};
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use verilated::{Error, Model, Pins};
use zerocopy::{FromZeros, IntoBytes};

/// Cycles between two looks at a case's [`Watch`].
const WATCH_EVERY: u64 = 1024;

/// How a case is watched, and cancelled, from another thread.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    cycles: AtomicU64,
}

impl Watch {
    /// Asks the case to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Cycles run so far, now and then.
    pub fn cycles(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed)
    }
}

/// What is compared with the golden model.
///
/// The one production implementation is a verilated [`Model`]; tests have others, to show that the
/// harness notices.
pub trait Dut<B: Block> {
    /// Drives the inputs with the clock low and reads the outputs.
    ///
    /// # Errors
    /// If the DUT stopped by itself.
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error>;

    /// The rising edge.
    ///
    /// # Errors
    /// If the DUT stopped by itself.
    fn edge(&mut self) -> Result<(), Error>;
}

impl<B: Block> Dut<B> for Model<B::Inputs, B::Outputs> {
    #[inline]
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error> {
        Self::settle(self, inputs, outputs)
    }

    #[inline]
    fn edge(&mut self) -> Result<(), Error> {
        Self::edge(self)
    }
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Every output was equal in every cycle and every check held.
    Match,
    /// An output differed.
    Mismatch(Mismatch),
    /// The golden model waits for something that will not come.
    Hang {
        /// The cycle at which patience ended; `None` if the DUT itself did not return.
        cycle: Option<u64>,
        /// The golden model's state.
        state: &'static str,
    },
    /// The scoreboard objects.
    CheckFailed {
        /// The cycle.
        cycle: u64,
        /// The check and its message.
        #[serde(flatten)]
        violation: Violation,
    },
    /// The DUT or the golden model stopped by itself.
    Crashed {
        /// The cycle, if it is known.
        cycle: Option<u64>,
        /// What it said.
        message: String,
    },
    /// The run was interrupted before the case ended.
    Cancelled,
}

impl Verdict {
    /// The verdict's name in results and summaries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch(_) => "mismatch",
            Self::Hang { .. } => "hang",
            Self::CheckFailed { .. } => "check failed",
            Self::Crashed { .. } => "crashed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the case failed.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Match | Self::Cancelled)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Match | Self::Cancelled => Ok(()),
            Self::Mismatch(Mismatch { cycle, port, expected, actual, state }) => {
                write!(f, " at cycle {cycle} in {state}: {port} is {actual}, expected {expected}")
            }
            Self::Hang { cycle: Some(cycle), state } => {
                write!(f, " at cycle {cycle}: nothing happens any more in {state}")
            }
            Self::Hang { cycle: None, .. } => f.write_str(": the model did not return"),
            Self::CheckFailed { cycle, violation: Violation { check, message } } => {
                write!(f, " at cycle {cycle}: {check}: {message}")
            }
            Self::Crashed { cycle: Some(cycle), message } => {
                write!(f, " at cycle {cycle}: {message}")
            }
            Self::Crashed { cycle: None, message } => write!(f, ": {message}"),
        }
    }
}

/// The first difference of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first differing port.
    pub port: &'static str,
    /// The golden model's value, as a Verilog literal.
    pub expected: String,
    /// The DUT's value, as a Verilog literal.
    pub actual: String,
    /// The golden model's state in that cycle.
    pub state: &'static str,
}

/// What one case did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// Cycles compared.
    pub cycles: u64,
    /// Packets taken; 0 for raw pins.
    pub packets: u64,
    /// Hits of each rule.
    pub hits: Vec<u64>,
    /// The scoreboard's counters; empty for raw pins.
    pub counters: Vec<u64>,
}

/// Runs one case from reset to its end.
pub fn run<B: Block>(
    stimulus: &Stimulus<B>,
    mask: u8,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    match stimulus {
        Stimulus::Traffic(traffic) => {
            let mut source = Traffic::<'_, B> {
                environment: B::Environment::new(traffic),
                scoreboard: B::Scoreboard::new(traffic, mask),
                last_handshake: 0,
                handshakes: 0,
            };
            let (verdict, cycles, hits) = lock_step(&mut source, mask, dut, watch);
            let packets = source.environment.packets();
            Outcome { verdict, cycles, packets, hits, counters: source.scoreboard.counters() }
        }
        Stimulus::Cycles(cycles) => {
            let mut source = RawPins::<B> { cycles: cycles.iter() };
            let (verdict, cycles, hits) = lock_step(&mut source, mask, dut, watch);
            Outcome { verdict, cycles, packets: 0, hits, counters: Vec::new() }
        }
    }
}

/// Where inputs come from, and who watches the outputs.
trait Source<B: Block> {
    /// Sets the inputs of the next cycle; false at the end.
    fn next(&mut self, inputs: &mut B::Inputs) -> bool;

    /// The cycle's end; a verdict ends the case.
    fn clock(&mut self, inputs: &B::Inputs, outputs: &B::Outputs, cycle: u64) -> Option<Stop>;

    /// The case's end.
    fn finish(&mut self) -> Result<(), Violation>;
}

/// Why a source ends a case early.
enum Stop {
    Violation(Violation),
    Hang,
}

/// Transactions: environment and scoreboard.
struct Traffic<'a, B: Block> {
    environment: B::Environment<'a>,
    scoreboard: B::Scoreboard<'a>,
    last_handshake: u64,
    handshakes: u64,
}

impl<B: Block> Source<B> for Traffic<'_, B> {
    #[inline]
    fn next(&mut self, inputs: &mut B::Inputs) -> bool {
        if self.environment.finished() {
            return false;
        }
        self.environment.drive(inputs);
        true
    }

    #[inline]
    fn clock(&mut self, inputs: &B::Inputs, outputs: &B::Outputs, cycle: u64) -> Option<Stop> {
        if let Err(violation) = self.scoreboard.observe(inputs, outputs) {
            return Some(Stop::Violation(violation));
        }
        self.environment.clock(inputs, outputs);
        let handshakes = self.environment.handshakes();
        if handshakes != self.handshakes {
            self.handshakes = handshakes;
            self.last_handshake = cycle;
        }
        (cycle - self.last_handshake > self.environment.patience()).then_some(Stop::Hang)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.scoreboard.finish()
    }
}

/// Raw pins: nothing is expected beyond equality.
struct RawPins<'a, B: Block> {
    cycles: std::slice::Iter<'a, B::Inputs>,
}

impl<B: Block> Source<B> for RawPins<'_, B> {
    #[inline]
    fn next(&mut self, inputs: &mut B::Inputs) -> bool {
        match self.cycles.next() {
            Some(cycle) => {
                *inputs = *cycle;
                true
            }
            None => false,
        }
    }

    #[inline]
    fn clock(&mut self, _: &B::Inputs, _: &B::Outputs, _: u64) -> Option<Stop> {
        None
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// The loop. Nothing in it allocates, locks or calls through a table but the DUT itself.
fn lock_step<B: Block>(
    source: &mut impl Source<B>,
    mask: u8,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> (Verdict, u64, Vec<u64>) {
    let mut golden = B::Golden::new(mask);
    let mut hits = vec![0; B::RULES.len()];
    let mut cycle = 0;
    let mut inputs = B::reset_inputs();
    let mut expected = B::Outputs::new_zeroed();
    let mut actual = B::Outputs::new_zeroed();
    let verdict = loop {
        golden.outputs(&inputs, &mut expected);
        if let Err(error) = dut.settle(&inputs, &mut actual) {
            break Verdict::Crashed { cycle: Some(cycle), message: error.to_string() };
        }
        if !same(expected.as_bytes(), actual.as_bytes())
            && let Some(mismatch) = mismatch::<B>(&expected, &actual, cycle, golden.state())
        {
            break Verdict::Mismatch(mismatch);
        }
        // The cycle in reset that begins a case is the harness's own; the source starts after it.
        let stop = if cycle == 0 { None } else { source.clock(&inputs, &expected, cycle) };
        match stop {
            None => {}
            Some(Stop::Violation(violation)) => break Verdict::CheckFailed { cycle, violation },
            Some(Stop::Hang) => break Verdict::Hang { cycle: Some(cycle), state: golden.state() },
        }
        count(golden.clock(&inputs), &mut hits);
        if let Err(error) = dut.edge() {
            break Verdict::Crashed { cycle: Some(cycle), message: error.to_string() };
        }
        cycle += 1;
        if cycle % WATCH_EVERY == 0 {
            watch.cycles.store(cycle, Ordering::Relaxed);
            if watch.cancelled.load(Ordering::Relaxed) {
                break Verdict::Cancelled;
            }
        }
        if !source.next(&mut inputs) {
            break match source.finish() {
                Ok(()) => Verdict::Match,
                Err(violation) => Verdict::CheckFailed { cycle, violation },
            };
        }
    };
    (verdict, cycle, hits)
}

/// Equality of two packed structs, without a branch per word: pins are written in pieces, and an early
/// exit would wait for each of them.
#[inline]
fn same(expected: &[u8], actual: &[u8]) -> bool {
    let words = expected.chunks_exact(8).zip(actual.chunks_exact(8));
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    words.fold(0, |difference, (left, right)| difference | (word(left) ^ word(right))) == 0
}

#[inline]
fn count(rules: RuleSet, hits: &mut [u64]) {
    for rule in rules.iter() {
        hits[rule] += 1;
    }
}

#[cold]
fn mismatch<B: Block>(
    expected: &B::Outputs,
    actual: &B::Outputs,
    cycle: u64,
    state: &'static str,
) -> Option<Mismatch> {
    let port = expected.first_difference(actual)?;
    Some(Mismatch {
        cycle,
        port: port.name,
        expected: port.show(expected.as_bytes()),
        actual: port.show(actual.as_bytes()),
        state,
    })
}
