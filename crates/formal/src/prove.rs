//! Proves the properties of a block on its RTL, for all inputs.
//!
//! The properties become a Verilog monitor around the RTL, with an output for each property that
//! is 1 while the property fails. Yosys makes an and-inverter graph of both, and ABC decides
//! whether the output can be 1. `docs/how-to/proof.md` describes what is proved and what is
//! assumed.

mod asked;

use crate::abc::{MEMORY, graph, memory_bits, whole_graph};
use crate::aig::{Aig, Reads};
use crate::cut::{cut, enabled};
pub use crate::monitor::{Kind, Property};
use crate::monitor::{MONITOR, Monitor, TOP};
use crate::rtlil::Unknown;
use asked::{Query, QueryBuilder, by_engines};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::models::{Examined, Pragmas, Rtl};
use cosim_rtl::yosys::YosysSession;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The RTL, flat; with its monitor; without memories.
const FILES: [&str; 3] = ["rtl.il", "both.il", "cut.il"];
/// From what was read to a netlist. Assertions are no part of the design, and what is unknown is 0.
const TO_NETLIST: &str = "proc\nopt_clean\nchformal -remove\nchtype -set $shift t:$shiftx\n\
                          setundef -undriven -zero";
/// Why some networks are not read.
const LOOP: &str = "its network has a combinational loop";

/// What is assumed of the partners of a block.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Assumption {
    /// Nothing: the inputs may do anything.
    Nothing,
    /// What is offered to the block stays, valid and payload, until the block is ready.
    OffersStay,
}

/// What was done with memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Memories {
    /// There are none.
    None,
    /// What they give is anything.
    Cut,
    /// What they give is anything, but the same as in the cycle before where they are read at the same place and nothing
    /// was written.
    Kept,
    /// At one address, whichever it is, they give what was written there last; at all others anything.
    Word,
    /// They are registers.
    Whole,
}

impl Memories {
    /// What is known of what they give.
    fn reads(self) -> Reads {
        match self {
            Self::None | Self::Cut | Self::Whole => Reads::Anything,
            Self::Kept => Reads::Kept,
            Self::Word => Reads::Word,
        }
    }
}

/// What was shown of a property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum PropertyStatus {
    /// It holds in every cycle that can be reached.
    Proved {
        /// What is assumed.
        assumed: Assumption,
        /// What was done with memories.
        memories: Memories,
    },
    /// It holds in so many cycles from reset; no more was shown.
    Bounded {
        /// The cycles.
        cycles: u32,
        /// What is assumed.
        assumed: Assumption,
    },
    /// A hang that is known of: inputs bring it about.
    Reached {
        /// The cycles from reset.
        cycles: u32,
        /// What a replay of the vector shows.
        verdict: String,
        /// The vector, below the folder of the result.
        vector: PathBuf,
    },
    /// It does not hold.
    Refuted {
        /// What a replay of the vector shows.
        verdict: String,
        /// The vector, below the folder of the result.
        vector: PathBuf,
    },
    /// There are inputs that break it, by the netlist, and a replay does not differ from the golden model.
    Unconfirmed {
        /// Why.
        because: String,
        /// The vector, below the folder of the result.
        vector: PathBuf,
    },
    /// Nothing was shown.
    Open {
        /// Why.
        because: String,
    },
}

impl PropertyStatus {
    /// Whether it is proved. If so many cycles are accepted in place of a proof, whether nothing breaks it in them.
    pub fn holds(&self, accepted: Option<u32>) -> bool {
        match self {
            Self::Proved { .. } | Self::Reached { .. } => true,
            Self::Bounded { cycles, .. } => accepted.is_some_and(|accepted| *cycles >= accepted),
            Self::Refuted { .. } | Self::Unconfirmed { .. } | Self::Open { .. } => false,
        }
    }

    /// The result in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Proved { .. } => "proved",
            Self::Bounded { .. } => "bounded",
            Self::Reached { .. } => "as known",
            Self::Refuted { .. } => "BROKEN",
            Self::Unconfirmed { .. } => "broken?",
            Self::Open { .. } => "open",
        }
    }

    /// What is to be said behind that.
    pub fn more(&self) -> String {
        let assuming = |assumed: &Assumption| match assumed {
            Assumption::Nothing => "",
            Assumption::OffersStay => {
                "; assumes that offers of the environment stay until they are accepted"
            }
        };
        match self {
            Self::Proved { assumed, memories } => {
                let memories = match memories {
                    Memories::Whole => "; with memories as registers",
                    Memories::Kept => "; with memories that are consistent between adjacent cycles",
                    Memories::Word => "; with one arbitrary word of each memory",
                    Memories::Cut | Memories::None => "",
                };
                format!("{}{memories}", assuming(assumed))
            }
            Self::Bounded { cycles, assumed } => {
                format!(": not proved; holds for {cycles} cycles from reset{}", assuming(assumed))
            }
            Self::Reached { cycles, verdict, vector } => {
                format!(": {cycles} cycles from reset; {verdict}; {}", vector.display())
            }
            Self::Refuted { verdict, vector } => format!(": {verdict}; {}", vector.display()),
            Self::Unconfirmed { because, vector } => format!(": {because}; {}", vector.display()),
            Self::Open { because } => format!(": {because}"),
        }
    }
}

