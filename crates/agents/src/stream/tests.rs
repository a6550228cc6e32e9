//! Streams: every rule fires on a sequence of cycles written from the specification, and a source
//! and a sink that are connected move the right beats.

use super::*;
use crate::agent::{Agent, AgentTraffic, AgentWeights};
use crate::channel::Readiness;
use crate::testing::{pins, rng, runs_with_any_outputs};
use cosim_harness::harness::{Noise, Reset, ResetTimer};
use verilated::Bits;

pins!(T {
    tvalid: 1 u8, tdata: 72 [u32; 3], tkeep: 9 u16, tstrb: 9 u16, tlast: 1 u8, tid: 3 u8,
    tdest: 2 u8, tuser: 5 u8,
});
pins!(R { tready: 1 u8, });

const PINS: StreamPins<T, R> = StreamPins::of("");

type Monitor = StreamMonitor<T, R>;

/// A cycle: in reset, the pins of the transmitter, `tready`.
type Cycle = (bool, T, bool);

fn offer(data: u32) -> T {
    let all = Bits::new(0x1ff);
    let tdata = Bits::from_words([data, 0, 0]);
    T { tvalid: Bits::new(1), tdata, tkeep: all, tstrb: all, ..T::default() }
}

/// The check that fails in the last of some cycles.
fn broken(cycles: &[Cycle]) -> Option<String> {
    let mut monitor = Monitor::new(PINS);
    let mut observe = |(in_reset, transmitter, ready): &Cycle| {
        let receiver = R { tready: Bits::from(*ready) };
        monitor.observe(*in_reset, transmitter, &receiver)
    };
    let (last, before) = cycles.split_last().unwrap();
    for cycle in before {
        observe(cycle).unwrap();
    }
    observe(last).err().map(|violation| violation.check)
}

#[test]
fn each_rule_fires() {
    let idle = T::default();
    let waits = (false, offer(1), false);
    let check = |cycles: &[Cycle]| broken(cycles).unwrap_or_default();
    assert_eq!(check(&[waits, (false, idle, true)]), Monitor::VALID_HELD);
    assert_eq!(check(&[waits, (false, offer(2), true)]), Monitor::PAYLOAD_HELD);
    let last = T { tlast: Bits::new(1), ..offer(1) };
    assert_eq!(check(&[waits, (false, last, true)]), Monitor::PAYLOAD_HELD);
    assert_eq!(check(&[(true, idle, false), (true, offer(1), true)]), Monitor::QUIET_IN_RESET);
    assert_eq!(check(&[(true, idle, false), (false, offer(1), true)]), Monitor::QUIET_AFTER_RESET);
    let reserved = T { tkeep: Bits::new(1), tstrb: Bits::new(2), ..offer(1) };
    assert_eq!(check(&[(false, reserved, true)]), Monitor::STRB_WITHOUT_KEEP);
}

#[test]
fn legal_cycles_pass() {
    let idle = T::default();
    let position = T { tkeep: Bits::new(3), tstrb: Bits::new(1), ..offer(1) };
    let legal = [
        // The registers of a synchronous reset change at the end of its first cycle.
        (true, offer(3), false),
        (true, idle, true),
        (false, idle, true),
        (false, position, true),
        (false, offer(2), false),
        (false, offer(2), true),
        (false, idle, false),
        // A reset ends an offer.
        (false, offer(2), false),
        (true, offer(2), false),
        (true, idle, false),
    ];
    assert_eq!(broken(&legal), None);
}

/// The beats that a sink takes from a source, and the cycles.
fn run(traffic: &StreamTraffic, ready: &Readiness) -> (Vec<StreamBeat>, u64) {
    let stalls = StreamSinkTraffic { ready: ready.clone() };
    let mut source = StreamSource::<T, R>::new(PINS, traffic);
    let mut sink = StreamSink::<R, T>::new(PINS, &stalls);
    let mut monitor = Monitor::new(PINS);
    let (mut noise, mut reset) = (Noise::new(7), ResetTimer::default());
    let (mut t, mut r) = (T::default(), R::default());
    let (mut beats, mut cycles) = (Vec::new(), 0);
    while !(source.is_idle() && reset.is_over()) {
        let in_reset = reset.asserted() || cycles == 0;
        source.drive(in_reset, &mut noise, &mut t);
        sink.drive(in_reset, &mut noise, &mut r);
        beats.extend(monitor.observe(in_reset, &t, &r).unwrap());
        if let Some(start) = source.clock(in_reset, &t, &r).reset {
            reset.start(start);
        }
        sink.clock(in_reset, &r, &t);
        reset.clock();
        cycles += 1;
        assert!(cycles < 100_000, "{:?}", source.in_flight());
    }
    (beats, cycles)
}

