//! The subordinate: it answers a manager DUT from a target.

use super::{Axi4Address, Axi4Pins, AxiResponse};
use crate::channel::{Errors, Readiness, ReadyWeights, next_delay};
use crate::interface::subordinate;
use crate::operations::{delays, longest};
use crate::ports::DriveOptional;
use crate::target::{Access, Memory, Response, Target};
use crate::wide::{Lanes, Wide, check_bus};
use cosim_harness::agent::{
    Agent, AgentTraffic, AgentWeights, CasePlan, Counts, DrawnTraffic, Pace, Progress,
};
use cosim_harness::channels::{Sink, SourceWeights};
use cosim_harness::harness::{Draw, Noise, Percent, Traffic};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::slice::Iter;
use verilated::Pins;

/// The stalls and latencies of a subordinate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4SubordinateTraffic {
    /// The stalls of `awready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub awready: Readiness,
    /// The stalls of `wready`, one for each beat.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub wready: Readiness,
    /// The stalls of `arready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub arready: Readiness,
    /// Cycles before each write response, beyond the cycle that follows the last beat. A response
    /// overtakes those of other IDs that take longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_delays: Vec<Uint<12>>,
    /// Cycles before the first beat of each read, beyond the cycle that follows the address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_delays: Vec<Uint<12>>,
    /// The numbers of the writes that fail with `SLVERR`, from 0, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_errors: Vec<Uint<16>>,
    /// The numbers of the reads that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_errors: Vec<Uint<16>>,
    /// Whether beats of reads with different IDs alternate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interleave: bool,
}

impl Traffic for Axi4SubordinateTraffic {}

cosim_harness::weights! {
    /// How a subordinate stalls and answers.
    pub struct Axi4SubordinateWeights {
        /// Stalls of `awready`, `wready` and `arready`.
        ready: ReadyWeights = ReadyWeights::default(),
        /// Delays of responses.
        latency: SourceWeights = SourceWeights::default(),
        /// Chance of an error response, which does not reach the target.
        errors: Percent = 0,
        /// Chance that beats of reads alternate in a case.
        interleave: Percent = 50,
    }
}

impl AgentWeights for Axi4SubordinateWeights {
    fn paced(self, pace: &Pace) -> Self {
        let ready = self.ready.paced(pace);
        let errors = pace.errors.unwrap_or(self.errors);
        Self { ready, latency: pace.source.clone(), errors, ..self }
    }
}

/// A write response, and the cycle from which on it is offered.
#[derive(Debug, Clone, Copy)]
struct WriteAnswer {
    id: u64,
    due: u64,
    response: AxiResponse,
}

/// A read with beats that are not taken, and the cycle from which on they are offered.
#[derive(Debug, Clone, Copy)]
struct ReadAnswer {
    address: Axi4Address,
    due: u64,
    beat: u32,
    /// Whether it does not reach the target.
    fails: bool,
}

#[derive(Debug, Clone, Copy)]
struct ReadOffer<const WORDS: usize> {
    /// Its place in the queue of reads.
    place: usize,
    data: Wide<WORDS>,
    response: AxiResponse,
}

