//! The subordinate: it answers a manager DUT from a target.

use super::coverage::{AxiLiteSampler, GROUPS};
use super::{AxiLitePins, AxiResponse};
use crate::agent::{Agent, AgentTraffic, AgentWeights, Counts, Progress, Sampler};
use crate::channel::{Errors, Readiness, ReadyDriver, ReadyWeights, next_delay};
use crate::lanes;
use crate::scenarios::Pace;
use crate::target::{Memory, Response, Target};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{
    CaseRng, Covergroup, Draw, Noise, Percent, Traffic, TrafficError, Transfer,
};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::slice::Iter;
use verilated::Pins;

/// The stalls and latencies of a subordinate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxiLiteSubordinateTraffic {
    /// The stalls of `awready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub awready: Readiness,
    /// The stalls of `wready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub wready: Readiness,
    /// The stalls of `arready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub arready: Readiness,
    /// Cycles before each write response, beyond the cycle that follows address and data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_delays: Vec<Uint<12>>,
    /// Cycles before the data of each read, beyond the cycle that follows the address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_delays: Vec<Uint<12>>,
    /// The numbers of the writes that fail with `SLVERR`, from 0, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_errors: Vec<Uint<16>>,
    /// The numbers of the reads that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_errors: Vec<Uint<16>>,
}

impl Traffic for AxiLiteSubordinateTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        Ok(())
    }
}

cosim_harness::weights! {
    /// How a subordinate stalls and answers.
    pub struct AxiLiteSubordinateWeights {
        /// Stalls of `awready`, `wready` and `arready`.
        ready: ReadyWeights = ReadyWeights::default(),
        /// Delays of responses.
        latency: SourceWeights = SourceWeights::default(),
        /// Chance of an error response, which does not reach the target.
        errors: Percent = 0,
    }
}

impl AgentWeights for AxiLiteSubordinateWeights {
    fn paced(self, pace: &Pace) -> Self {
        let ready = self.ready.paced(pace);
        let errors = pace.errors.unwrap_or(self.errors);
        Self { ready, latency: pace.source.clone(), errors }
    }
}

/// A response, and the cycle from which on it is offered.
#[derive(Debug, Clone, Copy)]
struct Answer {
    due: u64,
    data: u64,
    response: AxiResponse,
}

/// Answers a manager DUT. Writes and reads take effect when they are complete on the address and
/// data channels, and responses come in order.
#[derive(Debug, Clone)]
pub struct AxiLiteSubordinate<'a, I, O, T = Memory> {
    pins: AxiLitePins<O, I>,
    target: T,
    awready: ReadyDriver<'a>,
    wready: ReadyDriver<'a>,
    arready: ReadyDriver<'a>,
    write_delays: Iter<'a, Uint<12>>,
    read_delays: Iter<'a, Uint<12>>,
    write_errors: Errors<'a>,
    read_errors: Errors<'a>,
    /// Cycles outside reset.
    time: u64,
    /// Write addresses without data.
    addresses: VecDeque<u64>,
    /// Write data and strobes without an address.
    data: VecDeque<(u64, u64)>,
    writes: VecDeque<Answer>,
    reads: VecDeque<Answer>,
    /// Whether the manager offered something in the cycle before.
    offered: bool,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins, T: Target> AxiLiteSubordinate<'a, I, O, T> {
    /// A subordinate that answers from `target`.
    pub fn with_target(
        pins: AxiLitePins<O, I>,
        traffic: &'a AxiLiteSubordinateTraffic,
        target: T,
    ) -> Self {
        Self {
            pins,
            target,
            awready: ReadyDriver::new(&traffic.awready),
            wready: ReadyDriver::new(&traffic.wready),
            arready: ReadyDriver::new(&traffic.arready),
            write_delays: traffic.write_delays.iter(),
            read_delays: traffic.read_delays.iter(),
            write_errors: Errors::new(&traffic.write_errors),
            read_errors: Errors::new(&traffic.read_errors),
            time: 0,
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            offered: false,
            counts: Counts::default(),
        }
    }

    /// The target.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// Drives its ports.
    #[inline]
    pub fn drive(&mut self, in_reset: bool, noise: &mut Noise, s: &mut I) {
        let pins = &self.pins;
        let [a, b, c] = noise.words();
        let (idle, code) = (u64::from(a) << 32 | u64::from(b), u64::from(c));
        let offer = |queue: &VecDeque<Answer>| {
            queue.front().filter(|answer| !in_reset && answer.due <= self.time).copied()
        };
        pins.awready.set(s, u64::from(!in_reset && self.awready.ready()));
        pins.wready.set(s, u64::from(!in_reset && self.wready.ready()));
        pins.arready.set(s, u64::from(!in_reset && self.arready.ready()));
        let b = offer(&self.writes);
        pins.bvalid.set(s, u64::from(b.is_some()));
        if let Some(pin) = pins.bresp {
            pin.set(s, b.map_or(code, |answer| answer.response.code()));
        }
        let r = offer(&self.reads);
        pins.rvalid.set(s, u64::from(r.is_some()));
        pins.rdata.set(s, r.map_or(idle, |answer| answer.data));
        if let Some(pin) = pins.rresp {
            pin.set(s, r.map_or(code >> 2, |answer| answer.response.code()));
        }
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, s: &I, m: &O) {
        if in_reset {
            self.addresses.clear();
            self.data.clear();
            self.writes.clear();
            self.reads.clear();
            for ready in [&mut self.awready, &mut self.wready, &mut self.arready] {
                ready.reset();
            }
            self.offered = false;
            return;
        }
        let pins = &self.pins;
        let bytes = pins.bytes();
        self.time += 1;
        let (aw, w, ar) =
            (pins.awvalid.is_high(m), pins.wvalid.is_high(m), pins.arvalid.is_high(m));
        self.offered = aw || w || ar;
        if pins.bvalid.is_high(s) && pins.bready.is_high(m) {
            self.writes.pop_front();
            self.counts.handshakes += 1;
        }
        if pins.rvalid.is_high(s) && pins.rready.is_high(m) {
            self.reads.pop_front();
            self.counts.handshakes += 1;
        }
        if self.awready.clock(aw, pins.awready.is_high(s)) {
            self.addresses.push_back(pins.first_byte(pins.awaddr.get(m)));
            self.counts.handshakes += 1;
        }
        if self.wready.clock(w, pins.wready.is_high(s)) {
            let strobe = pins.wstrb.map_or(0xff, |pin| pin.get(m));
            self.data.push_back((pins.wdata.get(m), strobe));
            self.counts.handshakes += 1;
        }
        if self.arready.clock(ar, pins.arready.is_high(s)) {
            let address = pins.first_byte(pins.araddr.get(m));
            let (data, response) = match self.read_errors.next() {
                true => (0, Response::Error),
                false => lanes::read(&mut self.target, address, bytes),
            };
            let due = self.time + next_delay(&mut self.read_delays);
            self.reads.push_back(Answer { due, data, response: response.into() });
            self.counts.handshakes += 1;
            self.counts.operations += 1;
        }
        if !self.addresses.is_empty()
            && !self.data.is_empty()
            && let Some(address) = self.addresses.pop_front()
            && let Some((data, strobe)) = self.data.pop_front()
        {
            let response = match self.write_errors.next() {
                true => Response::Error,
                false => lanes::write(&mut self.target, address, bytes, data, strobe),
            };
            let due = self.time + next_delay(&mut self.write_delays);
            self.writes.push_back(Answer { due, data: 0, response: response.into() });
            self.counts.operations += 1;
        }
    }
}

