//! Environment and golden model without a DUT, cycle by cycle, and whether an environment drives every pin.
//!
//! The harness hands the same inputs to [`Environment::drive`] again and again, those of other cycles of a
//! batch among them. A pin that is not written holds what it held in one of those, so the stimulus would
//! depend on the length of batches.

use super::contract::{Block, Environment, Golden, reset_inputs};
use super::parameters::Parameters;
use std::convert::Infallible;
use verilated::Pins;

/// Environment and golden model of some traffic without a DUT. It begins in the cycle in reset, which is the harness's
/// own: the environment neither drives nor sees it.
pub struct GoldenTraffic<B: Block, E> {
    /// The environment.
    pub environment: E,
    /// The golden model.
    pub golden: B::Golden,
    /// Cycles so far, the one in reset included.
    pub cycle: u64,
    /// The inputs of the last cycle.
    pub inputs: B::Inputs,
}

impl<B: Block, E> GoldenTraffic<B, E> {
    /// Before the cycle in reset.
    pub fn new(environment: E, golden: B::Golden) -> Self {
        Self { environment, golden, cycle: 0, inputs: reset_inputs::<B>() }
    }

    /// Runs one cycle: the environment drives, the golden model answers, `show` sees both, and the environment
    /// follows. `false` if the environment had finished, and nothing was run.
    ///
    /// # Errors
    /// What `show` returns.
    pub fn step<'a, R>(
        &mut self,
        show: impl FnOnce(u64, &B::Inputs, &B::Outputs) -> Result<(), R>,
    ) -> Result<bool, R>
    where
        E: Environment<'a, B>,
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

/// A pin that an environment leaves as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndrivenPin {
    /// The pin.
    pub port: &'static str,
    /// The first cycle in which it is left.
    pub cycle: u64,
}

/// The first pin that an environment does not write in one of the first `cycles` cycles of a traffic, if there is
/// one: two environments that do the same are handed pins that are all 0, and pins that are all 1.
///
/// [`Checks`](crate::checks::Checks) asks it of every scenario.
pub fn undriven<'a, B: Block, E: Environment<'a, B>>(
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
        let mut driven = [B::Inputs::new_zeroed(), B::Inputs::of_bytes(&ones)];
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

/// The environment of a traffic when a cycle begins, with the golden model; at the end if it is over before.
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
