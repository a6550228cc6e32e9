//! Assertions of `NAME_sva.sv`: proved by `cosim prove`, checked by `cosim run --assertions`.

use crate::common::Place;

#[test]
fn an_assertion_that_fails_in_simulation_is_a_failure_that_replays() {
    let place = Place::with_bug("thread2/18-parsed-not-cleared");
    place.prints(
        1,
        &["check-assertion-passed_units", "in state ", "thread2_sva.sv:", "0 crashes"],
        "run --fixes spec --cases 2 --out out --rtl rtl --assertions --max-failures 1 --no-shrink",
    );
    let vectors = place.vectors("out");
    let vector = vectors.iter().find(|path| !path.contains(".explained.")).unwrap();
    let recorded = &place.json(vector)["recorded"];
    assert_eq!(recorded["check"], "assertion-passed_units", "{recorded}");
    assert!(recorded["cycle"].as_u64().is_some(), "{recorded}");
    place.exits(0, &format!("replay --recorded-rtl --expect-recorded {vector}"));
    place.exits(1, &format!("replay --recorded-rtl {vector}"));
    place.exits(0, &format!("replay --rtl built-in --assertions {vector}"));
}

#[test]
fn the_built_in_rtl_keeps_its_assertions() {
    Place::new().exits(0, "run --assertions --out out --block all --fixes spec --cases 2");
}

/// The RTL has another name for a signal of an assertion.
#[test]
fn a_missing_signal_is_an_error_with_its_line() {
    let place = Place::with_rtl();
    let rtl = place.text("rtl/recv/RecvSideFsm.sv");
    let rtl = rtl.replace("copying", "copying_all").replace("copying_all_d", "copying_d");
    place.write("rtl/recv/RecvSideFsm.sv", &rtl);
    let assertions = place.text("rtl/recv/recv_sva.sv");
    let line = 1 + assertions.lines().position(|line| line.contains(" copying")).unwrap();
    let line = format!("recv_sva.sv:{line}:");
    place.fails("E0503", &line, "prove --block recv --fixes spec --rtl rtl --out out");
}
