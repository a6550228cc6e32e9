//! Changes of small modules, with the lines counted by hand.

use super::*;

const OLD: &str = "\
`line 1 \"a b.sv\" 1
module m(input clk, output reg [3:0] q);
  wire w = q[0];
  always @(posedge clk) begin
    case (q)
      4'd1: begin
        q <= 2; // comment
      end
      4'd2: q <= 3;
      default: q <= 5;
    endcase
  end
endmodule
";

fn all_tokens(text: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    tokens(text, &mut all);
    all
}

/// A text with one replacement.
fn after(from: &str, to: &str) -> String {
    assert!(OLD.contains(from), "{from}");
    OLD.replacen(from, to, 1)
}

#[test]
fn blanks_comments_and_moved_lines_change_nothing() {
    for (from, to) in [
        ("// comment", "// begin other"),
        ("q <= 2;", "q<=\n2 ;"),
        ("module m", "/* begin\n end */ module m"),
    ] {
        assert_eq!(all_tokens(OLD), all_tokens(&after(from, to)), "{from} -> {to}");
    }
    assert_ne!(all_tokens(OLD), all_tokens(&after("wire w", "/*verilator public*/ wire w")));
}

/// Blanks that make other operators, and blanks and comments inside of strings.
#[test]
fn another_token_is_a_change() {
    for (old, new) in [
        ("a && b", "a & &b"),
        ("a || b", "a | |b"),
        ("a << 1", "a < < 1"),
        ("10ns", "10 ns"),
        ("\"a\\\n  b\"", "\"a\\\n b\""),
        ("\"a\\\n  // b\"", "\"a\\\n  // c\""),
        ("\"a /* b */\"", "\"a /* c */\""),
        ("unique case", "case"),
        ("(* a *) b", "b"),
        ("`default_nettype none", "`default_nettype wire"),
        ("/* verilator public */ a", "a"),
        ("`systemc_header\nint a = ' ';", "`systemc_header\nint a = '  ';"),
    ] {
        let at = |text: &str| format!("`line 7 \"a.v\" 1\n{text}\n");
        let (old, new) = (at(old), at(new));
        assert_ne!(all_tokens(&old), all_tokens(&new));
        assert!(!lines_between(&all_tokens(&old), &all_tokens(&new)).is_empty(), "{old}{new}");
    }
    // Texts for the comparison of whole RTLs.
    let rtl = |text: &str| {
        let simulated = [Vec::new(), vec![text.to_owned()]];
        PreprocessedRtl { simulated, ..PreprocessedRtl::default() }
    };
    assert!(is_same(&rtl("a &&b"), &rtl("`line 7 \"a.v\" 1\na\n && b // c")));
    assert!(!is_same(&rtl("a && b"), &rtl("a & &b")));
    assert!(!is_same(&rtl("\"a\\\n  b\""), &rtl("\"a\\\n b\"")));
    // The lines behind a string over several lines count on.
    let old = "`line 5 \"a.v\" 1\nalways_comb begin x = \"begin\\\n begin\";\nif (y) begin\nz = 1; end end";
    let new = old.replace("z = 1", "z = 2");
    assert_eq!(lines_between(&all_tokens(old), &all_tokens(&new)), ["a.v:8".to_owned()].into());
}

#[test]
fn broken_text_is_no_panic() {
    for text in ["always @(", "\"", "/*", "\\", "`line x"] {
        lines_between(&all_tokens(text), &all_tokens(""));
        lines_between(&all_tokens(OLD), &all_tokens(text));
    }
}

#[test]
fn lines_of_the_new_text_that_differ_are_found() {
    let numbers = |from: &str, to: &str| -> Vec<u32> {
        let lines = lines_between(&all_tokens(OLD), &all_tokens(&after(from, to)));
        lines.iter().map(|line| line.strip_prefix("a b.sv:").unwrap().parse().unwrap()).collect()
    };
    assert_eq!(numbers("q <= 2; // comment", "q <= 4;"), [6]);
    assert!(numbers("q <= 2; // comment", "q <= 2; // other").is_empty());
    assert_eq!(numbers("4'd2: q <= 3;", "4'd2:\n q <= 3;"), [8, 9]);
    // What is beside a deleted line.
    assert_eq!(numbers("      4'd2: q <= 3;\n", ""), [7, 8]);
}
