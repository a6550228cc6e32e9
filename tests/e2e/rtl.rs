//! The RTL itself: lint-clean, synthesizable, no latches.

use crate::common::{build_output, project, text};
use cosim::blocks::dll::Dll;
use cosim::blocks::qp::Qp;
use cosim::blocks::recv::Recv;
use cosim::blocks::rx::Rx;
use cosim::blocks::thread2::Thread2;
use cosim_core::harness::{Block, LinkedRtl};
use std::fs;
use std::process::Command;

/// Top modules, and the parameters of each model that is linked in.
fn designs() -> Vec<(&'static str, Vec<String>)> {
    fn of<I, O>(rtl: &LinkedRtl<I, O>) -> Vec<(&'static str, Vec<String>)> {
        let parameter = |(name, value): &(&str, u64)| match rtl.mask_parameter {
            Some(mask) if mask == *name => format!("-G{name}=8'h{value:02x}"),
            _ => format!("-G{name}={value}"),
        };
        let values = |values: &&[_]| values.iter().map(parameter).collect();
        rtl.embedded.iter().map(|model| (rtl.top, values(model))).collect()
    }
    let designs = [of(&Thread2::RTL), of(&Dll::RTL), of(&Qp::RTL), of(&Recv::RTL), of(&Rx::RTL)];
    assert_eq!(designs.len(), cosim::PROGRAM.blocks.len(), "each block is there");
    designs.concat()
}

#[test]
fn the_rtl_is_lint_clean() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
    for (top, parameters) in designs() {
        let output = Command::new(&verilator)
            .args(["--lint-only", "-Wall", "-Irtl", "--top-module", top])
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
    let mut tops: Vec<&str> = designs().into_iter().map(|(top, _)| top).collect();
    tops.dedup();
    for top in tops {
        let script = format!(
            "read_verilog -Irtl rtl/{top}.v; hierarchy -top {top} -libdir rtl; synth -top {top} -noabc; \
             check -assert; select -assert-none t:$_DLATCH_* t:$dlatch t:$_LATCH_*"
        );
        let output =
            Command::new("yosys").args(["-q", "-p", &script]).current_dir(project()).output();
        let output = output.expect("yosys is installed by scripts/test");
        assert!(output.status.success(), "{top}: {}", text(&output));
    }
}

/// Does the build name the models in one order, whichever is compiled first? If it does not, rustc compiles the whole crate
/// again after each edit.
#[test]
fn the_build_names_models_in_one_order() {
    let output = fs::read_to_string(build_output()).unwrap();
    let models =
        output.lines().filter_map(|line| line.strip_prefix("cargo:rustc-link-lib=static="));
    let of_dll: Vec<&str> = models.filter(|model| model.starts_with("Vdll")).collect();
    // The order of build.rs; parameters in the order of their names.
    assert_eq!(
        of_dll,
        ["Vdll_16_0_16_64", "Vdll_16_255_16_64", "Vdll_2_254_2_12", "Vdll_120_1_128_500"]
    );
}
