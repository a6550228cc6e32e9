//! The items of a channel on its pins, and the agents that drive channels.

use super::coverage::{ChannelSampler, GAP, STALL};
use super::settings::{Setting, Settings, SettingsOf};
use super::sink::Sink;
use super::source::{Burst, Lanes, Offer, Sources};
use crate::agent::{Agent, AgentCoverage, AgentTraffic, Counts, NoCoverage, Progress};
use crate::harness::{Bins, Covergroup, Noise, Place, Reset, Transfer};
use crate::value::Uint;
use std::fmt::Debug;
use std::marker::PhantomData;

/// The pins of a channel. `declare!` implements it for the type of its items.
pub trait ChannelItem: Copy + Debug + 'static {
    /// The inputs of the block.
    type Inputs;
    /// The outputs of the block.
    type Outputs;
    /// The name of the channel.
    const CHANNEL: &'static str;
    /// Its pins, for reports.
    const PORTS: &'static [&'static str];
    /// Whether the receiver can let an item wait.
    const HAS_READY: bool;
}

/// An item of a source, a channel into the block. Bit n of its handshakes belongs to lane n.
pub trait SourceItem: ChannelItem {
    /// Whether an item is on offer: a bit for each lane.
    fn valids(inputs: &Self::Inputs) -> u64;

    /// Whether the block takes an item: a bit for each lane.
    fn readies(outputs: &Self::Outputs) -> u64;

    /// The payload pins of a lane.
    fn payload(lane: u32, inputs: &Self::Inputs) -> Self;

    /// Drives the pins: `valids`, the items on offer, and noise on payload pins without one.
    fn drive_pins(
        valids: u64,
        offers: &[Option<Self>],
        noise: &mut Noise,
        inputs: &mut Self::Inputs,
    );

    /// Whether the clock of the channel rises at the end of the step.
    #[inline]
    fn is_clocked(_inputs: &Self::Inputs) -> bool {
        true
    }

    /// The item on offer, of the first lane.
    #[inline]
    fn offered(inputs: &Self::Inputs) -> Option<Self> {
        Self::offered_at(0, inputs)
    }

    /// The item on offer, of a lane.
    #[inline]
    fn offered_at(lane: u32, inputs: &Self::Inputs) -> Option<Self> {
        (Self::valids(inputs) >> lane & 1 == 1).then(|| Self::payload(lane, inputs))
    }

    /// Whether the block takes an item, of the first lane.
    #[inline]
    fn is_ready(outputs: &Self::Outputs) -> bool {
        Self::readies(outputs) & 1 == 1
    }

    /// The item that is taken, of the first lane.
    #[inline]
    fn taken(inputs: &Self::Inputs, outputs: &Self::Outputs) -> Option<Self> {
        let takes = Self::is_clocked(inputs) && Self::is_ready(outputs);
        Self::offered(inputs).filter(|_| takes)
    }
}

/// An item of a sink, a channel out of the block.
pub trait SinkItem: ChannelItem {
    /// Whether the block offers an item.
    fn is_valid(outputs: &Self::Outputs) -> bool;

    /// Whether the environment takes an item.
    fn is_ready(inputs: &Self::Inputs) -> bool;

    /// The payload pins.
    fn payload(outputs: &Self::Outputs) -> Self;

    /// Writes the item to its pins, for a golden model.
    fn write_outputs(self, outputs: &mut Self::Outputs);

    /// Drives the ready.
    fn put_ready(is_ready: bool, inputs: &mut Self::Inputs);

    /// Whether the clock of the channel rises at the end of the step.
    #[inline]
    fn is_clocked(_inputs: &Self::Inputs) -> bool {
        true
    }

    /// The item on offer.
    #[inline]
    fn offered(outputs: &Self::Outputs) -> Option<Self> {
        Self::is_valid(outputs).then(|| Self::payload(outputs))
    }

