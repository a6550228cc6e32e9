//! The functional coverage of the arbiter in addition to its rows.

use crate::golden::{Cycle, Golden};
use crate::rtl::Inputs;
use crate::rules::RULES;
use crate::{Arbiter, MAX_BEATS};
use cosim_core::harness::{self, Bins, Covergroup, Edge, Parameters, RuleSet};

cosim_core::axes! {
    LAST = "won last" { "0": "requester 0", "1": "requester 1", "2": "requester 2", "3": "requester 3" }
    WINNER = "wins" { "0": "requester 0", "1": "requester 1", "2": "requester 2", "3": "requester 3" }
    OTHERS = "others" { "alone": "no other request", "contended": "other requests are pending" }
    END = "end" { "last": "with its last beat", "cut": "at the limit" }
    BEATS = "beats" {
        "1": "one, fewer than MAX_BEATS", "more": "more, fewer than MAX_BEATS", "MAX_BEATS": "at the limit",
    }
    STATE = "state" { "FREE": "the output is free", "LOCKED": "a packet owns the output" }
    ASKING = "requests" { "none": "no request", "some": "some requests" }
    OUTPUT = "output" { "empty": "no beat is on offer", "beat": "a beat is on offer" }
}

cosim_core::covergroups! {
    GROUPS;
    GRANTS = "grants": "packets that begin: who won last, who wins, whether others ask" [LAST, WINNER, OTHERS]
        unless |at, _| {
            (at[0] == at[1] && at[2] == 1).then_some("the last winner has the lowest priority")
        };
    ENDS = "ends": "packets: how they end, after how many beats" [END, BEATS] unless no_such_end;
    PAUSES = "pauses": "pauses in a packet, whether others ask" [OTHERS]
        unless |_, parameters| never_locked(true, parameters);
    STALLS = "stalls": "cycles without room: state, whether someone asks" [STATE, ASKING]
        unless |at, parameters| never_locked(at[0] == 1, parameters);
    RESETS = "resets": "resets, by the state they interrupt" [STATE, OUTPUT]
        unless |at, parameters| never_locked(at[0] == 1, parameters);
}

fn no_such_end(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    match (at[1], parameters.get(MAX_BEATS)) {
        (0 | 1, _) if at[0] == 1 => Some("F4, L4: a packet is cut at the limit"),
        (0, 1) => Some("MAX_BEATS is 1: the first beat is at the limit"),
        (1, 1 | 2) => Some("no number is between 1 and MAX_BEATS"),
        _ => None,
    }
}

fn never_locked(is_locked: bool, parameters: &Parameters) -> Option<&'static str> {
    (is_locked && parameters.get(MAX_BEATS) == 1).then_some("F3: LOCKED needs MAX_BEATS above 1")
}

/// The rows with these names.
const fn rows<const COUNT: usize>(names: [&[u8; 2]; COUNT]) -> RuleSet {
    let (mut set, mut rule) = (RuleSet::EMPTY, 0);
    while rule < RULES.len() {
        let mut name = 0;
        while name < COUNT {
            let is = RULES[rule].name.as_bytes();
            if is[0] == names[name][0] && is[1] == names[name][1] {
                set = set.with(RuleSet::one(rule));
            }
            name += 1;
        }
        rule += 1;
    }
    set
}

const BEGINS: RuleSet = rows([b"F2", b"F3", b"F4"]);
const LAST_BEAT: RuleSet = rows([b"F2", b"L2"]);
const CUT: RuleSet = rows([b"F4", b"L4"]);
const PAUSE: RuleSet = rows([b"L1"]);
const STALL: RuleSet = rows([b"W1"]);

/// The state of coverage collection: registers before the edge.
#[derive(Debug, Clone)]
pub struct Coverage {
    max_beats: u64,
    /// The requester that holds the output, and the number of its beats accepted so far.
    lock: Option<(u8, u64)>,
    last_won: u8,
    offers: bool,
    in_reset: bool,
}

impl harness::Coverage<Arbiter> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(parameters: &Parameters) -> Self {
        let max_beats = parameters.get(MAX_BEATS);
        Self { max_beats, lock: None, last_won: 3, offers: false, in_reset: false }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs, _: &Cycle) {
        (self.lock, self.last_won, self.offers) = golden.registers();
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Arbiter>, bins: &mut Bins<'_>) {
        let Edge { inputs, outputs, rules, .. } = *edge;
        let is_locked = usize::from(self.lock.is_some());
        if inputs.rst.get() == 1 {
            if !self.in_reset {
                bins.hit(RESETS.bin([is_locked, usize::from(self.offers)]));
            }
            self.in_reset = true;
            return;
        }
        self.in_reset = false;
        let asking = inputs.req_valid.get();
        if rules.has(BEGINS) {
            let winner = outputs.req_ready.get().trailing_zeros() as usize;
            let contended = usize::from(asking.count_ones() > 1);
            bins.hit(GRANTS.bin([usize::from(self.last_won), winner, contended]));
        }
        if rules.has(LAST_BEAT.with(CUT)) {
            let beats = match self.lock.map_or(0, |(_, beats)| beats) + 1 {
                beats if beats == self.max_beats => 2,
                1 => 0,
                _ => 1,
            };
            bins.hit(ENDS.bin([usize::from(rules.has(CUT)), beats]));
        }
        if rules.has(PAUSE) {
            bins.hit(PAUSES.bin([usize::from(asking != 0)]));
        }
        if rules.has(STALL) {
            bins.hit(STALLS.bin([is_locked, usize::from(asking != 0)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_core::checks::bins_hit;

    #[track_caller]
    fn assert_hit(max_beats: u64, requesters: &str, expected: &[&str]) {
        let traffic = format!(r#"{{ "noise": "0x0", "requesters": {requesters} }}"#);
        let traffic = serde_json::from_str(&traffic).unwrap();
        let hit = bins_hit::<Arbiter>(traffic, &crate::max_beats(max_beats)).unwrap();
        let hit: Vec<String> = hit.into_keys().filter(|bin| !bin.starts_with("rules: ")).collect();
        assert_eq!(hit, expected);
    }

    #[test]
    fn a_packet_is_counted_by_its_turn_and_its_end() {
        // After reset the last winner is 3, so 0 goes before 2. Both packets are on offer in the
        // first cycle.
        assert_hit(
            8,
            r#"[[{ "beats": 2, "data": 1 }], [], [{ "beats": 1, "data": 9 }], []]"#,
            &[
                "ends: last, 1",
                "ends: last, more",
                "grants: 0, 2, alone",
                "grants: 3, 0, contended",
            ],
        );
    }

    #[test]
    fn a_packet_is_cut_at_the_limit_and_its_pauses_are_counted() {
        assert_hit(
            2,
            r#"[[{ "beats": 3, "delay": 1, "data": 1 }], [], [], []]"#,
            &[
                "ends: cut, MAX_BEATS",
                "ends: last, 1",
                "grants: 0, 0, alone",
                "grants: 3, 0, alone",
                "pauses: alone",
            ],
        );
    }
}
