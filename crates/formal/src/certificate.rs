//! Certificates: proofs of an [engine](crate::engine), checked by a second solver.
//!
//! An engine proves a property by induction, or with an invariant that it writes. Here, base, step
//! and safety of either are a formula of the network that *we* wrote, so that the check covers all
//! that the engine does with it. CaDiCaL, which shares no code with ABC, shows that no assignment
//! violates the formula. Nothing is cached: a proof from the cache is checked like a new one.

pub(crate) mod cnf;
mod invariant;
pub(crate) mod network;
mod signals;
pub mod solver;

use cnf::{Cnf, FALSE, Frame};
use cosim_base::error::Error;
use cosim_rtl::yosys::YosysSession;
pub use invariant::Invariant;
use network::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use solver::{Model, Solved, Solver};
use std::fmt;

/// Cycles of the inductions that ABC's step over two cycles may stand for, fewest first.
const CYCLES: [u32; 2] = [2, 3];

/// The word for a result that an engine shows and the second solver does not confirm.
pub const BELIEVED: &str = "believed";

/// How the second solver certified a proof. Results with a proof are `proved` or `equivalent` if
/// the certificate [is there](Certificate::is_there), and [`BELIEVED`] otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Certificate {
    /// The property is constant in the structure of the network. No engine decided it.
    Structure,
    /// The property holds in the first cycles, and after as many cycles in which it holds.
    Induction {
        /// The number of cycles.
        cycles: u32,
    },
    /// An invariant that holds at first, that each cycle keeps and that implies the property.
    Invariant {
        /// The number of its clauses.
        clauses: usize,
    },
    /// There is no certificate.
    Nothing {
        /// Why.
        because: String,
    },
}

impl Certificate {
    pub(crate) fn nothing(because: impl Into<String>) -> Self {
        Self::Nothing { because: because.into() }
    }

    /// Whether the second solver confirmed the proof.
    pub fn is_there(&self) -> bool {
        !matches!(self, Self::Nothing { .. })
    }

    /// The word for a result with this certificate: this one, or [`BELIEVED`].
    pub fn word(&self, certain: &'static str) -> &'static str {
        if self.is_there() { certain } else { BELIEVED }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure => write!(f, "structure"),
            Self::Induction { cycles } => write!(f, "induction over {cycles} cycles"),
            Self::Invariant { clauses: 1 } => write!(f, "invariant of 1 clause"),
            Self::Invariant { clauses } => write!(f, "invariant of {clauses} clauses"),
            Self::Nothing { because } => write!(f, "none: {because}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// An induction over a few cycles.
    Induction,
    /// An invariant over the registers of the network.
    Invariant {
        /// The invariant; `None` if the engine wrote none.
        invariant: Option<Invariant>,
        /// Whether the engine simplified the network before. The invariant may then depend on equal
        /// signals that it does not mention.
        is_simplified: bool,
    },
}

/// A part of a proof that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// The initial state violates the invariant, or the property fails in the first cycles.
    Base,
    /// A cycle leads from states of the invariant to a state outside of it.
    Step,
    /// A state of the invariant violates the property.
    Safety,
    /// The engine wrote no invariant, and the property is not inductive.
    NoInvariant,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "its base does not hold: the first cycles violate it",
            Self::Step => "its induction step does not hold",
            Self::Safety => "its invariant does not imply the property",
            Self::NoInvariant => "it wrote no invariant, and the property is not inductive",
        })
    }
}

pub type Checked = Result<Certificate, Flaw>;

/// Checks a proof of the network in `file` with the second solver. `name` names files.
///
/// # Errors
/// [`Error::Interrupted`], or a file cannot be written.
pub fn certify(
    session: &YosysSession,
    name: &str,
    file: &[u8],
    evidence: &Evidence,
) -> Result<Checked, Error> {
    let Some(solver) = Solver::find() else {
        return Ok(Ok(Certificate::nothing(solver::MISSING)));
    };
    let Some(network) = Network::parse(file) else {
        return Ok(Ok(Certificate::nothing("its network is not understood")));
    };
    let path = session.path(&format!("{name}.cnf"));
    let mut solve = |cnf: &Cnf| solver.solve(&path, cnf);
    let checked = check(&network, evidence, &mut solve);
    let _ = std::fs::remove_file(&path);
    checked
}

/// The solver: a function from a formula to its solution.
type Solve<'a> = dyn FnMut(&Cnf) -> Result<Solved, Error> + 'a;

fn check(network: &Network, evidence: &Evidence, solve: &mut Solve<'_>) -> Result<Checked, Error> {
    let Evidence::Invariant { invariant: Some(invariant), is_simplified } = evidence else {
        let flaw = by_induction(network, solve)?;
        // Without an invariant, a failed step says that the invariant is missing.
        return Ok(match (flaw, evidence) {
            (Err(Flaw::Step), Evidence::Invariant { .. }) => Err(Flaw::NoInvariant),
            (checked, _) => checked,
        });
    };
    if !invariant.is_of(network) {
        return Ok(Err(Flaw::NoInvariant));
    }
    let hypothesis = Hypothesis { invariant, equal: &[] };
    match Induction::new(network, hypothesis, 1, true).solve(solve)? {
        Found::Holds => Ok(Ok(Certificate::Invariant { clauses: invariant.cubes.len() })),
        Found::Unknown(because) => Ok(Ok(Certificate::nothing(because))),
        Found::Flaw(flaw, _) if !is_simplified || flaw == Flaw::Base => Ok(Err(flaw)),
        Found::Flaw(..) => signals::certify(network, invariant, solve),
    }
}

