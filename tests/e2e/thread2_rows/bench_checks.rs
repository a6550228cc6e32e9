//! The bench itself: does it fail when it should, and say where?

use super::beats::{NEXT, PACKET};
use super::bench::{Bench, REPAIRED, SPEC};
use super::drive::{Drive, Open};
use super::expect;
use std::panic::{AssertUnwindSafe, catch_unwind};

const LANES: [Open; 2] = [Open::Zeros, Open::Ones];

/// The message with which a script fails.
#[track_caller]
fn failure(bench: &mut Bench, script: impl FnOnce(&mut Bench)) -> String {
    let unwound = catch_unwind(AssertUnwindSafe(|| script(bench)));
    let payload = unwound.expect_err("the script must fail");
    *payload.downcast::<String>().expect("assertions have a message")
}

#[test]
fn a_wrong_expectation_names_cycle_row_port_and_both_models() {
    let mut bench = Bench::new(SPEC);
    bench.takes(&PACKET).judges("T03");
    let message = failure(&mut bench, |bench| {
        bench.cycle("T07", Drive::new().wqe_req_ready(1), &expect::wqe_resp_ready(PACKET.qp, 1));
    });
    assert!(message.starts_with("mask 0x00, cycle 3, T07:"), "{message}");
    for line in [
        "RTL, open pins Zeros: wqe_req_valid: 1'h1, expected 1'h0",
        "golden, open pins Ones: wqe_req_valid: 1'h1, expected 1'h0",
        "golden, open pins Zeros: wqe_resp_ready: 1'h0, expected 1'h1",
    ] {
        assert!(message.contains(line), "{message}");
    }
}

#[test]
fn an_rtl_that_differs_is_named_alone() {
    let mut bench = Bench::of_masks(REPAIRED, SPEC, &LANES);
    bench.takes(&PACKET).judges("T03").offers_wqe_request("T08");
    let message = failure(&mut bench, |bench| {
        bench.idles();
    });
    assert!(message.contains("RTL, open pins Ones: wqe_req_valid: 1'h1"), "{message}");
    assert!(!message.contains("golden"), "{message}");
}

#[test]
fn a_golden_model_that_differs_is_named_alone() {
    let mut bench = Bench::of_masks(SPEC, REPAIRED, &LANES);
    bench.takes(&PACKET).judges("T03").offers_wqe_request("F0");
    let message = failure(&mut bench, |bench| {
        bench.idles();
    });
    assert!(message.contains("golden, open pins Ones: wqe_req_valid: 1'h1"), "{message}");
    assert!(!message.contains("RTL"), "{message}");
}

#[test]
fn another_row_than_the_expected_one_fails() {
    let mut bench = Bench::new(SPEC);
    let message = failure(&mut bench, |bench| {
        bench.cycle("T02", Drive::new().packet(&PACKET), &expect::idle());
    });
    assert!(message.contains("row T02: golden's row"), "{message}");
}

#[test]
fn another_state_than_the_rows_fails() {
    let mut bench = Bench::new(SPEC);
    let message = failure(&mut bench, |bench| {
        bench.judges("T03");
    });
    assert!(message.contains("golden's state before"), "{message}");
}

#[test]
fn a_pin_that_matters_must_not_be_left_open() {
    let mut bench = Bench::new(REPAIRED);
    bench.takes(&PACKET).judges("T03");
    let message = failure(&mut bench, |bench| {
        bench.cycle("T07", Drive::new(), &expect::wqe_request(&PACKET));
    });
    assert!(message.contains("open pins Zeros"), "{message}");
}

#[test]
#[should_panic(expected = "wider than [77:70]")]
fn a_value_too_large_for_its_field_is_a_mistake_of_the_test() {
    Drive::new().next_unit(&super::beats::NextUnit { cur_size: 256, ..NEXT });
}

#[test]
#[should_panic(expected = "no row is named T47")]
fn an_unknown_row_is_a_mistake_of_the_test() {
    Bench::new(SPEC).cycle("T47", Drive::new(), &expect::idle());
}
