//! Port values whose width is part of the type.

use std::fmt;
use std::ops::Range;

/// A port value of `WIDTH` bits, stored as in Verilator: `u8`, `u16`, `u32` or `u64` up to 64 bits,
/// otherwise 32-bit words, least significant first.
///
/// Storage bits above `WIDTH` are always 0, so a value cannot be created from plain bytes.
/// [`Pins::from_bytes`](crate::Pins::from_bytes) clears those bits.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bits<const WIDTH: u32, S>(S);

/// What stores a port: an unsigned integer, or words of 32 bits.
pub trait Storage: Copy {
    /// Zero in every bit.
    const ZERO: Self;
    /// The bytes, the least significant first.
    fn bytes(self) -> Vec<u8>;
}

impl<const WORDS: usize> Storage for [u32; WORDS] {
    const ZERO: Self = [0; WORDS];
    fn bytes(self) -> Vec<u8> {
        self.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// An unsigned integer that stores a port of up to 64 bits.
pub trait Integer: Storage {
    /// The low bits of `value`.
    fn truncate(value: u64) -> Self;
    /// The value, zero-extended.
    fn widen(self) -> u64;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Storage for $integer {
            const ZERO: Self = 0;
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }

        impl Integer for $integer {
            #[inline]
            fn truncate(value: u64) -> Self {
                value as Self
            }
            #[inline]
            fn widen(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}
integers!(u8, u16, u32, u64);

/// A range of bits `[msb:lsb]` inside a wide port, at most 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Index of the least significant bit.
    pub lsb: u32,
    /// Width in bits, 1 to 64.
    pub width: u32,
}

impl Field {
    /// The field `[msb:lsb]`, written as in a specification.
    pub const fn new(msb: u32, lsb: u32) -> Self {
        assert!(msb >= lsb && msb - lsb < 64, "a field has 1 to 64 bits");
        Self { lsb, width: msb - lsb + 1 }
    }

    /// The largest value the field holds.
    pub const fn max(self) -> u64 {
        mask(self.width)
    }

    /// The field's bit indices.
    pub const fn range(self) -> Range<u32> {
        self.lsb..self.lsb + self.width
    }
}

const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl<const WIDTH: u32, S: Integer> Bits<WIDTH, S> {
    /// The low `WIDTH` bits of `value`.
    #[inline]
    pub fn new(value: u64) -> Self {
        Self(S::truncate(value & mask(WIDTH)))
    }

    /// The value, zero-extended.
    #[inline]
    pub fn get(self) -> u64 {
        self.0.widen()
    }

    /// The value of a field, zero-extended.
    #[inline]
    pub fn field(&self, field: Field) -> u64 {
        self.get() >> field.lsb & mask(field.width)
    }

    /// The value with `field` replaced by the low bits of `value`.
    #[inline]
    #[must_use]
    pub fn with(self, field: Field, value: u64) -> Self {
        let cleared = self.get() & !(mask(field.width) << field.lsb);
        Self::new(cleared | (value & mask(field.width)) << field.lsb)
    }
}

impl Bits<1, u8> {
    /// Whether a 1-bit pin is 1.
    #[inline]
    pub fn is_high(self) -> bool {
        // The bits above are 0. A mask needs no comparison where the result is a number again.
        self.0 & 1 == 1
    }
}

impl From<bool> for Bits<1, u8> {
    #[inline]
    fn from(is_high: bool) -> Self {
        Self(u8::from(is_high))
    }
}

impl<const WIDTH: u32, const WORDS: usize> Bits<WIDTH, [u32; WORDS]> {
    /// Zero in every bit.
    pub const ZERO: Self = Self([0; WORDS]);

    /// The words, the least significant first; bits above `WIDTH` are cleared.
    #[inline]
    pub fn from_words(mut words: [u32; WORDS]) -> Self {
        words[WORDS - 1] &= mask(WIDTH - 32 * (WORDS as u32 - 1)) as u32;
        Self(words)
    }

    /// Replaces all words, the least significant first; bits above `WIDTH` are cleared.
    #[inline]
    pub fn set_words(&mut self, words: &[u32; WORDS]) {
        self.0 = *words;
        if !WIDTH.is_multiple_of(32) {
            self.0[WORDS - 1] &= mask(WIDTH % 32) as u32;
        }
    }

    /// The words, the least significant first.
    #[inline]
    pub fn words(&self) -> &[u32; WORDS] {
        &self.0
    }

    /// The value of a field, zero-extended.
    #[inline]
    pub fn field(&self, field: Field) -> u64 {
        let (word, shift) = ((field.lsb / 32) as usize, field.lsb % 32);
        let at = |index: usize| u128::from(self.0.get(index).copied().unwrap_or(0));
        let window = at(word) | at(word + 1) << 32 | at(word + 2) << 64;
        (window >> shift) as u64 & mask(field.width)
    }

    /// The value with `field` replaced by the low bits of `value`.
    #[inline]
    #[must_use]
    pub fn with(mut self, field: Field, value: u64) -> Self {
        let (word, shift) = ((field.lsb / 32) as usize, field.lsb % 32);
        let window = u128::from(value & mask(field.width)) << shift;
        let cleared = u128::from(mask(field.width)) << shift;
        for index in 0..3 {
            if let Some(slot) = self.0.get_mut(word + index) {
                *slot &= !((cleared >> (32 * index)) as u32);
                *slot |= (window >> (32 * index)) as u32;
            }
        }
        self
    }
}

impl<const WIDTH: u32, S: Storage> Default for Bits<WIDTH, S> {
    #[inline]
    fn default() -> Self {
        Self(S::ZERO)
    }
}

impl<const WIDTH: u32, S: Storage> fmt::Debug for Bits<WIDTH, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{WIDTH}'h{}", hex(&self.0.bytes(), WIDTH))
    }
}

/// The low `width` bits of little-endian `bytes` in hex, without leading zeros.
pub(crate) fn hex(bytes: &[u8], width: u32) -> String {
    let digits: String = bytes[..(width.div_ceil(8) as usize).min(bytes.len())]
        .iter()
        .rev()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        significant => significant.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_of_one_bit_is_high_or_low() {
        for is_high in [false, true] {
            let pin = Bits::<1, u8>::from(is_high);
            assert_eq!((pin.get(), pin.is_high()), (u64::from(is_high), is_high));
        }
    }

    #[test]
    fn a_narrow_port_has_fields() {
        let field = Field::new(8, 3);
        let bits = Bits::<12, u16>::new(0xfff).with(field, 0x2a);
        assert_eq!((bits.get(), bits.field(field)), (0xf57, 0x2a));
        let whole = Field::new(63, 0);
        assert_eq!(Bits::<64, u64>::new(5).with(whole, u64::MAX).field(whole), u64::MAX);
    }

    type Wide = Bits<100, [u32; 4]>;

    #[test]
    fn a_narrow_value_keeps_its_low_bits() {
        assert_eq!(Bits::<5, u8>::new(0xff).get(), 0x1f);
        assert_eq!(Bits::<64, u64>::new(u64::MAX).get(), u64::MAX);
    }

    #[test]
    fn fields_cross_words() {
        let field = Field::new(98, 35);
        let wide = Wide::ZERO.with(field, 0x8123_4567_89ab_cdef);
        assert_eq!(wide.field(field), 0x8123_4567_89ab_cdef);
        assert_eq!(wide.words(), &[0, 0x4d5e_6f78, 0x091a_2b3c, 0x4]);
        assert_eq!(wide.with(field, 0), Wide::ZERO);
    }

    #[test]
    fn writing_a_field_leaves_its_neighbours() {
        let full = Wide::from_words([u32::MAX; 4]);
        assert_eq!(full.words()[3], 0xf, "bits above the width are cleared");
        let uncovered = full.with(Field::new(47, 24), 0);
        assert_eq!(uncovered.words(), &[0x00ff_ffff, 0xffff_0000, u32::MAX, 0xf]);
    }

    #[test]
    fn values_print_as_verilog_literals() {
        assert_eq!(format!("{:?}", Bits::<24, u32>::new(0xabc)), "24'habc");
        assert_eq!(format!("{:?}", Wide::ZERO), "100'h0");
    }
}
