//! Tests that the weaver handles each kind of difference, and reports each bug that it cannot
//! weave.

use super::{WeaveError, Woven, weave};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const GOOD: &str = "
module top #(parameter W = 8) (
  input wire clk, input wire rst, input wire [W-1:0] a, input wire s,
  output reg [W-1:0] q, output wire [W-1:0] y, output wire z
);
  localparam [W-1:0] ONE = 1;
  wire [W-1:0] sum = a + ONE, half = sum >> 1;
  wire [W-1:0] part;
  function [W-1:0] twice;
    input [W-1:0] x;
    twice = x << 1;
  endfunction
  reg [W-1:0] d;
  always @* begin
    d = q;
    case (s)
      1'b0: d = sum;
      default: if (q == ONE) d = half; else d = twice(a);
    endcase
  end
  always @(posedge clk or posedge rst)
    if (rst) q <= 0;
    else q <= d;
  inner #(.W(W)) below (.i(part), .o(y));
  assign {part, z} = {a, s};
endmodule
module inner #(parameter W = 1) (input wire [W-1:0] i, output wire [W-1:0] o);
  assign o = ~i;
endmodule
";

/// The text with bugs, each made from the good text by replacements.
fn woven(bugs: &[&[(&str, &str)]]) -> Woven {
    let bug = |(number, parts): (u32, &&[(&str, &str)])| {
        let bug = parts.iter().fold(GOOD.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        (number, bug)
    };
    let bugs: Vec<(u32, String)> = (1..).zip(bugs).map(bug).collect();
    let bugs: Vec<(u32, &str)> =
        bugs.iter().map(|(number, text)| (*number, text.as_str())).collect();
    weave(GOOD, "top", &bugs).unwrap()
}

/// The woven text of one bug, accepted by Verilator.
fn text(bug: &[(&str, &str)]) -> String {
    let Woven { text, unwoven } = woven(&[bug]);
    assert!(unwoven.is_empty(), "{unwoven:?}");
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("woven.sv"), &text).unwrap();
    let mut verilator = Command::new("verilator");
    verilator.args(["--lint-only", "-Wno-fatal", "--top-module", "top", "woven.sv"]);
    let output = verilator.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a bug is not woven.
fn reason(bug: &[(&str, &str)]) -> String {
    let WeaveError(reason) = woven(&[bug]).unwoven.remove(&1).unwrap();
    reason
}

#[test]
fn a_package_comes_before_the_modules_that_use_it() {
    let package = "package p; localparam int ONE = 1; endpackage\n";
    let good = format!("module top(output wire [1:0] y); assign y = p::ONE; endmodule\n{package}");
    let bug = good.replace("= p::ONE", "= p::ONE + 1");
    let Woven { text, unwoven } = weave(&good, "top", &[(1, &bug)]).unwrap();
    assert!(unwoven.is_empty(), "{unwoven:?}");
    assert!(text.find("package p ;") < text.find("module top ("), "{text}");
    // A bug in the package itself is not woven.
    let bug = good.replace("ONE = 1", "ONE = 2");
    let Woven { unwoven, .. } = weave(&good, "top", &[(1, &bug)]).unwrap();
    assert!(unwoven.contains_key(&1), "{unwoven:?}");
}

#[test]
fn an_assignment_is_chosen_from_nets_of_its_width() {
    let text = text(&[("a + ONE", "a - ONE"), ("{a, s}", "{a, !s}")]);
    assert!(text.contains("wire [ $bits ( sum ) - 1 : 0 ] cosim_0__bug_1 ;"), "{text}");
    assert!(text.contains("assign cosim_0__bug_1 = a - ONE ;"));
    assert!(
        text.contains(
            "assign sum = cosim_mutation::selected == 1 ? cosim_0__bug_1 : cosim_good_0 ;"
        )
    );
    assert!(text.contains("wire [ $bits ( { part , z } ) - 1 : 0 ]"));
}

#[test]
fn the_smallest_statement_that_differs_is_chosen() {
    let text = text(&[("d = half", "d = sum")]);
    assert!(text.contains(
        "if ( q == ONE ) begin if ( cosim_mutation::selected == 1 ) d = sum ; else d = half ; end else d"
    ));
}

#[test]
fn a_condition_is_chosen_as_what_is_true() {
    let text = text(&[("q == ONE", "q + ONE")]);
    assert!(text.contains(
        "if ( cosim_mutation::selected == 1 ? ! ! ( q + ONE ) : ! ! ( q == ONE ) ) d = half"
    ));
}

#[test]
fn a_case_with_other_labels_is_chosen_as_a_whole() {
    let text = text(&[("1'b0: d", "1'b1: d")]);
    assert!(text.contains("if ( cosim_mutation::selected == 1 ) case ( s ) 1'b1 : d = sum ;"));
}

#[test]
fn statements_come_and_go() {
    let text = text(&[("d = q;", ""), ("endcase", "endcase\nd[0] = s;")]);
    assert!(text.contains("begin if ( cosim_mutation::selected != 1 ) d = q ; case"));
    assert!(text.contains("endcase if ( cosim_mutation::selected == 1 ) d [ 0 ] = s ; end"));
}

#[test]
fn an_else_comes_with_its_own_if() {
    let text = text(&[("else d = twice(a);", "")]);
    assert!(text.contains("else if ( cosim_mutation::selected == 1 ) ; else d = twice ( a ) ;"));
}

#[test]
fn a_changed_declaration_is_renamed_at_all_uses() {
    let text = text(&[("localparam [W-1:0] ONE = 1", "localparam [W-1:0] ONE = 2")]);
    assert!(text.contains("localparam [ W - 1 : 0 ] ONE__bug_1 = 2 ;"));
    assert!(text.contains("= a + ONE__bug_1 ;"));
    assert!(text.contains("! ! ( q == ONE__bug_1 )"));
}

#[test]
fn functions_and_registers_of_another_width_have_another_name() {
    let text = text(&[("x << 1", "x << 2"), ("reg [W-1:0] d;", "reg [W:0] d;")]);
    assert!(text.contains("reg [ W : 0 ] d__bug_1 ;"));
    assert!(text.contains("d__bug_1 = twice__bug_1 ( a ) ;"));
}

#[test]
fn bugs_that_declare_the_same_name_have_one_each() {
    let bug =
        &[("reg [W-1:0] d;", "reg [W-1:0] d; wire [W-1:0] e = ~a;"), ("{a, s}", "{e, s}")][..];
    let Woven { text, unwoven } = woven(&[bug, bug]);
    assert!(unwoven.is_empty());
    assert!(text.contains("assign e__bug_1 = ") && text.contains("assign e__bug_2 = "));
}

#[test]
fn a_process_with_other_edges_is_duplicated() {
    let text = text(&[("always @(posedge clk or posedge rst)", "always @(posedge clk)")]);
    assert!(
        text.contains(
            "always @ ( posedge clk or posedge rst ) if ( cosim_mutation::selected != 1 )"
        )
    );
    assert!(text.contains("always @ ( posedge clk ) if ( cosim_mutation::selected == 1 )"));
}

#[test]
fn an_initial_process_reads_the_number_itself() {
    let text = text(&[("reg [W-1:0] d;", "reg [W-1:0] d; initial q = ONE;")]);
    assert!(text.contains("initial if ( cosim_mutation::number() == 1 ) q = ONE ;"));
}

#[test]
fn an_instance_with_other_connections_is_duplicated() {
    let text = text(&[(".W(W)", ".W(4)"), (".i(part)", ".i(part[3:0])")]);
    assert!(text.contains("inner # ( . W ( 4 ) ) below__bug_1 ( . i ( part [ 3 : 0 ] ) , . o ( cosim_below__bug_1_o ) ) ;"));
    assert!(text.contains(
        "assign y = cosim_mutation::selected == 1 ? cosim_below__bug_1_o : cosim_below_o ;"
    ));
}

#[test]
fn equal_items_are_not_duplicated() {
    let text = text(&[("~i", "i")]);
    assert_eq!(text.matches("cosim_mutation::selected").count(), 2);
}

#[test]
fn a_bug_that_cannot_be_woven_is_reported_with_the_reason() {
    for (bug, expected) in [
        (("input wire s,", "input wire s, t,"), "the ports or parameters of a module differ"),
        (("inner #(.W", "other #(.W"), "an instance of another module"),
        (("below (", "beside ("), "other instances"),
        ((".o(y)", ".o()"), "an instance drives other signals"),
        (("assign {part, z} = {a, s};", ""), "`{ part , z }` is not assigned"),
        (("reg [W-1:0] d;", "reg [W-1:0] d; assign y = a;"), "`y` is assigned"),
        (("always @* begin", "always @(a) begin"), "a combinational process is added or removed"),
        (
            ("reg [W-1:0] d;", "if (W > 1) assign y = a;"),
            "an item of a module that begins with `if`",
        ),
        (("module inner", "module deeper"), "other modules"),
        (("~i", "~ /* nothing */ i"), "it does not differ from the good RTL"),
    ] {
        assert_eq!(reason(&[bug]), expected, "{bug:?}");
    }
}

#[test]
fn a_bug_that_cannot_be_woven_does_not_stop_the_others() {
    let Woven { text, unwoven } =
        woven(&[&[("input wire s,", "input wire s, t,")], &[("~i", "i")]]);
    assert_eq!(unwoven.into_keys().collect::<Vec<_>>(), [1]);
    assert!(text.contains("cosim_mutation::selected == 2"));
}
