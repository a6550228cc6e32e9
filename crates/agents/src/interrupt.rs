//! Interrupt lines: level or pulse, with an optional acknowledge.
//!
//! [`InterruptSource`] drives the interrupt inputs of a DUT, [`InterruptSink`] acknowledges the
//! interrupts of a DUT, and [`InterruptMonitor`] checks the rules. No standard defines them; the
//! rules are those of this page.
//!
//! - A **level** line stays high until it is acknowledged. It falls in the cycle of its
//!   acknowledge or later. Without an acknowledge port, it may fall at any time.
//! - A **pulse** is high for one cycle, and low for at least one cycle after it.
//! - Lines and acknowledges are low in reset.

mod agents;
mod monitor;

pub use agents::{InterruptSink, InterruptSource};
pub use monitor::InterruptMonitor;

use crate::agent::{AgentTraffic, AgentWeights, CasePlan};
use crate::operations::{check_resets, delays, longest, longest_delay, operation, wrong};
use crate::scenarios::Pace;
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{Draw, Percent, Reset, Traffic, TrafficError};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verilated::{Pin, Pins};

/// The kind of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptKind {
    /// High until the acknowledge.
    Level,
    /// High for one cycle.
    Pulse,
}

/// The ports of interrupt lines. `D` holds the port of the driver, `R` that of the receiver.
#[derive(Debug, Clone, Copy)]
pub struct InterruptPins<D, R> {
    /// The kind of the lines.
    pub kind: InterruptKind,
    /// The lines, at most 64.
    pub irq: Pin<D>,
    /// A bit for each line: it is acknowledged.
    pub ack: Option<Pin<R>>,
}

impl<D: Pins, R: Pins> InterruptPins<D, R> {
    /// The ports whose names are `prefix` followed by `irq` and `irq_ack`.
    ///
    /// # Panics
    /// If there is no `irq`; in a constant, this does not compile.
    pub const fn of(prefix: &str, kind: InterruptKind) -> Self {
        Self { kind, irq: Pin::of(prefix, "irq"), ack: Pin::find(prefix, "irq_ack") }
    }

    /// The acknowledged lines.
    #[inline]
    pub(crate) fn acknowledged(&self, receiver: &R) -> u64 {
        self.ack.map_or(0, |pin| pin.get(receiver))
    }

    /// The lines in words, for [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, driver: &D, receiver: &R) -> Option<String> {
        let (lines, ack) = (self.irq.get(driver), self.acknowledged(receiver));
        (lines | ack > 0).then(|| format!("lines {lines:#x}, acknowledged {ack:#x}"))
    }
}

/// An interrupt of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// Cycles in which all lines are low before it.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The lines that rise together.
    pub lines: Uint<64>,
    /// Cycles that a level lasts, beyond one, without an acknowledge port.
    #[serde(default)]
    pub hold_cycles: Uint<12>,
    /// A reset that follows its rise. It ends the interrupt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

operation!(Interrupt, |own| own.gap.get() + own.hold_cycles.get());

/// The interrupts of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptTraffic {
    /// The interrupts, one after the other.
    #[serde(default)]
    pub interrupts: Vec<Interrupt>,
}

impl Traffic for InterruptTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        match self.interrupts.iter().position(|interrupt| interrupt.lines.get() == 0) {
            None => check_resets("interrupts", &self.interrupts),
            Some(at) => {
                Err(wrong("interrupts", at, "lines", "0; an interrupt has at least one line"))
            }
        }
    }
}

/// The latencies of a sink.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptSinkTraffic {
    /// Cycles before each acknowledge, beyond the cycle that follows the rise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Uint<12>>,
}

impl Traffic for InterruptSinkTraffic {}

cosim_harness::weights! {
    /// How a source draws interrupts.
    pub struct InterruptWeights {
        /// Gaps between interrupts.
        source: SourceWeights = SourceWeights::default(),
        /// Chance that several lines rise together.
        several: Percent = 30,
        /// Longest time of a level without an acknowledge port, in cycles beyond one.
        longest_hold: Uint<12> = 8,
    }

    /// How a sink acknowledges.
    pub struct InterruptSinkWeights {
        /// Delays of acknowledges.
        latency: SourceWeights = SourceWeights::default(),
    }
}

impl AgentWeights for InterruptWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { source: pace.source.clone(), ..self }
    }
}

impl AgentWeights for InterruptSinkWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { latency: pace.latency() }
    }
}

impl<D: Pins, R: Pins> AgentTraffic<InterruptPins<D, R>> for InterruptTraffic {
    type Weights = InterruptWeights;

    fn of_plan(weights: &Self::Weights, pins: &InterruptPins<D, R>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations: interrupts, reset, rng } = plan;
        let width = pins.irq.width().min(64);
        let mut interrupt = || {
            let offer = weights.source.offer((), reset, rng);
            let one = 1 << rng.random_range(0..width);
            let several = if rng.chance(weights.several) { rng.bits::<64>().get() } else { 0 };
            let lines = Uint::new((one | several) & (u64::MAX >> (64 - width)));
            let hold_cycles = Uint::new(rng.random_range(0..=weights.longest_hold.get()));
            Interrupt { gap: offer.gap, lines, hold_cycles, reset: offer.reset }
        };
        Self { interrupts: (0..interrupts).map(|_| interrupt()).collect() }
    }
    fn longest_delay(&self) -> u64 {
        longest_delay(&self.interrupts) + 2
    }
}

impl<P> AgentTraffic<P> for InterruptSinkTraffic {
    type Weights = InterruptSinkWeights;

    fn of_plan(weights: &Self::Weights, _: &P, plan: CasePlan<'_>) -> Self {
        Self { delays: delays(&weights.latency, plan.operations, plan.rng) }
    }

    fn longest_delay(&self) -> u64 {
        longest(&self.delays) + 2
    }
}
