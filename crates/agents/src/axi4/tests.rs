//! AXI4: every rule fires on cycles written from the specification, and a manager and a
//! subordinate that are connected move the right data.

use super::coverage::{GROUPS, Hits};
use super::*;
use crate::agent::{Agent, AgentTraffic, AgentWeights};
use crate::memory_check::MemoryCheck;
use crate::target::{Access, Memory, Response, Target};
use crate::testing::{pins, rng, runs_with_any_outputs};
use crate::wide::Wide;
use cosim_harness::harness::{Noise, Percent, ResetTimer, Traffic};
use cosim_harness::value::Uint;
use std::collections::BTreeSet;

pins!(M {
    awvalid: 1 u8, awaddr: 16 u16, awid: 2 u8, awlen: 8 u8, awsize: 3 u8, awburst: 2 u8,
    awlock: 1 u8, awcache: 4 u8, awprot: 3 u8, wvalid: 1 u8, wdata: 128 [u32; 4], wstrb: 16 u16,
    wlast: 1 u8, bready: 1 u8, arvalid: 1 u8, araddr: 16 u16, arid: 2 u8, arlen: 8 u8,
    arsize: 3 u8, arburst: 2 u8, arlock: 1 u8, arcache: 4 u8, rready: 1 u8,
});
pins!(S {
    awready: 1 u8, wready: 1 u8, bvalid: 1 u8, bid: 2 u8, bresp: 2 u8, arready: 1 u8,
    rvalid: 1 u8, rid: 2 u8, rdata: 128 [u32; 4], rresp: 2 u8, rlast: 1 u8,
});

const PINS: Axi4Pins<M, S> = Axi4Pins::of("");

type Monitor = Axi4Monitor<M, S>;

