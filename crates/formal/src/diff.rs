//! Compares two RTLs of a block: whether any input makes their outputs differ.
//!
//! Yosys makes an and-inverter graph of each RTL. Both become one graph, so that ABC and the second
//! solver see one network, and no proof depends on names inside the RTL.

use crate::answer::{Answer, NamedQuery, Traffic, Undecidable};
use crate::circuit::LOOP;
use crate::cut::{Cut, cut_pair, enabled};
use crate::engine::Attempt;
use crate::graph::{Graph, MEMORY, graph, memory_bits, whole_graph};
use crate::invariants::{Observer, holds, observer};
use crate::judge::find_doubt;
use crate::ladder::{Aim, Rung, climb};
use crate::monitor::{AROUND, MONITOR, Monitor};
use crate::open;
use cosim_aig::{Aig, CutMemory, Interface, Violation};
use cosim_base::error::Error;
use cosim_block::agreement::RecordedInputs;
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::models::Examined;
use cosim_rtl::rtlil::Unknown;
use cosim_rtl::yosys::YosysSession;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::Instant;
use verilated::Port;

/// The flat RTL; the RTL with its monitor; the same without memories.
const FILES: [&str; 3] = ["rtl.il", "both.il", "cut.il"];
/// The old RTL with its monitor and its assertions; the same without memories.
const OBSERVED: [&str; 2] = ["observed.il", "observed-cut.il"];
/// Yosys commands that make a flat netlist. They remove assertions and set undefined values to 0.
pub(crate) const TO_NETLIST: &str = "proc\nopt_clean\nchformal -remove\nchtype -set $shift t:$shiftx\n\
                          setundef -undriven -zero\nflatten\nopt_clean";
/// Yosys commands that make one port of all writes to the same address and write all ports alike,
/// so that memories are paired however the texts write their bits.
const TO_PORTS: &str =
    "proc\nopt_clean\nmemory_share -nosat -nowiden\nmemory_collect\nmemory_unpack";
/// Prefix of the outputs that are 1 where the environment withdraws an offer.
pub(crate) const OFFER: &str = "cosim_offer_";
/// Prefix of the outputs that are 1 where an assertion of the old RTL is violated.
const NEVER: &str = "cosim_never_";
const SELECT: &str = Interface::OURS.select;

/// How memories are modelled in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Both sides read the same unknown data, and must write and read alike.
    Shared,
    /// Memories are registers.
    Exact,
}

/// Two RTLs with the same parameters.
#[derive(Debug)]
pub struct Sides {
    sessions: [YosysSession; 2],
    reset: Option<(&'static str, bool)>,
    is_same: bool,
    has_memories: bool,
    /// Both graphs with shared memories, or why there is none.
    shared: Result<Aig, String>,
    exact: OnceCell<Result<Aig, String>>,
    /// What the outputs of [`OFFER`] mean.
    offers: Vec<String>,
    /// The graphs without memories, if there are graphs.
    graphs: Option<[Graph; 2]>,
    memories: [Vec<CutMemory>; 2],
    /// The graph with invariants of the old RTL, and the outputs that are 1 where one is violated.
    strengthened: OnceCell<(Aig, Vec<String>)>,
}

impl Sides {
    /// Reads both RTLs. The deadline ends Yosys.
    ///
    /// # Errors
    /// [`Undecidable`]: they cannot be compared by a proof, or Yosys fails or cannot read one.
    pub fn new(
        info: &'static BlockInfo,
        examined: [&Examined; 2],
        parameters: &Parameters,
        answers: &Answers,
        deadline: Instant,
    ) -> Result<Self, Undecidable> {
        if !info.clocks.is_empty() {
            return Err("the block has several clocks".into());
        }
        let [rtl, both, _] = FILES;
        let (monitor, offers) = Monitor::from_protocol(info, OFFER, None);
        let read = |examined: &Examined| -> Result<YosysSession, Error> {
            let values = info.verilog(parameters, &examined.parameters);
            let session =
                YosysSession::new(examined)?.with_answers(answers.clone()).with_deadline(deadline);
            let path = session.path(rtl);
            session.read(
                &values,
                &format!("{TO_PORTS}\n{TO_NETLIST}\nwrite_rtlil \"{}\"", path.display()),
            )?;
            session.write(rtl, &enabled(&session.text(rtl)?))?;
            session.write(MONITOR, &monitor.text)?;
            session.script(&format!("read_rtlil {rtl}\n{AROUND}\nwrite_rtlil {both}\n"))?;
            Ok(session)
        };
        let (old, new) = rayon::join(|| read(examined[0]), || read(examined[1]));
        let sessions = [old?, new?];
        for (side, session) in ["old", "new"].into_iter().zip(&sessions) {
            if let Some(because) = session.find_doubt()? {
                return Err(format!("{side} RTL: {because}").into());
            }
        }
        let reset = info.reset.map(|pin| pin.name_and_level());
        Ok(Self::from_sessions(sessions, offers, info.rtl.clock, reset)?)
    }

