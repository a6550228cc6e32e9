//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::thread2::Thread2;
use crate::blocks::thread2::layout::{NextUnit, opcode, qp_state, service};
use crate::blocks::thread2::rtl::{Bits1, Bits7, Bits8, Bits24, Bits64, Bits224, Bits256, Bits576};
use crate::blocks::thread2::stimulus::{Entry, Unit, Wqe};
use cosim_core::checks;
use cosim_core::harness::{Reset, Scoreboard as _};
use cosim_core::value::Uint;

const REPAIRED: u8 = 0xff;
/// As specified by S0, where packets are lost.
const SPEC: u8 = 0x00;
/// Events that repeat their CQE while they wait: F1 without F2.
const REPEATING: u8 = 0x02;
const QP: u64 = 9;

/// An output of one bit.
type Pin = fn(&Outputs) -> Bits1;
/// A change of a cycle's outputs.
type Change = fn(&mut Outputs);
/// Sets the payload of a request.
type SetHead = fn(&mut Outputs, u64);

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

/// Corrupts the RQ offset of every step.
fn stepping_to(rq_offset: u64) -> impl FnMut(&mut Outputs) {
    while_high(
        |outputs| outputs.rq_offset_wen,
        move |_, outputs| outputs.rq_offset_din = Bits24::new(rq_offset),
    )
}

/// Runs the scoreboard on the golden model's pins, after `tamper` has changed them.
fn judge_pins(
    traffic: &Traffic,
    mask: u8,
    mut tamper: impl FnMut(&mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let parameters = Parameters::of::<Thread2>(mask);
    // Cycle 0 is the reset cycle.
    checks::shown::<Thread2>(traffic, &parameters, |cycle, inputs, outputs| {
        if cycle > 0 {
            tamper(inputs, outputs);
        }
    })
}

fn judge(
    traffic: &Traffic,
    mask: u8,
    mut tamper: impl FnMut(&mut Outputs),
) -> Result<Vec<u64>, Violation> {
    judge_pins(traffic, mask, |_, outputs| tamper(outputs))
}

/// Expects a check to fire. Returns its message.
fn fires_under(
    mask: u8,
    check: &str,
    traffic: &Traffic,
    tamper: impl FnMut(&mut Outputs),
) -> String {
    let violation = judge(traffic, mask, tamper).unwrap_err();
    assert_eq!(violation.check, check, "{}", violation.message);
    violation.message
}

fn fires(check: &str, traffic: &Traffic, tamper: impl FnMut(&mut Outputs)) -> String {
    fires_under(REPAIRED, check, traffic, tamper)
}

/// Changes the MR requests with an opcode.
fn on_requests(opcode: u64, change: impl Fn(&mut MrHead, &mut MrData)) -> impl FnMut(&mut Outputs) {
    move |outputs| {
        let mut head = MrHead::decode(&outputs.fetch_mr_ingress_head);
        let mut data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if outputs.fetch_mr_ingress_valid.get() == 1 && data.opcode.get() == opcode {
            change(&mut head, &mut data);
            outputs.fetch_mr_ingress_head = head.encode(Bits224::ZERO);
            outputs.fetch_mr_ingress_data = data.encode(Bits256::ZERO);
        }
    }
}

/// Changes the opcode of MR requests.
fn renamed(from: u64, to: u64) -> impl FnMut(&mut Outputs) {
    on_requests(from, move |_, data| data.opcode = Uint::new(to))
}

/// Adds an MR request of the QP.
fn request_of(outputs: &mut Outputs, opcode: u64) {
    let (local_qpn, opcode) = (Uint::new(QP), Uint::new(opcode));
    let head = MrHead { local_qpn: Uint::new(QP), ..MrHead::default() };
    let data = MrData { local_qpn, opcode, ..MrData::default() };
    outputs.fetch_mr_ingress_valid = Bits1::new(1);
    outputs.fetch_mr_ingress_head = head.encode(Bits224::ZERO);
    outputs.fetch_mr_ingress_data = data.encode(Bits256::ZERO);
}

/// Hides the MR request of a cycle.
fn silence(outputs: &mut Outputs) {
    let low = Bits1::new(0);
    (outputs.fetch_mr_ingress_valid, outputs.fetch_mr_ingress_start) = (low, low);
    outputs.fetch_mr_ingress_last = low;
    outputs.fetch_mr_ingress_head = Bits224::ZERO;
    outputs.fetch_mr_ingress_data = Bits256::ZERO;
}

/// Hides the WQE request of a cycle.
fn silence_wqe(outputs: &mut Outputs) {
    let low = Bits1::new(0);
    (outputs.wqe_req_valid, outputs.wqe_req_start, outputs.wqe_req_last) = (low, low, low);
    outputs.wqe_req_head = Bits576::ZERO;
}

/// Hides the writes to the tables.
fn silence_tables(outputs: &mut Outputs) {
    let low = Bits1::new(0);
    (outputs.rq_offset_wen, outputs.cache_offset_wen, outputs.cache_owned_wen) = (low, low, low);
    outputs.rq_offset_din = Bits24::new(0);
    (outputs.cache_offset_din, outputs.cache_owned_din) = (Bits8::new(0), Bits8::new(0));
}

/// Hides the MR requests with an opcode.
fn without(opcode: u64) -> impl FnMut(&mut Outputs) {
    move |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode {
            silence(outputs);
        }
    }
}

/// Accepts the first packet and does nothing for it.
fn idle_after_the_packet(outputs: &mut Outputs) {
    if outputs.fetch_cxt_egress_ready.get() == 0 {
        *outputs = Outputs { fetch_cxt_egress_ready: Bits1::new(1), ..Outputs::default() };
    }
}

