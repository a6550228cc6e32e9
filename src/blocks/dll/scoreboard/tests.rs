//! What the scoreboard counts of a correct model, and the checks that no fault of a pin triggers.
//! `tests/e2e/checks.rs` triggers the others.

use super::*;
use crate::blocks::dll::Dll;
use crate::blocks::dll::Golden;
use crate::blocks::dll::rtl::{Bits1, Bits12, Bits32};
use crate::blocks::testing::{Judge, REPAIRED, SPEC, named, traffic};
use cosim_core::harness::{Golden as _, Scoreboard as _};

/// Specification, section 10.
const STALL: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 20}],
    "tlp_link": [{"count": 16}, {"damage": {}}], "ack_link": [{"lost": 1}], "nak_link": [{"lost": 1}]
}"#;
/// TLP 0 does not arrive before its fifth replay. The fourth one rolls REPLAY_NUM over.
const DARK: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 0}], "tlp_link": [{"lost": 1, "count": 5}]}"#;
/// Both TLPs are on the link, which takes them ten cycles, when the reset comes.
const RESET: &str = r#"{"noise": "0x0", "tlp_delay": 9, "tlps": [
    {"data": 0, "count": 2, "reset": {"after": 5, "cycles": 2}}, {"gap": 50, "data": 9, "count": 3}
]}"#;
/// TLP 1 is damaged. B sends a Nak, drops TLPs 2 and 3, and gets three again. The Nak acknowledges
/// TLP 0.
const DAMAGED: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"damage": {}}]}"#;
/// An Ack arrives again after the next ones; a later Ack is damaged.
const STRAYS: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 1, "count": 90}],
    "ack_link": [{"again": 60}, {"count": 4}, {"damage": {}}]
}"#;

fn counted(mask: u8, json: &str) -> Vec<(&'static str, u64)> {
    Judge::new(mask).counted::<Dll>(&traffic::<Dll>(json))
}

#[test]
fn counters_are_worked_out_by_hand() {
    let [sent, again, acks] = ["TLPs sent", "TLPs sent again", "Acks"];
    let [bad, dropped, reset] = ["TLPs arrived damaged", "TLPs dropped", "TLPs lost to resets"];
    for mask in [SPEC, REPAIRED] {
        let dark = [(sent, 6), (again, 5), (acks, 1), ("timeouts", 5), ("retrains", 1)];
        assert_eq!(counted(mask, DARK), dark);
        assert_eq!(counted(mask, RESET), [(sent, 5), (reset, 2), (acks, 1)]);
        let damaged = [(sent, 7), (again, 3), (bad, 1), (dropped, 2), (acks, 1), ("Naks", 1)];
        assert_eq!(counted(mask, DAMAGED), damaged);
    }
    let strays = counted(SPEC, STRAYS);
    for expected in [("DLLPs arrived damaged", 1), ("DLLPs out of range", 1)] {
        assert!(strays.contains(&expected), "{strays:?}");
    }
}

#[test]
fn the_stall_of_s3_is_counted_in_spec_and_a_violation_in_repaired() {
    let stalled = ("cases stalled by S3 5.8", 1);
    assert!(counted(SPEC, STALL).contains(&stalled));
    assert!(!counted(REPAIRED, STALL).contains(&stalled));
    // The stall of S3, checked as if F0 were on.
    let judge = Judge::new(SPEC).judged_as(REPAIRED);
    judge.fires::<Dll>(ANSWERED, &traffic::<Dll>(STALL), |_, _, _| {});
}

/// A TLP arrives at B, with its number as payload.
fn arrives(inputs: &mut Inputs, number: u64, crc_ok: bool) {
    (inputs.b_link_valid, inputs.b_link_crc_ok) = (Bits1::new(1), Bits1::from(crc_ok));
    (inputs.b_link_seq, inputs.b_link_data) = (Bits12::new(number), Bits32::new(number));
}

