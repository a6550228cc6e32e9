//! `cosim new`: a crate for a block, from foreign RTL.

use crate::common::{Place, assert_code, assert_contains, assert_error_at, text};
use crate::outside::Outside;

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

use crate::rtl;
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

#[derive(Clone)]
pub struct Golden {
    q: rtl::Outputs,
}

impl harness::Golden<rtl::Inputs, rtl::Outputs> for Golden {
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
            return RuleSet::from_rule(1);
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
        RuleSet::from_rule(0)
    }

    fn state(&self) -> &'static str {
        "running"
    }
}
"#;

/// One test, because the crate is built once.
#[test]
fn a_new_crate_builds_without_warnings_and_never_passes_without_a_golden_model() {
    let package = "package zz_settings; localparam TABLE = \"table.hex\"; endpackage\n";
    let place = Place::with_files(&[
        ("design/registers.sv", TOP),
        ("design/parts/register.v", REGISTER),
        ("design/zz_settings.sv", package),
        ("design/table.hex", "0\n"),
        ("headers/widths.svh", "`define WIDEST 600\n"),
    ]);
    let [design, headers] = ["design", "headers"].map(|name| place.path(name));
    let words = "--top registers design -I headers -D WITH_REGISTERS";
    let pins = "clock clk_i, reset rst_n, 0 in reset, 7 inputs and 6 outputs";
    let new = Outside::in_place(place, "wide-block", words, &[pins]);
    // The crate is self-contained: remove its sources.
    for sources in [design, headers] {
        std::fs::remove_dir_all(sources).unwrap();
    }
    // Remove builds of earlier temporary folders.
    new.cargo(&["clean", "--package", "wide-block"]);
    new.lints();
    assert_code(&new.cargo(&["fmt", "--check"]), 0);
    not_written(&new);
    new.write("src/golden.rs", GOLDEN);
    new.lints();
    written(&new);
}

/// Without a golden model, nothing passes, whatever the RTL does.
fn not_written(new: &Outside) {
    let nothing = ["src/golden.rs:11, and remove `UNWRITTEN`", "0 cycles compared"];
    let printed = new.prints(1, &nothing, "run --cases 3 --out none");
    assert!(printed.starts_with("NO GOLDEN MODEL  wide_block"), "{printed}");
    let results = new.results("none");
    assert_eq!(results["passed"], false);
    // 3 cases of 2 scenarios.
    for (total, expected) in [("no_golden_model", 6), ("matched", 0), ("cycles", 0)] {
        assert_eq!(results["totals"][total], expected, "{total}: {results}");
    }
    assert_eq!(results["failures"].as_array().unwrap().len(), 0, "nothing to shrink");
    // Commands that compare with the golden model fail, too.
    let run = "run --cases 1 --scenario pins --rtl rtl -D WITH_REGISTERS --out given";
    let printed = new.exits(1, run);
    assert!(printed.starts_with("NO GOLDEN MODEL"), "{printed}");
    // Nothing can be exported, because there are no expected outputs.
    let vector = serde_json::json!({
        "format": "cosim-vector", "version": 1, "block": "wide_block", "fixes": "spec",
        "origin": { "about": "nothing" }, "stimulus": { "traffic": { "seed": "0x1", "cycles": 3 } },
        "recorded": null,
    });
    new.write("nothing.json", &vector.to_string());
    new.prints(2, &["wide_block has no golden model yet"], "export nothing.json -o bench");
    assert!(!new.has_file("bench"), "nothing is written");
}

