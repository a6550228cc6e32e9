//! The constrained-random generator of traffic.
//!
//! It tracks the state of each QP, to request both legal and illegal transitions.

pub(crate) mod chaos;
pub(crate) mod scenarios;

use super::Qp;
use super::golden::QueuePair;
use super::rtl::Inputs;
use super::rules::{DESTROY, State};
use super::traffic::{Command, Event, Packet, Step, Traffic};
use cosim_core::harness::{self, CaseRng, Draw, Parameters, Percent, Scenario};
use cosim_core::value::{Uint, n};
use rand::RngExt;
use scenarios::Weights;

/// A reset follows the beginning of its step within this number of cycles.
const RESET_WITHIN: u64 = 12;

impl harness::Weights<Qp> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("generator/scenarios.toml"))
    }

    /// Draws traffic of `packets` steps; every traffic is legal.
    fn traffic(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        let noise = rng.bits();
        let few = few(self, rng);
        software_traffic(self, noise, few, &[], packets, rng)
    }

    fn raw_cycles_per_packet(&self) -> Uint<8> {
        self.raw_cycles_per_packet
    }

    fn raw_pins(cycles: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
        chaos::cycles(cycles, parameters, rng)
    }
}

/// Draws `packets` steps for a few QPs, after the given commands.
pub(crate) fn software_traffic(
    weights: &Weights,
    noise: Uint<64>,
    few: Vec<u8>,
    before: &[Command],
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    let qps = Box::new([QueuePair::RESET; 256]);
    let mut generator = Generator { weights, few, qps, last: Step::default(), rng };
    let mut steps: Vec<Step> =
        before.iter().map(|command| generator.step_of_command(*command)).collect();
    if generator.rng.chance(weights.crowd) {
        generator.crowd(&mut steps);
    }
    if !generator.few.is_empty() {
        steps.extend((0..packets).map(|_| generator.step()));
    }
    // There are at most as many events as steps.
    let evt_stalls = rng.waits(packets.into(), weights.evt_stall, weights.longest_evt_stall);
    Traffic { noise, steps, evt_stalls }
}

/// The QPs of a case. Half of them differ from the first one in one bit, to detect RTL that drops
/// an address bit.
fn few(weights: &Weights, rng: &mut CaseRng) -> Vec<u8> {
    let any = |rng: &mut CaseRng| rng.bits_or_corner::<8>(weights.corners).get() as u8;
    let first = any(rng);
    let others = 1..weights.qps.draw(rng);
    let other = |rng: &mut CaseRng| match rng.random() {
        true => first ^ 1 << rng.random_range(0..8),
        false => any(rng),
    };
    std::iter::once(first).chain(others.map(|_| other(rng))).collect()
}

struct Generator<'a> {
    weights: &'a Weights,
    /// The QPs of the case.
    few: Vec<u8>,
    qps: Box<[QueuePair; 256]>,
    /// The last command and event on offer, which may still wait.
    last: Step,
    rng: &'a mut CaseRng,
}

