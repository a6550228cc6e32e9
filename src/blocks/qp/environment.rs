//! The environment: software, the neighboring hardware, and arriving packets.
//!
//! It follows the lists of the traffic, with the handshakes of the golden model.

use super::rtl::{Bits1, Bits2, Bits3, Bits8, Inputs, Outputs};
use super::traffic::{Command, Event, Packet, Step, Traffic};
use super::{KINDS, name_of};
use cosim_core::harness::{self, Delays, Noise, Pace, Parameters, longest, longest_reset};
use cosim_core::value::Uint;

/// Idle cycles at the end, in which the last answer and state change are checked.
const DRAIN: u64 = 4;
/// Cycles without progress to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 64;

#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    steps: &'a [Step],
    started: usize,
    /// Cycles before the next step begins.
    gap: u64,
    command: Option<Command>,
    event: Option<Event>,
    packet: Option<Packet>,
    query: Uint<8>,
    /// Software, which takes events.
    software: Delays<'a>,
    pace: Pace,
}

impl Environment<'_> {
    /// Begins the next step, if it is due.
    #[inline]
    fn start_step(&mut self) {
        let Some(step) = self.steps.get(self.started) else { return };
        if self.gap > 0 {
            self.gap -= 1;
            return;
        }
        if step.instead.get() == 1 {
            (self.command, self.event) = (None, None);
        }
        let is_free = (step.command.is_none() || self.command.is_none())
            && (step.event.is_none() || self.event.is_none());
        if !is_free {
            return;
        }
        self.command = step.command.or(self.command);
        self.event = step.event.or(self.event);
        self.packet = step.packet;
        self.query = step.query.unwrap_or(self.query);
        self.pace.start(step.reset);
        self.pace.handshakes += 1;
        self.pace.packets += 1;
        self.started += 1;
        self.gap = self.steps.get(self.started).map_or(0, |step| step.gap.get());
    }

    /// Whether no reset is active or planned.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.pace.reset.is_over()
    }

    /// Describes what is on offer and what comes next.
    pub(crate) fn in_flight(&self) -> Vec<String> {
        let command = self.command.map(|command| {
            let (qpn, next) = (command.qpn.get(), name_of(command.next.get()));
            format!("command on offer: QP {qpn} to {next}")
        });
        let event = self.event.map(|event| {
            let kind = KINDS[event.kind.get() as usize];
            format!("event on offer: QP {} {kind}", event.qpn.get())
        });
        let next = format!("{} of {} steps have begun", self.started, self.steps.len());
        command.into_iter().chain(event).chain([next]).collect()
    }
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        let timeout = SLACK
            + longest(traffic.steps.iter().map(|step| step.gap))
            + longest_reset(traffic.steps.iter().map(|step| step.reset))
            + longest(traffic.evt_stalls.iter().copied());
        let mut environment = Self {
            noise: Noise::new(traffic.noise.get()),
            steps: &traffic.steps,
            started: 0,
            gap: traffic.steps.first().map_or(0, |step| step.gap.get()),
            command: None,
            event: None,
            packet: None,
            query: Uint::new(0),
            software: Delays::new(&traffic.evt_stalls),
            pace: Pace::new(DRAIN, timeout),
        };
        environment.start_step();
        environment
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        let mut idle = self.noise.idle();
        inputs.rst = Bits1::from(self.pace.reset.asserted());

        let (qpn, next, service, notify) =
            (idle.next_bits(0), idle.next_bits(1), idle.next_bits(1), idle.next_bits(1));
        let noise = Command { qpn, next, service, notify };
        let Command { qpn, next, service, notify } = self.command.unwrap_or(noise);
        inputs.cmd_valid = Bits1::from(self.command.is_some());
        inputs.cmd_qpn = Bits8::new(qpn.get());
        inputs.cmd_next = Bits3::new(next.get());
        inputs.cmd_service = Bits3::new(service.get());
        inputs.cmd_notify = Bits1::new(notify.get());

        let noise = Event { qpn: idle.next_bits(0), kind: idle.next_bits(1) };
        let Event { qpn, kind } = self.event.unwrap_or(noise);
        inputs.hw_valid = Bits1::from(self.event.is_some());
        inputs.hw_qpn = Bits8::new(qpn.get());
        inputs.hw_kind = Bits2::new(kind.get());

        let noise = Packet {
            qpn: idle.next_bits(0),
            consumes_wqe: idle.next_bits(1),
            error: idle.next_bits(1),
        };
        let Packet { qpn, consumes_wqe, error } = self.packet.unwrap_or(noise);
        inputs.msg_valid = Bits1::from(self.packet.is_some());
        inputs.msg_qpn = Bits8::new(qpn.get());
        inputs.msg_consumes_wqe = Bits1::new(consumes_wqe.get());
        inputs.msg_error = Bits1::new(error.get());

        inputs.query_qpn = Bits8::new(self.query.get());
        inputs.evt_ready = Bits1::from(self.software.is_over());
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        self.packet = None;
        if let Some(event) = self.event.take_if(|_| outputs.hw_ready.is_high()) {
            self.query = event.qpn;
            self.pace.handshakes += 1;
        }
        if let Some(command) = self.command.take_if(|_| outputs.cmd_ready.is_high()) {
            self.query = command.qpn;
            self.pace.handshakes += 1;
        }
        let shows_event = outputs.evt_valid.is_high();
        self.pace.handshakes += u64::from(shows_event && self.software.clock());
        let is_idle = self.started == self.steps.len()
            && self.command.is_none()
            && self.event.is_none()
            && !shows_event
            && !inputs.rst.is_high();
        self.start_step();
        self.pace.clock(is_idle);
    }

    #[inline]
    fn finished(&self) -> bool {
        self.pace.is_over()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.pace.handshakes
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.pace.timeout()
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.pace.packets
    }
}

#[cfg(test)]
mod tests;
