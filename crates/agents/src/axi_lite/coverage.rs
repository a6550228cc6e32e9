//! The coverage of an AXI4-Lite interface.

use super::{AxiLitePins, AxiResponse};
use cosim_harness::channels::{ChannelSampler, STALL};
use cosim_harness::harness::{Bins, Covergroup, Place};
use verilated::Pins;

cosim_harness::axes! {
    /// The channels of the interface.
    CHANNEL = "channel" {
        "aw": "write addresses", "w": "write data", "b": "write responses",
        "ar": "read addresses", "r": "read data"
    }
    /// The kind of an operation.
    KIND = "kind" { "write": "a write", "read": "a read" }
    /// The response of an operation.
    RESPONSE = "response" {
        "OKAY": "the access succeeded", "SLVERR": "the subordinate reports an error",
        "DECERR": "no subordinate has the address"
    }
    /// Whether a response follows the response before it on its channel without a gap.
    FOLLOWS = "follows" {
        "apart": "a cycle or more after the response before it",
        "back-to-back": "in the cycle after the response before it"
    }
    /// Operations of one kind in flight.
    IN_FLIGHT = "in flight" { "1": "one operation", "2": "two", "3+": "three or more" }
    /// The channel that takes its part of a write first.
    SKEW = "skew" {
        "together": "address and data are taken in one cycle",
        "address": "the address is taken first", "data": "the data is taken first"
    }
}

/// The covergroups of an AXI4-Lite interface.
pub(super) const GROUPS: &[Covergroup] = &[
    Covergroup::new(
        "responses",
        "operations, by kind, response, and distance to the one before",
        &[KIND, RESPONSE, FOLLOWS],
    ),
    Covergroup::new("outstanding", "operations in flight when one starts", &[KIND, IN_FLIGHT]),
    Covergroup::new("skew", "writes: which part is taken first", &[SKEW]),
    Covergroup::new("stalls", "transfers, by channel and stall", &[CHANNEL, STALL]),
];

/// The bins of a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) responses: [Option<[usize; 3]>; 2],
    pub(super) outstanding: [Option<[usize; 2]>; 2],
    pub(super) skew: Option<usize>,
    /// Gap and stall of each channel's transfer.
    pub(super) channels: [Option<[usize; 2]>; 5],
}

/// Samples the coverage of an AXI4-Lite interface.
#[derive(Debug, Clone)]
pub struct AxiLiteSampler<M, S> {
    pins: AxiLitePins<M, S>,
    channels: [ChannelSampler; 5],
    /// Addresses of writes, data of writes, addresses of reads, and responses of each that were
    /// taken.
    taken: [u64; 5],
    /// Whether each kind had a response in the cycle before.
    responded: [bool; 2],
    responses: Place<3>,
    outstanding: Place<2>,
    skew: Place<1>,
    stalls: Place<2>,
}

impl<M: Pins, S: Pins> AxiLiteSampler<M, S> {
    /// A sampler whose groups begin at index `first` of the block's groups.
    pub fn new(pins: AxiLitePins<M, S>, groups: &'static [Covergroup], first: usize) -> Self {
        let name = |index: usize| groups[first + index].name;
        Self {
            pins,
            channels: Default::default(),
            taken: [0; 5],
            responded: [false; 2],
            responses: Place::of(groups, name(0)),
            outstanding: Place::of(groups, name(1)),
            skew: Place::of(groups, name(2)),
            stalls: Place::of(groups, name(3)),
        }
    }

    /// Samples a rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, m: &M, s: &S, bins: &mut Bins<'_>) {
        let hits = self.edge(in_reset, m, s);
        for response in hits.responses.into_iter().flatten() {
            bins.hit(self.responses.bin(response));
        }
        for started in hits.outstanding.into_iter().flatten() {
            bins.hit(self.outstanding.bin(started));
        }
        if let Some(skew) = hits.skew {
            bins.hit(self.skew.bin([skew]));
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
        let pins = &self.pins;
        let handshakes = [
            (pins.awvalid.is_high(m), pins.awready.is_high(s)),
            (pins.wvalid.is_high(m), pins.wready.is_high(s)),
            (pins.bvalid.is_high(s), pins.bready.is_high(m)),
            (pins.arvalid.is_high(m), pins.arready.is_high(s)),
            (pins.rvalid.is_high(s), pins.rready.is_high(m)),
        ];
        let mut hits = Hits::default();
        for (index, (valid, ready)) in handshakes.into_iter().enumerate() {
            hits.channels[index] = self.channels[index].clock(in_reset, valid, ready);
        }
        if in_reset {
            (self.taken, self.responded) = ([0; 5], [false; 2]);
            return hits;
        }
        let [aw_before, w_before, ..] = self.taken;
        for (taken, hit) in self.taken.iter_mut().zip(&hits.channels) {
            *taken += u64::from(hit.is_some());
        }
        let [aw, w, b, ar, r] = self.taken;
        let codes = [pins.bresp, pins.rresp].map(|pin| pin.map_or(0, |pin| pin.get(s)));
        let started = [(0, aw.saturating_sub(b), 0), (3, ar.saturating_sub(r), 1)];
        for (channel, in_flight, kind) in started {
            if hits.channels[channel].is_some() {
                hits.outstanding[kind] = Some([kind, in_flight.clamp(1, 3) as usize - 1]);
            }
        }
        for (kind, channel) in [2, 4].into_iter().enumerate() {
            let is_taken = hits.channels[channel].is_some();
            let response = match AxiResponse::of(codes[kind]) {
                AxiResponse::Okay | AxiResponse::ExOkay => 0,
                AxiResponse::SlvErr => 1,
                AxiResponse::DecErr => 2,
            };
            if is_taken {
                let follows = usize::from(self.responded[kind]);
                hits.responses[kind] = Some([kind, response, follows]);
            }
            self.responded[kind] = is_taken;
        }
        // The write that becomes complete is the one that had one part, or none, before.
        if aw.min(w) > aw_before.min(w_before) {
            hits.skew = Some(match aw_before.cmp(&w_before) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Less => 2,
            });
        }
        hits
    }
}
