//! Failure groups that probably have one cause.
//!
//! A signature contains the state, so one bug that shows in six states makes six groups. They stay
//! separate in `results.json`, because a waiver or a history refers to a signature. People see one
//! cause with variants.

use super::Group;
use cosim_block::explanation::Suspect;
use cosim_harness::harness::{Mismatch, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Failure groups that probably have one cause.
#[derive(Debug, Clone)]
pub struct Cause<'a> {
    /// The group with the most failures, of those whose blame is known if there are any.
    pub main: &'a Group,
    /// The other groups, the largest first.
    pub variants: Vec<&'a Group>,
}

impl<'a> Cause<'a> {
    /// All groups, the largest first.
    pub fn groups(&self) -> impl Iterator<Item = &'a Group> {
        std::iter::once(self.main).chain(self.variants.iter().copied())
    }

    /// Suspicious lines: those of the main group, or of the first group that has any.
    pub fn suspects(&self) -> &'a [Suspect] {
        let mut all = self.groups().map(|group| group.suspects.as_slice());
        all.find(|suspects| !suspects.is_empty()).unwrap_or_default()
    }

    pub fn count(&self) -> u64 {
        self.groups().fold(0, |sum, group| sum.saturating_add(group.count))
    }
}

/// The kind of failure, and the ports and fields that differ. Waived groups are apart, because they
/// do not fail the run.
type Key = (&'static str, bool, BTreeSet<String>);

fn key(group: &Group) -> Option<Key> {
    let (kind, differs) = match &group.first.verdict {
        Verdict::Mismatch(Mismatch { differs, .. }) => ("mismatch", differs),
        Verdict::Unknown(Mismatch { differs, .. }) => ("unknown", differs),
        _ => return None,
    };
    let differs: BTreeSet<String> = differs.iter().cloned().collect();
    (!differs.is_empty()).then_some((kind, group.is_waived(), differs))
}

/// The probable causes of failures, that with the most failures first.
///
/// Groups in which the same ports and fields differ have one cause, in whatever state. A group in
/// which more of them differ belongs to the same cause, if only one cause explains a part of it.
/// Then causes are one if both sides fail the same checks in a group of each, or if they share half
/// of the suspicious lines: a bug that corrupts a state shows at many ports.
pub fn causes(groups: &[Group]) -> Vec<Cause<'_>> {
    let mut found: Vec<(Option<Key>, Vec<&Group>)> = Vec::new();
    for group in groups {
        let key = key(group);
        match found.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, same)) => same.push(group),
            None => found.push((key, vec![group])),
        }
    }
    // The smallest sets first, so that a larger one finds its part.
    found.sort_by_key(|(key, _)| key.as_ref().map_or(0, |(.., differs)| differs.len()));
    let mut causes: Vec<(Option<Key>, Vec<&Group>)> = Vec::new();
    for (key, groups) in found {
        let explains = |(known, _): &(Option<Key>, Vec<&Group>)| match (known, &key) {
            (Some((kind, waived, part)), Some((other, other_waived, all))) => {
                kind == other && waived == other_waived && part.is_subset(all)
            }
            _ => false,
        };
        let mut parts = (0..causes.len()).filter(|index| explains(&causes[*index]));
        match (parts.next(), parts.next()) {
            (Some(one), None) => causes[one].1.extend(groups),
            _ => causes.push((key, groups)),
        }
    }
    let mut causes = causes.into_iter().fold(Vec::new(), |mut all: Vec<Vec<&Group>>, (_, new)| {
        // All causes that the new one has evidence for are one with it.
        let (mut same, others): (Vec<_>, Vec<_>) = all.drain(..).partition(|known| {
            known.iter().any(|one| new.iter().any(|other| have_one_origin(one, other)))
        });
        all.extend(others);
        same.push(new);
        all.push(same.concat());
        all
    });
    let place = |group: &Group| groups.iter().position(|other| std::ptr::eq(other, group));
    let mut causes: Vec<Cause<'_>> = causes
        .iter_mut()
        .filter_map(|groups| {
            groups
                .sort_by_key(|group| (checks(group).is_none(), Reverse(group.count), place(group)));
            let (main, variants) = groups.split_first()?;
            Some(Cause { main, variants: variants.to_vec() })
        })
        .collect();
    causes.sort_by_key(|cause| (Reverse(cause.count()), place(cause.main)));
    causes
}

/// The checks that fail on the RTL and on the golden model.
fn checks(group: &Group) -> Option<[Option<&str>; 2]> {
    let blame = group.first.judgement.as_ref().filter(|blame| blame.is_decided())?;
    let sides = [blame.rtl.as_ref(), blame.golden.as_ref()];
    Some(sides.map(|side| Some(side?.violation.check.as_str())))
}

/// Whether checks or suspicious lines say that two groups have one cause.
fn have_one_origin(one: &Group, other: &Group) -> bool {
    let lines = |group: &Group| -> BTreeSet<(String, u32)> {
        group.suspects.iter().map(|suspect| (suspect.file.clone(), suspect.line)).collect()
    };
    let (first, second) = (lines(one), lines(other));
    let shared = first.intersection(&second).count();
    let share_lines = shared > 0 && 2 * shared >= first.len().min(second.len());
    let fail_one_check =
        checks(one).is_some_and(|checks_of_one| checks(other) == Some(checks_of_one));
    one.is_waived() == other.is_waived() && (share_lines || fail_one_check)
}