fn send() -> Traffic {
    traffic(vec![packet(opcode::SEND_ONLY, 100, &[60, 60])])
}

/// A SEND whose WQE request waits for a cycle; without F0 that loses it.
fn waiting_send() -> Traffic {
    let mut waiting = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60, 0])]);
    waiting.packets[0].wqe.as_mut().unwrap().stall = Uint::new(1);
    waiting
}

fn write() -> Traffic {
    traffic(vec![packet(opcode::RDMA_WRITE_ONLY, 8, &[0])])
}

/// A SEND that is longer than its WQE.
fn too_long() -> Traffic {
    traffic(vec![packet(opcode::SEND_ONLY, 100, &[60])])
}

/// Enough messages to wrap around the ring of four entries, from a given offset.
fn round_the_ring(rq_offset: u64) -> Traffic {
    let mut around = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60]); 5]);
    around.tables.rq_offset = vec![Entry { address: Uint::new(QP), value: Uint::new(rq_offset) }];
    around
}

#[test]
fn a_right_model_pays_exactly_what_it_owes() {
    let names: Vec<&str> = Scoreboard::counters().iter().map(|counter| counter.name).collect();
    let counts = |traffic: &Traffic, mask| {
        let counters = judge(traffic, mask, |_| {}).unwrap();
        names.iter().copied().zip(counters).collect::<Vec<_>>()
    };
    assert_eq!(
        counts(&send(), REPAIRED),
        [
            ("packets lost to T08", 0),
            ("packets dropped", 0),
            ("payload bytes", 100),
            ("CQEs", 1),
            ("events", 1),
            ("acknowledges", 1),
            ("RQ steps", 1),
        ]
    );
    // S0 has no events, and an RDMA WRITE with immediate is not completed.
    let write = traffic(vec![packet(opcode::RDMA_WRITE_ONLY_WITH_IMM, 100, &[0])]);
    assert_eq!(
        counts(&write, 0x00)[3..],
        [("CQEs", 0), ("events", 0), ("acknowledges", 1), ("RQ steps", 1)]
    );
    assert_eq!(
        counts(&write, REPAIRED)[3..],
        [("CQEs", 1), ("events", 1), ("acknowledges", 1), ("RQ steps", 1)]
    );
    assert_eq!(judge(&too_long(), REPAIRED, |_| {}).unwrap(), [0, 0, 60, 1, 1, 1, 1]);
}

#[test]
fn a_message_over_several_packets_splits_units() {
    let units = [60, 60, 60];
    let message = traffic(vec![
        packet(opcode::SEND_FIRST, 70, &units),
        packet(opcode::SEND_MIDDLE, 40, &units),
        packet(opcode::SEND_LAST, 60, &units),
    ]);
    let counters = judge(&message, REPAIRED, |_| {}).unwrap();
    assert_eq!(counters, [0, 0, 170, 1, 1, 3, 1]);
}

#[test]
fn a_packet_that_comes_again_is_as_many_packets() {
    let units = [60, 60, 130];
    let mut message = traffic(vec![
        packet(opcode::SEND_FIRST, 70, &units),
        packet(opcode::SEND_MIDDLE, 40, &units),
        packet(opcode::SEND_LAST, 60, &units),
    ]);
    message.packets[1].again = Uint::new(2);
    let counters = judge(&message, REPAIRED, |_| {}).unwrap();
    assert_eq!(counters, [0, 0, 70 + 3 * 40 + 60, 1, 1, 5, 1]);
    // The last one places the bytes after the three before it.
    let told = fires(
        PAYLOAD,
        &message,
        on_requests(opcode::SEND_LAST, |head, _| {
            head.address = Uint::new(head.address.get() - 40);
        }),
    );
    assert!(told.contains("packet 2: request of 60 bytes at 0x301e"), "{told}");
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
        let objection = harness::Traffic::check(&traffic(packets)).unwrap_err();
        format!("{}: {}", objection.path, objection.message)
    };
    // 65535 * 65536 bytes and 65535 more are 2^32 - 1.
    assert_eq!(harness::Traffic::check(&traffic(vec![first(0xffff), middle(0xffff)])), Ok(()));
    let told = objection(vec![first(0xffff), middle(0xfffe), middle(1)]);
    assert!(told.starts_with("packets[2].header.pkt_length: "), "{told}");
    let mut again = first(1);
    again.again = Uint::new(1);
    assert!(objection(vec![again]).starts_with("packets[0].again: "));
    let mut with_reset = middle(1);
    with_reset.reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(1) });
    assert!(objection(vec![first(1), with_reset]).starts_with("packets[1].again: "));
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
            let packets = traffic(vec![packet, in_state]);
            if let Err(violation) = judge(&packets, mask, |_| {}) {
                panic!("mask {mask:#x}, opcode {net_opcode}, code {code}: {violation:?}");
            }
        }
    }
}

#[test]
fn a_loss_by_t08_is_counted_and_not_blamed() {
    assert_eq!(judge(&waiting_send(), SPEC, |_| {}).unwrap(), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(judge(&waiting_send(), REPAIRED, |_| {}).unwrap()[0], 0);
}

#[test]
fn a_reset_before_the_loss_is_no_loss() {
    let mut voided = waiting_send();
    voided.packets[0].reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(2) });
    assert_eq!(judge(&voided, SPEC, |_| {}).unwrap(), [0; 7]);
}