    /// The item that is taken.
    #[inline]
    fn taken(inputs: &Self::Inputs, outputs: &Self::Outputs) -> Option<Self> {
        let takes = Self::is_clocked(inputs) && Self::is_ready(inputs);
        Self::offered(outputs).filter(|_| takes)
    }
}

/// The agent of a source: it offers items of the type `C`, and holds each offer until it is taken.
/// Its traffic `L` has lists of `T`.
#[derive(Debug, Clone)]
pub struct SourceAgent<'a, C, L, T, const LANES: usize> {
    sources: Sources<'a, T, LANES>,
    counts: Counts,
    types: PhantomData<fn() -> (C, L)>,
}

impl<'a, C, L, T, const LANES: usize> Agent<'a, C::Inputs, C::Outputs>
    for SourceAgent<'a, C, L, T, LANES>
where
    C: SourceItem,
    L: Lanes<Entry = Offer<T>> + AgentTraffic + 'a,
    T: Burst<Item = C> + 'a,
{
    type Pins = ();
    type Traffic = L;
    type Coverage = SourceCoverage<C, LANES>;

    fn new((): (), traffic: &'a L) -> Self {
        Self { sources: Sources::new(traffic), counts: Counts::default(), types: PhantomData }
    }

    #[inline]
    fn drive(&mut self, _: bool, noise: &mut Noise, inputs: &mut C::Inputs) {
        let offers = self.sources.offers();
        let mut valids = 0;
        for (lane, offer) in offers.iter().enumerate() {
            valids |= u64::from(offer.is_some()) << lane;
        }
        C::drive_pins(valids, &offers, noise, inputs);
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, _: &C::Inputs, outputs: &C::Outputs) -> Progress {
        let mut last: Option<Reset> = None;
        let is_done = self.sources.is_done();
        if in_reset {
            self.sources.reset();
        } else {
            let [taken, finished] =
                self.sources.clock(C::readies(outputs), |reset| last = Some(reset));
            self.counts.handshakes += taken;
            self.counts.operations += finished;
        }
        Progress::new(last, is_done, self.counts)
    }

    fn in_flight(&self) -> Option<String> {
        let words = self.sources.in_flight();
        (!words.is_empty()).then(|| words.join("; "))
    }

    fn transfers((): (), inputs: &C::Inputs, outputs: &C::Outputs) -> Vec<Transfer> {
        let transfer = |lane: usize| {
            let is_ready = C::is_clocked(inputs) && C::readies(outputs) >> lane & 1 == 1;
            let item = C::offered_at(lane as u32, inputs).map(|item| format!("{item:x?}"));
            let lane = (LANES > 1).then_some(lane as u32);
            Transfer::new(C::CHANNEL, lane, C::PORTS, item, [C::HAS_READY, is_ready])
        };
        (0..LANES).map(transfer).collect()
    }
}

/// The agent of a sink: it takes items of the type `C`, each after a stall.
#[derive(Debug, Clone)]
pub struct SinkAgent<'a, C> {
    sink: Sink<'a>,
    counts: Counts,
    item: PhantomData<fn() -> C>,
}

impl<'a, C: SinkItem> Agent<'a, C::Inputs, C::Outputs> for SinkAgent<'a, C> {
    type Pins = ();
    type Traffic = Vec<Uint<12>>;
    type Coverage = SinkCoverage<C>;

    fn new((): (), stalls: &'a Vec<Uint<12>>) -> Self {
        Self { sink: Sink::new(stalls), counts: Counts::default(), item: PhantomData }
    }

    #[inline]
    fn drive(&mut self, _: bool, _: &mut Noise, inputs: &mut C::Inputs) {
        C::put_ready(self.sink.is_ready(), inputs);
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, _: &C::Inputs, outputs: &C::Outputs) -> Progress {
        let valid = !in_reset && C::is_valid(outputs);
        if !in_reset {
            self.counts.handshakes += u64::from(self.sink.clock(valid));
        }
        Progress::from_answers(!valid, self.counts)
    }

    fn transfers((): (), inputs: &C::Inputs, outputs: &C::Outputs) -> Vec<Transfer> {
        let item = C::offered(outputs).map(|item| format!("{item:x?}"));
        let is_ready = C::is_clocked(inputs) && C::is_ready(inputs);
        vec![Transfer::new(C::CHANNEL, None, C::PORTS, item, [C::HAS_READY, is_ready])]
    }
}

