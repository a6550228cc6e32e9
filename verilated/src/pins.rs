//! Packed structs of ports, and their port tables.

use crate::Field;
use crate::bits::hex;
use std::fmt;

/// One port in a packed struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The name in the RTL.
    pub name: &'static str,
    /// Width in bits.
    pub width: u32,
    /// Offset in the struct, in bytes.
    pub offset: usize,
}

impl Port {
    /// Size in the struct, in bytes.
    pub const fn size(&self) -> usize {
        match self.width {
            0 => 0,
            1..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            33..=64 => 8,
            width => width.div_ceil(32) as usize * 4,
        }
    }

    /// The port's bytes within those of its struct.
    pub fn bytes<'a>(&self, pins: &'a [u8]) -> &'a [u8] {
        &pins[self.offset..self.offset + self.size()]
    }

    /// A field of the port's value within the bytes of its struct, zero-extended.
    pub fn field(&self, pins: &[u8], field: Field) -> u64 {
        let bytes = self.bytes(pins);
        let bit = |index: u32| u64::from(bytes[index as usize / 8] >> (index % 8) & 1);
        field.range().rev().fold(0, |value, index| value << 1 | bit(index))
    }

    /// The port's value within the bytes of its struct, as a Verilog literal like `24'h1f`.
    pub fn show(&self, pins: &[u8]) -> String {
        format!("{}'h{}", self.width, hex(self.bytes(pins), self.width))
    }
}

/// All inputs without the clock, or all outputs, of a model: a struct without gaps, generated from
/// the ports that Verilator reports.
///
/// # Safety
/// The struct is `repr(C)`. Its fields are those of [`Pins::PORTS`], in that order and at those
/// offsets, without gaps. Each is a [`Bits`](crate::Bits) of the port's width with its integer or
/// words. At most an array of bytes follows them. Its [`Default`] is 0 in every bit.
pub unsafe trait Pins: Default + Copy + Send + Sync + 'static {
    /// The struct's ports, in the order of their offsets.
    const PORTS: &'static [Port];

    /// Zero in every bit.
    #[inline]
    fn new_zeroed() -> Self {
        Self::default()
    }

    /// The bytes of the struct.
    #[inline]
    fn as_bytes(&self) -> &[u8] {
        Self::all_bytes(std::slice::from_ref(self))
    }

    /// The bytes of several structs, one behind the other.
    #[inline]
    fn all_bytes(pins: &[Self]) -> &[u8] {
        // SAFETY: the implementor guarantees that integers fill the struct, so each byte is
        // initialised, and none changes as long as the slice is borrowed.
        unsafe { std::slice::from_raw_parts(pins.as_ptr().cast(), size_of_val(pins)) }
    }

    /// Copies the port values from `bytes`. Bits outside of ports are cleared.
    ///
    /// # Panics
    /// If `bytes` is shorter than the struct.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut pins = Self::default();
        let start = std::ptr::from_mut(&mut pins).cast::<u8>();
        for port in Self::PORTS {
            for index in 0..port.width.div_ceil(8) {
                let used = (port.width - 8 * index).min(8);
                let place = port.offset + index as usize;
                // SAFETY: the implementor guarantees that the port's bytes are in the struct, which
                // permits any value of the port's bits.
                unsafe { start.add(place).write(bytes[place] & (0xff >> (8 - used))) };
            }
        }
        pins
    }

    /// The bits of `other` where `mask` is 1, and those of `self` elsewhere.
    #[inline]
    #[must_use]
    fn select(&self, other: &Self, mask: &Self) -> Self {
        let mut selected = *self;
        let start = std::ptr::from_mut(&mut selected).cast::<u8>();
        let (own, other, mask) = (self.as_bytes(), other.as_bytes(), mask.as_bytes());
        for index in 0..size_of::<Self>() {
            let byte = own[index] & !mask[index] | other[index] & mask[index];
            // SAFETY: the byte is in the struct; both sides hold only bits of ports there, and the
            // implementor vouches that the struct takes any value of these bits.
            unsafe { start.add(index).write(byte) };
        }
        selected
    }

    /// The first port whose value differs, if any.
    fn first_difference(&self, other: &Self) -> Option<&'static Port> {
        let (left, right) = (self.as_bytes(), other.as_bytes());
        Self::PORTS.iter().find(|port| port.bytes(left) != port.bytes(right))
    }
}

/// A difference between a model's port and that of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortDifference {
    /// The model lacks this port.
    Missing {
        /// The port.
        port: String,
    },
    /// Only the model has this port.
    Unknown {
        /// The port.
        port: String,
    },
    /// The widths differ.
    Width {
        /// The port.
        port: String,
        /// Bits in the program.
        expected: u32,
        /// Bits in the model.
        found: u32,
    },
    /// The direction differs.
    Direction {
        /// The port.
        port: String,
    },
}

impl fmt::Display for PortDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { port } => write!(f, "{port}: missing"),
            Self::Unknown { port } => write!(f, "{port}: not expected"),
            Self::Width { port, expected, found } => {
                write!(f, "{port}: {found} bits, expected {expected}")
            }
            Self::Direction { port } => write!(f, "{port}: wrong direction"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_shown_whole_and_by_field() {
        let port = Port { name: "p", width: 70, offset: 2 };
        let pins = [0xff, 0xff, 0x21, 0x43, 0, 0, 0, 0, 0, 0, 0x3f, 0, 0, 0];
        assert_eq!(port.show(&pins), "70'h3f0000000000004321");
        assert_eq!(port.field(&pins, Field::new(11, 4)), 0x32);
        assert_eq!(port.field(&pins, Field::new(69, 62)), 0xfc);
    }
}
