//! The environment: software, the neighboring hardware, and arriving packets.
//!
//! It follows the lists of the traffic, with the handshakes of the golden model.

use super::rtl::{Bits1, Bits2, Bits3, Bits8, Inputs, Outputs};
use super::stimulus::{Command, Event, Packet, Step, Traffic};
use super::{KINDS, Qp, name_of};
use cosim_core::harness::{self, Delays, Noise, Parameters, ResetTimer};
use cosim_core::value::Uint;

/// Idle cycles at the end, in which the last answer and state change are checked.
const DRAIN: u64 = 4;
/// Cycles without progress to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 64;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    steps: &'a [Step],
    /// Number of steps that have begun.
    begun: usize,
    /// Cycles before the next step begins.
    gap: u64,
    command: Option<Command>,
    event: Option<Event>,
    packet: Option<Packet>,
    query: Uint<8>,
    /// Software, which takes events.
    software: Delays<'a>,
    reset: ResetTimer,
    drained: u64,
    handshakes: u64,
    progress_timeout: u64,
}

/// Cycles without progress that the traffic can cause.
fn progress_timeout(traffic: &Traffic) -> u64 {
    let gap = traffic.steps.iter().map(|step| step.gap.get()).max();
    let reset = traffic.steps.iter().filter_map(|step| step.reset).map(|reset| reset.total()).max();
    let stall = traffic.evt_stalls.iter().map(|stall| stall.get()).max();
    SLACK + [gap, reset, stall].into_iter().flatten().sum::<u64>()
}

impl Environment<'_> {
    /// Begins the next step, if it is due.
    #[inline]
    fn begin(&mut self) {
        let Some(step) = self.steps.get(self.begun) else { return };
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
        if let Some(reset) = step.reset {
            self.reset.start(reset);
        }
        self.begun += 1;
        self.gap = self.steps.get(self.begun).map_or(0, |step| step.gap.get());
    }

    /// Whether no reset is active or planned.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.reset.is_over()
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
        let next = format!("{} of {} steps have begun", self.begun, self.steps.len());
        command.into_iter().chain(event).chain([next]).collect()
    }
}

impl<'a> harness::Environment<'a, Qp> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        let mut environment = Self {
            noise: Noise::new(traffic.noise.get()),
            steps: &traffic.steps,
            begun: 0,
            gap: traffic.steps.first().map_or(0, |step| step.gap.get()),
            command: None,
            event: None,
            packet: None,
            query: Uint::new(0),
            software: Delays::new(&traffic.evt_stalls),
            reset: ResetTimer::default(),
            drained: 0,
            handshakes: 0,
            progress_timeout: progress_timeout(traffic),
        };
        environment.begin();
        environment
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        // Exhaustive, so that a changed port list of the RTL does not compile.
        let Inputs {
            rst,
            cmd_valid,
            cmd_qpn,
            cmd_next,
            cmd_service,
            cmd_notify,
            hw_valid,
            hw_qpn,
            hw_kind,
            msg_valid,
            msg_qpn,
            msg_consumes_wqe,
            msg_error,
            query_qpn,
            evt_ready,
            padding: _,
        } = inputs;
        let bit = Bits1::from;
        let [qpns, others] = self.noise.words();
        let [qpns, others] = [u64::from(qpns), u64::from(others)];
        *rst = bit(self.reset.asserted());

        *cmd_valid = bit(self.command.is_some());
        let command = self.command.unwrap_or(Command {
            qpn: Uint::new(qpns),
            next: Uint::new(others),
            service: Uint::new(others >> 3),
            notify: Uint::new(others >> 6),
        });
        *cmd_qpn = Bits8::new(command.qpn.get());
        *cmd_next = Bits3::new(command.next.get());
        *cmd_service = Bits3::new(command.service.get());
        *cmd_notify = Bits1::new(command.notify.get());

        *hw_valid = bit(self.event.is_some());
        let idle = Event { qpn: Uint::new(qpns >> 8), kind: Uint::new(others >> 7) };
        let event = self.event.unwrap_or(idle);
        *hw_qpn = Bits8::new(event.qpn.get());
        *hw_kind = Bits2::new(event.kind.get());

        *msg_valid = bit(self.packet.is_some());
        let packet = self.packet.unwrap_or(Packet {
            qpn: Uint::new(qpns >> 16),
            consumes_wqe: Uint::new(others >> 9),
            error: Uint::new(others >> 10),
        });
        *msg_qpn = Bits8::new(packet.qpn.get());
        *msg_consumes_wqe = Bits1::new(packet.consumes_wqe.get());
        *msg_error = Bits1::new(packet.error.get());

        *query_qpn = Bits8::new(self.query.get());
        *evt_ready = bit(self.software.is_over());
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let high = |pin: Bits1| pin.get() == 1;
        self.packet = None;
        if let Some(event) = self.event
            && high(outputs.hw_ready)
        {
            self.query = event.qpn;
            self.event = None;
            self.handshakes += 1;
        }
        if let Some(command) = self.command
            && high(outputs.cmd_ready)
        {
            self.query = command.qpn;
            self.command = None;
            self.handshakes += 1;
        }
        if high(outputs.evt_valid) && self.software.clock() {
            self.handshakes += 1;
        }
        let idle = self.begun == self.steps.len()
            && self.command.is_none()
            && self.event.is_none()
            && !high(outputs.evt_valid)
            && !high(inputs.rst);
        self.drained = if idle { self.drained + 1 } else { 0 };
        self.begin();
        self.reset.clock();
    }

    #[inline]
    fn finished(&self) -> bool {
        self.reset.is_over() && self.drained >= DRAIN
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.handshakes + self.begun as u64
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.progress_timeout
    }

    fn packets(&self) -> u64 {
        self.begun as u64
    }
}

#[cfg(test)]
mod tests;
