//! Each rule alone and combinations; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::recv::rules::RULES;
use cosim_core::harness::Golden as _;

const FLOW: u64 = 0;
const EAGER: u64 = 4;
const RNDV_DATA: u64 = 5;
const DP: u64 = 6;

// State codes.
const AWAIT_CP: u64 = 0;
const DETERMINE_CP_TYPE: u64 = 1;
const CHECK_POSTED: u64 = 2;
const PROC_UNEXP_CP: u64 = 3;
const AWAIT_UNEXP_DP: u64 = 4;
const PROC_UNEXP_DP: u64 = 5;
const RECV_POSTED_DATA: u64 = 6;

/// The pins of a cycle; pins that are not named are 0.
#[derive(Debug, Clone, Copy, Default)]
struct Drive(Inputs);

fn one() -> Bits1 {
    Bits1::new(1)
}

fn idle() -> Drive {
    Drive::default()
}

/// A packet of 100 bytes.
fn packet(kind: u64, id: u64) -> Drive {
    let mut drive = idle();
    drive.0.pkt_valid = one();
    drive.0.pkt_kind = Bits3::new(kind);
    drive.0.pkt_id = Bits8::new(id);
    drive.0.pkt_len = Bits16::new(100);
    drive
}

impl Drive {
    fn last(mut self) -> Self {
        self.0.pkt_last = one();
        self
    }

    fn msg_len(mut self, bytes: u64) -> Self {
        self.0.pkt_msg_len = Bits32::new(bytes);
        self
    }

    fn free(mut self, buffers: u64) -> Self {
        self.0.pool_free = Bits8::new(buffers);
        self
    }

    fn answer(mut self, found: bool) -> Self {
        self.0.match_rsp = one();
        self.0.match_found = Bits1::from(found);
        self
    }

    fn done(mut self) -> Self {
        self.0.posted_done = one();
        self
    }

    fn credit_ready(mut self) -> Self {
        self.0.credit_ready = one();
        self
    }

    fn temp_ok(mut self) -> Self {
        self.0.temp_alloc_ok = one();
        self
    }

    fn reset(mut self) -> Self {
        self.0.rst = one();
        self
    }
}

/// The outputs of a cycle; those that are not named are 0.
#[derive(Debug, Clone, Copy, Default)]
struct ExpectedOutputs(Outputs);

/// A state and the buffers in the ring.
fn want(state: u64, level: u64) -> ExpectedOutputs {
    let mut want = ExpectedOutputs::default();
    want.0.state = Bits3::new(state);
    want.0.ring_level = Bits8::new(level);
    want
}

impl ExpectedOutputs {
    fn ready(mut self) -> Self {
        self.0.pkt_ready = one();
        self
    }

    fn asks(mut self, id: u64) -> Self {
        (self.0.match_req, self.0.match_id) = (one(), Bits8::new(id));
        self
    }

    /// Copied and released; 100 bytes.
    fn copied(mut self, id: u64) -> Self {
        (self.0.copy_valid, self.0.copy_id) = (one(), Bits8::new(id));
        self.0.copy_len = Bits16::new(100);
        self.released(id)
    }

    fn released(mut self, id: u64) -> Self {
        (self.0.release_valid, self.0.release_id) = (one(), Bits8::new(id));
        self
    }

    fn kept(mut self, id: u64) -> Self {
        (self.0.keep_valid, self.0.keep_id) = (one(), Bits8::new(id));
        self
    }

    fn temporary(mut self, bytes: u64) -> Self {
        (self.0.temp_alloc_valid, self.0.temp_alloc_len) = (one(), Bits32::new(bytes));
        self
    }

    fn alloc(mut self, buffers: u64) -> Self {
        (self.0.alloc_valid, self.0.alloc_count) = (one(), Bits8::new(buffers));
        self
    }

    fn credit(mut self, buffers: u64) -> Self {
        (self.0.credit_valid, self.0.credit_count) = (one(), Bits8::new(buffers));
        self
    }

    fn error(mut self) -> Self {
        self.0.protocol_error = one();
        self
    }
}

struct Bench(Golden);