#[test]
fn a_packet_that_is_not_lost_and_one_that_is_lost_twice() {
    fires_under(SPEC, LOST, &waiting_send(), silence_wqe);
    let mut waits_longer = waiting_send();
    waits_longer.packets[0].wqe.as_mut().unwrap().stall = Uint::new(9);
    let mut asked = false;
    let again = fires_under(SPEC, LOST, &waits_longer, |outputs| {
        asked |= outputs.wqe_req_valid.get() == 1;
        outputs.wqe_req_valid = Bits1::from(asked);
    });
    assert!(again.contains("2 losses, owed 1"), "{again}");
}

/// Changes the outputs in every cycle after the first WQE request.
fn after_the_loss(act: impl Fn(&mut Outputs)) -> impl FnMut(&mut Outputs) {
    let mut lost = false;
    move |outputs| {
        let requested = outputs.wqe_req_valid.get() == 1;
        if lost {
            act(outputs);
        }
        lost |= requested;
    }
}

#[test]
fn nothing_follows_of_a_lost_packet() {
    let expect = |check, act: fn(&mut Outputs)| {
        fires_under(SPEC, check, &waiting_send(), after_the_loss(act));
    };
    expect(WQE, |outputs| outputs.wqe_req_valid = Bits1::new(1));
    expect(PAYLOAD, |outputs| request_of(outputs, opcode::SEND_ONLY));
    expect(RQ_STEP, |outputs| outputs.rq_offset_wen = Bits1::new(1));
    expect(CQE, |outputs| request_of(outputs, opcode::GEN_CQE));
    expect(EVENT, |outputs| request_of(outputs, opcode::GEN_EVENT));
    expect(ACK, |outputs| request_of(outputs, opcode::ACKNOWLEDGE));
}

#[test]
fn a_wqe_that_is_not_taken_and_one_too_many() {
    fires(WQE, &send(), idle_after_the_packet);
    fires(WQE, &write(), |outputs| outputs.wqe_req_valid = outputs.fetch_mr_ingress_valid);
}

#[test]
fn payload_at_a_wrong_address_or_of_a_wrong_length_or_with_a_wrong_key() {
    let send_only = opcode::SEND_ONLY;
    fires(
        PAYLOAD,
        &send(),
        on_requests(send_only, |head, _| {
            head.address = Uint::new(head.address.get() + 1);
        }),
    );
    fires(
        PAYLOAD,
        &send(),
        on_requests(send_only, |head, _| {
            head.length = Uint::new(head.length.get() - 1);
        }),
    );
    fires(PAYLOAD, &send(), on_requests(send_only, |head, _| head.key = Uint::new(0x99)));
}

#[test]
fn payload_that_is_not_requested() {
    let mut first = true;
    fires(PAYLOAD, &send(), move |outputs| {
        if outputs.fetch_mr_ingress_valid.get() == 1 && std::mem::take(&mut first) {
            silence(outputs);
        }
    });
}

#[test]
fn payload_beyond_the_wqe_and_beyond_the_packet() {
    // The CQE becomes an additional payload request.
    let more = || renamed(opcode::GEN_CQE, opcode::SEND_ONLY);
    let message = fires(PAYLOAD, &traffic(vec![packet(opcode::SEND_ONLY, 40, &[40])]), more());
    assert!(message.contains("beyond the WQE's last unit"), "{message}");
    let message = fires(PAYLOAD, &traffic(vec![packet(opcode::SEND_ONLY, 40, &[60])]), more());
    assert!(message.contains("beyond the packet's payload"), "{message}");
}

#[test]
fn a_missing_cqe_and_one_with_the_wrong_status() {
    let cqe = opcode::GEN_CQE;
    fires(CQE, &send(), without(cqe));
    fires(CQE, &send(), on_requests(cqe, |_, data| data.status = Uint::new(1)));
    fires(CQE, &too_long(), on_requests(cqe, |_, data| data.status = Uint::new(0)));
}

#[test]
fn a_cqe_for_a_message_that_is_not_complete_and_one_too_many() {
    let first = traffic(vec![packet(opcode::SEND_FIRST, 10, &[60])]);
    fires(CQE, &first, renamed(opcode::ACKNOWLEDGE, opcode::GEN_CQE));
    fires(CQE, &send(), renamed(opcode::GEN_EVENT, opcode::GEN_CQE));
}

/// A SEND without payload. Its event waits for a cycle, and without F2 once more after the repeated
/// CQE.
fn waiting_event() -> Traffic {
    let mut waiting = traffic(vec![packet(opcode::SEND_ONLY, 0, &[0])]);
    waiting.packets[0].mr_stalls = [0, 1, 1].map(Uint::new).to_vec();
    waiting
}

#[test]
fn a_cqe_is_repeated_as_often_as_its_event_waits() {
    let event = waiting_event();
    assert_eq!(judge(&event, REPEATING, |_| {}).unwrap(), [0, 0, 0, 3, 1, 1, 1]);
    assert_eq!(judge(&event, REPAIRED, |_| {}).unwrap()[3], 1);

    // One missing, and one after the event.
    let mut first = true;
    fires_under(REPEATING, CQE, &event, |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::GEN_CQE && std::mem::take(&mut first) {
            silence(outputs);
        }
    });
    let ack = opcode::ACKNOWLEDGE;
    fires_under(REPEATING, ORDER, &event, renamed(ack, opcode::GEN_CQE));
    // No event is owed, so a waiting one permits no more.
    let mut unsolicited = waiting_event();
    unsolicited.packets[0].header.solicited = Uint::new(0);
    let mut waited = false;
    fires_under(REPEATING, CQE, &unsolicited, |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == ack {
            let code = if waited { opcode::GEN_CQE } else { opcode::GEN_EVENT };
            request_of(outputs, code);
            waited = true;
        }
    });
}

