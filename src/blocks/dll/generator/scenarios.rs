//! The built-in scenarios, each a set of weights.

use super::chaos;
use crate::blocks::dll::Dll;
use crate::blocks::dll::rtl::Inputs;
use crate::blocks::dll::traffic::Traffic;
use cosim_core::harness::{self, CaseRng, Parameters, Percent, Scenario, Span, beyond_all};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Fields that a file omits have the values of `default`.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// TLPs of the first packet, on which the link has no effect; `[0, 0]`: no such packet.
        untroubled_tlps: Span<12> = 0..=0,
        /// TLPs of a packet, offered without gaps.
        tlps_per_packet: Span<12, 1> = 1..=3,
        /// Payloads that are 0, 1, a power of two, the largest number, or one less.
        corners: Percent = 10,
        /// Chance of a gap before a packet.
        gap: Percent = 20,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 30,
        /// Link delay of TLPs in cycles, drawn once per case.
        tlp_delay: Span<8> = 0..=8,
        /// Link delay of DLLPs in cycles, drawn once per case.
        dllp_delay: Span<8> = 0..=8,
        /// Faults of TLPs.
        tlps: LinkFaults = LinkFaults::default(),
        /// Faults of Acks.
        acks: LinkFaults = LinkFaults::default(),
        /// Faults of Naks.
        naks: LinkFaults = LinkFaults::default(),
        /// Longest individual delay in cycles.
        longest_delay: Uint<8> = 40,
        /// Chance that a TLP waits for the link.
        link_stall: Percent = 10,
        /// Longest wait of a TLP in cycles.
        longest_link_stall: Uint<12> = 4,
        /// Chance that a DLLP waits for the link.
        dllp_stall: Percent = 20,
        /// Longest wait of a DLLP in cycles.
        longest_dllp_stall: Uint<12> = 30,
        /// DLLPs that are delayed until about the expiry of REPLAY_TIMER.
        dllp_at_limit: Percent = 0,
        /// Packets followed by a reset.
        reset: Percent = 0,
    }

    /// Faults in one direction of the link. Percentages are per transmission.
    pub struct LinkFaults {
        /// Lost.
        lost: Percent = 0,
        /// Damaged, among those that are not lost.
        damaged: Percent = 0,
        /// Delivered twice.
        again: Percent = 0,
        /// Delayed individually.
        delayed: Percent = 0,
        /// First transmission of a blackout.
        blackout: Percent = 0,
        /// Number of transmissions lost in a blackout.
        blackout_length: Span<12, 1> = 1..=1,
    }
    check |faults| beyond_all(&[("lost", faults.lost), ("damaged", faults.damaged)]);
}

impl LinkFaults {
    /// Percentage that is lost or damaged outside of blackouts.
    pub fn spoiled(&self) -> u64 {
        self.lost.get() + self.damaged.get() * 100_u64.saturating_sub(self.lost.get()) / 100
    }
}

impl harness::Weights<Dll> for Weights {
    const BENCH: &'static str = "clean";

    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("scenarios.toml"))
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        super::traffic(self, parameters, packets, rng)
    }

    fn raw_cycles_per_packet(&self) -> Uint<8> {
        self.raw_cycles_per_packet
    }

    fn raw_pins(cycles: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
        chaos::cycles(cycles, parameters, rng)
    }
}
