//! The blocks of a program.

use crate::agreement::CompareBlock;
use crate::engine::{Engine, MeasureBlock, RunBlock};
use crate::mutate::MutateBlock;
use cosim_base::error::{Error, codes};
use cosim_base::program::Identity;
use cosim_harness::harness::Explain;

/// A block, as commands use it. Each feature that needs the types of a block has a trait here. Data
/// about a block is in [`BlockInfo`].
pub trait AnyBlock: RunBlock + MeasureBlock + CompareBlock + MutateBlock {}

impl<B: Explain> AnyBlock for Engine<B> {}

/// A program with blocks; created by `program!`.
#[derive(Clone, Copy)]
pub struct Program {
    /// Name, version, and build.
    pub identity: Identity,
    /// The folder of its crate.
    pub folder: &'static str,
    /// Its blocks, in the order of lists. The first is the default.
    pub blocks: &'static [&'static dyn AnyBlock],
}

impl Program {
    /// The block with this name.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is none: the tool names only blocks of the program.
    pub fn find(&self, name: &str) -> Result<&'static dyn AnyBlock, Error> {
        self.blocks.iter().copied().find(|block| block.info().name == name).ok_or_else(|| {
            let message = format!("`{name}` is not a block of this program");
            Error::Environment(codes::INTERNAL, message)
        })
    }
}
