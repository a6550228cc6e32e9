//! The built-in scenarios, each a set of weights.

use crate::rtl::Inputs;
use crate::stimulus::Traffic;
use crate::{Arbiter, generator};
use cosim_core::harness::{self, CaseRng, Parameters, Percent, Scenario, Span};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Fields that a file omits have the values of `default`.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// The requesters with packets: bit n is requester n.
        requesters: Uint<4> = 0b1111,
        /// Number of beats of a packet, unless it is around the limit.
        beats: Span<8, 1> = 1..=6,
        /// Packets with a number of beats around the limit.
        around_the_limit: Percent = 20,
        /// Chance of a gap before a packet.
        gap: Percent = 40,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 12,
        /// Packets with pauses between their beats.
        pauses: Percent = 20,
        /// Longest pause in cycles.
        longest_pause: Uint<12> = 3,
        /// Chance that a beat waits on the output.
        out_stall: Percent = 15,
        /// Longest wait in cycles.
        longest_out_stall: Uint<12> = 4,
        /// Packets followed by a reset.
        reset: Percent = 0,
    }
    check |weights| {
        let nobody = weights.requesters.get() == 0;
        nobody.then(|| "requesters is 0, expected at least one bit that is set".to_owned())
    };
}

impl harness::Weights<Arbiter> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("scenarios.toml"))
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, parameters, packets, rng)
    }

    fn raw_pins(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Option<Vec<Inputs>> {
        let cycles = self.raw_cycles_per_packet.get() as u32 * packets;
        (cycles > 0).then(|| generator::raw_pins(cycles, rng))
    }
}
