//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::recv::rtl::{Bits3, Bits8, Bits16, Bits32};
use crate::blocks::recv::{Environment, Golden};
use cosim_core::checks;
use cosim_core::harness::{Environment as _, Golden as _, Scoreboard as _, Traffic as _};

/// A control packet and an invalid one; a posted message; a copied one; a kept one with a stray
/// packet; rendezvous data; an eager message of one packet.
const STORY: &str = r#"{"noise": "0x3", "pool": 3, "credit_stalls": [4], "reads": [9, 2], "messages": [
    {"kind": 0, "id": 1, "len": 8}, {"kind": 7, "id": 2, "len": 8},
    {"kind": 4, "id": 3, "len": 50, "msg_len": 90, "posted": 1, "match_wait": 2, "done_wait": 2,
     "data": [{"id": 4, "len": 40}]},
    {"kind": 4, "id": 5, "len": 50, "msg_len": 150, "temp_ok": 1,
     "data": [{"gap": 3, "id": 6, "len": 50, "count": 2}]},
    {"kind": 4, "id": 8, "len": 50, "msg_len": 120,
     "data": [{"id": 9, "len": 30}, {"id": 10, "stray": {"kind": 0, "last": 1}}, {"id": 11, "len": 40}]},
    {"kind": 5, "id": 12, "len": 60, "data": [{"id": 13, "len": 61, "count": 9}]},
    {"kind": 4, "id": 30, "len": 20}, {"kind": 3, "id": 31}
]}"#;

/// A reset while the answer about a message is due.
const RESET: &str = r#"{"noise": "0x3", "pool": 3, "messages": [
    {"kind": 4, "id": 3, "match_wait": 9, "data": [{"id": 4}], "reset": {"after": 3, "cycles": 2}},
    {"gap": 4, "kind": 0, "id": 1}
]}"#;

