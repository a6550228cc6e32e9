//! The program: its blocks, and what it was built from.

use crate::agreement::CompareBlock;
use crate::checks::CheckBlock;
use crate::engine::{Engine, MeasureBlock, RunBlock};
use crate::harness::Explain;
use crate::mutate::MutateBlock;
use crate::text;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use verilated_build::Hash;

/// A block, as commands use it: what each feature needs of its types. A feature that needs more adds a trait of its own
/// here; what a feature reads of a block as data is in [`BlockInfo`](crate::harness::BlockInfo).
pub trait AnyBlock: RunBlock + MeasureBlock + CompareBlock + MutateBlock + CheckBlock {}

impl<B: Explain> AnyBlock for Engine<B> {}

/// A program with blocks; made by [`program!`](crate::program!).
#[derive(Clone, Copy)]
pub struct Program {
    /// The name of its crate.
    pub name: &'static str,
    /// The version of its crate.
    pub version: &'static str,
    /// A hash of its crate's sources and RTL.
    pub identity: &'static str,
    /// The Verilator its models were made with.
    pub verilator: &'static str,
    /// Its blocks, in the order they are listed; the first is the one that is meant where none is named.
    pub blocks: &'static [&'static dyn AnyBlock],
}

/// A [`Program`] of the crate that says this, with these types of blocks. Its build script calls
/// `cosim_build::build`.
#[macro_export]
macro_rules! program {
    ($($block:ty),+ $(,)?) => {
        $crate::Program {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            identity: env!("COSIM_IDENTITY"),
            verilator: env!("COSIM_VERILATOR"),
            blocks: &[$(&$crate::engine::Engine::<$block>::NEW),+],
        }
    };
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Tells people a line on standard error. Nobody may be there to read it, which is no reason to end: `eprintln!` would
/// panic.
pub(crate) fn say(line: fmt::Arguments<'_>) {
    show(&format!("cosim: {line}\n"));
}

/// Writes lines to standard error, if anybody reads it.
pub(crate) fn show(text: &str) {
    let _ = write!(io::stderr(), "{}", text::lines(text));
}

/// Says which program this process is; the first time counts.
pub(crate) fn set(program: Program) {
    let _ = PROGRAM.set(program);
}

/// The blocks of this process; none if it is no program.
pub fn blocks() -> &'static [&'static dyn AnyBlock] {
    PROGRAM.get().map_or(&[], |program| program.blocks)
}

/// The block of a name.
pub fn find(name: &str) -> Option<&'static dyn AnyBlock> {
    blocks().iter().copied().find(|block| block.info().name == name)
}

/// The name of the program.
pub fn name() -> &'static str {
    PROGRAM.get().map_or(env!("CARGO_PKG_NAME"), |program| program.name)
}

/// The version of the program.
pub fn version() -> &'static str {
    PROGRAM.get().map_or(env!("CARGO_PKG_VERSION"), |program| program.version)
}

/// The Verilator that the program's models were made with.
pub fn verilator() -> &'static str {
    PROGRAM.get().map_or("unknown", |program| program.verilator)
}

/// A hash of everything that decides what the program does: its own sources, RTL and dependencies, this
/// library's, and Verilator.
pub fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let mut hash = Hash::default();
        hash.add(env!("COSIM_CORE_IDENTITY"));
        if let Some(program) = PROGRAM.get() {
            hash.add(program.identity);
            hash.add(program.verilator);
        }
        hash.short()
    })
}
