//! Runs a case in batches: the golden side runs ahead and fills batches of cycles, which the DUT
//! drives and compares.
//!
//! The stimulus never depends on the DUT, so the result is that of the cycle-by-cycle loop of
//! [`case`](super::case). Any case that does not match runs again in that loop on a new model. So
//! all details of a failure (port, values, state, rules, hits) have one source, and a DUT that
//! behaves differently in the two ways is detected.

use super::block::{Block, reset_inputs};
use super::case::{self, Dut, Outcome, Source, Stop, Watch, compared, reachable};
use super::comparison::{self, follows_dut, transaction_bits};
use super::coverage::{Coverage, Edge};
use super::golden::Golden;
use super::parameters::Parameters;
use super::sampler::CoverageSampler;
use super::stimulus::{Drive, Stimulus};
use super::verdict::Verdict;
use verilated::{BatchEnd, Pins};

/// Cycles of a batch. Its pins fit into the cache together with the model; longer batches are
/// slower.
const CYCLES: usize = 32;

/// Inputs and expected outputs of consecutive cycles.
#[derive(Debug, Clone)]
struct Batch<B: Block> {
    inputs: Vec<B::Inputs>,
    expected: Vec<B::Outputs>,
    /// The bits of each cycle that are not compared; empty if the block compares every bit.
    open: Vec<B::Outputs>,
}

/// Whether the scoreboard checks finished batches in a separate loop. The golden model and the
/// scoreboard of a block with many pins do not fit into the instruction cache together.
const fn is_judged_later<B: Block>() -> bool {
    size_of::<B::Inputs>() + size_of::<B::Outputs>() >= 512
}

/// Why a batch is the last one.
enum End {
    /// The stimulus is used up.
    Finished,
    /// The batch's last cycle ends the case, before its rising edge.
    Stopped(Stop),
}

/// Environment, golden model, scoreboard and coverage.
struct GoldenSide<'s, B: Block, S, C> {
    source: &'s mut S,
    golden: B::Golden,
    /// Cycles whose rising edge is over.
    cycles: u64,
    sampled: CoverageSampler<B, C>,
    /// The bits of the transaction outputs.
    always: B::Outputs,
}

impl<'s, B: Block, S: Source<B>, C: Coverage<B>> GoldenSide<'s, B, S, C> {
    fn new(source: &'s mut S, parameters: &Parameters) -> Self {
        let golden = B::Golden::new(parameters);
        let always = match const { comparison::has_masks::<B>() } {
            true => transaction_bits::<B>(),
            false => B::Outputs::default(),
        };
        Self { source, golden, cycles: 0, sampled: CoverageSampler::new(parameters), always }
    }

    /// Fills a batch with at most [`CYCLES`] cycles. With `LATER`, the scoreboard checks the
    /// batch afterwards; after a violation, environment and coverage have then run ahead of its
    /// cycle.
    #[inline]
    fn fill<const LATER: bool>(&mut self, batch: &mut Batch<B>) -> Option<End> {
        let first = self.cycles;
        let end = self.run_ahead::<LATER>(batch);
        if LATER {
            for index in 0..batch.inputs.len() {
                let (inputs, expected) = (&batch.inputs[index], &batch.expected[index]);
                if let Err(violation) = self.source.judge(inputs, expected) {
                    batch.keep(index + 1);
                    self.cycles = first + index as u64;
                    return Some(End::Stopped(Stop::Violation(violation)));
                }
            }
        }
        end
    }

