//! `cosim new` for modules whose ports the harness cannot drive: several clocks, none, arrays,
//! interfaces, parameters.

use crate::common::{Place, assert_code, assert_contains};
use crate::outside::{Outside, UNWRITTEN};

/// Checks that the crate builds and is formatted.
#[track_caller]
fn builds(new: &Outside) {
    new.builds();
    assert_code(&new.cargo(&["fmt", "--check"]), 0);
}

/// Writes the golden model: this text in the place of its outputs.
fn write_outputs(new: &Outside, outputs: &str) {
    let golden = new.text("src/golden.rs");
    let (before, rest) = golden.split_once("*outputs = rtl::Outputs {").unwrap();
    let (_, behind) = rest.split_once("        };\n").unwrap();
    let golden = format!("{}{outputs}{behind}", before.trim_end())
        .replace("_inputs: &rtl::Inputs, _cycle: &(), o", "inputs: &rtl::Inputs, _cycle: &(), o")
        .replace(UNWRITTEN, "");
    new.write("src/golden.rs", &golden);
}

/// Which clocks rise is part of the stimulus, and everything else works as for one clock.
#[test]
fn a_block_has_several_clocks() {
    let rtl = include_str!("data/crossed.sv");
    let clocks = "clocks wclk, rclk, reset wrst_n, 0 in reset, reset rrst_n";
    let new = Outside::new("crossed", rtl, "--top crossed --pins", &[clocks]);
    let wrapper = new.text("rtl/crossed_wrapper.sv");
    assert_contains(&wrapper, &[".wclk(wclk_i)", ".rclk(rclk_i)"]);
    builds(&new);
    new.write("src/golden.rs", include_str!("data/crossed_golden.rs"));
    new.builds();
    let printed = new.exits(0, "run --cases 100 --out good");
    assert!(printed.starts_with("PASS  crossed") && !printed.contains("not hit"), "{printed}");

    // The synchronizer is too short. The user's RTL needs no wrapper.
    new.plant("bad", "given.sv", &[("<= {meta, sent};", "<= {sent, sent};")]);
    // A trace shows the same.
    let words = ["built-in: crossed_wrapper.sv", "seen", "waves: "];
    new.prints(1, &words, "run --rtl bad --scenario default --cases 20 --out found");
    let vector = new.vector("found");
    let traffic = &new.json(&vector)["stimulus"]["traffic"];
    assert_eq!(traffic["clocks"].as_array().unwrap().len(), 2, "{traffic}");
    new.exits(0, &format!("replay --rtl built-in {vector}"));
    new.exits(1, &format!("replay --recorded-rtl {vector} --trace waves.vcd"));
    assert!(new.exported(&format!("--rtl built-in {vector}"), "bench").starts_with("PASS  "));
    let printed = new.exported(&format!("--recorded-rtl {vector}"), "bad-bench");
    assert!(printed.starts_with("FAIL  mismatch"), "{printed}");

    // Ports that the wrapper does not fit are no warning.
    for (from, to, port) in [
        ("[7:0] seen", "[6:0] seen", "seen"),
        ("rclk, rrst_n,", "rclk, rrst_n, extra,", "extra"),
        ("wdata", "wdatx", "wdata"),
    ] {
        new.plant("other", "given.sv", &[(from, to)]);
        // The module is the user's.
        let words = ["E0308", "ports of crossed ", &format!("  {port}: ")];
        new.prints(2, &words, "run --rtl other --cases 1 --out none2");
    }
    // A network has one clock.
    new.prints(2, &["E0507", "wclk, rclk"], "prove --out proof");
    let mutate = "mutate --mutants 20 --cases 1 --packets 1 --out mutants";
    new.prints(0, &["undecided", " 0 equivalent"], mutate);
    let text = new.json("mutants/mutate.json").to_string();
    assert_contains(&text, &[r#""module":"#]);
    assert!(!text.contains(r#""module":"crossed_wrapper""#), "the wrapper is not mutated: {text}");
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
        let y = match OpE::from_bits(op.get()) {
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
    let pins = "no clock, no reset, 2 inputs and 2 outputs";
    let new = Outside::new("alu", ALU, "--top alu", &[pins]);
    builds(&new);
    write_outputs(&new, ALU_OUTPUTS);
    let types = "use crate::rtl;\nuse crate::types::{OpE, ReqT};";
    new.edit("src/golden.rs", "use crate::rtl;", types);
    assert_code(&new.cargo(&["build"]), 0);
    // The bits of `req` and `carry`.
    new.prints(0, &["PASS", "exhaustive: all 2^15 input vectors"], "run --out good");
    let cycles = new.results("good")["totals"]["cycles"].as_u64().unwrap();
    assert!((1 << 15..(1 << 15) + 100).contains(&cycles), "{cycles}");
    let printed = new.exits(0, "run --cases 2 --out part");
    assert!(!printed.contains("exhaustive"), "{printed}");
    // One vector of all: the largest sum with a carry.
    new.plant("bad", "given.sv", &[("7'(carry);", "7'(carry & ~(&req.a & &req.b));")]);
    new.prints(1, &["1 of them failed", "y is 7'h7e"], "run --rtl bad --out found");
    // A port whose type is an enum is shown with the names of its values.
    let wrong = "assign op = op_e'(req.op ^ 2'd1);";
    new.plant("names", "given.sv", &[("assign op = req.op;", wrong)]);
    new.exits(1, "run --rtl names --max-failures 1 --out named");
    new.prints(1, &["(ADD)", "(SUB)"], &format!("explain --recorded-rtl {}", new.vector("named")));
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
    let words = "--top odd --parameter N=4,200 --parameter 'T=logic [4:0]' --parameter b.W=5";
    let new = Outside::new("odd-ports", ODD, words, &["clock clk_i, reset rst_ni, 0 in reset"]);
    let wrapper = new.text("rtl/odd_wrapper.sv");
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
    builds(&new);
    new.prints(1, &["NO GOLDEN MODEL"], "run --cases 2 --out none");
    let results = new.results("none");
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
    let pins = ["clock clk", "6 inputs and 7 outputs"];
    let new = Outside::new("stages", rtl, "--top top", &pins);
    assert_contains(&new.text("rtl/top_wrapper.sv"), &["bus t_i [2:0] ();", "t_2_d"]);
    let words = "--top top --parameter N=3 --parameter one.W=7";
    let new = Outside::new("more", rtl, words, &["8 inputs and 9 outputs"]);
    assert_contains(&new.text("rtl/top_wrapper.sv"), &["input  wire [6:0] one_d"]);
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
    let pins = "no clock, no reset, 6 inputs and 3 outputs";
    let new = Outside::new("pads", rtl, "--top pads", &[pins]);
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
    write_outputs(&new, outputs);
    new.builds();
    new.prints(0, &["PASS", "all 2^14 input vectors"], "run --out good");
    // A 0 that nothing else drives is no difference.
    new.plant("bad", "given.sv", &[("oe ? d", "oe & d ? d")]);
    new.prints(0, &["PASS"], "run --rtl bad --out same");
    new.plant("bad", "given.sv", &[("oe ? d", "oe ? ~d")]);
    new.prints(1, &["pad_out"], "run --rtl bad --out found");
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
    Outside::new("found", rtl, "--top a", &["clocks fast, slow, reset nres, 0 in reset"]);
    Outside::new("named", rtl, "--top a --clock slow", &["clock slow, reset nres"]);
    // A module that nothing drives but its clock is compared.
    let rtl =
        "module free(input clk, output reg [3:0] n); always @(posedge clk) n <= 0; endmodule\n";
    let pins = ["clock clk", "1 input and 1 output of"];
    let new = Outside::new("free", rtl, "--top free", &pins);
    assert_contains(&new.text("rtl/free_wrapper.sv"), &["input  wire unused"]);
}

/// Options for includes and libraries work on the command line and in a list.
#[test]
fn sources_are_given_by_options_and_lists() {
    let top = "module top(input clk, input rst, input d, output q);\n`include \"macros.svh\"\n\
               part part(.clk, .d, .q);\nendmodule\n";
    let part = "module part(input clk, d, output reg q); always @(posedge clk) q <= d; endmodule\n";
    let place = Place::with_files(&[
        ("project/ip/b/top.sv", top),
        ("project/ip/c/part.vlib", part),
        ("project/inc/macros.svh", "// nothing\n"),
        ("project/files.f", "ip/b/top.sv\n+incdir+inc\n+libext+.vlib\n-y ip/c\n"),
    ]);
    for words in ["--rtl project +incdir+project/inc +libext+.vlib", "-F project/files.f"] {
        let name = format!("a{}", words.len());
        place.exits(0, &format!("new {name} --top top {words}"));
        assert_eq!(place.names(&format!("{name}/rtl")), ["macros.svh", "part.vlib", "top.sv"]);
    }
}
