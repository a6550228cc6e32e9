//! The contract of an agent.

use crate::scenarios::Pace;
use cosim_harness::harness::{
    Bins, CaseRng, Checked, Covergroup, Noise, Percent, Reset, Traffic, Transfer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug};

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
    /// Handshakes and operations so far.
    pub counts: Counts,
}

impl Progress {
    /// The progress with these parts.
    #[inline]
    pub const fn new(reset: Option<Reset>, is_idle: bool, counts: Counts) -> Self {
        Self { reset, is_idle, counts }
    }
}

/// An agent that drives ports of the DUT's inputs `I` and reads its outputs `O`.
///
/// [`agents!`](crate::agents) calls it as the harness calls an
/// [`Environment`](cosim_harness::harness::Environment): `drive` once per cycle, from registered
/// state alone, and `clock` at the rising edge. Neither allocates, except that queues may grow.
///
/// Two types, `new`, `drive` and `clock` are all that an agent needs.
pub trait Agent<'a, I, O>: Sized {
    /// The ports.
    type Pins: Copy;
    /// The operations, their timing, and the stalls. [`Items`](crate::Items) is one for agents of
    /// your own.
    type Traffic: AgentTraffic<Self::Pins> + 'a;

    /// The covergroups of the interface.
    const GROUPS: &'static [Covergroup] = &[];

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
    fn transfers(_pins: &Self::Pins, _inputs: &I, _outputs: &O) -> Vec<Transfer> {
        Vec::new()
    }

    /// A sampler of [`Agent::GROUPS`], which begin at index `first` of `groups`: those are all
    /// groups of the block.
    fn sampler(
        _pins: Self::Pins,
        _groups: &'static [Covergroup],
        _first: usize,
    ) -> Option<Sampler<I, O>> {
        None
    }
}

/// The traffic of an agent with the ports `P`.
pub trait AgentTraffic<P>: Traffic + Default + PartialEq + Eq {
    /// How traffic is drawn.
    type Weights: AgentWeights;

    /// Draws a traffic of `operations` operations. `reset` is the chance of a reset after each.
    fn draw(
        weights: &Self::Weights,
        pins: &P,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Self;

    /// An upper bound of the time without a handshake that the traffic causes, in cycles.
    fn longest_delay(&self) -> u64;
}

/// The longest delay of a traffic for these ports.
#[doc(hidden)]
pub fn longest_delay<P, T: AgentTraffic<P>>(_: &P, traffic: &T) -> u64 {
    traffic.longest_delay()
}

/// Weights of an agent, which the default scenarios adapt.
pub trait AgentWeights:
    Checked + Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Eq + Send + Sync
{
    /// The same weights with the pace of a scenario.
    #[must_use]
    fn paced(self, pace: &Pace) -> Self;
}

/// What a sampler does at a rising edge.
type Sample<I, O> = dyn FnMut(bool, &I, &O, &mut Bins<'_>);

/// Samples the coverage of an interface.
pub struct Sampler<I, O>(Box<Sample<I, O>>);

impl<I, O> Sampler<I, O> {
    /// A sampler that calls `sample` at each rising edge, with whether the DUT is in reset.
    pub fn new(sample: impl FnMut(bool, &I, &O, &mut Bins<'_>) + 'static) -> Self {
        Self(Box::new(sample))
    }

    /// Samples a rising edge.
    #[inline]
    pub fn sample(&mut self, in_reset: bool, inputs: &I, outputs: &O, bins: &mut Bins<'_>) {
        (self.0)(in_reset, inputs, outputs, bins);
    }
}

impl<I, O> Debug for Sampler<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sampler")
    }
}
