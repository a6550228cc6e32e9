//! The golden model of `RxSystem`: the golden models of its four blocks and the top-level logic
//! between them, written from sections 5 to 7 of the specification.

use super::rtl::{Bits1, Bits2, Bits3, Bits5, Bits8, Bits32, Bits416, Bits488, Inputs, Outputs};
use super::rules::descriptor::{Descriptor, Message, Request};
use super::rules::parameters::{of_dll, of_recv, of_thread2};
use super::rules::{
    self, CR1, CR2, CR3, CR4, CR5, EV1, EV2, EV3, EV4, EV5, EV6, FI1, FI2, FI3, PK1, PK2, PK3, R1,
    RQ1, RQ2, RQ3, RQ4, RQ5, RQ6,
};
use crate::blocks::dll::{self, Dll};
use crate::blocks::qp::{self, Qp};
use crate::blocks::recv::{self, Recv};
use crate::blocks::thread2::rules::layout::{MrData, opcode, qp_state, status};
use crate::blocks::thread2::{self, Thread2};
use cosim_core::harness::{self, Block, Golden as _, Parameters, Ring, Rule, RuleSet};

/// Capacity of the FIFO, which is also the number of credits.
const PLACES: usize = 16;

/// Kinds of events for qp.
const FIRST_REQUEST: u64 = 0;
const FATAL: u64 = 3;

#[derive(Debug, Clone)]
struct TopRegisters {
    /// The ingress FIFO, the oldest descriptor first.
    fifo: Ring<u32, PLACES>,
    credits_used: usize,
    /// The QP whose first request packet is to be reported to qp.
    established: Option<Bits8>,
    /// The QP whose length error is to be reported to qp.
    fatal: Option<Bits8>,
}

impl TopRegisters {
    const RESET: Self =
        Self { fifo: Ring::new(0), credits_used: 0, established: None, fatal: None };

    #[inline]
    fn head(&self) -> Option<Descriptor> {
        self.fifo.first().map(|bits| Descriptor::decode(Bits32::new(bits.into())))
    }

    #[inline]
    fn is_event_pending(&self) -> bool {
        self.established.is_some() || self.fatal.is_some()
    }

    #[inline]
    fn has_credit(&self) -> bool {
        self.credits_used < PLACES
    }
}

/// The model: the inner blocks and the top-level logic.
#[derive(Debug, Clone)]
pub struct Golden {
    dll: dll::Golden,
    qp: qp::Golden,
    thread2: thread2::Golden,
    recv: recv::Golden,
    glue: TopRegisters,
}

/// The outcome of a request packet that leaves the FIFO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketOutcome {
    Taken = 0,
    Refused = 1,
    Dropped = 2,
}

/// The pins of an inner block in a cycle, and its evaluated cycle, once it is evaluated.
struct BlockCycle<B: Block> {
    inputs: B::Inputs,
    outputs: B::Outputs,
    cycle: Option<harness::CycleOf<B>>,
}

impl<B: Block> Default for BlockCycle<B> {
    #[inline]
    fn default() -> Self {
        Self { inputs: B::Inputs::default(), outputs: B::Outputs::default(), cycle: None }
    }
}

impl<B: Block> BlockCycle<B> {
    /// Drives the inputs and evaluates the block, where its pins stay: a new one would be copied.
    #[inline]
    fn evaluate(&mut self, golden: &B::Golden, drive: impl FnOnce(&mut B::Inputs)) {
        drive(&mut self.inputs);
        let cycle = golden.cycle(&self.inputs);
        golden.outputs(&self.inputs, &cycle, &mut self.outputs);
        self.cycle = Some(cycle);
    }

    #[inline]
    fn clock(&self, golden: &mut B::Golden) {
        if let Some(cycle) = &self.cycle {
            golden.clock(&self.inputs, cycle);
        }
    }
}

/// An evaluated cycle: each inner block, and the outcome of the FIFO's head.
#[derive(Default)]
pub struct Cycle {
    dll: BlockCycle<Dll>,
    qp: BlockCycle<Qp>,
    thread2: BlockCycle<Thread2>,
    recv: BlockCycle<Recv>,
    head: Option<Descriptor>,
    /// The request packet that leaves, with its outcome.
    fate: Option<(Request, PacketOutcome)>,
    message_taken: bool,
}

/// The contexts with the QP state in bits 37:35 replaced.
#[inline]
fn with_state(contexts: &Bits416, state: Bits3) -> Bits416 {
    let mut words = *contexts.words();
    words[1] = words[1] & !(7 << 3) | (state.get() as u32) << 3;
    Bits416::from_words(words)
}

impl Golden {
    #[inline]
    fn drive_dll(&self, inputs: &Inputs, pins: &mut dll::rtl::Inputs) {
        wires!(dll part_inputs [dll pins inputs {
            a_tlp_valid: Bits1::from(inputs.a_tlp_valid.is_high() && self.glue.has_credit()),
        }]);
    }