#[test]
fn a_cqe_that_is_repeated_though_its_event_does_not_wait() {
    let mut event = false;
    // The event is hidden and replaced by another CQE.
    fires_under(REPEATING, CQE, &traffic(vec![packet(opcode::SEND_ONLY, 0, &[0])]), |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        event |= data.opcode.get() == opcode::GEN_EVENT;
        if event && outputs.fetch_mr_ingress_valid.get() == 1 {
            request_of(outputs, opcode::GEN_CQE);
        }
    });
}

#[test]
fn a_missing_event_one_too_many_and_one_with_a_status() {
    let event = opcode::GEN_EVENT;
    fires(EVENT, &send(), without(event));
    fires(EVENT, &send(), renamed(opcode::ACKNOWLEDGE, event));
    fires(EVENT, &send(), on_requests(event, |_, data| data.status = Uint::new(1)));
}

#[test]
fn a_missing_acknowledge_and_one_with_the_wrong_status() {
    let ack = opcode::ACKNOWLEDGE;
    fires(ACK, &send(), without(ack));
    fires(ACK, &send(), on_requests(ack, |_, data| data.status = Uint::new(1)));
    fires(ACK, &too_long(), on_requests(ack, |_, data| data.status = Uint::new(0)));
}

#[test]
fn an_acknowledge_too_many() {
    let mut unreliable = send();
    unreliable.packets[0].header.service_type = Uint::new(service::UD);
    assert_eq!(judge(&unreliable, REPAIRED, |_| {}).unwrap()[5], 0, "UD is not acknowledged");
    let ack = opcode::ACKNOWLEDGE;
    let mut event = false;
    let after_the_event = |outputs: &mut Outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if std::mem::replace(&mut event, data.opcode.get() == opcode::GEN_EVENT) {
            request_of(outputs, ack);
            on_requests(ack, |_, data| data.service_type = Uint::new(service::UD))(outputs);
        }
    };
    fires(ACK, &unreliable, after_the_event);
}

#[test]
fn a_missing_rdma_check_one_too_many_and_one_of_other_memory() {
    let write_only = opcode::RDMA_WRITE_ONLY;
    fires(REMOTE, &write(), without(write_only));
    // The acknowledge becomes another check.
    let more = on_requests(opcode::ACKNOWLEDGE, |head, data| {
        (head.length, data.opcode) = (Uint::new(8), Uint::new(write_only));
    });
    let message = fires(REMOTE, &write(), more);
    assert!(message.contains("2 RDMA checks, owed 1"), "{message}");
    let changes: [fn(&mut MrHead); 3] = [
        |head| head.key = Uint::new(0x99),
        |head| head.address = Uint::new(0x99),
        |head| head.length = Uint::new(9),
    ];
    for change in changes {
        fires(REMOTE, &write(), on_requests(write_only, |head, _| change(head)));
    }
    fires(REMOTE, &write(), on_requests(write_only, |_, data| data.status = Uint::new(1)));
}

#[test]
fn a_request_for_another_packet() {
    let changes: [fn(&mut MrHead, &mut MrData); 5] = [
        |head, _| head.local_qpn = Uint::new(QP + 1),
        |_, data| data.local_qpn = Uint::new(QP + 0x100),
        |_, data| data.remote_qpn = Uint::new(1),
        |_, data| data.service_type = Uint::new(service::XRC),
        |_, data| data.opcode = Uint::new(31),
    ];
    let codes = [opcode::SEND_ONLY, opcode::GEN_CQE, opcode::GEN_EVENT, opcode::ACKNOWLEDGE];
    for change in changes {
        for code in codes {
            fires(OWN, &send(), on_requests(code, change));
        }
        fires(OWN, &write(), on_requests(opcode::RDMA_WRITE_ONLY, change));
        let read = traffic(vec![packet(opcode::RDMA_READ_REQUEST_ONLY, 8, &[])]);
        fires(OWN, &read, on_requests(opcode::RDMA_READ_RESPONSE_ONLY, change));
    }
}

#[test]
fn a_missing_step_of_the_rq_and_one_too_many() {
    fires(RQ_STEP, &send(), silence_tables);
    let message = fires(RQ_STEP, &send(), |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::ACKNOWLEDGE {
            (outputs.rq_offset_wen, outputs.rq_offset_din) = (Bits1::new(1), Bits24::new(8));
        }
    });
    assert!(message.contains("2 RQ steps, owed 1"), "{message}");
    fires(RQ_STEP, &write(), |outputs| outputs.rq_offset_wen = outputs.fetch_mr_ingress_valid);
}

#[test]
fn an_rq_offset_between_entries_and_one_outside_the_ring() {
    fires(ALIGNED, &send(), stepping_to(5));
    fires(INSIDE, &send(), stepping_to(16));
}

