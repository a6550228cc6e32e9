//! Checks that every check of a scoreboard can fail, by injecting faults into the [`Reference`].

use super::reference::{ModelResult, Reference};
use super::{CheckFailures, Result};
use cosim_harness::harness::{
    Block, CaseRng, Drive, Dut, Environment, GoldenTraffic, Parameters, Scoreboard, Stimulus,
    Violation, Watch, case_seed, follow, is_of_the_harness, reset_inputs,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use verilated::{BeforeReset, Pins, Port};

/// Maximum number of faults, in total and per check; the larger limit applies. The search ends when
/// every check has fired.
const FAULTS: u64 = 30_000;
const FAULTS_FOR_A_CHECK: u64 = 5_000;
const FAULTS_OF_A_CASE: u64 = 150;
/// Packets per case.
const PACKETS: u32 = 12;
/// Maximum cycles per case, because a fault may prevent its end.
const CYCLES: u64 = 20_000;

/// Cycles after which a golden model counts as hung.
const LONGEST: u64 = 1_000_000;

/// Runs the golden model in an environment, and passes its pins to the scoreboard after `tamper`
/// has changed them. Returns the scoreboard's counters. For the tests of a check. The environment
/// sees the unchanged pins, so the case continues regardless of the changes. The parts may have
/// different parameters.
///
/// # Errors
/// The check that fires.
pub fn observe_golden<'a, B, E, S>(
    golden: B::Golden,
    environment: E,
    mut scoreboard: S,
    mut tamper: impl FnMut(u64, &mut B::Inputs, &mut B::Outputs),
) -> std::result::Result<Vec<u64>, Violation>
where
    B: Block,
    E: Environment<'a, B::Inputs, B::Outputs, B::Traffic>,
    S: Scoreboard<'a, B::Inputs, B::Outputs, B::Traffic>,
{
    let mut run = GoldenTraffic::<B, E>::new(environment, golden);
    while run.cycle < LONGEST {
        let goes_on = run.step(|cycle, inputs, outputs| {
            let (mut driven, mut shown) = (*inputs, *outputs);
            tamper(cycle, &mut driven, &mut shown);
            scoreboard.observe(&driven, &shown)
        })?;
        if !goes_on {
            scoreboard.finish()?;
            return Ok(scoreboard.counts());
        }
    }
    Err(Violation::new(
        "ends",
        format_args!("the golden model does not finish within {LONGEST} cycles"),
    ))
}

/// The effect of a fault on a pin.
#[derive(Debug, Clone, Copy)]
enum Pin {
    Low,
    High,
    /// One bit is inverted.
    Flipped(u32),
    /// One bit is stuck low or high.
    Stuck(u32, bool),
    /// The value of the previous cycle.
    Late,
    /// The value at the start of the fault.
    Kept,
    /// The value minus or plus one.
    Off(bool),
}

#[derive(Debug, Clone, Copy)]
struct Fault {
    port: &'static Port,
    pin: Pin,
    /// The cycles in which it is active.
    from: u64,
    to: u64,
    /// It acts in every `seldom`-th of them.
    seldom: u64,
}

impl Fault {
    fn draw(ports: &'static [Port], cycles: u64, rng: &mut CaseRng) -> Option<Self> {
        let port = ports.choose(rng)?;
        let bit = rng.random_range(0..port.width);
        let pin = match rng.random_range(0..8) {
            0 => Pin::Low,
            1 => Pin::High,
            2 => Pin::Stuck(bit, rng.random()),
            3 => Pin::Late,
            4 => Pin::Kept,
            5 => Pin::Off(rng.random()),
            _ => Pin::Flipped(bit),
        };
        let from = rng.random_range(0..=cycles);
        let to = match rng.random_range(0..3) {
            0 => from + 1,
            1 => from + rng.random_range(1..20),
            _ => u64::MAX,
        };
        Some(Self { port, pin, from, to, seldom: [1, 1, 2, 5][rng.random_range(0..4)] })
    }

