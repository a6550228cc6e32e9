//! The hits of a case: counters of bins, of which most are 0.

use serde::{Deserialize, Serialize};

/// Limit of the number of bins.
const MOST: u32 = 1 << 20;

/// How often a case hit each bin: the rules, then the bins of coverage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, Vec<(u32, u64)>)", into = "(u32, Vec<(u32, u64)>)")]
pub struct Hits {
    bins: u32,
    /// Bins that were hit, in rising order, with their counts.
    hit: Vec<(u32, u64)>,
}

impl Hits {
    /// The hits of all bins.
    pub fn of(counts: &[u64]) -> Self {
        let hit = counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        Self { bins: counts.len() as u32, hit: hit.map(|(count, bin)| (bin, *count)).collect() }
    }

    /// Adds a bin.
    pub fn push(&mut self, count: u64) {
        if count > 0 {
            self.hit.push((self.bins, count));
        }
        self.bins += 1;
    }

    /// The number of bins; 0 if nothing was counted.
    pub const fn bins(&self) -> usize {
        self.bins as usize
    }

    /// The count of a bin, or 0.
    pub fn count(&self, bin: usize) -> u64 {
        let place = self.hit.binary_search_by_key(&bin, |(bin, _)| *bin as usize);
        place.map_or(0, |place| self.hit[place].1)
    }

    /// The bins that were hit, in rising order, with their counts.
    pub fn hit(&self) -> impl Iterator<Item = (usize, u64)> {
        self.hit.iter().map(|(bin, count)| (*bin as usize, *count))
    }
}

impl From<Hits> for (u32, Vec<(u32, u64)>) {
    fn from(hits: Hits) -> Self {
        (hits.bins, hits.hit)
    }
}

impl TryFrom<(u32, Vec<(u32, u64)>)> for Hits {
    type Error = &'static str;

    fn try_from((bins, hit): (u32, Vec<(u32, u64)>)) -> Result<Self, Self::Error> {
        let rises = hit.is_sorted_by(|(bin, _), (next, _)| bin < next);
        if bins > MOST || !rises || hit.last().is_some_and(|(bin, _)| *bin >= bins) {
            return Err("the bins of a case are out of order or too many");
        }
        Ok(Self { bins, hit })
    }
}

#[cfg(test)]
mod tests {
    use super::Hits;

    #[test]
    fn counters_travel_without_those_that_are_0() {
        let mut counts = vec![0; 400];
        (counts[0], counts[7], counts[399]) = (3, 1 << 40, 1);
        let hits = Hits::of(&counts);
        let bytes = postcard::to_stdvec(&hits).unwrap();
        // 2 for the length, 1 for how many, then bin and count: 1 + 1, 1 + 6, 2 + 1.
        assert_eq!(bytes.len(), 3 + 2 + 7 + 3);
        assert_eq!(postcard::from_bytes(&bytes), Ok(hits.clone()));
        assert_eq!([hits.count(6), hits.count(7), hits.count(400)], [0, 1 << 40, 0]);
        // A length of 1 and a bin with the number 1; falling bins; a list that no memory holds.
        for bad in [&[1, 1, 1, 5][..], &[9, 2, 3, 1, 2, 1], &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]] {
            assert!(postcard::from_bytes::<Hits>(bad).is_err());
        }
    }
}