#[test]
fn an_rq_offset_that_is_not_the_next() {
    // No step, one entry too many, always 0, and the step of another QP.
    fires(EXACT, &send(), stepping_to(0));
    fires(EXACT, &send(), stepping_to(8));
    fires(EXACT, &round_the_ring(4), stepping_to(4));
    fires(EXACT, &round_the_ring(4), stepping_to(0));
    fires(
        EXACT,
        &send(),
        while_high(
            |outputs| outputs.rq_offset_wen,
            |_, outputs| outputs.rq_offset_addr = Bits8::new(QP + 1),
        ),
    );
    let other = judge_pins(&send(), REPAIRED, |inputs, _| inputs.rq_offset_dout = Bits24::new(8));
    assert_eq!(other.unwrap_err().check, EXACT);
    // An offset between entries is checked, too.
    let astray = round_the_ring(5);
    assert_eq!(judge(&astray, REPAIRED, |_| {}).unwrap()[6], 5);
    fires(EXACT, &astray, stepping_to(8));
    // Entries of an illegal size add nothing.
    let mut illegal = send();
    illegal.packets[0].context.rq_entry_sz_log = Uint::new(5);
    assert_eq!(judge(&illegal, REPAIRED, |_| {}).unwrap()[6], 1);
    fires(EXACT, &illegal, stepping_to(4));
}

#[test]
fn rq_offsets_survive_a_reset() {
    let mut around = round_the_ring(8);
    // The first message is over when its reset comes, the second one is not.
    around.packets[0].reset = Some(Reset { after: Uint::new(40), cycles: Uint::new(1) });
    around.packets[1].gap = Uint::new(60);
    around.packets[1].reset = Some(Reset { after: Uint::new(1), cycles: Uint::new(1) });
    assert_eq!(judge(&around, REPAIRED, |_| {}).unwrap()[6], 4);
    let mut steps = 0;
    fires(EXACT, &around, |outputs| {
        steps += outputs.rq_offset_wen.get();
        if outputs.rq_offset_wen.get() == 1 && steps == 2 {
            outputs.rq_offset_din = Bits24::new(12);
        }
    });
}

/// Obligations before a reset are checked before it.
#[test]
fn too_much_before_a_reset() {
    let mut voided = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60])]);
    voided.packets[0].reset = Some(Reset { after: Uint::new(8), cycles: Uint::new(1) });
    assert_eq!(judge(&voided, REPAIRED, |_| {}).unwrap(), [0, 0, 60, 0, 0, 0, 1]);
    let mut stepped = false;
    fires(RQ_STEP, &voided, |outputs| {
        stepped |= outputs.rq_offset_wen.get() == 1;
        outputs.rq_offset_wen = Bits1::from(stepped);
    });
}

#[test]
fn requests_in_the_wrong_order() {
    let swapped = |outputs: &mut Outputs| {
        let mut data = MrData::decode(&outputs.fetch_mr_ingress_data);
        let other = match data.opcode.get() {
            opcode::GEN_CQE => {
                data.net_opcode = Uint::new(0);
                opcode::GEN_EVENT
            }
            opcode::GEN_EVENT => opcode::GEN_CQE,
            other => other,
        };
        data.opcode = Uint::new(other);
        outputs.fetch_mr_ingress_data = data.encode(Bits256::ZERO);
    };
    fires(ORDER, &send(), swapped);
}

#[test]
fn a_request_without_a_packet() {
    let mut idle = send();
    idle.packets[0].gap = Uint::new(5);
    fires(UNASKED, &idle, |outputs| outputs.fetch_mr_ingress_valid = Bits1::new(1));
    fires(UNASKED, &idle, |outputs| outputs.rq_offset_wen = Bits1::new(1));
    fires(UNASKED, &idle, |outputs| outputs.wqe_req_valid = Bits1::new(1));
    // A context, although no packet is left.
    let more = judge_pins(&send(), REPAIRED, |inputs, _| {
        inputs.fetch_cxt_egress_valid = Bits1::new(1);
    });
    assert_eq!(more.unwrap_err().check, UNASKED);
}

/// A SEND of two units. Each of its requests waits for two cycles, and all its fields have
/// different values.
fn slow_send() -> Traffic {
    let mut slow = send();
    let packet = &mut slow.packets[0];
    packet.mr_stalls = [2; 5].map(Uint::new).to_vec();
    (packet.cq.stall, packet.eq.stall) = (Uint::new(2), Uint::new(2));
    (packet.cq.gap, packet.eq.gap) = (Uint::new(2), Uint::new(2));
    (packet.cq.laddr, packet.eq.laddr) = (Uint::new(0xc0), Uint::new(0xe0));
    packet.wqe.as_mut().unwrap().stall = Uint::new(2);
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
    slow
}

/// Changes cycles in which an output is 1. The number of that cycle, from 0, is an argument.
fn while_high(pin: Pin, mut act: impl FnMut(u32, &mut Outputs)) -> impl FnMut(&mut Outputs) {
    let mut cycle = 0;
    move |outputs| {
        if pin(outputs).get() == 1 {
            act(cycle, outputs);
            cycle += 1;
        }
    }
}

#[test]
fn an_output_in_reset_that_is_not_zero() {
    let mut voided = send();
    voided.packets[0].reset = Some(Reset { after: Uint::new(3), cycles: Uint::new(2) });
    assert_eq!(judge(&voided, REPAIRED, |_| {}).unwrap()[0], 0);
    let violation = judge_pins(&voided, REPAIRED, |inputs, outputs| {
        outputs.fetch_cxt_egress_ready =
            Bits1::new(outputs.fetch_cxt_egress_ready.get() | inputs.rst.get());
    });
    let violation = violation.unwrap_err();
    assert_eq!(violation.check, pins::RESET);
    assert!(violation.message.contains("fetch_cxt_egress_ready = 1'h1"), "{violation:?}");
}

