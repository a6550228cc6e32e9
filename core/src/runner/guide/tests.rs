//! Are cases chosen for what they may hit, and is the choice always the same?

use super::*;
use crate::coverage::{Group, GroupAxis, GroupValue, ProfileBins};
use crate::harness::{FIRST_VARIATION, Parameters, Profile, Verdict};
use crate::runner::Shard;
use std::collections::{BTreeMap, BTreeSet};

const ROUND: usize = super::ROUND as usize;

/// A group with axes of so many values.
fn group(name: &str, sizes: &[usize]) -> Group {
    let value = |number: usize| GroupValue { name: number.to_string(), meaning: String::new() };
    let axis =
        |size: &usize| GroupAxis { name: String::new(), values: (0..*size).map(value).collect() };
    Group { name: name.to_owned(), about: String::new(), axes: sizes.iter().map(axis).collect() }
}

/// Two rules, a cross of 4 and 3 values, of which the last cannot be hit, and as many bins that all cases hit as make one hole few.
const BINS: usize = 14 + COMMON;
const COMMON: usize = 100;

pub(in crate::runner) fn guide(goal: f64, leans: bool, cases: u64) -> Guide {
    let plan = Plan {
        block: "b",
        seed: 1,
        profiles: ["spec", "repaired"].map(|name| Profile::new(name, Parameters::NONE)).into(),
        scenarios: ["dull", "bright", "other"].map(str::to_owned).into(),
        indices: 0..cases,
        shard: Shard::WHOLE,
    };
    let bins = |name: &str| {
        let unreachable = BTreeMap::from([(13, "a reason".to_owned())]);
        (
            name.to_owned(),
            ProfileBins { fixes: String::new(), parameters: BTreeMap::new(), unreachable },
        )
    };
    let database = Database {
        block: "b".to_owned(),
        groups: vec![group("rules", &[2]), group("cross", &[4, 3]), group("common", &[COMMON])],
        profiles: ["spec", "repaired"].map(bins).into(),
        code: BTreeMap::new(),
        parts: BTreeSet::new(),
        finds: BTreeSet::new(),
    };
    Guide::new(plan, &database, goal, leans)
}

/// All cases hit the rules. Only `bright` hits bins of the cross: one in three cases one of them, the last of them hardly ever.
pub(in crate::runner) fn outcome(case: &Case) -> Outcome {
    let mut hits = vec![0; BINS];
    hits[..2].fill(1);
    hits[14..].fill(1);
    let drawn = case.seed as usize;
    if case.scenario == 1 && drawn.is_multiple_of(3) {
        hits[2 + drawn / 3 % 10] = 1;
        hits[12] = u64::from((drawn / 30).is_multiple_of(40));
    }
    Outcome { cycles: 100 + case.seed % 50, hits, ..Outcome::without_cycles(Verdict::Match) }
}

/// Runs to the end with so many cases on their way at most; the cases in the order in which they ended.
pub(in crate::runner) fn run(guide: &mut Guide, ahead: usize) -> Vec<Case> {
    let (mut on_their_way, mut ended) = (Vec::new(), Vec::new());
    loop {
        while on_their_way.len() < ahead
            && let Some(case) = guide.next()
        {
            on_their_way.push(case);
        }
        if on_their_way.is_empty() {
            return ended;
        }
        let case = on_their_way.remove(0);
        guide.landed(&case, &outcome(&case));
        ended.push(case);
    }
}

#[test]
fn bins_beside_each_other_differ_in_one_value() {
    let beside = beside(&[group("rules", &[2]), group("cross", &[2, 3])]);
    let sorted = |bin: usize| {
        let mut bins = beside[bin].clone();
        bins.sort_unstable();
        bins
    };
    assert_eq!(sorted(0), [1]);
    // Value (0, 1): (0, 0), (0, 2) and (1, 1).
    assert_eq!(sorted(3), [2, 4, 6]);
    assert_eq!(sorted(7), [4, 5, 6]);
}

