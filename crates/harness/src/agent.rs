//! The contract of an agent: it drives and observes one interface of a block.
//!
//! `declare!` makes the environment and the coverage of a block from its agents. The sources and
//! sinks of [`channels`](crate::channels) are agents, and so are the managers and subordinates of
//! standard protocols in `cosim-agents`.

use crate::channels::{SinkWeights, SourceWeights};
use crate::harness::{
    Bins, CaseRng, Checked, Covergroup, Noise, Percent, Reset, Traffic, Transfer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Progress of an agent since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handshakes of all channels.
    pub handshakes: u64,
    /// Operations that were started or answered.
    pub operations: u64,
}

/// An agent at the end of a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The reset that follows an operation of this cycle.
    pub reset: Option<Reset>,
    /// Whether all operations are complete and nothing is pending.
    pub is_idle: bool,
    /// Its handshakes while it has something left to start by itself; `None` afterwards.
    pub unspent: Option<u64>,
    /// Handshakes and operations so far.
    pub counts: Counts,
}

impl Progress {
    /// The progress of an agent that starts operations.
    #[inline]
    pub const fn new(reset: Option<Reset>, is_idle: bool, counts: Counts) -> Self {
        let unspent = if is_idle { None } else { Some(counts.handshakes) };
        Self { reset, is_idle, unspent, counts }
    }

    /// The progress of an agent that only answers.
    #[inline]
    pub const fn from_answers(is_idle: bool, counts: Counts) -> Self {
        Self { reset: None, is_idle, unspent: None, counts }
    }
}

/// An agent that drives ports of the DUT's inputs `I` and reads its outputs `O`.
///
/// The environment calls `drive` once per cycle, from registered state alone, and `clock` at the
/// rising edge. Neither allocates, except that queues may grow. Three types, `new`, `drive` and
/// `clock` are all that an agent needs.
pub trait Agent<'a, I, O>: Sized {
    /// The ports.
    type Pins: Copy;
    /// The operations, their timing, and the stalls. `Items` of `cosim-agents` is one for agents of
    /// your own.
    type Traffic: AgentTraffic + 'a;
    /// The coverage of the interface; [`NoCoverage`] if there is none.
    type Coverage: AgentCoverage<Self::Pins, I, O>;

    /// An agent at the beginning of a traffic.
    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self;

    /// Drives its ports. Payload without a valid is noise.
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I);

    /// Takes the rising edge.
    fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Progress;

    /// What the agent is doing, in words; `None` if it is idle.
    fn in_flight(&self) -> Option<String> {
        None
    }

    /// The channels of the interface in a cycle, for reports.
    fn transfers(_pins: Self::Pins, _inputs: &I, _outputs: &O) -> Vec<Transfer> {
        Vec::new()
    }
}

/// From what the traffic of a case is drawn.
#[derive(Debug)]
pub struct CasePlan<'a> {
    /// The number of operations.
    pub operations: u32,
    /// The chance of a reset after each operation.
    pub reset: Percent,
    /// The random numbers.
    pub rng: &'a mut CaseRng,
}

/// The traffic of an agent.
pub trait AgentTraffic: Traffic + Default + PartialEq + Eq {
    /// An upper bound of the time without a handshake that the traffic causes, in cycles.
    fn longest_delay(&self) -> u64;
}

/// Traffic that weights draw, of an agent with the ports `P`.
pub trait DrawnTraffic<P>: AgentTraffic {
    /// How traffic is drawn.
    type Weights: AgentWeights;

    /// Draws a traffic.
    fn draw(weights: &Self::Weights, pins: &P, plan: CasePlan<'_>) -> Self;
}

/// How a scenario changes the weights of each agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// Gaps of those who send.
    pub source: SourceWeights,
    /// Stalls of those who receive.
    pub sink: SinkWeights,
    /// Chance that an operation asks for an error, or that an answer is one. `None`: as the weights
    /// have it.
    pub errors: Option<Percent>,
}

impl Pace {
    /// The latency of an agent that answers.
    pub fn latency(&self) -> SourceWeights {
        SourceWeights { gap: self.sink.stall, longest_gap: self.sink.longest_stall }
    }
}

/// Weights of an agent, which the default scenarios adapt.
pub trait AgentWeights:
    Checked + Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Eq + Send + Sync
{
    /// The same weights with the pace of a scenario.
    #[must_use]
    fn paced(self, pace: &Pace) -> Self;
}

/// The coverage of an interface with the ports `P`.
pub trait AgentCoverage<P, I, O>: 'static {
    /// The covergroups.
    const GROUPS: &'static [Covergroup];

    /// The coverage at the beginning of a case.
    fn new(pins: P) -> Self;

    /// Samples a rising edge. The bins of [`Self::GROUPS`] are the first ones of `bins`.
    fn sample(&mut self, in_reset: bool, inputs: &I, outputs: &O, bins: &mut Bins<'_>);
}

/// The coverage of an agent without any.
#[derive(Debug, Clone, Copy)]
pub struct NoCoverage;

impl<P, I, O> AgentCoverage<P, I, O> for NoCoverage {
    const GROUPS: &'static [Covergroup] = &[];

    fn new(_: P) -> Self {
        Self
    }

    #[inline]
    fn sample(&mut self, _: bool, _: &I, _: &O, _: &mut Bins<'_>) {}
}
