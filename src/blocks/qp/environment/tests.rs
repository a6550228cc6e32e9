//! The environment with a golden model.

use super::*;
use crate::blocks::qp::Golden;
use cosim_core::harness::{Environment as _, Golden as _, Traffic as _};

/// The inputs and outputs of every cycle of a case.
fn story(json: &str) -> Vec<(Inputs, Outputs)> {
    let traffic: Traffic = serde_json::from_str(json).unwrap();
    traffic.check().unwrap();
    let mut environment = Environment::new(&traffic, &Parameters::NONE);
    let mut golden = Golden::new(&Parameters::NONE);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    let mut cycles = Vec::new();
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        cycles.push((inputs, outputs));
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
        assert!(cycles.len() < 1000, "it does not end");
    }
    cycles
}

/// The cycles in which a condition holds.
fn when(story: &[(Inputs, Outputs)], holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    let cycles = story.iter().enumerate();
    cycles.filter(|(_, (inputs, outputs))| holds(inputs, outputs)).map(|(cycle, _)| cycle).collect()
}

#[test]
fn steps_follow_one_another_and_gaps_lie_between() {
    let story = story(
        r#"{"noise": "0x5", "steps": [
            {"command": {"qpn": 4, "next": 1}}, {"packet": {"qpn": 4}},
            {"gap": 3, "event": {"qpn": 4, "kind": 2}}
        ]}"#,
    );
    assert_eq!(when(&story, |inputs, _| inputs.cmd_valid.is_high()), [0]);
    assert_eq!(when(&story, |inputs, _| inputs.msg_valid.is_high()), [1]);
    assert_eq!(when(&story, |inputs, _| inputs.hw_valid.is_high()), [5]);
    // The answer and the following states are visible.
    assert_eq!(story.len(), 5 + DRAIN as usize);
}

#[test]
fn parts_of_a_step_meet_in_one_cycle() {
    let story = story(
        r#"{"noise": "0x0", "steps": [{
            "command": {"qpn": 1, "next": 1}, "event": {"qpn": 2, "kind": 1}, "packet": {"qpn": 3}
        }]}"#,
    );
    let all = |inputs: &Inputs, _: &Outputs| {
        inputs.cmd_valid.is_high() && inputs.hw_valid.is_high() && inputs.msg_valid.is_high()
    };
    assert_eq!(when(&story, all), [0]);
}

/// Seventeen fatal errors while software does not accept events: the command waits, an event
/// without an entry does not, and the packet lasts one cycle.
#[test]
fn a_command_that_waits_holds_up_no_event() {
    let fatal = r#"{"event": {"qpn": 0, "kind": 3}},"#.repeat(16);
    let story = story(&format!(
        r#"{{"noise": "0x0", "evt_stalls": [40], "steps": [
            {{"command": {{"qpn": 0, "next": 1}}}}, {fatal}
            {{"command": {{"qpn": 0, "next": 0}}, "packet": {{"qpn": 0}}}},
            {{"event": {{"qpn": 9, "kind": 3}}}}, {{"command": {{"qpn": 0, "next": 1}}}}
        ]}}"#
    ));
    // The first event is visible in cycle 2; the sixteenth is accepted in cycle 16.
    assert_eq!(when(&story, |_, outputs| outputs.evt_valid.is_high())[0], 2);
    assert_eq!(when(&story, |inputs, _| inputs.msg_valid.is_high()), [17]);
    // It is offered for forty cycles, then it leaves; from the next cycle on there is room.
    let leaves =
        when(&story, |inputs, outputs| inputs.evt_ready.is_high() && outputs.evt_valid.is_high());
    assert_eq!(leaves[0], 42);
    let waits =
        when(&story, |inputs, outputs| inputs.cmd_valid.is_high() && !outputs.cmd_ready.is_high());
    assert_eq!(waits, (17..43).collect::<Vec<_>>());
    let taken =
        when(&story, |inputs, outputs| inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high());
    assert_eq!(taken, [0, 43, 44]);
    let events =
        when(&story, |inputs, outputs| inputs.hw_valid.is_high() && outputs.hw_ready.is_high());
    assert_eq!(events.last(), Some(&18));
}

