//! Runs engines on one property, cheap ones first.

use super::{Assumption, Kind, Memories, OFFER, ProofOutcome, PropertyStatus, Prover};
use crate::certificate::{Certificate, Checked, Evidence, certify};
use crate::engine::{Decider, Decision, decide};
use crate::portfolio::{
    Attempt, INDUCTION_BASE, INDUCTION_STEP, LONG_PROOF, QUICK_SEARCH, SEARCH, SHORT_PROOF,
    WORD_BASE, WORD_STEP,
};
use cosim_aig::{Aig, EquivalenceQuery, Interface, Reads};
use cosim_base::error::{Error, codes};

/// Runs the remaining engines, with each assumption in turn until one proves the property. Without
/// a proof, the outcome is that of the last assumption.
pub(super) fn by_engines(all: Vec<Query<'_>>) -> Result<Decided, Error> {
    let mut found = not_checked();
    for mut query in all {
        query.run(&query.engines())?;
        found = query.certified()?;
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
    question: EquivalenceQuery,
    answer: Decision,
    decider: Decider,
    /// Whether the proof uses the invariants.
    is_given: bool,
}

impl<'a> Query<'a> {
    /// A query without an answer; `None` if the network cannot express it.
    pub(super) fn new(
        builder: QueryBuilder<'a>,
        assumed: Assumption,
    ) -> Result<Option<Self>, Error> {
        let question = builder.question(of(assumed))?;
        Ok(question.map(|question| {
            let answer = match &question {
                EquivalenceQuery::Same => Decision::Never(Evidence::Induction),
                EquivalenceQuery::Open { .. } => {
                    Decision::Open { cycles: None, because: "not checked".to_owned() }
                }
            };
            let decider = Decider::structure();
            Self { builder, assumed, question, answer, decider, is_given: false }
        }))
    }

    /// Runs the induction; `None` if the network cannot express the query.
    pub(super) fn by_induction(
        builder: QueryBuilder<'a>,
        assumed: Assumption,
    ) -> Result<Option<Self>, Error> {
        let Some(mut query) = Self::new(builder, assumed)? else { return Ok(None) };
        query.run(&[INDUCTION_BASE])?;
        if query.is_proved() {
            return Ok(Some(query));
        }
        let mut step = match query.answer.is_base() {
            true => builder.step(of(assumed))?,
            false => None,
        };
        if step.is_none() {
            step = builder.holds_given_invariants(assumed)?;
            query.is_given = step.is_some();
        }
        if let Some(decider) = step {
            query.answer = Decision::Never(Evidence::Induction);
            query.decider = decider;
        }
        Ok(Some(query))
    }

    /// Runs a quick search for a violation.
    pub(super) fn quick_search(&mut self) -> Result<Decided, Error> {
        self.run(&[QUICK_SEARCH])?;
        Ok(self.found())
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
        let EquivalenceQuery::Open { file, inputs } = &self.question else { return Ok(()) };
        for attempt in attempts {
            if let Decision::Open { cycles: before, .. } = &self.answer {
                let (mut answer, decider) =
                    self.builder.run(of(self.assumed), file, inputs, *attempt)?;
                let mut is_best = true;
                if let Decision::Open { cycles, .. } = &mut answer {
                    is_best = *cycles > *before;
                    *cycles = (*cycles).max(*before);
                }
                if is_best {
                    self.decider = decider;
                }
                self.answer = answer;
            }
        }
        Ok(())
    }

    /// Whether an engine proved the property.
    pub(super) fn is_proved(&self) -> bool {
        self.answer.is_never()
    }

    /// The outcome, with the certificate of a proof.
    pub(super) fn certified(&self) -> Result<Decided, Error> {
        let (assumed, memories) = (self.assumed, self.builder.memories);
        let Decision::Never(evidence) = &self.answer else { return Ok(self.found()) };
        let checked = match (&self.question, self.is_given) {
            (_, true) => self.builder.certified_given_invariants(assumed)?,
            (EquivalenceQuery::Same, false) => Ok(Certificate::Structure),
            (EquivalenceQuery::Open { file, .. }, false) => {
                self.builder.certified(of(assumed), file, evidence)?
            }
        };
        let status = match checked {
            Ok(certificate) => PropertyStatus::of_proof(assumed, memories, certificate),
            Err(flaw) => PropertyStatus::Disputed {
                because: format!(
                    "an engine reports a proof, but CaDiCaL shows that it is wrong: {flaw}"
                ),
            },
        };
        Ok((ProofOutcome::PropertyStatus(status), Some(self.decider.clone())))
    }

    /// The outcome without a proof.
    fn found(&self) -> Decided {
        let (assumed, memories) = (self.assumed, self.builder.memories);
        let outcome = match &self.answer {
            Decision::Never(_) => ProofOutcome::not_checked(),
            Decision::Reached(cycles) => ProofOutcome::Broken { cycles: cycles.clone(), memories },
            Decision::Open { cycles: Some(cycles), .. } => {
                ProofOutcome::PropertyStatus(PropertyStatus::Bounded { cycles: *cycles, assumed })
            }
            Decision::Open { cycles: None, because } => {
                ProofOutcome::PropertyStatus(PropertyStatus::Open { because: because.clone() })
            }
        };
        let is_decided = !matches!(self.answer, Decision::Open { cycles: None, .. });
        (outcome, is_decided.then(|| self.decider.clone()))
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
            query.run(&[WORD_BASE])?;
            if query.answer.is_base()
                && let EquivalenceQuery::Open { file, inputs } = &query.question
            {
                let (answer, decider) = self.run(of(*assumed), file, inputs, WORD_STEP)?;
                if answer.is_never() {
                    query.answer = Decision::Never(Evidence::Induction);
                    query.decider = decider;
                }
            }
            if query.is_proved() {
                return query.certified().map(Some);
            }
        }
        Ok(None)
    }

    /// The name of an output of the property: `bad`, `legal` under protocol assumptions, or `known`
    /// and `given`, which are the same under the invariants.
    fn output(&self, of: &str) -> String {
        format!("cosim_{of}_{}", self.property)
    }

    /// Whether the output can be 1; `None` if the property reads more of the memories than one
    /// followed word.
    pub(super) fn question(&self, of: &str) -> Result<Option<EquivalenceQuery>, Error> {
        let interface = Interface { reset: self.prover.reset, ..Interface::OURS };
        let output = self.output(of);
        let reads = self.memories.reads();
        if let Some(x_freedom) = &self.prover.x_freedom {
            let illegal = (of == self::of(Assumption::OffersStay)).then_some(OFFER);
            let alone = [self.property];
            let group = if self.group.is_empty() { &alone } else { self.group };
            let unknowns = x_freedom.unknowns(group);
            let words = self.memories.unknown_words(&self.prover.candidates, self.is_alone);
            return Ok(self.aig.unknown(&interface, &unknowns, words, illegal));
        }
        match self.aig.property(&interface, &output, reads) {
            None if reads != Reads::Word => Err(Error::Environment(
                codes::NETLIST_NOT_UNDERSTOOD,
                format!("Yosys's graph has no output {output}"),
            )),
            question => Ok(question),
        }
    }

    pub(super) fn run(
        &self,
        of: &str,
        file: &[u8],
        inputs: &[String],
        attempt: Attempt,
    ) -> Result<(Decision, Decider), Error> {
        let name = format!("{}-{:?}", self.output(of), self.memories);
        decide(&self.prover.session, &name, file, inputs, attempt)
    }

    /// Whether induction under the invariants proves the property. The invariants must be proved
    /// under no more than `assumed`.
    pub(super) fn holds_given_invariants(
        &self,
        assumed: Assumption,
    ) -> Result<Option<Decider>, Error> {
        if self.prover.properties[self.property].kind == Kind::Always {
            return Ok(None);
        }
        if self.prover.invariants()?.is_none_or(|known| known.assumed > assumed) {
            return Ok(None);
        }
        let of = given(assumed);
        let is_base = match self.question(of)? {
            Some(EquivalenceQuery::Open { file, inputs }) => {
                self.run(of, &file, &inputs, INDUCTION_BASE)?.0.is_base()
            }
            question => question.is_some(),
        };
        if is_base { self.step(of) } else { Ok(None) }
    }

    /// Checks a proof of the output with the second solver.
    fn certified(&self, of: &str, file: &[u8], evidence: &Evidence) -> Result<Checked, Error> {
        let name = format!("{}-{:?}", self.output(of), self.memories);
        certify(&self.prover.session, &name, file, evidence)
    }

    /// Checks a proof that uses the invariants. It counts only if theirs are certified.
    fn certified_given_invariants(&self, assumed: Assumption) -> Result<Checked, Error> {
        let of = given(assumed);
        let checked = match self.question(of)? {
            Some(EquivalenceQuery::Open { file, .. }) => {
                self.certified(of, &file, &Evidence::Induction)?
            }
            _ => Ok(Certificate::Structure),
        };
        let is_certified = self.prover.invariants()?.is_some_and(|known| known.are_certified);
        Ok(checked.map(|certificate| match certificate {
            _ if is_certified => certificate,
            missing @ Certificate::Nothing { .. } => missing,
            _ => Certificate::nothing("it relies on an invariant without a certificate"),
        }))
    }

    /// What decided the induction step, if it succeeds. A failure refutes nothing: its initial
    /// state may be unreachable.
    pub(super) fn step(&self, of: &str) -> Result<Option<Decider>, Error> {
        Ok(match self.question(of)? {
            None => None,
            Some(EquivalenceQuery::Same) => Some(Decider::structure()),
            Some(EquivalenceQuery::Open { file, inputs }) => {
                let (answer, decider) = self.run(of, &file, &inputs, INDUCTION_STEP)?;
                answer.is_never().then_some(decider)
            }
        })
    }
}
