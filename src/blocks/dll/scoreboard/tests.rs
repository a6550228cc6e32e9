//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::dll::rtl::{Bits1, Bits2, Bits12, Bits32};
use crate::blocks::dll::{Environment, Golden};
use cosim_core::checks;
use cosim_core::harness::{Environment as _, Golden as _, Scoreboard as _};
use std::collections::HashSet;

mod device_a;
mod device_b;

const SPEC: u8 = 0x00;
const REPAIRED: u8 = 0xff;

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

/// Runs the scoreboard on the golden model's pins, after `tamper` has changed them.
fn judge(
    json: &str,
    mask: u8,
    judged_as: u8,
    mut tamper: impl FnMut(u64, &mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let traffic = serde_json::from_str(json).unwrap();
    let golden = Golden::new(&Parameters::of::<Dll>(mask));
    let environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
    let scoreboard = Scoreboard::new(&traffic, &Parameters::of::<Dll>(judged_as));
    // Cycle 0 is the reset cycle.
    checks::shown_of::<Dll, _, _>(golden, environment, scoreboard, |cycle, inputs, outputs| {
        if let Some(cycle) = cycle.checked_sub(1) {
            tamper(cycle, inputs, outputs);
        }
    })
}

#[track_caller]
fn fires(check: &str, json: &str, tamper: impl FnMut(u64, &mut Inputs, &mut Outputs)) {
    match judge(json, SPEC, SPEC, tamper) {
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

fn plus(seq: Bits12, more: u64) -> Bits12 {
    Bits12::new(seq.get() + more)
}

/// Returns a closure that is true the `n`th time, from 0, that its argument is true.
fn nth(n: u32) -> impl FnMut(bool) -> bool {
    let mut seen = 0;
    move |holds| {
        seen += u32::from(holds);
        holds && seen == n + 1
    }
}

/// Runs the golden model and its scoreboard with pins that `set` drives on an otherwise idle link.
fn drive(
    json: &str,
    mask: u8,
    cycles: u64,
    set: impl Fn(u64, &Outputs, &mut Inputs),
) -> (Scoreboard, Result<(), Violation>) {
    let traffic = serde_json::from_str(json).unwrap();
    let mut golden = Golden::new(&Parameters::of::<Dll>(mask));
    let mut scoreboard = Scoreboard::new(&traffic, &Parameters::of::<Dll>(mask));
    let mut outputs = Outputs::default();
    for cycle in 0..cycles {
        let mut inputs = Inputs { a_link_ready: one(), b_dllp_ready: one(), ..Inputs::default() };
        golden.show(&inputs, &mut outputs);
        set(cycle, &outputs, &mut inputs);
        if let Err(violation) = scoreboard.observe(&inputs, &outputs) {
            return (scoreboard, Err(violation));
        }
        golden.edge(&inputs);
    }
    (scoreboard, Ok(()))
}

/// A TLP with the number and payload `seq` arrives at B.
fn arrives(inputs: &mut Inputs, seq: u64, whole: bool) {
    inputs.b_link_valid = one();
    inputs.b_link_seq = Bits12::new(seq);
    inputs.b_link_data = Bits32::new(seq);
    inputs.b_link_crc_ok = Bits1::from(whole);
}

#[test]
fn a_right_model_is_not_objected_to() {
    for mask in [SPEC, REPAIRED] {
        let clean = judge(CLEAN, mask, mask, |_, _, _| {}).unwrap();
        assert_eq!(counter(&clean, "TLPs sent"), 41);
        assert_eq!(counter(&clean, "TLPs sent again"), 0);
        assert_eq!(counter(&clean, "Naks"), 0);
        let mut seen = Seen::default();
        let rough = judge(ROUGH, mask, mask, |_, inputs, outputs| seen.observe(inputs, outputs));
        let rough = rough.unwrap();
        assert_eq!(counter(&rough, "TLPs sent again"), seen.sent_again);
        assert_eq!(counter(&rough, "timeouts"), seen.timeouts);
        assert_eq!(counter(&rough, "TLPs arrived damaged"), 4);
        assert_eq!(counter(&rough, "DLLPs arrived damaged"), 2);
        assert_eq!(counter(&rough, "TLPs lost to resets"), seen.lost_to_resets);
    }
}

/// The events of a case with fewer than 4096 TLPs between resets, derived from its pins.
#[derive(Debug, Default)]
struct Seen {
    sent_again: u64,
    timeouts: u64,
    lost_to_resets: u64,
    /// What was sent since the reset.
    sent: HashSet<u64>,
    taken: u64,
    delivered: u64,
    /// `a_replay_num` and `a_ackd_seq` of the last cycle.
    replays: [u64; 2],
    /// A good Nak came in it.
    nak: bool,
}

impl Seen {
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let replays = [outputs.a_replay_num.get(), outputs.a_ackd_seq.get()];
        if inputs.rst.is_high() {
            self.lost_to_resets += self.taken - self.delivered;
            (self.taken, self.delivered, self.nak) = (0, 0, false);
            self.sent.clear();
        } else {
            self.taken += u64::from(inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high());
            self.delivered += u64::from(outputs.b_deliver_valid.is_high());
            if outputs.a_link_valid.is_high() && inputs.a_link_ready.is_high() {
                self.sent_again += u64::from(!self.sent.insert(outputs.a_link_seq.get()));
            }
            // REPLAY_NUM changes by progress, by a Nak, and by the timer.
            let [before, acknowledged] = self.replays;
            let counts = replays[0] != before && replays[1] == acknowledged;
            self.timeouts += u64::from(counts && !self.nak);
            self.nak = [inputs.a_dllp_valid, inputs.a_dllp_nak, inputs.a_dllp_crc_ok]
                .into_iter()
                .all(Bits1::is_high);
        }
        self.replays = replays;
    }
}

/// The counters of a case, worked out by hand; all others are 0.
#[test]
fn what_is_counted_is_what_the_link_did() {
    let cases = [
        // B receives nothing of the first round, so it is silent, and the timeout repeats
        // everything.
        (
            r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 3}],
                "tlp_link": [{"lost": 1, "count": 3}]}"#,
            &[("TLPs sent", 6), ("TLPs sent again", 3), ("Acks", 1), ("timeouts", 1)][..],
        ),
        // The fourth replay rolls REPLAY_NUM over.
        (
            r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 3}],
                "tlp_link": [{"lost": 1, "count": 12}]}"#,
            &[
                ("TLPs sent", 15),
                ("TLPs sent again", 12),
                ("Acks", 1),
                ("timeouts", 4),
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
        // The second TLP is damaged: B sends a Nak, drops the third, and gets both again. The Nak
        // acknowledges the first.
        (
            r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 3}], "tlp_link": [{}, {"damage": {}}]}"#,
            &[
                ("TLPs sent", 5),
                ("TLPs sent again", 2),
                ("TLPs arrived damaged", 1),
                ("TLPs dropped", 1),
                ("Acks", 1),
                ("Naks", 1),
            ],
        ),
    ];
    for (json, expected) in cases {
        for mask in [SPEC, REPAIRED] {
            let counters = judge(json, mask, mask, |_, _, _| {}).unwrap();
            let names = Scoreboard::counters().into_iter().map(|counter| counter.name);
            let counted = names.zip(counters);
            let counted: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
            assert_eq!(counted, expected, "{json}");
        }
    }
}

