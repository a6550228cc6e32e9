//! The checks at transaction level: the outcome of each descriptor that A accepts, and of its
//! bytes.
//!
//! It follows descriptors from A to their outcomes, stores pending events for qp, and compares with
//! the traffic. The scoreboards of the inner blocks check the pins of each block. It checks both
//! models.

mod bytes;

use super::rtl::{Bits1, Bits12, Inputs, Outputs};
use super::rules::descriptor::{self, Descriptor};
use super::rules::parameters::{of_dll, of_recv};
use super::rules::pins;
use super::traffic::{Request, Traffic};
use crate::blocks::qp::scoreboard::is_reliable;
use crate::blocks::thread2::rules::layout::{opcode, qp_state, status};
use crate::blocks::thread2::traffic::PacketCursor;
use crate::blocks::{dll, qp, recv, thread2};
use bytes::{PlacedBytes, Received};
use cosim_core::harness::{
    self, Block, Counter, Parameters, Violation, check_list, in_reset, require, require_equal,
    require_idle,
};
use std::collections::VecDeque;

cosim_core::check_names! {
    CHECKS;
    /// The FIFO gets each descriptor that A accepted once, in order and unchanged.
    DELIVERED = "delivered-once-in-order";
    /// Each descriptor leaves the FIFO once, in order, for the block of its class.
    FATE = "one-fate-each";
    /// At the end each descriptor has an outcome, and no credit is in use.
    REMAINS = "nothing-remains";
    /// The credits in use are the descriptors that A accepted and that have not left the FIFO.
    CREDITS = "credits-exact";
    /// The state and service of the QP and the error bit determine the outcome of a request packet.
    BY_STATE = "fate-by-state";
    /// Accepted packets that need an Ack or a WQE get one.
    ANSWER = "answer-by-fate";
    /// The head is shown to qp or recv as soon as its context or lengths are available.
    REQUESTED = "asked-and-shown-in-time";
    /// thread2 gets the state from qp; the rest of the context is unchanged.
    STATE = "state-handed-on";
    /// qp gets the first request packet of a QP in RTR once, before another request packet leaves.
    ESTABLISHED = "established-once";
    /// qp gets each length error once, before another request packet leaves.
    FATAL = "fatal-per-length-error";
    /// External events reach qp once, in order and unchanged.
    EVENTS = "events-in-order";
    /// thread2 gets no dropped or refused packet.
    DEAD = "nothing-for-a-dead-qp";
    /// In reset every output is 0, except for the newest acknowledged sequence number: 4095.
    RESET = "values-in-reset";
    /// Payload of the top-level logic is 0 while its valid is 0.
    IDLE = "zero-while-idle";
}

/// Number of credits and capacity of the FIFO.
const PLACES: u64 = 16;

// Codes of the specification.
const TAKEN: u64 = 0;
const REFUSED: u64 = 1;
const DROPPED: u64 = 2;

#[derive(Debug, Clone, Copy)]
struct TakenDescriptor {
    bits: u32,
    descriptor: Descriptor,
    /// The index of its request.
    request: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExpectedEvent {
    qpn: u64,
    kind: u64,
}

impl ExpectedEvent {
    fn check(&self) -> &'static str {
        if self.kind == 0 { ESTABLISHED } else { FATAL }
    }
}

#[derive(Debug, Clone, Default)]
struct Counts {
    fates: [u64; 3],
    messages: u64,
    established: u64,
    length_errors: u64,
}

#[derive(Debug, Clone)]
pub struct Scoreboard<'a> {
    dll: dll::Scoreboard,
    qp: qp::Scoreboard,
    thread2: thread2::Scoreboard<'a>,
    recv: recv::Scoreboard<'a>,
    requests: &'a [Request],
    /// Whether everything on offer will finish.
    is_whole: bool,
    /// Whether everything that A accepts is delivered.
    delivers: bool,
    /// The request that A accepts next.
    next_request: PacketCursor,
    /// Descriptors between A and the FIFO, and those in the FIFO.
    under_way: VecDeque<TakenDescriptor>,
    fifo: VecDeque<TakenDescriptor>,
    owed: VecDeque<ExpectedEvent>,
    /// Without F2 thread2 may report a length error repeatedly, but qp must get it once.
    repeats: bool,
    placed: PlacedBytes<'a>,
    received: Received<'a>,
    counts: Counts,
}

