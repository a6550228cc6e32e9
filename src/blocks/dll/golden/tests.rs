//! Each rule of the specification; all numbers are worked out by hand.

use crate::blocks::dll::Dll;
use crate::blocks::testing::{self, REPAIRED, SPEC};
use cosim_core::harness::Parameters;

const SHORT: &[(&str, &str)] = &[
    ("tlp", "a_tlp_valid a_tlp_data=$1"),
    ("take", "a_link_ready"),
    ("ack", "a_dllp_valid a_dllp_crc_ok a_dllp_seq=$1"),
    ("nak", "a_dllp_valid a_dllp_crc_ok a_dllp_nak a_dllp_seq=$1"),
    ("arrives", "b_link_valid b_link_crc_ok b_link_seq=$1 b_link_data=$2"),
    ("bad", "b_link_valid b_link_seq=$1"),
    ("dllp_ready", "b_dllp_ready"),
    ("offers", "a_link_valid a_link_seq=$1 a_link_data=$2"),
    ("no_offer", "!a_link_valid"),
    ("acked", "a_ackd_seq=$1"),
    ("next", "a_next_seq=$1"),
    ("replays", "a_replay_num=$1"),
    ("acks", "b_dllp_valid !b_dllp_nak b_dllp_seq=$1"),
    ("naks", "b_dllp_valid b_dllp_nak b_dllp_seq=$1"),
    ("silent", "!b_dllp_valid"),
    ("wants", "b_next_rcv_seq=$1"),
    ("nak_out", "b_nak_scheduled"),
];

type Bench = testing::Bench<Dll>;

fn just_reset(mask: u8) -> Bench {
    Bench::new(&Parameters::with_fixes::<Dll>(mask), SHORT, "")
}

/// After one cycle without reset, so that A is ready.
fn new(mask: u8) -> Bench {
    let mut bench = just_reset(mask);
    bench.run("-");
    bench
}

/// A has accepted TLPs 0 to `count` − 1, with payloads from 100 on, and handed them to the link.
/// The last one is on offer one cycle later and handed over in the cycle after.
fn sent(count: u64) -> Bench {
    let mut bench = new(SPEC);
    for data in 100..100 + count {
        bench.run(&format!("tlp({data}) take"));
    }
    bench.run("2* take");
    bench
}

/// B after TLPs 0 to `count` − 1; their Ack was handed over and the timer is stopped.
fn received(mask: u8, count: u64) -> Bench {
    let mut bench = new(mask);
    for seq in 0..count {
        bench.run(&format!("arrives({seq},{seq}) dllp_ready"));
    }
    bench.run(&format!("20* dllp_ready \n . | wants({count}) silent"));
    bench
}

/// Sections 4 and 6, column "Reset"; section 2, column "In reset".
#[test]
fn a17_b14_reset_values_are_shown_at_once_and_kept() {
    let mut bench = sent(3);
    bench.run("tlp(9) nak(1) arrives(0,7) \n nak(9) bad(0)");
    bench.run("3* rst tlp(9) take nak(0) arrives(0,7) | = acked(4095) | = A17 B14");
}

#[test]
fn a1_the_first_edge_after_reset_takes_nothing() {
    just_reset(SPEC).run(
        "tlp(5) |                     | = A16
         tlp(5) | next(0) a_tlp_ready | = A1 A16
         .      | next(1)",
    );
}

/// Section 8: taken in t, `a_next_seq` in t + 1, offered in t + 2.
#[test]
fn a2_a12_a_tlp_is_offered_two_cycles_after_it_was_taken() {
    new(SPEC).run(
        "tlp(0x12345678)
         -               | next(1) no_offer     | A12
         .               | offers(0,0x12345678)",
    );
}

