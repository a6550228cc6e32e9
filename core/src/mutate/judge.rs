//! The formal judge of mutations that no case has found: does any input make them differ from the RTL?

use super::aig::{Aig, Interface, Question};
use super::build::BASE;
use super::cut::{cut, unjudged};
use super::mutation::Mutation;
use super::netlist::Unknown;
use super::report::Proof;
use crate::error::Error;
use crate::formal::{
    Answer, MEMORY, SECONDS, SHORT, STEP, ask, memory_bits, write_graph, write_whole_graph,
};
use crate::harness::{Block, Parameters};
use crate::prove::monitor::{MONITOR, Monitor, TOP};
use crate::yosys::Workshop;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The netlist with mutations, flat; without memories; as an and-inverter graph.
const FILES: [&str; 3] = ["flat.il", "cut.il", "judge.aag"];
/// Which bits of the graph are of one register.
const WORDS: &str = "judge.map";
/// The input that switches mutations on.
const SELECT: &str = "cosim_select";
/// How the names of outputs begin that break what is to hold in every cycle.
const NEVER: &str = "cosim_never_";
/// How it is proved, where an induction does not do.
const INVARIANT: &str = "pdr -F 20 -C 1000 -T 10";
/// Frames of the bounded search, and conflicts that a call of its solver may have.
const BOUNDED: [u32; 2] = [40, 20_000];
/// The same of a search with memories as they are, in which a frame is much larger.
const SEARCHED: [u32; 2] = [20, 5_000];
/// The same of the proof.
const PROVED: [u32; 2] = [100, 2_000];
/// How far from a mutation registers may be that differ, in a proof that takes little, and what shows it.
const NEAR: std::ops::RangeInclusive<usize> = 0..=2;
const NEARBY: &str = "pdr -F 40 -C 1000 -T 2";
/// What shows that one register alone is reached. It is a small network that may have to be followed for long: a counter and
/// one that counts in another order have many pairs of values.
const ALONE: &str = "pdr -F 600 -C 5000 -T 3";
/// A proof that needs no more than that registers of both sides that are always equal are one.
const REGISTERS: &str = "lcorr; pdr -F 2 -C 100 -T 10";
/// The same of any signals.
const SIGNALS: &str = "dc2; scorr; pdr -F 2 -C 100 -T 10";

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
    /// Outputs that are proved to be 0 in every cycle, of the RTL as it is.
    proved: Vec<String>,
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
        parameters: &Parameters,
        mutations: &[Mutation],
    ) -> Result<Result<Self, String>, Error> {
        let monitor = |bits| Monitor::of_invariants::<B>(parameters, (SELECT, bits), NEVER);
        let reset = B::RESET.map(|pin| pin.name_and_level());
        Self::of(workshop, mutations, monitor, B::RTL.clock, reset)
    }

    fn of(
        workshop: &'a Workshop,
        mutations: &[Mutation],
        monitor: impl Fn(u32) -> Result<Option<Monitor>, Error>,
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
        // Of another RTL, which may not have what the block names, nothing is known.
        let monitor = match commands.is_empty() {
            true => None,
            false => monitor(width)?.filter(|monitor| monitor.missing(&base).is_empty()),
        };
        script += "flatten\nopt_clean\n";
        if let Some(monitor) = &monitor {
            workshop.write(MONITOR, &monitor.text)?;
            script.extend(monitor.inside().map(|name| format!("expose w:{name}\n")));
            script += &format!(
                "read_verilog -sv {MONITOR}\nhierarchy -check -top {TOP}\nproc\nflatten\n"
            );
        }
        script += &format!("async2sync\nopt_clean\nwrite_ilang {flat}\n");
        workshop.script(&script)?;
        let text = match cut(&workshop.text(flat)?, clock) {
            Ok(text) => text,
            Err(Unknown(what)) => return Ok(Err(what)),
        };
        workshop.write(cut_open, &text)?;
        write_graph(workshop, cut_open, graph, Some(WORDS))?;
        let Some(aig) = Aig::parse(&workshop.text(graph)?) else {
            return Ok(Err("its network has a loop without a register".to_owned()));
        };
        let aig = aig.with_words(&workshop.text(WORDS)?);
        let (proved, whole) = (Vec::new(), Mutex::default());
        let mut judge = Self { workshop, aig, reset, selected, apart, proved, whole };
        for place in 0..monitor.map_or(0, |monitor| monitor.properties.len()) {
            let output = format!("{NEVER}{place}");
            if judge.holds(&output)? {
                judge.proved.push(output);
            }
        }
        Ok(Ok(judge))
    }

    /// Whether an output is 0 in every cycle of the RTL as it is, as far as that takes little to show.
    fn holds(&self, output: &str) -> Result<bool, Error> {
        let question = self.aig.property(&self.interface(false), output, false);
        let (file, inputs) = match question {
            None => return Ok(false),
            Some(Question::Same) => return Ok(true),
            Some(Question::Open { file, inputs }) => (file, inputs),
        };
        let put = |engines| ask(self.workshop, output, &file, &inputs, engines);
        Ok(put(SHORT)?.is_base() && put(STEP)? == Answer::Never || put(INVARIANT)? == Answer::Never)
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

    /// Judges a mutation by what takes little: whether it can be shown to be equivalent. Memories are cut out.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
    pub fn soon(&self, id: u32) -> Result<bool, Error> {
        let Some(value) = self.selected.get(&id) else { return Ok(false) };
        for hops in NEAR {
            let question = self.aig.nearby(&self.interface(false), *value, hops);
            let Question::Open { file, inputs } = question else { return Ok(true) };
            match ask(self.workshop, &format!("near-{id}"), &file, &inputs, NEARBY)? {
                Answer::Never => return Ok(true),
                // It may still be that it goes no farther.
                Answer::Seen(_) => {}
                // What is farther away is more to look at.
                Answer::Open { .. } => break,
            }
        }
        self.by(id, REGISTERS)
    }

    /// The same by what takes a little longer, where [`Judge::soon`] does not do.
    ///
    /// # Errors
    /// As [`Judge::soon`].
    pub fn later(&self, id: u32) -> Result<bool, Error> {
        Ok(self.by(id, SIGNALS)? || self.alone(id)?)
    }

    /// Whether one register alone is ever reached.
    fn alone(&self, id: u32) -> Result<bool, Error> {
        let Some(value) = self.selected.get(&id) else { return Ok(false) };
        for question in self.aig.alone(&self.interface(false), *value) {
            let Question::Open { file, inputs } = question else { return Ok(true) };
            if ask(self.workshop, &format!("alone-{id}"), &file, &inputs, ALONE)? == Answer::Never {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn by(&self, id: u32, engines: &str) -> Result<bool, Error> {
        Ok(matches!(self.judge(id, &self.aig, false, engines)?, Ruling::Equivalent(_)))
    }

    /// Judges a mutation by what takes its time. Memories are cut out.
    ///
    /// # Errors
    /// As [`Judge::soon`].
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
            Err(because) => return Ok(open(because)),
        };
        let [frames, conflicts] = SEARCHED;
        let engine = format!("bmc3 -F {frames} -C {conflicts} -T {SECONDS}");
        Ok(match self.judge(id, &aig, true, &engine)? {
            // Of registers that begin with some values, not with any.
            Ruling::Equivalent(_) => open("with memories as they are nothing differs"),
            Ruling::Open(because) => open(format!("with memories as they are {because}")),
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
        write_whole_graph(self.workshop, flat, graph)?;
        let aig = Aig::parse(&self.workshop.text(graph)?);
        let because =
            || "with memories as they are its network has a loop without a register".to_owned();
        Ok(aig.map(Arc::new).ok_or_else(because))
    }

    fn question(&self, value: u32, aig: &Aig, filled: bool) -> Question {
        aig.question(&self.interface(filled), value)
    }

    fn interface(&self, filled: bool) -> Interface<'_> {
        Interface {
            reset: self.reset,
            filled,
            select: SELECT,
            read: "cosim_read_",
            read_at: ["cosim_where_", "cosim_when_"],
            write: ["cosim_enable_", "cosim_data_", "cosim_address_"],
            never: NEVER,
            proved: &self.proved,
        }
    }

    fn judge(&self, id: u32, aig: &Aig, filled: bool, engines: &str) -> Result<Ruling, Error> {
        let Some(value) = self.selected.get(&id) else {
            return Ok(open(self.apart(id).unwrap_or("it is not among those that are judged")));
        };
        let (file, inputs) = match self.question(*value, aig, filled) {
            Question::Same => return Ok(Ruling::Equivalent(Proof::Structure)),
            Question::Open { file, inputs } => (file, inputs),
        };
        let name = format!("question-{id}");
        Ok(match ask(self.workshop, &name, &file, &inputs, engines)? {
            Answer::Never => Ruling::Equivalent(Proof::Induction),
            Answer::Seen(cycles) => Ruling::Differs(cycles),
            Answer::Open { because, .. } => Ruling::Open(because),
        })
    }
}

/// Nothing was shown.
fn open(because: impl Into<String>) -> Ruling {
    Ruling::Open(because.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Mode;
    use crate::mutate::build::{begin, chosen};
    use crate::prove::{Kind, Property};
    use std::iter;

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
        let judge = Judge::of(&workshop, &mutations, |_| Ok(None), "clk", None).unwrap().unwrap();
        let differing = differing(&workshop, &mutations);
        let mut same = 0;
        for mutation in &mutations {
            let ruling = judge.rule(mutation.id).unwrap();
            // What takes little says nothing else.
            if judge.soon(mutation.id).unwrap() || judge.later(mutation.id).unwrap() {
                assert!(
                    matches!(ruling, Ruling::Equivalent(_)),
                    "{ruling:?}: {}",
                    mutation.words()
                );
            }
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
        let judge = Judge::of(&workshop, &mutations, |_| Ok(None), "clk", None).unwrap().unwrap();
        let mut apart = 0;
        for mutation in &mutations {
            let is_clock = mutation.port == "CLK";
            apart += usize::from(is_clock);
            assert_eq!(judge.apart(mutation.id).is_some(), is_clock, "{}", mutation.words());
        }
        assert!(apart > 0);
        let at = |port: &str| mutations.iter().find(|m| m.port == port && m.mode == Mode::Inv);
        let ruling = judge.rule(at("CLK").unwrap().id).unwrap();
        assert_eq!(ruling, open("its clock is mutated"));
        assert!(matches!(judge.rule(at("Y").unwrap().id).unwrap(), Ruling::Differs(_)));
    }

    /// `s` is never 3, so `hidden` is never seen; `chain` is, five cycles later.
    const NEVER_THREE: &str = "module top(input clk, input rst, input a, output y);
        reg [1:0] s; reg hidden; reg [4:0] chain;
        always @(posedge clk or posedge rst) if (rst) s <= 0; else s <= s == 2 ? 0 : s + 1;
        always @(posedge clk) begin hidden <= a; chain <= {chain[3:0], a}; end
        assign y = s == 3 ? hidden : chain[4];
        endmodule";

    #[test]
    fn what_stays_near_a_mutation_is_shown_soon_and_what_comes_out_later_is_not() {
        let workshop = Workshop::of_verilog(NEVER_THREE);
        begin(&workshop, &[]).unwrap();
        let mutations = chosen(&workshop, 1000, 1).unwrap();
        let reset = Some(("rst", true));
        let judge = Judge::of(&workshop, &mutations, |_| Ok(None), "clk", reset).unwrap().unwrap();
        let of = |signal: &str| -> Vec<u32> {
            let is_it = |m: &&Mutation| {
                m.signal.as_deref() == Some(signal) && m.port == "Q" && m.mode == Mode::Inv
            };
            mutations.iter().filter(is_it).map(|mutation| mutation.id).collect()
        };
        assert_eq!(of("hidden[0]").len(), 1);
        for id in of("hidden[0]") {
            assert_eq!(judge.at_once(id), None, "the network alone does not show it");
            assert!(judge.soon(id).unwrap());
        }
        for signal in ["chain[0]", "chain[4]", "s[0]"] {
            assert_eq!(of(signal).len(), 1, "{signal}");
            for id in of(signal) {
                assert!(!judge.soon(id).unwrap(), "{signal}");
                assert!(!judge.later(id).unwrap(), "{signal}");
            }
        }
    }

    /// A timer that counts in another order and takes as many steps is the same; one that takes more or fewer is not.
    #[test]
    fn another_order_of_counting_is_shown_to_be_the_same() {
        let workshop = Workshop::of_verilog(
            "module top(input clk, input rst, input go, input [7:0] a, output reg tick, output reg [7:0] sum);
             reg [4:0] t; reg busy;
             wire [4:0] t_d = busy ? t + 5'd1 : 5'd0;
             always @(posedge clk or posedge rst)
               if (rst) begin t <= 0; busy <= 0; tick <= 0; sum <= 0; end
               else begin
                 t <= t_d;
                 busy <= go;
                 tick <= busy && t == 31;
                 sum <= tick ? 8'd0 : sum + a;
               end
             endmodule",
        );
        begin(&workshop, &[]).unwrap();
        let mut mutations = chosen(&workshop, 1000, 1).unwrap();
        mutations.retain(|mutation| {
            let is_of =
                |name| mutation.signal.as_ref().is_some_and(|signal| signal.starts_with(name));
            is_of("t[") && mutation.port == "Q" || is_of("t_d[") && mutation.port == "D"
        });
        let reset = Some(("rst", true));
        let judge = Judge::of(&workshop, &mutations, |_| Ok(None), "clk", reset).unwrap().unwrap();
        let mut same = 0;
        for mutation in &mutations {
            let Mutation { id, mode, bit, control, .. } = mutation;
            let seen = |held: u32| {
                let is_control = control.is_some_and(|control| held >> control & 1 == 1);
                match mode {
                    Mode::Inv => held ^ 1 << bit,
                    Mode::Const0 => held & !(1 << bit),
                    Mode::Const1 => held | 1 << bit,
                    Mode::Cnot0 => held ^ u32::from(!is_control) << bit,
                    Mode::Cnot1 => held ^ u32::from(is_control) << bit,
                }
            };
            // It is cleared before it counts, and wraps to what it is cleared to.
            let steps = if mutation.port == "Q" {
                let values = iter::successors(Some(0), |held| Some((seen(*held) + 1) % 32));
                values.take(100).position(|held| seen(held) == 31)
            } else {
                let values = iter::successors(Some(seen(0)), |held| Some(seen((*held + 1) % 32)));
                values.take(100).position(|held| held == 31)
            };
            let is_same = steps == Some(31);
            same += u32::from(is_same);
            assert_eq!(judge.alone(*id).unwrap(), is_same, "{}", mutation.words());
        }
        assert!(same > 0 && same < mutations.len() as u32, "{same} of {}", mutations.len());
    }

    #[test]
    fn what_is_said_of_the_rtl_is_used_if_it_is_proved_and_only_then() {
        let workshop = Workshop::of_verilog(NEVER_THREE);
        begin(&workshop, &[]).unwrap();
        let mutations = chosen(&workshop, 1000, 1).unwrap();
        let text = format!(
            "module {TOP}(input clk, input rst, input a, input [63:0] {SELECT}, output y,
               output {NEVER}0, output {NEVER}1);
             wire [1:0] s;
             top dut(.clk(clk), .rst(rst), .a(a), .{SELECT}({SELECT}), .y(y), .s(s));
             assign {NEVER}0 = s == 3;
             assign {NEVER}1 = s == 2;
             endmodule"
        );
        let property =
            |text: &str| Property { kind: Kind::Always, text: text.to_owned(), of_registers: true };
        let monitor = |bits: u32| {
            Ok(Some(Monitor {
                text: text.replace("[63:0]", &format!("[{}:0]", bits - 1)),
                state: None,
                registers: vec![("s", 2)],
                properties: vec![property("not 3"), property("not 2")],
                assumes: false,
            }))
        };
        let reset = Some(("rst", true));
        let judge = Judge::of(&workshop, &mutations, monitor, "clk", reset).unwrap().unwrap();
        assert_eq!(judge.proved, [format!("{NEVER}0")]);
        // With it, and without it, the same is equivalent.
        let plain = Judge::of(&workshop, &mutations, |_| Ok(None), "clk", reset).unwrap().unwrap();
        for Mutation { id, .. } in mutations.iter().step_by(7) {
            let [with, without] = [&judge, &plain].map(|judge| {
                judge.at_once(*id).is_some()
                    || matches!(judge.rule(*id).unwrap(), Ruling::Equivalent(_))
            });
            assert_eq!(with, without, "{id}");
        }
    }
}
