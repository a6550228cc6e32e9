//! Each transition and rule alone and combinations; all values are worked out by hand from the
//! specification.

use super::*;
use crate::blocks::qp::rules::RULES;
use cosim_core::harness::Golden as _;
use cosim_core::verilated::zerocopy::IntoBytes;
use cosim_core::verilated::{Field, Pins as _};

const RESET: u64 = 0;
const INIT: u64 = 1;
const RTR: u64 = 2;
const RTS: u64 = 3;
const SQD: u64 = 4;
const SQE: u64 = 5;
const ERR: u64 = 6;
const DESTROY: u64 = 7;
const RC: u64 = 0;
const UC: u64 = 1;
const RD: u64 = 2;
const UD: u64 = 3;
const CNP: u64 = 4;
const XRC: u64 = 5;
const FIRST: u64 = 0;
const DRAINED: u64 = 1;
const SEND_ERROR: u64 = 2;
const FATAL: u64 = 3;

/// The pins of a cycle; pins that are not named are 0.
#[derive(Debug, Clone, Copy, Default)]
struct Drive(Inputs);

fn idle() -> Drive {
    Drive::default()
}

fn one() -> Bits1 {
    Bits1::new(1)
}

impl Drive {
    fn command(mut self, qpn: u64, next: u64) -> Self {
        self.0.cmd_valid = one();
        self.0.cmd_qpn = Bits8::new(qpn);
        self.0.cmd_next = Bits3::new(next);
        self
    }

    fn service(mut self, service: u64) -> Self {
        self.0.cmd_service = Bits3::new(service);
        self
    }

    fn notify(mut self) -> Self {
        self.0.cmd_notify = one();
        self
    }

    fn event(mut self, qpn: u64, kind: u64) -> Self {
        self.0.hw_valid = one();
        self.0.hw_qpn = Bits8::new(qpn);
        self.0.hw_kind = Bits2::new(kind);
        self
    }

    fn packet(mut self, qpn: u64) -> Self {
        self.0.msg_valid = one();
        self.0.msg_qpn = Bits8::new(qpn);
        self
    }

    fn consumes(mut self) -> Self {
        self.0.msg_consumes_wqe = one();
        self
    }

    fn error(mut self) -> Self {
        self.0.msg_error = one();
        self
    }

    fn query(mut self, qpn: u64) -> Self {
        self.0.query_qpn = Bits8::new(qpn);
        self
    }

    fn evt_ready(mut self) -> Self {
        self.0.evt_ready = one();
        self
    }

    fn reset(mut self) -> Self {
        self.0.rst = one();
        self
    }
}

struct Bench(Golden);

impl Bench {
    fn new() -> Self {
        Self(Golden::new(&Parameters::NONE))
    }

    /// QP 9 with a service, brought to a state by the commands of the specification.
    fn at(service: u64, state: u64) -> Self {
        let mut bench = Self::new();
        bench.bring(9, service, state);
        bench
    }

    fn bring(&mut self, qpn: u64, service: u64, state: u64) {
        let way: &[u64] = match state {
            RESET => &[],
            INIT => &[INIT],
            RTR => &[INIT, RTR],
            RTS | SQE => &[INIT, RTR, RTS],
            SQD => &[INIT, RTR, RTS, SQD],
            _ => &[INIT, ERR],
        };
        for next in way {
            self.cycle(idle().command(qpn, *next).service(service));
        }
        if state == SQE {
            self.cycle(idle().event(qpn, SEND_ERROR));
        }
        // The answer disappears.
        self.cycle(idle());
        self.is_in(qpn, state);
    }

