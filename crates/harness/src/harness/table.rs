//! A transition table as data: rows that look at some conditions of a cycle, of which exactly one applies.

use super::contract::{Rule, RuleSet};

/// A row of a [`Table`]. A condition is a bit: a state, a handshake, a comparison that came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<T> {
    /// What it is called, and what it says.
    pub rule: Rule,
    /// The conditions that it looks at.
    pub looks_at: usize,
    /// Those of them that hold where it applies.
    pub holds: usize,
    /// What it does.
    pub then: T,
}

impl<T> Row<T> {
    /// A row that applies where of the conditions `looks_at` those in `holds` hold, and the others do not.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        looks_at: usize,
        holds: usize,
        then: T,
    ) -> Self {
        Self { rule: Rule { name, meaning }, looks_at, holds, then }
    }

    /// Whether it applies where these conditions hold.
    pub const fn applies(&self, conditions: usize) -> bool {
        conditions & self.looks_at == self.holds
    }
}

/// Rows of which exactly one applies whatever holds, out of `COMBINATIONS` of conditions. As a constant it does not
/// compile otherwise, so that nothing is left to a test:
///
/// ```
/// use cosim_harness::harness::{Row, Table};
///
/// const VALID: usize = 1;
/// const READY: usize = 1 << 1;
/// static TABLE: Table<bool, 4> = Table::new(&[
///     Row::new("T1", "nothing is offered", VALID, 0, false),
///     Row::new("T2", "the offer waits", VALID | READY, VALID, false),
///     Row::new("T3", "it is taken", VALID | READY, VALID | READY, true),
/// ]);
/// assert_eq!(TABLE.row(VALID | READY).0.rule.name, "T3");
/// ```
///
/// Without `T2` nothing applies to an offer that waits:
///
/// ```compile_fail
/// # use cosim_harness::harness::{Row, Table};
/// # const VALID: usize = 1;
/// # const READY: usize = 1 << 1;
/// static TABLE: Table<bool, 4> = Table::new(&[
///     Row::new("T1", "nothing is offered", VALID, 0, false),
///     Row::new("T3", "it is taken", VALID | READY, VALID | READY, true),
/// ]);
/// ```
///
/// A lookup by combination wants few conditions, some ten at most. A block with more, or with guards of another form,
/// has rows of its own, and a test that enumerates them.
#[derive(Debug, Clone, Copy)]
pub struct Table<T: 'static, const COMBINATIONS: usize> {
    rows: &'static [Row<T>],
    /// The row of each combination.
    index: [u8; COMBINATIONS],
}

impl<T: 'static, const COMBINATIONS: usize> Table<T, COMBINATIONS> {
    /// The table with these rows.
    ///
    /// # Panics
    /// At compile time where this makes a constant: unless exactly one row applies to each combination.
    pub const fn new(rows: &'static [Row<T>]) -> Self {
        assert!(COMBINATIONS.is_power_of_two(), "each condition is a bit");
        RuleSet::can_hold(rows.len());
        let mut table = Self { rows, index: [0; COMBINATIONS] };
        let mut conditions = 0;
        while conditions < COMBINATIONS {
            let (mut index, mut found) = (0, 0);
            while index < rows.len() {
                if rows[index].applies(conditions) {
                    table.index[conditions] = index as u8;
                    found += 1;
                }
                index += 1;
            }
            assert!(found > 0, "a row applies to each combination of conditions");
            assert!(found < 2, "no two rows apply to one combination of conditions");
            conditions += 1;
        }
        table
    }

    /// The row that applies where these conditions hold, and its rule: rows come first among a golden model's.
    #[inline]
    pub fn row(&self, conditions: usize) -> (&'static Row<T>, RuleSet) {
        let index = usize::from(self.index[conditions % COMBINATIONS]);
        (&self.rows[index], RuleSet::one(index))
    }

    /// The rows' rules, and others behind them, as [`Golden::RULES`](super::Golden::RULES) wants them.
    ///
    /// # Panics
    /// At compile time where this makes a constant: unless there are `N`.
    pub const fn rules<const N: usize>(&self, others: &[Rule]) -> [Rule; N] {
        assert!(self.rows.len() + others.len() == N, "each row and each other rule has a place");
        let mut rules = [Rule { name: "", meaning: "" }; N];
        let mut index = 0;
        while index < N {
            rules[index] = if index < self.rows.len() {
                self.rows[index].rule
            } else {
                others[index - self.rows.len()]
            };
            index += 1;
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Row<u8>] = &[Row::new("A", "low", 1, 0, 7), Row::new("B", "high", 1, 1, 8)];
    const TABLE: Table<u8, 4> = Table::new(ROWS);
    const OTHER: Rule = Rule { name: "C", meaning: "beside a row" };

    #[test]
    fn a_row_is_found_by_what_it_looks_at_alone() {
        let then: Vec<u8> = (0..4).map(|conditions| TABLE.row(conditions).0.then).collect();
        assert_eq!(then, [7, 8, 7, 8]);
        assert_eq!(TABLE.row(3).1, RuleSet::one(1));
    }

    #[test]
    fn rules_are_the_rows_and_then_the_others() {
        const RULES: [Rule; 3] = TABLE.rules(&[OTHER]);
        assert_eq!(RULES.map(|rule| rule.name), ["A", "B", "C"]);
    }

    #[test]
    #[should_panic = "no two rows apply"]
    fn two_rows_for_one_combination_are_refused() {
        Table::<u8, 2>::new(const { &[Row::new("A", "", 0, 0, 1), Row::new("B", "", 1, 1, 2)] });
    }
}