    #[inline]
    fn run_ahead<const LATER: bool>(&mut self, batch: &mut Batch<B>) -> Option<End> {
        batch.inputs.resize_with(CYCLES, B::Inputs::default);
        batch.expected.resize_with(CYCLES, B::Outputs::default);
        if const { comparison::has_masks::<B>() } {
            batch.open.resize_with(CYCLES, B::Outputs::default);
        }
        for index in 0..CYCLES {
            let (inputs, expected) = (&mut batch.inputs[index], &mut batch.expected[index]);
            if self.cycles == 0 {
                *inputs = reset_inputs::<B>();
            } else if !self.source.next(inputs) {
                batch.keep(index);
                return Some(End::Finished);
            }
            let decided = self.golden.cycle(inputs);
            self.golden.outputs(inputs, &decided, expected);
            if const { comparison::has_masks::<B>() } {
                let open = &mut batch.open[index];
                comparison::open_bits::<B>(&self.golden, inputs, &decided, &self.always, open);
                self.sampled.compare(open);
            }
            // The source starts after the harness's cycle in reset.
            let judgement = match LATER {
                true => Ok(()),
                false => self.source.judge(inputs, expected),
            };
            let hangs = self.cycles > 0 && self.source.clock(inputs, expected, self.cycles);
            let stop = match judgement {
                Err(violation) => Some(Stop::Violation(violation)),
                Ok(()) => hangs.then_some(Stop::Hang),
            };
            if let Some(stop) = stop {
                batch.keep(index + 1);
                return Some(End::Stopped(stop));
            }
            let samples = S::IS_LEGAL && self.cycles > 0;
            let rules = self.sampled.clock(&mut self.golden, inputs, &decided, samples);
            let edge = Edge { golden: &self.golden, inputs, outputs: expected, rules };
            self.sampled.count(&edge, samples);
            self.cycles += 1;
        }
        None
    }

    /// The outcome of a case that ends here with this verdict.
    fn outcome(self, verdict: Verdict) -> Outcome {
        self.source.outcome(verdict, self.cycles, self.sampled.into_hits())
    }
}

impl<B: Block> Batch<B> {
    fn empty() -> Self {
        Self { inputs: Vec::new(), expected: Vec::new(), open: Vec::new() }
    }

    fn masks(&self) -> Option<&[B::Outputs]> {
        comparison::has_masks::<B>().then_some(&self.open)
    }

    fn keep(&mut self, cycles: usize) {
        self.inputs.truncate(cycles);
        self.expected.truncate(cycles);
        self.open.truncate(cycles);
    }
}

