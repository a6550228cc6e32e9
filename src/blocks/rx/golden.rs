//! The golden model of `RxSystem`: the golden models of its four blocks, and the glue between them, written from
//! the specification, sections 5 to 7.

use super::Rx;
use super::descriptor::{Descriptor, Message, Request};
use super::parameters::{of_dll, of_recv, of_thread2};
use super::rtl::{Bits1, Bits2, Bits3, Bits5, Bits8, Bits32, Bits416, Bits488, Inputs, Outputs};
use super::rules::{
    self, CR1, CR2, CR3, CR4, CR5, EV1, EV2, EV3, EV4, EV5, EV6, FI1, FI2, FI3, PK1, PK2, PK3, R1,
    RQ1, RQ2, RQ3, RQ4, RQ5, RQ6,
};
use crate::blocks::dll::{self, Dll};
use crate::blocks::qp::{self, Qp};
use crate::blocks::recv::{self, Recv};
use crate::blocks::thread2::layout::{MrData, opcode, qp_state, status};
use crate::blocks::thread2::{self, Thread2};
use cosim_core::harness::{self, Block, Golden as _, Parameters, Rule, RuleSet};

/// Entries of the FIFO, and credits.
const PLACES: usize = 16;

/// Kinds of events for qp.
const FIRST_REQUEST: u64 = 0;
const FATAL: u64 = 3;

/// The ingress FIFO, the oldest descriptor first.
#[derive(Debug, Clone)]
struct Fifo {
    entries: [u32; PLACES],
    oldest: usize,
    len: usize,
}

impl Fifo {
    const EMPTY: Self = Self { entries: [0; PLACES], oldest: 0, len: 0 };

    #[inline]
    fn is_full(&self) -> bool {
        self.len == PLACES
    }

    #[inline]
    fn head(&self) -> Option<Bits32> {
        (self.len > 0).then(|| Bits32::new(u64::from(self.entries[self.oldest])))
    }

    #[inline]
    fn leave(&mut self) {
        self.oldest = (self.oldest + 1) % PLACES;
        self.len -= 1;
    }

    #[inline]
    fn enter(&mut self, descriptor: Bits32) {
        self.entries[(self.oldest + self.len) % PLACES] = descriptor.get() as u32;
        self.len += 1;
    }
}

/// The registers of the glue.
#[derive(Debug, Clone)]
struct TopRegisters {
    fifo: Fifo,
    credits_used: usize,
    /// The QP whose first request packet is to be told.
    established: Option<Bits8>,
    /// The QP whose length error is to be told.
    fatal: Option<Bits8>,
}

impl TopRegisters {
    const RESET: Self = Self { fifo: Fifo::EMPTY, credits_used: 0, established: None, fatal: None };

    #[inline]
    fn is_event_pending(&self) -> bool {
        self.established.is_some() || self.fatal.is_some()
    }

    #[inline]
    fn has_credit(&self) -> bool {
        self.credits_used < PLACES
    }
}

/// The model: its blocks and the glue.
#[derive(Debug, Clone)]
pub struct Golden {
    dll: dll::Golden,
    qp: qp::Golden,
    thread2: thread2::Golden,
    recv: recv::Golden,
    glue: TopRegisters,
}

/// What becomes of a request packet that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketOutcome {
    Taken = 0,
    Refused = 1,
    Dropped = 2,
}

/// The pins of a block in a cycle, and its evaluated cycle.
struct BlockCycle<B: Block> {
    inputs: B::Inputs,
    outputs: B::Outputs,
    cycle: <B::Golden as harness::Golden<B>>::Cycle,
}

impl<B: Block> BlockCycle<B> {
    #[inline]
    fn new(golden: &B::Golden, inputs: B::Inputs) -> Self {
        let cycle = golden.cycle(&inputs);
        let mut outputs = B::Outputs::default();
        golden.outputs(&inputs, &cycle, &mut outputs);
        Self { inputs, outputs, cycle }
    }

    #[inline]
    fn clock(&self, golden: &mut B::Golden) {
        golden.clock(&self.inputs, &self.cycle);
    }
}

