//! The equivalence checker: decides whether any input distinguishes a surviving mutant from the
//! RTL.

use super::build::{BASE, Mutants};
use cosim_aig::{Aig, EquivalenceQuery, Interface};
use cosim_base::error::Error;
use cosim_block::agreement::RecordedInputs;
use cosim_block::program;
use cosim_formal::answer::{Answer, NamedQuery, Undecidable};
use cosim_formal::assertions::{Assertions, OUTPUTS};
use cosim_formal::certificate::Certificate;
use cosim_formal::circuit::Circuit;
use cosim_formal::cut::{cut, followed, unjudged};
use cosim_formal::engine::Attempt;
use cosim_formal::graph::{MEMORY, UndefinedBits};
use cosim_formal::invariants::holds;
use cosim_formal::ladder::{Aim, Rung, climb};
use cosim_formal::monitor::{AROUND, MONITOR, Monitor};
use cosim_formal::portfolio::{
    DIFFERENCE, DIFFERENCE_WITH_MEMORIES, EQUIVALENCE, QUICK_DIFFERENCE,
};
use cosim_formats::mutation::Mutation;
use cosim_harness::harness::{BlockInfo, WordAbstraction};
use cosim_rtl::yosys::YosysSession;
use std::collections::BTreeMap;
use std::ops::Range;

/// The flat netlist with mutations.
const FLAT: &str = "flat.il";
/// The Verilog of a memory word abstraction, and its AIG.
const MEANING: [&str; 2] = ["meaning.v", "meaning.aag"];
/// The input that selects the enabled mutation.
const SELECT: &str = "cosim_select";
/// Prefix of the outputs that are 1 when an invariant is violated.
const NEVER: &str = "cosim_never_";

/// An RTL with mutations, prepared for equivalence checks. Several threads may share it.
#[derive(Debug)]
pub struct EquivalenceChecker<'a> {
    session: &'a YosysSession,
    circuit: Circuit,
    /// The graph without memories, of which each latch is in a register.
    aig: Aig,
    reset: Option<(&'static str, bool)>,
    /// Mutant numbers, and the selector values that enable them.
    selected: BTreeMap<u32, u32>,
    /// Mutants that cannot be checked, with the reason.
    apart: BTreeMap<u32, &'static str>,
    /// Number of properties of the RTL that the monitor observes.
    property_range: u32,
    /// Outputs proved to be 0 in every cycle of the unmodified RTL.
    proved: Vec<String>,
    /// Abstractions of memory words, by memory number.
    word_abstractions: BTreeMap<String, Aig>,
}

impl<'a> EquivalenceChecker<'a> {
    /// Reads the RTL with these mutations.
    ///
    /// # Errors
    /// [`Undecidable`]: the RTL cannot be checked, or Yosys fails.
    pub fn new(info: &'static BlockInfo, mutants: &'a Mutants) -> Result<Self, Undecidable> {
        let Mutants { session, parameters, mutations } = mutants;
        // In the network all registers would change together.
        if !info.clocks.is_empty() {
            return Err("the block has several clocks".into());
        }
        if let Some(because) = session.find_doubt()? {
            return Err(because.into());
        }
        let assertions = Assertions::read(session, info, parameters)?;
        let monitor = |bits| {
            Monitor::from_invariants(info, parameters, assertions.as_ref(), SELECT, bits, NEVER)
        };
        let reset = info.reset.map(|pin| pin.name_and_level());
        let checker = Self::from_session(
            session,
            mutations,
            assertions.as_ref(),
            monitor,
            info.rtl.clock,
            reset,
        )?;
        let word_abstractions = program::facts(info, parameters)?.properties.word_abstractions;
        Ok(checker.with_word_abstractions(&word_abstractions)?)
    }

    fn with_word_abstractions(
        mut self,
        word_abstractions: &[WordAbstraction],
    ) -> Result<Self, Error> {
        let [verilog, graph] = MEANING;
        let followed = followed(&self.session.text(FLAT)?);
        for WordAbstraction { memory, width, meaning } in word_abstractions {
            let is_it = |name: &str| {
                let name = name.trim_start_matches('\\');
                name == *memory || name.strip_suffix(memory).is_some_and(|path| path.ends_with('.'))
            };
            let Some((_, number)) = followed.iter().find(|(name, _)| is_it(name)) else { continue };
            let high = width - 1;
            let text = format!(
                "module meaning(input [{high}:0] word, output [{high}:0] meaning);\n  assign meaning = {meaning};\nendmodule\n"
            );
            self.session.write(verilog, &text)?;
            self.session.script(&format!(
                "read_verilog {verilog}\nproc\ntechmap\naigmap\nopt_clean\nwrite_aiger -ascii -symbols {graph}\n"
            ))?;
            self.word_abstractions.extend(
                Aig::parse(&self.session.text(graph)?).map(|aig| (number.to_string(), aig)),
            );
        }
        Ok(self)
    }

