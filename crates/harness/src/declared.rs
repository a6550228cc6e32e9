//! What `declare!` generates refers to this: environment, coverage and scenarios of a block that
//! is declared by its interfaces.

use crate::agent::{Agent, AgentCoverage, Counts, Pace, Progress};
use crate::channels::{ChannelScenario, SinkWeights, SourceWeights, default_scenarios};
use crate::harness::clocks::{ClockTiming, Clocks, RisingClocks};
use crate::harness::{
    self, Bins, Block, Checked, Covergroup, Edge, Noise, Parameters, Percent, Reset, ResetTimer,
    Scenario, Span, Traffic, TrafficError, Transfer, Unreachable, group_bins, scenarios_from,
};
use crate::value::Uint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use verilated::Pins;

/// Cycles without activity after which a case ends, unless the declaration says otherwise.
pub const DRAIN: u64 = 32;
/// Cycles without a handshake beyond those that the traffic explains.
const SLACK: u64 = 32;

/// The interfaces of a block. `declare!` implements it.
pub trait Declaration: Sized + 'static {
    /// The inputs.
    type Inputs: Pins + Debug + Default;
    /// The outputs.
    type Outputs: Pins + Debug + Default;
    /// The traffic of all agents.
    type Traffic: Traffic;
    /// The agents, each in a [`Member`].
    type Agents<'a>: Agents<'a, Self::Inputs, Self::Outputs>;
    /// Their coverage, each in a [`Sampled`].
    type Samplers: Samplers<Self::Inputs, Self::Outputs>;

    /// The number of clocks, of a block with several; else 0.
    const CLOCKS: usize;
    /// Idle cycles at the end of a case.
    const DRAIN: u64;
    /// The inputs that are held at a value.
    const TIED: &'static [(&'static str, &'static str)];
    /// The covergroups of all agents.
    const GROUPS: &'static [Covergroup];

    /// When the interfaces act.
    fn timing(traffic: &Self::Traffic) -> Timing<'_>;

    /// The agents at the beginning of a traffic.
    fn agents(traffic: &Self::Traffic) -> Self::Agents<'_>;

    /// The coverage of the agents.
    fn samplers() -> Self::Samplers;

    /// Drives clocks, resets and inputs that are held.
    fn drive(rising: RisingClocks, in_reset: bool, inputs: &mut Self::Inputs);

    /// Whether the block is in reset.
    fn in_reset(inputs: &Self::Inputs) -> bool;

    /// The clocks that rise at the end of the step, a bit for each.
    fn rising(inputs: &Self::Inputs) -> u64;

    /// The channels of all interfaces in a cycle.
    fn transfers(inputs: &Self::Inputs, outputs: &Self::Outputs) -> Vec<Transfer>;
}

/// When the interfaces of a case act.
#[derive(Debug, Clone, Copy)]
pub struct Timing<'a> {
    /// Key of the values on idle payload pins.
    pub noise: u64,
    /// The clocks of a block with several.
    pub clocks: &'a [ClockTiming],
    /// Cycles until each value of an input without a protocol has come.
    pub settings: u64,
    /// The longest delays of all agents together.
    pub delays: u64,
}

/// An agent in a declaration.
#[derive(Debug, Clone)]
pub struct Member<'a, A> {
    name: &'static str,
    clocks: u64,
    agent: A,
    progress: Progress,
    traffic: PhantomData<&'a ()>,
}

impl<A> Member<'_, A> {
    /// An agent with its name. `clocks` has the bit of its clock, of a block with several.
    pub fn new(name: &'static str, clocks: u64, agent: A) -> Self {
        Self { name, clocks, agent, progress: Progress::default(), traffic: PhantomData }
    }
}

/// A list of agents: `()`, or a [`Member`] and the rest.
pub trait Agents<'a, I, O> {
    /// Drives the ports of all.
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I);

    /// Takes the edge of the clocks in `rising`. `reset` gets the resets that follow. Returns the
    /// progress of all.
    fn clock(&mut self, step: Step<'_, I, O>, reset: &mut impl FnMut(Reset)) -> Progress;

    /// What they are doing, in words.
    fn in_flight(&self, all: &mut Vec<String>);
}

/// The end of a step.
#[derive(Debug)]
pub struct Step<'a, I, O> {
    /// Whether the block is in reset.
    pub in_reset: bool,
    /// The clocks that rise, a bit for each.
    pub rising: u64,
    /// The inputs.
    pub inputs: &'a I,
    /// The outputs.
    pub outputs: &'a O,
}

impl<I, O> Clone for Step<'_, I, O> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for Step<'_, I, O> {}

