//! What the scoreboard counts of a correct model, and the checks that no fault of a pin triggers.

use super::*;
use crate::blocks::dll::Dll;
use crate::blocks::dll::Golden;
use crate::blocks::dll::rtl::Bits1;
use crate::blocks::testing::{Judge, REPAIRED, SPEC, fault, named, traffic};
use cosim_core::harness::{Golden as _, Scoreboard as _};

const CLEAN: &str =
    r#"{"noise": "0x3", "tlps": [{"data": 100, "count": 40}, {"gap": 200, "data": 7}]}"#;
/// Losses and damage both ways, second copies, stalls, a reset.
const ROUGH: &str = r#"{
    "noise": "0x3", "tlp_delay": 3, "dllp_delay": 5,
    "tlps": [
        {"data": 100, "count": 60}, {"gap": 300, "data": 500, "count": 30},
        {"data": 900, "count": 9, "reset": {"after": 8, "cycles": 2}}, {"data": 1000, "count": 50}
    ],
    "tlp_link": [
        {"count": 5}, {"lost": 1}, {"count": 9, "again": 4}, {"damage": {"seq": 1}}, {"count": 20},
        {"lost": 1, "count": 30}, {"count": 11}, {"damage": {"data": 9}, "count": 3}, {"count": 50},
        {"lost": 1, "count": 7}
    ],
    "ack_link": [{}, {"lost": 1, "count": 3}, {"again": 60}, {"damage": {"seq": 3}, "count": 2}],
    "nak_link": [{}, {"lost": 1}, {"again": 30}],
    "link_stalls": [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 70, 1, 2, 3],
    "dllp_stalls": [0, 20, 40]
}"#;
/// Specification, section 10.
const STALL: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 20}],
    "tlp_link": [{"count": 16}, {"damage": {}}], "ack_link": [{"lost": 1}], "nak_link": [{"lost": 1}]
}"#;
/// Nothing of the first round arrives.
const UNHEARD: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 3}], "tlp_link": [{"lost": 1, "count": 3}]
}"#;
/// TLP 0 does not arrive before its fifth replay. It is handed over in cycle 3.
const DARK: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 0}], "tlp_link": [{"lost": 1, "count": 5}]}"#;
/// TLP 1 is damaged, TLPs 2 and 3 are ahead.
const DAMAGED: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"damage": {}}]}"#;
/// As `DAMAGED`; the Nak waits longer than a timeout.
const NAK_WAITS: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"damage": {}}],
    "dllp_stalls": [150]
}"#;
/// An Ack arrives again after the next ones.
const STRAYS: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 1, "count": 90}], "ack_link": [{"again": 60}]}"#;

fn counted(mask: u8, json: &str) -> Vec<(&'static str, u64)> {
    Judge::new(mask).counted::<Dll>(&traffic::<Dll>(json))
}

#[test]
fn a_right_model_is_not_objected_to() {
    for mask in [SPEC, REPAIRED] {
        let clean = counted(mask, CLEAN);
        assert_eq!(clean[0], ("TLPs sent", 41));
        assert!(clean.iter().all(|(name, _)| !["TLPs sent again", "Naks"].contains(name)));
        let rough = counted(mask, ROUGH);
        for expected in [("TLPs arrived damaged", 4), ("DLLPs arrived damaged", 2)] {
            assert!(rough.contains(&expected), "{rough:?}");
        }
    }
}

/// The counters of a case, worked out by hand; all others are 0.
#[test]
fn what_is_counted_is_what_the_link_did() {
    let cases = [
        // B receives nothing of the first round, so it is silent, and the timeout repeats
        // everything.
        (UNHEARD, &[("TLPs sent", 6), ("TLPs sent again", 3), ("Acks", 1), ("timeouts", 1)][..]),
        // The fourth replay rolls REPLAY_NUM over.
        (
            DARK,
            &[
                ("TLPs sent", 6),
                ("TLPs sent again", 5),
                ("Acks", 1),
                ("timeouts", 5),
                ("retrains", 1),
            ],
        ),
        // Both TLPs are on the link, which takes them ten cycles, when the reset comes.
        (
            r#"{"noise": "0x0", "tlp_delay": 9, "tlps": [
                {"data": 0, "count": 2, "reset": {"after": 5, "cycles": 2}},
                {"gap": 50, "data": 9, "count": 3}]}"#,
            &[("TLPs sent", 5), ("TLPs lost to resets", 2), ("Acks", 1)],
        ),
        // B sends a Nak, drops the third and the fourth, and gets three again. The Nak acknowledges
        // the first.
        (
            DAMAGED,
            &[
                ("TLPs sent", 7),
                ("TLPs sent again", 3),
                ("TLPs arrived damaged", 1),
                ("TLPs dropped", 2),
                ("Acks", 1),
                ("Naks", 1),
            ],
        ),
    ];
    for (json, expected) in cases {
        for mask in [SPEC, REPAIRED] {
            assert_eq!(counted(mask, json), expected, "{json}");
        }
    }
    assert!(counted(SPEC, STRAYS).contains(&("DLLPs out of range", 1)));
    // The Nak arrives 154 cycles after TLP 0 was sent, the timer expires after 64 and 128 (A9).
    assert!(counted(SPEC, NAK_WAITS).contains(&("timeouts", 2)));
}

