//! Wishbone: every rule fires on cycles written from the specification, and a manager and a
//! subordinate that are connected move the right data, in both modes.

use super::monitor::GROUPS;
use super::*;
use crate::agent::{Agent, AgentTraffic, AgentWeights};
use crate::memory_check::MemoryCheck;
use crate::target::{Access, Memory, Target};
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, ResetTimer};
use std::collections::BTreeSet;

pins!(M {
    cyc_i: 1 u8, stb_i: 1 u8, we_i: 1 u8, adr_i: 8 u8, dat_i: 32 u32, sel_i: 4 u8,
});
pins!(S { ack_o: 1 u8, err_o: 1 u8, rty_o: 1 u8, dat_o: 32 u32, stall_o: 1 u8, });

const CLASSIC: WishbonePins<M, S> =
    WishbonePins::of("", WishboneMode::Classic).with_word_addresses();
const PIPELINED: WishbonePins<M, S> = WishbonePins::of("", WishboneMode::Pipelined);

type Monitor = WishboneMonitor<M, S>;

/// The pins of a cycle: those of `names` are 1, or have the value after `=`.
fn cycle(names: &str) -> (bool, M, S) {
    let (mut m, mut s, mut in_reset) = (M::default(), S::default(), false);
    for name in names.split_whitespace() {
        let (name, value) = name.split_once('=').unwrap_or((name, "1"));
        let value = value.parse().unwrap();
        let pins = (Pin::<M>::find(name, "_i"), Pin::<S>::find(name, "_o"));
        match pins {
            (Some(pin), _) => pin.set(&mut m, value),
            (_, Some(pin)) => pin.set(&mut s, value),
            _ => in_reset |= name == "reset",
        }
    }
    (in_reset, m, s)
}

