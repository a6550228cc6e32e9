//! Unconstrained random stimulus without protocol: that of the inner blocks. A golden model runs
//! along, so that sequence numbers are meaningful.

use super::parameters::of_recv;
use super::rtl::{Bits32, Inputs, Outputs};
use super::{Golden, pins};
use crate::blocks::{dll, qp, recv, thread2};
use cosim_core::harness::{CaseRng, Draw as _, Golden as _, Parameters};
use rand::RngExt;

/// `count` cycles of random pins.
pub fn cycles(count: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let to_qp = qp::chaos::cycles(count, parameters, rng);
    let to_thread2 = thread2::chaos::cycles(count, parameters, rng);
    let to_recv = recv::chaos::cycles(count, &of_recv(parameters), rng);
    let requests = rng.one_of(&[0.1, 0.5, 0.5, 0.9]);
    // Descriptors name QPs that software uses.
    let descriptors: Vec<[Bits32; 2]> = to_qp
        .iter()
        .zip(&to_recv)
        .map(|(qp, recv)| {
            std::array::from_fn(|_| {
                let drawn: u32 = rng.random();
                let request = u64::from(rng.random_bool(requests));
                let kind = recv.pkt_kind.get() << 5 | recv.pkt_last.get() << 3;
                let others = u64::from(drawn & 0xff00_ff16);
                Bits32::new(others | qp.msg_qpn.get() << 16 | kind | request)
            })
        })
        .collect();
    let mut link = dll::chaos::Pins::draw(rng);
    let mut golden = Golden::new(parameters);
    let mut outputs = Outputs::default();
    (0..count as usize)
        .map(|cycle| {
            golden.show(&Inputs::default(), &mut outputs);
            let (_, seen) = pins::of_dll(&Inputs::default(), &outputs);
            let [sent, arriving] = descriptors[cycle];
            let to_dll = link.cycle(&seen);
            let (qp, thread2, recv) = (&to_qp[cycle], &to_thread2[cycle], &to_recv[cycle]);
            let inputs = Inputs {
                rst: to_dll.rst,
                a_tlp_valid: to_dll.a_tlp_valid,
                a_tlp_data: sent,
                a_link_ready: to_dll.a_link_ready,
                a_dllp_valid: to_dll.a_dllp_valid,
                a_dllp_nak: to_dll.a_dllp_nak,
                a_dllp_seq: to_dll.a_dllp_seq,
                a_dllp_crc_ok: to_dll.a_dllp_crc_ok,
                b_link_valid: to_dll.b_link_valid,
                b_link_seq: to_dll.b_link_seq,
                b_link_data: arriving,
                b_link_crc_ok: to_dll.b_link_crc_ok,
                b_dllp_ready: to_dll.b_dllp_ready,
                cxt_valid: thread2.fetch_cxt_egress_valid,
                cxt_head: thread2.fetch_cxt_egress_head,
                cxt_data: thread2.fetch_cxt_egress_data,
                len_valid: recv.pkt_valid,
                len_pkt: recv.pkt_len,
                len_msg: recv.pkt_msg_len,
                qp_query_qpn: qp.query_qpn,
                qp_hw_valid: qp.hw_valid,
                qp_hw_qpn: qp.hw_qpn,
                qp_hw_kind: qp.hw_kind,
                qp_cmd_valid: qp.cmd_valid,
                qp_cmd_qpn: qp.cmd_qpn,
                qp_cmd_next: qp.cmd_next,
                qp_cmd_service: qp.cmd_service,
                qp_cmd_notify: qp.cmd_notify,
                qp_evt_ready: qp.evt_ready,
                t2_fetch_mr_ingress_ready: thread2.fetch_mr_ingress_ready,
                t2_wqe_req_ready: thread2.wqe_req_ready,
                t2_wqe_resp_valid: thread2.wqe_resp_valid,
                t2_wqe_resp_head: thread2.wqe_resp_head,
                t2_wqe_resp_data: thread2.wqe_resp_data,
                t2_wqe_resp_start: thread2.wqe_resp_start,
                t2_wqe_resp_last: thread2.wqe_resp_last,
                t2_cache_offset_dout: thread2.cache_offset_dout,
                t2_cache_owned_dout: thread2.cache_owned_dout,
                t2_rq_offset_dout: thread2.rq_offset_dout,
                t2_cq_req_ready: thread2.cq_req_ready,
                t2_cq_resp_valid: thread2.cq_resp_valid,
                t2_cq_resp_head: thread2.cq_resp_head,
                t2_eq_req_ready: thread2.eq_req_ready,
                t2_eq_resp_valid: thread2.eq_resp_valid,
                t2_eq_resp_head: thread2.eq_resp_head,
                rv_match_rsp: recv.match_rsp,
                rv_match_found: recv.match_found,
                rv_posted_done: recv.posted_done,
                rv_pool_free: recv.pool_free,
                rv_credit_ready: recv.credit_ready,
                rv_temp_alloc_ok: recv.temp_alloc_ok,
                padding: [0; _],
            };
            golden.edge(&inputs);
            inputs
        })
        .collect()
}
