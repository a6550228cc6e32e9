//! Failure groups that probably have one cause.
//!
//! A signature contains the state, so one bug that shows in six states makes six groups. They stay
//! separate in `results.json`, because a waiver or a history refers to a signature. People see one
//! cause with variants.

use super::Group;
use cosim_harness::harness::{Mismatch, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Failure groups that probably have one cause.
#[derive(Debug, Clone)]
pub struct Cause<'a> {
    /// The group with the most failures.
    pub main: &'a Group,
    /// The other groups, the largest first.
    pub variants: Vec<&'a Group>,
}

impl<'a> Cause<'a> {
    /// All groups, the largest first.
    pub fn groups(&self) -> impl Iterator<Item = &'a Group> {
        std::iter::once(self.main).chain(self.variants.iter().copied())
    }

    /// The number of failures in all groups.
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
    let place = |group: &Group| groups.iter().position(|other| std::ptr::eq(other, group));
    let mut causes: Vec<Cause<'_>> = causes
        .into_iter()
        .filter_map(|(_, mut groups)| {
            groups.sort_by_key(|group| (Reverse(group.count), place(group)));
            let (main, variants) = groups.split_first()?;
            Some(Cause { main, variants: variants.to_vec() })
        })
        .collect();
    causes.sort_by_key(|cause| (Reverse(cause.count()), place(cause.main)));
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Evidence;
    use cosim_harness::harness::Signature;
    use serde_json::json;
    use std::collections::BTreeMap;

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
        Group {
            signature: Signature::of(&verdict).expect("a failure"),
            count,
            first: Evidence {
                case: String::new(),
                verdict,
                judgement: None,
                vector: None,
                original: None,
                packets: 0,
                cycles: 0,
                notes: Vec::new(),
            },
            waived: None,
            waves: None,
            explanation: None,
            variants: Vec::new(),
            further_rules: BTreeMap::new(),
            suspects: Vec::new(),
            first_cases: Vec::new(),
        }
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
}
