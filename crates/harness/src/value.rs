//! Numbers of vectors and scenarios: their width is part of the type and is checked when read.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// An unsigned number of `WIDTH` bits, at most 64.
///
/// In JSON, a number of up to 32 bits is an integer. A wider one is a hex string like `"0x1f"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uint<const WIDTH: u32>(u64);

impl<const WIDTH: u32> Uint<WIDTH> {
    /// The largest value.
    pub const MAX: u64 = if WIDTH >= 64 { u64::MAX } else { (1 << WIDTH) - 1 };

    /// The low `WIDTH` bits of `value`.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value & Self::MAX)
    }

    /// The value.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether JSON stores it as a hex string.
    const IS_WIDE: bool = WIDTH > 32;

    /// Whether it is 0.
    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl Uint<1> {
    /// Whether the flag is 1.
    #[inline]
    pub const fn is_high(self) -> bool {
        self.0 == 1
    }
}

impl From<bool> for Uint<1> {
    #[inline]
    fn from(is_high: bool) -> Self {
        Self(u64::from(is_high))
    }
}

/// [`Uint::new`], for tables of many numbers.
pub const fn n<const WIDTH: u32>(value: u64) -> Uint<WIDTH> {
    Uint::new(value)
}

impl<const WIDTH: u32> fmt::Debug for Uint<WIDTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl<const WIDTH: u32> Serialize for Uint<WIDTH> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if Self::IS_WIDE {
            serializer.collect_str(&format_args!("{:#x}", self.0))
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de, const WIDTH: u32> Deserialize<'de> for Uint<WIDTH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if Self::IS_WIDE {
            deserializer.deserialize_str(UintVisitor::<WIDTH>)
        } else {
            deserializer.deserialize_u64(UintVisitor::<WIDTH>)
        }
    }
}

impl<const WIDTH: u32> JsonSchema for Uint<WIDTH> {
    fn schema_name() -> Cow<'static, str> {
        format!("Uint{WIDTH}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if Self::IS_WIDE {
            json_schema!({ "type": "string", "pattern": hex_pattern(WIDTH) })
        } else {
            json_schema!({ "type": "integer", "minimum": 0, "maximum": Self::MAX })
        }
    }
}

/// A regular expression for hex strings of at most `width` bits.
pub fn hex_pattern(width: u32) -> String {
    let (digits, rest) = (width / 4, width % 4);
    let top = (1u32 << rest) - 1;
    let hex = "[0-9a-fA-F]";
    match (digits, rest) {
        (_, 0) => format!("^0x0*{hex}{{1,{digits}}}$"),
        (0, _) => format!("^0x0*[0-{top}]$"),
        _ => format!("^0x0*([0-{top}]?{hex}{{{digits}}}|{hex}{{1,{digits}}})$"),
    }
}

/// An unsigned number of `WIDTH` bits, more than 64, in `WORDS` 32-bit words, the least significant
/// first. In JSON, it is a hex string like `"0x1f"`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct WideUint<const WIDTH: u32, const WORDS: usize>([u32; WORDS]);

impl<const WIDTH: u32, const WORDS: usize> WideUint<WIDTH, WORDS> {
    /// Zero.
    pub const ZERO: Self = Self([0; WORDS]);

    /// A number of at most 64 bits.
    #[inline]
    pub fn new(value: u64) -> Self {
        let mut words = [0; WORDS];
        for (word, part) in words.iter_mut().zip([value as u32, (value >> 32) as u32]) {
            *word = part;
        }
        Self(words)
    }

    /// The low `WIDTH` bits of words, the least significant first.
    #[inline]
    pub fn from_words(mut words: [u32; WORDS]) -> Self {
        let unused = 32 * WORDS as u32 - WIDTH;
        if let Some(last) = words.last_mut() {
            *last &= u32::MAX >> unused;
        }
        Self(words)
    }

