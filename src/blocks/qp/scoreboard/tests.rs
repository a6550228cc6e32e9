//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::qp::rtl::{Bits2, Bits3, Bits8};
use crate::blocks::qp::{Environment, Golden};
use cosim_core::checks;
use cosim_core::harness::{Environment as _, Golden as _, Scoreboard as _};

/// QP 5 (RC) goes to RTS, gets a packet, goes to SQD with notification, drains twice, and fails. QP
/// 6 (UD) goes to RTR, gets a packet, and is destroyed.
const LIFE: &str = r#"{"noise": "0x3", "evt_stalls": [2, 5], "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"packet": {"qpn": 5}},
    {"command": {"qpn": 5, "next": 2}}, {"event": {"qpn": 5, "kind": 0}},
    {"packet": {"qpn": 5, "consumes_wqe": 1}}, {"packet": {"qpn": 5, "consumes_wqe": 1, "error": 1}},
    {"command": {"qpn": 5, "next": 4, "notify": 1}}, {"event": {"qpn": 5, "kind": 1}},
    {"event": {"qpn": 5, "kind": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"command": {"qpn": 5, "next": 3, "notify": 1}}, {"event": {"qpn": 5, "kind": 3}},
    {"command": {"qpn": 6, "next": 1, "service": 3}}, {"command": {"qpn": 6, "next": 2}},
    {"packet": {"qpn": 6, "consumes_wqe": 1, "error": 1}}, {"command": {"qpn": 6, "next": 3}},
    {"event": {"qpn": 6, "kind": 2}}, {"gap": 3, "command": {"qpn": 6, "next": 7}}
]}"#;

/// Two QPs fail twice each, in turn, before software accepts events.
const EVENTS: &str = r#"{"noise": "0x3", "evt_stalls": [30], "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"event": {"qpn": 5, "kind": 0}}, {"event": {"qpn": 5, "kind": 3}},
    {"command": {"qpn": 6, "next": 1}}, {"event": {"qpn": 6, "kind": 3}}
]}"#;

/// Sixteen fatal errors of a QP, an event without an entry, another fatal error and a command at
/// once; a reset.
fn full() -> String {
    let fatal = r#"{"event": {"qpn": 0, "kind": 3}},"#.repeat(16);
    format!(
        r#"{{"noise": "0x3", "evt_stalls": [60, 0, 3], "steps": [
            {{"command": {{"qpn": 0, "next": 1}}}}, {fatal}
            {{"event": {{"qpn": 9, "kind": 3}}}},
            {{"command": {{"qpn": 0, "next": 0}}, "event": {{"qpn": 0, "kind": 3}}}},
            {{"gap": 100, "reset": {{"after": 2, "cycles": 2}}}}, {{"gap": 9}}
        ]}}"#
    )
}