/// The result of a DUT that drives batches.
enum DutResult {
    /// All outputs matched in every cycle, and no check failed.
    Match,
    /// The run was interrupted.
    Cancelled,
    /// The golden side ended the case.
    Ended,
    /// An output differs.
    Mismatch { cycle: u64, port: &'static str, actual: String },
    /// The DUT stopped by itself at the edge before the cycle, or in it.
    Crashed { cycle: u64 },
}

/// Powers a DUT up. Returns `None` if it goes on.
fn power_up<B: Block>(dut: &mut impl Dut<B>) -> Option<DutResult> {
    dut.power_up().err().map(|_| DutResult::Crashed { cycle: 0 })
}

/// Lets a DUT take the edge that ends the last cycle, if all of a recorded case matched. Returns
/// `None` if the outcome is that of the golden side.
fn last_edge<B: Block>(dut: &mut impl Dut<B>, golden: &Outcome) -> Option<DutResult> {
    let has_edge = golden.verdict == Verdict::Match;
    (has_edge && dut.edge().is_err()).then_some(DutResult::Crashed { cycle: golden.cycles })
}

/// Runs a source to its end, in batches. The result is final if it is [`DutResult::Match`] or
/// [`DutResult::Cancelled`]; the outcome is that of a case that matches.
fn run_batches<B: Block, S: Source<B>, C: Coverage<B>>(
    source: &mut S,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> (DutResult, Outcome) {
    let mut side = GoldenSide::<B, _, C>::new(source, parameters);
    let mut batch = Batch::<B>::empty();
    if let Some(seen) = power_up(dut) {
        return (seen, side.outcome(Verdict::Match));
    }
    let seen = loop {
        let first = side.cycles;
        let end = match const { is_judged_later::<B>() } {
            true => side.fill::<true>(&mut batch),
            false => side.fill::<false>(&mut batch),
        };
        if let Some(seen) = compare(dut, &batch, first, watch) {
            break seen;
        }
        match end {
            None => {}
            Some(End::Stopped(_)) => break DutResult::Ended,
            // The edge that ends the last cycle is still to come.
            Some(End::Finished) => match dut.edge() {
                Err(_) => break DutResult::Crashed { cycle: side.cycles },
                Ok(()) if side.source.finish().is_err() => break DutResult::Ended,
                Ok(()) => break DutResult::Match,
            },
        }
        if !watch.goes_on(side.cycles) {
            break DutResult::Cancelled;
        }
    };
    (seen, side.outcome(Verdict::Match))
}

/// Lets a DUT drive a batch whose first cycle is `first`. Returns `None` if all outputs matched.
#[inline]
fn compare<B: Block>(
    dut: &mut impl Dut<B>,
    batch: &Batch<B>,
    first: u64,
    watch: &Watch,
) -> Option<DutResult> {
    let run = |done: &_| dut.run_batch(&batch.inputs, &batch.expected, batch.masks(), done);
    match watch.batch(first, run) {
        BatchEnd::Equal => None,
        BatchEnd::Differs { cycle, actual } => {
            // The port that the cycle-by-cycle loop names.
            let expected = match batch.masks() {
                Some(open) => batch.expected[cycle].select(&actual, &open[cycle]),
                None => batch.expected[cycle],
            };
            let pins = [expected.as_bytes(), actual.as_bytes()];
            let (port, actual) = match B::NAMING.differing(B::Outputs::PORTS, B::fields, pins).0 {
                Some(port) => (port.name, port.show(pins[1])),
                None => (case::PADDING, String::new()),
            };
            Some(DutResult::Mismatch { cycle: first + cycle as u64, port, actual })
        }
        BatchEnd::Stopped { cycle, .. } => Some(DutResult::Crashed { cycle: first + cycle as u64 }),
    }
}

/// Runs one case from reset to its end, in batches.
pub(super) fn run<B: Block, C: Coverage<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &mut impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    let (seen, outcome) = match &stimulus.drive {
        Drive::Traffic(traffic) => {
            let mut source = case::Traffic::<'_, B>::new(traffic, parameters);
            match run_batches::<B, _, C>(&mut source, parameters, dut, watch) {
                (DutResult::Match, outcome) => match reachable::<B>(outcome, parameters) {
                    outcome if outcome.verdict == Verdict::Match => (DutResult::Match, outcome),
                    outcome => (DutResult::Ended, outcome),
                },
                ended => ended,
            }
        }
        Drive::Cycles(cycles) => {
            let mut source = case::RawPins::<B>::new(cycles);
            run_batches::<B, _, C>(&mut source, parameters, dut, watch)
        }
    };
    match seen {
        DutResult::Match => outcome,
        DutResult::Cancelled => Outcome { verdict: Verdict::Cancelled, ..outcome },
        seen => repeat_case(seen, stimulus, parameters, dut, watch),
    }
}

/// Repeats the case in the cycle-by-cycle loop to get the details of a failure.
#[cold]
fn repeat_case<B: Block>(
    seen: DutResult,
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    dut: &impl Dut<B>,
    watch: &Watch,
) -> Outcome {
    let mut afresh = match dut.afresh() {
        Ok(afresh) => afresh,
        Err(error) => return Outcome::crashed(None, error.to_string()),
    };
    let outcome = case::run_cycles(stimulus, parameters, &mut afresh, watch);
    let agrees = match (&seen, &outcome.verdict) {
        (_, Verdict::Cancelled) => true,
        (DutResult::Mismatch { cycle, port, actual }, Verdict::Mismatch(report)) => {
            (*cycle, *port, actual) == (report.cycle, report.port.as_str(), &report.actual)
        }
        (DutResult::Crashed { cycle }, Verdict::Crashed { cycle: Some(report), .. }) => {
            (report..=&(report + 1)).contains(&cycle)
        }
        (DutResult::Crashed { cycle }, Verdict::CheckFailed { cycle: report, violation })
            if case::is_assertion(&violation.check) =>
        {
            (report..=&(report + 1)).contains(&cycle)
        }
        (DutResult::Ended, Verdict::CheckFailed { .. } | Verdict::Hang { .. }) => true,
        _ => false,
    };
    if agrees {
        return outcome;
    }
    let batch = match seen {
        DutResult::Mismatch { cycle, port, actual } => {
            format!("{port} is {actual} in cycle {cycle}")
        }
        DutResult::Crashed { cycle } => format!("the model stops in cycle {cycle}"),
        DutResult::Ended | DutResult::Match | DutResult::Cancelled => "nothing differs".to_owned(),
    };
    let message = format!(
        "the model behaves differently when it runs again: in batches {batch}; cycle by cycle {}",
        outcome.verdict
    );
    Outcome { verdict: Verdict::Crashed { cycle: None, message }, ..outcome }
}

/// The golden side of a case, to run on any number of DUTs: the inputs and expected outputs of
/// every cycle, and the outcome if no DUT differs.
#[derive(Debug, Clone)]
pub struct Recording<'s, B: Block> {
    /// The stimulus.
    pub stimulus: &'s Stimulus<B>,
    /// The parameters of the golden model.
    pub parameters: Parameters,
    batch: Batch<B>,
    outcome: Outcome,
}

