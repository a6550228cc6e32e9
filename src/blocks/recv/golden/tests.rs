//! Each rule alone and combinations; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{self, SPEC};

/// Packets have 100 bytes. Kind 0 is a flow packet, 4 an eager CP, 5 a rendezvous CP, 6 a DP.
const SHORT: &[(&str, &str)] = &[
    ("pkt", "pkt_valid pkt_kind=$1 pkt_id=$2 pkt_len=100"),
    ("last", "pkt_last"),
    ("free", "pool_free=$1"),
    ("found", "match_rsp match_found"),
    ("unexpected", "match_rsp"),
    ("done", "posted_done"),
    ("in", "state=$1 ring_level=$2"),
    ("asks", "match_req match_id=$1"),
    ("copied", "copy_valid copy_id=$1 copy_len=100 release_valid release_id=$1"),
    ("released", "release_valid release_id=$1"),
    ("kept", "keep_valid keep_id=$1"),
    ("temporary", "temp_alloc_valid temp_alloc_len=$1"),
    ("alloc", "alloc_valid alloc_count=$1"),
    ("credit", "credit_valid credit_count=$1"),
];

type Bench = testing::Bench<Recv>;

fn with(fixes: u8, low: u64, high: u64, keep: u64) -> Bench {
    let parameters = Parameters::of::<Recv>(fixes);
    Bench::new(&parameters.with(LOW, low).with(HIGH, high).with(KEEP, keep), SHORT, "")
}

/// `spec`: LOW 4, HIGH 16, KEEP 8.
fn new() -> Bench {
    with(SPEC, 4, 16, 8)
}

/// The ways to the states from DETERMINE_CP_TYPE on, for a message with CP 9 and DP 1. From
/// CHECK_POSTED on, 15 of 16 buffers are in the ring.
const WAYS: [&str; 6] = [
    "pkt(0,1)",
    "pkt(0,1) \n CP",
    "pkt(0,1) \n CP \n unexpected",
    "pkt(0,1) \n CP \n unexpected \n CHOICE",
    "pkt(0,1) \n CP \n unexpected \n CHOICE \n pkt(6,1)",
    "pkt(0,1) \n CP \n found",
];

/// Brings a block to a state with this CP, and with these pins while it chooses.
fn bring(mut bench: Bench, state: usize, cp: &str, choice: &str) -> Bench {
    if state > 0 {
        bench.run(&WAYS[state - 1].replace("CP", cp).replace("CHOICE", choice));
    }
    assert_eq!(bench.golden.registers.state as usize, state);
    bench
}

/// With an eager message of 3000 bytes, and no buffer in the pool.
fn at(state: usize) -> Bench {
    bring(new(), state, "pkt(4,9) pkt_msg_len=3000", "-")
}

#[test]
fn p1_p2_await_cp_sees_a_packet_and_takes_none() {
    new().run(
        "found done temp_alloc_ok credit_ready | = in(0,16)           | = P1
         pkt(4,7)                              | = in(0,16)           | = P2
         -                                     | = in(1,16) pkt_ready | = P3",
    );
}

#[test]
fn p3_determine_cp_type_waits_for_a_packet_and_for_the_ring() {
    with(0, 1, 1, 8).run(
        "pkt(0,1)
         -                | = in(1,1) pkt_ready                       | = P3
         pkt(0,1)         | = in(1,1) pkt_ready released(1)           | = P4 G3
         pkt(0,2)         | = in(0,0)                                 | = P2
         pkt(0,2)         | = in(1,0)                                 | = P3
         pkt(0,2) free(1) | = in(1,0) alloc(1)                        | = P3 G4 K1
         pkt(0,2)         | = in(1,1) pkt_ready released(2) credit(1) | = P4 G3",
    );
}

#[test]
fn p4_to_p10_the_kind_of_a_control_packet_decides() {
    for kind in [0, 1, 2, 3, 6, 7] {
        let (error, rule) = if kind < 4 { (0, 4 + kind) } else { (1, 10) };
        at(1).run(&format!(
            "pkt({kind},9) | = in(1,16) pkt_ready released(9) protocol_error={error} | = P{rule} G1
             -             | = in(0,15)                                              | = P1",
        ));
    }
    at(1).run(
        "pkt(4,9) | = in(1,16) pkt_ready | = P8 G1
         pkt(6,3) | = in(2,15) asks(9)   | = P11",
    );
    // `posted_done` is ignored before RECV_POSTED_DATA.
    at(1).run(
        "pkt(5,9) last done | = in(1,16) pkt_ready copied(9) | = P9 G1
         -                  | = in(6,15)                     | = P29",
    );
}