    /// The words, the least significant first.
    #[inline]
    pub const fn words(&self) -> &[u32; WORDS] {
        &self.0
    }

    /// The low 64 bits.
    #[inline]
    pub fn low(&self) -> u64 {
        self.0.iter().take(2).rev().fold(0, |value, word| value << 32 | u64::from(*word))
    }
}

impl<const WIDTH: u32, const WORDS: usize> Default for WideUint<WIDTH, WORDS> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const WIDTH: u32, const WORDS: usize> Ord for WideUint<WIDTH, WORDS> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const WIDTH: u32, const WORDS: usize> PartialOrd for WideUint<WIDTH, WORDS> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const WIDTH: u32, const WORDS: usize> fmt::Debug for WideUint<WIDTH, WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.iter().rev().skip_while(|word| **word == 0);
        write!(f, "{:#x}", words.next().unwrap_or(&0))?;
        words.try_for_each(|word| write!(f, "{word:08x}"))
    }
}

impl<const WIDTH: u32, const WORDS: usize> Serialize for WideUint<WIDTH, WORDS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de, const WIDTH: u32, const WORDS: usize> Deserialize<'de> for WideUint<WIDTH, WORDS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let mut words = [[0; 4]; WORDS];
        match read_digits(&text, WIDTH, words.as_flattened_mut()) {
            Some(()) => Ok(Self(words.map(u32::from_le_bytes))),
            None => {
                let expected = format!("a hex string of at most {WIDTH} bits, like \"0x1f\"");
                Err(de::Error::invalid_value(Unexpected::Str(&text), &expected.as_str()))
            }
        }
    }
}

impl<const WIDTH: u32, const WORDS: usize> JsonSchema for WideUint<WIDTH, WORDS> {
    fn schema_name() -> Cow<'static, str> {
        format!("WideUint{WIDTH}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": hex_pattern(WIDTH) })
    }
}

struct UintVisitor<const WIDTH: u32>;

