//! A small set of cases with the same coverage as all.

use super::{ContributingCase, Database};
use std::collections::{BTreeMap, BTreeSet};

/// Cases that together hit all covered bins, each with the number of bins that it adds. Greedy: the
/// next case is the one with most new bins per cycle. Cases that others make redundant are removed
/// at the end.
pub fn rank(database: &Database) -> Vec<(&ContributingCase, u32)> {
    let mut ranked = Vec::new();
    for profile in database.profiles.keys() {
        let finds: Vec<&ContributingCase> =
            database.finds.iter().filter(|find| find.profile == *profile).collect();
        let chosen = needed(&finds, &greedy(&finds));
        let mut known = vec![false; database.bins()];
        for index in chosen {
            let new = |bin: &&u32| !known[**bin as usize];
            let adds = finds[index].bins.iter().filter(new).count() as u32;
            finds[index].bins.iter().for_each(|bin| known[*bin as usize] = true);
            ranked.push((finds[index], adds));
        }
    }
    ranked
}

fn greedy(finds: &[&ContributingCase]) -> Vec<usize> {
    let mut left: BTreeSet<u32> = finds.iter().flat_map(|find| &find.bins).copied().collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let adds =
            |find: &ContributingCase| find.bins.iter().filter(|bin| left.contains(bin)).count();
        // Most new bins per cycle, without a division: a / b > c / d if a * d > c * b.
        let better = |one: &usize, other: &usize| {
            let [one, other] = [one, other].map(|index| finds[*index]);
            let gains = [one, other].map(|find| adds(find) as u128);
            let costs = [one, other].map(|find| u128::from(find.cycles.max(1)));
            (gains[0] * costs[1]).cmp(&(gains[1] * costs[0])).then(other.cmp(one))
        };
        let Some(best) = (0..finds.len()).max_by(better) else { break };
        if adds(finds[best]) == 0 {
            break;
        }
        left.retain(|bin| finds[best].bins.binary_search(bin).is_err());
        chosen.push(best);
    }
    chosen
}

/// Removes cases that the others make redundant, the longest first.
fn needed(finds: &[&ContributingCase], chosen: &[usize]) -> Vec<usize> {
    let mut hits: BTreeMap<u32, u32> = BTreeMap::new();
    for bin in chosen.iter().flat_map(|index| &finds[*index].bins) {
        *hits.entry(*bin).or_default() += 1;
    }
    let mut order = chosen.to_vec();
    order.sort_by_key(|index| std::cmp::Reverse((finds[*index].cycles, *index)));
    let mut kept = chosen.to_vec();
    for index in order {
        if finds[index].bins.iter().all(|bin| hits.get(bin).is_some_and(|hits| *hits > 1)) {
            for bin in &finds[index].bins {
                hits.entry(*bin).and_modify(|hits| *hits -= 1);
            }
            kept.retain(|other| *other != index);
        }
    }
    kept
}
