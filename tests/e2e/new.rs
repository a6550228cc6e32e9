//! `cosim new`: a crate for a block, from foreign RTL.

use crate::common::{
    assert_code, assert_error, assert_error_at, cargo_outside, code, json, models, program_outside,
    run_in, text,
};
use crate::export::icarus;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Registers with an asynchronous reset and widths of all storage kinds. The RTL has a header, a
/// parameter, a macro, a module in another folder, a package in the last file, a table that is read
/// at the start, and names that are Rust keywords, are invalid in C++, or collide with names in
/// waveforms.
const TOP: &str = r#"
`include "widths.svh"
module registers #(parameter int WIDTH = `WIDEST, parameter bit [3:0] UNUSED = 3) (
  input  logic             clk_i,
  input  logic             rst_n,
  input  logic             box,
  input  logic             __x,
  input  logic [6:0]       cycle,
  input  logic [63:0]      golden,
  input  logic [64:0]      longer,
  input  logic [WIDTH-1:0] longest,
  output logic             match,
  output logic             q__q,
  output logic [6:0]       state,
  output logic [63:0]      rule,
  output logic [64:0]      longer_q,
  output logic [WIDTH-1:0] longestQ
);
  logic invert [0:0];
  initial $readmemh(zz_settings::TABLE, invert);
`ifdef WITH_REGISTERS
  register #(.WIDTH(1)) one (.clk(clk_i), .rst_n, .d(box ^ invert[0]), .q(match));
  register #(.WIDTH(1)) six (.clk(clk_i), .rst_n, .d(__x), .q(q__q));
  register #(.WIDTH(7)) two (.clk(clk_i), .rst_n, .d(cycle), .q(state));
  register #(.WIDTH(64)) three (.clk(clk_i), .rst_n, .d(golden), .q(rule));
  register #(.WIDTH(65)) four (.clk(clk_i), .rst_n, .d(longer), .q(longer_q));
  register #(.WIDTH(WIDTH)) five (.clk(clk_i), .rst_n, .d(longest), .q(longestQ));
`endif
endmodule
"#;

const REGISTER: &str = r"
module register #(parameter WIDTH = 8) (
  input wire clk, input wire rst_n, input wire [WIDTH-1:0] d, output reg [WIDTH-1:0] q
);
  always @(posedge clk or negedge rst_n)
    if (!rst_n) q <= {WIDTH{1'b0}}; else q <= ~d;
endmodule
";

/// The golden model of the registers, as a user would write it.
const GOLDEN: &str = r#"//! The golden model.

use crate::{WideBlock, rtl};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

/// The registers.
#[derive(Clone)]
pub struct Golden {
    q: rtl::Outputs,
}

impl harness::Golden<WideBlock> for Golden {
    const RULES: &'static [Rule] = &[
        Rule { name: "LOAD", meaning: "every output is the inverse of its input" },
        Rule { name: "RESET", meaning: "every output is 0" },
    ];

    fn new(_parameters: &Parameters) -> Self {
        Self { q: rtl::Outputs::default() }
    }

    type Cycle = ();

    fn cycle(&self, _inputs: &rtl::Inputs) {}

    fn outputs(&self, inputs: &rtl::Inputs, _cycle: &(), outputs: &mut rtl::Outputs) {
        *outputs = if inputs.rst_n.get() == 1 { self.q } else { rtl::Outputs::default() };
    }

    fn clock(&mut self, inputs: &rtl::Inputs, _cycle: &()) -> RuleSet {
        if inputs.rst_n.get() == 0 {
            self.q = rtl::Outputs::default();
            return RuleSet::one(1);
        }
        self.q = rtl::Outputs {
            match_: rtl::Bits1::new(!inputs.box_.get()),
            q__q: rtl::Bits1::new(!inputs.__x.get()),
            state: rtl::Bits7::new(!inputs.cycle.get()),
            rule: rtl::Bits64::new(!inputs.golden.get()),
            longer_q: rtl::Bits65::from_words(inputs.longer.words().map(|word| !word)),
            longestQ: rtl::Bits600::from_words(inputs.longest.words().map(|word| !word)),
            padding: Default::default(),
        };
        RuleSet::one(0)
    }

    fn state(&self) -> &'static str {
        "running"
    }
}
"#;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with the RTL.
fn rtl() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("design/registers.sv"), TOP);
    write(&folder.path().join("design/parts/register.v"), REGISTER);
    let package = "package zz_settings; localparam TABLE = \"table.hex\"; endpackage\n";
    write(&folder.path().join("design/zz_settings.sv"), package);
    write(&folder.path().join("design/table.hex"), "0\n");
    write(&folder.path().join("headers/widths.svh"), "`define WIDEST 600\n");
    folder
}

