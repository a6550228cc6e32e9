//! Changes of small modules, with the lines counted by hand.

use super::*;

/// A process with a case, nested blocks, and a function outside.
const OLD: &str = "\
`line 1 \"a b.sv\" 1
module m(input clk, rst, output reg [3:0] q);
  function f(input x); begin f = !x; end endfunction
  wire w = f(q[0]);
  always @(posedge clk or posedge rst) begin
    if (rst) begin
      q <= 0;
    end else begin
      case (q)
        4'd1: begin
          q <= 2; // comment
        end
        4'd2: q <= 3;
        default: begin
          if (w) begin
            q <= 5;
          end
          q[3] <= 1;
        end
      endcase
    end
  end
  always_comb begin : named
    if (w) begin : inner $display(\"begin \\\" end\"); end
  end
endmodule
";

fn all(text: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    tokens(text, &mut all);
    all
}

/// The result of replacing the first occurrence of a text.
fn after(from: &str, to: &str) -> Changed {
    assert!(OLD.contains(from), "{from}");
    let new = OLD.replacen(from, to, 1);
    between(&all(OLD), &all(&new))
}

/// Which lines of the old RTL a case must execute to see the change; `None`: any case sees it.
#[test]
fn a_change_is_in_the_innermost_block_that_holds_all_of_it() {
    const TAIL: &str = "q <= 5;\n          end\n          q[3] <= 1;";
    for (from, to, expected) in [
        ("q <= 2;", "q <= 4;", Some(10..=10)),
        ("q <= 2;", "", Some(10..=10)),
        ("q <= 2;", "q <= 2; if (w) begin q <= 7; end", Some(10..=10)),
        ("q <= 5;", "q <= 6;", Some(15..=15)),
        ("q[3] <= 1;", "q[2] <= 1;", Some(14..=17)),
        ("if (w) begin\n", "if (!w) begin\n", Some(14..=17)),
        // Two places in one block.
        (TAIL, "q <= 6;\n          end\n          q[3] <= 0;", Some(14..=17)),
        // An item without a block, and the value of an item with one, decide what others do.
        ("4'd2: q <= 3;", "4'd2: q <= 4;", Some(8..=19)),
        ("4'd1: begin", "4'd3: begin", Some(8..=19)),
        ("4'd2: q <= 3;", "4'd2: q <= 3; 4'd3: q <= 1;", Some(8..=19)),
        // Blocks that end elsewhere.
        (TAIL, "q <= 5;\n          q[3] <= 1; end", Some(8..=19)),
        ("$display", "$write", Some(23..=23)),
        // The process itself, and what is outside of processes.
        ("if (rst) begin", "if (!rst) begin", None),
        ("end else begin", "end begin", None),
        ("posedge rst", "negedge rst", None),
        ("f = !x", "f = x", None),
        ("wire w = f", "wire w = !f", None),
        ("[3:0] q", "[4:0] q", None),
        ("endmodule", "always @* begin q = 1; end endmodule", None),
    ] {
        match (after(from, to), expected) {
            (Changed::Blocks(blocks), Some(lines)) => {
                let block: BTreeSet<Line> = blocks.into_iter().flatten().collect();
                assert!(block.iter().all(|(file, _)| file == "a b.sv"), "{block:?}");
                let found: Vec<u32> = block.iter().map(|(_, line)| *line).collect();
                assert_eq!(found, lines.collect::<Vec<_>>(), "{from} -> {to}");
            }
            (Changed::Anything(place), None) => assert!(place.starts_with("a b.sv:"), "{place}"),
            (other, expected) => panic!("{from} -> {to}: {other:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn blanks_comments_and_moved_lines_change_nothing() {
    for (from, to) in [
        ("// comment", "// begin other"),
        ("q <= 2;", "q<=\n2 ;"),
        ("module m", "/* begin\n end */ module m"),
    ] {
        assert_eq!(after(from, to), Changed::Nothing, "{from} -> {to}");
    }
    assert_ne!(after("wire w", "/*verilator public*/ wire w"), Changed::Nothing);
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
        assert_ne!(between(&all(&old), &all(&new)), Changed::Nothing, "{old}{new}");
        assert!(!lines_between(&all(&old), &all(&new)).is_empty(), "{old}{new}");
    }
    // Texts for the comparison of whole RTLs.
    let rtl = |text: &str| {
        let simulated = [Vec::new(), vec![text.to_owned()]];
        PreprocessedRtl { simulated, ..PreprocessedRtl::default() }
    };
    assert!(is_same(&rtl("a &&b"), &rtl("`line 7 \"a.v\" 1\na\n && b // c")));
    assert!(!is_same(&rtl("a && b"), &rtl("a & &b")));
    assert!(!is_same(&rtl("\"a\\\n  b\""), &rtl("\"a\\\n b\"")));
    // Strings over lines have no blocks inside, and the lines that follow count on.
    let old = "`line 5 \"a.v\" 1\nalways_comb begin x = \"begin\\\n begin\";\nif (y) begin\nz = 1; end end";
    let new = old.replace("z = 1", "z = 2");
    let found = between(&all(old), &all(&new));
    assert_eq!(found, Changed::Blocks(vec![[("a.v".to_owned(), 8)].into()]));
}

#[test]
fn changes_in_two_places_are_two_blocks() {
    for (from, to) in [("$display", "$write"), ("q <= 5;", "q <= 6;")] {
        let new = OLD.replacen("q <= 2;", "q <= 4;", 1).replacen(from, to, 1);
        let Changed::Blocks(blocks) = between(&all(OLD), &all(&new)) else { panic!("no blocks") };
        assert_eq!(blocks.len(), 2, "{to}");
    }
}

#[test]
fn broken_text_is_no_panic() {
    let broken = ["always @(", "always @", "always begin", "\"", "/*", "\\", "`line x"];
    for text in broken.into_iter().chain(["always @) begin end", "end end"]) {
        between(&all(text), &all(""));
        between(&all("always begin begin end end"), &all(text));
    }
}

#[test]
fn lines_of_the_new_text_that_differ_are_found() {
    let numbers = |from: &str, to: &str| -> Vec<u32> {
        let new = OLD.replacen(from, to, 1);
        let lines = lines_between(&all(OLD), &all(&new));
        lines.iter().map(|line| line.strip_prefix("a b.sv:").unwrap().parse().unwrap()).collect()
    };
    assert_eq!(numbers("q <= 2; // comment", "q <= 4;"), [10]);
    assert!(numbers("q <= 2; // comment", "q <= 2; // other").is_empty());
    assert_eq!(numbers("4'd2: q <= 3;", "4'd2:\n q <= 3;"), [12, 13]);
    // What is beside a deleted line.
    assert_eq!(numbers("        4'd2: q <= 3;\n", ""), [11, 12]);
}
