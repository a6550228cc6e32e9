//! The pins of the inner blocks, read from the pins of the system.

use super::rtl::{Inputs, Outputs};
use crate::blocks::{dll, qp, recv, thread2};

/// Declares the functions of a block for its inputs and for its outputs, with its tables.
macro_rules! pins_of {
    ($(#[doc = $doc:literal] $to:ident, $from:ident: $part:ident, $($table:ident)+;)+) => {$(
        #[doc = concat!("The inputs of ", $doc, ".")]
        #[inline]
        pub fn $to(inputs: &Inputs, outputs: &Outputs) -> $part::rtl::Inputs {
            seen!([to $part inputs outputs {} {}] $($table)+)
        }

        #[doc = concat!("The outputs of ", $doc, ".")]
        #[inline]
        pub fn $from(outputs: &Outputs) -> $part::rtl::Outputs {
            seen!([from $part outputs outputs {} {}] $($table)+)
        }
    )+};
}

pins_of! {
    /// dll
    to_dll, from_dll: dll, dll;
    /// thread2
    to_thread2, from_thread2: thread2, thread2;
    /// recv
    to_recv, from_recv: recv, recv;
    /// qp
    to_qp, from_qp: qp, qp qp_behind_glue;
    /// qp as software sees them, with external events instead of those that reach qp
    to_software, from_software: qp, qp software;
}
