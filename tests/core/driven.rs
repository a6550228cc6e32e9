//! Tests that a pin which an environment does not drive is found.

use cosim::blocks::thread2::rtl::{Inputs, Outputs};
use cosim::blocks::thread2::stimulus::Traffic;
use cosim::blocks::thread2::{Environment as Right, Thread2};
use cosim_core::harness::{Block, Environment, Parameters, UndrivenPin, undriven};
use cosim_core::harness::{CaseRng, Drive};
use rand::SeedableRng;

const REPAIRED: Parameters = Parameters::of::<Thread2>(0xff);

/// Leaves one pin undriven while another one is high.
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

    fn progress_timeout(&self) -> u64 {
        self.0.progress_timeout()
    }

    fn packets(&self) -> u64 {
        self.0.packets()
    }
}

#[test]
fn an_undriven_pin_is_named() {
    let weights = &Thread2::scenarios()[0].weights;
    let drawn = Thread2::stimulus(weights, &REPAIRED, 64, &mut CaseRng::seed_from_u64(3));
    let Drive::Traffic(traffic) = drawn.drive else { panic!("the first scenario has packets") };
    assert_eq!(undriven::<Thread2, Right<'_>>(&traffic, &REPAIRED, 10_000), None);
    let found = undriven::<Thread2, Forgetful<'_>>(&traffic, &REPAIRED, 10_000);
    let Some(UndrivenPin { port: "wqe_resp_last", cycle }) = found else { panic!("{found:?}") };
    // A CQ response follows a complete message: a context, a WQE and a request precede it.
    assert!(cycle > 5, "{cycle}");
    let before = undriven::<Thread2, Forgetful<'_>>(&traffic, &REPAIRED, cycle - 1);
    assert_eq!(before, None);
}
