//! Each transition and rule alone and combinations; all values are worked out by hand from the
//! specification.

use super::*;
use crate::blocks::qp::Qp;
use crate::blocks::testing;
use cosim_core::verilated::Pins;

const SHORT: &[(&str, &str)] = &[
    ("cmd", "cmd_valid cmd_qpn=$1 cmd_next=$2"),
    ("service", "cmd_service=$1"),
    ("notify", "cmd_notify"),
    ("event", "hw_valid hw_qpn=$1 hw_kind=$2"),
    ("first", "hw_valid hw_qpn=$1 hw_kind=0"),
    ("drained", "hw_valid hw_qpn=$1 hw_kind=1"),
    ("send_error", "hw_valid hw_qpn=$1 hw_kind=2"),
    ("fatal", "hw_valid hw_qpn=$1 hw_kind=3"),
    ("packet", "msg_valid msg_qpn=$1"),
    ("consumes", "msg_consumes_wqe"),
    ("error", "msg_error"),
    ("query", "query_qpn=$1"),
    ("answers", "rsp_valid rsp_qpn=$1 rsp_code=$2"),
    ("no_answer", "!rsp_valid rsp_qpn=0 rsp_code=0"),
    ("shows", "evt_valid evt_qpn=$1 evt_code=$2"),
    ("no_event", "!evt_valid evt_qpn=0 evt_code=0"),
    ("packet_is", "msg_accept=$1 msg_take_wqe=$2 msg_ack=$3 msg_nak=$4"),
    ("permits", "query_sq_post=$1 query_rq_post=$2 query_sq_run=$3 query_rq_run=$4"),
];

type Bench = testing::Bench<Qp>;

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
const UD: u64 = 3;
const RELIABLE: [u64; 3] = [RC, 2, 5];
const UNRELIABLE: [u64; 5] = [UC, UD, 4, 6, 7];

/// Q1 applies in every cycle.
fn new() -> Bench {
    Bench::new(&Parameters::NONE, SHORT, "Q1")
}

/// Brings a QP with a service to a state by the commands of the specification.
fn bring(bench: &mut Bench, qpn: u64, service: u64, state: u64) {
    let way: &[u64] = match state {
        RESET => &[],
        INIT => &[INIT],
        RTR => &[INIT, RTR],
        RTS | SQE => &[INIT, RTR, RTS],
        SQD => &[INIT, RTR, RTS, SQD],
        _ => &[INIT, ERR],
    };
    for next in way {
        bench.run(&format!("cmd({qpn},{next}) service({service})"));
    }
    if state == SQE {
        bench.run(&format!("send_error({qpn})"));
    }
    // The answer disappears.
    bench.run(&format!("- \n .query({qpn}) | query_state={state}"));
}

/// QP 9 in a state.
fn at(service: u64, state: u64) -> Bench {
    let mut bench = new();
    bring(&mut bench, 9, service, state);
    bench
}

/// The queue with `count` events, of QPs from 0 on.
fn with_events(count: u64) -> Bench {
    let mut bench = new();
    for qpn in 0..count {
        bring(&mut bench, qpn, UD, INIT);
        bench.run(&format!("fatal({qpn}) | | = H8 E1"));
    }
    bench
}

/// The rules of section 6: state, command, rule, state after it.
#[test]
fn c1_to_c11_a_command_is_answered_and_leads_to_its_state() {
    let mut rows = vec![
        (RESET, INIT, 1, INIT),
        (INIT, INIT, 2, INIT),
        (INIT, RTR, 3, RTR),
        (RTR, RTS, 4, RTS),
        (RTS, SQD, 5, SQD),
        (SQD, RTS, 6, RTS),
        (SQD, SQD, 7, SQD),
        (SQE, RTS, 8, RTS),
    ];
    for from in [RESET, INIT, RTR, RTS, SQD, SQE, ERR] {
        rows.extend([(from, RESET, 9, RESET), (from, ERR, 10, ERR), (from, DESTROY, 11, RESET)]);
    }
    for (from, next, rule, to) in rows {
        at(UC, from).run(&format!(
            "cmd(9,{next}) |                              | = C{rule}
             query(9)      | answers(9,0) query_state={to} no_event
             -             | no_answer"
        ));
    }
}

