//! `cosim new` for modules whose ports the harness cannot drive: several clocks, none, arrays,
//! interfaces, parameters.

use crate::common::{
    assert_code, assert_error_at, cargo_outside, code, json, models, program_outside, project,
    run_in, text,
};
use crate::export::icarus;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// A file of the tests.
fn data(name: &str) -> String {
    read(&project().join("tests/e2e/data").join(name))
}

/// A new crate in a folder of its own.
struct NewCrate {
    folder: TempDir,
    name: &'static str,
}

impl NewCrate {
    /// Runs `cosim new` on this RTL.
    #[track_caller]
    fn new(name: &'static str, rtl: &str, arguments: &[&str]) -> (Self, String) {
        let folder = TempDir::new().unwrap();
        write(&folder.path().join("given.sv"), rtl);
        let output = run_in(folder.path(), &[&["new", name, "given.sv"], arguments].concat());
        assert_code(&output, 0);
        (Self { folder, name }, text(&output))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(self.name).join(name)
    }

    fn wrapper(&self, top: &str) -> String {
        read(&self.path(&format!("rtl/{top}_wrapper.sv")))
    }

    #[track_caller]
    fn builds(&self) {
        let output = cargo_outside(&self.path("")).arg("build").output().unwrap();
        let printed = text(&output);
        assert!(output.status.success() && !printed.contains("warning"), "{printed}");
    }

    #[track_caller]
    fn is_formatted(&self) {
        let formatted = cargo_outside(&self.path("")).args(["fmt", "--check"]).output().unwrap();
        assert!(formatted.status.success(), "{}", text(&formatted));
    }

    /// What the program prints if it ends with `expected`.
    #[track_caller]
    fn prints(&self, expected: i32, arguments: &[&str]) -> String {
        let output = program_outside(self.name)
            .args(arguments)
            .current_dir(self.path(""))
            .env("COSIM_CACHE", models())
            .output()
            .unwrap();
        assert_eq!(code(&output), expected, "{arguments:?}: {}", text(&output));
        text(&output)
    }

    #[track_caller]
    fn has_no_golden_model(&self) {
        let printed = self.prints(1, &["run", "--cases", "2", "--out", "none"]);
        assert!(printed.starts_with("NO GOLDEN MODEL"), "{printed}");
        let results = json(&self.path("none/results.json"));
        let totals = &results["totals"];
        assert_eq!(totals["no_golden_model"], totals["cases"], "{results}");
    }
}