impl<const WIDTH: u32> Visitor<'_> for UintVisitor<WIDTH> {
    type Value = Uint<WIDTH>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if Uint::<WIDTH>::IS_WIDE {
            write!(f, "a hex string of at most {WIDTH} bits, like \"0x1f\"")
        } else {
            write!(f, "an integer from 0 to {}", Uint::<WIDTH>::MAX)
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        if !Uint::<WIDTH>::IS_WIDE && value <= Uint::<WIDTH>::MAX {
            Ok(Uint(value))
        } else {
            Err(E::invalid_value(Unexpected::Unsigned(value), &self))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let mut bytes = [0; 8];
        match read_digits(text, WIDTH, &mut bytes) {
            Some(()) if Uint::<WIDTH>::IS_WIDE => Ok(Uint(u64::from_le_bytes(bytes))),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// Reads `0x…` into little-endian bytes if it fits `width` bits.
pub(crate) fn read_digits(text: &str, width: u32, bytes: &mut [u8]) -> Option<()> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.is_empty() || digits.len() > 1024.max(2 * bytes.len()) {
        return None;
    }
    bytes.fill(0);
    for (index, pair) in digits.rchunks(2).enumerate() {
        let byte = match *pair {
            [high, low] => value_of(high)? << 4 | value_of(low)?,
            [low] => value_of(low)?,
            _ => return None,
        };
        match bytes.get_mut(index) {
            Some(place) => *place = byte,
            // Leading zeros.
            None if byte == 0 => {}
            None => return None,
        }
    }
    // The bytes are whole words; what is above the port's width must be 0.
    let (top, used) = ((width / 8) as usize, width % 8);
    let mut above = bytes.iter().skip(top);
    let fits = above.next().is_none_or(|byte| byte >> used == 0) && above.all(|byte| *byte == 0);
    fits.then_some(())
}

/// The number of a hex digit.
fn value_of(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// A number in three digits or so, as in `12.3M`.
pub fn short(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{:.2}G", value / 1e9),
        value if value >= 1e6 => format!("{:.2}M", value / 1e6),
        value if value >= 1e4 => format!("{:.1}k", value / 1e3),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_numbers_are_integers_and_wide_ones_hex_strings() {
        assert_eq!(serde_json::to_string(&Uint::<24>::new(17)).unwrap(), "17");
        assert_eq!(serde_json::to_string(&Uint::<48>::new(17)).unwrap(), "\"0x11\"");
        assert_eq!(serde_json::from_str::<Uint<3>>("7").unwrap().get(), 7);
        assert_eq!(
            serde_json::from_str::<Uint<64>>("\"0xffffffffffffffff\"").unwrap().get(),
            u64::MAX
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_range() {
        for (text, wanted) in
            [("8", "0 to 7"), ("-1", "0 to 7"), ("1.5", "0 to 7"), ("\"1\"", "0 to 7")]
        {
            let error = serde_json::from_str::<Uint<3>>(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        for text in ["17", "\"17\"", "\"0x\"", "\"0x+1\"", "\"0x1000000000000\""] {
            let error = serde_json::from_str::<Uint<48>>(text).unwrap_err().to_string();
            assert!(error.contains("48 bits"), "{text}: {error}");
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_a_hex_string_of_at_most_its_width() {
        type Key = WideUint<66, 3>;
        let key = Key::from_words([1, 0x8000_0000, u32::MAX]);
        let text = "\"0x38000000000000001\"";
        assert_eq!(serde_json::to_string(&key).unwrap(), text);
        assert_eq!(serde_json::from_str::<Key>(text).unwrap(), key);
        assert_eq!((key.low(), Key::new(5).low()), (0x8000_0000_0000_0001, 5));
        assert!(key > Key::new(u64::MAX));
        let long = format!("\"0x{}7\"", "0".repeat(40));
        assert_eq!(serde_json::from_str::<Key>(&long).unwrap(), Key::new(7));
        for wrong in ["7", "\"7\"", "\"0x\"", "\"0x+1\"", "\"0x40000000000000000\"", "\"0xg\""] {
            let error = serde_json::from_str::<Key>(wrong).unwrap_err().to_string();
            assert!(error.contains("66 bits") || wrong == "7", "{wrong}: {error}");
        }
    }

    fn bytes_of(text: &str, width: u32) -> Option<Vec<u8>> {
        // As ports have them: more than one word is whole words.
        let size = width.div_ceil(8).next_multiple_of(if width > 64 { 4 } else { 1 });
        let mut bytes = vec![0xff; size as usize];
        read_digits(text, width, &mut bytes).map(|()| bytes)
    }

    #[test]
    fn hex_strings_are_checked_against_the_width() {
        assert_eq!(bytes_of("0x1ff", 9), Some(vec![0xff, 1]));
        assert_eq!(bytes_of("0x00001", 1), Some(vec![1]));
        assert_eq!(bytes_of("0x2fe", 10), Some(vec![0xfe, 2]));
        assert_eq!(bytes_of("0xFe", 8), Some(vec![0xfe]));
        assert_eq!(bytes_of("0x000000000000000001", 64), Some(vec![1, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(bytes_of("0x400", 10), None);
        assert_eq!(bytes_of("0x100", 8), None);
        let widest = format!("0x1{}", "0".repeat(16));
        assert_eq!(bytes_of(&widest, 65).map(|bytes| (bytes[8], bytes.len())), Some((1, 12)));
        assert_eq!(bytes_of(&widest.replace("0x1", "0x2"), 65), None);
        assert_eq!(bytes_of(&format!("0x1{}", "0".repeat(18)), 65), None);
        for bad in ["0x2", "0x10", "1", "0x", "0xg", "-0x1", "", "0x\u{e9}"] {
            assert_eq!(bytes_of(bad, 1), None, "{bad}");
        }
    }
}
