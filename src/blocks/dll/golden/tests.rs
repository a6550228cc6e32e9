//! Each rule alone and combinations of rules; all numbers are worked out by hand from the
//! specification.

use super::*;
use crate::blocks::dll::rules::RULES;
use cosim_core::harness::{Golden as _, Parameters};
use cosim_core::verilated::zerocopy::IntoBytes;
use cosim_core::verilated::{Field, Pins as _};

const SPEC: u8 = 0x00;
const REPAIRED: u8 = 0xff;

/// The pins of a cycle; pins that are not named are 0.
#[derive(Debug, Clone, Copy, Default)]
struct Drive(Inputs);

const ONE: fn() -> Bits1 = || Bits1::new(1);

fn idle() -> Drive {
    Drive::default()
}

impl Drive {
    fn tlp(mut self, data: u64) -> Self {
        self.0.a_tlp_valid = ONE();
        self.0.a_tlp_data = Bits32::new(data);
        self
    }

    fn link_ready(mut self) -> Self {
        self.0.a_link_ready = ONE();
        self
    }

    fn ack(mut self, n: u64) -> Self {
        self.0.a_dllp_valid = ONE();
        self.0.a_dllp_seq = Bits12::new(n);
        self.0.a_dllp_crc_ok = ONE();
        self
    }

    fn nak(mut self, n: u64) -> Self {
        self.0.a_dllp_nak = ONE();
        self.ack(n)
    }

    fn damaged_dllp(mut self) -> Self {
        self.0.a_dllp_crc_ok = Bits1::new(0);
        self
    }

    fn arrives(mut self, seq: u64, data: u64) -> Self {
        self.0.b_link_valid = ONE();
        self.0.b_link_seq = Bits12::new(seq);
        self.0.b_link_data = Bits32::new(data);
        self.0.b_link_crc_ok = ONE();
        self
    }

    fn bad(mut self, seq: u64) -> Self {
        self.0.b_link_valid = ONE();
        self.0.b_link_seq = Bits12::new(seq);
        self
    }

    fn dllp_ready(mut self) -> Self {
        self.0.b_dllp_ready = ONE();
        self
    }
}

struct Bench {
    golden: Golden,
}

impl Bench {
    /// After one cycle of reset and one without, so that A is ready.
    fn new(mask: u8) -> Self {
        let mut bench = Self::just_reset(mask);
        bench.cycle(idle());
        bench
    }

    fn just_reset(mask: u8) -> Self {
        Self { golden: Golden::new(&Parameters::of::<Dll>(mask)) }
    }

    /// Runs one cycle. Returns the rules that fire at its edge.
    fn cycle(&mut self, drive: Drive) -> Vec<&'static str> {
        self.golden.edge(&drive.0).iter().map(|rule| RULES[rule].name).collect()
    }

    /// Runs cycles in which a rule must not fire.
    #[track_caller]
    fn cycles_without(&mut self, rule: &str, count: u32, drive: Drive) {
        for cycle in 0..count {
            let rules = self.cycle(drive);
            assert!(!rules.contains(&rule), "{rule} after {cycle} cycles");
        }
    }

    /// Runs a cycle in which a rule must fire.
    #[track_caller]
    fn fires(&mut self, rule: &str, drive: Drive) {
        let rules = self.cycle(drive);
        assert!(rules.contains(&rule), "{rules:?}, not {rule}");
    }

    /// A has accepted TLPs 0 to `count` − 1, with payloads from 100 on, and handed them to the
    /// link.
    fn sent(mask: u8, count: u64) -> Self {
        let mut bench = Self::new(mask);
        for number in 0..count {
            bench.cycle(idle().tlp(100 + number).link_ready());
        }
        // The last one is on offer one cycle later and handed over in the cycle after.
        bench.cycle(idle().link_ready());
        bench.cycle(idle().link_ready());
        bench
    }

    /// Checks outputs by name.
    #[track_caller]
    fn shows<const N: usize>(&self, expected: [(&str, u64); N]) {
        let mut outputs = Outputs::default();
        self.golden.show(&Inputs::default(), &mut outputs);
        for (name, expected) in expected {
            let port = Outputs::PORTS.iter().find(|port| port.name == name).expect(name);
            let value = port.field(outputs.as_bytes(), Field::new(port.width - 1, 0));
            assert_eq!(value, expected, "{name}");
        }
    }

    #[track_caller]
    fn offers(&self, seq: u64, data: u64) {
        self.shows([("a_link_valid", 1), ("a_link_seq", seq), ("a_link_data", data)]);
    }

    #[track_caller]
    fn answers(&self, nak: u64, seq: u64) {
        self.shows([("b_dllp_valid", 1), ("b_dllp_nak", nak), ("b_dllp_seq", seq)]);
    }
}

