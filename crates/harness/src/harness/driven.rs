//! Whether an environment drives every pin.
//!
//! The harness hands the same inputs to [`Environment::drive`] again and again, those of other cycles of a
//! batch among them. A pin that is not written holds what it held in one of those, so the stimulus would
//! depend on the length of batches.

use super::contract::{Block, Environment, Golden, reset_inputs};
use super::parameters::Parameters;
use verilated::Pins;

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
    let mut environment = B::Environment::new(traffic, parameters);
    let mut golden = B::Golden::new(parameters);
    let (mut inputs, mut outputs) = (B::Inputs::new_zeroed(), B::Outputs::new_zeroed());
    // The harness's own cycle in reset.
    golden.step(&reset_inputs::<B>(), &mut outputs);
    for _ in 1..cycle {
        if environment.finished() {
            break;
        }
        environment.drive(&mut inputs);
        golden.step(&inputs, &mut outputs);
        environment.clock(&inputs, &outputs);
    }
    environment
}