#[test]
fn p11_to_p13_the_answer_decides() {
    // `match_found` is ignored without `match_rsp`.
    at(2).run(
        "match_found    | = in(2,15) asks(9)           | = P11
         pkt(6,4) found | = in(2,15) asks(9) copied(9) | = P12
         -              | = in(6,15)                   | = P29",
    );
    at(2).run(
        "pkt(6,4) unexpected | = in(2,15) asks(9) | = P13
         free(8)             | = in(3,15) kept(9) | = P17 U3",
    );
}

/// A CP that is the whole message, before the choice, under a mask.
fn whole(fixes: u8) -> Bench {
    bring(with(fixes, 4, 16, 8), 3, "pkt(4,9) last pkt_msg_len=100", "-")
}

#[test]
fn p14_p15_with_f0_a_message_of_one_packet_is_over() {
    for fixes in [0x01, 0xff] {
        whole(fixes).run(
            "pkt(0,2) free(8) | = in(3,15) kept(9)               | = P14 U3 F0
             pkt(0,2)         | = in(1,15) pkt_ready released(2) | = P4 G1",
        );
        whole(fixes).run(
            "temp_alloc_ok | = in(3,15) temporary(100) copied(9) | = P15 U1 F0
             -             | = in(0,15)                          | = P1",
        );
    }
}

#[test]
fn p16_p17_without_f0_it_waits_for_another_packet() {
    for fixes in [0x00, 0xfe] {
        // The message is complete: nothing is accepted, and the end is detected.
        whole(fixes).run(
            "free(8)  | = in(3,15) kept(9)               | = P17 U3
             -        | = in(4,15)                       | = P18
             pkt(0,2) | = in(4,15)                       | = P19
             pkt(0,2) | = in(5,15)                       | = P25
             pkt(0,2) | = in(1,15) pkt_ready released(2) | = P4 G1",
        );
        whole(fixes).run(
            "pkt(0,2) free(8) | = in(3,15) kept(9) | = P16 U3
             -                | = in(5,15)         | = P26
             -                | = in(0,15)         | = P1",
        );
    }
}

#[test]
fn p16_p17_a_message_with_dps_waits_for_them_with_and_without_f0() {
    for fixes in [0x00, 0x01] {
        let bench = bring(with(fixes, 4, 16, 8), 3, "pkt(4,9)", "-");
        bench.clone().run(
            "pkt(6,2) free(8) | = in(3,15) kept(9)           | = P16 U3
             pkt(6,2)         | = in(5,15) pkt_ready kept(2) | = P21 G1",
        );
        bench.clone().run(
            "free(8) | = in(3,15) kept(9) | = P17 U3
             -       | = in(4,15)         | = P18",
        );
    }
}

#[test]
fn u1_to_u3_the_pool_and_the_temporary_buffer_choose() {
    for script in [
        "free(7) temp_alloc_ok   | = in(3,15) temporary(3000) copied(9) | = P17 U1",
        "free(7)                 | = in(3,15) temporary(3000) kept(9)   | = P17 U2",
        "free(8) temp_alloc_ok   | = in(3,15) kept(9)                   | = P17 U3",
        // The numbers are unsigned: 255 is not low.
        "free(255) temp_alloc_ok | = in(3,15) kept(9)                   | = P17 U3",
    ] {
        at(3).run(script);
    }
    for (keep, free, low) in [(0, 0, 0), (1, 0, 1), (255, 254, 1), (255, 255, 0)] {
        bring(with(0, 4, 16, keep), 3, "pkt(4,9) pkt_msg_len=7", "-")
            .run(&format!("free({free}) temp_alloc_ok | temp_alloc_valid={low} copy_valid={low}"));
    }
}

#[test]
fn p18_p19_await_unexp_dp_takes_nothing() {
    at(4).run(
        "done unexpected | = in(4,15)                   | = P18
         pkt(6,3)        | = in(4,15)                   | = P19
         pkt(6,3)        | = in(5,15) pkt_ready kept(3) | = P21 G1",
    );
}

#[test]
fn p20_p21_dps_are_as_the_message_was_chosen() {
    // The pool is not tested again.
    bring(new(), 5, "pkt(4,9)", "temp_alloc_ok").run(
        "pkt(6,3) free(255) | = in(5,15) pkt_ready copied(3)                  | = P20 G1
         pkt(6,4) last      | = in(5,14) pkt_ready copied(4)                  | = P20 G1
         pkt(6,5)           | = in(5,13)                                      | = P25
         pkt(6,5)           | = in(1,13) pkt_ready released(5) protocol_error | = P10 G1",
    );
    at(5).run(
        "pkt(6,3) temp_alloc_ok | = in(5,15) pkt_ready kept(3) | = P21 G1
         pkt(6,4) last          | = in(5,14) pkt_ready kept(4) | = P21 G1
         -                      | = in(5,13)                   | = P26
         -                      | = in(0,13)                   | = P1",
    );
}