/// Sections 4 and 6, column "Reset"; section 2, column "In reset".
#[test]
fn a17_b14_reset_values_are_shown_at_once_and_kept() {
    let reset = [
        ("a_tlp_ready", 0),
        ("a_link_valid", 0),
        ("a_link_seq", 0),
        ("a_link_data", 0),
        ("a_ackd_seq", 4095),
        ("a_next_seq", 0),
        ("a_replay_num", 0),
        ("a_retrain", 0),
        ("a_dl_error", 0),
        ("b_deliver_valid", 0),
        ("b_deliver_data", 0),
        ("b_dllp_valid", 0),
        ("b_dllp_nak", 0),
        ("b_dllp_seq", 0),
        ("b_next_rcv_seq", 0),
        ("b_nak_scheduled", 0),
    ];
    let mut bench = Bench::sent(SPEC, 3);
    bench.cycle(idle().tlp(9).nak(1).arrives(0, 7));
    bench.cycle(idle().nak(9).bad(0));
    let mut in_reset = idle().tlp(9).link_ready().nak(0).arrives(0, 7);
    in_reset.0.rst = ONE();
    let (mut seen, mut expected) = (Outputs::default(), Outputs::default());
    bench.golden.show(&in_reset.0, &mut seen);
    Golden::new(&Parameters::of::<Dll>(SPEC)).show(&Inputs::default(), &mut expected);
    assert_eq!(seen, expected, "asynchronous");
    assert_eq!(bench.cycle(in_reset), ["A17", "B14"]);
    bench.shows(reset);
    assert_eq!(bench.cycle(in_reset), ["A17", "B14"], "edges do nothing");
    bench.shows(reset);
}

#[test]
fn a1_the_first_edge_after_reset_takes_nothing() {
    let mut bench = Bench::just_reset(SPEC);
    assert_eq!(bench.cycle(idle().tlp(5)), ["A16"]);
    bench.shows([("a_next_seq", 0), ("a_tlp_ready", 1)]);
    assert_eq!(bench.cycle(idle().tlp(5)), ["A1", "A16"]);
    bench.shows([("a_next_seq", 1)]);
}

/// Section 8: taken in t, `a_next_seq` in t + 1, offered in t + 2.
#[test]
fn a12_a_tlp_is_offered_two_cycles_after_it_was_taken() {
    let mut bench = Bench::new(SPEC);
    bench.cycle(idle().tlp(0x1234_5678));
    bench.shows([("a_next_seq", 1), ("a_link_valid", 0)]);
    bench.fires("A12", idle());
    bench.offers(0, 0x1234_5678);
}

#[test]
fn a2_several_tlps_go_out_one_per_cycle() {
    let mut bench = Bench::new(SPEC);
    for number in 0..4 {
        bench.cycle(idle().tlp(100 + number));
    }
    for number in 0..4 {
        bench.offers(number, 100 + number);
        bench.fires("A2", idle().link_ready());
    }
    bench.shows([("a_link_valid", 0), ("a_link_seq", 3), ("a_link_data", 103)]);
}

