//! Counts how often each rule fires, without a loop over all rules in every cycle.

use super::rule_set::RuleSet;

/// Cycles whose sets are added at once.
const BLOCK: usize = 1 << PLANES;
/// Low bits of a count that are stored in bit planes.
const PLANES: usize = 4;

/// Counts of at most 64 rules.
///
/// Plane n is the set of the rules whose counts have bit n. A block of sets is added with full
/// adders, which add three bits for every rule at once. Only the carries out of the highest plane
/// are processed rule by rule.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    /// Sets that are not counted yet.
    block: [u64; BLOCK],
    /// Number of these sets.
    filled: usize,
    planes: [u64; PLANES],
}

/// Adds three bits for each rule and returns sums and carries.
#[inline]
const fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, a & b | either & c)
}

impl Tally {
    pub(super) const fn new() -> Self {
        Self { block: [0; BLOCK], filled: 0, planes: [0; PLANES] }
    }

    /// Counts the rules of a set, a bit for each.
    #[inline]
    pub(super) fn count(&mut self, rules: u64, counts: &mut [u64]) {
        self.block[self.filled] = rules;
        self.filled += 1;
        if self.filled == BLOCK {
            self.filled = 0;
            self.add_block(counts);
        }
    }

    /// Adds a whole block pair by pair. The carries of a plane are half as many sets for the next
    /// plane.
    #[inline(never)]
    fn add_block(&mut self, counts: &mut [u64]) {
        let mut left = BLOCK;
        for plane in &mut self.planes {
            left /= 2;
            for pair in 0..left {
                let (one, other) = (self.block[2 * pair], self.block[2 * pair + 1]);
                (*plane, self.block[pair]) = add(*plane, one, other);
            }
        }
        for rule in RuleSet::from_bits(self.block[0].into()).iter() {
            counts[rule] += BLOCK as u64;
        }
    }

    pub(super) fn finish(&mut self, counts: &mut [u64]) {
        self.block[self.filled..].fill(0);
        self.filled = 0;
        self.add_block(counts);
        for (bit, plane) in self.planes.iter_mut().enumerate() {
            for rule in RuleSet::from_bits(std::mem::take(plane).into()).iter() {
                counts[rule] += 1 << bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_counted_as_often_as_it_fired() {
        for cycles in [0, 1, 15, 16, 17, 100, 1000] {
            let mut tally = Tally::new();
            let (mut counts, mut expected) = ([0; 64], [0; 64]);
            let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
            for _ in 0..cycles {
                bits = bits.wrapping_mul(0xda94_2042_e4dd_58b5) ^ bits >> 61;
                tally.count(bits, &mut counts);
                RuleSet::from_bits(bits.into()).iter().for_each(|rule| expected[rule] += 1);
            }
            tally.finish(&mut counts);
            assert_eq!(counts, expected, "{cycles} cycles");
            tally.finish(&mut counts);
            assert_eq!(counts, expected, "nothing is counted twice");
        }
    }
}