/// Runs the scoreboard on the golden model's pins, after `tamper` has changed them.
fn judge_with(
    json: &str,
    fixes: u8,
    mut tamper: impl FnMut(u64, &mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let parameters = Parameters::of::<Recv>(fixes);
    let traffic: Traffic = serde_json::from_str(json).unwrap();
    traffic.check().unwrap();
    // Cycle 0 is the reset cycle.
    checks::shown::<Recv>(&traffic, &parameters, |cycle, inputs, outputs| {
        if let Some(cycle) = cycle.checked_sub(1) {
            tamper(cycle, inputs, outputs);
        }
    })
}

fn judge(
    json: &str,
    tamper: impl FnMut(u64, &mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    judge_with(json, 0xff, tamper)
}

#[track_caller]
fn fires(check: &str, json: &str, tamper: impl FnMut(u64, &mut Inputs, &mut Outputs)) {
    match judge(json, tamper) {
        Err(violation) => assert_eq!(violation.check, check, "{}", violation.message),
        Ok(_) => panic!("{check} does not fire"),
    }
}

fn one() -> Bits1 {
    Bits1::new(1)
}

fn low() -> Bits1 {
    Bits1::new(0)
}

/// Changes only the first cycle in which `holds`.
fn once(
    holds: impl Fn(&Inputs, &Outputs) -> bool,
    change: impl Fn(&mut Inputs, &mut Outputs),
) -> impl FnMut(u64, &mut Inputs, &mut Outputs) {
    let mut done = false;
    move |_, inputs, outputs| {
        if !done && holds(inputs, outputs) {
            done = true;
            change(inputs, outputs);
        }
    }
}

#[test]
fn a_right_model_is_not_objected_to() {
    for fixes in [0x00, 0xff] {
        let counts = judge_with(STORY, fixes, |_, _, _| {}).unwrap();
        let counted = |name: &str| {
            let all = Scoreboard::counters();
            counts[all.iter().position(|counter| counter.name == name).expect(name)]
        };
        assert_eq!(counted("unexpected messages copied"), 1);
        // That of one packet, too.
        assert_eq!(counted("unexpected messages kept"), 2);
        // CP and DP of the eager one, CP and nine DPs of the rendezvous.
        assert_eq!(counted("packets copied to their place"), 2 + 10);
        assert_eq!(counted("posted messages finished"), 2);
        assert_eq!(counted("control packets"), 2);
        assert_eq!(counted("protocol errors"), 2);
        assert_eq!(counted("refills refused for the credit"), 0);
        judge_with(RESET, fixes, |_, _, _| {}).unwrap();
    }
}

#[test]
fn silent_in_reset_fires() {
    let in_reset = |inputs: &Inputs, _: &Outputs| inputs.rst.is_high();
    fires(IN_RESET, RESET, once(in_reset, |_, outputs| outputs.pkt_ready = one()));
    fires(IN_RESET, RESET, once(in_reset, |_, outputs| outputs.ring_level = Bits8::new(16)));
    fires(IN_RESET, RESET, once(in_reset, |_, outputs| outputs.state = Bits3::new(2)));
}

#[test]
fn ring_full_after_reset_fires() {
    let mut was_reset = false;
    fires(FULL, RESET, move |_, inputs, outputs| {
        was_reset |= inputs.rst.is_high();
        if was_reset && !inputs.rst.is_high() {
            outputs.ring_level = Bits8::new(15);
        }
    });
}

#[test]
fn idle_pins_are_0_fires() {
    let any = |_: &Inputs, _: &Outputs| true;
    fires(IDLE, STORY, once(any, |_, outputs| outputs.match_id = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.alloc_count = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.credit_count = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.copy_id = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.copy_len = Bits16::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.keep_id = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.release_id = Bits8::new(1)));
    fires(IDLE, STORY, once(any, |_, outputs| outputs.temp_alloc_len = Bits32::new(1)));
}

#[test]
fn ready_where_it_can_take_fires() {
    let in_state = |state: State| {
        move |inputs: &Inputs, outputs: &Outputs| {
            outputs.state.get() == state as u64 && !inputs.pkt_valid.is_high()
        }
    };
    // Nothing waits, so nothing is accepted or left.
    for state in [State::AwaitCp, State::AwaitUnexpDp] {
        fires(READY, STORY, once(in_state(state), |_, outputs| outputs.pkt_ready = one()));
    }
    let idle = |inputs: &Inputs, outputs: &Outputs| {
        outputs.pkt_ready.is_high() && !inputs.pkt_valid.is_high()
    };
    let apart = r#"{"noise": "0x3", "pool": 3, "messages": [
        {"kind": 4, "id": 5, "len": 50, "data": [{"id": 6, "len": 50}, {"gap": 3, "id": 7, "len": 50}]}
    ]}"#;
    fires(READY, apart, once(idle, |_, outputs| outputs.pkt_ready = low()));
}

#[test]
fn buffers_are_conserved_fires() {
    fires(CONSERVED, STORY, |cycle, _, outputs| {
        if cycle >= 20 {
            outputs.ring_level = Bits8::new(outputs.ring_level.get() + 1);
        }
    });
    // What the block makes of the pool.
    fires(CONSERVED, STORY, |cycle, inputs, _| {
        if cycle >= 20 {
            inputs.pool_free = Bits8::new(inputs.pool_free.get() + 1);
        }
    });
}

#[test]
fn state_by_what_is_awaited_fires() {
    let asked = |_: &Inputs, outputs: &Outputs| outputs.match_req.is_high();
    fires(STATE, STORY, once(asked, |_, outputs| outputs.state = Bits3::new(3)));
    let any = |_: &Inputs, _: &Outputs| true;
    fires(STATE, STORY, once(any, |_, outputs| outputs.state = Bits3::new(7)));
    // With F0 a message of one packet needs no wait.
    let alone = |inputs: &Inputs, outputs: &Outputs| {
        inputs.pkt_valid.is_high() && inputs.pkt_id.get() == 31 && outputs.state.get() == 1
    };
    fires(STATE, STORY, once(alone, |_, outputs| outputs.state = Bits3::new(4)));
}