#[test]
fn payload_without_its_valid() {
    let changes: [fn(&mut Outputs); 7] = [
        |outputs| outputs.wqe_req_head = Bits576::from_words([1; 18]),
        |outputs| outputs.fetch_mr_ingress_head = Bits224::from_words([0, 0, 0, 0, 0, 0, 1]),
        |outputs| outputs.fetch_mr_ingress_data = Bits256::from_words([0, 0, 0, 0, 0, 0, 0, 1]),
        |outputs| outputs.cq_req_head = Bits64::new(1 << 63),
        |outputs| outputs.eq_req_head = Bits64::new(1),
        |outputs| outputs.rq_offset_din = Bits24::new(1),
        |outputs| outputs.cache_offset_din = Bits8::new(1),
    ];
    for change in changes {
        // The block is idle before each packet.
        let mut first = true;
        fires(pins::IDLE, &send(), |outputs| {
            if std::mem::take(&mut first) {
                change(outputs);
            }
        });
    }
    // The owner of the cache cell, in a step that writes the other two tables.
    let step = |outputs: &mut Outputs| {
        let din = if outputs.rq_offset_wen.get() == 0 { 1 } else { 0 };
        outputs.cache_owned_din = Bits8::new(din);
    };
    fires(pins::IDLE, &send(), step);
}

#[test]
fn a_frame_that_is_not_that_of_its_valid() {
    let changes: [fn(&mut Outputs); 4] = [
        |outputs| outputs.fetch_mr_ingress_start = Bits1::new(0),
        |outputs| outputs.fetch_mr_ingress_last = Bits1::new(0),
        |outputs| outputs.wqe_req_start = Bits1::new(0),
        |outputs| outputs.wqe_req_last = Bits1::new(1),
    ];
    for change in changes {
        fires(pins::FRAMED, &send(), change);
    }
}

#[test]
fn an_offer_that_does_not_wait_as_it_was() {
    let channels: [(Pin, Change); 6] = [
        (|outputs| outputs.wqe_req_valid, silence_wqe),
        (
            |outputs| outputs.wqe_req_valid,
            |outputs| {
                outputs.wqe_req_head = Bits576::from_words([9; 18]);
            },
        ),
        (|outputs| outputs.fetch_mr_ingress_valid, silence),
        (
            |outputs| outputs.fetch_mr_ingress_valid,
            |outputs| {
                let data = MrData::decode(&outputs.fetch_mr_ingress_data);
                let changed = MrData { status: Uint::new(1), ..data };
                outputs.fetch_mr_ingress_data = changed.encode(Bits256::ZERO);
            },
        ),
        (
            |outputs| outputs.cq_req_valid,
            |outputs| {
                (outputs.cq_req_valid, outputs.cq_req_head) = (Bits1::new(0), Bits64::new(0));
            },
        ),
        (|outputs| outputs.eq_req_valid, |outputs| outputs.eq_req_head = Bits64::new(9)),
    ];
    for (pin, change) in channels {
        let second = while_high(pin, |cycle, outputs| {
            if cycle == 1 {
                change(outputs);
            }
        });
        fires(pins::HELD, &slow_send(), second);
    }
    // T08 and T43 withdraw offers.
    let mut unheld = slow_send();
    assert_eq!(judge(&unheld, SPEC, |_| {}).unwrap()[0], 1);
    unheld.packets[0].wqe.as_mut().unwrap().stall = Uint::new(0);
    let counters = judge(&waiting_event(), REPEATING, |_| {}).unwrap();
    assert_eq!(counters[4], 1);
}

#[test]
fn two_channels_in_one_cycle() {
    fires(pins::ALONE, &send(), |outputs| {
        outputs.wqe_resp_ready =
            Bits1::new(outputs.wqe_resp_ready.get() | outputs.cq_req_valid.get());
    });
}

#[test]
fn a_block_without_a_packet_that_is_not_ready() {
    let mut waiting = send();
    waiting.packets[0].gap = Uint::new(3);
    let low = |outputs: &mut Outputs| outputs.fetch_cxt_egress_ready = Bits1::new(0);
    fires(READY, &waiting, low);
}

/// Every field of every kind of request, and a reserved bit of each port.
#[test]
fn a_request_with_a_wrong_field() {
    let heads: [fn(&mut MrHead); 4] = [
        |head| head.slot_count = Uint::new(2),
        |head| head.bypass = Uint::new(head.bypass.get() ^ 1),
        |head| head.flags = Uint::new(head.flags.get() ^ 1),
        |head| head.pd = Uint::new(head.pd.get() ^ 1),
    ];
    let data: [fn(&mut MrData); 8] = [
        |data| data.tail = Uint::new(data.tail.get() ^ 1),
        |data| data.immediate = Uint::new(data.immediate.get() ^ 1),
        |data| data.pkt_length = Uint::new(data.pkt_length.get() ^ 1),
        |data| data.pkt_start_addr = Uint::new(data.pkt_start_addr.get() ^ 1),
        |data| data.wqe_addr = Uint::new(data.wqe_addr.get() ^ 1),
        |data| data.net_opcode = Uint::new(data.net_opcode.get() ^ 1),
        |data| (data.sip, data.dip) = (data.dip, data.sip),
        |data| data.dip = Uint::new(data.dip.get() ^ 1),
    ];
    let (send_only, cqe, ack) = (opcode::SEND_ONLY, opcode::GEN_CQE, opcode::ACKNOWLEDGE);
    for code in [send_only, cqe, opcode::GEN_EVENT, ack] {
        for change in heads {
            fires(FIELDS, &slow_send_once(), on_requests(code, |head, _| change(head)));
        }
        for change in data {
            fires(FIELDS, &slow_send_once(), on_requests(code, |_, data| change(data)));
        }
    }
    // Memory fields that the payload's own checks do not cover.
    for code in [cqe, opcode::GEN_EVENT, ack] {
        let changes: [fn(&mut MrHead); 3] = [
            |head| head.key = Uint::new(head.key.get() ^ 1),
            |head| head.address = Uint::new(head.address.get() ^ 1),
            |head| head.length = Uint::new(head.length.get() ^ 1),
        ];
        for change in changes {
            fires(FIELDS, &slow_send_once(), on_requests(code, |head, _| change(head)));
        }
    }
    let message = fires(FIELDS, &slow_send_once(), |outputs| {
        if outputs.fetch_mr_ingress_valid.get() == 1 {
            let mut words = *outputs.fetch_mr_ingress_data.words();
            words[7] = 1;
            outputs.fetch_mr_ingress_data = Bits256::from_words(words);
        }
    });
    assert!(message.contains("fetch_mr_ingress_data with reserved bits"), "{message}");
    for code in [opcode::RDMA_WRITE_ONLY, opcode::RDMA_READ_REQUEST_ONLY] {
        let remote = traffic(vec![packet(code, 8, &[])]);
        let wrong = |outputs: &mut Outputs| {
            if outputs.fetch_mr_ingress_valid.get() == 1 {
                let head = MrHead::decode(&outputs.fetch_mr_ingress_head);
                let flags = Uint::new(head.flags.get() ^ 6);
                let head = MrHead { flags, ..head };
                outputs.fetch_mr_ingress_head = head.encode(Bits224::ZERO);
            }
        };
        let message = fires(FIELDS, &remote, wrong);
        assert!(message.contains("flags"), "{message}");
    }
}

