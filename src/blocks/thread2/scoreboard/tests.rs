//! Every check fires on a model that is wrong in the way it looks for, and on none that is right.

use super::*;
use crate::blocks::thread2::layout::{DataUnit, NextUnit, qp_state, service};
use crate::blocks::thread2::rtl::{Bits24, Bits224, Bits256};
use crate::blocks::thread2::stimulus::{Unit, Wqe};
use crate::blocks::thread2::{Environment, Golden};
use crate::harness::{Environment as _, Golden as _, Scoreboard as _};
use crate::value::Uint;

const REPAIRED: u8 = 0xff;
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

/// Runs the golden model and shows the scoreboard outputs that `tamper` has changed.
fn judge(
    traffic: &Traffic,
    mask: u8,
    mut tamper: impl FnMut(&mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let mut golden = Golden::new(mask);
    let mut environment = Environment::new(traffic);
    let mut scoreboard = Scoreboard::new(traffic, mask);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.outputs(&inputs, &mut outputs);
        let mut shown = outputs;
        tamper(&mut shown);
        scoreboard.observe(&inputs, &shown)?;
        golden.clock(&inputs);
        environment.clock(&inputs, &outputs);
    }
    scoreboard.finish()?;
    Ok(scoreboard.counters())
}

fn fires(check: &str, traffic: &Traffic, tamper: impl FnMut(&mut Outputs)) {
    let violation = judge(traffic, REPAIRED, tamper).unwrap_err();
    assert_eq!(violation.check, check, "{}", violation.message);
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
fn a_loss_by_t08_is_counted_and_not_blamed() {
    let mut lost = send();
    if let Some(wqe) = &mut lost.packets[0].wqe {
        wqe.stall = Uint::new(1);
        wqe.units.push(Unit::default());
    }
    assert_eq!(judge(&lost, 0x00, |_| {}).unwrap(), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(judge(&lost, REPAIRED, |_| {}).unwrap()[0], 0);
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
fn payload_beyond_the_wqe() {
    let short = traffic(vec![packet(opcode::SEND_ONLY, 40, &[60])]);
    // The acknowledge becomes one more request for payload.
    let more = on_requests(opcode::GEN_CQE, |_, data| data.opcode = Uint::new(opcode::SEND_ONLY));
    fires(PAYLOAD, &short, more);
}

#[test]
fn a_missing_cqe_and_one_with_the_wrong_status() {
    fires(CQE, &send(), without(opcode::GEN_CQE));
    fires(CQE, &send(), on_requests(opcode::GEN_CQE, |_, data| data.status = Uint::new(1)));
    let too_short = traffic(vec![packet(opcode::SEND_ONLY, 100, &[60])]);
    fires(CQE, &too_short, on_requests(opcode::GEN_CQE, |_, data| data.status = Uint::new(0)));
}

#[test]
fn a_cqe_for_a_message_that_is_not_complete() {
    let first = traffic(vec![packet(opcode::SEND_FIRST, 10, &[60])]);
    let early =
        on_requests(opcode::ACKNOWLEDGE, |_, data| data.opcode = Uint::new(opcode::GEN_CQE));
    fires(CQE, &first, early);
}

#[test]
fn a_missing_event() {
    fires(EVENT, &send(), without(opcode::GEN_EVENT));
}

#[test]
fn a_missing_acknowledge_and_one_too_many() {
    fires(ACK, &send(), without(opcode::ACKNOWLEDGE));
    let mut unreliable = send();
    unreliable.packets[0].header.service_type = Uint::new(service::UD);
    let event = opcode::GEN_EVENT;
    unreliable.packets[0].header.solicited = Uint::new(0);
    assert_eq!(judge(&unreliable, REPAIRED, |_| {}).unwrap()[5], 0, "UD is not acknowledged");
    unreliable.packets[0].header.solicited = Uint::new(1);
    let ack = on_requests(event, |_, data| data.opcode = Uint::new(opcode::ACKNOWLEDGE));
    let violation = judge(&unreliable, REPAIRED, ack).unwrap_err();
    assert!([EVENT, ACK].contains(&violation.check.as_str()), "{violation:?}");
}

#[test]
fn a_missing_rdma_check() {
    let write = traffic(vec![packet(opcode::RDMA_WRITE_ONLY, 8, &[0])]);
    fires(REMOTE, &write, without(opcode::RDMA_WRITE_ONLY));
}

#[test]
fn a_missing_step_of_the_rq() {
    fires(RQ_STEP, &send(), |outputs| outputs.rq_offset_wen = Bits1::new(0));
}

#[test]
fn an_rq_offset_between_entries_and_one_outside_the_ring() {
    fires(ALIGNED, &send(), |outputs| outputs.rq_offset_din = Bits24::new(5));
    fires(INSIDE, &send(), |outputs| outputs.rq_offset_din = Bits24::new(16));
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
}
