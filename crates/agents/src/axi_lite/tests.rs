//! AXI4-Lite: every rule fires on cycles written from the specification, and a manager and a
//! subordinate that are connected move the right data.

use super::coverage::{GROUPS, Hits};
use super::*;
use crate::agent::{Agent, AgentTraffic, AgentWeights};
use crate::memory_check::MemoryCheck;
use crate::target::{Access, Memory, Response, Target};
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, ResetTimer};
use std::collections::BTreeSet;

pins!(M {
    s_awvalid: 1 u8, s_awaddr: 12 u16, s_awprot: 3 u8, s_wvalid: 1 u8, s_wdata: 32 u32,
    s_wstrb: 4 u8, s_bready: 1 u8, s_arvalid: 1 u8, s_araddr: 12 u16, s_rready: 1 u8,
});
pins!(S {
    s_awready: 1 u8, s_wready: 1 u8, s_bvalid: 1 u8, s_bresp: 2 u8, s_arready: 1 u8,
    s_rvalid: 1 u8, s_rdata: 32 u32, s_rresp: 2 u8,
});

const PINS: AxiLitePins<M, S> = AxiLitePins::of("s_");

type Monitor = AxiLiteMonitor<M, S>;

/// The pins of a cycle: those of `names` are 1, and `bresp` and `rresp` have a value after `=`.
fn cycle(names: &str) -> (bool, M, S) {
    let (mut m, mut s, mut in_reset) = (M::default(), S::default(), false);
    for name in names.split_whitespace() {
        let (name, value) = name.split_once('=').unwrap_or((name, "1"));
        let value = value.parse().unwrap();
        match name {
            "reset" => in_reset = true,
            _ => match (Pin::<M>::find("s_", name), Pin::<S>::find("s_", name)) {
                (Some(pin), _) => pin.set(&mut m, value),
                (_, Some(pin)) => pin.set(&mut s, value),
                _ => panic!("no pin {name}"),
            },
        }
    }
    (in_reset, m, s)
}

/// The check that fails in the last of some cycles, which `|` separates; those before are legal.
fn broken(cycles: &str) -> Option<String> {
    let mut monitor = Monitor::new(PINS);
    let all: Vec<&str> = cycles.split('|').collect();
    for (index, names) in all.iter().enumerate() {
        let (in_reset, m, s) = cycle(names);
        match monitor.observe(in_reset, &m, &s) {
            Ok(_) => {}
            Err(violation) if index + 1 == all.len() => return Some(violation.check),
            Err(violation) => panic!("{names} of {cycles}: {violation:?}"),
        }
    }
    monitor.finish().err().map(|violation| violation.check)
}

const WRITE: &str = "awvalid awready wvalid wready";
const READ: &str = "arvalid arready";

#[test]
fn each_rule_fires() {
    let cases = [
        // "Handshake process": valid remains asserted until the handshake.
        ("awvalid|", "axi-lite-awvalid-held"),
        ("wvalid|", "axi-lite-wvalid-held"),
        ("arvalid|", "axi-lite-arvalid-held"),
        (&format!("{WRITE}|bvalid|"), "axi-lite-bvalid-held"),
        (&format!("{READ}|rvalid|"), "axi-lite-rvalid-held"),
        // "Handshake process": the payload is stable until the handshake.
        ("awvalid awaddr=4|awvalid awready awaddr=8", "axi-lite-aw-payload-held"),
        ("wvalid wdata=1|wvalid wdata=2", "axi-lite-w-payload-held"),
        ("wvalid wstrb=1|wvalid wready wstrb=2", "axi-lite-w-payload-held"),
        ("arvalid araddr=4|arvalid", "axi-lite-ar-payload-held"),
        (&format!("{WRITE}|bvalid|bvalid bresp=2 bready"), "axi-lite-b-payload-held"),
        (&format!("{READ}|rvalid rdata=1|rvalid rdata=2"), "axi-lite-r-payload-held"),
        // "Reset": valids are low in reset.
        ("reset|reset awvalid", "axi-lite-awvalid-in-reset"),
        ("reset|reset wvalid", "axi-lite-wvalid-in-reset"),
        ("reset|reset arvalid", "axi-lite-arvalid-in-reset"),
        ("reset|reset bvalid", "axi-lite-bvalid-in-reset"),
        ("reset|reset rvalid", "axi-lite-rvalid-in-reset"),
        ("reset|awvalid", "axi-lite-awvalid-after-reset"),
        ("reset|wvalid", "axi-lite-wvalid-after-reset"),
        ("reset|arvalid", "axi-lite-arvalid-after-reset"),
        // "Dependencies between channel handshake signals": responses follow address and data.
        ("awvalid awready|bvalid", Monitor::B_WITHOUT_WRITE),
        ("wvalid wready|bvalid", Monitor::B_WITHOUT_WRITE),
        ("awvalid awready wvalid wready bvalid", Monitor::B_WITHOUT_WRITE),
        (&format!("{WRITE}|bvalid bready|bvalid"), Monitor::B_WITHOUT_WRITE),
        ("arvalid|arvalid rvalid", Monitor::R_WITHOUT_READ),
        ("arvalid arready rvalid rready", Monitor::R_WITHOUT_READ),
        (&format!("{READ}|reset|rvalid"), Monitor::R_WITHOUT_READ),
        // "Definition of AXI4-Lite": no EXOKAY.
        (&format!("{WRITE}|bvalid bresp=1"), Monitor::B_EXOKAY),
        (&format!("{READ}|rvalid rresp=1"), Monitor::R_EXOKAY),
        // "Dependencies between channel handshake signals": each operation has a response.
        (WRITE, Monitor::B_MISSING),
        (READ, Monitor::R_MISSING),
    ];
    let mut fired = BTreeSet::new();
    for (cycles, check) in cases {
        assert_eq!(broken(cycles).as_deref(), Some(check), "{cycles}");
        fired.insert(check);
    }
    let all = [Monitor::MANAGER_CHECKS, Monitor::SUBORDINATE_CHECKS].concat();
    assert_eq!(fired, all.into_iter().collect(), "each declared check has a case");
}