/// Section 8: first handshake in t; timer k in t + 1 + k; A9 at edge t + 64; offered in t + 66.
#[test]
fn a9_the_oldest_tlp_is_offered_again_66_cycles_after_the_first_handshake() {
    let mut bench = Bench::new(SPEC);
    for number in 0..3 {
        bench.cycle(idle().tlp(100 + number));
    }
    bench.fires("A2", idle().link_ready()); // t
    bench.cycles_without("A9", 63, idle().link_ready()); // t + 1 .. t + 63
    bench.shows([("a_replay_num", 0)]);
    bench.fires("A9", idle().link_ready()); // t + 64
    bench.shows([("a_replay_num", 1), ("a_link_valid", 0)]); // t + 65
    bench.cycle(idle().link_ready());
    for number in 0..3 {
        bench.offers(number, 100 + number); // t + 66 ..
        bench.cycle(idle().link_ready());
    }
    bench.shows([("a_link_valid", 0)]);
    // The timer is 0 in t + 65, too: the next A9 is at edge t + 128.
    bench.cycles_without("A9", 128 - 70 + 1, idle().link_ready()); // t + 69 .. t + 127
    bench.fires("A9", idle());
}

#[test]
fn a3_an_ack_frees_and_restarts_timer_and_replay_num() {
    let mut bench = Bench::sent(SPEC, 3);
    bench.cycle(idle().nak(4095));
    bench.shows([("a_replay_num", 1)]);
    bench.fires("A3", idle().ack(1));
    bench.shows([("a_ackd_seq", 1), ("a_replay_num", 0), ("a_next_seq", 3)]);
    // Timer 0 in the cycle after the Ack; it expires 64 edges later.
    bench.cycles_without("A9", 63, idle());
    bench.fires("A9", idle());
}

#[test]
fn a4_a_nak_with_progress_frees_and_sends_again_but_does_not_reset_replay_num() {
    let mut bench = Bench::sent(SPEC, 4);
    bench.cycle(idle().nak(4095));
    let rules = bench.cycle(idle().nak(1));
    assert!(rules.contains(&"A4") && !rules.contains(&"A5"), "{rules:?}");
    bench.shows([("a_ackd_seq", 1), ("a_replay_num", 2), ("a_link_valid", 0)]);
    bench.cycle(idle());
    bench.offers(2, 102);
    bench.cycles_without("A9", 62, idle());
    bench.fires("A9", idle());
}

#[test]
fn a5_a_nak_without_progress_sends_again() {
    let mut bench = Bench::sent(SPEC, 2);
    bench.cycle(idle().ack(0));
    let rules = bench.cycle(idle().nak(0));
    assert!(rules.contains(&"A5") && !rules.contains(&"A4"), "{rules:?}");
    bench.shows([("a_ackd_seq", 0), ("a_replay_num", 1)]);
    bench.cycle(idle());
    bench.offers(1, 101);
}

#[test]
fn a5_fires_even_if_nothing_was_sent() {
    let mut bench = Bench::new(SPEC);
    assert_eq!(bench.cycle(idle().nak(4095)), ["A5", "A16"]);
    bench.shows([("a_replay_num", 1), ("a_dl_error", 0), ("a_link_valid", 0)]);
}

#[test]
fn a6_an_ack_of_nothing_new_leaves_the_timer() {
    let mut bench = Bench::sent(SPEC, 1); // the last cycle was the handshake: timer 0
    bench.cycles_without("A9", 30, idle());
    bench.fires("A6", idle().ack(4095));
    bench.cycles_without("A9", 32, idle());
    bench.fires("A9", idle());
}

#[test]
fn a7_a_dllp_out_of_range_pulses_dl_error_and_leaves_the_timer() {
    for n in [1, 2, 2047, 2048, 4094] {
        let mut bench = Bench::sent(SPEC, 1); // 4095 and 0 are in range
        bench.cycles_without("A9", 30, idle());
        let drive = if n % 2 == 0 { idle().ack(n) } else { idle().nak(n) };
        bench.fires("A7", drive);
        bench.shows([("a_dl_error", 1), ("a_ackd_seq", 4095), ("a_replay_num", 0)]);
        bench.cycle(idle());
        bench.shows([("a_dl_error", 0)]);
        bench.cycles_without("A9", 31, idle());
        bench.fires("A9", idle());
    }
}

