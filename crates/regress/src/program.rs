//! The program: its blocks, and what it was built from.

use crate::agreement::CompareBlock;
use crate::checks::CheckBlock;
use crate::engine::{Engine, MeasureBlock, RunBlock};
use crate::mutate::MutateBlock;
pub use cosim_base::program::*;
use cosim_harness::harness::Explain;
use std::sync::OnceLock;

/// A block, as commands use it: what each feature needs of its types. A feature that needs more adds a trait of its own
/// here; what a feature reads of a block as data is in [`BlockInfo`](cosim_harness::harness::BlockInfo).
pub trait AnyBlock: RunBlock + MeasureBlock + CompareBlock + MutateBlock + CheckBlock {}

impl<B: Explain> AnyBlock for Engine<B> {}

/// A program with blocks; created by `program!`.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its name, its version, and what it was built from.
    pub identity: Identity,
    /// Its blocks, in the order they are listed; the first is the one that is meant where none is named.
    pub blocks: &'static [&'static dyn AnyBlock],
}

static BLOCKS: OnceLock<&'static [&'static dyn AnyBlock]> = OnceLock::new();

/// Sets the program of this process; the first call counts.
pub fn set(program: Program) {
    identify(program.identity);
    let _ = BLOCKS.set(program.blocks);
}

/// The blocks of this process; none if it is no program.
pub fn blocks() -> &'static [&'static dyn AnyBlock] {
    BLOCKS.get().copied().unwrap_or_default()
}

/// The block of a name.
pub fn find(name: &str) -> Option<&'static dyn AnyBlock> {
    blocks().iter().copied().find(|block| block.info().name == name)
}
