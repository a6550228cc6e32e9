//! The connections between pins of the system and ports of the inner blocks, each written once, and
//! the pins of the inner blocks, read from those of the system.
//!
//! The table is from section 8 of the specification. It is not derived from the instances in
//! `RxSystem.sv`: then the golden model could not detect a wrong connection there. All structs of
//! pins are exhaustive, so that a changed port list of the RTL does not compile.

use super::super::rtl::{Inputs, Outputs};
use crate::blocks::{dll, qp, recv, thread2};

/// Calls a macro with the table of an inner block's connections, as `port = pin of the system`, in
/// groups:
///
/// - `pins`: inputs connected to inputs of the system that the block's environment does not drive.
/// - `environment`: inputs that the block's environment drives through inputs of the system.
/// - `glue`: inputs driven by the top-level logic, and the outputs of the system that show them.
/// - `copies`: further inputs that follow a pin of `glue`.
/// - `outputs`: outputs of the block, and the outputs of the system that show them.
macro_rules! wires {
    (dll $then:ident $arguments:tt) => {
        $then! {
            $arguments
            pins [rst = rst, a_tlp_data = a_tlp_data]
            environment [
                a_link_ready = a_link_ready, a_dllp_valid = a_dllp_valid,
                a_dllp_nak = a_dllp_nak, a_dllp_seq = a_dllp_seq, a_dllp_crc_ok = a_dllp_crc_ok,
                b_link_valid = b_link_valid, b_link_seq = b_link_seq, b_link_data = b_link_data,
                b_link_crc_ok = b_link_crc_ok, b_dllp_ready = b_dllp_ready
            ]
            glue [a_tlp_valid = x_a_tlp_valid]
            copies []
            outputs [
                a_tlp_ready = x_a_tlp_ready, a_link_valid = a_link_valid,
                a_link_seq = a_link_seq, a_link_data = a_link_data, a_ackd_seq = a_ackd_seq,
                a_next_seq = a_next_seq, a_replay_num = a_replay_num, a_retrain = a_retrain,
                a_dl_error = a_dl_error, b_deliver_valid = x_b_deliver_valid,
                b_deliver_data = x_b_deliver_data, b_dllp_valid = b_dllp_valid,
                b_dllp_nak = b_dllp_nak, b_dllp_seq = b_dllp_seq,
                b_next_rcv_seq = b_next_rcv_seq, b_nak_scheduled = b_nak_scheduled
            ]
        }
    };
    (qp $then:ident $arguments:tt) => {
        $then! {
            $arguments
            pins [rst = rst]
            environment [
                cmd_valid = qp_cmd_valid, cmd_qpn = qp_cmd_qpn, cmd_next = qp_cmd_next,
                cmd_service = qp_cmd_service, cmd_notify = qp_cmd_notify,
                evt_ready = qp_evt_ready
            ]
            glue [
                msg_valid = x_msg_valid, msg_qpn = x_msg_qpn,
                msg_consumes_wqe = x_msg_consumes_wqe, msg_error = x_msg_error,
                hw_valid = x_hw_valid, hw_qpn = x_hw_qpn, hw_kind = x_hw_kind,
                query_qpn = x_query_qpn
            ]
            copies []
            outputs [
                hw_ready = x_hw_ready, cmd_ready = qp_cmd_ready, rsp_valid = qp_rsp_valid,
                rsp_qpn = qp_rsp_qpn, rsp_code = qp_rsp_code, msg_accept = x_msg_accept,
                msg_take_wqe = x_msg_take_wqe, msg_ack = x_msg_ack, msg_nak = x_msg_nak,
                query_state = qp_query_state, query_sq_post = qp_query_sq_post,
                query_rq_post = qp_query_rq_post, query_sq_run = qp_query_sq_run,
                query_rq_run = qp_query_rq_run, evt_valid = qp_evt_valid, evt_qpn = qp_evt_qpn,
                evt_code = qp_evt_code
            ]
        }
    };
    // Inputs of qp behind the top-level logic, as software drives them.
    (software $then:ident $arguments:tt) => {
        $then! {
            $arguments
            pins []
            environment [
                hw_valid = qp_hw_valid, hw_qpn = qp_hw_qpn, hw_kind = qp_hw_kind,
                query_qpn = qp_query_qpn
            ]
            glue []
            copies []
            outputs []
        }
    };
    (thread2 $then:ident $arguments:tt) => {
        $then! {
            $arguments
            pins [rst = rst]
            environment [
                fetch_mr_ingress_ready = t2_fetch_mr_ingress_ready,
                wqe_req_ready = t2_wqe_req_ready, wqe_resp_valid = t2_wqe_resp_valid,
                wqe_resp_head = t2_wqe_resp_head, wqe_resp_data = t2_wqe_resp_data,
                wqe_resp_start = t2_wqe_resp_start, wqe_resp_last = t2_wqe_resp_last,
                cache_offset_dout = t2_cache_offset_dout,
                cache_owned_dout = t2_cache_owned_dout, rq_offset_dout = t2_rq_offset_dout,
                cq_req_ready = t2_cq_req_ready, cq_resp_valid = t2_cq_resp_valid,
                cq_resp_head = t2_cq_resp_head, eq_req_ready = t2_eq_req_ready,
                eq_resp_valid = t2_eq_resp_valid, eq_resp_head = t2_eq_resp_head
            ]
            glue [
                fetch_cxt_egress_valid = x_cxt_valid, fetch_cxt_egress_head = x_cxt_head,
                fetch_cxt_egress_data = x_cxt_data
            ]
            copies [
                fetch_cxt_egress_start = x_cxt_valid, fetch_cxt_egress_last = x_cxt_valid
            ]
            outputs [
                fetch_cxt_egress_ready = x_cxt_ready,
                fetch_mr_ingress_valid = t2_fetch_mr_ingress_valid,
                fetch_mr_ingress_head = t2_fetch_mr_ingress_head,
                fetch_mr_ingress_data = t2_fetch_mr_ingress_data,
                fetch_mr_ingress_start = t2_fetch_mr_ingress_start,
                fetch_mr_ingress_last = t2_fetch_mr_ingress_last,
                wqe_req_valid = t2_wqe_req_valid, wqe_req_head = t2_wqe_req_head,
                wqe_req_start = t2_wqe_req_start, wqe_req_last = t2_wqe_req_last,
                wqe_resp_ready = t2_wqe_resp_ready, cache_offset_wen = t2_cache_offset_wen,
                cache_offset_addr = t2_cache_offset_addr,
                cache_offset_din = t2_cache_offset_din, cache_owned_wen = t2_cache_owned_wen,
                cache_owned_addr = t2_cache_owned_addr, cache_owned_din = t2_cache_owned_din,
                rq_offset_wen = t2_rq_offset_wen, rq_offset_addr = t2_rq_offset_addr,
                rq_offset_din = t2_rq_offset_din, cq_req_valid = t2_cq_req_valid,
                cq_req_head = t2_cq_req_head, cq_resp_ready = t2_cq_resp_ready,
                eq_req_valid = t2_eq_req_valid, eq_req_head = t2_eq_req_head,
                eq_resp_ready = t2_eq_resp_ready
            ]
        }
    };
    (recv $then:ident $arguments:tt) => {
        $then! {
            $arguments
            pins [rst = rst]
            environment [
                match_rsp = rv_match_rsp, match_found = rv_match_found,
                posted_done = rv_posted_done, pool_free = rv_pool_free,
                credit_ready = rv_credit_ready, temp_alloc_ok = rv_temp_alloc_ok
            ]
            glue [
                pkt_valid = x_pkt_valid, pkt_kind = x_pkt_kind, pkt_id = x_pkt_id,
                pkt_len = x_pkt_len, pkt_msg_len = x_pkt_msg_len, pkt_last = x_pkt_last
            ]
            copies []
            outputs [
                pkt_ready = x_pkt_ready, match_req = rv_match_req, match_id = rv_match_id,
                alloc_valid = rv_alloc_valid, alloc_count = rv_alloc_count,
                ring_level = rv_ring_level, credit_valid = rv_credit_valid,
                credit_count = rv_credit_count, copy_valid = rv_copy_valid,
                copy_id = rv_copy_id, copy_len = rv_copy_len, keep_valid = rv_keep_valid,
                keep_id = rv_keep_id, release_valid = rv_release_valid,
                release_id = rv_release_id, temp_alloc_valid = rv_temp_alloc_valid,
                temp_alloc_len = rv_temp_alloc_len, protocol_error = rv_protocol_error,
                state = rv_state
            ]
        }
    };
}