/// With a golden model, the program compares from the first cycle on, with asynchronous active-low
/// resets.
fn written(new: &Outside) {
    let printed = new.exits(0, "run --cases 20 --out good");
    assert!(printed.starts_with("PASS  wide_block") && !printed.contains("not hit"), "{printed}");
    let results = new.results("good");
    assert!(results["totals"]["cycles"].as_u64().unwrap() > 1000, "{results}");

    // The crate's own files in any order, and a table with other content.
    assert_eq!(new.text("rtl/table.hex"), "0\n");
    let run = "run --cases 3 --rtl rtl --out own --force";
    let identity = || new.results("own")["run"]["rtl"].clone();
    new.exits(0, run);
    assert_eq!(identity(), results["run"]["rtl"], "the same files are the same RTL");
    new.write("rtl/table.hex", "1\n");
    new.prints(1, &["match"], run);
    assert_ne!(identity(), results["run"]["rtl"]);
    new.write("rtl/table.hex", "0\n");

    // Only the top bit of the widest port is wrong.
    let wrong = "q <= ~d ^ (WIDTH == 600 ? {1'b1, {(WIDTH-1){1'b0}}} : {WIDTH{1'b0}});";
    new.write("bad/register.v", &REGISTER.replace("q <= ~d;", wrong));
    let printed = new.exits(1, "run --cases 3 --rtl bad -D WITH_REGISTERS --out found");
    assert!(printed.starts_with("FAIL  wide_block") && printed.contains("longestQ"), "{printed}");
    let results = new.results("found");
    assert_eq!(results["totals"]["mismatched"], 6, "{results}");
    let vector = new.vector("found");
    new.exits(1, &format!("replay --recorded-rtl {vector}"));
    for name in ["waves.vcd", "waves.fst"] {
        new.exits(0, &format!("replay --rtl built-in {vector} --trace {name}"));
        assert!(new.has_file(name));
    }
    // Ports of every width and name, an active-low reset, a macro and a custom file ending.
    assert!(new.exported(&format!("--rtl built-in {vector}"), "bench").starts_with("PASS  "));
    let simulated = new.exported(&format!("--recorded-rtl {vector}"), "bad-bench");
    let is_named = simulated.contains("longestQ is 600'h");
    assert!(simulated.starts_with("FAIL  mismatch") && is_named, "{simulated}");
}

/// Checks that `cosim new` with more words refuses this RTL in `a.sv`, and writes nothing.
#[track_caller]
fn refused(module: &str, words: &str, number: &str, at: &str) {
    let place = Place::with_files(&[("a.sv", module)]);
    place.fails(number, at, &format!("new {words}"));
    assert_eq!(place.names(""), ["a.sv"], "nothing was written");
}

#[test]
fn unsupported_ports_are_refused_by_name() {
    let good = "input clk, input d, output q";
    let a = "b --top a a.sv";
    for (ports, more, number, at) in [
        (good, "--clock foo", "E0309", "input foo; its 1-bit inputs are clk, d"),
        ("input clk, input d", "", "E0309", "output"),
        ("input clk, input d, output real level", "", "E0309", "`level`"),
        ("input clk, input string text, output q", "", "E0309", "`text`"),
        (good, "--reset d2", "E0309", "d2; did you mean `d`"),
        (good, "--cosim .", "E0315", "core/Cargo.toml"),
        ("input clk, inout pad [2], output q", "", "E0309", "`pad`"),
        ("input real level [2], output q", "", "E0309", "`level`"),
        ("interface b, output q", "", "E0309", "`b`"),
    ] {
        refused(&format!("module a({ports}); endmodule\n"), &format!("{a} {more}"), number, at);
    }
    let foreign = "import \"DPI-C\" function int twice(input int a);\n\
                   module a(input clk, input [31:0] d, output [31:0] q); assign q = twice(d); endmodule\n";
    refused(foreign, a, "E0310", "`twice`");
    let table = "module a(input clk, input d, output q); reg m[0:0]; initial $readmemh(\"NAME\", m); assign q = m[d]; \
                 endmodule\n";
    refused(&table.replace("NAME", "none.hex"), a, "E0311", "a.sv:1");
    refused(&table.replace("NAME", "/dev/null/x"), a, "E0311", "/dev/null/x");
    let clock = "module a(input d, output logic q, output logic c); always @(posedge c) q <= d;\n\
                 always #5 c = ~c; endmodule\n";
    refused(clock, a, "E0318", "a.sv:2: ");
    let bus = "interface bus; real level; logic d; modport m(input level, d); endinterface\n\
               module a(bus.m b, output q); endmodule\n";
    refused(bus, a, "E0309", "`b.level`");
    let parameters =
        "module a #(parameter int N, parameter type T)(input clk, T d, output q); endmodule\n";
    refused(parameters, a, "E0316", "--parameter ");
    refused(parameters, &format!("{a} --parameter N=3"), "E0316", "--parameter T=VALUE");
    let width = "module a #(parameter N = 2)(input clk, input [N-1:0] d, output q); endmodule\n";
    refused(width, &format!("{a} --clock d"), "E0309", "--clock");
    refused(width, &format!("{a} --parameter M=3"), "E0312", "M");
    refused(width, &format!("{a} --parameter N=3,4"), "E0308", "`d`");
    // Defaults that only stand for a value.
    let unset = "module a #(int N = -1)(input clk, input [N-1:0][1:0] d, output q); endmodule\n";
    refused(unset, a, "E0316", "port `d` of a has a range that begins below 0");
    let buses = |number: &str| {
        format!(
            "interface bus; logic d; modport m(input d); endinterface\n\
             module a #(int N = {number})(input clk, bus.m b[N-1:0], output q); endmodule\n"
        )
    };
    refused(&buses("0"), a, "E0316", "that are 0 or -1: N");
    refused(&buses("65"), a, "E0309", "more than 64 interfaces");
    let member =
        "module a #(type T = logic)(input clk, input T d, output q); assign q = d.x; endmodule\n";
    refused(member, a, "E0307", "T is logic");
    let good = &format!("module a({good}); endmodule\n");
    refused(good, "b --top c a.sv", "E0303", "c");
    refused(good, "b --top a none.sv", "E0301", "none.sv");
    refused(good, &format!("{a} --verilator-option '-f a.sv'"), "E0317", "\"-f a.sv\"");
    refused(good, "../b --top a a.sv", "E0101", "NAME");
}