    /// Runs one cycle. Returns the rules that fire at its edge, except for Q1.
    fn cycle(&mut self, drive: Drive) -> Vec<&'static str> {
        let names = self.0.edge(&drive.0);
        names.iter().map(|rule| RULES[rule].name).filter(|name| *name != "Q1").collect()
    }

    /// Runs a cycle in which exactly these rules fire.
    #[track_caller]
    fn fires<const N: usize>(&mut self, rules: [&str; N], drive: Drive) {
        assert_eq!(self.cycle(drive), rules);
    }

    /// Checks outputs by name under these inputs.
    #[track_caller]
    fn shows<const N: usize>(&self, drive: Drive, expected: [(&str, u64); N]) {
        let mut outputs = Outputs::default();
        self.0.show(&drive.0, &mut outputs);
        for (name, expected) in expected {
            let port = Outputs::PORTS.iter().find(|port| port.name == name).expect(name);
            let value = port.field(outputs.as_bytes(), Field::new(port.width - 1, 0));
            assert_eq!(value, expected, "{name}");
        }
    }

    #[track_caller]
    fn is_in(&self, qpn: u64, state: u64) {
        self.shows(idle().query(qpn), [("query_state", state)]);
    }

    #[track_caller]
    fn answers(&self, qpn: u64, code: u64) {
        self.shows(idle(), [("rsp_valid", 1), ("rsp_qpn", qpn), ("rsp_code", code)]);
    }

    #[track_caller]
    fn tells(&self, qpn: u64, code: u64) {
        self.shows(idle(), [("evt_valid", 1), ("evt_qpn", qpn), ("evt_code", code)]);
    }

    #[track_caller]
    fn tells_nothing(&self) {
        self.shows(idle(), [("evt_valid", 0), ("evt_qpn", 0), ("evt_code", 0)]);
    }

    /// Fills the queue with `count` events, of QPs from 0 on.
    fn with_events(count: u64) -> Self {
        let mut bench = Self::new();
        for qpn in 0..count {
            bench.bring(qpn, UD, INIT);
            bench.fires(["H8", "E1"], idle().event(qpn, FATAL));
        }
        bench
    }
}

/// A command that succeeds: its rule, and the state after it.
#[track_caller]
fn done(from: u64, next: u64, rule: &str, to: u64) {
    let mut bench = Bench::at(RC, from);
    bench.fires([rule], idle().command(9, next));
    bench.answers(9, 0);
    bench.is_in(9, to);
    bench.cycle(idle());
    bench.shows(idle(), [("rsp_valid", 0), ("rsp_qpn", 0), ("rsp_code", 0)]);
}

/// A command that is refused, with its code.
#[track_caller]
fn refused(from: u64, drive: Drive, rule: &str, code: u64) {
    let mut bench = Bench::at(RC, from);
    bench.fires([rule], drive);
    bench.answers(9, code);
    bench.is_in(9, from);
}

#[test]
fn c1_reset_to_init_stores_the_service() {
    done(RESET, INIT, "C1", INIT);
    // A reliable QP acknowledges packets, an unreliable one does not.
    for (service, ack) in [(RC, 1), (UC, 0), (RD, 1), (UD, 0), (CNP, 0), (XRC, 1), (6, 0), (7, 0)] {
        let bench = Bench::at(service, RTR);
        bench.shows(idle().packet(9), [("msg_accept", 1), ("msg_ack", ack)]);
    }
}

#[test]
fn c2_init_to_init_keeps_the_service() {
    done(INIT, INIT, "C2", INIT);
    let mut bench = Bench::at(RC, INIT);
    bench.fires(["C2"], idle().command(9, INIT).service(UD));
    bench.fires(["C3"], idle().command(9, RTR).service(UD));
    bench.shows(idle().packet(9), [("msg_ack", 1)]);
}

#[test]
fn c3_init_to_rtr() {
    done(INIT, RTR, "C3", RTR);
}

#[test]
fn c4_rtr_to_rts() {
    done(RTR, RTS, "C4", RTS);
}

#[test]
fn c5_rts_to_sqd_loads_the_notification() {
    done(RTS, SQD, "C5", SQD);
    let mut bench = Bench::at(RC, RTS);
    bench.fires(["C5"], idle().command(9, SQD).notify());
    bench.answers(9, 0);
    bench.fires(["H3", "E1"], idle().event(9, DRAINED));
    // Without the parameter no event is owed, and an earlier one is cancelled.
    bench.cycle(idle().command(9, RTS).evt_ready());
    bench.fires(["C5"], idle().command(9, SQD));
    bench.fires(["H4"], idle().event(9, DRAINED));
}