/// Sets all pins of a struct where they are: a new struct would be copied.
macro_rules! set_pins {
    ($pins:ident $($type:ident)::+ { $($pin:ident: $value:expr,)* }) => {{
        let $($type)::+ { $($pin,)* padding: _ } = $pins;
        $( *$pin = $value; )*
    }};
}

macro_rules! inputs_seen {
    (
        [$part:ident $inputs:ident $outputs:ident]
        pins [$($pin_port:ident = $pin:ident),*]
        environment [$($port:ident = $driven:ident),*]
        glue [$($glue_port:ident = $glue:ident),*]
        copies [$($copy_port:ident = $copy:ident),*]
        outputs $shown:tt
    ) => {
        $part::rtl::Inputs {
            $($pin_port: $inputs.$pin,)*
            $($port: $inputs.$driven,)*
            $($glue_port: $outputs.$glue,)*
            $($copy_port: $outputs.$copy,)*
            padding: [0; _],
        }
    };
}

macro_rules! outputs_seen {
    (
        [$part:ident $outputs:ident]
        pins $pins:tt
        environment $environment:tt
        glue $glue:tt
        copies $copies:tt
        outputs [$($output:ident = $shown:ident),*]
    ) => {
        $part::rtl::Outputs { $($output: $outputs.$shown,)* padding: [0; _] }
    };
}

