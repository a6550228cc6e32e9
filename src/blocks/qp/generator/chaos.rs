//! Unconstrained random stimulus without protocol, with QPs that repeat.
//!
//! Two random choices of 256 QPs are rarely equal, so most pins of a case name only a few QPs.

use super::super::rtl::{Bits2, Bits3, Bits8, Inputs};
use cosim_core::harness::{CaseRng, Draw as _, Parameters};
use rand::RngExt;

/// `count` cycles of random pins. Each case draws how often the valids, the ready and rst are high,
/// and the number of its QPs.
pub fn cycles(count: u32, _: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let qps = rng.one_of(&[1, 2, 4, 30]);
    let few = (0..qps).map(|_| rng.random()).collect();
    let often = rng.probabilities();
    // A queue that is read in every cycle never fills.
    let ready = rng.one_of(&[0.02, 0.1, 0.5, 1.0]);
    let reset = rng.one_of(&[0.0, 0.0, 0.001, 0.02]);
    let mut pins = Pins { few, rng };
    (0..count).map(|_| pins.cycle(&often, ready, reset)).collect()
}

struct Pins<'a> {
    /// The QPs of the case.
    few: Vec<u8>,
    rng: &'a mut CaseRng,
}

impl Pins<'_> {
    fn qpn(&mut self) -> Bits8 {
        let any = self.rng.random_range(0..32) == 0;
        let qpn = if any { self.rng.random() } else { self.rng.one_of(&self.few) };
        Bits8::new(u64::from(qpn))
    }

    fn cycle(&mut self, often: &[f64; 3], ready: f64, reset: f64) -> Inputs {
        // Half of the requested states are on the usual path: INIT, RTR, RTS, SQD.
        let next = match self.rng.random() {
            true => self.rng.random_range(1..=4),
            false => self.rng.random(),
        };
        Inputs {
            rst: self.rng.pin(reset),
            cmd_valid: self.rng.pin(often[0]),
            cmd_qpn: self.qpn(),
            cmd_next: Bits3::new(next),
            cmd_service: Bits3::new(self.rng.random()),
            cmd_notify: self.rng.pin(0.3),
            hw_valid: self.rng.pin(often[1]),
            hw_qpn: self.qpn(),
            hw_kind: Bits2::new(self.rng.random()),
            msg_valid: self.rng.pin(often[2]),
            msg_qpn: self.qpn(),
            msg_consumes_wqe: self.rng.pin(0.5),
            msg_error: self.rng.pin(0.3),
            query_qpn: self.qpn(),
            evt_ready: self.rng.pin(ready),
            padding: [0; _],
        }
    }
}
