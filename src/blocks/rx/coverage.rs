//! The functional coverage of `rx` in addition to the rules of its top-level logic: the transfers
//! at inner boundaries. The coverage inside a block is counted in the regression of that block.

use super::Rx;
use super::rtl::{Inputs, Outputs};
use super::rules::{CR1, CR2, CR3, CR5, EV1, EV2, EV3, EV4, EV5, EV6, FI1, FI3, PK3, RQ2, RQ4};
use crate::blocks::qp::coverage::one_or_both;
use crate::blocks::qp::rules::State;
use crate::blocks::recv::coverage::KIND;
use crate::blocks::thread2::rules::layout::{Header, qp_state};
use cosim_core::harness::{
    self, Axis, Bins, CORNERS, Covergroup, Document, Edge, Parameters, RuleSet, class, corner_class,
};

const STATE: Axis = Axis::new("QP", State::VALUES);
/// A number by its place in the range of its field.
const NUMBER: Axis = Axis::new("number", CORNERS);

cosim_core::coverage! {
    axis USED = "credits used" {
        "0": "none", "1 to 14": "some", "15": "all but one", "16": "all",
    }
    axis CREDIT = "credit" {
        "taken": "CR1: one more is used", "passed on": "CR2: one is used and one comes back",
        "back": "CR3: one comes back", "waited for": "CR5: a descriptor waits",
    }
    axis LEVEL = "entries" { "0": "none", "1 to 14": "some", "15": "all but one", "16": "all" }
    axis MOVE = "move" { "in": "FI1", "out": "FI3", "both": "FI1 and FI3" }
    axis ERROR = "packet" { "good": "it can be executed", "bad": "it cannot be executed" }
    axis WQE = "WQE" { "no WQE": "it takes none", "WQE": "it is the packet of its message that takes it" }
    axis FATE = "fate" {
        "taken": "RQ4: thread2 has it", "refused": "RQ5: a Nak", "dropped": "RQ6",
    }
    axis OPCODE = "opcode" {
        "SEND_FIRST": "first packet of a SEND", "SEND_MIDDLE": "middle packet of a SEND",
        "SEND_LAST": "last packet of a SEND", "SEND_LAST_WITH_IMM": "the same, with immediate",
        "SEND_ONLY": "SEND of one packet", "SEND_ONLY_WITH_IMM": "the same, with immediate",
        "WRITE_FIRST": "first packet of an RDMA WRITE", "WRITE_MIDDLE": "middle packet of an RDMA WRITE",
        "WRITE_LAST": "last packet of an RDMA WRITE", "WRITE_LAST_WITH_IMM": "the same, with immediate",
        "WRITE_ONLY": "RDMA WRITE of one packet", "WRITE_ONLY_WITH_IMM": "the same, with immediate",
        "READ_FIRST": "first packet of an RDMA READ request",
        "READ_MIDDLE": "middle packet of an RDMA READ request",
        "READ_LAST": "last packet of an RDMA READ request",
        "READ_ONLY": "RDMA READ request of one packet", "others": "what is no request",
    }
    axis FIRST = "QP" { "RTR": "EV1: its first packet", "other": "it is past RTR" }
    axis TAKER = "recv" {
        "DETERMINE_CP_TYPE": "it takes what it takes for a CP",
        "PROC_UNEXP_DP": "it takes what follows an unexpected CP",
        "RECV_POSTED_DATA": "it takes DPs of a posted message",
    }
    axis EVENT = "event" {
        "first request": "EV3: a QP's first request packet", "length error": "EV4: of thread2",
        "outside 0": "EV5: the first request packet", "outside 1": "EV5: the send queue has drained",
        "outside 2": "EV5: a send error", "outside 3": "EV5: a fatal error",
    }
    axis HELD = "waits" {
        "request": "RQ2: a request packet", "event": "EV6: an event from outside",
    }
    axis PENDING = "pending" {
        "first request": "the first request packet alone", "length error": "the length error alone",
        "both": "both",
    }
    axis TOGETHER = "at one edge" {
        "leaves, command": "a request packet leaves, and a command for its QP is taken",
        "EV1, event": "EV1, and an event from outside is taken",
        "EV1, event for it": "EV1, and an event from outside for the same QP is taken",
        "EV2, event": "EV2, and an event from outside is taken",
        "command for thread2's QP": "a command is taken for the QP whose packet thread2 has",
    }
    axis MESSAGE_FIELD = "field" {
        "handle": "the handle, from the descriptor", "bytes": "len_pkt", "message": "len_msg",
    }
    axis FLIGHT = "holds" {
        "nothing": "the FIFO is empty and no event is owed", "descriptors": "the FIFO is not empty",
        "event": "an event is owed",
    }

    groups GROUPS;
    CREDITS = "credits": "boundary 1: credits used before the edge, change of one credit" [USED, CREDIT]
        unless |at, _| no_such_credit(at[0], at[1]);
    FIFO = "fifo": "boundary 4: entries before the edge, what moves" [LEVEL, MOVE]
        unless |at, _| no_such_move(at[0], at[1]);
    ANSWERS = "answers": "boundaries 6, 7 and 12: request packets that leave, state of their QP, fate"
        [STATE, ERROR, WQE, FATE]
        unless |at, _| no_such_answer(at[0], at[1] == 1, at[3]);
    EVENTS = "events": "boundary 6: events that qp takes" [EVENT]
        unless |at, parameters| no_length_error(at[0] == 1, parameters);
    HOLDUPS = "hold-ups": "boundary 6: what waits while events for qp are pending" [PENDING, HELD]
        unless |at, parameters| no_length_error(at[0] > 0, parameters);
    REQUESTS = "requests": "boundary 8: request packets that thread2 takes" [OPCODE, FIRST];
    MESSAGES = "messages": "boundary 10: message packets that recv takes: kind, state" [KIND, TAKER]
        unless |at, _| (at[1] == 2 && at[0] != 6).then_some("recv: RECV_POSTED_DATA takes DPs alone");
    EDGES = "edges": "several things at one edge" [TOGETHER]
        unless |at, parameters| no_length_error(at[0] == 3, parameters);
    RESETS = "resets": "resets, by the state they interrupt" [FLIGHT];
    QPNS = "qpns": "boundary 6: request packets that leave: fate, the QP's number" [FATE, NUMBER];
    LENGTHS = "lengths": "boundary 10: message packets that recv takes: their numbers"
        [MESSAGE_FIELD, NUMBER];
}

