//! Scenarios: named weights for the generator. What is drawn for a block inside has that block's weights.

use super::rtl::Inputs;
use super::stimulus::Traffic;
use super::{Rx, chaos, generator};
use crate::blocks::dll::scenarios::{LinkFaults, Weights as Link};
use crate::blocks::qp::scenarios::Weights as Software;
use crate::blocks::recv::scenarios::Weights as Receive;
use crate::blocks::thread2::scenarios::{Operations, Services, Weights as Requests};
use cosim_core::harness::{
    self, CaseRng, Checked, Parameters, Percent, Scenario, Span, checked, percent,
};
use cosim_core::value::Uint;
use serde::{Deserialize, Serialize};

/// What a scenario draws.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw pins: cycles for each packet; 0 for traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// Packets that are for QPs; the others are for the message layer.
    #[serde(deserialize_with = "percent")]
    pub requests_share: Percent,
    /// What QPs get, and what surrounds thread2.
    #[serde(deserialize_with = "checked")]
    pub requests: Requests,
    /// Request packets that cannot be executed, where nothing is lost by it.
    #[serde(deserialize_with = "percent")]
    pub errors: Percent,
    /// Messages, and what surrounds recv.
    #[serde(deserialize_with = "checked")]
    pub receive: Receive,
    /// The link; how many TLPs there are is not drawn here.
    #[serde(deserialize_with = "checked")]
    pub link: Link,
    /// What happens to QPs after they were opened.
    #[serde(deserialize_with = "checked")]
    pub software: Software,
    /// Steps of software for a hundred packets.
    pub steps: Uint<12>,
    /// QPs that are not opened far enough to take packets.
    #[serde(deserialize_with = "percent")]
    pub closed: Percent,
    /// Chance that requests do not wait until their QPs are open.
    #[serde(deserialize_with = "percent")]
    pub early: Percent,
    /// Steps after which a QP is opened again.
    #[serde(deserialize_with = "percent")]
    pub reopen: Percent,
    /// Heads of the FIFO whose context or lengths come late.
    #[serde(deserialize_with = "percent")]
    pub fetch_wait: Percent,
    /// Their longest wait in cycles.
    pub longest_fetch_wait: Uint<12>,
}

impl Checked for Weights {}

const fn n<const WIDTH: u32>(value: u64) -> Uint<WIDTH> {
    Uint::new(value)
}

/// A link without losses or stalls that carries one TLP for each packet.
fn clean() -> Link {
    Link {
        tlps_per_packet: Span::new(1, 1),
        link_stall: n(0),
        dllp_stall: n(0),
        tlp_delay: Span::new(0, 4),
        dllp_delay: Span::new(0, 4),
        ..Link::default()
    }
}

/// Losses, damage, second copies and uneven delays both ways.
fn lossy() -> Link {
    let mishaps = || LinkFaults {
        lost: n(8),
        damaged: n(6),
        again: n(3),
        delayed: n(6),
        ..LinkFaults::default()
    };
    Link {
        tlps: mishaps(),
        acks: mishaps(),
        naks: mishaps(),
        link_stall: n(10),
        dllp_stall: n(20),
        longest_dllp_stall: n(20),
        ..clean()
    }
}

/// Requests of which most things are drawn, for QPs that qp keeps the states of.
fn requests() -> Requests {
    Requests {
        qps: Span::new(1, 4),
        payload: Span::new(1, 256),
        idle_qp: n(0),
        ..Requests::default()
    }
}

fn quiet() -> Software {
    Software {
        gap: n(70),
        longest_gap: n(40),
        commands: n(40),
        onward: n(90),
        events: n(25),
        fatal: n(4),
        packets: n(0),
        query: n(30),
        ..Software::default()
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            requests_share: n(50),
            requests: requests(),
            errors: n(8),
            receive: Receive::default(),
            link: clean(),
            software: quiet(),
            steps: n(20),
            closed: n(8),
            early: n(15),
            reopen: n(5),
            fetch_wait: n(20),
            longest_fetch_wait: n(5),
        }
    }
}