#[test]
fn the_stall_of_s3_is_counted_in_spec_and_an_offence_in_repaired() {
    let stalled = ("cases stalled by S3 5.8", 1);
    assert!(counted(SPEC, STALL).contains(&stalled));
    assert!(!counted(REPAIRED, STALL).contains(&stalled));
    // The stall of S3, checked as if F0 were on.
    let judge = Judge::new(SPEC).judged_as(REPAIRED);
    judge.fires::<Dll>(ANSWERED, &traffic::<Dll>(STALL), |_, _, _| {});
}

/// Runs the golden model and its scoreboard on an otherwise idle link, with pins that `set` drives.
fn drive(mask: u8, cycles: u64, tlps: u64, set: &str) -> (Scoreboard, Result<(), Violation>) {
    let traffic =
        traffic::<Dll>(&format!(r#"{{"noise": "0x0", "tlps": [{{"data": 0, "count": {tlps}}}]}}"#));
    let parameters = Parameters::of::<Dll>(mask);
    let mut golden = Golden::new(&parameters);
    let mut scoreboard = Scoreboard::new(&traffic, &parameters);
    let mut outputs = Outputs::default();
    let mut set = fault::<Dll>(&format!(
        "a_next_seq<{tlps}: a_tlp_valid=1; a_tlp_data=a_next_seq; {}",
        set.replace("arrives", "b_link_valid=1 b_link_crc_ok=1 b_link_data")
    ));
    for cycle in 0..cycles {
        let high = Bits1::new(1);
        let mut inputs = Inputs { a_link_ready: high, b_dllp_ready: high, ..Inputs::default() };
        golden.show(&inputs, &mut outputs);
        set(cycle, &mut inputs, &mut outputs);
        if let Err(violation) = scoreboard.observe(&inputs, &outputs) {
            return (scoreboard, Err(violation));
        }
        golden.edge(&inputs);
    }
    (scoreboard, Ok(()))
}

/// A sends two TLPs. The result at the end, and whether it counts as a stall of S3.
fn end(cycles: u64, set: &str) -> (Result<(), String>, bool) {
    let (mut scoreboard, result) = drive(SPEC, cycles, 2, set);
    assert_eq!(result, Ok(()));
    let result = scoreboard.finish().map_err(|violation| {
        assert_eq!(violation.check, COMPLETE);
        violation.message
    });
    let counted = named::<Dll>(scoreboard.counts());
    (result, counted.contains(&("cases stalled by S3 5.8", 1)))
}

#[test]
fn a_stall_needs_a_spoiled_tlp_and_a_lost_answer() {
    let good = "cycle=6: b_link_seq=0 arrives=0; cycle=7: b_link_seq=1 arrives=1";
    let unacknowledged = || Err("0 of 2 TLPs taken were acknowledged".to_owned());
    // The Ack is lost, nothing else.
    assert_eq!(end(40, good), (unacknowledged(), false));
    // A repeat is damaged, and its Nak is lost, or waits.
    let spoiled = format!("{good}; cycle=9: b_link_valid=1");
    assert_eq!(end(40, &spoiled), (Ok(()), true));
    assert_eq!(end(40, &format!("{spoiled}; b_dllp_ready=0")), (unacknowledged(), false));
    // A Nak that is dropped behind another is as good as lost.
    let dropped = "cycle=6: b_link_seq=0 arrives=0; cycle=8: b_link_valid=1 b_link_seq=1;
        cycle=10: b_link_seq=1 arrives=1; cycle=32: a_dllp_valid=1 a_dllp_nak=1 a_dllp_crc_ok=1;
        cycle<30: b_dllp_ready=0";
    assert_eq!(end(35, &format!("{dropped}; cycle=12: b_link_valid=1")), (Ok(()), true));
    assert_eq!(end(35, dropped), (Err("1 of 2 TLPs taken were acknowledged".to_owned()), false));
}

/// A sends TLP 0 every 64 cycles and gets no answer.
#[test]
fn a_treadmill_is_noticed() {
    for (mask, delivered, cycles, expected) in [
        (SPEC, "b_link_seq=0", 20_000, None),
        (SPEC, "b_link_seq=0", 20_100, Some(PROGRESS)),
        (REPAIRED, "b_link_seq=0", 20_100, Some(PROGRESS)),
        // Delivered but never acknowledged: an error only with F0.
        (SPEC, "cycle=6: arrives=0", 20_100, None),
        (REPAIRED, "cycle=6: arrives=0", 20_100, Some(PROGRESS)),
    ] {
        let (_, result) = drive(mask, cycles, 1, delivered);
        assert_eq!(result.err().map(|violation| violation.check).as_deref(), expected);
    }
}

#[test]
fn a_case_that_ends_early_is_noticed() {
    let one = r#"{"noise": "0x0", "tlps": [{"data": 0}]}"#;
    // A Nak is pending, but A has the TLP that B expects, so there is no stall.
    let nak = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 2}], "tlp_link": [{}, {"damage": {}}],
        "dllp_delay": 30
    }"#;
    for (json, cycles, message) in [
        (one, 1, "0 of 1 TLPs offered were taken"),
        (one, 2, "0 of 1 TLPs taken were delivered"),
        (one, 10, "0 of 1 TLPs taken were acknowledged"),
        (nak, 20, "1 of 2 TLPs taken were delivered"),
    ] {
        let expected = Some((COMPLETE.to_owned(), message.to_owned()));
        assert_eq!(Judge::new(SPEC).cut::<Dll>(json, cycles), expected);
    }
}
