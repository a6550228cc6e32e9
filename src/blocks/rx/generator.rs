//! The constrained-random generator of traffic: combines the generators of the inner blocks for the
//! same QPs.

pub(crate) mod chaos;
pub(crate) mod scenarios;

use super::Rx;
use super::rtl::Inputs;
use super::rules::parameters::{of_dll, of_thread2};
use super::traffic::{Request, Traffic, may_close, of_long_sends};
use crate::blocks::qp::traffic::{Command, Step};
use crate::blocks::thread2::traffic::Packet;
use crate::blocks::{dll, qp, thread2};
use cosim_core::harness::{self, CaseRng, Draw, Parameters, Scenario};
use cosim_core::value::{Uint, n};
use rand::RngExt;
use scenarios::Weights;

/// States on the path to one that accepts packets.
const WAY: [u64; 3] = [1, 2, 3];
/// Approximate number of cycles per command.
const CYCLES_PER_COMMAND: u64 = 2;

impl harness::Weights<Rx> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("generator/scenarios.toml"))
    }

    /// Draws traffic of about `packets` packets; every traffic is legal.
    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        let noise = rng.bits();
        let for_qps = (0..packets).filter(|_| rng.chance(self.requests_share)).count() as u32;
        let for_thread2 = of_thread2(parameters);
        let drawn = thread2::generator::traffic(&self.requests, &for_thread2, for_qps, rng);
        let receive = self.receive.traffic(parameters, packets - for_qps, rng);
        let qps = qps(&drawn.packets);
        let is_long = of_long_sends(drawn.packets.iter());

        let opening = opening(self, &qps, rng);
        let mut requests: Vec<Request> = drawn
            .packets
            .into_iter()
            .map(|packet| {
                let qpn = (packet.header.local_qpn.get() & 0xff) as usize;
                let error = !is_long[qpn] && rng.chance(self.errors);
                Request { packet, error: error.into() }
            })
            .collect();
        if let Some(first) = requests.first_mut()
            && !rng.chance(self.early)
        {
            let gap = first.packet.gap.get() + CYCLES_PER_COMMAND * opening.len() as u64;
            first.packet.gap = n(gap.min(Uint::<12>::MAX));
        }
        let software = software(self, &qps, &opening, &is_long, packets, rng);

        let times = |request: &Request| 1 + request.packet.again.get();
        let sent = requests.iter().map(times).sum::<u64>() + receive.packets();
        let mut link = dll::generator::traffic(&self.link, &of_dll(parameters), sent as u32, rng);
        link.tlps.clear();
        let fetch_waits = rng.waits(sent, self.fetch_wait, self.longest_fetch_wait);
        Traffic { noise, tables: drawn.tables, requests, receive, software, link, fetch_waits }
    }

    fn raw_cycles_per_packet(&self) -> Uint<8> {
        self.raw_cycles_per_packet
    }

    fn raw_pins(cycles: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
        chaos::cycles(cycles, parameters, rng)
    }
}

/// The QPs of some packets with their services, in the order of their first packets.
fn qps(packets: &[Packet]) -> Vec<(u8, u64)> {
    let mut qps: Vec<(u8, u64)> = Vec::new();
    for Packet { header, .. } in packets {
        let qpn = header.local_qpn.get() as u8;
        if qps.iter().all(|(known, _)| *known != qpn) {
            qps.push((qpn, header.service_type.get()));
        }
    }
    qps
}

fn command(qpn: u8, next: u64, service: u64) -> Command {
    Command { qpn: n(qpn.into()), next: n(next), service: n(service), notify: n(0) }
}

/// The commands that open QPs: most of them to RTR or RTS, some not so far, interleaved.
fn opening(weights: &Weights, qps: &[(u8, u64)], rng: &mut CaseRng) -> Vec<Command> {
    let mut way = |_| match rng.chance(weights.closed) {
        true => rng.random_range(0..2),
        false => rng.random_range(2..=WAY.len()),
    };
    let ways: Vec<usize> = qps.iter().map(&mut way).collect();
    let step = |index: usize| {
        let going = qps.iter().zip(&ways).filter(move |(_, way)| index < **way);
        going.map(move |((qpn, service), _)| command(*qpn, WAY[index], *service))
    };
    (0..WAY.len()).flat_map(step).collect()
}

/// The steps of software: QPs are opened and used, and some are opened again.
fn software(
    weights: &Weights,
    qps: &[(u8, u64)],
    opening: &[Command],
    is_long: &[bool; 256],
    packets: u32,
    rng: &mut CaseRng,
) -> qp::traffic::Traffic {
    let noise = rng.bits();
    let few = qps.iter().map(|(qpn, _)| *qpn).collect();
    let steps = (u64::from(packets) * weights.steps.get()).div_ceil(100) as u32;
    let mut software =
        qp::generator::software_traffic(&weights.software, noise, few, opening, steps, rng);
    let mut reopened = Vec::new();
    for step in &mut software.steps {
        // QPs with long SENDs must stay open.
        while let Some(field) = may_close(step, is_long) {
            match field {
                "command.next" => step.command = None,
                _ => step.event = None,
            }
        }
        step.packet = None;
        // A QP keeps the service of its packets.
        if let Some(command) = &mut step.command {
            let qpn = command.qpn.get() as u8;
            let known = qps.iter().find(|(known, _)| *known == qpn);
            command.service = n(known.map_or(0, |(_, service)| *service));
        }
        reopened.push(step.clone());
        if !qps.is_empty() && rng.chance(weights.reopen) {
            let (qpn, service) = rng.one_of(qps);
            let open = WAY.map(|next| Some(command(qpn, next, service)));
            reopened.extend(open.map(|command| Step { command, ..Step::default() }));
        }
    }
    software.steps = reopened;
    software
}
