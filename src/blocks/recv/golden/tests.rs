//! Each rule in a row; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{Bench, SPEC};

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

/// A block on the way to a state, with an eager CP 9 of 3000 bytes, which is kept, and its DP 1.
/// From CHECK_POSTED on, 15 of 16 buffers are in the ring. No buffer is in the pool.
fn at(parameters: &Parameters, state: usize) -> Bench<Recv> {
    let mut bench: Bench<Recv> = Bench::new(parameters, SHORT, "");
    let mut way = ["pkt(0,1)", "pkt(4,9) pkt_msg_len=3000", "unexpected", "-", "pkt(6,1)"].to_vec();
    match state {
        6 => way.splice(2.., ["found"]).for_each(drop),
        _ => way.truncate(state),
    }
    bench.run(&way.join("\n"));
    assert_eq!(bench.golden.registers.state as usize, state);
    bench
}

/// Scripts, each below its mask of fixes, LOW, HIGH, KEEP and state.
const SCRIPTS: &str = "
@ 0 4 16 8 in 0
  found done temp_alloc_ok credit_ready | = in(0,16)           | = P1
  pkt(4,7)                              | = in(0,16)           | = P2
  -                                     | = in(1,16) pkt_ready | = P3
@ 0 1 1 8 in 1
  pkt(0,1)         | = in(1,1) pkt_ready released(1)           | = P4 G3
  pkt(0,2)         | = in(0,0)                                 | = P2
  pkt(0,2)         | = in(1,0)                                 | = P3
  pkt(0,2) free(1) | = in(1,0) alloc(1)                        | = P3 G4 K1
  pkt(0,2)         | = in(1,1) pkt_ready released(2) credit(1) | = P4 G3
@ 0 4 16 8 in 1
  pkt(1,2) | = in(1,16) pkt_ready released(2)                | = P5 G1
  pkt(2,3) | = in(0,15)                                      | = P2
  pkt(2,3) | = in(1,15) pkt_ready released(3)                | = P6 G1
  pkt(3,4)
  pkt(3,4) | = in(1,14) pkt_ready released(4)                | = P7 G1
  pkt(6,5)
  pkt(6,5) | = in(1,13) pkt_ready released(5) protocol_error | = P10 G1
  pkt(7,6)
  pkt(7,6) | = in(1,12) pkt_ready released(6) protocol_error | = P10 G1
  -        | = in(0,11)                                      | = P1
@ 0 4 16 8 in 1 // `posted_done` is ignored before RECV_POSTED_DATA.
  pkt(5,9) last done | = in(1,16) pkt_ready copied(9) | = P9 G1
  -                  | = in(6,15)                     | = P29
@ 0 4 16 8 in 1 // `match_found` is ignored without `match_rsp`.
  pkt(4,9)       | = in(1,16) pkt_ready         | = P8 G1
  match_found    | = in(2,15) asks(9)           | = P11
  pkt(6,4) found | = in(2,15) asks(9) copied(9) | = P12
  -              | = in(6,15)                   | = P29
@ 0 4 16 8 in 2
  pkt(6,4) unexpected | = in(2,15) asks(9)           | = P13
  pkt(6,2) free(8)    | = in(3,15) kept(9)           | = P16 U3
  pkt(6,2)            | = in(5,15) pkt_ready kept(2) | = P21 G1
@ 254 4 16 8 in 1 // Without F0 a message of one packet waits for another, which it does not take.
  pkt(4,9) last pkt_msg_len=100
  unexpected
  free(8)  | = in(3,15) kept(9)               | = P17 U3
  -        | = in(4,15)                       | = P18
  pkt(0,2) | = in(4,15)                       | = P19
  pkt(0,2) | = in(5,15)                       | = P25
  pkt(0,2) | = in(1,15) pkt_ready released(2) | = P4 G1
@ 0 4 16 8 in 1
  pkt(4,9) last
  unexpected
  pkt(0,2) free(8) | = in(3,15) kept(9) | = P16 U3
  -                | = in(5,15)         | = P26
  -                | = in(0,15)         | = P1
@ 1 4 16 8 in 1 // With F0 it is over; one with DPs is not.
  pkt(4,9) last
  unexpected
  pkt(0,2) free(8) | = in(3,15) kept(9)               | = P14 U3 F0
  pkt(0,2)         | = in(1,15) pkt_ready released(2) | = P4 G1
@ 255 4 16 8 in 1
  pkt(4,9) last pkt_msg_len=100
  unexpected
  temp_alloc_ok | = in(3,15) temporary(100) copied(9) | = P15 U1 F0
  -             | = in(0,15)                          | = P1
@ 1 4 16 8 in 3
  free(8) | = in(3,15) kept(9) | = P17 U3
  -       | = in(4,15)         | = P18
