//! A transition table as data. Each row tests some conditions of a cycle, and exactly one row
//! applies.

use super::golden::Rule;
use super::rule_set::RuleSet;
use crate::case_table;

/// A row of a [`Table`]. A condition is a bit: a state, a handshake, or the result of a
/// comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<T> {
    /// Its name and its meaning.
    pub rule: Rule,
    /// The conditions that it tests.
    pub looks_at: usize,
    /// The tested conditions that must hold. The others must not hold.
    pub holds: usize,
    /// Its action.
    pub then: T,
}

impl<T> Row<T> {
    /// A row that applies if, of the conditions in `looks_at`, exactly those in `holds` hold.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        looks_at: usize,
        holds: usize,
        then: T,
    ) -> Self {
        Self { rule: Rule { name, meaning }, looks_at, holds, then }
    }

    /// Whether it applies under these conditions.
    pub const fn applies(&self, conditions: usize) -> bool {
        conditions & self.looks_at == self.holds
    }
}

/// Rows of which exactly one applies to each of `COMBINATIONS` combinations of conditions. If
/// that is wrong, a constant table does not compile:
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
/// Without `T2`, no row applies to a pending offer:
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
/// A table needs few conditions, about ten at most. A block with more conditions, or with guards
/// of another form, declares its own rows and a test that enumerates all combinations.
#[derive(Debug, Clone, Copy)]
pub struct Table<T: 'static, const COMBINATIONS: usize> {
    rows: &'static [Row<T>],
    /// The row of each combination.
    index: [u8; COMBINATIONS],
}

impl<T: 'static, const COMBINATIONS: usize> Table<T, COMBINATIONS> {
    /// Builds the table of these rows.
    ///
    /// # Panics
    /// Unless exactly one row applies to each combination; at compile time in a constant.
    pub const fn new(rows: &'static [Row<T>]) -> Self {
        assert!(COMBINATIONS.is_power_of_two(), "each condition is a bit");
        RuleSet::can_hold(rows.len());
        let index = case_table!(rows, COMBINATIONS, |row, case| row.applies(case), if true);
        Self { rows, index }
    }

    /// The row that applies under these conditions, and its rule. The rules of rows come first in
    /// a golden model.
    #[inline]
    pub fn row(&self, conditions: usize) -> (&'static Row<T>, RuleSet) {
        let index = usize::from(self.index[conditions % COMBINATIONS]);
        (&self.rows[index], RuleSet::one(index))
    }

    /// The rule of the row that applies; the conditions are as those of [`conditions`].
    #[inline]
    pub fn rule<const COUNT: usize>(&self, hold: [bool; COUNT]) -> RuleSet {
        self.row(conditions(hold)).1
    }

    /// The rules of the rows, followed by `others`, for [`Golden::RULES`](super::Golden::RULES).
    ///
    /// # Panics
    /// Unless there are `N` of them; at compile time in a constant.
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

/// Conditions as bits of a combination, the first one as bit 0.
#[inline]
pub fn conditions<const COUNT: usize>(hold: [bool; COUNT]) -> usize {
    hold.iter().rev().fold(0, |all, holds| all << 1 | usize::from(*holds))
}

/// Declares a [`Table`] with its rules. The conditions are bits in the order of their names, for
/// [`conditions`]. A row names the conditions that must hold, and after `not` those that must not.
/// A rule after `+` is beside the rows. Each rule is a constant, and `RULES` has all of them.
///
/// ```
/// use cosim_harness::harness::conditions;
///
/// cosim_harness::table! {
///     /// What happens to an offer.
///     pub static TABLE: bool;
///     conditions VALID, READY;
///     T1: "nothing is offered", [] not [VALID] => false;
///     T2: "the offer waits", [VALID] not [READY] => false;
///     T3: "it is taken", [VALID READY] => true;
///     + X1: "two items in a row";
/// }
/// let (row, rule) = TABLE.row(conditions([true, true]));
/// assert_eq!((row.then, rule), (true, T3));
/// assert_eq!(RULES[3].name, "X1");
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])* pub static $table:ident: $then:ty;
        conditions $( $condition:ident ),+;
        $( $row:ident: $meaning:literal, [$($yes:ident)*] $(not [$($no:ident)*])? $(=> $effect:expr)?; )+
        $( + $other:ident: $other_meaning:literal; )*
    ) => {
        $crate::rules! {
            $( $row: $meaning; )+
            $( $other: $other_meaning; )*
        }

        $(#[$meta])*
        pub static $table: $crate::harness::Table<
            $then,
            { 1 << [$( stringify!($condition) ),+].len() },
        > = {
            #[allow(dead_code)]
            enum Condition { $( $condition ),+ }
            $crate::harness::Table::new(&[$( $crate::harness::Row::new(
                stringify!($row),
                $meaning,
                0 $( | 1 << Condition::$yes as usize )* $( $( | 1 << Condition::$no as usize )* )?,
                0 $( | 1 << Condition::$yes as usize )*,
                { $( $effect )? },
            ) ),+])
        };
    };
}

/// The index of the row that applies to each case, for rows with guards of their own. It is for a
/// constant, and does not compile unless exactly one row applies to each case below `CASES` for
/// which `if` holds.
///
/// ```
/// struct Row(u64);
/// const ROWS: [Row; 2] = [Row(0b0011), Row(0b0100)];
/// static ROW_OF: [u8; 4] =
///     cosim_harness::case_table!(ROWS, 4, |row, case| row.0 >> case & 1 == 1, if case != 3);
/// assert_eq!(ROW_OF[2], 1);
/// ```
#[macro_export]
macro_rules! case_table {
    ($rows:expr, $cases:expr, |$row:ident, $case:ident| $applies:expr, if $possible:expr) => {{
        let mut row_of = [0_u8; $cases];
        let mut $case = 0;
        while $case < $cases {
            let (mut index, mut found) = (0, 0);
            while index < $rows.len() {
                let $row = &$rows[index];
                if $applies {
                    row_of[$case] = index as u8;
                    found += 1;
                }
                index += 1;
            }
            assert!(found > 0 || !$possible, "a row applies to each combination of conditions");
            assert!(found < 2 || !$possible, "no two rows apply to one combination of conditions");
            $case += 1;
        }
        row_of
    }};
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
