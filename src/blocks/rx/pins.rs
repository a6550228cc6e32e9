//! The pins of the inner blocks, read from the pins of the system.

use super::rtl::{Inputs, Outputs};
use crate::blocks::{dll, qp, recv, thread2};

/// The pins of dll.
#[inline]
pub fn of_dll(inputs: &Inputs, outputs: &Outputs) -> (dll::rtl::Inputs, dll::rtl::Outputs) {
    seen!([dll inputs outputs {} {}] dll)
}

/// The pins of thread2.
#[inline]
pub fn of_thread2(
    inputs: &Inputs,
    outputs: &Outputs,
) -> (thread2::rtl::Inputs, thread2::rtl::Outputs) {
    seen!([thread2 inputs outputs {} {}] thread2)
}

/// The pins of recv.
#[inline]
pub fn of_recv(inputs: &Inputs, outputs: &Outputs) -> (recv::rtl::Inputs, recv::rtl::Outputs) {
    seen!([recv inputs outputs {} {}] recv)
}

/// The pins of qp.
#[inline]
pub fn of_qp(inputs: &Inputs, outputs: &Outputs) -> (qp::rtl::Inputs, qp::rtl::Outputs) {
    seen!([qp inputs outputs {} {}] qp qp_behind_glue)
}

/// The pins of qp as software sees them: with external events instead of those that reach qp.
#[inline]
pub fn of_software(inputs: &Inputs, outputs: &Outputs) -> (qp::rtl::Inputs, qp::rtl::Outputs) {
    seen!([qp inputs outputs {} {}] qp software)
}
