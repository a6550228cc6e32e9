//! Small RTLs by hand: what is reached, what is not, and what only illegal traffic reaches.

use super::*;
use crate::certificate::{Evidence, certify};
use crate::monitor::{Monitor, TOP};
use crate::portfolio::{EQUIVALENCE, FIRST_CYCLES, INDUCTION, INDUCTION_STEP, QUICK_DIFFERENCE};
use cosim_aig::EquivalenceQuery;

/// A module with its points, which are given as kind, details, and the text at which they are; the
/// offer is `v`.
fn closure(body: &str, points: &[(Kind, &str, &str)]) -> Closure {
    asserted(body, points, ["1'b0"; 2])
}

/// Such a module with two expressions, each of which is 1 while an assertion fails.
fn asserted(body: &str, points: &[(Kind, &str, &str)], fails: [&str; 2]) -> Closure {
    let [first, second] = fails;
    let text = format!(
        "module top(input clk, input rst, input v, input r, input [3:0] d, output y,\n\
         output cosim_offer_0, output cosim_help_0, output cosim_help_1);\n\
         assign cosim_help_0 = {first}; assign cosim_help_1 = {second};\n\
         reg waits; assign cosim_offer_0 = waits & ~v & ~rst;\n\
         always @(posedge clk) waits <= ~rst & v & ~r;\n{body}\nendmodule\n"
    );
    let session = YosysSession::from_verilog("module top; endmodule");
    session.write("cosim.v", &text).unwrap();
    session
        .script("read_verilog -sv cosim.v\nhierarchy -check -top top\nwrite_rtlil raw.il\n")
        .unwrap();
    let point = |(kind, what, at): &(Kind, &str, &str)| {
        let (line, column) = (1..)
            .zip(text.lines())
            .find_map(|(line, text)| Some((line, text.find(at)? as u32 + 1)))
            .unwrap();
        let column = column + u32::from(*what == "else");
        let (file, what) = ("cosim.v".to_owned(), (*what).to_owned());
        Point { file, line, column, kind: *kind, what, lines: String::new() }
    };
    let points: Vec<Point> = points.iter().map(point).collect();
    let lines: Vec<&str> = text.lines().collect();
    let line_of = |_: &str, line: u32| lines.get(line as usize - 1).copied();
    // The ports are those of the monitor, too.
    let monitor = format!(
        "module {TOP}(input clk, input rst, input v, input r, input [3:0] d, output y,
         output cosim_offer_0, output cosim_help_0, output cosim_help_1);
         top dut(.clk(clk), .rst(rst), .v(v), .r(r), .d(d), .y(y), .cosim_offer_0(cosim_offer_0),
         .cosim_help_0(cosim_help_0), .cosim_help_1(cosim_help_1));
         endmodule"
    );
    let offers = vec!["v is withdrawn".to_owned()];
    let reset = Some(("rst", true));
    let instrumented = covered(&session, &points, &line_of, Reader::Yosys, reset).unwrap();
    let monitor = Monitor {
        text: monitor,
        state: None,
        signals: Vec::new(),
        properties: Vec::new(),
        assumes: true,
    };
    let observer = Observer { monitor, offers, commands: String::new() };
    Closure::from_session(session, &points, &instrumented, observer, "clk", reset).unwrap()
}

/// The answer about points, for any traffic unless another one is given, with shared memories.
fn answer(
    closure: &Closure,
    points: &[usize],
    traffic: Traffic,
    purpose: Purpose,
    attempt: Attempt,
) -> Answer {
    closure.query_points(points, Contents::Shared, traffic, purpose, attempt).unwrap()
}

/// Whether none of the points is reached, by a proof with a certificate.
fn is_proved(closure: &Closure, points: &[usize], purpose: Purpose, attempt: Attempt) -> bool {
    let found = answer(closure, points, Traffic::Any, purpose, attempt);
    found.certificate().is_some_and(|certificate| certificate.is_there())
}

