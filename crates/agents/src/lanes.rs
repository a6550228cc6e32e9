//! Numbers as bytes on the lanes of a data bus of at most 64 bits.

use crate::target::{Access, Response, Target};

/// Performs an access to the `bytes` lanes of a bus at an address. A write has its data, and the
/// lanes that are written; it returns 0. An access that `fails` does not reach the target.
#[inline]
pub(crate) fn access(
    target: &mut impl Target,
    fails: bool,
    address: u64,
    bytes: u32,
    write: Option<(u64, u64)>,
) -> (u64, Response) {
    let mut data = write.map_or(0, |(data, _)| data).to_le_bytes();
    let lanes = &mut data[..bytes as usize];
    match write {
        _ if fails => (0, Response::Error),
        Some((_, strobe)) => {
            let strobe = u128::from(strobe);
            (0, target.access(Access::Write { address, data: lanes, strobe }))
        }
        None => {
            let response = target.access(Access::Read { address, data: lanes });
            (u64::from_le_bytes(data), response)
        }
    }
}
