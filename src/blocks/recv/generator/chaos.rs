//! Unconstrained random stimulus without protocol, but with values that reach interesting states.
//!
//! Half of the packets are eager CPs and DPs. The pool is often empty, or close to KEEP.

use super::super::rtl::{Bits3, Bits8, Bits16, Bits32, Inputs};
use super::super::rules::parameters::KEEP;
use cosim_core::harness::{CaseRng, Draw as _, Parameters, Percent};
use rand::RngExt;

/// Handles and lengths that are 0, 1, a power of two, the largest number, or one less.
const CORNERS: Percent = Percent::new(5);

/// `count` cycles of random pins. Each case draws how often each pin is high and how full the pool
/// is.
pub fn cycles(count: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let often = rng.probabilities();
    // A message that ends with every packet has no DPs.
    let last = rng.one_of(&[0.05, 0.2, 0.5, 0.9]);
    // Credits accumulate if they are rarely accepted.
    let credit = rng.one_of(&[0.0, 0.02, 0.5, 1.0]);
    let empty = rng.one_of(&[0.0, 0.3, 0.9, 0.97]);
    let reset = rng.one_of(&[0.0, 0.0, 0.001, 0.02]);
    let mut pins = Pins { keep: parameters.get(KEEP), rng };
    (0..count).map(|_| pins.cycle(&often, [last, credit, empty, reset])).collect()
}

struct Pins<'a> {
    keep: u64,
    rng: &'a mut CaseRng,
}

impl Pins<'_> {
    fn kind(&mut self) -> u64 {
        match self.rng.random_range(0..4) {
            0 => 4,
            1 => 6,
            _ => self.rng.random_range(0..8),
        }
    }

    fn free(&mut self, empty: f64) -> u64 {
        if self.rng.random_bool(empty) {
            return 0;
        }
        match self.rng.random_range(0..4) {
            0 => self.rng.random_range(0..4),
            1 => (self.keep + self.rng.random_range(0..3)).saturating_sub(1).min(255),
            _ => self.rng.bits_or_corner::<8>(CORNERS).get(),
        }
    }

    fn cycle(&mut self, often: &[f64; 6], [last, credit, empty, reset]: [f64; 4]) -> Inputs {
        Inputs {
            rst: self.rng.pin(reset),
            pkt_valid: self.rng.pin(often[0]),
            pkt_kind: Bits3::new(self.kind()),
            pkt_id: Bits8::new(self.rng.bits_or_corner::<8>(CORNERS).get()),
            pkt_len: Bits16::new(self.rng.bits_or_corner::<16>(CORNERS).get()),
            pkt_msg_len: Bits32::new(self.rng.bits_or_corner::<32>(CORNERS).get()),
            pkt_last: self.rng.pin(last),
            match_rsp: self.rng.pin(often[1]),
            match_found: self.rng.pin(often[2].min(0.5)),
            posted_done: self.rng.pin(often[3].min(0.5)),
            pool_free: Bits8::new(self.free(empty)),
            credit_ready: self.rng.pin(credit),
            temp_alloc_ok: self.rng.pin(often[4]),
            padding: [0; _],
        }
    }
}