/// Runs the scoreboard on the golden model's pins, after `tamper` has changed them.
fn judge(
    json: &str,
    mut tamper: impl FnMut(u64, &mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let traffic = serde_json::from_str(json).unwrap();
    // Cycle 0 is the reset cycle.
    checks::shown::<Qp>(&traffic, &Parameters::NONE, |cycle, inputs, outputs| {
        if let Some(cycle) = cycle.checked_sub(1) {
            tamper(cycle, inputs, outputs);
        }
    })
}

#[track_caller]
fn fires(check: &str, json: &str, tamper: impl FnMut(u64, &mut Inputs, &mut Outputs)) {
    match judge(json, tamper) {
        Err(violation) => assert_eq!(violation.check, check, "{}", violation.message),
        Ok(_) => panic!("{check} does not fire"),
    }
}

fn counter(counters: &[u64], name: &str) -> u64 {
    let all = Scoreboard::counters();
    counters[all.iter().position(|counter| counter.name == name).expect(name)]
}

fn low() -> Bits1 {
    Bits1::new(0)
}

fn one() -> Bits1 {
    Bits1::new(1)
}

#[test]
fn a_right_model_is_not_objected_to() {
    let life = judge(LIFE, |_, _, _| {}).unwrap();
    for (name, expected) in [
        // INIT, RTR, SQD; INIT, RTR, RTS, Destroy.
        ("commands done", 7),
        // SQD to RTR.
        ("transitions refused", 1),
        // SQD to RTS with notification.
        ("parameters refused", 1),
        ("connections established", 1),
        ("drains told", 1),
        ("fatal errors told", 1),
        ("send errors", 1),
        ("packets taken", 3),
        ("packets refused", 1),
        ("Naks", 1),
        ("cycles commands waited", 0),
        ("events lost to resets", 0),
    ] {
        assert_eq!(counter(&life, name), expected, "{name}");
    }
    let full = judge(&full(), |_, _, _| {}).unwrap();
    assert_eq!(counter(&full, "fatal errors told"), 17);
    // The first event is visible in cycle 2 and accepted in cycle 62; the command waits from cycle
    // 18.
    assert_eq!(counter(&full, "cycles commands waited"), 62 - 17);
    judge(EVENTS, |_, _, _| {}).unwrap();
}

#[test]
fn silent_in_reset_fires() {
    let mut seen = 0;
    for pin in 0..17 {
        fires(IN_RESET, &full(), |_, inputs, outputs| {
            if inputs.rst.is_high() {
                seen += 1;
                let bits = [
                    &mut outputs.cmd_ready,
                    &mut outputs.rsp_valid,
                    &mut outputs.hw_ready,
                    &mut outputs.msg_accept,
                    &mut outputs.msg_take_wqe,
                    &mut outputs.msg_ack,
                    &mut outputs.msg_nak,
                    &mut outputs.query_sq_post,
                    &mut outputs.query_rq_post,
                    &mut outputs.query_sq_run,
                    &mut outputs.query_rq_run,
                    &mut outputs.evt_valid,
                ];
                match (pin, bits) {
                    (12, _) => outputs.rsp_qpn = Bits8::new(1),
                    (13, _) => outputs.rsp_code = Bits2::new(1),
                    (14, _) => outputs.query_state = Bits3::new(1),
                    (15, _) => outputs.evt_qpn = Bits8::new(1),
                    (16, _) => outputs.evt_code = Bits2::new(1),
                    (pin, bits) => *bits.into_iter().nth(pin).unwrap() = one(),
                }
            }
        });
    }
    assert_eq!(seen, 17);
}

#[test]
fn command_waits_for_room_fires() {
    fires(COMMAND_WAITS, LIFE, |cycle, _, outputs| {
        if cycle == 3 {
            outputs.cmd_ready = low();
        }
    });
    fires(COMMAND_WAITS, &full(), |_, _, outputs| outputs.cmd_ready = one());
}

#[test]
fn event_waits_for_room_fires() {
    fires(EVENT_WAITS, &full(), |_, inputs, outputs| {
        if inputs.hw_valid.is_high() {
            outputs.hw_ready = one();
        }
    });
    fires(EVENT_WAITS, LIFE, |cycle, _, outputs| {
        if cycle == 0 {
            outputs.hw_ready = low();
        }
    });
    // An event without an entry does not wait.
    let mut waited = false;
    fires(EVENT_WAITS, &full(), |_, inputs, outputs| {
        if inputs.hw_qpn.get() == 9 && inputs.hw_valid.is_high() {
            waited = true;
            outputs.hw_ready = low();
        }
    });
    assert!(waited);
}

#[test]
fn one_answer_for_each_command_fires() {
    fires(ANSWERED, LIFE, |_, _, outputs| {
        if outputs.rsp_valid.is_high() {
            (outputs.rsp_valid, outputs.rsp_qpn) = (low(), Bits8::new(0));
        }
    });
    fires(ANSWERED, LIFE, |cycle, _, outputs| {
        if cycle == 2 {
            outputs.rsp_valid = one();
        }
    });
    fires(ANSWERED, LIFE, |_, _, outputs| {
        if outputs.rsp_valid.is_high() {
            outputs.rsp_qpn = Bits8::new(outputs.rsp_qpn.get() + 1);
        }
    });
}

#[test]
fn answer_by_the_diagram_fires() {
    for (code, wrong) in [(0, 1), (1, 0), (1, 2), (2, 0), (2, 1)] {
        fires(JUDGED, LIFE, |_, _, outputs| {
            if outputs.rsp_valid.is_high() && outputs.rsp_code.get() == code {
                outputs.rsp_code = Bits2::new(wrong);
            }
        });
    }
}

#[test]
fn state_by_what_happened_fires() {
    for state in 0..7 {
        fires(STATE, LIFE, |_, _, outputs| {
            if outputs.query_state.get() == state {
                outputs.query_state = Bits3::new(state ^ 1);
            }
        });
    }
}

#[test]
fn posting_by_state_fires() {
    for pin in 0..4 {
        for value in [low(), one()] {
            fires(PERMITS, LIFE, |_, inputs, outputs| {
                if !inputs.rst.is_high() {
                    let pins = [
                        &mut outputs.query_sq_post,
                        &mut outputs.query_rq_post,
                        &mut outputs.query_sq_run,
                        &mut outputs.query_rq_run,
                    ];
                    *pins.into_iter().nth(pin).unwrap() = value;
                }
            });
        }
    }
}

#[test]
fn no_packet_in_reset_init_err_fires() {
    fires(CLOSED, LIFE, |_, inputs, outputs| outputs.msg_accept = inputs.msg_valid);
}

#[test]
fn packet_taken_when_ready_fires() {
    fires(OPEN, LIFE, |_, _, outputs| outputs.msg_accept = low());
}

#[test]
fn wqe_for_the_packet_that_takes_it_fires() {
    fires(WQE, LIFE, |_, _, outputs| outputs.msg_take_wqe = low());
    fires(WQE, LIFE, |_, _, outputs| {
        outputs.msg_take_wqe = Bits1::new(outputs.msg_take_wqe.get() | outputs.msg_nak.get());
    });
}

#[test]
fn ack_or_nak_fires() {
    let packet_of =
        |qpn: u64, inputs: &Inputs| inputs.msg_valid.is_high() && inputs.msg_qpn.get() == qpn;
    // No answer, both, the wrong one, an answer of an unreliable QP.
    fires(ACK_OR_NAK, LIFE, |_, _, outputs| outputs.msg_ack = low());
    fires(ACK_OR_NAK, LIFE, |_, _, outputs| {
        if outputs.msg_ack.is_high() {
            outputs.msg_nak = one();
        }
    });
    fires(ACK_OR_NAK, LIFE, |_, _, outputs| {
        if outputs.msg_nak.is_high() {
            (outputs.msg_ack, outputs.msg_nak) = (one(), low());
        }
    });
    fires(ACK_OR_NAK, LIFE, |_, inputs, outputs| {
        if packet_of(6, inputs) {
            outputs.msg_nak = one();
        }
    });
}

#[test]
fn event_shown_until_taken_fires() {
    // Missing, or late.
    fires(SHOWN, LIFE, |_, _, outputs| {
        (outputs.evt_valid, outputs.evt_qpn) = (low(), Bits8::new(0));
        outputs.evt_code = Bits2::new(0);
    });
    let mut seen = 0;
    fires(SHOWN, EVENTS, |_, _, outputs| {
        seen += u32::from(outputs.evt_valid.is_high());
        if seen == 10 {
            outputs.evt_valid = low();
        }
    });
}

/// Shows an event in the first cycle without one after a number of accepted events.
fn again(after: u64, qpn: u64, code: u64) -> impl FnMut(u64, &mut Inputs, &mut Outputs) {
    let mut taken = 0;
    move |_, inputs, outputs| {
        if outputs.evt_valid.is_high() {
            taken += u64::from(inputs.evt_ready.is_high());
        } else if taken == after {
            outputs.evt_valid = one();
            outputs.evt_qpn = Bits8::new(qpn);
            outputs.evt_code = Bits2::new(code);
        }
    }
}

#[test]
fn one_drained_event_per_notified_drain_fires() {
    fires(DRAINED, LIFE, again(3, 5, DRAINED_CODE));
    fires(DRAINED, LIFE, again(0, 5, DRAINED_CODE));
}

#[test]
fn event_has_a_cause_fires() {
    fires(CAUSED, LIFE, again(3, 5, FATAL_CODE));
    fires(CAUSED, LIFE, again(0, 6, ESTABLISHED_CODE));
    // A wrong QP.
    fires(CAUSED, EVENTS, |_, _, outputs| {
        if outputs.evt_valid.is_high() {
            outputs.evt_qpn = Bits8::new(7);
        }
    });
}

#[test]
fn events_in_order_fires() {
    // Established and fatal of QP 5, fatal of QP 6 wait.
    fires(ORDER_IN_QP, EVENTS, |cycle, _, outputs| {
        if cycle == 10 {
            outputs.evt_code = Bits2::new(FATAL_CODE);
        }
    });
    fires(ORDER, EVENTS, |cycle, _, outputs| {
        if cycle == 10 {
            (outputs.evt_qpn, outputs.evt_code) = (Bits8::new(6), Bits2::new(FATAL_CODE));
        }
    });
}

#[test]
fn idle_pins_are_0_fires() {
    fires(IDLE, LIFE, |_, _, outputs| {
        if !outputs.rsp_valid.is_high() {
            outputs.rsp_qpn = Bits8::new(5);
        }
    });
    fires(IDLE, LIFE, |_, _, outputs| {
        if !outputs.rsp_valid.is_high() {
            outputs.rsp_code = Bits2::new(1);
        }
    });
    fires(IDLE, LIFE, |_, _, outputs| {
        if !outputs.evt_valid.is_high() {
            outputs.evt_code = Bits2::new(2);
        }
    });
    for pin in 0..4 {
        fires(IDLE, LIFE, |_, inputs, outputs| {
            if !inputs.msg_valid.is_high() {
                let pins = [
                    &mut outputs.msg_accept,
                    &mut outputs.msg_take_wqe,
                    &mut outputs.msg_ack,
                    &mut outputs.msg_nak,
                ];
                *pins.into_iter().nth(pin).unwrap() = one();
            }
        });
    }
}

#[test]
fn complete_fires() {
    let traffic = |json: &str| serde_json::from_str::<Traffic>(json).unwrap();
    let life = traffic(LIFE);
    assert_eq!(
        Scoreboard::new(&life, &Parameters::NONE).finish().unwrap_err().check,
        COMPLETE,
        "nothing was taken"
    );
    // The last event is not accepted, or the last command is not answered.
    for (steps, missing) in [
        (r#"{"command": {"qpn": 5, "next": 1}}, {"event": {"qpn": 5, "kind": 3}}"#, "1 events"),
        (r#"{"command": {"qpn": 5, "next": 1}}"#, "QP 5"),
    ] {
        let traffic = traffic(&format!(r#"{{"noise": "0x0", "steps": [{steps}]}}"#));
        let mut golden = Golden::new(&Parameters::NONE);
        let mut environment = Environment::new(&traffic, &Parameters::NONE);
        let mut scoreboard = Scoreboard::new(&traffic, &Parameters::NONE);
        let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
        for _ in &traffic.steps {
            environment.drive(&mut inputs);
            golden.show(&inputs, &mut outputs);
            scoreboard.observe(&inputs, &outputs).unwrap();
            golden.edge(&inputs);
            environment.clock(&inputs, &outputs);
        }
        let violation = scoreboard.finish().unwrap_err();
        assert_eq!(violation.check, COMPLETE);
        assert!(violation.message.contains(missing), "{}", violation.message);
    }
}
