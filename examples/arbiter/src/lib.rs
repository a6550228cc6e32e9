//! Block `arbiter`: a round-robin arbiter of four requesters. Its specification is `README.md`.

mod coverage;
mod golden;
mod scoreboard;

use cosim_core::channels::PacketBeat;
use cosim_core::harness::{CaseRng, Draw, Parameters, Percent, Span};
use cosim_core::value::Uint;
use rand::RngExt;

// ANCHOR: declaration
cosim_core::declare! {
    rtl "arbiter";
    reset rst high;
    outputs;
    weights {
        /// The requesters with packets: bit n is requester n.
        requesters: Uint<4> = 0b1111,
        /// Number of beats of a packet, unless it is around the limit.
        beats: Span<8, 1> = 1..=6,
        /// Packets with a number of beats around the limit.
        around_the_limit: Percent = 20,
        /// Packets with pauses between their beats.
        pauses: Percent = 20,
        /// Longest pause in cycles.
        longest_pause: Uint<6> = 3,
    }
    scenarios "scenarios.toml";
    source req[4 among requesters]: Beat { data: req_data[16], last: req_last[1] }
        on req_valid, req_ready from Packet drawn by packet;
    sink out: Out { data: out_data[16], src: out_src[2], last: out_last[1], cut: out_cut[1] }
        on out_valid, out_ready;

    parameter MAX_BEATS = 8 in 1..=255, "beats after which a packet is cut";
    profile "spec" { MAX_BEATS = 8 }
    profile "single" { MAX_BEATS = 1 }
    profile "pairs" { MAX_BEATS = 2 }
    golden golden::Golden;
    scoreboard scoreboard::Scoreboard;
    coverage (Coverage, coverage::Coverage);
    states "state": ["FREE", "LOCKED"];
    block Arbiter = "arbiter": "Arbiter, round robin of four requesters with locked packets";
}
// ANCHOR_END: declaration

/// A packet of a requester, as a vector stores it.
pub type Packet = cosim_core::channels::Packet<Beat, 16>;

impl PacketBeat<16> for Beat {
    fn beat(data: Uint<16>, is_last: bool) -> Self {
        Self { data, last: is_last.into() }
    }
}

/// Draws a packet. A uniform draw of its beats would never meet the limit.
fn packet(weights: &Weights, parameters: &Parameters, rng: &mut CaseRng) -> Packet {
    let edge = parameters.get(MAX_BEATS) * rng.random_range(1..=2);
    let around = rng.random_range(edge.max(2) - 1..=edge + 1);
    let is_around = rng.chance(weights.around_the_limit);
    let beats = if is_around { around } else { weights.beats.draw(rng) };
    Packet::new(beats, rng.wait(weights.pauses, weights.longest_pause), rng.bits())
}