    fn from_session(
        session: &'a YosysSession,
        mutations: &[Mutation],
        assertions: Option<&Assertions>,
        monitor: impl Fn(u32) -> Result<Option<Monitor>, Error>,
        clock: &str,
        reset: Option<(&'static str, bool)>,
    ) -> Result<Self, Undecidable> {
        let base = session.text(BASE)?;
        let unjudged = unjudged(&base);
        // One of these mutations would make the netlist unusable for all.
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
        let mut script = format!("read_rtlil {BASE}\n");
        for (command, value) in commands.iter().zip(1..) {
            script += &format!("mutate -ctrl {SELECT} {width} {value} {command}\n");
        }
        // User RTL may lack signals that the block's properties name.
        let monitor = match commands.is_empty() {
            true => None,
            false => monitor(width)?.filter(|monitor| monitor.missing(&base).is_empty()),
        };
        script += "flatten\ntribuf -logic\nopt_clean\n";
        let mut around = "async2sync\nopt_clean";
        if let Some(monitor) = &monitor {
            session.write(MONITOR, &monitor.text)?;
            script.extend(monitor.inside().map(|name| format!("expose w:{name}\n")));
            if let Some(assertions) = assertions {
                session.write(OUTPUTS, &assertions.netlist)?;
                script += &format!("read_rtlil {OUTPUTS}\n");
            }
            around = AROUND;
        }
        script += &format!("{around}\nwrite_rtlil {FLAT}\n");
        session.script(&script)?;
        let circuit =
            Circuit::new(session, FLAT, UndefinedBits::Zero, |netlist| cut(netlist, clock))?;
        let aig = circuit.aig.clone().with_words(&circuit.words);
        Ok(Self {
            session,
            circuit,
            aig,
            reset,
            selected,
            apart,
            property_range: monitor.map_or(0, |monitor| monitor.properties.len() as u32),
            proved: Vec::new(),
            word_abstractions: BTreeMap::new(),
        })
    }

    /// Why no proof counts, if Verilator's model of the unmodified RTL did something else in these
    /// cases.
    pub fn find_doubt(&self, info: &BlockInfo, cases: &[RecordedInputs]) -> Option<String> {
        self.circuit.doubt_without(SELECT, info, cases, NEVER)
    }

    /// The places of the block's properties on the unmodified RTL.
    pub fn property_range(&self) -> Range<u32> {
        0..self.property_range
    }

    /// Assumes the properties at these places, which must [hold](Self::holds) on the RTL. They
    /// strengthen proofs other than structural equality.
    pub fn with_proved(self, mut places: Vec<u32>) -> Self {
        places.sort_unstable();
        Self { proved: places.into_iter().map(never).collect(), ..self }
    }

    /// Whether a cheap proof with a certificate shows that the property at a place holds on the
    /// unmodified RTL.
    pub fn holds(&self, place: u32) -> Result<bool, Error> {
        holds(self.session, &self.aig, &self.interface(false), &never(place))
    }

    /// Why a mutant cannot be checked, or `None` if it can.
    pub fn apart(&self, id: u32) -> Option<&'static str> {
        self.apart.get(&id).copied()
    }

    /// Checks for structural equality. Returns `None` if that decides nothing.
    pub fn at_once(&self, id: u32) -> Option<Certificate> {
        let value = *self.selected.get(&id)?;
        let is_same = self.named_query(value, &self.aig, false) == EquivalenceQuery::Same;
        is_same.then_some(Certificate::Structure)
    }

    /// Tries equivalence proofs, as [`SOON`](cosim_formal::ladder::SOON). Memory contents are free.
    ///
    /// # Errors
    /// [`Error::Environment`] if ABC is missing, or [`Error::Interrupted`].
    pub fn prove(&self, id: u32, rungs: &[Rung]) -> Result<Option<Certificate>, Error> {
        let Some(value) = self.selected.get(&id) else { return Ok(None) };
        let named_queries = |aim| Ok::<_, Error>(self.named_queries(id, *value, aim));
        Ok(climb(self.session, rungs, named_queries)?.certificate())
    }

