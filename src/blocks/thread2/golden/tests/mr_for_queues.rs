//! MR_FOR_CQ_s, MR_FOR_EQ_s and GEN_ACK_s: how do completion, event and acknowledge end a packet?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_HEAD, CQ_LADDR, CQ_MR, EQ_MR, WRITE_MR, WRITTEN};

/// A SEND without payload and without an event.
const PLAIN: Packet = Packet { length: 0, ..PACKET };
const SOLICITED: Packet = Packet { solicited: 1, ..PLAIN };

/// From IDLE_s to MR_FOR_CQ_s.
fn completes<'a>(bench: &'a mut Bench, packet: &Packet) -> &'a mut Bench {
    bench.fetches_wqe(packet).consumes("T14", &TERMINATOR, Last);
    bench.updates("T30", &TABLES, &WRITTEN).fetches_cq_address()
}

/// From IDLE_s to MR_FOR_EQ_s.
fn reports<'a>(bench: &'a mut Bench, packet: &Packet) -> &'a mut Bench {
    completes(bench, packet).requests("F1", &CQ_MR).fetches_eq_address()
}

#[test]
fn t40_a_completed_send_is_acknowledged() {
    under(&[SPEC, REPAIRED], |bench| {
        for service in RELIABLE {
            completes(bench, &Packet { service, ..PLAIN }).requests("T40", &CQ_MR);
            bench.requests("T44", &ACK).idles();
        }
    });
}

#[test]
fn t40_under_s0_every_service_is_acknowledged_and_no_event_follows() {
    let mut bench = Bench::new(SPEC);
    for service in 0..=7 {
        completes(&mut bench, &Packet { service, ..SOLICITED }).requests("T40", &CQ_MR);
        bench.requests("T44", &ACK).idles();
    }
}

#[test]
fn f1_a_solicited_completion_is_followed_by_an_event() {
    under(&[0x02, REPAIRED], |bench| {
        completes(bench, &SOLICITED).requests("F1", &CQ_MR).fetches_eq_address();
        bench.requests("T42", &EQ_MR).requests("T44", &ACK).idles();
        completes(bench, &PLAIN).requests("T40", &CQ_MR).requests("T44", &ACK).idles();
    });
}

#[test]
fn f6d_a_completion_of_an_unreliable_service_is_not_acknowledged() {
    under(&[0x40, REPAIRED], |bench| {
        for service in UNRELIABLE {
            completes(bench, &Packet { service, ..PLAIN }).requests("F6d", &CQ_MR).idles();
        }
    });
    // Without F1 a solicited packet is treated like any other.
    under(&[0x40], |bench| {
        completes(bench, &Packet { service: UD, ..SOLICITED }).requests("F6d", &CQ_MR).idles();
    });
}

#[test]
fn t41_a_completions_request_waits_until_it_is_taken() {
    under(&[SPEC, REPAIRED], |bench| {
        completes(bench, &PLAIN).offers("T41", &CQ_MR).offers("T41", &CQ_MR);
        bench.offers("T41", &CQ_MR).requests("T40", &CQ_MR).requests("T44", &ACK).idles();
    });
}

#[test]
fn t42_an_event_is_followed_by_the_acknowledge() {
    under(&[0x02, REPAIRED], |bench| {
        for service in RELIABLE {
            reports(bench, &Packet { service, ..SOLICITED }).requests("T42", &EQ_MR);
            bench.requests("T44", &ACK).idles();
        }
    });
    // Without F6 every service is acknowledged.
    under(&[0x02], |bench| {
        for service in UNRELIABLE {
            reports(bench, &Packet { service, ..SOLICITED }).requests("T42", &EQ_MR);
            bench.requests("T44", &ACK).idles();
        }
    });
}

#[test]
fn f6e_an_event_of_an_unreliable_service_is_not_acknowledged() {
    under(&[0x42, REPAIRED], |bench| {
        for service in UNRELIABLE {
            reports(bench, &Packet { service, ..SOLICITED }).requests("F6e", &EQ_MR).idles();
        }
    });
}

/// S0's erratum F2: the completion is placed once more for each cycle of waiting.
#[test]
fn t43_without_f2_an_event_that_is_not_taken_goes_back_to_the_completion() {
    let mut bench = Bench::new(0x02);
    reports(&mut bench, &SOLICITED).offers("T43", &EQ_MR).offers("T41", &CQ_MR);
    bench.requests("F1", &CQ_MR).fetches_eq_address().offers("T43", &EQ_MR);
    bench.requests("F1", &CQ_MR).fetches_eq_address();
    bench.requests("T42", &EQ_MR).requests("T44", &ACK).idles();
}

#[test]
fn f2_an_events_request_waits_until_it_is_taken() {
    under(&[0x06, REPAIRED], |bench| {
        reports(bench, &SOLICITED).offers("F2", &EQ_MR).offers("F2", &EQ_MR);
        bench.offers("F2", &EQ_MR).requests("T42", &EQ_MR).requests("T44", &ACK).idles();
    });
}

#[test]
fn t44_a_taken_acknowledge_ends_the_packet() {
    let write = Packet { opcode: RDMA_WRITE_ONLY, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&write).judges("T04").requests("T35", &WRITE_MR).requests("T44", &ACK).idles();
        bench.takes(&PACKET).judges("T03");
    });
}

#[test]
fn t45_an_acknowledge_waits_until_it_is_taken() {
    let write = Packet { opcode: RDMA_WRITE_ONLY, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&write).judges("T04").requests("T35", &WRITE_MR);
        bench.offers("T45", &ACK).offers("T45", &ACK).offers("T45", &ACK);
        bench.requests("T44", &ACK).idles();
    });
}

/// The whole path of a SEND without payload: no MR request for data, but a completion.
#[test]
fn a_send_without_payload_is_completed_and_acknowledged() {
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&PLAIN).consumes("T14", &UNIT, Last);
        bench.updates("T30", &TABLES, &WRITTEN).requests_cq("T22", CQ_HEAD);
        bench.takes_cq_address("T24", CQ_LADDR).requests("T40", &CQ_MR);
        bench.requests("T44", &ACK).idles();
    });
}