/// Answers a manager DUT. Responses of one ID come in order (IHI 0022, "Transaction ordering"),
/// those of different IDs by their latency. A beat of a write takes effect when it and its address
/// are taken, and a beat of a read when it is first offered.
#[derive(Debug, Clone)]
pub struct Axi4Subordinate<'a, I, O, T = Memory, const WORDS: usize = 32> {
    pins: Axi4Pins<O, I, WORDS>,
    target: T,
    awready: Sink<'a>,
    wready: Sink<'a>,
    arready: Sink<'a>,
    write_delays: Iter<'a, Uint<12>>,
    read_delays: Iter<'a, Uint<12>>,
    write_errors: Errors<'a>,
    read_errors: Errors<'a>,
    interleave: bool,
    /// Cycles outside reset.
    time: u64,
    /// Write addresses with beats that did not come, and the number of beats of the first one.
    addresses: VecDeque<Axi4Address>,
    beat: u32,
    /// The worst response of its beats, and whether they do not reach the target.
    response: AxiResponse,
    fails: bool,
    /// Beats without an address.
    data: VecDeque<(Wide<WORDS>, Lanes)>,
    writes: VecDeque<WriteAnswer>,
    reads: VecDeque<ReadAnswer>,
    /// The place in `writes` of the response on offer.
    offered_write: Option<usize>,
    offered_read: Option<ReadOffer<WORDS>>,
    /// The ID of the last beat of read data.
    last_id: Option<u64>,
    /// Whether the manager offered something in the cycle before.
    offered: bool,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins, T: Target, const WORDS: usize> Axi4Subordinate<'a, I, O, T, WORDS> {
    /// A subordinate that answers from `target`.
    pub fn with_target(
        pins: Axi4Pins<O, I, WORDS>,
        traffic: &'a Axi4SubordinateTraffic,
        target: T,
    ) -> Self {
        check_bus::<WORDS>(8 * pins.bytes());
        Self {
            pins,
            target,
            awready: traffic.awready.sink(),
            wready: traffic.wready.sink(),
            arready: traffic.arready.sink(),
            write_delays: traffic.write_delays.iter(),
            read_delays: traffic.read_delays.iter(),
            write_errors: Errors::new(&traffic.write_errors),
            read_errors: Errors::new(&traffic.read_errors),
            interleave: traffic.interleave,
            time: 0,
            addresses: VecDeque::new(),
            beat: 0,
            response: AxiResponse::Okay,
            fails: false,
            data: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            offered_write: None,
            offered_read: None,
            last_id: None,
            offered: false,
            counts: Counts::default(),
        }
    }

    /// The first response that is due, and that no response of its ID precedes.
    #[inline]
    fn choose_write(&self) -> Option<usize> {
        let is_ready = |(place, answer): &(usize, &WriteAnswer)| {
            let is_first = self.writes.iter().take(*place).all(|before| before.id != answer.id);
            answer.due <= self.time && is_first
        };
        self.writes.iter().enumerate().find(is_ready).map(|(place, _)| place)
    }

    /// The read whose beat is offered next: one that has begun, or, with interleaving, one of
    /// another ID than the beat before.
    #[inline]
    fn choose_read(&self) -> Option<usize> {
        let is_ready = |place: usize| {
            let answer = &self.reads[place];
            let id = answer.address.id;
            let is_first = self.reads.iter().take(place).all(|before| before.address.id != id);
            answer.due <= self.time && is_first
        };
        let is_preferred = |place: &usize| {
            let answer = &self.reads[*place];
            match self.interleave {
                true => self.last_id != Some(answer.address.id),
                false => answer.beat > 0,
            }
        };
        let mut ready = (0..self.reads.len()).filter(|place| is_ready(*place));
        let first = ready.next()?;
        if is_preferred(&first) {
            return Some(first);
        }
        ready.find(is_preferred).or(Some(first))
    }

    #[inline]
    fn read(&mut self, place: usize) -> ReadOffer<WORDS> {
        let answer = self.reads[place];
        let bus = self.pins.bytes();
        let base = answer.address.beat_address(answer.beat) & !u64::from(bus - 1);
        let mut bytes = [0; 128];
        let data = &mut bytes[..bus as usize];
        let response = match answer.fails {
            true => Response::Error,
            false => self.target.access(Access::Read { address: base, data }),
        };
        let data = Wide::from_bytes(&bytes[..bus as usize]);
        ReadOffer { place, data, response: response.into() }
    }

    /// Performs the writes whose address and beats are there.
    #[inline]
    fn write(&mut self) {
        let bus = self.pins.bytes();
        while let Some(address) = self.addresses.front().copied()
            && let Some((data, strobe)) = self.data.pop_front()
        {
            if self.beat == 0 {
                self.fails = self.write_errors.next();
            }
            let base = address.beat_address(self.beat) & !u64::from(bus - 1);
            let strobe = strobe.and(&self.pins.lanes(&address, self.beat)).low_128();
            let (bytes, end) = data.to_bytes(bus);
            let write = Access::Write { address: base, data: &bytes[..end], strobe };
            let response = if self.fails { Response::Error } else { self.target.access(write) };
            self.response = self.response.max(response.into());
            self.beat += 1;
            if self.beat == address.beats() {
                let due = self.time + next_delay(&mut self.write_delays);
                let (id, response) = (address.id, self.response);
                self.writes.push_back(WriteAnswer { id, due, response });
                (self.beat, self.response) = (0, AxiResponse::Okay);
                self.addresses.pop_front();
                self.counts.operations += 1;
            }
        }
    }

    /// Drives its ports.
    #[inline]
    pub fn drive(&mut self, in_reset: bool, noise: &mut Noise, s: &mut I) {
        if in_reset {
            (self.offered_write, self.offered_read) = (None, None);
        } else {
            self.offered_write = self.offered_write.or_else(|| self.choose_write());
            if self.offered_read.is_none()
                && let Some(place) = self.choose_read()
            {
                self.offered_read = Some(self.read(place));
            }
        }
        let pins = &self.pins;
        let [a, b] = noise.words();
        let idle = Wide::noise(8 * pins.bytes(), noise);
        let (id, code) = (u64::from(a), u64::from(b));
        pins.aw.ready.set(s, u64::from(!in_reset && self.awready.is_ready()));
        pins.wready.set(s, u64::from(!in_reset && self.wready.is_ready()));
        pins.ar.ready.set(s, u64::from(!in_reset && self.arready.is_ready()));
        let write = self.offered_write.and_then(|place| self.writes.get(place));
        pins.bvalid.set(s, u64::from(write.is_some()));
        pins.bid.set(s, write.map_or(id, |write| write.id));
        pins.bresp.set(s, write.map_or(code, |write| write.response.code()));
        let read = self.offered_read;
        let answer = read.and_then(|offer| self.reads.get(offer.place));
        pins.rvalid.set(s, u64::from(answer.is_some()));
        pins.rdata.set_words(s, &read.map_or(idle, |offer| offer.data).0);
        let is_last = |answer: &ReadAnswer| u64::from(answer.beat + 1 == answer.address.beats());
        pins.rlast.set(s, answer.map_or(code >> 2, is_last));
        pins.rid.set(s, answer.map_or(id, |answer| answer.address.id));
        pins.rresp.set(s, read.map_or(code >> 3, |offer| offer.response.code()));
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, s: &I, m: &O) {
        if in_reset {
            self.addresses.clear();
            self.data.clear();
            self.writes.clear();
            self.reads.clear();
            (self.beat, self.response) = (0, AxiResponse::Okay);
            (self.offered_write, self.offered_read, self.offered) = (None, None, false);
            for ready in [&mut self.awready, &mut self.wready, &mut self.arready] {
                ready.reset();
            }
            return;
        }
        let pins = self.pins;
        self.time += 1;
        let valids = [pins.aw.valid, pins.wvalid, pins.ar.valid].map(|pin| pin.is_high(m));
        self.offered = valids.contains(&true);
        if pins.bready.is_high(m)
            && let Some(place) = self.offered_write.take_if(|_| pins.bvalid.is_high(s))
        {
            self.writes.remove(place);
            self.counts.handshakes += 1;
        }
        if pins.rready.is_high(m)
            && let Some(offer) = self.offered_read.take_if(|_| pins.rvalid.is_high(s))
        {
            self.take_read_beat(offer.place);
        }
        if self.awready.clock_with_ready(valids[0], pins.aw.ready.is_high(s)) {
            self.addresses.extend(pins.offered(&pins.aw, m));
            self.counts.handshakes += 1;
        }
        if self.wready.clock_with_ready(valids[1], pins.wready.is_high(s)) {
            self.data.push_back((Wide::read_pin(pins.wdata, m), pins.strobe(m)));
            self.counts.handshakes += 1;
        }
        if self.arready.clock_with_ready(valids[2], pins.ar.ready.is_high(s))
            && let Some(address) = pins.offered(&pins.ar, m)
        {
            let due = self.time + next_delay(&mut self.read_delays);
            let fails = self.read_errors.next();
            self.reads.push_back(ReadAnswer { address, due, beat: 0, fails });
            self.counts.handshakes += 1;
            self.counts.operations += 1;
        }
        self.write();
    }

    #[inline]
    fn take_read_beat(&mut self, place: usize) {
        self.counts.handshakes += 1;
        let Some(answer) = self.reads.get_mut(place) else { return };
        answer.beat += 1;
        self.last_id = Some(answer.address.id);
        if answer.beat == answer.address.beats() {
            self.reads.remove(place);
        }
    }
    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        let is_empty = self.writes.is_empty() && self.reads.is_empty();
        is_empty && self.addresses.is_empty() && self.data.is_empty() && !self.offered
    }
}

