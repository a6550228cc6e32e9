//! Names of checks, and violations of them.

use cosim_harness::harness::Violation;
use std::fmt;
use verilated::PinName;

/// A violation whose message begins with the name of a port, because a block may have several
/// interfaces.
#[cold]
#[inline(never)]
pub(crate) fn broken<T>(
    port: PinName,
    check: &str,
    message: impl fmt::Display,
) -> Result<T, Violation> {
    Err(Violation::new(check, format_args!("{port}: {message}")))
}

/// The names of several lists of checks in one, for
/// [`Scoreboard::CHECKS`](cosim_harness::harness::Scoreboard::CHECKS).
///
/// ```
/// const CHECKS: &[&str] = cosim_agents::checks![&["held", "late"], &["data"]];
/// assert_eq!(CHECKS, ["held", "late", "data"]);
/// ```
#[macro_export]
macro_rules! checks {
    ($($list:expr),+ $(,)?) => {{
        const LISTS: &[&[&str]] = &[$($list),+];
        const ALL: &[&str] = &$crate::cosim_harness::harness::joined_names::<
            { $crate::cosim_harness::harness::count_names(LISTS) },
        >(LISTS);
        ALL
    }};
}
