//! Packed structs of ports and their tables.

use crate::bits::hex;
use std::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// One port in a packed struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The name in the RTL.
    pub name: &'static str,
    /// Width in bits.
    pub width: u32,
    /// Place in the struct, in bytes.
    pub offset: usize,
}

impl Port {
    /// Bytes the port takes in the struct.
    pub const fn size(&self) -> usize {
        match self.width {
            0..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            33..=64 => 8,
            width => width.div_ceil(32) as usize * 4,
        }
    }

    /// The port's value in the bytes of its struct, as a Verilog literal like `24'h1f`.
    pub fn show(&self, pins: &[u8]) -> String {
        let bytes = &pins[self.offset..self.offset + self.size()];
        format!("{}'h{}", self.width, hex(bytes, self.width))
    }
}

/// All inputs, or all outputs, of a model but its clock: a struct without holes, generated from the
/// ports Verilator reports.
pub trait Pins: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + 'static {
    /// The struct's ports, in the order of their offsets.
    const PORTS: &'static [Port];

    /// The first port whose value differs, if any.
    fn first_difference(&self, other: &Self) -> Option<&'static Port> {
        let (left, right) = (self.as_bytes(), other.as_bytes());
        Self::PORTS.iter().find(|port| {
            let bytes = port.offset..port.offset + port.size();
            left[bytes.clone()] != right[bytes]
        })
    }
}

/// How a model's port differs from the one the program was built with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortDifference {
    /// The model has no such port.
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
        /// Bits the program expects.
        expected: u32,
        /// Bits the model has.
        found: u32,
    },
    /// An input where an output is expected, or the other way round.
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
