//! Runs engines on one property, cheap ones first.

use super::{Assumption, Kind, Memories, OFFER, ProofOutcome, PropertyStatus, Prover};
use crate::answer::{Answer, Question};
use crate::certificate::Certificate;
use crate::engine::Decider;
use crate::portfolio::{Attempt, INDUCTION, LONG_PROOF, QUICK_SEARCH, SEARCH, SHORT_PROOF, WORD};
use cosim_aig::{Aig, Interface, Reads};
use cosim_base::error::{Error, codes};

/// Runs the remaining engines, with each assumption in turn until one proves the property. Without
/// a proof, the outcome is that of the last assumption.
pub(super) fn by_engines(all: Vec<Query<'_>>) -> Result<Decided, Error> {
    let mut found = not_checked();
    for mut query in all {
        query.run(&query.engines())?;
        found = query.decided();
        if query.is_proved() {
            break;
        }
    }
    Ok(found)
}

/// An outcome, and the command that decided it.
pub(super) type Decided = (ProofOutcome, Option<Decider>);

/// The outcome before any engine ran.
pub(super) fn not_checked() -> Decided {
    (ProofOutcome::not_checked(), None)
}

/// A property of a network under an assumption, and the best answer so far.
pub(super) struct Query<'a> {
    builder: QueryBuilder<'a>,
    assumed: Assumption,
    question: Question,
    answer: Answer,
}

impl<'a> Query<'a> {
    /// A query without an answer; `None` if the network cannot express it.
    pub(super) fn new(
        builder: QueryBuilder<'a>,
        assumed: Assumption,
    ) -> Result<Option<Self>, Error> {
        let question = builder.question_under(assumed)?;
        let answer = Answer::open("not checked");
        Ok(question.map(|question| Self { builder, assumed, question, answer }))
    }

    /// Runs the induction; `None` if the network cannot express the query.
    pub(super) fn by_induction(
        builder: QueryBuilder<'a>,
        assumed: Assumption,
    ) -> Result<Option<Self>, Error> {
        let Some(mut query) = Self::new(builder, assumed)? else { return Ok(None) };
        query.run(&[INDUCTION])?;
        if !query.is_proved()
            && let Some(proved) = builder.given_invariants(assumed)?
        {
            query.answer = proved;
        }
        Ok(Some(query))
    }

    /// Runs a quick search for a violation.
    pub(super) fn quick_search(&mut self) -> Result<Decided, Error> {
        self.run(&[QUICK_SEARCH])?;
        Ok(self.decided())
    }

    /// Runs a quick search on another network of the same RTL.
    pub(super) fn quick_search_in(&self, memories: Memories, aig: &Aig) -> Result<Decided, Error> {
        let builder = QueryBuilder { memories, aig, ..self.builder };
        Query::new(builder, self.assumed)?
            .map_or(Ok(not_checked()), |mut query| query.quick_search())
    }

    /// Runs a short proof.
    pub(super) fn short_proof(&mut self) -> Result<(), Error> {
        self.run(&[SHORT_PROOF])
    }

    /// How memories are modelled.
    pub(super) fn memories(&self) -> Memories {
        self.builder.memories
    }

    /// The attempts after the induction. For a known deadlock the search comes first.
    fn engines(&self) -> [Attempt; 3] {
        match self.builder.prover.properties[self.builder.property].kind {
            Kind::Hang => [SEARCH, SHORT_PROOF, LONG_PROOF],
            _ => [SHORT_PROOF, SEARCH, LONG_PROOF],
        }
    }

    /// Runs attempts until one decides. Keeps the largest bound of undecided ones.
    pub(super) fn run(&mut self, attempts: &[Attempt]) -> Result<(), Error> {
        for attempt in attempts {
            let Answer::Open { cycles: before, by: known, .. } = &self.answer else { break };
            let mut answer = self.question.ask(&self.builder.prover.session, *attempt)?;
            if let Answer::Open { cycles, by, .. } = &mut answer
                && *cycles <= *before
            {
                (*cycles, *by) = (*before, known.clone());
            }
            self.answer = answer;
        }
        Ok(())
    }

    /// Whether an engine proved the property.
    pub(super) fn is_proved(&self) -> bool {
        self.answer.is_never()
    }