    /// Drives qp with a query for a request packet, or without one.
    #[inline]
    fn drive_qp(&self, inputs: &Inputs, requested: Option<Request>, pins: &mut qp::rtl::Inputs) {
        let Request { consumes_wqe, error, qpn, .. } = requested.unwrap_or_default();
        let qpn = Bits8::new(u64::from(qpn));
        // An event that is not valid is 0.
        let outside = (inputs.qp_hw_qpn, inputs.qp_hw_kind);
        let event = match (self.glue.established, self.glue.fatal) {
            (Some(qpn), _) => Some((qpn, Bits2::new(FIRST_REQUEST))),
            (None, Some(qpn)) => Some((qpn, Bits2::new(FATAL))),
            (None, None) => inputs.qp_hw_valid.is_high().then_some(outside),
        };
        let (event_qpn, event_kind) = event.unwrap_or_default();
        wires!(qp part_inputs [qp pins inputs {
            hw_valid: Bits1::from(event.is_some()),
            hw_qpn: event_qpn,
            hw_kind: event_kind,
            msg_valid: Bits1::from(requested.is_some()),
            msg_qpn: qpn,
            msg_consumes_wqe: Bits1::from(consumes_wqe),
            msg_error: Bits1::from(error),
            query_qpn: if requested.is_some() { qpn } else { inputs.qp_query_qpn },
        }]);
    }

    /// Drives thread2 with a context and the state of its QP, or without one.
    #[inline]
    fn drive_thread2(inputs: &Inputs, context: Option<Bits3>, pins: &mut thread2::rtl::Inputs) {
        let (head, data) = match context {
            Some(state) => (with_state(&inputs.cxt_head, state), inputs.cxt_data),
            None => (Bits416::ZERO, Bits488::ZERO),
        };
        let offered = Bits1::from(context.is_some());
        wires!(thread2 part_inputs [thread2 pins inputs {
            fetch_cxt_egress_valid: offered,
            fetch_cxt_egress_head: head,
            fetch_cxt_egress_data: data,
            fetch_cxt_egress_start: offered,
            fetch_cxt_egress_last: offered,
        }]);
    }

    #[inline]
    fn drive_recv(inputs: &Inputs, packet: Option<Message>, pins: &mut recv::rtl::Inputs) {
        let Message { last, kind, handle } = packet.unwrap_or_default();
        let lengths = packet.map(|_| (inputs.len_pkt, inputs.len_msg));
        let (len, msg_len) = lengths.unwrap_or_default();
        wires!(recv part_inputs [recv pins inputs {
            pkt_valid: Bits1::from(packet.is_some()),
            pkt_kind: Bits3::new(u64::from(kind)),
            pkt_id: Bits8::new(u64::from(handle)),
            pkt_len: len,
            pkt_msg_len: msg_len,
            pkt_last: Bits1::from(last),
        }]);
    }
}

impl Cycle {
    /// Sets the outputs of the system from the pins of the inner blocks.
    #[inline]
    fn outputs(&self, glue: &TopRegisters, outputs: &mut Outputs) {
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
        system_outputs!(
            outputs {
                a_tlp_ready: Bits1::from(dll.a_tlp_ready.is_high() && glue.has_credit()),
                x_credits_used: Bits5::new(glue.credits_used as u64),
                x_fifo_overflow: Bits1::from(dll.b_deliver_valid.is_high() && glue.fifo.is_full()),
                x_fifo_level: Bits5::new(glue.fifo.len() as u64),
                x_fifo_head: Bits32::new(glue.fifo.first().unwrap_or(0).into()),
                fetch_valid: Bits1::from(self.head.is_some()),
                fetch_request: Bits1::from(matches!(self.head, Some(Descriptor::Request(_)))),
                fetch_handle: byte(self.head.map_or(0, Descriptor::handle)),
                qp_hw_ready: Bits1::from(qp.hw_ready.is_high() && !glue.is_event_pending()),
                req_valid: Bits1::from(fate.is_some()),
                req_fate: Bits2::new(fate.map_or(0, |fate| fate as u64)),
                req_qpn: byte(request.qpn),
                req_handle: byte(request.handle),
                req_ack: Bits1::from(taken && qp.msg_ack.is_high()),
                req_take_wqe: Bits1::from(taken && qp.msg_take_wqe.is_high()),
            }
            dll from (dll_in, dll)
            qp from (qp_in, qp)
            thread2 from (thread2_in, thread2)
            recv from (recv_in, recv)
        );
    }

    /// The QP of a length error that thread2 reports at this edge.
    #[inline]
    fn length_error(&self) -> Option<Bits8> {
        let BlockCycle { inputs, outputs, .. } = &self.thread2;
        if !outputs.fetch_mr_ingress_valid.is_high() || !inputs.fetch_mr_ingress_ready.is_high() {
            return None;
        }
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        let seen = (data.opcode.get(), data.status.get());
        let is_error = seen == (opcode::GEN_CQE, status::LOCAL_LENGTH_ERROR);
        is_error.then(|| Bits8::new(data.local_qpn.get() & 0xff))
    }
}