/// Section 7: impossible outcomes of a credit.
fn no_such_credit(used: usize, credit: usize) -> Option<&'static str> {
    match (used, credit) {
        (0, 1 | 2) => Some("CR4: only descriptors that A took come out of B"),
        (3, 0 | 1) => Some("CR5: there is no credit"),
        (0..=2, 3) => Some("CR5: there is a credit"),
        _ => None,
    }
}

/// Section 7: impossible moves at a level of the FIFO.
fn no_such_move(level: usize, moves: usize) -> Option<&'static str> {
    match (level, moves) {
        (0, 1 | 2) => Some("FI3: there is no head"),
        (3, 0 | 2) => Some("FI2: there are no more credits than entries"),
        _ => None,
    }
}

/// Section 7 of qp's specification: impossible answers.
fn no_such_answer(state: usize, is_bad: bool, fate: usize) -> Option<&'static str> {
    const SQE: usize = qp_state::SQE as usize;
    match (state, fate) {
        (0 | 1 | 6, 0 | 1) => Some("qp: in RESET, INIT and ERR a packet is dropped"),
        (2..=5, 2) => Some("qp: in RTR, RTS, SQD and SQE no packet is dropped"),
        (2..=5, 1) if !is_bad => Some("qp: what can be executed is taken"),
        (SQE, 1) => Some("qp, H5: SQE is for unreliable services, which send no Nak"),
        _ => None,
    }
}

/// A reason if the bin needs a length error and there is none.
fn no_length_error(needs_one: bool, parameters: &Parameters) -> Option<&'static str> {
    let without = needs_one && parameters.fixes() & 1 << 5 == 0;
    without.then_some("without F5 of thread2 there is no length error")
}

#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// The QP of the last packet that thread2 accepted.
    last_taken: u64,
    /// Pending events for qp: first request packet, length error.
    owed: [bool; 2],
    /// The FIFO is not empty.
    holds: bool,
    in_reset: bool,
}

/// The position of a level of 0 to 16 on its axis.
#[inline]
fn level(number: u64) -> usize {
    class(number, [1, 15, 16])
}

/// The states of recv that accept packets, by position on their axis.
const TAKERS: [u64; 3] = [1, 5, 6];

impl Coverage {
    /// Counts boundaries 1 and 4.
    #[inline]
    fn count_link(rules: RuleSet, outputs: &Outputs, bins: &mut Bins<'_>) {
        if let Some(credit) = [CR1, CR2, CR3, CR5].iter().position(|rule| rules.contains_any(*rule))
        {
            bins.record(CREDITS.bin([level(outputs.x_credits_used.get()), credit]));
        }
        let entries = outputs.x_fifo_level.get();
        if let Some(moves) = one_or_both(rules.contains_any(FI1), rules.contains_any(FI3)) {
            bins.record(FIFO.bin([level(entries), moves]));
        }
    }

