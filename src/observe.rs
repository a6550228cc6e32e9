//! A DUT under observation: waves of both models, and the cycles around an event for a person.

use crate::error::Error;
use crate::harness::{Block, Dut, Moment};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use verilated::{BeforeReset, Model, ModelKind};

/// One cycle, kept to be explained.
#[derive(Debug, Clone)]
pub struct Record<B: Block> {
    /// The cycle.
    pub cycle: u64,
    /// The inputs.
    pub inputs: B::Inputs,
    /// The golden model's outputs.
    pub expected: B::Outputs,
    /// The RTL's outputs.
    pub actual: B::Outputs,
    /// The golden model's state.
    pub state: &'static str,
    /// The golden model's rules.
    pub rules: String,
    /// The RTL's state register; 0 if the block has none.
    pub rtl_state: u64,
}

/// A model inside an observing top.
#[derive(Debug)]
pub struct Observed<B: Block> {
    model: Model<B::Inputs, B::Outputs>,
    /// Cycles to dump and to keep.
    window: Range<u64>,
    aftermath: u64,
    cycle: u64,
    rules: String,
    records: VecDeque<Record<B>>,
    /// Why the trace ended early.
    trace_error: Option<verilated::Error>,
}

impl<B: Block> Observed<B> {
    /// A new model of `kind` with these registers before reset, that keeps the cycles of `window`, and goes on for `aftermath` cycles
    /// after a mismatch.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be made.
    pub fn new(
        kind: &ModelKind<B::Inputs, B::Outputs>,
        before_reset: BeforeReset,
        window: Range<u64>,
        aftermath: u64,
    ) -> Result<Self, Error> {
        let model = kind.create(before_reset)?;
        let (rules, records) = (String::new(), VecDeque::new());
        Ok(Self { model, window, aftermath, cycle: 0, rules, records, trace_error: None })
    }

    /// Writes the window's waves to `path`, too.
    ///
    /// # Errors
    /// [`Error::Model`] if the file cannot be written.
    pub fn trace(&mut self, path: &Path) -> Result<(), Error> {
        Ok(self.model.open_trace(path)?)
    }

    /// Why the trace ended early, if it did.
    pub fn trace_error(&self) -> Option<&verilated::Error> {
        self.trace_error.as_ref()
    }

    /// Ends the trace and gives the cycles that were kept.
    ///
    /// # Errors
    /// [`Error::Model`] if the last waves cannot be written.
    pub fn finish(mut self) -> Result<VecDeque<Record<B>>, Error> {
        self.model.close_trace()?;
        Ok(self.records)
    }

    fn dump(&mut self) -> Result<(), verilated::Error> {
        if self.window.contains(&self.cycle) {
            self.model.dump()
        } else {
            self.model.advance(1);
            Ok(())
        }
    }
}

impl<B: Block> Dut<B> for Observed<B> {
    const OBSERVES: bool = true;

    fn settle(
        &mut self,
        inputs: &B::Inputs,
        outputs: &mut B::Outputs,
    ) -> Result<(), verilated::Error> {
        self.model.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), verilated::Error> {
        self.model.edge()?;
        self.dump()?;
        self.cycle += 1;
        Ok(())
    }

    fn observe(&mut self, moment: &Moment<'_, B>) {
        let rules: Vec<&str> = moment.rules.iter().map(|rule| B::RULES[rule].name).collect();
        self.rules = rules.join("+");
        self.cycle = moment.cycle;
        self.model.observe(moment.expected, moment.state, &self.rules);
        if self.window.contains(&moment.cycle) {
            let rtl_state = self.model.probe();
            self.records.push_back(Record {
                cycle: moment.cycle,
                inputs: *moment.inputs,
                expected: *moment.expected,
                actual: *moment.actual,
                state: moment.state,
                rules: self.rules.clone(),
                rtl_state,
            });
        }
        // The scope of the golden model is filled by evaluating again; the DUT does not change. A
        // trace that cannot be written any more ends; the comparison goes on.
        let mut outputs = *moment.actual;
        if let Err(error) =
            self.model.settle(moment.inputs, &mut outputs).and_then(|()| self.dump())
        {
            // The first error is the one that tells.
            let _ = self.model.close_trace();
            self.trace_error = Some(error);
        }
    }

    fn observe_edge(&mut self, outputs: &B::Outputs, state: &'static str) {
        self.model.observe(outputs, state, &self.rules);
    }

    fn aftermath(&self) -> u64 {
        self.aftermath
    }
}