#[test]
fn refills_fire() {
    // Eleven packets leave five in the ring, and the next but one makes it low.
    let allocs = |_: &Inputs, outputs: &Outputs| outputs.alloc_valid.is_high();
    fires(
        REFILLED,
        STORY,
        once(allocs, |_, outputs| {
            (outputs.alloc_valid, outputs.alloc_count) = (low(), Bits8::new(0));
        }),
    );
    fires(AS_MANY, STORY, once(allocs, |_, outputs| outputs.alloc_count = Bits8::new(1)));
    let takes = |inputs: &Inputs, outputs: &Outputs| {
        inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high()
    };
    fires(
        REFILLED,
        STORY,
        once(takes, |_, outputs| {
            (outputs.alloc_valid, outputs.alloc_count) = (one(), Bits8::new(1));
        }),
    );
}

#[test]
fn each_credit_once_fires() {
    let offers = |_: &Inputs, outputs: &Outputs| outputs.credit_valid.is_high();
    fires(
        CREDIT,
        STORY,
        once(offers, |_, outputs| {
            (outputs.credit_valid, outputs.credit_count) = (low(), Bits8::new(0));
        }),
    );
    fires(CREDIT, STORY, once(offers, |_, outputs| outputs.credit_count = Bits8::new(1)));
    // Accepted, and on offer again.
    let mut taken = false;
    fires(CREDIT, STORY, move |_, inputs, outputs| {
        if taken && !outputs.credit_valid.is_high() {
            (outputs.credit_valid, outputs.credit_count) = (one(), Bits8::new(3));
        }
        taken |= outputs.credit_valid.is_high() && inputs.credit_ready.is_high();
    });
}

#[test]
fn taken_when_its_turn_fires() {
    let waits = |inputs: &Inputs, outputs: &Outputs| {
        inputs.pkt_valid.is_high() && outputs.match_req.is_high()
    };
    fires(TAKEN, STORY, once(waits, |_, outputs| outputs.pkt_ready = one()));
    // A CP after a posted message.
    let behind = |inputs: &Inputs, outputs: &Outputs| {
        inputs.pkt_valid.is_high() && outputs.state.get() == 6 && inputs.pkt_kind.get() != DP
    };
    fires(TAKEN, STORY, once(behind, |_, outputs| outputs.pkt_ready = one()));
    let empty = r#"{"noise": "0x0", "pool": 0, "reads": [90], "messages": [
        {"kind": 4, "id": 1, "data": [{"id": 2, "count": 20}]}
    ]}"#;
    let dry = |_: &Inputs, outputs: &Outputs| outputs.ring_level.get() == 0;
    fires(TAKEN, empty, once(dry, |_, outputs| outputs.pkt_ready = one()));
}

#[test]
fn packet_not_left_waiting_fires() {
    // It stays where it is, and the pool gets no buffer.
    fires(PROMPT, STORY, |_, inputs, outputs| {
        inputs.pool_free = Bits8::new(3);
        *outputs = Outputs { ring_level: Bits8::new(16), ..Outputs::default() };
    });
}

#[test]
fn match_asked_until_answered_fires() {
    let asked = |_: &Inputs, outputs: &Outputs| outputs.match_req.is_high();
    fires(ASKED, STORY, once(asked, |_, outputs| outputs.match_id = Bits8::new(4)));
    fires(
        ASKED,
        STORY,
        once(asked, |_, outputs| {
            (outputs.match_req, outputs.match_id) = (low(), Bits8::new(0));
        }),
    );
    let any = |_: &Inputs, _: &Outputs| true;
    fires(ASKED, STORY, once(any, |_, outputs| outputs.match_req = one()));
}

#[test]
fn temporary_buffer_when_pool_low_fires() {
    let asks = |_: &Inputs, outputs: &Outputs| outputs.temp_alloc_valid.is_high();
    fires(TEMPORARY, STORY, once(asks, |_, outputs| outputs.temp_alloc_len = Bits32::new(50)));
    fires(
        TEMPORARY,
        STORY,
        once(asks, |_, outputs| {
            (outputs.temp_alloc_valid, outputs.temp_alloc_len) = (low(), Bits32::new(0));
        }),
    );
}