impl Bench {
    fn with(fixes: u8, low: u64, high: u64, keep: u64) -> Self {
        let parameters = Parameters::of::<Recv>(fixes);
        Self(Golden::new(&parameters.with(LOW, low).with(HIGH, high).with(KEEP, keep)))
    }

    /// `spec`: LOW 4, HIGH 16, KEEP 8.
    fn new() -> Self {
        Self::with(0x00, 4, 16, 8)
    }

    fn cycle(&mut self, drive: Drive) -> (Outputs, String) {
        let mut outputs = Outputs::default();
        self.0.show(&drive.0, &mut outputs);
        let fired = self.0.edge(&drive.0);
        let names: Vec<&str> = fired.iter().map(|index| RULES[index].name).collect();
        (outputs, names.join(" "))
    }

    /// Checks one cycle: every output and the rules that fire.
    #[track_caller]
    fn is(&mut self, drive: Drive, want: ExpectedOutputs, rules: &str) {
        let (outputs, fired) = self.cycle(drive);
        assert_eq!(outputs, want.0);
        assert_eq!(fired, rules);
    }

    /// The block in a state, with 15 buffers in the ring and none in the pool. The message began
    /// with CP 9 of 100 bytes and has 3000. In AWAIT_CP and DETERMINE_CP_TYPE there are 16 buffers
    /// and no message.
    fn at(state: u64) -> Self {
        let mut bench = Self::new();
        bench.bring(state, packet(EAGER, 9).msg_len(3000), idle());
        bench
    }

    fn bring(&mut self, state: u64, cp: Drive, choice: Drive) {
        if state >= DETERMINE_CP_TYPE {
            self.cycle(packet(FLOW, 1));
        }
        if state >= CHECK_POSTED {
            self.cycle(cp);
        }
        match state {
            PROC_UNEXP_CP..=PROC_UNEXP_DP => {
                self.cycle(idle().answer(false));
            }
            RECV_POSTED_DATA => {
                self.cycle(idle().answer(true));
            }
            _ => {}
        }
        if (AWAIT_UNEXP_DP..=PROC_UNEXP_DP).contains(&state) {
            self.cycle(choice);
        }
        if state == PROC_UNEXP_DP {
            self.cycle(packet(DP, 1));
        }
        assert_eq!(self.0.registers.state as u64, state);
    }
}

#[test]
fn p1_p2_await_cp_sees_a_packet_and_takes_none() {
    let mut bench = Bench::new();
    bench.is(idle().answer(true).done().temp_ok().credit_ready(), want(AWAIT_CP, 16), "P1");
    bench.is(packet(EAGER, 7), want(AWAIT_CP, 16), "P2");
    bench.is(idle(), want(DETERMINE_CP_TYPE, 16).ready(), "P3");
}

#[test]
fn p3_determine_cp_type_waits_for_a_packet_and_for_the_ring() {
    let mut bench = Bench::with(0, 1, 1, 8);
    bench.cycle(packet(FLOW, 1));
    bench.is(idle(), want(DETERMINE_CP_TYPE, 1).ready(), "P3");
    bench.is(packet(FLOW, 1), want(DETERMINE_CP_TYPE, 1).ready().released(1), "P4 G3");
    bench.is(packet(FLOW, 2), want(AWAIT_CP, 0), "P2");
    bench.is(packet(FLOW, 2), want(DETERMINE_CP_TYPE, 0), "P3");
    bench.is(packet(FLOW, 2).free(1), want(DETERMINE_CP_TYPE, 0).alloc(1), "P3 G4 K1");
    bench.is(packet(FLOW, 2), want(DETERMINE_CP_TYPE, 1).ready().released(2).credit(1), "P4 G3");
}

#[test]
fn p4_to_p7_control_packets_are_released() {
    for kind in 0..4 {
        let mut bench = Bench::at(DETERMINE_CP_TYPE);
        let rules = format!("P{} G1", 4 + kind);
        bench.is(packet(kind, 9), want(DETERMINE_CP_TYPE, 16).ready().released(9), &rules);
        bench.is(idle(), want(AWAIT_CP, 15), "P1");
    }
}