#[test]
fn legal_cycles_pass() {
    for cycles in [
        "",
        // Data before address, and address before data.
        "wvalid wready|awvalid awready|bvalid|bvalid bready",
        "awvalid|awvalid awready|wvalid|wvalid wready|bvalid bready bresp=3",
        // Responses of two writes in a row, while the third one is taken.
        "awvalid awready wvalid wready|awvalid awready wvalid wready bvalid bready|bvalid bready",
        "arvalid arready|arvalid arready rvalid rready rresp=2|rvalid|rvalid rready",
        // A ready may fall without a valid ("Handshake process"), and a reset ends everything.
        "awready|wready|awvalid|reset awvalid|reset|",
    ] {
        assert_eq!(broken(cycles), None, "{cycles}");
    }
}

/// The result of a run of a manager and a subordinate.
#[derive(Default)]
struct Run {
    writes: Vec<AxiLiteWrite>,
    reads: Vec<AxiLiteRead>,
    cycles: u64,
}

fn run<T: Target>(traffic: &AxiLiteTraffic, answers: &AxiLiteSubordinateTraffic, target: T) -> Run {
    let mut manager = AxiLiteManager::new(PINS, traffic);
    let mut subordinate = AxiLiteSubordinate::<S, M, T>::with_target(PINS, answers, target);
    let (mut monitor, mut memory) = (Monitor::new(PINS), MemoryCheck::new("data"));
    let (mut noise, mut reset) = (Noise::new(7), ResetTimer::default());
    let (mut m, mut s, mut run) = (M::default(), S::default(), Run::default());
    while !(manager.is_idle() && reset.is_over()) {
        let in_reset = reset.asserted() || run.cycles == 0;
        manager.drive(in_reset, &mut noise, &mut m);
        subordinate.drive(in_reset, &mut noise, &mut s);
        let events = monitor.observe(in_reset, &m, &s).unwrap();
        if in_reset {
            memory.reset();
        }
        memory.axi_lite(0, &monitor, &events).unwrap();
        run.writes.extend(events.write);
        run.reads.extend(events.read);
        if let Some(start) = manager.clock(in_reset, &m, &s).reset {
            reset.start(start);
        }
        subordinate.clock(in_reset, &s, &m);
        reset.clock();
        run.cycles += 1;
        assert!(run.cycles < 100_000, "{:?}", manager.in_flight());
    }
    monitor.finish().unwrap();
    run
}

fn draw(
    seed: u64,
    weights: &AxiLiteWeights,
    reset: u64,
) -> (AxiLiteTraffic, AxiLiteSubordinateTraffic) {
    let rng = &mut rng(seed);
    let reset = Percent::new(reset);
    let traffic = AxiLiteTraffic::draw(weights, &PINS, 60, reset, rng);
    let weights = AxiLiteSubordinateWeights::default();
    (traffic, AxiLiteSubordinateTraffic::draw(&weights, &PINS, 60, reset, rng))
}

#[test]
fn random_traffic_reads_what_was_written() {
    for seed in 0..100 {
        let reset = if seed % 2 == 0 { 0 } else { 10 };
        let (traffic, answers) = draw(seed, &AxiLiteWeights::default(), reset);
        assert_eq!(traffic.check(), Ok(()));
        let run = run(&traffic, &answers, Memory::default());
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<AxiLiteTraffic>(&text).unwrap(), traffic);
        if reset == 0 {
            // Each kind is in order, and nothing is lost.
            let writes = traffic.operations.iter().filter_map(|operation| match operation.access {
                AxiLiteAccess::Write { address, data, strobe, .. } => {
                    Some((address.get(), data.get(), strobe.get()))
                }
                AxiLiteAccess::Read { .. } => None,
            });
            let seen = run.writes.iter().map(|write| (write.address, write.data, write.strobe));
            assert!(writes.eq(seen), "seed {seed}");
            assert_eq!(run.writes.len() + run.reads.len(), traffic.operations.len());
        }
    }
}

