//! Checks that hold for every block, for the tests of a crate with blocks.
//!
//! Each is a line of a test in the crate's `tests/`:
//!
//! ```ignore
//! use arbiter::Arbiter;
//! use cosim_core::checks::{Bugs, Checks, Result};
//!
//! fn arbiter() -> Checks {
//!     Checks::of::<Arbiter>(env!("CARGO_BIN_EXE_arbiter")).models(env!("CARGO_TARGET_TMPDIR"))
//! }
//!
//! #[test]
//! fn every_rule_is_hit() -> Result {
//!     arbiter().rules_are_hit()
//! }
//!
//! #[test]
//! fn every_bug_is_found() -> Result {
//!     arbiter().bugs_are_found("bad_rtl", &Bugs { most_packets: |_| Some(3), ..Bugs::of(12) })
//! }
//! ```
//!
//! What asks nothing but the block's own parts runs in the test's process; the corpus and the bugs go through
//! the program, as a user's do.

mod bugs;
mod corpus;
mod parts;
mod reference;
mod scoreboard;
mod weave;
mod woven;

use crate::engine::Engine;
use crate::program::AnyBlock;
pub use bugs::Bugs;
use cosim_base::error::Error;
use cosim_harness::harness::Explain;
pub use parts::bins_hit;
pub use scoreboard::{shown, shown_of};
use serde_json::Value;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a check found to be wrong, a line each.
#[derive(Clone, PartialEq, Eq)]
pub struct CheckFailures(Vec<String>);

/// The end of a check, for a test to return.
pub type Result<T = ()> = std::result::Result<T, CheckFailures>;

impl CheckFailures {
    /// One thing that is wrong.
    fn one(line: impl Into<String>) -> Self {
        Self(vec![line.into()])
    }

    /// What is wrong; nothing is if there are no lines.
    fn all(lines: Vec<String>) -> Result {
        if lines.is_empty() { Ok(()) } else { Err(Self(lines)) }
    }
}

impl fmt::Display for CheckFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// As it is displayed: this is what a test shows that returns it.
impl fmt::Debug for CheckFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CheckFailures {}

impl From<Error> for CheckFailures {
    fn from(error: Error) -> Self {
        Self::one(error.to_string())
    }
}

/// The checks of one block.
#[derive(Clone)]
pub struct Checks {
    block: &'static dyn AnyBlock,
    program: PathBuf,
    models: Option<PathBuf>,
}

impl Checks {
    /// The checks of a block. The program is the crate's: `env!("CARGO_BIN_EXE_name")`.
    pub fn of<B: Explain>(program: impl Into<PathBuf>) -> Self {
        Self::of_any(&Engine::<B>::NEW, program)
    }

    /// As [`Checks::of`], for one of a [`Program`](crate::Program)'s blocks.
    pub fn of_any(block: &'static dyn AnyBlock, program: impl Into<PathBuf>) -> Self {
        Self { block, program: program.into(), models: None }
    }

    /// Where the program keeps the models that it compiles, unless that is the user's cache.
    #[must_use]
    pub fn models(self, folder: impl Into<PathBuf>) -> Self {
        Self { models: Some(folder.into()), ..self }
    }

    /// Every built-in scenario can be written to a file and read again.
    ///
    /// # Errors
    /// The scenarios that cannot.
    pub fn scenarios_can_be_read_again(&self) -> Result {
        (self.block.parts().read_again)()
    }

    /// Whatever numbers a scenario's file has, if it can be read what is drawn from it is legal.
    ///
    /// # Errors
    /// Scenarios with what is wrong with their stimulus; also if hardly any can be read.
    pub fn weights_draw_legal_stimulus(&self) -> Result {
        (self.block.parts().draws)()
    }

    /// The environment writes every input in every cycle; see [`undriven`](cosim_harness::harness::undriven).
    ///
    /// # Errors
    /// The pins that it leaves, with the scenario and the cycle.
    pub fn environment_drives_every_pin(&self) -> Result {
        (self.block.parts().pins)()
    }

    /// The environment goes on, whatever a wrong block drives: when a failure is judged it follows the DUT alone.
    ///
    /// # Errors
    /// The profiles and scenarios in which it panics, with the cycle and what was driven.
    pub fn environment_bears_any_outputs(&self) -> Result {
        (self.block.parts().wrong_outputs)()
    }

    /// In the cases of a default run every rule is hit, in each profile, but for those that the golden model calls
    /// unreachable; and those no legal stimulus hits. The same goes for the bins of
    /// [`Coverage`](cosim_harness::harness::Coverage), and the reasons why some cannot be hit.
    ///
    /// # Errors
    /// Rules and bins of which that is not so, and cases in which the golden model does not get through.
    pub fn rules_are_hit(&self) -> Result {
        (self.block.parts().rules)()
    }