#[test]
fn the_stall_of_s3_is_counted_in_spec_and_an_offence_in_repaired() {
    let counters = judge(STALL, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "cases stalled by S3 5.8"), 1);
    let counters = judge(STALL, REPAIRED, REPAIRED, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "cases stalled by S3 5.8"), 0);
    // The stall of S3, checked as if F0 were on.
    let violation = judge(STALL, SPEC, REPAIRED, |_, _, _| {}).unwrap_err();
    assert_eq!(violation.check, ANSWERED, "{}", violation.message);
}

const TWO: &str = r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 2}]}"#;

/// Runs A with two TLPs on a link that `set` drives until the case ends.
fn end(cycles: u64, set: impl Fn(u64, &mut Inputs)) -> (Result<(), String>, u64) {
    let (mut scoreboard, result) = drive(TWO, SPEC, cycles, |cycle, outputs, inputs| {
        inputs.a_tlp_valid = Bits1::from(outputs.a_next_seq.get() < 2);
        inputs.a_tlp_data = Bits32::new(outputs.a_next_seq.get());
        set(cycle, inputs);
    });
    assert_eq!(result, Ok(()));
    let result = scoreboard.finish().map_err(|violation| {
        assert_eq!(violation.check, COMPLETE);
        violation.message
    });
    (result, counter(&scoreboard.counts(), "cases stalled by S3 5.8"))
}

#[test]
fn a_stall_needs_a_spoiled_tlp_and_a_lost_answer() {
    let good = |cycle, inputs: &mut Inputs| match cycle {
        6 => arrives(inputs, 0, true),
        7 => arrives(inputs, 1, true),
        _ => {}
    };
    let unacknowledged = Err("0 of 2 TLPs taken were acknowledged".to_owned());
    // The Ack is lost, nothing else.
    assert_eq!(end(40, good), (unacknowledged.clone(), 0));
    // A repeat is damaged, and its Nak is lost.
    let spoiled = |cycle, inputs: &mut Inputs| {
        good(cycle, inputs);
        if cycle == 9 {
            arrives(inputs, 0, false);
        }
    };
    assert_eq!(end(40, spoiled), (Ok(()), 1));
    // The Nak waits but is not lost.
    let waits = |cycle, inputs: &mut Inputs| {
        spoiled(cycle, inputs);
        inputs.b_dllp_ready = low();
    };
    assert_eq!(end(40, waits), (unacknowledged, 0));
}

