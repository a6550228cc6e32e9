//! MR_FOR_CQ_s, MR_FOR_EQ_s and GEN_ACK_s: how do completion, event and acknowledge end a packet?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_MR, EQ_MR, WRITTEN};

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
fn t40_f6d_a_completion_is_acknowledged_by_service() {
    under(&[SPEC, 0x40, REPAIRED], |bench| {
        for service in RELIABLE {
            completes(bench, &Packet { service, ..PLAIN }).requests("T40", &CQ_MR);
            bench.requests("T44", &ACK).idles();
        }
    });
    under(&[0x40, REPAIRED], |bench| {
        for service in UNRELIABLE {
            completes(bench, &Packet { service, ..PLAIN }).requests("F6d", &CQ_MR).idles();
        }
    });
    // Without F6 every service is acknowledged, and without F1 no event follows.
    under(&[SPEC], |bench| {
        for service in UNRELIABLE {
            completes(bench, &Packet { service, ..SOLICITED }).requests("T40", &CQ_MR);
            bench.requests("T44", &ACK).idles();
        }
    });
    under(&[0x40], |bench| {
        completes(bench, &Packet { service: UD, ..SOLICITED }).requests("F6d", &CQ_MR).idles();
    });
}

#[test]
fn f1_t42_f6e_a_solicited_completion_is_followed_by_an_event_and_the_acknowledge() {
    for (mask, services) in
        [(0x02, [RELIABLE.to_vec(), UNRELIABLE.to_vec()].concat()), (REPAIRED, RELIABLE.to_vec())]
    {
        under(&[mask], |bench| {
            for service in &services {
                reports(bench, &Packet { service: *service, ..SOLICITED }).requests("T42", &EQ_MR);
                bench.requests("T44", &ACK).idles();
            }
            completes(bench, &PLAIN).requests("T40", &CQ_MR).requests("T44", &ACK).idles();
        });
    }
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