/// Does `cosim new` drive what a first run needs, and name what could keep the block from moving?
#[test]
fn no_first_run_is_dead_or_illegal_in_silence() {
    let stream = "input s_axis_tvalid, output s_axis_tready, input [7:0] s_axis_tdata";
    for (ports, body, expected) in [
        // Connected by position.
        (
            "input aclk, bclk, d, output p, q",
            "sub a(aclk, d, p); sub b(.c(bclk), .d, .q);",
            "clocks aclk, bclk",
        ),
        (
            &*format!("input S_AXI_ACLK, S_AXI_ARESETN, i_reset, {stream}"),
            "sub a(S_AXI_ACLK, i_reset, s_axis_tready);",
            "reset i_reset, 1 in reset, reset S_AXI_ARESETN, 0 in reset",
        ),
        (
            &*format!("input clk, input ref_clk, {stream}"),
            "sub a(clk, ref_clk, s_axis_tready);",
            "warning: ref_clk: called a clock",
        ),
        (
            &*format!("input clk, input [1:0] s_valid, output [1:0] s_ready, {stream}"),
            "sub a(clk, s_valid[0], s_axis_tready); assign s_ready = 0;",
            "source s_1 (s_valid[1], s_ready[1])",
        ),
        (
            &*format!("input clk, input flush_req, {stream}"),
            "sub a(clk, flush_req, s_axis_tready);",
            "warning: flush_req: held at 0",
        ),
        (
            &*format!("input clk, input odd_gnt, {stream}"),
            "sub a(clk, odd_gnt, s_axis_tready);",
            "warning: odd_gnt: random",
        ),
        (
            "input clk, output req_o, input gnt_i, rvalid_i, output we_o, output [7:0] addr_o, wdata_o, input [7:0] rdata_i",
            "sub a(clk, gnt_i, req_o);",
            "warning: r: offers answers",
        ),
    ] {
        let sub =
            "module sub(input c, input d, output reg q); always @(posedge c) q <= d; endmodule";
        let place = Place::with_files(&[(
            "a.sv",
            &*format!("module a({ports}); {body} endmodule\n{sub}\n"),
        )]);
        place.prints(0, &[expected], "new b --top a a.sv");
    }
}

