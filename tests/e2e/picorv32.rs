//! Examples with RTL of PyPI: a core that is compared with an instruction-set model, and a register
//! block that PeakRDL-regblock generates.

use crate::common::{assert_code, text};
use crate::outside::Outside;
use std::process::Command;

/// A copy of an example with RTL of PyPI, which is built.
#[track_caller]
fn fetched(name: &str) -> Outside {
    let outside = Outside::copy_of(name);
    assert_code(&Command::new(outside.path("fetch")).output().unwrap(), 0);
    outside.cargo(&["clean", "--package", name]);
    outside.builds();
    outside
}

/// All checks of the crate hold, all planted bugs are found, and the deviation that its README
/// names is reproduced.
#[test]
#[ignore = "slow: fetches a package of PyPI and compiles a core for each planted bug"]
fn a_core_is_compared_with_an_instruction_set_model() {
    let outside = fetched("picorv32");
    outside.prints(0, &["compared: every output as transactions"], "run --cases 40 --out good");
    assert_eq!(outside.results("good")["passed"], true);
    outside.exits(0, "replay --expect-recorded found");
    outside.prints(1, &["sw x5, 64(x0)"], "explain found/fence-writes-rd.json");
    assert_code(&outside.cargo(&["test"]), 0);
}

/// All checks of the crate hold, and all planted bugs are found. The results name the exact port.
#[test]
#[ignore = "slow: fetches packages of PyPI and compiles a register block for each planted bug"]
fn a_register_block_is_compared_in_every_cycle() {
    let outside = fetched("regblock");
    let compared = "hwif_out in every cycle, except for don't-care bits";
    outside.prints(0, &[compared], "run --cases 60 --out good");
    let results = outside.results("good");
    assert_eq!(results["run"]["comparison"]["dont_care"], serde_json::json!(["hwif_out"]));
    assert_eq!(results["passed"], true);
    assert_code(&outside.cargo(&["test"]), 0);
}

/// Without the RTL, the builds of both examples say how to get it.
#[test]
#[ignore = "slow: compiles the build scripts of two examples"]
fn missing_rtl_is_reported() {
    for (name, file) in [("picorv32", "rtl/picorv32.v"), ("regblock", "rtl/regblock.sv")] {
        let outside = Outside::copy_of(name);
        let _ = std::fs::remove_file(outside.path(file));
        let built = outside.cargo(&["build"]);
        let printed = text(&built);
        assert!(!built.status.success() && printed.contains("run ./fetch"), "{printed}");
    }
}
