//! The table of the specification as data, which the golden model executes.

use cosim_core::harness::{Row, Rule, RuleSet, Table};

/// The conditions of rows, as bits.
pub mod when {
    /// `rst` is high.
    pub const RST: usize = 1;
    /// The output can take a beat.
    pub const ROOM: usize = 1 << 1;
    /// The state is LOCKED.
    pub const LOCKED: usize = 1 << 2;
    /// The chosen requester offers a beat.
    pub const OFFERED: usize = 1 << 3;
    /// That beat is the last one of its packet.
    pub const LAST: usize = 1 << 4;
    /// That beat reaches MAX_BEATS.
    pub const LIMIT: usize = 1 << 5;
    /// Number of combinations.
    pub const COMBINATIONS: usize = 1 << 6;
}
use when::{COMBINATIONS, LAST, LIMIT, LOCKED, OFFERED, ROOM, RST};

/// The effect of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// All registers take their reset values.
    Reset,
    /// Nothing changes.
    Stay,
    /// The output becomes empty.
    Empty,
    /// A beat is accepted.
    Take {
        /// The requester keeps the output for its next beat.
        lock: bool,
        /// The packet is cut after the beat.
        cut: bool,
    },
}

const SEEN: usize = RST | ROOM | LOCKED | OFFERED;
const PASS: Action = Action::Take { lock: false, cut: false };
const LOCK: Action = Action::Take { lock: true, cut: false };
const CUT: Action = Action::Take { lock: false, cut: true };

/// The rows.
pub const ROWS: [Row<Action>; 10] = [
    Row::new("R1", "reset", RST, RST, Action::Reset),
    Row::new("W1", "no room: no transfer", RST | ROOM, 0, Action::Stay),
    Row::new("F1", "free, no request", SEEN, ROOM, Action::Empty),
    Row::new("F2", "free: a packet of one beat", SEEN | LAST, ROOM | OFFERED | LAST, PASS),
    Row::new(
        "F3",
        "free: a packet begins, the lock is set",
        SEEN | LAST | LIMIT,
        ROOM | OFFERED,
        LOCK,
    ),
    Row::new(
        "F4",
        "free: cut after its first beat",
        SEEN | LAST | LIMIT,
        ROOM | OFFERED | LIMIT,
        CUT,
    ),
    Row::new("L1", "locked: the owner offers nothing", SEEN, ROOM | LOCKED, Action::Empty),
    Row::new("L2", "locked: the last beat", SEEN | LAST, ROOM | LOCKED | OFFERED | LAST, PASS),
    Row::new("L3", "locked: one more beat", SEEN | LAST | LIMIT, ROOM | LOCKED | OFFERED, LOCK),
    Row::new(
        "L4",
        "locked: cut at the limit",
        SEEN | LAST | LIMIT,
        ROOM | LOCKED | OFFERED | LIMIT,
        CUT,
    ),
];

/// The table. It compiles only if exactly one row applies to each combination.
pub static TABLE: Table<Action, COMBINATIONS> = Table::new(&ROWS);

/// Rules that fire in addition to a row.
const OTHERS: [Rule; 5] = [
    Rule { name: "N0", meaning: "requester 0 wins" },
    Rule { name: "N1", meaning: "requester 1 wins" },
    Rule { name: "N2", meaning: "requester 2 wins" },
    Rule { name: "N3", meaning: "requester 3 wins" },
    Rule { name: "C1", meaning: "several requests: round robin picks the winner" },
];

/// Every rule.
pub const RULES: [Rule; ROWS.len() + OTHERS.len()] = TABLE.rules(&OTHERS);

/// The rules for a win of requester `n`.
#[inline]
pub fn won(n: u8, contended: bool) -> RuleSet {
    let contention = RuleSet::one(ROWS.len() + 4).only_if(contended);
    RuleSet::one(ROWS.len() + usize::from(n)).with(contention)
}

/// Why a rule is unreachable with this MAX_BEATS; `None` if it is reachable.
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
        assert_eq!(names(TABLE.row(when::RST | when::LOCKED).1), ["R1"]);
        assert_eq!(names(TABLE.row(when::ROOM | when::LOCKED).1), ["L1"]);
    }
}
