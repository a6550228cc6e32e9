//! The golden model of `ReqRecvCore_Thread_2`, written from the specification.
//!
//! Registers are those of the spec, "Registers and data path". The table in [`rules`](super::rules)
//! determines the next state. This file has the outputs of each state and the register updates of
//! each edge.
//!
//! Outputs that depend on registers only are computed once, when registers change, and copied in
//! each cycle. Three states add outputs that depend on inputs.

mod requests;

use self::requests::Request;
use super::rtl::{Bits1, Bits7, Bits8, Bits24, Bits224, Bits256, Bits576, Inputs, Outputs};
use super::rules::layout::{
    Context, DataUnit, Header, MrData, MrHead, NextUnit, QueueResponse, SLOT_BYTES, WqeRequest,
    mr_flag, opcode, queue_request, status,
};
use super::rules::{self, CycleInputs, Effect, PacketConditions, ROWS, State};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};
use cosim_core::value::Uint;

/// Number of slots in a cell of the WQE cache.
const CACHE_CELL_SLOTS: u64 = 256;
/// Bytes of a CQE and of an event.
const QUEUE_ENTRY_BYTES: u64 = 32;
const TAIL: u64 = 0xff;

/// The model's registers.
#[derive(Debug, Clone)]
pub struct Golden {
    fixes: u8,
    pub(super) state: State,
    pub(super) context: Context,
    pub(super) header: Header,
    /// Bytes of the packet that are not placed yet.
    pub(super) pkt_left: u32,
    /// Bytes of the WQE's units parsed so far for this packet.
    parsed: u32,
    length_error: bool,
    /// The NextUnit of the current WQE.
    pub(super) next: NextUnit,
    wqe_addr: u64,
    cq_laddr: u64,
    eq_laddr: u64,
    /// Bytes of each QP's current message that earlier packets and units placed.
    pub(super) msg_offset: [u32; 256],
    /// The guards' conditions on `header`, `context` and `fixes`.
    packet: PacketConditions,
}

/// An evaluated cycle.
pub struct Cycle {
    pub(super) offer: Offer,
    /// The row that applies. A test shows that there always is one.
    row: Option<usize>,
    /// The table writes of UPDATE_RQ_s, in that state.
    writes: Option<TableWrites>,
}

/// The unit on offer, compared to the rest of packet and message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    pub(super) unit: DataUnit,
    /// Bytes of the unit that earlier packets did not use.
    pub(super) available: u64,
    /// Bytes of the unit that this packet uses.
    chunk: u64,
}

/// The table writes of UPDATE_RQ_s.
pub(super) struct TableWrites {
    rq_offset: u64,
    cache_offset: u64,
    frees_cell: bool,
    /// End in bytes of the entry that follows in the RQ.
    pub(super) next_end: u64,
    /// End in slots of the next WQE in the cache cell, unless it is before this one.
    pub(super) cell_end: Option<u64>,
    /// The RQ wraps around.
    pub(super) wraps: bool,
    /// The update of the cache cell.
    pub(super) cell: Cell,
}

/// The update of the cache cell in UPDATE_RQ_s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// The next WQE is in it: kept.
    Kept,
    /// The next WQE is before this one: released.
    Behind,
    /// There is no next WQE: released.
    NoNext,
    /// The next WQE ends beyond it: released.
    Beyond,
}

impl Golden {
    fn reset(fixes: u8) -> Self {
        let (context, header) = (Context::default(), Header::default());
        Self {
            fixes,
            state: State::IDLE_s,
            context,
            header,
            pkt_left: 0,
            parsed: 0,
            length_error: false,
            next: NextUnit::default(),
            wqe_addr: 0,
            cq_laddr: 0,
            eq_laddr: 0,
            msg_offset: [0; 256],
            packet: PacketConditions::from_packet(fixes, &header, &context),
        }
    }

    #[inline]
    fn fixed(&self, n: u32) -> bool {
        self.fixes & rules::fix(n) != 0
    }

