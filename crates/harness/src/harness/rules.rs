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
#[macro_export]
macro_rules! rules {
    ($( $name:ident: $meaning:literal; )*) => {
        #[derive(Clone, Copy)]
        enum Index { $( $name, )* }

        $(
            #[doc = $meaning]
            pub const $name: $crate::harness::RuleSet =
                $crate::harness::RuleSet::one(Index::$name as usize);
        )*

        /// Every rule, in the order of the indices.
        pub const RULES: [$crate::harness::Rule; [$( Index::$name, )*].len()] = [
            $( $crate::harness::Rule { name: stringify!($name), meaning: $meaning }, )*
        ];
    };
}

/// Declares a transition table with guards of the block's own: the rows as a constant, and their
/// rules as `RULES`. A row has a name, the states that it connects, its guard and its meaning. The
/// block's function makes it from name, states, guard and meaning; methods of the row follow.
///
/// ```
/// #[derive(Clone, Copy)]
/// enum State { Free, Locked }
///
/// struct Row {
///     name: &'static str,
///     from: State,
///     to: State,
///     when: bool,
///     meaning: &'static str,
/// }
///
/// const fn row(
///     name: &'static str,
///     from: State,
///     to: State,
///     when: bool,
///     meaning: &'static str,
/// ) -> Row {
///     Row { name, from, to, when, meaning }
/// }
///
/// cosim_harness::transitions! {
///     /// The table.
///     pub const ROWS: Row = row;
///     T1: State::Free => State::Locked, true, "a packet begins";
/// }
/// assert_eq!((ROWS[0].name, RULES[0].meaning), ("T1", "a packet begins"));
/// ```
#[macro_export]
macro_rules! transitions {
    ($(#[$meta:meta])* pub const $rows:ident: $row:ty = $new:path; $(
        $name:ident: $from:path => $to:path, $guard:expr, $meaning:literal
            $(, $method:ident($argument:expr))?;
    )+) => {
        $(#[$meta])*
        pub const $rows: &[$row] = &[$(
            $new(stringify!($name), $from, $to, $guard, $meaning) $( .$method($argument) )?
        ),+];

        /// The rules of the rows.
        pub const RULES: [$crate::harness::Rule; $rows.len()] = [$(
            $crate::harness::Rule { name: stringify!($name), meaning: $meaning }
        ),+];
    };
}