#[test]
fn copied_as_chosen_fires() {
    let copies = |_: &Inputs, outputs: &Outputs| outputs.copy_valid.is_high();
    fires(COPIED, STORY, once(copies, |_, outputs| outputs.copy_id = Bits8::new(99)));
    fires(COPIED, STORY, once(copies, |_, outputs| outputs.copy_len = Bits16::new(99)));
    let released = |_: &Inputs, outputs: &Outputs| outputs.release_valid.is_high();
    fires(COPIED, STORY, once(released, |_, outputs| outputs.copy_valid = one()));
}

#[test]
fn kept_as_chosen_fires() {
    let keeps = |_: &Inputs, outputs: &Outputs| outputs.keep_valid.is_high();
    fires(KEPT, STORY, once(keeps, |_, outputs| outputs.keep_id = Bits8::new(99)));
    fires(
        KEPT,
        STORY,
        once(keeps, |_, outputs| {
            (outputs.keep_valid, outputs.keep_id) = (low(), Bits8::new(0));
        }),
    );
    let copies = |_: &Inputs, outputs: &Outputs| outputs.copy_valid.is_high();
    fires(KEPT, STORY, once(copies, |_, outputs| outputs.keep_valid = one()));
}

#[test]
fn released_unless_kept_fires() {
    let releases = |_: &Inputs, outputs: &Outputs| outputs.release_valid.is_high();
    fires(RELEASED, STORY, once(releases, |_, outputs| outputs.release_id = Bits8::new(99)));
    fires(
        RELEASED,
        STORY,
        once(releases, |_, outputs| {
            (outputs.release_valid, outputs.release_id) = (low(), Bits8::new(0));
        }),
    );
    let keeps = |_: &Inputs, outputs: &Outputs| outputs.keep_valid.is_high();
    fires(RELEASED, STORY, once(keeps, |_, outputs| outputs.release_valid = one()));
}

#[test]
fn error_for_what_does_not_fit_fires() {
    let error = |_: &Inputs, outputs: &Outputs| outputs.protocol_error.is_high();
    fires(ERROR, STORY, once(error, |_, outputs| outputs.protocol_error = low()));
    let releases = |_: &Inputs, outputs: &Outputs| outputs.release_valid.is_high();
    fires(ERROR, STORY, once(releases, |_, outputs| outputs.protocol_error = one()));
}

#[test]
fn complete_fires() {
    let finish = |json: &str, cycles: u64| {
        let parameters = Parameters::of::<Recv>(0xff);
        let traffic: Traffic = serde_json::from_str(json).unwrap();
        let mut golden = Golden::new(&parameters);
        let mut environment = Environment::new(&traffic, &parameters);
        let mut scoreboard = Scoreboard::new(&traffic, &parameters);
        let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
        for _ in 0..cycles {
            environment.drive(&mut inputs);
            golden.show(&inputs, &mut outputs);
            scoreboard.observe(&inputs, &outputs).unwrap();
            golden.edge(&inputs);
            environment.clock(&inputs, &outputs);
        }
        scoreboard.finish().map_err(|violation| violation.check)
    };
    // Detected in the first cycle, accepted in the second.
    let control = r#"{"noise": "0x0", "pool": 0, "messages": [{"kind": 0, "id": 1}]}"#;
    assert_eq!(finish(control, 1), Err(COMPLETE.to_owned()));
    assert_eq!(finish(control, 2), Ok(()));
    // The answer comes ten cycles later.
    let asked =
        r#"{"noise": "0x0", "pool": 0, "messages": [{"kind": 4, "id": 1, "match_wait": 9}]}"#;
    assert_eq!(finish(asked, 5), Err(COMPLETE.to_owned()));
    // The thirteenth packet makes the ring low; its credit is not accepted.
    let credit = r#"{"noise": "0x0", "pool": 9, "credit_stalls": [99], "messages": [
        {"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}
    ]}"#;
    assert_eq!(finish(credit, 20), Err(COMPLETE.to_owned()));
}
