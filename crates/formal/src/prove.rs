//! Proves the properties of a block on its RTL, for all inputs.
//!
//! The properties become a Verilog monitor around the RTL, with an output for each property that
//! is 1 while the property fails. Yosys makes an and-inverter graph of both, and ABC decides
//! whether the output can be 1. `docs/how-to/proof.md` describes what is proved and what is
//! assumed.

mod query;

use crate::answer::{Answer, NamedQuery, Traffic, Undecidable};
use crate::assertions::{Assertions, OUTPUTS};
use crate::circuit::Circuit;
use crate::cut::{cut, enabled, with_words_alone};
use crate::graph::{MEMORY, UndefinedBits};
use crate::invariants::{HELP, Observer, observer};
use crate::monitor::{AROUND, MONITOR, Monitor};
pub use crate::monitor::{Kind, Property};
use crate::open;
use crate::portfolio::{EQUAL_REGISTERS, EQUAL_SIGNALS, INDUCTION, LONG_PROOF, MANY_EQUAL_SIGNALS};
use cosim_aig::{Aig, Candidate, Governed, Interface, Reads, UnknownWords, Unknowns, Violation};
use cosim_base::error::{Error, codes};
use cosim_block::agreement::RecordedInputs;
use cosim_block::rtl::Rtl;
use cosim_harness::harness::{BlockInfo, Comparison, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::models::Examined;
use cosim_rtl::yosys::YosysSession;
use query::{Query, QueryBuilder, by_engines, not_checked};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The flat RTL; the RTL with its monitor.
const FILES: [&str; 2] = ["rtl.il", "both.il"];
/// The RTL with its undefined bits, for freedom of X.
const UNDEFINED: &str = "undefined.il";
/// Yosys commands that make a netlist. They remove assertions.
const TO_NETLIST: &str = "proc\nopt_clean\nchformal -remove";
/// Yosys commands that set undefined bits to 0.
const TO_ZERO: &str = "chtype -set $shift t:$shiftx\nsetundef -undriven -zero";
/// Groups of properties without a proof, after which each property is proved alone: an RTL in which
/// few outputs are free of X would only be asked twice.
const FAILED_GROUPS: usize = 8;
/// Prefix of the outputs that are 1 where the environment withdraws an offer.
const OFFER: &str = "cosim_offer_";

/// How memories are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Memories {
    /// The RTL has no memories.
    None,
    /// Read data is unconstrained.
    Cut,
    /// Read data is unconstrained, but equals that of the cycle before if the address is the same
    /// and nothing was written.
    Kept,
    /// One arbitrary address is exact. Read data at other addresses is unconstrained.
    Word,
    /// Memories are mapped to registers and are exact.
    Whole,
}

impl Memories {
    fn reads(self) -> Reads {
        match self {
            Self::None | Self::Cut | Self::Whole => Reads::Anything,
            Self::Kept => Reads::Kept,
            Self::Word => Reads::Word,
        }
    }

    /// What is unknown to two copies.
    fn unknown_words(self, candidates: &[Candidate], is_alone: bool) -> UnknownWords<'_> {
        match self {
            Self::Word if is_alone => UnknownWords::Alone(candidates),
            Self::Word => UnknownWords::One,
            _ => UnknownWords::All,
        }
    }
}

