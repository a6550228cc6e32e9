//! The functional coverage of the arbiter in addition to its rows and channels.

use crate::golden::{C1, F2, F3, F4, Golden, L1, L2, L4, R1, W1};
use crate::rtl::Inputs;
use crate::{Arbiter, MAX_BEATS};
use cosim_core::harness::{self, Bins, Covergroup, CycleOf, Document, Edge, Parameters};

// ANCHOR: groups
cosim_core::coverage! {
    axis LAST = "won last" { "0": "requester 0", "1": "requester 1", "2": "requester 2", "3": "requester 3" }
    axis WINNER = "wins" { "0": "requester 0", "1": "requester 1", "2": "requester 2", "3": "requester 3" }
    axis OTHERS = "others" { "alone": "no other request", "contended": "other requests are pending" }
    axis END = "end" { "last": "with its last beat", "cut": "at the limit" }
    axis BEATS = "beats" {
        "1": "one, fewer than MAX_BEATS", "more": "more, fewer than MAX_BEATS", "MAX_BEATS": "at the limit",
    }
    axis STATE = "state" { "FREE": "the output is free", "LOCKED": "a packet owns the output" }
    axis ASKING = "requests" { "none": "no request", "some": "some requests" }
    axis OUTPUT = "output" { "empty": "no beat is on offer", "beat": "a beat is on offer" }

    groups GROUPS;
    GRANTS = "grants": "packets that begin: who won last, who wins, whether others ask" [LAST, WINNER, OTHERS]
        unless |at, _| (at[0] == at[1] && at[2] == 1).then_some("the last winner goes last");
    ENDS = "ends": "packets: how they end, after how many beats" [END, BEATS] unless no_such_end;
    PAUSES = "pauses": "pauses in a packet, whether others ask" [OTHERS]
        unless |_, parameters| never_locked(true, parameters);
    STALLS = "stalls": "cycles without room: state, whether someone asks" [STATE, ASKING]
        unless |at, parameters| never_locked(at[0] == 1, parameters);
    RESETS = "resets": "resets, by the state they interrupt" [STATE, OUTPUT]
        unless |at, parameters| never_locked(at[0] == 1, parameters);
}
// ANCHOR_END: groups

/// The coverage of the arbiter beside its channels.
#[derive(Debug)]
pub struct Coverage {
    /// The registers before the edge.
    before: Golden,
    was_reset: bool,
}

// ANCHOR: sampler
impl harness::Coverage<Arbiter> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage.rs"));

    fn new(_: &Parameters) -> Self {
        Self { before: Golden::default(), was_reset: false }
    }

    fn before(&mut self, golden: &Golden, _: &Inputs, _: &CycleOf<Arbiter>) {
        self.before = golden.clone();
    }

    fn after(&mut self, edge: &Edge<'_, Arbiter>, bins: &mut Bins<'_>) {
        let (before, rules) = (&self.before, edge.rules);
        let was_reset = std::mem::replace(&mut self.was_reset, rules.contains_any(R1));
        let (state, asking) = (locked(before), usize::from(edge.inputs.req_valid.get() != 0));
        if rules.contains_any(R1) && !was_reset {
            bins.record(RESETS.bin([state, usize::from(before.is_valid)]));
        }
        if rules.contains_any(F2.with(F3).with(F4)) {
            let winner = edge.outputs.req_ready.get().trailing_zeros() as usize;
            let last = (before.first as usize + 3) % 4;
            bins.record(GRANTS.bin([last, winner, usize::from(rules.contains_any(C1))]));
        }
        if rules.contains_any(F2.with(F4).with(L2).with(L4)) {
            let is_at_limit = before.beats + 1 == before.max_beats;
            let beats = if is_at_limit { 2 } else { state };
            bins.record(ENDS.bin([usize::from(rules.contains_any(F4.with(L4))), beats]));
        }
        if rules.contains_any(L1) {
            bins.record(PAUSES.bin([asking]));
        }
        if rules.contains_any(W1) {
            bins.record(STALLS.bin([state, asking]));
        }
    }
}
// ANCHOR_END: sampler

/// The position of the state on its axis.
fn locked(golden: &Golden) -> usize {
    usize::from(golden.owner.is_some())
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

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_core::checks::bins_hit;

    #[track_caller]
    fn assert_hit(max_beats: u64, requesters: &str, expected: &[&str]) {
        let traffic = format!(r#"{{ "noise": "0x0", "req": {requesters} }}"#);
        let traffic = serde_json::from_str(&traffic).unwrap();
        let parameters = Parameters::with_fixes::<Arbiter>(0).with(MAX_BEATS, max_beats);
        let hit = bins_hit::<Arbiter>(traffic, &parameters).unwrap();
        let is_own =
            |bin: &String| !["rules: ", "req: ", "out: "].iter().any(|of| bin.starts_with(of));
        let hit: Vec<String> = hit.into_keys().filter(is_own).collect();
        assert_eq!(hit, expected);
    }

    #[test]
    fn a_packet_is_counted_by_its_turn_and_its_end() {
        // After reset the last winner is 3, so 0 goes before 2. Both packets are on offer in the
        // first cycle.
        assert_hit(
            8,
            r#"[[{ "item": { "beats": 2, "data": 1 } }], [], [{ "item": { "beats": 1, "data": 9 } }], []]"#,
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
            r#"[[{ "item": { "beats": 3, "delay": 1, "data": 1 } }], [], [], []]"#,
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