/// What the engines say of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofOutcome {
    /// It was shown, or not.
    PropertyStatus(PropertyStatus),
    /// Inputs that break it: for each cycle behind the one in reset the names of the bits that are 1.
    Broken {
        /// The inputs.
        cycles: Vec<Vec<String>>,
        /// What was done with memories.
        memories: Memories,
    },
}

impl ProofOutcome {
    /// What is found as long as nobody was asked.
    fn nothing() -> Self {
        Self::PropertyStatus(PropertyStatus::Open { because: "not checked".to_owned() })
    }
}

/// An RTL with some parameters and its properties. Several threads may ask it.
#[derive(Debug)]
pub struct Prover {
    workshop: YosysSession,
    properties: Vec<Property>,
    assumes: bool,
    reset: Option<(&'static str, bool)>,
    /// A register that the block names and the RTL has not, as words.
    missing: Option<String>,
    /// What is asked first.
    graph: (Memories, Aig),
    /// The network with memories as registers, where they are small enough; made when it is asked for.
    whole: Option<Mutex<Option<Arc<Aig>>>>,
    /// What is assumed where all that is to hold in every cycle is proved, if it is; known once it was asked for.
    invariants: Mutex<Option<Option<Assumption>>>,
    /// What was found of what is to hold in every cycle, by the place of the property: it is asked for by itself, too.
    found: BTreeMap<usize, Mutex<Option<ProofOutcome>>>,
}

impl Prover {
    /// Reads an RTL, and what its block promises of it. With `only` nothing can be asked but properties that have that in their
    /// words. What `answers` has is not asked again.
    ///
    /// # Errors
    /// [`Error::Usage`] if the promises name what is not there; [`Error::Environment`] if there is no Yosys, or if it
    /// cannot read the RTL. The reason why nothing can be asked, as a second clock.
    pub fn new(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        only: Option<&str>,
        answers: &Answers,
    ) -> Result<Result<Self, String>, Error> {
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
        let monitor = Monitor::new(info, parameters, only)?;
        let examined = rtl.examined(info)?;
        let values = info.verilog(parameters, &examined.parameters);
        let reset = info.reset.map(|pin| pin.name_and_level());
        Self::of(&examined, &values, monitor, info.rtl.clock, reset, answers)
    }

    fn of(
        examined: &Examined,
        parameters: &[(String, String)],
        monitor: Monitor,
        clock: &str,
        reset: Option<(&'static str, bool)>,
        answers: &Answers,
    ) -> Result<Result<Self, String>, Error> {
        let [rtl, both, cut_open] = FILES;
        let workshop = YosysSession::new(examined, Pragmas::Ignored)?.with_answers(answers.clone());
        let path = workshop.path(rtl);
        workshop.read(parameters, &format!("{TO_NETLIST}\nwrite_ilang \"{}\"", path.display()))?;
        let text = workshop.text(rtl)?;
        let missing = monitor.missing(&text);
        let monitor = monitor.without(&missing);
        let missing = missing.first().map(|(name, width)| {
            let bits = if *width == 0 { String::new() } else { format!(" of {width} bits") };
            format!("the RTL has no `{name}`{bits}, which a property of the block names")
        });
        workshop.write(rtl, &enabled(&text))?;
        workshop.write(MONITOR, &monitor.text)?;
        let exposed: String = monitor.inside().map(|name| format!("expose w:{name}\n")).collect();
        let Monitor { properties, assumes, .. } = monitor;
        workshop.script(&format!(
            "read_ilang {rtl}\nflatten\nopt_clean\n{exposed}read_verilog -sv {MONITOR}\n\
             hierarchy -check -top {TOP}\nproc\nflatten\nasync2sync\nopt_clean\nwrite_ilang {both}\n"
        ))?;
        let netlist = workshop.text(both)?;
        let bits = memory_bits(&netlist);
        let without = match cut(&netlist, clock) {
            Ok(text) => text,
            Err(Unknown(what)) => return Ok(Err(what)),
        };
        workshop.write(cut_open, &without)?;
        let first = if bits == 0 { Memories::None } else { Memories::Cut };
        let Some(aig) = Aig::parse(&graph(&workshop, cut_open)?.text) else {
            return Ok(Err(LOOP.to_owned()));
        };
        let whole = (1..=MEMORY).contains(&bits).then(Mutex::default);
        let invariants = Mutex::default();
        let always = (0..).zip(&properties).filter(|(_, property)| property.kind == Kind::Always);
        let found = always.map(|(place, _)| (place, Mutex::default())).collect();
        Ok(Ok(Self {
            workshop,
            properties,
            assumes,
            reset,
            missing,
            graph: (first, aig),
            whole,
            invariants,
            found,
        }))
    }

    /// The network with memories as registers; `None` if they are too large.
    fn whole(&self) -> Result<Option<Arc<Aig>>, Error> {
        let [_, both, _] = FILES;
        let Some(made) = &self.whole else { return Ok(None) };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            let aig = Aig::parse(&whole_graph(&self.workshop, both)?.text);
            let aig = aig.ok_or_else(|| {
                Error::Environment(codes::YOSYS_FAILED, format!("of the RTL: {LOOP}"))
            })?;
            *made = Some(Arc::new(aig));
        }
        Ok(made.clone())
    }