/// Section 8: first handshake in t; timer k in t + 1 + k; A9 at edge t + 64; offered in t + 66.
#[test]
fn a9_the_oldest_tlp_is_offered_again_66_cycles_after_the_first_handshake() {
    // The timer is 0 in t + 65, too: the next A9 is at edge t + 128.
    new(SPEC).run(
        "tlp(100) \n tlp(101) \n tlp(102)
         take     |                     | A2  // t
         63* take | replays(0)          | !A9
         take     |                     | A9  // t + 64
         take     | replays(1) no_offer
         take     | offers(0,100)             // t + 66
         take     | offers(1,101)
         take     | offers(2,102)
         59* take | no_offer            | !A9 // t + 69
         -        |                     | A9",
    );
}

#[test]
fn a3_an_ack_frees_and_restarts_timer_and_replay_num() {
    // Timer 0 in the cycle after the Ack; it expires 64 edges later.
    sent(3).run(
        "nak(4095)
         ack(1)  | replays(1)                  | A3
         63* -   | acked(1) replays(0) next(3) | !A9
         -       |                             | A9",
    );
}

#[test]
fn a4_a5_a_nak_sends_again_and_does_not_reset_replay_num() {
    // With progress.
    sent(4).run(
        "nak(4095)
         nak(1) |                              | A4 !A5
         -      | acked(1) replays(2) no_offer
         62* -  | offers(2,102)                | !A9
         -      |                              | A9",
    );
    // Without.
    sent(2).run(
        "ack(0)
         nak(0) |                     | A5 !A4
         -      | acked(0) replays(1)
         .      | offers(1,101)",
    );
}

#[test]
fn a6_an_ack_of_nothing_new_leaves_the_timer() {
    // The last cycle was the handshake: timer 0.
    sent(1).run("30* - | | !A9 \n ack(4095) | | A6 !A9 \n 32* - | | !A9 \n - | | A9");
}

#[test]
fn a7_a_dllp_out_of_range_pulses_dl_error_and_leaves_the_timer() {
    // 4095 and 0 are in range.
    for (dllp, n) in [("nak", 1), ("ack", 2047), ("ack", 2048), ("ack", 4094)] {
        sent(1).run(&format!(
            "30* -     |                                   | !A9
             {dllp}({n}) |                                 | A7 !A9
             -         | a_dl_error acked(4095) replays(0) | !A9
             31* -     | !a_dl_error                       | !A9
             -         |                                   | A9"
        ));
    }
}

#[test]
fn a8_a_damaged_dllp_is_nothing() {
    for dllp in ["ack(0)", "nak(0)", "ack(77)"] {
        sent(1).run(&format!(
            "{dllp} a_dllp_crc_ok=0 |                                    | = A8 A15
             .                      | acked(4095) replays(0) !a_dl_error"
        ));
    }
}

#[test]
fn a10_the_fourth_replay_asks_for_retraining_once() {
    sent(1).run(
        "nak(4095) | replays(0) !a_retrain | !A10
         nak(4095) | replays(1) !a_retrain | !A10
         nak(4095) | replays(2) !a_retrain | !A10
         nak(4095) | replays(3) !a_retrain | A10
         -         | replays(0) a_retrain
         .         | replays(0) !a_retrain offers(0,100)",
    );
}

#[test]
fn a11_sixteen_tlps_fill_the_buffer_and_an_ack_makes_room_at_once() {
    // Accepted and freed at the same edge: there is still room for one.
    new(SPEC).run(
        "16* tlp(5) take | a_tlp_ready
         tlp(99) take    | !a_tlp_ready next(16) | A11
         take            | next(16)
         ack(0)          | !a_tlp_ready
         tlp(16) ack(1)  | a_tlp_ready
         tlp(17)         | a_tlp_ready next(17)
         .               | !a_tlp_ready",
    );
}

#[test]
fn a13_an_offer_is_held_through_rewinds_and_frees() {
    // It is the oldest one at the end, so it is sent again after being accepted.
    sent(3).run(
        "tlp(103) \n -
         nak(0)  | offers(3,103) | A13
         ack(2)  | offers(3,103) | A13
         take    | offers(3,103)
         take    | offers(3,103)
         .       | no_offer",
    );
}

#[test]
fn a14_an_ack_that_overtakes_a_replay_skips_what_it_frees() {
    sent(5).run(
        "nak(4095) \n -
         take ack(2) | offers(0,100) | A14 !A12 // send_seq is 1
         take        | no_offer
         .           | offers(3,103)",
    );
}