impl<I, O> Agents<'_, I, O> for () {
    #[inline]
    fn drive(&mut self, _: bool, _: &mut Noise, _: &mut I) {}

    #[inline]
    fn clock(&mut self, _: Step<'_, I, O>, _: &mut impl FnMut(Reset)) -> Progress {
        Progress::from_answers(true, Counts::default())
    }

    fn in_flight(&self, _: &mut Vec<String>) {}
}

impl<'a, I, O, A: Agent<'a, I, O>, R: Agents<'a, I, O>> Agents<'a, I, O> for (Member<'a, A>, R) {
    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I) {
        self.0.agent.drive(in_reset, noise, inputs);
        self.1.drive(in_reset, noise, inputs);
    }

    #[inline]
    fn clock(&mut self, step: Step<'_, I, O>, reset: &mut impl FnMut(Reset)) -> Progress {
        let (member, rest) = self;
        if step.rising & member.clocks == member.clocks {
            member.progress = member.agent.clock(step.in_reset, step.inputs, step.outputs);
            member.progress.reset.into_iter().for_each(&mut *reset);
        }
        let (own, others) = (member.progress, rest.clock(step, reset));
        Progress {
            reset: None,
            is_idle: own.is_idle & others.is_idle,
            unspent: match (own.unspent, others.unspent) {
                (Some(own), Some(others)) => Some(own + others),
                (own, others) => own.or(others),
            },
            counts: Counts {
                handshakes: own.counts.handshakes + others.counts.handshakes,
                operations: own.counts.operations + others.counts.operations,
            },
        }
    }

    fn in_flight(&self, all: &mut Vec<String>) {
        let words = self.0.agent.in_flight();
        all.extend(words.map(|words| format!("{}: {words}", self.0.name)));
        self.1.in_flight(all);
    }
}

/// The environment of a declared block: its agents, clocks and resets.
pub struct Environment<'a, D: Declaration> {
    noise: Noise,
    agents: D::Agents<'a>,
    reset: DomainReset,
    clocks: Clocks,
    /// Idle steps at the end of the case.
    drain: u64,
    idle: u64,
    counts: Counts,
    /// Handshakes of the agents that have something left to start.
    unspent: Option<u64>,
    /// Handshakes that the block may do while `unspent` stays as it is. Then the case ends if it is
    /// `None`, and hangs if not.
    most_handshakes: u64,
    progress_timeout: u64,
}

/// Handshakes of a block that continues by itself when all stimulus is used or waits, as a
/// processor that fetches: so many, and for each one before as many as the longest burst has.
const MOST_ALONE: (u64, u64) = (2_500, 256);

