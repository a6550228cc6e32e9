//! The formal judge of mutations that no case has found: does any input make them differ from the RTL?

use super::aig::{Aig, Interface, Question};
use super::build::BASE;
use super::cut::{cut, unjudged};
use super::mutation::Mutation;
use super::netlist::Unknown;
use super::report::Proof;
use crate::error::Error;
use crate::harness::Block;
use crate::yosys::{Workshop, abc};
use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::sync::{Arc, Mutex};

/// The netlist with mutations, flat; without memories; as an and-inverter graph.
const FILES: [&str; 3] = ["flat.il", "cut.il", "judge.aag"];
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
/// Bits of memories that a search takes as registers, at most.
const MEMORY: u64 = 1 << 16;
/// The input that switches mutations on.
const SELECT: &str = "cosim_select";
/// Frames of the bounded search, and conflicts that a call of its solver may have.
const BOUNDED: [u32; 2] = [40, 20_000];
/// The same of a search with memories as they are, in which a frame is much larger.
const SEARCHED: [u32; 2] = [20, 5_000];
/// The same of the proof.
const PROVED: [u32; 2] = [100, 2_000];
/// Seconds after which either is given up. Limits on the work are to come first, so that verdicts are the same
/// everywhere; where this one does, the reason says so.
const SECONDS: u32 = 60;

/// What the judge says of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It never makes a difference; how that was shown.
    Equivalent(Proof),
    /// Inputs that make a difference, if memories gave what the trace says: for each cycle behind the one in reset
    /// the names of the bits that are 1.
    Differs(Vec<Vec<String>>),
    /// Nothing was shown.
    Open(String),
}

/// An RTL with mutations, as the judge sees it. Several threads may ask it.
#[derive(Debug)]
pub struct Judge<'a> {
    workshop: &'a Workshop,
    aig: Aig,
    reset: Option<(&'static str, bool)>,
    /// Numbers of mutations, and the values that switch them on.
    selected: BTreeMap<u32, u32>,
    /// Those that cannot be judged, and why.
    apart: BTreeMap<u32, &'static str>,
    /// With memories as they are, or the reason why there is none; made when it is first asked.
    whole: Mutex<Option<Result<Arc<Aig>, String>>>,
}

impl<'a> Judge<'a> {
    /// Reads the RTL with these mutations.
    ///
    /// # Errors
    /// The reason why it cannot be judged, or [`Error`] for what Yosys cannot do.
    pub fn new<B: Block>(
        workshop: &'a Workshop,
        mutations: &[Mutation],
    ) -> Result<Result<Self, String>, Error> {
        Self::of(workshop, mutations, B::RTL.clock, B::RESET.map(|pin| pin.name_and_level()))
    }

    fn of(
        workshop: &'a Workshop,
        mutations: &[Mutation],
        clock: &str,
        reset: Option<(&'static str, bool)>,
    ) -> Result<Result<Self, String>, Error> {
        let [flat, cut_open, graph] = FILES;
        let base = workshop.text(BASE)?;
        let unjudged = unjudged(&base);
        // One of these would spoil the netlist for all.
        let (mut apart, mut selected) = (BTreeMap::new(), BTreeMap::new());
        let mut commands = Vec::new();
        for mutation in mutations {
            let Mutation { id, module, cell, port, .. } = mutation;
            if let Some(because) = unjudged.get(&(module.as_str(), cell.as_str(), port.as_str())) {
                apart.insert(*id, *because);
            } else {
                commands.push(mutation.command());
                selected.insert(*id, commands.len() as u32);
            }
        }
        let width = (commands.len() + 1).ilog2() + 1;
        let mut script = format!("read_ilang {BASE}\n");
        for (command, value) in commands.iter().zip(1..) {
            script += &format!("mutate -ctrl {SELECT} {width} {value} {command}\n");
        }
        script += &format!("flatten\nasync2sync\nopt_clean\nwrite_ilang {flat}\n");
        workshop.script(&script)?;
        let text = match cut(&workshop.text(flat)?, clock) {
            Ok(text) => text,
            Err(Unknown(what)) => return Ok(Err(what)),
        };
        workshop.write(cut_open, &text)?;
        let [map, verilog] = FIRST;
        workshop.write(map, verilog)?;
        workshop.script(&format!("read_ilang {cut_open}\n{TO_GRAPH} {graph}\n"))?;
        let Some(aig) = Aig::parse(&workshop.text(graph)?) else {
            return Ok(Err("its network has a loop without a register".to_owned()));
        };
        Ok(Ok(Self { workshop, aig, reset, selected, apart, whole: Mutex::new(None) }))
    }

    /// Why a mutation cannot be judged; `None` if it can be.
    pub fn apart(&self, id: u32) -> Option<&'static str> {
        self.apart.get(&id).copied()
    }

