//! The `states!` macro: an enumeration with the names of the specification.

/// Declares an enumeration whose variants have codes, names and meanings, as the states of a block
/// or the codes of a pin. It gets `ALL`, `name`, `code` and `of`, and `VALUES` for the axis of a
/// covergroup. The meaning is the documentation of the variant.
///
/// ```
/// cosim_harness::states! {
///     /// The state of the arbiter.
///     pub enum State {
///         Free = "FREE": "no packet owns the output",
///         Locked = "LOCKED": "a packet owns the output",
///     }
/// }
/// assert_eq!(State::ALL.map(State::name), ["FREE", "LOCKED"]);
/// assert_eq!((State::Locked.code(), State::of(2)), (1, None));
/// assert_eq!(State::VALUES[1].meaning, "a packet owns the output");
/// ```
#[macro_export]
macro_rules! states {
    ($(#[$meta:meta])* $visible:vis enum $state:ident {
        $( $variant:ident = $name:literal: $meaning:literal ),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $state { $( #[doc = $meaning] $variant ),+ }

        #[allow(dead_code)]
        impl $state {
            /// Every variant, by its code.
            pub const ALL: [Self; [$( $name ),+].len()] = [$( Self::$variant ),+];

            /// The values of an axis, by code.
            pub const VALUES: &'static [$crate::harness::Value] =
                &[$( $crate::harness::Value { name: $name, meaning: $meaning } ),+];

            /// The name as in the specification.
            #[inline]
            pub const fn name(self) -> &'static str {
                Self::VALUES[self as usize].name
            }

            /// The code.
            #[inline]
            pub const fn code(self) -> u64 {
                self as u64
            }

            /// The variant with a code.
            pub fn of(code: u64) -> ::core::option::Option<Self> {
                Self::ALL.get(code as usize).copied()
            }
        }
    };
}
