//! An engine for small networks that need many frames, such as two counters that count in different
//! orders: it collects their states.
//!
//! Simulation finds most states. CaDiCaL finds a cycle that leads out of them, from which
//! simulation goes on, or shows that there is none. Then the states are an invariant. No other
//! solver has a part in such a proof.

use super::{Attempt, Decider, Engine, EngineRun, Reply};
use crate::certificate::cnf::{Cnf, TRUE};
use crate::certificate::network::{Network, value};
use crate::certificate::solver::{self, Solved, Solver};
use crate::certificate::{Evidence, Invariant};
use cosim_base::error::Error;
use cosim_rtl::yosys::YosysSession;
use std::collections::BTreeSet;

/// Most registers of a network.
const REGISTERS: usize = 48;
const STATES: usize = 1 << 13;
/// Most cubes of an invariant.
const CUBES: usize = 1 << 17;
/// States that are simulated at once: the bits of a word.
const LANES: usize = 64;
/// Inputs that are tried in each state, besides those that led to it.
const DRAWS: usize = 4;

/// The engine. The frames of an [`Attempt`] are the queries to CaDiCaL, and its seconds are those
/// of each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States;

impl Engine for States {
    fn name(&self) -> &'static str {
        "states"
    }

    fn key(&self, attempt: &Attempt) -> Vec<Vec<u8>> {
        vec![
            b"states".to_vec(),
            format!("{REGISTERS} {STATES} {CUBES} {LANES} {DRAWS} {}", attempt.frames).into_bytes(),
            solver::version().unwrap_or_default().into_bytes(),
        ]
    }

    fn run(
        &self,
        session: &YosysSession,
        name: &str,
        file: &[u8],
        attempt: &Attempt,
    ) -> Result<EngineRun, Error> {
        let run = |reply, is_repeatable| EngineRun {
            reply,
            decider: Decider { engine: self.name().to_owned(), depth: None },
            is_repeatable,
        };
        let open = |because: &str| Reply::Open { cycles: None, because: because.to_owned() };
        let Some(solver) = Solver::find() else { return Ok(run(open(solver::MISSING), false)) };
        let Some(network) = Network::parse(file) else {
            return Ok(run(open("its network is not understood"), true));
        };
        if network.latches.len() > REGISTERS {
            return Ok(run(open("its network has too many registers"), true));
        }
        let path = session.path(&format!("{name}-states.cnf"));
        let mut states = Explored::new(&network);
        for _ in 0..attempt.frames {
            if let Err(because) = states.simulate() {
                return Ok(run(open(because), true));
            }
            let invariant = Invariant::from_states(&states.known, network.latches.len());
            if invariant.clauses() > CUBES {
                return Ok(run(open("its network has too many states"), true));
            }
            let solve = |cnf: &Cnf| solver.solve_within(&path, cnf, attempt.seconds.into());
            match states.leave(&invariant, solve)? {
                Leave::Never => return Ok(run(Reply::Never(Some(invariant)), true)),
                Leave::From(state, inputs) => states.waiting.push((state, inputs)),
                Leave::Unknown(because) => return Ok(run(open(&because), false)),
            }
        }
        Ok(run(open("CaDiCaL found further states each time"), true))
    }

    fn evidence(&self, invariant: Option<Invariant>) -> Evidence {
        Evidence::Invariant { invariant, is_simplified: false }
    }
}

type Inputs = Vec<bool>;

/// Whether a cycle leads out of the states, or violates the property in one of them.
enum Leave {
    Never,
    From(u64, Inputs),
    Unknown(String),
}

/// The states of a network that are known. Bit 63 is the first register.
struct Explored<'a> {
    network: &'a Network,
    known: BTreeSet<u64>,
    /// States that are to be simulated, with the inputs that led to them, which often lead on.
    waiting: Vec<(u64, Inputs)>,
    /// The last number of a sequence in which any bit may be 1.
    drawn: u64,
}

impl<'a> Explored<'a> {
    fn new(network: &'a Network) -> Self {
        let waiting = vec![(0, vec![false; network.inputs])];
        Self { network, known: BTreeSet::from([0]), waiting, drawn: 0 }
    }

    /// Simulates until no new state appears. The error says why that is not possible.
    fn simulate(&mut self) -> Result<(), &'static str> {
        while !self.waiting.is_empty() {
            let from = self.waiting.len().saturating_sub(LANES);
            let lanes = self.waiting.split_off(from);
            for draw in 0..=DRAWS {
                let inputs: Vec<u64> = (0..self.network.inputs)
                    .map(|input| match draw {
                        0 => word(lanes.iter().map(|(_, inputs)| inputs[input])),
                        _ => self.draw(),
                    })
                    .collect();
                self.cycle(&lanes, &inputs)?;
            }
            if self.known.len() > STATES {
                return Err("its network has too many states");
            }
        }
        Ok(())
    }

    fn cycle(&mut self, lanes: &[(u64, Inputs)], inputs: &[u64]) -> Result<(), &'static str> {
        let registers = 0..self.network.latches.len();
        let state: Vec<u64> = registers
            .map(|register| word(lanes.iter().map(|(state, _)| state >> (63 - register) & 1 == 1)))
            .collect();
        let values = self.network.values(inputs, &state);
        let used = if lanes.len() == LANES { !0 } else { (1 << lanes.len()) - 1 };
        if value(&values, self.network.bad) & used != 0 {
            return Err("a state violates the property");
        }
        let next = self.network.next(&values);
        for lane in 0..lanes.len() {
            let bit = |word: &u64| word >> lane & 1 == 1;
            let state = next.iter().zip((0..64).rev());
            let state = state.map(|(word, place)| u64::from(bit(word)) << place).sum();
            if self.known.insert(state) {
                self.waiting.push((state, inputs.iter().map(bit).collect()));
            }
        }
        Ok(())
    }

    /// Asks for a cycle that leads out of the states of the invariant.
    fn leave(
        &self,
        invariant: &Invariant,
        solve: impl FnOnce(&Cnf) -> Result<Solved, Error>,
    ) -> Result<Leave, Error> {
        let mut cnf = Cnf::new();
        let state = cnf.variables(self.network.latches.len());
        invariant.assume(&mut cnf, TRUE, &state);
        let frame = cnf.frame(self.network, &state);
        let outside = invariant.outside(&mut cnf, &frame.next);
        cnf.clause(&[outside, frame.bad]);
        Ok(match solve(&cnf)? {
            Solved::Unsatisfiable => Leave::Never,
            Solved::Unknown(because) => Leave::Unknown(because),
            Solved::Satisfiable(model) => {
                let state = state.iter().zip((0..64).rev());
                let state = state.map(|(bit, place)| u64::from(model.is_true(*bit)) << place);
                let inputs = frame.inputs(self.network).iter().map(|bit| model.is_true(*bit));
                Leave::From(state.sum(), inputs.collect())
            }
        })
    }

    /// The next number of a fixed sequence (SplitMix64).
    fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.drawn ^ (self.drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The word of these bits, the lowest first.
fn word(bits: impl Iterator<Item = bool>) -> u64 {
    bits.zip(0..).map(|(bit, place)| u64::from(bit) << place).sum()
}