/// Sets the inputs of an inner block: those from the system's inputs, and `own` ones of the
/// top-level logic.
macro_rules! part_inputs {
    (
        [$part:ident $all:ident $inputs:ident { $($own:tt)* }]
        pins [$($pin_port:ident = $pin:ident),*]
        environment [$($port:ident = $driven:ident),*]
        glue $glue:tt
        copies $copies:tt
        outputs $outputs:tt
    ) => {
        set_pins!($all $part::rtl::Inputs {
            $($own)*
            $($pin_port: $inputs.$pin,)*
            $($port: $inputs.$driven,)*
        })
    };
}

/// Sets the inputs of the system: `own` ones of the top-level logic, and those that environments of
/// inner blocks drive, as `TABLE from VARIABLE`.
macro_rules! system_inputs {
    ($all:ident { $($own:tt)* }) => {
        set_pins!($all Inputs { $($own)* })
    };
    ($all:ident { $($own:tt)* } $table:ident from $from:ident $($rest:tt)*) => {
        wires!($table add_inputs [$all { $($own)* } $from { $($rest)* }])
    };
}

macro_rules! add_inputs {
    (
        [$all:ident { $($own:tt)* } $from:ident { $($rest:tt)* }]
        pins $pins:tt
        environment [$($port:ident = $driven:ident),*]
        glue $glue:tt
        copies $copies:tt
        outputs $outputs:tt
    ) => {
        system_inputs!($all { $($own)* $($driven: $from.$port,)* } $($rest)*)
    };
}

/// Sets the outputs of the system: `own` ones of the top-level logic, and those that show pins of
/// inner blocks, as `TABLE from (INPUTS, OUTPUTS)`.
macro_rules! system_outputs {
    ($all:ident { $($own:tt)* }) => {
        set_pins!($all Outputs { $($own)* })
    };
    ($all:ident { $($own:tt)* } $table:ident from ($inputs:ident, $outputs:ident) $($rest:tt)*) => {
        wires!($table add_outputs [$all { $($own)* } $inputs $outputs { $($rest)* }])
    };
}

macro_rules! add_outputs {
    (
        [$all:ident { $($own:tt)* } $inputs:ident $outputs:ident { $($rest:tt)* }]
        pins $pins:tt
        environment $environment:tt
        glue [$($glue_port:ident = $glue:ident),*]
        copies $copies:tt
        outputs [$($output:ident = $shown:ident),*]
    ) => {
        system_outputs!(
            $all
            { $($own)* $($glue: $inputs.$glue_port,)* $($shown: $outputs.$output,)* }
            $($rest)*
        )
    };
}

/// Declares functions for the inputs and the outputs of blocks.
macro_rules! pins_of {
    ($($part:ident)+) => {$(
        #[inline]
        pub fn $part(
            inputs: &Inputs,
            outputs: &Outputs,
        ) -> ($part::rtl::Inputs, $part::rtl::Outputs) {
            let to = wires!($part inputs_seen [$part inputs outputs]);
            (to, wires!($part outputs_seen [$part outputs]))
        }
    )+};
}

pins_of! { dll qp thread2 recv }

/// The pins of qp as software drives and gets them.
#[inline]
pub fn software(inputs: &Inputs, outputs: &Outputs) -> (qp::rtl::Inputs, qp::rtl::Outputs) {
    let (to, from) = qp(inputs, outputs);
    let (hw_valid, hw_qpn) = (inputs.qp_hw_valid, inputs.qp_hw_qpn);
    let (hw_kind, query_qpn) = (inputs.qp_hw_kind, inputs.qp_query_qpn);
    let to = qp::rtl::Inputs { hw_valid, hw_qpn, hw_kind, query_qpn, ..to };
    (to, qp::rtl::Outputs { hw_ready: outputs.qp_hw_ready, ..from })
}
