//! The lock-step loop: runs DUT and golden model of one case cycle by cycle.

use super::batch;
use super::block::{Block, power_up_inputs, reset_inputs};
use super::comparison::{self, follows_dut, is_written};
use super::coverage::{Coverage, Edge};
use super::environment::Environment;
use super::golden::Golden;
use super::hits::Hits;
use super::parameters::Parameters;
use super::rule_set::RuleSet;
use super::sampler::{self, CoverageSampler};
use super::scoreboard::{Scoreboard, Violation};
use super::stimulus::{Drive, Stimulus};
use super::verdict::{Mismatch, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use verilated::{BatchEnd, Error, Model, Pins};

/// Progress of a case and its cancellation, shared with another thread.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    cycles: AtomicU64,
    /// Cycles of the running batch, after `cycles`.
    of_batch: AtomicUsize,
    /// Cases begun.
    cases: AtomicU64,
    /// Models that are working.
    at_work: AtomicU32,
}

/// Marks a model as working until it is dropped.
struct BusyGuard<'a>(&'a Watch);

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Watch {
    /// Cancels the case.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the case is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Cycles of the case that have run so far.
    pub fn cycles(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed) + self.of_batch.load(Ordering::Relaxed) as u64
    }

    /// Runs work that uses a model: its creation, a case, its destruction.
    pub fn model<T>(&self, work: impl FnOnce() -> T) -> T {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        let _at_work = BusyGuard(self);
        work()
    }

    /// Runs one case.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.cases.fetch_add(1, Ordering::Relaxed);
        self.model(work)
    }

    /// Reports the current cycle. Returns false if the case is cancelled. A model may take seconds
    /// for a cycle, so each one is reported; a store costs no more than to count cycles.
    #[inline]
    pub(super) fn goes_on(&self, cycle: u64) -> bool {
        self.reached(cycle);
        !self.is_cancelled()
    }

    /// Reports the current cycle.
    #[inline]
    pub fn reached(&self, cycle: u64) {
        self.cycles.store(cycle, Ordering::Relaxed);
    }

    /// Runs a batch from the cycle `first` on. The work reports the cycles of the batch.
    pub(super) fn batch<T>(&self, first: u64, work: impl FnOnce(&AtomicUsize) -> T) -> T {
        self.reached(first);
        let result = work(&self.of_batch);
        self.of_batch.store(0, Ordering::Relaxed);
        result
    }

    /// A value that changes while models make progress; `None` while no model works.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let at_work = self.at_work.load(Ordering::Relaxed) > 0;
        at_work.then(|| (self.cases.load(Ordering::Relaxed), self.cycles()))
    }
}

/// The device under test, which is compared with the golden model.
///
/// The production implementation is a verilated [`Model`]. Tests have others with faults, to show
/// that the harness detects them.
pub trait Dut<B: Block> {
    /// Drives the inputs with the clock low and reads the outputs.
    ///
    /// # Errors
    /// If the DUT stopped by itself.
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error>;

    /// Powers up with an inactive reset, so that the reset of cycle 0 is an edge that models can
    /// detect.
    ///
    /// # Errors
    /// If the DUT stopped by itself.
    fn power_up(&mut self) -> Result<(), Error> {
        self.settle(&power_up_inputs::<B>(), &mut B::Outputs::default())
    }

    /// The rising edge.
    ///
    /// # Errors
    /// If the DUT stopped by itself.
    fn edge(&mut self) -> Result<(), Error>;

    /// Whether the DUT can drive and compare batches.
    const BATCHES: bool = false;

    /// Drives a batch of cycles and compares its outputs up to the first difference; see
    /// [`Model::run_reported_batch`]. Called only if the DUT supports batches.
    fn run_batch(
        &mut self,
        inputs: &[B::Inputs],
        _expected: &[B::Outputs],
        _open: Option<&[B::Outputs]>,
        _done: &AtomicUsize,
    ) -> BatchEnd<B::Outputs> {
        let error = Error::Stopped("this DUT does not support batches".to_owned());
        BatchEnd::Stopped { cycle: inputs.len(), error }
    }

