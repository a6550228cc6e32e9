//! Names of checks, violations and counters, so that a scoreboard contains its checks alone.

use super::contract::Violation;
use verilated::{Pins, Port};

/// Declares the names of checks: a constant for each, and a constant with all of them for
/// [`Scoreboard::CHECKS`](crate::harness::Scoreboard::CHECKS).
///
/// ```
/// cosim_harness::check_names! {
///     CHECKS;
///     /// Each item leaves once.
///     ONCE = "item-once";
///     /// The queue holds at most as many items as it has places.
///     OVERFLOW = "overflow";
/// }
/// assert_eq!(CHECKS, [ONCE, OVERFLOW]);
/// ```
#[macro_export]
macro_rules! check_names {
    ($all:ident; $( $(#[$meta:meta])* $name:ident = $text:literal; )*) => {
        $( $(#[$meta])* const $name: &str = $text; )*

        /// Every check.
        const $all: &[&str] = &[$( $name ),*];
    };
}

/// The names of checks in a list, for
/// [`Scoreboard::checks`](crate::harness::Scoreboard::checks).
pub fn check_list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Declares the counters of a scoreboard: a struct with a number for each, and its names in the
/// summary. `max` before a name shows the largest number of all cases instead of the sum.
///
/// The scoreboard has the struct in a field, and `Counts::all()` is its
/// [`Scoreboard::counters`](crate::harness::Scoreboard::counters).
///
/// ```
/// #[derive(Default)]
/// struct Board {
///     counts: Counts,
/// }
///
/// cosim_harness::counters! {
///     /// What the board counts.
///     struct Counts of Board.counts {
///         taken: "items taken",
///         most: max "most items inside",
///     }
/// }
/// let counters = Counts::all();
/// assert_eq!(counters[1].name, "most items inside");
/// assert_eq!((counters[0].value)(&Board { counts: Counts { taken: 3, most: 1 } }), 3);
/// ```
#[macro_export]
macro_rules! counters {
    ($(#[$meta:meta])* $visible:vis struct $counts:ident of $board:ident $(<$life:lifetime>)?
        . $place:ident { $( $field:ident: $($kind:ident)? $name:literal, )+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        $visible struct $counts {
            $( #[doc = $name] $visible $field: u64, )+
        }

        impl $counts {
            /// The counters of a scoreboard.
            $visible fn all$(<$life>)?() -> Vec<$crate::harness::Counter<$board$(<$life>)?>> {
                vec![$( $crate::counter!($($kind)? $name, |board| board.$place.$field) ),+]
            }
        }
    };
}

/// One counter.
#[doc(hidden)]
#[macro_export]
macro_rules! counter {
    (max $name:literal, $value:expr) => {
        $crate::harness::Counter::max($name, $value)
    };
    ($name:literal, $value:expr) => {
        $crate::harness::Counter::sum($name, $value)
    };
}

/// Checks the outputs of a cycle in reset.
///
/// # Errors
/// A violation of `check` that names the first output that does not have its expected value.
#[inline]
pub fn in_reset<O: Pins>(check: &str, outputs: &O, expected: &O) -> Result<(), Violation> {
    match expected.first_difference(outputs) {
        Some(port) => Err(wrong_in_reset(check, port, outputs.as_bytes(), expected.as_bytes())),
        None => Ok(()),
    }
}

#[cold]
fn wrong_in_reset(check: &str, port: &Port, outputs: &[u8], expected: &[u8]) -> Violation {
    let (value, expected) = (port.show(outputs), port.show(expected));
    Violation::new(check, format_args!("{} is {value} in reset, expected {expected}", port.name))
}