/// A FIFO between two clocks: which clocks rise is part of the stimulus, and everything else works
/// as for one clock.
#[test]
fn a_block_has_several_clocks() {
    let (new, printed) = NewCrate::new("fifo", &data("afifo.sv"), &["--top", "afifo", "--pins"]);
    assert!(
        printed.contains("clocks wclk, rclk, reset wrst_n, 0 in reset, reset rrst_n"),
        "{printed}"
    );
    let wrapper = new.wrapper("afifo");
    assert!(wrapper.contains(".wclk(wclk_i)") && wrapper.contains(".rclk(rclk_i)"), "{wrapper}");
    new.builds();
    new.is_formatted();
    new.has_no_golden_model();

    write(&new.path("src/golden.rs"), &data("afifo_golden.rs"));
    new.builds();
    let printed = new.prints(0, &["run", "--cases", "100", "--out", "good"]);
    assert!(printed.starts_with("PASS  fifo") && !printed.contains("not hit"), "{printed}");

    // One synchronizer is too short. The user's RTL needs no wrapper.
    let bad = data("afifo.sv").replace("{w2, w1} <= {w1, rgray};", "{w2, w1} <= {rgray, rgray};");
    write(&new.path("bad/afifo.sv"), &bad);
    let run = ["run", "--rtl", "bad", "--scenario", "default", "--cases", "20", "--out", "found"];
    let printed = new.prints(1, &run);
    assert!(
        printed.contains("built-in: afifo_wrapper.sv") && printed.contains("wfull"),
        "{printed}"
    );
    assert!(printed.contains("waves: "), "a trace shows the same: {printed}");
    let results = json(&new.path("found/results.json"));
    let vector = format!("found/{}", results["failures"][0]["vector"].as_str().unwrap());
    let traffic = &json(&new.path(&vector))["stimulus"]["traffic"];
    assert_eq!(traffic["clocks"].as_array().unwrap().len(), 2, "{traffic}");
    new.prints(0, &["replay", "--rtl", "built-in", &vector]);
    new.prints(1, &["replay", "--recorded-rtl", &vector, "--trace", "waves.vcd"]);
    new.prints(0, &["export", "--rtl", "built-in", &vector, "-o", "bench"]);
    assert!(icarus(&new.path("bench")).starts_with("PASS  "));
    new.prints(0, &["export", "--recorded-rtl", &vector, "-o", "bad-bench"]);
    assert!(icarus(&new.path("bad-bench")).starts_with("FAIL  mismatch"));

    // Ports that the wrapper does not fit are no warning.
    for (from, to, port) in [
        ("[WIDTH-1:0] rdata", "[WIDTH-2:0] rdata", "rdata"),
        ("rrst_n, rinc,", "rrst_n, rinc, extra,", "extra"),
        ("rinc", "rinx", "rinc"),
    ] {
        write(&new.path("other/afifo.sv"), &data("afifo.sv").replace(from, to));
        let printed = new.prints(2, &["run", "--rtl", "other", "--cases", "1", "--out", "none2"]);
        assert!(printed.contains("E0308") && printed.contains(&format!("  {port}: ")), "{printed}");
        assert!(printed.contains("ports of afifo "), "the module is the user's: {printed}");
    }
    // A network has one clock.
    let printed = new.prints(2, &["prove", "--out", "proof"]);
    assert!(printed.contains("E0507") && printed.contains("wclk, rclk"), "{printed}");
    let mutate =
        ["mutate", "--mutants", "20", "--cases", "1", "--packets", "1", "--out", "mutants"];
    let printed = new.prints(0, &mutate);
    let counts = &json(&new.path("mutants/mutate.json"));
    assert!(
        printed.contains("undecided") && printed.contains(" 0 equivalent"),
        "{printed} {counts}"
    );
    let text = counts.to_string();
    assert!(text.contains(r#""module":"#), "{text}");
    assert!(!text.contains(r#""module":"afifo_wrapper""#), "the wrapper is not mutated: {text}");
}

const ALU: &str = "
package alu_pkg;
  typedef enum logic [1:0] {ADD, SUB, AND_, OR_} op_e;
  typedef struct packed { op_e op; logic [5:0] a; logic [5:0] b; } req_t;
endpackage
module alu import alu_pkg::*; (input req_t req, input logic carry, output logic [6:0] y, output op_e op);
  assign op = req.op;
  always_comb
    case (req.op)
      ADD: y = 7'(req.a) + 7'(req.b) + 7'(carry);
      SUB: y = 7'(req.a) - 7'(req.b);
      AND_: y = {1'b0, req.a & req.b};
      default: y = {1'b0, req.a | req.b};
    endcase
endmodule
";

/// The body of `outputs` of its golden model.
const ALU_OUTPUTS: &str = "
        let ReqT { op, a, b } = ReqT::decode(&inputs.req);
        let (a, b) = (a.get(), b.get());
        let y = match OpE::of_bits(op.get()) {
            Some(OpE::Add) => a + b + inputs.carry.get(),
            Some(OpE::Sub) => a.wrapping_sub(b),
            Some(OpE::And) => a & b,
            _ => a | b,
        };
        *outputs = rtl::Outputs {
            y: rtl::Bits7::new(y),
            op: rtl::Bits2::new(op.get()),
            padding: Default::default(),
        };
";

/// A block without registers is compared for every input vector, and its structs have fields.
#[test]
fn a_block_without_registers_is_compared_for_all_inputs() {
    let (new, printed) = NewCrate::new("alu", ALU, &["--top", "alu"]);
    assert!(printed.contains("no clock, no reset, 2 inputs and 2 outputs"), "{printed}");
    new.builds();
    new.is_formatted();
    let golden = read(&new.path("src/golden.rs"));
    let (before, rest) = golden.split_once("*outputs = rtl::Outputs {").unwrap();
    let (_, behind) = rest.split_once("        };\n").unwrap();
    let golden = format!("{}{ALU_OUTPUTS}{behind}", before.trim_end())
        .replace(
            "_inputs: &rtl::Inputs, _cycle: &(), outputs",
            "inputs: &rtl::Inputs, _cycle: &(), outputs",
        )
        .replace("    const IS_WRITTEN: bool = false;\n", "")
        .replace(
            "use crate::{AluBlock, rtl};",
            "use crate::types::{OpE, ReqT};\nuse crate::{AluBlock, rtl};",
        );
    write(&new.path("src/golden.rs"), &golden);
    let output = cargo_outside(&new.path("")).arg("build").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    // The bits of `req` and `carry`.
    let printed = new.prints(0, &["run", "--out", "good"]);
    assert!(
        printed.contains("PASS") && printed.contains("exhaustive: all 2^15 input vectors"),
        "{printed}"
    );
    let cycles = json(&new.path("good/results.json"))["totals"]["cycles"].as_u64().unwrap();
    assert!((1 << 15..(1 << 15) + 100).contains(&cycles), "{cycles}");
    let printed = new.prints(0, &["run", "--cases", "2", "--out", "part"]);
    assert!(!printed.contains("exhaustive"), "{printed}");
    // One vector of all: the largest sum with a carry.
    let wrong = ALU.replace("7'(carry);", "7'(carry & ~(&req.a & &req.b));");
    write(&new.path("bad/given.sv"), &wrong);
    let printed = new.prints(1, &["run", "--rtl", "bad", "--out", "found"]);
    assert!(printed.contains("1 of them failed") && printed.contains("y is 7'h7e"), "{printed}");
    // A port whose type is an enum is shown with the names of its values.
    let wrong = ALU.replace("assign op = req.op;", "assign op = op_e'(req.op ^ 2'd1);");
    write(&new.path("names/given.sv"), &wrong);
    let run = ["run", "--rtl", "names", "--max-failures", "1", "--out", "named"];
    new.prints(1, &run);
    let results = json(&new.path("named/results.json"));
    let vector = format!("named/{}", results["failures"][0]["vector"].as_str().unwrap());
    let printed = new.prints(1, &["explain", "--recorded-rtl", &vector]);
    assert!(printed.contains("(ADD)") && printed.contains("(SUB)"), "{printed}");
}

const ODD: &str = r"
interface bus #(parameter W = 8) (input logic clk);
  logic valid, ready;
  logic [W-1:0] data;
  modport src (output valid, data, input ready);
  modport dst (input valid, data, output ready);
endinterface
module odd #(parameter int N, parameter type T = logic [3:0], parameter int LANES = 3) (
  input  logic       clk_i, rst_ni,
  input  T           in [LANES],
  output logic [7:0] sum [2],
  input  logic [1:0] big [20],
  input  logic       template, padding, \odd-name ,
  bus.dst            b,
  bus.src            o [2],
  output logic [7:0] n
);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      sum[0] <= 0;
      sum[1] <= 0;
      n <= 0;
    end else begin
      sum[0] <= 8'(in[0]) + 8'(in[1]) + 8'(in[2]) + 8'(big[19]);
      sum[1] <= 8'(b.data) + 8'(template) + 8'(\odd-name ) + 8'(padding);
      n <= 8'(N);
    end
  assign b.ready = o[0].ready & o[1].ready;
  assign o[0].valid = b.valid;
  assign o[1].valid = b.valid;
  assign o[0].data = 8'(b.data);
  assign o[1].data = ~8'(b.data);
endmodule
";

/// Arrays, interfaces, parameters without default and names that C++ reserves.
#[test]
fn a_block_has_arrays_interfaces_and_parameters() {
    let arguments = [
        "--top",
        "odd",
        "--parameter",
        "N=4,200",
        "--parameter",
        "T=logic [4:0]",
        "--parameter",
        "b.W=5",
    ];
    let (new, printed) = NewCrate::new("odd-ports", ODD, &arguments);
    assert!(printed.contains("clock clk_i, reset rst_ni, 0 in reset"), "{printed}");
    let wrapper = new.wrapper("odd");
    for line in [
        "  parameter N = 4,",
        "  input  wire [4:0] in_0,",
        "  input  wire [39:0] big,",
        "  input  wire template_pin,",
        "  input  wire [4:0] b_data,",
        "  output wire [7:0] o_1_data,",
        "    .\\odd-name (odd_name),",
    ] {
        assert!(wrapper.lines().any(|found| found == line), "{line} in {wrapper}");
    }
    assert!(wrapper.contains("bus #(.W(5)) b_i (.clk(clk_i));"), "one clock: {wrapper}");
    new.builds();
    new.is_formatted();
    new.has_no_golden_model();
    let results = json(&new.path("none/results.json"));
    assert_eq!(results["run"]["profiles"], serde_json::json!(["n-4", "n-200"]));
}

/// Interfaces of a module that has the same interface inside, and arrays of them whose bounds are
/// parameters.
#[test]
fn interfaces_are_found_whatever_the_module_does_with_them() {
    let rtl = "
package p; localparam int LANES = 2; endpackage
interface bus #(parameter W = 4) (); logic v; logic [W-1:0] d; modport sink(input v, d); modport src(output v, d); endinterface
module stage(input wire logic clk, bus.sink s, bus.src t); assign t.v = s.v; assign t.d = s.d; endmodule
module top import p::*; #(parameter N = LANES, localparam M = N + 1) (
  input wire logic clk, bus.sink one, bus.sink s [N], bus.src t [M-1:0], output logic b
);
  bus mine();
  stage u(.clk, .s(one), .t(mine));
  for (genvar i = 0; i < M; i++) begin : all assign t[i].v = mine.v; assign t[i].d = mine.d; end
  always_ff @(posedge clk) b <= s[0].v ^ s[1].v;
endmodule
";
    let (new, printed) = NewCrate::new("stages", rtl, &["--top", "top"]);
    assert!(
        printed.contains("clock clk") && printed.contains("6 inputs and 7 outputs"),
        "{printed}"
    );
    let wrapper = new.wrapper("top");
    assert!(wrapper.contains("bus t_i [2:0] ();") && wrapper.contains("t_2_d"), "{wrapper}");
    let arguments = ["--top", "top", "--parameter", "N=3", "--parameter", "one.W=7"];
    let (new, printed) = NewCrate::new("more", rtl, &arguments);
    assert!(printed.contains("8 inputs and 9 outputs"), "{printed}");
    assert!(new.wrapper("top").contains("input  wire [6:0] one_d"));
}

/// Bidirectional ports, of which a part is driven by instances. All values are driven, also against
/// those of the module.
#[test]
fn a_block_has_bidirectional_ports() {
    let rtl = "
module io(inout wire p, input oe, input d); assign p = oe ? d : 1'bz; endmodule
module pads(input [2:0] oe, d, inout wire [2:0] pad, inout one, output [2:0] seen);
  for (genvar n = 0; n < 3; n++) begin : all io io(.p(pad[n]), .oe(oe[n]), .d(d[n])); end
  assign one = oe[0] ? d[1] : 1'bz;
  assign seen = pad;
endmodule
";
    let (new, printed) = NewCrate::new("pads", rtl, &["--top", "pads"]);
    assert!(printed.contains("no clock, no reset, 6 inputs and 3 outputs"), "{printed}");
    let golden = read(&new.path("src/golden.rs"));
    let (before, rest) = golden.split_once("*outputs = rtl::Outputs {").unwrap();
    let (_, behind) = rest.split_once("        };\n").unwrap();
    let outputs = "
        let (oe, d) = (inputs.oe.get(), inputs.d.get());
        let pad = (oe & d) | (inputs.pad_enable.get() & inputs.pad_in.get());
        let one = (oe & (d >> 1) & 1) | (inputs.one_enable.get() & inputs.one_in.get());
        *outputs = rtl::Outputs {
            pad_out: rtl::Bits3::new(pad),
            seen: rtl::Bits3::new(pad),
            one_out: rtl::Bits1::new(one),
            padding: Default::default(),
        };
";
    let golden = format!("{}{outputs}{behind}", before.trim_end())
        .replace(
            "_inputs: &rtl::Inputs, _cycle: &(), outputs",
            "inputs: &rtl::Inputs, _cycle: &(), outputs",
        )
        .replace("    const IS_WRITTEN: bool = false;\n", "");
    write(&new.path("src/golden.rs"), &golden);
    new.builds();
    let printed = new.prints(0, &["run", "--out", "good"]);
    assert!(printed.contains("PASS") && printed.contains("all 2^14 input vectors"), "{printed}");
    write(&new.path("bad/given.sv"), &rtl.replace("oe ? d", "oe & d ? d"));
    let printed = new.prints(0, &["run", "--rtl", "bad", "--out", "same"]);
    assert!(printed.contains("PASS"), "a 0 that nothing else drives is no difference: {printed}");
    write(&new.path("bad/given.sv"), &rtl.replace("oe ? d", "oe ? ~d"));
    let printed = new.prints(1, &["run", "--rtl", "bad", "--out", "found"]);
    assert!(printed.contains("pad_out"), "{printed}");
}

/// A module that nothing drives but its clock is compared.
#[test]
fn a_module_without_inputs_is_taken() {
    let rtl = "module free(input clk, output reg [3:0] n); initial n = 0; always @(posedge clk) n <= n + 1; endmodule\n";
    let (new, printed) = NewCrate::new("free", rtl, &["--top", "free"]);
    assert!(
        printed.contains("clock clk") && printed.contains("1 input and 1 output of"),
        "{printed}"
    );
    assert!(new.wrapper("free").contains("input  wire unused"), "{}", new.wrapper("free"));
}

/// What `cosim new` says of a module that no wrapper can drive.
#[track_caller]
fn refused(module: &str, arguments: &[&str], number: &str, words: &str) {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("a.sv"), module);
    let output = run_in(folder.path(), &[&["new", "b", "--top", "a", "a.sv"], arguments].concat());
    assert_error_at(&output, number, words);
    assert!(!folder.path().join("b").exists());
}

#[test]
fn what_no_wrapper_can_drive_is_refused_by_name() {
    let module = |ports: &str| format!("module a({ports}); endmodule\n");
    let bus = "interface bus; real level; logic d; modport m(input level, d); endinterface\n";
    refused(&module("input clk, inout pad [2], output q"), &[], "E0309", "`pad`");
    refused(&module("input real level [2], output q"), &[], "E0309", "`level`");
    refused(&module("interface b, output q"), &[], "E0309", "`b`");
    refused(&(bus.to_owned() + &module("bus.m b, output q")), &[], "E0309", "`b.level`");
    let parameter =
        "module a #(parameter int N, parameter type T)(input clk, T d, output q); endmodule\n";
    refused(parameter, &[], "E0316", "--parameter ");
    refused(parameter, &["--parameter", "N=3"], "E0316", "--parameter T=VALUE");
    let good = "module a #(parameter N = 2)(input clk, input [N-1:0] d, output q); endmodule\n";
    refused(good, &["--parameter", "M=3"], "E0312", "M");
    refused(good, &["--parameter", "N=3,4"], "E0308", "`d`");
    refused(good, &["--parameter", "N=x,y"], "E0101", "numbers");
    refused(good, &["--clock", "d"], "E0309", "--clock");
}

/// The clocks are the inputs whose edges registers wait for, through gates and instances.
#[test]
fn clocks_are_found_in_the_elaborated_design() {
    let rtl = "
module cell_ff(input ck, input rn, input d, output reg q);
  always @(posedge ck or negedge rn) if (!rn) q <= 0; else q <= d;
endmodule
module gate(input clk_i, input en_i, output clk_o); assign clk_o = clk_i & en_i; endmodule
module a(input fast, input slow, input nres, input en, input d, output q, output p);
  wire g;
  gate gate(.clk_i(fast), .en_i(en), .clk_o(g));
  cell_ff one(.ck(g), .rn(nres), .d, .q);
  for (genvar n = 0; n < 1; n++) begin : each
    cell_ff two(.ck(slow), .rn(nres), .d, .q(p));
  end
endmodule
";
    let (_, printed) = NewCrate::new("found", rtl, &["--top", "a"]);
    assert!(printed.contains("clocks fast, slow, reset nres, 0 in reset"), "{printed}");
    let (_, printed) = NewCrate::new("named", rtl, &["--top", "a", "--clock", "slow"]);
    assert!(printed.contains("clock slow, reset nres"), "{printed}");
}

/// Only files that the top needs are copied from whole folders; lists and their words work on the
/// command line.
#[test]
fn whole_source_folders_are_given() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join("project").join(name);
    write(
        &at("ip/b/top.sv"),
        "module top import a_pkg::*; (input clk, input rst, input word_t d, output word_t q);\n`include \"macros.svh\"\n  part part(.clk, .d, .q);\nendmodule\n",
    );
    write(
        &at("ip/c/part.vlib"),
        "module part(input clk, input a_pkg::word_t d, output a_pkg::word_t q); always @(posedge clk) q <= d; endmodule\n",
    );
    write(&at("ip/z/a_pkg.sv"), "package a_pkg; typedef logic [7:0] word_t; endpackage\n");
    write(&at("inc/macros.svh"), "// nothing\n");
    write(&at("bench/bench.sv"), "module bench; import uvm_pkg::*; no SystemVerilog endmodule\n");
    write(&at("ip/b/other.sv"), "module other(input x); endmodule\n");
    write(&at("files.f"), "ip/z/a_pkg.sv\nip/b/top.sv\n+incdir+inc\n+libext+.vlib\n-y ip/c\n");
    for (name, arguments) in [
        ("whole", &["--rtl", "project", "+incdir+project/inc", "+libext+.vlib"][..]),
        ("list", &["-F", "project/files.f"]),
    ] {
        assert_code(
            &run_in(folder.path(), &[&["new", name, "--top", "top"], arguments].concat()),
            0,
        );
        let copied = fs::read_dir(folder.path().join(name).join("rtl")).unwrap();
        let mut copied: Vec<String> =
            copied.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        copied.sort();
        assert_eq!(copied, ["a_pkg.sv", "macros.svh", "part.vlib", "top.sv"]);
    }
}
