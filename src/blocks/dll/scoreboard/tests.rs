//! Every check fires on a model that is wrong in the way it looks for, and on none that is right.

use super::*;
use crate::blocks::dll::rtl::{Bits2, Bits12, Bits32};
use crate::blocks::dll::{Environment, Golden};
use crate::harness::{Environment as _, Golden as _, Scoreboard as _};

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

/// Runs the golden model; the scoreboard is shown pins that `tamper` has changed.
fn judge(
    json: &str,
    mask: u8,
    judged_as: u8,
    mut tamper: impl FnMut(u64, &mut Inputs, &mut Outputs),
) -> Result<Vec<u64>, Violation> {
    let traffic = serde_json::from_str(json).unwrap();
    let mut golden = Golden::new(mask);
    let mut environment = Environment::new(&traffic);
    let mut scoreboard = Scoreboard::new(&traffic, judged_as);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    for cycle in 0.. {
        if environment.finished() {
            break;
        }
        environment.drive(&mut inputs);
        golden.outputs(&inputs, &mut outputs);
        let (mut shown_in, mut shown_out) = (inputs, outputs);
        tamper(cycle, &mut shown_in, &mut shown_out);
        scoreboard.observe(&shown_in, &shown_out)?;
        golden.clock(&inputs);
        environment.clock(&inputs, &outputs);
    }
    scoreboard.finish()?;
    Ok(scoreboard.counters())
}

#[track_caller]
fn fires(check: &str, json: &str, tamper: impl FnMut(u64, &mut Inputs, &mut Outputs)) {
    match judge(json, SPEC, SPEC, tamper) {
        Err(violation) => assert_eq!(violation.check, check, "{}", violation.message),
        Ok(_) => panic!("{check} does not fire"),
    }
}

fn counter(counters: &[u64], name: &str) -> u64 {
    counters[COUNTERS.iter().position(|counter| *counter == name).expect(name)]
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

/// Whether this is the `n`th time, from 0, that something holds.
fn nth(n: u32) -> impl FnMut(bool) -> bool {
    let mut seen = 0;
    move |holds| {
        seen += u32::from(holds);
        holds && seen == n + 1
    }
}

#[test]
fn a_right_model_is_not_objected_to() {
    for mask in [SPEC, REPAIRED] {
        let clean = judge(CLEAN, mask, mask, |_, _, _| {}).unwrap();
        assert_eq!(counter(&clean, "TLPs sent"), 41);
        assert_eq!(counter(&clean, "TLPs sent again"), 0);
        assert_eq!(counter(&clean, "Naks"), 0);
        let rough = judge(ROUGH, mask, mask, |_, _, _| {}).unwrap();
        assert!(counter(&rough, "TLPs sent again") > 50);
        assert!(counter(&rough, "timeouts") > 0);
        assert_eq!(counter(&rough, "TLPs arrived damaged"), 4);
        assert_eq!(counter(&rough, "DLLPs arrived damaged"), 2);
        assert!(counter(&rough, "TLPs lost to resets") > 0);
    }
}

#[test]
fn a_second_copy_of_an_old_ack_is_counted() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 1, "count": 90}], "ack_link": [{"again": 60}]
    }"#;
    let counters = judge(json, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "DLLPs out of range"), 1);
}

#[test]
fn the_stall_of_s3_is_counted_in_spec_and_an_offence_in_repaired() {
    let counters = judge(STALL, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "cases stalled by S3 5.8"), 1);
    let counters = judge(STALL, REPAIRED, REPAIRED, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "cases stalled by S3 5.8"), 0);
    // S3's silence, judged as if F0 were on.
    let violation = judge(STALL, SPEC, REPAIRED, |_, _, _| {}).unwrap_err();
    assert_eq!(violation.check, ANSWERED, "{}", violation.message);
}

