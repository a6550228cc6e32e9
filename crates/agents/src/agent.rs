//! The contract of an agent.

use cosim_harness::channels::ChannelScenario;
use cosim_harness::harness::{
    Bins, CaseRng, Checked, Covergroup, Noise, Percent, Reset, Traffic, Transfer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Progress of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handshakes of all channels.
    pub handshakes: u64,
    /// Operations that were started or answered.
    pub operations: u64,
}

/// An agent that drives ports of the DUT's inputs `I` and reads its outputs `O`.
///
/// [`agents!`](crate::agents) calls it as the harness calls an
/// [`Environment`](cosim_harness::harness::Environment): `drive` once per cycle, from registered
/// state alone, and `clock` at the rising edge. Neither allocates, except that queues may grow.
pub trait Agent<'a, I, O>: Sized {
    /// The ports.
    type Pins: Copy;
    /// The operations, their timing, and the stalls.
    type Traffic: Traffic + Default + PartialEq + Eq + 'a;
    /// How traffic is drawn.
    type Weights: AgentWeights;
    /// Samples the coverage of the interface.
    type Sampler;

    /// The covergroups of the interface.
    const GROUPS: &'static [Covergroup];

    /// An agent at the beginning of a traffic.
    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self;

    /// Draws a traffic of `operations` operations. `reset` is the chance of a reset after each.
    fn draw(
        weights: &Self::Weights,
        pins: &Self::Pins,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Self::Traffic;

    /// Drives its ports. Payload without a valid is noise.
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I);

    /// Takes the rising edge. Returns the reset that follows an operation of this cycle.
    fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Option<Reset>;

    /// Whether all operations are complete and nothing is pending.
    fn is_idle(&self) -> bool;

    /// Handshakes and operations so far.
    fn counts(&self) -> Counts;

    /// An upper bound of the time without a handshake that the traffic causes, in cycles.
    fn longest_delay(traffic: &Self::Traffic) -> u64;

    /// What the agent is doing, in words; `None` if it is idle.
    fn in_flight(&self) -> Option<String>;

    /// The channels of the interface in a cycle, for reports.
    fn transfers(_pins: &Self::Pins, _inputs: &I, _outputs: &O) -> Vec<Transfer> {
        Vec::new()
    }

    /// A sampler of the interface. The groups of the agent begin at index `first` of `groups`,
    /// which are all groups of the block.
    fn sampler(pins: Self::Pins, groups: &'static [Covergroup], first: usize) -> Self::Sampler;

    /// Samples a rising edge.
    fn sample(
        sampler: &mut Self::Sampler,
        in_reset: bool,
        inputs: &I,
        outputs: &O,
        bins: &mut Bins<'_>,
    );
}

/// Weights of an agent, which the default scenarios adapt.
pub trait AgentWeights:
    Checked + Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Eq + Send + Sync
{
    /// The same weights with the gaps and stalls of a scenario.
    #[must_use]
    fn paced(self, pace: &ChannelScenario) -> Self;
}
