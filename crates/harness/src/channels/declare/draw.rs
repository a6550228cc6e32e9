//! Random choices of a declared block.

use crate::harness::{Block, CaseRng, Draw};
use rand::RngExt;
use verilated::{Pins, Port};

/// An index below `count`; 0 if there is none.
pub fn choose(count: usize, rng: &mut CaseRng) -> usize {
    if count == 0 { 0 } else { rng.random_range(0..count) }
}

/// A lane below `count` whose bit in `among` is 1; `None` if there is none.
pub fn choose_lane(count: usize, among: u64, rng: &mut CaseRng) -> Option<usize> {
    let among: Vec<usize> = (0..count).filter(|lane| among >> lane & 1 == 1).collect();
    match among.as_slice() {
        [] => None,
        [lane] => Some(*lane),
        lanes => Some(lanes[choose(lanes.len(), rng)]),
    }
}

/// Random values on all pins for `count` cycles. Each case draws how often each pin of one bit is
/// high, so some cases run free and others crawl. Resets are rare.
pub fn raw_pins<B: Block>(count: u32, rng: &mut CaseRng) -> Vec<B::Inputs> {
    let resets = || B::RESET.into_iter().chain(B::OTHER_RESETS.iter().copied());
    let level = |port: &Port| {
        let mut levels = resets().map(|pin| pin.name_and_level());
        levels.find(|(name, _)| *name == port.name)
    };
    let often: Vec<f64> = B::Inputs::PORTS
        .iter()
        .map(|port| match level(port) {
            Some((_, is_high)) => {
                let rare: f64 = rng.one_of(&[0.0, 0.01, 0.1]);
                if is_high { rare } else { 1.0 - rare }
            }
            None => rng.one_of(&[0.1, 0.5, 0.9, 1.0]),
        })
        .collect();
    let mut bytes = B::Inputs::default().as_bytes().to_vec();
    let cycle = |_| {
        rng.fill(bytes.as_mut_slice());
        for (port, often) in B::Inputs::PORTS.iter().zip(&often) {
            if port.width == 1 {
                bytes[port.offset] = u8::from(rng.random_bool(*often));
            }
        }
        B::Inputs::of_bytes(&bytes)
    };
    (0..count).map(cycle).collect()
}
