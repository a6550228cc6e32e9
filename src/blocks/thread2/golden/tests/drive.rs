//! Inputs that a test drives, and those that it leaves open.

use super::beats::{End, NextUnit, Packet, Tables, Unit};
use crate::blocks::testing;
use crate::blocks::thread2::Thread2;
use crate::blocks::thread2::rtl::Inputs;
use cosim_core::verilated::{Bits, Pins};

/// The value of pins that a test leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    Zeros,
    Ones,
}

/// The inputs of one cycle. Other pins and fields are open: the same outputs are expected for any
/// value, so that every test also covers the inputs that a state ignores.
#[derive(Clone, Copy)]
pub struct Drive {
    value: Inputs,
    driven: Inputs,
}

impl Drive {
    /// These pins and fields, as `"wqe_req_ready=1"`. The reset is 0, and all others are open.
    #[track_caller]
    pub fn new(pins: &str) -> Self {
        Self { value: Inputs::default(), driven: Inputs::default() }.and("rst=0").and(pins)
    }

    /// Further pins.
    #[track_caller]
    pub fn and(mut self, pins: &str) -> Self {
        testing::set::<Thread2>(pins, &mut self.value, &mut self.driven);
        self
    }

    /// All bits of a wide port.
    pub fn words<const WIDTH: u32, const WORDS: usize>(
        mut self,
        port: fn(&mut Inputs) -> &mut Bits<WIDTH, [u32; WORDS]>,
        words: [u32; WORDS],
    ) -> Self {
        *port(&mut self.value) = Bits::from_words(words);
        *port(&mut self.driven) = Bits::from_words([u32::MAX; WORDS]);
        self
    }

    #[track_caller]
    pub fn packet(p: &Packet) -> Self {
        let context = [
            ("qp_state", p.qp_state),
            ("rq_entry_sz_log", p.entry_log),
            ("rcv_cqn", p.rcv_cqn),
            ("qp_pd", p.qp_pd),
            ("rq_lkey", p.rq_lkey),
            ("rq_length", p.rq_length),
            ("cq_log_size", p.cq_log_size),
            ("cq_comp_eqn", p.cq_comp_eqn),
            ("cq_pd", p.cq_pd),
            ("cq_lkey", p.cq_lkey),
            ("eq_log_size", p.eq_log_size),
            ("eq_pd", p.eq_pd),
            ("eq_lkey", p.eq_lkey),
        ];
        let header = [
            ("remote_qpn", p.remote_qpn),
            ("net_opcode", p.opcode),
            ("service_type", p.service),
            ("local_qpn", p.qp.qpn),
            ("solicited", p.solicited),
            ("rkey", p.rkey),
            ("raddr", p.raddr),
            ("immediate", p.immediate),
            ("dip", p.dip),
            ("sip", p.sip),
            ("pkt_start_addr", p.start_addr),
            ("pkt_length", p.length),
        ];
        Self::new("fetch_cxt_egress_valid")
            .fields("fetch_cxt_egress_head", &context)
            .fields("fetch_cxt_egress_data", &header)
    }

    #[track_caller]
    fn fields(self, port: &str, fields: &[(&str, u64)]) -> Self {
        let drive = |drive: Self, (field, value): &(&str, u64)| {
            drive.and(&format!("{port}.{field}={value}"))
        };
        fields.iter().fold(self, drive)
    }

    #[track_caller]
    pub fn next_unit(next: &NextUnit) -> Self {
        let NextUnit { next_addr, next_size, cur_size, rq_offset } = next;
        Self::new(&format!(
            "wqe_resp_valid wqe_resp_data[31:6]={next_addr} wqe_resp_data[37:32]={next_size}
             wqe_resp_data[77:70]={cur_size} rq_offset_dout={rq_offset}"
        ))
    }

    /// A beat's pins beside others.
    #[track_caller]
    pub fn unit(pins: &str, unit: &Unit, end: End) -> Self {
        let Unit { bytes, inline, lkey, laddr } = unit;
        let last = match end {
            End::More => "wqe_resp_last=0",
            End::Last => "wqe_resp_last=1",
            End::Either => "",
        };
        Self::new(&format!(
            "{pins} {last} wqe_resp_data.byte_cnt={bytes} wqe_resp_data.inline={inline}
             wqe_resp_data.lkey={lkey} wqe_resp_data.laddr={laddr}"
        ))
    }

    #[track_caller]
    pub fn tables(tables: &Tables) -> Self {
        let Tables { rq_offset, cache_offset, owner } = tables;
        Self::new(&format!(
            "rq_offset_dout={rq_offset} cache_offset_dout={cache_offset} cache_owned_dout={owner}"
        ))
    }

    /// Every pin, the open ones filled.
    pub fn pins(&self, open: Open) -> Inputs {
        let mut pins = self.value;
        if open == Open::Ones {
            let (value, driven) = (self.value.as_bytes(), self.driven.as_bytes());
            let bytes: Vec<u8> =
                value.iter().zip(driven).map(|(byte, driven)| byte | !driven).collect();
            pins = Inputs::of_bytes(&bytes);
        }
        pins
    }
}