/// Section 8: delivered in t + 1; Ack visible in t + 17.
#[test]
fn b1_b7_a_wanted_tlp_is_delivered_at_once_and_acknowledged_16_cycles_later() {
    received(SPEC, 3).run(
        "arrives(3,0xabcd) |                                                | B1 // t
         -                 | b_deliver_valid b_deliver_data=0xabcd wants(4) | B13
         14* -             | !b_deliver_valid b_deliver_data=0xabcd silent  | !B7
         -                 | silent                                         | = A16 B7 B12 // t + 16
         dllp_ready        | acks(3)                                        | B11
         .                 | silent b_dllp_seq=3",
    );
}

/// Section 7: ahead means 1 to 2047, a duplicate is 1 to 2048 behind; a bad TLP's number is
/// ignored.
#[test]
fn b1_b3_b4_b5_the_class_of_a_tlp_is_its_distance() {
    for (seq, rule) in
        [(10, "B1"), (11, "B5"), (2057, "B5"), (2058, "B3"), (4095, "B3"), (0, "B3"), (9, "B3")]
    {
        let bench = received(SPEC, 10);
        bench.clone().run(&format!("arrives({seq},0) | | {rule}"));
        bench.clone().run(&format!("bad({seq}) | | B4"));
    }
}

#[test]
fn b4_b5_a_nak_goes_out_at_once_and_stops_the_timer() {
    for (tlp, rule) in [("bad(5)", "B4"), ("arrives(6,0)", "B5")] {
        received(SPEC, 4).run(&format!(
            "arrives(4,4)  // starts the timer
             {tlp}          |                                          | {rule}
             .              | naks(4) nak_out wants(5) !b_deliver_valid
             40* dllp_ready |                                          | !B13
             .              | silent nak_out"
        ));
    }
}

#[test]
fn b6_one_nak_is_enough() {
    for mask in [SPEC, REPAIRED] {
        let mut bench = received(mask, 2);
        bench.run("bad(2) \n dllp_ready");
        for tlp in ["arrives(3,0)", "bad(2)", "arrives(4,0)"] {
            bench.run(&format!("{tlp} dllp_ready | | B6 \n . | silent nak_out wants(2)"));
        }
    }
}

#[test]
fn b2_f0_a_duplicate_while_a_nak_is_out_meets_silence_or_an_ack() {
    received(SPEC, 2).run(
        "bad(2)
         arrives(1,1) dllp_ready |                | B2
         40* -                   | silent nak_out | !B13",
    );
    // A bad TLP does not stop the timer (note F0).
    received(REPAIRED, 2).run(
        "bad(2)
         arrives(1,1) dllp_ready |                 | F0 !B2 // t
         bad(3)                  |                 | B6
         14* -                   |                 | !B7
         -                       |                 | B7     // t + 16
         .                       | acks(1) nak_out",
    );
}

/// B with an Ack of TLP 0 that waits, and TLP 1 received after it.
fn waiting_ack() -> Bench {
    let mut bench = new(SPEC);
    bench.run("arrives(0,0) \n 15* - | | !B7 \n - | | B12 \n arrives(1,1) \n . | acks(0)");
    bench
}

#[test]
fn b8_b9_b12_a_newer_answer_takes_the_place_of_the_ack_that_waits() {
    waiting_ack().run(
        "15* - | acks(0)
         -     | acks(0) | = A16 B7 B8
         .     | acks(1)",
    );
    waiting_ack().run("arrives(3,3) | | = A16 B5 B9 \n . | naks(1)");
}

#[test]
fn b10_a_nak_that_waits_stays() {
    // Another Nak does not replace it either, but becomes pending.
    new(SPEC).run(
        "bad(0)
         arrives(0,0) | naks(4095)
         15* -        |            | !B7
         -            |            | = A16 B7 B10
         bad(1)       | naks(4095) | = A16 B4 B10
         .            | naks(4095) nak_out",
    );
}