/// An evaluated cycle: each block, and the fate of the head of the FIFO.
pub struct Cycle {
    dll: BlockCycle<Dll>,
    qp: BlockCycle<Qp>,
    thread2: BlockCycle<Thread2>,
    recv: BlockCycle<Recv>,
    head: Option<Descriptor>,
    /// A request packet leaves, with what becomes of it.
    fate: Option<(Request, PacketOutcome)>,
    message_taken: bool,
}

/// The contexts with another QP state, in bits 37:35.
#[inline]
fn with_state(contexts: &Bits416, state: Bits3) -> Bits416 {
    let mut words = *contexts.words();
    words[1] = words[1] & !(7 << 3) | (state.get() as u32) << 3;
    Bits416::from_words(words)
}

impl Golden {
    #[inline]
    fn dll(&self, inputs: &Inputs) -> BlockCycle<Dll> {
        let pins = dll::rtl::Inputs {
            rst: inputs.rst,
            a_tlp_valid: Bits1::from(inputs.a_tlp_valid.is_high() && self.glue.has_credit()),
            a_tlp_data: inputs.a_tlp_data,
            a_link_ready: inputs.a_link_ready,
            a_dllp_valid: inputs.a_dllp_valid,
            a_dllp_nak: inputs.a_dllp_nak,
            a_dllp_seq: inputs.a_dllp_seq,
            a_dllp_crc_ok: inputs.a_dllp_crc_ok,
            b_link_valid: inputs.b_link_valid,
            b_link_seq: inputs.b_link_seq,
            b_link_data: inputs.b_link_data,
            b_link_crc_ok: inputs.b_link_crc_ok,
            b_dllp_ready: inputs.b_dllp_ready,
            padding: [0; _],
        };
        BlockCycle::new(&self.dll, pins)
    }

    /// The pins of qp with a question, or without one.
    #[inline]
    fn qp(&self, inputs: &Inputs, asked: Option<Request>) -> BlockCycle<Qp> {
        let Request { consumes_wqe, error, qpn, .. } = asked.unwrap_or_default();
        let qpn = Bits8::new(u64::from(qpn));
        let (hw_valid, hw_qpn, hw_kind) = match (self.glue.established, self.glue.fatal) {
            (Some(qpn), _) => (Bits1::new(1), qpn, Bits2::new(FIRST_REQUEST)),
            (None, Some(qpn)) => (Bits1::new(1), qpn, Bits2::new(FATAL)),
            (None, None) => (inputs.qp_hw_valid, inputs.qp_hw_qpn, inputs.qp_hw_kind),
        };
        let pins = qp::rtl::Inputs {
            rst: inputs.rst,
            cmd_valid: inputs.qp_cmd_valid,
            cmd_qpn: inputs.qp_cmd_qpn,
            cmd_next: inputs.qp_cmd_next,
            cmd_service: inputs.qp_cmd_service,
            cmd_notify: inputs.qp_cmd_notify,
            hw_valid,
            hw_qpn,
            hw_kind,
            msg_valid: Bits1::from(asked.is_some()),
            msg_qpn: qpn,
            msg_consumes_wqe: Bits1::from(consumes_wqe),
            msg_error: Bits1::from(error),
            query_qpn: if asked.is_some() { qpn } else { inputs.qp_query_qpn },
            evt_ready: inputs.qp_evt_ready,
            padding: [0; _],
        };
        BlockCycle::new(&self.qp, pins)
    }

    /// The pins of thread2 with a context, or without one.
    #[inline]
    fn thread2(&self, inputs: &Inputs, offered: bool, state: Bits3) -> BlockCycle<Thread2> {
        let (head, data) = match offered {
            true => (with_state(&inputs.cxt_head, state), inputs.cxt_data),
            false => (Bits416::ZERO, Bits488::ZERO),
        };
        let pins = thread2::rtl::Inputs {
            rst: inputs.rst,
            fetch_cxt_egress_valid: Bits1::from(offered),
            fetch_cxt_egress_head: head,
            fetch_cxt_egress_data: data,
            fetch_cxt_egress_start: Bits1::from(offered),
            fetch_cxt_egress_last: Bits1::from(offered),
            fetch_mr_ingress_ready: inputs.t2_fetch_mr_ingress_ready,
            wqe_req_ready: inputs.t2_wqe_req_ready,
            wqe_resp_valid: inputs.t2_wqe_resp_valid,
            wqe_resp_head: inputs.t2_wqe_resp_head,
            wqe_resp_data: inputs.t2_wqe_resp_data,
            wqe_resp_start: inputs.t2_wqe_resp_start,
            wqe_resp_last: inputs.t2_wqe_resp_last,
            cache_offset_dout: inputs.t2_cache_offset_dout,
            cache_owned_dout: inputs.t2_cache_owned_dout,
            rq_offset_dout: inputs.t2_rq_offset_dout,
            cq_req_ready: inputs.t2_cq_req_ready,
            cq_resp_valid: inputs.t2_cq_resp_valid,
            cq_resp_head: inputs.t2_cq_resp_head,
            eq_req_ready: inputs.t2_eq_req_ready,
            eq_resp_valid: inputs.t2_eq_resp_valid,
            eq_resp_head: inputs.t2_eq_resp_head,
            padding: [0; _],
        };
        BlockCycle::new(&self.thread2, pins)
    }