/// The pins of a cycle: those of `names` are 1, or have the value after `=`. `aw`, `w`, `b`, `ar`
/// and `r` stand for valid and ready of a channel. Bursts are INCR, of one beat of 16 bytes.
fn cycle(names: &str) -> (bool, M, S) {
    let (mut m, mut s, mut in_reset) = (M::default(), S::default(), false);
    let mut set = |name: &str, value| match (Pin::<M>::find("", name), Pin::<S>::find("", name)) {
        (Some(pin), _) => pin.set(&mut m, value),
        (_, Some(pin)) => pin.set(&mut s, value),
        _ => panic!("no pin {name}"),
    };
    for name in ["awsize=4", "arsize=4", "awburst=1", "arburst=1"] {
        let (name, value) = name.split_once('=').unwrap();
        set(name, value.parse().unwrap());
    }
    for name in names.split_whitespace() {
        let (name, value) = name.split_once('=').unwrap_or((name, "1"));
        match name {
            "reset" => in_reset = true,
            "aw" | "w" | "b" | "ar" | "r" => {
                set(&format!("{name}valid"), 1);
                set(&format!("{name}ready"), 1);
            }
            _ => set(name, value.parse().unwrap()),
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

/// A case for each rule, and the check that it breaks.
fn cases() -> Vec<(String, &'static str)> {
    let mut cases = vec![
        // "Handshake process": valid remains asserted until the handshake.
        ("awvalid|", "axi4-awvalid-held"),
        ("wvalid|", "axi4-wvalid-held"),
        ("arvalid|", "axi4-arvalid-held"),
        ("aw w wlast|bvalid|", "axi4-bvalid-held"),
        ("ar|rvalid rlast|", "axi4-rvalid-held"),
        // "Handshake process": the payload is stable until the handshake.
        ("awvalid awlen=1|awvalid awlen=2", "axi4-aw-payload-held"),
        ("awvalid awprot=1|awvalid", "axi4-aw-payload-held"),
        ("wvalid wlast|wvalid", "axi4-w-payload-held"),
        ("arvalid arid=1|arvalid arid=2", "axi4-ar-payload-held"),
        ("aw w wlast|aw w wlast bvalid bid=0|bvalid bresp=2", "axi4-b-payload-held"),
        ("ar|rvalid rlast|rvalid rlast rdata=1", "axi4-r-payload-held"),
        // "Reset": valids are low in reset.
        ("reset|reset awvalid", "axi4-awvalid-in-reset"),
        ("reset|reset wvalid", "axi4-wvalid-in-reset"),
        ("reset|reset arvalid", "axi4-arvalid-in-reset"),
        ("reset|reset bvalid", "axi4-bvalid-in-reset"),
        ("reset|reset rvalid", "axi4-rvalid-in-reset"),
        ("reset|awvalid", "axi4-awvalid-after-reset"),
        ("reset|wvalid", "axi4-wvalid-after-reset"),
        ("reset|arvalid", "axi4-arvalid-after-reset"),
        // "Address structure": the last beat; one too early, one too late, and before the address.
        ("aw awlen=1|w wlast", Monitor::W_LAST),
        ("aw awlen=1|w|w", Monitor::W_LAST),
        ("w wlast|aw awlen=1", Monitor::W_LAST),
        // "Data read and write structure": strobes outside of the lanes: narrow, unaligned, and in
        // the second beat.
        ("aw awsize=2 awaddr=4|w wlast wstrb=8", Monitor::W_STROBE),
        ("aw awsize=2 awaddr=4|w wlast wstrb=256", Monitor::W_STROBE),
        ("aw awsize=2 awaddr=6|w wlast wstrb=32", Monitor::W_STROBE),
        ("aw awsize=2 awaddr=4 awlen=1|w wstrb=240|w wlast wstrb=240", Monitor::W_STROBE),
        ("aw awlen=1|w", Monitor::W_MISSING),
        ("w wlast", Monitor::W_MISSING),
        // "Dependencies between channel handshake signals" and "Transaction ordering": responses
        // follow address and last beat, with their ID.
        ("aw|bvalid", Monitor::B_WITHOUT_WRITE),
        ("aw awlen=1|w|bvalid", Monitor::B_WITHOUT_WRITE),
        ("w wlast|bvalid", Monitor::B_WITHOUT_WRITE),
        ("aw w wlast bvalid", Monitor::B_WITHOUT_WRITE),
        ("aw w wlast awid=1|bvalid bid=2", Monitor::B_WITHOUT_WRITE),
        ("aw w wlast|b|bvalid", Monitor::B_WITHOUT_WRITE),
        ("ar rvalid", Monitor::R_WITHOUT_READ),
        ("ar arid=1|rvalid rid=2", Monitor::R_WITHOUT_READ),
        ("ar|r rlast|rvalid", Monitor::R_WITHOUT_READ),
        ("ar arlen=1|rvalid rlast", Monitor::R_LAST),
        ("ar arlen=1|r|r", Monitor::R_LAST),
        // "Exclusive accesses": EXOKAY needs an exclusive access.
        ("aw w wlast|bvalid bresp=1", Monitor::B_EXOKAY),
        ("ar|rvalid rlast rresp=1", Monitor::R_EXOKAY),
        // "Dependencies between channel handshake signals": each operation has a response.
        ("aw w wlast", Monitor::B_MISSING),
        ("ar arlen=1|r", Monitor::R_MISSING),
    ]
    .into_iter()
    .map(|(cycles, check)| (cycles.to_owned(), check))
    .collect::<Vec<_>>();
    // "Address structure" and "Memory types": the rules of addresses, on both channels.
    let addresses = [
        ("burst=3", "burst-reserved"),
        ("size=5", "size"),
        ("burst=0 len=16", "fixed-length"),
        ("burst=2 len=2", "wrap-length"),
        ("burst=2 len=0", "wrap-length"),
        ("burst=2 len=1 addr=8", "wrap-alignment"),
        ("addr=4080 len=1", "4k-boundary"),
        ("addr=8177 len=1", "4k-boundary"),
        ("lock=1", "exclusive"),
        ("cache=4", "cache-reserved"),
        ("cache=13", "cache-reserved"),
    ];
    let all = [Monitor::MANAGER_CHECKS, Monitor::SUBORDINATE_CHECKS].concat();
    for channel in ["aw", "ar"] {
        for (pins, rule) in addresses {
            let pins: Vec<_> = pins.split(' ').map(|pin| format!("{channel}{pin}")).collect();
            let name = format!("axi4-{channel}-{rule}");
            let check = all.iter().find(|check| ***check == name).unwrap();
            cases.push((format!("{channel}valid {}", pins.join(" ")), check));
        }
    }
    cases
}

#[test]
fn each_rule_fires() {
    let mut fired = BTreeSet::new();
    for (cycles, check) in cases() {
        assert_eq!(broken(&cycles).as_deref(), Some(check), "{cycles}");
        fired.insert(check);
    }
    let all = [Monitor::MANAGER_CHECKS, Monitor::SUBORDINATE_CHECKS].concat();
    assert_eq!(fired, all.into_iter().collect(), "each declared check has a case");
}

#[test]
fn legal_cycles_pass() {
    for cycles in [
        "",
        // Data before the address, and a response with an error.
        "w|w wlast|aw awlen=1|b bresp=2",
        // Responses overtake other IDs, and beats of reads alternate.
        "aw awid=1 w wlast|aw awid=2 w wlast|b bid=2|b bid=1",
        "ar arid=1 arlen=1|ar arid=2 arlen=1|r rid=2|r rid=1|r rid=1 rlast|r rid=2 rlast",
        // Narrow and unaligned beats have their lanes.
        "aw awsize=2 awaddr=6 awlen=2|w wstrb=192|w wstrb=3840|w wlast wstrb=61440|b",
        "aw awburst=2 awsize=2 awaddr=8 awlen=3|w wstrb=3840|w wstrb=61440|w wstrb=15|\
         w wlast wstrb=240|b",
        "aw awburst=0 awsize=0 awaddr=3 awlen=1|w wstrb=8|w wlast wstrb=8|b",
        // The last byte of a 4 KB page, and the longest bursts.
        "ar araddr=4080|r rlast",
        "arvalid arlen=255|ar arlen=255|reset|reset|",
        "arvalid arburst=0 arlen=15|reset arvalid|",
        "arvalid arcache=15|ar arcache=15|r rlast",
    ] {
        assert_eq!(broken(cycles), None, "{cycles}");
    }
}

/// The examples of IHI 0022, "Address structure" and "Data read and write structure": addresses and
/// lanes of beats.
#[test]
fn beats_have_the_addresses_and_lanes_of_the_specification() {
    let (_, m, _) = cycle("awvalid");
    let address = PINS.offered(&PINS.aw, &m).unwrap();
    let of = |address: Axi4Address, bus| -> Vec<(u64, u32, u32)> {
        let beat = |beat| {
            let (first, count) = address.lanes(beat, bus);
            (address.beat_address(beat), first, count)
        };
        (0..address.beats()).map(beat).collect()
    };
    // Figure A3-8: 32-bit beats on a 32-bit bus from address 0x07.
    let unaligned = Axi4Address { address: 7, len: 2, size: 2, ..address };
    assert_eq!(of(unaligned, 4), [(7, 3, 1), (8, 0, 4), (12, 0, 4)]);
    // Figure A3-11: 32-bit beats on a 64-bit bus from address 0x04, WRAP of four beats.
    let wrap = Axi4Address { address: 4, len: 3, size: 2, burst: 2, ..address };
    assert_eq!(of(wrap, 8), [(4, 4, 4), (8, 0, 4), (12, 4, 4), (0, 0, 4)]);
    let fixed = Axi4Address { address: 5, len: 1, size: 1, burst: 0, ..address };
    assert_eq!(of(fixed, 8), [(5, 5, 1), (5, 5, 1)]);
    // Figure A3-10: 8-bit beats on a 32-bit bus.
    let narrow = Axi4Address { address: 2, len: 2, size: 0, ..address };
    assert_eq!(of(narrow, 4), [(2, 2, 1), (3, 3, 1), (4, 0, 1)]);
}

/// What a run of a manager and a subordinate did.
#[derive(Debug, Default)]
struct Run {
    /// Addresses of writes and of reads that are complete, in the order of their responses.
    writes: Vec<(Axi4Address, AxiResponse)>,
    reads: Vec<(Axi4Address, AxiResponse)>,
    cycles: u64,
    compared: u64,
}

fn run<T: Target>(traffic: &Axi4Traffic, answers: &Axi4SubordinateTraffic, target: T) -> Run {
    let mut manager = Axi4Manager::<M, S>::new(PINS, traffic);
    let mut subordinate = Axi4Subordinate::<S, M, T>::with_target(PINS, answers, target);
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
        memory.axi4(0, &mut monitor, &events).unwrap();
        run.writes.extend(events.write);
        let last = events.read.filter(|read| read.beat + 1 == read.burst.beats());
        run.reads.extend(last.map(|read| (read.burst, read.response)));
        if let Some(start) = manager.clock(in_reset, &m, &s).reset {
            reset.start(start);
        }
        subordinate.clock(in_reset, &s, &m);
        reset.clock();
        run.cycles += 1;
        assert!(run.cycles < 100_000, "{:?}", manager.in_flight());
    }
    monitor.finish().unwrap();
    run.compared = memory.compared();
    run
}

fn draw(seed: u64, weights: &Axi4Weights, reset: u64) -> (Axi4Traffic, Axi4SubordinateTraffic) {
    let (rng, reset) = (&mut rng(seed), Percent::new(reset));
    let traffic = Axi4Traffic::draw(weights, &PINS, 50, reset, rng);
    let weights = Axi4SubordinateWeights::default();
    (traffic, Axi4SubordinateTraffic::draw(&weights, &PINS, 50, reset, rng))
}

/// Weights with which IDs do not share addresses, and addresses repeat.
fn apart() -> Axi4Weights {
    let addresses = crate::AddressWeights {
        size: Uint::new(0x200),
        reuse: Percent::new(80),
        ..crate::AddressWeights::default()
    };
    Axi4Weights { addresses, page_by_id: Percent::new(100), ..Axi4Weights::default() }
}

#[test]
fn random_traffic_reads_what_was_written() {
    let (mut compared, mut overtaken) = (0, false);
    for seed in 0..60 {
        let reset = if seed % 2 == 0 { 0 } else { 10 };
        let (traffic, answers) = draw(seed, &apart(), reset);
        assert_eq!(traffic.check(), Ok(()));
        let run = run(&traffic, &answers, Memory::default());
        compared += run.compared;
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<Axi4Traffic>(&text).unwrap(), traffic);
        if reset > 0 {
            continue;
        }
        assert_eq!(run.writes.len() + run.reads.len(), traffic.operations.len());
        // Each ID is in order, and different IDs overtake each other.
        for (seen, is_write) in [(&run.writes, true), (&run.reads, false)] {
            let kind = |operation: &&Axi4Operation| {
                matches!(operation.access, Axi4Access::Write { .. }) == is_write
            };
            let expected: Vec<Axi4Address> = traffic
                .operations
                .iter()
                .filter(kind)
                .map(|operation| Axi4Address { qos: 0, prot: 0, ..operation.address() })
                .collect();
            let seen: Vec<_> = seen.iter().map(|(at, _)| Axi4Address { prot: 0, ..*at }).collect();
            overtaken |= seen != expected;
            for id in 0..4 {
                let of_id = |all: &[Axi4Address]| -> Vec<Axi4Address> {
                    all.iter().filter(|at| at.id == id).copied().collect()
                };
                assert_eq!(of_id(&seen), of_id(&expected), "seed {seed}, id {id}");
            }
        }
    }
    assert!(compared > 1000 && overtaken, "{compared}, {overtaken}");
}

#[test]
fn a_full_speed_write_takes_a_cycle_per_beat() {
    let pace = &crate::testing::full_speed();
    let (write, never) = (Percent::new(100), Percent::new(0));
    let weights = Axi4Weights { write, fence: never, ..Axi4Weights::default() };
    let (traffic, _) = draw(1, &weights.paced(pace), 0);
    let beats: u64 = traffic.operations.iter().map(|one| u64::from(one.beats())).sum();
    let run = run(&traffic, &Axi4SubordinateTraffic::default(), Memory::default());
    // A cycle in reset, one after it, and the last response.
    assert_eq!(run.cycles, beats + 3);
}

#[test]
fn a_closure_answers_and_the_worst_response_of_a_write_arrives() {
    let (traffic, answers) = draw(3, &Axi4Weights::default(), 0);
    let mut beats = 0;
    let target = |access: Access<'_>| match access {
        Access::Write { .. } => {
            beats += 1;
            if beats % 2 == 0 { Response::Error } else { Response::Okay }
        }
        Access::Read { .. } => Response::DecodeError,
    };
    let run = run(&traffic, &answers, target);
    assert!(run.reads.iter().all(|(_, response)| *response == AxiResponse::DecErr));
    let long = run.writes.iter().filter(|(address, _)| address.beats() > 1);
    assert!(long.clone().count() > 3);
    assert!(long.clone().all(|(_, response)| *response == AxiResponse::SlvErr));
}