    /// A new DUT of the same kind. Called only if the DUT supports batches.
    ///
    /// # Errors
    /// If it cannot be created.
    fn afresh(&self) -> Result<Self, Error>
    where
        Self: Sized,
    {
        Err(Error::Stopped("this DUT does not support batches".to_owned()))
    }

    /// Whether the DUT observes the golden model in every cycle, for a trace.
    const OBSERVES: bool = false;

    /// Observes the cycle before the DUT gets its inputs. Called only if the DUT observes.
    fn foresee(&mut self, _: &CycleView<'_, B>) {}

    /// The DUT's outputs in the observed cycle. Called only if the DUT observes.
    fn observe(&mut self, _: &CycleView<'_, B>, _actual: &B::Outputs) {}

    /// Cycles to continue after the verdict. Called only if the DUT observes.
    fn aftermath(&self) -> u64 {
        0
    }
}

/// One cycle of the golden model.
#[derive(Debug)]
pub struct CycleView<'a, B: Block> {
    /// The cycle.
    pub cycle: u64,
    /// The inputs.
    pub inputs: &'a B::Inputs,
    /// The golden model's outputs. In [`Dut::observe`], bits that are not compared have the DUT's
    /// values.
    pub expected: &'a B::Outputs,
    /// The golden model's state.
    pub state: &'static str,
    /// The rules that fire on the coming edge.
    pub rules: RuleSet,
}

impl<B: Block> Dut<B> for Model<B::Inputs, B::Outputs> {
    const BATCHES: bool = true;

    #[inline]
    fn run_batch(
        &mut self,
        inputs: &[B::Inputs],
        expected: &[B::Outputs],
        open: Option<&[B::Outputs]>,
        done: &AtomicUsize,
    ) -> BatchEnd<B::Outputs> {
        Self::run_reported_batch(self, inputs, expected, open, done)
    }

    fn afresh(&self) -> Result<Self, Error> {
        Self::afresh(self)
    }

    #[inline]
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error> {
        Self::settle(self, inputs, outputs)
    }

    #[inline]
    fn edge(&mut self) -> Result<(), Error> {
        Self::edge(self)
    }
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    #[serde(with = "crate::as_json")]
    pub verdict: Verdict,
    /// Cycles compared.
    pub cycles: u64,
    /// Packets taken; 0 for unconstrained stimulus.
    pub packets: u64,
    /// Hits of each bin: the rules, then the bins of [`Coverage`]; none if nothing was counted.
    pub hits: Hits,
    /// The scoreboard's counters; empty for unconstrained stimulus.
    pub counters: Vec<u64>,
    /// The reached points of the RTL's code, a bit for each; empty without code coverage.
    pub reached: Vec<u8>,
}

impl Outcome {
    /// The outcome of a case with a verdict only.
    pub fn without_cycles(verdict: Verdict) -> Self {
        let (hits, counters, reached) = (Hits::default(), Vec::new(), Vec::new());
        Self { verdict, cycles: 0, packets: 0, hits, counters, reached }
    }

    /// The outcome of a case in which nothing could be compared.
    pub fn crashed(cycle: Option<u64>, message: String) -> Self {
        Self::without_cycles(Verdict::Crashed { cycle, message })
    }
}

/// Runs one case from reset to its end.
pub fn run<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    watch.during(|| run_watched::<B, _, B::Coverage>(stimulus, parameters, dut, watch))
}

/// As [`run`], but counts only rules, to measure the cost of the other bins.
pub fn run_uncovered<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    watch.during(|| run_watched::<B, _, ()>(stimulus, parameters, dut, watch))
}

