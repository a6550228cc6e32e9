//! A lazy table of the rules that fire for each combination of facts.
//!
//! The devices share no rules and no facts, so each has its own table. A cycle needs two loads
//! instead of the evaluation of 32 guards. Few combinations occur, so the used part of the tables
//! fits into the cache.

use super::{ABOUT_A, ABOUT_B, Facts, GUARDS, RESET, fires};
use cosim_core::harness::RuleSet;
use std::sync::LazyLock;

/// The facts about A, the lowest bits.
const FACTS_OF_A: Facts = (1 << ABOUT_A) - 1;
/// The facts about B, the next bits.
const FACTS_OF_B: Facts = ((1 << ABOUT_B) - 1) << ABOUT_A;
/// The rules of A, except for reset.
pub const OF_A: RuleSet = rules_about(FACTS_OF_A);
/// The rules of B, except for reset.
pub const OF_B: RuleSet = rules_about(FACTS_OF_B);

/// The rules, except for reset, whose guards test any of `facts`.
const fn rules_about(facts: Facts) -> RuleSet {
    let (mut rules, mut index) = (0, 0);
    while index < GUARDS.len() {
        let (on, off, ..) = GUARDS[index].parts();
        if (on | off) & facts != 0 {
            rules |= 1 << index;
        }
        index += 1;
    }
    RuleSet::from_bits(rules)
}

const _: () = {
    let mut index = 0;
    while index < GUARDS.len() {
        let (rule, guard) = (RuleSet::from_rule(index), &GUARDS[index]);
        let (of_a, of_b) = (OF_A.contains_any(rule), OF_B.contains_any(rule));
        assert!(of_a != of_b || guard.parts().0 == RESET, "a rule is of one device");
        let others = if of_a { !OF_A.bits() } else { !OF_B.bits() };
        assert!(guard.needs() & others == 0, "a rule depends on rules of the other device");
        index += 1;
    }
};

/// The tables of both devices outside of reset.
#[derive(Debug)]
pub struct Lookup {
    a: Box<[u32; 1 << ABOUT_A]>,
    b: Box<[u32; 1 << ABOUT_B]>,
}

static LOOKUP: LazyLock<Lookup> = LazyLock::new(|| Lookup {
    a: table(|index| fires(index).and(OF_A)),
    b: table(|index| fires(index << ABOUT_A).and(OF_B)),
});

/// Builds a table on the heap.
fn table<const SIZE: usize>(rules: impl Fn(Facts) -> RuleSet) -> Box<[u32; SIZE]> {
    let rules: Box<[u32]> = (0..SIZE as Facts).map(|facts| rules(facts).bits() as u32).collect();
    rules.try_into().unwrap_or_else(|_| Box::new([0; SIZE]))
}

impl Lookup {
    /// The tables, which are computed on first use.
    pub fn get() -> &'static Self {
        &LOOKUP
    }

    /// The rules of A that fire outside of reset.
    #[inline]
    pub fn of_a(&self, facts: Facts) -> RuleSet {
        RuleSet::from_bits(self.a[(facts & FACTS_OF_A) as usize].into())
    }

    /// The rules of B that fire outside of reset.
    #[inline]
    pub fn of_b(&self, facts: Facts) -> RuleSet {
        RuleSet::from_bits(self.b[((facts & FACTS_OF_B) >> ABOUT_A) as usize].into())
    }
}
