//! The built-in scenarios, each a set of weights.

use crate::stimulus::Traffic;
use crate::{Picorv32, generator};
use cosim_core::harness::{self, CaseRng, Parameters, Percent, Scenario};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Fields that a file omits have the values of `default`.
    pub struct Weights {
        /// Share of operations on registers, relative to the other shares.
        compute: Uint<8> = 40,
        /// Share of multiplications and divisions.
        multiply: Uint<8> = 12,
        /// Share of loads.
        load: Uint<8> = 15,
        /// Share of stores.
        store: Uint<8> = 20,
        /// Share of conditional branches, which skip a few instructions.
        branch: Uint<8> = 12,
        /// Share of loops with a few rounds.
        loops: Uint<8> = 4,
        /// Share of jumps.
        jump: Uint<8> = 8,
        /// Instructions that have 16 bits, if the core has them and there is such a form.
        compressed: Percent = 50,
        /// Sources that are the result of the instruction before.
        hazard: Percent = 40,
        /// Programs that trap before their end.
        trap: Percent = 30,
        /// Chance that a transfer waits.
        stall: Percent = 40,
        /// Longest wait in cycles.
        longest_stall: Uint<12> = 2,
    }
}

impl Weights {
    /// The shares, in their order. If all are 0, every unit is a jump.
    pub fn shares(&self) -> [u64; 7] {
        let Self { compute, multiply, load, store, branch, loops, jump, .. } = self;
        [compute, multiply, load, store, branch, loops, jump].map(|share| share.get())
    }
}

impl harness::Weights<Picorv32> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("scenarios.toml"))
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, parameters, packets, rng)
    }
}