    /// The sides of two sessions that have written their netlists.
    fn from_sessions(
        sessions: [YosysSession; 2],
        offers: Vec<String>,
        clock: &str,
        reset: Option<(&'static str, bool)>,
    ) -> Result<Self, Error> {
        let [_, both, cut] = FILES;
        let texts = [sessions[0].text(both)?, sessions[1].text(both)?];
        let mut found = Self {
            reset,
            is_same: false,
            has_memories: texts.iter().any(|text| memory_bits(text) > 0),
            shared: Err(String::new()),
            exact: OnceCell::new(),
            offers,
            graphs: None,
            memories: Default::default(),
            strengthened: OnceCell::new(),
            sessions,
        };
        found.shared = match cut_pair([&texts[0], &texts[1]], clock) {
            Err(Unknown(because)) => Err(because),
            Ok(cuts) => {
                for (side, Cut { text, memories }) in cuts.into_iter().enumerate() {
                    found.sessions[side].write(cut, &text)?;
                    found.memories[side] = memories;
                }
                let [old, new] = &found.sessions;
                let (old, new) = rayon::join(|| graph(old, cut), || graph(new, cut));
                let graphs = [old?, new?];
                found.is_same = graphs[0].text == graphs[1].text;
                let joined = joined([&graphs[0], &graphs[1]], reset);
                found.graphs = Some(graphs);
                joined
            }
        };
        Ok(found)
    }

    /// Whether Yosys made the same netlist of both.
    pub fn is_same(&self) -> bool {
        self.is_same
    }

    pub fn has_memories(&self) -> bool {
        self.has_memories
    }

    /// Whether memories could be paired, so that the query with [`Contents::Shared`] exists.
    pub fn is_shared(&self) -> bool {
        self.shared.is_ok()
    }

    /// Whether the environment offers something, so that legal traffic is less than all.
    pub fn has_offers(&self) -> bool {
        !self.offers.is_empty()
    }

    /// The queries whether the outputs differ, of which one proof suffices; only [`Aim::Alone`]
    /// may have none or several.
    ///
    /// # Errors
    /// [`Undecidable`]: they cannot be asked, or Yosys fails.
    pub fn named_queries(
        &self,
        contents: Contents,
        traffic: Traffic,
        aim: Aim,
    ) -> Result<Vec<NamedQuery>, Undecidable> {
        let (aig, proved) = match (contents, self.strengthened.get()) {
            (Contents::Shared, Some((aig, proved))) => (Ok(aig), &proved[..]),
            (Contents::Shared, None) => (self.shared.as_ref(), &[][..]),
            (Contents::Exact, _) => (self.exact()?.as_ref(), &[][..]),
        };
        let aig = aig.map_err(String::clone)?;
        let interface = Interface { filled: aim == Aim::Search, proved, ..self.interface() };
        let illegal = (traffic == Traffic::Legal).then_some(OFFER);
        let queries = match aim {
            Aim::Alone => aig.query_single_registers(&interface, 1),
            Aim::Near { hops } => vec![aig.differs(&interface, illegal, Some(hops))],
            Aim::Proof | Aim::Search => vec![aig.differs(&interface, illegal, None)],
            // No abstraction of words is common to both.
            Aim::Word { .. } => Vec::new(),
        };
        let name = |number| format!("diff-{contents:?}-{traffic:?}-{}-{number}", aim.name());
        let named = |(number, query)| NamedQuery { name: name(number), query };
        Ok(queries.into_iter().enumerate().map(named).collect())
    }

    fn interface(&self) -> Interface<'static> {
        Interface { reset: self.reset, never: &[OFFER, NEVER], ..Interface::OURS }
    }