#[test]
fn a_fence_orders_a_read_behind_a_write() {
    let operation = |access| AxiLiteOperation {
        gap: Uint::new(0),
        fence: true,
        access,
        prot: Uint::new(0),
        reset: None,
    };
    let address = Uint::new(0x14);
    let write = AxiLiteAccess::Write {
        address,
        data: Uint::new(0xdead_beef),
        strobe: Uint::new(0b0110),
        address_delay: Uint::new(0),
        data_delay: Uint::new(3),
    };
    let operations = vec![operation(write), operation(AxiLiteAccess::Read { address })];
    let traffic = AxiLiteTraffic { operations, ..AxiLiteTraffic::default() };
    let run = run(&traffic, &AxiLiteSubordinateTraffic::default(), Memory::default());
    assert_eq!(run.reads[0].to_string(), "read 0xadbe00 from 0x14: OKAY");
    assert_eq!(run.writes[0].to_string(), "write 0xdeadbeef strobe 0x6 to 0x14: OKAY");
}

#[test]
fn a_closure_answers_and_its_response_arrives() {
    let (traffic, answers) = draw(3, &AxiLiteWeights::default(), 0);
    let target = |access: Access<'_>| match access {
        Access::Write { .. } => Response::Error,
        Access::Read { data, .. } => {
            data.copy_from_slice(&[1, 2, 3, 4]);
            Response::DecodeError
        }
    };
    let mut manager = AxiLiteManager::<M, S>::new(PINS, &traffic);
    let mut subordinate = AxiLiteSubordinate::<S, M, _>::with_target(PINS, &answers, target);
    let (mut monitor, mut noise) = (Monitor::new(PINS), Noise::new(1));
    let (mut m, mut s) = (M::default(), S::default());
    let mut responses = BTreeSet::new();
    while !manager.is_idle() {
        manager.drive(false, &mut noise, &mut m);
        subordinate.drive(false, &mut noise, &mut s);
        let events = monitor.observe(false, &m, &s).unwrap();
        responses.extend(events.write.map(|write| (write.response, 0)));
        responses.extend(events.read.map(|read| (read.response, read.data)));
        manager.clock(false, &m, &s);
        subordinate.clock(false, &s, &m);
    }
    let expected = [(AxiResponse::SlvErr, 0), (AxiResponse::DecErr, 0x0403_0201)];
    assert_eq!(responses, expected.into_iter().collect());
}

#[test]
fn a_full_speed_manager_starts_an_operation_per_cycle() {
    let pace = &crate::testing::full_speed();
    let weights = AxiLiteWeights { fence: Percent::new(0), ..AxiLiteWeights::default() };
    let (traffic, _) = draw(1, &weights.paced(pace), 0);
    let run = run(&traffic, &AxiLiteSubordinateTraffic::default(), Memory::default());
    // A cycle in reset, one after it, and the response of the last operation.
    assert_eq!(run.cycles, traffic.operations.len() as u64 + 3);
}

#[test]
fn coverage_counts_responses_and_skew() {
    let mut sampler = AxiLiteSampler::new(PINS, GROUPS, 0);
    let mut edge = |names: &str| {
        let (in_reset, m, s) = cycle(names);
        sampler.edge(in_reset, &m, &s)
    };
    assert_eq!(edge(""), Hits::default());
    let hits = edge(WRITE);
    assert_eq!((hits.skew, hits.outstanding[0]), (Some(0), Some([0, 0])));
    assert_eq!(hits.channels[0], Some([1, 0]));
    let hits = edge("awvalid awready bvalid bready");
    assert_eq!((hits.skew, hits.responses[0]), (None, Some([0, 0, 0])));
    assert_eq!(edge("wvalid wready").skew, Some(1));
    assert_eq!(edge("bvalid bready bresp=2").responses[0], Some([0, 1, 0]));
    assert_eq!(edge("wvalid wready").skew, None);
    assert_eq!(edge("awvalid awready").skew, Some(2));
}

#[test]
fn transfers_are_shown_in_words() {
    let (_, m, s) = cycle("awvalid awready awaddr=16 rvalid rready rdata=5 rresp=2");
    assert_eq!(PINS.words("s_aw", &m, &s).as_deref(), Some("write 0x10"));
    assert_eq!(PINS.words("s_r", &m, &s).as_deref(), Some("0x5 SLVERR"));
    assert_eq!(PINS.words("other", &m, &s), None);
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (traffic, answers) = draw(1, &AxiLiteWeights::default(), 5);
    runs_with_any_outputs::<M, S, AxiLiteManager<'_, M, S>>(PINS, &traffic);
    runs_with_any_outputs::<S, M, AxiLiteSubordinate<'_, S, M>>(PINS, &answers);
}
