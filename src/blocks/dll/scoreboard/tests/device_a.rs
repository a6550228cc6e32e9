//! Checks of device A.

use super::*;

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
fn a_buffer_that_takes_nothing_although_it_has_room_is_noticed() {
    fires(ROOM, CLEAN, |cycle, _, outputs| {
        if cycle == 3 {
            outputs.a_tlp_ready = low();
        }
    });
    // No TLP is accepted at the first edge after a reset.
    fires(ROOM, CLEAN, |_, _, outputs| outputs.a_tlp_ready = one());
}

#[test]
fn a_wrong_payload_on_the_link_is_noticed() {
    // Only in a replay: the buffer lost its contents.
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
    // The Nak is visible, its effect is missing: the next offer is the next new TLP.
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
    // TLP 0 again after TLP 2, without a counted rewind.
    let mut third = nth(2);
    fires(ORDER, CLEAN, move |_, _, outputs| {
        if third(outputs.a_link_valid == one()) {
            outputs.a_link_seq = Bits12::new(0);
            outputs.a_link_data = Bits32::new(100);
        }
    });
}

/// TLP 0 does not arrive before its third replay.
const DARK: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0}], "tlp_link": [{"lost": 1, "count": 5}]
}"#;

#[test]
fn a_wrong_replay_num_is_noticed() {
    fires(REPLAYS, CLEAN, |_, _, outputs| outputs.a_replay_num = Bits2::new(2));
    fires(REPLAYS, DARK, |_, _, outputs| {
        if outputs.a_replay_num.get() == 1 {
            outputs.a_replay_num = Bits2::new(3);
        }
    });
    // A Nak does not count.
    let nak = r#"{
        "noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"damage": {}}]
    }"#;
    fires(REPLAYS, nak, |_, _, outputs| outputs.a_replay_num = Bits2::new(0));
    // Progress does not clear it.
    let mut replayed = false;
    fires(REPLAYS, DARK, move |_, _, outputs| {
        replayed |= outputs.a_replay_num.get() == 1;
        if replayed && outputs.a_ackd_seq.get() == 0 {
            outputs.a_replay_num = Bits2::new(1);
        }
    });
}

#[test]
fn retraining_without_a_cause_and_a_cause_without_retraining_are_noticed() {
    fires(REPLAYS, CLEAN, |cycle, _, outputs| {
        if cycle == 20 {
            outputs.a_retrain = one();
        }
    });
    let counters = judge(DARK, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!((counter(&counters, "timeouts"), counter(&counters, "retrains")), (5, 1));
    fires(REPLAYS, DARK, |_, _, outputs| outputs.a_retrain = low());
}

#[test]
fn a_timeout_that_does_not_come_is_noticed() {
    fires(TIMEOUT, DARK, |_, _, outputs| outputs.a_replay_num = Bits2::new(0));
}

#[test]
fn a_timeout_a_cycle_late_or_early_is_noticed() {
    // The timeout is seen 65 cycles after the TLP was handed over; it is shown elsewhere.
    let shown_after = |cycles: u64| {
        let mut handed_over = None;
        move |cycle: u64, _: &mut Inputs, outputs: &mut Outputs| {
            if outputs.a_link_valid == one() && handed_over.is_none() {
                handed_over = Some(cycle);
            }
            let shown = handed_over.is_some_and(|handed_over| cycle >= handed_over + cycles);
            if outputs.a_replay_num.get() <= 1 {
                outputs.a_replay_num = Bits2::new(u64::from(shown));
            }
        }
    };
    for cycles in [5, 64, 66] {
        fires(TIMEOUT, DARK, shown_after(cycles));
    }
    let short = r#"{"noise": "0x0", "tlps": [{"data": 0}], "dllp_delay": 60}"#;
    judge(short, SPEC, SPEC, |_, _, _| {}).unwrap();
    let mut shown = shown_after(65);
    judge(short, SPEC, SPEC, move |cycle, inputs, outputs| {
        if outputs.a_ackd_seq.get() == 4095 {
            shown(cycle, inputs, outputs);
        }
    })
    .unwrap();
}

#[test]
fn a_timer_that_a_nak_does_not_restart_is_noticed() {
    // A Nak is shown in cycle 20, the model has not got it and times out in cycle 67.
    fires(TIMEOUT, DARK, |cycle, inputs, outputs| {
        if cycle == 20 {
            (inputs.a_dllp_valid, inputs.a_dllp_nak) = (one(), one());
            (inputs.a_dllp_crc_ok, inputs.a_dllp_seq) = (one(), Bits12::new(4095));
        }
        if cycle > 20 {
            outputs.a_replay_num = Bits2::new(outputs.a_replay_num.get() + 1);
        }
    });
}

#[test]
fn a_replay_that_is_counted_and_not_sent_is_noticed() {
    let mut sent = false;
    fires(RESENT, DARK, move |_, _, outputs| {
        let again = sent;
        sent |= outputs.a_link_valid == one();
        if again {
            outputs.a_link_valid = low();
        }
    });
}

#[test]
fn a_dllp_out_of_range_that_is_no_error_is_noticed() {
    let json = r#"{
        "noise": "0x0", "tlps": [{"data": 1, "count": 90}], "ack_link": [{"again": 60}]
    }"#;
    let counters = judge(json, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "DLLPs out of range"), 1);
    fires(STRAY, json, |_, _, outputs| outputs.a_dl_error = low());
}

#[test]
fn an_error_without_a_stray_dllp_is_noticed() {
    let mut acked = false;
    fires(STRAY, CLEAN, move |_, inputs, outputs| {
        outputs.a_dl_error = Bits1::from(acked);
        acked = inputs.a_dllp_valid == one();
    });
}