#[test]
fn p8_an_eager_cp_is_held_and_asked_for() {
    let mut bench = Bench::at(DETERMINE_CP_TYPE);
    bench.is(packet(EAGER, 9), want(DETERMINE_CP_TYPE, 16).ready(), "P8 G1");
    bench.is(packet(DP, 3), want(CHECK_POSTED, 15).asks(9), "P11");
}

#[test]
fn p9_rendezvous_data_goes_to_its_place() {
    let mut bench = Bench::at(DETERMINE_CP_TYPE);
    // `posted_done` is ignored before RECV_POSTED_DATA.
    let drive = packet(RNDV_DATA, 9).last().done();
    bench.is(drive, want(DETERMINE_CP_TYPE, 16).ready().copied(9), "P9 G1");
    bench.is(idle(), want(RECV_POSTED_DATA, 15), "P29");
}

#[test]
fn p10_what_is_no_control_packet_is_released_and_told() {
    for kind in [6, 7] {
        let mut bench = Bench::at(DETERMINE_CP_TYPE);
        let told = want(DETERMINE_CP_TYPE, 16).ready().released(9).error();
        bench.is(packet(kind, 9), told, "P10 G1");
        bench.is(idle(), want(AWAIT_CP, 15), "P1");
    }
}

#[test]
fn p11_to_p13_the_answer_decides() {
    let mut bench = Bench::at(CHECK_POSTED);
    // `match_found` is ignored without `match_rsp`.
    let mut drive = idle();
    drive.0.match_found = one();
    bench.is(drive, want(CHECK_POSTED, 15).asks(9), "P11");
    bench.is(packet(DP, 4).answer(true), want(CHECK_POSTED, 15).asks(9).copied(9), "P12");
    bench.is(idle(), want(RECV_POSTED_DATA, 15), "P29");
    let mut bench = Bench::at(CHECK_POSTED);
    bench.is(packet(DP, 4).answer(false), want(CHECK_POSTED, 15).asks(9), "P13");
    bench.is(idle().free(8), want(PROC_UNEXP_CP, 15).kept(9), "P17 U3");
}

/// A CP that is the whole message, before the choice, under a mask.
fn whole(fixes: u8) -> Bench {
    let mut bench = Bench::with(fixes, 4, 16, 8);
    bench.bring(PROC_UNEXP_CP, packet(EAGER, 9).last().msg_len(100), idle());
    bench
}

#[test]
fn p14_p15_with_f0_a_message_of_one_packet_is_over() {
    for fixes in [0x01, 0xff] {
        let mut bench = whole(fixes);
        bench.is(packet(FLOW, 2).free(8), want(PROC_UNEXP_CP, 15).kept(9), "P14 U3 F0");
        bench.is(packet(FLOW, 2), want(DETERMINE_CP_TYPE, 15).ready().released(2), "P4 G1");
        let mut bench = whole(fixes);
        let copied = want(PROC_UNEXP_CP, 15).temporary(100).copied(9);
        bench.is(idle().temp_ok(), copied, "P15 U1 F0");
        bench.is(idle(), want(AWAIT_CP, 15), "P1");
    }
}

#[test]
fn p16_p17_without_f0_it_waits_for_another_packet() {
    for fixes in [0x00, 0xfe] {
        let mut bench = whole(fixes);
        bench.is(idle().free(8), want(PROC_UNEXP_CP, 15).kept(9), "P17 U3");
        bench.is(idle(), want(AWAIT_UNEXP_DP, 15), "P18");
        bench.is(packet(FLOW, 2), want(AWAIT_UNEXP_DP, 15), "P19");
        // The message is complete: nothing is accepted, and the end is detected.
        bench.is(packet(FLOW, 2), want(PROC_UNEXP_DP, 15), "P25");
        bench.is(packet(FLOW, 2), want(DETERMINE_CP_TYPE, 15).ready().released(2), "P4 G1");
        let mut bench = whole(fixes);
        bench.is(packet(FLOW, 2).free(8), want(PROC_UNEXP_CP, 15).kept(9), "P16 U3");
        bench.is(idle(), want(PROC_UNEXP_DP, 15), "P26");
        bench.is(idle(), want(AWAIT_CP, 15), "P1");
    }
}