/// Builds the crate with clippy in place of the compiler, to build and lint in one step.
fn build(folder: &Path) -> Output {
    let clippy = ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    cargo_outside(folder).arg("build").env(clippy.0, clippy.1).output().unwrap()
}

#[track_caller]
fn builds_without_warnings(folder: &Path) {
    let output = build(folder);
    let printed = text(&output);
    assert!(output.status.success() && !printed.contains("warning"), "{printed}");
}

/// Runs the new program in its folder and returns its output. It must end with `expected`.
#[track_caller]
fn prints(folder: &Path, expected: i32, arguments: &[&str]) -> String {
    let output = program_outside("wide-block")
        .args(arguments)
        .current_dir(folder)
        .env("COSIM_CACHE", models())
        .output()
        .unwrap();
    assert_eq!(code(&output), expected, "{arguments:?}: {}", text(&output));
    text(&output)
}

/// One test, because the crate is built once.
#[test]
fn a_new_crate_builds_without_warnings_and_never_passes_without_a_golden_model() {
    let place = rtl();
    let new = ["new", "wide-block", "--top", "registers", "design", "-I", "headers"];
    let output = run_in(place.path(), &[&new[..], &["-D", "WITH_REGISTERS"]].concat());
    assert_code(&output, 0);
    assert!(text(&output).contains("clock clk_i, reset rst_n, 0 in reset, 7 inputs and 6 outputs"));
    let folder = place.path().join("wide-block");
    // The crate is self-contained: remove its sources.
    fs::rename(place.path().join("design"), place.path().join("gone")).unwrap();
    fs::remove_dir_all(place.path().join("headers")).unwrap();

    // Remove builds of earlier temporary folders.
    cargo_outside(&folder).args(["clean", "--package", "wide-block"]).output().unwrap();
    builds_without_warnings(&folder);
    let formatted = cargo_outside(&folder).args(["fmt", "--check"]).output().unwrap();
    assert!(formatted.status.success(), "{}", text(&formatted));

    not_written(&folder);
    write(&folder.join("src/golden.rs"), GOLDEN);
    builds_without_warnings(&folder);
    written(&folder);
}

/// Without a golden model, nothing passes, whatever the RTL does.
fn not_written(folder: &Path) {
    let golden = fs::read_to_string(folder.join("src/golden.rs")).unwrap();
    for port in ["match_", "q__q", "state", "rule", "longer_q", "longestQ"] {
        assert!(golden.contains(&format!(" {port}: rtl::Bits")), "{port}: {golden}");
    }
    let environment = fs::read_to_string(folder.join("src/environment.rs")).unwrap();
    for port in ["box_", "__x", "cycle", "golden", "longer", "longest", "rst_n"] {
        assert!(environment.contains(&format!(" {port}: rtl::Bits")), "{port}: {environment}");
    }
    let printed = prints(folder, 1, &["run", "--cases", "3", "--out", "none"]);
    assert!(printed.starts_with("NO GOLDEN MODEL  wide_block"), "{printed}");
    assert!(printed.contains("IS_WRITTEN") && printed.contains("0 cycles compared"), "{printed}");
    let results = json(&folder.join("none/results.json"));
    assert_eq!(results["passed"], false);
    assert_eq!(results["totals"]["no_golden_model"], 6, "3 cases of 2 scenarios: {results}");
    assert_eq!(results["totals"]["matched"], 0);
    assert_eq!(results["totals"]["cycles"], 0);
    assert_eq!(results["failures"].as_array().unwrap().len(), 0, "nothing to shrink");
    // Commands that compare with the golden model fail, too.
    let printed = prints(
        folder,
        1,
        &[
            "run",
            "--cases",
            "1",
            "--scenario",
            "pins",
            "--rtl",
            "rtl",
            "-D",
            "WITH_REGISTERS",
            "--out",
            "given",
        ],
    );
    assert!(printed.starts_with("NO GOLDEN MODEL"), "{printed}");
    // Nothing can be exported, because there are no expected outputs.
    let vector = serde_json::json!({
        "format": "cosim-vector", "version": 1, "block": "wide_block", "fixes": "spec",
        "origin": { "about": "nothing" }, "stimulus": { "traffic": { "seed": "0x1", "cycles": 3 } },
        "recorded": null,
    });
    write(&folder.join("nothing.json"), &vector.to_string());
    let printed = prints(folder, 2, &["export", "nothing.json", "-o", "bench"]);
    assert!(printed.contains("wide_block has no golden model yet"), "{printed}");
    assert!(!folder.join("bench").exists(), "nothing is written");
}