fn run_watched<B: Block, D: Dut<B>, C: Coverage<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut D,
    watch: &Watch,
) -> Outcome {
    if batches::<B, D>() {
        batch::run::<B, C>(stimulus, parameters, dut, watch)
    } else {
        run_cycles(stimulus, parameters, dut, watch)
    }
}

/// Whether the DUT drives batches. Where the stimulus follows the DUT, it cannot.
pub(super) const fn batches<B: Block, D: Dut<B>>() -> bool {
    D::BATCHES && is_written::<B>() && !follows_dut::<B>()
}

pub(super) fn run_cycles<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    compared::<B>(match &stimulus.drive {
        Drive::Traffic(traffic) => {
            let mut source = Traffic::<'_, B>::new(traffic, parameters);
            let mut outcome = lock_step(&mut source, parameters, dut, watch);
            if follows_dut::<B>() {
                outcome.hits.push(source.scoreboard.compared());
            }
            reachable::<B>(outcome, parameters)
        }
        Drive::Cycles(cycles) => {
            let mut outcome = lock_step(&mut RawPins::<B>::new(cycles), parameters, dut, watch);
            if follows_dut::<B>() {
                outcome.hits.push(0);
            }
            with_comparison::<B>(outcome)
        }
    })
}

/// Fails a case of legal stimulus that hit an unreachable bin: either RTL and golden model
/// violate the specification, or the reason is wrong. Other outcomes stay unchanged.
pub(super) fn reachable<B: Block>(outcome: Outcome, parameters: &Parameters) -> Outcome {
    if outcome.verdict != Verdict::Match {
        return outcome;
    }
    match sampler::first_unreachable::<B>(&outcome.hits, parameters) {
        None => outcome,
        Some(bin) => {
            let reason = sampler::unreachable::<B>(parameters).remove(&bin).unwrap_or_default();
            let name = sampler::bin_name::<B>(bin);
            let message = format!("`{name}` was hit, but is declared unreachable: {reason}");
            let violation = Violation::new(UNREACHABLE, message);
            let verdict = Verdict::CheckFailed { cycle: outcome.cycles, violation };
            Outcome { verdict, ..outcome }
        }
    }
}

/// Fails a case of unconstrained stimulus that matched but compared nothing.
fn with_comparison<B: Block>(outcome: Outcome) -> Outcome {
    let has_exact_output = B::TRANSACTION_OUTPUTS.len() < B::Outputs::PORTS.len();
    if has_exact_output || outcome.verdict != Verdict::Match {
        return outcome;
    }
    let message = "all outputs are checked as transactions, and unconstrained stimulus has none";
    let violation = Violation::new(COMPARES, message);
    Outcome { verdict: Verdict::CheckFailed { cycle: outcome.cycles, violation }, ..outcome }
}

/// Harness check: a case compares something.
const COMPARES: &str = "compares";

/// Harness check: no unreachable bin is hit.
pub(super) const UNREACHABLE: &str = "unreachable";

/// Replaces the verdict if there is no golden model, unless the RTL stopped by itself.
pub(super) fn compared<B: Block>(outcome: Outcome) -> Outcome {
    match outcome.verdict {
        _ if is_written::<B>() => outcome,
        Verdict::Crashed { .. } | Verdict::Cancelled => Outcome { cycles: 0, ..outcome },
        Verdict::CheckFailed { ref violation, .. } if is_assertion(&violation.check) => outcome,
        _ => Outcome { verdict: Verdict::NoGoldenModel, cycles: 0, ..outcome },
    }
}

/// The source of the inputs, with the checks of the outputs.
pub(super) trait Source<B: Block> {
    /// Whether the stimulus is legal, so that functional coverage applies.
    const IS_LEGAL: bool;

    /// Sets the inputs of the next cycle; false at the end.
    fn next(&mut self, inputs: &mut B::Inputs) -> bool;

    /// Sets the inputs of a cycle after the end, to show the consequences of the last cycle.
    fn next_behind_the_end(&mut self, inputs: &mut B::Inputs);

