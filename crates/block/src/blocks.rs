//! The blocks of a program.

use crate::agreement::CompareBlock;
use crate::engine::{BlockEngine, MeasureBlock, RunBlock};
use crate::mutate::MutateBlock;
use cosim_base::error::{Error, codes};
use cosim_base::program::Identity;
use cosim_harness::harness::Explain;

/// A block, as commands use it. Each feature that needs the types of a block has a trait here. Data
/// about a block is in [`BlockInfo`].
pub trait AnyBlock: RunBlock + MeasureBlock + CompareBlock + MutateBlock {}

impl<B: Explain> AnyBlock for BlockEngine<B> {}

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
    /// A program of the crate in `folder` with the blocks of `programs`; lives as long as the
    /// process. A block has the name that its own crate gives it.
    pub fn joined(folder: &'static str, programs: &[&'static Self]) -> &'static Self {
        let joined = |of: fn(&Identity) -> &'static str| -> &'static str {
            programs.iter().map(|one| of(&one.identity)).collect::<Vec<_>>().join("+").leak()
        };
        let sources = joined(|one| one.sources);
        let library = programs.first().map_or("", |first| first.identity.library);
        let verilator = programs.first().map_or("", |first| first.identity.verilator);
        let identity = Identity { sources, library, verilator };
        let blocks: Vec<_> = programs.iter().flat_map(|one| one.blocks).copied().collect();
        Box::leak(Box::new(Self { identity, folder, blocks: blocks.leak() }))
    }

    /// The name that two blocks have, if any: then the tool cannot tell them apart.
    pub fn repeated(&self) -> Option<&'static str> {
        let names: Vec<&'static str> = self.blocks.iter().map(|block| block.info().name).collect();
        let is_repeated =
            |(place, name): (usize, &&'static str)| names[..place].contains(name).then_some(*name);
        names.iter().enumerate().find_map(is_repeated)
    }

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