/// With a golden model, the program compares from the first cycle on, with asynchronous active-low
/// resets.
fn written(folder: &Path) {
    let printed = prints(folder, 0, &["run", "--cases", "20", "--out", "good"]);
    assert!(printed.starts_with("PASS  wide_block"), "{printed}");
    assert!(!printed.contains("not hit"), "{printed}");
    let results = json(&folder.join("good/results.json"));
    assert!(results["totals"]["cycles"].as_u64().unwrap() > 1000, "{results}");

    // The crate's own files in any order, and a table with other content.
    assert_eq!(fs::read_to_string(folder.join("rtl/table.hex")).unwrap(), "0\n");
    let run = ["run", "--cases", "3", "--rtl", "rtl", "--out", "own"];
    let own = folder.join("own/results.json");
    prints(folder, 0, &run);
    assert_eq!(json(&own)["run"]["rtl"], results["run"]["rtl"], "the same files are the same RTL");
    fs::write(folder.join("rtl/table.hex"), "1\n").unwrap();
    let printed = prints(folder, 1, &[&run[..], &["--force"]].concat());
    assert!(printed.contains("match"), "{printed}");
    assert_ne!(json(&own)["run"]["rtl"], results["run"]["rtl"]);
    fs::write(folder.join("rtl/table.hex"), "0\n").unwrap();

    // Only the top bit of the widest port is wrong.
    let bad = folder.join("bad");
    let text = REGISTER.replace(
        "q <= ~d;",
        "q <= ~d ^ (WIDTH == 600 ? {1'b1, {(WIDTH-1){1'b0}}} : {WIDTH{1'b0}});",
    );
    write(&bad.join("register.v"), &text);
    let run = ["run", "--cases", "3", "--rtl", "bad", "-D", "WITH_REGISTERS", "--out", "found"];
    let printed = prints(folder, 1, &run);
    assert!(printed.starts_with("FAIL  wide_block") && printed.contains("longestQ"), "{printed}");
    let results = json(&folder.join("found/results.json"));
    assert_eq!(results["totals"]["mismatched"], 6, "{results}");
    let vector = format!("found/{}", results["failures"][0]["vector"].as_str().unwrap());
    prints(folder, 0, &["replay", "--rtl", "built-in", &vector]);
    prints(folder, 1, &["replay", "--recorded-rtl", &vector]);
    for name in ["waves.vcd", "waves.fst"] {
        prints(folder, 0, &["replay", "--rtl", "built-in", &vector, "--trace", name]);
        assert!(folder.join(name).is_file());
    }
    // Ports of every width and name, an active-low reset, a macro and a custom file ending.
    prints(folder, 0, &["export", "--rtl", "built-in", &vector, "-o", "bench"]);
    assert!(icarus(&folder.join("bench")).starts_with("PASS  "));
    prints(folder, 0, &["export", "--recorded-rtl", &vector, "-o", "bad-bench"]);
    let simulated = icarus(&folder.join("bad-bench"));
    assert!(
        simulated.starts_with("FAIL  mismatch") && simulated.contains("longestQ is 600'h"),
        "{simulated}"
    );
}

/// Checks that `cosim new` refuses this RTL with this error and writes nothing.
#[track_caller]
fn refused(module: &str, arguments: &[&str], number: &str, words: &str) {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("a.sv"), module);
    let output = run_in(folder.path(), &[&["new"], arguments].concat());
    assert_error_at(&output, number, words);
    let entries = fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.sv"], "nothing was written");
}

