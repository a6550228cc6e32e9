//! The built-in scenarios, each a set of weights.

use super::rtl::Inputs;
use super::stimulus::Traffic;
use super::{Dll, chaos, generator};
use cosim_core::harness::{
    self, CaseRng, Checked, Parameters, Percent, Scenario, Span, beyond_all, checked, percent,
};
use cosim_core::value::{Uint, n};
use serde::{Deserialize, Serialize};

/// What the generator draws how often. Fields that a file leaves out have the values of `default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw random pins for that many cycles per packet instead of traffic; 0: traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// TLPs of the first packet, over which the link does nothing; `[0, 0]`: it is like the others.
    pub untroubled_tlps: Span<12>,
    /// TLPs of a packet, offered in a row.
    pub tlps_per_packet: Span<12, 1>,
    /// Chance of a gap before a packet.
    #[serde(deserialize_with = "percent")]
    pub gap: Percent,
    /// Longest gap in cycles.
    pub longest_gap: Uint<12>,
    /// Cycles a TLP is on the link, drawn once for a case.
    pub tlp_delay: Span<8>,
    /// Cycles a DLLP is on the link, drawn once for a case.
    pub dllp_delay: Span<8>,
    /// What happens to TLPs.
    #[serde(deserialize_with = "checked")]
    pub tlps: LinkFaults,
    /// What happens to Acks.
    #[serde(deserialize_with = "checked")]
    pub acks: LinkFaults,
    /// What happens to Naks.
    #[serde(deserialize_with = "checked")]
    pub naks: LinkFaults,
    /// Longest delay of what has its own, in cycles.
    pub longest_delay: Uint<8>,
    /// Chance that a TLP waits for the link.
    #[serde(deserialize_with = "percent")]
    pub link_stall: Percent,
    /// Longest wait of a TLP in cycles.
    pub longest_link_stall: Uint<12>,
    /// Chance that a DLLP waits for the link.
    #[serde(deserialize_with = "percent")]
    pub dllp_stall: Percent,
    /// Longest wait of a DLLP in cycles.
    pub longest_dllp_stall: Uint<12>,
    /// DLLPs that wait for so long that they arrive about when REPLAY_TIMER expires.
    #[serde(deserialize_with = "percent")]
    pub dllp_at_limit: Percent,
    /// Packets followed by a reset.
    #[serde(deserialize_with = "percent")]
    pub reset: Percent,
}

/// What a direction of the link does to what it carries. Chances are of one transmission each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkFaults {
    /// It is lost.
    #[serde(deserialize_with = "percent")]
    pub lost: Percent,
    /// It is damaged; drawn of what is not lost.
    #[serde(deserialize_with = "percent")]
    pub damaged: Percent,
    /// It arrives twice.
    #[serde(deserialize_with = "percent")]
    pub again: Percent,
    /// It has a delay of its own.
    #[serde(deserialize_with = "percent")]
    pub delayed: Percent,
    /// A blackout begins with it.
    #[serde(deserialize_with = "percent")]
    pub blackout: Percent,
    /// Transmissions that are lost in a blackout.
    pub blackout_length: Span<12, 1>,
}

impl Checked for Weights {}

impl Checked for LinkFaults {
    fn objection(&self) -> Option<String> {
        beyond_all(&[("lost", self.lost), ("damaged", self.damaged)])
    }
}

impl LinkFaults {
    /// Everything passes.
    const NONE: Self = Self {
        lost: n(0),
        damaged: n(0),
        again: n(0),
        delayed: n(0),
        blackout: n(0),
        blackout_length: Span::new(1, 1),
    };

    /// Percentage that is lost or damaged outside of blackouts.
    pub fn spoiled(&self) -> u64 {
        self.lost.get() + self.damaged.get() * 100_u64.saturating_sub(self.lost.get()) / 100
    }
}