/// Whether a point is reached, or proved unreachable with a certificate; `None` for neither.
fn is_reached(closure: &Closure, point: usize, traffic: Traffic) -> Option<bool> {
    let proof = answer(closure, &[point], traffic, Purpose::Proof, EQUIVALENCE);
    if let Some(certificate) = proof.certificate() {
        assert!(certificate.is_there(), "{certificate}");
        return Some(false);
    }
    match answer(closure, &[point], traffic, Purpose::Search, QUICK_DIFFERENCE) {
        Answer::Reached { trace, .. } => {
            let (contents, purpose) = (Contents::Shared, Purpose::Search);
            let reached = closure.reached_by(&[point], contents, purpose, &trace).unwrap();
            assert_eq!(reached, [point]);
            Some(true)
        }
        _ => None,
    }
}

const COUNTER: &str = "
reg [3:0] n; reg z;
always @(posedge clk)
  if (rst) n <= 0;
  else if (v && n < 9) n <= n + 1;
  else if (n > 9) n <= 0;
always @* begin
  z = 0;
  case (n)
    4'd3: z = 1;
    default: if (d == 5) z = 1;
    4'd9, 4'd10: z = v;
    4'd12: z = 1;
  endcase
end
assign y = z;";

#[test]
fn a_line_is_reached_or_proved_unreachable() {
    use Kind::{Branch, Line};
    let points = [
        (Line, "elsif", "if (rst)", true),
        (Line, "elsif", "if (v && n", true),
        (Line, "if", "if (n > 9)", false),
        (Line, "else", "if (n > 9)", true),
        (Branch, "if", "if (d == 5)", true),
        (Branch, "else", "if (d == 5)", true),
        (Line, "case", "4'd3:", true),
        (Line, "case", "default:", true),
        (Line, "case", "4'd9, 4'd10:", true),
        (Line, "case", "4'd12:", false),
    ];
    let closure = closure(COUNTER, &points.map(|(kind, what, at, _)| (kind, what, at)));
    for (number, (_, what, at, expected)) in points.into_iter().enumerate() {
        assert_eq!(closure.without(number), None, "{what} {at}");
        let found = is_reached(&closure, number, Traffic::Any);
        assert_eq!(found, Some(expected), "{what} {at}");
    }
    // Those that nothing reaches have one proof together.
    assert!(is_proved(&closure, &[2, 9], Purpose::Proof, EQUIVALENCE));
}

/// An open latch shows its input, and a closed one may hold anything.
#[test]
fn a_latch_holds_any_value() {
    let body = "
        reg held, z;
        always @* if (d == 1) held = v;
        always @* begin
          z = 0;
          if (d == 1 && held != v) z = 1;
          if (d == 2 && held) z = v;
        end
        assign y = z;";
    let points = [("if (d == 1 && held", false), ("if (d == 2", true)];
    let closure = closure(body, &points.map(|(at, _)| (Kind::Branch, "if", at)));
    for (number, (at, expected)) in points.into_iter().enumerate() {
        assert_eq!(is_reached(&closure, number, Traffic::Any), Some(expected), "{at}");
    }
}

