//! Unconstrained random stimulus without protocol, but with values that reach interesting states.

use crate::blocks::thread2::rtl::{
    Bits8, Bits24, Bits96, Bits128, Bits416, Bits488, Bits576, Inputs,
};
use crate::blocks::thread2::rules::layout::{Context, DataUnit, Header, NextUnit, SLOT_BYTES};
use cosim_core::harness::{CaseRng, Draw, Parameters, Percent};
use cosim_core::value::Uint;
use rand::RngExt;

/// `count` cycles of random pins. Each case draws how often each valid, ready and rst is high, so
/// that some cases run at full speed and others stall.
pub fn cycles(count: u32, _: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let often = rng.probabilities();
    let reset = rng.one_of(&[0.0, 0.0, 0.01, 0.1]);
    let qps: Vec<u64> = (0..3).map(|_| rng.random()).collect();
    let mut pins = Pins { rng, offset: 0 };
    (0..count).map(|_| pins.cycle(&often, reset, &qps)).collect()
}

/// Corners among values that are not likely.
const CORNERS: Percent = Percent::new(20);

struct Pins<'a> {
    rng: &'a mut CaseRng,
    /// The RQ offset near which other values of this cycle are drawn.
    offset: u64,
}

impl Pins<'_> {
    /// One of `likely` three times out of four, else a random value or a corner.
    fn mostly<const WIDTH: u32>(&mut self, likely: &[u64]) -> Uint<WIDTH> {
        if self.rng.random_bool(0.75) {
            Uint::new(self.rng.one_of(likely))
        } else {
            self.rng.bits_or_corner(CORNERS)
        }
    }

    fn cycle(&mut self, often: &[f64; 9], reset: f64, qps: &[u64]) -> Inputs {
        let near = |rng: &mut CaseRng| rng.random_range(0..64u64);
        let (near_0, slots) = (near(self.rng), near(self.rng));
        // Some are near the end of the longest queue.
        let offset = if self.rng.random_range(0..8) == 0 { 0xff_ffc0 + near_0 } else { near_0 };
        self.offset = offset;
        let qpn = self.mostly(qps);
        Inputs {
            rst: self.rng.pin(reset),
            fetch_cxt_egress_valid: self.rng.pin(often[0]),
            fetch_cxt_egress_head: self.context(),
            fetch_cxt_egress_data: self.header(qpn),
            fetch_cxt_egress_start: self.rng.pin(0.5),
            fetch_cxt_egress_last: self.rng.pin(0.5),
            fetch_mr_ingress_ready: self.rng.pin(often[1]),
            wqe_req_ready: self.rng.pin(often[2]),
            wqe_resp_valid: self.rng.pin(often[3]),
            wqe_resp_head: Bits576::from_words(self.rng.words()),
            wqe_resp_data: self.beat(offset, slots),
            wqe_resp_start: self.rng.pin(0.5),
            wqe_resp_last: self.rng.pin(often[4]),
            cache_offset_dout: Bits8::new(
                self.mostly::<8>(&[0, 192, 256 - slots.max(1), 255]).get(),
            ),
            cache_owned_dout: Bits8::new(self.mostly::<8>(qps).get()),
            rq_offset_dout: Bits24::new(self.mostly::<24>(&[0, offset, 0xff_ffff]).get()),
            cq_req_ready: self.rng.pin(often[5]),
            cq_resp_valid: self.rng.pin(often[6]),
            cq_resp_head: Bits96::from_words(self.rng.words()),
            eq_req_ready: self.rng.pin(often[7]),
            eq_resp_valid: self.rng.pin(often[8]),
            eq_resp_head: Bits96::from_words(self.rng.words()),
            padding: [0; _],
        }
    }

    fn context(&mut self) -> Bits416 {
        let entry_log = self.mostly(&[5, 6, 7, 8, 9, 10, 11]);
        let entry = 1u64 << entry_log.get().min(24);
        let context = Context {
            qp_state: self.mostly(&[2, 3, 4, 5]),
            rq_entry_sz_log: entry_log,
            rq_length: self.mostly(&[
                0,
                entry,
                2 * entry,
                16 * entry - 1,
                SLOT_BYTES * self.offset,
                SLOT_BYTES * self.offset + entry - 1,
                SLOT_BYTES * self.offset + entry,
            ]),
            cq_log_size: self.mostly(&[0, 4, 26, 27]),
            eq_log_size: self.mostly(&[0, 4, 26, 27]),
            ..Context::decode(&Bits416::from_words(self.rng.words()))
        };
        context.encode(Bits416::from_words(self.rng.words()))
    }

    fn header(&mut self, local_qpn: Uint<24>) -> Bits488 {
        let header = Header {
            net_opcode: self.mostly(&[0, 1, 2, 3, 4, 5, 9, 11]),
            local_qpn,
            pkt_length: self.mostly(&[0, 1, 16, 64, 4096, 0xffff]),
            ..Header::decode(&Bits488::from_words(self.rng.words()))
        };
        header.encode(Bits488::from_words(self.rng.words()))
    }

    /// A beat with plausible values as a NextUnit or as a DataUnit, or a random one.
    fn beat(&mut self, offset: u64, slots: u64) -> Bits128 {
        let noise = Bits128::from_words(self.rng.words());
        match self.rng.random_range(0..4) {
            0 => NextUnit {
                next_wqe_addr: self.mostly(&[0, offset, offset + slots, 0x3ff_ffff]),
                next_wqe_size: self.mostly(&[0, 1, slots, 63]),
                cur_wqe_size: self.mostly(&[0, 1, 4, slots]),
                ..NextUnit::decode(&noise)
            }
            .encode(noise),
            1 | 2 => DataUnit {
                byte_cnt: self.mostly(&[0, 1, 16, 32, 64, 0x4000_0000, 0x7fff_ffff]),
                laddr: self.mostly(&[0xffff_fff8, u64::MAX - 7]),
                ..DataUnit::decode(&noise)
            }
            .encode(noise),
            _ => noise,
        }
    }
}
