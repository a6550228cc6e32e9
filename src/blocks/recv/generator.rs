//! The constrained-random generator of traffic.

pub(crate) mod chaos;
pub(crate) mod scenarios;

use super::Recv;
use super::rtl::Inputs;
use super::traffic::{DP, Data, EAGER, Message, RNDV_DATA, Stray, Traffic};
use cosim_core::harness::{self, CaseRng, Draw, Parameters, Scenario};
use cosim_core::value::Uint;
use rand::RngExt;
use scenarios::Weights;

/// A reset follows its CP within this number of cycles.
const RESET_WITHIN: u64 = 12;
/// All kinds other than DP.
const STRAYS: [u64; 7] = [0, 1, 2, 3, 4, 5, 7];

impl harness::Weights<Recv> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("generator/scenarios.toml"))
    }

    /// Draws traffic of about `packets` packets; every traffic is legal.
    fn traffic(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        let noise = rng.bits();
        let pool = Uint::new(self.pool.draw(rng));
        let mut generator = Generator { weights: self, rng };
        let mut messages = Vec::new();
        let mut left = u64::from(packets);
        while left > 0 {
            let message = generator.message(left);
            left = left.saturating_sub(message.packets());
            messages.push(message);
        }
        let credit_stalls = rng.waits(packets.into(), self.credit_stall, self.longest_credit_stall);
        let reads = rng.waits(packets.into(), self.read, self.longest_read);
        Traffic { noise, pool, messages, credit_stalls, reads }
    }

    fn raw_cycles_per_packet(&self) -> Uint<8> {
        self.raw_cycles_per_packet
    }

    fn raw_pins(cycles: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
        chaos::cycles(cycles, parameters, rng)
    }
}

struct Generator<'a> {
    weights: &'a Weights,
    rng: &'a mut CaseRng,
}

impl Generator<'_> {
    fn gap(&mut self) -> Uint<12> {
        self.rng.wait(self.weights.gap, self.weights.longest_gap)
    }

    /// A handle or a length.
    fn number<const WIDTH: u32>(&mut self) -> Uint<WIDTH> {
        self.rng.bits_or_corner(self.weights.corners)
    }

    fn kind(&mut self) -> u64 {
        if self.rng.chance(self.weights.control) {
            return self.rng.random_range(0..4);
        }
        if self.rng.chance(self.weights.wrong) {
            return DP + u64::from(self.rng.random::<bool>());
        }
        if self.rng.chance(self.weights.rendezvous) { RNDV_DATA } else { EAGER }
    }

    /// Packets after a CP, or a stray packet.
    fn entry(&mut self, count: Option<Uint<12>>, stray: Option<Stray>) -> Data {
        Data { gap: self.gap(), id: self.number(), len: self.number(), count, stray }
    }

    /// DPs after a CP, at most `left` packets, possibly with stray packets in between.
    fn data(&mut self, left: u64, strays: bool) -> Vec<Data> {
        let drawn = self.weights.data.draw(self.rng).max(1);
        let mut data = Vec::new();
        let mut packets = match self.weights.beyond.get() {
            1 => drawn,
            _ => drawn.min(left.max(1)),
        };
        while packets > 0 {
            if strays && self.rng.chance(self.weights.strays) {
                let kind = STRAYS[self.rng.random_range(0..STRAYS.len())];
                let last = self.rng.random::<bool>().into();
                data.push(self.entry(None, Some(Stray { kind: Uint::new(kind), last })));
            }
            let burst = self.rng.chance(self.weights.bursts);
            let count = if burst { self.rng.random_range(1..=packets) } else { 1 };
            packets -= count;
            data.push(self.entry((count > 1).then(|| Uint::new(count)), None));
        }
        data
    }

    /// A message of at most about `left` packets.
    fn message(&mut self, left: u64) -> Message {
        let gap = self.gap();
        let kind = self.kind();
        let posted = kind == EAGER && self.rng.chance(self.weights.posted);
        let has_data = matches!(kind, EAGER | RNDV_DATA) && !self.rng.chance(self.weights.single);
        let strays = kind == EAGER && !posted;
        let reset = self.rng.reset(self.weights.reset, RESET_WITHIN);
        Message {
            gap,
            kind: Uint::new(kind),
            id: self.number(),
            len: self.number(),
            msg_len: self.number(),
            posted: posted.into(),
            match_wait: self.rng.wait(self.weights.match_wait, self.weights.longest_match_wait),
            temp_ok: self.rng.flag(self.weights.temp_ok),
            done_wait: self.rng.wait(self.weights.done_wait, self.weights.longest_done_wait),
            data: if has_data { self.data(left - 1, strays) } else { Vec::new() },
            reset,
        }
    }
}
