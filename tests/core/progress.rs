//! Tests that a model of any speed reports its progress, and that a difference in no port is one.

use cosim::blocks::thread2::Thread2;
use cosim::blocks::thread2::rtl::{Inputs, Outputs};
use cosim_core::harness::{
    Block, CaseRng, Drive, Dut, GoldenDut, Parameters, Recording, Stimulus, Verdict, Watch, run,
};
use cosim_core::verilated::{BatchEnd, Error};
use rand::SeedableRng;
use std::sync::atomic::{AtomicUsize, Ordering};

const REPAIRED: Parameters = Parameters::with_fixes::<Thread2>(0xff);

fn stimulus() -> Stimulus<Thread2> {
    let weights = &Thread2::scenarios()[0].weights;
    Stimulus::<Thread2>::draw(weights, &REPAIRED, 8, &mut CaseRng::seed_from_u64(3))
}

/// A correct model that reads its progress in each cycle, as another thread would.
struct Observed<'a, const BATCHES: bool> {
    alone: GoldenDut<Thread2>,
    watch: &'a Watch,
    seen: Vec<(u64, u64)>,
}

impl<'a, const BATCHES: bool> Observed<'a, BATCHES> {
    fn new(watch: &'a Watch) -> Self {
        Self { alone: GoldenDut::new(&REPAIRED), watch, seen: Vec::new() }
    }

    fn record_progress(&mut self) {
        self.seen.push(self.watch.progress().expect("a model works"));
    }

    /// A new value in each of the cycles 0, 1, 2, ...
    fn assert_each_cycle_is_progress(&self, cycles: u64) {
        assert!(cycles > 40, "more than a batch: {cycles}");
        let expected: Vec<(u64, u64)> = (0..cycles).map(|cycle| (1, cycle)).collect();
        assert_eq!(self.seen[..expected.len()], expected);
    }
}

impl<const BATCHES: bool> Dut<Thread2> for Observed<'_, BATCHES> {
    const BATCHES: bool = BATCHES;

    fn power_up(&mut self) -> Result<(), Error> {
        self.alone.power_up()
    }

    fn settle(&mut self, inputs: &Inputs, outputs: &mut Outputs) -> Result<(), Error> {
        self.record_progress();
        self.alone.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.alone.edge()
    }

    fn run_batch(
        &mut self,
        inputs: &[Inputs],
        _expected: &[Outputs],
        _open: Option<&[Outputs]>,
        done: &AtomicUsize,
    ) -> BatchEnd<Outputs> {
        for cycle in 0..inputs.len() {
            done.store(cycle, Ordering::Relaxed);
            self.record_progress();
        }
        BatchEnd::Equal
    }
}

/// Runs the stimulus, also as a recorded case, which is one batch.
fn each_cycle_is_progress<const BATCHES: bool>() {
    let (stimulus, watch) = (stimulus(), Watch::default());
    let mut dut = Observed::<BATCHES>::new(&watch);
    let outcome = run::<Thread2>(&stimulus, &REPAIRED, &mut dut, &watch);
    assert_eq!(outcome.verdict, Verdict::Match);
    dut.assert_each_cycle_is_progress(outcome.cycles);
    let watch = Watch::default();
    let mut dut = Observed::<true>::new(&watch);
    let recording = Recording::<Thread2>::new(&stimulus, &REPAIRED);
    assert_eq!(recording.run(&mut dut, &watch).verdict, Verdict::Match);
    dut.assert_each_cycle_is_progress(outcome.cycles);
}

#[test]
fn each_cycle_of_a_model_is_progress_with_and_without_batches() {
    each_cycle_is_progress::<false>();
    each_cycle_is_progress::<true>();
}

/// A correct model whose batches report a difference although all ports are as expected.
struct Contradictory(GoldenDut<Thread2>);

impl Dut<Thread2> for Contradictory {
    const BATCHES: bool = true;

    fn settle(&mut self, inputs: &Inputs, outputs: &mut Outputs) -> Result<(), Error> {
        self.0.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.0.edge()
    }

    fn run_batch(
        &mut self,
        _inputs: &[Inputs],
        expected: &[Outputs],
        _open: Option<&[Outputs]>,
        _done: &AtomicUsize,
    ) -> BatchEnd<Outputs> {
        BatchEnd::Differs { cycle: 0, actual: expected[0] }
    }

    fn afresh(&self) -> Result<Self, Error> {
        Ok(Self(GoldenDut::new(&REPAIRED)))
    }
}

#[test]
fn a_batch_that_differs_in_no_port_does_not_match() {
    let mut stimulus = stimulus();
    for _ in 0..2 {
        let mut dut = Contradictory(GoldenDut::new(&REPAIRED));
        let outcome = run::<Thread2>(&stimulus, &REPAIRED, &mut dut, &Watch::default());
        // Cycle by cycle it matches, so the model contradicts itself.
        assert!(matches!(outcome.verdict, Verdict::Crashed { .. }), "{:?}", outcome.verdict);
        let mut dut = Contradictory(GoldenDut::new(&REPAIRED));
        let recording = Recording::<Thread2>::new(&stimulus, &REPAIRED);
        let outcome = recording.run(&mut dut, &Watch::default());
        assert!(matches!(outcome.verdict, Verdict::Crashed { .. }), "{:?}", outcome.verdict);
        stimulus.drive = Drive::Cycles(vec![Inputs::default(); 3]);
    }
}
