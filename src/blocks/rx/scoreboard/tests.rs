//! The end-to-end checks on changed pins of the golden model. Faults of pins show that all other
//! checks fire.

use super::*;
use crate::blocks::rx::rtl::Bits1;
use cosim_core::checks::shown;
use cosim_core::verilated::Bits;
use serde_json::Value;

/// A SEND of three packets and a message of five, over a link that loses a TLP.
fn traffic() -> Traffic {
    let vector = include_str!("../../../../vectors/rx/link-tlp-lost.json");
    let vector: Value = serde_json::from_str(vector).unwrap();
    serde_json::from_value(vector["stimulus"]["traffic"].clone()).unwrap()
}

fn counts(tamper: impl FnMut(u64, &mut Inputs, &mut Outputs)) -> Result<Vec<u64>, Violation> {
    shown::<Rx>(&traffic(), &Parameters::of::<Rx>(0xff), tamper)
}

/// The check that fires after outputs are changed.
fn fires(mut tamper: impl FnMut(&mut Outputs)) -> String {
    counts(|_, _, outputs| tamper(outputs)).expect_err("no check fires").check
}

#[test]
fn what_was_sent_is_counted_once_although_it_was_lost_once() {
    let counters = <Scoreboard<'_> as harness::Scoreboard<'_, Rx>>::counters();
    let counts = counts(|_, _, _| {}).unwrap();
    let of = |name: &str| counts[counters.iter().position(|counter| counter.name == name).unwrap()];
    assert_eq!(of("requests taken"), 3);
    assert_eq!(of("message packets taken"), 5);
    assert_eq!(of("SEND bytes placed"), 24 + 8 + 16);
    assert_eq!(of("message bytes copied"), 101 + 4 * 202);
}

#[test]
fn bytes_that_are_put_elsewhere_are_noticed() {
    let check = fires(|outputs| {
        let mut words = *outputs.t2_fetch_mr_ingress_head.words();
        // The low word of the address in a request.
        words[4] ^= u32::from(outputs.t2_fetch_mr_ingress_valid.is_high());
        outputs.t2_fetch_mr_ingress_head = Bits::from_words(words);
    });
    assert_eq!(check, bytes::MESSAGE);
}

#[test]
fn bytes_that_are_not_put_anywhere_are_noticed() {
    let mut requests = 0;
    let check = fires(|outputs| {
        requests += u32::from(outputs.t2_fetch_mr_ingress_valid.is_high());
        // The second piece of the first packet lacks a byte.
        let mut words = *outputs.t2_fetch_mr_ingress_head.words();
        words[6] -= u32::from(requests == 2);
        outputs.t2_fetch_mr_ingress_head = Bits::from_words(words);
    });
    assert_eq!(check, bytes::MESSAGE);
}

#[test]
fn packets_of_a_message_that_are_copied_in_part_or_twice_are_noticed() {
    let shorter = fires(|outputs| {
        let less = outputs.rv_copy_len.get().saturating_sub(1);
        outputs.rv_copy_len = Bits::<16, u16>::new(less);
    });
    assert_eq!(shorter, bytes::RECEIVE);
    let mut copied = None;
    let twice = fires(|outputs| {
        if let Some((id, len)) = copied.take_if(|_| !outputs.rv_copy_valid.is_high()) {
            outputs.rv_copy_valid = Bits1::new(1);
            (outputs.rv_copy_id, outputs.rv_copy_len) = (id, len);
        } else if outputs.rv_copy_valid.is_high() {
            copied = Some((outputs.rv_copy_id, outputs.rv_copy_len));
        }
    });
    assert_eq!(twice, bytes::RECEIVE);
}

#[test]
fn what_comes_out_of_b_damaged_or_not_at_all_is_noticed() {
    let damaged = fires(|outputs| {
        if outputs.x_b_deliver_valid.is_high() {
            outputs.x_b_deliver_data = Bits32::new(outputs.x_b_deliver_data.get() ^ 0x0100_0000);
        }
    });
    assert_eq!(damaged, DELIVERED);
    // dll's own scoreboard is first to detect that nothing comes.
    let lost = fires(|outputs| outputs.x_b_deliver_valid = Bits1::new(0));
    assert_eq!(lost, "wanted-is-delivered");
}

#[test]
fn a_packet_with_another_fate_is_noticed() {
    let check = fires(|outputs| {
        if outputs.req_valid.is_high() {
            outputs.req_fate = Bits::<2, u8>::new(DROPPED);
        }
    });
    assert_eq!(check, DEAD);
}