/// Note A2: no answer is possible at the edge of the first handshake.
#[test]
fn a7_an_ack_at_the_edge_of_the_first_handshake_is_out_of_range() {
    let mut bench = Bench::new(SPEC);
    bench.cycle(idle().tlp(1));
    bench.cycle(idle());
    let rules = bench.cycle(idle().link_ready().ack(0));
    assert!(rules.contains(&"A7") && rules.contains(&"A2"), "{rules:?}");
    bench.shows([("a_ackd_seq", 4095)]);
    bench.fires("A3", idle().ack(0));
}

#[test]
fn a8_a_damaged_dllp_is_nothing() {
    for damaged in [idle().ack(0), idle().nak(0), idle().ack(77)] {
        let mut bench = Bench::sent(SPEC, 1);
        assert_eq!(bench.cycle(damaged.damaged_dllp()), ["A8", "A15"]);
        bench.shows([("a_ackd_seq", 4095), ("a_replay_num", 0), ("a_dl_error", 0)]);
    }
}

#[test]
fn a10_the_fourth_replay_asks_for_retraining_once() {
    let mut bench = Bench::sent(SPEC, 1);
    for replays in 1..=3 {
        bench.cycle(idle().nak(4095));
        bench.shows([("a_replay_num", replays), ("a_retrain", 0)]);
    }
    bench.fires("A10", idle().nak(4095));
    bench.shows([("a_replay_num", 0), ("a_retrain", 1)]);
    bench.cycle(idle());
    bench.shows([("a_replay_num", 0), ("a_retrain", 0)]);
    bench.offers(0, 100);
}

#[test]
fn a11_sixteen_tlps_fill_the_buffer_and_an_ack_makes_room_at_once() {
    let mut bench = Bench::new(SPEC);
    for number in 0..16 {
        bench.shows([("a_tlp_ready", 1)]);
        bench.cycle(idle().tlp(number).link_ready());
    }
    bench.shows([("a_tlp_ready", 0), ("a_next_seq", 16)]);
    bench.fires("A11", idle().tlp(99).link_ready());
    bench.cycle(idle().link_ready());
    bench.shows([("a_next_seq", 16)]);
    bench.cycle(idle().ack(0));
    bench.shows([("a_tlp_ready", 1)]);
    // Accepted and freed at the same edge: there is still room for one.
    bench.cycle(idle().tlp(16).ack(1));
    bench.shows([("a_tlp_ready", 1), ("a_next_seq", 17)]);
    bench.cycle(idle().tlp(17));
    bench.shows([("a_tlp_ready", 0)]);
}

#[test]
fn a13_an_offer_is_held_through_rewinds_and_frees() {
    let mut bench = Bench::sent(SPEC, 3);
    bench.cycle(idle().tlp(103));
    bench.cycle(idle());
    bench.offers(3, 103);
    bench.fires("A13", idle().nak(0));
    bench.offers(3, 103);
    bench.fires("A13", idle().ack(2));
    bench.offers(3, 103);
    // It is the oldest one now, so it is sent again after being accepted.
    bench.cycle(idle().link_ready());
    bench.offers(3, 103);
    bench.cycle(idle().link_ready());
    bench.shows([("a_link_valid", 0)]);
}

/// Note A12/A13: the entry of a waiting offer may be freed and reused.
#[test]
fn a13_an_offer_outlives_its_entry() {
    let mut bench = Bench::sent(SPEC, 16);
    bench.cycle(idle().nak(4095));
    bench.cycle(idle());
    bench.offers(0, 100);
    bench.cycle(idle().ack(0));
    bench.cycle(idle().tlp(116)); // takes entry 0
    bench.offers(0, 100);
    bench.cycle(idle().link_ready());
    bench.offers(1, 101);
}