#[test]
fn illegal_traffic_is_refused() {
    let wrong = |field: &str, text: &str| {
        let text = format!(r#"{{ "operations": [{{ {text} }}] }}"#);
        let traffic: Axi4Traffic = serde_json::from_str(&text).unwrap();
        assert_eq!(traffic.check().unwrap_err().path, format!("operations[0].{field}"), "{text}");
    };
    let read = |beats| format!(r#""access": {{ "read": {{ "beats": {beats} }} }}"#);
    let at = |address: &str, burst: &str, beats| {
        let read = read(beats);
        format!(r#""address": "{address}", "size": 4, "burst": "{burst}", {read}"#)
    };
    wrong("access.beats", &at("0x0", "incr", 0));
    wrong("access.beats", &at("0x0", "incr", 257));
    wrong("access.beats", &at("0x0", "fixed", 17));
    wrong("access.beats", &at("0x0", "wrap", 3));
    wrong("address", &at("0x8", "wrap", 4));
    wrong("address", &at("0xff0", "incr", 2));
    let reset = r#", "reset": { "after": 0, "cycles": 0 }"#;
    wrong("reset.cycles", &(at("0x0", "incr", 1) + reset));
}

#[test]
fn coverage_counts_bursts_and_order() {
    let mut sampler = Axi4Sampler::new(PINS, GROUPS, 0);
    let mut edge = |names: &str| {
        let (in_reset, m, s) = cycle(names);
        sampler.edge(in_reset, &m, &s)
    };
    assert_eq!(edge(""), Hits::default());
    let hits = edge("aw awid=1 awlen=15 ar arburst=2 arlen=1");
    assert_eq!(hits.bursts, [Some([0, 1, 2]), Some([1, 2, 1])]);
    assert_eq!(edge("aw awid=2").outstanding[0], Some([0, 1]));
    let hits = edge("b bid=2 r");
    assert_eq!(hits.order, [Some([0, 1]), None]);
    assert_eq!(hits.responses, [Some([0, 0, 0]), Some([1, 0, 0])]);
    assert_eq!(edge("b bid=1 bresp=3").responses[0], Some([0, 2, 1]));
    assert_eq!(edge("r rlast").order[1], Some([1, 0]));
}

#[test]
fn transfers_are_shown_in_words() {
    let (_, m, s) = cycle("aw awaddr=16 awlen=3 awid=2 r rdata=5 rlast rid=1");
    let words = |channel| PINS.words(channel, &m, &s);
    let address = "write 0x10, 4 beats of 16 bytes, INCR, id 0x2";
    assert_eq!(words("aw").as_deref(), Some(address));
    assert_eq!(words("r").as_deref(), Some("0x5 OKAY id 0x1 last"));
    assert_eq!(Wide::<4>::new(5).to_string(), "0x5");
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (traffic, answers) = draw(1, &Axi4Weights::default(), 5);
    runs_with_any_outputs::<M, S, Axi4Manager<'_, M, S>>(PINS, &traffic);
    runs_with_any_outputs::<S, M, Axi4Subordinate<'_, S, M>>(PINS, &answers);
}
