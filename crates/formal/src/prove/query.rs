//! Runs engines on one property, cheap ones first.

use super::{Kind, Memories, OFFER, PropertyAnswer, Prover};
use crate::answer::{Answer, NamedQuery, Traffic};
use crate::certificate::Certificate;
use crate::engine::Attempt;
use crate::portfolio::{INDUCTION, LONG_PROOF, QUICK_SEARCH, SEARCH, SHORT_PROOF, WORD};
use cosim_aig::{Aig, Interface, Reads};
use cosim_base::error::{Error, codes};

/// Runs the remaining engines, for each kind of traffic in turn until one proves the property.
/// Without a proof, the answer is that of the last.
pub(super) fn by_engines(all: Vec<Query<'_>>) -> Result<PropertyAnswer, Error> {
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

/// The answer before any engine ran.
pub(super) fn not_checked() -> PropertyAnswer {
    PropertyAnswer::open("not checked")
}

/// A property of a network with its traffic, and the best answer so far.
pub(super) struct Query<'a> {
    builder: QueryBuilder<'a>,
    traffic: Traffic,
    named_query: NamedQuery,
    answer: Answer,
}

impl<'a> Query<'a> {
    /// A query without an answer; `None` if the network cannot express it.
    pub(super) fn new(builder: QueryBuilder<'a>, traffic: Traffic) -> Result<Option<Self>, Error> {
        let named_query = builder.query_under(traffic)?;
        let answer = Answer::open("not checked");
        Ok(named_query.map(|named_query| Self { builder, traffic, named_query, answer }))
    }

    /// Runs the induction; `None` if the network cannot express the query.
    pub(super) fn by_induction(
        builder: QueryBuilder<'a>,
        traffic: Traffic,
    ) -> Result<Option<Self>, Error> {
        let Some(mut query) = Self::new(builder, traffic)? else { return Ok(None) };
        query.run(&[INDUCTION])?;
        if !query.is_proved()
            && let Some(proved) = builder.given_invariants(traffic)?
        {
            query.answer = proved;
        }
        Ok(Some(query))
    }

    pub(super) fn quick_search(&mut self) -> Result<PropertyAnswer, Error> {
        self.run(&[QUICK_SEARCH])?;
        Ok(self.decided())
    }

    /// Runs a quick search on another network of the same RTL.
    pub(super) fn quick_search_in(
        &self,
        memories: Memories,
        aig: &Aig,
    ) -> Result<PropertyAnswer, Error> {
        let builder = QueryBuilder { memories, aig, ..self.builder };
        Query::new(builder, self.traffic)?
            .map_or(Ok(not_checked()), |mut query| query.quick_search())
    }

    pub(super) fn short_proof(&mut self) -> Result<(), Error> {
        self.run(&[SHORT_PROOF])
    }

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
            let mut answer =
                self.named_query.run_attempt(&self.builder.prover.session, *attempt)?;
            if let Answer::Open { cycles, by, .. } = &mut answer
                && *cycles <= *before
            {
                (*cycles, *by) = (*before, known.clone());
            }
            self.answer = answer;
        }
        Ok(())
    }

    pub(super) fn is_proved(&self) -> bool {
        self.answer.is_never()
    }

    pub(super) fn decided(&self) -> PropertyAnswer {
        let (traffic, memories) = (self.traffic, self.builder.memories);
        PropertyAnswer { answer: self.answer.clone(), traffic, memories }
    }
}

/// The property's output for this traffic.
const fn bad_signal(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Any => "bad",
        Traffic::Legal => "legal",
    }
}

/// The same, masked once an invariant has failed.
const fn masked_bad_signal(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Any => "known",
        Traffic::Legal => "given",
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
    /// that reset makes known, for the widest traffic; `None` without one.
    pub(super) fn by_one_word(self) -> Result<Option<PropertyAnswer>, Error> {
        if self.memories != Memories::Word {
            return Ok(None);
        }
        for traffic in self.prover.traffics() {
            let Some(mut query) = Query::new(self, *traffic)? else { return Ok(None) };
            query.run(&[WORD])?;
            if query.is_proved() {
                return Ok(Some(query.decided()));
            }
        }
        Ok(None)
    }

    /// The name of an output of the property: `bad`, `legal` for legal traffic, or `known`
    /// and `given`, which are the same under the invariants.
    fn output(&self, of: &str) -> String {
        format!("cosim_{of}_{}", self.property)
    }

    /// Whether the property fails for this traffic, as [`Self::query`].
    pub(super) fn query_under(&self, traffic: Traffic) -> Result<Option<NamedQuery>, Error> {
        self.named_query(bad_signal(traffic))
    }

    /// Whether the output can be 1; `None` if the property reads more of the memories than one
    /// followed word.
    pub(super) fn named_query(&self, of: &str) -> Result<Option<NamedQuery>, Error> {
        let interface = Interface { reset: self.prover.reset, ..Interface::OURS };
        let output = self.output(of);
        let reads = self.memories.reads();
        let query = match &self.prover.x_freedom {
            Some(x_freedom) => {
                let illegal = (of == self::bad_signal(Traffic::Legal)).then_some(OFFER);
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
        Ok(query.map(|query| NamedQuery { name, query }))
    }

    /// An induction under the invariants, if it proves the property. The invariants must be proved
    /// for no less traffic.
    pub(super) fn given_invariants(&self, traffic: Traffic) -> Result<Option<Answer>, Error> {
        if self.prover.properties[self.property].kind == Kind::Always {
            return Ok(None);
        }
        let known = self.prover.invariants()?.filter(|known| known.traffic <= traffic);
        let (Some(known), Some(named_query)) =
            (known, self.named_query(masked_bad_signal(traffic))?)
        else {
            return Ok(None);
        };
        let mut answer = named_query.run_attempt(&self.prover.session, INDUCTION)?;
        if let Answer::Never { certificate, .. } = &mut answer
            && certificate.is_there()
            && !known.are_certified
        {
            *certificate = Certificate::nothing("it relies on an invariant without a certificate");
        }
        Ok(Some(answer).filter(Answer::is_never))
    }
}