/// Adds the name of the inner block to a violation.
#[inline]
fn inside(block: &str, result: Result<(), Violation>) -> Result<(), Violation> {
    result.map_err(|violation| violation.inside(block))
}

impl Scoreboard<'_> {
    fn observe_reset(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        self.under_way.clear();
        self.fifo.clear();
        self.owed.clear();
        self.placed.forget();
        self.received.forget();
        let expected = Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() };
        in_reset(RESET, outputs, &expected)
    }

    /// Checks the level of the FIFO and the fetches for its head.
    #[inline]
    fn observe_fifo(&self, outputs: &Outputs) -> Result<(), Violation> {
        let level = self.fifo.len() as u64;
        require_equal(DELIVERED, "x_fifo_level", outputs.x_fifo_level.get(), level)?;
        let bits = self.fifo.front().map_or(0, |sent| sent.bits.into());
        require_equal(DELIVERED, "x_fifo_head", outputs.x_fifo_head.get(), bits)?;
        let head = self.fifo.front().map(|sent| sent.descriptor);
        let is_request = matches!(head, Some(Descriptor::Request(_)));
        let handle = head.map_or(0, |head| u64::from(head.handle()));
        let expected = (u64::from(head.is_some()), u64::from(is_request), handle);
        let (valid, request) = (outputs.fetch_valid.get(), outputs.fetch_request.get());
        let seen = (valid, request, outputs.fetch_handle.get());
        require_equal(DELIVERED, "fetch_valid, fetch_request, fetch_handle", seen, expected)
    }

    /// Checks the credits at the beginning of the cycle.
    #[inline]
    fn observe_credits(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let out = (self.under_way.len() + self.fifo.len()) as u64;
        let used = outputs.x_credits_used.get();
        require_equal(CREDITS, "x_credits_used", used, out)?;
        let has_credit = out < PLACES;
        let a_ready = outputs.x_a_tlp_ready.is_high();
        let offered = inputs.a_tlp_valid.is_high();
        let taken = outputs.a_tlp_ready.is_high();
        let is_shown = outputs.x_a_tlp_valid.is_high() == (offered && has_credit);
        let is_right = is_shown && taken == (a_ready && has_credit);
        require!(is_right, CREDITS, "{used} of {PLACES} credits are in use, taken: {taken}")
    }

    /// Checks what is shown to qp and recv, before the cycle adds pending events.
    #[inline]
    fn observe_question(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let head = self.fifo.front().map(|sent| sent.descriptor);
        let requested = match head {
            Some(Descriptor::Request(request)) if inputs.cxt_valid.is_high() => {
                self.owed.is_empty().then_some(request)
            }
            _ => None,
        };
        let seen = outputs.x_msg_valid.is_high().then(|| {
            let qpn = outputs.x_msg_qpn.get();
            (qpn, outputs.x_msg_consumes_wqe.is_high(), outputs.x_msg_error.is_high())
        });
        let expected = requested
            .map(|requested| (u64::from(requested.qpn), requested.consumes_wqe, requested.error));
        // If the query is too early, an event is still pending.
        let early = self.owed.front().filter(|_| seen.is_some());
        let check = early.map_or(REQUESTED, ExpectedEvent::check);
        require_equal(check, "(QP, WQE, error) asked of qp", seen, expected)?;
        let query = expected.map_or(inputs.qp_query_qpn.get(), |(qpn, ..)| qpn);
        require_equal(REQUESTED, "x_query_qpn", outputs.x_query_qpn.get(), query)?;
        let is_message = matches!(head, Some(Descriptor::Message(_)));
        let expected = (is_message && inputs.len_valid.is_high())
            .then(|| (inputs.len_pkt.get(), inputs.len_msg.get()));
        let lengths = (outputs.x_pkt_len.get(), outputs.x_pkt_msg_len.get());
        let seen = outputs.x_pkt_valid.is_high().then_some(lengths);
        require_equal(REQUESTED, "lengths shown to recv", seen, expected)
    }

    /// Checks the state that thread2 gets, and the rest of the context.
    #[inline]
    fn observe_context(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if !outputs.x_cxt_valid.is_high() {
            return Ok(());
        }
        let (state, _) = self.qp.state_and_service(outputs.x_msg_qpn.get());
        let mut head = *inputs.cxt_head.words();
        head[1] = head[1] & !0x38 | (state as u32) << 3;
        let is_same = *outputs.x_cxt_head.words() == head && outputs.x_cxt_data == inputs.cxt_data;
        require!(is_same, STATE, "not what was fetched with state {state} inserted")
    }

    #[inline]
    fn observe_idle(outputs: &Outputs) -> Result<(), Violation> {
        let any = |words: &[u32]| u64::from(words.iter().fold(0, |any, word| any | word));
        let context = any(outputs.x_cxt_head.words()) | any(outputs.x_cxt_data.words());
        require_idle(IDLE, || {
            [
                ("x_msg_qpn", outputs.x_msg_valid.is_high(), outputs.x_msg_qpn.get()),
                (
                    "x_msg_consumes_wqe",
                    outputs.x_msg_valid.is_high(),
                    outputs.x_msg_consumes_wqe.get(),
                ),
                ("x_msg_error", outputs.x_msg_valid.is_high(), outputs.x_msg_error.get()),
                ("x_hw_qpn", outputs.x_hw_valid.is_high(), outputs.x_hw_qpn.get()),
                ("x_hw_kind", outputs.x_hw_valid.is_high(), outputs.x_hw_kind.get()),
                ("x_cxt", outputs.x_cxt_valid.is_high(), context),
                ("x_pkt_kind", outputs.x_pkt_valid.is_high(), outputs.x_pkt_kind.get()),
                ("x_pkt_id", outputs.x_pkt_valid.is_high(), outputs.x_pkt_id.get()),
                ("x_pkt_len", outputs.x_pkt_valid.is_high(), outputs.x_pkt_len.get()),
                ("x_pkt_msg_len", outputs.x_pkt_valid.is_high(), outputs.x_pkt_msg_len.get()),
                ("x_pkt_last", outputs.x_pkt_valid.is_high(), outputs.x_pkt_last.get()),
                ("req_fate", outputs.req_valid.is_high(), outputs.req_fate.get()),
                ("req_qpn", outputs.req_valid.is_high(), outputs.req_qpn.get()),
                ("req_handle", outputs.req_valid.is_high(), outputs.req_handle.get()),
                ("req_ack", outputs.req_valid.is_high(), outputs.req_ack.get()),
                ("req_take_wqe", outputs.req_valid.is_high(), outputs.req_take_wqe.get()),
            ]
        })
    }

    /// Checks and returns what leaves the FIFO at this edge.
    #[inline]
    fn observe_leaving(&mut self, outputs: &Outputs) -> Result<Option<TakenDescriptor>, Violation> {
        let request_leaves = outputs.req_valid.is_high();
        let message_leaves = outputs.x_pkt_valid.is_high() && outputs.x_pkt_ready.is_high();
        let [offered, ready] = [outputs.x_cxt_valid, outputs.x_cxt_ready].map(Bits1::is_high);
        let is_taken = request_leaves && outputs.req_fate.get() == TAKEN;
        require_equal(DEAD, "thread2 takes a packet", offered && ready, is_taken)?;
        // A packet that thread2 does not get does not wait for it.
        let turn = outputs.x_msg_valid.is_high() && (ready || !offered);
        require_equal(FATE, "a request packet leaves", request_leaves, turn)?;
        if !request_leaves && !message_leaves {
            return Ok(None);
        }
        // `observe_question` has checked that the head is shown, and its class.
        let sent = self.fifo.front().copied();
        let (seen, expected) = match sent.map(|sent| sent.descriptor) {
            None => return Ok(None),
            Some(Descriptor::Request(request)) => {
                let seen = (outputs.req_handle.get(), outputs.req_qpn.get(), false);
                (seen, (request.handle, request.qpn, false))
            }
            Some(Descriptor::Message(descriptor::Message { last, kind, handle })) => {
                let is_last = outputs.x_pkt_last.is_high();
                let seen = (outputs.x_pkt_id.get(), outputs.x_pkt_kind.get(), is_last);
                (seen, (handle, kind, last))
            }
        };
        let expected = (u64::from(expected.0), u64::from(expected.1), expected.2);
        require_equal(FATE, "(handle, QP or kind, last) that leaves", seen, expected)?;
        Ok(sent)
    }

    /// Checks the outcome of a request packet that leaves.
    #[inline]
    fn observe_fate(
        &mut self,
        request: descriptor::Request,
        outputs: &Outputs,
    ) -> Result<(), Violation> {
        let qpn = u64::from(request.qpn);
        let (state, service) = self.qp.state_and_service(qpn);
        let fate = outputs.req_fate.get();
        let open = !matches!(state, 0 | 1 | 6);
        let expected = match open {
            false => DROPPED,
            true if request.error && is_reliable(service) => REFUSED,
            true => TAKEN,
        };
        require!(fate == expected, BY_STATE, "QP {qpn} in state {state}: {fate}, not {expected}")?;
        let taken = fate == TAKEN;
        let answer = (taken && is_reliable(service), taken && request.consumes_wqe);
        let seen = (outputs.req_ack.is_high(), outputs.req_take_wqe.is_high());
        require_equal(ANSWER, "(Ack, WQE)", seen, answer)?;
        if state == qp_state::RTR && fate != DROPPED {
            self.owed.push_back(ExpectedEvent { qpn, kind: 0 });
            self.counts.established += 1;
        }
        self.counts.fates[fate as usize % 3] += 1;
        Ok(())
    }

    /// Checks events for qp, before the cycle adds to the pending ones.
    #[inline]
    fn observe_events(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let reported = outputs.x_hw_valid.is_high();
        let seen = ExpectedEvent { qpn: outputs.x_hw_qpn.get(), kind: outputs.x_hw_kind.get() };
        let outside = ExpectedEvent { qpn: inputs.qp_hw_qpn.get(), kind: inputs.qp_hw_kind.get() };
        let (is_outside, expected) = match self.owed.front() {
            Some(owed) => (false, Some(*owed)),
            None => (true, inputs.qp_hw_valid.is_high().then_some(outside)),
        };
        let check = self.owed.front().map_or(EVENTS, ExpectedEvent::check);
        require_equal(check, "event for qp", reported.then_some(seen), expected)?;
        let is_ready = outputs.x_hw_ready.is_high() && is_outside;
        require_equal(EVENTS, "qp_hw_ready", outputs.qp_hw_ready.is_high(), is_ready)?;
        if reported && outputs.x_hw_ready.is_high() && !is_outside {
            self.owed.pop_front();
        }
        Ok(())
    }

    #[inline]
    fn note_length_error(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let reported = outputs.t2_fetch_mr_ingress_valid.is_high()
            && inputs.t2_fetch_mr_ingress_ready.is_high();
        let data = outputs.t2_fetch_mr_ingress_data.words();
        let is_cqe = u64::from(data[1] >> 24 & 0x1f) == opcode::GEN_CQE;
        if !reported || !is_cqe || u64::from(data[4] >> 29) != status::LOCAL_LENGTH_ERROR {
            return;
        }
        let fatal = ExpectedEvent { qpn: u64::from(data[0] & 0xff), kind: 3 };
        if !(self.repeats && self.owed.contains(&fatal)) {
            self.owed.push_back(fatal);
        }
        self.counts.length_errors += 1;
    }

    /// Tracks what A accepts and B delivers at this edge.
    #[inline]
    fn observe_transport(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let is_lost = outputs.x_fifo_overflow.is_high();
        require!(!is_lost, DELIVERED, "a delivery is lost to a full FIFO")?;
        if outputs.x_b_deliver_valid.is_high() {
            let bits = outputs.x_b_deliver_data.get() as u32;
            let sent = self.under_way.pop_front();
            require_equal(DELIVERED, "delivered", Some(bits), sent.map(|sent| sent.bits))?;
            self.fifo.extend(sent);
        }
        if inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high() {
            let bits = inputs.a_tlp_data.get() as u32;
            let descriptor = Descriptor::decode(inputs.a_tlp_data);
            let request = match descriptor {
                Descriptor::Request(_) => {
                    let index = self.next_request.index;
                    if let Some(request) = self.requests.get(index) {
                        self.next_request.step(&request.packet);
                    }
                    Some(index)
                }
                Descriptor::Message(_) => {
                    self.received.send();
                    None
                }
            };
            self.under_way.push_back(TakenDescriptor { bits, descriptor, request });
        }
        Ok(())
    }
}

