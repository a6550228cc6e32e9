//! The environment with a golden model, and without one where that matters.

use super::*;
use crate::blocks::dll::Golden;
use cosim_core::harness::Traffic as _;
use cosim_core::harness::{Environment as _, Golden as _};

const SPEC: u8 = 0x00;
const REPAIRED: u8 = 0xff;

/// A log of a case.
#[derive(Debug, Default)]
struct Story {
    cycles: u64,
    /// (cycle, number, payload, CRC good) of each TLP that arrived at B.
    arrived: Vec<(u64, u64, u64, bool)>,
    /// (is a Nak, number, CRC good) of each DLLP that arrived at A.
    answers: Vec<(bool, u64, bool)>,
    delivered: Vec<u64>,
    /// Cycles in which TLPs were taken and sent, and DLLPs sent.
    taken: Vec<u64>,
    sent: Vec<u64>,
    answered: Vec<u64>,
    resets: Vec<u64>,
    finished: bool,
}

fn traffic(json: &str) -> Traffic {
    let traffic: Traffic = serde_json::from_str(json).unwrap();
    traffic.check().unwrap();
    traffic
}

/// Runs a case until it ends or hangs.
fn story(mask: u8, json: &str) -> Story {
    let traffic = traffic(json);
    let mut environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let mut golden = Golden::new(&Parameters::of::<Dll>(mask));
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    let mut story = Story::default();
    let (mut handshakes, mut last) = (0, 0);
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        let cycle = story.cycles;
        if inputs.rst.is_high() {
            story.resets.push(cycle);
        } else {
            if inputs.b_link_valid.is_high() {
                let (seq, data) = (inputs.b_link_seq.get(), inputs.b_link_data.get());
                story.arrived.push((cycle, seq, data, inputs.b_link_crc_ok.is_high()));
            }
            if inputs.a_dllp_valid.is_high() {
                let (nak, seq) = (inputs.a_dllp_nak.is_high(), inputs.a_dllp_seq.get());
                story.answers.push((nak, seq, inputs.a_dllp_crc_ok.is_high()));
            }
            if outputs.b_deliver_valid.is_high() {
                story.delivered.push(outputs.b_deliver_data.get());
            }
            if inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high() {
                story.taken.push(cycle);
            }
            if inputs.a_link_ready.is_high() && outputs.a_link_valid.is_high() {
                story.sent.push(cycle);
            }
            if inputs.b_dllp_ready.is_high() && outputs.b_dllp_valid.is_high() {
                story.answered.push(cycle);
            }
        }
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
        story.cycles += 1;
        if environment.handshakes() != handshakes {
            (handshakes, last) = (environment.handshakes(), story.cycles);
        }
        if story.cycles - last > environment.progress_timeout() {
            return story;
        }
    }
    story.finished = true;
    story
}

#[test]
fn a_clean_link_carries_everything_in_order() {
    let story = story(SPEC, r#"{"noise": "0x0", "tlps": [{"data": 10, "count": 20}]}"#);
    assert!(story.finished);
    assert_eq!(story.delivered, (10..30).collect::<Vec<_>>());
    let numbers: Vec<u64> = story.arrived.iter().map(|arrived| arrived.1).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert!(story.answers.iter().all(|(nak, _, good)| !nak && *good));
    assert_eq!(story.answers.last(), Some(&(false, 19, true)));
}

#[test]
fn a_lost_tlp_does_not_arrive_until_it_is_sent_again() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 10, "count": 3}], "tlp_link": [{}, {"lost": 1}]
    }"#;
    let story = story(SPEC, json);
    let numbers: Vec<u64> = story.arrived.iter().map(|arrived| arrived.1).collect();
    assert_eq!(numbers, [0, 2, 1, 2]);
    assert_eq!(story.delivered, [10, 11, 12]);
    assert_eq!(story.answers[0], (true, 0, true));
}

#[test]
fn a_damaged_tlp_arrives_with_flipped_bits_and_a_bad_crc() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 1}], "tlp_link": [{"damage": {"seq": 4, "data": 6}}]
    }"#;
    let story = story(SPEC, json);
    let arrived: Vec<_> = story.arrived.iter().map(|&(_, seq, data, ok)| (seq, data, ok)).collect();
    assert_eq!(arrived, [(4, 7, false), (0, 1, true)]);
    assert_eq!(story.delivered, [1]);
}

#[test]
fn acks_and_naks_have_fates_of_their_own() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 1, "count": 3}], "tlp_link": [{"lost": 1}],
        "nak_link": [{"damage": {"nak": 1, "seq": 1}}], "ack_link": [{"lost": 1}]
    }"#;
    let story = story(SPEC, json);
    assert!(story.finished);
    // Nak 4095, damaged; Ack 2, lost; Ack 2 again after a timeout.
    assert_eq!(story.answers, [(false, 4094, false), (false, 2, true)]);
    assert_eq!(story.answered.len(), 3);
}

