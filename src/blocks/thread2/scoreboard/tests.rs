//! Every check fires on a model that is wrong in the way it looks for, and on none that is right.

use super::*;
use crate::blocks::thread2::layout::{NextUnit, opcode, qp_state, service};
use crate::blocks::thread2::rtl::{Bits8, Bits24, Bits224, Bits256};
use crate::blocks::thread2::stimulus::{Entry, Unit, Wqe};
use crate::blocks::thread2::{Environment, Golden, Thread2};
use crate::harness::{Environment as _, Golden as _, Reset, Scoreboard as _};
use crate::value::Uint;

const REPAIRED: u8 = 0xff;
/// S0 to the letter, where packets are lost.
const SPEC: u8 = 0x00;
/// Events that repeat their CQE while they wait: F1 without F2.
const REPEATING: u8 = 0x02;
const QP: u64 = 9;

/// A packet of an RC QP in RTS with entries of 64 bytes in a ring of 256, all of whose units are
/// given by their size.
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

/// Runs the golden model and shows the scoreboard pins that `tamper` has changed.
fn judge_pins(
    traffic: &Traffic,
    mask: u8,
    mut tamper: impl FnMut(&mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let mut golden = Golden::new(&Parameters::of::<Thread2>(mask));
    let mut environment = Environment::new(traffic, &Parameters::of::<Thread2>(mask));
    let mut scoreboard = Scoreboard::new(traffic, &Parameters::of::<Thread2>(mask));
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    let mut cycles = 0;
    while !environment.finished() {
        cycles += 1;
        assert!(cycles < 10_000, "the golden model hangs");
        environment.drive(&mut inputs);
        golden.outputs(&inputs, &mut outputs);
        let (mut driven, mut shown) = (inputs, outputs);
        tamper(&mut driven, &mut shown);
        scoreboard.observe(&driven, &shown)?;
        golden.clock(&inputs);
        environment.clock(&inputs, &outputs);
    }
    scoreboard.finish()?;
    Ok(scoreboard.counters())
}

fn judge(
    traffic: &Traffic,
    mask: u8,
    mut tamper: impl FnMut(&mut Outputs),
) -> Result<Vec<u64>, Violation> {
    judge_pins(traffic, mask, |_, outputs| tamper(outputs))
}

/// Expects a check to fire; returns what it says.
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

/// Gives the MR requests with an opcode another one.
fn renamed(from: u64, to: u64) -> impl FnMut(&mut Outputs) {
    on_requests(from, move |_, data| data.opcode = Uint::new(to))
}

/// Makes up an MR request of the QP.
fn request_of(outputs: &mut Outputs, opcode: u64) {
    let (local_qpn, opcode) = (Uint::new(QP), Uint::new(opcode));
    let head = MrHead { local_qpn: Uint::new(QP), ..MrHead::default() };
    let data = MrData { local_qpn, opcode, ..MrData::default() };
    outputs.fetch_mr_ingress_valid = Bits1::new(1);
    outputs.fetch_mr_ingress_head = head.encode(Bits224::ZERO);
    outputs.fetch_mr_ingress_data = data.encode(Bits256::ZERO);
}

/// Hides the MR requests with an opcode.
fn without(opcode: u64) -> impl FnMut(&mut Outputs) {
    move |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode {
            outputs.fetch_mr_ingress_valid = Bits1::new(0);
        }
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

/// Longer than its WQE.
fn too_long() -> Traffic {
    traffic(vec![packet(opcode::SEND_ONLY, 100, &[60])])
}

/// Messages enough to go around the ring of four entries, the first offset given.
fn round_the_ring(rq_offset: u64) -> Traffic {
    let mut around = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60]); 5]);
    around.tables.rq_offset = vec![Entry { address: Uint::new(QP), value: Uint::new(rq_offset) }];
    around
}

#[test]
fn a_right_model_pays_exactly_what_it_owes() {
    let names = COUNTERS;
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
    fires_under(SPEC, LOST, &waiting_send(), |outputs| outputs.wqe_req_valid = Bits1::new(0));
    let mut waits_longer = waiting_send();
    waits_longer.packets[0].wqe.as_mut().unwrap().stall = Uint::new(9);
    let mut asked = false;
    let again = fires_under(SPEC, LOST, &waits_longer, |outputs| {
        asked |= outputs.wqe_req_valid.get() == 1;
        outputs.wqe_req_valid = Bits1::new(u64::from(asked));
    });
    assert!(again.contains("2 losses, owed 1"), "{again}");
}