    /// The outcome.
    pub(super) fn decided(&self) -> Decided {
        let (assumed, memories) = (self.assumed, self.builder.memories);
        match self.answer.clone() {
            Answer::Never { certificate, by } => {
                let proved = PropertyStatus::of_proof(assumed, memories, certificate);
                (ProofOutcome::PropertyStatus(proved), Some(by))
            }
            Answer::Reached { trace, by } => {
                (ProofOutcome::Broken { cycles: trace, memories }, Some(by))
            }
            Answer::Open { cycles, because, by } => {
                let status = match cycles {
                    Some(cycles) => PropertyStatus::Bounded { cycles, assumed, because: None },
                    None => PropertyStatus::Open { because },
                };
                (ProofOutcome::PropertyStatus(status), by)
            }
            Answer::Disputed { because } => {
                (ProofOutcome::PropertyStatus(PropertyStatus::Disputed { because }), None)
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

/// The same, masked once an invariant has failed.
const fn given(assumed: Assumption) -> &'static str {
    match assumed {
        Assumption::Nothing => "known",
        Assumption::OffersStay => "given",
    }
}

/// A property of a network.
#[derive(Clone, Copy)]
pub(super) struct QueryBuilder<'a> {
    pub(super) prover: &'a Prover,
    pub(super) property: usize,
    /// All properties that are asked about at once, if they are several.
    pub(super) group: &'a [usize],
    pub(super) memories: Memories,
    pub(super) aig: &'a Aig,
    /// Whether the two copies may not differ in any register that reset makes known.
    pub(super) is_alone: bool,
}

impl QueryBuilder<'_> {
    /// A proof by induction that one unknown word of each memory reaches no output, and no register
    /// that reset makes known, under the weakest assumption; `None` without one.
    pub(super) fn by_one_word(self) -> Result<Option<Decided>, Error> {
        if self.memories != Memories::Word {
            return Ok(None);
        }
        for assumed in self.prover.assumptions() {
            let Some(mut query) = Query::new(self, *assumed)? else { return Ok(None) };
            query.run(&[WORD])?;
            if query.is_proved() {
                return Ok(Some(query.decided()));
            }
        }
        Ok(None)
    }

    /// The name of an output of the property: `bad`, `legal` under protocol assumptions, or `known`
    /// and `given`, which are the same under the invariants.
    fn output(&self, of: &str) -> String {
        format!("cosim_{of}_{}", self.property)
    }

    /// Whether the property fails under an assumption, as [`Self::question`].
    pub(super) fn question_under(&self, assumed: Assumption) -> Result<Option<Question>, Error> {
        self.question(of(assumed))
    }

    /// Whether the output can be 1; `None` if the property reads more of the memories than one
    /// followed word.
    pub(super) fn question(&self, of: &str) -> Result<Option<Question>, Error> {
        let interface = Interface { reset: self.prover.reset, ..Interface::OURS };
        let output = self.output(of);
        let reads = self.memories.reads();
        let query = match &self.prover.x_freedom {
            Some(x_freedom) => {
                let illegal = (of == self::of(Assumption::OffersStay)).then_some(OFFER);
                let alone = [self.property];
                let group = if self.group.is_empty() { &alone } else { self.group };
                let unknowns = x_freedom.unknowns(group);
                let words = self.memories.unknown_words(&self.prover.candidates, self.is_alone);
                self.aig.unknown(&interface, &unknowns, words, illegal)
            }
            None => self.aig.property(&interface, &output, reads),
        };
        if query.is_none() && self.prover.x_freedom.is_none() && reads != Reads::Word {
            return Err(Error::Environment(
                codes::NETLIST_NOT_UNDERSTOOD,
                format!("Yosys's graph has no output {output}"),
            ));
        }
        let name = format!("{output}-{:?}", self.memories);
        Ok(query.map(|query| Question { name, query }))
    }

    /// An induction under the invariants, if it proves the property. The invariants must be proved
    /// under no more than `assumed`.
    pub(super) fn given_invariants(&self, assumed: Assumption) -> Result<Option<Answer>, Error> {
        if self.prover.properties[self.property].kind == Kind::Always {
            return Ok(None);
        }
        let known = self.prover.invariants()?.filter(|known| known.assumed <= assumed);
        let (Some(known), Some(question)) = (known, self.question(given(assumed))?) else {
            return Ok(None);
        };
        let mut answer = question.ask(&self.prover.session, INDUCTION)?;
        if let Answer::Never { certificate, .. } = &mut answer
            && certificate.is_there()
            && !known.are_certified
        {
            *certificate = Certificate::nothing("it relies on an invariant without a certificate");
        }
        Ok(Some(answer).filter(Answer::is_never))
    }
}
