//! What a subordinate agent answers with: a memory, or a closure.

use std::collections::BTreeMap;

/// An access to the target of a subordinate.
#[derive(Debug, PartialEq, Eq)]
pub enum Access<'a> {
    /// A write. Byte `n` of `data` belongs to `address + n`, and is written if bit `n` of `strobe`
    /// is 1.
    Write {
        /// The byte address of the first byte.
        address: u64,
        /// The bytes of all lanes of the data bus.
        data: &'a [u8],
        /// The lanes that are written.
        strobe: u128,
    },
    /// A read. The target fills `data`: byte `n` belongs to `address + n`.
    Read {
        /// The byte address of the first byte.
        address: u64,
        /// The bytes of all lanes of the data bus.
        data: &'a mut [u8],
    },
}

/// The response of a target. Protocols without one of them use the nearest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Response {
    /// The access succeeded.
    #[default]
    Okay,
    /// The access failed: AXI `SLVERR`, APB `pslverr`, Wishbone `err`.
    Error,
    /// No device has the address: AXI `DECERR`, otherwise as [`Response::Error`].
    DecodeError,
    /// The manager should try again: Wishbone `rty`, otherwise as [`Response::Error`].
    Retry,
}

/// A device behind a subordinate agent. Every `FnMut(Access<'_>) -> Response` is one.
pub trait Target {
    /// Performs an access.
    fn access(&mut self, access: Access<'_>) -> Response;
}

impl<F: FnMut(Access<'_>) -> Response> Target for F {
    fn access(&mut self, access: Access<'_>) -> Response {
        self(access)
    }
}

/// Bytes of a page.
const PAGE: u64 = 256;

/// A memory of bytes that are 0 until they are written. It grows by pages of 256 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl Memory {
    /// The byte at an address.
    pub fn read(&self, address: u64) -> u8 {
        self.pages.get(&(address / PAGE)).map_or(0, |page| page[(address % PAGE) as usize])
    }

    /// Writes the byte at an address.
    pub fn write(&mut self, address: u64, byte: u8) {
        let page = self.pages.entry(address / PAGE);
        page.or_insert_with(|| Box::new([0; PAGE as usize]))[(address % PAGE) as usize] = byte;
    }
}

impl Target for Memory {
    fn access(&mut self, access: Access<'_>) -> Response {
        match access {
            Access::Write { address, data, strobe } => {
                for (lane, byte) in data.iter().enumerate().filter(|(n, _)| strobe >> n & 1 == 1) {
                    self.write(address.wrapping_add(lane as u64), *byte);
                }
            }
            Access::Read { address, data } => {
                for (lane, byte) in data.iter_mut().enumerate() {
                    *byte = self.read(address.wrapping_add(lane as u64));
                }
            }
        }
        Response::Okay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_keeps_the_bytes_of_the_strobe() {
        let mut memory = Memory::default();
        let data = [1, 2, 3, 4];
        memory.access(Access::Write { address: 0xfe, data: &data, strobe: 0b1011 });
        let mut read = [9; 6];
        memory.access(Access::Read { address: 0xfd, data: &mut read });
        assert_eq!(read, [0, 1, 2, 0, 4, 0]);
        let mut closure = |_: Access<'_>| Response::Retry;
        assert_eq!(closure.access(Access::Read { address: 0, data: &mut [] }), Response::Retry);
    }
}