#[test]
fn a14_an_ack_that_overtakes_a_replay_skips_what_it_frees() {
    let mut bench = Bench::sent(SPEC, 5);
    bench.cycle(idle().nak(4095));
    bench.cycle(idle());
    bench.offers(0, 100); // send_seq is 1
    let rules = bench.cycle(idle().link_ready().ack(2));
    assert!(rules.contains(&"A14") && !rules.contains(&"A12"), "{rules:?}");
    bench.shows([("a_link_valid", 0)]);
    bench.cycle(idle().link_ready());
    bench.offers(3, 103);
}

#[test]
fn a14_does_not_fire_for_what_the_replay_has_passed() {
    let mut bench = Bench::sent(SPEC, 5);
    bench.cycle(idle().nak(4095));
    bench.cycle(idle());
    bench.cycle(idle().link_ready());
    bench.offers(1, 101); // send_seq is 2
    let rules = bench.cycle(idle().link_ready().ack(1));
    assert!(!rules.contains(&"A14") && rules.contains(&"A12"), "{rules:?}");
    bench.offers(2, 102);
}

#[test]
fn a15_a16_the_timer_is_0_after_the_first_handshake_and_rests_without_one() {
    let mut bench = Bench::new(SPEC);
    bench.cycle(idle().tlp(1));
    bench.cycle(idle());
    bench.fires("A16", idle()); // on offer is not sent
    bench.fires("A16", idle().link_ready());
    bench.fires("A15", idle());
    bench.fires("A3", idle().ack(0));
    bench.fires("A16", idle());
}

/// A TLP that was handed over, with the timer at its limit.
fn at_the_limit() -> Bench {
    let mut bench = Bench::sent(SPEC, 1);
    bench.cycles_without("A9", 63, idle());
    bench
}

#[test]
fn the_timer_at_its_limit_meets_a_dllp() {
    let mut bench = at_the_limit();
    bench.cycles_without("A9", 1, idle().ack(0));
    bench.shows([("a_ackd_seq", 0), ("a_replay_num", 0)]);

    let mut bench = at_the_limit();
    let rules = bench.cycle(idle().nak(4095));
    assert!(rules.contains(&"A5") && !rules.contains(&"A9"), "{rules:?}");
    bench.shows([("a_replay_num", 1)]);

    for (rule, drive) in
        [("A6", idle().ack(4095)), ("A7", idle().nak(9)), ("A8", idle().nak(0).damaged_dllp())]
    {
        let mut bench = at_the_limit();
        let rules = bench.cycle(drive);
        assert!(rules.contains(&"A9") && rules.contains(&rule), "{rules:?}");
        bench.shows([("a_replay_num", 1), ("a_dl_error", u64::from(rule == "A7"))]);
    }
}

/// Section 8: rewind at edge t, the offer taken at the same edge; the handshake counts.
#[test]
fn a_rewind_meets_a_handshake() {
    let mut bench = Bench::sent(SPEC, 1);
    bench.cycle(idle().tlp(101));
    bench.cycle(idle());
    bench.offers(1, 101);
    let rules = bench.cycle(idle().link_ready().nak(4095)); // t
    assert!(rules.contains(&"A2") && rules.contains(&"A5"), "{rules:?}");
    bench.shows([("a_link_valid", 0)]); // t + 1
    bench.fires("A3", idle().ack(1)); // TLP 1 counts as sent; it and TLP 0 are freed
    bench.shows([("a_ackd_seq", 1)]);
}

#[test]
fn a_rewind_meets_a_new_tlp() {
    let mut bench = Bench::sent(SPEC, 2);
    bench.cycle(idle().tlp(102).nak(4095));
    bench.shows([("a_next_seq", 3), ("a_link_valid", 0)]);
    bench.cycle(idle());
    for number in 0..3 {
        bench.offers(number, 100 + number);
        bench.cycle(idle().link_ready());
    }
}

