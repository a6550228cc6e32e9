//! A memory port: every rule fires, and a manager and a memory that are connected move the right
//! data.

use super::monitor::GROUPS;
use super::*;
use crate::agent::{Agent, AgentTraffic};
use crate::target::Memory;
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, ResetTimer};
use std::collections::BTreeSet;

pins!(M {
    en: 1 u8, we: 1 u8, be: 16 u16, addr: 5 u8, wdata: 128 [u32; 4],
});
pins!(S { rdata: 128 [u32; 4], });

const PINS: MemoryPortPins<M, S> = MemoryPortPins::of("").with_latency(2).with_depth(24);

type Monitor = MemoryPortMonitor<M, S>;

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
    None
}

#[test]
fn each_rule_fires_and_legal_cycles_pass() {
    let write = "en we be=1 addr=3 wdata=7";
    let cases = [
        ("en addr=24", Monitor::ADDRESS_RANGE),
        ("reset|reset en", Monitor::ENABLE_IN_RESET),
        (&format!("{write}|en addr=3||rdata=8"), Monitor::READ_DATA),
        // Too late by a cycle.
        (&format!("{write}|en addr=3|rdata=7|rdata=0"), Monitor::READ_DATA),
    ];
    let mut fired = BTreeSet::new();
    for (cycles, check) in cases {
        assert_eq!(broken(cycles).as_deref(), Some(check), "{cycles}");
        fired.insert(check);
    }
    let all = [Monitor::MANAGER_CHECKS, Monitor::SUBORDINATE_CHECKS].concat();
    assert_eq!(fired, all.into_iter().collect(), "each declared check has a case");
    for cycles in [
        // The other bytes, and another address, were never written.
        &format!("{write}|en addr=3|en addr=4|rdata=263|rdata=9"),
        &format!("{write}|reset en|reset||en addr=3||rdata=1"),
        // A write after a read does not change its data.
        &format!("{write}|en addr=3|en we be=1 addr=3 wdata=8|rdata=7"),
        "addr=31 we|",
    ] {
        assert_eq!(broken(cycles), None, "{cycles}");
    }
}

#[test]
fn random_traffic_reads_what_was_written() {
    for seed in 0..100 {
        let (rng, reset) = (&mut rng(seed), Percent::new(if seed % 2 == 0 { 0 } else { 10 }));
        let weights = MemoryPortWeights::default();
        let traffic = MemoryPortTraffic::draw(&weights, &PINS, 80, reset, rng);
        assert_eq!(traffic.check(), Ok(()));
        let mut manager = MemoryPortManager::new(PINS, &traffic);
        let mut memory = MemoryPortSubordinate::<S, M>::with_target(PINS, Memory::default());
        let (mut monitor, mut noise) = (Monitor::new(PINS), Noise::new(7));
        let (mut m, mut s, mut reset) = (M::default(), S::default(), ResetTimer::default());
        let (mut cycles, mut accesses) = (0, 0);
        while !(manager.is_idle() && reset.is_over()) {
            let in_reset = reset.asserted() || cycles == 0;
            manager.drive(in_reset, &mut noise, &mut m);
            memory.drive(&mut noise, &mut s);
            let events = monitor.observe(in_reset, &m, &s).unwrap();
            accesses += usize::from(events.access.is_some());
            if let Some(start) = manager.clock(in_reset, &m, &s).reset {
                reset.start(start);
            }
            memory.clock(in_reset, &m);
            reset.clock();
            cycles += 1;
            assert!(cycles < 100_000, "{:?}", manager.in_flight());
        }
        assert_eq!(accesses, traffic.operations.len());
        assert!(monitor.compared() > 20);
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<MemoryPortTraffic>(&text).unwrap(), traffic);
    }
}

#[test]
fn coverage_counts_pairs() {
    let mut sampler = MemoryPortSampler::new(PINS, GROUPS, 0);
    let mut edge = |names: &str| {
        let (in_reset, m, _) = cycle(names);
        sampler.edge(in_reset, &m)
    };
    assert_eq!(edge("en we addr=3"), Some(([0, 1], None)));
    assert_eq!(edge("en addr=3"), Some(([1, 0], Some([0, 1, 1]))));
    assert_eq!(edge(""), None);
    assert_eq!(edge("en addr=3"), Some(([1, 1], None)));
}

#[test]
fn accesses_are_shown_in_words() {
    let (_, m, _) = cycle("en we addr=3 be=3 wdata=255");
    assert_eq!(PINS.words(&m).as_deref(), Some("write 0xff lanes 0x3 to 0x3"));
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (rng, reset) = (&mut rng(1), Percent::new(5));
    let weights = MemoryPortWeights::default();
    let traffic = MemoryPortTraffic::draw(&weights, &PINS, 60, reset, rng);
    runs_with_any_outputs::<M, S, MemoryPortManager<'_, M, S>>(PINS, &traffic);
    let none = MemoryPortSubordinateTraffic {};
    runs_with_any_outputs::<S, M, MemoryPortSubordinate<'_, S, M>>(PINS, &none);
}
