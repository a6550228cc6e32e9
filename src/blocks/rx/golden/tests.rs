//! The top-level logic, cycle by cycle; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{self, REPAIRED, story};

/// Descriptors of requests have no WQE. Contexts are for an RDMA WRITE of QP 5, whose copy in
/// memory is in ERR.
const SHORT: &[(&str, &str)] = &[
    ("cmd", "qp_cmd_valid qp_cmd_qpn=$1 qp_cmd_next=$2"),
    ("arrives", "b_link_valid b_link_crc_ok b_link_seq=$1 b_link_data=$2"),
    ("context", "cxt_valid cxt_head.qp_state=6 cxt_data.net_opcode=10 cxt_data.local_qpn=5"),
    ("lengths", "len_valid len_pkt=99"),
    ("outside", "qp_hw_valid qp_hw_qpn=7 qp_hw_kind=1"),
    ("told", "x_hw_qpn=$1 x_hw_kind=$2"),
    ("leaves", "req_valid req_fate=$1"),
];

type Bench = testing::Bench<Rx>;

fn new() -> Bench {
    Bench::new(&Parameters::of::<Rx>(REPAIRED), SHORT, "")
}

/// The descriptor of a request packet of QP 5: handle, error.
fn request(handle: u64, error: u64) -> u64 {
    1 | error << 2 | handle << 8 | 5 << 16
}

/// A model with QP 5 in RTR, or in RESET, and descriptors in the FIFO.
fn with_head(in_rtr: bool, descriptors: &[u64]) -> Bench {
    let mut bench = new();
    if in_rtr {
        bench.run("cmd(5,1) \n cmd(5,2)");
    }
    for (seq, descriptor) in descriptors.iter().enumerate() {
        bench.run(&format!("arrives({seq},{descriptor})"));
    }
    bench.run("-");
    bench
}

/// Section 8, timing: taken in t, on the link in t + 2, delivered in t + 3, the head in t + 4. A is
/// ready one cycle after reset.
#[test]
fn a_descriptor_is_the_head_four_cycles_after_it_was_taken() {
    let descriptor = request(9, 0);
    new().run(&format!(
        "-
         a_link_ready a_tlp_valid a_tlp_data={descriptor} | x_credits_used=0           | CR1
         a_link_ready                         | x_credits_used=1 !a_link_valid         | !CR1
         a_link_ready arrives(0,{descriptor}) | a_link_valid a_link_data={descriptor} \
               !x_b_deliver_valid
         a_link_ready                         | x_b_deliver_valid !fetch_valid
         a_link_ready                         | fetch_valid x_credits_used=1"
    ));
}

#[test]
fn a_request_waits_for_its_context_and_is_dropped_for_a_qp_in_reset() {
    // A never accepted it: credits stay 0.
    with_head(false, &[request(9, 0)]).run(
        "-       | fetch_handle=9 fetch_request         | = RQ1
         context | leaves(2) req_qpn=5 req_handle=9     | = CR4 FI3 RQ6
         context | !fetch_valid",
    );
}

#[test]
fn the_first_packet_in_rtr_is_taken_reported_and_holds_up_the_next() {
    // thread2 gets RTR instead of ERR. Two cycles later the QP is in RTS, and thread2 is busy.
    with_head(true, &[request(1, 0), request(2, 0)]).run(
        "context | x_cxt_head.qp_state=2 x_cxt_data.net_opcode=10 x_cxt_data.local_qpn=5 \
                   req_ack !req_take_wqe               | = CR4 FI3 RQ4 EV1
         context | told(5,0) !x_msg_valid !qp_hw_ready | = RQ2 EV3
         context | qp_query_state=3 qp_evt_valid qp_evt_code=1 | = RQ3",
    );
}

#[test]
fn a_packet_with_an_error_is_refused_and_is_a_first_packet_too() {
    with_head(true, &[request(1, 1)])
        .run("context | leaves(1) !x_cxt_valid !req_ack | = CR4 FI3 RQ5 EV1");
}

#[test]
fn an_event_from_outside_waits_for_that_of_the_system() {
    with_head(true, &[request(1, 0)]).run(
        "outside context | told(7,1) qp_hw_ready  | = CR4 FI3 RQ4 EV1 EV5
         outside         | told(5,0) !qp_hw_ready | = EV3 EV6
         outside         | told(7,1) qp_hw_ready  | = EV5",
    );
}

#[test]
fn a_message_packet_waits_for_its_lengths_and_goes_to_recv() {
    // Kind 1, last, handle 0x2a. recv detects it first.
    with_head(false, &[0x2a << 8 | 1 << 5 | 1 << 3]).run(
        "-       |                                          | = PK1
         lengths |                                          | = PK2
         lengths | x_pkt_kind=1 x_pkt_id=0x2a x_pkt_len=99 x_pkt_last rv_release_id=0x2a \
                   | = CR4 FI3 PK3",
    );
}

#[test]
fn the_seventeenth_delivery_is_lost_even_if_the_head_leaves() {
    let descriptors: Vec<u64> = (0..16).map(|handle| request(handle, 0)).collect();
    with_head(false, &descriptors).run(&format!(
        "arrives(16,{})
         context | x_fifo_overflow x_fifo_level=16                | = CR4 FI2 FI3 RQ6
         -       | !x_fifo_overflow x_fifo_level=15 fetch_handle=1",
        request(16, 0)
    ));
}

/// A replay buffer of 16 would be full, too: two are acknowledged in between.
#[test]
fn after_sixteen_descriptors_there_is_no_credit() {
    new().run(
        "-
         12* a_tlp_valid a_tlp_data=1 a_link_ready | a_tlp_ready  | CR1 !CR5
         a_tlp_valid a_tlp_data=1 a_link_ready a_dllp_valid a_dllp_crc_ok a_dllp_seq=1 | \
               a_tlp_ready | CR1
         3* a_tlp_valid a_tlp_data=1 a_link_ready  | a_tlp_ready  | CR1 !CR5
         20* a_tlp_valid a_tlp_data=1 a_link_ready | !a_tlp_ready x_a_tlp_ready | !CR1 CR5",
    );
}

#[test]
fn in_reset_every_output_is_0_but_the_newest_number_acknowledged() {
    with_head(true, &[request(1, 0)]).run(
        "rst a_tlp_valid qp_hw_valid qp_query_qpn=5 context | = a_ackd_seq=4095              | = R1
         context                                            | !fetch_valid x_credits_used=0 | =",
    );
}

/// The second length error of the vector comes at the edge at which qp accepts the first one (EV2,
/// EV4): the event stays pending.
#[test]
fn the_corpus_has_a_length_error_at_the_edge_that_reports_the_one_before() {
    let text = include_str!("../../../../vectors/rx/ev2-as-the-first-is-told.json");
    let vector: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut golden = Golden::new(&Parameters::of::<Rx>(0xfb));
    // Whether a new one comes in the cycles in which the fatal error of QP 5 is sent and accepted.
    let mut reported = Vec::new();
    for (inputs, outputs) in story::<Rx>(0xfb, &vector["stimulus"]["traffic"].to_string()).cycles {
        let rules = golden.edge(&inputs);
        if rules.has(EV4) && outputs.x_hw_ready.is_high() && outputs.x_hw_qpn.get() == 5 {
            reported.push(rules.has(EV2));
        }
    }
    assert_eq!(reported[..2], [true, false]);
}