    /// The queries whether a mutant differs, of which one proof suffices.
    fn named_queries(&self, id: u32, value: u32, aim: Aim) -> Vec<NamedQuery> {
        let (aig, interface) = (&self.aig, self.interface(false));
        let queries = match aim {
            Aim::Proof | Aim::Search => vec![aig.query(&interface, value)],
            Aim::Near { hops } => vec![aig.nearby(&interface, value, hops)],
            Aim::Alone => aig.query_single_registers(&interface, value),
            Aim::Word { hops } => {
                let words = &self.word_abstractions;
                aig.by_word(&interface, value, words, hops).into_iter().collect()
            }
        };
        let name = |number| format!("mutant-{id}-{}-{number}", aim.name());
        let named = |(number, query)| NamedQuery { name: name(number), query };
        queries.into_iter().enumerate().map(named).collect()
    }

    /// Runs the full equivalence check. Memory contents are free.
    pub fn rule(&self, id: u32) -> Result<Answer, Error> {
        let found = self.decide(id, &self.aig, false, DIFFERENCE)?;
        let Some(because) = found.because() else { return Ok(found) };
        let last = self.decide(id, &self.aig, false, EQUIVALENCE)?;
        Ok(match last.because() {
            Some(more) if more != because => Answer::open(format!("{because}; {more}")),
            Some(_) => found,
            None => last,
        })
    }

    /// Searches briefly for a difference, with free or exact memories. Proves nothing.
    pub fn glance(&self, id: u32, with_memories: bool) -> Result<Answer, Error> {
        match with_memories {
            false => self.decide(id, &self.aig, false, QUICK_DIFFERENCE),
            true => self.with_memories(id, QUICK_DIFFERENCE),
        }
    }

    /// Searches for a difference with exact memories, which become many registers. Proves nothing.
    pub fn search(&self, id: u32) -> Result<Answer, Error> {
        self.with_memories(id, DIFFERENCE_WITH_MEMORIES)
    }

    fn with_memories(&self, id: u32, attempt: Attempt) -> Result<Answer, Error> {
        let aig = match self.whole_graph() {
            Ok(aig) => aig,
            Err(reason) => {
                return Ok(Answer::open(format!("with exact memories: {}", reason.because()?)));
            }
        };
        Ok(match self.decide(id, aig, true, attempt)? {
            // Such a proof holds only for certain initial memory contents.
            Answer::Never { .. } => Answer::open("with exact memories nothing differs"),
            Answer::Open { because, .. } | Answer::Disputed { because } => {
                Answer::open(format!("with exact memories: {because}"))
            }
            differs @ Answer::Reached { .. } => differs,
        })
    }

    /// The graph with exact memories.
    fn whole_graph(&self) -> Result<&Aig, Undecidable> {
        if self.circuit.memory_bits > MEMORY {
            return Err("they are too large".into());
        }
        self.circuit.exact(self.session, FLAT)
    }

    fn named_query(&self, value: u32, aig: &Aig, filled: bool) -> EquivalenceQuery {
        aig.query(&self.interface(filled), value)
    }

    fn interface(&self, filled: bool) -> Interface<'_> {
        Interface {
            reset: self.reset,
            filled,
            select: SELECT,
            never: &[NEVER],
            proved: &self.proved,
            ..Interface::OURS
        }
    }

    fn decide(&self, id: u32, aig: &Aig, filled: bool, attempt: Attempt) -> Result<Answer, Error> {
        let Some(value) = self.selected.get(&id) else {
            let absent = "the equivalence checker does not include this mutation";
            return Ok(Answer::open(self.apart(id).unwrap_or(absent)));
        };
        self.answer(&format!("question-{id}"), self.named_query(*value, aig, filled), attempt)
    }

    /// Runs an engine on a query. `name` names files.
    fn answer(
        &self,
        name: &str,
        query: EquivalenceQuery,
        attempt: Attempt,
    ) -> Result<Answer, Error> {
        NamedQuery { name: name.to_owned(), query }.run_attempt(self.session, attempt)
    }
}

/// The output that signals a violation of the property at a place.
fn never(place: u32) -> String {
    format!("{NEVER}{place}")
}

#[cfg(test)]
mod tests;
