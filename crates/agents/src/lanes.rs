//! Numbers as bytes on the lanes of a data bus of at most 64 bits.

use crate::target::{Access, Response, Target};

/// Reads the `bytes` lanes of a bus at an address.
#[inline]
pub(crate) fn read(target: &mut impl Target, address: u64, bytes: u32) -> (u64, Response) {
    let mut data = [0; 8];
    let response = target.access(Access::Read { address, data: &mut data[..bytes as usize] });
    (u64::from_le_bytes(data), response)
}

/// Writes the lanes of `strobe` of a bus of `bytes` lanes at an address.
#[inline]
pub(crate) fn write(
    target: &mut impl Target,
    address: u64,
    bytes: u32,
    data: u64,
    strobe: u64,
) -> Response {
    let data = data.to_le_bytes();
    let strobe = u128::from(strobe);
    target.access(Access::Write { address, data: &data[..bytes as usize], strobe })
}