fn checks_of<B: Block>() -> Vec<String> {
    <B::Scoreboard<'static> as harness::Scoreboard<'_, _, _, _>>::checks()
}

impl<'a> harness::Scoreboard<'a, Inputs, Outputs, Traffic> for Scoreboard<'a> {
    fn checks() -> Vec<String> {
        [
            check_list(CHECKS),
            check_list(&[bytes::MESSAGE, bytes::WRITE, bytes::RECEIVE]),
            checks_of::<dll::Dll>(),
            checks_of::<qp::Qp>(),
            checks_of::<thread2::Thread2>(),
            checks_of::<recv::Recv>(),
        ]
        .concat()
    }

    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let for_dll = of_dll(parameters);
        let packets: Vec<_> = traffic.packets().collect();
        let fixes = parameters.fixes();
        let recv = recv::Scoreboard::new(&traffic.receive, &of_recv(parameters));
        Self {
            dll: dll::Scoreboard::new(&traffic.link, &for_dll),
            qp: qp::Scoreboard::new(&traffic.software, &Parameters::with_fixes::<qp::Qp>(0)),
            thread2: thread2::Scoreboard::for_packets(packets, &traffic.tables, fixes),
            recv: recv.for_some_packets(),
            requests: &traffic.requests,
            is_whole: !traffic.has_reset(),
            delivers: fixes & 1 == 1 || dll::rules::parameters::replays_end(&for_dll),
            next_request: PacketCursor::default(),
            under_way: VecDeque::with_capacity(64),
            fifo: VecDeque::with_capacity(64),
            owed: VecDeque::with_capacity(64),
            repeats: fixes & 1 << 2 == 0,
            placed: PlacedBytes::new(&traffic.requests, fixes),
            received: Received::new(&traffic.receive.messages),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if inputs.rst.is_high() {
            self.observe_reset(outputs)?;
        } else {
            self.observe_credits(inputs, outputs)?;
            self.observe_fifo(outputs)?;
            self.observe_question(inputs, outputs)?;
            self.observe_events(inputs, outputs)?;
            self.observe_context(inputs, outputs)?;
            Self::observe_idle(outputs)?;
            self.placed.observe(inputs, outputs)?;
            if let Some(sent) = self.observe_leaving(outputs)? {
                if let Descriptor::Request(request) = sent.descriptor {
                    self.observe_fate(request, outputs)?;
                }
                if let Some(request) = sent.request {
                    self.thread2.expect(request, qp_state::RTR);
                    self.placed.leaves(request, outputs.req_fate.get() == TAKEN)?;
                } else {
                    self.counts.messages += 1;
                }
                self.fifo.pop_front();
            }
            self.received.observe(outputs)?;
            self.note_length_error(inputs, outputs);
            self.observe_transport(inputs, outputs)?;
        }
        let (to, from) = pins::dll(inputs, outputs);
        inside("dll", self.dll.observe(&to, &from))?;
        let (to, from) = pins::qp(inputs, outputs);
        inside("qp", self.qp.observe(&to, &from))?;
        let (to, from) = pins::thread2(inputs, outputs);
        inside("thread2", self.thread2.observe(&to, &from))?;
        let (to, from) = pins::recv(inputs, outputs);
        inside("recv", self.recv.observe(&to, &from))
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let (link, fifo) = (self.under_way.len(), self.fifo.len());
        let is_empty = fifo == 0 && (link == 0 || !self.delivers);
        require!(is_empty, REMAINS, "{link} descriptors on the link, {fifo} in the FIFO")?;
        let event = self.owed.front();
        require!(event.is_none(), REMAINS, "{event:?} was not reported")?;
        let stalls = !self.delivers || self.dll.is_stalled();
        let (sent, all) = (self.next_request.index, self.requests.len());
        let all_sent = sent == all && self.received.all_sent();
        let is_complete = all_sent || stalls || !self.is_whole;
        require!(is_complete, REMAINS, "{sent} of {all} requests, or not all messages")?;
        self.placed.finish()?;
        inside("dll", self.dll.finish())?;
        inside("qp", self.qp.finish())?;
        inside("thread2", self.thread2.finish())?;
        // Over a stalled link the rest of a message does not arrive.
        if stalls {
            return Ok(());
        }
        self.received.finish()?;
        inside("recv", self.recv.finish())
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("requests taken", |board| board.counts.fates[TAKEN as usize]),
            Counter::sum("requests refused", |board| board.counts.fates[REFUSED as usize]),
            Counter::sum("requests dropped", |board| board.counts.fates[DROPPED as usize]),
            Counter::sum("message packets taken", |board| board.counts.messages),
            Counter::sum("connections established", |board| board.counts.established),
            Counter::sum("length errors", |board| board.counts.length_errors),
            Counter::sum("SEND bytes placed", |board| board.placed.bytes),
            Counter::sum("message bytes copied", |board| board.received.bytes),
        ]
    }
}

#[cfg(test)]
mod tests;
