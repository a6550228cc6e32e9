//! Unconstrained random stimulus without protocol, with QPs that repeat.
//!
//! Two random choices of 256 QPs are rarely equal, so most pins of a case name only a few QPs.

use super::rtl::{Bits1, Bits2, Bits3, Bits8, Inputs};
use cosim_core::harness::CaseRng;
use rand::RngExt;

/// `count` cycles of random pins. Each case draws how often each valid, the ready and rst are high, and how
/// many QPs it is about.
pub fn cycles(count: u32, rng: &mut CaseRng) -> Vec<Inputs> {
    let mut pins = Pins { few: Vec::new(), rng };
    let qps = pins.one_of([1, 2, 4, 30]);
    pins.few = (0..qps).map(|_| pins.rng.random()).collect();
    let often: [f64; 3] = std::array::from_fn(|_| pins.one_of([0.1, 0.5, 0.9, 1.0]));
    // A queue that is read in every cycle never fills.
    let ready = pins.one_of([0.02, 0.1, 0.5, 1.0]);
    let reset = pins.one_of([0.0, 0.0, 0.001, 0.02]);
    (0..count).map(|_| pins.cycle(&often, ready, reset)).collect()
}

struct Pins<'a> {
    /// The QPs that the case is about.
    few: Vec<u8>,
    rng: &'a mut CaseRng,
}

impl Pins<'_> {
    fn one_of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        values[self.rng.random_range(0..N)]
    }

    fn bit(&mut self, probability: f64) -> Bits1 {
        Bits1::from(self.rng.random_bool(probability))
    }

    fn qpn(&mut self) -> Bits8 {
        let any = self.rng.random_range(0..32) == 0;
        let qpn = if any {
            self.rng.random()
        } else {
            self.few[self.rng.random_range(0..self.few.len())]
        };
        Bits8::new(u64::from(qpn))
    }

    fn cycle(&mut self, often: &[f64; 3], ready: f64, reset: f64) -> Inputs {
        // Half of the states asked for lead on: INIT, RTR, RTS, SQD.
        let next = match self.rng.random() {
            true => self.rng.random_range(1..=4),
            false => self.rng.random(),
        };
        Inputs {
            rst: self.bit(reset),
            cmd_valid: self.bit(often[0]),
            cmd_qpn: self.qpn(),
            cmd_next: Bits3::new(next),
            cmd_service: Bits3::new(self.rng.random()),
            cmd_notify: self.bit(0.3),
            hw_valid: self.bit(often[1]),
            hw_qpn: self.qpn(),
            hw_kind: Bits2::new(self.rng.random()),
            msg_valid: self.bit(often[2]),
            msg_qpn: self.qpn(),
            msg_consumes_wqe: self.bit(0.5),
            msg_error: self.bit(0.3),
            query_qpn: self.qpn(),
            evt_ready: self.bit(ready),
            padding: [0; _],
        }
    }
}