/// As [`slow_send`], without waits.
fn slow_send_once() -> Traffic {
    let mut once = slow_send();
    once.packets[0].mr_stalls.clear();
    once
}

#[test]
fn a_queue_or_a_wqe_request_with_a_wrong_field() {
    let mut words = [9, 0x92, 0x100, 0x91, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    words[0] |= 6 << 24;
    let mut once = slow_send_once();
    once.packets[0].wqe.as_mut().unwrap().stall = Uint::new(0);
    let right = while_high(
        |outputs| outputs.wqe_req_valid,
        |_, outputs| outputs.wqe_req_head = Bits576::from_words(words),
    );
    assert!(judge(&once, REPAIRED, right).is_ok());
    for word in 0..18 {
        let wrong = while_high(
            |outputs| outputs.wqe_req_valid,
            |_, outputs| {
                let mut words = words;
                words[word] ^= 1;
                outputs.wqe_req_head = Bits576::from_words(words);
            },
        );
        fires(FIELDS, &once, wrong);
    }
    let queues: [(Pin, u64, SetHead); 2] = [
        // 32 << 8 and 32 << 9 bytes; the number of an EQ keeps its low 24 bits.
        (
            |outputs| outputs.cq_req_valid,
            0x2000_0000_00c1,
            |outputs, head| {
                outputs.cq_req_head = Bits64::new(head);
            },
        ),
        (
            |outputs| outputs.eq_req_valid,
            0x4000_0000_00e1,
            |outputs, head| {
                outputs.eq_req_head = Bits64::new(head);
            },
        ),
    ];
    for (pin, head, set) in queues {
        let with = |head| while_high(pin, move |_, outputs: &mut Outputs| set(outputs, head));
        assert!(judge(&once, REPAIRED, with(head)).is_ok());
        for bit in [0, 24, 32, 63] {
            fires(FIELDS, &once, with(head ^ 1 << bit));
        }
    }
}

#[test]
fn the_bytes_of_a_queue_vanish_from_log_27_up() {
    assert_eq!(requests::queue_head(0xff12_3456, 0), 0x20_0012_3456);
    assert_eq!(requests::queue_head(1, 26), 0x8000_0000_0000_0001);
    for log in [27, 31, 32, 59, 64, 255] {
        assert_eq!(requests::queue_head(1, log), 1, "log {log}");
    }
}

#[test]
fn a_queue_that_is_asked_twice_or_never() {
    // The acknowledge comes with another CQ request.
    let twice = |outputs: &mut Outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::ACKNOWLEDGE {
            outputs.cq_req_valid = Bits1::new(1);
        }
    };
    let message = fires(QUEUE, &send(), twice);
    assert!(message.contains("2 CQ requests, owed 1"), "{message}");
    let message = fires(QUEUE, &send(), |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::ACKNOWLEDGE {
            outputs.eq_req_valid = Bits1::new(1);
        }
    });
    assert!(message.contains("2 EQ requests, owed 1"), "{message}");
    let message = fires(QUEUE, &send(), |outputs| {
        (outputs.cq_req_valid, outputs.cq_req_head) = (Bits1::new(0), Bits64::new(0));
        outputs.cq_resp_ready = Bits1::new(0);
    });
    assert!(message.contains("0 CQ requests, owed 1"), "{message}");
}

#[test]
fn an_answer_that_is_not_awaited_or_not_taken() {
    let flips: [fn(&mut Outputs); 3] = [
        |outputs| outputs.cq_resp_ready = Bits1::new(outputs.cq_resp_ready.get() ^ 1),
        |outputs| outputs.eq_resp_ready = Bits1::new(outputs.eq_resp_ready.get() ^ 1),
        |outputs| outputs.wqe_resp_ready = Bits1::new(outputs.wqe_resp_ready.get() ^ 1),
    ];
    let lows: [fn(&mut Outputs); 3] = [
        |outputs| outputs.cq_resp_ready = Bits1::new(0),
        |outputs| outputs.eq_resp_ready = Bits1::new(0),
        |outputs| outputs.wqe_resp_ready = Bits1::new(0),
    ];
    for (flip, low) in flips.into_iter().zip(lows) {
        // While it is busy.
        let mut busy = false;
        fires(ANSWERED, &send(), |outputs| {
            busy |= outputs.fetch_cxt_egress_ready.get() == 0;
            if busy {
                flip(outputs);
            }
        });
        fires(ANSWERED, &send(), low);
        // Before the first packet.
        let mut waiting = send();
        waiting.packets[0].gap = Uint::new(3);
        fires(UNASKED, &waiting, flip);
    }
}

