//! The pins of the blocks inside, as the system's pins show them.

use super::rtl::{Inputs, Outputs};
use crate::blocks::{dll, qp, recv, thread2};

/// The pins of dll.
#[inline]
pub fn of_dll(inputs: &Inputs, outputs: &Outputs) -> (dll::rtl::Inputs, dll::rtl::Outputs) {
    let to = dll::rtl::Inputs {
        rst: inputs.rst,
        a_tlp_valid: outputs.x_a_tlp_valid,
        a_tlp_data: inputs.a_tlp_data,
        a_link_ready: inputs.a_link_ready,
        a_dllp_valid: inputs.a_dllp_valid,
        a_dllp_nak: inputs.a_dllp_nak,
        a_dllp_seq: inputs.a_dllp_seq,
        a_dllp_crc_ok: inputs.a_dllp_crc_ok,
        b_link_valid: inputs.b_link_valid,
        b_link_seq: inputs.b_link_seq,
        b_link_data: inputs.b_link_data,
        b_link_crc_ok: inputs.b_link_crc_ok,
        b_dllp_ready: inputs.b_dllp_ready,
        padding: [0; _],
    };
    let from = dll::rtl::Outputs {
        a_tlp_ready: outputs.x_a_tlp_ready,
        a_link_valid: outputs.a_link_valid,
        a_link_seq: outputs.a_link_seq,
        a_link_data: outputs.a_link_data,
        a_ackd_seq: outputs.a_ackd_seq,
        a_next_seq: outputs.a_next_seq,
        a_replay_num: outputs.a_replay_num,
        a_retrain: outputs.a_retrain,
        a_dl_error: outputs.a_dl_error,
        b_deliver_valid: outputs.x_b_deliver_valid,
        b_deliver_data: outputs.x_b_deliver_data,
        b_dllp_valid: outputs.b_dllp_valid,
        b_dllp_nak: outputs.b_dllp_nak,
        b_dllp_seq: outputs.b_dllp_seq,
        b_next_rcv_seq: outputs.b_next_rcv_seq,
        b_nak_scheduled: outputs.b_nak_scheduled,
        padding: [0; _],
    };
    (to, from)
}

/// The pins of thread2.
#[inline]
pub fn of_thread2(
    inputs: &Inputs,
    outputs: &Outputs,
) -> (thread2::rtl::Inputs, thread2::rtl::Outputs) {
    let to = thread2::rtl::Inputs {
        rst: inputs.rst,
        fetch_cxt_egress_valid: outputs.x_cxt_valid,
        fetch_cxt_egress_head: outputs.x_cxt_head,
        fetch_cxt_egress_data: outputs.x_cxt_data,
        fetch_cxt_egress_start: outputs.x_cxt_valid,
        fetch_cxt_egress_last: outputs.x_cxt_valid,
        fetch_mr_ingress_ready: inputs.t2_fetch_mr_ingress_ready,
        wqe_req_ready: inputs.t2_wqe_req_ready,
        wqe_resp_valid: inputs.t2_wqe_resp_valid,
        wqe_resp_head: inputs.t2_wqe_resp_head,
        wqe_resp_data: inputs.t2_wqe_resp_data,
        wqe_resp_start: inputs.t2_wqe_resp_start,
        wqe_resp_last: inputs.t2_wqe_resp_last,
        cache_offset_dout: inputs.t2_cache_offset_dout,
        cache_owned_dout: inputs.t2_cache_owned_dout,
        rq_offset_dout: inputs.t2_rq_offset_dout,
        cq_req_ready: inputs.t2_cq_req_ready,
        cq_resp_valid: inputs.t2_cq_resp_valid,
        cq_resp_head: inputs.t2_cq_resp_head,
        eq_req_ready: inputs.t2_eq_req_ready,
        eq_resp_valid: inputs.t2_eq_resp_valid,
        eq_resp_head: inputs.t2_eq_resp_head,
        padding: [0; _],
    };
    let from = thread2::rtl::Outputs {
        fetch_cxt_egress_ready: outputs.x_cxt_ready,
        fetch_mr_ingress_valid: outputs.t2_fetch_mr_ingress_valid,
        fetch_mr_ingress_head: outputs.t2_fetch_mr_ingress_head,
        fetch_mr_ingress_data: outputs.t2_fetch_mr_ingress_data,
        fetch_mr_ingress_start: outputs.t2_fetch_mr_ingress_start,
        fetch_mr_ingress_last: outputs.t2_fetch_mr_ingress_last,
        wqe_req_valid: outputs.t2_wqe_req_valid,
        wqe_req_head: outputs.t2_wqe_req_head,
        wqe_req_start: outputs.t2_wqe_req_start,
        wqe_req_last: outputs.t2_wqe_req_last,
        wqe_resp_ready: outputs.t2_wqe_resp_ready,
        cache_offset_wen: outputs.t2_cache_offset_wen,
        cache_offset_addr: outputs.t2_cache_offset_addr,
        cache_offset_din: outputs.t2_cache_offset_din,
        cache_owned_wen: outputs.t2_cache_owned_wen,
        cache_owned_addr: outputs.t2_cache_owned_addr,
        cache_owned_din: outputs.t2_cache_owned_din,
        rq_offset_wen: outputs.t2_rq_offset_wen,
        rq_offset_addr: outputs.t2_rq_offset_addr,
        rq_offset_din: outputs.t2_rq_offset_din,
        cq_req_valid: outputs.t2_cq_req_valid,
        cq_req_head: outputs.t2_cq_req_head,
        cq_resp_ready: outputs.t2_cq_resp_ready,
        eq_req_valid: outputs.t2_eq_req_valid,
        eq_req_head: outputs.t2_eq_req_head,
        eq_resp_ready: outputs.t2_eq_resp_ready,
        padding: [0; _],
    };
    (to, from)
}

