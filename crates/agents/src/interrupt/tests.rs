//! Interrupt lines: every rule fires, and a source and a sink that are connected raise and
//! acknowledge every interrupt.

use super::monitor::GROUPS;
use super::*;
use crate::agent::{Agent, AgentTraffic};
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, ResetTimer};
use std::collections::BTreeSet;

pins!(D { irq: 4 u8, });
pins!(R { irq_ack: 4 u8, });
pins!(Open { other: 1 u8, });

const LEVEL: InterruptPins<D, R> = InterruptPins::of("", InterruptKind::Level);
const PULSE: InterruptPins<D, R> = InterruptPins::of("", InterruptKind::Pulse);
const OPEN: InterruptPins<D, Open> = InterruptPins::of("", InterruptKind::Level);

type Monitor = InterruptMonitor<D, R>;

/// The check that fails in the last of some cycles (in reset, lines, acknowledges).
fn broken(pins: InterruptPins<D, R>, cycles: &[(bool, u64, u64)]) -> Option<String> {
    let mut monitor = Monitor::new(pins);
    for (index, (in_reset, lines, ack)) in cycles.iter().enumerate() {
        let (mut d, mut r) = (D::default(), R::default());
        pins.irq.set(&mut d, *lines);
        pins.ack.unwrap().set(&mut r, *ack);
        match monitor.observe(*in_reset, &d, &r) {
            Ok(_) => {}
            Err(violation) if index + 1 == cycles.len() => return Some(violation.check),
            Err(violation) => panic!("{index} of {cycles:?}: {violation:?}"),
        }
    }
    monitor.finish().err().map(|violation| violation.check)
}

#[test]
fn each_rule_fires_and_legal_cycles_pass() {
    let on = |lines, ack| (false, lines, ack);
    let cases = [
        (LEVEL, vec![on(3, 0), on(2, 0)], Monitor::WITHDRAWN),
        (LEVEL, vec![on(3, 2), on(2, 0)], Monitor::WITHDRAWN),
        (LEVEL, vec![on(1, 2)], Monitor::ACK_WITHOUT_LINE),
        (LEVEL, vec![on(1, 0)], Monitor::PENDING),
        (LEVEL, vec![(true, 0, 0), (true, 1, 0)], Monitor::HIGH_IN_RESET),
        (PULSE, vec![on(1, 0), on(1, 0)], Monitor::PULSE_LENGTH),
        (PULSE, vec![on(1, 0), on(3, 0)], Monitor::PULSE_LENGTH),
    ];
    let mut fired = BTreeSet::new();
    for (pins, cycles, check) in cases {
        assert_eq!(broken(pins, &cycles).as_deref(), Some(check), "{cycles:?}");
        fired.insert(check);
    }
    let all = [Monitor::DRIVER_CHECKS, Monitor::RECEIVER_CHECKS].concat();
    assert_eq!(fired, all.into_iter().collect(), "each declared check has a case");
    // The line falls after its acknowledge, in its cycle, or with a reset.
    assert_eq!(broken(LEVEL, &[on(1, 0), on(1, 1), on(0, 0)]), None);
    assert_eq!(broken(LEVEL, &[on(3, 0), on(2, 1), on(2, 2), on(0, 0)]), None);
    assert_eq!(broken(LEVEL, &[on(1, 0), (true, 1, 0), (true, 0, 0), on(0, 0)]), None);
    assert_eq!(broken(PULSE, &[on(1, 0), on(2, 0), on(1, 3), on(0, 0)]), None);
}

#[test]
fn random_interrupts_are_raised_and_acknowledged() {
    for seed in 0..100 {
        let pins = if seed % 2 == 0 { LEVEL } else { PULSE };
        let (rng, reset) = (&mut rng(seed), Percent::new(if seed % 4 < 2 { 0 } else { 10 }));
        let weights = InterruptWeights::default();
        let traffic = InterruptTraffic::draw(&weights, &pins, 40, reset, rng);
        assert_eq!(traffic.check(), Ok(()));
        let answers =
            InterruptSinkTraffic::draw(&InterruptSinkWeights::default(), &pins, 40, reset, rng);
        let mut source = InterruptSource::new(pins, &traffic);
        let mut sink = InterruptSink::<R, D>::new(pins, &answers);
        let (mut monitor, mut noise) = (Monitor::new(pins), Noise::new(7));
        let (mut d, mut r, mut reset) = (D::default(), R::default(), ResetTimer::default());
        let (mut cycles, mut risen) = (0, Vec::new());
        while !(source.is_idle() && sink.is_idle() && reset.is_over()) {
            let in_reset = reset.asserted() || cycles == 0;
            source.drive(in_reset, &mut noise, &mut d);
            sink.drive(in_reset, &mut noise, &mut r);
            risen.push(monitor.observe(in_reset, &d, &r).unwrap());
            if let Some(start) = source.clock(in_reset, &d, &r).reset {
                reset.start(start);
            }
            sink.clock(in_reset, &r, &d);
            reset.clock();
            cycles += 1;
            assert!(cycles < 100_000, "{:?}", source.in_flight());
        }
        monitor.finish().unwrap();
        risen.retain(|lines| *lines > 0);
        let expected: Vec<u64> = traffic.interrupts.iter().map(|one| one.lines.get()).collect();
        if seed % 4 < 2 {
            assert_eq!(risen, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_level_without_an_acknowledge_lasts_as_long_as_the_traffic_says() {
    let interrupt = |hold| Interrupt {
        gap: Uint::new(0),
        lines: Uint::new(1),
        hold_cycles: Uint::new(hold),
        reset: None,
    };
    let traffic = InterruptTraffic { interrupts: vec![interrupt(0), interrupt(2)] };
    let mut source = InterruptSource::<D, Open>::new(OPEN, &traffic);
    let (mut noise, mut d) = (Noise::new(0), D::default());
    let mut lines = Vec::new();
    while !source.is_idle() {
        source.drive(false, &mut noise, &mut d);
        lines.push(OPEN.irq.get(&d));
        source.clock(false, &d, &Open::default());
    }
    assert_eq!(lines, [0, 1, 0, 1, 1, 1]);
}

#[test]
fn coverage_counts_rises() {
    let mut sampler = InterruptSampler::new(LEVEL, GROUPS, 0);
    let mut edge = |lines| {
        let mut d = D::default();
        LEVEL.irq.set(&mut d, lines);
        sampler.edge(false, &d)
    };
    assert_eq!([edge(1), edge(1), edge(7), edge(0)], [Some([0, 0]), None, Some([1, 1]), None]);
}

#[test]
fn illegal_traffic_is_refused() {
    let text = r#"{ "interrupts": [{ "lines": "0x0" }] }"#;
    let traffic: InterruptTraffic = serde_json::from_str(text).unwrap();
    assert_eq!(traffic.check().unwrap_err().path, "interrupts[0].lines");
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (rng, reset) = (&mut rng(1), Percent::new(5));
    for pins in [LEVEL, PULSE] {
        let weights = InterruptWeights::default();
        let traffic = InterruptTraffic::draw(&weights, &pins, 60, reset, rng);
        runs_with_any_outputs::<D, R, InterruptSource<'_, D, R>>(pins, &traffic);
        let weights = InterruptSinkWeights::default();
        let delays = InterruptSinkTraffic::draw(&weights, &pins, 60, reset, rng);
        runs_with_any_outputs::<R, D, InterruptSink<'_, R, D>>(pins, &delays);
    }
}