/// A beat with the bits that the pins of this test have.
fn on_pins(beat: &StreamBeat) -> StreamBeat {
    StreamBeat { keep: beat.keep.low(9), strb: beat.strb.low(9), ..*beat }
}

#[test]
fn random_traffic_moves_every_beat_without_a_violation() {
    for seed in 0..100 {
        let rng = &mut rng(seed);
        let weights = StreamWeights { sparse: Percent::new(seed % 50), ..StreamWeights::default() };
        let reset = Percent::new(seed % 20);
        let traffic = StreamTraffic::draw(&weights, &PINS, 60, reset, rng);
        assert_eq!(traffic.check(), Ok(()));
        let sink = StreamSinkWeights::default().ready.draw(60, rng);
        let expected: Vec<_> = traffic.beats.iter().map(|beat| on_pins(&beat.item)).collect();
        assert_eq!(run(&traffic, &sink).0, expected, "seed {seed}");
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<StreamTraffic>(&text).unwrap(), traffic);
    }
}

#[test]
fn a_full_speed_stream_has_a_beat_in_every_cycle() {
    let pace = &crate::testing::full_speed();
    let weights = StreamWeights::default().paced(pace);
    let traffic = StreamTraffic::draw(&weights, &PINS, 64, Percent::new(0), &mut rng(1));
    let beats = traffic.beats.len() as u64;
    // One cycle in reset, and one after it.
    assert_eq!(run(&traffic, &Readiness::default()).1, beats + 2);
}

#[test]
fn illegal_traffic_is_refused() {
    let beat = StreamBeat { keep: Lanes::new(1), strb: Lanes::new(3), ..StreamBeat::default() };
    let beat = Offer { item: beat, ..Offer::default() };
    let reset = Some(Reset { after: Uint::new(0), cycles: Uint::new(0) });
    let path =
        |beat: Offer<StreamBeat>| StreamTraffic { beats: vec![beat] }.check().unwrap_err().path;
    assert_eq!(path(beat.clone()), "beats[0].item.strb");
    assert_eq!(path(Offer { reset, ..beat }), "beats[0].reset.cycles");
}

#[test]
fn coverage_counts_gap_stall_and_length() {
    const GROUPS: &[cosim_harness::harness::Covergroup] =
        <StreamSource<'static, T, R> as Agent<'static, T, R>>::GROUPS;
    let mut sampler = StreamSampler::new(PINS, GROUPS, 0);
    let mut edge = |transmitter: T, ready: bool| {
        sampler.edge(false, &transmitter, &R { tready: Bits::from(ready) })
    };
    let last = T { tlast: Bits::new(1), ..offer(1) };
    assert_eq!(edge(offer(1), true), (Some([0, 0]), None));
    assert_eq!(edge(T::default(), true), (None, None));
    assert_eq!(edge(last, false), (None, None));
    assert_eq!(edge(last, true), (Some([1, 1]), Some(1)));
}

#[test]
fn beats_are_shown_in_words() {
    let beat = StreamBeat { id: Uint::new(2), ..StreamBeat::new(Wide::new(0x1f), true) };
    assert_eq!(beat.to_string(), "data 0x1f id 0x2 last");
}

#[test]
fn agents_run_with_any_pins_of_the_dut() {
    let (rng, reset) = (&mut rng(1), Percent::new(5));
    let weights = StreamWeights::default();
    let traffic = StreamTraffic::draw(&weights, &PINS, 60, reset, rng);
    runs_with_any_outputs::<T, R, StreamSource<'_, T, R>>(PINS, &traffic);
    let weights = StreamSinkWeights::default();
    let stalls = StreamSinkTraffic::draw(&weights, &PINS, 60, reset, rng);
    runs_with_any_outputs::<R, T, StreamSink<'_, R, T>>(PINS, &stalls);
}