    /// The pins of recv with a packet, or without one.
    #[inline]
    fn recv(&self, inputs: &Inputs, packet: Option<Message>) -> BlockCycle<Recv> {
        let Message { last, kind, handle } = packet.unwrap_or_default();
        let (len, msg_len) = match packet {
            Some(_) => (inputs.len_pkt, inputs.len_msg),
            None => Default::default(),
        };
        let pins = recv::rtl::Inputs {
            rst: inputs.rst,
            pkt_valid: Bits1::from(packet.is_some()),
            pkt_kind: Bits3::new(u64::from(kind)),
            pkt_id: Bits8::new(u64::from(handle)),
            pkt_len: len,
            pkt_msg_len: msg_len,
            pkt_last: Bits1::from(last),
            match_rsp: inputs.rv_match_rsp,
            match_found: inputs.rv_match_found,
            posted_done: inputs.rv_posted_done,
            pool_free: inputs.rv_pool_free,
            credit_ready: inputs.rv_credit_ready,
            temp_alloc_ok: inputs.rv_temp_alloc_ok,
            padding: [0; _],
        };
        BlockCycle::new(&self.recv, pins)
    }
}

impl Cycle {
    /// What the glue makes of the blocks' pins. No `..`: a port that the RTL gains or loses does not compile here.
    #[inline]
    fn outputs(&self, glue: &TopRegisters) -> Outputs {
        let BlockCycle { inputs: dll_in, outputs: dll, .. } = &self.dll;
        let BlockCycle { inputs: qp_in, outputs: qp, .. } = &self.qp;
        let BlockCycle { inputs: thread2_in, outputs: thread2, .. } = &self.thread2;
        let BlockCycle { inputs: recv_in, outputs: recv, .. } = &self.recv;
        let (request, fate) = match self.fate {
            Some((request, fate)) => (request, Some(fate)),
            None => (Request::default(), None),
        };
        let taken = fate == Some(PacketOutcome::Taken);
        let byte = |value: u8| Bits8::new(u64::from(value));
        Outputs {
            a_tlp_ready: Bits1::from(dll.a_tlp_ready.is_high() && glue.has_credit()),
            x_a_tlp_valid: dll_in.a_tlp_valid,
            x_a_tlp_ready: dll.a_tlp_ready,
            x_credits_used: Bits5::new(glue.credits_used as u64),
            a_link_valid: dll.a_link_valid,
            a_link_seq: dll.a_link_seq,
            a_link_data: dll.a_link_data,
            a_ackd_seq: dll.a_ackd_seq,
            a_next_seq: dll.a_next_seq,
            a_replay_num: dll.a_replay_num,
            a_retrain: dll.a_retrain,
            a_dl_error: dll.a_dl_error,
            b_dllp_valid: dll.b_dllp_valid,
            b_dllp_nak: dll.b_dllp_nak,
            b_dllp_seq: dll.b_dllp_seq,
            b_next_rcv_seq: dll.b_next_rcv_seq,
            b_nak_scheduled: dll.b_nak_scheduled,
            x_b_deliver_valid: dll.b_deliver_valid,
            x_b_deliver_data: dll.b_deliver_data,
            x_fifo_overflow: Bits1::from(dll.b_deliver_valid.is_high() && glue.fifo.is_full()),
            x_fifo_level: Bits5::new(glue.fifo.len as u64),
            x_fifo_head: glue.fifo.head().unwrap_or_default(),
            fetch_valid: Bits1::from(self.head.is_some()),
            fetch_request: Bits1::from(matches!(self.head, Some(Descriptor::Request(_)))),
            fetch_handle: byte(self.head.map_or(0, Descriptor::handle)),
            x_msg_valid: qp_in.msg_valid,
            x_msg_qpn: qp_in.msg_qpn,
            x_msg_consumes_wqe: qp_in.msg_consumes_wqe,
            x_msg_error: qp_in.msg_error,
            x_msg_accept: qp.msg_accept,
            x_msg_take_wqe: qp.msg_take_wqe,
            x_msg_ack: qp.msg_ack,
            x_msg_nak: qp.msg_nak,
            x_query_qpn: qp_in.query_qpn,
            x_hw_valid: qp_in.hw_valid,
            x_hw_qpn: if qp_in.hw_valid.is_high() { qp_in.hw_qpn } else { Bits8::new(0) },
            x_hw_kind: if qp_in.hw_valid.is_high() { qp_in.hw_kind } else { Bits2::new(0) },
            x_hw_ready: qp.hw_ready,
            qp_hw_ready: Bits1::from(qp.hw_ready.is_high() && !glue.is_event_pending()),
            qp_cmd_ready: qp.cmd_ready,
            qp_rsp_valid: qp.rsp_valid,
            qp_rsp_qpn: qp.rsp_qpn,
            qp_rsp_code: qp.rsp_code,
            qp_query_state: qp.query_state,
            qp_query_sq_post: qp.query_sq_post,
            qp_query_rq_post: qp.query_rq_post,
            qp_query_sq_run: qp.query_sq_run,
            qp_query_rq_run: qp.query_rq_run,
            qp_evt_valid: qp.evt_valid,
            qp_evt_qpn: qp.evt_qpn,
            qp_evt_code: qp.evt_code,
            x_cxt_valid: thread2_in.fetch_cxt_egress_valid,
            x_cxt_head: thread2_in.fetch_cxt_egress_head,
            x_cxt_data: thread2_in.fetch_cxt_egress_data,
            x_cxt_ready: thread2.fetch_cxt_egress_ready,
            t2_fetch_mr_ingress_valid: thread2.fetch_mr_ingress_valid,
            t2_fetch_mr_ingress_head: thread2.fetch_mr_ingress_head,
            t2_fetch_mr_ingress_data: thread2.fetch_mr_ingress_data,
            t2_fetch_mr_ingress_start: thread2.fetch_mr_ingress_start,
            t2_fetch_mr_ingress_last: thread2.fetch_mr_ingress_last,
            t2_wqe_req_valid: thread2.wqe_req_valid,
            t2_wqe_req_head: thread2.wqe_req_head,
            t2_wqe_req_start: thread2.wqe_req_start,
            t2_wqe_req_last: thread2.wqe_req_last,
            t2_wqe_resp_ready: thread2.wqe_resp_ready,
            t2_cache_offset_wen: thread2.cache_offset_wen,
            t2_cache_offset_addr: thread2.cache_offset_addr,
            t2_cache_offset_din: thread2.cache_offset_din,
            t2_cache_owned_wen: thread2.cache_owned_wen,
            t2_cache_owned_addr: thread2.cache_owned_addr,
            t2_cache_owned_din: thread2.cache_owned_din,
            t2_rq_offset_wen: thread2.rq_offset_wen,
            t2_rq_offset_addr: thread2.rq_offset_addr,
            t2_rq_offset_din: thread2.rq_offset_din,
            t2_cq_req_valid: thread2.cq_req_valid,
            t2_cq_req_head: thread2.cq_req_head,
            t2_cq_resp_ready: thread2.cq_resp_ready,
            t2_eq_req_valid: thread2.eq_req_valid,
            t2_eq_req_head: thread2.eq_req_head,
            t2_eq_resp_ready: thread2.eq_resp_ready,
            x_pkt_valid: recv_in.pkt_valid,
            x_pkt_kind: recv_in.pkt_kind,
            x_pkt_id: recv_in.pkt_id,
            x_pkt_len: recv_in.pkt_len,
            x_pkt_msg_len: recv_in.pkt_msg_len,
            x_pkt_last: recv_in.pkt_last,
            x_pkt_ready: recv.pkt_ready,
            rv_match_req: recv.match_req,
            rv_match_id: recv.match_id,
            rv_alloc_valid: recv.alloc_valid,
            rv_alloc_count: recv.alloc_count,
            rv_ring_level: recv.ring_level,
            rv_credit_valid: recv.credit_valid,
            rv_credit_count: recv.credit_count,
            rv_copy_valid: recv.copy_valid,
            rv_copy_id: recv.copy_id,
            rv_copy_len: recv.copy_len,
            rv_keep_valid: recv.keep_valid,
            rv_keep_id: recv.keep_id,
            rv_release_valid: recv.release_valid,
            rv_release_id: recv.release_id,
            rv_temp_alloc_valid: recv.temp_alloc_valid,
            rv_temp_alloc_len: recv.temp_alloc_len,
            rv_protocol_error: recv.protocol_error,
            rv_state: recv.state,
            req_valid: Bits1::from(fate.is_some()),
            req_fate: Bits2::new(fate.map_or(0, |fate| fate as u64)),
            req_qpn: byte(request.qpn),
            req_handle: byte(request.handle),
            req_ack: Bits1::from(taken && qp.msg_ack.is_high()),
            req_take_wqe: Bits1::from(taken && qp.msg_take_wqe.is_high()),
            padding: [0; _],
        }
    }

