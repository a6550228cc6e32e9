//! The manager and the memory of a memory port.

use super::{
    MemoryPortOperation, MemoryPortOperationKind, MemoryPortPins, MemoryPortSubordinateTraffic,
    MemoryPortTraffic,
};
use crate::interface::{interface_of, subordinate};
use crate::ports::DriveOptional;
use crate::target::{Access, Memory, Target};
use crate::wide::{Data, Lanes, Wide, check_bus};
use cosim_harness::agent::{Agent, Counts, Progress};
use cosim_harness::harness::{Noise, Reset};
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

    interface_of!(manager M S);

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
        let (mut data, mut lanes) =
            (Data::noise(8 * pins.bytes(), noise), Lanes::noise(128, noise));
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
        pins.en.set(m, u64::from(operation.is_some()));
        pins.addr.set(m, address);
        pins.we.set(m, write);
        pins.re.set(m, u64::from((operation.is_some() || pins.en.is_some()) && write == 0));
        pins.be.set_words(m, &lanes.0);
        pins.wdata.set_words(m, &data.0);
    }

    fn in_flight(&self) -> Option<String> {
        let (first, rest) = self.rest.split_first()?;
        let (gap, left) = (self.gap, rest.len());
        Some(format!("`{}` in {gap} cycles, {left} operations to come", first.access))
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

impl<'a, I: Pins, O: Pins, T: Target> MemoryPortSubordinate<'a, I, O, T> {
    /// A memory with the contents of `target`, which sees byte addresses.
    ///
    /// # Panics
    /// If the latency is 0, or the data has more than 1024 bits.
    pub fn with_target(
        pins: MemoryPortPins<O, I>,
        _: &'a MemoryPortSubordinateTraffic,
        target: T,
    ) -> Self {
        check_bus::<32>(8 * pins.bytes());
        assert!(pins.latency > 0, "the latency of this memory is at least one cycle");
        let (reads, counts) = (VecDeque::new(), Counts::default());
        Self { pins, target, time: 0, reads, counts, traffic: PhantomData }
    }

    /// Drives its ports.
    #[inline]
    pub fn drive(&mut self, _: bool, noise: &mut Noise, s: &mut I) {
        while self.reads.front().is_some_and(|(due, _)| *due < self.time) {
            self.reads.pop_front();
        }
        let idle = Data::noise(8 * self.pins.bytes(), noise);
        let data = match self.reads.front() {
            Some((due, data)) if *due == self.time => data,
            _ => &idle,
        };
        self.pins.rdata.set_words(s, &data.0);
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, _: &I, m: &O) {
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
        if access.is_write {
            let (data, end) = access.data.to_bytes(bytes);
            let strobe = access.lanes.low_128();
            self.target.access(Access::Write { address, data: &data[..end], strobe });
        } else {
            let mut data = [0; 128];
            let data = &mut data[..bytes as usize];
            self.target.access(Access::Read { address, data });
            self.reads.push_back((now + u64::from(self.pins.latency), Wide::from_bytes(data)));
        }
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.reads.back().is_none_or(|(due, _)| *due < self.time)
    }
}

subordinate! {
    MemoryPortSubordinate, MemoryPortPins, MemoryPortSubordinateTraffic,
    |own| format!("{} reads in flight", own.reads.len())
}