    /// Strengthens proofs by the assertions of `NAME_sva.sv` that a cheap proof shows for the old
    /// RTL, if the second solver confirms it. Returns how many these are.
    ///
    /// # Errors
    /// [`Error`] if Yosys fails.
    pub fn strengthen(
        &self,
        info: &'static BlockInfo,
        parameters: &Parameters,
    ) -> Result<usize, Error> {
        let old = &self.sessions[0];
        let netlist = old.text(FILES[0])?;
        match observer(old, info, parameters, &netlist, [OFFER, NEVER])? {
            Some(observer) => self.strengthen_by(&observer, info.rtl.clock),
            None => Ok(0),
        }
    }

    /// As [`Sides::strengthen`], by the outputs of a monitor.
    fn strengthen_by(
        &self,
        Observer { monitor, commands, .. }: &Observer,
        clock: &str,
    ) -> Result<usize, Error> {
        let [rtl, both, _] = FILES;
        let [observed, cut] = OBSERVED;
        let (Some([_, new]), [old, other]) = (&self.graphs, &self.sessions) else { return Ok(0) };
        old.write(MONITOR, &monitor.text)?;
        old.script(&format!("read_rtlil {rtl}\n{commands}{AROUND}\nwrite_rtlil {observed}\n"))?;
        let texts = [old.text(observed)?, other.text(both)?];
        // Memories that could be paired before can be again.
        let Ok([observed, _]) = cut_pair([&texts[0], &texts[1]], clock) else { return Ok(0) };
        old.write(cut, &observed.text)?;
        let graph = graph(old, cut)?;
        let Some(aig) = Aig::parse(&graph.text) else { return Ok(0) };
        let interface = self.interface();
        let outputs = aig.outputs().filter(|name| is_invariant(name));
        let outputs: Vec<String> = outputs.map(str::to_owned).collect();
        let is_held = |output: &String| holds(old, &aig, &interface, output);
        let all: Vec<bool> = outputs.par_iter().map(is_held).collect::<Result<_, _>>()?;
        let proved = outputs.into_iter().zip(all).filter_map(|(output, is)| is.then_some(output));
        let proved: Vec<String> = proved.collect();
        if let (false, Ok(joined)) = (proved.is_empty(), joined([&graph, new], self.reset)) {
            return Ok(self.strengthened.get_or_init(|| (joined, proved)).1.len());
        }
        Ok(0)
    }

    /// The graph with memories as registers.
    fn exact(&self) -> Result<&Result<Aig, String>, Error> {
        if let Some(known) = self.exact.get() {
            return Ok(known);
        }
        let [_, both, _] = FILES;
        let mut graphs = Vec::new();
        let mut is_small = true;
        for session in &self.sessions {
            is_small &= memory_bits(&session.text(both)?) <= MEMORY;
            if is_small {
                graphs.push(whole_graph(session, both)?);
            }
        }
        let made = match &graphs[..] {
            [left, right] => joined([left, right], self.reset),
            _ => Err(format!("its memories have more than {MEMORY} bits")),
        };
        Ok(self.exact.get_or_init(|| made))
    }

