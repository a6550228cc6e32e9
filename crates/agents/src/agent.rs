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

/// The traffic of an agent with the ports `P`.
pub trait AgentTraffic<P>: Traffic + Default + PartialEq + Eq {
    /// How traffic is drawn.
    type Weights: AgentWeights;

    /// Draws a traffic.
    fn of_plan(weights: &Self::Weights, pins: &P, plan: CasePlan<'_>) -> Self;

    /// Draws a traffic of `operations` operations. `reset` is the chance of a reset after each.
    fn draw(
        weights: &Self::Weights,
        pins: &P,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Self {
        Self::of_plan(weights, pins, CasePlan { operations, reset, rng })
    }

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

/// The ports of an interface: its channels in reports, and its coverage. `M` holds the ports that
/// the manager or the transmitter drives, `S` those of the other side.
pub trait Interface<M, S>: Copy + 'static {
    /// What the coverage remembers between two cycles.
    type State: Default + 'static;

    /// The covergroups.
    const GROUPS: &'static [Covergroup];

    /// The channels in a cycle.
    fn transfers(&self, m: &M, s: &S) -> Vec<Transfer>;

    /// Samples a rising edge. `hit` gets the number of a group, and the index on each of its axes.
    fn sample(
        &self,
        state: &mut Self::State,
        in_reset: bool,
        m: &M,
        s: &S,
        hit: impl FnMut(usize, &[usize]),
    );
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

    /// The sampler of an interface whose manager drives the inputs of the DUT. Its groups begin at
    /// index `first` of `groups`.
    pub fn of_manager<P: Interface<I, O>>(
        pins: P,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Self {
        let (mut state, firsts) = (P::State::default(), first_bins(groups));
        Self::new(move |in_reset, inputs, outputs, bins| {
            pins.sample(&mut state, in_reset, inputs, outputs, |group, at| {
                bins.hit(groups[first + group].bin(firsts[first + group], at));
            });
        })
    }

    /// The sampler of an interface whose manager is the DUT.
    pub fn of_subordinate<P: Interface<O, I>>(
        pins: P,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Self {
        let (mut state, firsts) = (P::State::default(), first_bins(groups));
        Self::new(move |in_reset, inputs, outputs, bins| {
            pins.sample(&mut state, in_reset, outputs, inputs, |group, at| {
                bins.hit(groups[first + group].bin(firsts[first + group], at));
            });
        })
    }

    /// Samples a rising edge.
    #[inline]
    pub fn sample(&mut self, in_reset: bool, inputs: &I, outputs: &O, bins: &mut Bins<'_>) {
        (self.0)(in_reset, inputs, outputs, bins);
    }
}

/// The first bin of each group.
fn first_bins(groups: &[Covergroup]) -> Vec<usize> {
    let next = |first: &mut usize, group: &Covergroup| {
        Some(std::mem::replace(first, *first + group.bins()))
    };
    groups.iter().scan(0, next).collect()
}

impl<I, O> Debug for Sampler<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sampler")
    }
}

/// The reports and the coverage of an agent, in its `impl Agent`, with the names of the inputs and
/// of the outputs. The agent is on the side of the manager, or on the other one.
macro_rules! reports_of {
    (manager $i:ident $o:ident) => {
        crate::agent::reports_of! {
            manager $i $o, groups <Self::Pins as crate::Interface<$i, $o>>::GROUPS
        }
    };
    (manager $i:ident $o:ident, groups $groups:expr) => {
        crate::agent::reports_of!(@ of_manager $groups, inputs $i, outputs $o, inputs outputs);
    };
    (subordinate $i:ident $o:ident) => {
        crate::agent::reports_of! {
            @ of_subordinate <Self::Pins as crate::Interface<$o, $i>>::GROUPS,
            inputs $i, outputs $o, outputs inputs
        }
    };
    (
        @ $sampler:ident $groups:expr, $inputs:ident $i:ident, $outputs:ident $o:ident,
        $m:ident $s:ident
    ) => {
        const GROUPS: &'static [cosim_harness::harness::Covergroup] = $groups;

        fn transfers(
            pins: &Self::Pins,
            $inputs: &$i,
            $outputs: &$o,
        ) -> Vec<cosim_harness::harness::Transfer> {
            crate::Interface::transfers(pins, $m, $s)
        }

        fn sampler(
            pins: Self::Pins,
            groups: &'static [cosim_harness::harness::Covergroup],
            first: usize,
        ) -> Option<crate::Sampler<$i, $o>> {
            Some(crate::Sampler::$sampler(pins, groups, first))
        }
    };
}
pub(crate) use reports_of;

/// What [`reports_of!`] has, and the edge of an agent with `edge`, `is_idle` and `counts`.
macro_rules! interface_of {
    ($side:ident $i:ident $o:ident $($groups:tt)*) => {
        crate::agent::reports_of!($side $i $o $($groups)*);

        #[inline]
        fn clock(&mut self, in_reset: bool, inputs: &$i, outputs: &$o) -> Progress {
            let reset = self.edge(in_reset, inputs, outputs);
            Progress::new(reset, self.is_idle(), self.counts)
        }
    };
}
pub(crate) use interface_of;

/// The contract of an agent that answers from a target, by its own `with_target`, `drive` and
/// `clock`.
macro_rules! subordinate {
    ($agent:ident, $pins:ident, $traffic:ty, $(<$words:ident>,)? |$own:ident| $in_flight:expr) => {
        impl<I, O, T $(, const $words: usize)?> $agent<'_, I, O, T $(, $words)?> {
            /// The target.
            pub fn target(&self) -> &T {
                &self.target
            }
        }

        impl<'a, I: Pins, O: Pins, T: Target + Default $(, const $words: usize)?> Agent<'a, I, O>
            for $agent<'a, I, O, T $(, $words)?>
        {
            type Pins = $pins<O, I $(, $words)?>;
            type Traffic = $traffic;

            crate::agent::reports_of!(subordinate I O);

            fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
                Self::with_target(pins, traffic, T::default())
            }

            #[inline]
            fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I) {
                self.drive(in_reset, noise, inputs);
            }

            #[inline]
            fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Progress {
                self.clock(in_reset, inputs, outputs);
                Progress::new(None, self.is_idle(), self.counts)
            }

            fn in_flight(&self) -> Option<String> {
                let $own = self;
                (!self.is_idle()).then(|| $in_flight)
            }
        }
    };
}
pub(crate) use subordinate;
