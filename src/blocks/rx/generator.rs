//! The constrained-random generator of traffic: combines the generators of the inner blocks for the
//! same QPs.

pub(crate) mod chaos;
pub(crate) mod scenarios;

use super::rules::parameters::{of_dll, of_thread2};
use super::traffic::{Request, Traffic, may_close, of_long_sends};
use crate::blocks::qp::traffic::Command;
use crate::blocks::thread2::stimulus::Packet;
use crate::blocks::{dll, qp, recv, thread2};
use cosim_core::harness::{CaseRng, Draw, Parameters};
use cosim_core::value::Uint;
use rand::RngExt;
use scenarios::Weights;

/// States on the path to one that accepts packets.
const WAY: [u64; 3] = [1, 2, 3];
/// Approximate number of cycles per command.
const CYCLES_PER_COMMAND: u64 = 2;

/// Draws traffic of about `packets` packets; every traffic is legal.
pub fn traffic(
    weights: &Weights,
    parameters: &Parameters,
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    let noise = rng.bits();
    let for_qps = (0..packets).filter(|_| rng.chance(weights.requests_share)).count() as u32;
    let for_thread2 = of_thread2(parameters);
    let drawn = thread2::generator::traffic(&weights.requests, &for_thread2, for_qps, rng);
    let receive = recv::generator::traffic(&weights.receive, parameters, packets - for_qps, rng);
    let qps = qps(&drawn.packets);
    let is_long = of_long_sends(drawn.packets.iter());

    let opening = opening(weights, &qps, rng);
    let mut requests: Vec<Request> = drawn
        .packets
        .into_iter()
        .map(|packet| {
            let qpn = (packet.header.local_qpn.get() & 0xff) as usize;
            let error = !is_long[qpn] && rng.chance(weights.errors);
            Request { packet, error: Uint::new(u64::from(error)) }
        })
        .collect();
    if let Some(first) = requests.first_mut()
        && !rng.chance(weights.early)
    {
        let gap = first.packet.gap.get() + CYCLES_PER_COMMAND * opening.len() as u64;
        first.packet.gap = Uint::new(gap.min(Uint::<12>::MAX));
    }
    let software = software(weights, &qps, &opening, &is_long, packets, rng);

    let times = |request: &Request| 1 + request.packet.again.get();
    let sent = requests.iter().map(times).sum::<u64>() + receive.packets();
    let mut link = dll::generator::traffic(&weights.link, &of_dll(parameters), sent as u32, rng);
    link.tlps.clear();
    let mut fetch_waits: Vec<Uint<12>> =
        (0..sent).map(|_| rng.wait(weights.fetch_wait, weights.longest_fetch_wait)).collect();
    let used = fetch_waits.iter().rposition(|wait| wait.get() > 0).map_or(0, |last| last + 1);
    fetch_waits.truncate(used);
    Traffic { noise, tables: drawn.tables, requests, receive, software, link, fetch_waits }
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
    Command {
        qpn: Uint::new(u64::from(qpn)),
        next: Uint::new(next),
        service: Uint::new(service),
        notify: Uint::new(0),
    }
}

/// The commands that open QPs: most of them to RTR or RTS, some not so far, interleaved.
fn opening(weights: &Weights, qps: &[(u8, u64)], rng: &mut CaseRng) -> Vec<Command> {
    let ways: Vec<usize> = qps
        .iter()
        .map(|_| match rng.chance(weights.closed) {
            true => rng.random_range(0..2),
            false => rng.random_range(2..=WAY.len()),
        })
        .collect();
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
            command.service = Uint::new(known.map_or(0, |(_, service)| *service));
        }
        reopened.push(step.clone());
        if !qps.is_empty() && rng.chance(weights.reopen) {
            let (qpn, service) = qps[rng.random_range(0..qps.len())];
            reopened.extend(WAY.iter().map(|next| qp::traffic::Step {
                command: Some(command(qpn, *next, service)),
                ..Default::default()
            }));
        }
    }
    software.steps = reopened;
    software
}