/// Does something in every cycle after the first WQE request.
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
    fires(WQE, &send(), |outputs| outputs.wqe_req_valid = Bits1::new(0));
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
            outputs.fetch_mr_ingress_valid = Bits1::new(0);
        }
    });
}

#[test]
fn payload_beyond_the_wqe_and_beyond_the_packet() {
    // The CQE becomes one more request for payload.
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

/// A SEND without payload. Its event waits for a cycle, and without F2 once more after the CQE that
/// comes again.
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

    // One less, and one after the event.
    let mut first = true;
    fires_under(REPEATING, CQE, &event, |outputs| {
        let data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::GEN_CQE && std::mem::take(&mut first) {
            outputs.fetch_mr_ingress_valid = Bits1::new(0);
        }
    });
    let ack = opcode::ACKNOWLEDGE;
    fires_under(REPEATING, ORDER, &event, renamed(ack, opcode::GEN_CQE));
    // No event is owed, so none that waits allows for more.
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
    // The event hides, and comes as another CQE.
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
    // The acknowledge becomes one more check.
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
    fires(RQ_STEP, &send(), |outputs| outputs.rq_offset_wen = Bits1::new(0));
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
    fires(ALIGNED, &send(), |outputs| outputs.rq_offset_din = Bits24::new(5));
    fires(INSIDE, &send(), |outputs| outputs.rq_offset_din = Bits24::new(16));
}

#[test]
fn an_rq_offset_that_is_not_the_next() {
    // No step, one entry too many, always 0, and the step of another QP.
    fires(EXACT, &send(), |outputs| outputs.rq_offset_din = Bits24::new(0));
    fires(EXACT, &send(), |outputs| outputs.rq_offset_din = Bits24::new(8));
    fires(EXACT, &round_the_ring(4), |outputs| outputs.rq_offset_din = Bits24::new(4));
    fires(EXACT, &round_the_ring(4), |outputs| outputs.rq_offset_din = Bits24::new(0));
    fires(EXACT, &send(), |outputs| outputs.rq_offset_addr = Bits8::new(QP + 1));
    let other = judge_pins(&send(), REPAIRED, |inputs, _| inputs.rq_offset_dout = Bits24::new(8));
    assert_eq!(other.unwrap_err().check, EXACT);
    // An offset between entries is judged, too.
    let astray = round_the_ring(5);
    assert_eq!(judge(&astray, REPAIRED, |_| {}).unwrap()[6], 5);
    fires(EXACT, &astray, |outputs| outputs.rq_offset_din = Bits24::new(8));
    // Entries of an illegal size add nothing.
    let mut illegal = send();
    illegal.packets[0].context.rq_entry_sz_log = Uint::new(5);
    assert_eq!(judge(&illegal, REPAIRED, |_| {}).unwrap()[6], 1);
    fires(EXACT, &illegal, |outputs| outputs.rq_offset_din = Bits24::new(4));
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

/// What a reset cuts short was judged before.
#[test]
fn too_much_before_a_reset() {
    let mut voided = traffic(vec![packet(opcode::SEND_ONLY, 60, &[60])]);
    voided.packets[0].reset = Some(Reset { after: Uint::new(8), cycles: Uint::new(1) });
    assert_eq!(judge(&voided, REPAIRED, |_| {}).unwrap(), [0, 0, 60, 0, 0, 0, 1]);
    let mut stepped = false;
    fires(RQ_STEP, &voided, |outputs| {
        stepped |= outputs.rq_offset_wen.get() == 1;
        outputs.rq_offset_wen = Bits1::new(u64::from(stepped));
    });
}

#[test]
fn requests_in_the_wrong_order() {
    let swapped = |outputs: &mut Outputs| {
        let mut data = MrData::decode(&outputs.fetch_mr_ingress_data);
        let other = match data.opcode.get() {
            opcode::GEN_CQE => opcode::GEN_EVENT,
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
    // A context, though none is left.
    let more = judge_pins(&send(), REPAIRED, |inputs, _| {
        inputs.fetch_cxt_egress_valid = Bits1::new(1);
    });
    assert_eq!(more.unwrap_err().check, UNASKED);
}
