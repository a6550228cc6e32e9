//! The golden model of `QpStateCtrl`, written from the specification, sections 3 to 8.
//!
//! The tables of [`rules`] have the effects of the rules. This file has the registers and the order
//! of the rules at an edge.

use super::rtl::{Bits1, Bits2, Bits3, Bits8, Inputs, Outputs};
use super::rules::{
    self, Answer, E1, E2, E3, E4, Event, Q1, R1, State, Store, Transition, X1, permits,
};
use cosim_core::harness::{self, Parameters, Ring, Rule, RuleSet};

/// Capacity of the event queue.
const DEPTH: usize = 16;

/// The registers of a QP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuePair {
    pub(super) state: State,
    pub(super) service: u8,
    pub(super) notify: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SoftwareEvent {
    qpn: u8,
    event: Event,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Response {
    qpn: u8,
    pub(super) answer: Answer,
}

#[derive(Debug, Clone)]
pub struct Golden {
    qps: [QueuePair; 256],
    pub(super) response: Option<Response>,
    /// Events, the oldest first.
    pub(super) queue: Ring<SoftwareEvent, DEPTH>,
}

impl QueuePair {
    pub(super) const RESET: Self = Self { state: State::Reset, service: 0, notify: false };

    /// Applies a Modify QP command. Returns the row that applied.
    #[inline]
    pub(super) fn modify(&mut self, next: u8, service: u8, notify: bool) -> &'static Transition {
        let row = rules::transition(self.state, next, notify);
        self.state = row.to.unwrap_or(self.state);
        self.service = row.service.next_value(self.service, service);
        self.notify = row.notify.next_value(self.notify, notify);
        row
    }

    #[inline]
    pub(super) fn apply_event(&mut self, kind: u8) {
        self.follow(rules::hardware_event(self.state, self.service, self.notify, kind));
    }

    #[inline]
    fn follow(&mut self, row: &rules::EventRule) {
        self.state = row.to.unwrap_or(self.state);
        self.notify &= row.notify == Store::Keep;
    }
}

pub struct Cycle {
    /// The row for the request packet on the pins.
    reception: Option<&'static rules::RequestRule>,
    /// The row for the hardware event on the pins.
    hardware_event: Option<&'static rules::EventRule>,
    takes_events: bool,
}

impl Golden {
    const RESET: Self = Self {
        qps: [QueuePair::RESET; 256],
        response: None,
        queue: Ring::new(SoftwareEvent { qpn: 0, event: Event::Drained }),
    };

    #[inline]
    pub(super) fn qp(&self, qpn: Bits8) -> &QueuePair {
        &self.qps[qpn.get() as usize]
    }

    #[inline]
    fn qp_mut(&mut self, qpn: Bits8) -> &mut QueuePair {
        &mut self.qps[qpn.get() as usize]
    }
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn new(_: &Parameters) -> Self {
        Self::RESET
    }

    type Cycle = Cycle;

    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let reception = inputs.msg_valid.is_high().then(|| {
            let qp = self.qp(inputs.msg_qpn);
            rules::reception(qp.state, qp.service, inputs.msg_error.is_high())
        });
        let hardware_event = inputs.hw_valid.is_high().then(|| {
            let QueuePair { state, service, notify } = *self.qp(inputs.hw_qpn);
            rules::hardware_event(state, service, notify, inputs.hw_kind.get() as u8)
        });
        // Section 7: an event that notifies software waits while the queue is full.
        let reports = hardware_event.is_some_and(|row| row.event.is_some());
        Cycle { reception, hardware_event, takes_events: !(reports && self.queue.is_full()) }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        // R1: the reset is asynchronous.
        if inputs.rst.is_high() {
            *outputs = Outputs::default();
            return;
        }
        let qp = self.qp(inputs.query_qpn);
        let [sq_post, rq_post, sq_run, rq_run] = permits(qp.state);
        let packet = |is_so: fn(&rules::RequestRule) -> bool| {
            Bits1::from(cycle.reception.is_some_and(is_so))
        };
        let takes_wqe = cycle.reception.is_some_and(|row| row.takes_wqe);
        let shown = self.queue.first();
        // Exhaustive, so that a changed port list of the RTL does not compile.
        *outputs = Outputs {
            cmd_ready: Bits1::from(!self.queue.is_full()),
            rsp_valid: Bits1::from(self.response.is_some()),
            rsp_qpn: Bits8::new(self.response.map_or(0, |response| u64::from(response.qpn))),
            rsp_code: Bits2::new(self.response.map_or(0, |response| response.answer as u64)),
            hw_ready: Bits1::from(cycle.takes_events),
            msg_accept: packet(|row| row.accept),
            msg_take_wqe: Bits1::from(takes_wqe && inputs.msg_consumes_wqe.is_high()),
            msg_ack: packet(|row| row.ack),
            msg_nak: packet(|row| row.nak),
            query_state: Bits3::new(qp.state as u64),
            query_sq_post: Bits1::from(sq_post),
            query_rq_post: Bits1::from(rq_post),
            query_sq_run: Bits1::from(sq_run),
            query_rq_run: Bits1::from(rq_run),
            evt_valid: Bits1::from(shown.is_some()),
            evt_qpn: Bits8::new(shown.map_or(0, |event| u64::from(event.qpn))),
            evt_code: Bits2::new(shown.map_or(0, |event| event.event as u64)),
            padding: [0; _],
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        if inputs.rst.is_high() {
            *self = Self::RESET;
            return R1;
        }
        let mut fired = Q1.with(cycle.reception.map_or(RuleSet::EMPTY, |row| row.rule));
        // Both readies depend on the registers before the edge.
        let hardware_event = cycle.hardware_event.filter(|_| cycle.takes_events);
        let applies = hardware_event.is_some();
        let modifies = inputs.cmd_valid.is_high() && !self.queue.is_full();
        fired = fired.with(E4.only_if(inputs.hw_valid.is_high() && !applies));
        fired = fired.with(E3.only_if(inputs.cmd_valid.is_high() && !modifies));
        // Section 5, step 1.
        let mut made = None;
        if let Some(row) = hardware_event {
            self.qp_mut(inputs.hw_qpn).follow(row);
            let qpn = inputs.hw_qpn.get() as u8;
            made = row.event.map(|event| SoftwareEvent { qpn, event });
            fired = fired.with(row.rule);
        }
        // Step 2.
        self.response = None;
        if modifies {
            let [next, service] = [inputs.cmd_next, inputs.cmd_service].map(|pin| pin.get() as u8);
            let row =
                self.qp_mut(inputs.cmd_qpn).modify(next, service, inputs.cmd_notify.is_high());
            // Step 4.
            let qpn = inputs.cmd_qpn.get() as u8;
            self.response = Some(Response { qpn, answer: row.answer });
            fired = fired.with(row.rule);
        }
        fired = fired.with(X1.only_if(applies && modifies && inputs.hw_qpn == inputs.cmd_qpn));
        // Step 3.
        if self.queue.first().is_some() && inputs.evt_ready.is_high() {
            self.queue.pop();
            fired = fired.with(E2);
        }
        if let Some(event) = made {
            self.queue.push(event);
            fired = fired.with(E1);
        }
        fired
    }

    #[inline]
    fn state(&self) -> &'static str {
        // All other state belongs to single QPs. The same failure should have the same state name.
        if self.queue.is_full() { "full" } else { "room" }
    }
}

#[cfg(test)]
mod tests;
