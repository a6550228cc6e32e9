//! The manager: it starts operations and takes their responses.

use super::{Axi4Access, Axi4AddressPins, Axi4Operation, Axi4Pins, Axi4Traffic};
use crate::interface::interface_of;
use crate::ports::DriveOptional;
use crate::wide::{Lanes, Wide, check_bus};
use cosim_harness::agent::{Agent, Counts, Progress};
use cosim_harness::channels::Sink;
use cosim_harness::harness::{Noise, Reset};
use std::collections::VecDeque;
use verilated::Pins;

/// A write or read that was started, and the cycle from which on a part of it is offered.
type Due<'a, const WORDS: usize> = (&'a Axi4Operation<WORDS>, u64);

/// Drives a subordinate DUT. Valids are low in reset and in the first cycle after it (IHI 0022,
/// "Reset"). They never depend on a ready ("Dependencies between channel handshake signals"). Write
/// data leaves in the order of the addresses ("Transaction ordering").
#[derive(Debug, Clone)]
pub struct Axi4Manager<'a, M, S, const WORDS: usize = 32> {
    pins: Axi4Pins<M, S, WORDS>,
    operations: &'a [Axi4Operation<WORDS>],
    /// Index of the next operation to start.
    next: usize,
    /// Remaining cycles of its gap.
    gap: u64,
    /// Cycles outside reset.
    time: u64,
    /// Operations whose address is not taken.
    aw: VecDeque<Due<'a, WORDS>>,
    ar: VecDeque<Due<'a, WORDS>>,
    /// Writes with beats that are not taken.
    w: VecDeque<Due<'a, WORDS>>,
    /// Beats of the first one that were taken.
    beat: usize,
    /// The cycle from which on its next beat is offered.
    beat_due: u64,
    /// Started writes without a response, and reads without their last beat.
    writes: u64,
    reads: u64,
    bready: Sink<'a>,
    rready: Sink<'a>,
    counts: Counts,
}

impl<'a, M: Pins, S: Pins, const WORDS: usize> Axi4Manager<'a, M, S, WORDS> {
    #[inline]
    fn due(queue: &VecDeque<Due<'a, WORDS>>, time: u64) -> Option<&'a Axi4Operation<WORDS>> {
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
            Axi4Access::Write { beats, address_delay, data_delay } => {
                self.aw.push_back((operation, self.time + address_delay.get()));
                let gap = beats.first().map_or(0, |first| first.gap.get());
                let due = self.time + data_delay.get() + gap;
                if self.w.is_empty() {
                    self.beat_due = due;
                }
                self.w.push_back((operation, due));
                self.writes += 1;
            }
            Axi4Access::Read { .. } => {
                self.ar.push_back((operation, self.time));
                self.reads += 1;
            }
        }
        self.next += 1;
        self.gap = self.operations.get(self.next).map_or(0, |next| next.gap.get());
        self.counts.operations += 1;
        operation.reset
    }

    #[inline]
    fn take_beat(&mut self) {
        self.beat += 1;
        let Some((operation, _)) = self.w.front() else { return };
        let Axi4Access::Write { beats, .. } = &operation.access else { return };
        if let Some(next) = beats.get(self.beat) {
            self.beat_due = self.time + next.gap.get();
            return;
        }
        self.w.pop_front();
        self.beat = 0;
        self.beat_due = self.w.front().map_or(0, |(_, due)| *due);
    }

    #[inline]
    fn drive_address(
        &self,
        channel: &Axi4AddressPins<M, S>,
        operation: Option<&Axi4Operation<WORDS>>,
        noise: &mut Noise,
        m: &mut M,
    ) {
        let idle: [u32; 6] = noise.words();
        let mut values = idle.map(u64::from);
        let mut addr = values[0] << 32 | values[1];
        let [_, _, mut id, mut len, mut size, mut burst] = values;
        let (mut lock, mut cache, mut prot, mut qos) = (id >> 8, id >> 12, id >> 16, id >> 20);
        if let Some(operation) = operation {
            let address = operation.address(self.pins.full_size());
            (addr, id, len) = (address.address, address.id, u64::from(address.len));
            (size, burst, lock) = (u64::from(address.size), address.burst, 0);
            (cache, prot, qos) = (address.cache, address.prot, address.qos);
            values = [0; 6];
        }
        channel.valid.set(m, u64::from(operation.is_some()));
        channel.addr.set(m, addr);
        channel.id.set(m, id);
        channel.len.set(m, len);
        channel.size.set(m, size);
        channel.burst.set(m, burst);
        channel.lock.set(m, lock);
        channel.cache.set(m, cache);
        channel.prot.set(m, prot);
        channel.qos.set(m, qos);
        channel.region.set(m, values[3] >> 8);
        channel.user.set(m, values[4]);
    }

