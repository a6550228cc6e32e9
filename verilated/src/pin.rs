//! Pins by name: places in a packed struct that are looked up once, at compile time if wanted.

use crate::{Pins, Port};
use std::fmt;
use std::marker::PhantomData;

/// A port of the packed struct `P`, or some of its bits, for code that works with ports of any
/// names.
///
/// ```ignore
/// const VALID: Pin<Inputs> = Pin::named("s_axi_", "awvalid");
/// VALID.set(&mut inputs, 1);
/// ```
#[derive(Debug)]
pub struct Pin<P> {
    port: &'static Port,
    /// The lowest bit, and the number of bits.
    lsb: u32,
    width: u32,
    pins: PhantomData<fn() -> P>,
}

/// The name of a [`Pin`]: that of its port, and its bits if they are not all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinName {
    /// The name of the port.
    pub port: &'static str,
    /// The most and the least significant bit of a part.
    pub part: Option<(u32, u32)>,
}

impl From<&'static str> for PinName {
    fn from(port: &'static str) -> Self {
        Self { port, part: None }
    }
}

impl fmt::Display for PinName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => f.write_str(self.port),
            Some((msb, lsb)) if msb == lsb => write!(f, "{}[{lsb}]", self.port),
            Some((msb, lsb)) => write!(f, "{}[{msb}:{lsb}]", self.port),
        }
    }
}

impl<P> Clone for Pin<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Pin<P> {}

/// Whether `name` is `prefix` followed by `rest`.
const fn is_joined(name: &str, prefix: &str, rest: &str) -> bool {
    let (name, prefix, rest) = (name.as_bytes(), prefix.as_bytes(), rest.as_bytes());
    if name.len() != prefix.len() + rest.len() {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        let expected = match index < prefix.len() {
            true => prefix[index],
            false => rest[index - prefix.len()],
        };
        if name[index] != expected {
            return false;
        }
        index += 1;
    }
    true
}

impl<P: Pins> Pin<P> {
    const fn whole(port: &'static Port) -> Self {
        Self { port, lsb: 0, width: port.width, pins: PhantomData }
    }

    /// The port whose name is `prefix` followed by `name`, if there is one.
    pub const fn find(prefix: &str, name: &str) -> Option<Self> {
        let mut index = 0;
        while index < P::PORTS.len() {
            if is_joined(P::PORTS[index].name, prefix, name) {
                return Some(Self::whole(&P::PORTS[index]));
            }
            index += 1;
        }
        None
    }

    /// The port whose name is `prefix` followed by `name`.
    ///
    /// # Panics
    /// If there is none; in a constant, this does not compile.
    pub const fn named(prefix: &str, name: &str) -> Self {
        match Self::find(prefix, name) {
            Some(pin) => pin,
            None => panic!("the block has no port of this name and direction"),
        }
    }

    /// A port that the block does not have: it is 0, whatever it is set to.
    pub const fn absent() -> Self {
        const ABSENT: &Port = &Port { name: "", width: 0, offset: 0 };
        Self::whole(ABSENT)
    }

    /// The bits of the port from `lsb` on.
    ///
    /// # Panics
    /// If the port has fewer bits; in a constant, this does not compile.
    #[must_use]
    pub const fn bits(self, lsb: u32, width: u32) -> Self {
        assert!(width <= self.width && lsb <= self.width - width, "the port has fewer bits");
        Self { lsb: self.lsb + lsb, width, ..self }
    }

    /// One of the equal parts of the port, counted from the least significant one.
    ///
    /// # Panics
    /// If the port has no such part; in a constant, this does not compile.
    #[must_use]
    pub const fn lane(self, lane: u32, lanes: u32) -> Self {
        assert!(lanes > 0 && lane < lanes, "there is no such lane");
        assert!(self.width.is_multiple_of(lanes), "the port does not have equal lanes");
        let width = self.width / lanes;
        self.bits(lane * width, width)
    }

    /// The name, for messages.
    pub const fn name(&self) -> PinName {
        let part = if self.is_whole() { None } else { Some((self.lsb + self.width - 1, self.lsb)) };
        PinName { port: self.port.name, part }
    }

    #[inline]
    const fn is_whole(&self) -> bool {
        self.width == self.port.width
    }

    /// Whether the block has the port.
    pub const fn is_present(&self) -> bool {
        self.width > 0
    }

