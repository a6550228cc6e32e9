//! The engines of ABC for one property, cheap ones first.

use super::{Assumption, Kind, Memories, ProofOutcome, PropertyStatus, Prover};
use crate::abc::{Answer, ask};
use crate::aig::{Aig, EquivalenceQuery, Interface, Reads};
use crate::portfolio::{
    Attempt, INDUCTION_BASE, INDUCTION_STEP, LONG_PROOF, QUICK_SEARCH, SEARCH, SHORT_PROOF,
};
use cosim_base::error::{Error, codes};

/// Asks the engines what induction left, with one assumption after the other until it is proved. With the last one it is found.
pub(super) fn by_engines(all: Vec<Query<'_>>) -> Result<ProofOutcome, Error> {
    let mut found = ProofOutcome::nothing();
    for mut asked in all {
        asked.put(&asked.engines())?;
        found = asked.found();
        if asked.is_proved() {
            break;
        }
    }
    Ok(found)
}

/// A property of a network with an assumption, and what is known of it.
pub(super) struct Query<'a> {
    asking: QueryBuilder<'a>,
    assumed: Assumption,
    question: EquivalenceQuery,
    pub(super) answer: Answer,
}

impl<'a> Query<'a> {
    /// What was not asked yet; `None` if there is no such question.
    fn new(asking: QueryBuilder<'a>, assumed: Assumption) -> Result<Option<Self>, Error> {
        let question = asking.question(of(assumed))?;
        Ok(question.map(|question| {
            let answer = match &question {
                EquivalenceQuery::Same => Answer::Never,
                EquivalenceQuery::Open { .. } => {
                    Answer::Open { cycles: None, because: "not checked".to_owned() }
                }
            };
            Self { asking, assumed, question, answer }
        }))
    }

    /// Asks by induction; `None` if there is no such question.
    pub(super) fn by_induction(
        asking: QueryBuilder<'a>,
        assumed: Assumption,
    ) -> Result<Option<Self>, Error> {
        let Some(mut asked) = Self::new(asking, assumed)? else { return Ok(None) };
        asked.put(&[INDUCTION_BASE])?;
        let is_shown = asked.is_proved()
            || asked.answer.is_base() && asking.step(of(assumed))?
            || asking.is_given(assumed)?;
        if is_shown {
            asked.answer = Answer::Never;
        }
        Ok(Some(asked))
    }

    /// What is found in a search that takes little.
    pub(super) fn glance(&mut self) -> Result<ProofOutcome, Error> {
        self.put(&[QUICK_SEARCH])?;
        Ok(self.found())
    }

    /// The same of the property in another network of the RTL, of which nothing else is asked.
    pub(super) fn glance_at(&self, memories: Memories, aig: &Aig) -> Result<ProofOutcome, Error> {
        let asking = QueryBuilder { memories, aig, ..self.asking };
        Query::new(asking, self.assumed)?
            .map_or(Ok(ProofOutcome::nothing()), |mut asked| asked.glance())
    }

    /// Tries a proof that takes little.
    pub(super) fn prove_soon(&mut self) -> Result<(), Error> {
        self.put(&[SHORT_PROOF])
    }

    /// What was done with memories.
    pub(super) fn memories(&self) -> Memories {
        self.asking.memories
    }

    /// What is asked where an induction does not show it. A hang that is known of is looked for.
    fn engines(&self) -> [Attempt; 3] {
        match self.asking.prover.properties[self.asking.property].kind {
            Kind::Hang => [SEARCH, SHORT_PROOF, LONG_PROOF],
            _ => [SHORT_PROOF, SEARCH, LONG_PROOF],
        }
    }

    /// Asks some engines, until there is an answer.
    fn put(&mut self, attempts: &[Attempt]) -> Result<(), Error> {
        let EquivalenceQuery::Open { file, inputs } = &self.question else { return Ok(()) };
        for attempt in attempts {
            if let Answer::Open { cycles: before, .. } = &self.answer {
                let mut answer = self.asking.put(of(self.assumed), file, inputs, *attempt)?;
                if let Answer::Open { cycles, .. } = &mut answer {
                    *cycles = (*cycles).max(*before);
                }
                self.answer = answer;
            }
        }
        Ok(())
    }

