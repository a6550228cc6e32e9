//! The golden model of `ReqRecvCore_Thread_2`, written from the specification.
//!
//! Registers are those of the spec, "Registers and data path". The next state comes from the table
//! in [`rows`](super::rows); this file holds what each state drives and what each edge stores.

use super::Thread2;
use super::layout::{
    Context, DataUnit, Header, MrData, MrHead, NextUnit, QueueResponse, SLOT_BYTES, WqeRequest,
    mr_flag, opcode, queue_request, status,
};
use super::rows::{self, Effect, GuardInputs, ROWS, State};
use super::rtl::{Bits1, Bits7, Bits8, Bits24, Bits64, Bits224, Bits256, Bits576, Inputs, Outputs};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};
use cosim_core::value::Uint;

/// Slots of a cell of the WQE cache.
const CACHE_CELL_SLOTS: u64 = 256;
/// Bytes of a CQE and of an event.
const QUEUE_ENTRY_BYTES: u64 = 32;
const TAIL: u64 = 0xff;

/// The model's registers.
#[derive(Debug, Clone)]
pub struct Golden {
    fixes: u8,
    state: State,
    context: Context,
    header: Header,
    /// Bytes of the packet not yet placed.
    pkt_left: u32,
    /// Bytes of the WQE's units seen so far in this packet.
    parsed: u32,
    length_error: bool,
    next_wqe_addr: u64,
    next_wqe_size: u64,
    cur_wqe_size: u64,
    wqe_addr: u64,
    cq_laddr: u64,
    eq_laddr: u64,
    /// Bytes of the current message of each QP placed by earlier packets and units.
    msg_offset: [u32; 256],
}

/// The unit on offer, against what is left of packet and message.
struct Offer {
    unit: DataUnit,
    /// Bytes of the unit that earlier packets did not use.
    available: u64,
    /// Bytes of the unit that this packet uses.
    chunk: u64,
}

/// What UPDATE_RQ_s writes to the tables.
struct TableWrites {
    rq_offset: u64,
    cache_offset: u64,
    frees_cell: bool,
}

impl Golden {
    #[inline]
    fn fixed(&self, n: u32) -> bool {
        self.fixes & rows::fix(n) != 0
    }

    /// The tables' index of the packet's QP.
    #[inline]
    fn qp(&self) -> usize {
        (self.header.local_qpn.get() & 0xff) as usize
    }

    /// Spec, "Registers and data path": exact arithmetic on 32-bit registers.
    #[inline]
    fn offer(&self, inputs: &Inputs) -> Offer {
        let unit = DataUnit::decode(&inputs.wqe_resp_data);
        let end = u64::from(self.parsed) + unit.byte_cnt.get();
        let available = end.saturating_sub(u64::from(self.msg_offset[self.qp()]));
        Offer { unit, available, chunk: available.min(u64::from(self.pkt_left)) }
    }

    #[inline]
    fn table_writes(&self, inputs: &Inputs) -> TableWrites {
        let entry_log = self.context.rq_entry_sz_log.get();
        let legal = (6..=10).contains(&entry_log);
        let entry_bytes = if legal { 1 << entry_log } else { 0 };
        let aligned =
            if legal { self.cur_wqe_size.next_multiple_of(entry_bytes / SLOT_BYTES) } else { 0 };
        let rq_offset = inputs.rq_offset_dout.get();
        let next = rq_offset + aligned;
        let wraps = next * SLOT_BYTES + entry_bytes > self.context.rq_length.get();

        let cache_offset = inputs.cache_offset_dout.get();
        let (advance, release) = match self.next_wqe_addr.checked_sub(rq_offset) {
            None => (0, true),
            Some(advance) => {
                let end = cache_offset + advance + self.next_wqe_size;
                (advance, self.next_wqe_size == 0 || end > CACHE_CELL_SLOTS)
            }
        };
        TableWrites {
            rq_offset: if wraps { 0 } else { next },
            cache_offset: if release { 0 } else { cache_offset + advance },
            frees_cell: release && inputs.cache_owned_dout.get() == self.qp() as u64,
        }
    }

