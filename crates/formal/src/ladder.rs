//! The order of proofs that two graphs do not differ, cheap ones first: of two RTLs, and of a
//! mutant and its RTL.

use crate::answer::{Answer, NamedQuery};
use crate::engine::Attempt;
use crate::limits::LATE;
use crate::portfolio::{
    EQUAL_REGISTERS, EQUAL_SIGNALS, EQUIVALENCE, LONG_PROOF, MANY_EQUAL_SIGNALS, MEMORY_WORD,
    NEARBY, NEARBY_LONG, ONE_REGISTER, PAIRS_OF_VALUES,
};
use cosim_base::error::Error;
use cosim_rtl::yosys::YosysSession;
use std::collections::BTreeSet;

/// What a query about two graphs is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// A proof, or a trace that may need any values in registers at first.
    Proof,
    /// A proof in which only registers in the fan-out cone of the changes, of this many register
    /// stages, may differ. A trace shows nothing (see [`Aig::nearby`](cosim_aig::Aig::nearby)).
    Near { hops: usize },
    /// Proofs in which one register alone may differ, of which one suffices. A trace shows nothing
    /// (see [`Aig::query_single_registers`](cosim_aig::Aig::query_single_registers)).
    Alone,
    /// A proof in which memory words of equal meaning may differ, and registers of so many stages
    /// if there is a number. A trace shows nothing (see [`Aig::by_word`](cosim_aig::Aig::by_word)).
    Word { hops: Option<usize> },
    /// A trace in which registers without an initial value begin with zeros or ones.
    Search,
}

impl Aim {
    pub fn name(self) -> String {
        match self {
            Self::Proof => "proof".to_owned(),
            Self::Near { hops } => format!("near-{hops}"),
            Self::Alone => "alone".to_owned(),
            Self::Word { hops: None } => "word".to_owned(),
            Self::Word { hops: Some(hops) } => format!("word-{hops}"),
            Self::Search => "search".to_owned(),
        }
    }
}

pub type Rung = (Aim, Attempt);

const fn near(hops: usize, attempt: Attempt) -> Rung {
    (Aim::Near { hops }, attempt)
}

const fn word(hops: usize) -> Rung {
    (Aim::Word { hops: Some(hops) }, NEARBY)
}

/// Two RTLs, before any search: shows most refactorings.
pub const CORRESPONDENCE: &[Rung] = &[
    (Aim::Proof, EQUAL_REGISTERS),
    near(0, NEARBY),
    near(1, NEARBY),
    near(2, NEARBY),
    (Aim::Proof, MANY_EQUAL_SIGNALS),
];
/// Two RTLs, after a short search.
pub const UNBOUNDED: &[Rung] = &[
    (Aim::Alone, ONE_REGISTER),
    (Aim::Alone, PAIRS_OF_VALUES),
    near(0, NEARBY_LONG),
    near(1, NEARBY_LONG),
    near(2, NEARBY_LONG),
    (Aim::Proof, EQUIVALENCE),
];
/// Two RTLs with memories as registers, after a short search.
pub const UNBOUNDED_EXACT: &[Rung] = &[(Aim::Proof, EQUIVALENCE)];
/// Two RTLs, after a long search.
pub const LONGER: &[Rung] = &[(Aim::Proof, LONG_PROOF)];
/// A mutant, before its cases run: cheaper than a case.
pub const SOON: &[Rung] =
    &[near(0, NEARBY), near(1, NEARBY), near(2, NEARBY), (Aim::Proof, EQUAL_REGISTERS)];
/// A mutant that survives, after a short search.
pub const LATER: &[Rung] = &[
    (Aim::Alone, ONE_REGISTER),
    (Aim::Alone, PAIRS_OF_VALUES),
    word(0),
    word(1),
    word(2),
    (Aim::Proof, EQUAL_SIGNALS),
    (Aim::Word { hops: None }, MEMORY_WORD),
    near(0, NEARBY_LONG),
    near(1, NEARBY_LONG),
    near(2, NEARBY_LONG),
];

/// Tries proofs until one shows that nothing differs. `named_queries` are those of an aim, of which
/// one proof suffices. Without a proof, the answer is open or disputed: a trace of these queries
/// shows nothing.
///
/// # Errors
/// As [`NamedQuery::run_attempt`], or of `named_queries`.
pub fn climb<E: From<Error>>(
    session: &YosysSession,
    rungs: &[Rung],
    named_queries: impl Fn(Aim) -> Result<Vec<NamedQuery>, E>,
) -> Result<Answer, E> {
    let mut last = Answer::open(LATE);
    let mut refuted = BTreeSet::new();
    let mut is_hard = false;
    for (aim, attempt) in rungs {
        let is_near = matches!(aim, Aim::Near { .. });
        // More registers make a proof harder.
        if is_near && is_hard {
            continue;
        }
        is_hard = false;
        for named_query in named_queries(*aim)? {
            if refuted.contains(&named_query.name) {
                continue;
            }
            match named_query.run_attempt(session, *attempt)? {
                never @ Answer::Never { .. } => return Ok(never),
                // Differences may still stop at a larger distance, or in another register.
                Answer::Reached { .. } => {
                    last = Answer::open("not proved");
                    refuted.insert(named_query.name);
                }
                // An engine that is wrong about one query may be wrong about the others.
                disputed @ Answer::Disputed { .. } => return Ok(disputed),
                open @ Answer::Open { .. } => {
                    is_hard = is_near;
                    last = open;
                }
            }
        }
    }
    Ok(last)
}