@ 0 4 16 8 in 3 // The numbers are unsigned: 255 is not low.
  free(7) temp_alloc_ok   | = in(3,15) temporary(3000) copied(9) | = P17 U1
@ 0 4 16 8 in 3
  free(7)                 | = in(3,15) temporary(3000) kept(9)   | = P17 U2
@ 0 4 16 8 in 3
  free(8) temp_alloc_ok   | = in(3,15) kept(9)                   | = P17 U3
@ 0 4 16 8 in 3
  free(255) temp_alloc_ok | = in(3,15) kept(9)                   | = P17 U3
@ 0 4 16 0 in 3
  temp_alloc_ok             | !temp_alloc_valid          | = P17 U3
@ 0 4 16 255 in 3
  free(254) temp_alloc_ok | temporary(3000) copied(9)  | = P17 U1
@ 0 4 16 255 in 3
  free(255) temp_alloc_ok | !temp_alloc_valid          | = P17 U3
@ 0 4 16 8 in 4
  done unexpected | = in(4,15)                   | = P18
  pkt(6,3)        | = in(4,15)                   | = P19
  pkt(6,3)        | = in(5,15) pkt_ready kept(3) | = P21 G1
  -               | = in(5,14) pkt_ready         | = P24
@ 0 4 16 8 in 3 // DPs are as the message was chosen: the pool is not tested again.
  pkt(6,1) temp_alloc_ok | = in(3,15) temporary(3000) copied(9)            | = P16 U1
  pkt(6,3) free(255) | = in(5,15) pkt_ready copied(3)                      | = P20 G1
  pkt(6,4) last      | = in(5,14) pkt_ready copied(4)                      | = P20 G1
  pkt(6,5)           | = in(5,13)                                          | = P25
  pkt(6,5)           | = in(1,13) pkt_ready released(5) protocol_error     | = P10 G1
@ 0 4 16 8 in 5
  pkt(6,3) temp_alloc_ok | = in(5,15) pkt_ready kept(3) | = P21 G1
  pkt(6,4) last          | = in(5,14) pkt_ready kept(4) | = P21 G1
  -                      | = in(5,13)                   | = P26
  -                      | = in(0,13)                   | = P1
@ 0 1 1 8 in 5 // PROC_UNEXP_DP waits for the ring but not for packets.
  pkt(6,3)         | = in(5,0)                             | = P23
  pkt(6,3) free(9) | = in(5,0) alloc(1)                    | = P23 G4 K1
  pkt(6,3)         | = in(5,1) pkt_ready kept(3) credit(1) | = P21 G3
  -                | = in(5,0) credit(1)                   | = P24
  -                | = in(4,0) credit(1)                   | = P18
@ 0 1 1 8 in 5 // The end of a message is seen even with an empty ring.
  pkt(6,3) free(1)
  pkt(6,3) last
  pkt(0,4) | = in(5,0) credit(1) | = P25
  -        | = in(1,0) credit(1) | = P3
@ 0 4 16 8 in 6 // The last packet of a posted message alone finishes nothing.
  pkt(6,3)      | = in(6,15) pkt_ready copied(3) | = P27 G1
  pkt(6,4) last | = in(6,14) pkt_ready copied(4) | = P27 G1
  -             | = in(6,13)                     | = P29
  pkt(6,5) done | = in(6,13) pkt_ready copied(5) | = P28 G1
  -             | = in(0,12)                     | = P1
@ 0 4 16 8 in 6 // 5 - 1 = 4 is not below LOW, 4 - 1 = 3 is: 16 - 3 = 13 places.
  10* pkt(6,1)
  pkt(6,3) free(99) | = in(6,5) pkt_ready copied(3)           | = P27 G1
  pkt(6,3) free(99) | = in(6,4) pkt_ready copied(3) alloc(13) | = P27 G2 K1
  free(99)          | = in(6,16) credit(13)                   | = P29
@ 0 4 16 8 in 6 // All that are free are used. None is free: retry with the next packet.
  11* pkt(6,1)
  pkt(6,3) free(2)  | = in(6,4) pkt_ready copied(3) alloc(2)            | = P27 G2 K1
  free(99)          | = in(6,5) credit(2)                               | = P29
  pkt(6,3)
  pkt(6,3)          | = in(6,4) pkt_ready copied(3) credit(2)           | = P27 G3
  free(99)          | = in(6,3) credit(2)                               | = P29
  pkt(6,3) free(14) | = in(6,3) pkt_ready copied(3) credit(2) alloc(14) | = P27 G2 K1
  -                 | = in(6,16) credit(16)                             | = P29
