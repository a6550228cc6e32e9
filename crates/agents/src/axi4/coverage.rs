//! The coverage of an AXI4 interface.

use super::{Axi4Address, Axi4Pins, AxiResponse};
use cosim_harness::channels::{ChannelSampler, STALL};
use cosim_harness::harness::{Bins, Covergroup, Place};
use std::collections::VecDeque;
use verilated::Pins;

cosim_harness::axes! {
    /// The channels of the interface.
    CHANNEL = "channel" {
        "aw": "write addresses", "w": "write data", "b": "write responses",
        "ar": "read addresses", "r": "read data"
    }
    /// The kind of an operation.
    KIND = "kind" { "write": "a write", "read": "a read" }
    /// The kind of a burst.
    BURST = "burst" {
        "FIXED": "every beat has the same address", "INCR": "the address increments",
        "WRAP": "the address increments and wraps"
    }
    /// Beats of a burst.
    LENGTH = "length" {
        "1": "one beat", "2-15": "2 to 15 beats", "16": "16 beats", "17+": "17 beats or more"
    }
    /// The response of an operation, or of a beat of a read.
    RESPONSE = "response" {
        "OKAY": "the access succeeded", "SLVERR": "the subordinate reports an error",
        "DECERR": "no subordinate has the address"
    }
    /// Whether a response, or a beat of read data, follows the one before it without a gap.
    FOLLOWS = "follows" {
        "apart": "a cycle or more after the one before it",
        "back-to-back": "in the cycle after the one before it"
    }
    /// Operations of one kind in flight.
    IN_FLIGHT = "in flight" { "1": "one operation", "2": "two", "3+": "three or more" }
    /// The order of responses.
    ORDER = "order" {
        "first": "the oldest operation of its kind ends",
        "overtakes": "an operation of another ID is older"
    }
}

/// The covergroups of an AXI4 interface.
pub(super) const GROUPS: &[Covergroup] = &[
    Covergroup::new("bursts", "operations, by kind, burst and length", &[KIND, BURST, LENGTH])
        .unless(|at, _| match at[1..] {
            [0, 3] => Some("a FIXED burst has at most 16 beats"),
            [2, 0 | 3] => Some("a WRAP burst has 2, 4, 8 or 16 beats"),
            _ => None,
        }),
    Covergroup::new(
        "responses",
        "write responses and beats of read data",
        &[KIND, RESPONSE, FOLLOWS],
    ),
    Covergroup::new("outstanding", "operations in flight when one starts", &[KIND, IN_FLIGHT]),
    Covergroup::new("order", "operations that end, by their order", &[KIND, ORDER]),
    Covergroup::new("stalls", "transfers, by channel and stall", &[CHANNEL, STALL]),
];

/// The bins of a cycle; those of a kind have its index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) bursts: [Option<[usize; 3]>; 2],
    pub(super) responses: [Option<[usize; 3]>; 2],
    pub(super) outstanding: [Option<[usize; 2]>; 2],
    pub(super) order: [Option<[usize; 2]>; 2],
    /// Gap and stall of each channel's transfer.
    pub(super) channels: [Option<[usize; 2]>; 5],
}

/// Samples the coverage of an AXI4 interface.
#[derive(Debug, Clone)]
pub struct Axi4Sampler<M, S> {
    pins: Axi4Pins<M, S>,
    channels: [ChannelSampler; 5],
    /// The IDs of the writes and of the reads in flight, in the order of their addresses.
    ids: [VecDeque<u64>; 2],
    /// Whether each kind had a response or beat in the cycle before.
    responded: [bool; 2],
    bursts: Place<3>,
    responses: Place<3>,
    outstanding: Place<2>,
    order: Place<2>,
    stalls: Place<2>,
}

