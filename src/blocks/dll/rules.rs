//! The rules as data: S3's behaviour as A1 to A17 and B1 to B14, and the repair F0.
//!
//! Several rules fire at one edge. The conditions stand in the golden model; the specification has
//! them as a table.

use cosim_core::harness::{Rule, RuleSet};

/// Bit n of the mask of fixes.
pub const fn fix(n: u32) -> u8 {
    1 << n
}

/// A rule of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name used in reports, as in `A12`.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// Where it comes from, as in the specification's column.
    pub source: &'static str,
}

macro_rules! rules {
    ($( $name:ident: $meaning:literal, $source:literal; )*) => {
        #[derive(Clone, Copy)]
        enum Index { $( $name, )* }

        $(
            #[doc = $meaning]
            pub const $name: RuleSet = RuleSet::one(Index::$name as usize);
        )*

        /// Every rule, in the order of the indices.
        pub const ENTRIES: [Entry; [$( Index::$name, )*].len()] = [
            $( Entry { name: stringify!($name), meaning: $meaning, source: $source }, )*
        ];
    };
}

rules! {
    A1: "A takes a new TLP into the replay buffer", "given";
    A2: "the link takes A's TLP", "given; S3 1.1";
    A3: "Ack with progress: frees entries, timer and REPLAY_NUM to 0", "S3 1.5, 2.3, 4.3";
    A4: "Nak with progress: frees entries and sends again from n + 1, REPLAY_NUM + 1",
        "S3 3.5, 3.6 and the note between them";
    A5: "Nak without progress: sends again from n + 1, REPLAY_NUM + 1", "given; S3 4.5";
    A6: "Ack of nothing new: ignored", "given";
    A7: "DLLP out of range: dl_error, else ignored", "given [D]";
    A8: "damaged DLLP: ignored", "S3 5.4";
    A9: "REPLAY_TIMER expires: everything is sent again, REPLAY_NUM + 1", "S3 5.6, 5.7";
    A10: "REPLAY_NUM rolls over: retrain", "given [D]";
    A11: "the replay buffer is full: not ready", "given";
    A12: "the next TLP is offered to the link", "given, timing [D]";
    A13: "the offer waits: held, whatever else happens", "[D]";
    A14: "Ack overtakes a replay: the freed entries are not sent", "[D]";
    A15: "REPLAY_TIMER counts", "given";
    A16: "REPLAY_TIMER rests, nothing is unacknowledged", "given";
    A17: "reset of A", "given";
    B1: "wanted TLP: delivered, the Ack timer starts if stopped", "S3 1.2, 1.6, 3.7, 5.9";
    B2: "duplicate while a Nak is out: dropped in silence", "S3 5.8";
    B3: "duplicate: dropped, the Ack timer starts if stopped", "given [D]";
    B4: "bad CRC: dropped, Nak", "S3 3.3, 5.3";
    B5: "a TLP was lost: the one ahead is dropped, Nak", "S3 4.4";
    B6: "bad or ahead while a Nak is out: dropped in silence", "S3 3.4, 5.5";
    B7: "the Ack timer expires: Ack", "S3 1.4, 2.2";
    B8: "a newer Ack takes the place of the one that waits", "given [D]";
    B9: "a Nak takes the place of the Ack that waits", "given [D]; S3 3.3";
    B10: "the Nak that waits stays, the due DLLP is dropped", "given [D]";
    B11: "the link takes B's DLLP", "given";
    B12: "a DLLP is put out", "given";
    B13: "the Ack timer counts", "S3 1.3";
    B14: "reset of B", "given";
    F0: "duplicate while a Nak is out: dropped, the Ack timer starts if stopped", "section 10";
}

/// The rules of the contract.
pub const RULES: [Rule; ENTRIES.len()] = {
    let mut rules = [Rule { name: "", meaning: "" }; ENTRIES.len()];
    let mut index = 0;
    while index < ENTRIES.len() {
        rules[index] = Rule { name: ENTRIES[index].name, meaning: ENTRIES[index].meaning };
        index += 1;
    }
    rules
};

/// Why nothing hits a rule under a mask of fixes; `None` if something can.
pub fn unreachable(index: usize, mask: u8) -> Option<String> {
    match (ENTRIES[index].name, mask & fix(0) != 0) {
        ("B2", true) => Some("replaced by F0".to_owned()),
        ("F0", false) => Some("needs F0".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (name, source) of every rule in the specification's tables.
    fn specified() -> Vec<(String, String)> {
        let text = include_str!("../../../docs/dll.md");
        let rows = text.lines().filter_map(|line| line.strip_prefix("| **"));
        rows.filter_map(|row| {
            let (name, rest) = row.split_once("**")?;
            let number = name.strip_prefix(['A', 'B', 'F'])?;
            number.parse::<u32>().ok()?;
            let source = rest.trim_end_matches([' ', '|']).rsplit('|').next()?;
            Some((name.to_owned(), source.trim().to_owned()))
        })
        .collect()
    }

    #[test]
    fn the_table_has_every_rule_of_the_specification_with_its_source() {
        let mut specified = specified();
        let mut listed: Vec<(String, String)> =
            ENTRIES.iter().map(|entry| (entry.name.to_owned(), entry.source.to_owned())).collect();
        specified.sort();
        listed.sort();
        assert_eq!(listed, specified);
        assert_eq!(listed.len(), 17 + 14 + 1);
    }

    #[test]
    fn a_rules_set_names_the_rule() {
        let name = |rule: RuleSet| rule.iter().map(|index| RULES[index].name).collect::<String>();
        assert_eq!(name(A1), "A1");
        assert_eq!(name(A17), "A17");
        assert_eq!(name(B14), "B14");
        assert_eq!(name(F0), "F0");
    }

    #[test]
    fn b2_and_f0_exclude_each_other() {
        let reason = |rule: RuleSet, mask| unreachable(rule.iter().next().unwrap(), mask);
        assert_eq!(reason(B2, 0x00), None);
        assert_eq!(reason(B2, 0xff).as_deref(), Some("replaced by F0"));
        assert_eq!(reason(F0, 0xfe).as_deref(), Some("needs F0"));
        assert_eq!(reason(F0, 0x01), None);
        assert_eq!(reason(A1, 0x00), None);
    }
}