    #[inline]
    fn guard_inputs(&self, inputs: &Inputs, offer: Option<&Offer>) -> GuardInputs {
        GuardInputs {
            fixes: self.fixes,
            net_opcode: self.header.net_opcode.get(),
            service_type: self.header.service_type.get(),
            solicited: self.header.solicited.get() == 1,
            qp_state: self.context.qp_state.get(),
            length_error: self.length_error,
            cxt_valid: inputs.fetch_cxt_egress_valid.get() == 1,
            wqe_req_ready: inputs.wqe_req_ready.get() == 1,
            wqe_resp_valid: inputs.wqe_resp_valid.get() == 1,
            wqe_resp_last: inputs.wqe_resp_last.get() == 1,
            nothing_left: self.pkt_left == 0,
            nothing_available: offer.is_some_and(|offer| offer.available == 0),
            rest_fits: offer.is_some_and(|offer| offer.chunk == u64::from(self.pkt_left)),
            cq_req_ready: inputs.cq_req_ready.get() == 1,
            cq_resp_valid: inputs.cq_resp_valid.get() == 1,
            eq_req_ready: inputs.eq_req_ready.get() == 1,
            eq_resp_valid: inputs.eq_resp_valid.get() == 1,
            mr_ready: inputs.fetch_mr_ingress_ready.get() == 1,
        }
    }

    /// The MR request of a state; `None` if the state makes none.
    #[inline]
    fn mr_request(&self, inputs: &Inputs) -> Option<(MrHead, MrData)> {
        let Header { net_opcode, rkey, raddr, pkt_length, .. } = self.header;
        let context = &self.context;
        let absolute = |right| mr_flag::ABSOLUTE | right;
        let relative = mr_flag::RELATIVE | mr_flag::LOCAL_WRITE;
        let error = if self.length_error { status::LOCAL_LENGTH_ERROR } else { status::GOOD };
        let remote = |right| Request {
            flags: absolute(right),
            pd: context.qp_pd.get(),
            key: rkey.get(),
            address: raddr.get(),
            length: pkt_length.get(),
            opcode: net_opcode.get(),
            ..Request::default()
        };
        let request = match self.state {
            State::MR_FOR_SEND_s => {
                let Offer { unit, chunk, .. } = self.offer(inputs);
                let placed = u64::from(self.msg_offset[self.qp()]);
                Request {
                    bypass: unit.inline.get(),
                    flags: absolute(mr_flag::LOCAL_WRITE),
                    pd: context.qp_pd.get(),
                    key: unit.lkey.get(),
                    address: unit
                        .laddr
                        .get()
                        .wrapping_add(placed)
                        .wrapping_sub(u64::from(self.parsed)),
                    length: chunk,
                    opcode: net_opcode.get(),
                    tail: if chunk == u64::from(self.pkt_left) { TAIL } else { 0 },
                    ..Request::default()
                }
            }
            State::MR_FOR_WRITE_s => remote(mr_flag::REMOTE_WRITE),
            State::MR_FOR_READ_s => Request {
                bypass: u64::from(!self.fixed(4)),
                opcode: net_opcode.get() + 4,
                ..remote(mr_flag::REMOTE_READ)
            },
            State::MR_FOR_CQ_s => Request {
                flags: relative,
                pd: context.cq_pd.get(),
                key: context.cq_lkey.get(),
                address: self.cq_laddr,
                length: QUEUE_ENTRY_BYTES,
                opcode: opcode::GEN_CQE,
                wqe_addr: self.wqe_addr,
                net_opcode: net_opcode.get(),
                status: error,
                ..Request::default()
            },
            State::MR_FOR_EQ_s => Request {
                flags: relative,
                pd: context.eq_pd.get(),
                key: context.eq_lkey.get(),
                address: self.eq_laddr,
                length: QUEUE_ENTRY_BYTES,
                opcode: opcode::GEN_EVENT,
                ..Request::default()
            },
            State::GEN_ACK_s => Request {
                bypass: 1,
                opcode: opcode::ACKNOWLEDGE,
                status: error,
                ..Request::default()
            },
            _ => return None,
        };
        Some((request.head(&self.header), request.data(&self.header)))
    }