    /// Checks a cycle. A violation ends the case.
    fn judge(&mut self, inputs: &B::Inputs, outputs: &B::Outputs) -> Result<(), Violation>;

    /// Finishes a cycle other than the harness's cycle in reset. Returns whether the case hangs.
    fn clock(&mut self, inputs: &B::Inputs, outputs: &B::Outputs, cycle: u64) -> bool;

    fn finish(&mut self) -> Result<(), Violation>;

    /// The outcome of a case that ends with this verdict.
    fn outcome(&self, verdict: Verdict, cycles: u64, hits: Hits) -> Outcome {
        Outcome { cycles, hits, ..Outcome::without_cycles(verdict) }
    }
}

/// Why a source ends a case early.
pub(super) enum Stop {
    Violation(Violation),
    Hang,
}

/// Transactions, with environment and scoreboard.
pub(super) struct Traffic<'a, B: Block> {
    environment: B::Environment<'a>,
    last_handshake: u64,
    handshakes: u64,
    scoreboard: B::Scoreboard<'a>,
    /// A check failed, so the scoreboard is not called again.
    objected: bool,
}

impl<'a, B: Block> Traffic<'a, B> {
    pub(super) fn new(traffic: &'a B::Traffic, parameters: &Parameters) -> Self {
        Self {
            environment: B::Environment::new(traffic, parameters),
            last_handshake: 0,
            handshakes: 0,
            scoreboard: B::Scoreboard::new(traffic, parameters),
            objected: false,
        }
    }

    /// The timeout that the stimulus allows at present, in cycles.
    pub(super) fn progress_timeout(&self) -> u64 {
        self.environment.progress_timeout()
    }
}

impl<B: Block> Source<B> for Traffic<'_, B> {
    const IS_LEGAL: bool = true;

    // One of the calls of each cycle; its prologue takes 2 % of the golden side.
    #[inline(always)]
    fn next(&mut self, inputs: &mut B::Inputs) -> bool {
        if self.environment.finished() {
            return false;
        }
        self.environment.drive(inputs);
        true
    }

    fn next_behind_the_end(&mut self, inputs: &mut B::Inputs) {
        self.environment.drive(inputs);
    }

    #[inline]
    fn judge(&mut self, inputs: &B::Inputs, outputs: &B::Outputs) -> Result<(), Violation> {
        if self.objected {
            return Ok(());
        }
        let judgement = self.scoreboard.observe(inputs, outputs);
        self.objected = judgement.is_err();
        judgement
    }

    #[inline(always)]
    fn clock(&mut self, inputs: &B::Inputs, outputs: &B::Outputs, cycle: u64) -> bool {
        self.environment.clock(inputs, outputs);
        let handshakes = self.environment.handshakes();
        if handshakes != self.handshakes {
            self.handshakes = handshakes;
            self.last_handshake = cycle;
        }
        cycle - self.last_handshake > self.environment.progress_timeout()
    }

    fn finish(&mut self) -> Result<(), Violation> {
        if self.environment.is_cut() { Ok(()) } else { self.scoreboard.finish() }
    }

    fn outcome(&self, verdict: Verdict, cycles: u64, hits: Hits) -> Outcome {
        let reached = Vec::new();
        let (packets, counters) = (self.environment.packets(), self.scoreboard.counts());
        Outcome { verdict, cycles, packets, hits, counters, reached }
    }
}

/// Unconstrained stimulus: outputs are compared, and nothing else is checked.
pub(super) struct RawPins<'a, B: Block> {
    cycles: std::slice::Iter<'a, B::Inputs>,
}

impl<'a, B: Block> RawPins<'a, B> {
    pub(super) fn new(cycles: &'a [B::Inputs]) -> Self {
        Self { cycles: cycles.iter() }
    }
}