/// In `sub`, nothing reaches the first branch, whatever drives it; the top rules out the second,
/// and the third is reached. Which values drive `sub` counts even in the cycle of the reset. The
/// fifth is in the top, but depends on `sub` alone.
#[test]
fn a_point_inside_of_an_instance_is_decided_alone() {
    let body = "
wire z; reg [1:0] slow;
always @(posedge clk) if (rst) slow <= 0; else if (v && slow != 2) slow <= slow + 1;
sub one(.clk(clk), .reset(rst), .a(slow == 3), .b(d[0]), .late(~rst | slow[0]), .z(z)); assign y = z; reg p;
always @* begin p = 0; if (z) p = 1; if (slow[0]) p = 1; end
endmodule
module sub(input clk, input reset, input a, input b, input late, output reg z);
reg [3:0] n; reg early;
always @(posedge clk) begin
  z <= 0;
  if (reset) n <= 0; else if (b && n < 9) n <= n + 1; else n <= 0;
  if (reset) early <= ~late;
  if (n == 10) z <= 1;
  if (a) z <= 1;
  if (n == 9 && b) z <= 1;
  if (early === 0 && n == 0 && late) z <= 1;
end";
    let at = ["if (n == 10)", "if (a)", "if (n == 9", "if (early", "if (z)", "if (slow[0])"];
    let closure = closure(body, &at.map(|at| (Kind::Branch, "if", at)));
    let [place] = closure.instances().collect::<Vec<_>>()[..] else { panic!("not one") };
    assert_eq!(closure.instance(place), "one");
    assert_eq!(closure.inside(place, &[0, 1, 2, 3, 4, 5]), [0, 1, 2, 3, 4]);
    assert_eq!(closure.around(place, &[0, 1, 2, 3, 4, 5]), [4, 5]);
    let alone = |point| is_proved(&closure, &[point], Purpose::Alone(place), EQUIVALENCE);
    assert_eq!([0, 1, 2, 3, 4].map(alone), [true, false, false, false, false]);
    let found = [0, 1, 2].map(|point| is_reached(&closure, point, Traffic::Any));
    assert_eq!(found, [Some(false), Some(false), Some(true)]);
}

/// A number that stays even never is 9, which no induction shows: it may wait at 7. An assertion
/// helps if it is about the instance alone, and shows nothing if it fails.
#[test]
fn only_assertions_about_an_instance_help_a_proof_inside_of_it() {
    let body = "
reg outside; always @(posedge clk) if (rst) outside <= 0; else outside <= outside;
wire odd; sub one(.clk(clk), .rst(rst), .b(v), .odd(odd), .z(y));
endmodule
module sub(input clk, input rst, input b, output odd, output reg z);
reg [3:0] n; assign odd = n[0];
always @(posedge clk) if (rst) n <= 0; else if (b) n <= n + 2;
always @* begin z = 0; if (n == 9) z = 1; end";
    let found = |fails: [&str; 2]| {
        let closure = asserted(body, &[(Kind::Branch, "if", "if (n == 9)")], fails);
        let [place] = closure.instances().collect::<Vec<_>>()[..] else { panic!("not one") };
        let proves = |purpose: Purpose| {
            let answer = answer(&closure, &[0], Traffic::Any, purpose, INDUCTION_STEP);
            (answer.because() != Some("there are no assertions"))
                .then(|| answer.certificate().is_some_and(|certificate| certificate.is_there()))
        };
        [Purpose::Alone(place), Purpose::AloneAssertions(place)].map(proves)
    };
    assert_eq!(found(["odd", "1'b0"]), [Some(false), Some(true)]);
    assert_eq!(found(["odd", "~rst & outside"]), [Some(false), Some(true)]);
    assert_eq!(found(["odd", "~rst & ~odd"]), [Some(false), Some(false)]);
    assert_eq!(found(["~rst & (odd | outside)", "1'b0"]), [Some(false), None]);
}

