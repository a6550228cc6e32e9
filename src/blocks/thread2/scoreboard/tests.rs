//! What the scoreboard counts of a correct model, and the check that no fault of a pin triggers.

use super::*;
use crate::blocks::testing::{Judge, REPAIRED, SPEC};
use crate::blocks::thread2::Thread2;
use crate::blocks::thread2::rules::layout::{opcode, qp_state};
use crate::blocks::thread2::traffic::{Unit, Wqe};
use cosim_core::harness::{Reset, Scoreboard as _, Traffic as _};
use cosim_core::value::Uint;

/// Events that repeat their CQE while they wait: F1 without F2.
const REPEATING: u8 = 0x02;

/// A solicited packet of an RC QP in RTS with entries of 64 bytes in a ring of 256. Its units are
/// given by size.
fn packet(net_opcode: u64, length: u64, units: &[u64]) -> Packet {
    let mut packet = Packet::default();
    packet.context.qp_state = Uint::new(qp_state::RTS);
    packet.context.rq_entry_sz_log = Uint::new(6);
    packet.context.rq_length = Uint::new(256);
    packet.header.net_opcode = Uint::new(net_opcode);
    packet.header.solicited = Uint::new(1);
    packet.header.pkt_length = Uint::new(length);
    let unit = |bytes: &u64| Unit {
        data: DataUnit { byte_cnt: Uint::new(*bytes), ..DataUnit::default() },
        ..Unit::default()
    };
    packet.wqe = Some(Wqe { units: units.iter().map(unit).collect(), ..Wqe::default() });
    packet
}

fn traffic(packets: Vec<Packet>) -> Traffic {
    Traffic { packets, ..Traffic::default() }
}

/// A packet with changes.
fn one_packet(mut packet: Packet, change: impl FnOnce(&mut Packet)) -> Traffic {
    change(&mut packet);
    traffic(vec![packet])
}

/// A SEND without payload. Its event waits for a cycle, and without F2 once more after the repeated
/// CQE.
fn waiting_event() -> Traffic {
    one_packet(packet(opcode::SEND_ONLY, 0, &[0]), |packet| {
        packet.mr_stalls = [0, 1, 1].map(Uint::new).to_vec();
    })
}

/// The counters, by mask.
fn counts(traffic: &Traffic, mask: u8) -> Vec<u64> {
    Judge::new(mask).counts::<Thread2>(traffic, |_, _, _| {}).unwrap()
}

/// In the order of the counters: lost, dropped, payload bytes, CQEs, events, acknowledges, RQ
/// steps.
#[test]
fn a_right_model_pays_exactly_what_it_owes() {
    assert_eq!(Scoreboard::counters()[2].name, "payload bytes");
    let send = || packet(opcode::SEND_ONLY, 100, &[60, 60]);
    assert_eq!(counts(&traffic(vec![send()]), REPAIRED), [0, 0, 100, 1, 1, 1, 1]);
    let unreliable = one_packet(send(), |packet| packet.header.service_type = Uint::new(3));
    assert_eq!(counts(&unreliable, REPAIRED), [0, 0, 100, 1, 1, 0, 1]);
    let too_long = traffic(vec![packet(opcode::SEND_ONLY, 100, &[60])]);
    assert_eq!(counts(&too_long, REPAIRED), [0, 0, 60, 1, 1, 1, 1]);
    // S0 has no events, and an RDMA WRITE with immediate is not completed.
    let write = traffic(vec![packet(opcode::RDMA_WRITE_ONLY_WITH_IMM, 100, &[0])]);
    assert_eq!(counts(&write, SPEC), [0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(counts(&write, REPAIRED), [0, 0, 0, 1, 1, 1, 1]);
    // A message over several packets splits units. One that comes again is as many packets.
    let units = [60, 60, 130];
    let mut message = traffic(vec![
        packet(opcode::SEND_FIRST, 70, &units),
        packet(opcode::SEND_MIDDLE, 40, &units),
        packet(opcode::SEND_LAST, 60, &units),
    ]);
    message.packets[1].again = Uint::new(2);
    assert_eq!(counts(&message, REPAIRED), [0, 0, 70 + 3 * 40 + 60, 1, 1, 5, 1]);
    // A loss by T08 is counted and not blamed; after a reset it is none.
    let mut waiting = one_packet(packet(opcode::SEND_ONLY, 60, &[60, 0]), |packet| {
        packet.wqe.as_mut().unwrap().stall = Uint::new(1);
    });
    assert_eq!(counts(&waiting, SPEC), [1, 0, 0, 0, 0, 0, 0]);
    waiting.packets[0].reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(2) });
    assert_eq!(counts(&waiting, SPEC), [0; 7]);
    // A CQE is repeated as often as its event waits, without F2.
    assert_eq!(counts(&waiting_event(), REPEATING), [0, 0, 0, 3, 1, 1, 1]);
    assert_eq!(counts(&waiting_event(), REPAIRED), [0, 0, 0, 1, 1, 1, 1]);
}

/// The scoreboard's own codes against the golden model's, for every packet and every single fix.
#[test]
fn a_right_model_is_right_for_every_code() {
    let masks = [SPEC, REPAIRED].into_iter().chain((0..8).map(|n| 1 << n));
    for mask in masks {
        for (net_opcode, code) in (0..32).flat_map(|opcode| (0..8).map(move |code| (opcode, code)))
        {
            let mut packet = packet(net_opcode, 100, &[60, 300, 0]);
            packet.header.service_type = Uint::new(code);
            let mut in_state = packet.clone();
            in_state.context.qp_state = Uint::new(code);
            counts(&traffic(vec![packet, in_state]), mask);
        }
    }
}

/// No fault of a single pin shows it: the CQE comes in the place of the acknowledge.
#[test]
fn requests_in_another_order_are_noticed() {
    Judge::new(REPEATING).fires::<Thread2>("request-order", &waiting_event(), |_, _, outputs| {
        let data = &mut outputs.fetch_mr_ingress_data;
        let seen = MrData::decode(data);
        if outputs.fetch_mr_ingress_valid.is_high() && seen.opcode.get() == opcode::ACKNOWLEDGE {
            *data = MrData { opcode: Uint::new(opcode::GEN_CQE), ..seen }.encode(*data);
        }
    });
}

#[test]
fn what_comes_again_is_in_the_middle_of_a_message_and_messages_have_an_end() {
    let of = |net_opcode, length, again| {
        let mut packet = packet(net_opcode, length, &[0xffff]);
        packet.again = Uint::new(again);
        packet
    };
    let first = || of(opcode::SEND_FIRST, 0xffff, 0);
    let middle = |again| of(opcode::SEND_MIDDLE, 0xffff, again);
    let objection = |packets| traffic(packets).check().err().map(|objection| objection.path);
    // 65535 * 65536 bytes and 65535 more are 2^32 - 1.
    assert_eq!(objection(vec![first(), middle(0xffff)]), None);
    let too_long = objection(vec![first(), middle(0xfffe), middle(1)]);
    assert_eq!(too_long.as_deref(), Some("packets[2].header.pkt_length"));
    let again = objection(vec![of(opcode::SEND_FIRST, 1, 1)]);
    assert_eq!(again.as_deref(), Some("packets[0].again"));
    let mut with_reset = middle(1);
    with_reset.reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(1) });
    assert_eq!(objection(vec![first(), with_reset]).as_deref(), Some("packets[1].again"));
}
