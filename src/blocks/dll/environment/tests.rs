//! The environment with a golden model, and without one where that matters.

use super::*;
use crate::blocks::dll::Dll;
use crate::blocks::testing::{REPAIRED, SPEC, Story, story, traffic};
use cosim_core::harness::Environment as _;

fn of(traffic: &str) -> Story<Dll> {
    let story = story(SPEC, &format!(r#"{{"noise": "0x0", {traffic}}}"#));
    assert!(story.finished);
    story
}

/// (number, payload, CRC good) of each TLP that arrives at B.
fn arrived(story: &Story<Dll>) -> Vec<[u64; 3]> {
    story.values("!rst b_link_valid", ["b_link_seq", "b_link_data", "b_link_crc_ok"])
}

fn delivered(story: &Story<Dll>) -> Vec<u64> {
    story.values("!rst b_deliver_valid", ["b_deliver_data"]).concat()
}

/// (is a Nak, number, CRC good) of each DLLP that arrives at A.
fn answers(story: &Story<Dll>) -> Vec<[u64; 3]> {
    story.values("!rst a_dllp_valid", ["a_dllp_nak", "a_dllp_seq", "a_dllp_crc_ok"])
}

const TAKEN: &str = "!rst a_tlp_valid a_tlp_ready";
const SENT: &str = "!rst a_link_valid a_link_ready";
const ANSWERED: &str = "!rst b_dllp_valid b_dllp_ready";

#[test]
fn a_clean_link_carries_everything_in_order() {
    let story = of(r#""tlps": [{"data": 10, "count": 20}]"#);
    assert_eq!(delivered(&story), (10..30).collect::<Vec<_>>());
    assert_eq!(arrived(&story), (0..20).map(|seq| [seq, 10 + seq, 1]).collect::<Vec<_>>());
    assert!(answers(&story).iter().all(|[nak, _, good]| (*nak, *good) == (0, 1)));
    assert_eq!(answers(&story).last(), Some(&[0, 19, 1]));
}

#[test]
fn a_lost_tlp_does_not_arrive_until_it_is_sent_again() {
    let story = of(r#""tlps": [{"data": 10, "count": 3}], "tlp_link": [{}, {"lost": 1}]"#);
    assert_eq!(arrived(&story), [[0, 10, 1], [2, 12, 1], [1, 11, 1], [2, 12, 1]]);
    assert_eq!(delivered(&story), [10, 11, 12]);
    assert_eq!(answers(&story)[0], [1, 0, 1]);
}

#[test]
fn a_damaged_tlp_arrives_with_flipped_bits_and_one_that_arrives_twice_is_delivered_once() {
    let story = of(r#""tlps": [{"data": 1}], "tlp_link": [{"damage": {"seq": 4, "data": 6}}]"#);
    assert_eq!(arrived(&story), [[4, 7, 0], [0, 1, 1]]);
    assert_eq!(delivered(&story), [1]);
    let story = of(r#""tlps": [{"data": 8}], "tlp_link": [{"again": 3}]"#);
    let cycles = story.when("b_link_valid");
    assert_eq!((arrived(&story), cycles[1]), (vec![[0, 8, 1]; 2], cycles[0] + 3));
    assert_eq!(delivered(&story), [8]);
}

#[test]
fn acks_and_naks_have_fates_of_their_own() {
    let story = of(r#"
        "tlps": [{"data": 1, "count": 3}], "tlp_link": [{"lost": 1}],
        "nak_link": [{"damage": {"nak": 1, "seq": 1}}], "ack_link": [{"lost": 1}]
    "#);
    // Nak 4095, damaged; Ack 2, lost; Ack 2 again after a timeout.
    assert_eq!(answers(&story), [[0, 4094, 0], [0, 2, 1]]);
    assert_eq!(story.when(ANSWERED).len(), 3);
}

#[test]
fn delays_are_counted_from_the_cycle_after_the_handshake() {
    let story = of(r#""tlps": [{"data": 1}], "tlp_delay": 7, "dllp_delay": 4"#);
    let arrived = story.when("b_link_valid")[0];
    assert_eq!(arrived, story.when(SENT)[0] + 8);
    // The Ack is visible 17 cycles after the TLP and arrives 5 cycles later, which ends the case.
    assert_eq!(story.when(ANSWERED), [arrived + 17]);
    assert_eq!(answers(&story), [[0, 0, 1]]);
    // Then it drains: ACKNAK_LATENCY and 8 more cycles.
    assert_eq!(story.cycles.len(), arrived + 17 + 5 + 1 + 16 + 8);
}

#[test]
fn gaps_come_before_an_entry_and_stalls_hold_up_the_handshake() {
    let story = of(r#""tlps": [{"gap": 5, "data": 1, "count": 2}, {"gap": 3, "data": 7}]"#);
    assert_eq!(story.when(TAKEN), [5, 6, 10]);
    let story = of(r#"
        "tlps": [{"gap": 1, "data": 1, "count": 2}], "link_stalls": [0, 6], "dllp_stalls": [9]
    "#);
    // Taken in cycles 1 and 2, offered in 3 and 4.
    assert_eq!(story.when(SENT), [3, 10]);
    assert_eq!(story.when(ANSWERED), [4 + 17 + 9]);
}

#[test]
fn a_reset_empties_the_link_and_traffic_goes_on() {
    let story = of(r#"
        "tlp_delay": 20,
        "tlps": [{"data": 1, "count": 3, "reset": {"after": 5, "cycles": 2}}, {"data": 50, "gap": 9}]
    "#);
    assert_eq!(story.when(TAKEN)[..3], [1, 2, 3]);
    assert_eq!(story.when("rst"), [9, 10]);
    // TLPs 1 to 3 were on the link, and numbers begin again.
    assert_eq!(delivered(&story), [50]);
    assert_eq!(answers(&story), [[0, 0, 1]]);
}

#[test]
fn idle_payload_pins_carry_noise_and_used_ones_do_not() {
    let story = story::<Dll>(SPEC, r#"{"noise": "0x5", "tlps": [{"gap": 3, "data": 1}]}"#);
    let seen = story.values("cycle<4", ["a_tlp_valid", "a_tlp_data"]);
    assert_eq!(seen[3], [1, 1]);
    assert!(seen[..3].iter().all(|[valid, _]| *valid == 0));
    assert!(seen[0] != seen[1] && seen[1] != seen[2]);
}

/// The inputs of a cycle must not depend on its outputs.
#[test]
fn pins_are_driven_from_the_past_alone() {
    let traffic = traffic::<Dll>(r#"{"noise": "0x5", "tlps": [{"data": 1, "count": 9}]}"#);
    let environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let (mut one, mut other) = (environment.clone(), environment);
    let (mut left, mut right) = (Inputs::default(), Inputs::default());
    one.drive(&mut left);
    other.drive(&mut right);
    assert_eq!(left, right);
    let busy = Outputs {
        a_tlp_ready: Bits1::new(1),
        a_link_valid: Bits1::new(1),
        b_dllp_valid: Bits1::new(1),
        ..Default::default()
    };
    one.clock(&left, &busy);
    other.clock(&right, &Outputs::default());
    one.drive(&mut left);
    other.drive(&mut right);
    assert_eq!((left.b_link_valid.get(), left.a_dllp_valid.get()), (1, 1), "a cycle later");
    assert_eq!((right.b_link_valid.get(), right.a_dllp_valid.get()), (0, 0));
}

/// Specification, section 10: 16 TLPs delivered, their Ack lost, a repeat damaged, its Nak lost.
#[test]
fn the_stall_of_s3_ends_a_case_without_f0_and_goes_on_with_f0() {
    let stall = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 20}],
        "tlp_link": [{"count": 16}, {"damage": {}}], "ack_link": [{"lost": 1}], "nak_link": [{"lost": 1}]
    }"#;
    for (mask, carried) in [(SPEC, 16), (REPAIRED, 20)] {
        let story = story::<Dll>(mask, stall);
        assert!(story.finished);
        // The buffer is full.
        assert_eq!(story.when(TAKEN).len(), carried);
        assert_eq!(delivered(&story), (0..carried as u64).collect::<Vec<_>>());
    }
}

/// The timeout covers the longest wait of every kind.
#[test]
fn long_waits_are_no_hang() {
    let json = r#"{
        "noise": "0x1", "tlp_delay": 255, "dllp_delay": 255,
        "tlps": [
            {"data": 0, "count": 40}, {"gap": 4095, "data": 0, "count": 40},
            {"gap": 4095, "data": 1, "reset": {"after": 4095, "cycles": 15}}, {"data": 3}
        ],
        "tlp_link": [{"count": 50, "again": 255}, {"lost": 1, "count": 40}],
        "ack_link": [{"lost": 1, "count": 3}, {"again": 255, "delay": 255, "count": 8}],
        "link_stalls": [4095, 0, 4095, 4095], "dllp_stalls": [4095, 4095]
    }"#;
    for mask in [SPEC, REPAIRED] {
        let story = story::<Dll>(mask, json);
        assert!(story.finished, "hangs after {} cycles", story.cycles.len());
        assert_eq!(story.when(TAKEN).len(), 82);
    }
}

#[test]
fn a_model_that_does_nothing_hangs() {
    let traffic = traffic::<Dll>(r#"{"noise": "0x0", "tlps": [{"data": 1}]}"#);
    let mut environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let mut inputs = Inputs::default();
    for _ in 0..=environment.progress_timeout() {
        environment.drive(&mut inputs);
        environment.clock(&inputs, &Outputs::default());
    }
    assert!(environment.handshakes() <= 1 && !environment.finished());
}