/// The pins of recv.
#[inline]
pub fn of_recv(inputs: &Inputs, outputs: &Outputs) -> (recv::rtl::Inputs, recv::rtl::Outputs) {
    let to = recv::rtl::Inputs {
        rst: inputs.rst,
        pkt_valid: outputs.x_pkt_valid,
        pkt_kind: outputs.x_pkt_kind,
        pkt_id: outputs.x_pkt_id,
        pkt_len: outputs.x_pkt_len,
        pkt_msg_len: outputs.x_pkt_msg_len,
        pkt_last: outputs.x_pkt_last,
        match_rsp: inputs.rv_match_rsp,
        match_found: inputs.rv_match_found,
        posted_done: inputs.rv_posted_done,
        pool_free: inputs.rv_pool_free,
        credit_ready: inputs.rv_credit_ready,
        temp_alloc_ok: inputs.rv_temp_alloc_ok,
        padding: [0; _],
    };
    let from = recv::rtl::Outputs {
        pkt_ready: outputs.x_pkt_ready,
        match_req: outputs.rv_match_req,
        match_id: outputs.rv_match_id,
        alloc_valid: outputs.rv_alloc_valid,
        alloc_count: outputs.rv_alloc_count,
        ring_level: outputs.rv_ring_level,
        credit_valid: outputs.rv_credit_valid,
        credit_count: outputs.rv_credit_count,
        copy_valid: outputs.rv_copy_valid,
        copy_id: outputs.rv_copy_id,
        copy_len: outputs.rv_copy_len,
        keep_valid: outputs.rv_keep_valid,
        keep_id: outputs.rv_keep_id,
        release_valid: outputs.rv_release_valid,
        release_id: outputs.rv_release_id,
        temp_alloc_valid: outputs.rv_temp_alloc_valid,
        temp_alloc_len: outputs.rv_temp_alloc_len,
        protocol_error: outputs.rv_protocol_error,
        state: outputs.rv_state,
        padding: [0; _],
    };
    (to, from)
}

/// The pins of qp as software has them: events from outside instead of those that reach it.
#[inline]
pub fn of_software(inputs: &Inputs, outputs: &Outputs) -> (qp::rtl::Inputs, qp::rtl::Outputs) {
    let to = qp::rtl::Inputs {
        rst: inputs.rst,
        cmd_valid: inputs.qp_cmd_valid,
        cmd_qpn: inputs.qp_cmd_qpn,
        cmd_next: inputs.qp_cmd_next,
        cmd_service: inputs.qp_cmd_service,
        cmd_notify: inputs.qp_cmd_notify,
        hw_valid: inputs.qp_hw_valid,
        hw_qpn: inputs.qp_hw_qpn,
        hw_kind: inputs.qp_hw_kind,
        msg_valid: outputs.x_msg_valid,
        msg_qpn: outputs.x_msg_qpn,
        msg_consumes_wqe: outputs.x_msg_consumes_wqe,
        msg_error: outputs.x_msg_error,
        query_qpn: inputs.qp_query_qpn,
        evt_ready: inputs.qp_evt_ready,
        padding: [0; _],
    };
    let from = qp::rtl::Outputs {
        cmd_ready: outputs.qp_cmd_ready,
        rsp_valid: outputs.qp_rsp_valid,
        rsp_qpn: outputs.qp_rsp_qpn,
        rsp_code: outputs.qp_rsp_code,
        hw_ready: outputs.qp_hw_ready,
        msg_accept: outputs.x_msg_accept,
        msg_take_wqe: outputs.x_msg_take_wqe,
        msg_ack: outputs.x_msg_ack,
        msg_nak: outputs.x_msg_nak,
        query_state: outputs.qp_query_state,
        query_sq_post: outputs.qp_query_sq_post,
        query_rq_post: outputs.qp_query_rq_post,
        query_sq_run: outputs.qp_query_sq_run,
        query_rq_run: outputs.qp_query_rq_run,
        evt_valid: outputs.qp_evt_valid,
        evt_qpn: outputs.qp_evt_qpn,
        evt_code: outputs.qp_evt_code,
        padding: [0; _],
    };
    (to, from)
}

/// The pins of qp.
#[inline]
pub fn of_qp(inputs: &Inputs, outputs: &Outputs) -> (qp::rtl::Inputs, qp::rtl::Outputs) {
    let (to, from) = of_software(inputs, outputs);
    let to = qp::rtl::Inputs {
        hw_valid: outputs.x_hw_valid,
        hw_qpn: outputs.x_hw_qpn,
        hw_kind: outputs.x_hw_kind,
        query_qpn: outputs.x_query_qpn,
        ..to
    };
    (to, qp::rtl::Outputs { hw_ready: outputs.x_hw_ready, ..from })
}
