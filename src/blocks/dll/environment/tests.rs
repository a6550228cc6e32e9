//! The environment with a golden model, and without one where that matters.

use super::*;
use crate::blocks::dll::Dll;
use crate::blocks::testing::{REPAIRED, SPEC, Story, story, traffic};
use cosim_core::harness::Environment as _;

fn story_of(traffic: &str) -> Story<Dll> {
    let story = story(SPEC, &format!(r#"{{"noise": "0x0", {traffic}}}"#));
    assert!(story.finished);
    story
}

/// What a closure finds in each cycle outside of reset, with the number of the cycle.
fn seen<T>(story: &Story<Dll>, find: impl Fn(&Inputs, &Outputs) -> Option<T>) -> Vec<(usize, T)> {
    let cycles = (0..).zip(&story.cycles).filter(|(_, (inputs, _))| !inputs.rst.is_high());
    cycles.filter_map(|(cycle, (inputs, outputs))| Some((cycle, find(inputs, outputs)?))).collect()
}

fn when(story: &Story<Dll>, holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    let found = seen(story, |inputs, outputs| holds(inputs, outputs).then_some(()));
    found.into_iter().map(|(cycle, ())| cycle).collect()
}

/// The cycles in which A takes a TLP.
fn taken(story: &Story<Dll>) -> Vec<usize> {
    when(story, |inputs, outputs| inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high())
}

/// The cycles in which the link takes a TLP.
fn sent(story: &Story<Dll>) -> Vec<usize> {
    when(story, |inputs, outputs| outputs.a_link_valid.is_high() && inputs.a_link_ready.is_high())
}

/// The cycles in which the link takes a DLLP.
fn answered(story: &Story<Dll>) -> Vec<usize> {
    when(story, |inputs, outputs| outputs.b_dllp_valid.is_high() && inputs.b_dllp_ready.is_high())
}

/// (number, payload, CRC good) of each TLP that arrives at B, and when.
fn arrived(story: &Story<Dll>) -> (Vec<usize>, Vec<[u64; 3]>) {
    let found = seen(story, |inputs, _| {
        let tlp = [inputs.b_link_seq.get(), inputs.b_link_data.get(), inputs.b_link_crc_ok.get()];
        inputs.b_link_valid.is_high().then_some(tlp)
    });
    found.into_iter().unzip()
}

fn delivered(story: &Story<Dll>) -> Vec<u64> {
    let data = |outputs: &Outputs| outputs.b_deliver_data.get();
    let found = seen(story, |_, outputs| outputs.b_deliver_valid.is_high().then(|| data(outputs)));
    found.into_iter().map(|(_, data)| data).collect()
}

/// (is a Nak, number, CRC good) of each DLLP that arrives at A.
fn answers(story: &Story<Dll>) -> Vec<[u64; 3]> {
    let found = seen(story, |inputs, _| {
        let dllp = [inputs.a_dllp_nak.get(), inputs.a_dllp_seq.get(), inputs.a_dllp_crc_ok.get()];
        inputs.a_dllp_valid.is_high().then_some(dllp)
    });
    found.into_iter().map(|(_, dllp)| dllp).collect()
}

#[test]
fn a_lost_tlp_does_not_arrive_until_it_is_sent_again() {
    let story = story_of(r#""tlps": [{"data": 10, "count": 3}], "tlp_link": [{}, {"lost": 1}]"#);
    assert_eq!(arrived(&story).1, [[0, 10, 1], [2, 12, 1], [1, 11, 1], [2, 12, 1]]);
    assert_eq!(delivered(&story), [10, 11, 12]);
    assert_eq!(answers(&story)[0], [1, 0, 1]);
}

#[test]
fn a_damaged_tlp_arrives_with_flipped_bits_and_one_that_arrives_twice_is_delivered_once() {
    let story =
        story_of(r#""tlps": [{"data": 1}], "tlp_link": [{"damage": {"seq": 4, "data": 6}}]"#);
    assert_eq!(arrived(&story).1, [[4, 7, 0], [0, 1, 1]]);
    assert_eq!(delivered(&story), [1]);
    let story = story_of(r#""tlps": [{"data": 8}], "tlp_link": [{"again": 3}]"#);
    let (cycles, tlps) = arrived(&story);
    assert_eq!((tlps, cycles[1]), (vec![[0, 8, 1]; 2], cycles[0] + 3));
    assert_eq!(delivered(&story), [8]);
}

#[test]
fn acks_and_naks_have_lists_of_their_own() {
    let story = story_of(
        r#"
        "tlps": [{"data": 1, "count": 3}], "tlp_link": [{"lost": 1}],
        "nak_link": [{"damage": {"nak": 1, "seq": 1}}], "ack_link": [{"lost": 1}]
    "#,
    );
    // Nak 4095, damaged; Ack 2, lost; Ack 2 again after a timeout.
    assert_eq!(answers(&story), [[0, 4094, 0], [0, 2, 1]]);
    assert_eq!(answered(&story).len(), 3);
}

#[test]
fn delays_are_counted_from_the_cycle_after_the_handshake() {
    let story = story_of(r#""tlps": [{"data": 1}], "tlp_delay": 7, "dllp_delay": 4"#);
    let arrived = arrived(&story).0[0];
    assert_eq!(arrived, sent(&story)[0] + 8);
    // The Ack is visible 17 cycles after the TLP and arrives 5 cycles later, which ends the case.
    assert_eq!(answered(&story), [arrived + 17]);
    // Then it drains: ACKNAK_LATENCY and 8 more cycles.
    assert_eq!(story.cycles.len(), arrived + 17 + 5 + 1 + 16 + 8);
}

#[test]
fn gaps_come_before_an_entry_and_stalls_hold_up_the_handshake() {
    let story = story_of(r#""tlps": [{"gap": 5, "data": 1, "count": 2}, {"gap": 3, "data": 7}]"#);
    assert_eq!(taken(&story), [5, 6, 10]);
    let story = story_of(
        r#"
        "tlps": [{"gap": 1, "data": 1, "count": 2}], "link_stalls": [0, 6], "dllp_stalls": [9]
    "#,
    );
    // Taken in cycles 1 and 2, offered in 3 and 4.
    assert_eq!(sent(&story), [3, 10]);
    assert_eq!(answered(&story), [4 + 17 + 9]);
}

#[test]
fn a_reset_empties_the_link_and_traffic_goes_on() {
    let story = story_of(
        r#"
        "tlp_delay": 20,
        "tlps": [{"data": 1, "count": 3, "reset": {"after": 5, "cycles": 2}}, {"data": 50, "gap": 9}]
    "#,
    );
    assert_eq!(taken(&story)[..3], [1, 2, 3]);
    assert_eq!((8..12).map(|at| story.cycles[at].0.rst.get()).collect::<Vec<_>>(), [0, 1, 1, 0]);
    // TLPs 1 to 3 were on the link, and numbers begin again.
    assert_eq!(delivered(&story), [50]);
    assert_eq!(answers(&story), [[0, 0, 1]]);
}

/// The timeout covers the longest wait of every kind, and a model that does nothing hangs.
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
        assert_eq!(taken(&story).len(), 82);
    }
    let traffic = traffic::<Dll>(json);
    let mut environment = Environment::new(&traffic, &Parameters::with_fixes::<Dll>(SPEC));
    let mut inputs = Inputs::default();
    for _ in 0..=environment.progress_timeout() {
        environment.drive(&mut inputs);
        environment.clock(&inputs, &Outputs::default());
    }
    assert!(environment.handshakes() <= 3 && !environment.finished());
}