/// The prefixes of the outputs of the monitor that are 1 where a property fails.
pub const FAILS: [&str; 2] = ["cosim_bad_", "cosim_legal_"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyAnswer {
    pub answer: Answer,
    /// The inputs for which it holds.
    pub traffic: Traffic,
    pub memories: Memories,
}

impl PropertyAnswer {
    /// The answer before any engine ran.
    fn open(because: &str) -> Self {
        let answer = Answer::open(because);
        Self { answer, traffic: Traffic::Any, memories: Memories::None }
    }

    pub fn is_broken(&self) -> bool {
        matches!(self.answer, Answer::Reached { .. })
    }

    /// The answer about the property at this place, given the outputs of [`FAILS`] that were 1 in a
    /// simulation. A proof or a bound that a simulated case contradicts is disputed.
    #[must_use]
    pub fn against(self, place: usize, violations: &BTreeMap<String, Violation>) -> Self {
        let word = match &self.answer {
            Answer::Never { .. } => "a proof",
            Answer::Open { cycles: Some(_), .. } => "no violation",
            _ => return self,
        };
        let [bad, legal] = FAILS;
        let prefix = if self.traffic == Traffic::Any { bad } else { legal };
        let Some(Violation { case, cycle }) = violations.get(&format!("{prefix}{place}")) else {
            return self;
        };
        let because = format!(
            "ABC reports {word}, but the simulated case {case} violates the property at cycle \
             {cycle}"
        );
        Self { answer: Answer::Disputed { because }, ..self }
    }
}

#[derive(Debug, Clone, Copy)]
struct Invariants {
    traffic: Traffic,
    are_certified: bool,
}

/// The outputs of a block that must be free of unknown values.
#[derive(Debug, Clone, Default)]
struct XFreedom {
    /// Each compared output with the output that must be 1 for it to count.
    outputs: Vec<Governed>,
    /// Payload inputs with their valids.
    payload: Vec<[&'static str; 2]>,
}

impl XFreedom {
    fn from_block(info: &'static BlockInfo) -> Self {
        let is_compared =
            |port: &&verilated::Port| info.comparison(port.name) != Comparison::Transactions;
        let governor = |port, ports, or_enable| {
            info.naming.governor(port, ports, or_enable).map(|governor| governor.name)
        };
        let payload =
            |port: &'static verilated::Port| Some([port.name, governor(port, info.inputs, false)?]);
        Self {
            outputs: info
                .outputs
                .iter()
                .filter(is_compared)
                .map(|port| (port.name, governor(port, info.outputs, true)))
                .collect(),
            payload: info.inputs.iter().filter_map(payload).collect(),
        }
    }

    fn properties(&self) -> Vec<Property> {
        let property = |(output, governor): &(&str, Option<&str>)| Property {
            kind: Kind::XFree,
            text: match governor {
                None => format!("{output} is free of X"),
                Some(governor) => format!("{output} is free of X while {governor} is 1"),
            },
            of_registers: false,
        };
        self.outputs.iter().map(property).collect()
    }

    fn unknowns(&self, properties: &[usize]) -> Unknowns<'_> {
        let outputs = properties.iter().map(|place| self.outputs[*place]).collect();
        Unknowns { outputs, payload: &self.payload }
    }
}

/// An RTL with fixed parameters, and its properties. Several threads may share it.
#[derive(Debug)]
pub struct Prover {
    session: YosysSession,
    properties: Vec<Property>,
    /// What the properties are about, if it is freedom of unknown values.
    x_freedom: Option<XFreedom>,
    assumes: bool,
    reset: Option<(&'static str, bool)>,
    /// An error text if the RTL lacks a register that the block names.
    missing: Option<String>,
    circuit: Circuit,
    /// What holds by induction about written words of memories.
    candidates: Vec<Candidate>,
    /// Whether memories are small enough to be registers.
    has_exact: bool,
    /// How all invariants are proved, if they are; computed when it is needed.
    invariants: Mutex<Option<Option<Invariants>>>,
    /// Outcomes of the invariants, by index, which other properties need, too, and of properties
    /// that were decided together.
    found: BTreeMap<usize, Mutex<Option<PropertyAnswer>>>,
}

impl Prover {
    /// Reads an RTL and the properties of its block. With `only`, only properties whose text
    /// contains it can be proved. `answers` caches the results of Yosys and ABC.
    ///
    /// # Errors
    /// [`Error::Usage`] if a property names something that does not exist. [`Error::Environment`]
    /// if Yosys is missing or cannot read the RTL. [`Undecidable::Because`] if the RTL cannot be
    /// checked.
    pub fn new(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        only: Option<&str>,
        answers: &Answers,
    ) -> Result<Self, Undecidable> {
        let session = Self::session_of(info, rtl, parameters, answers)?;
        let assertions = Assertions::read(&session, info, parameters)?;
        // Warnings of the assertions count, too.
        if let Some(because) = session.find_doubt()? {
            return Err(because.into());
        }
        let monitor = Monitor::new(info, parameters, assertions.as_ref(), only, OFFER)?;
        let reset = info.reset.map(|pin| pin.name_and_level());
        if let Some(assertions) = assertions.as_ref().filter(|assertions| assertions.is_of_rtl) {
            let [rtl, ..] = FILES;
            let missing = monitor.missing(&session.text(rtl)?);
            if let Some(signal) = missing.iter().find(|signal| signal.line > 0) {
                return Err(assertions.lacks(info.rtl.top, signal).into());
            }
        }
        if let Some(assertions) = &assertions {
            session.write(OUTPUTS, &assertions.netlist)?;
        }
        let kind = UndefinedBits::Zero;
        Self::from_session(session, assertions.is_some(), kind, monitor, info.rtl.clock, reset)
    }

    /// Reads an RTL. The properties are that each compared output is free of unknown values: of
    /// registers without reset, memory words that were never written, payload without its valid,
    /// and bits that the RTL leaves undefined.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_unknowns(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        answers: &Answers,
    ) -> Result<Self, Undecidable> {
        let session = Self::session_of(info, rtl, parameters, answers)?;
        if let Some(because) = session.find_doubt()? {
            return Err(because.into());
        }
        let reset = info.reset.map(|pin| pin.name_and_level());
        let [rtl, ..] = FILES;
        let netlist = session.text(rtl)?;
        let observer = observer(&session, info, parameters, &netlist, [OFFER, HELP])?;
        let has_assertions = observer.is_some();
        let Observer { monitor, offers, .. } =
            observer.unwrap_or_else(|| Observer::from_protocol(info, OFFER));
        let x_freedom = XFreedom::from_block(info);
        let (properties, assumes) = (x_freedom.properties(), !offers.is_empty());
        let monitor = Monitor { properties, assumes, ..monitor };
        let kind = UndefinedBits::Free;
        let prover =
            Self::from_session(session, has_assertions, kind, monitor, info.rtl.clock, reset)?;
        Ok(Self { x_freedom: Some(x_freedom), ..prover })
    }

    fn session_of(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        answers: &Answers,
    ) -> Result<YosysSession, Error> {
        if !info.clocks.is_empty() {
            return Err(Error::Usage(
                codes::SEVERAL_CLOCKS,
                format!(
                    "{} has the clocks {}; a proof needs one clock",
                    info.name,
                    info.clocks.join(", ")
                ),
            ));
        }
        let examined = rtl.examined(info)?;
        let values = info.verilog(parameters, &examined.parameters);
        Self::session(&examined, &values, answers)
    }

    /// A session in which Yosys read the RTL.
    fn session(
        examined: &Examined,
        parameters: &[(String, String)],
        answers: &Answers,
    ) -> Result<YosysSession, Error> {
        let [rtl, ..] = FILES;
        let session = YosysSession::new(examined)?.with_answers(answers.clone());
        let path = session.path(rtl);
        let undefined = session.path(UNDEFINED);
        session.read(
            parameters,
            &format!(
                "{TO_NETLIST}\nwrite_rtlil \"{}\"\n{TO_ZERO}\nwrite_rtlil \"{}\"",
                undefined.display(),
                path.display()
            ),
        )?;
        Ok(session)
    }

    fn from_session(
        session: YosysSession,
        has_assertions: bool,
        undefined: UndefinedBits,
        monitor: Monitor,
        clock: &str,
        reset: Option<(&'static str, bool)>,
    ) -> Result<Self, Undecidable> {
        let [rtl, both] = FILES;
        let text = session.text(rtl)?;
        let missing = monitor.missing(&text);
        let monitor = monitor.without(&missing);
        let missing = missing.first().map(|signal| {
            let (path, width) = (&signal.path, signal.width);
            let bits = if width == 0 { String::new() } else { format!(" of {width} bits") };
            format!("the RTL has no `{path}`{bits}, which a property of the block names")
        });
        session.write(rtl, &enabled(&text))?;
        session.write(UNDEFINED, &enabled(&session.text(UNDEFINED)?))?;
        let (read_rtl, tri_state) = match undefined {
            UndefinedBits::Zero => (rtl, "tribuf -logic\n"),
            // Without a driver that is enabled, a net is undefined.
            UndefinedBits::Free => (UNDEFINED, ""),
        };
        session.write(MONITOR, &monitor.text)?;
        let exposed: String = monitor.inside().map(|name| format!("expose w:{name}\n")).collect();
        let Monitor { properties, assumes, .. } = monitor;
        let read = if has_assertions { format!("read_rtlil {OUTPUTS}\n") } else { String::new() };
        session.script(&format!(
            "read_rtlil {read_rtl}\nflatten\n{tri_state}opt_clean\n{exposed}{read}{AROUND}\nwrite_rtlil {both}\n"
        ))?;
        let circuit = Circuit::new(&session, both, undefined, |netlist| cut(netlist, clock))?;
        let mut has_exact = (1..=MEMORY).contains(&circuit.memory_bits);
        if undefined == UndefinedBits::Free && has_exact {
            match with_words_alone(&session.text(both)?) {
                Some(text) => session.write(both, &text)?,
                None => has_exact = false,
            }
        }
        let invariants = Mutex::default();
        let always = (0..).zip(&properties).filter(|(_, property)| property.kind == Kind::Always);
        let found = always.map(|(place, _)| (place, Mutex::default())).collect();
        Ok(Self {
            session,
            properties,
            x_freedom: None,
            assumes,
            reset,
            missing,
            circuit,
            candidates: Vec::new(),
            has_exact,
            invariants,
            found,
        })
    }

    /// The network with memories as registers; `None` if they are too large.
    fn whole_network(&self) -> Result<Option<&Aig>, Error> {
        let [_, both] = FILES;
        if !self.has_exact {
            return Ok(None);
        }
        let made = self.circuit.exact(&self.session, both).map(Some);
        let of_rtl =
            |because| Error::Environment(codes::YOSYS_FAILED, format!("of the RTL: {because}"));
        made.or_else(|reason| Err(of_rtl(reason.because()?)))
    }

    /// The network that is tried first.
    fn graph(&self) -> (Memories, &Aig) {
        let memories = if self.circuit.memory_bits == 0 { Memories::None } else { Memories::Cut };
        (memories, &self.circuit.aig)
    }

    /// How all invariants are proved; `None` if one is not proved or if there are none. Proved
    /// invariants strengthen the hypothesis of an induction.
    fn invariants(&self) -> Result<Option<Invariants>, Error> {
        let mut known = self.invariants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *known {
            return Ok(known);
        }
        let mut hold: Option<Invariants> = None;
        for place in self.found.keys() {
            let PropertyAnswer { answer: Answer::Never { certificate, .. }, traffic, .. } =
                self.decide(*place)?
            else {
                hold = None;
                break;
            };
            let one = Invariants { traffic, are_certified: certificate.is_there() };
            hold = Some(hold.map_or(one, |all| Invariants {
                traffic: all.traffic.max(traffic),
                are_certified: all.are_certified && one.are_certified,
            }));
        }
        *known = Some(hold);
        Ok(hold)
    }

    /// What registers say about written words of memories, as far as it holds by induction.
    fn invariant_candidates(&self) -> Result<Vec<Candidate>, Error> {
        let Circuit { aig, words, .. } = &self.circuit;
        let interface = Interface { reset: self.reset, ..Interface::OURS };
        let mut left = aig.candidates(&interface, words, HELP);
        loop {
            let holds = |(place, one): (usize, &Candidate)| -> Result<bool, Error> {
                let query = aig.contradicts(&interface, &left, one);
                let named_query = NamedQuery { name: format!("candidate-{place}"), query };
                Ok(named_query.run_attempt(&self.session, INDUCTION)?.is_never())
            };
            let hold: Vec<bool> =
                left.par_iter().enumerate().map(holds).collect::<Result<_, Error>>()?;
            if hold.iter().all(|holds| *holds) {
                return Ok(left);
            }
            let mut hold = hold.into_iter();
            left.retain(|_| hold.next() == Some(true));
        }
    }

    /// Why no result counts, if Verilator's model did something else in these cases (see
    /// [`find_doubt`](crate::judge::find_doubt)).
    pub fn find_doubt(&self, info: &BlockInfo, cases: &[RecordedInputs]) -> Option<String> {
        self.circuit.find_doubt(info, cases, OFFER)
    }

    /// The RTL with its monitor, for [`PropertyAnswer::against`].
    pub fn network(&self) -> &Aig {
        &self.circuit.aig
    }

    /// All properties; their indices are those of [`Prover::decide`].
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Checks the property with this index. Without success, it adds protocol assumptions, and then
    /// models memories more precisely: cut, consistent reads, one exact word, registers. A known
    /// deadlock is searched for with protocol assumptions.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
    pub fn decide(&self, property: usize) -> Result<PropertyAnswer, Error> {
        let Some(known) = self.found.get(&property) else { return self.explained(property) };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(self.explained(property)?);
        }
        Ok(known.clone().unwrap_or_else(not_checked))
    }

    /// Proves these properties at once, if they are about freedom of X: one network shows that all
    /// outputs are equal in both copies. Groups without a proof are halved, up to a number of them.
    ///
    /// # Errors
    /// As [`Self::decide`].
    pub fn decide_together(&mut self, properties: &[usize]) -> Result<(), Error> {
        if self.x_freedom.is_none() {
            return Ok(());
        }
        let mut left = properties.to_vec();
        if self.x_memories().contains(&Memories::Word) {
            self.candidates = self.invariant_candidates()?;
            if let Some(decided) = self.prove_x_freedom(&left)? {
                let known = || Mutex::new(Some(decided.clone()));
                self.found.extend(left.into_iter().map(|place| (place, known())));
                return Ok(());
            }
        }
        for memories in self.x_memories().iter().filter(|it| **it != Memories::Whole) {
            let mut groups = vec![std::mem::take(&mut left)];
            let mut failed = 0;
            while let Some(mut group) = groups.pop() {
                // One alone gets more attempts later.
                if group.len() < 2 || failed == FAILED_GROUPS {
                    left.extend(group);
                    continue;
                }
                match self.together(&group, *memories)? {
                    Some(decided) => {
                        let known = || Mutex::new(Some(decided.clone()));
                        self.found.extend(group.into_iter().map(|place| (place, known())));
                    }
                    None => {
                        failed += 1;
                        groups.push(group.split_off(group.len() / 2));
                        groups.push(group);
                    }
                }
            }
        }
        Ok(())
    }

    /// A proof by induction of all these properties about freedom of X.
    fn prove_x_freedom(&self, group: &[usize]) -> Result<Option<PropertyAnswer>, Error> {
        let (_, aig) = self.graph();
        let [property, ..] = *group else { return Ok(None) };
        let memories = Memories::Word;
        QueryBuilder { prover: self, property, group, memories, aig, is_alone: true }.by_one_word()
    }

    /// A proof of all these properties about freedom of X.
    fn together(
        &self,
        group: &[usize],
        memories: Memories,
    ) -> Result<Option<PropertyAnswer>, Error> {
        let (_, aig) = self.graph();
        let [property, ..] = *group else { return Ok(None) };
        let builder =
            QueryBuilder { prover: self, property, group, memories, aig, is_alone: false };
        for traffic in self.traffics() {
            let Some(mut query) = Query::new(builder, *traffic)? else { return Ok(None) };
            query.run(&[EQUAL_REGISTERS, MANY_EQUAL_SIGNALS])?;
            if query.is_proved() {
                return Ok(Some(query.decided()));
            }
        }
        Ok(None)
    }

    /// The models of memories in which freedom of X is checked.
    fn x_memories(&self) -> &'static [Memories] {
        match self.graph().0 {
            Memories::None => &[Memories::None],
            _ => &[Memories::Cut, Memories::Word, Memories::Whole],
        }
    }

    /// The inputs for which a property may hold, the widest first.
    fn traffics(&self) -> &'static [Traffic] {
        match self.assumes {
            true => &[Traffic::Any, Traffic::Legal],
            false => &[Traffic::Any],
        }
    }

    /// The outcome, with what keeps it open.
    fn explained(&self, property: usize) -> Result<PropertyAnswer, Error> {
        let mut found = self.find_answer(property)?;
        if let Answer::Open { cycles: Some(_), because, .. } = &mut found.answer {
            let (memories, aig) = self.graph();
            let group = &[];
            let builder =
                QueryBuilder { prover: self, property, group, memories, aig, is_alone: false };
            let named_query = builder.query_under(found.traffic)?;
            let known = named_query
                .map_or(Ok(None), |it| open::because(&self.session, &it, &self.circuit.words));
            *because = known?.unwrap_or_default();
        }
        Ok(found)
    }

    fn find_answer(&self, property: usize) -> Result<PropertyAnswer, Error> {
        let mut all = self.traffics();
        if self.properties[property].kind == Kind::Hang {
            all = all.split_at(all.len() - 1).1;
        }
        if let (Some(missing), true) = (&self.missing, self.properties[property].of_registers) {
            return Ok(PropertyAnswer::open(missing));
        }
        if self.x_freedom.is_some() {
            return self.look_for_x(property, all);
        }
        let (memories, aig) = self.graph();
        // What holds for arbitrary read data holds for that of the memory.
        let more: &[Memories] = match memories {
            Memories::Cut => &[Memories::Kept, Memories::Word],
            _ => &[],
        };
        let mut networks = Vec::new();
        // Induction first: it is cheap and proves most properties, while finding a violation is
        // slow.
        for memories in [memories].iter().chain(more).copied() {
            let mut query = self.by_induction(property, memories, aig, all)?;
            if query.iter().any(Query::is_proved) {
                // It may hold without the assumption, too.
                if query.len() > 1 {
                    query[0].short_proof()?;
                }
                let proved = query.iter().find(|query| query.is_proved());
                return Ok(proved.map_or_else(not_checked, Query::decided));
            }
            networks.extend((!query.is_empty()).then_some(query));
        }
        // Search for a violation before the long proofs. A violation in an abstracted network is
        // confirmed with exact memories. The search is skipped there if the abstraction has no
        // violation.
        if let Some(query) = networks.last_mut().and_then(|query| query.last_mut())
            && let found = query.quick_search()?
            && found.is_broken()
        {
            let found = match (query.memories(), self.whole_network()?) {
                (Memories::None, _) => found,
                (_, None) => not_checked(),
                (_, Some(aig)) => query.quick_search_in(Memories::Whole, aig)?,
            };
            if found.is_broken() {
                return Ok(found);
            }
        }
        let mut found = not_checked();
        for query in networks {
            found = by_engines(query)?;
            if !found.is_broken() {
                return Ok(found);
            }
        }
        match self.whole_network()? {
            Some(aig) => by_engines(self.by_induction(property, Memories::Whole, aig, all)?),
            None => Ok(found),
        }
    }

    /// Checks that an output is free of X. Most registers are equal in both copies, and engines
    /// that merge equal registers come first. Memories become more exact as long as there is a
    /// violation.
    fn look_for_x(&self, property: usize, all: &[Traffic]) -> Result<PropertyAnswer, Error> {
        let (_, cut) = self.graph();
        let models = self.x_memories();
        let mut found = not_checked();
        for memories in models.iter().copied() {
            let aig = match memories {
                Memories::Whole => self.whole_network()?,
                _ => Some(cut),
            };
            let Some(aig) = aig else { break };
            let group = &[];
            let alone =
                QueryBuilder { prover: self, property, group, memories, aig, is_alone: true };
            if let Some(decided) = alone.by_one_word()? {
                return Ok(decided);
            }
            let builder = QueryBuilder { is_alone: false, ..alone };
            let queries =
                all.iter().filter_map(|traffic| Query::new(builder, *traffic).transpose());
            let mut queries = queries.collect::<Result<Vec<_>, Error>>()?;
            for query in &mut queries {
                query.run(&[EQUAL_REGISTERS, EQUAL_SIGNALS])?;
                if query.is_proved() {
                    return Ok(query.decided());
                }
            }
            let Some(last) = queries.last_mut() else { continue };
            found = last.quick_search()?;
            if found.is_broken() {
                continue;
            }
            // Memories make a long proof longer, so it is for legal traffic at once.
            let first = if memories == models[0] { 0 } else { queries.len() - 1 };
            for mut query in queries.into_iter().skip(first) {
                query.run(&[LONG_PROOF])?;
                found = query.decided();
                if query.is_proved() {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// Tries induction on one network, for any traffic and then for legal traffic, until one proves
    /// the property.
    fn by_induction<'a>(
        &'a self,
        property: usize,
        memories: Memories,
        aig: &'a Aig,
        all: &[Traffic],
    ) -> Result<Vec<Query<'a>>, Error> {
        let mut done = Vec::new();
        for traffic in all {
            let group = &[];
            let builder =
                QueryBuilder { prover: self, property, group, memories, aig, is_alone: false };
            let Some(query) = Query::by_induction(builder, *traffic)? else { break };
            let is_proved = query.is_proved();
            done.push(query);
            if is_proved {
                break;
            }
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