    /// Applies the fault to the port in the bytes of its struct. `before` holds the bytes of the
    /// previous cycle.
    fn apply(&self, cycle: u64, now: &mut [u8], before: &[u8]) {
        let is_on = (self.from..self.to).contains(&cycle)
            && (cycle - self.from).is_multiple_of(self.seldom);
        if !is_on {
            return;
        }
        let range = self.port.offset..self.port.offset + self.port.size();
        let bytes = &mut now[range.clone()];
        match self.pin {
            Pin::Low => bytes.fill(0),
            // Bits beyond the port's width are cleared later.
            Pin::High => bytes.fill(0xff),
            Pin::Flipped(bit) => bytes[bit as usize / 8] ^= 1 << (bit % 8),
            Pin::Stuck(bit, false) => bytes[bit as usize / 8] &= !(1 << (bit % 8)),
            Pin::Stuck(bit, true) => bytes[bit as usize / 8] |= 1 << (bit % 8),
            Pin::Late | Pin::Kept => bytes.copy_from_slice(&before[range]),
            Pin::Off(up) => {
                for byte in bytes {
                    let (sum, carry) =
                        if up { byte.overflowing_add(1) } else { byte.overflowing_sub(1) };
                    *byte = sum;
                    if !carry {
                        break;
                    }
                }
            }
        }
    }
}

/// The reference with a fault at its inputs or outputs, used as a DUT.
struct Faulty<B: Block> {
    reference: Reference<B>,
    at_inputs: bool,
    fault: Fault,
    cycle: u64,
    /// The pins of the faulty side in the previous cycle, or at the start of the fault.
    before: Vec<u8>,
    now: Vec<u8>,
}

impl<B: Block> Faulty<B> {
    fn tampered<P: Pins>(&mut self, pins: &P) -> P {
        let mut bytes = pins.as_bytes().to_vec();
        self.now.clone_from(&bytes);
        if self.before.is_empty() {
            self.before.clone_from(&bytes);
        }
        self.fault.apply(self.cycle, &mut bytes, &self.before);
        P::from_bytes(&bytes)
    }
}

impl<B: Block> Dut<B> for Faulty<B> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> ModelResult {
        if self.at_inputs {
            let inputs = self.tampered(inputs);
            return self.reference.settle(&inputs, outputs);
        }
        self.reference.settle(inputs, outputs)?;
        *outputs = self.tampered(outputs);
        Ok(())
    }

    fn edge(&mut self) -> ModelResult {
        self.cycle += 1;
        let is_kept = matches!(self.fault.pin, Pin::Kept) && self.cycle > self.fault.from;
        if !is_kept {
            std::mem::swap(&mut self.before, &mut self.now);
        }
        self.reference.edge()
    }
}

/// The check that fires if a case ends after `cycles`.
fn cut<B: Block>(
    traffic: &B::Traffic,
    parameters: &Parameters,
    cycles: u64,
) -> std::result::Result<(), Violation> {
    let Ok(mut dut) = Reference::<B>::new(parameters, BeforeReset::Ones) else { return Ok(()) };
    let mut environment = B::Environment::new(traffic, parameters);
    let mut scoreboard = B::Scoreboard::new(traffic, parameters);
    let (mut inputs, mut outputs) = (reset_inputs::<B>(), B::Outputs::default());
    let mut settled = dut.power_up();
    for cycle in 0..cycles {
        if cycle > 0 {
            if environment.finished() {
                break;
            }
            environment.drive(&mut inputs);
        }
        settled = settled.and_then(|()| dut.settle(&inputs, &mut outputs));
        scoreboard.observe(&inputs, &outputs)?;
        if cycle > 0 {
            environment.clock(&inputs, &outputs);
        }
        settled = settled.and_then(|()| dut.edge());
        if settled.is_err() {
            return Ok(());
        }
    }
    scoreboard.finish()
}

/// A case of legal stimulus, and its cycles on the reference.
struct BaselineCase<B: Block> {
    traffic: B::Traffic,
    parameters: Parameters,
    cycles: u64,
}

