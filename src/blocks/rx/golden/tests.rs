//! The top-level logic, cycle by cycle; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{Bench, REPAIRED, story};

/// Contexts are for an RDMA WRITE of QP 5, whose copy in memory is in ERR.
const SHORT: &[(&str, &str)] = &[
    ("cmd", "qp_cmd_valid qp_cmd_qpn=$1 qp_cmd_next=$2"),
    ("sends", "a_link_ready a_tlp_valid a_tlp_data=$1"),
    ("arrives", "b_link_valid b_link_crc_ok b_link_seq=$1 b_link_data=$2"),
    ("context", "cxt_valid cxt_head.qp_state=6 cxt_data.net_opcode=10 cxt_data.local_qpn=5"),
    ("lengths", "len_valid len_pkt=99"),
    ("outside", "qp_hw_valid qp_hw_qpn=7 qp_hw_kind=1"),
    ("reported", "x_hw_qpn=$1 x_hw_kind=$2"),
    ("leaves", "req_valid req_fate=$1"),
];

/// A model with QP 5 in RTR, or in RESET, and descriptors in the FIFO.
fn with_head(in_rtr: bool, descriptors: impl IntoIterator<Item = u64>) -> Bench<Rx> {
    let mut bench: Bench<Rx> = Bench::new(&Parameters::with_fixes::<Rx>(REPAIRED), SHORT, "");
    bench.run(if in_rtr { "cmd(5,1) \n cmd(5,2)" } else { "" });
    for (seq, descriptor) in descriptors.into_iter().enumerate() {
        bench.run(&format!("arrives({seq},{descriptor})"));
    }
    bench.run("-");
    bench
}

/// Scripts, each below the state of QP 5 and the descriptors in the FIFO. 0x50901 is a request of
/// QP 5 with handle 9, which takes no WQE; bit 2 is its error.
const SCRIPTS: &str = "
@ reset // Section 8, timing. A descriptor that A never took comes without a credit (CR4 below).
  sends(0x50901)                     | x_credits_used=0 a_tlp_ready                 | = CR1
  a_link_ready                       | x_credits_used=1 !a_link_valid               | =
  a_link_ready arrives(0,0x50901)    | a_link_data=0x50901 !x_b_deliver_valid       | =
  -                                  | x_b_deliver_valid !fetch_valid               | = FI1
  sends(1) arrives(1,1) context      | fetch_handle=9 x_credits_used=1 leaves(2)    | = CR2 FI3 RQ6
  -                                  | !fetch_valid x_credits_used=1                | = FI1
  context                            | fetch_valid leaves(2) req_qpn=0              | = CR3 FI3 RQ6
  -                                  | x_credits_used=0                             | =
@ reset // A replay buffer of 16 would be full, too: two are acknowledged in between.
  12* sends(1)                                      | a_tlp_ready                | = CR1
  sends(1) a_dllp_valid a_dllp_crc_ok a_dllp_seq=1  | a_tlp_ready                | = CR1
  3* sends(1)                                       | a_tlp_ready                | = CR1
  20* sends(1)                                      | !a_tlp_ready x_a_tlp_ready | = CR5
@ reset 0x50901 // It waits for its context, and is dropped for a QP in RESET.
  -       | fetch_handle=9 fetch_request     | = RQ1
  context | leaves(2) req_qpn=5 req_handle=9 | = CR4 FI3 RQ6
  context | !fetch_valid                     | =
@ rtr 0x50101 0x50201 // thread2 gets RTR instead of ERR. Then the QP is in RTS, and thread2 busy.
  context | x_cxt_head.qp_state=2 x_cxt_data.net_opcode=10 req_ack !req_take_wqe | = CR4 FI3 RQ4 EV1
  context | reported(5,0) !x_msg_valid !qp_hw_ready     | = RQ2 EV3
  context | qp_query_state=3 qp_evt_valid qp_evt_code=1 | = RQ3
@ rtr 0x50105 // A packet with an error is refused, and is a first packet, too.
  context | leaves(1) !x_cxt_valid !req_ack | = CR4 FI3 RQ5 EV1
@ rtr 0x50101 // An event from outside waits for that of the system.
  outside context | reported(7,1) qp_hw_ready  | = CR4 FI3 RQ4 EV1 EV5
  outside         | reported(5,0) !qp_hw_ready | = EV3 EV6
  outside         | reported(7,1) qp_hw_ready  | = EV5
@ reset 0x2a28 // Kind 1, last, handle 0x2a. recv detects it first.
  -       | !x_pkt_valid                         | = PK1
  lengths | x_pkt_valid                          | = PK2
  lengths | x_pkt_kind=1 x_pkt_id=0x2a x_pkt_len=99 x_pkt_last rv_release_id=0x2a | = CR4 FI3 PK3
@ rtr 0x50101 // In reset every output is 0 but the newest number acknowledged.
  rst a_tlp_valid qp_hw_valid qp_query_qpn=5 context | = a_ackd_seq=4095              | = R1
  context                                            | !fetch_valid x_credits_used=0 | =
";

#[test]
fn each_rule_does_what_a_script_says() {
    for script in SCRIPTS.split('@').skip(1) {
        let (start, script) = script.split_once('\n').unwrap();
        let mut words = start.split("//").next().unwrap().split_whitespace();
        let in_rtr = words.next() == Some("rtr");
        let descriptor = |word: &str| u64::from_str_radix(&word[2..], 16).unwrap();
        with_head(in_rtr, words.map(descriptor)).run(script);
    }
    let shown = |rule: &str| SCRIPTS.split_whitespace().any(|word| word == rule);
    let missing = rules::RULES.iter().map(|rule| rule.name).filter(|rule| !shown(rule));
    assert_eq!(missing.collect::<Vec<_>>(), ["FI2", "EV2", "EV4"]);
}

#[test]
fn fi2_the_seventeenth_delivery_is_lost_even_if_the_head_leaves() {
    with_head(false, (0..16).map(|handle| 0x50001 | handle << 8)).run(
        "arrives(16,0x51001)
         context | x_fifo_overflow x_fifo_level=16                | = CR4 FI2 FI3 RQ6
         -       | !x_fifo_overflow x_fifo_level=15 fetch_handle=1",
    );
}

/// The second length error of the vector comes at the edge at which qp accepts the first one (EV2,
/// EV4): the event stays pending.
#[test]
fn ev2_ev4_a_length_error_at_the_edge_that_reports_the_one_before_is_reported() {
    let text = include_str!("../../../../vectors/rx/ev2-as-the-first-is-told.json");
    let vector: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut golden = Golden::new(&Parameters::with_fixes::<Rx>(0xfb));
    // Whether a new one comes in the cycles in which the fatal error of QP 5 is sent and accepted.
    let mut reported = Vec::new();
    for (inputs, outputs) in story::<Rx>(0xfb, &vector["stimulus"]["traffic"].to_string()).cycles {
        let rules = golden.edge(&inputs);
        if rules.contains_any(EV4) && outputs.x_hw_ready.is_high() && outputs.x_hw_qpn.get() == 5 {
            reported.push(rules.contains_any(EV2));
        }
    }
    assert_eq!(reported[..2], [true, false]);
}
