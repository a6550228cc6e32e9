//! Runs an environment and a golden model without a DUT, and checks that an environment drives
//! every pin.
//!
//! The harness reuses one `Inputs` value for [`Environment::drive`]. A pin that the environment
//! does not write keeps a value from another cycle of the batch, so the stimulus would depend on
//! the length of batches.

use super::block::{Block, reset_inputs};
use super::environment::Environment;
use super::golden::Golden;
use super::parameters::Parameters;
use std::convert::Infallible;
use verilated::Pins;

/// Environment and golden model of a traffic, without a DUT. The first cycle is the harness's
/// cycle in reset, which the environment neither drives nor observes.
pub struct GoldenTraffic<B: Block, E> {
    /// The environment.
    pub environment: E,
    golden: B::Golden,
    /// Cycles so far, including the cycle in reset.
    pub cycle: u64,
    /// The inputs of the last cycle.
    inputs: B::Inputs,
}

impl<B: Block, E> GoldenTraffic<B, E> {
    /// Before the cycle in reset.
    pub fn new(environment: E, golden: B::Golden) -> Self {
        Self { environment, golden, cycle: 0, inputs: reset_inputs::<B>() }
    }

    /// Runs one cycle: the environment drives, the golden model computes the outputs, `show`
    /// observes both, and the environment takes the edge. Returns `false` without running a cycle
    /// once the environment has finished.
    ///
    /// # Errors
    /// The error of `show`.
    pub fn step<'a, R>(
        &mut self,
        show: impl FnOnce(u64, &B::Inputs, &B::Outputs) -> Result<(), R>,
    ) -> Result<bool, R>
    where
        E: Environment<'a, B::Inputs, B::Outputs, B::Traffic>,
    {
        if self.cycle > 0 {
            if self.environment.finished() {
                return Ok(false);
            }
            self.environment.drive(&mut self.inputs);
        }
        let mut outputs = B::Outputs::new_zeroed();
        self.golden.step(&self.inputs, &mut outputs);
        show(self.cycle, &self.inputs, &outputs)?;
        if self.cycle > 0 {
            self.environment.clock(&self.inputs, &outputs);
        }
        self.cycle += 1;
        Ok(true)
    }
}

/// A pin that an environment does not drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndrivenPin {
    /// The pin.
    pub port: &'static str,
    /// The first cycle in which the environment does not drive it.
    pub cycle: u64,
}

/// Finds the first pin that an environment does not drive in the first `cycles` cycles of a
/// traffic. Two equal environments get pins that are all 0 and all 1; an undriven pin differs
/// afterwards.
///
/// `cosim_core::checks::Checks` calls it for every scenario.
pub fn undriven<'a, B: Block, E: Environment<'a, B::Inputs, B::Outputs, B::Traffic>>(
    traffic: &'a B::Traffic,
    parameters: &Parameters,
    cycles: u64,
) -> Option<UndrivenPin> {
    let mut environments = [E::new(traffic, parameters), E::new(traffic, parameters)];
    let mut golden = B::Golden::new(parameters);
    let mut outputs = B::Outputs::new_zeroed();
    let ones = vec![0xff; size_of::<B::Inputs>()];
    // The harness's own cycle in reset.
    golden.step(&reset_inputs::<B>(), &mut outputs);
    for cycle in 1..=cycles {
        if environments[0].finished() {
            break;
        }
        let mut driven = [B::Inputs::new_zeroed(), B::Inputs::from_bytes(&ones)];
        for (environment, inputs) in environments.iter_mut().zip(&mut driven) {
            environment.drive(inputs);
        }
        if let Some(port) = driven[0].first_difference(&driven[1]) {
            return Some(UndrivenPin { port: port.name, cycle });
        }
        golden.step(&driven[0], &mut outputs);
        for environment in &mut environments {
            environment.clock(&driven[0], &outputs);
        }
    }
    None
}

/// The environment and the golden model of a traffic at the beginning of a cycle, or at the end
/// if the traffic is finished before.
pub fn environment_at<'a, B: Block>(
    traffic: &'a B::Traffic,
    parameters: &Parameters,
    cycle: u64,
) -> B::Environment<'a> {
    let environment = B::Environment::new(traffic, parameters);
    let mut run = GoldenTraffic::<B, _>::new(environment, B::Golden::new(parameters));
    while run.cycle < cycle && run.step(|_, _, _| Ok::<(), Infallible>(())) == Ok(true) {}
    run.environment
}
