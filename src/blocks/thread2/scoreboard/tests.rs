//! What the scoreboard counts of a correct model, and the checks that no fault of a pin triggers.

use super::*;
use crate::blocks::testing::{Judge, REPAIRED, SPEC, fault};
use crate::blocks::thread2::Thread2;
use crate::blocks::thread2::layout::{NextUnit, opcode, qp_state, service};
use crate::blocks::thread2::stimulus::{Entry, Unit, Wqe};
use cosim_core::harness::{Reset, Scoreboard as _};
use cosim_core::value::Uint;

/// Events that repeat their CQE while they wait: F1 without F2.
const REPEATING: u8 = 0x02;
const QP: u64 = 9;

/// A packet of an RC QP in RTS with entries of 64 bytes in a ring of 256. Its units are given by
/// size.
fn packet(net_opcode: u64, length: u64, units: &[u64]) -> Packet {
    let mut packet = Packet::default();
    packet.context.qp_state = Uint::new(qp_state::RTS);
    packet.context.rq_entry_sz_log = Uint::new(6);
    packet.context.rq_length = Uint::new(256);
    packet.header.local_qpn = Uint::new(QP);
    packet.header.net_opcode = Uint::new(net_opcode);
    packet.header.service_type = Uint::new(service::RC);
    packet.header.solicited = Uint::new(1);
    packet.header.pkt_length = Uint::new(length);
    let unit = |(index, bytes): (usize, &u64)| Unit {
        gap: Uint::new(0),
        data: DataUnit {
            byte_cnt: Uint::new(*bytes),
            inline: Uint::new(0),
            lkey: Uint::new(0x70 + index as u64),
            laddr: Uint::new(0x1000 * (index as u64 + 1)),
        },
    };
    packet.wqe = Some(Wqe {
        next: NextUnit { cur_wqe_size: Uint::new(4), ..NextUnit::default() },
        units: units.iter().enumerate().map(unit).collect(),
        ..Wqe::default()
    });
    packet
}

fn traffic(packets: Vec<Packet>) -> Traffic {
    Traffic { packets, ..Traffic::default() }
}

/// One packet, changed.
fn one(net_opcode: u64, length: u64, units: &[u64], change: impl FnOnce(&mut Packet)) -> Traffic {
    let mut packet = packet(net_opcode, length, units);
    change(&mut packet);
    traffic(vec![packet])
}

fn send() -> Traffic {
    traffic(vec![packet(opcode::SEND_ONLY, 100, &[60, 60])])
}

fn send_with(change: impl FnOnce(&mut Packet)) -> Traffic {
    one(opcode::SEND_ONLY, 100, &[60, 60], change)
}

/// A SEND whose WQE request waits; without F0 that loses it.
fn waiting_send(stall: u64) -> Traffic {
    one(opcode::SEND_ONLY, 60, &[60, 0], |packet| {
        packet.wqe.as_mut().unwrap().stall = Uint::new(stall);
    })
}

/// A SEND that is longer than its WQE.
fn too_long() -> Traffic {
    traffic(vec![packet(opcode::SEND_ONLY, 100, &[60])])
}

/// A SEND without payload. Its event waits for a cycle, and without F2 once more after the repeated
/// CQE.
fn waiting_event(solicited: u64) -> Traffic {
    one(opcode::SEND_ONLY, 0, &[0], |packet| {
        packet.mr_stalls = [0, 1, 1].map(Uint::new).to_vec();
        packet.header.solicited = Uint::new(solicited);
    })
}

fn unreliable() -> Traffic {
    send_with(|packet| packet.header.service_type = Uint::new(service::UD))
}

fn entry<const A: u32, const V: u32>(value: u64) -> Vec<Entry<A, V>> {
    vec![Entry { address: Uint::new(QP), value: Uint::new(value) }]
}

/// Enough messages to wrap around the ring of four entries, from a given offset.
fn round_the_ring(rq_offset: u64) -> Traffic {
    let mut around = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60]); 5]);
    around.tables.rq_offset = entry(rq_offset);
    around
}

/// The first message is over when its reset comes, the second one is not.
fn with_resets() -> Traffic {
    let mut around = round_the_ring(8);
    around.packets[0].reset = Some(Reset { after: Uint::new(40), cycles: Uint::new(1) });
    around.packets[1].gap = Uint::new(60);
    around.packets[1].reset = Some(Reset { after: Uint::new(1), cycles: Uint::new(1) });
    around
}

