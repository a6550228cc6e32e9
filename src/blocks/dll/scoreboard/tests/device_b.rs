//! Checks of device B.

use super::*;

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
    fires(ANSWER, CLEAN, |_, _, outputs| {
        if outputs.b_dllp_valid == one() {
            outputs.b_dllp_seq = plus(outputs.b_dllp_seq, 1);
        }
    });
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

/// One TLP, whose Ack waits for the link.
const ONE: &str = r#"{"noise": "0x0", "tlps": [{"data": 1}], "dllp_stalls": [5]}"#;

#[test]
fn an_ack_that_comes_a_cycle_late_is_noticed() {
    let mut first = nth(0);
    fires(ANSWERED, ONE, move |_, _, outputs| {
        if first(outputs.b_dllp_valid == one()) {
            outputs.b_dllp_valid = low();
        }
    });
    judge(ONE, SPEC, SPEC, |_, _, _| {}).unwrap();
}

#[test]
fn an_ack_that_comes_a_cycle_early_is_noticed() {
    let mut arrived = 0;
    fires(SILENT, ONE, move |cycle, inputs, outputs| {
        if inputs.b_link_valid == one() {
            arrived = cycle;
        }
        if cycle == arrived + 16 {
            outputs.b_dllp_valid = one();
        }
    });
}

/// The Ack of the first TLP waits when the second one comes.
const ACK_WAITS: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 1}, {"gap": 20, "data": 2}], "dllp_stalls": [60]
}"#;

#[test]
fn an_ack_that_waits_and_is_not_brought_up_to_date_is_noticed() {
    fires(ANSWERED, ACK_WAITS, |_, _, outputs| outputs.b_dllp_seq = Bits12::new(0));
    judge(ACK_WAITS, SPEC, SPEC, |_, _, _| {}).unwrap();
}

#[test]
fn an_ack_that_is_brought_up_to_date_too_early_is_noticed() {
    fires(DLLP_HELD, ACK_WAITS, |_, _, outputs| {
        if outputs.b_next_rcv_seq.get() == 2 {
            outputs.b_dllp_seq = Bits12::new(1);
        }
    });
}

#[test]
fn a_dllp_that_is_withdrawn_is_noticed() {
    let mut third = nth(2);
    fires(DLLP_HELD, ONE, move |_, _, outputs| {
        if third(outputs.b_dllp_valid == one()) {
            outputs.b_dllp_valid = low();
        }
    });
}

/// TLP 1 is damaged, TLPs 2 and 3 are ahead; the Nak waits longer than a timeout.
const NAK_WAITS: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"damage": {}}],
    "dllp_stalls": [150]
}"#;

#[test]
fn a_nak_that_waits_excuses_the_ack() {
    let counters = judge(NAK_WAITS, SPEC, SPEC, |_, _, _| {}).unwrap();
    assert_eq!(counter(&counters, "Naks"), 1);
    // The Nak arrives 154 cycles after TLP 0 was sent, the timer expires after 64 and 128 (A9).
    assert_eq!(counter(&counters, "timeouts"), 2);
}

#[test]
fn an_ack_that_takes_the_place_of_a_nak_is_noticed() {
    fires(DLLP_HELD, NAK_WAITS, |_, _, outputs| {
        if outputs.b_next_rcv_seq.get() == 4 {
            outputs.b_dllp_nak = low();
        }
    });
}

#[test]
fn a_damaged_tlp_without_a_nak_is_noticed() {
    fires(REFUSED, NAK_WAITS, |_, _, outputs| outputs.b_dllp_valid = low());
    fires(REFUSED, NAK_WAITS, |_, _, outputs| outputs.b_dllp_nak = low());
}

/// TLP 1 is lost, TLPs 2 and 3 are ahead.
const LOST: &str = r#"{
    "noise": "0x0", "tlps": [{"data": 0, "count": 4}], "tlp_link": [{}, {"lost": 1}]
}"#;

#[test]
fn a_lost_tlp_without_a_nak_is_noticed() {
    fires(REFUSED, LOST, |_, _, outputs| outputs.b_dllp_valid = low());
}

#[test]
fn a_second_nak_is_noticed() {
    let mut naks = 0;
    fires(SILENT, LOST, move |_, _, outputs| {
        naks += u32::from(outputs.b_dllp_valid == one());
        if naks == 1 {
            outputs.b_dllp_valid = one();
        }
    });
}

#[test]
fn a_nak_without_a_cause_is_noticed() {
    fires(SILENT, CLEAN, |_, _, outputs| {
        if outputs.b_next_rcv_seq.get() == 1 {
            (outputs.b_dllp_valid, outputs.b_dllp_nak) = (one(), one());
            outputs.b_dllp_seq = Bits12::new(0);
        }
    });
}

#[test]
fn nak_scheduled_without_a_cause_is_noticed() {
    fires(NAK_STATE, CLEAN, |_, _, outputs| {
        // A good TLP sets it.
        if outputs.b_next_rcv_seq.get() == 1 {
            outputs.b_nak_scheduled = one();
        }
    });
    let mut duplicate = false;
    let lost_acks = r#"{"noise": "0x0", "tlps": [{"data": 0}], "ack_link": [{"lost": 1}]}"#;
    fires(NAK_STATE, lost_acks, move |_, inputs, outputs| {
        if duplicate {
            outputs.b_nak_scheduled = one();
        }
        duplicate |= inputs.b_link_valid == one() && outputs.b_next_rcv_seq.get() == 1;
    });
}

#[test]
fn nak_scheduled_that_is_not_set_or_not_cleared_is_noticed() {
    for json in [LOST, NAK_WAITS] {
        fires(NAK_STATE, json, |_, _, outputs| outputs.b_nak_scheduled = low());
        fires(NAK_STATE, json, |_, _, outputs| {
            if outputs.b_next_rcv_seq.get() >= 2 {
                outputs.b_nak_scheduled = one();
            }
        });
    }
}
