//! Values of wide ports, as a traffic stores them.

use cosim_harness::harness::{CaseRng, Draw, Noise};
use cosim_harness::value::hex_pattern;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use verilated::{Pin, Pins};

/// A value of `WORDS` 32-bit words, the least significant first; a hex string like `"0x1f"` in
/// JSON. 32 words hold a port of 1024 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wide<const WORDS: usize>(pub [u32; WORDS]);

/// Checks the width of a data bus, at most `WORDS` words.
///
/// # Panics
/// If it is no multiple of 8 bits, or does not fit.
pub(crate) const fn check_bus<const WORDS: usize>(bits: u32) {
    assert!(bits.is_multiple_of(8), "the width of a data bus is a multiple of 8 bits");
    assert!(bits as usize <= 32 * WORDS, "the data bus is wider than its protocol permits");
}

/// One bit for each byte lane of a port of at most 1024 bits.
pub type Lanes = Wide<4>;
/// The data of a port of at most 1024 bits, the widest bus of AXI.
pub type Data = Wide<32>;

impl<const WORDS: usize> Wide<WORDS> {
    /// Zero.
    pub const ZERO: Self = Self([0; WORDS]);

    /// The value of a number.
    #[inline]
    pub fn new(value: u64) -> Self {
        Self(std::array::from_fn(|word| match word {
            0 => value as u32,
            1 => (value >> 32) as u32,
            _ => 0,
        }))
    }

    /// The value of a port.
    #[inline]
    pub fn read_pin<P: Pins>(pin: Pin<P>, pins: &P) -> Self {
        Self(pin.words(pins))
    }

    /// The lowest `bits` bits are 1.
    pub fn ones(bits: u32) -> Self {
        Self([u32::MAX; WORDS]).low(bits)
    }

    /// The lowest `bits` bits; the others become 0.
    #[inline]
    #[must_use]
    pub fn low(self, bits: u32) -> Self {
        Self(std::array::from_fn(|word| match bits.saturating_sub(32 * word as u32) {
            0 => 0,
            left @ 1..32 => self.0[word] & ((1 << left) - 1),
            _ => self.0[word],
        }))
    }

    /// The lowest 64 bits.
    #[inline]
    pub fn get(&self) -> u64 {
        let word = |at: usize| u64::from(self.0.get(at).copied().unwrap_or(0));
        word(0) | word(1) << 32
    }

    /// A bit; 0 beyond the value.
    #[inline]
    pub fn bit(&self, at: u32) -> bool {
        self.0.get(at as usize / 32).is_some_and(|word| word >> (at % 32) & 1 == 1)
    }

    /// The byte of a lane; 0 beyond the value.
    #[inline]
    pub fn byte(&self, lane: u32) -> u8 {
        self.0.get(lane as usize / 4).map_or(0, |word| (word >> (8 * (lane % 4))) as u8)
    }

    /// Replaces the byte of a lane; lanes beyond the value are ignored.
    #[inline]
    pub fn set_byte(&mut self, lane: u32, byte: u8) {
        if let Some(word) = self.0.get_mut(lane as usize / 4) {
            let shift = 8 * (lane % 4);
            *word = *word & !(0xff << shift) | u32::from(byte) << shift;
        }
    }

    /// A value with noise in the words of its lowest `bits` bits.
    #[inline]
    pub(crate) fn noise(bits: u32, noise: &mut Noise) -> Self {
        let mut value = Self::ZERO;
        for word in value.0.iter_mut().take(bits.div_ceil(32) as usize) {
            [*word] = noise.words();
        }
        value
    }

    /// The bytes of the lowest `bytes` lanes, for an access of a target.
    pub(crate) fn to_bytes(self, bytes: u32) -> ([u8; 128], usize) {
        let mut all = [0; 128];
        for (lane, byte) in (0..bytes).zip(&mut all) {
            *byte = self.byte(lane);
        }
        (all, bytes as usize)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut value = Self::ZERO;
        for (lane, byte) in (0..).zip(bytes) {
            value.set_byte(lane, *byte);
        }
        value
    }

    pub(crate) fn low_128(&self) -> u128 {
        let word = |at: usize| u128::from(self.0.get(at).copied().unwrap_or(0)) << (32 * at);
        word(0) | word(1) | word(2) | word(3)
    }

    #[must_use]
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Whether it has a bit that the other one lacks.
    #[inline]
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & !other != 0)
    }

    /// A value with random bits in its lowest `bits` bits.
    pub fn any(bits: u32, rng: &mut CaseRng) -> Self {
        Self(rng.words()).low(bits)
    }
}

