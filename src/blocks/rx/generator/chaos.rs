//! Unconstrained random stimulus without protocol: that of the inner blocks. A golden model runs
//! along, so that sequence numbers are meaningful.

use super::super::rtl::{Bits32, Inputs, Outputs};
use super::super::rules::parameters::of_recv;
use super::super::{Golden, pins};
use crate::blocks::{dll, qp, recv, thread2};
use cosim_core::harness::{CaseRng, Draw as _, Golden as _, Parameters};
use rand::RngExt;

/// `count` cycles of random pins.
pub fn cycles(count: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
    let to_qp = qp::generator::chaos::cycles(count, parameters, rng);
    let to_thread2 = thread2::generator::chaos::cycles(count, parameters, rng);
    let to_recv = recv::generator::chaos::cycles(count, &of_recv(parameters), rng);
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
    let mut link = dll::generator::chaos::Pins::draw(rng);
    let mut golden = Golden::new(parameters);
    let mut outputs = Outputs::default();
    (0..count as usize)
        .map(|cycle| {
            golden.show(&Inputs::default(), &mut outputs);
            let (_, seen) = pins::dll(&Inputs::default(), &outputs);
            let [sent, arriving] = descriptors[cycle];
            let (to_qp, to_thread2, to_recv) = (&to_qp[cycle], &to_thread2[cycle], &to_recv[cycle]);
            let to_dll = dll::rtl::Inputs { b_link_data: arriving, ..link.cycle(&seen) };
            let mut inputs = Inputs::default();
            let pins = &mut inputs;
            system_inputs!(
                pins {
                    rst: to_dll.rst,
                    a_tlp_valid: to_dll.a_tlp_valid,
                    a_tlp_data: sent,
                    cxt_valid: to_thread2.fetch_cxt_egress_valid,
                    cxt_head: to_thread2.fetch_cxt_egress_head,
                    cxt_data: to_thread2.fetch_cxt_egress_data,
                    len_valid: to_recv.pkt_valid,
                    len_pkt: to_recv.pkt_len,
                    len_msg: to_recv.pkt_msg_len,
                }
                dll from to_dll
                qp from to_qp
                software from to_qp
                thread2 from to_thread2
                recv from to_recv
            );
            golden.edge(&inputs);
            inputs
        })
        .collect()
}