#[test]
fn c6_sqd_to_rts_forgets_the_notification() {
    done(SQD, RTS, "C6", RTS);
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["C6"], idle().command(9, RTS));
    bench.cycle(idle().command(9, SQD));
    bench.fires(["H4"], idle().event(9, DRAINED));
    bench.tells_nothing();
}

#[test]
fn c7_sqd_to_sqd_keeps_what_is_owed() {
    done(SQD, SQD, "C7", SQD);
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["C7"], idle().command(9, SQD));
    bench.fires(["H3", "E1"], idle().event(9, DRAINED));
    bench.tells(9, 0);
}

#[test]
fn c8_sqe_to_rts() {
    let mut bench = Bench::at(UD, SQE);
    bench.fires(["C8"], idle().command(9, RTS));
    bench.answers(9, 0);
    bench.is_in(9, RTS);
}

#[test]
fn c9_any_state_to_reset() {
    for from in [RESET, INIT, RTR, RTS, SQD, ERR] {
        done(from, RESET, "C9", RESET);
    }
    let mut bench = Bench::at(UC, SQE);
    bench.fires(["C9"], idle().command(9, RESET));
    bench.is_in(9, RESET);
}

#[test]
fn c10_any_state_to_err() {
    for from in [RESET, INIT, RTR, RTS, SQD, ERR] {
        done(from, ERR, "C10", ERR);
    }
    let mut bench = Bench::at(UC, SQE);
    bench.fires(["C10"], idle().command(9, ERR));
    bench.is_in(9, ERR);
    bench.tells_nothing();
}

#[test]
fn c11_destroy_from_any_state() {
    for from in [RESET, INIT, RTR, RTS, SQD, ERR] {
        done(from, DESTROY, "C11", RESET);
    }
    let mut bench = Bench::at(UC, SQE);
    bench.fires(["C11"], idle().command(9, DESTROY));
    bench.is_in(9, RESET);
}

/// After SQD is left on any path, a later drain without notification causes no event.
#[test]
fn c6_c9_c10_c11_and_h8_forget_what_is_owed() {
    for way_out in [RTS, RESET, ERR, DESTROY] {
        let mut bench = Bench::at(RC, RTS);
        bench.cycle(idle().command(9, SQD).notify());
        bench.cycle(idle().command(9, way_out));
        bench.bring_back();
        bench.fires(["C5"], idle().command(9, SQD));
        bench.fires(["H4"], idle().event(9, DRAINED));
    }
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["H8", "E1"], idle().event(9, FATAL));
    bench.bring_back();
    bench.cycle(idle().command(9, SQD));
    bench.fires(["H4"], idle().event(9, DRAINED));
}

impl Bench {
    /// Brings QP 9 to RTS again, from RTS, RESET or ERR.
    fn bring_back(&mut self) {
        let mut outputs = Outputs::default();
        self.0.show(&idle().query(9).0, &mut outputs);
        if outputs.query_state.get() != RTS {
            self.cycle(idle().command(9, RESET));
            for next in [INIT, RTR, RTS] {
                self.cycle(idle().command(9, next));
            }
        }
        self.is_in(9, RTS);
    }
}

/// The cells of the matrix that have C12, read from section 6.
#[test]
fn c12_every_other_pair_is_illegal() {
    let illegal: [(u64, &[u64]); 7] = [
        (RESET, &[RTR, RTS, SQD, SQE]),
        (INIT, &[RTS, SQD, SQE]),
        (RTR, &[INIT, RTR, SQD, SQE]),
        (RTS, &[INIT, RTR, RTS, SQE]),
        (SQD, &[INIT, RTR, SQE]),
        (SQE, &[INIT, RTR, SQD, SQE]),
        (ERR, &[INIT, RTR, RTS, SQD, SQE]),
    ];
    for (from, nexts) in illegal {
        for next in nexts {
            let mut bench = Bench::at(UC, from);
            bench.fires(["C12"], idle().command(9, *next));
            bench.answers(9, 1);
            bench.is_in(9, from);
        }
    }
    // An illegal transition has priority over its parameters.
    refused(RTS, idle().command(9, INIT).notify(), "C12", 1);
    refused(RESET, idle().command(9, SQD).notify(), "C12", 1);
}