@ 0 4 16 8 in 6 // The empty ring takes no packet in the cycle of its refill of 16.
  14* pkt(6,1)
  pkt(6,3)          | = in(6,1) pkt_ready copied(3)               | = P27 G3
  pkt(6,3)          | = in(6,0)                                   | = P29
  done              | = in(6,0)                                   | = P30
  pkt(0,4) free(99) | = in(0,0) alloc(16)                         | = P2 G4 K1
  pkt(0,4)          | = in(1,16) pkt_ready released(4) credit(16) | = P4 G1
@ 0 255 2 8 in 6 // LOW above HIGH is HIGH: 2 - 1 was left of the CP, 1 - 1 is left now.
  pkt(6,3) free(9) | = in(6,1) pkt_ready copied(3) alloc(2)           | = P27 G2 K1
  pkt(6,4) free(9) | = in(6,2) pkt_ready copied(4) credit(2) alloc(1) | = P27 G2 K1
@ 0 16 16 8 in 6 // Credits add up: 1 + 2 are taken, 1 is new.
  pkt(6,3) free(1) credit_ready | = in(6,15) pkt_ready copied(3) alloc(1) | = P27 G2 K1
  pkt(6,3) free(2) | = in(6,15) pkt_ready copied(3) alloc(2) credit(1)    | = P27 G2 K1
  pkt(6,3) free(9) credit_ready | = in(6,16) pkt_ready copied(3) alloc(1) credit(3) | = P27 G2 K2
  free(9) credit_ready          | = in(6,16) credit(1)                              | = P29 K3
  free(9) credit_ready          | = in(6,16)                                        | = P29
@ 0 16 16 8 in 6 // 254 + 2 > 255: not even one of them, also if the credit is taken.
  254* pkt(6,1) free(1)
  pkt(6,3) free(9)              | = in(6,15) pkt_ready copied(3) credit(254) | = P27 G3 O1
  pkt(6,3) free(2) credit_ready | = in(6,14) pkt_ready copied(3) credit(254) | = P27 G3 O1 K3
  pkt(6,3) free(9)              | = in(6,13) pkt_ready copied(3) alloc(4)    | = P27 G2 K1
@ 0 16 16 8 in 6 // 254 + 1 = 255 fits. Then nothing does, not even for an empty ring.
  254* pkt(6,1) free(1)
  pkt(6,3) free(1)     | = in(6,15) pkt_ready copied(3) credit(254) alloc(1) | = P27 G2 K1
  15* pkt(6,3) free(1) | pkt_ready copied(3) credit(255)                     | = P27 G3 O1
  pkt(6,3) free(1)     | = in(6,0) credit(255)                               | = P29 O1
  -                    | = in(6,0) credit(255)                               | = P29
  free(1) credit_ready | = in(6,0) credit(255)                               | = P29 O1 K3
  free(1)              | = in(6,0) alloc(1)                                  | = P29 G4 K1
  rst pkt(6,3) free(9) | =                                                   | = R1
  -                    | = in(0,16)                                          | = P1
";

#[test]
fn each_rule_does_what_a_script_says() {
    for script in SCRIPTS.split('@').skip(1) {
        let (start, script) = script.split_once('\n').unwrap();
        let mut numbers = start.split(' ').filter_map(|word| word.parse().ok());
        let [fixes, low, high, keep, state] = std::array::from_fn(|_| numbers.next().unwrap());
        let parameters =
            Parameters::with_fixes::<Recv>(fixes as u8).with(LOW, low).with(HIGH, high);
        at(&parameters.with(KEEP, keep), state as usize).run(script);
    }
    let shown = |rule: &str| SCRIPTS.split_whitespace().any(|word| word == rule);
    let missing = rules::RULES.iter().map(|rule| rule.name).filter(|rule| !shown(rule));
    assert_eq!(missing.collect::<Vec<_>>(), ["P0", "P22"]);
}

#[test]
fn p22_p29_what_is_no_dp_is_not_taken_for_one() {
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        at(&Parameters::with_fixes::<Recv>(SPEC), 5).run(&format!(
            "pkt({kind},3) last | = in(5,15) pkt_ready released(3) protocol_error | = P22 G1
             pkt(6,4)           | = in(5,14) pkt_ready kept(4)                    | = P21 G1",
        ));
        at(&Parameters::with_fixes::<Recv>(SPEC), 6).run(&format!(
            "pkt({kind},3)      | = in(6,15) | = P29
             pkt({kind},3) done | = in(6,15) | = P30
             pkt({kind},3)      | = in(0,15) | = P2",
        ));
    }
}

#[test]
fn p0_code_7_leads_to_await_cp() {
    let mut bench = at(&Parameters::with_fixes::<Recv>(SPEC), 0);
    bench.golden.registers.state = State::None;
    bench.run("pkt(4,3) found done | = in(7,16) | = P0 \n - | = in(0,16) | = P1");
}
