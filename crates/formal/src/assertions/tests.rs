//! What is read of a file of assertions, and what is refused.

use super::*;
use cosim_rtl::yosys::{YosysSession, verilog};

const RTL: &str = "module inner(input clk, input rst, output reg [3:0] q);
    always @(posedge clk or posedge rst) if (rst) q <= 0; else q <= q == 9 ? 0 : q + 1;
endmodule
module top(input clk, input rst, input [3:0] d, output reg [3:0] x);
    inner i(.clk(clk), .rst(rst), .q());
    always @(posedge clk or posedge rst) if (rst) x <= 0; else x <= d;
endmodule";

const FILE: &str = "// Assertions of top; `bind` in a comment is none.
module top_sva #(parameter int D = 3) (
  input logic clk,
  input logic rst,
  input logic [3:0] d,
  input logic [3:0] x,
  input logic [3:0] i_q
);
  wire [3:0] sum = i_q + d;
  always @(posedge clk) if (!rst) begin
    // property: the counter is
    // at most 9
    a_small: assert (i_q < 4'd7 + D[3:0]);
    a_sum: assert (sum == i_q + d);
  end
endmodule
`ifndef YOSYS
bind top top_sva #(.D(D)) top_sva_i (.*, .i_q(i.q));
`endif
`default_nettype wire
";

fn read(text: &str) -> Result<Assertions, Error> {
    let mut examined = verilog(RTL);
    examined.assertions = Some(AssertionFile::from_text("top", text));
    let session = YosysSession::new(&examined).unwrap();
    let parameters = [("D".to_owned(), "3".to_owned()), ("OTHER".to_owned(), "1".to_owned())];
    Assertions::with(&session, &["clk", "rst", "d", "x"], &parameters).map(Option::unwrap)
}

#[test]
fn assertions_have_words_and_signals_have_places() {
    let found = read(FILE).unwrap();
    let words: Vec<[&str; 2]> =
        found.all.iter().map(|one| [one.label.as_str(), one.text.as_str()]).collect();
    assert_eq!(words, [["a_small", "the counter is at most 9"], ["a_sum", "a_sum"]]);
    let signal = Signal { name: "i_q".to_owned(), path: "i.q".to_owned(), width: 4, line: 18 };
    assert_eq!(found.signals, [signal]);
    assert_eq!(
        [found.width("i_q"), found.width("sum"), found.width("d")],
        [Some(4), Some(4), None]
    );
    let instance = found.instance("sum == 4'd1");
    assert!(instance.contains("wire [3:0] sum;") && instance.contains(".i_q(i_q)"), "{instance}");
    assert!(!found.instance("").contains("sum"), "wires that are not used are left out");
}

#[test]
fn strings_and_comments_hold_neither_labels_nor_a_bind() {
    let text = FILE
        .replace("  always @", "  wire s = \"a_sum: bind // /*\" == \"\";\n  always @")
        .replace("(.*, .i_q(i.q))", "(.*, .i_q( i . /* the\ncounter */ q ))");
    let found = read(&text).unwrap();
    assert_eq!(found.all.iter().map(|one| &*one.text).next(), Some("the counter is at most 9"));
    let signal = Signal { name: "i_q".to_owned(), path: "i.q".to_owned(), width: 4, line: 19 };
    assert_eq!(found.signals, [signal]);
}

#[test]
fn what_cannot_be_used_is_an_error_with_its_place() {
    for (old, new, number, line, words) in [
        ("i_q < 4'd7", "i_w < 4'd7", "E0503", 13, "i_w"),
        ("sum == i_q", "sum === @ i_q", "E0506", 14, "syntax"),
        ("a_small: assert", "a_small: assume", "E0506", 13, "assume"),
        ("a_small: assert", "assert", "E0506", 13, "label"),
        (".i_q(i.q)", ".i_q(i.q + 1)", "E0506", 18, "expression"),
        (".i_q(i.q)", "i.q", "E0506", 18, "bind"),
        ("input logic [3:0] i_q", "output logic [3:0] i_q", "E0506", 7, "output"),
    ] {
        let text = FILE.replacen(old, new, 1);
        assert_ne!(text, FILE, "{old}");
        let error = read(&text).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.code().to_string(), number, "{message}");
        assert!(message.starts_with(&format!("rtl/top_sva.sv:{line}:1: ")), "{message}");
        assert!(message.contains(words), "{words}: {message}");
    }
    let other = read("module other(input clk); endmodule\n").unwrap_err();
    assert_eq!(other.code().to_string(), "E0506", "{other}");
}