#[test]
fn unsupported_ports_are_refused_by_name() {
    let module = |ports: &str| format!("module a({ports}); endmodule\n");
    let a = ["b", "--top", "a", "a.sv"];
    refused(
        &module("input clk, input d, output q"),
        &[&a[..], &["--clock", "foo"]].concat(),
        "E0309",
        "input foo; its 1-bit inputs are clk, d",
    );
    refused(&module("input clk, input d"), &a, "E0309", "output");
    refused(&module("input clk, input d, input real level, output q"), &a, "E0309", "`level`");
    refused(&module("input clk, input d, output real level"), &a, "E0309", "`level`");
    refused(&module("input clk, input string text, output q"), &a, "E0309", "`text`");
    let foreign = "import \"DPI-C\" function int twice(input int a);\n\
                   module a(input clk, input [31:0] d, output [31:0] q); assign q = twice(d); endmodule\n";
    refused(foreign, &a, "E0310", "`twice`");
    let table = "module a(input clk, input d, output q); reg m[0:0]; initial $readmemh(\"NAME\", m); assign q = m[d]; \
                 endmodule\n";
    refused(&table.replace("NAME", "none.hex"), &a, "E0311", "a.sv:1");
    refused(&table.replace("NAME", "/dev/null/x"), &a, "E0311", "/dev/null/x");
    let good = module("input clk, input d, output q");
    refused(&good, &["b", "--top", "c", "a.sv"], "E0303", "c");
    refused(&good, &["b", "--top", "a", "none.sv"], "E0301", "none.sv");
    refused(&good, &["b", "--top", "a", "a.sv", "--reset", "d2"], "E0309", "d2; did you mean `d`");
    let clock = "module a(input d, output logic q, output logic c); always @(posedge c) q <= d;\n\
                 always #5 c = ~c; endmodule\n";
    refused(clock, &a, "E0318", "a.sv:2: ");
    for option in ["--exe", "-CFLAGS -DX", "--Mdir .", "-f a.sv", "--unroll-count", "-Wno-MODDUP"] {
        let options = ["--verilator-option", option];
        refused(&good, &[&a[..], &options].concat(), "E0317", &format!("{option:?}"));
    }
    refused(&good, &["b", "--top", "a", "a.sv", "--cosim", "."], "E0315", "core/Cargo.toml");
    for name in ["fn", "../b", "B", "2b", "", "cosim-core", "a b"] {
        refused(&good, &[name, "--top", "a", "a.sv"], "E0101", "NAME");
    }
}

/// The reset is found by its usual names. The name determines its active level.
#[test]
fn a_reset_is_found_by_its_usual_names() {
    for (port, options, expected) in [
        ("RST_N", &["--reset", "RST_N"][..], "reset RST_N, 0 in reset"),
        ("RST_N", &[], "reset RST_N, 0 in reset"),
        ("i_rst", &[], "reset i_rst, 1 in reset"),
        ("ARESETN", &["--reset", "ARESETN=1"], "reset ARESETN, 1 in reset"),
    ] {
        let folder = TempDir::new().unwrap();
        let module = format!("module a(input CLK, input {port}, input d, output q); endmodule\n");
        write(&folder.path().join("a.v"), &module);
        let output = run_in(folder.path(), &[&["new", "b", "--top", "a", "a.v"], options].concat());
        assert_code(&output, 0);
        let printed = text(&output);
        assert!(
            printed.contains("clock CLK") && printed.contains(expected),
            "{expected}: {printed}"
        );
    }
}

/// Packages and interfaces are read before their users, in any order of files. Files that the top
/// does not need may contain anything.
#[test]
fn sources_may_be_named_in_any_order() {
    let folder = TempDir::new().unwrap();
    let files = [
        (
            "rtl/a_top.sv",
            "module a_top import z_first::*; (input clk, input rst, input word_t d, output word_t q);\n\
                          m_bus bus(.clk); assign bus.d = d; b_part part(.bus, .q); endmodule\n",
        ),
        (
            "rtl/b_part.sv",
            "module b_part(m_bus.sink bus, output y_second::word_t q); always_ff @(posedge bus.clk) q <= \
                           bus.d; endmodule\n",
        ),
        (
            "rtl/m_bus.sv",
            "interface m_bus(input clk); z_first::word_t d; modport sink(input clk, d); endinterface\n",
        ),
        ("rtl/y_second.sv", "package y_second; typedef z_first::word_t word_t; endpackage\n"),
        ("rtl/z_first.sv", "package z_first; typedef logic [7:0] word_t; endpackage\n"),
        (
            "rtl/bench/c_bench.sv",
            "module c_bench; import uvm_pkg::*; a_top dut(); this is no SystemVerilog endmodule\n",
        ),
    ];
    for (name, text) in files {
        write(&folder.path().join(name), text);
    }
    let names: Vec<&str> = files[..5].iter().map(|(name, _)| *name).collect();
    let reversed: Vec<&str> = names.iter().rev().copied().collect();
    for (name, rtl) in [("one", &names[..]), ("two", &reversed), ("three", &["rtl"])] {
        assert_code(&run_in(folder.path(), &[&["new", name, "--top", "a_top"], rtl].concat()), 0);
        let copies = fs::read_dir(folder.path().join(name).join("rtl")).unwrap().count();
        assert_eq!(copies, 5, "what is not needed is not copied");
    }
}

