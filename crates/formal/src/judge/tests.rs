//! Whether graphs do the same as what was recorded.

use crate::cut::{Cut, cut};
use crate::graph::graph;
use cosim_aig::{Aig, CutMemory, Pins};
use cosim_block::agreement::RecordedInputs;
use cosim_rtl::yosys::YosysSession;
use verilated::Port;

const INPUTS: [Port; 4] = [
    Port { name: "w", width: 1, offset: 0 },
    Port { name: "a", width: 2, offset: 1 },
    Port { name: "b", width: 2, offset: 2 },
    Port { name: "d", width: 4, offset: 3 },
];
const OUTPUTS: [Port; 2] =
    [Port { name: "y", width: 4, offset: 0 }, Port { name: "z", width: 4, offset: 1 }];
const PINS: Pins<'_> = Pins { inputs: &INPUTS, outputs: &OUTPUTS, sizes: [4, 2] };

/// Three words from address 1 on, of which one has an initial value; `z` chains two reads.
const RTL: &str = "
module top(input clk, input w, input [1:0] a, b, input [3:0] d, output [3:0] y, output [3:0] z);
  reg [3:0] m [1:3];
  reg [3:0] unknown;
  initial m[2] = 4'd9;
  always @(posedge clk) begin
    if (w) m[a] <= d;
    unknown <= unknown ^ d;
  end
  assign y = m[b];
  assign z = m[m[b][1:0]] ^ (w ? 4'd0 : unknown);
endmodule
";

fn graph_of(text: &str) -> (Aig, Vec<CutMemory>) {
    let session = YosysSession::from_verilog("module top; endmodule");
    session.write("top.v", text).unwrap();
    session
        .script("read_verilog -sv top.v\nproc\nopt_clean\nmemory_collect\nmemory_unpack\nwrite_rtlil top.il\n")
        .unwrap();
    let netlist = crate::cut::enabled(&session.text("top.il").unwrap());
    let Cut { text, memories } = cut(&netlist, "clk").unwrap();
    session.write("cut.il", &text).unwrap();
    (Aig::parse(&graph(&session, "cut.il").unwrap().text).unwrap(), memories)
}

/// A case with rows of `w`, `a`, `b`, `d`, and of `y` and `z`.
fn case(name: &str, rows: &[([u8; 4], [u8; 2])]) -> RecordedInputs {
    RecordedInputs {
        case: name.to_owned(),
        is_raw: true,
        cycles: rows.iter().flat_map(|(inputs, _)| *inputs).collect(),
        outputs: rows.iter().flat_map(|(_, outputs)| *outputs).collect(),
    }
}

/// Word 2 holds 9, so that `m[2]` is 9 and `m[m[2][1:0]]` is `m[1]`, which is unknown until it is
/// written.
#[test]
fn outputs_that_are_known_are_compared_from_power_on() {
    let (aig, memories) = graph_of(RTL);
    let right = [
        // Unknown: anything may be there.
        ([0, 0, 1, 0], [5, 3]),
        ([1, 1, 2, 6], [9, 12]),
        ([1, 3, 1, 1], [6, 9]),
        // m[3] is 1, and m[1] is 6.
        ([1, 0, 3, 15], [1, 6]),
        // No word has the address 0: it changed nothing.
        ([1, 2, 3, 4], [1, 6]),
        ([1, 2, 2, 4], [4, 0]),
    ];
    let cases: Vec<RecordedInputs> =
        (1..=right.len()).map(|cycles| case("right", &right[..cycles])).collect();
    let compared = aig.judge(&memories, PINS, &cases).unwrap();
    assert!(compared["y"] > 0 && compared["z"] > 0, "{compared:?}");
    for (cycle, output, bit) in [(1, "y", 0), (2, "y", 3), (3, "y", 1), (3, "z", 2), (4, "y", 2)] {
        let mut wrong = right;
        let place = usize::from(output == "z");
        wrong[cycle].1[place] ^= 1 << bit;
        let cases = [case("right", &right), case("wrong", &wrong)];
        let found = aig.judge(&memories, PINS, &cases).unwrap_err();
        assert_eq!((&*found.case, found.cycle), ("wrong", cycle), "{found}");
        assert_eq!((&*found.output, found.bit), (output, bit), "{found}");
    }
    // Where nothing is known, nothing is compared.
    let mut other = right;
    other[0].1 = [10, 12];
    assert!(aig.judge(&memories, PINS, &[case("other", &other)]).is_ok());
}

#[test]
fn a_write_to_an_unknown_address_leaves_no_word_known() {
    let text = "
module top(input clk, input w, input [1:0] a, b, input [3:0] d, output [3:0] y, output [3:0] z);
  reg [3:0] m [0:3];
  reg [1:0] unknown;
  initial begin m[0] = 4'd5; m[1] = 4'd7; end
  always @(posedge clk) begin
    if (w) m[unknown] <= d;
    unknown <= unknown ^ b;
  end
  assign y = m[b];
  assign z = d;
endmodule
";
    let (aig, memories) = graph_of(text);
    // Bits that the write would not change stay known: those of 5 that are equal in 13.
    let rows = [([0, 0, 0, 0], [5, 0]), ([1, 0, 1, 13], [7, 13]), ([0, 0, 0, 0], [5, 0])];
    assert!(aig.judge(&memories, PINS, &[case("not written", &rows)]).is_ok());
    let mut written = rows;
    written[2].1[0] = 13;
    assert!(aig.judge(&memories, PINS, &[case("written", &written)]).is_ok());
    written[2].1[0] = 4;
    let found = aig.judge(&memories, PINS, &[case("wrong", &written)]).unwrap_err();
    assert_eq!((found.cycle, &*found.output, found.bit), (2, "y", 0));
}