impl<'a, I: Pins, O: Pins, T: Target> AxiLiteSubordinate<'a, I, O, T> {
    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        let is_empty = self.writes.is_empty() && self.reads.is_empty();
        is_empty && self.addresses.is_empty() && self.data.is_empty() && !self.offered
    }
}

impl<'a, I: Pins, O: Pins, T: Target + Default> Agent<'a, I, O>
    for AxiLiteSubordinate<'a, I, O, T>
{
    type Pins = AxiLitePins<O, I>;
    type Traffic = AxiLiteSubordinateTraffic;

    const GROUPS: &'static [Covergroup] = GROUPS;

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
        (!self.is_idle()).then(|| {
            format!(
                "{} write addresses and {} write data wait for each other, {} writes and {} reads \
                 wait for their response",
                self.addresses.len(),
                self.data.len(),
                self.writes.len(),
                self.reads.len()
            )
        })
    }

    fn transfers(pins: &Self::Pins, inputs: &I, outputs: &O) -> Vec<Transfer> {
        pins.transfers(outputs, inputs)
    }

    fn sampler(
        pins: Self::Pins,
        groups: &'static [Covergroup],
        first: usize,
    ) -> Option<Sampler<I, O>> {
        let mut sampler = AxiLiteSampler::new(pins, groups, first);
        Some(Sampler::new(move |in_reset, inputs, outputs, bins| {
            sampler.clock(in_reset, outputs, inputs, bins);
        }))
    }
}

impl<M: Pins, S: Pins> AgentTraffic<AxiLitePins<M, S>> for AxiLiteSubordinateTraffic {
    type Weights = AxiLiteSubordinateWeights;

    fn draw(
        weights: &Self::Weights,
        pins: &AxiLitePins<M, S>,
        operations: u32,
        _: Percent,
        rng: &mut CaseRng,
    ) -> Self {
        let SourceWeights { gap, longest_gap } = weights.latency;
        let delays = |rng: &mut CaseRng| {
            (0..operations).map(|_| rng.wait(gap, longest_gap)).collect::<Vec<_>>()
        };
        AxiLiteSubordinateTraffic {
            awready: weights.ready.draw(operations, rng),
            wready: weights.ready.draw(operations, rng),
            arready: weights.ready.draw(operations, rng),
            write_delays: delays(rng),
            read_delays: delays(rng),
            write_errors: Errors::draw(pins.bresp.is_none(), weights.errors, operations, rng),
            read_errors: Errors::draw(pins.rresp.is_none(), weights.errors, operations, rng),
        }
    }

    fn longest_delay(&self) -> u64 {
        let readies = [&self.awready, &self.wready, &self.arready];
        let stalls: u64 = readies.map(Readiness::longest_delay).iter().sum();
        let delays = self.write_delays.iter().chain(&self.read_delays);
        stalls + delays.map(|delay| delay.get()).max().unwrap_or(0)
    }
}
