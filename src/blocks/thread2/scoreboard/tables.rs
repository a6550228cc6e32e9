//! Checks of the three external tables: their addresses, and writes to the two tables of the cache
//! (spec, sections 2 and 5).

use super::{ADDRESS, CACHE, qp};
use crate::blocks::thread2::rtl::{Inputs, Outputs};
use crate::blocks::thread2::traffic::Packet;
use cosim_core::harness::Violation;

/// Number of slots in a cache cell.
const CELL: i64 = 256;

/// Checks the addresses. `packet` is the current one, unless the block is idle.
#[inline]
pub fn addresses(packet: Option<&Packet>, outputs: &Outputs) -> Result<(), Violation> {
    let entry = packet.map_or(0, |packet| qp(packet) as u64);
    let seen = [
        outputs.rq_offset_addr.get(),
        outputs.cache_offset_addr.get(),
        outputs.cache_owned_addr.get(),
    ];
    let expected = [entry, entry, entry & 0x7f];
    if seen == expected {
        return Ok(());
    }
    let what = format_args!(
        "RQ offset, cache offset and owner are looked up at {seen:?}, expected {expected:?}"
    );
    Err(Violation::new(ADDRESS, what))
}

/// Checks that no table is written outside of an RQ step.
#[inline]
pub fn untouched(outputs: &Outputs) -> Result<(), Violation> {
    if outputs.cache_offset_wen.is_high() || outputs.cache_owned_wen.is_high() {
        return Err(Violation::new(CACHE, "a table of the cache is written without an RQ step"));
    }
    Ok(())
}

/// Checks the writes to the cache's tables in the RQ step of a packet whose WQE was at `rq_offset`.
pub fn written(
    packet: &Packet,
    rq_offset: u64,
    inputs: &Inputs,
    outputs: &Outputs,
) -> Result<(), Violation> {
    let next = packet.wqe.as_ref().map(|wqe| wqe.next).unwrap_or_default();
    let stride = next.next_wqe_addr.get().cast_signed() - rq_offset.cast_signed();
    let slots = next.next_wqe_size.get().cast_signed();
    let in_cell = inputs.cache_offset_dout.get().cast_signed() + stride;
    let stays = slots > 0 && stride >= 0 && in_cell + slots <= CELL;
    let offset = if stays { in_cell.cast_unsigned() & 0xff } else { 0 };
    let owner = inputs.cache_owned_dout.get();
    let frees = !stays && owner == qp(packet) as u64;
    let seen = [
        outputs.cache_offset_wen.get(),
        outputs.cache_offset_din.get(),
        outputs.cache_owned_wen.get(),
        outputs.cache_owned_din.get(),
    ];
    let expected = [1, offset, u64::from(frees), 0];
    if seen == expected {
        return Ok(());
    }
    let what = format_args!(
        "cache offset (wen, din) and owner (wen, din) are {seen:?}, expected {expected:?}: the next WQE has \
         {slots} slots, {stride} slots after this one at {} of the cell, which {owner:#x} owns",
        inputs.cache_offset_dout.get()
    );
    Err(Violation::new(CACHE, what))
}