/// A SEND with a reset while it is in work.
fn voided(after: u64, cycles: u64) -> Traffic {
    one(opcode::SEND_ONLY, 60, &[60], |packet| {
        packet.reset = Some(Reset { after: Uint::new(after), cycles: Uint::new(cycles) });
    })
}

/// A SEND of two units, all of whose fields have different values. Each of its requests waits for
/// `stall` cycles.
fn slow_send(stall: u64) -> Traffic {
    send_with(|packet| {
        packet.mr_stalls = [stall; 5].map(Uint::new).to_vec();
        (packet.cq.stall, packet.eq.stall) = (Uint::new(stall), Uint::new(stall));
        (packet.cq.gap, packet.eq.gap) = (Uint::new(2), Uint::new(2));
        (packet.cq.laddr, packet.eq.laddr) = (Uint::new(0xc0), Uint::new(0xe0));
        packet.wqe.as_mut().unwrap().stall = Uint::new(stall);
        let context = &mut packet.context;
        (context.rcv_cqn, context.cq_log_size) = (Uint::new(0xc1), Uint::new(8));
        (context.cq_comp_eqn, context.eq_log_size) = (Uint::new(0xe1_0000e1), Uint::new(9));
        (context.qp_pd, context.rq_lkey) = (Uint::new(0x91), Uint::new(0x92));
        (context.cq_pd, context.cq_lkey) = (Uint::new(0xc2), Uint::new(0xc3));
        (context.eq_pd, context.eq_lkey) = (Uint::new(0xe2), Uint::new(0xe3));
        let header = &mut packet.header;
        (header.sip, header.dip) = (Uint::new(0x51), Uint::new(0xd1));
        (header.immediate, header.pkt_start_addr) = (Uint::new(0x11), Uint::new(0x57));
        header.remote_qpn = Uint::new(0x77);
    })
}

/// A message whose next WQE is at slot `next` of the ring and has `size` slots. The one before is
/// at slot `rq` of the ring and `slot` of its cache cell, which belongs to `owner`.
fn in_the_cell(rq: u64, next: u64, size: u64, slot: u64, owner: u64) -> Traffic {
    let mut cached = send_with(|packet| {
        let unit = &mut packet.wqe.as_mut().unwrap().next;
        (unit.next_wqe_addr, unit.next_wqe_size) = (Uint::new(next), Uint::new(size));
    });
    cached.tables.rq_offset = entry(rq);
    (cached.tables.cache_offset, cached.tables.cache_owned) = (entry(slot), entry(owner));
    cached
}