#[test]
fn a_changed_payload_is_noticed_at_b() {
    // B gets and delivers another payload than A took: only the whole way shows it.
    let mut wrong = 0;
    fires(DELIVERY, CLEAN, move |_, inputs, outputs| {
        if inputs.b_link_valid == one() && inputs.b_link_seq.get() == 3 {
            inputs.b_link_data = Bits32::new(0xbad);
            wrong = 1;
        } else if wrong == 1 {
            outputs.b_deliver_data = Bits32::new(0xbad);
            wrong = 2;
        }
    });
}

#[test]
fn a_wrong_count_of_deliveries_is_noticed() {
    fires(DELIVERY, CLEAN, |cycle, _, outputs| {
        if cycle == 30 {
            outputs.b_next_rcv_seq = plus(outputs.b_next_rcv_seq, 1);
        }
    });
}

#[test]
fn a_delivery_that_nobody_sent_is_noticed() {
    fires(DELIVERY, r#"{"noise": "0x0", "tlps": []}"#, |cycle, inputs, outputs| match cycle {
        2 => {
            inputs.b_link_valid = one();
            inputs.b_link_crc_ok = one();
        }
        3 => outputs.b_deliver_valid = one(),
        _ => {}
    });
}

#[test]
fn a_wanted_tlp_that_is_not_delivered_is_noticed() {
    fires(WANTED, CLEAN, |_, _, outputs| outputs.b_deliver_valid = low());
}

#[test]
fn a_duplicate_that_is_delivered_is_noticed() {
    let mut duplicate = false;
    fires(WANTED, ROUGH, move |_, inputs, outputs| {
        if std::mem::replace(&mut duplicate, false) {
            outputs.b_deliver_valid = one();
        }
        let behind = inputs.b_link_seq.get() < outputs.b_next_rcv_seq.get();
        duplicate = inputs.b_link_valid == one() && inputs.b_link_crc_ok == one() && behind;
    });
}

#[test]
fn a_damaged_tlp_that_is_delivered_is_noticed() {
    fires(WANTED, ROUGH, |_, inputs, _| inputs.b_link_crc_ok = low());
}

#[test]
fn an_ack_of_what_was_not_received_is_noticed() {
    fires(ANSWER, CLEAN, |_, _, outputs| outputs.b_dllp_seq = plus(outputs.b_dllp_seq, 1));
}

#[test]
fn an_ack_that_goes_back_is_noticed() {
    let mut second = nth(1);
    fires(ANSWER, CLEAN, move |_, _, outputs| {
        if second(outputs.b_dllp_valid == one()) {
            outputs.b_dllp_seq = Bits12::new(4095);
        }
    });
}

#[test]
fn an_answer_that_does_not_come_is_noticed() {
    fires(ANSWERED, CLEAN, |_, _, outputs| outputs.b_dllp_valid = low());
}

#[test]
fn an_answer_is_due_17_cycles_after_the_tlp() {
    // The first TLP arrives alone; its Ack is hidden for one cycle, then for none.
    let json = r#"{"noise": "0x0", "tlps": [{"data": 1}], "dllp_stalls": [5]}"#;
    let mut first = nth(0);
    fires(ANSWERED, json, move |_, _, outputs| {
        if first(outputs.b_dllp_valid == one()) {
            outputs.b_dllp_valid = low();
        }
    });
    judge(json, SPEC, SPEC, |_, _, _| {}).unwrap();
}

#[test]
fn an_ack_that_frees_too_much_or_too_little_is_noticed() {
    for more in [1, 4095] {
        fires(FREED, CLEAN, |_, _, outputs| {
            if outputs.a_ackd_seq.get() != 4095 {
                outputs.a_ackd_seq = plus(outputs.a_ackd_seq, more);
            }
        });
    }
}

#[test]
fn a_damaged_dllp_that_frees_is_noticed() {
    fires(FREED, CLEAN, |_, inputs, _| inputs.a_dllp_crc_ok = low());
}

#[test]
fn an_ack_that_frees_nothing_is_noticed() {
    fires(FREED, CLEAN, |_, _, outputs| outputs.a_ackd_seq = Bits12::new(4095));
}