#[test]
fn c13_notification_elsewhere_is_not_permitted() {
    let legal: [(u64, &[u64]); 6] = [
        (RESET, &[INIT, RESET, ERR, DESTROY]),
        (INIT, &[INIT, RTR, RESET, ERR, DESTROY]),
        (RTR, &[RTS, RESET, ERR, DESTROY]),
        (RTS, &[RESET, ERR, DESTROY]),
        (SQD, &[RTS, SQD, RESET, ERR, DESTROY]),
        (ERR, &[RESET, ERR, DESTROY]),
    ];
    for (from, nexts) in legal {
        for next in nexts {
            refused(from, idle().command(9, *next).notify(), "C13", 2);
        }
    }
    // Nothing changes: the notification stays owed.
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["C13"], idle().command(9, RESET).notify());
    bench.fires(["H3", "E1"], idle().event(9, DRAINED));
}

#[test]
fn h1_the_first_packet_establishes_a_connection() {
    for service in [RC, UC, RD, XRC] {
        let mut bench = Bench::at(service, RTR);
        bench.fires(["H1", "E1"], idle().event(9, FIRST));
        bench.is_in(9, RTS);
        bench.tells(9, 1);
    }
}

#[test]
fn h2_elsewhere_it_establishes_nothing() {
    for service in [UD, CNP, 6, 7] {
        let mut bench = Bench::at(service, RTR);
        bench.fires(["H2"], idle().event(9, FIRST));
        bench.is_in(9, RTR);
        bench.tells_nothing();
    }
    for state in [RESET, INIT, RTS, SQD, ERR] {
        let mut bench = Bench::at(RC, state);
        bench.fires(["H2"], idle().event(9, FIRST));
        bench.is_in(9, state);
    }
}

#[test]
fn h3_a_notified_drain_is_told_once() {
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["H3", "E1"], idle().event(9, DRAINED));
    bench.tells(9, 0);
    bench.is_in(9, SQD);
    bench.fires(["H4", "E2"], idle().event(9, DRAINED).evt_ready());
    bench.tells_nothing();
}

#[test]
fn h4_a_drain_nobody_asked_for_is_not_told() {
    for state in [RESET, INIT, RTR, RTS, SQD, ERR] {
        let mut bench = Bench::at(RC, state);
        bench.fires(["H4"], idle().event(9, DRAINED));
        bench.is_in(9, state);
        bench.tells_nothing();
    }
}

#[test]
fn h5_a_send_error_of_an_unreliable_qp_stops_its_sq() {
    for service in [UC, UD, CNP, 6, 7] {
        let mut bench = Bench::at(service, RTS);
        bench.fires(["H5"], idle().event(9, SEND_ERROR));
        bench.is_in(9, SQE);
        bench.tells_nothing();
    }
}

#[test]
fn h6_a_send_error_of_a_reliable_qp_breaks_it() {
    for service in [RC, RD, XRC] {
        let mut bench = Bench::at(service, RTS);
        bench.fires(["H6"], idle().event(9, SEND_ERROR));
        bench.is_in(9, ERR);
        bench.tells_nothing();
    }
}

#[test]
fn h7_a_send_error_outside_of_rts_is_ignored() {
    for (service, state) in [(RC, RESET), (UD, INIT), (RC, RTR), (UD, SQD), (RC, SQD), (UC, SQE)] {
        let mut bench = Bench::at(service, state);
        bench.fires(["H7"], idle().event(9, SEND_ERROR));
        bench.is_in(9, state);
    }
}