    /// The tables' index of the packet's QP.
    #[inline]
    pub(super) fn qp(&self) -> usize {
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
    pub(super) fn table_writes(&self, inputs: &Inputs) -> TableWrites {
        let entry_log = self.context.rq_entry_sz_log.get();
        let legal = (6..=10).contains(&entry_log);
        let entry_bytes = if legal { 1 << entry_log } else { 0 };
        let NextUnit { next_wqe_addr, next_wqe_size, cur_wqe_size, .. } = self.next;
        let size = cur_wqe_size.get();
        let aligned = if legal { size.next_multiple_of(entry_bytes / SLOT_BYTES) } else { 0 };
        let rq_offset = inputs.rq_offset_dout.get();
        let next = rq_offset + aligned;
        let next_end = next * SLOT_BYTES + entry_bytes;
        let wraps = next_end > self.context.rq_length.get();

        let cache_offset = inputs.cache_offset_dout.get();
        let (advance, cell_end, cell) = match next_wqe_addr.get().checked_sub(rq_offset) {
            None => (0, None, Cell::Behind),
            Some(advance) => {
                let end = cache_offset + advance + next_wqe_size.get();
                let cell = match () {
                    () if next_wqe_size.get() == 0 => Cell::NoNext,
                    () if end > CACHE_CELL_SLOTS => Cell::Beyond,
                    () => Cell::Kept,
                };
                (advance, Some(end), cell)
            }
        };
        let release = cell != Cell::Kept;
        TableWrites {
            rq_offset: if wraps { 0 } else { next },
            cache_offset: if release { 0 } else { cache_offset + advance },
            frees_cell: release && inputs.cache_owned_dout.get() == self.qp() as u64,
            next_end,
            cell_end,
            wraps,
            cell,
        }
    }

    #[inline]
    fn cycle_inputs(&self, inputs: &Inputs, offer: &Offer) -> CycleInputs {
        CycleInputs {
            length_error: self.length_error,
            cxt_valid: inputs.fetch_cxt_egress_valid.is_high(),
            wqe_req_ready: inputs.wqe_req_ready.is_high(),
            wqe_resp_valid: inputs.wqe_resp_valid.is_high(),
            wqe_resp_last: inputs.wqe_resp_last.is_high(),
            nothing_left: self.pkt_left == 0,
            nothing_available: offer.available == 0,
            rest_fits: offer.chunk == u64::from(self.pkt_left),
            cq_req_ready: inputs.cq_req_ready.is_high(),
            cq_resp_valid: inputs.cq_resp_valid.is_high(),
            eq_req_ready: inputs.eq_req_ready.is_high(),
            eq_resp_valid: inputs.eq_resp_valid.is_high(),
            mr_ready: inputs.fetch_mr_ingress_ready.is_high(),
        }
    }

    /// The MR request for a piece of a SEND, for the unit on offer.
    #[inline]
    fn send_request(&self, offer: &Offer) -> Request {
        let &Offer { ref unit, chunk, .. } = offer;
        let placed = u64::from(self.msg_offset[self.qp()]);
        let address = unit.laddr.get().wrapping_add(placed).wrapping_sub(u64::from(self.parsed));
        Request {
            bypass: unit.inline.get(),
            flags: mr_flag::ABSOLUTE | mr_flag::LOCAL_WRITE,
            pd: self.context.qp_pd.get(),
            key: unit.lkey.get(),
            address,
            length: chunk,
            opcode: self.header.net_opcode.get(),
            tail: if chunk == u64::from(self.pkt_left) { TAIL } else { 0 },
            ..Request::default()
        }
    }

    /// The MR request of a state that depends on registers only; `None` if there is none.
    #[inline]
    fn mr_request(&self) -> Option<Request> {
        let Header { net_opcode, rkey, raddr, pkt_length, .. } = self.header;
        let context = &self.context;
        let relative = mr_flag::RELATIVE | mr_flag::LOCAL_WRITE;
        let error = if self.length_error { status::LOCAL_LENGTH_ERROR } else { status::GOOD };
        let remote = |right| Request {
            flags: mr_flag::ABSOLUTE | right,
            pd: context.qp_pd.get(),
            key: rkey.get(),
            address: raddr.get(),
            length: pkt_length.get(),
            opcode: net_opcode.get(),
            tail: TAIL,
            ..Request::default()
        };
        Some(match self.state {
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
                tail: TAIL,
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
                tail: TAIL,
                ..Request::default()
            },
            State::GEN_ACK_s => Request {
                bypass: 1,
                opcode: opcode::ACKNOWLEDGE,
                tail: TAIL,
                status: error,
                ..Request::default()
            },
            _ => return None,
        })
    }