#[test]
fn delays_are_counted_from_the_cycle_after_the_handshake() {
    let json = r#"{"noise": "0x0", "tlps": [{"data": 1}], "tlp_delay": 7, "dllp_delay": 4}"#;
    let story = story(SPEC, json);
    assert_eq!(story.arrived[0].0, story.sent[0] + 8);
    // The Ack is visible 17 cycles after the TLP and arrives 5 cycles later, which ends the case.
    assert_eq!(story.answered, [story.arrived[0].0 + 17]);
    assert_eq!(story.answers, [(false, 0, true)]);
    // Then it drains: ACKNAK_LATENCY and 8 more cycles.
    assert_eq!(story.cycles, story.answered[0] + 5 + 1 + 16 + 8);
}

#[test]
fn a_tlp_that_arrives_twice_is_delivered_once() {
    let json = r#"{"noise": "0x0", "tlps": [{"data": 8}], "tlp_link": [{"again": 3}]}"#;
    let story = story(SPEC, json);
    let cycle = story.arrived[0].0;
    assert_eq!(story.arrived, [(cycle, 0, 8, true), (cycle + 3, 0, 8, true)]);
    assert_eq!(story.delivered, [8]);
}

#[test]
fn gaps_come_before_an_entry_and_not_inside_it() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"gap": 5, "data": 1, "count": 2}, {"gap": 3, "data": 7}]
    }"#;
    assert_eq!(story(SPEC, json).taken, [5, 6, 10]);
}

#[test]
fn stalls_hold_up_the_handshake() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"gap": 1, "data": 1, "count": 2}],
        "link_stalls": [0, 6], "dllp_stalls": [9]
    }"#;
    let story = story(SPEC, json);
    // Taken in cycles 1 and 2, offered in 3 and 4.
    assert_eq!(story.sent, [3, 10]);
    assert_eq!(story.answered, [4 + 17 + 9]);
}

#[test]
fn a_reset_empties_the_link_and_traffic_goes_on() {
    let json = r#"{
        "noise": "0x0", "tlp_delay": 20,
        "tlps": [{"data": 1, "count": 3, "reset": {"after": 5, "cycles": 2}}, {"data": 50, "gap": 9}]
    }"#;
    let story = story(SPEC, json);
    assert!(story.finished);
    assert_eq!(story.taken[..3], [1, 2, 3]);
    assert_eq!(story.resets, [9, 10]);
    assert_eq!(story.delivered, [50], "TLPs 1 to 3 were on the link");
    assert_eq!(story.answers, [(false, 0, true)], "numbers begin again");
}

#[test]
fn idle_payload_pins_carry_noise_and_used_ones_do_not() {
    let traffic = traffic(r#"{"noise": "0x5", "tlps": [{"gap": 3, "data": 1}]}"#);
    let mut environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let mut inputs = Inputs::default();
    let outputs = Outputs { a_tlp_ready: Bits1::new(1), ..Default::default() };
    let mut seen = Vec::new();
    for _ in 0..4 {
        environment.drive(&mut inputs);
        seen.push((inputs.a_tlp_valid.get(), inputs.a_tlp_data.get()));
        environment.clock(&inputs, &outputs);
    }
    assert_eq!(seen[3], (1, 1));
    assert!(seen[..3].iter().all(|(valid, _)| *valid == 0));
    assert!(seen[0].1 != seen[1].1 && seen[1].1 != seen[2].1);
}

/// The inputs of a cycle must not depend on its outputs.
#[test]
fn pins_are_driven_from_the_past_alone() {
    let traffic = traffic(r#"{"noise": "0x5", "tlps": [{"data": 1, "count": 9}]}"#);
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
const STALL: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 20}],
    "tlp_link": [{"count": 16}, {"damage": {}}], "ack_link": [{"lost": 1}], "nak_link": [{"lost": 1}]
}"#;

#[test]
fn the_stall_of_s3_ends_a_case_without_f0() {
    let story = story(SPEC, STALL);
    assert!(story.finished);
    assert_eq!(story.taken.len(), 16, "the buffer is full");
    assert_eq!(story.delivered.len(), 16);
}

#[test]
fn the_same_goes_on_with_f0() {
    let story = story(REPAIRED, STALL);
    assert!(story.finished);
    assert_eq!(story.delivered, (0..20).collect::<Vec<_>>());
    assert_eq!(story.answers.last(), Some(&(false, 19, true)));
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
        let story = story(mask, json);
        assert!(story.finished, "hangs after {} cycles", story.cycles);
        assert_eq!(story.taken.len(), 82);
    }
}

#[test]
fn a_model_that_does_nothing_hangs() {
    let traffic = traffic(r#"{"noise": "0x0", "tlps": [{"data": 1}]}"#);
    let mut environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let mut inputs = Inputs::default();
    for _ in 0..=environment.progress_timeout() {
        environment.drive(&mut inputs);
        environment.clock(&inputs, &Outputs::default());
    }
    assert!(environment.handshakes() <= 1 && !environment.finished());
}
