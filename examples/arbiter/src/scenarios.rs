//! The built-in scenarios, each a set of weights.

use crate::rtl::Inputs;
use crate::stimulus::Traffic;
use crate::{Arbiter, generator};
use cosim_core::harness::{self, CaseRng, Checked, Parameters, Percent, Scenario, Span, percent};
use cosim_core::value::{Uint, n};
use serde::{Deserialize, Serialize};

/// What the generator draws how often. Fields that a file leaves out have the values of `default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw random pins for that many cycles per packet instead of traffic; 0: traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// The requesters that have packets: bit n is requester n's.
    pub requesters: Uint<4>,
    /// Beats of a packet, where they are not around the limit.
    pub beats: Span<8, 1>,
    /// Packets whose beats are around the limit, where it is met or just not.
    #[serde(deserialize_with = "percent")]
    pub around_the_limit: Percent,
    /// Chance of a gap before a packet.
    #[serde(deserialize_with = "percent")]
    pub gap: Percent,
    /// Longest gap in cycles.
    pub longest_gap: Uint<12>,
    /// Packets with pauses between their beats.
    #[serde(deserialize_with = "percent")]
    pub pauses: Percent,
    /// Longest pause in cycles.
    pub longest_pause: Uint<12>,
    /// Chance that a beat waits on the output.
    #[serde(deserialize_with = "percent")]
    pub out_stall: Percent,
    /// Longest wait in cycles.
    pub longest_out_stall: Uint<12>,
    /// Packets followed by a reset.
    #[serde(deserialize_with = "percent")]
    pub reset: Percent,
}

impl Checked for Weights {
    fn objection(&self) -> Option<String> {
        let nobody = self.requesters.get() == 0;
        nobody.then(|| "requesters is 0, expected at least one bit set".to_owned())
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            requesters: n(0b1111),
            beats: Span::new(1, 6),
            around_the_limit: n(20),
            gap: n(40),
            longest_gap: n(12),
            pauses: n(20),
            longest_pause: n(3),
            out_stall: n(15),
            longest_out_stall: n(4),
            reset: n(0),
        }
    }
}

impl harness::Weights<Arbiter> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let scenario = Scenario::new;
        vec![
            scenario("default", "packets of all requesters, mixed lengths and gaps", base()),
            scenario(
                "crowded",
                "all requesters ask all the time, the output never stalls",
                Weights { gap: n(0), pauses: n(0), out_stall: n(0), ..base() },
            ),
            scenario(
                "sparse",
                "long gaps: most arbitrations have one requester or none",
                Weights { gap: n(100), longest_gap: n(60), ..base() },
            ),
            scenario(
                "long",
                "packets that are cut, several times",
                Weights { beats: Span::new(10, 40), around_the_limit: n(50), ..base() },
            ),
            scenario(
                "stalled",
                "the output is stalled most of the time",
                Weights { out_stall: n(80), longest_out_stall: n(20), ..base() },
            ),
            scenario("two", "requesters 1 and 3 only", Weights { requesters: n(0b1010), ..base() }),
            scenario("reset", "resets in mid-flight", Weights { reset: n(15), ..base() }),
            scenario(
                "chaos",
                "unconstrained random stimulus, no protocol",
                Weights { raw_cycles_per_packet: n(12), ..base() },
            ),
        ]
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, parameters, packets, rng)
    }

    fn raw_pins(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Option<Vec<Inputs>> {
        let cycles = self.raw_cycles_per_packet.get() as u32 * packets;
        (cycles > 0).then(|| generator::raw_pins(cycles, rng))
    }
}
