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
