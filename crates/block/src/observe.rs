//! Observes a DUT: waveforms of both models, and the cycles around an event.

use cosim_base::error::Error;
use cosim_harness::harness::{Block, CycleView, Dut, Golden};
use std::ops::Range;
use std::path::Path;
use verilated::{BeforeReset, Error as ModelError, Model, ModelKind, Pins};

/// One recorded cycle.
#[derive(Debug, Clone)]
pub struct Record {
    /// The cycle.
    pub cycle: u64,
    /// The bytes of the inputs.
    pub inputs: Vec<u8>,
    /// The bytes of the golden model's outputs.
    pub expected: Vec<u8>,
    /// The bytes of the RTL's outputs.
    pub actual: Vec<u8>,
    /// The golden model's state.
    pub state: &'static str,
    /// The golden model's rules.
    pub rules: String,
    /// The RTL's state register, if the block has one.
    pub rtl_state: Option<u64>,
}

/// A model with an observing top.
///
/// A cycle of the waveform begins with the rising edge. At time 2n the clock rises and all signals
/// take their values of cycle n: inputs, and the golden model's state, rules and outputs. At time
/// 2n + 1 the clock falls and nothing else changes.
#[derive(Debug)]
pub struct Observed<B: Block> {
    model: Model<B::Inputs, B::Outputs>,
    /// Cycles to dump and to record.
    window: Range<u64>,
    aftermath: u64,
    rules: String,
    /// Why the model stopped while it received the golden model's values.
    stopped: Option<ModelError>,
    records: Vec<Record>,
    trace_error: Option<ModelError>,
}

impl<B: Block> Observed<B> {
    /// Creates a model of `kind` with these register values before reset. It records the cycles of
    /// `window` and continues for `aftermath` cycles after a mismatch.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be created.
    pub fn new(
        kind: &ModelKind<B::Inputs, B::Outputs>,
        before_reset: BeforeReset,
        window: Range<u64>,
        aftermath: u64,
    ) -> Result<Self, Error> {
        let model = kind.create(before_reset)?;
        let (rules, records) = (String::new(), Vec::new());
        Ok(Self { model, window, aftermath, rules, stopped: None, records, trace_error: None })
    }

    /// Also writes a waveform of the window to `path`.
    ///
    /// # Errors
    /// [`Error::Model`] if the file cannot be written.
    pub fn trace(&mut self, path: &Path) -> Result<(), Error> {
        Ok(self.model.open_trace(path)?)
    }

    /// Why the trace ended early, if it did.
    pub fn trace_error(&self) -> Option<&ModelError> {
        self.trace_error.as_ref()
    }

    /// Ends the trace and returns the recorded cycles.
    ///
    /// # Errors
    /// [`Error::Model`] if the end of the waveform cannot be written.
    pub fn finish(mut self) -> Result<Vec<Record>, Error> {
        self.model.close_trace()?;
        Ok(self.records)
    }

    /// Adds the current values to the trace. A write error ends the trace, but not the comparison.
    fn dump(&mut self, cycle: u64) {
        if !self.window.contains(&cycle) {
            self.model.advance(1);
        } else if let Err(error) = self.model.dump() {
            // Report the first error only.
            let _ = self.model.close_trace();
            self.trace_error = Some(error);
        }
    }
}

impl<B: Block> Dut<B> for Observed<B> {
    const OBSERVES: bool = true;

    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), ModelError> {
        match self.stopped.take() {
            Some(error) => Err(error),
            None => self.model.settle(inputs, outputs),
        }
    }

    fn edge(&mut self) -> Result<(), ModelError> {
        self.model.edge()
    }

    fn foresee(&mut self, moment: &CycleView<'_, B>) {
        let CycleView { cycle, inputs, expected, state, rules } = moment;
        self.rules = rules.names(B::Golden::RULES);
        match self.model.observe(*cycle, inputs, expected, state, &self.rules) {
            Ok(()) => self.dump(*cycle),
            Err(error) => self.stopped = Some(error),
        }
    }

    fn observe(&mut self, moment: &CycleView<'_, B>, actual: &B::Outputs) {
        self.dump(moment.cycle);
        if self.window.contains(&moment.cycle) {
            self.records.push(Record {
                cycle: moment.cycle,
                inputs: moment.inputs.as_bytes().to_vec(),
                expected: moment.expected.as_bytes().to_vec(),
                actual: actual.as_bytes().to_vec(),
                state: moment.state,
                rules: self.rules.clone(),
                rtl_state: B::STATE_REGISTER.map(|_| self.model.probe()),
            });
        }
    }

    fn aftermath(&self) -> u64 {
        self.aftermath
    }
}