/// Folders of repositories have links, parts of modules, and several versions of a module.
#[test]
fn a_folder_may_hold_what_the_top_does_not_need() {
    let part =
        "module part(input clk, input a, output reg b); always @(posedge clk) b <= a; endmodule\n";
    let top = "`include \"../inc/defs.vh\"\n`include \"pkg/types.svh\"\n\
               module Fifo(input clk, input `T [`BITS-1:0] a, output b);\n  \
               wire part_x;\n  part p(.clk, .a(1'(a)), .b);\nendmodule\n";
    let place = Place::with_files(&[
        ("r/rtl/Fifo.sv", top),
        ("r/rtl/part.sv", part),
        ("r/inc/defs.vh", "`define T logic\n"),
        ("r/inc/pkg/types.svh", "`define TYPES 1\n"),
        ("r/z/macros.v", "`define BITS `TYPES\n"),
        ("r/rtl/checks.sv", "  // of a bench\n  check_task(a);\n"),
        ("r/z/list.sv", "`include \"a_sequence.sv\"\n"),
        ("r/z/a_sequence.sv", "class a_sequence; `of_a_library(a_sequence) endclass\n"),
        ("r/rtl/other_ff.sv", "module part_x(input a); endmodule\n"),
        ("r/rtl/other_latch.sv", "module part_x(input b); endmodule\n"),
    ]);
    // Each leads to all of the project again.
    (0..20).for_each(|number| place.link("..", &format!("r/rtl/around{number}")));
    for (name, to) in [("up", ".."), ("inc", "../inc"), ("broken.sv", "nowhere")] {
        place.link(to, &format!("r/rtl/{name}"));
    }
    place.exits(0, "new one --top Fifo r");
    assert_eq!(place.names("one/rtl"), ["inc", "rtl"]);
    assert_eq!(place.names("one/rtl/inc"), ["defs.vh"]);
    assert_eq!(place.names("one/rtl/rtl"), ["Fifo.sv", "macros.v", "part.sv", "pkg"]);
    assert_eq!(place.names("one/rtl/rtl/pkg"), ["types.svh"]);
    place.fails("E0303", "no module Fif; did you mean `Fifo`?", "new two --top Fif r");
    place.fails("E0303", "its modules are Fifo, part, part_x", "new two --top zzz r");
    // What is wrong with what the top needs, and not with the fragment.
    let [misspelt, missing] = [("posedge", "possedge"), ("always", "none n(); always")]
        .map(|(from, to)| part.replace(from, to));
    for (first, second, number, named) in [
        (&*misspelt, "", "E0307", &["r/rtl/part.sv:1:"][..]),
        (&*missing, "", "E0307", &["r/rtl/part.sv:1:", "'none'", "Name the missing file"]),
        (part, part, "E0304", &["r/rtl/part.sv:1", "r/rtl/z_part.sv:2"]),
    ] {
        place.write("r/rtl/part.sv", first);
        place.write("r/rtl/z_part.sv", &format!("\n{second}"));
        let output = place.run("new two --top Fifo r");
        assert_error_at(&output, number, named);
        let printed = text(&output);
        let others = ["checks.sv", "Looked in", "sequence"];
        assert!(!others.iter().any(|words| printed.contains(words)), "{printed}");
    }
}