#[test]
fn p16_p17_a_message_with_dps_waits_for_them_with_and_without_f0() {
    for fixes in [0x00, 0x01] {
        let mut bench = Bench::with(fixes, 4, 16, 8);
        bench.bring(PROC_UNEXP_CP, packet(EAGER, 9), idle());
        bench.is(packet(DP, 2).free(8), want(PROC_UNEXP_CP, 15).kept(9), "P16 U3");
        bench.is(packet(DP, 2), want(PROC_UNEXP_DP, 15).ready().kept(2), "P21 G1");
        let mut bench = Bench::with(fixes, 4, 16, 8);
        bench.bring(PROC_UNEXP_CP, packet(EAGER, 9), idle());
        bench.is(idle().free(8), want(PROC_UNEXP_CP, 15).kept(9), "P17 U3");
        bench.is(idle(), want(AWAIT_UNEXP_DP, 15), "P18");
    }
}

#[test]
fn u1_to_u3_the_pool_and_the_temporary_buffer_choose() {
    let mut bench = Bench::at(PROC_UNEXP_CP);
    let asked = want(PROC_UNEXP_CP, 15).temporary(3000);
    bench.is(idle().free(7).temp_ok(), asked.copied(9), "P17 U1");
    let mut bench = Bench::at(PROC_UNEXP_CP);
    bench.is(idle().free(7), asked.kept(9), "P17 U2");
    let mut bench = Bench::at(PROC_UNEXP_CP);
    bench.is(idle().free(8).temp_ok(), want(PROC_UNEXP_CP, 15).kept(9), "P17 U3");
    // The numbers are unsigned: 255 is not low.
    let mut bench = Bench::at(PROC_UNEXP_CP);
    bench.is(idle().free(255).temp_ok(), want(PROC_UNEXP_CP, 15).kept(9), "P17 U3");
}

#[test]
fn u1_to_u3_keep_is_where_the_pool_is_low() {
    for (keep, free, low) in [(0, 0, false), (1, 0, true), (255, 254, true), (255, 255, false)] {
        let mut bench = Bench::with(0, 4, 16, keep);
        bench.bring(PROC_UNEXP_CP, packet(EAGER, 9).msg_len(7), idle());
        let (outputs, _) = bench.cycle(idle().free(free).temp_ok());
        assert_eq!(outputs.temp_alloc_valid.is_high(), low, "{keep} {free}");
        assert_eq!(outputs.copy_valid.is_high(), low, "{keep} {free}");
    }
}

#[test]
fn p18_p19_await_unexp_dp_takes_nothing() {
    let mut bench = Bench::at(AWAIT_UNEXP_DP);
    bench.is(idle().done().answer(true), want(AWAIT_UNEXP_DP, 15), "P18");
    bench.is(packet(DP, 3), want(AWAIT_UNEXP_DP, 15), "P19");
    bench.is(packet(DP, 3), want(PROC_UNEXP_DP, 15).ready().kept(3), "P21 G1");
}

#[test]
fn p20_p21_dps_are_as_the_message_was_chosen() {
    let mut bench = Bench::new();
    bench.bring(PROC_UNEXP_DP, packet(EAGER, 9), idle().temp_ok());
    // The pool is not tested again.
    let drive = packet(DP, 3).free(255);
    bench.is(drive, want(PROC_UNEXP_DP, 15).ready().copied(3), "P20 G1");
    bench.is(packet(DP, 4).last(), want(PROC_UNEXP_DP, 14).ready().copied(4), "P20 G1");
    bench.is(packet(DP, 5), want(PROC_UNEXP_DP, 13), "P25");
    bench.is(packet(DP, 5), want(DETERMINE_CP_TYPE, 13).ready().released(5).error(), "P10 G1");

    let mut bench = Bench::at(PROC_UNEXP_DP);
    let drive = packet(DP, 3).temp_ok();
    bench.is(drive, want(PROC_UNEXP_DP, 15).ready().kept(3), "P21 G1");
    bench.is(packet(DP, 4).last(), want(PROC_UNEXP_DP, 14).ready().kept(4), "P21 G1");
    bench.is(idle(), want(PROC_UNEXP_DP, 13), "P26");
    bench.is(idle(), want(AWAIT_CP, 13), "P1");
}

