//! Scenarios: named weights for the generator.

use super::rtl::Inputs;
use super::stimulus::Traffic;
use super::{Recv, chaos, generator};
use cosim_core::harness::{self, CaseRng, Checked, Parameters, Percent, Scenario, Span, percent};
use cosim_core::value::{Uint, n};
use serde::{Deserialize, Serialize};

/// What a scenario draws. Chances are of one message each, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw pins: cycles for each packet; 0 for traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// Chance of a gap before a packet.
    #[serde(deserialize_with = "percent")]
    pub gap: Percent,
    /// Longest gap in cycles.
    pub longest_gap: Uint<12>,
    /// Control traffic: flow, rndv_rts, rndv_cts, short.
    #[serde(deserialize_with = "percent")]
    pub control: Percent,
    /// Of the others, packets that are no control packets.
    #[serde(deserialize_with = "percent")]
    pub wrong: Percent,
    /// Of the others, messages with rendezvous data; the rest is eager.
    #[serde(deserialize_with = "percent")]
    pub rendezvous: Percent,
    /// Eager messages whose receive is posted.
    #[serde(deserialize_with = "percent")]
    pub posted: Percent,
    /// Messages of one packet.
    #[serde(deserialize_with = "percent")]
    pub single: Percent,
    /// DPs of the others.
    pub data: Span<12, 1>,
    /// 1: so many also if the case gets longer by it than it was to be.
    pub beyond: Uint<1>,
    /// Chance that DPs follow one another without gaps.
    #[serde(deserialize_with = "percent")]
    pub bursts: Percent,
    /// Chance of a packet that does not fit before the DPs of an unexpected message.
    #[serde(deserialize_with = "percent")]
    pub strays: Percent,
    /// Chance that the answer about a posted receive is late.
    #[serde(deserialize_with = "percent")]
    pub match_wait: Percent,
    /// Its longest wait in cycles.
    pub longest_match_wait: Uint<12>,
    /// Temporary buffers that are granted.
    #[serde(deserialize_with = "percent")]
    pub temp_ok: Percent,
    /// Chance that a posted receive is finished late.
    #[serde(deserialize_with = "percent")]
    pub done_wait: Percent,
    /// Its longest wait in cycles.
    pub longest_done_wait: Uint<12>,
    /// Free buffers at the beginning.
    pub pool: Span<8>,
    /// Chance that a credit waits.
    #[serde(deserialize_with = "percent")]
    pub credit_stall: Percent,
    /// Its longest wait in cycles.
    pub longest_credit_stall: Uint<12>,
    /// Chance that a kept packet is read late.
    #[serde(deserialize_with = "percent")]
    pub read: Percent,
    /// The longest time until it is read, in cycles.
    pub longest_read: Uint<12>,
    /// Messages followed by a reset.
    #[serde(deserialize_with = "percent")]
    pub reset: Percent,
}

impl Checked for Weights {}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            gap: n(20),
            longest_gap: n(5),
            control: n(15),
            wrong: n(5),
            rendezvous: n(20),
            posted: n(40),
            single: n(35),
            data: Span::new(1, 8),
            beyond: n(0),
            bursts: n(40),
            strays: n(5),
            match_wait: n(30),
            longest_match_wait: n(6),
            temp_ok: n(70),
            done_wait: n(50),
            longest_done_wait: n(6),
            pool: Span::new(0, 24),
            credit_stall: n(30),
            longest_credit_stall: n(12),
            read: n(30),
            longest_read: n(20),
            reset: n(0),
        }
    }
}