impl<'a, D: Declaration> harness::Environment<'a, D::Inputs, D::Outputs, D::Traffic>
    for Environment<'a, D>
{
    const TIED: &'static [(&'static str, &'static str)] = D::TIED;

    fn new(traffic: &'a D::Traffic, _: &Parameters) -> Self {
        let Timing { noise, clocks, settings, delays } = D::timing(traffic);
        let scale = steps_per_edge(clocks);
        // Each setting comes in the time that a block has for its items.
        let drain = D::DRAIN * scale + settings;
        Self {
            noise: Noise::new(noise),
            agents: D::agents(traffic),
            reset: DomainReset::new(D::CLOCKS),
            clocks: Clocks::new(clocks, noise),
            drain,
            idle: 0,
            counts: Counts::default(),
            unspent: None,
            most_handshakes: MOST_ALONE.0,
            progress_timeout: drain + scale * (SLACK + delays),
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut D::Inputs) {
        let rising = if D::CLOCKS == 0 { RisingClocks::default() } else { self.clocks.step() };
        let in_reset = self.reset.asserted();
        D::drive(rising, in_reset, inputs);
        self.agents.drive(in_reset, &mut self.noise, inputs);
    }

    #[inline]
    fn clock(&mut self, inputs: &D::Inputs, outputs: &D::Outputs) {
        let (in_reset, rising) = (D::in_reset(inputs), D::rising(inputs));
        let step = Step { in_reset, rising, inputs, outputs };
        let reset = &mut self.reset;
        let progress = self.agents.clock(step, &mut |next| reset.start(next));
        self.counts = progress.counts;
        if progress.unspent != self.unspent {
            self.unspent = progress.unspent;
            self.most_handshakes = MOST_ALONE.0 + self.counts.handshakes * (1 + MOST_ALONE.1);
        }
        self.idle = if progress.is_idle && !in_reset { self.idle + 1 } else { 0 };
        self.reset.clock(rising);
    }

    #[inline]
    fn finished(&self) -> bool {
        self.idle >= self.drain && self.reset.is_over() || self.is_cut()
    }

    #[inline]
    fn is_cut(&self) -> bool {
        self.unspent.is_none() && self.counts.handshakes > self.most_handshakes
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.counts.handshakes.min(self.most_handshakes)
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.progress_timeout
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.counts.operations
    }

    fn in_flight(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.agents.in_flight(&mut all);
        all
    }

    fn transfers(inputs: &D::Inputs, outputs: &D::Outputs) -> Vec<Transfer> {
        D::transfers(inputs, outputs)
    }
}

impl<D: Declaration> Debug for Environment<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// The largest number of steps between two edges of a clock: 1 without clocks of their own.
fn steps_per_edge(clocks: &[ClockTiming]) -> u64 {
    let periods = || clocks.iter().map(|clock| clock.period.get().max(1));
    let slowest = 2 * periods().max().unwrap_or(0);
    periods().map(|period| slowest / period + 1).sum::<u64>().max(1)
}

/// A reset of all clock domains. It lasts until each clock has risen as often as it says.
#[derive(Debug, Clone)]
struct DomainReset {
    timer: ResetTimer,
    /// The clocks that have risen in the present cycle of the reset.
    risen: u64,
    clocks: usize,
}

impl DomainReset {
    fn new(clocks: usize) -> Self {
        Self { timer: ResetTimer::default(), risen: 0, clocks }
    }

    #[inline]
    fn start(&mut self, reset: Reset) {
        self.timer.start(reset);
    }

    #[inline]
    fn asserted(&self) -> bool {
        self.timer.asserted()
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.timer.is_over()
    }

    /// Takes the end of a step, with the clocks that rise there.
    #[inline]
    fn clock(&mut self, rising: u64) {
        if self.timer.asserted() {
            self.risen |= rising;
            if self.risen.count_ones() < self.clocks as u32 {
                return;
            }
            self.risen = 0;
        }
        self.timer.clock();
    }
}

/// The coverage of an agent in a declaration.
#[derive(Debug)]
pub struct Sampled<P, C> {
    clocks: u64,
    coverage: C,
    pins: PhantomData<fn() -> P>,
}

impl<P, C> Sampled<P, C> {
    /// The coverage of an interface with these ports.
    pub fn new<I, O>(clocks: u64, pins: P) -> Self
    where
        C: AgentCoverage<P, I, O>,
    {
        Self { clocks, coverage: C::new(pins), pins: PhantomData }
    }
}

/// A list of coverages: `()`, or a [`Sampled`] and the rest.
pub trait Samplers<I, O>: 'static {
    /// Samples the edge of the clocks in `rising`.
    fn sample(&mut self, step: Step<'_, I, O>, bins: &mut Bins<'_>);
}

impl<I, O> Samplers<I, O> for () {
    #[inline]
    fn sample(&mut self, _: Step<'_, I, O>, _: &mut Bins<'_>) {}
}

impl<P: 'static, I, O, C: AgentCoverage<P, I, O>, R: Samplers<I, O>> Samplers<I, O>
    for (Sampled<P, C>, R)
{
    #[inline]
    fn sample(&mut self, step: Step<'_, I, O>, bins: &mut Bins<'_>) {
        let (sampled, rest) = self;
        if step.in_reset || step.rising & sampled.clocks == sampled.clocks {
            sampled.coverage.sample(step.in_reset, step.inputs, step.outputs, bins);
        }
        rest.sample(step, &mut bins.behind(const { group_bins(C::GROUPS) }));
    }
}

/// The coverage of the interfaces of a declared block.
pub struct Coverage<D: Declaration>(D::Samplers);

impl<B, D> harness::Coverage<B> for Coverage<D>
where
    D: Declaration,
    B: Block<Inputs = D::Inputs, Outputs = D::Outputs>,
{
    const GROUPS: &'static [Covergroup] = D::GROUPS;

    fn new(_: &Parameters) -> Self {
        Self(D::samplers())
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, B>, bins: &mut Bins<'_>) {
        let Edge { inputs, outputs, .. } = *edge;
        let (in_reset, rising) = (D::in_reset(inputs), D::rising(inputs));
        self.0.sample(Step { in_reset, rising, inputs, outputs }, bins);
    }
}

impl<D: Declaration> Debug for Coverage<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coverage")
    }
}

/// The groups of an interface with its name, and the reasons for unreachable bins of some of them.
/// The reason of a group without a name of its own has the name `""`.
///
/// # Panics
/// If there is no group for a reason; at compile time in a constant.
pub const fn groups_of<const N: usize>(
    owner: &'static str,
    groups: &[Covergroup],
    reasons: &[(&str, Unreachable)],
) -> [Covergroup; N] {
    let mut all = [Covergroup::new("", "", &[]); N];
    let mut index = 0;
    while index < N {
        all[index] = groups[index].owned_by(owner);
        index += 1;
    }
    let mut reason = 0;
    while reason < reasons.len() {
        let mut index = 0;
        while index < N && !harness::is_same(all[index].name, reasons[reason].0) {
            index += 1;
        }
        assert!(index < N, "the interface has no covergroup of this name");
        all[index] = all[index].unless(reasons[reason].1);
        reason += 1;
    }
    all
}

