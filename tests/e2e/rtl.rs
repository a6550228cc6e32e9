//! The RTL itself: lint-clean, synthesizable, no latches.

use crate::common::{json, project, text};
use serde_json::Value;
use std::process::Command;

/// Top modules and parameters of `rtl/blocks.json`.
fn designs() -> Vec<(String, Vec<String>)> {
    let blocks = json(&project().join("rtl/blocks.json"));
    let mut designs = Vec::new();
    for block in blocks.as_array().unwrap() {
        for values in block["embedded"].as_array().unwrap() {
            let parameter = |(name, value): (&String, &Value)| match block["mask"] == **name {
                true => format!("-G{name}=8'h{:02x}", value.as_u64().unwrap()),
                false => format!("-G{name}={value}"),
            };
            let parameters = values.as_object().unwrap().iter().map(parameter).collect();
            designs.push((block["top"].as_str().unwrap().to_owned(), parameters));
        }
    }
    let tops: std::collections::BTreeSet<&str> =
        designs.iter().map(|(top, _)| top.as_str()).collect();
    assert_eq!(tops.len(), blocks.as_array().unwrap().len(), "each block is there");
    designs
}

#[test]
fn the_rtl_is_lint_clean() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
    for (top, parameters) in designs() {
        let output = Command::new(&verilator)
            .args(["--lint-only", "-Wall", "-Irtl", "--top-module", &top])
            .args(&parameters)
            .arg(format!("rtl/{top}.v"))
            .current_dir(project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{top} {parameters:?}: {}", text(&output));
        assert!(!text(&output).contains("%Warning"), "{top} {parameters:?}: {}", text(&output));
    }
}

#[test]
fn the_rtl_is_synthesizable_and_has_no_latches() {
    let mut tops: Vec<String> = designs().into_iter().map(|(top, _)| top).collect();
    tops.dedup();
    for top in tops {
        let script = format!(
            "read_verilog -Irtl rtl/{top}.v; hierarchy -top {top} -libdir rtl; synth -top {top}; \
             check -assert; select -assert-none t:$_DLATCH_* t:$dlatch t:$_LATCH_*"
        );
        let output =
            Command::new("yosys").args(["-q", "-p", &script]).current_dir(project()).output();
        let output = output.expect("yosys is installed by scripts/test");
        assert!(output.status.success(), "{top}: {}", text(&output));
    }
}