    /// The port.
    pub const fn port(&self) -> &'static Port {
        self.port
    }

    /// The width in bits.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// The low 64 bits of the port's value.
    #[inline]
    pub fn get(&self, pins: &P) -> u64 {
        if !self.is_whole() {
            let [low, high] = self.words(pins);
            return u64::from(high) << 32 | u64::from(low);
        }
        let bytes = &pins.as_bytes()[self.port.offset..];
        match self.port.size() {
            0 => 0,
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_ne_bytes([bytes[0], bytes[1]])),
            4 => u64::from(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            _ => {
                let mut low = [0; 8];
                low.copy_from_slice(&bytes[..8]);
                u64::from_ne_bytes(low)
            }
        }
    }

    /// Whether the port's value is not 0.
    #[inline]
    pub fn is_high(&self, pins: &P) -> bool {
        self.get(pins) != 0
    }

    /// The port's value in 32-bit words, the least significant first. Words beyond the port are 0.
    #[inline]
    pub fn words<const N: usize>(&self, pins: &P) -> [u32; N] {
        let bytes = self.port.bytes(pins.as_bytes());
        if !self.is_whole() {
            return std::array::from_fn(|word| part(bytes, self.lsb, self.width, 32 * word as u32));
        }
        std::array::from_fn(|word| {
            let byte = |at: usize| u32::from(bytes.get(4 * word + at).copied().unwrap_or(0));
            byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
        })
    }

    /// Sets the port to the low bits of `value`. Bits beyond 64 become 0.
    #[inline]
    pub fn set(&self, pins: &mut P, value: u64) {
        self.set_words(pins, &[value as u32, (value >> 32) as u32]);
    }

    /// Sets the port to the low bits of some words, the least significant first. Missing words are
    /// 0.
    #[inline]
    pub fn set_words(&self, pins: &mut P, words: &[u32]) {
        let end = self.lsb + self.width;
        let bytes = match self.is_whole() {
            true => 0..self.port.size(),
            false => self.lsb as usize / 8..end.div_ceil(8) as usize,
        };
        for index in bytes {
            let first = 8 * index as u32;
            // The bits of this byte that belong to the pin. Those of the storage beyond it are 0.
            let low = self.lsb.saturating_sub(first);
            let high = end.saturating_sub(first).min(8);
            let mask = (0xff_u16 << low) as u8 & (0xff_u16 >> (8 - high)) as u8;
            let byte = match low {
                0 => byte_at(words, first - self.lsb),
                _ => byte_at(words, 0) << low,
            };
            let kept = if self.is_whole() { 0 } else { self.port.bytes(pins.as_bytes())[index] };
            let start = std::ptr::from_mut(pins).cast::<u8>();
            // SAFETY: a `Pin` is made from a port of `P::PORTS` only, whose bytes are in the
            // struct; the struct takes any value of the port's bits.
            unsafe { start.add(self.port.offset + index).write(kept & !mask | byte & mask) };
        }
    }
}

/// The byte of some words from a bit on.
#[inline]
fn byte_at(words: &[u32], bit: u32) -> u8 {
    let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
    let at = bit as usize / 32;
    ((word(at) | word(at + 1) << 32) >> (bit % 32)) as u8
}

/// The 32 bits from `from` on of the `width` bits at `lsb`.
#[inline]
fn part(bytes: &[u8], lsb: u32, width: u32, from: u32) -> u32 {
    let count = width.saturating_sub(from).min(32);
    let (first, shift) = (((lsb + from) / 8) as usize, (lsb + from) % 8);
    let value = (0..5).fold(0, |value, at| {
        value | u64::from(bytes.get(first + at).copied().unwrap_or(0)) << (8 * at)
    });
    (value >> shift & ((1 << count) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::{byte_at, is_joined, part};

    #[test]
    fn names_are_compared_in_two_parts() {
        assert!(is_joined("s_axi_awvalid", "s_axi_", "awvalid"));
        assert!(is_joined("clk", "", "clk"));
        assert!(!is_joined("s_axi_awvalid", "s_axi_", "awvali"));
        assert!(!is_joined("m_axi_awvalid", "s_axi_", "awvalid"));
    }
    #[test]
    fn parts_of_bytes_and_words_may_cross_their_limits() {
        let bytes = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba];
        assert_eq!(part(&bytes, 4, 36, 0), 0x8765_4321);
        assert_eq!(part(&bytes, 4, 36, 32), 0x9);
        assert_eq!(part(&bytes, 3, 1, 0), 0);
        assert_eq!(part(&bytes, 44, 8, 0), 0xb, "bits beyond the port are 0");
        assert_eq!(byte_at(&[0x8765_4321, 0xfe], 28), 0xe8);
        assert_eq!(byte_at(&[1], 40), 0);
    }
}