    /// Judges a mutation by what can be seen at once; `None` if that does not do.
    pub fn at_once(&self, id: u32) -> Option<Ruling> {
        let value = *self.selected.get(&id)?;
        match self.question(value, &self.aig, false) {
            Question::Same => Some(Ruling::Equivalent(Proof::Structure)),
            Question::Open { .. } => None,
        }
    }

    /// Judges a mutation. Memories are cut out.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
    pub fn rule(&self, id: u32) -> Result<Ruling, Error> {
        let [[frames, conflicts], [most, each]] = [BOUNDED, PROVED];
        let engines = format!(
            "bmc3 -F {frames} -C {conflicts} -T {SECONDS}; scorr; dc2; pdr -F {most} -C {each} -T {SECONDS}"
        );
        self.judge(id, &self.aig, false, &engines)
    }

    /// Searches for a difference with memories as they are: registers, many of them. It proves nothing.
    ///
    /// # Errors
    /// As [`Judge::rule`].
    pub fn search(&self, id: u32) -> Result<Ruling, Error> {
        let aig = match self.whole()? {
            Ok(aig) => aig,
            Err(because) => return Ok(Ruling::Open(because)),
        };
        let [frames, conflicts] = SEARCHED;
        let engine = format!("bmc3 -F {frames} -C {conflicts} -T {SECONDS}");
        Ok(match self.judge(id, &aig, true, &engine)? {
            // Of registers that begin with some values, not with any.
            Ruling::Equivalent(_) => {
                Ruling::Open("with memories as they are nothing differs".to_owned())
            }
            Ruling::Open(because) => Ruling::Open(format!("with memories as they are {because}")),
            differs @ Ruling::Differs(_) => differs,
        })
    }

    /// The graph with memories as they are.
    fn whole(&self) -> Result<Result<Arc<Aig>, String>, Error> {
        let Ok(mut whole) = self.whole.lock() else {
            return Err(Error::Environment("a thread of the judge is gone".to_owned()));
        };
        if let Some(whole) = &*whole {
            return Ok(whole.clone());
        }
        let made = self.make_whole()?;
        *whole = Some(made.clone());
        Ok(made)
    }

    fn make_whole(&self) -> Result<Result<Arc<Aig>, String>, Error> {
        let [flat, _, graph] = FILES;
        if memory_bits(&self.workshop.text(flat)?) > MEMORY {
            return Ok(Err("its memories are too large to be searched".to_owned()));
        }
        self.workshop.script(&format!(
            "read_ilang {flat}\nmemory_collect\nmemory_map\nopt_clean\n{TO_GRAPH} {graph}\n"
        ))?;
        let aig = Aig::parse(&self.workshop.text(graph)?);
        let because =
            || "with memories as they are its network has a loop without a register".to_owned();
        Ok(aig.map(Arc::new).ok_or_else(because))
    }

    fn question(&self, value: u32, aig: &Aig, filled: bool) -> Question {
        let interface = Interface {
            reset: self.reset,
            filled,
            select: SELECT,
            read: "cosim_read_",
            write: ["cosim_enable_", "cosim_data_", "cosim_address_"],
        };
        aig.question(&interface, value)
    }