subordinate! {
    Axi4Subordinate, Axi4Pins, Axi4SubordinateTraffic, <WORDS>, |own| format!(
        "{} write addresses wait for beats, {} beats for an address, {} writes and {} reads for \
         their response",
        own.addresses.len(),
        own.data.len(),
        own.writes.len(),
        own.reads.len()
    )
}

impl AgentTraffic for Axi4SubordinateTraffic {
    fn longest_delay(&self) -> u64 {
        let readies = [&self.awready, &self.wready, &self.arready];
        let stalls: u64 = readies.map(Readiness::longest_delay).iter().sum();
        stalls + longest(&self.write_delays).max(longest(&self.read_delays))
    }
}

impl<M: Pins, S: Pins, const WORDS: usize> DrawnTraffic<Axi4Pins<M, S, WORDS>>
    for Axi4SubordinateTraffic
{
    type Weights = Axi4SubordinateWeights;

    fn draw(weights: &Self::Weights, pins: &Axi4Pins<M, S, WORDS>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, rng, .. } = plan;
        let is_lite = Axi4Pins::<M, S, WORDS>::IS_LITE;
        let beats = if is_lite { 1 } else { 4 };
        Axi4SubordinateTraffic {
            awready: weights.ready.draw(operations, rng),
            wready: weights.ready.draw(beats * operations, rng),
            arready: weights.ready.draw(operations, rng),
            write_delays: delays(&weights.latency, operations, rng),
            read_delays: delays(&weights.latency, operations, rng),
            write_errors: Errors::draw(pins.bresp.is_none(), weights.errors, operations, rng),
            read_errors: Errors::draw(pins.rresp.is_none(), weights.errors, operations, rng),
            interleave: !is_lite && rng.chance(weights.interleave),
        }
    }
}