impl TopRegisters {
    /// Updates the registers at an edge. Returns the rules that applied.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        let mut fired = RuleSet::EMPTY;
        let mut fires = |rule: RuleSet, holds: bool| fired = fired.with(rule.only_if(holds));
        let pending = self.is_event_pending();
        let dll = &cycle.dll.outputs;
        let BlockCycle { inputs: qp_in, outputs: qp, .. } = &cycle.qp;
        let leaves = cycle.fate.is_some() || cycle.message_taken;

        let fate = cycle.fate.map(|(_, fate)| fate);
        match cycle.head {
            None => {}
            Some(Descriptor::Request(_)) => {
                fires(RQ1, !inputs.cxt_valid.is_high());
                fires(RQ2, inputs.cxt_valid.is_high() && pending);
                fires(RQ3, qp_in.msg_valid.is_high() && fate.is_none());
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

        // Whether the FIFO is full depends on its level before the edge.
        let (delivered, full) = (dll.b_deliver_valid.is_high(), self.fifo.is_full());
        fires(FI1, delivered && !full);
        fires(FI2, delivered && full);
        fires(FI3, leaves);
        if leaves {
            self.fifo.pop();
        }
        if delivered && !full {
            self.fifo.push(dll.b_deliver_data.get() as u32);
        }

        let reports_first = self.established.is_some();
        let reports_fatal = self.fatal.is_some() && !reports_first;
        fires(EV3, reports_first);
        fires(EV4, reports_fatal);
        fires(EV5, !pending && inputs.qp_hw_valid.is_high());
        fires(EV6, pending && inputs.qp_hw_valid.is_high());
        self.established.take_if(|_| reports_first && qp.hw_ready.is_high());
        self.fatal.take_if(|_| reports_fatal && qp.hw_ready.is_high());
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

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        let why = match Self::RULES[rule].name {
            "CR4" => "only descriptors that A took come out of B",
            "FI2" => "there are no more credits than entries",
            "EV2" | "EV4" if parameters.fixes() & 1 << 5 == 0 => {
                "without F5 of thread2 there is no length error"
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn new(parameters: &Parameters) -> Self {
        Self {
            dll: dll::Golden::new(&of_dll(parameters)),
            qp: qp::Golden::new(&Parameters::with_fixes::<Qp>(0)),
            thread2: thread2::Golden::new(&of_thread2(parameters)),
            recv: recv::Golden::new(&of_recv(parameters)),
            glue: TopRegisters::RESET,
        }
    }

    type Cycle = Cycle;

    /// Section 5: evaluates each block once, in the order of their dependencies.
    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let head = self.glue.head();
        let is_selected = inputs.cxt_valid.is_high() && !self.glue.is_event_pending();
        let (requested, packet) = match head {
            Some(Descriptor::Request(request)) => (is_selected.then_some(request), None),
            Some(Descriptor::Message(packet)) => {
                (None, inputs.len_valid.is_high().then_some(packet))
            }
            None => (None, None),
        };
        let mut cycle = Cycle::default();
        cycle.dll.evaluate(&self.dll, |pins| self.drive_dll(inputs, pins));
        cycle.qp.evaluate(&self.qp, |pins| self.drive_qp(inputs, requested, pins));
        let answer = &cycle.qp.outputs;
        let offered = answer.msg_accept.is_high() && !answer.msg_nak.is_high();
        let context = offered.then_some(answer.query_state);
        cycle.thread2.evaluate(&self.thread2, |pins| Self::drive_thread2(inputs, context, pins));
        cycle.recv.evaluate(&self.recv, |pins| Self::drive_recv(inputs, packet, pins));

        cycle.head = head;
        cycle.fate = requested.and_then(|request| {
            let fate = match (answer.msg_accept.is_high(), answer.msg_nak.is_high()) {
                (false, false) => PacketOutcome::Dropped,
                (_, true) => PacketOutcome::Refused,
                (true, false) if cycle.thread2.outputs.fetch_cxt_egress_ready.is_high() => {
                    PacketOutcome::Taken
                }
                (true, false) => return None,
            };
            Some((request, fate))
        });
        cycle.message_taken = packet.is_some() && cycle.recv.outputs.pkt_ready.is_high();
        cycle
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        if inputs.rst.is_high() {
            *outputs = Outputs::default();
            outputs.a_ackd_seq = cycle.dll.outputs.a_ackd_seq;
        } else {
            cycle.outputs(&self.glue, outputs);
        }
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
        // The state of the inner blocks is visible at their own boundaries.
        match (self.glue.is_event_pending(), self.glue.head()) {
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