impl Generator<'_> {
    fn qpn(&mut self) -> u8 {
        self.rng.one_of(&self.few)
    }

    /// A QP of the case, or that of the step.
    fn near(&mut self, qpn: u8) -> u8 {
        if self.rng.chance(self.weights.same_qp) { qpn } else { self.qpn() }
    }

    /// The next state in the usual life of a QP, if software decides about it.
    fn onward(&mut self, state: State) -> Option<State> {
        Some(match state {
            State::Reset => State::Init,
            State::Init => State::Rtr,
            State::Rtr | State::Sqe => State::Rts,
            State::Rts => State::Sqd,
            State::Sqd if self.rng.chance(Percent::new(25)) => State::Sqd,
            State::Sqd => State::Rts,
            State::Err => return None,
        })
    }

    /// A command for a QP that is assumed to be in a state.
    fn command(&mut self, qpn: u8, state: State) -> Command {
        let onward = self.onward(state).filter(|_| self.rng.chance(self.weights.onward));
        let next = match onward {
            Some(state) => state as u8,
            // The transitions that leave ERR.
            None if state == State::Err && self.rng.chance(self.weights.onward) => {
                if self.rng.random() { State::Reset as u8 } else { DESTROY }
            }
            None => self.rng.random_range(0..8),
        };
        let drains = state == State::Rts && next == State::Sqd as u8;
        let often = if drains { self.weights.notify } else { self.weights.stray_notify };
        let service: u8 = self.rng.random_range(0..8);
        let (qpn, next, service) = (n(qpn.into()), n(next.into()), n(service.into()));
        Command { qpn, next, service, notify: self.rng.flag(often) }
    }

    fn step_of_command(&mut self, command: Command) -> Step {
        self.follow(command);
        Step { command: Some(command), ..Step::default() }
    }

    /// Brings all QPs into states, most of them into the same one: a QP must not depend on the
    /// state of any other. From then on the case uses all QPs.
    fn crowd(&mut self, steps: &mut Vec<Step>) {
        // Commands from RESET to each state; a send error leads from RTS to SQE.
        const WAYS: [&[u64]; 7] = [&[], &[1], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4], &[1, 2, 3], &[6]];
        const SQE: usize = State::Sqe as usize;
        const UNRELIABLE: [u64; 5] = [1, 3, 4, 6, 7];
        let common = self.rng.random_range(0..WAYS.len());
        let (first, stride) = (self.rng.random::<u8>(), self.rng.random::<u8>() | 1);
        let mut event = None;
        for place in 0..=u8::MAX {
            let qpn = n(first.wrapping_add(place.wrapping_mul(stride)).into());
            let is_common = self.rng.chance(Percent::new(70));
            let state = if is_common { common } else { self.rng.random_range(0..WAYS.len()) };
            let service = match state {
                SQE => self.rng.one_of(&UNRELIABLE),
                _ => self.rng.random_range(0..8),
            };
            for next in WAYS[state] {
                let command = Command { qpn, next: n(*next), service: n(service), notify: n(0) };
                steps.push(Step { event: event.take(), ..self.step_of_command(command) });
            }
            if state == SQE {
                event = Some(Event { qpn, kind: n(2) });
                self.qps[qpn.get() as usize].apply_event(2);
            }
        }
        steps.push(Step { event, ..Step::default() });
        self.few = (0..=u8::MAX).collect();
    }

    /// The last offers with one field changed.
    fn changed(&mut self) -> Step {
        let Step { mut command, mut event, .. } = self.last.clone();
        let (qpn, part) = (n(self.qpn().into()), self.rng.random_range(0..8));
        if let Some(command) = &mut command {
            match part {
                0 => command.qpn = qpn,
                1 => command.service = n(self.rng.random_range(0..8)),
                2 => command.notify = n(1 - command.notify.get()),
                3 | 4 => command.next = n(self.rng.random_range(0..8)),
                // These are legal in every state, so that a wrong state is visible.
                _ => command.next = n(self.rng.one_of(&[0, 6, 7])),
            }
        }
        if let Some(event) = &mut event {
            match part {
                0 | 1 => event.qpn = qpn,
                _ => event.kind = n(self.rng.random_range(0..4)),
            }
        }
        Step { command, event, ..Step::default() }
    }

    /// Updates the tracked QP for a command.
    fn follow(&mut self, command: Command) {
        let [next, service] = [command.next, command.service].map(|code| code.get() as u8);
        let qp = &mut self.qps[command.qpn.get() as usize];
        qp.modify(next, service, command.notify.get() == 1);
    }

    fn event(&mut self, qpn: u8) -> Event {
        let kind = match self.qps[usize::from(qpn)].state {
            _ if self.rng.chance(self.weights.fatal) => 3,
            _ if !self.rng.chance(self.weights.fitting) => self.rng.random_range(0..3),
            State::Rtr => 0,
            State::Sqd => 1,
            State::Rts => 2,
            _ => self.rng.random_range(0..3),
        };
        Event { qpn: n(qpn.into()), kind: n(kind) }
    }

    fn packet(&mut self, qpn: u8) -> Packet {
        Packet {
            qpn: n(qpn.into()),
            consumes_wqe: self.rng.random::<bool>().into(),
            error: self.rng.flag(self.weights.packet_error),
        }
    }

    /// A step, which may replace an offer that waits.
    fn step(&mut self) -> Step {
        let instead = self.rng.chance(self.weights.instead);
        let step = match instead && self.rng.random() {
            true => self.changed(),
            false => self.fresh(),
        };
        self.last.command = step.command.or(self.last.command);
        self.last.event = step.event.or(self.last.event);
        Step { instead: instead.into(), ..step }
    }

    fn fresh(&mut self) -> Step {
        let qpn = self.qpn();
        let gap = self.rng.wait(self.weights.gap, self.weights.longest_gap);
        let event = self.rng.chance(self.weights.events);
        let event = event.then(|| {
            let qpn = self.near(qpn);
            self.event(qpn)
        });
        // The event comes first, and half of the commands take it into account.
        let mut state = self.qps[usize::from(qpn)].state;
        if let Some(event) = event {
            self.qps[event.qpn.get() as usize].apply_event(event.kind.get() as u8);
        }
        if self.rng.random() {
            state = self.qps[usize::from(qpn)].state;
        }
        let command = self.rng.chance(self.weights.commands).then(|| self.command(qpn, state));
        if let Some(command) = command {
            self.follow(command);
        }
        let packet = self.rng.chance(self.weights.packets).then(|| {
            let qpn = self.near(qpn);
            self.packet(qpn)
        });
        let query = self.rng.chance(self.weights.query).then(|| n(self.qpn().into()));
        let reset = self.rng.reset(self.weights.reset, RESET_WITHIN);
        if reset.is_some() {
            // Approximate: what is accepted until the reset is lost as well.
            *self.qps = [QueuePair::RESET; 256];
        }
        Step { gap, command, event, packet, query, reset, ..Step::default() }
    }
}