#[test]
fn p22_what_is_no_dp_is_released_and_does_not_end_the_message() {
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        let mut bench = Bench::at(PROC_UNEXP_DP);
        let told = want(PROC_UNEXP_DP, 15).ready().released(3).error();
        bench.is(packet(kind, 3).last(), told, "P22 G1");
        bench.is(packet(DP, 4), want(PROC_UNEXP_DP, 14).ready().kept(4), "P21 G1");
    }
}

#[test]
fn p23_p24_proc_unexp_dp_waits_for_the_ring_but_not_for_packets() {
    let mut bench = Bench::with(0, 1, 1, 8);
    bench.bring(PROC_UNEXP_DP, packet(EAGER, 9), idle());
    bench.is(packet(DP, 3), want(PROC_UNEXP_DP, 0), "P23");
    bench.is(packet(DP, 3).free(9), want(PROC_UNEXP_DP, 0).alloc(1), "P23 G4 K1");
    bench.is(packet(DP, 3), want(PROC_UNEXP_DP, 1).ready().kept(3).credit(1), "P21 G3");
    bench.is(idle(), want(PROC_UNEXP_DP, 0).credit(1), "P24");
    bench.is(idle(), want(AWAIT_UNEXP_DP, 0).credit(1), "P18");
    let mut bench = Bench::at(PROC_UNEXP_DP);
    bench.is(idle(), want(PROC_UNEXP_DP, 15).ready(), "P24");
}

#[test]
fn p25_p26_the_end_of_a_message_is_seen_even_with_an_empty_ring() {
    for waits in [false, true] {
        let mut bench = Bench::with(0, 1, 1, 8);
        bench.bring(PROC_UNEXP_DP, packet(EAGER, 9), idle());
        bench.cycle(packet(DP, 3).free(1));
        bench.cycle(packet(DP, 3).last());
        let (drive, rule) = if waits { (packet(FLOW, 4), "P25") } else { (idle(), "P26") };
        bench.is(drive, want(PROC_UNEXP_DP, 0).credit(1), rule);
        let state = if waits { DETERMINE_CP_TYPE } else { AWAIT_CP };
        bench.is(idle(), want(state, 0).credit(1), if waits { "P3" } else { "P1" });
    }
}

#[test]
fn p27_to_p30_posted_data_is_taken_until_it_is_finished() {
    let mut bench = Bench::at(RECV_POSTED_DATA);
    bench.is(packet(DP, 3), want(RECV_POSTED_DATA, 15).ready().copied(3), "P27 G1");
    // The last packet alone finishes nothing.
    bench.is(packet(DP, 4).last(), want(RECV_POSTED_DATA, 14).ready().copied(4), "P27 G1");
    bench.is(idle(), want(RECV_POSTED_DATA, 13), "P29");
    bench.is(packet(DP, 5).done(), want(RECV_POSTED_DATA, 13).ready().copied(5), "P28 G1");
    bench.is(idle(), want(AWAIT_CP, 12), "P1");
    let mut bench = Bench::at(RECV_POSTED_DATA);
    bench.is(idle().done(), want(RECV_POSTED_DATA, 15), "P30");
    bench.is(idle().done(), want(AWAIT_CP, 15), "P1");
}

#[test]
fn p29_p30_what_is_no_dp_waits_for_await_cp() {
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        let mut bench = Bench::at(RECV_POSTED_DATA);
        bench.is(packet(kind, 3), want(RECV_POSTED_DATA, 15), "P29");
        bench.is(packet(kind, 3).done(), want(RECV_POSTED_DATA, 15), "P30");
        bench.is(packet(kind, 3), want(AWAIT_CP, 15), "P2");
    }
}

#[test]
fn posted_data_waits_for_the_ring() {
    let mut bench = Bench::with(0, 1, 1, 8);
    bench.bring(RECV_POSTED_DATA, packet(EAGER, 9), idle());
    bench.is(packet(DP, 3), want(RECV_POSTED_DATA, 0), "P29");
    bench.is(packet(DP, 3).done(), want(RECV_POSTED_DATA, 0), "P30");
}

#[test]
fn p0_code_7_leads_home() {
    for drive in [idle(), packet(EAGER, 3).answer(true).done()] {
        let mut bench = Bench::new();
        bench.0.registers.state = State::None;
        bench.is(drive, want(7, 16), "P0");
        bench.is(idle(), want(AWAIT_CP, 16), "P1");
    }
}

