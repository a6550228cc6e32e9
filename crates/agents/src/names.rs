//! Violations of the checks of an interface.

use cosim_harness::harness::Violation;
use std::fmt;
use verilated::PinName;

/// A violation of a port. Its message begins with the name, because a block may have several
/// interfaces.
#[cold]
#[inline(never)]
pub(crate) fn violate_port<T>(
    port: PinName,
    check: &str,
    message: impl fmt::Display,
) -> Result<T, Violation> {
    Err(Violation::new(check, format_args!("{port}: {message}")).with_subject(port))
}
