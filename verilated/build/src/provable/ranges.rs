//! Sets of bits of a variable.

/// Bits from the first number to below the second one: sorted, and apart from each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub(super) fn from_ends(low: u64, end: u64) -> Self {
        Self(if low < end { vec![(low, end)] } else { Vec::new() })
    }

    pub(super) fn add(&mut self, (low, end): (u64, u64)) {
        if low >= end {
            return;
        }
        let (mut low, mut end) = (low, end);
        self.0.retain(|&(other_low, other_end)| {
            let is_apart = other_end < low || end < other_low;
            if !is_apart {
                (low, end) = (low.min(other_low), end.max(other_end));
            }
            is_apart
        });
        let place = self.0.partition_point(|other| other.0 < low);
        self.0.insert(place, (low, end));
    }

    pub(super) fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|range| self.add(*range));
    }

    pub(super) fn contains(&self, (low, end): (u64, u64)) -> bool {
        low >= end || self.0.iter().any(|range| range.0 <= low && end <= range.1)
    }

    pub(super) fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|range| self.contains(*range))
    }

    pub(super) fn common(&self, other: &Self) -> Self {
        let mut common = Self::default();
        for one in &self.0 {
            for two in &other.0 {
                common.add((one.0.max(two.0), one.1.min(two.1)));
            }
        }
        common
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
