//! The RTL itself: lint-clean, synthesizable, no latches.

use crate::common::{assert_code, build_output, project, text};
use cosim::blocks::{dll::Dll, qp::Qp, recv::Recv, rx::Rx, thread2::Thread2};
use cosim_core::harness::{Block, LinkedRtl};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A linked model.
#[derive(Debug, Clone)]
struct Design {
    top: &'static str,
    /// Files with packages and modules, packages first.
    files: Vec<PathBuf>,
    /// The parameters, as arguments for Verilator.
    parameters: Vec<String>,
}

fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(project().join("rtl")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The linked models.
fn designs() -> Vec<Design> {
    fn designs_of<I, O>(linked: &LinkedRtl<I, O>) -> Vec<Design> {
        let rtl = &linked.rtl;
        let parameter = |(name, value): &(&str, u64)| match rtl.mask_parameter {
            Some(mask) if mask == *name => format!("-G{name}=8'h{value:02x}"),
            _ => format!("-G{name}={value}"),
        };
        let path = |name: &str| {
            let mut paths = folders().into_iter().map(|folder| folder.join(name));
            paths.find(|path| path.is_file()).unwrap_or_else(|| panic!("{name} is not in rtl/"))
        };
        let names = rtl.sources.iter().map(|(name, _)| *name);
        let mut names: Vec<&str> = names.filter(|name| !name.ends_with(".vh")).collect();
        names.sort_by_key(|name| !name.ends_with("_pkg.sv"));
        let files: Vec<PathBuf> = names.into_iter().map(path).collect();
        let design = |values: &&[_]| Design {
            top: rtl.top,
            files: files.clone(),
            parameters: values.iter().map(parameter).collect(),
        };
        rtl.embedded.iter().map(design).collect()
    }
    let designs = [
        designs_of(&Thread2::RTL),
        designs_of(&Dll::RTL),
        designs_of(&Qp::RTL),
        designs_of(&Recv::RTL),
        designs_of(&Rx::RTL),
    ];
    assert_eq!(designs.len(), cosim::PROGRAM.blocks.len(), "each block is there");
    designs.concat()
}

/// The include options for headers.
fn include() -> Vec<String> {
    folders().iter().map(|folder| format!("-I{}", folder.display())).collect()
}

#[test]
fn the_rtl_is_lint_clean() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
    for design in designs() {
        let mut lint = Command::new(&verilator);
        lint.args(["--lint-only", "-Wall", "--top-module", design.top]).args(include());
        let output = lint.args(&design.parameters).args(&design.files).output().unwrap();
        assert_code(&output, 0);
        assert!(!text(&output).contains("%Warning"), "{design:?}: {}", text(&output));
    }
}

#[test]
fn the_rtl_is_synthesizable_and_has_no_latches() {
    let mut designs = designs();
    designs.dedup_by_key(|design| design.top);
    for Design { top, files, .. } in designs {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let script = format!(
            "read_verilog -sv {} {}; hierarchy -check -top {top}; synth -top {top} -noabc; \
             check -assert; select -assert-none t:$_DLATCH_* t:$dlatch t:$_LATCH_*",
            include().join(" "),
            files.join(" "),
        );
        let output = Command::new("yosys").args(["-q", "-p", &script]).output();
        assert_code(&output.expect("yosys is installed by scripts/test"), 0);
    }
}

/// The build lists the models in a fixed order, independent of compile times. Otherwise, rustc
/// recompiles the whole crate after each edit.
#[test]
fn the_build_names_models_in_one_order() {
    let output = fs::read_to_string(build_output()).unwrap();
    let of_dll = output.lines().filter_map(|line| line.split_once("-link-lib=static=Vdll_"));
    let of_dll: Vec<&str> = of_dll.map(|(_, parameters)| parameters).collect();
    // The order of build.rs, with parameters in the order of their names.
    assert_eq!(of_dll, ["16_0_16_64", "16_255_16_64", "2_254_2_12", "120_1_128_500"]);
}