/// The queue is full from cycle 17 on. The command for ERR waits; one for RESET replaces it four
/// cycles later. The next step withdraws it, and a step with an event only withdraws nothing else.
#[test]
fn a_step_that_comes_instead_changes_or_withdraws_what_waits() {
    let fatal = r#"{"event": {"qpn": 0, "kind": 3}},"#.repeat(16);
    let story = story(&format!(
        r#"{{"noise": "0x0", "evt_stalls": [40], "steps": [
            {{"command": {{"qpn": 0, "next": 1}}}}, {fatal}
            {{"command": {{"qpn": 7, "next": 6}}}},
            {{"gap": 3, "instead": 1, "command": {{"qpn": 7, "next": 0}}}},
            {{"gap": 1, "instead": 1, "event": {{"qpn": 0, "kind": 3}}}}
        ]}}"#
    ));
    let offered = |next: u64| {
        when(&story, |inputs, _| inputs.cmd_valid.is_high() && inputs.cmd_next.get() == next)
    };
    assert_eq!(offered(6), [17, 18, 19, 20]);
    assert_eq!(offered(0), [21, 22]);
    let taken =
        when(&story, |inputs, outputs| inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high());
    assert_eq!(taken, [0]);
    // The event waited for room: the first one in the queue leaves at edge 42.
    let events =
        when(&story, |inputs, outputs| inputs.hw_valid.is_high() && outputs.hw_ready.is_high());
    assert_eq!(events.last(), Some(&43));
}

#[test]
fn the_query_follows_what_was_taken() {
    let story = story(
        r#"{"noise": "0x5", "steps": [
            {"command": {"qpn": 4, "next": 1}, "query": 8}, {"event": {"qpn": 6, "kind": 1}},
            {"command": {"qpn": 1, "next": 1}, "event": {"qpn": 2, "kind": 1}}, {"query": 200}, {"gap": 2}
        ]}"#,
    );
    let asked: Vec<u64> = story[..7].iter().map(|(inputs, _)| inputs.query_qpn.get()).collect();
    assert_eq!(asked, [8, 4, 6, 200, 200, 200, 200]);
}

#[test]
fn a_reset_comes_when_it_says_and_offers_wait_for_its_end() {
    let story = story(
        r#"{"noise": "0x0", "steps": [
            {"command": {"qpn": 4, "next": 1}, "reset": {"after": 1, "cycles": 2}}, {}, {},
            {"command": {"qpn": 4, "next": 2}}
        ]}"#,
    );
    assert_eq!(when(&story, |inputs, _| inputs.rst.is_high()), [2, 3]);
    let taken =
        when(&story, |inputs, outputs| inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high());
    assert_eq!(taken, [0, 4]);
    // RESET to RTR is illegal again.
    assert_eq!(story[5].1.rsp_code.get(), 1);
}

#[test]
fn patience_is_what_the_traffic_explains() {
    let progress_timeout = |json: &str| {
        let traffic: Traffic = serde_json::from_str(json).unwrap();
        Environment::new(&traffic, &Parameters::NONE).progress_timeout()
    };
    assert_eq!(progress_timeout(r#"{"noise": "0x0", "steps": []}"#), 64);
    let all = r#"{"noise": "0x0", "evt_stalls": [3, 300], "steps": [
        {"gap": 20}, {"gap": 7, "reset": {"after": 5, "cycles": 2}}
    ]}"#;
    assert_eq!(progress_timeout(all), 64 + 20 + 300 + 7);
}

#[test]
fn what_is_in_flight_is_told() {
    let traffic: Traffic = serde_json::from_str(
        r#"{"noise": "0x0", "steps": [
            {"command": {"qpn": 4, "next": 1}, "event": {"qpn": 6, "kind": 3}}, {}
        ]}"#,
    )
    .unwrap();
    let environment = Environment::new(&traffic, &Parameters::NONE);
    assert_eq!(
        environment.in_flight(),
        [
            "command on offer: QP 4 to INIT",
            "event on offer: QP 6 fatal error",
            "1 of 2 steps have begun"
        ]
    );
}