#[test]
fn the_cases_are_the_same_however_many_are_on_their_way() {
    let one = run(&mut guide(100.0, true, 400), 1);
    for ahead in [2, 7, 1000] {
        assert_eq!(run(&mut guide(100.0, true, 400), ahead), one, "{ahead}");
    }
    let names: BTreeSet<&str> = one.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), one.len(), "no case comes twice");
}

#[test]
fn a_run_ends_with_the_round_that_covers_enough_or_with_its_cases() {
    for leans in [false, true] {
        let mut all = guide(100.0, leans, 400);
        let cases = run(&mut all, 5);
        assert_eq!(all.end(), End::Covered);
        assert!(cases.len() < 2400 && cases.len().is_multiple_of(ROUND), "{}", cases.len());
        let mut most = guide(95.0, leans, 400);
        assert!(run(&mut most, 5).len() < cases.len());
        assert_eq!(most.end(), End::Covered);
        let mut few = guide(100.0, leans, 7);
        assert_eq!(run(&mut few, 5).len(), 42);
        assert_eq!(few.end(), End::Complete);
    }
    let mut nothing = guide(0.0, true, 400);
    assert!(nothing.next().is_none());
    assert_eq!(nothing.end(), End::Covered);
}

#[test]
fn without_leaning_cases_come_in_the_order_of_the_plan() {
    let cases = run(&mut guide(100.0, false, 11), 3);
    let places: Vec<u64> = cases.iter().map(|case| case.place).collect();
    assert_eq!(places, (0..66).collect::<Vec<_>>());
}

#[test]
fn scenarios_and_cases_that_open_bins_are_preferred() {
    let mut leaning = guide(100.0, true, 400);
    let cases = run(&mut leaning, 4);
    let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
    let of =
        [0, 1, 2].map(|scenario| cases.iter().filter(|case| case.scenario == scenario).count());
    assert!(of[1] > of[0] && of[1] > of[2], "{of:?}");
    // Of what was never run nothing is known.
    let first: Vec<u64> = cases[..6].iter().map(|case| case.place).collect();
    assert_eq!(first, [0, 1, 2, 3, 4, 5], "each scenario has one case in each profile first");
    // The others are not forgotten: nobody knows that they open nothing.
    assert!(of[0] > 5 && of[2] > 5, "{of:?}");
    let varied = count(|case| case.place / 6 >= FIRST_VARIATION);
    assert!(varied > 10, "{varied} of {}", cases.len());
}

#[test]
fn a_profile_that_has_enough_gets_no_further_case() {
    let mut guide = guide(100.0, true, 400);
    let mut all_of_repaired = vec![1; BINS];
    all_of_repaired[13] = 0;
    let mut of_repaired_later = 0;
    for number in 0..4 * ROUND {
        let case = guide.next().expect("spec has holes");
        let mut outcome = outcome(&case);
        if case.profile == 1 {
            outcome.hits = all_of_repaired.clone();
            of_repaired_later += u32::from(number >= ROUND);
        }
        guide.landed(&case, &outcome);
    }
    assert_eq!(of_repaired_later, 0);
}

#[test]
fn a_guide_goes_on_where_it_stood_in_the_middle_of_a_round() {
    let whole = run(&mut guide(100.0, true, 400), 6);
    for stopped in [0, 1, ROUND, ROUND + 5, 3 * ROUND - 1] {
        let mut before = guide(100.0, true, 400);
        let mut on_their_way: Vec<Case> = Vec::new();
        let mut ended = Vec::new();
        while ended.len() < stopped {
            while on_their_way.len() < 6
                && let Some(case) = before.next()
            {
                on_their_way.push(case);
            }
            let case = on_their_way.remove(0);
            before.landed(&case, &outcome(&case));
            ended.push(case);
        }
        let text = serde_json::to_string(before.standing()).unwrap();
        let mut after = guide(100.0, true, 400);
        after.restore(serde_json::from_str(&text).unwrap());
        ended.extend(run(&mut after, 6));
        assert!(ended == whole, "{stopped}");
    }
}
