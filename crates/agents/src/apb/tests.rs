//! APB: every rule fires on cycles written from the specification, and a manager and a
//! subordinate that are connected move the right data.

use super::monitor::GROUPS;
use super::*;
use crate::agent::{Agent, AgentTraffic, AgentWeights};
use crate::target::{Access, Memory, Response, Target};
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, ResetTimer};
use std::collections::BTreeSet;

pins!(M {
    psel: 1 u8, penable: 1 u8, pwrite: 1 u8, paddr: 10 u16, pwdata: 32 u32, pstrb: 4 u8,
    pprot: 3 u8,
});
pins!(S { pready: 1 u8, prdata: 32 u32, pslverr: 1 u8, });

const PINS: ApbPins<M, S> = ApbPins::of("");

type Monitor = ApbMonitor<M, S>;

/// The pins of a cycle: those of `names` are 1, or have the value after `=`.
fn cycle(names: &str) -> (bool, M, S) {
    let (mut m, mut s, mut in_reset) = (M::default(), S::default(), false);
    for name in names.split_whitespace() {
        let (name, value) = name.split_once('=').unwrap_or((name, "1"));
        let value = value.parse().unwrap();
        match (Pin::<M>::find("", name), Pin::<S>::find("", name)) {
            (Some(pin), _) => pin.set(&mut m, value),
            (_, Some(pin)) => pin.set(&mut s, value),
            _ => in_reset |= name == "reset",
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

#[test]
fn each_rule_fires() {
    let cases = [
        ("|penable", Monitor::ENABLE_WITHOUT_SELECT),
        ("psel penable", Monitor::NO_SETUP),
        ("psel|psel penable pready|psel penable", Monitor::NO_SETUP),
        ("psel|psel", Monitor::NO_ACCESS),
        ("psel|", Monitor::NO_ACCESS),
        ("psel|psel penable|psel", Monitor::WITHDRAWN),
        ("psel|psel penable|penable", Monitor::WITHDRAWN),
        ("psel paddr=4|psel penable paddr=8", Monitor::ADDRESS_HELD),
        ("psel|psel penable|psel penable paddr=8 pready", Monitor::ADDRESS_HELD),
        ("psel pwrite|psel penable", Monitor::WRITE_HELD),
        ("psel pwrite pwdata=1|psel penable pwrite pwdata=2", Monitor::DATA_HELD),
        ("psel pwrite pstrb=1|psel penable pwrite pstrb=2", Monitor::STROBE_HELD),
        ("psel pprot=1|psel penable pprot=3", Monitor::PROT_HELD),
        ("psel pstrb=2", Monitor::STROBE_IN_READ),
        ("reset|reset psel", Monitor::SELECT_IN_RESET),
        ("psel|psel penable", Monitor::NOT_COMPLETE),
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
        "pready|pslverr|",
        "psel|psel penable pready|",
        "psel|psel penable|psel penable|psel penable pready pslverr|psel paddr=4|\
         psel penable pready paddr=4",
        // Write data may change in a read.
        "psel pwdata=1|psel penable pready pwdata=2",
        "psel pwrite pstrb=3 pwdata=7|psel penable pready pwrite pstrb=3 pwdata=7",
        "psel|reset psel|reset|psel|psel penable pready",
    ] {
        assert_eq!(broken(cycles), None, "{cycles}");
    }
}

fn run<T: Target>(
    traffic: &ApbTraffic,
    answers: &ApbSubordinateTraffic,
    target: T,
) -> (Vec<ApbTransfer>, u64) {
    let mut manager = ApbManager::new(PINS, traffic);
    let mut subordinate = ApbSubordinate::<S, M, T>::with_target(PINS, answers, target);
    let (mut monitor, mut noise) = (Monitor::new(PINS), Noise::new(7));
    let (mut m, mut s, mut reset) = (M::default(), S::default(), ResetTimer::default());
    let (mut transfers, mut cycles) = (Vec::new(), 0);
    while !(manager.is_idle() && reset.is_over()) {
        let in_reset = reset.asserted() || cycles == 0;
        manager.drive(in_reset, &mut noise, &mut m);
        subordinate.drive(in_reset, &mut noise, &mut s);
        transfers.extend(monitor.observe(in_reset, &m, &s).unwrap());
        if let Some(start) = manager.clock(in_reset, &m, &s).reset {
            reset.start(start);
        }
        subordinate.clock(in_reset, &s, &m);
        reset.clock();
        cycles += 1;
        assert!(cycles < 100_000, "{:?}", manager.in_flight());
    }
    monitor.finish().unwrap();
    (transfers, cycles)
}

fn draw(seed: u64, weights: &ApbWeights, reset: u64) -> (ApbTraffic, ApbSubordinateTraffic) {
    let (rng, reset) = (&mut rng(seed), Percent::new(reset));
    let traffic = ApbTraffic::draw(weights, &PINS, 60, reset, rng);
    let weights = ApbSubordinateWeights::default();
    (traffic, ApbSubordinateTraffic::draw(&weights, &PINS, 60, reset, rng))
}

#[test]
fn random_traffic_reads_what_was_written() {
    for seed in 0..100 {
        let reset = if seed % 2 == 0 { 0 } else { 10 };
        let (traffic, answers) = draw(seed, &ApbWeights::default(), reset);
        assert_eq!(traffic.check(), Ok(()));
        let (transfers, _) = run(&traffic, &answers, Memory::default());
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<ApbTraffic>(&text).unwrap(), traffic);
        if reset > 0 {
            continue;
        }
        // The operations one after the other, on a memory of this test.
        let mut memory = Memory::default();
        assert_eq!(transfers.len(), traffic.operations.len());
        for (transfer, operation) in transfers.iter().zip(&traffic.operations) {
            match operation.access {
                ApbAccess::Write { address, data, strobe } => {
                    for lane in (0..4).filter(|lane| strobe.get() >> lane & 1 == 1) {
                        memory.write(address.get() + lane, (data.get() >> (8 * lane)) as u8);
                    }
                }
                ApbAccess::Read { address } => {
                    let byte = |lane| u64::from(memory.read(address.get() + lane)) << (8 * lane);
                    assert_eq!(transfer.data, (0..4).map(byte).sum::<u64>(), "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn a_full_speed_transfer_takes_two_cycles() {
    let pace = &crate::testing::full_speed();
    let (traffic, _) = draw(1, &ApbWeights::default().paced(pace), 0);
    let (transfers, cycles) = run(&traffic, &ApbSubordinateTraffic::default(), Memory::default());
    // One cycle in reset, and one after it.
    assert_eq!(cycles, 2 * transfers.len() as u64 + 2);
}

#[test]
fn a_closure_answers_with_an_error() {
    let (traffic, answers) = draw(5, &ApbWeights::default(), 0);
    let target = |_: Access<'_>| Response::Error;
    let (transfers, _) = run(&traffic, &answers, target);
    assert!(!transfers.is_empty() && transfers.iter().all(|transfer| transfer.is_error));
}

#[test]
fn coverage_counts_waits_and_distance() {
    let mut sampler = ApbSampler::new(PINS, GROUPS, 0);
    let mut edge = |names: &str| {
        let (in_reset, m, s) = cycle(names);
        sampler.edge(in_reset, &m, &s)
    };
    assert_eq!(edge("psel pwrite"), None);
    assert_eq!(edge("psel penable pwrite"), None);
    assert_eq!(edge("psel penable pwrite pready"), Some(([0, 0, 0], [0, 1])));
    assert_eq!(edge("psel"), None);
    assert_eq!(edge("psel penable pready pslverr"), Some(([1, 1, 1], [1, 0])));
}

#[test]
fn transfers_are_shown_in_words() {
    let (_, m, s) = cycle("psel penable pready paddr=8 prdata=255 pslverr");
    assert_eq!(PINS.words(&m, &s).as_deref(), Some("read 0xff from 0x8: error"));
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (traffic, answers) = draw(1, &ApbWeights::default(), 5);
    runs_with_any_outputs::<M, S, ApbManager<'_, M, S>>(PINS, &traffic);
    runs_with_any_outputs::<S, M, ApbSubordinate<'_, S, M>>(PINS, &answers);
}