#[test]
fn p22_what_is_no_dp_is_released_and_does_not_end_the_message() {
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        at(5).run(&format!(
            "pkt({kind},3) last | = in(5,15) pkt_ready released(3) protocol_error | = P22 G1
             pkt(6,4)           | = in(5,14) pkt_ready kept(4)                    | = P21 G1",
        ));
    }
}

#[test]
fn p23_p24_proc_unexp_dp_waits_for_the_ring_but_not_for_packets() {
    bring(with(0, 1, 1, 8), 5, "pkt(4,9)", "-").run(
        "pkt(6,3)         | = in(5,0)                             | = P23
         pkt(6,3) free(9) | = in(5,0) alloc(1)                    | = P23 G4 K1
         pkt(6,3)         | = in(5,1) pkt_ready kept(3) credit(1) | = P21 G3
         -                | = in(5,0) credit(1)                   | = P24
         -                | = in(4,0) credit(1)                   | = P18",
    );
    at(5).run("- | = in(5,15) pkt_ready | = P24");
}

#[test]
fn p25_p26_the_end_of_a_message_is_seen_even_with_an_empty_ring() {
    for (next, rule, state, then) in [("pkt(0,4)", "P25", 1, "P3"), ("-", "P26", 0, "P1")] {
        bring(with(0, 1, 1, 8), 5, "pkt(4,9)", "-").run(&format!(
            "pkt(6,3) free(1)
             pkt(6,3) last
             {next} | = in(5,0) credit(1)       | = {rule}
             -      | = in({state},0) credit(1) | = {then}",
        ));
    }
}

#[test]
fn p27_to_p30_posted_data_is_taken_until_it_is_finished() {
    // The last packet alone finishes nothing.
    at(6).run(
        "pkt(6,3)      | = in(6,15) pkt_ready copied(3) | = P27 G1
         pkt(6,4) last | = in(6,14) pkt_ready copied(4) | = P27 G1
         -             | = in(6,13)                     | = P29
         pkt(6,5) done | = in(6,13) pkt_ready copied(5) | = P28 G1
         -             | = in(0,12)                     | = P1",
    );
    at(6).run(
        "done | = in(6,15) | = P30
         done | = in(0,15) | = P1",
    );
    // What is no DP waits for AWAIT_CP.
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        at(6).run(&format!(
            "pkt({kind},3)      | = in(6,15) | = P29
             pkt({kind},3) done | = in(6,15) | = P30
             pkt({kind},3)      | = in(0,15) | = P2",
        ));
    }
    // A DP waits for the ring.
    bring(with(0, 1, 1, 8), 6, "pkt(4,9)", "-").run(
        "pkt(6,3)      | = in(6,0) | = P29
         pkt(6,3) done | = in(6,0) | = P30",
    );
}

#[test]
fn p0_code_7_leads_home() {
    for pins in ["-", "pkt(4,3) found done"] {
        let mut bench = new();
        bench.golden.registers.state = State::None;
        bench.run(&format!("{pins} | = in(7,16) | = P0 \n - | = in(0,16) | = P1"));
    }
}

/// The block in RECV_POSTED_DATA with this number of buffers in the ring and no pending credit.
fn ring(low: u64, high: u64, level: u64) -> Bench {
    let mut bench = bring(with(0, low, high, 8), 6, "pkt(4,9)", "-");
    bench.run(&format!("{}* pkt(6,1)", high - 1 - level));
    bench
}

#[test]
fn g1_to_g3_the_ring_is_refilled_when_it_is_low_after_the_packet() {
    // 5 - 1 = 4 is not below LOW, 4 - 1 = 3 is: 16 - 3 = 13 places.
    ring(4, 16, 5).run(
        "pkt(6,3) free(99) | = in(6,5) pkt_ready copied(3)           | = P27 G1
         pkt(6,3) free(99) | = in(6,4) pkt_ready copied(3) alloc(13) | = P27 G2 K1
         free(99)          | = in(6,16) credit(13)                   | = P29",
    );
    // All free buffers are used.
    ring(4, 16, 4).run(
        "pkt(6,3) free(2) | = in(6,4) pkt_ready copied(3) alloc(2) | = P27 G2 K1
         free(99)         | = in(6,5) credit(2)                    | = P29",
    );
    // No buffer is free: retry with the next packet, not before.
    ring(4, 16, 4).run(
        "pkt(6,3)          | = in(6,4) pkt_ready copied(3)           | = P27 G3
         free(99)          | = in(6,3)                               | = P29
         pkt(6,3) free(14) | = in(6,3) pkt_ready copied(3) alloc(14) | = P27 G2 K1
         -                 | = in(6,16) credit(14)                   | = P29",
    );
}