    #[inline]
    fn edge(&mut self, in_reset: bool, m: &M, s: &S) -> Option<Reset> {
        if in_reset {
            self.aw.clear();
            self.ar.clear();
            self.w.clear();
            (self.writes, self.reads, self.beat) = (0, 0, 0);
            self.bready.reset();
            self.rready.reset();
            return None;
        }
        let pins = self.pins;
        self.time += 1;
        let [aw, w, _, ar, _] = pins.handshakes(m, s).map(|(valid, ready)| valid && ready);
        self.counts.handshakes += u64::from(aw) + u64::from(w) + u64::from(ar);
        if aw {
            self.aw.pop_front();
        }
        if ar {
            self.ar.pop_front();
        }
        if w {
            self.take_beat();
        }
        if self.bready.clock_with_ready(pins.bvalid.is_high(s), pins.bready.is_high(m)) {
            self.writes = self.writes.saturating_sub(1);
            self.counts.handshakes += 1;
        }
        if self.rready.clock_with_ready(pins.rvalid.is_high(s), pins.rready.is_high(m)) {
            self.reads = self
                .reads
                .saturating_sub(u64::from(Axi4Pins::<M, S, WORDS>::is_last(pins.rlast, s)));
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

impl<'a, M: Pins, S: Pins, const WORDS: usize> Agent<'a, M, S> for Axi4Manager<'a, M, S, WORDS> {
    type Pins = Axi4Pins<M, S, WORDS>;
    type Traffic = Axi4Traffic<WORDS>;

    interface_of!(manager M S);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        check_bus::<WORDS>(8 * pins.bytes());
        Self {
            pins,
            operations: &traffic.operations,
            next: 0,
            gap: traffic.operations.first().map_or(0, |first| first.gap.get()),
            time: 0,
            aw: VecDeque::new(),
            ar: VecDeque::new(),
            w: VecDeque::new(),
            beat: 0,
            beat_due: 0,
            writes: 0,
            reads: 0,
            bready: traffic.bready.sink(),
            rready: traffic.rready.sink(),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, m: &mut M) {
        let pins = &self.pins;
        let aw = Self::due(&self.aw, self.time).filter(|_| !in_reset);
        self.drive_address(&pins.aw, aw, noise, m);
        let ar = Self::due(&self.ar, self.time).filter(|_| !in_reset);
        self.drive_address(&pins.ar, ar, noise, m);
        let (mut data, mut strobe) =
            (Wide::noise(8 * pins.bytes(), noise), Lanes::noise(128, noise));
        let mut last = u64::from(strobe.0[3] & 1);
        let w = self.w.front().filter(|_| !in_reset && self.beat_due <= self.time);
        if let Some((operation, _)) = w
            && let Axi4Access::Write { beats, .. } = &operation.access
            && let Some(beat) = beats.get(self.beat)
        {
            data = beat.data;
            let address = operation.address(pins.full_size());
            strobe = beat.strobe.and(&pins.lanes(&address, self.beat as u32));
            last = u64::from(self.beat + 1 == beats.len());
        }
        pins.wvalid.set(m, u64::from(w.is_some()));
        pins.wdata.set_words(m, &data.0);
        pins.wstrb.set_words(m, &strobe.0);
        pins.wlast.set(m, last);
        pins.bready.set(m, u64::from(!in_reset && self.bready.is_ready()));
        pins.rready.set(m, u64::from(!in_reset && self.rready.is_ready()));
    }

    fn in_flight(&self) -> Option<String> {
        if self.is_idle() {
            return None;
        }
        let mut words = Vec::new();
        for (queue, part) in [(&self.aw, "the address"), (&self.ar, "the address")] {
            if let Some(operation) = Self::due(queue, self.time) {
                words.push(format!("offers {part} of `{operation}`"));
            }
        }
        if let Some((operation, _)) = self.w.front() {
            let (beat, beats) = (self.beat + 1, operation.beats());
            words.push(format!("beat {beat} of {beats} of `{operation}`"));
        }
        let left = self.operations.len() - self.next;
        words.push(format!(
            "{} writes and {} reads in flight, {left} operations to come",
            self.writes, self.reads
        ));
        Some(words.join(", "))
    }
}
