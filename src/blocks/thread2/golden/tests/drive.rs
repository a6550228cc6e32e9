//! Inputs that a test drives, and those that it leaves open.

use super::beats::{End, NextUnit, Packet, Tables, Unit};
use crate::blocks::thread2::rtl::Inputs;
use cosim_core::verilated::zerocopy::IntoBytes;
use cosim_core::verilated::{Bits, Field, Pins, Storage};

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
    /// All pins are open except for the reset, which is 0.
    pub fn new() -> Self {
        Self { value: Inputs::default(), driven: Inputs::default() }.pin(|pins| &mut pins.rst, 0)
    }

    /// The reset; all other pins are open.
    pub fn reset() -> Self {
        Self::new().pin(|pins| &mut pins.rst, 1)
    }

    /// A whole narrow port.
    #[track_caller]
    pub fn pin<const WIDTH: u32, S: Storage>(
        mut self,
        port: fn(&mut Inputs) -> &mut Bits<WIDTH, S>,
        value: u64,
    ) -> Self {
        *port(&mut self.value) = Bits::new(value);
        *port(&mut self.driven) = Bits::new(u64::MAX);
        assert_eq!(port(&mut self.value).get(), value, "wider than the port's {WIDTH} bits");
        self
    }

    /// Fields `(msb, lsb, value)` of a wide port.
    #[track_caller]
    fn fields<const WIDTH: u32, const WORDS: usize>(
        mut self,
        port: fn(&mut Inputs) -> &mut Bits<WIDTH, [u32; WORDS]>,
        fields: &[(u32, u32, u64)],
    ) -> Self {
        for &(msb, lsb, value) in fields {
            let field = Field::new(msb, lsb);
            assert!(value <= field.max(), "{value:#x} is wider than [{msb}:{lsb}]");
            let bits = port(&mut self.value);
            *bits = bits.with(field, value);
            let driven = port(&mut self.driven);
            *driven = driven.with(field, u64::MAX);
        }
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

    pub fn packet_valid(self, valid: u64) -> Self {
        self.pin(|pins| &mut pins.fetch_cxt_egress_valid, valid)
    }

    #[track_caller]
    pub fn packet(self, packet: &Packet) -> Self {
        let p = packet;
        let context = [
            (37, 35, p.qp_state),
            (47, 40, p.entry_log),
            (63, 48, p.rcv_cqn),
            (95, 64, p.qp_pd),
            (127, 96, p.rq_lkey),
            (159, 128, p.rq_length),
            (167, 160, p.cq_log_size),
            (223, 192, p.cq_comp_eqn),
            (255, 224, p.cq_pd),
            (287, 256, p.cq_lkey),
            (295, 288, p.eq_log_size),
            (351, 320, p.eq_pd),
            (383, 352, p.eq_lkey),
        ];
        let header = [
            (23, 0, p.remote_qpn),
            (28, 24, p.opcode),
            (31, 29, p.service),
            (55, 32, p.qp.qpn),
            (56, 56, p.solicited),
            (95, 64, p.rkey),
            (159, 96, p.raddr),
            (191, 160, p.immediate),
            (319, 288, p.dip),
            (351, 320, p.sip),
            (367, 352, p.start_addr),
            (383, 368, p.length),
        ];
        self.packet_valid(1)
            .fields(|pins| &mut pins.fetch_cxt_egress_head, &context)
            .fields(|pins| &mut pins.fetch_cxt_egress_data, &header)
    }

    pub fn wqe_req_ready(self, ready: u64) -> Self {
        self.pin(|pins| &mut pins.wqe_req_ready, ready)
    }

    pub fn wqe_resp_valid(self, valid: u64) -> Self {
        self.pin(|pins| &mut pins.wqe_resp_valid, valid)
    }

    #[track_caller]
    pub fn next_unit(self, next: &NextUnit) -> Self {
        let fields = [(31, 6, next.next_addr), (37, 32, next.next_size), (77, 70, next.cur_size)];
        self.wqe_resp_valid(1)
            .fields(|pins| &mut pins.wqe_resp_data, &fields)
            .pin(|pins| &mut pins.rq_offset_dout, next.rq_offset)
    }

    /// The beat's pins alone, without its valid.
    #[track_caller]
    pub fn unit(self, unit: &Unit, end: End) -> Self {
        let fields = [
            (30, 0, unit.bytes),
            (31, 31, unit.inline),
            (63, 32, unit.lkey),
            (127, 64, unit.laddr),
        ];
        let beat = self.fields(|pins| &mut pins.wqe_resp_data, &fields);
        match end {
            End::More => beat.pin(|pins| &mut pins.wqe_resp_last, 0),
            End::Last => beat.pin(|pins| &mut pins.wqe_resp_last, 1),
            End::Either => beat,
        }
    }

    pub fn mr_ready(self, ready: u64) -> Self {
        self.pin(|pins| &mut pins.fetch_mr_ingress_ready, ready)
    }

    #[track_caller]
    pub fn tables(self, tables: &Tables) -> Self {
        self.pin(|pins| &mut pins.rq_offset_dout, tables.rq_offset)
            .pin(|pins| &mut pins.cache_offset_dout, tables.cache_offset)
            .pin(|pins| &mut pins.cache_owned_dout, tables.owner)
    }

    pub fn cq_req_ready(self, ready: u64) -> Self {
        self.pin(|pins| &mut pins.cq_req_ready, ready)
    }

    pub fn cq_resp_valid(self, valid: u64) -> Self {
        self.pin(|pins| &mut pins.cq_resp_valid, valid)
    }

    pub fn cq_address(self, laddr: u64) -> Self {
        self.cq_resp_valid(1).fields(|pins| &mut pins.cq_resp_head, &[(95, 32, laddr)])
    }

    pub fn eq_req_ready(self, ready: u64) -> Self {
        self.pin(|pins| &mut pins.eq_req_ready, ready)
    }

    pub fn eq_resp_valid(self, valid: u64) -> Self {
        self.pin(|pins| &mut pins.eq_resp_valid, valid)
    }

    pub fn eq_address(self, laddr: u64) -> Self {
        self.eq_resp_valid(1).fields(|pins| &mut pins.eq_resp_head, &[(95, 32, laddr)])
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
