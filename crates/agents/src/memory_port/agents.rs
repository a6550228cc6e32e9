//! The manager and the memory of a memory port.

use super::monitor::{GROUPS, MemoryPortSampler};
use super::{
    MemoryPortOperation, MemoryPortOperationKind, MemoryPortPins, MemoryPortSubordinateTraffic,
    MemoryPortSubordinateWeights, MemoryPortTraffic, MemoryPortWeights,
};
use crate::agent::{Agent, AgentTraffic, Counts, Progress, Sampler};
use crate::target::{Access, Memory, Target};
use crate::wide::{Data, Wide, check_bus};
use cosim_harness::harness::{CaseRng, Covergroup, Noise, Percent, Reset, Transfer};
use std::collections::VecDeque;
use std::marker::PhantomData;
use verilated::Pins;

/// Drives a memory DUT.
#[derive(Debug, Clone)]
pub struct MemoryPortManager<'a, M, S> {
    pins: MemoryPortPins<M, S>,
    rest: &'a [MemoryPortOperation],
    /// Remaining cycles of the gap of the first operation.
    gap: u64,
    /// Remaining cycles until the data of the last read has come.
    draining: u64,
    was_reset: bool,
    counts: Counts,
}

impl<'a, M: Pins, S: Pins> MemoryPortManager<'a, M, S> {
    #[inline]
    fn due(&self) -> Option<&'a MemoryPortOperation> {
        self.rest.first().filter(|_| self.gap == 0 && !self.was_reset)
    }
}

impl<'a, M: Pins, S: Pins> MemoryPortManager<'a, M, S> {
    #[inline]
    fn edge(&mut self, in_reset: bool, _: &M, _: &S) -> Option<Reset> {
        let is_open = !in_reset && !self.was_reset;
        let operation = self.due().filter(|_| !in_reset);
        self.was_reset = in_reset;
        self.draining = self.draining.saturating_sub(1);
        if !is_open {
            return None;
        }
        let Some(operation) = operation else {
            self.gap = self.gap.saturating_sub(1);
            return None;
        };
        self.rest = &self.rest[1..];
        self.gap = self.rest.first().map_or(0, |next| next.gap.get());
        self.draining = u64::from(self.pins.latency);
        self.counts.handshakes += 1;
        self.counts.operations += 1;
        operation.reset
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rest.is_empty() && self.draining == 0
    }
}

impl<'a, M: Pins, S: Pins> Agent<'a, M, S> for MemoryPortManager<'a, M, S> {
    type Pins = MemoryPortPins<M, S>;
    type Traffic = MemoryPortTraffic;

    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        check_bus::<32>(8 * pins.bytes());
        let rest = &traffic.operations;
        let gap = rest.first().map_or(0, |first| first.gap.get());
        Self { pins, rest, gap, draining: 0, was_reset: true, counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, m: &mut M) {
        let pins = &self.pins;
        let [a, b, c] = noise.words();
        let (mut address, mut write) = (u64::from(a) << 32 | u64::from(b), u64::from(c & 1));
        let (mut data, mut lanes) = (Wide::<32>(noise.words()), Wide::<4>(noise.words()));
        let operation = self.due().filter(|_| !in_reset);
        match operation.map(|operation| &operation.access) {
            Some(MemoryPortOperationKind::Write { address: at, data: word, lanes: bytes }) => {
                (write, address, data, lanes) = (1, at.get(), *word, *bytes);
            }
            // The write data and the lanes of a read are noise.
            Some(MemoryPortOperationKind::Read { address: at }) => (write, address) = (0, at.get()),
            // Each cycle is an access: a read.
            None if !pins.is_quiet_when_idle() => {
                (write, address) = (0, address % pins.depth.max(1));
            }
            None if pins.en.is_none() => write = 0,
            None => {}
        }
        if let Some(en) = pins.en {
            en.set(m, u64::from(operation.is_some()));
        }
        pins.addr.set(m, address);
        if let Some(pin) = pins.we {
            pin.set(m, write);
        }
        if let Some(pin) = pins.re {
            pin.set(m, u64::from((operation.is_some() || pins.en.is_some()) && write == 0));
        }
        if let Some(pin) = pins.be {
            pin.set_words(m, &lanes.0);
        }
        if let Some(pin) = pins.wdata {
            pin.set_words(m, &data.0);
        }
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, inputs: &M, outputs: &S) -> Progress {
        let reset = self.edge(in_reset, inputs, outputs);
        Progress::new(reset, self.is_idle(), self.counts)
    }

    fn in_flight(&self) -> Option<String> {
        let (first, rest) = self.rest.split_first()?;
        let (gap, left) = (self.gap, rest.len());
        Some(format!("`{}` in {gap} cycles, {left} operations to come", first.access))
    }

    fn transfers(pins: &Self::Pins, inputs: &M, _: &S) -> Vec<Transfer> {
        pins.transfers(inputs)
    }

    fn sampler(
        pins: Self::Pins,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Option<Sampler<M, S>> {
        let mut sampler = MemoryPortSampler::new(pins, groups, first);
        Some(Sampler::new(move |in_reset, inputs, _, bins| {
            sampler.clock(in_reset, inputs, bins);
        }))
    }
}