/// Folders of repositories have links, parts of modules, and several versions of a module.
#[test]
fn a_folder_may_hold_what_the_top_does_not_need() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let part =
        "module part(input clk, input a, output reg b); always @(posedge clk) b <= a; endmodule\n";
    let top = "`include \"../inc/defs.vh\"\n`include \"pkg/types.svh\"\n\
               module Fifo(input clk, input `T [`BITS-1:0] a, output b);\n  \
               wire part_x;\n  part p(.clk, .a(1'(a)), .b);\nendmodule\n";
    write(&at("r/rtl/Fifo.sv"), top);
    write(&at("r/rtl/part.sv"), part);
    write(&at("r/inc/defs.vh"), "`define T logic\n");
    write(&at("r/inc/pkg/types.svh"), "`define TYPES 1\n");
    write(&at("r/z/macros.v"), "`define BITS `TYPES\n");
    write(&at("r/rtl/checks.sv"), "  // of a bench\n  check_task(a);\n");
    write(&at("r/z/list.sv"), "`include \"a_sequence.sv\"\n");
    write(&at("r/z/a_sequence.sv"), "class a_sequence; `of_a_library(a_sequence) endclass\n");
    write(&at("r/rtl/other_ff.sv"), "module part_x(input a); endmodule\n");
    write(&at("r/rtl/other_latch.sv"), "module part_x(input b); endmodule\n");
    std::os::unix::fs::symlink("..", at("r/rtl/up")).unwrap();
    std::os::unix::fs::symlink("../inc", at("r/rtl/inc")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("r/rtl/broken.sv")).unwrap();
    let new = |name: &str, top: &str| run_in(folder.path(), &["new", name, "--top", top, "r"]);
    assert_code(&new("one", "Fifo"), 0);
    let mut copied: Vec<_> = walk(&at("one/rtl"));
    copied.sort();
    let expected =
        ["inc/defs.vh", "rtl/Fifo.sv", "rtl/macros.v", "rtl/part.sv", "rtl/pkg/types.svh"];
    assert_eq!(copied, expected);
    assert_error_at(&new("two", "Fif"), "E0303", "no module Fif; did you mean `Fifo`?");
    assert_error_at(&new("two", "zzz"), "E0303", "its modules are Fifo, part, part_x");
    // What is wrong with what the top needs, and not with the fragment.
    write(&at("r/rtl/part.sv"), &part.replace("posedge", "possedge"));
    let output = new("two", "Fifo");
    assert_error_at(&output, "E0307", "r/rtl/part.sv:1:");
    assert!(!text(&output).contains("checks.sv"), "{}", text(&output));
    write(&at("r/rtl/part.sv"), &part.replace("always", "none n(); always"));
    let output = new("two", "Fifo");
    assert_error_at(&output, "E0307", "r/rtl/part.sv:1:");
    let printed = text(&output);
    assert!(printed.contains("'none'") && printed.contains("Name the missing file"), "{printed}");
    assert!(!printed.contains("Looked in") && !printed.contains("sequence"), "{printed}");
    write(&at("r/rtl/part.sv"), part);
    write(&at("r/rtl/z_part.sv"), &format!("\n{part}"));
    let output = new("two", "Fifo");
    assert_error_at(&output, "E0304", "module part is declared in both");
    let printed = text(&output);
    assert!(
        printed.contains("r/rtl/part.sv:1") && printed.contains("r/rtl/z_part.sv:2"),
        "{printed}"
    );
}

/// The files below a folder.
fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(walk(&entry.path()).iter().map(|below| format!("{name}/{below}"))),
            false => found.push(name),
        }
    }
    found
}