    fn judge(&self, id: u32, aig: &Aig, filled: bool, engines: &str) -> Result<Ruling, Error> {
        let Some(value) = self.selected.get(&id) else {
            let because = self.apart(id).unwrap_or("it is not among those that are judged");
            return Ok(Ruling::Open(because.to_owned()));
        };
        let (file, inputs) = match self.question(*value, aig, filled) {
            Question::Same => return Ok(Ruling::Equivalent(Proof::Structure)),
            Question::Open { file, inputs } => (file, inputs),
        };
        let [name, trace] = ["aig", "trace"].map(|ending| format!("question-{id}.{ending}"));
        let [path, trace] = [name, trace].map(|name| self.workshop.path(&name));
        fs::write(&path, file).map_err(Error::write(&path))?;
        let output = abc(&format!(
            "read_aiger {0}; {engines}; print_status; write_cex -a {1}",
            path.display(),
            trace.display()
        ))?;
        let _ = fs::remove_file(&path);
        let said = String::from_utf8_lossy(&output.stdout);
        let status = said
            .lines()
            .rev()
            .find_map(|line| line.split_once("Status =")?.1.split_whitespace().next());
        Ok(match status {
            _ if !output.status.success() => Ruling::Open(not_shown(&said, &output)),
            Some("1") => Ruling::Equivalent(Proof::Induction),
            Some("0") => {
                let text = fs::read_to_string(&trace)
                    .map_err(|error| Error::unreadable(&trace, &error))?;
                let _ = fs::remove_file(&trace);
                match read_trace(&text, &inputs) {
                    Some(cycles) => Ruling::Differs(cycles),
                    None => Ruling::Open("ABC's trace is not understood".to_owned()),
                }
            }
            _ => Ruling::Open(not_shown(&said, &output)),
        })
    }
}

/// Why ABC has shown nothing, in its own numbers.
fn not_shown(said: &str, output: &Output) -> String {
    if !output.status.success() {
        return format!("nothing was shown: ABC ended with {}", output.status);
    }
    let frames = said.lines().find_map(|line| {
        line.split_once("No output asserted in ")?.1.split(' ').next()?.parse::<u32>().ok()
    });
    let cycles = match frames {
        Some(frames) => format!("no difference was found in {frames} cycles, and no proof"),
        None => "neither a difference nor a proof was found".to_owned(),
    };
    if said.contains("timeout") {
        return format!("{cycles}, within the time limit of {SECONDS} s");
    }
    cycles
}

