//! `examples/regblock`: a register block that PeakRDL-regblock generates.

use crate::common::{json, text};
use crate::outside::Outside;
use std::process::Command;

/// A copy of the example with its RTL, which is built.
fn built() -> Outside {
    let outside = Outside::copy_of("regblock");
    let fetched = Command::new(outside.path().join("fetch")).output().unwrap();
    assert!(fetched.status.success(), "{}", text(&fetched));
    outside.cargo(&["clean", "--package", "regblock"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    outside
}

/// All checks of the crate hold, and all planted bugs are found. The results name the exact port.
#[test]
#[ignore = "slow: fetches packages of PyPI and compiles a register block for each planted bug"]
fn a_register_block_is_compared_in_every_cycle() {
    let outside = built();
    let printed = outside.prints(0, &["run", "--cases", "60", "--out", "good"]);
    assert!(printed.contains("hwif_out in every cycle, except for don't-care bits"), "{printed}");
    let results = json(&outside.path().join("good/results.json"));
    assert_eq!(results["run"]["comparison"]["dont_care"], serde_json::json!(["hwif_out"]));
    assert_eq!(results["passed"], true);
    let tested = outside.cargo(&["test"]);
    assert!(tested.status.success(), "{}", text(&tested));
}

/// Without the RTL, the build says how to get it.
#[test]
#[ignore = "slow: compiles the build script of the example"]
fn missing_rtl_is_reported() {
    let outside = Outside::copy_of("regblock");
    let _ = std::fs::remove_file(outside.path().join("rtl/regblock.sv"));
    let built = outside.cargo(&["build"]);
    assert!(!built.status.success() && text(&built).contains("run ./fetch"), "{}", text(&built));
}
