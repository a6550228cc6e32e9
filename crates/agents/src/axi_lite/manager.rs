//! The manager: it starts operations and takes their responses.

use super::coverage::{AxiLiteSampler, GROUPS};
use super::{AxiLiteAccess, AxiLiteOperation, AxiLitePins, AxiLiteTraffic, AxiLiteWeights};
use crate::agent::{Agent, AgentTraffic, Counts, Progress, Sampler};
use crate::channel::ReadyDriver;
use cosim_harness::harness::{CaseRng, Covergroup, Noise, Percent, Reset, Transfer};
use std::collections::VecDeque;
use verilated::Pins;

/// Drives a subordinate DUT. Valids are low in reset and in the first cycle after it (IHI 0022,
/// "Reset"). They never depend on a ready ("Dependencies between channel handshake signals").
#[derive(Debug, Clone)]
pub struct AxiLiteManager<'a, M, S> {
    pins: AxiLitePins<M, S>,
    operations: &'a [AxiLiteOperation],
    /// Index of the next operation to start.
    next: usize,
    /// Remaining cycles of its gap.
    gap: u64,
    /// Cycles outside reset.
    time: u64,
    /// Writes whose address is not taken, with the cycle from which on it is offered.
    aw: VecDeque<(&'a AxiLiteOperation, u64)>,
    /// Writes whose data is not taken, in the same form.
    w: VecDeque<(&'a AxiLiteOperation, u64)>,
    /// Reads whose address is not taken.
    ar: VecDeque<&'a AxiLiteOperation>,
    /// Started writes without a response.
    writes: u64,
    /// Started reads without data.
    reads: u64,
    bready: ReadyDriver<'a>,
    rready: ReadyDriver<'a>,
    counts: Counts,
}

impl<'a, M: Pins, S: Pins> AxiLiteManager<'a, M, S> {
    #[inline]
    fn due(
        queue: &VecDeque<(&'a AxiLiteOperation, u64)>,
        time: u64,
    ) -> Option<&'a AxiLiteOperation> {
        queue.front().filter(|(_, due)| *due <= time).map(|(operation, _)| *operation)
    }

    /// Starts the next operation, if it is time.
    #[inline]
    fn start(&mut self) -> Option<Reset> {
        let operation = self.operations.get(self.next)?;
        if operation.fence && self.writes + self.reads > 0 {
            return None;
        }
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        match &operation.access {
            AxiLiteAccess::Write { address_delay, data_delay, .. } => {
                self.aw.push_back((operation, self.time + address_delay.get()));
                self.w.push_back((operation, self.time + data_delay.get()));
                self.writes += 1;
            }
            AxiLiteAccess::Read { .. } => {
                self.ar.push_back(operation);
                self.reads += 1;
            }
        }
        self.next += 1;
        self.gap = self.operations.get(self.next).map_or(0, |next| next.gap.get());
        self.counts.operations += 1;
        operation.reset
    }
}

impl<'a, M: Pins, S: Pins> AxiLiteManager<'a, M, S> {
    #[inline]
    fn edge(&mut self, in_reset: bool, m: &M, s: &S) -> Option<Reset> {
        if in_reset {
            self.aw.clear();
            self.w.clear();
            self.ar.clear();
            (self.writes, self.reads) = (0, 0);
            self.bready.reset();
            self.rready.reset();
            return None;
        }
        let pins = &self.pins;
        self.time += 1;
        if pins.awvalid.is_high(m) && pins.awready.is_high(s) {
            self.aw.pop_front();
            self.counts.handshakes += 1;
        }
        if pins.wvalid.is_high(m) && pins.wready.is_high(s) {
            self.w.pop_front();
            self.counts.handshakes += 1;
        }
        if pins.arvalid.is_high(m) && pins.arready.is_high(s) {
            self.ar.pop_front();
            self.counts.handshakes += 1;
        }
        if self.bready.clock(pins.bvalid.is_high(s), pins.bready.is_high(m)) {
            self.writes = self.writes.saturating_sub(1);
            self.counts.handshakes += 1;
        }
        if self.rready.clock(pins.rvalid.is_high(s), pins.rready.is_high(m)) {
            self.reads = self.reads.saturating_sub(1);
            self.counts.handshakes += 1;
        }
        self.start()
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.next == self.operations.len() && self.writes + self.reads == 0
    }
}

impl<'a, M: Pins, S: Pins> Agent<'a, M, S> for AxiLiteManager<'a, M, S> {
    type Pins = AxiLitePins<M, S>;
    type Traffic = AxiLiteTraffic;

    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self {
            pins,
            operations: &traffic.operations,
            next: 0,
            gap: traffic.operations.first().map_or(0, |first| first.gap.get()),
            time: 0,
            aw: VecDeque::new(),
            w: VecDeque::new(),
            ar: VecDeque::new(),
            writes: 0,
            reads: 0,
            bready: ReadyDriver::new(&traffic.bready),
            rready: ReadyDriver::new(&traffic.rready),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, m: &mut M) {
        let pins = &self.pins;
        let [a, b, c, d, e, f] = noise.words();
        let wide = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let (mut address, mut prot) = (wide(a, b), u64::from(c));
        let aw = Self::due(&self.aw, self.time).filter(|_| !in_reset);
        if let Some(AxiLiteOperation {
            access: AxiLiteAccess::Write { address: at, .. },
            prot: p,
            ..
        }) = aw
        {
            (address, prot) = (at.get(), p.get());
        }
        pins.awvalid.set(m, u64::from(aw.is_some()));
        pins.awaddr.set(m, address);
        if let Some(pin) = pins.awprot {
            pin.set(m, prot);
        }
        let (mut data, mut strobe) = (wide(d, e), u64::from(f));
        let w = Self::due(&self.w, self.time).filter(|_| !in_reset);
        if let Some(AxiLiteAccess::Write { data: word, strobe: bytes, .. }) = w.map(|w| &w.access) {
            (data, strobe) = (word.get(), bytes.get());
        }
        pins.wvalid.set(m, u64::from(w.is_some()));
        pins.wdata.set(m, data);
        if let Some(pin) = pins.wstrb {
            pin.set(m, strobe);
        }
        let (mut address, mut prot) = (wide(b, a), u64::from(f >> 8));
        let ar = self.ar.front().filter(|_| !in_reset);
        if let Some(AxiLiteOperation {
            access: AxiLiteAccess::Read { address: at }, prot: p, ..
        }) = ar
        {
            (address, prot) = (at.get(), p.get());
        }
        pins.arvalid.set(m, u64::from(ar.is_some()));
        pins.araddr.set(m, address);
        if let Some(pin) = pins.arprot {
            pin.set(m, prot);
        }
        pins.bready.set(m, u64::from(!in_reset && self.bready.ready()));
        pins.rready.set(m, u64::from(!in_reset && self.rready.ready()));
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, inputs: &M, outputs: &S) -> Progress {
        let reset = self.edge(in_reset, inputs, outputs);
        Progress::new(reset, self.is_idle(), self.counts)
    }

    fn in_flight(&self) -> Option<String> {
        if self.is_idle() {
            return None;
        }
        let mut words = Vec::new();
        if let Some(operation) = Self::due(&self.aw, self.time) {
            words.push(format!("offers the address of `{}`", operation.access));
        }
        if let Some(operation) = Self::due(&self.w, self.time) {
            words.push(format!("offers the data of `{}`", operation.access));
        }
        if let Some(operation) = self.ar.front() {
            words.push(format!("offers `{}`", operation.access));
        }
        let left = self.operations.len() - self.next;
        words.push(format!(
            "{} writes and {} reads in flight, {left} operations to come",
            self.writes, self.reads
        ));
        Some(words.join(", "))
    }

    fn transfers(pins: &Self::Pins, inputs: &M, outputs: &S) -> Vec<Transfer> {
        pins.transfers(inputs, outputs)
    }

    fn sampler(
        pins: Self::Pins,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Option<Sampler<M, S>> {
        let mut sampler = AxiLiteSampler::new(pins, groups, first);
        Some(Sampler::new(move |in_reset, inputs, outputs, bins| {
            sampler.clock(in_reset, inputs, outputs, bins);
        }))
    }
}

impl<M: Pins, S: Pins> AgentTraffic<AxiLitePins<M, S>> for AxiLiteTraffic {
    type Weights = AxiLiteWeights;

    fn draw(
        weights: &Self::Weights,
        pins: &AxiLitePins<M, S>,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Self {
        weights.draw(pins, operations, reset, rng)
    }

    fn longest_delay(&self) -> u64 {
        let delay = |operation: &AxiLiteOperation| {
            let skew = match &operation.access {
                AxiLiteAccess::Write { address_delay, data_delay, .. } => {
                    address_delay.get().max(data_delay.get())
                }
                AxiLiteAccess::Read { .. } => 0,
            };
            operation.gap.get() + skew + operation.reset.map_or(0, |reset| reset.total())
        };
        let longest = self.operations.iter().map(delay).max().unwrap_or(0);
        longest + self.bready.longest_delay() + self.rready.longest_delay() + 1
    }
}