/// Options of the project, strings without quotes, ports with a net type, delays; and messages
/// about what the user wrote.
#[test]
fn a_module_is_taken_as_verilator_takes_it() {
    let folder = TempDir::new().unwrap();
    let rtl = "`timescale 1ns/1ps\nmodule a #(parameter MODE = \"FAST\") (input wire clk, input wire logic d, input tri t,\n  \
               input var logic v, output wire p, output reg q);\n  assign #2 p = d ^ t;\n  \
               // verilator lint_off SOMENEWCODE\n  \
               always @(posedge clk) q <= #1 MODE == \"SLOW\" ? v : d;\nendmodule\n";
    write(&folder.path().join("src/a.sv"), rtl);
    let new = |arguments: &[&str]| {
        run_in(folder.path(), &[&["new", "b", "--top", "a", "src/a.sv"], arguments].concat())
    };
    let output = new(&[]);
    assert_error_at(&output, "E0307", "src/a.sv:5:");
    let printed = text(&output);
    assert!(printed.contains("--verilator-option") && !printed.contains("cosim_ask"), "{printed}");
    let future = ["--verilator-option", "-Wfuture-SOMENEWCODE"];
    let output = new(&[&future[..], &["--parameter", "MODE=SLOW"]].concat());
    assert_code(&output, 0);
    let printed = text(&output);
    assert!(printed.contains("3 inputs and 2 outputs"), "{printed}");
    assert!(
        printed.contains("warning: delays (#) are ignored") && printed.contains("src/a.sv:4"),
        "{printed}"
    );
    let read = |name: &str| fs::read_to_string(folder.path().join("b").join(name)).unwrap();
    assert!(read("build.rs").contains(r#".verilator_option("-Wfuture-SOMENEWCODE")"#));
    assert!(read("rtl/a_wrapper.sv").contains(r#"parameter MODE = "SLOW""#));
    // A message about the module around the top names the top.
    let output = run_in(
        folder.path(),
        &[&["new", "c", "--top", "a", "src/a.sv", "--parameter", "MODE=x+"], &future[..]].concat(),
    );
    assert_eq!(code(&output), 0, "a string has any letters: {}", text(&output));
    write(
        &folder.path().join("src/n.sv"),
        "module n #(parameter N = 1) (input clk, input d, output q); endmodule\n",
    );
    let output =
        run_in(folder.path(), &["new", "d", "--top", "n", "src/n.sv", "--parameter", "N=X"]);
    assert_error_at(&output, "E0307", "module n: ");
    let printed = text(&output);
    assert!(!printed.contains("cosim_ask") && !printed.contains("/tmp"), "{printed}");
}

/// A file that another one includes is read once, even if it is in the given folder. Without an
/// include guard, it cannot be included twice, and it is not declared twice.
#[test]
fn an_included_interface_is_declared_once() {
    let folder = TempDir::new().unwrap();
    let bus = "interface bus(input clk); logic d; modport sink(input clk, d); endinterface\n";
    let part =
        "module part(bus.sink b, output logic q); always_ff @(posedge b.clk) q <= b.d; endmodule\n";
    let top = "`include \"bus.sv\"\nmodule a(input clk, input rst, input d, output q);\n\
               bus b(.clk); assign b.d = d; part p(.b, .q); endmodule\n";
    write(&folder.path().join("rtl/bus.sv"), bus);
    write(&folder.path().join("rtl/part.sv"), part);
    write(&folder.path().join("rtl/a.sv"), top);
    assert_code(&run_in(folder.path(), &["new", "one", "--top", "a", "rtl"]), 0);
    write(&folder.path().join("rtl/part.sv"), &format!("`include \"bus.sv\"\n{part}"));
    let output = run_in(folder.path(), &["new", "two", "--top", "a", "rtl"]);
    let printed = text(&output);
    assert_eq!(code(&output), 2, "{printed}");
    assert!(printed.contains("rtl/bus.sv:1") && !printed.contains("both"), "{printed}");
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = TempDir::new().unwrap();
    write(
        &folder.path().join("a.v"),
        "module a(input clk, input rst, input d, output q); endmodule\n",
    );
    write(&folder.path().join("full/mine.txt"), "mine");
    write(&folder.path().join("file"), "mine");
    fs::create_dir(folder.path().join("empty")).unwrap();
    for name in ["full", "file"] {
        let output = run_in(folder.path(), &["new", name, "--top", "a", "a.v"]);
        assert_error_at(&output, "E0602", name);
    }
    assert_eq!(fs::read_dir(folder.path().join("full")).unwrap().count(), 1);
    let output = run_in(folder.path(), &["new", "empty", "--top", "a", "a.v"]);
    assert_eq!(code(&output), 0, "an empty folder is filled: {}", text(&output));
    assert!(folder.path().join("empty/src/golden.rs").is_file());
    // Now the folder is not empty.
    let output = run_in(folder.path(), &["new", "empty", "--top", "a", "a.v"]);
    assert_error(&output, "E0602");
}

/// The channels of a FIFO are recognized. Two lines of its user make the first green run, and RTL
/// that loses an item fails.
#[test]
fn a_fifo_is_verified_with_two_lines() {
    let folder = TempDir::new().unwrap();
    let rtl = crate::common::project().join("examples/fifo/rtl/Fifo.sv");
    let output = run_in(folder.path(), &["new", "queue", "--top", "Fifo", rtl.to_str().unwrap()]);
    assert_code(&output, 0);
    let channels =
        "channels: source push (push_valid, push_ready), sink pop (pop_valid, pop_ready)";
    assert!(text(&output).contains(channels), "{}", text(&output));
    let made = folder.path().join("queue");
    builds_without_warnings(&made);
    let run = |expected: i32, arguments: &[&str]| {
        let output = program_outside("queue")
            .args(arguments)
            .current_dir(&made)
            .env("COSIM_CACHE", models())
            .output()
            .unwrap();
        assert_eq!(code(&output), expected, "{arguments:?}: {}", text(&output));
        text(&output)
    };
    assert!(run(1, &["run", "--cases", "2"]).starts_with("NO GOLDEN MODEL"));

    let edit = |file: &str, from: &str, to: &str| {
        let before = fs::read_to_string(made.join(file)).unwrap();
        assert_eq!(before.matches(from).count(), 1, "{before}");
        write(&made.join(file), &before.replace(from, to));
    };
    edit(
        "src/scoreboard.rs",
        "let _ = item;",
        "self.pop.expect(crate::PopItem { data: item.data });",
    );
    edit("src/lib.rs", "Untimed<false>", "Untimed");
    builds_without_warnings(&made);
    let printed = run(0, &["run", "--cases", "20"]);
    assert!(printed.starts_with("PASS  queue"), "{printed}");
    assert!(printed.contains("compared: every output as transactions"), "{printed}");
    let lossy = fs::read_to_string(&rtl).unwrap().replace(
        "count_q + COUNT_BITS'(pushed) - COUNT_BITS'(popped)",
        "count_q + COUNT_BITS'(pushed && !popped) - COUNT_BITS'(popped)",
    );
    write(&made.join("lossy/Fifo.sv"), &lossy);
    let printed = run(1, &["run", "--rtl", "lossy", "--cases", "20"]);
    assert!(printed.contains("the RTL violates the specification"), "{printed}");
}

/// RTL whose names contain what ends an identifier, a literal or a comment.
const HOSTILE: &str = r#"
package p;
  typedef enum logic [1:0] { \A"),};std::process::Command::new("x") = 0, \*/fn = 1, Self = 2 } e_t;
  typedef struct packed { logic [2:0] \x{} ; logic \a+b ; logic a_b; e_t kind; } s_t;
endpackage
module odd #(parameter int \n"; = 4) (
  input logic clk, input logic rst, input p::e_t \use , input p::s_t s, input logic \0a [1:0],
  input logic \self , output p::e_t q, output logic [3:0] \a+b ,
  input logic set, eval, EOF, interrupt, output logic name
);
  assign name = set ^ eval ^ EOF ^ interrupt;
  always_ff @(posedge clk) begin
    if (rst) q <= p::e_t'(0); else q <= \use ;
    \a+b <= {s.a_b, \0a [0], \0a [1], \self };
  end
endmodule
"#;

/// Writes a crate for the hostile RTL.
fn hostile_crate(folder: &Path) {
    fs::write(folder.join("odd.sv"), HOSTILE).unwrap();
    let output = run_in(folder, &["new", "odd-names", "--top", "odd", "odd.sv"]);
    // Verilator has read the wrapper.
    assert_code(&output, 0);
}

#[test]
fn names_of_the_rtl_are_no_code_in_the_crate() {
    let folder = TempDir::new().unwrap();
    hostile_crate(folder.path());
    let read = |name: &str| fs::read_to_string(folder.path().join("odd-names").join(name)).unwrap();
    let types = read("src/types.rs");
    for (line, about) in [
        ("pub enum ET {", "the enum"),
        ("AStdProcessCommandNewX,", "a variant"),
        (r#""A\"),};std::process::Command::new(\"x\")","#, "its name as a literal"),
        ("x__ [6 : 4],", "a field"),
        ("a_b [3 : 3],", "a field"),
        ("a_b_2 [2 : 2],", "a field that would have the same name"),
    ] {
        assert!(types.contains(line), "{about}: {types}");
    }
    let wrapper = read("rtl/odd_wrapper.sv");
    for line in [".\\use (p::e_t'(use_pin))", ".\\a+b (a_b)", ".\\n\"; (\\n\"; )"] {
        assert!(wrapper.contains(line), "{line}: {wrapper}");
    }
}

#[test]
#[ignore = "slow: builds a crate"]
fn a_crate_with_names_of_hostile_rtl_builds() {
    let folder = TempDir::new().unwrap();
    hostile_crate(folder.path());
    builds_without_warnings(&folder.path().join("odd-names"));
}

/// Channels with names that Rust, the library and generated code use, in two clock domains, with
/// items of any width, lanes, a packed struct, and inputs of no channel.
const CHANNELS: &str = r#"
package p;
  typedef enum logic [1:0] { IDLE = 0, NONE = 1 } Option;
  typedef struct packed { logic [5:0] addr; p::Option kind; } Vec;
endpackage
module channels (
  input logic wclk, input logic rclk, input logic rst,
  input logic winc, input logic [7:0] wdata, output logic wfull,
  input logic rinc, output logic [7:0] rdata, output logic rempty,
  input logic in_valid, output logic in_ready, input logic [3:0] in_0, input logic [3:0] in_1,
  output logic result_valid, input logic result_ready, output logic [511:0] result_data,
  input logic block_valid, output logic block_ready, input logic [511:0] block_data,
  input logic noise_valid, output logic noise_ready, input logic [2:0] noise, input logic noise_self,
  input logic option_valid, output logic option_ready, input p::Vec option_data,
  input logic x_valid, output logic x_ready, input logic [7:0] x_data, input logic x_data_i,
  input logic [1:0] lane_req, output logic [1:0] lane_gnt,
  input logic [15:0] lane_data_0, input logic [15:0] lane_data_1, input logic [7:0] lane_tag,
  output logic monitor_valid, output logic [7:0] monitor, input logic monitor_ready,
  output logic result_monitor_valid, output logic result_monitor_ready_x, input logic PROGRAM,
  input logic S_AXIS_TVALID, input logic [99:0] S_AXIS_TDATA, output logic S_AXIS_TREADY,
  input logic [64:0] key, input logic self, input logic CLOCKS, input logic enable, input logic flush_n,
  input logic \type , output logic \3out , output logic [64:0] sum
);
  assign {in_ready, block_ready, noise_ready, option_ready, x_ready, S_AXIS_TREADY} = '1;
  assign lane_gnt = lane_req;
  assign \3out  = \type ;
  assign {rempty, result_monitor_ready_x} = '1;
  assign {wfull, result_monitor_valid} = '0;
  always_ff @(posedge rclk) rdata <= rst ? 0 : 8'(rinc);
  always_ff @(posedge wclk) begin
    if (rst) begin
      {result_valid, result_data, monitor_valid, monitor, sum} <= '0;
    end else begin
      result_valid <= block_valid;
      result_data <= block_data;
      monitor_valid <= 0;
      monitor <= wdata ^ 8'(winc);
      sum <= key ^ 65'({in_0, in_1, noise, noise_self, option_data, x_data, x_data_i, lane_data_0, lane_data_1, lane_tag,
        S_AXIS_TDATA, self, CLOCKS, PROGRAM, enable, flush_n, in_valid, noise_valid, option_valid, x_valid, S_AXIS_TVALID,
        result_ready, monitor_ready});
    end
  end
endmodule
"#;

/// One test, because the crate is built once.
#[test]
#[ignore = "slow: builds a crate"]
fn a_crate_with_channels_of_any_name_and_width_builds_and_moves_packets() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("channels.sv"), CHANNELS).unwrap();
    let output = run_in(folder.path(), &["new", "odd", "--top", "channels", "channels.sv"]);
    let printed = text(&output);
    assert_eq!(code(&output), 0, "{printed}");
    for line in [
        "inputs in no channel, held by `tie` in src/lib.rs: enable = 1, flush_n = 1",
        "random values by `vary` in src/lib.rs: key, CLOCKS, PROGRAM, self, type_pin",
        "source push (winc, !wfull)",
        "source s_axis (S_AXIS_TVALID, S_AXIS_TREADY)",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let made = folder.path().join("odd");
    let readme = fs::read_to_string(made.join("README.md")).unwrap();
    assert!(readme.contains("`key` has random values") && readme.contains("vary key[65];"));
    builds_without_warnings(&made);
    let output = program_outside("odd")
        .args(["run", "--cases", "5", "--scenario", "default"])
        .current_dir(&made)
        .env("COSIM_CACHE", models())
        .output()
        .unwrap();
    let printed = text(&output);
    assert!(printed.starts_with("NO GOLDEN MODEL"), "{printed}");
    assert!(!printed.contains("no packet moved"), "{printed}");
}
