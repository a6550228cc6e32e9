//! The blocks, and the one list of them.

pub mod dll;
pub mod thread2;

use crate::engine::{AnyBlock, Engine};

/// Every block, in the order they are listed. A new block is added here and in `rtl/blocks.json`.
pub const ALL: &[&dyn AnyBlock] = &[&Engine::<thread2::Thread2>::NEW, &Engine::<dll::Dll>::NEW];

/// The block of a name.
pub fn find(name: &str) -> Option<&'static dyn AnyBlock> {
    ALL.iter().copied().find(|block| block.name() == name)
}