impl<'s, B: Block> Recording<'s, B> {
    /// Runs the golden side of a stimulus. If the stimulus follows the DUT, the recording is
    /// empty.
    pub fn new(stimulus: &'s Stimulus<B>, parameters: &Parameters) -> Self {
        let mut all = Batch::<B>::empty();
        let outcome = record_stimulus(stimulus, parameters, &Watch::default(), &mut |batch| {
            all.inputs.extend_from_slice(&batch.inputs);
            all.expected.extend_from_slice(&batch.expected);
            all.open.extend_from_slice(&batch.open);
            true
        });
        Self { stimulus, parameters: *parameters, batch: all, outcome }
    }

    /// The inputs of every cycle.
    pub fn inputs(&self) -> &[B::Inputs] {
        &self.batch.inputs
    }

    /// The golden model's outputs in every cycle.
    pub fn expected(&self) -> &[B::Outputs] {
        &self.batch.expected
    }

    /// The bits of each cycle that are not compared, if the block has some.
    pub fn open(&self) -> Option<&[B::Outputs]> {
        self.batch.masks()
    }

    /// The outcome if no DUT differs.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Runs the case on a new DUT as [`run`](super::run) does. The golden side runs again only if
    /// something differs.
    pub fn run(&self, dut: &mut impl Dut<B>, watch: &Watch) -> Outcome {
        watch.during(|| self.run_watched(dut, watch))
    }

    fn run_watched<D: Dut<B>>(&self, dut: &mut D, watch: &Watch) -> Outcome {
        if !case::batches::<B, D>() {
            return case::run_cycles(self.stimulus, &self.parameters, dut, watch);
        }
        let seen = power_up(dut).or_else(|| compare(dut, &self.batch, 0, watch));
        match seen.or_else(|| last_edge(dut, &self.outcome)) {
            None => self.outcome.clone(),
            Some(seen) => repeat_case(seen, self.stimulus, &self.parameters, dut, watch),
        }
    }
}

/// Runs the golden side of a stimulus and returns only the outcome; a match without cycles if the
/// stimulus follows the DUT ([`follows_dut`]).
pub fn run_golden<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    watch: &Watch,
) -> Outcome {
    watch.during(|| record_stimulus(stimulus, parameters, watch, &mut |_| true))
}

/// Runs one case on several DUTs and the golden side once, batch by batch, so a long case needs
/// no more memory. Returns the outcome of the golden side, and that of each DUT that differs.
pub fn run_all<B: Block, D: Dut<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    duts: &mut [D],
    watch: &Watch,
) -> (Outcome, Vec<Option<Outcome>>) {
    watch.during(|| {
        if case::batches::<B, D>() {
            return run_all_watched(stimulus, parameters, duts, watch);
        }
        let golden = record_stimulus(stimulus, parameters, watch, &mut |_| true);
        let run = |dut| Some(case::run_cycles(stimulus, parameters, dut, watch));
        (golden, duts.iter_mut().map(run).collect())
    })
}