/// Whether an earlier group explains a new one, so that its suspicious lines are not searched. More
/// earlier groups never change this from yes to no, so a shard searches what the whole run does.
pub fn is_explained(group: &Group, earlier: &[Group]) -> bool {
    let new = key(group);
    earlier.iter().any(|known| {
        let is_part = match (key(known), &new) {
            (Some((kind, _, part)), Some((of, _, all))) => kind == *of && part.is_subset(all),
            _ => false,
        };
        is_part
            || checks(known).is_some_and(|checks_of_known| checks(group) == Some(checks_of_known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Evidence;
    use crate::run::groups::group_of;
    use serde_json::json;

    fn group(state: &str, differs: &[&str], count: u64) -> Group {
        let verdict: Verdict = serde_json::from_value(json!({
            "verdict": "mismatch",
            "cycle": 1,
            "port": differs[0].split('.').next().unwrap_or_default(),
            "state": state,
            "rule": "",
            "expected": "0x0",
            "actual": "0x1",
            "differs": differs,
        }))
        .expect("a verdict");
        group_of(verdict, count)
    }

    fn reported(groups: &[Group]) -> Vec<(String, u64, usize)> {
        let reported = |cause: Cause<'_>| {
            (cause.main.signature.to_string(), cause.count(), cause.variants.len())
        };
        causes(groups).into_iter().map(reported).collect()
    }

    #[test]
    fn one_port_in_several_states_is_one_cause() {
        let groups = [
            group("IDLE", &["mr.data"], 1),
            group("IDLE", &["ready"], 5),
            group("SEND", &["mr.data"], 3),
            group("DONE", &["mr.data"], 3),
        ];
        let expected =
            [("mismatch-mr.data-SEND".to_owned(), 7, 2), ("mismatch-ready-IDLE".to_owned(), 5, 0)];
        assert_eq!(reported(&groups), expected);
    }

    #[test]
    fn a_part_explains_more_differing_ports_if_it_is_the_only_part() {
        let together = group("SEND", &["ready", "valid"], 9);
        let one = [group("IDLE", &["ready"], 1), together.clone()];
        assert_eq!(reported(&one), [("mismatch-ready+valid-SEND".to_owned(), 10, 1)]);
        let two = [group("IDLE", &["ready"], 1), group("IDLE", &["valid"], 1), together];
        assert_eq!(reported(&two).len(), 3);
    }

    #[test]
    fn a_waived_group_is_apart() {
        let waived = serde_json::from_value(json!({
            "reason": "known", "expires": "2030-01-01", "expired": false
        }));
        let known = Group { waived: waived.ok(), ..group("IDLE", &["ready"], 1) };
        assert!(known.is_waived());
        assert_eq!(reported(&[known, group("SEND", &["ready"], 1)]).len(), 2);
    }
    fn judged(group: Group, check: &str) -> Group {
        let judgement = json!({
            "broken_by": "rtl", "rtl": { "cycle": 1, "check": check, "subject": "", "message": "" },
            "golden": null
        });
        let judgement = serde_json::from_value(judgement).expect("a blame");
        Group { first: Evidence { judgement, ..group.first }, ..group }
    }

    fn suspected(group: Group, lines: &[u32]) -> Group {
        let suspect = |line: &u32| {
            let file = "a.v".to_owned();
            Suspect { file, line: *line, column: 1, reason: String::new() }
        };
        Group { suspects: lines.iter().map(suspect).collect(), ..group }
    }

    #[test]
    fn ports_that_fail_one_check_or_have_the_same_suspicious_lines_have_one_cause() {
        let (state, event) = (group("A", &["state"], 9), group("A", &["event"], 2));
        assert_eq!(reported(&[state.clone(), event.clone()]).len(), 2);
        let same = [judged(state.clone(), "rule-1"), judged(event.clone(), "rule-1")];
        assert_eq!(reported(&same), [("mismatch-state-A".to_owned(), 11, 1)]);
        let other = [judged(state.clone(), "rule-1"), judged(event.clone(), "rule-2")];
        assert_eq!(reported(&other).len(), 2);
        for (lines, causes) in [(&[1, 2][..], 1), (&[1, 7, 8], 1), (&[6, 7], 2), (&[], 2)] {
            // Half of the shorter list: of two, three and two lines.
            let lines = suspected(event.clone(), lines);
            let both = [suspected(state.clone(), &[1, 2, 3, 8]), lines];
            assert_eq!(reported(&both).len(), causes, "{both:?}");
        }
        // One group with evidence for both joins two causes.
        let joint = suspected(judged(group("A", &["ack"], 1), "rule-1"), &[1, 2]);
        let all = [judged(state.clone(), "rule-1"), suspected(event, &[1, 2]), joint];
        assert_eq!(reported(&all), [("mismatch-state-A".to_owned(), 12, 2)]);
        // Not even evidence joins a waived failure with others.
        let waived = serde_json::from_value(json!({
            "reason": "known", "expires": "2030-01-01", "expired": false
        }));
        let known = Group { waived: waived.ok(), ..judged(group("A", &["ack"], 1), "rule-1") };
        assert_eq!(reported(&[judged(state, "rule-1"), known]).len(), 2);
    }

    #[test]
    fn an_earlier_group_explains_one_with_its_ports_or_its_check() {
        let ready = group("A", &["ready"], 1);
        let explained = |earlier: &Group, new| is_explained(&new, std::slice::from_ref(earlier));
        assert!(explained(&ready, group("B", &["ready"], 1)));
        assert!(explained(&ready, group("B", &["data", "ready"], 1)));
        assert!(!explained(&ready, group("B", &["data"], 1)));
        let checked = judged(ready, "rule-1");
        assert!(explained(&checked, judged(group("B", &["data"], 1), "rule-1")));
        assert!(!explained(&checked, judged(group("B", &["data"], 1), "rule-2")));
    }
}