    /// The QP of a length error that thread2 tells at this edge.
    #[inline]
    fn length_error(&self) -> Option<Bits8> {
        let BlockCycle { inputs, outputs, .. } = &self.thread2;
        let moves =
            outputs.fetch_mr_ingress_valid.is_high() && inputs.fetch_mr_ingress_ready.is_high();
        if !moves {
            return None;
        }
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        let is_error =
            data.opcode.get() == opcode::GEN_CQE && data.status.get() == status::LOCAL_LENGTH_ERROR;
        is_error.then(|| Bits8::new(data.local_qpn.get() & 0xff))
    }
}

impl TopRegisters {
    /// The edge; the rules that applied.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        let mut fired = RuleSet::EMPTY;
        let mut fires = |rule: RuleSet, holds: bool| fired = fired.with(rule.only_if(holds));
        let pending = self.is_event_pending();
        let dll = &cycle.dll.outputs;
        let BlockCycle { inputs: qp_in, outputs: qp, .. } = &cycle.qp;
        let leaves = cycle.fate.is_some() || cycle.message_taken;

        // Request and message packets.
        let fate = cycle.fate.map(|(_, fate)| fate);
        match cycle.head {
            None => {}
            Some(Descriptor::Request(_)) => {
                let waits = fate.is_none();
                fires(RQ1, !inputs.cxt_valid.is_high());
                fires(RQ2, inputs.cxt_valid.is_high() && pending);
                fires(RQ3, qp_in.msg_valid.is_high() && waits);
                fires(RQ4, fate == Some(PacketOutcome::Taken));
                fires(RQ5, fate == Some(PacketOutcome::Refused));
                fires(RQ6, fate == Some(PacketOutcome::Dropped));
            }
            Some(Descriptor::Message(_)) => {
                fires(PK1, !inputs.len_valid.is_high());
                fires(PK2, inputs.len_valid.is_high() && !cycle.message_taken);
                fires(PK3, cycle.message_taken);
            }
        }

