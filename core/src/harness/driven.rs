//! Whether an environment drives every pin.
//!
//! The harness hands the same inputs to [`Environment::drive`] again and again, those of other cycles of a
//! batch among them. A pin that is not written holds what it held in one of those, so the stimulus would
//! depend on the length of batches.

use super::contract::{Block, Environment, Golden};
use super::parameters::Parameters;
use verilated::Pins;

/// A pin that an environment leaves as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undriven {
    /// The pin.
    pub port: &'static str,
    /// The first cycle in which it is left.
    pub cycle: u64,
}

/// The first pin that an environment does not write in one of the first `cycles` cycles of a traffic, if there is
/// one: two environments that do the same are handed pins that are all 0, and pins that are all 1.
///
/// For the tests of a block; see `src/blocks/mod.rs`.
pub fn undriven<'a, B: Block, E: Environment<'a, B>>(
    traffic: &'a B::Traffic,
    parameters: &Parameters,
    cycles: u64,
) -> Option<Undriven> {
    let mut environments = [E::new(traffic, parameters), E::new(traffic, parameters)];
    let mut golden = B::Golden::new(parameters);
    let mut outputs = B::Outputs::new_zeroed();
    let ones = vec![0xff; size_of::<B::Inputs>()];
    // The harness's own cycle in reset.
    golden.clock(&B::reset_inputs());
    for cycle in 1..=cycles {
        if environments[0].finished() {
            break;
        }
        let mut driven = [B::Inputs::new_zeroed(), B::Inputs::of_bytes(&ones)];
        for (environment, inputs) in environments.iter_mut().zip(&mut driven) {
            environment.drive(inputs);
        }
        if let Some(port) = driven[0].first_difference(&driven[1]) {
            return Some(Undriven { port: port.name, cycle });
        }
        golden.outputs(&driven[0], &mut outputs);
        golden.clock(&driven[0]);
        for environment in &mut environments {
            environment.clock(&driven[0], &outputs);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::thread2::rtl::{Inputs, Outputs};
    use crate::blocks::thread2::stimulus::Traffic;
    use crate::blocks::thread2::{Environment as Right, Thread2};
    use crate::harness::{CaseRng, Drive};
    use rand::SeedableRng;

    const REPAIRED: Parameters = Parameters::of::<Thread2>(0xff);

    /// Leaves one pin alone while another one is high.
    struct Forgetful<'a>(Right<'a>);

    impl<'a> Environment<'a, Thread2> for Forgetful<'a> {
        fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
            Self(Environment::<Thread2>::new(traffic, parameters))
        }

        fn drive(&mut self, inputs: &mut Inputs) {
            let before = inputs.wqe_resp_last;
            self.0.drive(inputs);
            if inputs.cq_resp_valid.get() == 1 {
                inputs.wqe_resp_last = before;
            }
        }

        fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
            self.0.clock(inputs, outputs);
        }

        fn finished(&self) -> bool {
            self.0.finished()
        }

        fn handshakes(&self) -> u64 {
            self.0.handshakes()
        }

        fn patience(&self) -> u64 {
            self.0.patience()
        }

        fn packets(&self) -> u64 {
            self.0.packets()
        }
    }

    #[test]
    fn a_pin_that_is_left_alone_is_named() {
        let weights = &Thread2::scenarios()[0].weights;
        let drawn = Thread2::generate(weights, &REPAIRED, 64, &mut CaseRng::seed_from_u64(3));
        let Drive::Traffic(traffic) = drawn.drive else { panic!("the first scenario has packets") };
        assert_eq!(undriven::<Thread2, Right<'_>>(&traffic, &REPAIRED, 10_000), None);
        let found = undriven::<Thread2, Forgetful<'_>>(&traffic, &REPAIRED, 10_000);
        let Some(Undriven { port: "wqe_resp_last", cycle }) = found else { panic!("{found:?}") };
        // A CQ answers a message that is complete: a context, a WQE and a request come before.
        assert!(cycle > 5, "{cycle}");
        let before = undriven::<Thread2, Forgetful<'_>>(&traffic, &REPAIRED, cycle - 1);
        assert_eq!(before, None);
    }
}