    /// Every check of the scoreboard fires on some golden model with a fault, and none that is not in
    /// [`Scoreboard::CHECKS`](cosim_harness::harness::Scoreboard::CHECKS). The faults are those of pins: outputs and inputs that
    /// are stuck, flipped or late, for a while or for ever, and cases that end too soon.
    ///
    /// A check that asks for a fault of another kind is in `elsewhere`, and has a test of its own; [`shown`] helps it.
    ///
    /// # Errors
    /// Names of checks that do not fire, or are not declared.
    pub fn scoreboard_fires(&self, elsewhere: &[&str]) -> Result {
        (self.block.parts().scoreboard)(elsewhere)
    }

    /// Every vector of a folder is of this block, says why it is there, and does what it has recorded, or matches if it
    /// has nothing recorded. In no profile it tells the models apart.
    ///
    /// # Errors
    /// The vectors of which that is not so; a folder without any.
    pub fn corpus(&self, folder: impl AsRef<Path>) -> Result {
        corpus::check(self, folder.as_ref())
    }

    /// Every rule that can be hit in some profile has a vector that hits it and is named after it: `t18-data-unit.json`
    /// shows `T18`.
    ///
    /// # Errors
    /// Rules without a vector, and vectors that miss their rule.
    pub fn rules_have_vectors(&self, folder: impl AsRef<Path>) -> Result {
        corpus::rules(self, folder.as_ref())
    }

    /// Every patch of a folder puts a bug into the RTL that default runs of three seeds find. Of the bugs in
    /// [`Bugs::part`], the vector shrinks to a few packets, fails again in the same way and passes with the good RTL,
    /// and the RTL is blamed. All other bugs share one model.
    ///
    /// # Errors
    /// The bugs of which that is not so; bugs that cannot share a model and are not in [`Bugs::alone`]; another number
    /// of patches than is expected.
    pub fn bugs_are_found(&self, folder: impl AsRef<Path>, bugs: &Bugs<'_>) -> Result {
        bugs::check(self, folder.as_ref(), bugs)
    }

    /// What the program does with `arguments`.
    fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        if let Some(models) = &self.models {
            command.env("COSIM_CACHE", models);
        }
        // Each model is used for some seconds at most: what optimising it takes is longer than what it saves.
        if env::var_os("CXXFLAGS").is_none() {
            command.env("CXXFLAGS", "-O1");
        }
        command
            .output()
            .map_err(|error| CheckFailures::one(format!("{}: {error}", self.program.display())))
    }
}

/// A block whose parts can be checked on their own.
pub trait CheckBlock {
    /// The checks.
    fn parts(&self) -> BlockChecks;
}

impl<B: Explain> CheckBlock for Engine<B> {
    fn parts(&self) -> BlockChecks {
        BlockChecks::of::<B>()
    }
}

/// What of [`Checks`] asks nothing but a block's own parts.
#[derive(Clone, Copy)]
pub struct BlockChecks {
    read_again: fn() -> Result,
    draws: fn() -> Result,
    pins: fn() -> Result,
    wrong_outputs: fn() -> Result,
    rules: fn() -> Result,
    scoreboard: fn(&[&str]) -> Result,
}

impl BlockChecks {
    /// Those of a block.
    pub const fn of<B: Explain>() -> Self {
        Self {
            read_again: parts::scenarios_can_be_read_again::<B>,
            draws: parts::weights_draw_legal_stimulus::<B>,
            pins: parts::environment_drives_every_pin::<B>,
            wrong_outputs: parts::environment_bears_any_outputs::<B>,
            rules: parts::rules_are_hit::<B>,
            scoreboard: scoreboard::every_check_fires::<B>,
        }
    }
}

/// Standard output and standard error.
fn said(output: &Output) -> String {
    let streams = [&output.stdout, &output.stderr];
    streams.map(|stream| String::from_utf8_lossy(stream).into_owned()).join("\n")
}

/// The files of a folder with an ending, sorted; at least one.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let unreadable = |error| CheckFailures::one(format!("{}: {error}", folder.display()));
    let entries = folder.read_dir().map_err(unreadable)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<PathBuf>>>().map_err(unreadable)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    if paths.is_empty() {
        return Err(CheckFailures::one(format!("{}: no .{ending} in it", folder.display())));
    }
    Ok(paths)
}

/// A JSON file.
fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CheckFailures::one(format!("{}: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| CheckFailures::one(format!("{}: {error}", path.display())))
}
