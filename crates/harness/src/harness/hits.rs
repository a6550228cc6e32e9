//! The hits of a case: counters of bins, of which most are 0.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Limit of the number of bins.
const MOST: u64 = 1 << 20;

/// How often a case hit each bin: the rules, then the bins of coverage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    bins: u32,
    /// Bins that were hit, in rising order, with their counts.
    hit: Vec<(u32, u64)>,
}

impl Hits {
    /// The hits of all bins.
    pub fn from_counts(counts: &[u64]) -> Self {
        Self::drain_counts(&mut counts.to_vec())
    }

    /// The hits of all bins, whose counts become 0.
    pub(super) fn drain_counts(counts: &mut [u64]) -> Self {
        let mut hits = Self { bins: 0, hit: Vec::with_capacity(64) };
        // Most bins are not hit, and the compiler looks at several at once.
        let (many, rest) = counts.as_chunks_mut::<64>();
        for many in many {
            if is_zero(many) {
                hits.bins += 64;
                continue;
            }
            for some in many.as_chunks_mut::<8>().0 {
                match is_zero(some) {
                    true => hits.bins += 8,
                    false => some.iter_mut().for_each(|count| hits.push(std::mem::take(count))),
                }
            }
        }
        rest.iter_mut().for_each(|count| hits.push(std::mem::take(count)));
        hits
    }

    /// Adds a bin.
    #[inline]
    pub fn push(&mut self, count: u64) {
        if count > 0 {
            self.hit.push((self.bins, count));
        }
        self.bins += 1;
    }

    /// The count of a bin, or 0.
    pub fn count(&self, bin: usize) -> u64 {
        let place = self.hit.binary_search_by_key(&bin, |(bin, _)| *bin as usize);
        place.map_or(0, |place| self.hit[place].1)
    }

    /// The bins that were hit, in rising order, with their counts.
    pub fn hit_bins(&self) -> impl Iterator<Item = (usize, u64)> {
        self.hit.iter().map(|(bin, count)| (*bin as usize, *count))
    }
}

fn is_zero<const N: usize>(counts: &[u64; N]) -> bool {
    counts.iter().fold(0, |any, count| any | count) == 0
}

/// As bytes, because the loops of this crate are optimised: the number of bins, then each bin that
/// was hit, as its distance from the bin before, and its count.
impl Serialize for Hits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.pack())
    }
}

impl<'de> Deserialize<'de> for Hits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_bytes(Packed)
    }
}

struct Packed;

impl<'de> Visitor<'de> for Packed {
    type Value = Hits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the hits of a case")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Hits, E> {
        Hits::unpack(bytes).ok_or_else(|| E::custom("the hits of a case are damaged"))
    }

    /// JSON has a list for bytes.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Hits, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

impl Hits {
    fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 + 3 * self.hit.len());
        let mut push = |mut number: u64| {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        };
        push(self.bins.into());
        let mut before = 0;
        for (bin, count) in &self.hit {
            push((*bin - before).into());
            push(*count);
            before = *bin;
        }
        bytes
    }

    fn unpack(mut bytes: &[u8]) -> Option<Self> {
        let bins = number(&mut bytes).filter(|bins| *bins <= MOST)?;
        let (mut hit, mut bin) = (Vec::new(), 0u64);
        while !bytes.is_empty() {
            let gap = number(&mut bytes)?;
            // Only the first bin may be 0.
            bin = bin.checked_add(gap).filter(|_| gap > 0 || hit.is_empty())?;
            let count = number(&mut bytes).filter(|count| bin < bins && *count > 0)?;
            hit.push((bin as u32, count));
        }
        Some(Self { bins: bins as u32, hit })
    }
}

/// Takes a number from the beginning of bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut bit) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(bit)?;
        bit += 7;
        if *byte < 0x80 {
            return Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hits;

    #[test]
    fn counters_travel_without_those_that_are_0() {
        let mut counts = vec![0; 400];
        (counts[0], counts[7], counts[399]) = (3, 1 << 40, 1);
        let hits = Hits::drain_counts(&mut counts);
        assert!(counts.iter().all(|count| *count == 0));
        let bytes = postcard::to_stdvec(&hits).unwrap();
        // 1 for how many bytes, 2 for the bins, then gap and count: 1 + 1, 1 + 6, 2 + 1.
        assert_eq!(bytes.len(), 1 + 2 + 2 + 7 + 3);
        assert_eq!(postcard::from_bytes(&bytes), Ok(hits.clone()));
        let text = serde_json::to_string(&hits).unwrap();
        assert_eq!(serde_json::from_str::<Hits>(&text).unwrap(), hits);
        assert_eq!([hits.count(6), hits.count(7), hits.count(400)], [0, 1 << 40, 0]);
        // A bin beyond the last one, twice, without a count, with 0; a cut gap; 70 bits.
        let bad = [&[1, 5, 1][..], &[9, 2, 1, 0, 1], &[9, 2], &[9, 2, 0], &[9, 0x80], &[0xff; 10]];
        for bad in bad {
            assert_eq!(Hits::unpack(bad), None);
        }
        assert_eq!(Hits::unpack(&[0]), Some(Hits::default()));
    }
}