    /// Computes the outputs that depend on registers only.
    #[inline]
    fn drive(&self, outputs: &mut Outputs) {
        let on = Bits1::new(1);
        let address = self.qp() as u64;
        *outputs = Outputs::default();
        if self.state != State::IDLE_s {
            outputs.cache_offset_addr = Bits8::new(address);
            outputs.cache_owned_addr = Bits7::new(address);
            outputs.rq_offset_addr = Bits8::new(address);
        }
        match self.state {
            State::IDLE_s => outputs.fetch_cxt_egress_ready = on,
            State::WQE_REQ_s => {
                let Context { rq_entry_sz_log, rq_lkey, rq_length, qp_pd, .. } = self.context;
                let local_qpn = self.header.local_qpn;
                let request = WqeRequest { local_qpn, rq_entry_sz_log, rq_lkey, rq_length, qp_pd };
                outputs.wqe_req_valid = on;
                outputs.wqe_req_start = on;
                outputs.wqe_req_last = on;
                outputs.wqe_req_head = request.encode(Bits576::ZERO);
            }
            State::NEXT_UNIT_s => outputs.wqe_resp_ready = on,
            State::CQ_REQ_s => {
                let Context { rcv_cqn, cq_log_size, .. } = self.context;
                outputs.cq_req_valid = on;
                outputs.cq_req_head = queue_request(rcv_cqn.get(), cq_log_size.get());
            }
            State::CQ_RESP_s => outputs.cq_resp_ready = on,
            State::EQ_REQ_s => {
                let Context { cq_comp_eqn, eq_log_size, .. } = self.context;
                outputs.eq_req_valid = on;
                outputs.eq_req_head = queue_request(cq_comp_eqn.get(), eq_log_size.get());
            }
            State::EQ_RESP_s => outputs.eq_resp_ready = on,
            State::UPDATE_RQ_s => {
                outputs.cache_offset_wen = on;
                outputs.rq_offset_wen = on;
            }
            _ => {
                if let Some(request) = self.mr_request() {
                    request.write_outputs(&self.header, outputs);
                }
            }
        }
    }

    /// Applies the register updates of a row.
    #[inline]
    fn store(&mut self, inputs: &Inputs, effect: Effect, offer: &Offer) {
        match effect {
            Effect::None => {}
            Effect::TakePacket => {
                self.context = Context::decode(&inputs.fetch_cxt_egress_head);
                self.header = Header::decode(&inputs.fetch_cxt_egress_data);
                self.packet =
                    PacketConditions::from_packet(self.fixes, &self.header, &self.context);
            }
            Effect::BeginPacket => {
                self.pkt_left = self.header.pkt_length.get() as u32;
                self.parsed = 0;
                self.length_error = false;
            }
            Effect::TakeNextUnit => {
                self.next = NextUnit::decode(&inputs.wqe_resp_data);
                self.wqe_addr = inputs.rq_offset_dout.get();
            }
            Effect::SkipUnit | Effect::SkipUnitTooShort => {
                self.pass(offer);
                self.length_error |= effect == Effect::SkipUnitTooShort;
            }
            Effect::TakeUnit | Effect::TakeUnitTooShort => {
                let chunk = offer.chunk as u32;
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

    /// Consumes the unit on offer.
    #[inline]
    fn pass(&mut self, offer: &Offer) {
        self.parsed = self.parsed.wrapping_add(offer.unit.byte_cnt.get() as u32);
    }
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rules::unreachable(rule, parameters.fixes())
    }

    fn new(parameters: &Parameters) -> Self {
        Self::reset(parameters.fixes())
    }

    type Cycle = Cycle;

    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let offer = self.offer(inputs);
        let row = rules::select(self.state, self.packet, &self.cycle_inputs(inputs, &offer));
        let writes = (self.state == State::UPDATE_RQ_s).then(|| self.table_writes(inputs));
        Cycle { offer, row, writes }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        if inputs.rst.is_high() {
            *outputs = Outputs::default();
            return;
        }
        self.drive(outputs);
        match self.state {
            State::DATA_UNIT_s => {
                let passes = rules::is_in(rules::WRITES_WITH_IMM, self.header.net_opcode.get())
                    || self.pkt_left == 0
                    || cycle.offer.available == 0;
                outputs.wqe_resp_ready = Bits1::from(passes);
            }
            State::MR_FOR_SEND_s => {
                self.send_request(&cycle.offer).write_outputs(&self.header, outputs);
                outputs.wqe_resp_ready = inputs.fetch_mr_ingress_ready;
            }
            _ => {}
        }
        if let Some(writes) = &cycle.writes {
            outputs.cache_offset_din = Bits8::new(writes.cache_offset);
            // 0 means free: this module only releases cells (D4).
            outputs.cache_owned_wen = Bits1::from(writes.frees_cell);
            outputs.rq_offset_din = Bits24::new(writes.rq_offset);
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        if inputs.rst.is_high() {
            *self = Self::reset(self.fixes);
            return RuleSet::EMPTY;
        }
        let Some(index) = cycle.row else { return RuleSet::EMPTY };
        let row = &ROWS[index];
        if row.to != self.state || row.effect != Effect::None {
            self.store(inputs, row.effect, &cycle.offer);
            self.state = row.to;
        }
        RuleSet::from_rule(index)
    }

    #[inline]
    fn state(&self) -> &'static str {
        self.state.name()
    }
}

#[cfg(test)]
mod tests;