        // Credits.
        let credit = self.has_credit();
        let takes = inputs.a_tlp_valid.is_high() && dll.a_tlp_ready.is_high() && credit;
        fires(CR1, takes && !leaves);
        fires(CR2, takes && leaves);
        fires(CR3, !takes && leaves && self.credits_used > 0);
        fires(CR4, !takes && leaves && self.credits_used == 0);
        fires(CR5, inputs.a_tlp_valid.is_high() && dll.a_tlp_ready.is_high() && !credit);
        match (takes, leaves) {
            (true, false) => self.credits_used += 1,
            (false, true) => self.credits_used = self.credits_used.saturating_sub(1),
            (true, true) | (false, false) => {}
        }

        // The FIFO; full is judged before the edge.
        let (delivered, full) = (dll.b_deliver_valid.is_high(), self.fifo.is_full());
        fires(FI1, delivered && !full);
        fires(FI2, delivered && full);
        fires(FI3, leaves);
        if leaves {
            self.fifo.leave();
        }
        if delivered && !full {
            self.fifo.enter(dll.b_deliver_data);
        }

        // Events.
        let tells_first = self.established.is_some();
        let tells_fatal = self.fatal.is_some() && !tells_first;
        fires(EV3, tells_first);
        fires(EV4, tells_fatal);
        fires(EV5, !pending && inputs.qp_hw_valid.is_high());
        fires(EV6, pending && inputs.qp_hw_valid.is_high());
        if tells_first && qp.hw_ready.is_high() {
            self.established = None;
        }
        if tells_fatal && qp.hw_ready.is_high() {
            self.fatal = None;
        }
        if let Some((request, PacketOutcome::Taken | PacketOutcome::Refused)) = cycle.fate
            && qp.query_state.get() == qp_state::RTR
        {
            fires(EV1, true);
            self.established = Some(Bits8::new(u64::from(request.qpn)));
        }
        if let Some(qpn) = cycle.length_error() {
            fires(EV2, true);
            self.fatal = Some(qpn);
        }
        fired
    }
}