impl<const WORDS: usize> Default for Wide<WORDS> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const WORDS: usize> fmt::Display for Wide<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.0.iter().rposition(|word| *word != 0) else {
            return f.write_str("0x0");
        };
        write!(f, "{:#x}", self.0[first])?;
        self.0[..first].iter().rev().try_for_each(|word| write!(f, "{word:08x}"))
    }
}

impl<const WORDS: usize> fmt::Debug for Wide<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const WORDS: usize> Serialize for Wide<WORDS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const WORDS: usize> Deserialize<'de> for Wide<WORDS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let bits = 32 * WORDS;
        let invalid = || {
            D::Error::custom(format_args!(
                "invalid value `{text}`, expected a hex string of at most {bits} bits, like \
                 \"0x1f\""
            ))
        };
        let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty());
        let mut value = Self::ZERO;
        for (place, digit) in digits.ok_or_else(invalid)?.bytes().rev().enumerate() {
            let digit = char::from(digit).to_digit(16).ok_or_else(invalid)?;
            match value.0.get_mut(place / 8) {
                Some(word) => *word |= digit << (4 * (place % 8)),
                None if digit == 0 => {}
                None => return Err(invalid()),
            }
        }
        Ok(value)
    }
}

impl<const WORDS: usize> JsonSchema for Wide<WORDS> {
    fn schema_name() -> Cow<'static, str> {
        format!("Wide{WORDS}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": hex_pattern(32 * WORDS as u32) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_values_are_hex_strings() {
        let value = Wide::<3>([0x89ab_cdef, 0x0123_4567, 0xa]);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(text, "\"0xa0123456789abcdef\"");
        assert_eq!(serde_json::from_str::<Wide<3>>(&text).unwrap(), value);
        assert_eq!(serde_json::to_string(&Wide::<3>::ZERO).unwrap(), "\"0x0\"");
        for wrong in ["\"1\"", "\"0x\"", "\"0xg\"", "7", "\"0x1000000000000000000000000\""] {
            assert!(serde_json::from_str::<Wide<3>>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bits_and_bytes_are_addressed_from_the_low_end() {
        let mut value = Wide::<2>::new(0x8000_0000_0000_0102);
        assert_eq!((value.byte(0), value.byte(1), value.byte(7), value.byte(8)), (2, 1, 0x80, 0));
        assert!(value.bit(1) && value.bit(63) && !value.bit(64));
        value.set_byte(7, 0);
        value.set_byte(9, 1);
        assert_eq!(value.get(), 0x102);
        assert_eq!(Wide::<2>::ones(33).get(), 0x1_ffff_ffff);
        assert_eq!(value.low(2).get(), 2);
    }
    /// Are the bits around a part kept, whatever its place, and are the values those of the part?
    #[test]
    fn parts_of_ports_are_read_and_set_alone() {
        crate::testing::pins!(P { low: 7 u8, wide: 100 [u32; 4], high: 64 u64, });
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 16
        };
        for port in ["low", "wide", "high"] {
            let whole = Pin::<P>::named("", port);
            for _ in 0..2000 {
                let bits = whole.width();
                let lsb = random() as u32 % bits;
                let width = 1 + random() as u32 % (bits - lsb);
                let mut pins = P::default();
                for other in ["low", "wide", "high"] {
                    let words = [0; 4].map(|_: u32| random() as u32);
                    Pin::<P>::named("", other).set_words(&mut pins, &words);
                }
                let (before, part) = (Wide::<4>::read_pin(whole, &pins), whole.bits(lsb, width));
                let shifted = |value: &Wide<4>, at: u32| value.bit(lsb + at);
                let read = Wide::<4>::read_pin(part, &pins);
                assert!((0..128).all(|at| read.bit(at) == (at < width && shifted(&before, at))));
                assert_eq!(part.get(&pins), read.get());
                let value = Wide([0; 4].map(|_: u32| random() as u32));
                let other = pins;
                part.set_words(&mut pins, &value.0);
                assert_eq!(Wide::<4>::read_pin(part, &pins), value.low(width));
                let after = Wide::<4>::read_pin(whole, &pins);
                let is_inside = |at: u32| (lsb..lsb + width).contains(&at);
                assert!((0..128).all(|at| is_inside(at) || after.bit(at) == before.bit(at)));
                part.set_words(&mut pins, &read.0);
                assert_eq!(pins.as_bytes(), other.as_bytes());
            }
        }
        let bus = Pin::<P>::named("", "wide");
        assert_eq!(bus.lane(1, 4).name().to_string(), "wide[49:25]");
        assert_eq!(
            (bus.name().to_string(), bus.bits(3, 1).name().to_string()),
            ("wide".to_owned(), "wide[3]".to_owned(),)
        );
    }
}