/// The check that fails in the last of some cycles, which `|` separates; those before are legal.
fn broken(mut monitor: Monitor, cycles: &str) -> Option<String> {
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
fn each_rule_fires_in_both_modes() {
    let both = [
        ("stb", Monitor::STB_WITHOUT_CYC),
        ("reset|reset cyc", Monitor::ACTIVE_IN_RESET),
        ("reset|reset stb", Monitor::ACTIVE_IN_RESET),
        ("cyc stb stall|cyc", Monitor::STB_HELD),
        ("cyc stb stall adr=4|cyc stb stall adr=8", Monitor::REQUEST_HELD),
        ("cyc stb stall we dat=4|cyc stb stall we dat=8", Monitor::REQUEST_HELD),
        ("cyc stb stall|", Monitor::CYC_HELD),
        ("cyc stb ack err", Monitor::TWO_TERMINATIONS),
        ("cyc stb rty err", Monitor::TWO_TERMINATIONS),
        ("ack", Monitor::NO_REQUEST),
        ("cyc rty", Monitor::NO_REQUEST),
        ("cyc stb stall", Monitor::NOT_TERMINATED),
    ];
    let mut fired = BTreeSet::new();
    for (cycles, check) in both {
        for pins in [CLASSIC, PIPELINED] {
            let found = broken(Monitor::new(pins), cycles);
            assert_eq!(found.as_deref(), Some(check), "{cycles}, {:?}", pins.mode);
        }
        fired.insert(check);
    }
    let all = [Monitor::MANAGER_CHECKS, Monitor::SUBORDINATE_CHECKS].concat();
    assert_eq!(fired, all.into_iter().collect(), "each declared check has a case");
    // A request that was taken, without a termination.
    let check = |cycles| broken(Monitor::new(PIPELINED), cycles);
    assert_eq!(check("cyc stb|").as_deref(), Some(Monitor::CYC_HELD));
    assert_eq!(check("cyc stb|cyc").as_deref(), Some(Monitor::NOT_TERMINATED));
    assert_eq!(check("cyc stb|cyc ack|cyc ack").as_deref(), Some(Monitor::NO_REQUEST));
}

#[test]
fn legal_cycles_pass() {
    for cycles in [
        "",
        "cyc stb|cyc stb|cyc stb ack|",
        "cyc|cyc stb we dat=3|cyc stb we dat=3 ack|cyc|cyc stb err|",
        // The data of a read may change.
        "cyc stb dat=1|cyc stb dat=2 rty|",
        "cyc stb|reset cyc stb|reset|",
    ] {
        assert_eq!(broken(Monitor::new(CLASSIC), cycles), None, "{cycles}");
    }
    for cycles in [
        "cyc stb ack|",
        "cyc stb adr=1|cyc stb adr=2|cyc stb adr=3 ack|cyc ack|cyc err|",
        "cyc stb stall adr=1|cyc stb adr=1|cyc ack",
    ] {
        assert_eq!(broken(Monitor::new(PIPELINED), cycles), None, "{cycles}");
    }
    assert_eq!(broken(Monitor::new(CLASSIC).permit_idle_ack(), "ack|cyc stb ack|ack"), None);
}

fn run<T: Target>(
    pins: WishbonePins<M, S>,
    traffic: &WishboneTraffic,
    answers: &WishboneSubordinateTraffic,
    target: T,
) -> (Vec<WishboneTransfer>, u64) {
    let mut manager = WishboneManager::new(pins, traffic);
    let mut subordinate = WishboneSubordinate::<S, M, T>::with_target(pins, answers, target);
    let (mut monitor, mut noise) = (Monitor::new(pins), Noise::new(7));
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

fn draw(
    pins: &WishbonePins<M, S>,
    seed: u64,
    weights: &WishboneWeights,
    reset: u64,
) -> (WishboneTraffic, WishboneSubordinateTraffic) {
    let (rng, reset) = (&mut rng(seed), Percent::new(reset));
    let traffic = WishboneTraffic::draw(weights, pins, 60, reset, rng);
    let weights = WishboneSubordinateWeights::default();
    (traffic, WishboneSubordinateTraffic::draw(&weights, pins, 60, reset, rng))
}

#[test]
fn random_traffic_reads_what_was_written() {
    for seed in 0..200 {
        let pins = if seed % 2 == 0 { CLASSIC } else { PIPELINED };
        let reset = if seed % 4 < 2 { 0 } else { 10 };
        let (traffic, answers) = draw(&pins, seed, &WishboneWeights::default(), reset);
        assert_eq!(traffic.check(), Ok(()));
        let (transfers, _) = run(pins, &traffic, &answers, Memory::default());
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<WishboneTraffic>(&text).unwrap(), traffic);
        if reset > 0 {
            continue;
        }
        assert_eq!(transfers.len(), traffic.operations.len());
        let mut memory = MemoryCheck::new("data");
        for (transfer, operation) in transfers.iter().zip(&traffic.operations) {
            let byte = |address: u64| address * u64::from(pins.address_step);
            match operation.access {
                WishboneAccess::Write { address, data, select } => {
                    assert!(transfer.is_write);
                    memory.start_write(0, byte(address.get()), data.get(), select.get());
                    memory.finish_write(0, true);
                }
                WishboneAccess::Read { address } => {
                    memory.start_read(0, byte(address.get()));
                    memory.finish_read(0, transfer.data, 4).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_pipelined_block_takes_a_cycle_per_transfer() {
    let pace = &crate::testing::full_speed();
    let weights = WishboneWeights { block: Percent::new(100), ..WishboneWeights::default() };
    let (traffic, _) = draw(&PIPELINED, 1, &weights.paced(pace), 0);
    let answers = WishboneSubordinateTraffic::default();
    let (transfers, cycles) = run(PIPELINED, &traffic, &answers, Memory::default());
    // A cycle in reset, one after it, and the last termination.
    assert_eq!(cycles, transfers.len() as u64 + 3);
}

#[test]
fn a_closure_answers_with_errors_and_retries() {
    let (traffic, answers) = draw(&CLASSIC, 5, &WishboneWeights::default(), 0);
    let target = |access: Access<'_>| match access {
        Access::Write { .. } => Response::Retry,
        Access::Read { .. } => Response::Error,
    };
    let (transfers, _) = run(CLASSIC, &traffic, &answers, target);
    let expected = |transfer: &WishboneTransfer| match transfer.is_write {
        true => WishboneTermination::Rty,
        false => WishboneTermination::Err,
    };
    assert!(transfers.iter().all(|transfer| transfer.termination == expected(transfer)));
    assert!(!transfers.is_empty());
}

#[test]
fn coverage_counts_terminations_stalls_and_transfers_in_flight() {
    let mut sampler = WishboneSampler::new(PIPELINED, GROUPS, 0);
    let mut edge = |names: &str| {
        let (in_reset, m, s) = cycle(names);
        sampler.edge(in_reset, &m, &s)
    };
    assert_eq!(edge("cyc stb stall"), (None, None, None));
    assert_eq!(edge("cyc stb we"), (None, Some([0, 0, 1]), Some(0)));
    assert_eq!(edge("cyc stb err"), (Some(1), Some([1, 1, 0]), Some(1)));
    assert_eq!(edge("cyc ack"), (Some(0), None, None));
}

#[test]
fn transfers_are_shown_in_words() {
    let (_, m, s) = cycle("cyc stb adr=8 ack dat=255");
    assert_eq!(CLASSIC.words(&m, &s).as_deref(), Some("read 0x8, ack 0x0"));
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    {
        let (traffic, answers) = draw(&CLASSIC, 1, &WishboneWeights::default(), 5);
        runs_with_any_outputs::<M, S, WishboneManager<'_, M, S>>(CLASSIC, &traffic);
        runs_with_any_outputs::<S, M, WishboneSubordinate<'_, S, M>>(CLASSIC, &answers);
    }
    {
        let (traffic, answers) = draw(&PIPELINED, 1, &WishboneWeights::default(), 5);
        runs_with_any_outputs::<M, S, WishboneManager<'_, M, S>>(PIPELINED, &traffic);
        runs_with_any_outputs::<S, M, WishboneSubordinate<'_, S, M>>(PIPELINED, &answers);
    }
}
