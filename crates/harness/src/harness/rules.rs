//! The `rules!` macro, which gives each rule of a block a name and an index.

/// Declares the rules of a block: a constant [`RuleSet`](crate::harness::RuleSet) for each, and
/// all of them as `RULES` in the order of their indices, for
/// [`Golden::RULES`](crate::harness::Golden::RULES).
///
/// ```
/// cosim_harness::rules! {
///     T1: "nothing is offered";
///     T2: "it is taken";
/// }
/// assert_eq!(RULES[T2.iter().next().unwrap()].meaning, "it is taken");
/// ```
///
/// A constant before the rules has an entry of any type for each of them, such as a row of a
/// transition table. An enumeration before that has the states, or the codes of a pin: names, and
/// meanings as documentation. It gets `ALL`, `name`, `code` and `from_code`, and `VALUES` for the
/// axis of a covergroup.
///
/// ```
/// cosim_harness::rules! {
///     /// The state of the arbiter.
///     pub enum State {
///         Free = "FREE": "no packet owns the output",
///         Locked = "LOCKED": "a packet owns the output",
///     }
///
///     /// The state before each row, and the one after it.
///     pub const ROWS: [(State, State)];
///     T1: "a packet begins", (State::Free, State::Locked);
///     T2: "its last beat", (State::Locked, State::Free);
/// }
/// assert_eq!(State::ALL.map(State::name), ["FREE", "LOCKED"]);
/// assert_eq!((State::Locked.code(), State::from_code(2)), (1, None));
/// assert_eq!(State::VALUES[1].meaning, "a packet owns the output");
/// assert_eq!((RULES[1].name, ROWS[1].1), ("T2", State::Free));
/// ```
#[macro_export]
macro_rules! rules {
    () => {};
    ($(#[$meta:meta])* $visible:vis enum $state:ident {
        $( $variant:ident = $name:literal: $meaning:literal ),+ $(,)?
    } $( $rules:tt )*) => {
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
            pub fn from_code(code: u64) -> ::core::option::Option<Self> {
                Self::ALL.get(code as usize).copied()
            }
        }

        $crate::rules! { $( $rules )* }
    };
    ($(#[$meta:meta])* $visible:vis const $rows:ident: [$row:ty]; $(
        $name:ident: $meaning:literal, $entry:expr;
    )+) => {
        $crate::rules! { $( $name: $meaning; )+ }

        $(#[$meta])*
        $visible const $rows: [$row; RULES.len()] = [$( $entry ),+];
    };
    ($( $name:ident: $meaning:literal; )+) => {
        #[derive(Clone, Copy)]
        enum Index { $( $name, )+ }

        $(
            #[doc = $meaning]
            #[allow(non_upper_case_globals)]
            pub const $name: $crate::harness::RuleSet =
                $crate::harness::RuleSet::from_rule(Index::$name as usize);
        )+

        /// Every rule, in the order of the indices.
        pub const RULES: [$crate::harness::Rule; [$( Index::$name, )+].len()] = [
            $( $crate::harness::Rule { name: stringify!($name), meaning: $meaning }, )+
        ];
    };
}