/// Section 8: Nak at edge t, the offer is taken in t + k, the oldest TLP offered in t + k + 1.
#[test]
fn after_a_rewind_the_oldest_tlp_follows_the_offer_that_waited() {
    let mut bench = Bench::sent(SPEC, 2);
    bench.cycle(idle().tlp(102));
    bench.cycle(idle());
    bench.cycle(idle().nak(4095));
    for _ in 0..3 {
        bench.offers(2, 102);
        bench.cycle(idle());
    }
    bench.cycle(idle().link_ready());
    bench.offers(0, 100);
}

#[test]
fn sequence_numbers_roll_over() {
    let mut bench = Bench::new(SPEC);
    for number in 0..4096 + 3 {
        bench.cycle(idle().tlp(number).link_ready());
        bench.cycle(idle().link_ready());
        bench.shows([("a_link_valid", 1), ("a_link_seq", number % 4096), ("a_link_data", number)]);
        bench.cycle(idle().link_ready());
        // Acknowledge all but the newest 9.
        if number >= 9 {
            bench.fires("A3", idle().ack((number - 9) % 4096));
        }
    }
    // 4090 .. 4095, 0, 1, 2 are in the buffer; 4089 is acknowledged.
    bench.shows([("a_ackd_seq", 4089), ("a_next_seq", 3)]);
    bench.fires("A7", idle().ack(3));
    bench.fires("A7", idle().ack(4088));
    bench.fires("A4", idle().nak(4094));
    bench.cycle(idle());
    for (seq, data) in [(4095, 4095), (0, 4096), (1, 4097), (2, 4098)] {
        bench.offers(seq, data);
        bench.cycle(idle().link_ready());
    }
    bench.fires("A3", idle().ack(1));
    bench.shows([("a_ackd_seq", 1)]);
}

/// B after TLPs 0 to `count` − 1; their Ack was handed over and the timer is stopped.
fn received(mask: u8, count: u64) -> Bench {
    let mut bench = Bench::new(mask);
    for number in 0..count {
        bench.cycle(idle().arrives(number, number).dllp_ready());
    }
    for _ in 0..20 {
        bench.cycle(idle().dllp_ready());
    }
    bench.shows([("b_next_rcv_seq", count), ("b_dllp_valid", 0)]);
    bench
}

/// Section 8: delivered in t + 1; Ack visible in t + 17.
#[test]
fn b1_b7_a_wanted_tlp_is_delivered_at_once_and_acknowledged_16_cycles_later() {
    let mut bench = received(SPEC, 3);
    bench.fires("B1", idle().arrives(3, 0xabcd)); // t
    bench.shows([("b_deliver_valid", 1), ("b_deliver_data", 0xabcd), ("b_next_rcv_seq", 4)]);
    bench.fires("B13", idle()); // t + 1
    bench.shows([("b_deliver_valid", 0), ("b_deliver_data", 0xabcd)]);
    bench.cycles_without("B7", 14, idle()); // t + 2 .. t + 15
    bench.shows([("b_dllp_valid", 0)]);
    let rules = bench.cycle(idle()); // t + 16
    assert_eq!(rules, ["A16", "B7", "B12"]);
    bench.answers(0, 3); // t + 17
    bench.fires("B11", idle().dllp_ready());
    bench.shows([("b_dllp_valid", 0), ("b_dllp_seq", 3)]);
}

/// Note "B1 with B7": the Ack covers the TLP of the same edge, and the timer stops.
#[test]
fn b7_an_ack_covers_the_tlp_of_the_same_edge() {
    let mut bench = received(SPEC, 1);
    bench.cycle(idle().arrives(1, 1));
    bench.cycles_without("B7", 15, idle());
    let rules = bench.cycle(idle().arrives(2, 2));
    assert_eq!(rules, ["A16", "B1", "B7", "B12"]);
    bench.answers(0, 2);
    bench.cycles_without("B13", 40, idle().dllp_ready());
}

