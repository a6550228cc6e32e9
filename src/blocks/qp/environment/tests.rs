//! The environment with a golden model.

use super::*;
use crate::blocks::qp::Qp;
use crate::blocks::testing::{Story, story, traffic};
use cosim_core::harness::Environment as _;

fn story_of(steps: &str) -> Story<Qp> {
    story(0, &format!(r#"{{"noise": "0x5", {steps}}}"#))
}

fn when(story: &Story<Qp>, holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    let cycles = (0..).zip(&story.cycles);
    cycles.filter(|(_, (inputs, outputs))| holds(inputs, outputs)).map(|(cycle, _)| cycle).collect()
}

fn commands_taken(story: &Story<Qp>) -> Vec<usize> {
    when(story, |inputs, outputs| inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high())
}

fn events_taken(story: &Story<Qp>) -> Vec<usize> {
    when(story, |inputs, outputs| inputs.hw_valid.is_high() && outputs.hw_ready.is_high())
}

/// A command for QP 0, and sixteen fatal errors of it.
fn full(more: &str) -> Story<Qp> {
    let fatal = r#"{"event": {"qpn": 0, "kind": 3}},"#.repeat(16);
    story_of(&format!(
        r#""evt_stalls": [40], "steps": [{{"command": {{"qpn": 0, "next": 1}}}}, {fatal} {more}]"#
    ))
}

#[test]
fn steps_follow_one_another_and_gaps_lie_between() {
    let story = story_of(
        r#""steps": [
        {"command": {"qpn": 4, "next": 1}}, {"packet": {"qpn": 4}},
        {"gap": 3, "event": {"qpn": 4, "kind": 2}, "packet": {"qpn": 3}}
    ]"#,
    );
    assert_eq!(when(&story, |inputs, _| inputs.cmd_valid.is_high()), [0]);
    assert_eq!(when(&story, |inputs, _| inputs.msg_valid.is_high()), [1, 5]);
    assert_eq!(when(&story, |inputs, _| inputs.hw_valid.is_high()), [5]);
    // The answer and the following states are visible.
    assert_eq!(story.cycles.len(), 5 + DRAIN as usize);
}

/// Seventeen fatal errors while software does not accept events: the command waits, an event
/// without an entry does not, and the packet lasts one cycle.
#[test]
fn a_command_that_waits_holds_up_no_event() {
    let story = full(
        r#"{"command": {"qpn": 0, "next": 0}, "packet": {"qpn": 0}},
           {"event": {"qpn": 9, "kind": 3}}, {"command": {"qpn": 0, "next": 1}}"#,
    );
    // The first event is visible in cycle 2; the sixteenth is accepted in cycle 16.
    assert_eq!(when(&story, |_, outputs| outputs.evt_valid.is_high())[0], 2);
    assert_eq!(when(&story, |inputs, _| inputs.msg_valid.is_high()), [17]);
    // It is offered for forty cycles, then it leaves; from the next cycle on there is room.
    assert_eq!(commands_taken(&story), [0, 43, 44]);
    assert_eq!(events_taken(&story).last(), Some(&18));
}

/// The queue is full from cycle 17 on. The command for ERR waits; one for RESET replaces it four
/// cycles later. The next step withdraws it, and a step with an event only withdraws nothing else.
#[test]
fn a_step_that_comes_instead_changes_or_withdraws_what_waits() {
    let story = full(
        r#"{"command": {"qpn": 7, "next": 6}},
           {"gap": 3, "instead": 1, "command": {"qpn": 7, "next": 0}},
           {"gap": 1, "instead": 1, "event": {"qpn": 0, "kind": 3}}"#,
    );
    let offers = |next| {
        when(&story, |inputs, _| inputs.cmd_valid.is_high() && inputs.cmd_next.get() == next)
    };
    assert_eq!((offers(6), offers(0)), (vec![17, 18, 19, 20], vec![21, 22]));
    assert_eq!(commands_taken(&story), [0]);
    // The event waited for room: the first one in the queue leaves at edge 42.
    assert_eq!(events_taken(&story).last(), Some(&43));
}

#[test]
fn the_query_follows_what_was_taken() {
    let story = story_of(
        r#""steps": [
        {"command": {"qpn": 4, "next": 1}, "query": 8}, {"event": {"qpn": 6, "kind": 1}},
        {"command": {"qpn": 1, "next": 1}, "event": {"qpn": 2, "kind": 1}}, {"query": 200}, {"gap": 2}
    ]"#,
    );
    let queried = story.cycles.iter().map(|(inputs, _)| inputs.query_qpn.get());
    assert_eq!(queried.take(7).collect::<Vec<_>>(), [8, 4, 6, 200, 200, 200, 200]);
}

#[test]
fn a_reset_comes_when_it_says_and_offers_wait_for_its_end() {
    let story = story_of(
        r#""steps": [
        {"command": {"qpn": 4, "next": 1}, "reset": {"after": 1, "cycles": 2}}, {}, {},
        {"command": {"qpn": 4, "next": 2}}
    ]"#,
    );
    assert_eq!(when(&story, |inputs, _| inputs.rst.is_high()), [2, 3]);
    assert_eq!(commands_taken(&story), [0, 4]);
    // RESET to RTR is illegal again.
    assert_eq!(story.cycles[5].1.rsp_code.get(), 1);
}

#[test]
fn what_is_in_flight_is_listed() {
    let traffic = traffic::<Qp>(
        r#"{"noise": "0x0", "steps": [
            {"command": {"qpn": 4, "next": 1}, "event": {"qpn": 6, "kind": 3}}, {}
        ]}"#,
    );
    assert_eq!(
        Environment::new(&traffic, &Parameters::NONE).in_flight(),
        [
            "command on offer: QP 4 to INIT",
            "event on offer: QP 6 fatal error",
            "1 of 2 steps have begun"
        ]
    );
}
