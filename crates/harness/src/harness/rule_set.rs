//! The rules of a golden model, and those that fired in one cycle.

use serde::{Deserialize, Serialize};

/// A rule of a golden model: a row of a transition table or a named behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The name used in reports, as in `T18`.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The rules that fired in one cycle, by index into [`Golden::RULES`](super::Golden::RULES).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleSet(u128);

impl RuleSet {
    /// No rule.
    pub const EMPTY: Self = Self(0);
    /// The largest number of rules of a block.
    pub const CAPACITY: usize = 128;

    /// Does not compile in a constant if a set cannot hold `rules` rules. The harness checks it
    /// for every block:
    ///
    /// ```
    /// const _: () = cosim_harness::harness::RuleSet::can_hold(128);
    /// ```
    ///
    /// One more rule does not compile:
    ///
    /// ```compile_fail
    /// const _: () = cosim_harness::harness::RuleSet::can_hold(129);
    /// ```
    ///
    /// # Panics
    /// If there are too many.
    pub const fn can_hold(rules: usize) {
        assert!(
            rules <= Self::CAPACITY,
            "a block has at most 128 rules: combine some, or widen cosim_harness::harness::RuleSet"
        );
    }

    /// The set of one rule.
    #[inline]
    pub const fn from_rule(rule: usize) -> Self {
        Self(1 << rule)
    }

    /// The set of the rules whose bits are 1.
    #[inline]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The set as bits: rule n is bit n.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The rules of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rules in both sets.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The set or the empty set, without a branch.
    #[inline]
    #[must_use]
    pub const fn only_if(self, holds: bool) -> Self {
        Self(self.0 & (holds as u128).wrapping_neg())
    }

    /// Whether one of some rules is in the set.
    #[inline]
    pub const fn contains_any(self, rules: Self) -> bool {
        self.0 & rules.0 != 0
    }

    /// The names of the rules among those of their block, with `+` between them.
    pub fn names(self, rules: &[Rule]) -> String {
        self.iter().map(|rule| rules[rule].name).collect::<Vec<_>>().join("+")
    }

    /// The indices of the rules, in rising order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let rule = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(rule)
        })
    }
}