    /// What the row stores on the rising edge.
    #[inline]
    fn store(&mut self, inputs: &Inputs, effect: Effect, offer: Option<Offer>) {
        match effect {
            Effect::None => {}
            Effect::TakePacket => {
                self.context = Context::decode(&inputs.fetch_cxt_egress_head);
                self.header = Header::decode(&inputs.fetch_cxt_egress_data);
            }
            Effect::BeginPacket => {
                self.pkt_left = self.header.pkt_length.get() as u32;
                self.parsed = 0;
                self.length_error = false;
            }
            Effect::TakeNextUnit => {
                let unit = NextUnit::decode(&inputs.wqe_resp_data);
                self.next_wqe_addr = unit.next_wqe_addr.get();
                self.next_wqe_size = unit.next_wqe_size.get();
                self.cur_wqe_size = unit.cur_wqe_size.get();
                self.wqe_addr = inputs.rq_offset_dout.get();
            }
            Effect::SkipUnit | Effect::SkipUnitTooShort => {
                self.pass(offer);
                self.length_error |= effect == Effect::SkipUnitTooShort;
            }
            Effect::TakeUnit | Effect::TakeUnitTooShort => {
                let chunk = offer.as_ref().map_or(0, |offer| offer.chunk as u32);
                let qp = self.qp();
                self.pass(offer);
                self.pkt_left -= chunk;
                self.msg_offset[qp] = self.msg_offset[qp].wrapping_add(chunk);
                self.length_error |= effect == Effect::TakeUnitTooShort;
            }
            Effect::TakeCqAddress => {
                self.cq_laddr = QueueResponse::decode(&inputs.cq_resp_head).laddr.get();
            }
            Effect::TakeEqAddress => {
                self.eq_laddr = QueueResponse::decode(&inputs.eq_resp_head).laddr.get();
            }
            Effect::StepQueue => self.msg_offset[self.qp()] = 0,
        }
    }

    /// The unit on offer is consumed.
    #[inline]
    fn pass(&mut self, offer: Option<Offer>) {
        let bytes = offer.map_or(0, |offer| offer.unit.byte_cnt.get() as u32);
        self.parsed = self.parsed.wrapping_add(bytes);
    }
}

/// The varying parts of an MR request (spec, table "request").
#[derive(Debug, Clone, Copy)]
struct Request {
    bypass: u64,
    flags: u64,
    pd: u64,
    key: u64,
    address: u64,
    length: u64,
    opcode: u64,
    tail: u64,
    wqe_addr: u64,
    net_opcode: u64,
    status: u64,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            bypass: 0,
            flags: 0,
            pd: 0,
            key: 0,
            address: 0,
            length: 0,
            opcode: 0,
            tail: TAIL,
            wqe_addr: 0,
            net_opcode: 0,
            status: status::GOOD,
        }
    }
}

impl Request {
    #[inline]
    fn head(&self, header: &Header) -> MrHead {
        MrHead {
            local_qpn: Uint::new(header.local_qpn.get()),
            slot_count: Uint::new(1),
            bypass: Uint::new(self.bypass),
            flags: Uint::new(self.flags),
            pd: Uint::new(self.pd),
            key: Uint::new(self.key),
            address: Uint::new(self.address),
            length: Uint::new(self.length),
        }
    }

    #[inline]
    fn data(&self, header: &Header) -> MrData {
        MrData {
            local_qpn: header.local_qpn,
            tail: Uint::new(self.tail),
            remote_qpn: header.remote_qpn,
            opcode: Uint::new(self.opcode),
            service_type: header.service_type,
            immediate: header.immediate,
            pkt_length: header.pkt_length,
            pkt_start_addr: header.pkt_start_addr,
            wqe_addr: Uint::new(self.wqe_addr),
            net_opcode: Uint::new(self.net_opcode),
            status: Uint::new(self.status),
            sip: header.sip,
            dip: header.dip,
        }
    }
}

impl Golden {
    fn reset(fixes: u8) -> Self {
        Self {
            fixes,
            state: State::IDLE_s,
            context: Context::default(),
            header: Header::default(),
            pkt_left: 0,
            parsed: 0,
            length_error: false,
            next_wqe_addr: 0,
            next_wqe_size: 0,
            cur_wqe_size: 0,
            wqe_addr: 0,
            cq_laddr: 0,
            eq_laddr: 0,
            msg_offset: [0; 256],
        }
    }
}

