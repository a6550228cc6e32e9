//! Scenarios: named weights for the generator.

use super::rtl::Inputs;
use super::stimulus::Traffic;
use super::{Qp, chaos, generator};
use cosim_core::harness::{self, CaseRng, Checked, Parameters, Percent, Scenario, Span, percent};
use cosim_core::value::{Uint, n};
use serde::{Deserialize, Serialize};

/// What a scenario draws. Chances are of one step each, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw pins: cycles for each packet; 0 for traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// QPs of a case.
    pub qps: Span<8, 1>,
    /// Chance that a case is about all 256 QPs, which are led into states one by one before its steps.
    #[serde(deserialize_with = "percent")]
    pub crowd: Percent,
    /// Chance of a gap before a step.
    #[serde(deserialize_with = "percent")]
    pub gap: Percent,
    /// Longest gap in cycles.
    pub longest_gap: Uint<12>,
    /// Chance that a step withdraws or changes what waits.
    #[serde(deserialize_with = "percent")]
    pub instead: Percent,
    /// Chance of a command.
    #[serde(deserialize_with = "percent")]
    pub commands: Percent,
    /// Commands that take the next step of a QP's life; the others ask for any state.
    #[serde(deserialize_with = "percent")]
    pub onward: Percent,
    /// Commands from RTS to SQD with notification.
    #[serde(deserialize_with = "percent")]
    pub notify: Percent,
    /// Other commands with notification.
    #[serde(deserialize_with = "percent")]
    pub stray_notify: Percent,
    /// Chance of an event of hardware.
    #[serde(deserialize_with = "percent")]
    pub events: Percent,
    /// Events that are fatal errors.
    #[serde(deserialize_with = "percent")]
    pub fatal: Percent,
    /// Other events that fit the state of their QP.
    #[serde(deserialize_with = "percent")]
    pub fitting: Percent,
    /// Chance of a request packet.
    #[serde(deserialize_with = "percent")]
    pub packets: Percent,
    /// Packets that cannot be executed.
    #[serde(deserialize_with = "percent")]
    pub packet_error: Percent,
    /// Events and packets for the QP that the step's command is about.
    #[serde(deserialize_with = "percent")]
    pub same_qp: Percent,
    /// Chance that another QP is asked for.
    #[serde(deserialize_with = "percent")]
    pub query: Percent,
    /// Chance that an event waits for software.
    #[serde(deserialize_with = "percent")]
    pub evt_stall: Percent,
    /// Longest wait of an event in cycles.
    pub longest_evt_stall: Uint<12>,
    /// Steps followed by a reset.
    #[serde(deserialize_with = "percent")]
    pub reset: Percent,
}

impl Checked for Weights {}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            qps: Span::new(1, 4),
            crowd: n(0),
            gap: n(10),
            longest_gap: n(4),
            instead: n(0),
            commands: n(60),
            onward: n(85),
            notify: n(50),
            stray_notify: n(3),
            events: n(30),
            fatal: n(4),
            fitting: n(80),
            packets: n(50),
            packet_error: n(30),
            same_qp: n(50),
            query: n(15),
            evt_stall: n(20),
            longest_evt_stall: n(6),
            reset: n(0),
        }
    }
}

impl harness::Weights<Qp> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let scenario = Scenario::new;
        vec![
            scenario("default", "a little of everything, on a few QPs", base()),
            scenario(
                "life-cycles",
                "commands that are legal, events that fit, packets in every state",
                Weights {
                    commands: n(80),
                    onward: n(98),
                    stray_notify: n(0),
                    fatal: n(1),
                    fitting: n(100),
                    ..base()
                },
            ),
            scenario(
                "illegal",
                "commands for any state, many with notification",
                Weights { commands: n(100), onward: n(40), stray_notify: n(25), ..base() },
            ),
            scenario(
                "drain",
                "send queues that drain, with and without notification, some twice",
                Weights {
                    qps: Span::new(1, 2),
                    onward: n(95),
                    stray_notify: n(10),
                    events: n(50),
                    fatal: n(1),
                    fitting: n(95),
                    ..base()
                },
            ),
            scenario(
                "meet",
                "an event, a command and a packet for one QP in the same cycle",
                Weights {
                    qps: Span::new(1, 2),
                    gap: n(0),
                    commands: n(90),
                    events: n(80),
                    fatal: n(8),
                    packets: n(90),
                    same_qp: n(90),
                    ..base()
                },
            ),
            scenario(
                "full-queue",
                "software takes its events so late that the queue is full; now and then a reset",
                Weights {
                    gap: n(0),
                    events: n(80),
                    fatal: n(60),
                    evt_stall: n(60),
                    longest_evt_stall: n(80),
                    reset: n(1),
                    ..base()
                },
            ),
            scenario(
                "restless",
                "a full queue, and commands and events that change or vanish while they wait",
                Weights {
                    gap: n(0),
                    instead: n(70),
                    onward: n(50),
                    commands: n(80),
                    events: n(80),
                    fatal: n(60),
                    evt_stall: n(60),
                    longest_evt_stall: n(80),
                    ..base()
                },
            ),
            scenario(
                "crowd",
                "all QPs, most of them in one state, while some live on",
                Weights { crowd: n(100), fatal: n(1), ..base() },
            ),
            scenario(
                "many-qps",
                "up to 255 QPs, each of them seldom",
                Weights { qps: Span::new(40, 255), onward: n(95), query: n(50), ..base() },
            ),
            scenario(
                "reset",
                "resets while commands, events and answers are on their way",
                Weights { reset: n(12), evt_stall: n(40), longest_evt_stall: n(20), ..base() },
            ),
            scenario(
                "chaos",
                "unconstrained random stimulus, no protocol",
                Weights { raw_cycles_per_packet: n(16), ..base() },
            ),
        ]
    }

    fn traffic(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, packets, rng)
    }

    fn raw_pins(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Option<Vec<Inputs>> {
        let cycles = self.raw_cycles_per_packet.get() as u32 * packets;
        (cycles > 0).then(|| chaos::cycles(cycles, rng))
    }
}
