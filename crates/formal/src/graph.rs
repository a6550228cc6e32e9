//! Converts netlists to and-inverter graphs with Yosys. Graphs are cached in
//! [`Answers`](cosim_rtl::answers::Answers).

use crate::cut::with_free_inputs;
use cosim_base::error::{Error, codes};
use cosim_rtl::answers::CacheLookup;
use cosim_rtl::rtlil::{self, Unknown};
use cosim_rtl::yosys::YosysSession;
use serde::{Deserialize, Serialize};

/// Yosys commands that convert a netlist without memories to an and-inverter graph.
const TO_GRAPH: &str = "setundef -undriven -zero\ndffunmap\nopt_expr\nopt_clean\ntechmap -map first.v\nsimplemap\n\
                        techmap\nsetundef -zero\nopt_expr\nopt_clean\naigmap\nopt_clean\n\
                        write_aiger -ascii -symbols";
/// Yosys commands that map memories to registers.
const TO_REGISTERS: &str = "memory_collect\nmemory_map\nopt_clean\n";
/// Yosys commands that make a cell `$anyseq` of each undefined bit.
const TO_FREE: &str = "techmap -map select.v\nopt_clean\nsetundef -undriven -anyseq\nopt_clean";
/// Maps `$shiftx`, a select beyond whose vector is undefined, so that it stays so: Yosys itself
/// takes any bit of the vector there.
const SELECT: [&str; 2] = [
    "select.v",
    "(* techmap_celltype = \"$shiftx\" *)
module select (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  localparam BITS = $clog2(A_WIDTH + Y_WIDTH) + 1;
  localparam WIDTH = (B_WIDTH > BITS ? B_WIDTH : BITS) + 2;
  localparam signed [WIDTH-1:0] SIZE = A_WIDTH;
  wire signed [WIDTH-1:0] at = B_SIGNED ? $signed(B) : $signed({1'b0, B});
  wire [Y_WIDTH-1:0] within;
  \\$shift #(.A_SIGNED(0), .B_SIGNED(B_SIGNED), .A_WIDTH(A_WIDTH), .B_WIDTH(B_WIDTH),
    .Y_WIDTH(Y_WIDTH)) shift (.A(A), .B(B), .Y(within));
  genvar i;
  generate
    for (i = 0; i < Y_WIDTH; i = i + 1) begin : bits
      wire is_inside;
      if (B_SIGNED) assign is_inside = at >= -i && at < SIZE - i;
      else assign is_inside = at < SIZE - i;
      assign Y[i] = is_inside ? within[i] : 1'bx;
    end
  endgenerate
endmodule
",
];
/// Maps `$pmux` to a priority multiplexer. A mutation can set several select bits at once. Verilog
/// written by Yosys, and so the simulated model, then takes the first case, but Yosys itself treats
/// this as undefined and would OR all cases.
const FIRST: [&str; 2] = [
    "first.v",
    "(* techmap_celltype = \"$pmux\" *)
module first (A, B, S, Y);
  parameter WIDTH = 1;
  parameter S_WIDTH = 1;
  input [WIDTH-1:0] A;
  input [WIDTH*S_WIDTH-1:0] B;
  input [S_WIDTH-1:0] S;
  output [WIDTH-1:0] Y;
  wire [WIDTH*(S_WIDTH+1)-1:0] from;
  assign from[WIDTH*S_WIDTH +: WIDTH] = A;
  genvar i;
  generate
    for (i = 0; i < S_WIDTH; i = i + 1) begin : next
      assign from[i*WIDTH +: WIDTH] = S[i] ? B[i*WIDTH +: WIDTH] : from[(i+1)*WIDTH +: WIDTH];
    end
  endgenerate
  assign Y = from[0 +: WIDTH];
endmodule
",
];
/// Largest total of memory bits that are mapped to registers.
pub const MEMORY: u64 = 1 << 16;
/// An and-inverter graph written by Yosys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The graph in ASCII AIGER, with the names of inputs and outputs.
    pub text: String,
    /// The `-vmap` file, which assigns latches to registers.
    pub words: String,
}

/// Converts a netlist without memories to a graph.
pub fn graph(session: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    build_graph(session, netlist, "")
}

/// Converts a netlist to a graph and maps its memories to registers.
pub fn whole_graph(session: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    build_graph(session, netlist, TO_REGISTERS)
}

/// What becomes of bits that the RTL leaves undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndefinedBits {
    Zero,
    /// They have any value in each cycle, in each copy of the RTL another one.
    Free,
}