/// No assumption of a query is false at once: what most inputs reach is reached in each of
/// them.
#[test]
fn a_point_that_most_inputs_reach_is_reached_by_every_question() {
    let body = "wire z; sub one(.clk(clk), .rst(rst), .a(d[0]), .z(z)); assign y = z;
endmodule
module sub(input clk, input rst, input a, output reg z);
reg k; reg m [0:1]; always @(posedge clk) begin if (rst) k <= 0; else k <= ~k; m[k] <= a; end
always @* begin z = 0;
  if (a | k) z = m[k];
  if (k & ~k) z = 1;
end";
    let points = [(Kind::Branch, "if", "if (a | k)"), (Kind::Branch, "if", "if (k & ~k)")];
    let closure = closure(body, &points);
    let [place] = closure.instances().collect::<Vec<_>>()[..] else { panic!("not one") };
    for purpose in [
        Purpose::Proof,
        Purpose::Assertions,
        Purpose::Alone(place),
        Purpose::AloneAssertions(place),
        Purpose::Search,
    ] {
        for contents in [Contents::Shared, Contents::Exact] {
            for traffic in [Traffic::Any, Traffic::Legal] {
                for (point, is_reached) in [(0, true), (1, false)] {
                    let found = closure
                        .query_points(&[point], contents, traffic, purpose, QUICK_DIFFERENCE)
                        .unwrap();
                    if found.because() == Some("there are no assertions") {
                        assert_eq!(purpose, Purpose::AloneAssertions(place));
                        continue;
                    }
                    let what = format!("{purpose:?} {contents:?} {traffic:?}: {found:?}");
                    assert_eq!(matches!(found, Answer::Reached { .. }), is_reached, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_proof_that_is_wrong_is_refused() {
    let closure = closure(COUNTER, &[(Kind::Line, "elsif", "if (v && n")]);
    let named_query = closure.named_query(&[0], Contents::Shared, Traffic::Any, Purpose::Proof);
    let EquivalenceQuery::Open { file, .. } = named_query.unwrap().query else {
        panic!("the same")
    };
    let checked = certify(&closure.session, "wrong", &file, &Evidence::Induction).unwrap();
    assert!(checked.is_err(), "{checked:?}");
}

/// A withdrawn offer reaches the branch; legal traffic does not.
#[test]
fn only_illegal_traffic_reaches_a_point() {
    let body =
        "reg z; always @(posedge clk) if (~rst & waits & ~v) z <= 1; else z <= 0; assign y = z;";
    let closure = closure(body, &[(Kind::Branch, "if", "if (~rst")]);
    assert_eq!(is_reached(&closure, 0, Traffic::Any), Some(true));
    assert_eq!(is_reached(&closure, 0, Traffic::Legal), Some(false));
}

#[test]
fn a_bit_that_is_constant_does_not_toggle() {
    let body = "wire [3:0] low = {1'b0, d[3:1]};\nreg [4:0] n; assign y = n[4] ^ low[0];
        always @(posedge clk) if (rst) n <= 0; else if (v && n < 9) n <= n + 1;";
    let points = [
        (Kind::Toggle, "low[3]", "wire [3:0] low", false),
        (Kind::Toggle, "low[2]", "wire [3:0] low", true),
        (Kind::Toggle, "n[3]", "reg [4:0] n", true),
        (Kind::Toggle, "n[4]:0->1", "reg [4:0] n", false),
        (Kind::Toggle, "v", "input v", true),
    ];
    let closure = closure(body, &points.map(|(kind, what, at, _)| (kind, what, at)));
    for (number, (_, what, _, expected)) in points.into_iter().enumerate() {
        assert_eq!(closure.without(number), None, "{what}");
        assert_eq!(is_reached(&closure, number, Traffic::Any), Some(expected), "{what}");
    }
}

/// What has no output is not decided, and never proved.
#[test]
fn a_point_without_a_statement_says_why() {
    let body = "function f(input a); begin if (a) f = 1; else f = 0; end endfunction
        reg z; assign y = z;
        always @* begin z = 0; case (d) 4'd1: z = f(v); 4'd2: z = 1; endcase end";
    let points = [
        (Kind::Branch, "if", "if (a)"),
        // Another of the items has no point.
        (Kind::Line, "case", "4'd1:"),
        (Kind::Line, "block", "always @*"),
        (Kind::Toggle, "nothing", "reg z"),
        (Kind::Toggle, "d[9]", "input clk"),
    ];
    let closure = closure(body, &points);
    for (number, point) in points.iter().enumerate() {
        assert!(closure.without(number).is_some(), "{point:?}");
        let named_query =
            closure.named_query(&[number], Contents::Shared, Traffic::Any, Purpose::Proof);
        assert!(named_query.is_err());
    }
}

/// A case shows that an instance of the RTL reaches what Verilator counts: zeros and ones of `v`.
#[test]
fn cases_contradict_a_netlist_that_does_not_reach_a_point() {
    let body = "reg z; always @* if (v) z = 1; else z = 0; assign y = z;";
    let points = [(Kind::Branch, "if", "if (v)"), (Kind::Toggle, "v", "input v")];
    let mut closure = closure(body, &points);
    let port = |name: &'static str, offset, width| verilated::Port { name, offset, width };
    let ports = [port("rst", 0, 1), port("v", 1, 1), port("r", 2, 1), port("d", 3, 4)];
    let case = |v: &[u8]| RecordedInputs {
        case: "case".to_owned(),
        is_raw: false,
        cycles: v.iter().flat_map(|v| [0, *v, 0, 0]).collect(),
        ..RecordedInputs::default()
    };
    let cases = [case(&[0, 0, 1, 0]), case(&[0, 0, 0])];
    assert!(closure.learn(&ports, 4, &cases, &[vec![0, 1], vec![]]).is_empty());
    assert_eq!(closure.learn(&ports, 4, &cases, &[vec![0, 1], vec![0, 1]]), [(0, 1), (1, 1)]);
    // The bit has both values, so that nothing proves that it is constant.
    assert!(closure.is_provable(0) && !closure.is_provable(1));
}

/// A register that the first edge sets to 0 may have been 1 before, which a simulator counts.
#[test]
fn what_registers_hold_before_the_first_edge_contradicts_nothing() {
    let body = "reg k; always @(posedge clk) if (rst) k <= 0; assign y = k;";
    let mut closure = closure(body, &[(Kind::Toggle, "k", "reg k")]);
    let port = |name: &'static str, offset, width| verilated::Port { name, offset, width };
    let ports = [port("rst", 0, 1), port("v", 1, 1), port("r", 2, 1), port("d", 3, 4)];
    let cycles = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]].concat();
    let case = "case".to_owned();
    let cases = [RecordedInputs { case, cycles, ..RecordedInputs::default() }];
    assert!(closure.learn(&ports, 4, &cases, &[vec![0]]).is_empty());
    assert!(closure.is_provable(0));
    assert_eq!(is_reached(&closure, 0, Traffic::Any), Some(false));
}

/// A register that nothing changes holds any value: not a constant, but no bit of it toggles.
#[test]
fn a_register_that_holds_an_unknown_value_does_not_toggle() {
    let body = "reg k; always @(posedge clk) k <= k | v;
        reg l; always @(posedge clk) l <= l; assign y = k ^ l;";
    let points = [
        (Kind::Toggle, "l", "reg l"),
        (Kind::Toggle, "k", "reg k"),
        (Kind::Toggle, "v", "input v"),
    ];
    let closure = closure(body, &points);
    let held = closure.find_held_registers(&[0, 1, 2]);
    assert_eq!(held, [0]);
    assert_eq!(is_reached(&closure, 0, Traffic::Any), Some(true), "it may be 1");
    assert!(is_proved(&closure, &held, Purpose::Held, INDUCTION));
    // A bit that changes is not proved.
    let found = answer(&closure, &[1], Traffic::Any, Purpose::Held, FIRST_CYCLES);
    assert!(matches!(found, Answer::Reached { .. }), "{found:?}");
}

/// While the reset rises, a simulator evaluates logic with the value that registers had before.
#[test]
fn an_asynchronous_reset_is_seen_before_registers_follow_it() {
    let body = "reg q; always @(posedge clk or posedge rst) if (rst) q <= 0; else if (v) q <= 1;
        reg z; assign y = z;
        always @* if (rst & q) z = 1; else z = 0;";
    let points = [(Kind::Branch, "if", "if (rst & q)"), (Kind::Branch, "else", "if (rst & q)")];
    let closure = closure(body, &points);
    assert_eq!(is_reached(&closure, 0, Traffic::Any), Some(true));
    assert_eq!(is_reached(&closure, 1, Traffic::Any), Some(true));
}

#[test]
fn a_constant_decides_a_branch() {
    let body = "localparam [1:0] FIXES = 2'b10; reg w, z; assign y = w ^ z;
        always @* begin w = 0;
          if (FIXES[1]) begin if (v) w = 1; if (d == 2) ;
            case (FIXES)
              2'd1: w = 0;
              2'd2: ;
            endcase end
          else if (r) w = 1;
          z = 0;
          if (FIXES[0]) z = 1;
          else if (d == 1) z = 1; end";
    let points = [
        (Kind::Branch, "if", "if (v)", true),
        (Kind::Branch, "if", "if (d == 2)", true),
        (Kind::Branch, "if", "if (r)", false),
        (Kind::Branch, "else", "if (r)", false),
        (Kind::Line, "elsif", "if (FIXES[0])", false),
        (Kind::Branch, "if", "if (d == 1)", true),
        (Kind::Branch, "else", "if (d == 1)", true),
    ];
    let items = [
        (Kind::Line, "case", "2'd1:"),
        (Kind::Line, "case", "2'd2:"),
        (Kind::Line, "elsif", "if (FIXES[1])"),
    ];
    let all: Vec<_> = points.map(|(kind, what, at, _)| (kind, what, at)).into_iter().collect();
    let closure = closure(body, &[all, items.to_vec()].concat());
    for (number, (_, what, at, expected)) in points.into_iter().enumerate() {
        assert_eq!(closure.without(number), None, "{what} {at}");
        assert_eq!(is_reached(&closure, number, Traffic::Any), Some(expected), "{what} {at}");
    }
    // Yosys leaves out items, too: nothing is proved about those that are there.
    assert_ne!(is_reached_if_known(&closure, points.len() + 1), Some(false));
}

/// Only the side that a constant rules out is not reached. A macro hides which one that is, and
/// what it holds. Rounds of a loop, and instances with other parameters, rule out different sides.
#[test]
fn a_side_that_is_taken_is_not_proved_unreachable() {
    let body = "localparam P = 1; localparam Q = 0;
        reg w, z; assign y = w ^ z; integer i;
        `define LONG 1'b1 & 1'b1 & 1'b1 & v
        always @* begin w = 0;
          if (P) begin /* if (Q) */ w = `LONG; if (d == 1) w = 1; end
          else if (d == 2) w = 1;
          if (Q) begin w = `LONG; if (d == 3) w = 1; end
          if (Q) begin case (d) 4: w = 1; endcase end else /* else */ begin : name
            if (d == 5) w = \"else\" == d; end
          if (Q)w = 1;if (d == 6) w = 0;
          if (P) case (Q) 0: if (d == 7) w = 1; default: if (d == 8) w = 1; endcase
          else case (Q) 0: if (d == 9) w = 1; default: if (d == 10) w = 1; endcase
        end
        always @* begin z = 0;
          for (i = 0; i < 2; i = i + 1) if (i == 1) begin if (d == 11) z = 1; end
            else begin if (d == 12) z = 1; end
        end
        two #(0) zero(d); two #(1) one(d);
        endmodule
        module two #(parameter T = 0) (input [3:0] d); reg k;
        always @* begin k = 0;
          if (T) begin if (d == 13) k = 1; end else begin if (d == 14) k = 1; end end";
    let points = [
        // Yosys has it in another column.
        ("if (d == 1)", None),
        ("if (d == 2)", None),
        ("if (d == 3)", None),
        ("if (d == 5)", Some(true)),
        ("if (d == 6)", Some(true)),
        ("if (d == 7)", Some(true)),
        // Yosys left out the item that the constant rules out.
        ("if (d == 8)", None),
        ("if (d == 9)", Some(false)),
        ("if (d == 10)", Some(false)),
        ("if (d == 11)", Some(true)),
        ("if (d == 12)", Some(true)),
        ("if (d == 13)", Some(true)),
        ("if (d == 14)", Some(true)),
    ];
    let around = [
        "if (P) begin",
        "if (Q) begin w",
        "if (Q) begin case",
        "if (Q)w",
        "if (P) case",
        "if (i == 1)",
        "if (T)",
    ];
    let all = points.iter().map(|(at, _)| *at).chain(around);
    let all: Vec<_> = all.map(|at| (Kind::Branch, "if", at)).collect();
    let closure = closure(body, &all);
    for (number, (at, expected)) in points.into_iter().enumerate() {
        assert_eq!(is_reached_if_known(&closure, number), expected, "{at}");
    }
}

/// Words in comments and texts begin and end nothing.
#[test]
fn only_code_ends_a_function() {
    let body = "function f(input a); begin /* endfunction
          endfunction */ $display(\"endfunction // \\\" endfunction\"); // endfunction
          if (a) f = 1; else f = 0; end endfunction
        reg z; assign y = z; /* function */
        always @* begin z = 0; if (d == 1) z = f(1'b1); if (d == 2) z = f(v); end";
    let closure =
        closure(body, &[(Kind::Branch, "if", "if (a)"), (Kind::Branch, "if", "if (d == 2)")]);
    assert_eq!(closure.without(0), Some("it is in a function or task"));
    assert_eq!(closure.without(1), None);
}

fn is_reached_if_known(closure: &Closure, point: usize) -> Option<bool> {
    closure.without(point).map_or_else(|| is_reached(closure, point, Traffic::Any), |_| None)
}

/// The front end's netlist of two instances with another parameter: which points it has.
#[test]
fn a_statement_that_is_decided_in_an_instance_is_not_proved_in_another() {
    let text = "module s #(parameter P = 0) (input x, input [1:0] s, output reg y);
always @* begin
  y = 0;
  if (x) if (P) y = 1;
  if (s[0]) y = 1;
end
always @* begin
  for (i = 0; i < (1); i = i + 1) begin: l // end
    if (s[1]) begin z = 1; end
  end
  if (s[2]) z = 0;
end
always @* for (i = 0; i < 1; i = i + 1)
  if (s[3]) u = 1;
logic [1:0] v;
logic w [0:1];
  t q;
endmodule";
    let wire_at = |path: &str, name: &str, place: &str| {
        format!(
            "  attribute \\hdlname \"{path}\"\n  attribute \\src \"s.v:{place}\"\n  wire {name}\n"
        )
    };
    let wire = |path: &str, name: &str, line: u32| wire_at(path, name, &format!("{line}.44"));
    let of_if = |place: &str, signal: &str, inside: &str| {
        format!(
            "    attribute \\src \"s.v:{place}\"\n    switch {signal}\n      case 1'1\n{inside}    end\n"
        )
    };
    let process = |number: u32, range: &str, body: &str| {
        format!("  attribute \\src \"s.v:{range}\"\n  process ${number}\n{body}  end\n")
    };
    let second = of_if("5.3-5.20", "\\a.s [0]", "");
    let inner = of_if("4.10-4.24", "\\b.x", "");
    let netlist = [
        "module \\top\n".to_owned(),
        wire("a x", "\\a.x", 1),
        wire("b x", "\\b.x", 1),
        wire_at("a v", "width 2 \\a.v", "15.13"),
        wire_at("a w", "width 2 \\a.w", "16.7"),
        wire_at("a q", "width 2 \\a.q", "17.5"),
        // The statement of a file that is included in a process.
        process(5, "13.1-13.2", &of_if("5.3-5.21", "\\a.x", "")),
        process(1, "2.11-6.4", &(of_if("4.3-4.24", "\\a.x", "") + &second)),
        process(2, "2.11-6.4", &(of_if("4.3-4.24", "\\b.x", &inner) + &second)),
        process(
            3,
            "7.11-12.4",
            &(of_if("9.5-9.31", "\\a.s [1]", "") + &of_if("11.3-11.19", "\\a.s [2]", "")),
        ),
        process(4, "13.11-14.19", &of_if("14.3-14.19", "\\a.s [3]", "")),
        "end\n".to_owned(),
    ]
    .concat();
    let point = |line, column, kind, what: &str| Point {
        file: "s.v".to_owned(),
        line,
        column,
        kind,
        what: what.to_owned(),
        lines: String::new(),
    };
    let points = [
        // In both instances.
        point(4, 3, Kind::Branch, "if"),
        // Also in a process around another text.
        point(5, 3, Kind::Branch, "if"),
        point(1, 44, Kind::Toggle, "x"),
        // The parameter decides it in one of them.
        point(4, 10, Kind::Branch, "if"),
        // A round of a loop may decide it, but not what follows.
        point(9, 5, Kind::Branch, "if"),
        point(11, 3, Kind::Branch, "if"),
        point(14, 3, Kind::Branch, "if"),
        point(1, 44, Kind::Toggle, "y"),
        point(15, 13, Kind::Toggle, "v[1]"),
        // The first bit of an array is the highest of its wire, and a type may be an array.
        point(16, 7, Kind::Toggle, "w[1]"),
        point(17, 5, Kind::Toggle, "q[1]"),
    ];
    let lines: Vec<&str> = text.lines().collect();
    let line_of = |_: &str, line: u32| lines.get(line as usize - 1).copied();
    let made = instrument(&netlist, &points, &line_of, Reader::FrontEnd);
    let is_known: Vec<bool> = made.without.iter().map(Option::is_none).collect();
    assert_eq!(is_known[..8], [true, false, true, false, false, true, false, false]);
    assert_eq!(is_known[8..], [true, false, false]);
    assert!(made.text.contains("connect \\cosim_cov_2_1 \\b.x [0]"), "{}", made.text);
}

/// Registers take what others have after an asynchronous reset, and not what they had before it:
/// `n` follows `q`, but keeps its value until the edge.
#[test]
fn registers_follow_an_asynchronous_reset_before_the_edge() {
    let body = "reg q, n, x, z; assign y = z;
        always @(posedge clk or posedge rst) if (rst) q <= 0; else if (v) q <= 1;
        always @(posedge clk) if (rst) n <= 0; else if (v) n <= 1;
        always @(posedge clk) x <= n & ~q;
        always @* begin z = 0;
          if (x) z = 1;
          if (~rst & (n ^ q)) z = 1;
        end";
    let at = ["if (x)", "if (~rst & (n ^ q))"];
    let closure = closure(body, &at.map(|at| (Kind::Branch, "if", at)));
    let found = [0, 1].map(|point| is_reached(&closure, point, Traffic::Any));
    assert_eq!(found, [Some(true), Some(false)]);
}

/// The front end writes an asynchronous reset as the load of a value.
#[test]
fn only_asynchronous_resets_that_load_a_constant_become_synchronous() {
    let cell = |signal: &str, value: &str| {
        format!(
            "  cell $aldff $1\n    parameter \\ALOAD_POLARITY 1'0\n    parameter \\WIDTH 2\n    \
             connect \\AD {value}\n    connect \\ALOAD \\{signal}\n    connect \\Q \\q\n  end\n"
        )
    };
    let made = |signal, value, level| synchronous(&cell(signal, value), Some(("rst", level)));
    let text = made("rst", "2'01", false).unwrap();
    for part in [
        "  cell $sdff $1\n    parameter \\SRST_VALUE 2'01\n    connect \\SRST \\rst\n    parameter \
         \\SRST_POLARITY 1'0\n    parameter \\WIDTH 2\n    connect \\Q \\q.held\n  end\n",
        "connect \\A \\q.held\n    connect \\B 2'01\n    connect \\S \\cosim_reset_seen\n    connect \
         \\Y \\q\n",
        "connect \\A \\cosim_reset_seen_held\n    connect \\B 1'0\n    connect \\S \\rst\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(made("load", "2'01", false).unwrap(), cell("load", "2'01"));
    assert_eq!([made("rst", "\\value", false), made("rst", "2'01", true)], [None, None]);
}