/// The cell's cases: traffic, and the offset and the `wen` of its owner that the RQ step writes.
fn cells() -> [(&'static str, Traffic, u64, u64); 6] {
    [
        // Slots 244 + 4 to 256: the last that fit. One more slot crosses the cell; only its owner
        // frees it.
        ("fits", in_the_cell(0, 4, 8, 244, QP), 248, 0),
        ("crosses", in_the_cell(0, 4, 8, 245, QP), 0, 1),
        ("lent", in_the_cell(0, 4, 8, 245, QP + 0x80), 0, 0),
        ("no next", in_the_cell(0, 4, 0, 0, QP), 0, 1),
        // Before this one; the same position is not before it.
        ("before", in_the_cell(8, 7, 8, 0, QP), 0, 1),
        ("same", in_the_cell(8, 8, 8, 0, QP), 0, 0),
    ]
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
    assert_eq!(counts(&send(), REPAIRED), [0, 0, 100, 1, 1, 1, 1]);
    assert_eq!(counts(&too_long(), REPAIRED), [0, 0, 60, 1, 1, 1, 1]);
    assert_eq!(counts(&unreliable(), REPAIRED), [0, 0, 100, 1, 1, 0, 1]);
    // S0 has no events, and an RDMA WRITE with immediate is not completed.
    let write = traffic(vec![packet(opcode::RDMA_WRITE_ONLY_WITH_IMM, 100, &[0])]);
    assert_eq!(counts(&write, SPEC)[3..], [0, 0, 1, 1]);
    assert_eq!(counts(&write, REPAIRED)[3..], [1, 1, 1, 1]);
    // A message over several packets splits units. One that comes again is as many packets.
    let units = [60, 60, 130];
    let mut message = traffic(vec![
        packet(opcode::SEND_FIRST, 70, &units),
        packet(opcode::SEND_MIDDLE, 40, &units),
        packet(opcode::SEND_LAST, 60, &units),
    ]);
    assert_eq!(counts(&message, REPAIRED), [0, 0, 70 + 40 + 60, 1, 1, 3, 1]);
    message.packets[1].again = Uint::new(2);
    assert_eq!(counts(&message, REPAIRED), [0, 0, 70 + 3 * 40 + 60, 1, 1, 5, 1]);
    // A loss by T08 is counted and not blamed; after a reset it is none.
    assert_eq!(counts(&waiting_send(1), SPEC), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(counts(&waiting_send(1), REPAIRED)[0], 0);
    let mut reset = waiting_send(1);
    reset.packets[0].reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(2) });
    assert_eq!(counts(&reset, SPEC), [0; 7]);
    // A CQE is repeated as often as its event waits, without F2.
    assert_eq!(counts(&waiting_event(1), REPEATING), [0, 0, 0, 3, 1, 1, 1]);
    assert_eq!(counts(&waiting_event(1), REPAIRED)[3], 1);
    // RQ offsets survive a reset. An offset between entries goes on, too; entries of an illegal
    // size add nothing.
    assert_eq!(counts(&with_resets(), REPAIRED)[6], 4);
    assert_eq!(counts(&round_the_ring(5), REPAIRED)[6], 5);
    assert_eq!(counts(&voided(8, 1), REPAIRED), [0, 0, 60, 0, 0, 0, 1]);
    // T08 and T43 withdraw offers.
    assert_eq!(counts(&slow_send(2), SPEC)[0], 1);
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
    let wrong = "fetch_mr_ingress_valid fetch_mr_ingress_data.opcode=20: \
                 fetch_mr_ingress_data.opcode=26";
    let judge = Judge::new(REPEATING);
    judge.fires::<Thread2>("request-order", &waiting_event(1), fault::<Thread2>(wrong));
}

/// The offset and the owner that hand arithmetic gives are right.
#[test]
fn the_cell_of_the_cache_is_kept_while_the_next_wqe_is_in_it() {
    for (name, traffic, offset, frees) in cells() {
        let written = format!("rq_offset_wen: cache_offset_din={offset} cache_owned_wen={frees}");
        let judged = Judge::new(REPAIRED).counts::<Thread2>(&traffic, fault::<Thread2>(&written));
        assert_eq!(judged.map(drop), Ok(()), "{name}");
    }
}

#[test]
fn what_comes_again_is_in_the_middle_of_a_message_and_messages_have_an_end() {
    let first = |length| packet(opcode::SEND_FIRST, length, &[u64::from(u16::MAX)]);
    let middle = |again| {
        let mut middle = packet(opcode::SEND_MIDDLE, 0xffff, &[0xffff]);
        middle.again = Uint::new(again);
        middle
    };
    let objection = |packets: Vec<Packet>| {
        harness::Traffic::check(&traffic(packets)).err().map(|objection| objection.path)
    };
    // 65535 * 65536 bytes and 65535 more are 2^32 - 1.
    assert_eq!(objection(vec![first(0xffff), middle(0xffff)]), None);
    let too_long = objection(vec![first(0xffff), middle(0xfffe), middle(1)]);
    assert_eq!(too_long.as_deref(), Some("packets[2].header.pkt_length"));
    let mut again = first(1);
    again.again = Uint::new(1);
    assert_eq!(objection(vec![again]).as_deref(), Some("packets[0].again"));
    let mut with_reset = middle(1);
    with_reset.reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(1) });
    assert_eq!(objection(vec![first(1), with_reset]).as_deref(), Some("packets[1].again"));
}

#[test]
fn the_bytes_of_a_queue_vanish_from_log_27_up() {
    assert_eq!(requests::queue_head(0xff12_3456, 0), 0x20_0012_3456);
    assert_eq!(requests::queue_head(1, 26), 0x8000_0000_0000_0001);
    for log in [27, 31, 32, 59, 64, 255] {
        assert_eq!(requests::queue_head(1, log), 1, "log {log}");
    }
}