#[test]
fn b13_a_wanted_tlp_or_a_duplicate_does_not_restart_the_timer() {
    let mut bench = received(SPEC, 1);
    bench.cycle(idle().arrives(1, 1));
    for cycle in 1..16 {
        let drive = if cycle % 2 == 0 { idle().arrives(0, 0) } else { idle() };
        bench.fires("B13", if cycle == 5 { idle().arrives(2, 2) } else { drive });
    }
    bench.fires("B7", idle());
    bench.answers(0, 2);
}

/// Section 7: ahead means 1 to 2047, a duplicate is 1 to 2048 behind; a bad TLP's number is
/// ignored.
#[test]
fn b3_b4_b5_the_class_of_a_tlp_is_its_distance() {
    for (seq, rule) in
        [(10, "B1"), (11, "B5"), (2057, "B5"), (2058, "B3"), (4095, "B3"), (0, "B3"), (9, "B3")]
    {
        received(SPEC, 10).fires(rule, idle().arrives(seq, 0));
        received(SPEC, 10).fires("B4", idle().bad(seq));
    }
}

#[test]
fn b3_a_duplicate_is_dropped_and_answered() {
    let mut bench = received(SPEC, 5);
    bench.fires("B3", idle().arrives(2, 2));
    bench.shows([("b_deliver_valid", 0), ("b_next_rcv_seq", 5)]);
    bench.cycles_without("B7", 15, idle());
    bench.fires("B7", idle());
    bench.answers(0, 4);
}

#[test]
fn b4_b5_a_nak_goes_out_at_once_and_stops_the_timer() {
    for (rule, drive) in [("B4", idle().bad(5)), ("B5", idle().arrives(6, 0))] {
        let mut bench = received(SPEC, 4);
        bench.cycle(idle().arrives(4, 4)); // starts the timer
        bench.fires(rule, drive);
        bench.answers(1, 4);
        bench.shows([("b_nak_scheduled", 1), ("b_next_rcv_seq", 5), ("b_deliver_valid", 0)]);
        bench.cycles_without("B13", 40, idle().dllp_ready());
        bench.shows([("b_dllp_valid", 0), ("b_nak_scheduled", 1)]);
    }
}

#[test]
fn b4_beats_the_timer_at_its_limit() {
    let mut bench = received(SPEC, 1);
    bench.cycle(idle().arrives(1, 1));
    bench.cycles_without("B7", 15, idle());
    let rules = bench.cycle(idle().bad(2));
    assert_eq!(rules, ["A16", "B4", "B12"]);
    bench.answers(1, 1);
}

#[test]
fn b6_one_nak_is_enough() {
    for mask in [SPEC, REPAIRED] {
        let mut bench = received(mask, 2);
        bench.cycle(idle().bad(2));
        bench.cycle(idle().dllp_ready());
        for drive in [idle().arrives(3, 0), idle().bad(2), idle().arrives(4, 0)] {
            bench.fires("B6", drive.dllp_ready());
            bench.shows([("b_dllp_valid", 0), ("b_nak_scheduled", 1), ("b_next_rcv_seq", 2)]);
        }
        bench.fires("B1", idle().arrives(2, 9));
        bench.shows([("b_nak_scheduled", 0), ("b_next_rcv_seq", 3)]);
        bench.cycles_without("B7", 15, idle());
        bench.fires("B7", idle());
    }
}

#[test]
fn b2_without_f0_a_duplicate_meets_silence_while_a_nak_is_out() {
    let mut bench = received(SPEC, 2);
    bench.cycle(idle().bad(2));
    bench.fires("B2", idle().arrives(1, 1).dllp_ready());
    bench.cycles_without("B13", 40, idle());
    bench.shows([("b_dllp_valid", 0), ("b_nak_scheduled", 1)]);
}