#[test]
fn a_nak_that_is_dropped_behind_another_is_as_good_as_lost() {
    let pins = |dropped: bool| {
        move |cycle, inputs: &mut Inputs| {
            inputs.b_dllp_ready = Bits1::from(cycle >= 30);
            match cycle {
                6 => arrives(inputs, 0, true),
                8 => arrives(inputs, 1, false),
                10 => arrives(inputs, 1, true),
                12 if dropped => arrives(inputs, 0, false),
                32 => {
                    (inputs.a_dllp_valid, inputs.a_dllp_nak) = (one(), one());
                    inputs.a_dllp_crc_ok = one();
                }
                _ => {}
            }
        }
    };
    assert_eq!(end(35, pins(true)), (Ok(()), 1));
    let unacknowledged = "1 of 2 TLPs taken were acknowledged".to_owned();
    assert_eq!(end(35, pins(false)), (Err(unacknowledged), 0));
}

/// A sends TLP 0 every 64 cycles and gets no answer.
fn treadmill(mask: u8, delivers: bool, cycles: u64) -> Result<(), String> {
    let json = r#"{"noise": "0x0", "tlps": [{"data": 0}]}"#;
    let (_, result) = drive(json, mask, cycles, |cycle, outputs, inputs| {
        inputs.a_tlp_valid = Bits1::from(outputs.a_next_seq.get() == 0);
        if delivers && cycle == 6 {
            arrives(inputs, 0, true);
        }
    });
    result.map_err(|violation| violation.check)
}

#[test]
fn a_treadmill_is_noticed() {
    assert_eq!(treadmill(SPEC, false, 20_000), Ok(()));
    let check = |mask, delivers| treadmill(mask, delivers, 20_100);
    assert_eq!(check(SPEC, false), Err(PROGRESS.to_owned()));
    assert_eq!(check(REPAIRED, false), Err(PROGRESS.to_owned()));
    // Delivered but never acknowledged: an error only with F0.
    assert_eq!(check(SPEC, true), Ok(()));
    assert_eq!(check(REPAIRED, true), Err(PROGRESS.to_owned()));
}

#[test]
fn a_case_that_ends_early_is_noticed() {
    let finish = |json: &str, cycles: u64, mask: u8| {
        let traffic = serde_json::from_str(json).unwrap();
        let mut golden = Golden::new(&Parameters::of::<Dll>(mask));
        let mut environment = Environment::new(&traffic, &Parameters::of::<Dll>(SPEC));
        let mut scoreboard = Scoreboard::new(&traffic, &Parameters::of::<Dll>(mask));
        let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
        for _ in 0..cycles {
            environment.drive(&mut inputs);
            golden.show(&inputs, &mut outputs);
            scoreboard.observe(&inputs, &outputs).unwrap();
            golden.edge(&inputs);
            environment.clock(&inputs, &outputs);
        }
        scoreboard.finish().map_err(|violation| {
            assert_eq!(violation.check, COMPLETE);
            violation.message
        })
    };
    let one = r#"{"noise": "0x0", "tlps": [{"data": 0}]}"#;
    assert_eq!(finish(one, 1, SPEC), Err("0 of 1 TLPs offered were taken".to_owned()));
    assert_eq!(finish(one, 2, SPEC), Err("0 of 1 TLPs taken were delivered".to_owned()));
    assert_eq!(finish(one, 10, SPEC), Err("0 of 1 TLPs taken were acknowledged".to_owned()));
    assert_eq!(finish(one, 60, SPEC), Ok(()));
    // A Nak is pending, but A has the TLP that B expects, so there is no stall.
    let nak = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 2}], "tlp_link": [{}, {"damage": {}}],
        "dllp_delay": 30
    }"#;
    assert_eq!(finish(nak, 20, SPEC), Err("1 of 2 TLPs taken were delivered".to_owned()));
}

#[test]
fn an_output_that_has_not_its_value_in_reset() {
    let wrong: [fn(&mut Outputs); 3] = [
        |outputs| outputs.a_ackd_seq = Bits12::new(0),
        |outputs| outputs.a_tlp_ready = one(),
        |outputs| outputs.b_dllp_seq = Bits12::new(1),
    ];
    for wrong in wrong {
        fires(pins::RESET, ROUGH, |_, inputs, outputs| {
            if inputs.rst.get() == 1 {
                wrong(outputs);
            }
        });
    }
}

#[test]
fn payload_that_changes_without_its_valid() {
    let wrong: [fn(&mut Outputs); 5] = [
        |outputs| outputs.a_link_seq = plus(outputs.a_link_seq, 1),
        |outputs| outputs.a_link_data = Bits32::new(outputs.a_link_data.get() ^ 1),
        |outputs| outputs.b_deliver_data = Bits32::new(0xbad),
        |outputs| outputs.b_dllp_nak = Bits1::new(outputs.b_dllp_nak.get() ^ 1),
        |outputs| outputs.b_dllp_seq = plus(outputs.b_dllp_seq, 1),
    ];
    for wrong in wrong {
        let mut last = nth(0);
        // In the pause between the two entries of the list the pins are idle.
        fires(pins::KEPT, CLEAN, |cycle, _, outputs| {
            if last(cycle > 150) {
                wrong(outputs);
            }
        });
    }
}

#[test]
fn a_number_that_is_not_the_next() {
    let mut taken = nth(4);
    fires(NUMBERED, CLEAN, |_, inputs, outputs| {
        if taken(inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high()) {
            outputs.a_next_seq = plus(outputs.a_next_seq, 1);
        }
    });
}
