//! The rules as data, which the golden model executes: A1 to A17 and B1 to B14 of S3, and the
//! repair F0. `golden.rs` has the register updates of each rule.
//!
//! Several rules fire at one edge, and some depend on whether others fire. So guards test facts,
//! which the model reads from pins and registers, and rules; those that test rules are evaluated
//! later. The set of rules is computed once for each combination of facts ([`lookup`]).

pub mod lookup;
pub mod parameters;

use cosim_core::harness::{Rule, RuleSet, Value};

/// Bit n of the mask of fixes.
pub const fn fix(n: u32) -> u8 {
    1 << n
}

/// A set of facts.
pub type Facts = u32;

conditions! {
    Facts;
    FULL = 0: "dist(`next_seq'`, `ackd_seq'`) > REPLAY_DEPTH, or ≥ 2048: known after A1, A3 and A4";
    TLP_VALID = 1: "`a_tlp_valid`";
    TLP_READY = 2: "`tlp_ready`";
    OFFER = 3: "`link_valid`: A offers a TLP to the link";
    LINK_READY = 4: "`a_link_ready`";
    DLLP = 5: "`a_dllp_valid`";
    DLLP_CRC_OK = 6: "`a_dllp_crc_ok`";
    DLLP_NAK = 7: "`a_dllp_nak`";
    IN_RANGE = 8: "n is in range";
    PROGRESS = 9: "n ≠ `ackd_seq`";
    UNACKNOWLEDGED = 10: "`last_sent_seq` ≠ `ackd_seq`";
    REPLAY_DUE = 11: "`replay_timer` = REPLAY_LIMIT − 1";
    LAST_REPLAY = 12: "`replay_num` = 3";
    TO_SEND = 13: "`send_seq` ≠ `next_seq`";
    OVERTAKEN = 14: "dist(`send_seq`, `ackd_seq`) ≤ dist(n, `ackd_seq`)";
    TLP = 15: "`b_link_valid`";
    TLP_CRC_OK = 16: "`b_link_crc_ok`";
    NEXT = 17: "The TLP's number is `next_rcv_seq`";
    AHEAD = 18: "The TLP's number is ahead of `next_rcv_seq` by less than half of the number range";
    UNUSABLE = 19: "A TLP arrives that is damaged or ahead";
    NAK_OUT = 20: "`nak_scheduled`";
    TIMER_ON = 21: "`acknak_timer_on`";
    ACK_DUE = 22: "`acknak_timer` = ACKNAK_LATENCY − 1";
    ANSWER = 23: "`dllp_valid`: B offers a DLLP to the link";
    ANSWER_WAITS = 24: "That DLLP is not accepted";
    ANSWER_NAK = 25: "That DLLP is a Nak";
    F0_ON = 26: "F0 is on";
    RESET = 27: "`rst` is 1";
}
/// Number of facts about A, which come first.
const ABOUT_A: u32 = TLP.trailing_zeros();
/// Number of facts about B, which come next.
const ABOUT_B: u32 = RESET.trailing_zeros() - ABOUT_A;

/// When a rule fires: all facts of `on`, none of `off`, a rule of `any_of` unless that is empty,
/// and no rule of `unless`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    on: Facts,
    off: Facts,
    any_of: RuleSet,
    unless: RuleSet,
    /// Rules that determine facts which this guard tests.
    after: RuleSet,
}

/// A guard for facts. In reset only the rules of reset fire.
const fn on(facts: Facts) -> Guard {
    let off = RESET & !facts;
    Guard { on: facts, off, any_of: RuleSet::EMPTY, unless: RuleSet::EMPTY, after: RuleSet::EMPTY }
}

impl Guard {
    const fn off(self, facts: Facts) -> Self {
        Self { off: self.off | facts, ..self }
    }

    const fn any_of(self, any_of: RuleSet) -> Self {
        Self { any_of, ..self }
    }

    const fn unless(self, unless: RuleSet) -> Self {
        Self { unless, ..self }
    }

    const fn after(self, after: RuleSet) -> Self {
        Self { after, ..self }
    }

    /// The facts that must and must not hold, and the rules of which one must and none may fire.
    pub const fn parts(&self) -> (Facts, Facts, RuleSet, RuleSet) {
        (self.on, self.off, self.any_of, self.unless)
    }

    /// Whether the guard holds, given the rules that fire among those it tests.
    const fn holds(&self, facts: Facts, fired: RuleSet) -> bool {
        facts & (self.on | self.off) == self.on
            && (self.any_of.bits() == 0 || fired.contains_any(self.any_of))
            && !fired.contains_any(self.unless)
    }

    /// The rules that must be evaluated before.
    const fn needs(&self) -> u128 {
        self.any_of.with(self.unless).with(self.after).bits()
    }
}

/// A DLLP arrives undamaged.
const GOOD_DLLP: Facts = DLLP | DLLP_CRC_OK;
/// A TLP arrives undamaged.
const GOOD_TLP: Facts = TLP | TLP_CRC_OK;
/// Rules after which the replay restarts.
pub const REWIND: RuleSet = A4.with(A5).with(A9);
/// Rules for DLLPs that answer a TLP.
pub const ANSWERED: RuleSet = A3.with(A4).with(A5);
/// Rules after which a Nak is due.
pub const NAK_DUE: RuleSet = B4.with(B5);
/// Rules after which a DLLP is due.
pub const DUE: RuleSet = NAK_DUE.with(B7);