    /// Tries proofs that the outputs do not differ (see [`climb`]).
    ///
    /// # Errors
    /// As [`Sides::named_queries`] and [`NamedQuery::run_attempt`].
    pub fn prove(
        &self,
        contents: Contents,
        traffic: Traffic,
        rungs: &[Rung],
    ) -> Result<Answer, Undecidable> {
        climb(&self.sessions[0], rungs, |aim| self.named_queries(contents, traffic, aim))
    }

    /// What keeps a proof open that the outputs do not differ, as [`open::because`].
    ///
    /// # Errors
    /// As [`NamedQuery::run_attempt`].
    pub fn because(&self, traffic: Traffic) -> Result<Option<String>, Error> {
        let named_queries = self.named_queries(Contents::Shared, traffic, Aim::Proof);
        match (named_queries.as_deref(), &self.graphs) {
            (Ok([named_query, ..]), Some([old, _])) => {
                open::because(&self.sessions[0], named_query, &old.words)
            }
            _ => Ok(None),
        }
    }

    /// Runs an engine on a query. `Never` says that the outputs do not differ.
    ///
    /// # Errors
    /// As [`NamedQuery::run_attempt`].
    pub fn run_attempt(&self, named_query: &NamedQuery, attempt: Attempt) -> Result<Answer, Error> {
        named_query.run_attempt(&self.sessions[0], attempt)
    }

    /// Why no proof counts, if Verilator's model of one side did something else in these cases (see
    /// [`find_doubt`](crate::judge::find_doubt)).
    pub fn find_doubt(
        &self,
        info: &BlockInfo,
        side: usize,
        cases: &[RecordedInputs],
    ) -> Option<String> {
        // Without graphs there are no proofs.
        let graph = Aig::parse(&self.graphs.as_ref()?[side].text)?;
        find_doubt(&graph, &self.memories[side], info, cases, OFFER)
    }

    /// The offers that recorded cases withdraw, as seen by the old RTL: what, and where first.
    pub fn withdrawn(
        &self,
        info: &'static BlockInfo,
        recorded: &[RecordedInputs],
    ) -> Vec<(&str, Violation)> {
        self.withdrawn_at(info.inputs, info.power_up.len(), recorded)
    }

    /// As [`Sides::withdrawn`], with the ports of the cases and the size of their struct.
    fn withdrawn_at(
        &self,
        ports: &[Port],
        size: usize,
        recorded: &[RecordedInputs],
    ) -> Vec<(&str, Violation)> {
        let Ok(aig) = &self.shared else { return Vec::new() };
        // Without a side, an output of both is unknown.
        let aig = aig.clone().with_low(SELECT);
        let found: BTreeMap<String, Violation> = aig.violations(&[OFFER], ports, size, recorded);
        let mut all: Vec<(&str, Violation)> = found
            .into_iter()
            .filter_map(|(name, violation)| {
                let place: usize = name.strip_prefix(OFFER)?.parse().ok()?;
                Some((self.offers.get(place)?.as_str(), violation))
            })
            .collect();
        all.sort_by_key(|(_, violation)| violation.cycle);
        all
    }
}

/// Whether an output is 1 where an assertion is violated.
fn is_invariant(name: &str) -> bool {
    name.starts_with(NEVER)
}

fn joined([left, right]: [&Graph; 2], reset: Option<(&str, bool)>) -> Result<Aig, String> {
    let parsed = |Graph { text, words }: &Graph| {
        Ok::<_, String>(Aig::parse(text).ok_or_else(|| LOOP.to_owned())?.with_words(words))
    };
    let (old, new) = (parsed(left)?, parsed(right)?);
    let unpaired = old.unpaired(&new);
    if let Some(first) = unpaired.iter().find(|name| !is_invariant(name)) {
        return Err(format!("only one of the RTLs has the port {first}"));
    }
    Ok(Aig::joined([&old, &new], SELECT, [&left.words, &right.words], reset))
}

#[cfg(test)]
mod tests;