/// The groups of all interfaces, one after the other.
///
/// # Panics
/// Unless there are `N`; at compile time in a constant.
pub const fn all_groups<const N: usize>(lists: &[&[Covergroup]]) -> [Covergroup; N] {
    let mut all = [Covergroup::new("", "", &[]); N];
    let (mut place, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[place] = lists[list][index];
            (place, index) = (place + 1, index + 1);
        }
        list += 1;
    }
    assert!(place == N, "each group has a place");
    all
}

/// Checks the clocks of a traffic.
///
/// # Errors
/// If their number is not that of the block, or one cannot be generated.
pub fn check_clocks(clocks: &[ClockTiming], count: usize) -> Result<(), TrafficError> {
    if clocks.len() != count {
        let message = format!("{} clocks; the block has {count}", clocks.len());
        return Err(TrafficError { path: "clocks".to_owned(), message });
    }
    ClockTiming::check(clocks, "clocks")
}

/// Operations of a long case. About half of them are writes, so that a bug behind a counter of ten
/// bits shows in it, whatever is counted.
const LONG: Span<20, 1> = Span::new(2_300, 2_800);

/// What decides the default scenarios of a declaration.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioPlan {
    /// The text of the block's own scenarios, in the place of the default ones.
    pub own: Option<&'static str>,
    /// Whether there are agents beside channels.
    pub has_agents: bool,
    /// How many times as long gaps and stalls are as those of channels.
    pub slowness: u64,
}

/// The scenarios of a declared block. `adapt` gives its weights for a pace, the chance of a reset
/// in percent, and cycles of unconstrained stimulus per operation.
pub fn scenarios<B: Block, W: PartialEq + Checked + Serialize + DeserializeOwned>(
    plan: ScenarioPlan,
    adapt: impl Fn(&Pace, u64, u64) -> W,
) -> Vec<Scenario<W>> {
    let has_raw = B::TRANSACTION_OUTPUTS.len() < B::Outputs::PORTS.len();
    match plan.own {
        Some(own) => scenarios_from(own),
        None => paced_scenarios(plan, [B::RESET.is_some(), has_raw], adapt),
    }
}

/// The default scenarios of a block that has a reset and outputs that are compared in every cycle,
/// or not.
pub fn paced_scenarios<W: PartialEq>(
    plan: ScenarioPlan,
    [has_reset, has_raw]: [bool; 2],
    adapt: impl Fn(&Pace, u64, u64) -> W,
) -> Vec<Scenario<W>> {
    let slower = |cycles: Uint<12>| {
        let limit = (1 << 12) - 1;
        Uint::new(cycles.get().saturating_mul(plan.slowness).min(limit))
    };
    let scenario = |of: &ChannelScenario, errors| {
        let SourceWeights { gap, longest_gap } = of.source;
        let SinkWeights { stall, longest_stall } = of.sink;
        let source = SourceWeights { gap, longest_gap: slower(longest_gap) };
        let sink = SinkWeights { stall, longest_stall: slower(longest_stall) };
        Scenario::new(of.name, of.about, adapt(&Pace { source, sink, errors }, of.reset, of.raw))
    };
    let all = default_scenarios(has_reset, has_raw);
    let mut scenarios: Vec<_> = all.iter().map(|of| scenario(of, None)).collect();
    if !plan.has_agents {
        return scenarios;
    }
    let more = |name, about, [gap, longest_gap]: [u64; 2], [stall, longest_stall]: [u64; 2]| {
        let source = SourceWeights::new(gap, longest_gap);
        let sink = SinkWeights::new(stall, longest_stall);
        ChannelScenario { name, about, source, sink, reset: 0, raw: 0 }
    };
    let about = "rare stalls that outlast a slow protocol and fill its buffers";
    scenarios.push(scenario(&more("long-stalls", about, [20, 6], [1, 4000]), None));
    let long = more("long-runs", "a share of cases with over 2,000 transfers", [20, 4], [20, 4]);
    scenarios.push(scenario(&long, None).with_long(10, LONG));
    // Without agents that know errors, the scenario would be one that exists.
    let errors = more("errors", "error responses, asked for and given", [40, 12], [40, 12]);
    let [with, without] = [Some(Percent::new(20)), None].map(|chance| scenario(&errors, chance));
    if with.weights != without.weights {
        scenarios.push(with);
    }
    scenarios
}
