//! Each rule of the specification; all values are worked out by hand.

use super::*;
use crate::blocks::qp::Qp;
use crate::blocks::testing;
use cosim_core::verilated::Pins;
use std::collections::BTreeSet;

const SHORT: &[(&str, &str)] = &[
    ("cmd", "cmd_valid cmd_qpn=$1 cmd_next=$2"),
    ("service", "cmd_service=$1"),
    ("notify", "cmd_notify"),
    ("first", "hw_valid hw_qpn=$1 hw_kind=0"),
    ("drained", "hw_valid hw_qpn=$1 hw_kind=1"),
    ("send_error", "hw_valid hw_qpn=$1 hw_kind=2"),
    ("fatal", "hw_valid hw_qpn=$1 hw_kind=3"),
    ("packet", "msg_valid msg_qpn=$1"),
    ("consumes", "msg_consumes_wqe"),
    ("error", "msg_error"),
    ("query", "query_qpn=$1"),
    ("state", "query_state=$1"),
    ("answers", "rsp_valid rsp_qpn=$1 rsp_code=$2"),
    ("no_answer", "!rsp_valid rsp_qpn=0 rsp_code=0"),
    ("shows", "evt_valid evt_qpn=$1 evt_code=$2"),
    ("no_event", "!evt_valid evt_qpn=0 evt_code=0"),
    ("is", "msg_accept=$1 msg_take_wqe=$2 msg_ack=$3 msg_nak=$4"),
    ("permits", "query_sq_post=$1 query_rq_post=$2 query_sq_run=$3 query_rq_run=$4"),
];

type Bench = testing::Bench<Qp>;

const RESET: u8 = 0;
const INIT: u8 = 1;
const RTR: u8 = 2;
const RTS: u8 = 3;
const SQD: u8 = 4;
const SQE: u8 = 5;
const ERR: u8 = 6;
const ANY: &[u8] = &[RESET, INIT, RTR, RTS, SQD, SQE, ERR];
const RC: &[u8] = &[0];
const UC: &[u8] = &[1];
const UD: &[u8] = &[3];
const CONNECTED: &[u8] = &[0, 1, 2, 5];
const UNCONNECTED: &[u8] = &[3, 4, 6, 7];
const RELIABLE: &[u8] = &[0, 2, 5];
const UNRELIABLE: &[u8] = &[1, 3, 4, 6, 7];

/// Q1 applies in every cycle.
fn new() -> Bench {
    Bench::new(&Parameters::NONE, SHORT, "Q1")
}