#[test]
fn f0_answers_a_duplicate_while_a_nak_is_out() {
    let mut bench = received(REPAIRED, 2);
    bench.cycle(idle().bad(2));
    let rules = bench.cycle(idle().arrives(1, 1).dllp_ready()); // t
    assert!(rules.contains(&"F0") && !rules.contains(&"B2"), "{rules:?}");
    // A bad TLP does not stop the timer (note F0).
    bench.fires("B6", idle().bad(3)); // t + 1
    bench.cycles_without("B7", 14, idle());
    bench.fires("B7", idle()); // t + 16
    bench.answers(0, 1);
    bench.shows([("b_nak_scheduled", 1)]);
}

#[test]
fn f0_a_wanted_tlp_does_not_restart_the_timer_that_runs() {
    let mut bench = received(REPAIRED, 2);
    bench.cycle(idle().bad(2));
    bench.fires("F0", idle().arrives(0, 0).dllp_ready());
    bench.cycles_without("B7", 7, idle());
    bench.fires("B1", idle().arrives(2, 2));
    bench.shows([("b_nak_scheduled", 0)]);
    bench.cycles_without("B7", 7, idle());
    bench.fires("B7", idle());
    bench.answers(0, 2);
}

/// B with an Ack of TLP 0 that waits, and TLP 1 received after it.
fn waiting_ack() -> Bench {
    let mut bench = Bench::new(SPEC);
    bench.cycle(idle().arrives(0, 0));
    bench.cycles_without("B7", 15, idle());
    bench.fires("B12", idle());
    bench.cycle(idle().arrives(1, 1));
    bench.answers(0, 0);
    bench
}

#[test]
fn b8_a_newer_ack_takes_the_place_of_the_one_that_waits() {
    let mut bench = waiting_ack();
    for _ in 0..15 {
        bench.cycle(idle());
        bench.answers(0, 0);
    }
    let rules = bench.cycle(idle());
    assert_eq!(rules, ["A16", "B7", "B8"]);
    bench.answers(0, 1);
}

#[test]
fn b9_a_nak_takes_the_place_of_the_ack_that_waits() {
    let mut bench = waiting_ack();
    let rules = bench.cycle(idle().arrives(3, 3));
    assert_eq!(rules, ["A16", "B5", "B9"]);
    bench.answers(1, 1);
}

#[test]
fn b10_a_nak_that_waits_stays() {
    let mut bench = Bench::new(SPEC);
    bench.cycle(idle().bad(0));
    bench.answers(1, 4095);
    bench.cycle(idle().arrives(0, 0));
    bench.cycles_without("B7", 15, idle());
    let rules = bench.cycle(idle());
    assert_eq!(rules, ["A16", "B7", "B10"]);
    bench.answers(1, 4095);
    // A Nak does not replace it either, but becomes pending.
    let rules = bench.cycle(idle().bad(1));
    assert_eq!(rules, ["A16", "B4", "B10"]);
    bench.answers(1, 4095);
    bench.shows([("b_nak_scheduled", 1)]);
}

#[test]
fn b12_a_dllp_follows_the_one_that_is_handed_over() {
    let mut bench = waiting_ack();
    let rules = bench.cycle(idle().bad(2).dllp_ready());
    assert_eq!(rules, ["A16", "B4", "B11", "B12"]);
    bench.answers(1, 1);
}

#[test]
fn states_tell_of_naks_and_replays() {
    let mut bench = Bench::sent(SPEC, 2);
    assert_eq!(bench.golden.state(), "normal");
    bench.cycle(idle().bad(0));
    assert_eq!(bench.golden.state(), "nak-scheduled");
    bench.cycle(idle().nak(4095));
    assert_eq!(bench.golden.state(), "replaying+nak");
    bench.cycle(idle().arrives(0, 100).link_ready());
    assert_eq!(bench.golden.state(), "replaying");
    bench.cycle(idle().link_ready());
    assert_eq!(bench.golden.state(), "normal", "the last repeat is on offer");
}