/// The coverage of a source: the gap before an item, crossed with its stall.
#[derive(Debug)]
pub struct SourceCoverage<C, const LANES: usize>([ChannelSampler; LANES], PhantomData<fn() -> C>);

/// The coverage of a sink.
#[derive(Debug)]
pub struct SinkCoverage<C>(ChannelSampler, PhantomData<fn() -> C>);

/// Where the one group of a channel begins.
const PLACE: Place<2> = Place::find_group(&[Covergroup::new("", "", &[GAP, STALL])], "");

/// Why a bin of a channel without a ready is unreachable.
fn without_ready(at: &[usize]) -> Option<&'static str> {
    (at[1] > 0).then_some("the channel has no ready")
}

const fn group(about: &'static str, has_ready: bool) -> Covergroup {
    let group = Covergroup::new("", about, &[GAP, STALL]);
    if has_ready { group } else { group.unless(|at, _| without_ready(at)) }
}

impl<C: SourceItem, const LANES: usize> AgentCoverage<(), C::Inputs, C::Outputs>
    for SourceCoverage<C, LANES>
{
    const GROUPS: &'static [Covergroup] =
        &[group("items into the block: gap before the item, and its stall", C::HAS_READY)];

    fn new((): ()) -> Self {
        Self(std::array::from_fn(|_| ChannelSampler::default()), PhantomData)
    }

    #[inline]
    fn sample(
        &mut self,
        in_reset: bool,
        inputs: &C::Inputs,
        outputs: &C::Outputs,
        bins: &mut Bins<'_>,
    ) {
        let (valid, ready) = (C::valids(inputs), C::readies(outputs));
        for (lane, sampler) in self.0.iter_mut().enumerate() {
            let [valid, ready] = [valid, ready].map(|all| all >> lane & 1 == 1);
            if let Some(hit) = sampler.clock(in_reset, valid, ready) {
                bins.record(PLACE.bin(hit));
            }
        }
    }
}

impl<C: SinkItem> AgentCoverage<(), C::Inputs, C::Outputs> for SinkCoverage<C> {
    const GROUPS: &'static [Covergroup] =
        &[group("items out of the block: gap before the item, and its stall", C::HAS_READY)];

    fn new((): ()) -> Self {
        Self(ChannelSampler::default(), PhantomData)
    }

    #[inline]
    fn sample(
        &mut self,
        in_reset: bool,
        inputs: &C::Inputs,
        outputs: &C::Outputs,
        bins: &mut Bins<'_>,
    ) {
        if let Some(hit) = self.0.clock(in_reset, C::is_valid(outputs), C::is_ready(inputs)) {
            bins.record(PLACE.bin(hit));
        }
    }
}

/// The agent of inputs without a protocol: each value lasts some cycles.
#[derive(Debug, Clone)]
pub struct SettingsAgent<'a, S>(SettingsOf<'a, S>);

impl<'a, S: Settings, O> Agent<'a, S::Inputs, O> for SettingsAgent<'a, S> {
    type Pins = ();
    type Traffic = Vec<Setting<S>>;
    type Coverage = NoCoverage;

    fn new((): (), settings: &'a Vec<Setting<S>>) -> Self {
        Self(SettingsOf::new(settings))
    }

    #[inline]
    fn drive(&mut self, _: bool, _: &mut Noise, inputs: &mut S::Inputs) {
        self.0.inputs().drive_inputs(inputs);
    }

    #[inline]
    fn clock(&mut self, _: bool, _: &S::Inputs, _: &O) -> Progress {
        self.0.clock();
        Progress::from_answers(true, Counts::default())
    }
}
