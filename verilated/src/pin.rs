//! Pins by name: places in a packed struct that are looked up once, at compile time if wanted.

use crate::{Pins, Port};
use std::marker::PhantomData;

/// A port of the packed struct `P`, for code that works with ports of any names.
///
/// ```ignore
/// const VALID: Pin<Inputs> = Pin::of("s_axi_", "awvalid");
/// VALID.set(&mut inputs, 1);
/// ```
#[derive(Debug)]
pub struct Pin<P> {
    port: &'static Port,
    pins: PhantomData<fn() -> P>,
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
    /// The port whose name is `prefix` followed by `name`, if there is one.
    pub const fn find(prefix: &str, name: &str) -> Option<Self> {
        let mut index = 0;
        while index < P::PORTS.len() {
            if is_joined(P::PORTS[index].name, prefix, name) {
                return Some(Self { port: &P::PORTS[index], pins: PhantomData });
            }
            index += 1;
        }
        None
    }

    /// The port whose name is `prefix` followed by `name`.
    ///
    /// # Panics
    /// If there is none; in a constant, this does not compile.
    pub const fn of(prefix: &str, name: &str) -> Self {
        match Self::find(prefix, name) {
            Some(pin) => pin,
            None => panic!("the block has no port of this name and direction"),
        }
    }

    /// A port that the block does not have: it is 0, whatever it is set to.
    pub const fn absent() -> Self {
        const ABSENT: &Port = &Port { name: "", width: 0, offset: 0 };
        Self { port: ABSENT, pins: PhantomData }
    }

    /// Whether the block has the port.
    pub const fn is_present(&self) -> bool {
        self.port.width > 0
    }

    /// The port.
    pub const fn port(&self) -> &'static Port {
        self.port
    }

    /// The width in bits.
    pub const fn width(&self) -> u32 {
        self.port.width
    }

    /// The low 64 bits of the port's value.
    #[inline]
    pub fn get(&self, pins: &P) -> u64 {
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
        let start = std::ptr::from_mut(pins).cast::<u8>();
        for index in 0..self.port.size() {
            let used = self.port.width.saturating_sub(8 * index as u32).min(8);
            let word = words.get(index / 4).copied().unwrap_or(0);
            let byte = (word >> (8 * (index % 4))) as u8 & (0xff_u16 >> (8 - used)) as u8;
            // SAFETY: a `Pin` is made from a port of `P::PORTS` only, whose bytes are in the
            // struct; the struct takes any value of the port's bits.
            unsafe { start.add(self.port.offset + index).write(byte) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_joined;

    #[test]
    fn names_are_compared_in_two_parts() {
        assert!(is_joined("s_axi_awvalid", "s_axi_", "awvalid"));
        assert!(is_joined("clk", "", "clk"));
        assert!(!is_joined("s_axi_awvalid", "s_axi_", "awvali"));
        assert!(!is_joined("m_axi_awvalid", "s_axi_", "awvalid"));
    }
}