    /// Counts the head of the FIFO and its outcome.
    #[inline]
    fn count_head(rules: RuleSet, outputs: &Outputs, bins: &mut Bins<'_>) {
        if rules.contains_any(PK3) {
            let kind = outputs.x_pkt_kind.get() as usize;
            if let Some(taker) = TAKERS.iter().position(|state| *state == outputs.rv_state.get()) {
                bins.record(MESSAGES.bin([kind, taker]));
            }
            let numbers = [
                corner_class(outputs.x_pkt_id.get(), 0xff),
                corner_class(outputs.x_pkt_len.get(), 0xffff),
                corner_class(outputs.x_pkt_msg_len.get(), 0xffff_ffff),
            ];
            for (field, number) in numbers.into_iter().enumerate() {
                bins.record(LENGTHS.bin([field, number]));
            }
        }
        if outputs.req_valid.is_high() {
            let state = outputs.qp_query_state.get() as usize;
            let [error, wqe] = [outputs.x_msg_error, outputs.x_msg_consumes_wqe];
            let fate = outputs.req_fate.get() as usize;
            bins.record(ANSWERS.bin([state, error.get() as usize, wqe.get() as usize, fate]));
            bins.record(QPNS.bin([fate, corner_class(outputs.req_qpn.get(), 0xff)]));
        }
        if rules.contains_any(RQ4) {
            let opcode = Header::decode(&outputs.x_cxt_data).net_opcode.get().min(16) as usize;
            bins.record(REQUESTS.bin([opcode, usize::from(!rules.contains_any(EV1))]));
        }
    }

    /// Boundary 6: counts events that are pending or sent to qp.
    #[inline]
    fn count_events(&mut self, rules: RuleSet, outputs: &Outputs, bins: &mut Bins<'_>) {
        if let Some(pending) = one_or_both(self.owed[0], self.owed[1]) {
            for (held, rule) in [RQ2, EV6].iter().enumerate() {
                if rules.contains_any(*rule) {
                    bins.record(HOLDUPS.bin([pending, held]));
                }
            }
        }
        let is_taken = outputs.x_hw_ready.is_high();
        if is_taken && rules.contains_any(EV3.with(EV4).with(EV5)) {
            let outside = 2 + outputs.x_hw_kind.get() as usize;
            let event = [EV3, EV4].iter().position(|rule| rules.contains_any(*rule));
            bins.record(EVENTS.bin([event.unwrap_or(outside)]));
        }
        self.owed[0] = rules.contains_any(EV1) || self.owed[0] && !is_taken;
        self.owed[1] =
            rules.contains_any(EV2) || self.owed[1] && !(is_taken && rules.contains_any(EV4));
    }

    /// Counts coincidences at one edge.
    #[inline]
    fn count_edges(&self, rules: RuleSet, inputs: &Inputs, outputs: &Outputs, bins: &mut Bins<'_>) {
        if inputs.qp_cmd_valid.is_high() && outputs.qp_cmd_ready.is_high() {
            let qpn = inputs.qp_cmd_qpn.get();
            if outputs.req_valid.is_high() && outputs.req_qpn.get() == qpn {
                bins.record(EDGES.bin([0]));
            }
            if !outputs.x_cxt_ready.is_high() && self.last_taken == qpn {
                bins.record(EDGES.bin([4]));
            }
        }
        if rules.contains_any(EV5) && outputs.x_hw_ready.is_high() {
            if rules.contains_any(EV1) {
                let is_same = outputs.req_qpn.get() == inputs.qp_hw_qpn.get();
                bins.record(EDGES.bin([if is_same { 2 } else { 1 }]));
            }
            if rules.contains_any(EV2) {
                bins.record(EDGES.bin([3]));
            }
        }
    }
}

impl harness::Coverage<Rx> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage.rs"));

    fn new(_: &Parameters) -> Self {
        Self::default()
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Rx>, bins: &mut Bins<'_>) {
        let Edge { inputs, outputs, rules, .. } = *edge;
        if inputs.rst.is_high() {
            if !self.in_reset {
                let is_owed = self.owed.contains(&true);
                bins.record(RESETS.bin([if is_owed { 2 } else { usize::from(self.holds) }]));
            }
            *self = Self { in_reset: true, ..Self::default() };
            return;
        }
        self.in_reset = false;
        // In most cycles nothing crosses an inner boundary.
        if rules == RuleSet::EMPTY && !inputs.qp_cmd_valid.is_high() {
            return;
        }
        // The level is not visible in reset, so it is remembered.
        self.holds = rules.contains_any(FI1)
            || outputs.x_fifo_level.get() > u64::from(rules.contains_any(FI3));
        Self::count_link(rules, outputs, bins);
        Self::count_head(rules, outputs, bins);
        self.count_edges(rules, inputs, outputs, bins);
        self.count_events(rules, outputs, bins);
        if rules.contains_any(RQ4) {
            self.last_taken = outputs.req_qpn.get();
        }
    }
}

#[cfg(test)]
mod tests;
