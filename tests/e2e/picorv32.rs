//! `examples/picorv32`: a core of a PyPI package, compared with an instruction-set model.

use crate::common::{json, text};
use crate::outside::Outside;
use std::process::Command;

/// All checks of the crate hold, all planted bugs are found, and the deviation that its README
/// names is reproduced.
#[test]
#[ignore = "slow: fetches a package of PyPI and compiles a core for each planted bug"]
fn a_core_is_compared_with_an_instruction_set_model() {
    let outside = Outside::copy_of("picorv32");
    let fetched = Command::new(outside.path().join("fetch")).output().unwrap();
    assert!(fetched.status.success(), "{}", text(&fetched));
    outside.cargo(&["clean", "--package", "picorv32"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    let printed = outside.prints(0, &["run", "--cases", "40", "--out", "good"]);
    assert!(printed.contains("compared: every output as transactions"), "{printed}");
    let results = json(&outside.path().join("good/results.json"));
    assert_eq!(results["passed"], true);
    outside.prints(0, &["replay", "--expect-recorded", "found"]);
    let explained = outside.prints(1, &["explain", "found/fence-writes-rd.json"]);
    assert!(explained.contains("sw x5, 64(x0)"), "{explained}");
    let tested = outside.cargo(&["test"]);
    assert!(tested.status.success(), "{}", text(&tested));
}

/// Without the RTL, the build says how to get it.
#[test]
#[ignore = "slow: compiles the build script of the example"]
fn a_missing_core_is_reported() {
    let outside = Outside::copy_of("picorv32");
    let _ = std::fs::remove_file(outside.path().join("rtl/picorv32.v"));
    let built = outside.cargo(&["build"]);
    assert!(!built.status.success() && text(&built).contains("run ./fetch"), "{}", text(&built));
}
