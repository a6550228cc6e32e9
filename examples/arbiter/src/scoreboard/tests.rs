//! Every check fires on outputs with the fault that it detects, and never on correct outputs.

use super::*;
use crate::rtl::{Bits1, Bits4, Bits16};
use cosim_core::checks::shown;
use harness::Scoreboard as _;

/// Two requesters at once, a packet beyond the limit, pauses, stalls and a reset at the end.
const TRAFFIC: &str = r#"{
    "noise": "0x3",
    "req": [
        [{"item": {"beats": 3, "data": 16}}, {"item": {"beats": 11, "data": 32, "delay": 1}}],
        [{"item": {"beats": 1, "data": 64}}, {"item": {"beats": 2, "data": 80}}],
        [],
        [{"gap": 60, "item": {"beats": 2, "data": 7}, "reset": {"after": 3, "cycles": 2}}]
    ],
    "out": [0, 2, 0, 3]
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
    assert_eq!(judge(|_, _, _| {}), Ok(Vec::new()));
}

#[test]
fn ready_in_reset() {
    fires(REQ.no_room, |_, inputs, outputs| {
        if inputs.rst.get() == 1 {
            outputs.req_ready = Bits4::new(1);
        }
    });
}

#[test]
fn two_readies() {
    fires(REQ.several, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.req_ready = Bits4::new(3);
        }
    });
}

#[test]
fn ready_while_the_output_stalls() {
    fires(REQ.no_room, |_, inputs, outputs| {
        if outputs.out_valid.get() == 1 && inputs.out_ready.get() == 0 {
            outputs.req_ready = Bits4::new(1);
        }
    });
}

#[test]
fn nobody_is_ready() {
    fires(REQ.idle, |_, _, outputs| outputs.req_ready = Bits4::new(0));
}

#[test]
fn another_requester_gets_in() {
    // Requester 0's packet of three beats is in progress.
    fires(REQ.interleaved, |cycle, _, outputs| {
        if cycle == 2 {
            outputs.req_ready = Bits4::new(2);
        }
    });
}

#[test]
fn the_turn_is_another_ones() {
    fires(REQ.out_of_turn, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.req_ready = Bits4::new(2);
        }
    });
}

#[test]
fn a_payload_changes_inside() {
    fires(OUT.transactions.differs, |_, _, outputs| {
        outputs.out_data = Bits16::new(outputs.out_data.get() ^ 4)
    });
}

#[test]
fn a_beat_is_lost_inside() {
    fires(OUT.transactions.late, |_, _, outputs| outputs.out_valid = Bits1::from(false));
}

#[test]
fn an_offer_is_withdrawn() {
    let mut before = false;
    fires("out-valid-held", |_, inputs, outputs| {
        let stalls = outputs.out_valid.get() == 1 && inputs.out_ready.get() == 0;
        if std::mem::replace(&mut before, stalls) {
            outputs.out_valid = Bits1::from(false);
        }
    });
}

#[test]
fn a_beat_comes_from_nowhere() {
    fires(OUT.transactions.unexpected, |cycle, _, outputs| {
        if cycle == 1 {
            outputs.out_valid = Bits1::from(true);
        }
    });
}

#[test]
fn a_packet_ends_early() {
    fires(OUT.transactions.differs, |_, _, outputs| outputs.out_last = Bits1::from(true));
}

#[test]
fn a_cut_is_not_reported() {
    fires(OUT.transactions.differs, |_, _, outputs| outputs.out_cut = Bits1::from(false));
}

#[test]
fn a_beat_is_missing_at_the_end() {
    let traffic = serde_json::from_str(TRAFFIC).unwrap();
    let mut scoreboard = Scoreboard::new(&traffic, &crate::max_beats(8));
    scoreboard.out.expect(Out::default());
    assert_eq!(scoreboard.finish().unwrap_err().check, OUT.transactions.missing);
}
