//! The specification's table as data: the golden model executes it.

use cosim_core::harness::{Rule, RuleSet};

/// What the rows ask, each a bit.
pub mod when {
    /// `rst` is high.
    pub const RST: u8 = 1;
    /// There is room.
    pub const ROOM: u8 = 1 << 1;
    /// The state is LOCKED.
    pub const LOCKED: u8 = 1 << 2;
    /// The chosen requester offers a beat.
    pub const OFFERED: u8 = 1 << 3;
    /// That beat is its packet's last.
    pub const LAST: u8 = 1 << 4;
    /// That beat is at the limit.
    pub const LIMIT: u8 = 1 << 5;
    /// How many combinations there are.
    pub const COMBINATIONS: usize = 1 << 6;
}
use when::{COMBINATIONS, LAST, LIMIT, LOCKED, OFFERED, ROOM, RST};

/// What a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Everything is as after reset.
    Reset,
    /// Nothing changes.
    Stay,
    /// The output has no beat.
    Empty,
    /// A beat is taken.
    Take {
        /// Nobody else is let in before the next.
        lock: bool,
        /// The packet is cut behind it.
        cut: bool,
    },
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What it is called, and what it says.
    pub rule: Rule,
    /// The bits of [`when`] that it looks at.
    pub looks_at: u8,
    /// Those of them that are to be set.
    pub set: u8,
    /// What it does.
    pub then: Then,
}

impl Row {
    /// Whether it applies.
    pub const fn applies(&self, combination: u8) -> bool {
        combination & self.looks_at == self.set
    }
}

const fn row(name: &'static str, meaning: &'static str, looks_at: u8, set: u8, then: Then) -> Row {
    Row { rule: Rule { name, meaning }, looks_at, set, then }
}

const SEEN: u8 = RST | ROOM | LOCKED | OFFERED;
const PASS: Then = Then::Take { lock: false, cut: false };
const LOCK: Then = Then::Take { lock: true, cut: false };
const CUT: Then = Then::Take { lock: false, cut: true };

/// The rows.
pub const ROWS: [Row; 10] = [
    row("R1", "reset", RST, RST, Then::Reset),
    row("W1", "no room: nothing moves", RST | ROOM, 0, Then::Stay),
    row("F1", "free, nobody asks", SEEN, ROOM, Then::Empty),
    row("F2", "free: a packet of one beat", SEEN | LAST, ROOM | OFFERED | LAST, PASS),
    row("F3", "free: a packet begins, the lock is set", SEEN | LAST | LIMIT, ROOM | OFFERED, LOCK),
    row("F4", "free: cut behind its first beat", SEEN | LAST | LIMIT, ROOM | OFFERED | LIMIT, CUT),
    row("L1", "locked: the owner offers nothing", SEEN, ROOM | LOCKED, Then::Empty),
    row("L2", "locked: the last beat", SEEN | LAST, ROOM | LOCKED | OFFERED | LAST, PASS),
    row("L3", "locked: one more beat", SEEN | LAST | LIMIT, ROOM | LOCKED | OFFERED, LOCK),
    row(
        "L4",
        "locked: cut at the limit",
        SEEN | LAST | LIMIT,
        ROOM | LOCKED | OFFERED | LIMIT,
        CUT,
    ),
];

/// What fires beside a row.
const OTHERS: [Rule; 5] = [
    Rule { name: "N0", meaning: "requester 0 wins" },
    Rule { name: "N1", meaning: "requester 1 wins" },
    Rule { name: "N2", meaning: "requester 2 wins" },
    Rule { name: "N3", meaning: "requester 3 wins" },
    Rule { name: "C1", meaning: "several ask: the one whose turn it is wins" },
];

/// Every rule.
pub const RULES: [Rule; ROWS.len() + OTHERS.len()] = {
    let mut rules = [OTHERS[0]; ROWS.len() + OTHERS.len()];
    let mut index = 0;
    while index < rules.len() {
        rules[index] = match index {
            0..10 => ROWS[index].rule,
            _ => OTHERS[index - ROWS.len()],
        };
        index += 1;
    }
    rules
};

/// The row of each combination. It does not compile unless exactly one applies.
const ROW_OF: [u8; COMBINATIONS] = {
    let mut row_of = [0; COMBINATIONS];
    let mut combination = 0;
    while combination < COMBINATIONS {
        let (mut index, mut found) = (0, 0);
        while index < ROWS.len() {
            if ROWS[index].applies(combination as u8) {
                row_of[combination] = index as u8;
                found += 1;
            }
            index += 1;
        }
        assert!(found == 1, "exactly one row applies to each combination");
        combination += 1;
    }
    row_of
};

/// The row that applies, and its rule.
#[inline]
pub fn row_of(combination: u8) -> (&'static Row, RuleSet) {
    const TABLE: &[Row; ROWS.len()] = &ROWS;
    let index = usize::from(ROW_OF[usize::from(combination) % COMBINATIONS]);
    (&TABLE[index], RuleSet::one(index))
}

/// Requester `n` wins, contended or not.
#[inline]
pub fn won(n: u8, contended: bool) -> RuleSet {
    let contention = RuleSet::one(ROWS.len() + 4).only_if(contended);
    RuleSet::one(ROWS.len() + usize::from(n)).with(contention)
}

/// Why no legal stimulus hits a rule where packets are cut after `max_beats`.
pub fn unreachable(rule: usize, max_beats: u64) -> Option<String> {
    let (is_reachable, needs) = match RULES[rule].name {
        "F4" => (max_beats == 1, "needs MAX_BEATS = 1"),
        "F3" | "L1" | "L2" | "L4" => (max_beats > 1, "needs MAX_BEATS above 1"),
        "L3" => (max_beats > 2, "needs MAX_BEATS above 2"),
        _ => return None,
    };
    (!is_reachable).then(|| needs.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_rows_of_the_specification_in_its_order() {
        let text = include_str!("../README.md");
        let specified: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| **")?.split_once("**"))
            .map(|(name, _)| name)
            .collect();
        let rows: Vec<&str> = ROWS.iter().map(|row| row.rule.name).collect();
        assert_eq!(rows, specified);
    }

    #[test]
    fn a_rules_set_names_the_rule() {
        let names =
            |rules: RuleSet| -> Vec<&str> { rules.iter().map(|index| RULES[index].name).collect() };
        assert_eq!(names(won(0, false)), ["N0"]);
        assert_eq!(names(won(3, true)), ["N3", "C1"]);
        assert_eq!(names(row_of(when::RST | when::LOCKED).1), ["R1"]);
        assert_eq!(names(row_of(when::ROOM | when::LOCKED).1), ["L1"]);
    }
}