#[test]
fn c1_stores_the_service_and_c2_and_c3_keep_it() {
    // A reliable QP acknowledges packets, an unreliable one does not.
    for (services, ack) in [(&RELIABLE[..], 1), (&UNRELIABLE, 0)] {
        for service in services {
            at(*service, RTR).run(&format!(".packet(9) | msg_accept msg_ack={ack}"));
        }
    }
    at(RC, INIT).run(
        "cmd(9,1) service(3) |         | = C2
         cmd(9,2) service(3) |         | = C3
         .packet(9)          | msg_ack",
    );
    // Destroy leaves service 0, RC. It is visible only on the way to RTR, where C1 has set it
    // again.
    for way in [RESET, DESTROY] {
        let mut bench = at(RC, RTS);
        bench.run(&format!("cmd(9,{way})"));
        bring(&mut bench, 9, UD, RTR);
        bench.run(".packet(9) | msg_accept !msg_ack");
    }
}

#[test]
fn c5_and_c7_owe_a_notification() {
    // Without the parameter no event is owed, and an earlier one is cancelled.
    at(RC, RTS).run(
        "cmd(9,4) notify     |              | = C5
         drained(9)          | answers(9,0) | = H3 E1
         cmd(9,3) evt_ready
         cmd(9,4)            |              | = C5
         drained(9)          |              | = H4",
    );
    at(RC, RTS).run(
        "cmd(9,4) notify |            | = C5
         cmd(9,4)        |            | = C7
         drained(9)      |            | = H3 E1
         .               | shows(9,0)",
    );
}