/// The block in RECV_POSTED_DATA with this number of buffers in the ring and no pending credit.
fn ring(low: u64, high: u64, level: u64) -> Bench {
    let mut bench = Bench::with(0, low, high, 8);
    bench.bring(RECV_POSTED_DATA, packet(EAGER, 9), idle());
    for _ in level..high - 1 {
        bench.cycle(packet(DP, 1));
    }
    bench
}

#[test]
fn g1_to_g3_the_ring_is_refilled_when_it_is_low_after_the_packet() {
    // 5 - 1 = 4 is not below LOW.
    let mut bench = ring(4, 16, 5);
    bench.is(packet(DP, 3).free(99), want(RECV_POSTED_DATA, 5).ready().copied(3), "P27 G1");
    // 4 - 1 = 3 is: 16 - 3 = 13 places.
    let taken = want(RECV_POSTED_DATA, 4).ready().copied(3);
    bench.is(packet(DP, 3).free(99), taken.alloc(13), "P27 G2 K1");
    bench.is(idle().free(99), want(RECV_POSTED_DATA, 16).credit(13), "P29");
    // All free buffers are used.
    let mut bench = ring(4, 16, 4);
    bench.is(packet(DP, 3).free(2), taken.alloc(2), "P27 G2 K1");
    bench.is(idle().free(99), want(RECV_POSTED_DATA, 5).credit(2), "P29");
    // No buffer is free: retry with the next packet, not before.
    let mut bench = ring(4, 16, 4);
    bench.is(packet(DP, 3), taken, "P27 G3");
    bench.is(idle().free(99), want(RECV_POSTED_DATA, 3), "P29");
    let taken = want(RECV_POSTED_DATA, 3).ready().copied(3);
    bench.is(packet(DP, 3).free(14), taken.alloc(14), "P27 G2 K1");
    bench.is(idle(), want(RECV_POSTED_DATA, 16).credit(14), "P29");
}

#[test]
fn g4_an_empty_ring_is_refilled_without_a_packet_in_any_state() {
    let mut bench = ring(4, 16, 1);
    bench.is(packet(DP, 3), want(RECV_POSTED_DATA, 1).ready().copied(3), "P27 G3");
    bench.is(packet(DP, 3), want(RECV_POSTED_DATA, 0), "P29");
    bench.is(idle().done(), want(RECV_POSTED_DATA, 0), "P30");
    // No packet is accepted in this cycle, and all 16 places are free.
    bench.is(packet(FLOW, 4).free(99), want(AWAIT_CP, 0).alloc(16), "P2 G4 K1");
    bench.is(packet(FLOW, 4), want(DETERMINE_CP_TYPE, 16).ready().released(4).credit(16), "P4 G1");
}

#[test]
fn a_low_above_high_is_as_low_is_high() {
    for low in [2, 3, 255] {
        let mut bench = Bench::with(0, low, 2, 8);
        bench.bring(RECV_POSTED_DATA, packet(EAGER, 9), idle());
        // 2 - 1 = 1 was left of the CP; 1 - 1 = 0 is left now.
        let taken = want(RECV_POSTED_DATA, 1).ready().copied(3);
        bench.is(packet(DP, 3).free(9), taken.alloc(2), "P27 G2 K1");
        let taken = want(RECV_POSTED_DATA, 2).ready().copied(4).credit(2);
        bench.is(packet(DP, 4).free(9), taken.alloc(1), "P27 G2 K1");
    }
}

#[test]
fn k1_to_k3_credits_are_added_up_until_they_are_taken() {
    let mut bench = ring(16, 16, 15);
    let taken = want(RECV_POSTED_DATA, 15).ready().copied(3);
    bench.is(packet(DP, 3).free(1).credit_ready(), taken.alloc(1), "P27 G2 K1");
    bench.is(packet(DP, 3).free(2), taken.alloc(2).credit(1), "P27 G2 K1");
    // 1 + 2 are taken, 1 is new.
    let taken = want(RECV_POSTED_DATA, 16).ready().copied(3);
    bench.is(packet(DP, 3).free(9).credit_ready(), taken.alloc(1).credit(3), "P27 G2 K2");
    bench.is(idle().free(9).credit_ready(), want(RECV_POSTED_DATA, 16).credit(1), "P29 K3");
    bench.is(idle().free(9).credit_ready(), want(RECV_POSTED_DATA, 16), "P29");
}

