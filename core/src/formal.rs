//! Questions about netlists, as and-inverter graphs, and how ABC is asked.

use crate::error::Error;
use crate::yosys::{Workshop, abc};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use verilated_build::EXCEEDED;

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
/// Seconds after which an engine is given up. Limits on the work are to come first, so that answers are the same
/// everywhere; where this one does, the reason says so.
pub const SECONDS: u32 = 60;
/// Seconds of processor time after which ABC is ended, whatever it does: some of its commands have no limit of their own.
const MOST: u32 = 2 * SECONDS;

/// What happens within a few cycles; if nothing does, the base of an induction.
pub const SHORT: &str = "bmc3 -F 6 -C 20000 -T 10";
/// The step of an induction over two cycles: most needs no more than its own cycle and the one before. By itself it shows nothing.
pub const STEP: &str = "ind -F 2 -C 1000000 -T 10";
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
    /// Whether a [`STEP`] can build on it.
    pub fn is_base(&self) -> bool {
        matches!(self, Self::Open { cycles: Some(cycles), .. } if *cycles >= STEPS)
    }
}

/// Writes the graph of a netlist that has no memories. Which bits are of one register is written to `words`, if that
/// is asked for.
///
/// # Errors
/// As [`Workshop::script`].
pub fn write_graph(
    workshop: &Workshop,
    netlist: &str,
    graph: &str,
    words: Option<&str>,
) -> Result<(), Error> {
    let map = words.map_or_else(String::new, |words| format!(" -vmap {words}"));
    write(workshop, netlist, &format!("{TO_GRAPH}{map} {graph}"))
}

/// Writes the graph of a netlist with its memories as registers.
///
/// # Errors
/// As [`Workshop::script`].
pub fn write_whole_graph(workshop: &Workshop, netlist: &str, graph: &str) -> Result<(), Error> {
    let commands = format!("memory_collect\nmemory_map\nopt_clean\n{TO_GRAPH} {graph}");
    write(workshop, netlist, &commands)
}

fn write(workshop: &Workshop, netlist: &str, commands: &str) -> Result<(), Error> {
    let [map, verilog] = FIRST;
    workshop.write(map, verilog)?;
    workshop.script(&format!("read_ilang {netlist}\n{commands}\n"))
}

/// Asks ABC whether the output of a graph is ever 1; `name` is for files.
///
/// # Errors
/// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
pub fn ask(
    workshop: &Workshop,
    name: &str,
    file: &[u8],
    inputs: &[String],
    engines: &str,
) -> Result<Answer, Error> {
    let [path, trace] = ["aig", "trace"].map(|ending| workshop.path(&format!("{name}.{ending}")));
    fs::write(&path, file).map_err(Error::write(&path))?;
    let commands = format!(
        "read_aiger {0}; {engines}; print_status; write_cex -a {1}",
        path.display(),
        trace.display()
    );
    let output = abc(&commands, MOST.into())?;
    let _ = fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout);
    let status = said
        .lines()
        .rev()
        .find_map(|line| line.split_once("Status =")?.1.split_whitespace().next());
    Ok(match status {
        _ if !output.status.success() => not_shown(&said, &output),
        Some("1") => Answer::Never,
        Some("0") => {
            let text =
                fs::read_to_string(&trace).map_err(|error| Error::unreadable(&trace, &error))?;
            let _ = fs::remove_file(&trace);
            match read_trace(&text, inputs) {
                Some(cycles) => Answer::Seen(cycles),
                None => Answer::Open {
                    cycles: None,
                    because: "ABC's trace is not understood".to_owned(),
                },
            }
        }
        _ => not_shown(&said, &output),
    })
}

/// Why ABC has shown nothing, in its own numbers.
fn not_shown(said: &str, output: &Output) -> Answer {
    if !output.status.success() {
        let because = match output.status.signal() {
            Some(EXCEEDED) => format!("nothing was shown within the time limit of {MOST} s"),
            _ => format!("nothing was shown: ABC ended with {}", output.status),
        };
        return Answer::Open { cycles: None, because };
    }
    let cycles = said.lines().find_map(|line| {
        line.split_once("No output asserted in ")?.1.split(' ').next()?.parse::<u32>().ok()
    });
    let mut because = match cycles {
        Some(cycles) => format!("no difference was found in {cycles} cycles, and no proof"),
        None => "neither a difference nor a proof was found".to_owned(),
    };
    if said.contains("timeout") {
        because += &format!(", within the time limit of {SECONDS} s");
    }
    Answer::Open { cycles, because }
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

/// The bits that are 1 in each cycle behind the one in reset; `None` if it is no trace.
fn read_trace(text: &str, inputs: &[String]) -> Option<Vec<Vec<String>>> {
    // First what registers begin with, then a line for each cycle, the one in reset first.
    let mut rows = text.lines().map(|line| line.split(['#', ' ']).next().unwrap_or_default());
    rows.next()?;
    let row = |row: &str| -> Option<Vec<String>> {
        let bits = row.bytes().zip(inputs).filter(|(bit, _)| *bit == b'1');
        (row.len() == inputs.len()).then(|| bits.map(|(_, name)| name.clone()).collect())
    };
    rows.filter(|text| !text.is_empty()).skip(1).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_nothing_was_shown_is_said_with_what_was_done() {
        let ended = |code| Output {
            status: std::process::ExitStatus::from_raw(code),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        let because = |said: &str, code| match not_shown(said, &ended(code)) {
            Answer::Open { because, .. } => because,
            other => panic!("{other:?}"),
        };
        for (said, expected) in [
            (
                "No output asserted in 3 frames. Resource limit reached (conf limit 10).\nProperty UNDECIDED.",
                "no difference was found in 3 cycles, and no proof",
            ),
            (
                "No output asserted in 40 frames.\nReached timeout (60 seconds) in frame 3.",
                "no difference was found in 40 cycles, and no proof, within the time limit of 60 s",
            ),
            ("", "neither a difference nor a proof was found"),
        ] {
            assert_eq!(because(said, 0), expected);
        }
        assert!(because("", 6).starts_with("nothing was shown: ABC ended with signal: 6"));
        assert_eq!(because("", EXCEEDED), "nothing was shown within the time limit of 120 s");
    }

    /// As ABC writes it.
    #[test]
    fn a_trace_begins_behind_the_cycle_in_reset() {
        let inputs = ["rst", "a[0]", "a[1]"].map(str::to_owned);
        let text = "000000\n100\n010\n011# DONE\n";
        let expected: [&[&str]; 2] = [&["a[0]"], &["a[0]", "a[1]"]];
        assert_eq!(read_trace(text, &inputs).unwrap(), expected);
        assert_eq!(read_trace("0\n1000\n0000\n", &inputs), None);
    }
}