impl harness::Weights<Recv> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let scenario = Scenario::new;
        vec![
            scenario("default", "a little of everything", base()),
            scenario(
                "posted",
                "eager messages whose receive is posted, finished at once and late",
                Weights { control: n(5), rendezvous: n(0), posted: n(95), ..base() },
            ),
            scenario(
                "unexpected",
                "unexpected eager messages",
                Weights { control: n(5), rendezvous: n(0), posted: n(0), gap: n(30), ..base() },
            ),
            scenario(
                "rendezvous",
                "rendezvous data, mostly several DPs at a time",
                Weights { rendezvous: n(90), bursts: n(70), single: n(20), ..base() },
            ),
            scenario(
                "control",
                "flow, rndv_rts, rndv_cts and short packets, one after the other",
                Weights { control: n(85), gap: n(10), ..base() },
            ),
            scenario(
                "copy-or-keep",
                "a pool around the number below which is copied, and temporary buffers that may be had",
                Weights {
                    control: n(5),
                    rendezvous: n(5),
                    posted: n(10),
                    temp_ok: n(60),
                    pool: Span::new(0, 60),
                    read: n(60),
                    longest_read: n(40),
                    ..base()
                },
            ),
            scenario(
                "empty-pool",
                "buffers that come late, so that the ring runs empty",
                Weights {
                    gap: n(2),
                    posted: n(20),
                    temp_ok: n(20),
                    data: Span::new(4, 40),
                    bursts: n(90),
                    pool: Span::new(0, 3),
                    read: n(85),
                    longest_read: n(60),
                    ..base()
                },
            ),
            scenario(
                "scarce",
                "long messages while credits wait until the next one would be too large, and not much longer",
                Weights {
                    gap: n(5),
                    longest_gap: n(4),
                    control: n(30),
                    wrong: n(1),
                    rendezvous: n(50),
                    posted: n(40),
                    single: n(30),
                    data: Span::new(100, 480),
                    beyond: n(1),
                    bursts: n(97),
                    strays: n(1),
                    temp_ok: n(30),
                    pool: Span::new(0, 60),
                    credit_stall: n(75),
                    longest_credit_stall: n(420),
                    read: n(50),
                    longest_read: n(7),
                    ..base()
                },
            ),
            scenario(
                "blocked",
                "kept packets of which one is read late, then the others at once",
                Weights {
                    gap: n(15),
                    longest_gap: n(60),
                    control: n(40),
                    wrong: n(1),
                    rendezvous: n(10),
                    posted: n(20),
                    single: n(20),
                    data: Span::new(1, 320),
                    beyond: n(1),
                    bursts: n(90),
                    strays: n(1),
                    temp_ok: n(0),
                    pool: Span::new(0, 18),
                    credit_stall: n(5),
                    read: n(4),
                    longest_read: n(600),
                    ..base()
                },
            ),
            scenario(
                "wrong-kinds",
                "packets that do not fit, by themselves and inside of messages",
                Weights { wrong: n(40), posted: n(25), strays: n(50), bursts: n(10), ..base() },
            ),
            scenario(
                "long",
                "messages of hundreds of packets, without credits taken or packets read",
                Weights {
                    gap: n(1),
                    control: n(2),
                    wrong: n(2),
                    rendezvous: n(50),
                    single: n(5),
                    data: Span::new(30, 600),
                    beyond: n(1),
                    bursts: n(98),
                    strays: n(1),
                    pool: Span::new(0, 255),
                    credit_stall: n(60),
                    longest_credit_stall: n(900),
                    read: n(20),
                    longest_read: n(300),
                    ..base()
                },
            ),
            scenario(
                "stalls",
                "everything waits for everything: packets, answers, credits, buffers",
                Weights {
                    gap: n(60),
                    longest_gap: n(20),
                    match_wait: n(80),
                    longest_match_wait: n(25),
                    done_wait: n(80),
                    longest_done_wait: n(25),
                    credit_stall: n(80),
                    longest_credit_stall: n(40),
                    read: n(80),
                    longest_read: n(40),
                    ..base()
                },
            ),
            scenario(
                "reset",
                "resets in every state",
                Weights { reset: n(30), credit_stall: n(60), ..base() },
            ),
            scenario(
                "chaos",
                "unconstrained random stimulus, no protocol",
                Weights { raw_cycles_per_packet: n(12), ..base() },
            ),
        ]
    }

    fn traffic(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, packets, rng)
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