#[test]
fn h8_a_fatal_error_breaks_a_qp_and_is_told_each_time() {
    for (service, state) in [(RC, INIT), (UD, RTR), (RC, RTS), (UC, SQD), (UC, SQE), (RC, ERR)] {
        let mut bench = Bench::at(service, state);
        bench.fires(["H8", "E1"], idle().event(9, FATAL));
        bench.is_in(9, ERR);
        bench.tells(9, 2);
        bench.fires(["H8", "E1"], idle().event(9, FATAL));
        bench.fires(["E2"], idle().evt_ready());
        bench.tells(9, 2);
        bench.fires(["E2"], idle().evt_ready());
        bench.tells_nothing();
    }
}

#[test]
fn h9_a_fatal_error_of_a_qp_in_reset_is_ignored() {
    let mut bench = Bench::new();
    bench.fires(["H9"], idle().event(9, FATAL));
    bench.is_in(9, RESET);
    bench.tells_nothing();
}

/// accept, take_wqe, ack, nak.
#[track_caller]
fn packet(bench: &mut Bench, rule: &str, drive: Drive, expected: [u64; 4]) {
    let [accept, take_wqe, ack, nak] = expected;
    let pins = [("msg_accept", accept), ("msg_take_wqe", take_wqe)];
    bench.shows(drive, pins);
    bench.shows(drive, [("msg_ack", ack), ("msg_nak", nak)]);
    bench.fires([rule], drive);
}

#[test]
fn m1_no_packet_in_reset_init_and_err() {
    for state in [RESET, INIT, ERR] {
        let mut bench = Bench::at(RC, state);
        for drive in [idle().packet(9), idle().packet(9).consumes().error()] {
            packet(&mut bench, "M1", drive, [0, 0, 0, 0]);
        }
    }
}

#[test]
fn m2_an_unreliable_qp_takes_packets_without_an_answer() {
    for state in [RTR, RTS, SQD, SQE] {
        for service in [UC, UD, CNP, 6, 7] {
            let mut bench = Bench::at(service, state);
            packet(&mut bench, "M2", idle().packet(9), [1, 0, 0, 0]);
            packet(&mut bench, "M2", idle().packet(9).consumes(), [1, 1, 0, 0]);
            packet(&mut bench, "M2", idle().packet(9).consumes().error(), [1, 1, 0, 0]);
        }
    }
}

#[test]
fn m3_a_reliable_qp_acknowledges_each_packet() {
    for state in [RTR, RTS, SQD] {
        for service in [RC, RD, XRC] {
            let mut bench = Bench::at(service, state);
            packet(&mut bench, "M3", idle().packet(9), [1, 0, 1, 0]);
            packet(&mut bench, "M3", idle().packet(9).consumes(), [1, 1, 1, 0]);
        }
    }
}

#[test]
fn m4_an_error_of_a_reliable_qp_brings_a_nak_and_takes_no_wqe() {
    for service in [RC, RD, XRC] {
        let mut bench = Bench::at(service, RTS);
        packet(&mut bench, "M4", idle().packet(9).error(), [1, 0, 0, 1]);
        packet(&mut bench, "M4", idle().packet(9).error().consumes(), [1, 0, 0, 1]);
    }
}

#[test]
fn no_packet_no_answer() {
    let bench = Bench::at(RC, RTS);
    let mut drive = idle().packet(9).consumes();
    drive.0.msg_valid = Bits1::new(0);
    bench.shows(drive, [("msg_accept", 0), ("msg_take_wqe", 0), ("msg_ack", 0), ("msg_nak", 0)]);
}

