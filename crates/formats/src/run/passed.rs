//! Whether the cases of a run passed, with its waivers.

use super::end::End;
use super::groups::Group;
use super::tally::Totals;
use super::waivers::{Day, Waived, Waiver};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaiverUse {
    #[serde(flatten)]
    pub waiver: Waiver,
    /// Number of cases with this failure.
    pub cases: u64,
}

/// Marks the groups of failures that waivers match, for a run that ended on `day`.
pub fn waive(waivers: &[Waiver], groups: &mut [Group], day: &Day) {
    for group in groups {
        let waiver = waivers.iter().find(|waiver| waiver.signature == group.signature);
        group.waived = waiver.map(|Waiver { reason, expires, .. }| Waived {
            reason: reason.clone(),
            expires: expires.clone(),
            expired: expires < day,
        });
    }
}

/// Number of waived failures. If a run ended early, waivers do not apply.
pub fn waived(groups: &[Group], end: End) -> u64 {
    match end {
        End::Complete | End::Covered | End::Time => {
            let waived = groups.iter().filter(|group| group.is_waived());
            waived.fold(0, |sum, group| sum.saturating_add(group.count))
        }
        End::MaxFailures | End::MaxHangs | End::Interrupted => 0,
    }
}

pub fn has_passed(totals: &Totals, groups: &[Group], end: End) -> bool {
    end != End::Interrupted && totals.cycles > 0 && totals.failures() == waived(groups, end)
}

pub fn uses(waivers: &[Waiver], groups: &[Group]) -> Vec<WaiverUse> {
    let count = |waiver: &Waiver| {
        let group = groups.iter().find(|group| group.signature == waiver.signature);
        group.map_or(0, |group| group.count)
    };
    waivers
        .iter()
        .map(|waiver| WaiverUse { waiver: waiver.clone(), cases: count(waiver) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Moment;
    use crate::run::groups::group_of;
    use cosim_harness::harness::Verdict;

    fn group(state: &str, count: u64) -> Group {
        group_of(Verdict::Hang { cycle: Some(3), state: state.to_owned() }, count)
    }

    fn waiver(group: &Group, expires: &str) -> Waiver {
        Waiver {
            block: "b".to_owned(),
            signature: group.signature.clone(),
            reason: "known".to_owned(),
            expires: expires.parse().unwrap(),
        }
    }

    fn day(text: &str) -> Day {
        let time = humantime::parse_rfc3339(&format!("{text}T23:59:59.999Z")).unwrap();
        Day::from_moment(Moment::from(time))
    }

    #[test]
    fn a_waived_failure_does_not_count_until_its_last_day_is_over() {
        let mut groups = [group("a", 2)];
        let waivers = [waiver(&groups[0], "2027-02-28")];
        let totals = Totals { cases: 5, matched: 3, hung: 2, cycles: 9, ..Totals::default() };
        for (today, passes) in [("2027-02-28", true), ("2027-03-01", false), ("2026-12-31", true)] {
            waive(&waivers, &mut groups, &day(today));
            assert_eq!(has_passed(&totals, &groups, End::Complete), passes, "{today}");
            assert!(!has_passed(&totals, &groups, End::MaxFailures), "not all was run");
            assert!(!has_passed(&totals, &groups, End::Interrupted));
        }
        waive(&[], &mut groups, &day("2026-12-31"));
        assert!(!has_passed(&totals, &groups, End::Complete));
    }

    #[test]
    fn a_failure_that_no_waiver_names_counts_and_so_does_one_of_no_group() {
        let mut groups = [group("a", 2), group("b", 1)];
        let waivers = [waiver(&groups[0], "2999-01-01"), waiver(&group("c", 1), "2999-01-01")];
        waive(&waivers, &mut groups, &day("2026-12-31"));
        let totals =
            |hung| Totals { cases: 9, matched: 9 - hung, hung, cycles: 9, ..Totals::default() };
        assert!(!has_passed(&totals(3), &groups, End::Complete));
        assert!(!has_passed(&totals(3), &groups[..1], End::Complete));
        assert!(has_passed(&totals(2), &groups[..1], End::Complete));
        let cases: Vec<u64> = uses(&waivers, &groups).iter().map(|one| one.cases).collect();
        assert_eq!(cases, [2, 0], "the second one was about nothing");
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for text in [
            "2027-02-29",
            "2027-13-01",
            "27-01-01",
            "2027-1-1",
            "tomorrow",
            "2027-01-31T00:00:00Z",
            "",
        ] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
        assert!("2028-02-29".parse::<Day>().is_ok());
    }
}