impl harness::Golden<Rx> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rules::unreachable(rule, parameters.fixes())
    }

    fn new(parameters: &Parameters) -> Self {
        Self {
            dll: dll::Golden::new(&of_dll(parameters)),
            qp: qp::Golden::new(&Parameters::of::<Qp>(0)),
            thread2: thread2::Golden::new(&of_thread2(parameters)),
            recv: recv::Golden::new(&of_recv(parameters)),
            glue: TopRegisters::RESET,
        }
    }

    type Cycle = Cycle;

    /// Section 5: each block once, in the order in which they depend on one another.
    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let head = self.glue.fifo.head().map(Descriptor::decode);
        let asked = match head {
            Some(Descriptor::Request(request)) => {
                let is_asked = inputs.cxt_valid.is_high() && !self.glue.is_event_pending();
                is_asked.then_some(request)
            }
            _ => None,
        };
        let packet = match head {
            Some(Descriptor::Message(message)) => inputs.len_valid.is_high().then_some(message),
            _ => None,
        };
        let qp = self.qp(inputs, asked);
        let answer = &qp.outputs;
        let offered = answer.msg_accept.is_high() && !answer.msg_nak.is_high();
        let thread2 = self.thread2(inputs, offered, answer.query_state);
        let recv = self.recv(inputs, packet);

        let fate = asked.and_then(|request| {
            let fate = match (answer.msg_accept.is_high(), answer.msg_nak.is_high()) {
                (false, false) => PacketOutcome::Dropped,
                (_, true) => PacketOutcome::Refused,
                (true, false) if thread2.outputs.fetch_cxt_egress_ready.is_high() => {
                    PacketOutcome::Taken
                }
                (true, false) => return None,
            };
            Some((request, fate))
        });
        let message_taken = packet.is_some() && recv.outputs.pkt_ready.is_high();
        Cycle { dll: self.dll(inputs), qp, thread2, recv, head, fate, message_taken }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        *outputs = match inputs.rst.is_high() {
            true => Outputs { a_ackd_seq: cycle.dll.outputs.a_ackd_seq, ..Outputs::default() },
            false => cycle.outputs(&self.glue),
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        cycle.dll.clock(&mut self.dll);
        cycle.qp.clock(&mut self.qp);
        cycle.thread2.clock(&mut self.thread2);
        cycle.recv.clock(&mut self.recv);
        if inputs.rst.is_high() {
            self.glue = TopRegisters::RESET;
            return R1;
        }
        self.glue.clock(inputs, cycle)
    }

    #[inline]
    fn state(&self) -> &'static str {
        // What the blocks inside are doing shows at their own boundaries.
        let head = self.glue.fifo.head().map(Descriptor::decode);
        match (self.glue.is_event_pending(), head) {
            (false, None) => "empty",
            (false, Some(Descriptor::Request(_))) => "request",
            (false, Some(Descriptor::Message(_))) => "message",
            (true, None) => "event",
            (true, Some(Descriptor::Request(_))) => "event+request",
            (true, Some(Descriptor::Message(_))) => "event+message",
        }
    }
}

#[cfg(test)]
mod tests;