#[test]
fn q1_what_states_permit() {
    for (state, service, permits) in [
        (RESET, RC, [0, 0, 0, 0]),
        (INIT, RC, [0, 1, 0, 0]),
        (RTR, RC, [0, 1, 0, 1]),
        (RTS, RC, [1, 1, 1, 1]),
        (SQD, RC, [1, 1, 0, 1]),
        (SQE, UD, [1, 1, 0, 1]),
        (ERR, RC, [1, 1, 0, 0]),
    ] {
        let bench = Bench::at(service, state);
        let [sq_post, rq_post, sq_run, rq_run] = permits;
        let pins = [("query_sq_post", sq_post), ("query_rq_post", rq_post)];
        bench.shows(idle().query(9), pins);
        bench.shows(idle().query(9), [("query_sq_run", sq_run), ("query_rq_run", rq_run)]);
        bench.is_in(8, RESET);
    }
}

#[test]
fn e1_an_event_is_shown_in_the_next_cycle_and_not_earlier() {
    let mut bench = Bench::at(RC, RTR);
    let drive = idle().event(9, FIRST).evt_ready();
    bench.shows(drive, [("hw_ready", 1), ("evt_valid", 0)]);
    bench.fires(["H1", "E1"], drive);
    bench.tells(9, 1);
    // It stays until it is taken.
    bench.cycle(idle());
    bench.tells(9, 1);
}

#[test]
fn e1_and_e2_at_one_edge() {
    let mut bench = Bench::with_events(1);
    bench.tells(0, 2);
    bench.fires(["H8", "E1", "E2"], idle().event(0, FATAL).evt_ready());
    bench.tells(0, 2);
    bench.fires(["E2"], idle().evt_ready());
    bench.tells_nothing();
}

#[test]
fn e2_events_leave_in_the_order_in_which_they_were_made() {
    let mut bench = Bench::with_events(16);
    // Wraps around the queue twice.
    for qpn in 0..16 {
        bench.tells(qpn, 2);
        bench.fires(["E2"], idle().evt_ready());
        bench.fires(["H8", "E1"], idle().event(qpn, FATAL));
    }
    for qpn in 0..16 {
        bench.tells(qpn, 2);
        bench.cycle(idle().evt_ready());
    }
    bench.tells_nothing();
}

#[test]
fn e3_a_command_waits_while_the_queue_is_full() {
    let bench = Bench::with_events(15);
    bench.shows(idle(), [("cmd_ready", 1), ("hw_ready", 1)]);
    let mut bench = Bench::with_events(16);
    // It depends neither on cmd_valid nor on an event that leaves at this edge.
    bench.shows(idle(), [("cmd_ready", 0)]);
    let drive = idle().command(3, RESET).evt_ready();
    bench.shows(drive, [("cmd_ready", 0)]);
    bench.fires(["E2", "E3"], drive);
    bench.shows(idle(), [("rsp_valid", 0), ("cmd_ready", 1)]);
    bench.is_in(3, ERR);
    bench.fires(["C9"], idle().command(3, RESET));
}

#[test]
fn e4_only_what_needs_an_entry_waits() {
    let mut bench = Bench::with_events(16);
    bench.shows(idle(), [("hw_ready", 1)]);
    let needs = idle().event(3, FATAL).evt_ready();
    bench.shows(needs, [("hw_ready", 0)]);
    for (qpn, kind, rule) in
        [(3, FIRST, "H2"), (3, DRAINED, "H4"), (3, SEND_ERROR, "H7"), (200, FATAL, "H9")]
    {
        bench.shows(idle().event(qpn, kind), [("hw_ready", 1)]);
        bench.fires([rule], idle().event(qpn, kind));
    }
    bench.fires(["E2", "E4"], needs);
    bench.fires(["H8", "E1"], idle().event(3, FATAL));
    bench.shows(idle(), [("cmd_ready", 0)]);
}