/// Bits of the memories of a flat netlist.
fn memory_bits(netlist: &str) -> u64 {
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
    use crate::mutate::Mode;
    use crate::mutate::build::{begin, chosen};
    use std::os::unix::process::ExitStatusExt;

    const CHOICE: &str =
        "module top(input [1:0] s, a, b, input [2:0] n, output reg [1:0] y, output z);
        always @* case (s)
            0: y = a;
            1: y = b;
            2: y = a | b;
            3: y = a & b;
        endcase
        wire [4:0] all = {b, a, s[0]};
        assign z = all[n];
        endmodule";

    /// Whether the Verilog that is written of a mutation differs, by its number: Yosys reads it again, and says so.
    fn differing(workshop: &Workshop, mutations: &[Mutation]) -> Vec<u32> {
        let [mut write, mut ask] = [String::new(), String::new()];
        for mutation in mutations {
            let (id, command) = (mutation.id, mutation.command());
            write += &format!(
                "read_ilang {BASE}\nmutate {command}\nwrite_verilog -noattr {id}.v\ndesign -reset\n"
            );
            ask += &format!(
                "read_verilog {id}.v\nrename top mutant\nproc\nread_ilang {BASE}\n\
                 miter -equiv -flatten -make_outputs top mutant both\n\
                 sat -prove trigger 0 -dump_json {id}.json both\ndesign -reset\n"
            );
        }
        workshop.script(&write).unwrap();
        for mutation in mutations {
            // To Verilator, unlike Yosys, this is a comment.
            let name = format!("{}.v", mutation.id);
            let text = workshop.text(&name).unwrap().replace("// synopsys parallel_case", "");
            workshop.write(&name, &text).unwrap();
        }
        workshop.script(&ask).unwrap();
        let ids = mutations.iter().map(|mutation| mutation.id);
        ids.filter(|id| workshop.path(&format!("{id}.json")).exists()).collect()
    }

    #[test]
    fn the_judge_says_what_the_verilog_does_that_is_written_of_a_mutation() {
        let workshop = Workshop::of_verilog(CHOICE);
        begin(&workshop, &[]).unwrap();
        let mut mutations = chosen(&workshop, 1000, 1).unwrap();
        // Where several cases may come to be at once, and what lies beyond a signal.
        mutations.retain(|Mutation { cell, port, .. }| match port.as_str() {
            "S" => true,
            "Y" => cell.contains("CMP"),
            "B" => cell.contains("shiftx"),
            _ => false,
        });
        mutations.truncate(60);
        let judge = Judge::of(&workshop, &mutations, "clk", None).unwrap().unwrap();
        let differing = differing(&workshop, &mutations);
        let mut same = 0;
        for mutation in &mutations {
            let ruling = judge.rule(mutation.id).unwrap();
            if differing.contains(&mutation.id) {
                assert!(matches!(ruling, Ruling::Differs(_)), "{ruling:?}: {}", mutation.words());
            } else {
                same += 1;
                assert!(
                    matches!(ruling, Ruling::Equivalent(_)),
                    "{ruling:?}: {}",
                    mutation.words()
                );
            }
        }
        assert!((1..40).contains(&same), "{same} are the same");
        let makes_two_hot = |mutation: &&Mutation| {
            mutation.cell.contains("procmux")
                && mutation.port == "S"
                && mutation.mode == Mode::Const1
        };
        let two_hot: Vec<u32> = mutations.iter().filter(makes_two_hot).map(|m| m.id).collect();
        assert!(two_hot.iter().any(|id| differing.contains(id)), "none is chosen: take more");
    }

    #[test]
    fn a_mutation_at_the_clock_is_not_judged_and_does_not_keep_others_from_it() {
        let workshop = Workshop::of_verilog(
            "module top(input clk, input [1:0] a, output reg y, output z);
             reg [1:0] m [0:1];
             always @(posedge clk) begin m[a[0]] <= a; y <= a[1] & a[0]; end
             assign z = m[0][1];
             endmodule",
        );
        begin(&workshop, &[]).unwrap();
        let mutations = chosen(&workshop, 1000, 1).unwrap();
        let judge = Judge::of(&workshop, &mutations, "clk", None).unwrap().unwrap();
        let mut apart = 0;
        for mutation in &mutations {
            let is_clock = mutation.port == "CLK";
            apart += usize::from(is_clock);
            assert_eq!(judge.apart(mutation.id).is_some(), is_clock, "{}", mutation.words());
        }
        assert!(apart > 0);
        let at = |port: &str| mutations.iter().find(|m| m.port == port && m.mode == Mode::Inv);
        let ruling = judge.rule(at("CLK").unwrap().id).unwrap();
        assert_eq!(ruling, Ruling::Open("its clock is mutated".to_owned()));
        assert!(matches!(judge.rule(at("Y").unwrap().id).unwrap(), Ruling::Differs(_)));
    }

    #[test]
    fn why_nothing_was_shown_is_said_with_what_was_done() {
        let ended = |code| Output {
            status: std::process::ExitStatus::from_raw(code),
            stdout: Vec::new(),
            stderr: Vec::new(),
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
            assert_eq!(not_shown(said, &ended(0)), expected);
        }
        assert!(
            not_shown("", &ended(6)).starts_with("nothing was shown: ABC ended with signal: 6")
        );
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