impl Default for LinkFaults {
    fn default() -> Self {
        Self::NONE
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            untroubled_tlps: Span::new(0, 0),
            tlps_per_packet: Span::new(1, 3),
            gap: n(20),
            longest_gap: n(30),
            tlp_delay: Span::new(0, 8),
            dllp_delay: Span::new(0, 8),
            tlps: LinkFaults::NONE,
            acks: LinkFaults::NONE,
            naks: LinkFaults::NONE,
            longest_delay: n(40),
            link_stall: n(10),
            longest_link_stall: n(4),
            dllp_stall: n(20),
            longest_dllp_stall: n(30),
            dllp_at_limit: n(0),
            reset: n(0),
        }
    }
}

impl harness::Weights<Dll> for Weights {
    const BENCH: &'static str = "clean";

    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let none = || LinkFaults::NONE;
        let lossy =
            || LinkFaults { lost: n(8), damaged: n(5), again: n(3), delayed: n(8), ..none() };
        let scenario = Scenario::new;
        vec![
            scenario(
                "clean",
                "a link without losses or stalls",
                Weights { link_stall: n(0), dllp_stall: n(0), ..base() },
            ),
            scenario(
                "lossy",
                "losses, damage, second copies and uneven delays both ways",
                Weights { tlps: lossy(), acks: lossy(), naks: lossy(), ..base() },
            ),
            scenario(
                "burst",
                "many TLPs at once, then pauses; losses come in bursts, too",
                Weights {
                    tlps_per_packet: Span::new(1, 40),
                    gap: n(80),
                    longest_gap: n(120),
                    tlps: LinkFaults {
                        blackout: n(1),
                        blackout_length: Span::new(2, 12),
                        ..none()
                    },
                    ..base()
                },
            ),
            scenario(
                "acks-lost",
                "half of the Acks do not arrive",
                Weights { acks: LinkFaults { lost: n(45), damaged: n(5), ..none() }, ..base() },
            ),
            scenario(
                "naks-lost",
                "a tenth of the TLPs are spoiled and most Naks do not arrive",
                Weights {
                    tlps: LinkFaults { lost: n(5), damaged: n(5), ..none() },
                    acks: LinkFaults { lost: n(15), ..none() },
                    naks: LinkFaults { lost: n(50), damaged: n(30), ..none() },
                    ..base()
                },
            ),
            scenario(
                "rollover",
                "enough TLPs that the sequence numbers roll over two or three times",
                Weights {
                    tlps_per_packet: Span::new(128, 192),
                    gap: n(5),
                    tlps: LinkFaults { lost: n(1), damaged: n(1), again: n(1), ..none() },
                    acks: LinkFaults { lost: n(2), delayed: n(4), ..none() },
                    naks: LinkFaults { lost: n(10), ..none() },
                    // An Ack that comes after the timeout overtakes a replay.
                    longest_delay: n(90),
                    link_stall: n(3),
                    dllp_stall: n(0),
                    ..base()
                },
            ),
            scenario(
                "full-buffer",
                "a slow way back: the replay buffer is full most of the time",
                Weights {
                    tlps_per_packet: Span::new(2, 8),
                    gap: n(0),
                    dllp_delay: Span::new(10, 60),
                    dllp_stall: n(60),
                    longest_dllp_stall: n(60),
                    tlps: LinkFaults { lost: n(2), damaged: n(2), ..none() },
                    ..base()
                },
            ),
            scenario(
                "timeout",
                "blackouts: A replays until it asks for retraining",
                Weights {
                    tlps: LinkFaults {
                        blackout: n(1),
                        blackout_length: Span::new(8, 80),
                        ..none()
                    },
                    acks: LinkFaults { blackout: n(5), blackout_length: Span::new(2, 8), ..none() },
                    naks: LinkFaults { lost: n(50), ..none() },
                    ..base()
                },
            ),
            scenario(
                "reset",
                "resets in mid-flight on a lossy link",
                Weights { tlps: lossy(), acks: lossy(), naks: lossy(), reset: n(15), ..base() },
            ),
            scenario(
                "heavy-loss",
                "a third to a half of everything is lost or damaged, both ways",
                Weights {
                    tlps: LinkFaults { lost: n(28), damaged: n(12), again: n(3), ..none() },
                    acks: LinkFaults { lost: n(32), damaged: n(12), delayed: n(5), ..none() },
                    naks: LinkFaults { lost: n(32), damaged: n(12), ..none() },
                    ..base()
                },
            ),
            scenario(
                "slow-link",
                "TLPs and DLLPs wait for the link, often longer than the timers run",
                Weights {
                    tlps: LinkFaults { lost: n(4), damaged: n(4), ..none() },
                    acks: LinkFaults { lost: n(25), ..none() },
                    naks: LinkFaults { lost: n(40), ..none() },
                    link_stall: n(30),
                    longest_link_stall: n(150),
                    dllp_stall: n(40),
                    longest_dllp_stall: n(200),
                    ..base()
                },
            ),
            scenario(
                "at-the-limit",
                "DLLPs of all kinds that arrive about when A's timer expires",
                Weights {
                    tlps: LinkFaults { lost: n(10), damaged: n(25), ..none() },
                    acks: LinkFaults { lost: n(5), damaged: n(20), again: n(10), ..none() },
                    naks: LinkFaults { damaged: n(20), again: n(10), ..none() },
                    longest_delay: n(20),
                    link_stall: n(0),
                    dllp_stall: n(0),
                    dllp_at_limit: n(70),
                    tlps_per_packet: Span::new(1, 8),
                    ..base()
                },
            ),
            scenario(
                "echo",
                "most Acks and Naks arrive twice, the second copy out of order, on a link with \
                 much damage",
                Weights {
                    tlps: LinkFaults {
                        lost: n(8),
                        damaged: n(8),
                        again: n(15),
                        delayed: n(10),
                        ..none()
                    },
                    acks: LinkFaults {
                        lost: n(20),
                        damaged: n(10),
                        again: n(60),
                        delayed: n(20),
                        ..none()
                    },
                    naks: LinkFaults {
                        lost: n(20),
                        damaged: n(10),
                        again: n(60),
                        delayed: n(20),
                        ..none()
                    },
                    tlps_per_packet: Span::new(1, 8),
                    gap: n(80),
                    longest_gap: n(6),
                    longest_delay: n(250),
                    link_stall: n(25),
                    longest_link_stall: n(30),
                    dllp_stall: n(30),
                    longest_dllp_stall: n(150),
                    ..base()
                },
            ),
            scenario(
                "rollover-trouble",
                "losses, blackouts and resets where the sequence numbers roll over",
                Weights {
                    untroubled_tlps: Span::new(4080, 4094),
                    tlps: LinkFaults {
                        blackout: n(1),
                        blackout_length: Span::new(4, 40),
                        ..lossy()
                    },
                    acks: LinkFaults { lost: n(20), again: n(30), ..lossy() },
                    naks: LinkFaults { lost: n(30), again: n(30), ..lossy() },
                    longest_delay: n(90),
                    link_stall: n(0),
                    longest_dllp_stall: n(200),
                    reset: n(2),
                    ..base()
                },
            ),
            scenario(
                "chaos",
                "unconstrained random stimulus, no protocol",
                Weights { raw_cycles_per_packet: n(16), ..base() },
            ),
        ]
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, parameters, packets, rng)
    }

    fn raw_pins(
        &self,
        parameters: &Parameters,
        packets: u32,
        rng: &mut CaseRng,
    ) -> Option<Vec<Inputs>> {
        let cycles = self.raw_cycles_per_packet.get() as u32 * packets;
        (cycles > 0).then(|| chaos::cycles(cycles, parameters, rng))
    }
}