impl UndefinedBits {
    /// Converts a netlist to a graph. With `with_memories`, it maps its memories to registers;
    /// otherwise it has none.
    ///
    /// # Errors
    /// As [`graph`].
    pub fn graph(
        self,
        session: &YosysSession,
        netlist: &str,
        with_memories: bool,
    ) -> Result<Graph, Error> {
        if self == Self::Zero {
            let convert = if with_memories { whole_graph } else { graph };
            return convert(session, netlist);
        }
        let before = if with_memories { TO_REGISTERS } else { "" };
        let free = format!("free-{netlist}");
        let [map, verilog] = SELECT;
        session.write(map, verilog)?;
        session
            .script(&format!("read_rtlil {netlist}\n{before}{TO_FREE}\nwrite_rtlil {free}\n"))?;
        let text = with_free_inputs(&session.text(&free)?)
            .map_err(|Unknown(what)| Error::Environment(codes::NETLIST_NOT_UNDERSTOOD, what))?;
        session.write(&free, &text)?;
        graph(session, &free)
    }
}

/// Runs `before` and converts the netlist. The result is cached by the content of the netlist: for
/// a large netlist Yosys takes as long as ABC.
fn build_graph(session: &YosysSession, netlist: &str, before: &str) -> Result<Graph, Error> {
    let [map, verilog] = FIRST;
    let text = session.text(netlist)?;
    let commands = format!("{before}{TO_GRAPH} -vmap");
    let parts = ["graph", &commands, verilog, &text].map(str::as_bytes);
    let slot = match session.answers().look_up(&parts, |kept| serde_json::from_slice(kept).ok()) {
        CacheLookup::Found(graph) => return Ok(graph),
        CacheLookup::Missing(slot) => slot,
    };
    session.write(map, verilog)?;
    let [graph, words] = ["aag", "map"].map(|ending| format!("{netlist}.{ending}"));
    session.script(&format!("read_rtlil {netlist}\n{commands} {words} {graph}\n"))?;
    let graph = Graph { text: session.text(&graph)?, words: session.text(&words)? };
    if let Ok(bytes) = serde_json::to_vec(&graph) {
        slot.keep(&bytes);
    }
    Ok(graph)
}

pub fn memory_bits(netlist: &str) -> u64 {
    rtlil::memories(netlist).map(|memory| memory.width.saturating_mul(memory.size)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_rtl::answers::Answers;
    use cosim_rtl::answers::store::Store;
    use tempfile::TempDir;

    #[test]
    fn a_graph_is_made_once_of_a_netlist() {
        let kept = TempDir::new().unwrap();
        let graph_of = |width: u32, is_whole| {
            let answers = Answers::new(Store::new(kept.path(), u64::MAX), "1".to_owned());
            let session = YosysSession::from_verilog("module top; endmodule").with_answers(answers);
            let text = format!(
                "module top(input clk, input [{width}:0] d, output reg [{width}:0] q);
                 always @(posedge clk) q <= d;
                 endmodule"
            );
            session.write("top.v", &text).unwrap();
            session.script("read_verilog top.v\nproc\nwrite_rtlil top.il\n").unwrap();
            let make = if is_whole { whole_graph } else { graph };
            let made = make(&session, "top.il").unwrap();
            let [_, found] = session.answers().counts();
            (made, found == 1)
        };
        let (first, is_kept) = graph_of(1, false);
        assert!(!is_kept && first.text.starts_with("aag ") && !first.words.is_empty());
        assert_eq!(graph_of(1, false), (first.clone(), true));
        assert!(!graph_of(1, true).1, "made in another way");
        let (wider, is_kept) = graph_of(2, false);
        assert!(!is_kept && wider != first);
    }
}
