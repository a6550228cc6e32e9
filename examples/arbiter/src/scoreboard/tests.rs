//! Every check fires on outputs with the fault that it detects, and never on correct outputs.

use super::*;
use crate::rtl::{Bits1, Bits4, Bits16};
use cosim_core::checks::shown;
use harness::Scoreboard as _;

/// Two requesters at once, a packet beyond the limit, pauses, stalls and a reset at the end.
const TRAFFIC: &str = r#"{
    "noise": "0x3",
    "requesters": [
        [{"beats": 3, "data": 16}, {"beats": 11, "data": 32, "delay": 1}],
        [{"beats": 1, "data": 64}, {"beats": 2, "data": 80}],
        [],
        [{"gap": 60, "beats": 2, "data": 7, "reset": {"after": 3, "cycles": 2}}]
    ],
    "out_stalls": [0, 2, 0, 3]
}"#;

/// Runs the scoreboard on the outputs of the golden model, after `tamper` has changed them.
fn judge(mut tamper: impl FnMut(u64, &Inputs, &mut Outputs)) -> Result<Vec<u64>, Violation> {
    let traffic = serde_json::from_str(TRAFFIC).unwrap();
    let tamper = |cycle, inputs: &mut Inputs, outputs: &mut Outputs| tamper(cycle, inputs, outputs);
    shown::<Arbiter>(&traffic, &crate::max_beats(8), tamper)
}

#[track_caller]
fn fires(check: &str, tamper: impl FnMut(u64, &Inputs, &mut Outputs)) {
    let violation = judge(tamper).expect_err(check);
    assert_eq!(violation.check, check, "{}", violation.message);
}

#[test]
fn a_right_model_is_not_objected_to() {
    let counters = judge(|_, _, _| {}).unwrap();
    // 3 + 11 + 1 + 2 + 2 beats; the packet of 11 is cut after its 8th beat.
    assert_eq!(counters[..3], [5, 19, 1]);
}

#[test]
fn ready_in_reset() {
    fires(QUIET, |_, inputs, outputs| {
        if inputs.rst.get() == 1 {
            outputs.req_ready = Bits4::new(1);
        }
    });
}

#[test]
fn two_readies() {
    fires(ONE, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.req_ready = Bits4::new(3);
        }
    });
}

#[test]
fn ready_while_the_output_stalls() {
    fires(STALLED, |_, inputs, outputs| {
        if outputs.out_valid.get() == 1 && inputs.out_ready.get() == 0 {
            outputs.req_ready = Bits4::new(1);
        }
    });
}

#[test]
fn nobody_is_ready() {
    fires(WORKS, |_, _, outputs| outputs.req_ready = Bits4::new(0));
}

#[test]
fn another_requester_gets_in() {
    // Requester 0's packet of three beats is in progress.
    fires(WHOLE, |cycle, _, outputs| {
        if cycle == 2 {
            outputs.req_ready = Bits4::new(2);
        }
    });
}

#[test]
fn the_turn_is_another_ones() {
    fires(TURN, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.req_ready = Bits4::new(2);
        }
    });
}

#[test]
fn a_payload_changes_inside() {
    fires(SENT, |_, _, outputs| outputs.out_data = Bits16::new(outputs.out_data.get() ^ 4));
}

#[test]
fn a_beat_is_lost_inside() {
    fires(SENT, |_, _, outputs| outputs.out_valid = Bits1::from(false));
}

#[test]
fn an_offer_is_withdrawn() {
    let mut before = false;
    fires(HELD, |_, inputs, outputs| {
        let stalls = outputs.out_valid.get() == 1 && inputs.out_ready.get() == 0;
        if std::mem::replace(&mut before, stalls) {
            outputs.out_valid = Bits1::from(false);
        }
    });
}

#[test]
fn a_beat_comes_from_nowhere() {
    fires(NOWHERE, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.out_valid = Bits1::from(true);
        }
    });
}

#[test]
fn a_packet_ends_early() {
    fires(ENDS, |_, _, outputs| outputs.out_last = Bits1::from(true));
}

#[test]
fn a_cut_is_not_told() {
    fires(ENDS, |_, _, outputs| outputs.out_cut = Bits1::from(false));
}

#[test]
fn a_case_ends_too_soon() {
    let traffic = Traffic {
        requesters: [vec![crate::stimulus::Packet::default()], vec![], vec![], vec![]],
        ..serde_json::from_str(TRAFFIC).unwrap()
    };
    let with_a_beat = {
        let mut traffic = traffic;
        traffic.requesters[0][0].beats = cosim_core::value::Uint::new(1);
        traffic
    };
    let mut scoreboard = Scoreboard::new(&with_a_beat, &crate::max_beats(8));
    assert_eq!(scoreboard.finish().unwrap_err().check, COMPLETE);
}
