//! The blocks of the program.

use crate::agreement::CompareBlock;
use crate::checks::CheckBlock;
use crate::engine::{Engine, MeasureBlock, RunBlock};
use crate::mutate::MutateBlock;
use cosim_base::program::{Identity, identify};
use cosim_harness::harness::{BlockInfo, Explain};
use std::sync::OnceLock;

/// A block, as commands use it. Each feature that needs the types of a block has a trait here. Data
/// about a block is in [`BlockInfo`](cosim_harness::harness::BlockInfo).
pub trait AnyBlock: RunBlock + MeasureBlock + CompareBlock + MutateBlock + CheckBlock {}

impl<B: Explain> AnyBlock for Engine<B> {}

/// A program with blocks; created by `program!`.
#[derive(Clone, Copy)]
pub struct Program {
    /// Name, version, and build.
    pub identity: Identity,
    /// Its blocks, in the order of lists. The first is the default.
    pub blocks: &'static [&'static dyn AnyBlock],
}

static BLOCKS: OnceLock<&'static [&'static dyn AnyBlock]> = OnceLock::new();

/// Sets the program of this process. Only the first call has an effect.
pub fn set(program: Program) {
    identify(program.identity);
    let _ = BLOCKS.set(program.blocks);
}

/// The blocks of this process, or none if no program is set.
pub fn all() -> &'static [&'static dyn AnyBlock] {
    BLOCKS.get().copied().unwrap_or_default()
}

/// The blocks of this process as data.
pub fn infos() -> Vec<&'static BlockInfo> {
    all().iter().map(|block| block.info()).collect()
}

/// The block with this name.
pub fn find(name: &str) -> Option<&'static dyn AnyBlock> {
    all().iter().copied().find(|block| block.info().name == name)
}