/// After SQD is left on any path, a later drain without notification causes no event.
#[test]
fn c6_c9_c10_c11_and_h8_forget_what_is_owed() {
    for (way_out, back) in [
        ("cmd(9,3)", ""),
        ("cmd(9,0)", "cmd(9,1) \n cmd(9,2) \n cmd(9,3)"),
        ("cmd(9,6)", "cmd(9,0) \n cmd(9,1) \n cmd(9,2) \n cmd(9,3)"),
        ("cmd(9,7)", "cmd(9,1) \n cmd(9,2) \n cmd(9,3)"),
        ("fatal(9)", "cmd(9,0) \n cmd(9,1) \n cmd(9,2) \n cmd(9,3)"),
    ] {
        at(RC, RTS).run(&format!(
            "cmd(9,4) notify
             {way_out}
             {back}
             cmd(9,4)   | | = C5
             drained(9) | | = H4"
        ));
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
    for (from, next) in
        illegal.iter().flat_map(|(from, nexts)| nexts.iter().map(|next| (*from, *next)))
    {
        // An illegal transition has priority over its parameters.
        let notify = if from == SQD || next == SQD { "notify" } else { "" };
        at(UC, from).run(&format!(
            "cmd(9,{next}) {notify} |                                  | = C12
             .query(9)              | answers(9,1) query_state={from}"
        ));
    }
}

#[test]
fn c13_notification_elsewhere_is_not_permitted() {
    for (from, nexts) in [
        (RESET, &[INIT, RESET, ERR, DESTROY][..]),
        (INIT, &[INIT, RTR, RESET, ERR, DESTROY]),
        (RTR, &[RTS, RESET, ERR, DESTROY]),
        (RTS, &[RESET, ERR, DESTROY]),
        (SQD, &[RTS, SQD, RESET, ERR, DESTROY]),
        (ERR, &[RESET, ERR, DESTROY]),
    ] {
        for next in nexts {
            at(RC, from).run(&format!(
                "cmd(9,{next}) notify |                                  | = C13
                 .query(9)            | answers(9,2) query_state={from}"
            ));
        }
    }
    // Nothing changes: the notification stays owed.
    at(RC, RTS).run(
        "cmd(9,4) notify | | = C5
         cmd(9,0) notify | | = C13
         drained(9)      | | = H3 E1",
    );
}

/// An event that notifies nobody: service, state, event, rule, state after it.
#[test]
fn h2_h4_h5_h6_h7_and_h9_cause_no_event() {
    let mut rows = vec![(RC, RESET, 3, 9, RESET)];
    for state in [RESET, INIT, RTR, RTS, SQD, ERR] {
        rows.push((RC, state, 1, 4, state));
    }
    for state in [RESET, INIT, RTS, SQD, ERR] {
        rows.push((RC, state, 0, 2, state));
    }
    rows.extend([UD, 4, 6, 7].map(|service| (service, RTR, 0, 2, RTR)));
    rows.extend(UNRELIABLE.map(|service| (service, RTS, 2, 5, SQE)));
    rows.extend(RELIABLE.map(|service| (service, RTS, 2, 6, ERR)));
    for (service, state) in [(RC, RESET), (UD, INIT), (RC, RTR), (UD, SQD), (RC, SQD), (UC, SQE)] {
        rows.push((service, state, 2, 7, state));
    }
    for (service, state, kind, rule, to) in rows {
        at(service, state).run(&format!(
            "event(9,{kind}) |                           | = H{rule}
             .query(9)       | query_state={to} no_event"
        ));
    }
}

#[test]
fn h1_the_first_packet_establishes_a_connection() {
    for service in [RC, UC, 2, 5] {
        at(service, RTR).run("first(9) | | = H1 E1 \n .query(9) | query_state=3 shows(9,1)");
    }
}

#[test]
fn h3_a_notified_drain_is_reported_once() {
    at(RC, RTS).run(
        "cmd(9,4) notify
         drained(9)           |                          | = H3 E1
         .query(9)            | shows(9,0) query_state=4
         drained(9) evt_ready |                          | = H4 E2
         .                    | no_event",
    );
}

#[test]
fn h8_a_fatal_error_breaks_a_qp_and_is_reported_each_time() {
    for (service, state) in [(RC, INIT), (UD, RTR), (RC, RTS), (UC, SQD), (UC, SQE), (RC, ERR)] {
        at(service, state).run(
            "fatal(9)           |                          | = H8 E1
             fatal(9) query(9)  | shows(9,2) query_state=6 | = H8 E1
             evt_ready          | shows(9,2)               | = E2
             evt_ready          | shows(9,2)               | = E2
             .                  | no_event",
        );
    }
}

#[test]
fn m1_to_m4_state_and_service_decide_about_a_packet() {
    let check = |service, state, pins: &str, is: &str, rule: &str| {
        at(service, state).run(&format!("packet(9) {pins} | packet_is({is}) | = {rule}"));
    };
    for state in [RESET, INIT, ERR] {
        check(RC, state, "", "0,0,0,0", "M1");
        check(RC, state, "consumes error", "0,0,0,0", "M1");
    }
    for (state, service) in
        [RTR, RTS, SQD, SQE].into_iter().flat_map(|s| UNRELIABLE.map(|u| (s, u)))
    {
        check(service, state, "", "1,0,0,0", "M2");
        check(service, state, "consumes", "1,1,0,0", "M2");
        check(service, state, "consumes error", "1,1,0,0", "M2");
    }
    for (state, service) in [RTR, RTS, SQD].into_iter().flat_map(|s| RELIABLE.map(|r| (s, r))) {
        check(service, state, "", "1,0,1,0", "M3");
        check(service, state, "consumes", "1,1,1,0", "M3");
        check(service, state, "error", "1,0,0,1", "M4");
        check(service, state, "consumes error", "1,0,0,1", "M4");
    }
    // Without a packet there is no answer.
    at(RC, RTS).run(".msg_qpn=9 consumes | packet_is(0,0,0,0)");
}

#[test]
fn q1_what_states_permit() {
    for (state, service, permits) in [
        (RESET, RC, "0,0,0,0"),
        (INIT, RC, "0,1,0,0"),
        (RTR, RC, "0,1,0,1"),
        (RTS, RC, "1,1,1,1"),
        (SQD, RC, "1,1,0,1"),
        (SQE, UD, "1,1,0,1"),
        (ERR, RC, "1,1,0,0"),
    ] {
        at(service, state).run(&format!(
            ".query(9) | query_state={state} permits({permits})
             .query(8) | query_state=0"
        ));
    }
}

#[test]
fn e1_and_e2_an_event_is_shown_from_the_next_cycle_on_until_it_is_taken() {
    at(RC, RTR).run(
        "first(9) evt_ready | hw_ready no_event | = H1 E1
         2* -               | shows(9,1)",
    );
    with_events(1).run(
        "fatal(0) evt_ready | shows(0,2) | = H8 E1 E2
         evt_ready          | shows(0,2) | = E2
         .                  | no_event",
    );
    // Events leave in the order in which they were made, around the queue.
    let mut bench = with_events(16);
    for qpn in (0..16).chain(0..4) {
        bench.run(&format!("evt_ready | shows({qpn},2) | = E2 \n fatal({qpn}) | | = H8 E1"));
    }
}

#[test]
fn e3_a_command_waits_while_the_queue_is_full() {
    with_events(15).run(". | cmd_ready hw_ready");
    // It depends neither on cmd_valid nor on an event that leaves at this edge.
    with_events(16).run(
        ".                  | !cmd_ready
         cmd(3,0) evt_ready | !cmd_ready              | = E2 E3
         .query(3)          | no_answer cmd_ready query_state=6
         cmd(3,0)           |                         | = C9",
    );
}

#[test]
fn e4_only_what_needs_an_entry_waits() {
    with_events(16).run(
        ".                  | hw_ready
         first(3)           | hw_ready  | = H2
         drained(3)         | hw_ready  | = H4
         send_error(3)      | hw_ready  | = H7
         fatal(200)         | hw_ready  | = H9
         fatal(3) evt_ready | !hw_ready | = E2 E4
         fatal(3)           |           | = H8 E1
         .                  | !cmd_ready",
    );
}

#[test]
fn x1_the_event_goes_before_the_command() {
    // The QP is already in RTS when software requests it, and may go to SQD at once, with
    // notification.
    at(RC, RTR).run(
        "first(9) cmd(9,3) |                                        | = C12 H1 E1 X1
         .query(9)         | answers(9,1) query_state=3",
    );
    at(RC, RTR).run(
        "first(9) cmd(9,4) notify |                            | = C5 H1 E1 X1
         .query(9)                | answers(9,0) query_state=4",
    );
    // The drain is reported although software continues, but not before it was requested.
    at(RC, RTS).run(
        "cmd(9,4) notify
         drained(9) cmd(9,3) |                          | = C6 H3 E1 X1
         .query(9)           | shows(9,0) query_state=3",
    );
    at(RC, RTS).run(
        "drained(9) cmd(9,4) notify |          | = C5 H4 X1
         drained(9)                 | no_event | = H3 E1",
    );
    // A QP with an error can be destroyed and reports no further error.
    at(RC, RTS).run(
        "fatal(9) cmd(9,7) |                          | = C11 H8 E1 X1
         .query(9)         | shows(9,2) query_state=0",
    );
    // In RESET an event is ignored even if the command leads out of it.
    at(RC, RESET).run("fatal(9) cmd(9,1) | | = C1 H9 X1 \n .query(9) | query_state=1");
    // Two QPs do not meet.
    let mut bench = at(RC, RTR);
    bring(&mut bench, 10, UD, INIT);
    bench.run(
        "first(9) cmd(10,2) |                             | = C3 H1 E1
         .query(9)          | query_state=3
         .query(10)         | query_state=2 answers(10,0)",
    );
    // A packet meets the state before the edge.
    at(RC, INIT).run(
        "cmd(9,2) packet(9) query(9) | !msg_accept query_state=1 | = C3 M1
         .packet(9)                  | msg_accept",
    );
}

#[test]
fn answers_of_commands_in_a_row() {
    new().run(
        "cmd(7,1)        |                | = C1
         cmd(255,3)      | answers(7,0)   | = C12
         cmd(7,2) notify | answers(255,1) | = C13
         .               | answers(7,2)",
    );
}

#[test]
fn r1_reset_forgets_everything_and_drives_0() {
    let mut bench = with_events(2);
    bring(&mut bench, 9, 5, RTS);
    let all = "cmd(9,4) fatal(9) packet(9) consumes query(9) evt_ready";
    bench.run(all);
    let outputs = bench.outputs(&format!("rst {all}"));
    assert!(outputs.as_bytes().iter().all(|byte| *byte == 0), "{outputs:?}");
    bench.run(&format!(
        "rst {all}           |                              | = R1
         .query(9) packet(9) | query_state=0 !msg_accept no_answer no_event cmd_ready hw_ready"
    ));
}