impl harness::Weights<Rx> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let scenario = Scenario::new;
        vec![
            scenario(
                "plain",
                "open QPs and messages, no stalls or faults",
                Weights {
                    errors: n(0),
                    steps: n(0),
                    closed: n(0),
                    early: n(0),
                    fetch_wait: n(0),
                    requests: Requests { gap: n(0), stall: n(0), short_wqe: n(0), ..requests() },
                    ..base()
                },
            ),
            scenario("default", "mixed traffic on a lossless link", base()),
            scenario(
                "lossy",
                "losses, damage, second copies and uneven delays both ways",
                Weights { link: lossy(), ..base() },
            ),
            scenario(
                "heavy-loss",
                "a third of everything on the link is lost or damaged",
                Weights {
                    link: Link {
                        tlps: LinkFaults { lost: n(22), damaged: n(12), ..LinkFaults::default() },
                        acks: LinkFaults { lost: n(25), damaged: n(8), ..LinkFaults::default() },
                        naks: LinkFaults { lost: n(25), damaged: n(8), ..LinkFaults::default() },
                        ..clean()
                    },
                    ..base()
                },
            ),
            scenario(
                "requests",
                "packets for QPs alone, most of them in messages of several",
                Weights {
                    requests_share: n(100),
                    requests: Requests {
                        operations: Operations { long_send: n(8), ..Operations::default() },
                        gap: n(5),
                        stall: n(10),
                        ..requests()
                    },
                    ..base()
                },
            ),
            scenario(
                "messages",
                "packets for the message layer alone",
                Weights { requests_share: n(0), steps: n(5), ..base() },
            ),
            scenario(
                "qp-states",
                "QPs come and go while packets arrive for them",
                Weights {
                    requests_share: n(90),
                    requests: Requests {
                        operations: Operations { long_send: n(0), ..Operations::default() },
                        payload: Span::new(1, 64),
                        units: Span::new(1, 2),
                        gap: n(10),
                        ..requests()
                    },
                    errors: n(25),
                    steps: n(150),
                    software: Software {
                        gap: n(60),
                        longest_gap: n(16),
                        commands: n(60),
                        events: n(35),
                        fatal: n(8),
                        ..quiet()
                    },
                    closed: n(30),
                    early: n(70),
                    reopen: n(15),
                    ..base()
                },
            ),
            scenario(
                "establish",
                "QPs in RTR whose first packet arrives during commands and hardware events",
                Weights {
                    requests_share: n(95),
                    requests: Requests {
                        qps: Span::new(6, 16),
                        operations: Operations { long_send: n(1), ..Operations::default() },
                        services: Services { rc: n(6), uc: n(3), ..Services::default() },
                        payload: Span::new(1, 32),
                        units: Span::new(1, 2),
                        gap: n(0),
                        stall: n(5),
                        ..requests()
                    },
                    errors: n(20),
                    steps: n(100),
                    software: Software {
                        gap: n(50),
                        longest_gap: n(8),
                        evt_stall: n(50),
                        longest_evt_stall: n(120),
                        events: n(60),
                        fatal: n(40),
                        ..quiet()
                    },
                    early: n(50),
                    reopen: n(25),
                    ..base()
                },
            ),
            scenario(
                "length-errors",
                "WQEs too short for their messages, on reopened QPs",
                Weights {
                    requests_share: n(85),
                    requests: Requests {
                        operations: Operations { send: n(8), ..Operations::default() },
                        short_wqe: n(60),
                        payload: Span::new(1, 64),
                        units: Span::new(1, 3),
                        solicited: n(50),
                        ..requests()
                    },
                    steps: n(60),
                    software: Software { evt_stall: n(60), longest_evt_stall: n(60), ..quiet() },
                    reopen: n(60),
                    ..base()
                },
            ),
            scenario(
                "two-events",
                "first packets and length errors that wait for qp at once, since its event queue is read slowly",
                Weights {
                    requests_share: n(98),
                    requests: Requests {
                        qps: Span::new(12, 24),
                        operations: Operations {
                            send: n(8),
                            long_send: n(0),
                            write: n(0),
                            long_write: n(0),
                            read: n(0),
                            unknown: n(0),
                        },
                        services: Services {
                            rc: n(6),
                            uc: n(3),
                            rd: n(2),
                            ud: n(0),
                            xrc: n(2),
                            cnp: n(0),
                            reserved: n(0),
                        },
                        short_wqe: n(60),
                        payload: Span::new(1, 64),
                        units: Span::new(1, 3),
                        gap: n(0),
                        solicited: n(50),
                        ..requests()
                    },
                    errors: n(25),
                    steps: n(100),
                    software: Software {
                        gap: n(20),
                        longest_gap: n(5),
                        commands: n(80),
                        events: n(80),
                        fatal: n(10),
                        evt_stall: n(100),
                        longest_evt_stall: n(250),
                        ..quiet()
                    },
                    early: n(20),
                    reopen: n(50),
                    ..base()
                },
            ),
            scenario(
                "owed",
                "events that qp cannot take: of first packets and of short WQEs, and resets meanwhile",
                Weights {
                    requests_share: n(95),
                    requests: Requests {
                        qps: Span::new(24, 48),
                        operations: Operations {
                            send: n(12),
                            long_send: n(0),
                            ..Operations::default()
                        },
                        services: Services { rc: n(6), uc: n(3), ..Services::default() },
                        payload: Span::new(1, 16),
                        units: Span::new(1, 2),
                        short_wqe: n(70),
                        gap: n(40),
                        stall: n(0),
                        reset: n(1),
                        ..requests()
                    },
                    errors: n(10),
                    steps: n(100),
                    software: Software {
                        gap: n(20),
                        longest_gap: n(4),
                        evt_stall: n(40),
                        longest_evt_stall: n(1000),
                        commands: n(20),
                        events: n(70),
                        fatal: n(70),
                        ..quiet()
                    },
                    closed: n(0),
                    early: n(20),
                    reopen: n(20),
                    fetch_wait: n(0),
                    ..base()
                },
            ),
            scenario(
                "restless",
                "commands and events from outside that change or vanish while they wait",
                Weights {
                    requests_share: n(80),
                    steps: n(100),
                    software: Software {
                        gap: n(10),
                        longest_gap: n(4),
                        instead: n(50),
                        evt_stall: n(60),
                        longest_evt_stall: n(200),
                        events: n(70),
                        fatal: n(60),
                        ..quiet()
                    },
                    reopen: n(20),
                    ..base()
                },
            ),
            scenario(
                "strays",
                "packets that do not fit in pending messages, so that many queue up",
                Weights {
                    requests_share: n(0),
                    steps: n(0),
                    receive: Receive {
                        gap: n(0),
                        control: n(5),
                        wrong: n(10),
                        rendezvous: n(5),
                        posted: n(5),
                        single: n(5),
                        data: Span::new(3, 12),
                        strays: n(70),
                        match_wait: n(90),
                        longest_match_wait: n(60),
                        pool: Span::new(20, 60),
                        read: n(0),
                        ..Receive::default()
                    },
                    fetch_wait: n(0),
                    ..base()
                },
            ),
            scenario(
                "back-pressure",
                "thread2, recv and the fetches make packets wait, so that credits run out",
                Weights {
                    requests: Requests {
                        gap: n(0),
                        stall: n(60),
                        longest_stall: n(20),
                        ..requests()
                    },
                    receive: Receive {
                        gap: n(0),
                        match_wait: n(70),
                        longest_match_wait: n(40),
                        done_wait: n(70),
                        longest_done_wait: n(40),
                        read: n(80),
                        longest_read: n(60),
                        pool: Span::new(0, 6),
                        ..Receive::default()
                    },
                    fetch_wait: n(60),
                    longest_fetch_wait: n(30),
                    ..base()
                },
            ),
            scenario(
                "reset",
                "resets in mid-flight, from every side, on a lossy link",
                Weights {
                    requests: Requests { reset: n(5), ..requests() },
                    receive: Receive { reset: n(6), ..Receive::default() },
                    software: Software { reset: n(4), ..quiet() },
                    link: lossy(),
                    steps: n(60),
                    reopen: n(60),
                    early: n(60),
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