#[test]
fn o1_no_refill_takes_the_credit_past_255() {
    // The CP left 15 buffers; each packet is replaced, so that 15 are left again.
    let mut bench = ring(16, 16, 15);
    let full = |bench: &mut Bench, credits: u64| {
        for _ in 1..credits {
            bench.cycle(packet(DP, 1).free(1));
        }
    };
    // 254 credits of one each.
    full(&mut bench, 255);
    let now = want(RECV_POSTED_DATA, 15).ready().copied(3).credit(254);
    // 254 + 2 > 255: not even one of them.
    bench.is(packet(DP, 3).free(9), now, "P27 G3 O1");
    // The credit that is accepted at this edge does not help.
    let now = want(RECV_POSTED_DATA, 14).ready().copied(3).credit(254);
    bench.is(packet(DP, 3).free(2).credit_ready(), now, "P27 G3 O1 K3");
    let now = want(RECV_POSTED_DATA, 13).ready().copied(3);
    bench.is(packet(DP, 3).free(9), now.alloc(4), "P27 G2 K1");

    // 254 + 1 = 255 fits. Then nothing fits, not even for an empty ring.
    let mut bench = ring(16, 16, 15);
    full(&mut bench, 255);
    let now = want(RECV_POSTED_DATA, 15).ready().copied(3).credit(254);
    bench.is(packet(DP, 3).free(1), now.alloc(1), "P27 G2 K1");
    for left in (1..=15).rev() {
        let now = want(RECV_POSTED_DATA, left).ready().copied(3).credit(255);
        bench.is(packet(DP, 3).free(1), now, "P27 G3 O1");
    }
    bench.is(packet(DP, 3).free(1), want(RECV_POSTED_DATA, 0).credit(255), "P29 O1");
    // Without free buffers there is no overflow.
    bench.is(idle(), want(RECV_POSTED_DATA, 0).credit(255), "P29");
    let now = want(RECV_POSTED_DATA, 0).credit(255);
    bench.is(idle().free(1).credit_ready(), now, "P29 O1 K3");
    bench.is(idle().free(1), want(RECV_POSTED_DATA, 0).alloc(1), "P29 G4 K1");
}

#[test]
fn r1_reset_silences_every_pin_and_forgets_every_register() {
    let everything = || packet(DP, 3).free(99).answer(true).done().credit_ready().temp_ok();
    for state in AWAIT_CP..=RECV_POSTED_DATA {
        let mut bench = Bench::at(state);
        bench.is(everything().reset(), ExpectedOutputs::default(), "R1");
        bench.is(everything().reset(), ExpectedOutputs::default(), "R1");
        bench.is(idle(), want(AWAIT_CP, 16), "P1");
    }
    let mut bench = ring(16, 16, 15);
    bench.cycle(packet(DP, 3).free(1));
    bench.cycle(idle().reset());
    assert_eq!(bench.0.registers.credit_pending, 0);
    assert!(!bench.0.registers.complete && !bench.0.registers.copying);
}

#[test]
fn the_fields_of_every_control_packet_are_latched() {
    let mut bench = Bench::at(DETERMINE_CP_TYPE);
    bench.cycle(packet(DP, 0x5a).msg_len(0xffff_ffff).last());
    let registers = bench.0.registers;
    assert_eq!(registers.cp_id.get(), 0x5a);
    assert_eq!((registers.cp_len.get(), registers.cp_msg_len.get()), (100, 0xffff_ffff));
    assert!(registers.complete);
    // Those of a DP are not.
    let mut bench = Bench::at(RECV_POSTED_DATA);
    bench.cycle(packet(DP, 0x5a).msg_len(1).last());
    assert_eq!(bench.0.registers.cp_id.get(), 9);
    assert_eq!(bench.0.registers.cp_msg_len.get(), 3000);
    assert!(!bench.0.registers.complete);
}
