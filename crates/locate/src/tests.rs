use super::*;
use cosim_harness::harness::{Verdict, Violation};
use std::fs;
use tempfile::TempDir;
use verilated::BeforeReset;
use verilated_runtime::Verilator;

const TOP: &str = "module top(input clk, input rst, input [3:0] add, input go,
           output [7:0] sum, output full);
  logic [7:0] total;
  wire [7:0] next = go
    ? total + {4'd0, add} : total;
  assign full = LIMIT;
  assign sum = total;
  always_ff @(posedge clk)
    if (rst) total <= 8'd0;
    else total <= next;
endmodule
";
const INPUTS: [Port; 3] = [
    Port { name: "rst", width: 1, offset: 0 },
    Port { name: "add", width: 4, offset: 1 },
    Port { name: "go", width: 1, offset: 2 },
];
const OUTPUTS: [Port; 2] =
    [Port { name: "sum", width: 8, offset: 0 }, Port { name: "full", width: 1, offset: 1 }];

fn described<T: Send>(text: &str, read: impl FnOnce(&Tree) -> T + Send) -> T {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("top.sv"), text).unwrap();
    let design = verilated_build::Design {
        top: "top".to_owned(),
        sources: vec!["top.sv".into()],
        folder: Some(folder.path().to_owned()),
        ..verilated_build::Design::default()
    };
    design.with_tree(&Verilator::find().unwrap(), &folder.path().join("out"), read).unwrap()
}

const PINS: Pins<'_> = Pins { clock: "clk", inputs: &INPUTS, outputs: &OUTPUTS };

/// A case: reset, then a cycle for each number that is added, then one more. It is full from 20 on.
fn case(numbers: &[u8]) -> DrivenPins {
    let mut pins = DrivenPins {
        inputs: vec![vec![1, 0, 0]],
        outputs: vec![vec![0, 0]],
        // Before the first edge the sum is whatever the register holds.
        open: Some(vec![vec![0xff, 1]]),
        wrong: Vec::new(),
        before_reset: BeforeReset::Ones,
        ends: Verdict::Match,
    };
    let mut sum = 0;
    for number in numbers.iter().copied().chain([0]) {
        pins.inputs.push(vec![0, number, u8::from(number > 0)]);
        pins.outputs.push(vec![sum, u8::from(sum >= 20)]);
        sum += number;
    }
    pins.open.as_mut().unwrap().resize(pins.inputs.len(), vec![0, 0]);
    pins
}

fn lines(text: &str) -> Result<Vec<(u32, String)>, String> {
    let failing = case(&[10, 10]);
    let others = [case(&[15, 15, 15]), case(&[1, 2, 3]), case(&[])];
    let cases = Cases { failing: &failing, others: &others };
    let read = |tree: &Tree| suspicious_lines(tree, "top", PINS, &cases);
    let lines = described(text, read)?;
    Ok(lines.into_iter().map(|it| (it.line, it.reason)).collect())
}