fn run_all_watched<B: Block, D: Dut<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    duts: &mut [D],
    watch: &Watch,
) -> (Outcome, Vec<Option<Outcome>>) {
    let mut seen: Vec<Option<DutResult>> = duts.iter_mut().map(power_up).collect();
    let mut first = 0;
    let golden = record_stimulus(stimulus, parameters, watch, &mut |batch| {
        for (dut, seen) in duts.iter_mut().zip(&mut seen).filter(|(_, seen)| seen.is_none()) {
            *seen = compare(dut, batch, first, watch);
        }
        first += batch.inputs.len() as u64;
        seen.iter().any(Option::is_none)
    });
    let end = |(dut, seen): (&mut D, Option<DutResult>)| {
        let seen = seen.or_else(|| last_edge(dut, &golden))?;
        Some(repeat_case(seen, stimulus, parameters, dut, watch))
    };
    let outcomes = duts.iter_mut().zip(seen).map(end).collect();
    (golden, outcomes)
}

/// Runs the golden side of a stimulus while `goes_on`, which is called with each batch, returns
/// true.
fn record_stimulus<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    watch: &Watch,
    goes_on: &mut dyn FnMut(&Batch<B>) -> bool,
) -> Outcome {
    if follows_dut::<B>() {
        return Outcome::without_cycles(Verdict::Match);
    }
    compared::<B>(match &stimulus.drive {
        Drive::Traffic(traffic) => {
            let later = const { is_judged_later::<B>() };
            let outcome = if later {
                record_traffic::<B, true>(traffic, parameters, watch, goes_on)
            } else {
                record_traffic::<B, false>(traffic, parameters, watch, goes_on)
            };
            let outcome = match outcome.verdict {
                // The counters include cycles after the violation.
                Verdict::CheckFailed { .. } if later => {
                    record_traffic::<B, false>(traffic, parameters, watch, &mut |_| true)
                }
                _ => outcome,
            };
            reachable::<B>(outcome, parameters)
        }
        Drive::Cycles(cycles) => {
            let mut source = case::RawPins::<B>::new(cycles);
            record::<B, _, false>(&mut source, parameters, watch, goes_on)
        }
    })
}

fn record_traffic<B: Block, const LATER: bool>(
    traffic: &B::Traffic,
    parameters: &Parameters,
    watch: &Watch,
    goes_on: &mut dyn FnMut(&Batch<B>) -> bool,
) -> Outcome {
    let mut source = case::Traffic::<'_, B>::new(traffic, parameters);
    record::<B, _, LATER>(&mut source, parameters, watch, goes_on)
}

/// Runs a source's golden side to its end, batch by batch.
fn record<B: Block, S: Source<B>, const LATER: bool>(
    source: &mut S,
    parameters: &Parameters,
    watch: &Watch,
    goes_on: &mut dyn FnMut(&Batch<B>) -> bool,
) -> Outcome {
    let mut side = GoldenSide::<B, S, B::Coverage>::new(source, parameters);
    let mut batch = Batch::<B>::empty();
    let verdict = loop {
        let end = side.fill::<LATER>(&mut batch);
        let is_wanted = goes_on(&batch);
        let cycle = side.cycles;
        match end {
            None => {}
            Some(End::Stopped(Stop::Violation(violation))) => {
                break Verdict::CheckFailed { cycle, violation };
            }
            Some(End::Stopped(Stop::Hang)) => {
                let state = side.golden.state().to_owned();
                break Verdict::Hang { cycle: Some(cycle), state };
            }
            Some(End::Finished) => match side.source.finish() {
                Ok(()) => break Verdict::Match,
                Err(violation) => break Verdict::CheckFailed { cycle, violation },
            },
        }
        if !(is_wanted && watch.goes_on(cycle)) {
            break Verdict::Cancelled;
        }
    };
    side.outcome(verdict)
}