impl<B: Block> Source<B> for RawPins<'_, B> {
    const IS_LEGAL: bool = false;

    #[inline]
    fn next(&mut self, inputs: &mut B::Inputs) -> bool {
        match self.cycles.next() {
            Some(cycle) => {
                *inputs = *cycle;
                true
            }
            None => false,
        }
    }

    fn next_behind_the_end(&mut self, _: &mut B::Inputs) {}

    #[inline]
    fn judge(&mut self, _: &B::Inputs, _: &B::Outputs) -> Result<(), Violation> {
        Ok(())
    }

    #[inline]
    fn clock(&mut self, _: &B::Inputs, _: &B::Outputs, _: u64) -> bool {
        false
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// The loop. Nothing in it allocates, locks or calls through a table but the DUT itself.
fn lock_step<B: Block, D: Dut<B>, S: Source<B>>(
    source: &mut S,
    parameters: &Parameters,
    dut: &mut D,
    watch: &Watch,
) -> Outcome {
    const {
        RuleSet::can_hold(B::Golden::RULES.len());
        comparison::check_outputs::<B>();
    }
    let mut golden = B::Golden::new(parameters);
    let mut sampled = CoverageSampler::<B, B::Coverage>::new(parameters);
    let mut cycle = 0;
    let mut inputs = reset_inputs::<B>();
    let mut expected = B::Outputs::new_zeroed();
    let mut actual = B::Outputs::new_zeroed();
    let (mut open, always) = (B::Outputs::new_zeroed(), comparison::transaction_bits::<B>());
    if let Err(error) = dut.power_up() {
        let verdict = Verdict::Crashed { cycle: Some(0), message: error.to_string() };
        return source.outcome(verdict, 0, sampled.into_hits());
    }
    // The verdict, and the remaining cycles after it.
    let mut ended: Option<(Verdict, u64)> = None;
    let mut is_behind_the_end = false;
    let verdict = loop {
        let decided = golden.cycle(&inputs);
        golden.outputs(&inputs, &decided, &mut expected);
        if const { comparison::has_masks::<B>() } {
            comparison::open_bits::<B>(&golden, &inputs, &decided, &always, &mut open);
        }
        let state = golden.state();
        let follows = const { follows_dut::<B>() };
        let mut settled = Ok(());
        if follows {
            // The rules of the cycle depend on the DUT.
            let rules = RuleSet::EMPTY;
            let view = CycleView { cycle, inputs: &inputs, expected: &expected, state, rules };
            settled = settle(dut, &view, &mut actual);
            golden.observe(&inputs, &decided, &actual);
        }
        let seen = if follows { &actual } else { &expected };
        // The source starts after the harness's cycle in reset.
        let judgement = source.judge(&inputs, seen);
        let hangs = cycle > 0 && source.clock(&inputs, seen, cycle);
        let samples = S::IS_LEGAL && cycle > 0;
        let rules = sampled.clock(&mut golden, &inputs, &decided, samples);
        let view = CycleView { cycle, inputs: &inputs, expected: &expected, state, rules };
        if !follows {
            settled = settle(dut, &view, &mut actual);
        }
        if let Err(error) = settled {
            let stopped = || stopped(&error, cycle, state);
            break ended.map_or_else(stopped, |(verdict, _)| verdict);
        }
        let accepted = match const { comparison::has_masks::<B>() } {
            true => expected.select(&actual, &open),
            false => expected,
        };
        if D::OBSERVES {
            dut.observe(&CycleView { expected: &accepted, ..view }, &actual);
        }
        if ended.is_none() {
            sampled.compare(&open);
            let verdict = if !is_written::<B>() || are_equal(&accepted, &actual) {
                let violation = judgement.err().filter(|_| is_written::<B>());
                let failed = violation.map(|violation| Verdict::CheckFailed { cycle, violation });
                let hang = || Verdict::Hang { cycle: Some(cycle), state: state.to_owned() };
                failed.or_else(|| hangs.then(hang))
            } else {
                Some(mismatch::<B>(&accepted, &actual, cycle, state, rules))
            };
            ended = verdict.map(|verdict| (verdict, dut.aftermath()));
        }
        match &mut ended {
            None => {}
            Some((verdict, 0)) => break verdict.clone(),
            Some((_, left)) => *left -= 1,
        }
        let seen = if follows { &actual } else { &expected };
        let edge = Edge { golden: &golden, inputs: &inputs, outputs: seen, rules };
        sampled.count(&edge, samples);
        if let Err(error) = dut.edge() {
            let stopped = || stopped(&error, cycle, state);
            break ended.map_or_else(stopped, |(verdict, _)| verdict);
        }
        cycle += 1;
        if !watch.goes_on(cycle) {
            break Verdict::Cancelled;
        }
        if is_behind_the_end || !source.next(&mut inputs) {
            let (verdict, left) = ended.unwrap_or_else(|| match source.finish() {
                Ok(()) => (Verdict::Match, 0),
                Err(violation) => (Verdict::CheckFailed { cycle, violation }, dut.aftermath()),
            });
            if is_behind_the_end || left == 0 {
                break verdict;
            }
            is_behind_the_end = true;
            ended = Some((verdict, 0));
            source.next_behind_the_end(&mut inputs);
        }
    };
    source.outcome(verdict, cycle, sampled.into_hits())
}

/// Drives the inputs and reads the outputs.
#[inline]
fn settle<B: Block, D: Dut<B>>(
    dut: &mut D,
    view: &CycleView<'_, B>,
    actual: &mut B::Outputs,
) -> Result<(), Error> {
    if D::OBSERVES {
        dut.foresee(view);
    }
    dut.settle(view.inputs, actual)
}

/// The verdict for a DUT that stopped by itself: an assertion of the RTL is a check.
#[cold]
fn stopped(error: &Error, cycle: u64, state: &str) -> Verdict {
    match error {
        Error::Assertion { label, place } => {
            let message = format!("{label} does not hold in state {state} ({place})");
            let violation = Violation::new(&format!("{ASSERTION}{label}"), message);
            Verdict::CheckFailed { cycle, violation }
        }
        error => Verdict::Crashed { cycle: Some(cycle), message: error.to_string() },
    }
}

/// The beginning of the names of checks that are assertions of the RTL.
const ASSERTION: &str = "assertion-";

pub(super) fn is_assertion(check: &str) -> bool {
    check.starts_with(ASSERTION)
}

/// Compares two packed structs without a branch per word: pins are written in pieces, and an
/// early exit would wait for each of them. It uses indices, because inlining of iterator adapters
/// depends on the optimiser.
#[inline]
fn are_equal<P: Pins>(expected: &P, actual: &P) -> bool {
    let ((expected, rest), (actual, other)) =
        (expected.as_bytes().as_chunks::<8>(), actual.as_bytes().as_chunks::<8>());
    let mut difference = 0;
    for index in 0..expected.len().min(actual.len()) {
        difference |= u64::from_ne_bytes(expected[index]) ^ u64::from_ne_bytes(actual[index]);
    }
    difference == 0 && rest == other
}

/// Names a difference in no port: it is in the padding, which models leave at zero.
pub(super) const PADDING: &str = "padding";

#[cold]
fn mismatch<B: Block>(
    expected: &B::Outputs,
    actual: &B::Outputs,
    cycle: u64,
    state: &'static str,
    rules: RuleSet,
) -> Verdict {
    let pins = [expected.as_bytes(), actual.as_bytes()];
    let (first, differs) = B::NAMING.differing(B::Outputs::PORTS, B::fields, pins);
    let (port, expected, actual) = match first {
        Some(port) => (port.name, port.show(pins[0]), port.show(pins[1])),
        None => (PADDING, String::new(), String::new()),
    };
    Verdict::Mismatch(Mismatch {
        cycle,
        port: port.to_owned(),
        expected,
        actual,
        state: state.to_owned(),
        rule: rules.names(B::Golden::RULES),
        differs,
    })
}
