//! Equal signals: what `scorr` merges in a network before `pdr` writes an invariant of the rest.
//!
//! ABC does not say which gates it merged. Signals that are equal in random cycles are candidates.
//! A counterexample to their induction separates some of them, until the rest are inductive
//! together with the invariant. The last query is a certificate like any other.

use super::network::{Network, value};
use super::{Certificate, Checked, Found, Hypothesis, Induction, Invariant, Solve};
use cosim_base::error::Error;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Cycles of random inputs that candidates agree in; each is simulated 64 times.
const CYCLES: usize = 256;
/// Cycles for which an input stays mostly low, or mostly high: a reset that is random in each cycle
/// hides most states.
const STRETCH: usize = 16;
/// Counterexamples after which the search ends; fewer in networks of more than [`GATES`] gates.
const ROUNDS: usize = 500;
const GATES: usize = 2000;
/// Time after which the search ends.
const LONGEST: Duration = Duration::from_secs(60);
/// Why the search found no certificate.
const NOT_FOLLOWED: &str =
    "ABC simplified the network by more than the equal signals that were found";

/// Certifies an invariant together with equal signals. Signals that equal a register are few, and
/// nearly always enough.
pub(super) fn certify(
    network: &Network,
    invariant: &Invariant,
    solve: &mut Solve<'_>,
) -> Result<Checked, Error> {
    let started = Instant::now();
    let all = Classes::new(network);
    for has_gates in [false, true] {
        let some = all.keep_registers(network, has_gates);
        match with(network, invariant, some, started, solve)? {
            Ok(Certificate::Nothing { .. }) => {}
            checked => return Ok(checked),
        }
    }
    with(network, invariant, all, started, solve)
}

/// Certifies an invariant together with equal signals of these classes.
fn with(
    network: &Network,
    invariant: &Invariant,
    mut classes: Classes,
    started: Instant,
    solve: &mut Solve<'_>,
) -> Result<Checked, Error> {
    let rounds = ROUNDS * GATES / network.gates.len().max(GATES);
    for _ in 0..rounds {
        if started.elapsed() > LONGEST {
            return Ok(Ok(Certificate::nothing("the search for equal signals took too long")));
        }
        let equal = classes.pairs();
        let hypothesis = Hypothesis { invariant, equal: &equal };
        let induction = Induction::new(network, hypothesis, 1, false);
        let (flaw, model) = match induction.solve(solve)? {
            Found::Unknown(because) => return Ok(Ok(Certificate::nothing(because))),
            Found::Flaw(flaw, model) => (flaw, model),
            Found::Holds => {
                return Ok(Ok(
                    match Induction::new(network, hypothesis, 1, true).solve(solve)? {
                        Found::Holds => Certificate::Invariant {
                            clauses: invariant.cubes.len() + 2 * equal.len(),
                        },
                        Found::Unknown(because) => Certificate::nothing(because),
                        Found::Flaw(..) => Certificate::nothing(NOT_FOLLOWED),
                    },
                ));
            }
        };
        let [base, step] = &induction.ends;
        let frame = if flaw == super::Flaw::Base { base } else { step };
        let bits = |literals: &[i32]| -> Vec<u64> {
            literals.iter().map(|literal| if model.is_true(*literal) { !0 } else { 0 }).collect()
        };
        let (state, given) = (bits(frame.state(network)), bits(frame.inputs(network)));
        // The state is one that the hypothesis leads to, so it counts with any inputs.
        let inputs = classes.random.words(network.inputs);
        let inputs: Vec<u64> =
            inputs.into_iter().zip(given).map(|(word, given)| word & !1 | given & 1).collect();
        if !classes.split(&network.values(&inputs, &state)) {
            break;
        }
    }
    Ok(Ok(Certificate::nothing(NOT_FOLLOWED)))
}

/// Nodes that agree in all cycles so far, up to inversion.
struct Classes {
    /// The literals of each class of more than one; the first stands for the others.
    all: Vec<Vec<u32>>,
    random: Random,
}

