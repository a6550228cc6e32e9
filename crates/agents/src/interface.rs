//! Interfaces: what reports and coverage show of the ports of an agent.

use cosim_harness::agent::AgentCoverage;
use cosim_harness::harness::{Bins, Covergroup, Transfer};

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

/// The coverage of an interface with the ports `P`. `IS_MANAGER` says that its manager drives the
/// inputs of the DUT; otherwise the DUT is the manager.
pub struct InterfaceCoverage<P, S, const IS_MANAGER: bool> {
    pins: P,
    state: S,
    /// The first bin of each group.
    firsts: Vec<usize>,
}

fn first_bins(groups: &[Covergroup]) -> Vec<usize> {
    let next = |first: &mut usize, group: &Covergroup| {
        Some(std::mem::replace(first, *first + group.bins()))
    };
    groups.iter().scan(0, next).collect()
}

impl<P: Copy, S: Default, const IS_MANAGER: bool> InterfaceCoverage<P, S, IS_MANAGER> {
    fn for_pins(pins: P, groups: &[Covergroup]) -> Self {
        Self { pins, state: S::default(), firsts: first_bins(groups) }
    }

    #[inline]
    fn sides<M, T>(&mut self, in_reset: bool, m: &M, s: &T, bins: &mut Bins<'_>)
    where
        P: Interface<M, T, State = S>,
    {
        let Self { pins, state, firsts } = self;
        pins.sample(state, in_reset, m, s, |group, at| {
            bins.record(P::GROUPS[group].bin(firsts[group], at));
        });
    }
}

impl<I: 'static, O: 'static, P: Interface<I, O>> AgentCoverage<P, I, O>
    for InterfaceCoverage<P, <P as Interface<I, O>>::State, true>
{
    const GROUPS: &'static [Covergroup] = P::GROUPS;

    fn new(pins: P) -> Self {
        Self::for_pins(pins, P::GROUPS)
    }

    #[inline]
    fn sample(&mut self, in_reset: bool, inputs: &I, outputs: &O, bins: &mut Bins<'_>) {
        self.sides(in_reset, inputs, outputs, bins);
    }
}

impl<I: 'static, O: 'static, P: Interface<O, I>> AgentCoverage<P, I, O>
    for InterfaceCoverage<P, <P as Interface<O, I>>::State, false>
{
    const GROUPS: &'static [Covergroup] = P::GROUPS;

    fn new(pins: P) -> Self {
        Self::for_pins(pins, P::GROUPS)
    }

    #[inline]
    fn sample(&mut self, in_reset: bool, inputs: &I, outputs: &O, bins: &mut Bins<'_>) {
        self.sides(in_reset, outputs, inputs, bins);
    }
}

/// The reports and the coverage of an agent, in its `impl Agent`, with the names of the inputs and
/// of the outputs. The agent is on the side of the manager, or on the other one.
macro_rules! reports_of {
    (manager $i:ident $o:ident) => {
        crate::interface::reports_of!(@ $i $o, true, inputs $i, outputs $o, inputs outputs);
    };
    (subordinate $i:ident $o:ident) => {
        crate::interface::reports_of!(@ $o $i, false, inputs $i, outputs $o, outputs inputs);
    };
    (
        @ $of_m:ident $of_s:ident, $is_manager:literal,
        $inputs:ident $i:ident, $outputs:ident $o:ident, $m:ident $s:ident
    ) => {
        type Coverage = crate::interface::InterfaceCoverage<
            Self::Pins,
            <Self::Pins as crate::Interface<$of_m, $of_s>>::State,
            $is_manager,
        >;

        fn transfers(
            pins: Self::Pins,
            $inputs: &$i,
            $outputs: &$o,
        ) -> Vec<cosim_harness::harness::Transfer> {
            crate::Interface::transfers(&pins, $m, $s)
        }
    };
}
pub(crate) use reports_of;

/// What [`reports_of!`] has, and the edge of an agent with `edge`, `is_idle` and `counts`.
macro_rules! interface_of {
    ($side:ident $i:ident $o:ident) => {
        crate::interface::reports_of!($side $i $o);

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

            crate::interface::reports_of!(subordinate I O);

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
                Progress::from_answers(self.is_idle(), self.counts)
            }

            fn in_flight(&self) -> Option<String> {
                let $own = self;
                (!self.is_idle()).then(|| $in_flight)
            }
        }
    };
}
pub(crate) use subordinate;
