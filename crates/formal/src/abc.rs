//! Answers questions about netlists with ABC, on and-inverter graphs.
//!
//! Graphs and replies are looked up in [`Answers`](cosim_rtl::answers::Answers) first. `reply` decides which replies
//! may be kept.

mod reply;

use crate::portfolio::{self, Attempt};
use cosim_base::error::Error;
use cosim_rtl::answers::CacheLookup;
use cosim_rtl::yosys::{YosysSession, abc};
use reply::{Reply, not_shown, status};
use serde::{Deserialize, Serialize};
use std::fs;

/// From a netlist without memories to a graph.
const TO_GRAPH: &str = "setundef -undriven -zero\ndffunmap\nopt_expr\nopt_clean\ntechmap -map first.v\nsimplemap\n\
                        techmap\nsetundef -zero\nopt_expr\nopt_clean\naigmap\nopt_clean\n\
                        write_aiger -ascii -symbols";
/// What a multiplexer with one bit for each case does when several of them are 1: as the Verilog that Yosys writes
/// of it, and so the model, it takes the first. To Yosys itself that is no case, and it would take all at once.
/// A mutation makes it one.
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
/// Bits of memories that are taken as registers, at most.
pub const MEMORY: u64 = 1 << 16;
/// Seconds of processor time after which ABC is ended, whatever it does: some of its commands have no limit of their own.
const MOST: u32 = 2 * portfolio::SECONDS;

/// The cycles from reset that the step builds on.
const STEPS: u32 = 3;

/// What came of a question whether something ever happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It never does.
    Never,
    /// It does with these inputs: for each cycle behind the one in reset the names of the bits that are 1.
    Seen(Vec<Vec<String>>),
    /// Nothing was shown but that it does not in so many cycles.
    Open {
        /// The cycles.
        cycles: Option<u32>,
        /// Why no more was shown.
        because: String,
    },
}

impl Answer {
    /// Whether a [`INDUCTION_STEP`](crate::portfolio::INDUCTION_STEP) can build on it.
    pub fn is_base(&self) -> bool {
        matches!(self, Self::Open { cycles: Some(cycles), .. } if *cycles >= STEPS)
    }
}

/// A graph as Yosys writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The graph in the ASCII form of AIGER, with the names of inputs and outputs.
    pub text: String,
    /// Which bits of the graph belong to one register.
    pub words: String,
}

/// The graph of a netlist that has no memories.
///
/// # Errors
/// As [`YosysSession::script`].
pub fn graph(workshop: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    made(workshop, netlist, "")
}

/// The graph of a netlist with its memories as registers.
///
/// # Errors
/// As [`YosysSession::script`].
pub fn whole_graph(workshop: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    made(workshop, netlist, "memory_collect\nmemory_map\nopt_clean\n")
}

/// The graph of a netlist after some commands, kept by the content of the netlist: Yosys takes as long for a large one
/// as ABC for its questions.
fn made(workshop: &YosysSession, netlist: &str, before: &str) -> Result<Graph, Error> {
    let [map, verilog] = FIRST;
    let text = workshop.text(netlist)?;
    let commands = format!("{before}{TO_GRAPH} -vmap");
    let parts = ["graph", &commands, verilog, &text].map(str::as_bytes);
    let slot = match workshop.answers().look_up(&parts, |kept| serde_json::from_slice(kept).ok()) {
        CacheLookup::Found(graph) => return Ok(graph),
        CacheLookup::Missing(slot) => slot,
    };
    workshop.write(map, verilog)?;
    let [graph, words] = ["aag", "map"].map(|ending| format!("{netlist}.{ending}"));
    workshop.script(&format!("read_ilang {netlist}\n{commands} {words} {graph}\n"))?;
    let graph = Graph { text: workshop.text(&graph)?, words: workshop.text(&words)? };
    if let Ok(bytes) = serde_json::to_vec(&graph) {
        slot.keep(&bytes);
    }
    Ok(graph)
}

/// Asks ABC whether the output of a graph is ever 1, unless its reply is kept; `name` is for files.
///
/// # Errors
/// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
pub fn ask(
    workshop: &YosysSession,
    name: &str,
    file: &[u8],
    inputs: &[String],
    attempt: Attempt,
) -> Result<Answer, Error> {
    let engines = attempt.to_string();
    let limit = MOST.to_le_bytes();
    let parts: [&[u8]; 4] = [b"abc", &limit, engines.as_bytes(), file];
    let slot = match workshop.answers().look_up(&parts, Reply::from_bytes) {
        CacheLookup::Found(reply) => return Ok(reply.answer(inputs)),
        CacheLookup::Missing(slot) => slot,
    };
    let [path, trace] = ["aig", "trace"].map(|ending| workshop.path(&format!("{name}.{ending}")));
    fs::write(&path, file).map_err(Error::write(&path))?;
    let commands = format!(
        "read_aiger {0}; {engines}; time; print_status; write_cex -a {1}",
        path.display(),
        trace.display()
    );
    let output = abc(&commands, MOST.into())?;
    let _ = fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout);
    let reply = match status(&said) {
        _ if !output.status.success() => not_shown(&said, &output),
        Some("1") => Reply::Never,
        Some("0") => {
            let text =
                fs::read_to_string(&trace).map_err(|error| Error::unreadable(&trace, &error))?;
            let _ = fs::remove_file(&trace);
            Reply::Seen(text)
        }
        _ => not_shown(&said, &output),
    };
    let answer = reply.clone().answer(inputs);
    // A trace that is not understood may be one that was cut off.
    let is_understood = matches!(reply, Reply::Seen(_)) == matches!(answer, Answer::Seen(_));
    if is_understood
        && reply.is_repeatable(attempt.seconds, &said, &output)
        && let Some(bytes) = reply.to_bytes()
    {
        slot.keep(&bytes);
    }
    Ok(answer)
}

/// Bits of the memories of a flat netlist.
pub fn memory_bits(netlist: &str) -> u64 {
    let memories = netlist.lines().filter_map(|line| line.trim().strip_prefix("memory "));
    let bits = |memory: &str| {
        let words: Vec<&str> = memory.split(' ').collect();
        let number = |name: &str| {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place + 1)?.parse::<u64>().ok()
        };
        number("width").unwrap_or(1) * number("size").unwrap_or(0)
    };
    memories.map(bits).sum()
}

#[cfg(test)]
mod tests;