    pub(super) fn is_proved(&self) -> bool {
        self.answer == Answer::Never
    }

    pub(super) fn found(&self) -> ProofOutcome {
        let (assumed, memories) = (self.assumed, self.asking.memories);
        match &self.answer {
            Answer::Never => {
                ProofOutcome::PropertyStatus(PropertyStatus::Proved { assumed, memories })
            }
            Answer::Seen(cycles) => ProofOutcome::Broken { cycles: cycles.clone(), memories },
            Answer::Open { cycles: Some(cycles), .. } => {
                ProofOutcome::PropertyStatus(PropertyStatus::Bounded { cycles: *cycles, assumed })
            }
            Answer::Open { cycles: None, because } => {
                ProofOutcome::PropertyStatus(PropertyStatus::Open { because: because.clone() })
            }
        }
    }
}

/// The property's output under an assumption.
const fn of(assumed: Assumption) -> &'static str {
    match assumed {
        Assumption::Nothing => "bad",
        Assumption::OffersStay => "legal",
    }
}

/// A property of a network.
#[derive(Clone, Copy)]
pub(super) struct QueryBuilder<'a> {
    pub(super) prover: &'a Prover,
    pub(super) property: usize,
    pub(super) memories: Memories,
    pub(super) aig: &'a Aig,
}

impl QueryBuilder<'_> {
    /// The output of the property: `bad`, `legal` if partners keep to the protocol; `known` and `given` are the same if what is to
    /// hold in every cycle does.
    fn output(&self, of: &str) -> String {
        format!("cosim_{of}_{}", self.property)
    }

    /// Whether the output is ever 1; `None` if it looks at more of the memories than can be followed.
    fn question(&self, of: &str) -> Result<Option<EquivalenceQuery>, Error> {
        let interface = Interface { reset: self.prover.reset, ..Interface::OURS };
        let output = self.output(of);
        let reads = self.memories.reads();
        match self.aig.property(&interface, &output, reads) {
            None if reads != Reads::Word => Err(Error::Environment(
                codes::NETLIST_NOT_UNDERSTOOD,
                format!("Yosys's graph has no output {output}"),
            )),
            question => Ok(question),
        }
    }

    /// Puts a question to engines.
    fn put(
        &self,
        of: &str,
        file: &[u8],
        inputs: &[String],
        attempt: Attempt,
    ) -> Result<Answer, Error> {
        let name = format!("{}-{:?}", self.output(of), self.memories);
        ask(&self.prover.workshop, &name, file, inputs, attempt)
    }

    /// Whether it is shown by induction with what is to hold in every cycle, as far as that is proved without more being assumed.
    pub(super) fn is_given(&self, assumed: Assumption) -> Result<bool, Error> {
        if self.prover.properties[self.property].kind == Kind::Always {
            return Ok(false);
        }
        let known = self.prover.invariants()?;
        let of = match assumed {
            _ if known.is_none_or(|known| known > assumed) => return Ok(false),
            Assumption::Nothing => "known",
            Assumption::OffersStay => "given",
        };
        let is_base = match self.question(of)? {
            Some(EquivalenceQuery::Open { file, inputs }) => {
                self.put(of, &file, &inputs, INDUCTION_BASE)?.is_base()
            }
            question => question.is_some(),
        };
        Ok(is_base && self.step(of)?)
    }

    /// Whether the step of an induction is shown. One that is not breaks nothing: what it begins with may never be
    /// reached.
    pub(super) fn step(&self, of: &str) -> Result<bool, Error> {
        Ok(match self.question(of)? {
            None => false,
            Some(EquivalenceQuery::Same) => true,
            Some(EquivalenceQuery::Open { file, inputs }) => {
                self.put(of, &file, &inputs, INDUCTION_STEP)? == Answer::Never
            }
        })
    }
}