#[test]
fn g4_an_empty_ring_is_refilled_without_a_packet_in_any_state() {
    // No packet is accepted in the cycle of the refill, and all 16 places are free.
    ring(4, 16, 1).run(
        "pkt(6,3)          | = in(6,1) pkt_ready copied(3)               | = P27 G3
         pkt(6,3)          | = in(6,0)                                   | = P29
         done              | = in(6,0)                                   | = P30
         pkt(0,4) free(99) | = in(0,0) alloc(16)                         | = P2 G4 K1
         pkt(0,4)          | = in(1,16) pkt_ready released(4) credit(16) | = P4 G1",
    );
}

#[test]
fn a_low_above_high_is_as_low_is_high() {
    // 2 - 1 = 1 was left of the CP; 1 - 1 = 0 is left now.
    for low in [2, 3, 255] {
        bring(with(0, low, 2, 8), 6, "pkt(4,9)", "-").run(
            "pkt(6,3) free(9) | = in(6,1) pkt_ready copied(3) alloc(2)           | = P27 G2 K1
             pkt(6,4) free(9) | = in(6,2) pkt_ready copied(4) credit(2) alloc(1) | = P27 G2 K1",
        );
    }
}

#[test]
fn k1_to_k3_credits_are_added_up_until_they_are_taken() {
    // 1 + 2 are taken, 1 is new.
    ring(16, 16, 15).run(
        "pkt(6,3) free(1) credit_ready | = in(6,15) pkt_ready copied(3) alloc(1) | = P27 G2 K1
         pkt(6,3) free(2)     | = in(6,15) pkt_ready copied(3) alloc(2) credit(1) | = P27 G2 K1
         pkt(6,3) free(9) credit_ready | = in(6,16) pkt_ready copied(3) alloc(1) credit(3) \
                                                                                  | = P27 G2 K2
         free(9) credit_ready | = in(6,16) credit(1)                              | = P29 K3
         free(9) credit_ready | = in(6,16)                                        | = P29",
    );
}

/// Each packet of the script's first line is replaced, so that the ring keeps its 15 buffers and
/// 254 credits of one each add up.
#[test]
fn o1_no_refill_takes_the_credit_past_255() {
    // 254 + 2 > 255: not even one of them. The credit that is accepted at this edge does not help.
    ring(16, 16, 15).run(
        "254* pkt(6,1) free(1)
         pkt(6,3) free(9)              | = in(6,15) pkt_ready copied(3) credit(254) | = P27 G3 O1
         pkt(6,3) free(2) credit_ready | = in(6,14) pkt_ready copied(3) credit(254) | = P27 G3 O1 K3
         pkt(6,3) free(9)              | = in(6,13) pkt_ready copied(3) alloc(4)    | = P27 G2 K1",
    );
    // 254 + 1 = 255 fits. Then nothing fits, not even for an empty ring, unless no buffer is free.
    ring(16, 16, 15).run(
        "254* pkt(6,1) free(1)
         pkt(6,3) free(1)     | = in(6,15) pkt_ready copied(3) credit(254) alloc(1) | = P27 G2 K1
         15* pkt(6,3) free(1) | pkt_ready copied(3) credit(255)                     | = P27 G3 O1
         pkt(6,3) free(1)     | = in(6,0) credit(255)                               | = P29 O1
         -                    | = in(6,0) credit(255)                               | = P29
         free(1) credit_ready | = in(6,0) credit(255)                               | = P29 O1 K3
         free(1)              | = in(6,0) alloc(1)                                  | = P29 G4 K1",
    );
}

#[test]
fn r1_reset_silences_every_pin_and_forgets_every_register() {
    for state in 0..7 {
        at(state).run(
            "2* rst pkt(6,3) free(99) found done credit_ready temp_alloc_ok | = | = R1
             -                                                              | = in(0,16) | = P1",
        );
    }
    let mut bench = ring(16, 16, 15);
    bench.run("pkt(6,3) free(1) \n rst");
    let registers = &bench.golden.registers;
    assert_eq!(registers.credit_pending, 0);
    assert!(!registers.complete && !registers.copying);
}

#[test]
fn the_fields_of_every_control_packet_are_latched_and_those_of_a_dp_are_not() {
    for (state, id, bytes, complete) in [(1, 0x5a, 0xffff_ffff, true), (6, 9, 3000, false)] {
        let mut bench = at(state);
        bench.run(&format!("pkt(6,0x5a) pkt_msg_len={} last", u32::MAX));
        let registers = &bench.golden.registers;
        assert_eq!((registers.cp_id.get(), registers.cp_len.get()), (id, 100));
        assert_eq!((registers.cp_msg_len.get(), registers.complete), (bytes, complete));
    }
}
