//! The DUT that checks run without an RTL of their own: the golden model, or the linked RTL of a
//! block whose stimulus follows the DUT.

use super::{CheckFailures, Result};
use cosim_harness::harness::{
    Block, Dut, GoldenDut, Outcome, Parameters, Stimulus, Watch, follows_dut, run, run_golden,
};
use verilated::{BeforeReset, Error, Model};

/// The result of a step of a model.
pub type ModelResult = std::result::Result<(), Error>;

/// A DUT that behaves as specified.
pub enum Reference<B: Block> {
    /// The golden model.
    Golden(GoldenDut<B>),
    /// The linked RTL.
    Rtl(Model<B::Inputs, B::Outputs>),
}

impl<B: Block> Reference<B> {
    /// The reference with these parameters.
    ///
    /// # Errors
    /// If the block needs the linked RTL, and there is none with these parameters.
    pub fn new(parameters: &Parameters, before_reset: BeforeReset) -> Result<Self> {
        if !follows_dut::<B>() {
            return Ok(Self::Golden(GoldenDut::new(parameters)));
        }
        let missing = || {
            CheckFailures::from_line(format!(
                "{}: no model with {parameters:?} is linked; add it with `.model(...)` in build.rs",
                B::NAME
            ))
        };
        let kind = B::RTL.linked(parameters).ok_or_else(missing)?;
        let model = kind.create(before_reset);
        Ok(Self::Rtl(model.map_err(|error| CheckFailures::from_line(error.to_string()))?))
    }
}

impl<B: Block> Dut<B> for Reference<B> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> ModelResult {
        match self {
            Self::Golden(golden) => golden.settle(inputs, outputs),
            Self::Rtl(model) => model.settle(inputs, outputs),
        }
    }

    fn edge(&mut self) -> ModelResult {
        match self {
            Self::Golden(golden) => golden.edge(),
            Self::Rtl(model) => model.edge(),
        }
    }
}

/// Runs a case on the reference.
///
/// # Errors
/// As [`Reference::new`].
pub fn run_reference<B: Block>(stimulus: &Stimulus<B>, parameters: &Parameters) -> Result<Outcome> {
    let watch = Watch::default();
    if !follows_dut::<B>() {
        return Ok(run_golden(stimulus, parameters, &watch));
    }
    let mut rtl = Reference::<B>::new(parameters, stimulus.before_reset)?;
    Ok(run(stimulus, parameters, &mut rtl, &watch))
}