/// Is the line with the bug the first one, whatever the kind of the bug, and a missing assignment
/// found at the branch that lacks it? Does RTL that does not fail here have no suspicious lines?
#[test]
fn the_line_with_the_bug_is_first() {
    let good = TOP.replace("LIMIT", "total >= 8'd20");
    assert!(lines(&good).is_err());
    for (from, to, line, repair) in [
        ("total >= 8'd20", "total > 8'd20", 6, ""),
        ("total >= 8'd20", "total >= 8'd21", 6, ""),
        ("total + {4'd0, add}", "total + {5'd0, add[2:0]}", 5, ""),
        ("total <= next", "total <= next | 8'd1", 10, ""),
        ("if (rst) total <= 8'd0;", "if (rst) begin end", 9, "`total <= 8'h0` added"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        let found = lines(&bad).unwrap();
        let is_first = found.first().is_some_and(|it| it.0 == line && it.1.contains(repair));
        assert!(is_first, "{to}: {found:?}");
    }
}

/// Does a recorded case name the lines that decide its wrong outputs, and no others?
#[test]
fn a_recorded_case_has_the_lines_that_decide_its_wrong_outputs() {
    let good = TOP.replace("LIMIT", "total >= 8'd20");
    let ends = Verdict::CheckFailed { cycle: 3, violation: Violation::new("full", "expected 0") };
    for (pin, expected) in [("full", Ok(true)), ("sum", Ok(false)), ("rst", Err(()))] {
        let failing = DrivenPins {
            before_reset: BeforeReset::Zeros,
            wrong: vec![pin.to_owned()],
            ends: ends.clone(),
            ..case(&[10, 10])
        };
        let cases = Cases { failing: &failing, others: &[] };
        let lines = described(&good, |tree| suspicious_lines(tree, "top", PINS, &cases));
        let has_limit = lines.as_ref().map(|all| all.iter().any(|it| it.line == 6));
        assert_eq!(has_limit.map_err(|_| ()), expected, "{pin}: {lines:?}");
        assert!(lines.is_ok_and(|all| all.iter().any(|it| it.line == 5)) == expected.is_ok());
    }
}

/// Is a construct that the simulation lacks named, instead of simulated in part?
#[test]
fn an_unknown_construct_is_named() {
    let text = TOP.replace("LIMIT", "$test$plusargs(\"full\") == 0");
    let reason = lines(&text).unwrap_err();
    assert!(reason.starts_with("top.sv:6:"), "{reason}");
}

/// Does the simulation compute what the standard says, for values worked out by hand?
#[test]
fn expressions_have_their_values() {
    for (expression, width, value) in [
        ("{a[3:0], a[7:4]}", 8, 0xc3),
        ("a >> 2", 8, 0x0f),
        ("a << 1", 8, 0x78),
        ("$signed(8'h80) >>> 3", 8, 0xf0),
        ("{3{2'b10}}", 6, 0b10_1010),
        ("~a", 8, 0xc3),
        ("-a", 8, 0xc4),
        ("^a", 1, 0),
        ("&a[5:2]", 1, 1),
        ("a == 8'h3c ? 8'h11 : 8'h22", 8, 0x11),
        ("$signed(a) < $signed(8'hff)", 1, 0),
        ("a < 8'hff", 1, 1),
        ("half(a)", 8, 0x1e),
        ("memory[2]", 8, 0x3d),
        ("chosen", 8, 0x07),
        ("parts", 8, 0xcc),
    ] {
        let text = format!(
            "module top(input clk, input [7:0] a, output [{}:0] q);
  function automatic [7:0] half(input [7:0] x); half = x / 8'd2; endfunction
  logic [7:0] memory [0:3]; logic [7:0] chosen, parts;
  always_comb case (a[1:0]) 2'd1, 2'd2: chosen = 8'h06; default: chosen = 8'h07; endcase
  always_comb begin parts = a; {{parts[7:4], parts[1:0]}} = {{4'hc, 2'b00}}; end
  always_ff @(posedge clk) memory[2] <= a + 8'd1;
  assign q = {expression};
endmodule",
            width - 1
        );
        let inputs = [Port { name: "a", width: 8, offset: 0 }];
        let outputs = [Port { name: "q", width, offset: 0 }];
        let pins = DrivenPins {
            inputs: vec![vec![0x3c]; 2],
            outputs: vec![vec![value]; 2],
            open: Some(vec![vec![0xff], vec![0]]),
            wrong: Vec::new(),
            before_reset: BeforeReset::Zeros,
            ends: Verdict::Match,
        };
        let is_equal = described(&text, |tree| {
            let design = Design::from_tree(tree, "top").unwrap();
            let simulator = Simulator::new(design, "clk", &inputs, &outputs).unwrap();
            let case = Stimulus::record_cycles(&pins, &inputs, &outputs, 2);
            let mut state = simulator.start(false);
            (0..2).all(|cycle| {
                simulator.drive(&mut state, &case.inputs[cycle]).unwrap();
                let differs = !simulator.failing(&state, &case, cycle).is_empty();
                simulator.edge(&mut state).unwrap();
                !differs
            })
        });
        assert!(is_equal, "{expression}");
    }
}
