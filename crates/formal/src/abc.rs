//! Converts netlists to and-inverter graphs and decides with ABC whether an output can be 1.
//!
//! Graphs and replies are cached in [`Answers`](cosim_rtl::answers::Answers). `reply` decides which
//! replies may be cached.

mod reply;

use crate::certificate::network::Network;
use crate::certificate::{Evidence, Invariant};
use crate::portfolio::{self, Attempt, Engine};
use cosim_base::error::Error;
use cosim_rtl::answers::CacheLookup;
use cosim_rtl::yosys::{YosysSession, abc};
use reply::{Reply, not_shown, status};
use serde::{Deserialize, Serialize};
use std::fs;

/// Yosys commands that convert a netlist without memories to an and-inverter graph.
const TO_GRAPH: &str = "setundef -undriven -zero\ndffunmap\nopt_expr\nopt_clean\ntechmap -map first.v\nsimplemap\n\
                        techmap\nsetundef -zero\nopt_expr\nopt_clean\naigmap\nopt_clean\n\
                        write_aiger -ascii -symbols";
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
/// Processor seconds after which ABC is killed: some of its commands have no time limit.
const MOST: u32 = 2 * portfolio::SECONDS;

/// Cycles from reset that an induction step needs as its base.
const STEPS: u32 = 3;

/// Whether a property output can ever be 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// ABC says that the output is never 1, by this evidence.
    Never(Evidence),
    /// The output is 1 after these inputs: the names of the bits that are 1, for each cycle after
    /// the reset cycle.
    Seen(Vec<Vec<String>>),
    /// Undecided.
    Open {
        /// Cycles in which the output is known to be 0.
        cycles: Option<u32>,
        /// Why ABC did not decide.
        because: String,
    },
}

impl Answer {
    /// Whether ABC says that the output is never 1.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Never(_))
    }

    /// Whether it is a sufficient base for [`INDUCTION_STEP`](crate::portfolio::INDUCTION_STEP).
    pub fn is_base(&self) -> bool {
        matches!(self, Self::Open { cycles: Some(cycles), .. } if *cycles >= STEPS)
    }
}

/// An and-inverter graph written by Yosys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The graph in ASCII AIGER, with the names of inputs and outputs.
    pub text: String,
    /// The `-vmap` file, which assigns latches to registers.
    pub words: String,
}

/// Converts a netlist without memories to a graph.
///
/// # Errors
/// As [`YosysSession::script`].
pub fn graph(session: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    made(session, netlist, "")
}

/// Converts a netlist to a graph and maps its memories to registers.
///
/// # Errors
/// As [`YosysSession::script`].
pub fn whole_graph(session: &YosysSession, netlist: &str) -> Result<Graph, Error> {
    made(session, netlist, "memory_collect\nmemory_map\nopt_clean\n")
}

/// Runs `before` and converts the netlist. The result is cached by the content of the netlist: for
/// a large netlist Yosys takes as long as ABC.
fn made(session: &YosysSession, netlist: &str, before: &str) -> Result<Graph, Error> {
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
    session.script(&format!("read_ilang {netlist}\n{commands} {words} {graph}\n"))?;
    let graph = Graph { text: session.text(&graph)?, words: session.text(&words)? };
    if let Ok(bytes) = serde_json::to_vec(&graph) {
        slot.keep(&bytes);
    }
    Ok(graph)
}

/// Decides with ABC, or from the cache, whether the output of a graph can be 1. `name` names files.
/// A proof is what ABC says: [`certify`](crate::certificate::certify) checks it. A trace that does
/// not make the output 1 decides nothing.
///
/// # Errors
/// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
pub fn ask(
    session: &YosysSession,
    name: &str,
    file: &[u8],
    inputs: &[String],
    attempt: Attempt,
) -> Result<Answer, Error> {
    let engines = attempt.to_string();
    let limit = MOST.to_le_bytes();
    let parts: [&[u8]; 4] = [b"abc", &limit, engines.as_bytes(), file];
    let slot = match session.answers().look_up(&parts, Reply::from_bytes) {
        CacheLookup::Found(reply) => return Ok(answer(reply, file, inputs, attempt)),
        CacheLookup::Missing(slot) => slot,
    };
    let [path, trace, invariant] =
        ["aig", "trace", "pla"].map(|ending| session.path(&format!("{name}.{ending}")));
    fs::write(&path, file).map_err(Error::write(&path))?;
    // A file of an earlier attempt is not a part of this reply.
    let _ = fs::remove_file(&invariant);
    let to_file = match attempt.engine {
        Engine::Pdr => format!(" -I {}", invariant.display()),
        _ => String::new(),
    };
    let commands = format!(
        "read_aiger {0}; {engines}{to_file}; time; print_status; write_cex -a {1}",
        path.display(),
        trace.display()
    );
    let output = abc(&commands, MOST.into())?;
    let _ = fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout);
    let reply = match status(&said) {
        _ if !output.status.success() => not_shown(&said, &output),
        Some("1") => {
            let text = fs::read_to_string(&invariant).unwrap_or_default();
            Reply::Never(Invariant::parse(&text).map(|invariant| invariant.with_merged(&said)))
        }
        Some("0") => {
            let text =
                fs::read_to_string(&trace).map_err(|error| Error::unreadable(&trace, &error))?;
            let _ = fs::remove_file(&trace);
            Reply::Seen(text)
        }
        _ => not_shown(&said, &output),
    };
    let _ = fs::remove_file(&invariant);
    let answer = answer(reply.clone(), file, inputs, attempt);
    // A trace that is wrong or cannot be parsed may be truncated: do not cache it.
    let is_understood = matches!(reply, Reply::Seen(_)) == matches!(answer, Answer::Seen(_));
    if is_understood
        && reply.is_repeatable(attempt.seconds, &said, &output)
        && let Some(bytes) = reply.to_bytes()
    {
        slot.keep(&bytes);
    }
    Ok(answer)
}

/// The answer of a reply, with the evidence for a proof. A trace is simulated.
fn answer(reply: Reply, file: &[u8], inputs: &[String], attempt: Attempt) -> Answer {
    let open = |because: &str| Answer::Open { cycles: None, because: because.to_owned() };
    match reply {
        Reply::Open { cycles, because } => Answer::Open { cycles, because },
        Reply::Never(invariant) => Answer::Never(match attempt.engine {
            Engine::Pdr => {
                Evidence::Invariant { invariant, is_simplified: !attempt.reduce.is_empty() }
            }
            Engine::BoundedSearch | Engine::Induction => Evidence::Induction,
        }),
        Reply::Seen(trace) => {
            let is_violated = |network: Network| match inputs {
                // Its rows are empty, and it has one course only.
                [] => network.is_violated_by(trace.lines().map(|_| &[][..])),
                _ => network.is_violated_by(reply::rows(&trace)),
            };
            match reply::read_trace(&trace, inputs) {
                None => open("ABC's trace is not understood"),
                Some(_) if !Network::parse(file).is_some_and(is_violated) => {
                    open("ABC's trace does not violate the property")
                }
                Some(cycles) => Answer::Seen(cycles),
            }
        }
    }
}

/// Total memory bits of a flat netlist.
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