impl<M: Pins, S: Pins> AgentTraffic<MemoryPortPins<M, S>> for MemoryPortTraffic {
    type Weights = MemoryPortWeights;

    fn draw(
        weights: &Self::Weights,
        pins: &MemoryPortPins<M, S>,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Self {
        weights.draw(pins, operations, reset, rng)
    }

    fn longest_delay(&self) -> u64 {
        let delay = |operation: &MemoryPortOperation| {
            operation.gap.get() + operation.reset.map_or(0, |reset| reset.total())
        };
        self.operations.iter().map(delay).max().unwrap_or(0) + 2
    }
}

/// The memory of a DUT. Its latency is at least one cycle, because its outputs follow from
/// registers.
#[derive(Debug, Clone)]
pub struct MemoryPortSubordinate<'a, I, O, T = Memory> {
    pins: MemoryPortPins<O, I>,
    target: T,
    time: u64,
    /// Read data with the cycle in which it is on `rdata`.
    reads: VecDeque<(u64, Data)>,
    counts: Counts,
    traffic: PhantomData<&'a ()>,
}

impl<I: Pins, O: Pins, T: Target> MemoryPortSubordinate<'_, I, O, T> {
    /// A memory with the contents of `target`, which sees byte addresses.
    ///
    /// # Panics
    /// If the latency is 0, or the data has more than 1024 bits.
    pub fn with_target(pins: MemoryPortPins<O, I>, target: T) -> Self {
        check_bus::<32>(8 * pins.bytes());
        assert!(pins.latency > 0, "the latency of this memory is at least one cycle");
        let (reads, counts) = (VecDeque::new(), Counts::default());
        Self { pins, target, time: 0, reads, counts, traffic: PhantomData }
    }

    /// The target.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// Drives its ports.
    #[inline]
    pub fn drive(&mut self, noise: &mut Noise, s: &mut I) {
        while self.reads.front().is_some_and(|(due, _)| *due < self.time) {
            self.reads.pop_front();
        }
        let idle = noise.words();
        let data = match self.reads.front() {
            Some((due, data)) if *due == self.time => data.0,
            _ => idle,
        };
        self.pins.rdata.set_words(s, &data);
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, m: &O) {
        let now = self.time;
        self.time += 1;
        if in_reset {
            self.reads.clear();
            return;
        }
        let Some(access) = self.pins.access(m) else { return };
        self.counts.handshakes += 1;
        self.counts.operations += 1;
        let bytes = self.pins.bytes();
        let address = access.address.wrapping_mul(u64::from(bytes));
        let mut data = [0; 128];
        if access.is_write {
            for (lane, byte) in (0..bytes).zip(&mut data) {
                *byte = access.data.byte(lane);
            }
            let strobe = (0..bytes)
                .fold(0, |strobe, lane| strobe | u128::from(access.lanes.bit(lane)) << lane);
            let data = &data[..bytes as usize];
            self.target.access(Access::Write { address, data, strobe });
        } else {
            self.target.access(Access::Read { address, data: &mut data[..bytes as usize] });
            let mut word = Wide::ZERO;
            for (lane, byte) in (0..bytes).zip(data) {
                word.set_byte(lane, byte);
            }
            self.reads.push_back((now + u64::from(self.pins.latency), word));
        }
    }
}

impl<'a, I: Pins, O: Pins, T: Target> MemoryPortSubordinate<'a, I, O, T> {
    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.reads.back().is_none_or(|(due, _)| *due < self.time)
    }
}

impl<'a, I: Pins, O: Pins, T: Target + Default> Agent<'a, I, O>
    for MemoryPortSubordinate<'a, I, O, T>
{
    type Pins = MemoryPortPins<O, I>;
    type Traffic = MemoryPortSubordinateTraffic;

    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(pins: Self::Pins, _: &'a Self::Traffic) -> Self {
        Self::with_target(pins, T::default())
    }

    #[inline]
    fn drive(&mut self, _: bool, noise: &mut Noise, inputs: &mut I) {
        self.drive(noise, inputs);
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, _: &I, outputs: &O) -> Progress {
        self.clock(in_reset, outputs);
        Progress::new(None, self.is_idle(), self.counts)
    }

    fn in_flight(&self) -> Option<String> {
        (!self.is_idle()).then(|| format!("{} reads in flight", self.reads.len()))
    }

    fn transfers(pins: &Self::Pins, _: &I, outputs: &O) -> Vec<Transfer> {
        pins.transfers(outputs)
    }

    fn sampler(
        pins: Self::Pins,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Option<Sampler<I, O>> {
        let mut sampler = MemoryPortSampler::new(pins, groups, first);
        Some(Sampler::new(move |in_reset, _, outputs, bins| {
            sampler.clock(in_reset, outputs, bins);
        }))
    }
}

impl<M: Pins, S: Pins> AgentTraffic<MemoryPortPins<M, S>> for MemoryPortSubordinateTraffic {
    type Weights = MemoryPortSubordinateWeights;

    fn draw(
        _: &Self::Weights,
        _: &MemoryPortPins<M, S>,
        _: u32,
        _: Percent,
        _: &mut CaseRng,
    ) -> Self {
        MemoryPortSubordinateTraffic {}
    }

    fn longest_delay(&self) -> u64 {
        0
    }
}