/// Options of the project, strings without quotes, ports with a net type, delays; and messages
/// about what the user wrote.
#[test]
fn a_module_is_taken_as_verilator_takes_it() {
    let rtl = "`timescale 1ns/1ps\nmodule a #(parameter MODE = \"FAST\") (input wire clk, input wire logic d, input tri t,\n  \
               input var logic v, output wire p, output reg q);\n  assign #2 p = d ^ t;\n  \
               // verilator lint_off SOMENEWCODE\n  \
               always @(posedge clk) q <= #1 MODE == \"SLOW\" ? v : d;\nendmodule\n";
    let place = Place::with_files(&[("src/a.sv", rtl)]);
    let output = place.run("new b --top a src/a.sv");
    assert_error_at(&output, "E0307", &["src/a.sv:5:"]);
    let printed = text(&output);
    assert!(printed.contains("--verilator-option") && !printed.contains("cosim_ask"), "{printed}");
    let future = "src/a.sv --verilator-option -Wfuture-SOMENEWCODE --parameter";
    let words = ["3 inputs and 2 outputs", "warning: delays (#) are ignored", "src/a.sv:4"];
    place.prints(0, &words, &format!("new b --top a {future} MODE=SLOW"));
    let option = r#".verilator_option("-Wfuture-SOMENEWCODE")"#;
    assert_contains(&place.text("b/build.rs"), &[option]);
    assert_contains(&place.text("b/rtl/a_wrapper.sv"), &[r#"parameter MODE = "SLOW""#]);
    // A string has any letters.
    place.exits(0, &format!("new c --top a {future} MODE=x+"));
    // A message about the module around the top names the top.
    let number = "module n #(parameter N = 1) (input clk, input d, output q); endmodule\n";
    place.write("src/n.sv", number);
    let output = place.run("new d --top n src/n.sv --parameter N=X");
    assert_error_at(&output, "E0307", &["module n: "]);
    let printed = text(&output);
    assert!(!printed.contains("cosim_ask") && !printed.contains("/tmp"), "{printed}");
}

/// A file that another one includes is read once, even if it is in the given folder. Without an
/// include guard, it cannot be included twice, and it is not declared twice.
#[test]
fn an_included_interface_is_declared_once() {
    let bus = "interface bus(input clk); logic d; modport sink(input clk, d); endinterface\n";
    let part =
        "module part(bus.sink b, output logic q); always_ff @(posedge b.clk) q <= b.d; endmodule\n";
    let top = "`include \"bus.sv\"\nmodule a(input clk, input rst, input d, output q);\n\
               bus b(.clk); assign b.d = d; part p(.b, .q); endmodule\n";
    let place = Place::with_files(&[("rtl/bus.sv", bus), ("rtl/part.sv", part), ("rtl/a.sv", top)]);
    place.exits(0, "new one --top a rtl");
    place.write("rtl/part.sv", &format!("`include \"bus.sv\"\n{part}"));
    let printed = place.exits(2, "new two --top a rtl");
    assert!(printed.contains("rtl/bus.sv:1") && !printed.contains("both"), "{printed}");
}

#[test]
fn existing_files_are_not_overwritten() {
    let module = "module a(input CLK, input RST_N, input d, output q); endmodule\n";
    let place = Place::with_files(&[("a.v", module), ("full/mine.txt", "mine"), ("file", "mine")]);
    std::fs::create_dir(place.path("empty")).unwrap();
    // An empty folder is filled, and is not empty then.
    let reset = "clock CLK, reset RST_N, 1 in reset";
    place.prints(0, &[reset], "new empty --top a a.v --reset RST_N=1");
    assert!(place.has_file("empty/src/golden.rs"));
    for name in ["full", "file", "empty"] {
        place.fails("E0602", name, &format!("new {name} --top a a.v"));
    }
    assert_eq!(place.names("full"), ["mine.txt"]);
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

#[test]
fn names_of_the_rtl_are_no_code_in_the_crate() {
    // Verilator has read the wrapper. Unit tests check the types, and the slow test compiles them.
    let new = Outside::new("odd-names", HOSTILE, "--top odd", &[]);
    let lines = [".\\use (p::e_t'(use_pin))", ".\\a+b (a_b)", ".\\n\"; (\\n\"; )"];
    assert_contains(&new.text("rtl/odd_wrapper.sv"), &lines);
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

#[test]
#[ignore = "slow: builds two crates"]
fn crates_with_any_names_and_widths_build_and_move_packets() {
    Outside::new("odd-names", HOSTILE, "--top odd", &[]).lints();
    let lines = [
        "inputs in no channel, held by `tie` in src/lib.rs: enable = 1, flush_n = 1",
        "random values by `vary` in src/lib.rs: key, CLOCKS, PROGRAM, self, type_pin",
        "source push (winc, !wfull)",
        "source s_axis (S_AXIS_TVALID, S_AXIS_TREADY)",
    ];
    let new = Outside::new("odd", CHANNELS, "--top channels", &lines);
    assert_contains(&new.text("README.md"), &["`key` has random values", "vary key[65];"]);
    new.lints();
    let printed = new.exits(1, "run --cases 5 --scenario default");
    assert!(printed.starts_with("NO GOLDEN MODEL"), "{printed}");
    assert!(!printed.contains("no packet moved"), "{printed}");
}