#[test]
fn x1_the_event_goes_before_the_command() {
    // The QP is already in RTS when software requests it.
    let mut bench = Bench::at(RC, RTR);
    bench.fires(["C12", "H1", "E1", "X1"], idle().event(9, FIRST).command(9, RTS));
    bench.answers(9, 1);
    bench.is_in(9, RTS);
    // From RTS it may go to SQD at once, with notification.
    let mut bench = Bench::at(RC, RTR);
    let drive = idle().event(9, FIRST).command(9, SQD).notify();
    bench.fires(["C5", "H1", "E1", "X1"], drive);
    bench.answers(9, 0);
    bench.is_in(9, SQD);
    // The drain is reported although software continues.
    let mut bench = Bench::at(RC, RTS);
    bench.cycle(idle().command(9, SQD).notify());
    bench.fires(["C6", "H3", "E1", "X1"], idle().event(9, DRAINED).command(9, RTS));
    bench.tells(9, 0);
    bench.is_in(9, RTS);
    // A drain is not reported before it was requested.
    let mut bench = Bench::at(RC, RTS);
    bench.fires(["C5", "H4", "X1"], idle().event(9, DRAINED).command(9, SQD).notify());
    bench.tells_nothing();
    bench.fires(["H3", "E1"], idle().event(9, DRAINED));
    // A QP with an error can be destroyed and reports no further error.
    let mut bench = Bench::at(RC, RTS);
    bench.fires(["C11", "H8", "E1", "X1"], idle().event(9, FATAL).command(9, DESTROY));
    bench.is_in(9, RESET);
    bench.tells(9, 2);
    // In RESET an event is ignored even if the command leads out of it.
    let mut bench = Bench::at(RC, RESET);
    bench.fires(["C1", "H9", "X1"], idle().event(9, FATAL).command(9, INIT));
    bench.is_in(9, INIT);
}

#[test]
fn an_event_and_a_command_for_two_qps_do_not_meet() {
    let mut bench = Bench::at(RC, RTR);
    bench.bring(10, UD, INIT);
    bench.fires(["C3", "H1", "E1"], idle().event(9, FIRST).command(10, RTR));
    bench.is_in(9, RTS);
    bench.is_in(10, RTR);
    bench.answers(10, 0);
}

#[test]
fn a_packet_meets_the_state_before_the_edge() {
    let mut bench = Bench::at(RC, INIT);
    let drive = idle().command(9, RTR).packet(9);
    bench.shows(drive.query(9), [("msg_accept", 0), ("query_state", INIT)]);
    bench.fires(["C3", "M1"], drive);
    bench.shows(idle().packet(9), [("msg_accept", 1)]);
}

#[test]
fn answers_of_commands_in_a_row() {
    let mut bench = Bench::new();
    bench.fires(["C1"], idle().command(7, INIT));
    bench.answers(7, 0);
    bench.fires(["C12"], idle().command(255, RTS));
    bench.answers(255, 1);
    bench.fires(["C13"], idle().command(7, RTR).notify());
    bench.answers(7, 2);
}

#[test]
fn r1_reset_forgets_everything_and_drives_0() {
    let mut bench = Bench::with_events(2);
    bench.bring(9, XRC, RTS);
    let drive = idle().command(9, SQD).event(9, FATAL).packet(9).consumes().query(9).evt_ready();
    bench.cycle(drive);
    let drive = drive.reset();
    let mut outputs = Outputs::default();
    bench.0.show(&drive.0, &mut outputs);
    assert!(outputs.as_bytes().iter().all(|byte| *byte == 0), "{outputs:?}");
    bench.fires(["R1"], drive);
    let drive = idle().query(9).packet(9);
    bench.shows(drive, [("query_state", RESET), ("msg_accept", 0), ("rsp_valid", 0)]);
    bench.shows(drive, [("evt_valid", 0), ("cmd_ready", 1), ("hw_ready", 1)]);
}

/// Destroy QP leaves service 0, RC. It is visible only on the way to RTR, where C1 has set it
/// again.
#[test]
fn a_service_is_that_of_the_last_reset_to_init() {
    for way in [RESET, DESTROY] {
        let mut bench = Bench::at(RC, RTS);
        bench.cycle(idle().command(9, way));
        bench.bring(9, UD, RTR);
        bench.shows(idle().packet(9), [("msg_accept", 1), ("msg_ack", 0)]);
    }
}
