//! Legal offsets of a receive queue and their steps (spec, section 5), for the scoreboard only.

use crate::blocks::thread2::rules::layout::{Context, SLOT_BYTES};

/// A receive queue; sizes are in bytes.
#[derive(Debug)]
pub struct Ring {
    /// Size of an entry; 0 if the context has an illegal size.
    entry: u64,
    length: u64,
}

impl Ring {
    pub fn from_context(context: &Context) -> Self {
        let log = context.rq_entry_sz_log.get();
        let entry = if matches!(log, 6..=10) { 1 << log } else { 0 };
        Self { entry, length: context.rq_length.get() }
    }

    pub fn is_aligned(&self, offset: u64) -> bool {
        self.entry == 0 || (offset * SLOT_BYTES).is_multiple_of(self.entry)
    }

    pub fn is_inside(&self, offset: u64) -> bool {
        offset == 0 || offset * SLOT_BYTES + self.entry <= self.length
    }

    /// The offset after a WQE of `slots` at `offset`: rounded up to whole entries, or 0 if no entry
    /// fits.
    pub fn step(&self, offset: u64, slots: u64) -> u64 {
        let entries = (slots * SLOT_BYTES).div_ceil(self.entry.max(1));
        let next = offset * SLOT_BYTES + entries * self.entry;
        if next + self.entry > self.length { 0 } else { (next / SLOT_BYTES) & 0xff_ffff }
    }
}