impl Classes {
    /// The classes of random cycles from the initial state.
    fn new(network: &Network) -> Self {
        let nodes = 1 + network.inputs + network.latches.len() + network.gates.len();
        let mut random = Random(1);
        let mut state = vec![0; network.latches.len()];
        let inputs = random.words(network.inputs);
        let mut biases = random.words(network.inputs);
        let first = network.values(&inputs, &state);
        // A literal of each node that is 0 in the first cycle.
        let literal = |node: usize| 2 * node as u32 + (first[node] & 1) as u32;
        let mut classes = Self { all: vec![(0..nodes).map(literal).collect()], random };
        let mut values = first;
        for cycle in 0..CYCLES {
            classes.split(&values);
            state = network.next(&values);
            if cycle % STRETCH == 0 {
                biases = classes.random.words(network.inputs);
            }
            let inputs = classes.random.biased(&biases);
            values = network.values(&inputs, &state);
        }
        classes
    }

    /// The classes that contain a register, without constants; the gates in them on request.
    fn keep_registers(&self, network: &Network, has_gates: bool) -> Self {
        let first = 1 + network.inputs;
        let is_register = |literal: &u32| {
            (first..first + network.latches.len()).contains(&(*literal as usize / 2))
        };
        let mut random = Random(self.random.0);
        let mut all = Vec::new();
        for class in self.all.iter().filter(|class| class.iter().any(is_register)) {
            match class.iter().any(|literal| literal / 2 == 0) {
                true => {
                    let registers = class.iter().copied().filter(is_register).collect();
                    all.extend(unreached(network, registers, &mut random));
                }
                false => {
                    let keep = |literal: &u32| has_gates || is_register(literal);
                    all.push(class.iter().copied().filter(keep).collect());
                }
            }
        }
        all.retain(|class: &Vec<u32>| class.len() > 1);
        Self { all, random }
    }

    /// Separates literals that differ in these values. Returns whether any did.
    fn split(&mut self, values: &[u64]) -> bool {
        let before = std::mem::take(&mut self.all);
        let mut has_split = false;
        for class in before {
            let mut parts: HashMap<u64, usize> = HashMap::new();
            let first = self.all.len();
            for literal in class {
                let key = value(values, literal);
                let next = first + parts.len();
                let place = *parts.entry(key).or_insert(next);
                if place == self.all.len() {
                    self.all.push(Vec::new());
                }
                self.all[place].push(literal);
            }
            has_split |= parts.len() > 1;
        }
        self.all.retain(|class| class.len() > 1);
        has_split
    }

    /// Each literal with the one that stands for its class.
    fn pairs(&self) -> Vec<[u32; 2]> {
        let of = |class: &Vec<u32>| {
            class[1..].iter().map(|other| [class[0], *other]).collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of).collect()
    }
}

/// Separates registers that no random cycle changed, such as the high bits of counters. They take
/// random values in states of a random run, equal ones within a class, and those that then have
/// different next values are separated.
fn unreached(network: &Network, registers: Vec<u32>, random: &mut Random) -> Vec<Vec<u32>> {
    let place = |literal: u32| literal as usize / 2 - 1 - network.inputs;
    let inverted = |literal: u32| if literal & 1 == 1 { !0 } else { 0 };
    let mut classes = vec![registers];
    let mut state = vec![0; network.latches.len()];
    for _ in 0..CYCLES {
        let inputs = random.words(network.inputs);
        let mut altered = state.clone();
        for class in &classes {
            let word = random.words(1)[0];
            for literal in class {
                altered[place(*literal)] = word ^ inverted(*literal);
            }
        }
        let next = network.next(&network.values(&inputs, &altered));
        let mut parts: HashMap<(usize, u64), Vec<u32>> = HashMap::new();
        for (number, class) in classes.iter().enumerate() {
            for literal in class {
                let value = next[place(*literal)] ^ inverted(*literal);
                parts.entry((number, value)).or_default().push(*literal);
            }
        }
        classes = parts.into_values().filter(|part| part.len() > 1).collect();
        // The order of a map differs between runs.
        classes.sort();
        state = network.next(&network.values(&inputs, &state));
    }
    classes
}

/// Random words, the same in every run: xorshift.
struct Random(u64);

impl Random {
    fn words(&mut self, count: usize) -> Vec<u64> {
        let mut word = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        };
        (0..count).map(|_| word()).collect()
    }

    /// A word for each of these biases, which is random, or mostly low or high.
    fn biased(&mut self, biases: &[u64]) -> Vec<u64> {
        let [mut first, second, third] = [(); 3].map(|()| self.words(biases.len()));
        for (place, bias) in biases.iter().enumerate() {
            let [second, third] = [second[place], third[place]];
            match bias % 4 {
                0 => {}
                1 => first[place] |= second | third,
                _ => first[place] &= second & third,
            }
        }
        first
    }
}