impl harness::Golden<Thread2> for Golden {
    const RULES: &'static [Rule] = &rows::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rows::unreachable(rule, parameters.fixes())
    }

    fn new(parameters: &Parameters) -> Self {
        Self::reset(parameters.fixes())
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, outputs: &mut Outputs) {
        if inputs.rst.get() == 1 {
            *outputs = Outputs::default();
            return;
        }
        let is = |state| self.state == state;
        let bit = |high: bool| Bits1::new(u64::from(high));
        let Context { rq_entry_sz_log, rq_lkey, rq_length, qp_pd, rcv_cqn, cq_log_size, .. } =
            self.context;

        let mr = self.mr_request(inputs);
        let mr_valid = bit(mr.is_some());
        let (mr_head, mr_data) = mr.map_or_else(Default::default, |(head, data)| {
            (head.encode(Bits224::ZERO), data.encode(Bits256::ZERO))
        });

        let wqe_req = is(State::WQE_REQ_s);
        let wqe_req_head = if wqe_req {
            let local_qpn = self.header.local_qpn;
            WqeRequest { local_qpn, rq_entry_sz_log, rq_lkey, rq_length, qp_pd }
                .encode(Bits576::ZERO)
        } else {
            Bits576::ZERO
        };
        let wqe_resp_ready = match self.state {
            State::NEXT_UNIT_s => true,
            State::DATA_UNIT_s => {
                rows::is_write_with_imm(self.header.net_opcode.get())
                    || self.pkt_left == 0
                    || self.offer(inputs).available == 0
            }
            State::MR_FOR_SEND_s => inputs.fetch_mr_ingress_ready.get() == 1,
            _ => false,
        };
        let cq_req = is(State::CQ_REQ_s);
        let eq_req = is(State::EQ_REQ_s);
        let request = |valid, number: u64, log_size: u64| {
            if valid { queue_request(number, log_size) } else { Bits64::new(0) }
        };

        let address = if is(State::IDLE_s) { 0 } else { self.qp() as u64 };
        let update = is(State::UPDATE_RQ_s);
        let writes = update.then(|| self.table_writes(inputs));
        let frees_cell = writes.as_ref().is_some_and(|writes| writes.frees_cell);

        *outputs = Outputs {
            fetch_cxt_egress_ready: bit(is(State::IDLE_s)),
            fetch_mr_ingress_valid: mr_valid,
            fetch_mr_ingress_head: mr_head,
            fetch_mr_ingress_data: mr_data,
            fetch_mr_ingress_start: mr_valid,
            fetch_mr_ingress_last: mr_valid,
            wqe_req_valid: bit(wqe_req),
            wqe_req_head,
            wqe_req_start: bit(wqe_req),
            wqe_req_last: bit(wqe_req),
            wqe_resp_ready: bit(wqe_resp_ready),
            cache_offset_wen: bit(update),
            cache_offset_addr: Bits8::new(address),
            cache_offset_din: Bits8::new(writes.as_ref().map_or(0, |writes| writes.cache_offset)),
            cache_owned_wen: bit(frees_cell),
            cache_owned_addr: Bits7::new(address),
            // 0 means free: this module only releases cells (D4).
            cache_owned_din: Bits8::new(0),
            rq_offset_wen: bit(update),
            rq_offset_addr: Bits8::new(address),
            rq_offset_din: Bits24::new(writes.as_ref().map_or(0, |writes| writes.rq_offset)),
            cq_req_valid: bit(cq_req),
            cq_req_head: request(cq_req, rcv_cqn.get(), cq_log_size.get()),
            cq_resp_ready: bit(is(State::CQ_RESP_s)),
            eq_req_valid: bit(eq_req),
            eq_req_head: request(
                eq_req,
                self.context.cq_comp_eqn.get(),
                self.context.eq_log_size.get(),
            ),
            eq_resp_ready: bit(is(State::EQ_RESP_s)),
            padding: Default::default(),
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) -> RuleSet {
        if inputs.rst.get() == 1 {
            *self = Self::reset(self.fixes);
            return RuleSet::EMPTY;
        }
        let looks_at_units = matches!(self.state, State::DATA_UNIT_s | State::MR_FOR_SEND_s);
        let offer = looks_at_units.then(|| self.offer(inputs));
        let index = rows::select(self.state, &self.guard_inputs(inputs, offer.as_ref()));
        let row = &ROWS[index];
        self.store(inputs, row.effect, offer);
        self.state = row.to;
        RuleSet::one(index)
    }

    #[inline]
    fn state(&self) -> &'static str {
        self.state.name()
    }
}