#[test]
fn a_beat_of_a_wqe_that_is_left() {
    // The last unit without its consumption.
    let mut beats = 0;
    let message =
        fires(BEATS, &traffic(vec![packet(opcode::SEND_ONLY, 60, &[60, 0])]), |outputs| {
            beats += outputs.wqe_resp_ready.get();
            if beats == 3 {
                outputs.wqe_resp_ready = Bits1::new(0);
            }
        });
    assert!(message.contains("2 beats of its WQE taken, owed 3"), "{message}");
}

#[test]
fn tables_that_are_looked_up_elsewhere() {
    let changes: [fn(&mut Outputs); 3] = [
        |outputs| outputs.rq_offset_addr = Bits8::new(outputs.rq_offset_addr.get() ^ 1),
        |outputs| outputs.cache_offset_addr = Bits8::new(outputs.cache_offset_addr.get() ^ 1),
        |outputs| outputs.cache_owned_addr = Bits7::new(outputs.cache_owned_addr.get() ^ 1),
    ];
    for change in changes {
        for ready in [0, 1] {
            fires(tables::ADDRESS, &send(), |outputs| {
                // The RQ step has a check of its own.
                if outputs.fetch_cxt_egress_ready.get() == ready && outputs.rq_offset_wen.get() == 0
                {
                    change(outputs);
                }
            });
        }
    }
}

/// A message whose next WQE is at slot 4 of the ring and has 8 slots. The one before is at `slot`
/// of its cache cell, which belongs to `owner`.
fn in_the_cell(slot: u64, owner: u64) -> Traffic {
    let mut cached = send();
    let next = &mut cached.packets[0].wqe.as_mut().unwrap().next;
    (next.next_wqe_addr, next.next_wqe_size) = (Uint::new(4), Uint::new(8));
    let entry = |value| Entry { address: Uint::new(QP), value: Uint::new(value) };
    cached.tables.cache_offset = vec![entry(slot)];
    cached.tables.cache_owned = vec![Entry { address: Uint::new(QP), value: Uint::new(owner) }];
    cached
}

/// Writes to the cache's tables in the RQ step: an offset, and whether the cell is freed.
fn cache_written(offset: u64, frees: bool) -> impl FnMut(&mut Outputs) {
    while_high(
        |outputs| outputs.rq_offset_wen,
        move |_, outputs| {
            outputs.cache_offset_din = Bits8::new(offset);
            outputs.cache_owned_wen = Bits1::from(frees);
        },
    )
}

#[test]
fn the_cell_of_the_cache_is_kept_while_the_next_wqe_is_in_it() {
    let right = |traffic: &Traffic, offset, frees| {
        judge(traffic, REPAIRED, cache_written(offset, frees)).map(drop)
    };
    let wrong = |traffic: &Traffic, offset, frees| {
        fires(tables::CACHE, traffic, cache_written(offset, frees));
    };
    // Slots 244 + 4 to 256: the last that fit.
    let fits = in_the_cell(244, QP);
    assert_eq!(right(&fits, 248, false), Ok(()));
    wrong(&fits, 0, false);
    wrong(&fits, 247, false);
    wrong(&fits, 248, true);
    // One more slot crosses the cell; only its owner frees it.
    let crosses = in_the_cell(245, QP);
    assert_eq!(right(&crosses, 0, true), Ok(()));
    wrong(&crosses, 249, false);
    wrong(&crosses, 0, false);
    let lent = in_the_cell(245, QP + 0x80);
    assert_eq!(right(&lent, 0, false), Ok(()));
    wrong(&lent, 0, true);
    // No next WQE, and one before this one.
    let mut last = in_the_cell(0, QP);
    last.packets[0].wqe.as_mut().unwrap().next.next_wqe_size = Uint::new(0);
    assert_eq!(right(&last, 0, true), Ok(()));
    wrong(&last, 4, false);
    let mut around = in_the_cell(0, QP);
    around.packets[0].wqe.as_mut().unwrap().next.next_wqe_addr = Uint::new(7);
    around.tables.rq_offset = vec![Entry { address: Uint::new(QP), value: Uint::new(8) }];
    assert_eq!(right(&around, 0, true), Ok(()));
    wrong(&around, 255, false);
    // The same position is not before it.
    let mut same = around.clone();
    same.packets[0].wqe.as_mut().unwrap().next.next_wqe_addr = Uint::new(8);
    assert_eq!(right(&same, 0, false), Ok(()));
    wrong(&same, 0, true);
}

#[test]
fn the_tables_of_the_cache_are_written_in_the_step_of_the_rq_alone() {
    fires(tables::CACHE, &send(), |outputs| {
        outputs.cache_offset_wen = Bits1::from(outputs.cq_req_valid.get() == 1);
    });
    fires(tables::CACHE, &send(), |outputs| {
        if outputs.cq_req_valid.get() == 1 {
            outputs.cache_owned_wen = Bits1::new(1);
        }
    });
}