cosim_core::rules! {
    /// Every rule of the specification.
    pub const GUARDS: [Guard];
    A1: "A takes a new TLP into the replay buffer", on(TLP_VALID | TLP_READY);
    A2: "the link takes A's TLP", on(OFFER | LINK_READY);
    A3: "Ack with progress: frees entries, timer and REPLAY_NUM to 0",
        on(GOOD_DLLP | IN_RANGE | PROGRESS).off(DLLP_NAK);
    A4: "Nak with progress: frees entries and sends again from n + 1, REPLAY_NUM + 1",
        on(GOOD_DLLP | IN_RANGE | PROGRESS | DLLP_NAK);
    A5: "Nak without progress: sends again from n + 1, REPLAY_NUM + 1",
        on(GOOD_DLLP | DLLP_NAK).off(PROGRESS);
    A6: "Ack of nothing new: ignored", on(GOOD_DLLP).off(PROGRESS | DLLP_NAK);
    A7: "DLLP out of range: dl_error, else ignored", on(GOOD_DLLP).off(IN_RANGE);
    A8: "damaged DLLP: ignored", on(DLLP).off(DLLP_CRC_OK);
    A9: "REPLAY_TIMER expires: everything is sent again, REPLAY_NUM + 1",
        on(UNACKNOWLEDGED | REPLAY_DUE).unless(ANSWERED);
    A10: "REPLAY_NUM rolls over: retrain", on(LAST_REPLAY).any_of(REWIND);
    A11: "the replay buffer is full: not ready", on(FULL).after(A1.with(A3).with(A4));
    A12: "the next TLP is offered to the link", on(TO_SEND).unless(A13.with(A14).with(REWIND));
    A13: "the offer waits and stays stable", on(OFFER).off(LINK_READY);
    A14: "Ack overtakes a replay: the freed entries are not sent", on(OVERTAKEN).any_of(A3);
    A15: "REPLAY_TIMER counts", on(UNACKNOWLEDGED).unless(ANSWERED.with(A9));
    A16: "REPLAY_TIMER rests, nothing is unacknowledged", on(0).off(UNACKNOWLEDGED);
    A17: "reset of A", on(RESET);
    B1: "wanted TLP: delivered, the Ack timer starts if stopped", on(GOOD_TLP | NEXT);
    B2: "duplicate while a Nak is out: dropped without an answer",
        on(GOOD_TLP | NAK_OUT).off(NEXT | AHEAD | F0_ON);
    B3: "duplicate: dropped, the Ack timer starts if stopped",
        on(GOOD_TLP).off(NEXT | AHEAD | NAK_OUT);
    B4: "bad CRC: dropped, Nak", on(TLP).off(TLP_CRC_OK | NAK_OUT);
    B5: "a TLP was lost: the one ahead is dropped, Nak", on(GOOD_TLP | AHEAD).off(NAK_OUT);
    B6: "bad or ahead while a Nak is out: dropped without an answer", on(UNUSABLE | NAK_OUT);
    B7: "the Ack timer expires: Ack", on(TIMER_ON | ACK_DUE).unless(NAK_DUE);
    B8: "a newer Ack replaces the pending one", on(ANSWER_WAITS).off(ANSWER_NAK).any_of(B7);
    B9: "a Nak replaces the pending Ack", on(ANSWER_WAITS).off(ANSWER_NAK).any_of(NAK_DUE);
    B10: "the pending Nak stays, the due DLLP is dropped",
        on(ANSWER_WAITS | ANSWER_NAK).any_of(DUE);
    B11: "the link takes B's DLLP", on(ANSWER).off(ANSWER_WAITS);
    B12: "a DLLP is put out", on(0).off(ANSWER_WAITS).any_of(DUE);
    B13: "the Ack timer counts", on(TIMER_ON).unless(DUE);
    B14: "reset of B", on(RESET);
    F0: "duplicate while a Nak is out: dropped, the Ack timer starts if stopped",
        on(GOOD_TLP | NAK_OUT | F0_ON).off(NEXT | AHEAD);
}

/// The evaluation order: each rule comes after those that it tests.
const ORDER: [usize; GUARDS.len()] = {
    let mut order = [0; GUARDS.len()];
    let (mut ordered, mut filled) = (0, 0);
    while filled < GUARDS.len() {
        let (before, mut index) = (filled, 0);
        while index < GUARDS.len() {
            let is_next = ordered >> index & 1 == 0 && GUARDS[index].needs() & !ordered == 0;
            if is_next {
                ordered |= 1 << index;
                order[filled] = index;
                filled += 1;
            }
            index += 1;
        }
        assert!(filled > before, "rules depend on one another in a cycle");
    }
    order
};

/// The rules that fire.
pub fn fires(facts: Facts) -> RuleSet {
    let in_order = ORDER.into_iter();
    in_order.fold(RuleSet::EMPTY, |fired, index| {
        fired.with(RuleSet::from_rule(index).only_if(GUARDS[index].holds(facts, fired)))
    })
}

/// The values of an axis of rules.
pub const fn values<const COUNT: usize>(rules: [RuleSet; COUNT]) -> [Value; COUNT] {
    let mut values = [Value { name: "", meaning: "" }; COUNT];
    let mut place = 0;
    while place < COUNT {
        let Rule { name, meaning } = RULES[rules[place].bits().trailing_zeros() as usize];
        values[place] = Value { name, meaning };
        place += 1;
    }
    values
}

/// Why a rule is unreachable under a mask of fixes; `None` if it is reachable.
pub fn unreachable(index: usize, mask: u8) -> Option<String> {
    match (RULES[index].name, mask & fix(0) != 0) {
        ("B2", true) => Some("replaced by F0".to_owned()),
        ("F0", false) => Some("needs F0".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::blocks::{dll::Dll, testing};

    #[test]
    fn every_rule_of_the_specification_is_there_and_no_other() {
        testing::rules_are_those_of_the_specification::<Dll>("ABF", &[]);
    }
}
