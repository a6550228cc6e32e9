//! The coverage of an AXI4 or AXI4-Lite interface.

use super::{Axi4Address, Axi4Pins, AxiResponse};
use crate::interface::Interface;
use crate::transfer::transfer;
use cosim_harness::channels::{ChannelSampler, STALL};
use cosim_harness::harness::{Covergroup, Transfer, class};
use std::cmp::Ordering;
use std::collections::VecDeque;
use verilated::Pins;

cosim_harness::coverage! {
    /// The channels of the interface.
    axis CHANNEL = "channel" {
        "aw": "write addresses", "w": "write data", "b": "write responses",
        "ar": "read addresses", "r": "read data"
    }
    /// The kind of an operation.
    axis KIND = "kind" { "write": "a write", "read": "a read" }
    /// The kind of a burst.
    axis BURST = "burst" {
        "FIXED": "every beat has the same address", "INCR": "the address increments",
        "WRAP": "the address increments and wraps"
    }
    /// Beats of a burst.
    axis LENGTH = "length" {
        "1": "one beat", "2-15": "2 to 15 beats", "16": "16 beats", "17+": "17 beats or more"
    }
    /// The response of an operation, or of a beat of a read.
    axis RESPONSE = "response" {
        "OKAY": "the access succeeded", "SLVERR": "the subordinate reports an error",
        "DECERR": "no subordinate has the address"
    }
    /// Whether a response, or a beat of read data, follows the one before it without a gap.
    axis FOLLOWS = "follows" {
        "apart": "a cycle or more after the one before it",
        "back-to-back": "in the cycle after the one before it"
    }
    /// Operations of one kind in flight.
    axis IN_FLIGHT = "in flight" { "1": "one operation", "2": "two", "3+": "three or more" }
    /// The order of responses.
    axis ORDER = "order" {
        "first": "the oldest operation of its kind ends",
        "overtakes": "an operation of another ID is older"
    }
    /// The channel that takes its part of a write first.
    axis SKEW = "skew" {
        "together": "the address and the first data are taken in one cycle",
        "address": "the address is taken first", "data": "the data is taken first"
    }
}

const BURSTS: usize = 0;
const RESPONSES: usize = 1;
const OUTSTANDING: usize = 2;
const ORDERS: usize = 3;
const SKEWS: usize = 4;
const STALLS: usize = 5;

const GROUPS: &[Covergroup] = &[
    Covergroup::new("bursts", "operations, by kind, burst and length", &[KIND, BURST, LENGTH])
        .unless(|at, _| match at[1..] {
            [0, 3] => Some("a FIXED burst has at most 16 beats"),
            [2, 0 | 3] => Some("a WRAP burst has 2, 4, 8 or 16 beats"),
            _ => None,
        }),
    Covergroup::new(
        "responses",
        "write responses and data of reads, by kind, response, and distance to the one before",
        &[KIND, RESPONSE, FOLLOWS],
    ),
    Covergroup::new("outstanding", "operations in flight when one starts", &[KIND, IN_FLIGHT]),
    Covergroup::new("order", "operations that end, by their order", &[KIND, ORDER]),
    Covergroup::new("skew", "writes: which part is taken first", &[SKEW]),
    Covergroup::new("stalls", "transfers, by channel and stall", &[CHANNEL, STALL]),
];

/// Those of AXI4-Lite, which has no bursts and no IDs.
const LITE: &[Covergroup] =
    &[GROUPS[RESPONSES], GROUPS[OUTSTANDING], GROUPS[SKEWS], GROUPS[STALLS]];

/// The state of the coverage.
#[derive(Debug, Clone, Default)]
pub struct Axi4State {
    channels: [ChannelSampler; 5],
    /// The IDs of the writes and of the reads in flight, in the order of their addresses.
    ids: [VecDeque<u64>; 2],
    /// Whether each kind had a response or beat in the cycle before.
    responded: [bool; 2],
    /// Addresses and first beats of writes that were taken.
    parts: [u64; 2],
    /// Whether the next beat of write data is not the first one of its burst.
    inside: bool,
}