#[test]
fn a_tlp_that_is_taken_without_room_is_noticed() {
    let json = r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 20}], "ack_link": [{"lost": 1}]}"#;
    fires(ROOM, json, |_, _, outputs| {
        if outputs.a_next_seq.get() == 16 {
            outputs.a_tlp_ready = one();
        }
    });
}

#[test]
fn a_wrong_payload_on_the_link_is_noticed() {
    // Only in a replay: the buffer lost what it held.
    let mut sent = 0;
    fires(PAYLOAD, ROUGH, move |_, _, outputs| {
        if outputs.a_link_valid == one() {
            if outputs.a_link_seq.get() < sent {
                outputs.a_link_data = Bits32::new(outputs.a_link_data.get() ^ 1);
            }
            sent = sent.max(outputs.a_link_seq.get());
        }
    });
}

const STALLED: &str =
    r#"{"noise": "0x0", "tlps": [{"data": 0, "count": 4}], "link_stalls": [0, 9]}"#;

#[test]
fn an_offer_that_is_withdrawn_is_noticed() {
    fires(HELD, STALLED, |cycle, _, outputs| {
        if cycle == 8 {
            outputs.a_link_valid = low();
        }
    });
}

#[test]
fn an_offer_that_changes_is_noticed() {
    fires(HELD, STALLED, |cycle, _, outputs| {
        if cycle == 8 {
            outputs.a_link_seq = Bits12::new(0);
            outputs.a_link_data = Bits32::new(0);
        }
    });
}

#[test]
fn a_tlp_that_is_left_out_is_noticed() {
    fires(ORDER, CLEAN, |_, _, outputs| {
        if outputs.a_link_seq.get() >= 2 {
            outputs.a_link_seq = plus(outputs.a_link_seq, 1);
        }
    });
}

#[test]
fn a_tlp_that_was_never_taken_is_noticed() {
    fires(ORDER, r#"{"noise": "0x0", "tlps": []}"#, |_, _, outputs| {
        outputs.a_link_valid = one();
    });
}

#[test]
fn a_replay_that_does_not_begin_with_the_oldest_is_noticed() {
    // After the timeout TLP 1 comes first.
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 3}], "tlp_link": [{"lost": 1, "count": 3}]
    }"#;
    fires(ORDER, json, |cycle, _, outputs| {
        if cycle > 50 && outputs.a_link_valid == one() && outputs.a_link_seq.get() < 2 {
            let seq = outputs.a_link_seq.get() + 1;
            outputs.a_link_seq = Bits12::new(seq);
            outputs.a_link_data = Bits32::new(seq);
        }
    });
}

#[test]
fn a_nak_that_is_not_followed_is_noticed() {
    // The Nak is shown, what it causes is not: the next offer is the next new TLP.
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 2}, {"gap": 20, "data": 2}], "dllp_delay": 40
    }"#;
    fires(ORDER, json, |cycle, inputs, outputs| {
        if cycle == 12 {
            inputs.a_dllp_valid = one();
            inputs.a_dllp_crc_ok = one();
            inputs.a_dllp_nak = one();
            inputs.a_dllp_seq = Bits12::new(4095);
        }
        if cycle > 12 && outputs.a_ackd_seq.get() == 4095 {
            outputs.a_replay_num = Bits2::new(1);
        }
    });
}

#[test]
fn a_replay_without_a_cause_is_noticed() {
    // TLP 0 again after TLP 2, and no rewind was counted.
    let mut third = nth(2);
    fires(ORDER, CLEAN, move |_, _, outputs| {
        if third(outputs.a_link_valid == one()) {
            outputs.a_link_seq = Bits12::new(0);
            outputs.a_link_data = Bits32::new(100);
        }
    });
}

#[test]
fn a_wrong_replay_num_is_noticed() {
    fires(REPLAYS, ROUGH, |_, _, outputs| outputs.a_replay_num = Bits2::new(0));
    fires(REPLAYS, CLEAN, |_, _, outputs| outputs.a_replay_num = Bits2::new(2));
}

