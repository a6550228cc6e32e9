//! The constrained-random generator, and unconstrained random stimulus.

use crate::MAX_BEATS;
use crate::rtl::{Bits1, Bits4, Bits64, Inputs};
use crate::scenarios::Weights;
use crate::stimulus::{Packet, Traffic};
use cosim_core::harness::{CaseRng, Draw, Parameters, Reset};
use cosim_core::value::Uint;
use rand::RngExt;

/// A reset follows its packet within this number of cycles.
const RESET_WITHIN: u64 = 12;

/// Draws traffic of `packets` packets.
pub fn traffic(
    weights: &Weights,
    parameters: &Parameters,
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    let taking_part: Vec<usize> =
        (0..crate::REQUESTERS).filter(|n| weights.requesters.get() >> n & 1 == 1).collect();
    let mut requesters = [const { Vec::new() }; crate::REQUESTERS];
    let noise = rng.bits();
    for _ in 0..packets {
        let n = taking_part[rng.random_range(0..taking_part.len())];
        requesters[n].push(packet(weights, parameters, rng));
    }
    let beats: u64 = requesters.iter().flatten().map(|packet| packet.beats.get()).sum();
    let stalls = (0..beats).map(|_| rng.wait(weights.out_stall, weights.longest_out_stall));
    Traffic { noise, requesters, out_stalls: stalls.collect() }
}

fn packet(weights: &Weights, parameters: &Parameters, rng: &mut CaseRng) -> Packet {
    let limit = parameters.get(MAX_BEATS);
    let beats = if rng.chance(weights.around_the_limit) {
        let edge = limit * rng.random_range(1..=2);
        rng.random_range(edge.max(2) - 1..=edge + 1)
    } else {
        weights.beats.draw(rng)
    };
    Packet {
        gap: rng.wait(weights.gap, weights.longest_gap),
        beats: Uint::new(beats),
        delay: Uint::new(rng.wait(weights.pauses, weights.longest_pause).get().min(63)),
        data: rng.bits(),
        reset: rng.chance(weights.reset).then(|| Reset {
            after: Uint::new(rng.random_range(0..RESET_WITHIN)),
            cycles: Uint::new(rng.random_range(1..=3)),
        }),
    }
}

/// `count` cycles of random pins. Each case draws how often each pin is high, so that some cases
/// run at full speed and others stall.
pub fn raw_pins(count: u32, rng: &mut CaseRng) -> Vec<Inputs> {
    let often: [f64; 3] = rng.probabilities();
    let reset = rng.one_of(&[0.0, 0.0, 0.01, 0.1]);
    let cycle = |_| {
        let mut high = |often: f64| u64::from(rng.random_bool(often));
        let rst = high(reset);
        let [valid, last] = [often[0], often[1]]
            .map(|often| (0..crate::REQUESTERS).map(|n| high(often) << n).sum());
        let ready = high(often[2]);
        Inputs {
            rst: Bits1::new(rst),
            req_valid: Bits4::new(valid),
            req_last: Bits4::new(last),
            req_data: Bits64::new(rng.random()),
            out_ready: Bits1::new(ready),
            padding: Default::default(),
        }
    };
    (0..count).map(cycle).collect()
}