impl<M: Pins, S: Pins, const WORDS: usize> Interface<M, S> for Axi4Pins<M, S, WORDS> {
    type State = Axi4State;

    const GROUPS: &'static [Covergroup] = if Self::IS_LITE { LITE } else { GROUPS };

    fn transfers(&self, m: &M, s: &S) -> Vec<Transfer> {
        let channels = self.valids().into_iter().zip(self.handshakes(m, s)).enumerate();
        let channel = |(place, (port, (is_valid, is_ready))): (_, (_, (bool, bool)))| {
            let item = is_valid.then(|| self.item(place, m, s));
            transfer::<M, S>(port, "valid", item, [true, is_ready])
        };
        channels.map(channel).collect()
    }

    #[inline]
    fn sample(
        &self,
        state: &mut Axi4State,
        in_reset: bool,
        m: &M,
        s: &S,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        let mut hit = |group: usize, at: &[usize]| match (Self::IS_LITE, group) {
            (false, _) => hit(group, at),
            (true, BURSTS | ORDERS) => {}
            (true, RESPONSES | OUTSTANDING) => hit(group - 1, at),
            (true, _) => hit(group - 2, at),
        };
        let mut taken = [false; 5];
        for (channel, (valid, ready)) in self.handshakes(m, s).into_iter().enumerate() {
            if let Some([_, stall]) = state.channels[channel].clock(in_reset, valid, ready) {
                taken[channel] = true;
                hit(STALLS, &[channel, stall]);
            }
        }
        if in_reset {
            *state = Axi4State::default();
            return;
        }
        let codes = [self.bresp, self.rresp].map(|pin| Self::response(pin, s));
        let ids = [self.bid, self.rid].map(|pin| pin.map_or(0, |pin| pin.get(s)));
        let ends = [true, Self::is_last(self.rlast, s)];
        for (kind, channel) in [2, 4].into_iter().enumerate() {
            let follows = std::mem::replace(&mut state.responded[kind], taken[channel]);
            if !taken[channel] {
                continue;
            }
            let response = match codes[kind] {
                AxiResponse::Okay | AxiResponse::ExOkay => 0,
                AxiResponse::SlvErr => 1,
                AxiResponse::DecErr => 2,
            };
            hit(RESPONSES, &[kind, response, usize::from(follows)]);
            if ends[kind]
                && let Some(place) = state.ids[kind].iter().position(|id| *id == ids[kind])
            {
                state.ids[kind].remove(place);
                hit(ORDERS, &[kind, usize::from(place > 0)]);
            }
        }
        for (kind, channel) in [&self.aw, &self.ar].into_iter().enumerate() {
            if let Some(address) = self.offered(channel, m).filter(|_| taken[3 * kind]) {
                state.ids[kind].push_back(address.id);
                if let Some([burst, length]) = burst(&address) {
                    hit(BURSTS, &[kind, burst, length]);
                }
                hit(OUTSTANDING, &[kind, state.ids[kind].len().min(3) - 1]);
            }
        }
        let [addresses, data] = state.parts;
        state.parts[0] += u64::from(taken[0]);
        if taken[1] {
            state.parts[1] += u64::from(!state.inside);
            state.inside = !Self::is_last(self.wlast, m);
        }
        // The write that has both parts now is the one that had one part, or none, before.
        if state.parts[0].min(state.parts[1]) > addresses.min(data) {
            let skew = match addresses.cmp(&data) {
                Ordering::Equal => 0,
                Ordering::Greater => 1,
                Ordering::Less => 2,
            };
            hit(SKEWS, &[skew]);
        }
    }
}

/// The indices of the burst and of its length.
fn burst(address: &Axi4Address) -> Option<[usize; 2]> {
    let length = class(u64::from(address.beats()), [2, 16, 17]);
    (address.burst < 3).then_some([address.burst as usize, length])
}
