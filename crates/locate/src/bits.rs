//! Values of any width: 64-bit limbs, the least significant first, without bits above the width.

use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

/// A value. Its width is that of the expression or the variable that holds it.
pub type Bits = SmallVec<[u64; 1]>;

pub fn limbs(width: u32) -> usize {
    width.div_ceil(64).max(1) as usize
}

/// Removes the bits above `width`, and gives the value the limbs of that width.
pub fn fit(mut value: Bits, width: u32) -> Bits {
    value.resize(limbs(width), 0);
    let rest = width % 64;
    if (rest != 0 || width == 0)
        && let Some(last) = value.last_mut()
    {
        *last &= (1u64 << rest) - 1;
    }
    value
}

pub fn small(value: u64, width: u32) -> Bits {
    fit(smallvec![value], width)
}

pub fn ones(width: u32) -> Bits {
    fit(smallvec![u64::MAX; limbs(width)], width)
}

pub fn is_true(value: &Bits) -> bool {
    value.iter().any(|limb| *limb != 0)
}

/// The value as an index; `None` if it is too large for one.
pub fn index(value: &Bits) -> Option<usize> {
    value[1..].iter().all(|limb| *limb == 0).then_some(())?;
    usize::try_from(value[0]).ok()
}

/// The bytes of a port, the least significant first.
pub fn from_bytes(bytes: &[u8], width: u32) -> Bits {
    let limb =
        |part: &[u8]| part.iter().rev().fold(0u64, |limb, byte| limb << 8 | u64::from(*byte));
    fit(bytes.chunks(8).map(limb).collect(), width)
}

fn limb(value: &Bits, place: usize) -> u64 {
    value.get(place).copied().unwrap_or(0)
}

/// A binary operation on each limb.
pub fn each(one: &Bits, other: &Bits, width: u32, f: impl Fn(u64, u64) -> u64) -> Bits {
    fit((0..limbs(width)).map(|place| f(limb(one, place), limb(other, place))).collect(), width)
}

pub fn not(value: &Bits, width: u32) -> Bits {
    each(value, value, width, |limb, _| !limb)
}

pub fn add(one: &Bits, other: &Bits, width: u32) -> Bits {
    let mut sum = 0;
    let limb = |place: usize| {
        sum = (sum >> 64) + u128::from(limb(one, place)) + u128::from(limb(other, place));
        sum as u64
    };
    fit((0..limbs(width)).map(limb).collect(), width)
}

pub fn negate(value: &Bits, width: u32) -> Bits {
    add(&not(value, width), &small(1, width), width)
}

pub fn compare(one: &Bits, other: &Bits) -> Ordering {
    let places = (0..one.len().max(other.len())).rev();
    places.clone().map(|place| limb(one, place)).cmp(places.map(|place| limb(other, place)))
}

/// The bit below which all others are, as a sign.
pub fn sign(value: &Bits, width: u32) -> bool {
    width > 0 && value[(width as usize - 1) / 64] >> ((width - 1) % 64) & 1 == 1
}

/// The value shifted to the left, or to the right by a negative number, cut to `width`.
pub fn shift(value: &Bits, by: i64, width: u32) -> Bits {
    if by == 0 {
        return fit(Bits::from_slice(value), width);
    }
    let at = |place: i64| usize::try_from(place).map_or(0, |place| u128::from(limb(value, place)));
    let limb = |place: usize| {
        let low = place as i64 * 64 - by;
        let whole = low.div_euclid(64);
        ((at(whole) | at(whole + 1) << 64) >> low.rem_euclid(64)) as u64
    };
    fit((0..limbs(width)).map(limb).collect(), width)
}

/// The value with the bits from `low` on replaced by those of `part`. Bits beyond the width of the
/// value are dropped.
pub fn replace(value: &Bits, width: u32, low: u32, part: &Bits, part_width: u32) -> Bits {
    let mask = shift(&fit(ones(part_width), width), low.into(), width);
    let part = shift(&fit(fit(part.clone(), part_width), width), low.into(), width);
    let kept = each(value, &mask, width, |limb, mask| limb & !mask);
    each(&kept, &part, width, |limb, part| limb | part)
}

/// A Verilog literal such as `32'sh1f`; `None` with unknown bits or without a width.
pub fn literal(text: &str) -> Option<(Bits, u32)> {
    let (width, digits) = text.split_once('\'')?;
    let width: u32 = width.parse().ok()?;
    let digits = digits.strip_prefix('s').unwrap_or(digits).strip_prefix('h')?;
    let nibbles = digits.chars().rev().filter(|digit| *digit != '_');
    let nibbles = nibbles.map(|digit| digit.to_digit(16)).collect::<Option<Vec<_>>>()?;
    let limb =
        |part: &[u32]| part.iter().rev().fold(0, |limb, digit| limb << 4 | u64::from(*digit));
    Some((fit(nibbles.chunks(16).map(limb).collect(), width), width))
}

/// A value as a Verilog literal.
pub fn text(value: &Bits, width: u32) -> String {
    let digits = value.iter().rev().map(|limb| format!("{limb:016x}")).collect::<String>();
    let digits = digits.trim_start_matches('0');
    format!("{width}'h{}", if digits.is_empty() { "0" } else { digits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_behave_as_verilog_vectors_do() {
        let wide = literal("100'hf_0000_0000_0000_0001").unwrap().0;
        assert_eq!(wide.as_slice(), [0x0000_0000_0000_0001, 0xf]);
        assert_eq!(shift(&wide, -64, 8).as_slice(), [0xf]);
        assert_eq!(shift(&wide, -60, 100).as_slice(), [0xf0, 0]);
        assert_eq!(shift(&small(0x81, 8), 1, 8).as_slice(), [0x02]);
        assert_eq!(shift(&wide, 32, 100).as_slice(), [0x1_0000_0000, 0xf_0000_0000]);
        assert_eq!(add(&ones(65), &small(1, 65), 65).as_slice(), [0, 0]);
        assert_eq!(add(&ones(64), &small(1, 64), 65).as_slice(), [0, 1]);
        assert_eq!(negate(&small(1, 4), 4).as_slice(), [0xf]);
        assert_eq!(replace(&ones(8), 8, 2, &small(0, 3), 3).as_slice(), [0b1110_0011]);
        assert_eq!(replace(&small(0, 4), 4, 3, &ones(2), 2).as_slice(), [0b1000]);
        assert_eq!(from_bytes(&[1, 2, 0xff], 17).as_slice(), [0x1_0201]);
        assert_eq!(compare(&wide, &small(2, 2)), Ordering::Greater);
        assert!(sign(&small(0x80, 8), 8) && !sign(&small(0x80, 9), 9));
        assert_eq!(index(&wide), None);
        assert_eq!(literal("4'bx"), None);
    }
}