#[test]
fn retraining_without_a_cause_and_a_cause_without_retraining_are_noticed() {
    fires(REPLAYS, CLEAN, |cycle, _, outputs| {
        if cycle == 20 {
            outputs.a_retrain = one();
        }
    });
    let dark = r#"{
        "noise": "0x0", "tlps": [{"data": 0}], "tlp_link": [{"lost": 1, "count": 5}]
    }"#;
    let counters = judge(dark, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!((counter(&counters, "timeouts"), counter(&counters, "retrains")), (5, 1));
    fires(REPLAYS, dark, |_, _, outputs| outputs.a_retrain = low());
}

#[test]
fn a_timeout_that_does_not_come_is_noticed() {
    let dark = r#"{"noise": "0x0", "tlps": [{"data": 0}], "tlp_link": [{"lost": 1}]}"#;
    let mut sent = false;
    fires(RESENT, dark, move |_, _, outputs| {
        // Replays are hidden, with what they count.
        let again = sent;
        sent |= outputs.a_link_valid == one();
        if again {
            outputs.a_link_valid = low();
        }
        outputs.a_replay_num = Bits2::new(0);
    });
}

/// Pins of a model that sends TLP 0 every 64 cycles and never gets anywhere.
fn treadmill(judged_as: u8, delivers: bool, cycles: u64) -> Result<(), Violation> {
    let traffic = serde_json::from_str(r#"{"noise": "0x0", "tlps": [{"data": 0}]}"#).unwrap();
    let mut scoreboard = Scoreboard::new(&traffic, judged_as);
    for cycle in 0..cycles {
        let mut inputs = Inputs { a_link_ready: one(), ..Inputs::default() };
        let mut outputs = Outputs {
            a_ackd_seq: Bits12::new(4095),
            a_replay_num: Bits2::new(cycle.saturating_sub(1) / 64),
            a_retrain: Bits1::new(u64::from(cycle > 1 && cycle % 256 == 1)),
            a_link_valid: Bits1::new(u64::from(cycle % 64 == 2)),
            b_next_rcv_seq: Bits12::new(u64::from(delivers && cycle > 3)),
            ..Outputs::default()
        };
        if cycle == 0 {
            (inputs.a_tlp_valid, outputs.a_tlp_ready) = (one(), one());
        }
        if delivers && cycle == 3 {
            (inputs.b_link_valid, inputs.b_link_crc_ok) = (one(), one());
        }
        outputs.b_deliver_valid = Bits1::new(u64::from(delivers && cycle == 4));
        outputs.b_dllp_valid = outputs.b_deliver_valid;
        scoreboard.observe(&inputs, &outputs)?;
    }
    Ok(())
}

#[test]
fn a_treadmill_is_noticed() {
    assert_eq!(treadmill(SPEC, false, 20_000), Ok(()));
    let check = |judged_as, delivers| treadmill(judged_as, delivers, 20_100).map_err(|v| v.check);
    assert_eq!(check(SPEC, false), Err(PROGRESS.to_owned()));
    assert_eq!(check(REPAIRED, false), Err(PROGRESS.to_owned()));
    // Delivered, never acknowledged: only F0 makes that an offence.
    assert_eq!(check(SPEC, true), Ok(()));
    assert_eq!(check(REPAIRED, true), Err(PROGRESS.to_owned()));
}

#[test]
fn a_case_that_ends_early_is_noticed() {
    let finish = |json: &str, cycles: u64, mask: u8| {
        let traffic = serde_json::from_str(json).unwrap();
        let mut golden = Golden::new(mask);
        let mut environment = Environment::new(&traffic);
        let mut scoreboard = Scoreboard::new(&traffic, mask);
        let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
        for _ in 0..cycles {
            environment.drive(&mut inputs);
            golden.outputs(&inputs, &mut outputs);
            scoreboard.observe(&inputs, &outputs).unwrap();
            golden.clock(&inputs);
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
    // A Nak is out, but A has what B wants: that is no stall.
    let nak = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 2}], "tlp_link": [{}, {"damage": {}}],
        "dllp_delay": 30
    }"#;
    assert_eq!(finish(nak, 20, SPEC), Err("1 of 2 TLPs taken were delivered".to_owned()));
}