/// A case of each profile and scenario, or an error if the scoreboard rejects the reference.
fn subjects<B: Block>(round: u64) -> Result<Vec<BaselineCase<B>>> {
    let mut subjects = Vec::new();
    for profile in B::PROFILES {
        for scenario in B::scenarios() {
            let name = format!("faults/{}/{}/{round}", profile.name, scenario.name);
            let mut rng = CaseRng::seed_from_u64(case_seed(1, &name));
            let parameters = profile.parameters;
            let stimulus: Stimulus<B> =
                Stimulus::<B>::draw(&scenario.weights, &parameters, PACKETS, &mut rng);
            let Drive::Traffic(traffic) = stimulus.drive else { continue };
            let mut good = Reference::<B>::new(&parameters, BeforeReset::Ones)?;
            let followed = follow(&traffic, &parameters, &mut good, CYCLES, &Watch::default());
            match followed {
                Some((None, cycles)) => subjects.push(BaselineCase { traffic, parameters, cycles }),
                // Skip cases that are too long for thousands of faults.
                Some((Some(breach), _)) if is_of_the_harness(&breach.violation.check) => {}
                Some((Some(breach), _)) => {
                    return Err(CheckFailures::from_line(format!("{name}, no fault: {breach}")));
                }
                None => {}
            }
        }
    }
    Ok(subjects)
}

pub fn every_check_fires<B: Block>(elsewhere: &[&str]) -> Result {
    let checks = B::Scoreboard::<'static>::checks();
    let declared: BTreeSet<&str> = checks.iter().map(String::as_str).collect();
    let wanted: BTreeSet<&str> =
        declared.iter().copied().filter(|check| !elsewhere.contains(check)).collect();
    let mut fired = BTreeSet::new();
    let mut rng = CaseRng::seed_from_u64(case_seed(1, "faults"));
    let most = FAULTS.max(FAULTS_FOR_A_CHECK * wanted.len() as u64);
    let mut cases = 0;
    for round in 0.. {
        let subjects = subjects::<B>(round)?;
        if subjects.is_empty() {
            return Err(CheckFailures::from_line(format!(
                "{}: no scenario has traffic that finishes",
                B::NAME
            )));
        }
        for subject in &subjects {
            for _ in 0..FAULTS_OF_A_CASE {
                fired.extend(fires::<B>(subject, &mut rng));
                cases += 1;
            }
        }
        let all = wanted.iter().all(|check| fired.contains(*check));
        if all || cases >= most {
            break;
        }
    }
    let mut wrong: Vec<String> = Vec::new();
    let silent = wanted.iter().filter(|check| !fired.contains(**check));
    wrong.extend(silent.map(|check| format!("{check}: fires on none of {cases} faults")));
    let undeclared = fired.iter().filter(|check| !declared.contains(check.as_str()));
    wrong.extend(undeclared.map(|check| format!("{check}: fires, but is not in `checks`")));
    let unknown = elsewhere.iter().filter(|check| !declared.contains(*check));
    wrong.extend(
        unknown.map(|check| format!("{check}: listed as shown elsewhere, but not in `checks`")),
    );
    CheckFailures::from_lines(wrong)
}

/// The check that fires on one fault, if any.
fn fires<B: Block>(subject: &BaselineCase<B>, rng: &mut CaseRng) -> Option<String> {
    let BaselineCase { traffic, parameters, cycles } = subject;
    if rng.random_range(0..20) == 0 {
        let cycles = rng.random_range(0..=*cycles);
        return Some(cut::<B>(traffic, parameters, cycles).err()?.check);
    }
    let at_inputs = rng.random_range(0..3) == 0;
    let ports = if at_inputs { B::Inputs::PORTS } else { B::Outputs::PORTS };
    let fault = Fault::draw(ports, *cycles, rng)?;
    let reference = Reference::new(parameters, BeforeReset::Ones).ok()?;
    let mut side =
        Faulty::<B> { reference, at_inputs, fault, cycle: 0, before: Vec::new(), now: Vec::new() };
    let most = 2 * cycles + 1_000;
    let (breach, _) = follow(traffic, parameters, &mut side, most, &Watch::default())?;
    breach.map(|breach| breach.violation.check).filter(|check| !is_of_the_harness(check))
}