/// Induction over a few cycles, without an invariant.
fn by_induction(network: &Network, solve: &mut Solve<'_>) -> Result<Checked, Error> {
    let hypothesis = Hypothesis { invariant: &Invariant::default(), equal: &[] };
    for cycles in CYCLES {
        match Induction::new(network, hypothesis, cycles, true).solve(solve)? {
            Found::Holds => return Ok(Ok(Certificate::Induction { cycles })),
            Found::Unknown(because) => return Ok(Ok(Certificate::nothing(because))),
            Found::Flaw(Flaw::Base, _) => return Ok(Err(Flaw::Base)),
            Found::Flaw(..) => {}
        }
    }
    // Without an invariant, a later violation is one of the step.
    Ok(Err(Flaw::Step))
}

/// The result of one query.
enum Found {
    Holds,
    /// The part that is wrong, and the assignment that shows it.
    Flaw(Flaw, Model),
    /// The solver gave no answer.
    Unknown(String),
}

/// What an induction assumes in each of its cycles, and shows in the next.
#[derive(Clone, Copy)]
struct Hypothesis<'a> {
    invariant: &'a Invariant,
    /// Literals of the network that are equal in every cycle.
    equal: &'a [[u32; 2]],
}

/// The formula that is satisfiable if an induction is wrong: a disjunction of its parts. The
/// hypothesis of the step is guarded: one that no state fulfils must not hide a wrong base.
struct Induction {
    cnf: Cnf,
    /// The variable that is 1 in a violation of each part.
    parts: Vec<(Flaw, i32)>,
    /// The last cycles of base and step.
    ends: [Frame; 2],
}

impl Induction {
    /// Induction over this number of cycles. Without `is_whole`, only the equalities are to be
    /// shown, and all else is assumed.
    fn new(network: &Network, hypothesis: Hypothesis<'_>, cycles: u32, is_whole: bool) -> Self {
        let Hypothesis { invariant, equal } = hypothesis;
        let mut cnf = Cnf::new();
        let differ = |cnf: &mut Cnf, frame: &Frame| {
            let pairs = equal.iter().map(|pair| pair.map(|literal| frame.literal(literal)));
            let pairs: Vec<i32> = pairs.map(|[left, right]| cnf.differ(left, right)).collect();
            cnf.any(&pairs)
        };
        // Base: the initial state and the first cycles.
        let mut end = cnf.frame(network, &vec![FALSE; network.latches.len()]);
        let mut wrong = vec![differ(&mut cnf, &end)];
        if is_whole {
            let outside = invariant.cubes.iter().filter(|cube| cube.is_initial());
            wrong.extend(outside.map(|_| -FALSE));
            wrong.push(end.bad);
            for _ in 1..cycles {
                end = cnf.frame(network, &end.next);
                wrong.extend([differ(&mut cnf, &end), end.bad]);
            }
        }
        let mut parts = vec![(Flaw::Base, cnf.any(&wrong))];
        let base = end;
        // Step and safety: what holds in each of these cycles does not in the next.
        let guard = cnf.variable();
        let mut state = cnf.variables(network.latches.len());
        for _ in 0..cycles {
            invariant.assume(&mut cnf, guard, &state);
            let frame = cnf.frame(network, &state);
            cnf.clause(&[-guard, -frame.bad]);
            for [left, right] in equal {
                cnf.equal(guard, frame.literal(*left), frame.literal(*right));
            }
            state = frame.next;
        }
        let end = cnf.frame(network, &state);
        let mut wrong = vec![differ(&mut cnf, &end)];
        if is_whole {
            wrong.push(invariant.outside(&mut cnf, &state));
        }
        parts.push((Flaw::Step, cnf.any(&wrong)));
        if is_whole {
            parts.push((Flaw::Safety, end.bad));
        }
        let all: Vec<i32> = parts.iter().map(|(_, part)| *part).collect();
        cnf.clause(&all);
        // Without the base, a part counts only under the hypothesis.
        cnf.clause(&[all[0], guard]);
        Self { cnf, parts, ends: [base, end] }
    }

    fn solve(&self, solve: &mut Solve<'_>) -> Result<Found, Error> {
        Ok(match solve(&self.cnf)? {
            Solved::Unsatisfiable => Found::Holds,
            Solved::Unknown(because) => Found::Unknown(because),
            Solved::Satisfiable(model) => {
                let part = self.parts.iter().find(|(_, part)| model.is_true(*part));
                Found::Flaw(part.map_or(Flaw::Step, |(flaw, _)| *flaw), model)
            }
        })
    }
}

#[cfg(test)]
mod tests;