/// Runs the golden model and its scoreboard on an otherwise idle link, with pins that `set` drives.
/// A gets `tlps` TLPs, with their numbers as payloads.
fn drive(
    mask: u8,
    cycles: u64,
    tlps: u64,
    set: impl Fn(u64, &mut Inputs),
) -> (Scoreboard, Result<(), Violation>) {
    let traffic =
        traffic::<Dll>(&format!(r#"{{"noise": "0x0", "tlps": [{{"data": 0, "count": {tlps}}}]}}"#));
    let parameters = Parameters::with_fixes::<Dll>(mask);
    let mut golden = Golden::new(&parameters);
    let mut scoreboard = Scoreboard::new(&traffic, &parameters);
    let mut outputs = Outputs::default();
    for cycle in 0..cycles {
        let high = Bits1::new(1);
        let mut inputs = Inputs { a_link_ready: high, b_dllp_ready: high, ..Inputs::default() };
        golden.show(&inputs, &mut outputs);
        let next = outputs.a_next_seq.get();
        (inputs.a_tlp_valid, inputs.a_tlp_data) = (Bits1::from(next < tlps), Bits32::new(next));
        set(cycle, &mut inputs);
        if let Err(violation) = scoreboard.observe(&inputs, &outputs) {
            return (scoreboard, Err(violation));
        }
        golden.edge(&inputs);
    }
    (scoreboard, Ok(()))
}

/// A sends two TLPs. The message of `COMPLETE`, or whether the end counts as a stall of S3.
fn end(cycles: u64, set: impl Fn(u64, &mut Inputs)) -> Result<bool, String> {
    let (mut scoreboard, result) = drive(SPEC, cycles, 2, set);
    assert_eq!(result, Ok(()));
    scoreboard.finish().map_err(|violation| {
        assert_eq!(violation.check, COMPLETE);
        violation.message
    })?;
    Ok(named::<Dll>(scoreboard.counts()).contains(&("cases stalled by S3 5.8", 1)))
}

#[test]
fn a_stall_needs_a_bad_tlp_and_a_lost_answer() {
    let unacknowledged = |count| Err(format!("{count} of 2 TLPs taken were acknowledged"));
    // Both TLPs arrive, and their Ack is lost. A repeat is damaged, and its Nak is lost, or waits.
    let all = |repeat: bool, waits: bool| {
        end(40, move |cycle, inputs| {
            match cycle {
                6 | 7 => arrives(inputs, cycle - 6, true),
                9 if repeat => arrives(inputs, 0, false),
                _ => {}
            }
            inputs.b_dllp_ready = Bits1::from(!waits);
        })
    };
    assert_eq!(all(false, false), unacknowledged(0));
    assert_eq!(all(true, false), Ok(true));
    assert_eq!(all(true, true), unacknowledged(0));
    // A Nak that is dropped behind another is as good as lost.
    let dropped = |repeat: bool| {
        end(35, move |cycle, inputs| {
            match cycle {
                6 => arrives(inputs, 0, true),
                8 => arrives(inputs, 1, false),
                10 => arrives(inputs, 1, true),
                12 if repeat => arrives(inputs, 0, false),
                _ => {}
            }
            inputs.b_dllp_ready = Bits1::from(cycle >= 30);
            let nak = Bits1::from(cycle == 32);
            (inputs.a_dllp_valid, inputs.a_dllp_nak, inputs.a_dllp_crc_ok) = (nak, nak, nak);
        })
    };
    assert_eq!(dropped(true), Ok(true));
    assert_eq!(dropped(false), unacknowledged(1));
}

/// A sends TLP 0 every 64 cycles and gets no answer.
#[test]
fn progress_fires() {
    for (mask, is_delivered, cycles, expected) in [
        (SPEC, false, 20_000, None),
        (SPEC, false, 20_100, Some(PROGRESS)),
        // Delivered but never acknowledged: a violation only with F0.
        (SPEC, true, 20_100, None),
        (REPAIRED, true, 20_100, Some(PROGRESS)),
    ] {
        let (_, result) = drive(mask, cycles, 1, |cycle, inputs| {
            if is_delivered && cycle == 6 {
                arrives(inputs, 0, true);
            }
        });
        assert_eq!(result.err().map(|violation| violation.check).as_deref(), expected);
    }
}