impl<M: Pins, S: Pins> Axi4Sampler<M, S> {
    /// A sampler whose groups begin at index `first` of the block's groups.
    pub fn new(pins: Axi4Pins<M, S>, groups: &'static [Covergroup], first: usize) -> Self {
        let name = |index: usize| groups[first + index].name;
        Self {
            pins,
            channels: Default::default(),
            ids: Default::default(),
            responded: [false; 2],
            bursts: Place::of(groups, name(0)),
            responses: Place::of(groups, name(1)),
            outstanding: Place::of(groups, name(2)),
            order: Place::of(groups, name(3)),
            stalls: Place::of(groups, name(4)),
        }
    }

    /// Samples a rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, m: &M, s: &S, bins: &mut Bins<'_>) {
        let hits = self.edge(in_reset, m, s);
        for kind in 0..2 {
            if let Some(burst) = hits.bursts[kind] {
                bins.hit(self.bursts.bin(burst));
            }
            if let Some(response) = hits.responses[kind] {
                bins.hit(self.responses.bin(response));
            }
            if let Some(started) = hits.outstanding[kind] {
                bins.hit(self.outstanding.bin(started));
            }
            if let Some(order) = hits.order[kind] {
                bins.hit(self.order.bin(order));
            }
        }
        for (channel, hit) in hits.channels.into_iter().enumerate() {
            if let Some([_, stall]) = hit {
                bins.hit(self.stalls.bin([channel, stall]));
            }
        }
    }

    /// The bins of a cycle.
    #[inline]
    pub(super) fn edge(&mut self, in_reset: bool, m: &M, s: &S) -> Hits {
        let pins = self.pins;
        let handshakes = [
            (pins.aw.valid.is_high(m), pins.aw.ready.is_high(s)),
            (pins.wvalid.is_high(m), pins.wready.is_high(s)),
            (pins.bvalid.is_high(s), pins.bready.is_high(m)),
            (pins.ar.valid.is_high(m), pins.ar.ready.is_high(s)),
            (pins.rvalid.is_high(s), pins.rready.is_high(m)),
        ];
        let mut hits = Hits::default();
        for (index, (valid, ready)) in handshakes.into_iter().enumerate() {
            hits.channels[index] = self.channels[index].clock(in_reset, valid, ready);
        }
        if in_reset {
            self.responded = [false; 2];
            self.ids.iter_mut().for_each(VecDeque::clear);
            return hits;
        }
        let codes = [pins.bresp, pins.rresp].map(|pin| pin.map_or(0, |pin| pin.get(s)));
        let ids = [pins.bid, pins.rid].map(|pin| pin.map_or(0, |pin| pin.get(s)));
        let ends = [true, pins.rlast.is_high(s)];
        for (kind, channel) in [2, 4].into_iter().enumerate() {
            let is_taken = hits.channels[channel].is_some();
            let follows = usize::from(self.responded[kind]);
            self.responded[kind] = is_taken;
            if !is_taken {
                continue;
            }
            let response = match AxiResponse::of(codes[kind]) {
                AxiResponse::Okay | AxiResponse::ExOkay => 0,
                AxiResponse::SlvErr => 1,
                AxiResponse::DecErr => 2,
            };
            hits.responses[kind] = Some([kind, response, follows]);
            if ends[kind]
                && let Some(place) = self.ids[kind].iter().position(|id| *id == ids[kind])
            {
                self.ids[kind].remove(place);
                hits.order[kind] = Some([kind, usize::from(place > 0)]);
            }
        }
        for (kind, channel) in [&pins.aw, &pins.ar].into_iter().enumerate() {
            let is_taken = hits.channels[3 * kind].is_some();
            if let Some(address) = pins.offered(channel, m).filter(|_| is_taken) {
                self.ids[kind].push_back(address.id);
                hits.bursts[kind] = Self::burst(&address).map(|[burst, len]| [kind, burst, len]);
                hits.outstanding[kind] = Some([kind, self.ids[kind].len().min(3) - 1]);
            }
        }
        hits
    }

    /// The indices of the burst and of its length.
    fn burst(address: &Axi4Address) -> Option<[usize; 2]> {
        let length = match address.beats() {
            1 => 0,
            2..=15 => 1,
            16 => 2,
            _ => 3,
        };
        (address.burst < 3).then_some([address.burst as usize, length])
    }
}