    /// What is assumed where all that is to hold in every cycle is proved; `None` if it is not, or if there is nothing. What is proved may be
    /// assumed of the cycles that an induction begins with.
    fn invariants(&self) -> Result<Option<Assumption>, Error> {
        let mut known = self.invariants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *known {
            return Ok(known);
        }
        let mut hold = None;
        for place in self.found.keys() {
            let ProofOutcome::PropertyStatus(PropertyStatus::Proved { assumed, .. }) =
                self.prove(*place)?
            else {
                hold = None;
                break;
            };
            hold = hold.max(Some(assumed));
        }
        *known = Some(hold);
        Ok(hold)
    }

    /// The netlist of which everything is proved, in Verilog.
    ///
    /// # Errors
    /// As [`YosysSession::script`].
    pub fn netlist(&self) -> Result<String, Error> {
        let [rtl, ..] = FILES;
        self.workshop.verilog(rtl)
    }

    /// The properties.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Asks for a property, by its place: with any inputs and, if that breaks it, with partners that keep to the
    /// protocol; without memories and, as long as that breaks it, with ones that keep what they give, with one word of them, and
    /// with them as they are. A hang is one with partners that keep to the protocol.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
    pub fn prove(&self, property: usize) -> Result<ProofOutcome, Error> {
        let Some(known) = self.found.get(&property) else { return self.look(property) };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(self.look(property)?);
        }
        Ok(known.clone().unwrap_or_else(ProofOutcome::nothing))
    }

    fn look(&self, property: usize) -> Result<ProofOutcome, Error> {
        let all: &[Assumption] = match (self.assumes, self.properties[property].kind) {
            (true, Kind::Hang) => &[Assumption::OffersStay],
            (true, _) => &[Assumption::Nothing, Assumption::OffersStay],
            (false, _) => &[Assumption::Nothing],
        };
        if let (Some(missing), true) = (&self.missing, self.properties[property].of_registers) {
            return Ok(ProofOutcome::PropertyStatus(PropertyStatus::Open {
                because: missing.clone(),
            }));
        }
        let (memories, aig) = &self.graph;
        // What holds with any data holds with the memory's.
        let more: &[Memories] = match memories {
            Memories::Cut => &[Memories::Kept, Memories::Word],
            _ => &[],
        };
        let mut networks = Vec::new();
        // First what takes little: most is proved so, and what is broken takes long to be found so.
        for memories in [*memories].iter().chain(more).copied() {
            let mut asked = self.by_induction(property, memories, aig, all)?;
            if let Some(last) = asked.iter().find(|asked| asked.is_proved()) {
                let proved = last.found();
                // It may hold without an assumption, too.
                let [first, .., _] = &mut asked[..] else { return Ok(proved) };
                first.prove_soon()?;
                return Ok(if first.is_proved() { first.found() } else { proved });
            }
            networks.extend((!asked.is_empty()).then_some(asked));
        }
        // What is broken is told before proofs are tried that it is not. What nothing breaks where more can happen is not
        // looked for with memories as they are.
        if let Some(asked) = networks.last_mut().and_then(|asked| asked.last_mut())
            && let found @ ProofOutcome::Broken { .. } = asked.glance()?
        {
            let found = match (asked.memories(), self.whole()?) {
                (Memories::None, _) => found,
                (_, None) => ProofOutcome::nothing(),
                (_, Some(aig)) => asked.glance_at(Memories::Whole, &aig)?,
            };
            if matches!(found, ProofOutcome::Broken { .. }) {
                return Ok(found);
            }
        }
        let mut found = ProofOutcome::nothing();
        for asked in networks {
            found = by_engines(asked)?;
            if matches!(found, ProofOutcome::PropertyStatus(_)) {
                return Ok(found);
            }
        }
        match self.whole()? {
            Some(aig) => by_engines(self.by_induction(property, Memories::Whole, &aig, all)?),
            None => Ok(found),
        }
    }

    /// Asks one network by induction, with one assumption after the other until it is proved.
    fn by_induction<'a>(
        &'a self,
        property: usize,
        memories: Memories,
        aig: &'a Aig,
        all: &[Assumption],
    ) -> Result<Vec<Query<'a>>, Error> {
        let mut done = Vec::new();
        for assumed in all {
            let asking = QueryBuilder { prover: self, property, memories, aig };
            let Some(asked) = Query::by_induction(asking, *assumed)? else { break };
            let is_proved = asked.is_proved();
            done.push(asked);
            if is_proved {
                break;
            }
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
