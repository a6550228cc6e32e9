//! `examples/regblock`: a register block that PeakRDL-regblock generates.

use crate::common::assert_code;
use crate::picorv32::fetched;

/// All checks of the crate hold, and all planted bugs are found. The results name the exact port.
#[test]
#[ignore = "slow: fetches packages of PyPI and compiles a register block for each planted bug"]
fn a_register_block_is_compared_in_every_cycle() {
    let outside = fetched("regblock");
    let printed = outside.exits(0, "run --cases 60 --out good");
    assert!(printed.contains("hwif_out in every cycle, except for don't-care bits"), "{printed}");
    let results = outside.json("good/results.json");
    assert_eq!(results["run"]["comparison"]["dont_care"], serde_json::json!(["hwif_out"]));
    assert_eq!(results["passed"], true);
    assert_code(&outside.cargo(&["test"]), 0);
}
