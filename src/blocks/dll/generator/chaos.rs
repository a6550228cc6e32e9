//! Unconstrained random stimulus without protocol, but with values that reach interesting states.
//!
//! Few of the 4096 sequence numbers are meaningful at a time. A golden model runs along, and most
//! numbers are drawn near its registers. The result is a plain list of pins.

use crate::blocks::dll::Golden;
use crate::blocks::dll::rtl::{Bits12, Bits32, Inputs, Outputs};
use cosim_core::harness::{CaseRng, Draw as _, Golden as _, Parameters, Percent};
use rand::RngExt;

/// Payloads that are 0, 1, a power of two, the largest number, or one less.
const CORNERS: Percent = Percent::new(5);

/// `count` cycles of random pins.
pub fn cycles(count: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let mut pins = Pins::draw(rng);
    let mut golden = Golden::new(parameters);
    let mut outputs = Outputs::default();
    (0..count)
        .map(|_| {
            let idle = Inputs::default();
            golden.show(&idle, &mut outputs);
            let inputs = pins.cycle(&outputs);
            golden.edge(&inputs);
            inputs
        })
        .collect()
}

/// Generates the pins cycle by cycle.
pub(crate) struct Pins<'a> {
    rng: &'a mut CaseRng,
    often: [f64; 7],
    answers: f64,
    reset: f64,
}

impl<'a> Pins<'a> {
    /// Draws for the whole case how often each valid, ready, CRC and rst is high, so that some
    /// cases run at full speed and others stall.
    pub(crate) fn draw(rng: &'a mut CaseRng) -> Self {
        let often = rng.probabilities();
        // A device that receives a DLLP in every cycle, or a Nak in every other, makes no progress.
        let answers = rng.one_of(&[0.02, 0.05, 0.2, 0.7]);
        let reset = rng.one_of(&[0.0, 0.0, 0.001, 0.02]);
        Self { rng, often, answers, reset }
    }

    /// A sequence number near one of `likely`, half the number range away from it, or anything.
    fn near(&mut self, likely: &[Bits12]) -> Bits12 {
        let base = self.rng.one_of(likely).get();
        let around = |rng: &mut CaseRng, reach: u64| base + 4096 + rng.random_range(0..=2 * reach);
        Bits12::new(match self.rng.random_range(0..16) {
            0 => self.rng.random(),
            1 => around(self.rng, 1) + 2048 - 1,
            2..8 => around(self.rng, 3) - 3,
            8..10 => around(self.rng, 18) - 18,
            _ => base,
        })
    }

    pub(crate) fn cycle(&mut self, seen: &Outputs) -> Inputs {
        let Self { often, answers, reset, .. } = *self;
        let before = |seq: Bits12| Bits12::new(seq.get().wrapping_sub(1));
        let answered = [seen.a_ackd_seq, before(seen.a_next_seq), before(seen.a_link_seq)];
        let arriving = [seen.b_next_rcv_seq, seen.b_next_rcv_seq, before(seen.b_next_rcv_seq)];
        Inputs {
            rst: self.rng.pin(reset),
            a_tlp_valid: self.rng.pin(often[0]),
            a_tlp_data: Bits32::new(self.rng.bits_or_corner::<32>(CORNERS).get()),
            a_link_ready: self.rng.pin(often[1]),
            a_dllp_valid: self.rng.pin(answers),
            a_dllp_nak: self.rng.pin(often[2] * 0.4),
            a_dllp_seq: self.near(&answered),
            a_dllp_crc_ok: self.rng.pin(often[3].max(0.5)),
            b_link_valid: self.rng.pin(often[4]),
            b_link_seq: self.near(&arriving),
            b_link_data: Bits32::new(self.rng.bits_or_corner::<32>(CORNERS).get()),
            b_link_crc_ok: self.rng.pin(often[5].max(0.5)),
            b_dllp_ready: self.rng.pin(often[6]),
            padding: [0; _],
        }
    }
}