/// Brings a QP with a service to a state by the commands of the specification.
fn bring(bench: &mut Bench, qpn: u8, service: u8, state: u8) {
    let way: &[u8] = match state {
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
    bench.run(&format!("- \n .query({qpn}) | state({state})"));
}

/// QP 9 in a state.
fn at(service: u8, state: u8) -> Bench {
    let mut bench = new();
    bring(&mut bench, 9, service, state);
    bench
}

/// The queue with `count` events, of QPs from 0 on.
fn with_events(count: u8) -> Bench {
    let mut bench = new();
    for qpn in 0..count {
        bring(&mut bench, qpn, 3, INIT);
        bench.run(&format!("fatal({qpn}) | | = H8 E1"));
    }
    bench
}

/// The rows of sections 6 to 8: services and states of QP 9 before, and what follows. The rule is
/// the first one in the script; `STATE` is the state before.
const ROWS: &[(&[u8], &[u8], &str)] = &[
    (UC, &[RESET], "cmd(9,1) | | = C1 \n query(9) | answers(9,0) state(1) \n . | no_answer"),
    (UC, &[INIT], "cmd(9,1) | | = C2 \n .query(9) | answers(9,0) state(1)"),
    (UC, &[INIT], "cmd(9,2) | | = C3 \n .query(9) | answers(9,0) state(2)"),
    (UC, &[RTR], "cmd(9,3) | | = C4 \n .query(9) | answers(9,0) state(3)"),
    (UC, &[RTS], "cmd(9,4) | | = C5 \n .query(9) | answers(9,0) state(4)"),
    (UC, &[SQD], "cmd(9,3) | | = C6 \n .query(9) | answers(9,0) state(3)"),
    (UC, &[SQD], "cmd(9,4) | | = C7 \n .query(9) | answers(9,0) state(4)"),
    (UC, &[SQE], "cmd(9,3) | | = C8 \n .query(9) | answers(9,0) state(3)"),
    (UC, ANY, "cmd(9,0) | | = C9 \n .query(9) | answers(9,0) state(0) no_event"),
    (UC, ANY, "cmd(9,6) | | = C10 \n .query(9) | answers(9,0) state(6) no_event"),
    (UC, ANY, "cmd(9,7) | | = C11 \n .query(9) | answers(9,0) state(0) no_event"),
    // The test of the matrix has all pairs. An illegal transition goes before its parameter.
    (UC, ANY, "cmd(9,5) notify | | = C12 \n .query(9) | answers(9,1) state(STATE)"),
    (UC, ANY, "cmd(9,7) notify | | = C13 \n .query(9) | answers(9,2) state(STATE)"),
    (CONNECTED, &[RTR], "first(9) | | = H1 E1 \n .query(9) | state(3) shows(9,1)"),
    (UNCONNECTED, &[RTR], "first(9) | | = H2 \n .query(9) | state(2) no_event"),
    // X1: the first packet goes before the command.
    (RC, &[RTR], "first(9) cmd(9,3) | | = C12 H1 E1 X1 \n .query(9) | answers(9,1) state(3)"),
    (RC, &[RTR], "first(9) cmd(9,4) | | = C5 H1 E1 X1 \n .query(9) | answers(9,0) state(4)"),
    (RC, &[RESET, INIT, RTS, SQD, ERR], "first(9) | | = H2 \n .query(9) | state(STATE) no_event"),
    (UC, ANY, "drained(9) | | = H4 \n .query(9) | state(STATE) no_event"),
    (UNRELIABLE, &[RTS], "send_error(9) | | = H5 \n .query(9) | state(5) no_event"),
    (RELIABLE, &[RTS], "send_error(9) | | = H6 \n .query(9) | state(6) no_event"),
    (RC, &[RESET, RTR, ERR], "send_error(9) | | = H7 \n .query(9) | state(STATE) no_event"),
    (UC, &[INIT, SQD, SQE], "send_error(9) | | = H7 \n .query(9) | state(STATE) no_event"),
    (UC, &[INIT, RTR, RTS, SQD, SQE, ERR], "fatal(9) | | = H8 E1 \n .query(9) | shows(9,2)"),
    (RC, &[RESET], "fatal(9) | | = H9 \n .query(9) | no_event state(0)"),
    (RC, &[RESET, INIT, ERR], "packet(9) | is(0,0,0,0) | = M1"),
    (RC, &[RESET, INIT, ERR], "packet(9) consumes error | is(0,0,0,0) | = M1"),
    (UNRELIABLE, &[RTR, RTS, SQD, SQE], "packet(9) | is(1,0,0,0) | = M2"),
    (UNRELIABLE, &[RTR, RTS, SQD, SQE], "packet(9) consumes | is(1,1,0,0) | = M2"),
    (UNRELIABLE, &[RTR, RTS, SQD, SQE], "packet(9) consumes error | is(1,1,0,0) | = M2"),
    (RELIABLE, &[RTR, RTS, SQD], "packet(9) | is(1,0,1,0) | = M3"),
    (RELIABLE, &[RTR, RTS, SQD], "packet(9) consumes | is(1,1,1,0) | = M3"),
    (RELIABLE, &[RTR, RTS, SQD], "packet(9) error | is(1,0,0,1) | = M4"),
    (RELIABLE, &[RTR, RTS, SQD], "packet(9) consumes error | is(1,0,0,1) | = M4"),
    (RC, &[RTS], ".msg_qpn=9 consumes | is(0,0,0,0)"),
    (RC, &[RESET], ".query(9) | permits(0,0,0,0) // Q1"),
    (RC, &[INIT], ".query(9) | permits(0,1,0,0)"),
    (RC, &[RTR], ".query(9) | permits(0,1,0,1)"),
    (RC, &[RTS], ".query(9) | permits(1,1,1,1) \n .query(8) | state(0)"),
    (RC, &[SQD], ".query(9) | permits(1,1,0,1)"),
    (UD, &[SQE], ".query(9) | permits(1,1,0,1)"),
    (RC, &[ERR], ".query(9) | permits(1,1,0,0)"),
];

/// Rules that depend on more than the state and the service: QP 9 in RTS with service RC before.
const SCRIPTS: &[&str] = &[
    // H3: a drain with notification is reported once.
    "cmd(9,4) notify      |                     | = C5
     drained(9)           |                     | = H3 E1
     .query(9)            | shows(9,0) state(4)
     drained(9) evt_ready |                     | = H4 E2
     .                    | no_event",
    // C5 and C6: without the parameter no event is due, and an earlier one is cancelled.
    "cmd(9,4) notify
     cmd(9,3)        | | = C6
     cmd(9,4)        | | = C5
     drained(9)      | | = H4",
    // C7 and C13 keep the notification.
    "cmd(9,4) notify
     cmd(9,4)        | | = C7
     cmd(9,0) notify | | = C13
     drained(9)      | | = H3 E1",
    // C9, C10, C11 and H8 cancel it.
    "cmd(9,4) notify | | = C5
     cmd(9,0)        | | = C9
     cmd(9,1) \n cmd(9,2) \n cmd(9,3) \n cmd(9,4)
     drained(9)      | | = H4
     cmd(9,3) \n cmd(9,4) notify
     cmd(9,6)        | | = C10
     cmd(9,0) \n cmd(9,1) \n cmd(9,2) \n cmd(9,3) \n cmd(9,4)
     drained(9)      | | = H4
     cmd(9,3) \n cmd(9,4) notify
     cmd(9,7)        | | = C11
     cmd(9,1) \n cmd(9,2) \n cmd(9,3) \n cmd(9,4)
     drained(9)      | | = H4
     cmd(9,3) \n cmd(9,4) notify
     fatal(9)        | | = H8 E1
     cmd(9,0) \n cmd(9,1) \n cmd(9,2) \n cmd(9,3) \n cmd(9,4)
     drained(9)      | | = H4",
    // C1 loads the service, C2 and C3 keep it.
    "cmd(9,0)            |            | = C9
     cmd(9,1) service(3) |            | = C1
     cmd(9,1) service(0) |            | = C2
     cmd(9,2) service(0) |            | = C3
     packet(9)           | is(1,0,0,0) | = M2",
    // X1: the drain is reported although software continues, but not before it was requested.
    "drained(9) cmd(9,4) notify |                     | = C5 H4 X1
     drained(9) cmd(9,3)        | no_event            | = C6 H3 E1 X1
     .query(9)                  | shows(9,0) state(3)",
    // X1: a QP with an error can be destroyed. In RESET an event is ignored even if the command
    // leads out of it.
    "fatal(9) cmd(9,7)           |                     | = C11 H8 E1 X1
     fatal(9) cmd(9,1) query(9)  | shows(9,2) state(0) | = C1 H9 X1
     .query(9)                   | state(1)",
    // Two QPs do not meet; a packet meets the state before the edge.
    "cmd(8,1)
     cmd(8,2) fatal(9) packet(9) | is(1,0,1,0)          | = C3 H8 M3 E1
     packet(9) query(8)          | is(0,0,0,0) state(2) | = M1",
    // Answers of commands in a row.
    "cmd(7,1)        |                | = C1
     cmd(255,3)      | answers(7,0)   | = C12
     cmd(7,2) notify | answers(255,1) | = C13
     .               | answers(7,2)",
    // H8 applies in ERR, too. E1 and E2: an event is shown from the next cycle until it is taken.
    "fatal(9) evt_ready | hw_ready no_event   | = H8 E1
     fatal(9) query(9)  | shows(9,2) state(6) | = H8 E1
     evt_ready          | shows(9,2)          | = E2
     fatal(9) evt_ready | shows(9,2)          | = H8 E1 E2
     evt_ready          | shows(9,2)          | = E2
     .                  | no_event",
];

#[test]
fn each_rule_does_what_the_specification_says() {
    for (services, states, script) in ROWS {
        for service in *services {
            for state in *states {
                at(*service, *state).run(&script.replace("STATE", &state.to_string()));
            }
        }
    }
    SCRIPTS.iter().for_each(|script| _ = at(0, RTS).run(script));
    let scripts = ROWS.iter().map(|(.., script)| script).chain(SCRIPTS);
    let words: BTreeSet<&str> = scripts.flat_map(|script| script.split_whitespace()).collect();
    let others = rules::RULES.iter().map(|rule| rule.name).filter(|name| !words.contains(name));
    assert_eq!(others.collect::<Vec<_>>(), ["E3", "E4", "R1"], "they have tests of their own");
}

/// E3 and E4 depend neither on `cmd_valid` nor on an event that leaves at this edge.
#[test]
fn e3_e4_a_full_queue_delays_commands_and_events_that_need_an_entry() {
    with_events(15).run(". | cmd_ready hw_ready");
    with_events(16).run(
        ".                  | !cmd_ready hw_ready
         cmd(3,0) evt_ready | !cmd_ready                   | = E2 E3
         .query(3)          | no_answer cmd_ready state(6)
         cmd(3,0)           |                              | = C9",
    );
    with_events(16).run(
        "first(3)           | hw_ready  | = H2
         drained(3)         | hw_ready  | = H4
         send_error(3)      | hw_ready  | = H7
         fatal(200)         | hw_ready  | = H9
         fatal(3) evt_ready | !hw_ready | = E2 E4
         fatal(3)           |           | = H8 E1
         .                  | !cmd_ready",
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
        "rst {all}           |                            | = R1
         .query(9) packet(9) | state(0) !msg_accept no_answer no_event cmd_ready hw_ready"
    ));
}
