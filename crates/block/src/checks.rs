//! Generic checks of a block, for the tests of a crate with blocks.
//!
//! Each check is one line of a test in the crate's `tests/`:
//!
//! ```ignore
//! use arbiter::Arbiter;
//! use cosim_core::checks::{Bugs, Checks, Result};
//!
//! fn arbiter() -> Checks {
//!     Checks::for_block::<Arbiter>(env!("CARGO_BIN_EXE_arbiter"))
//!         .models(env!("CARGO_TARGET_TMPDIR"))
//! }
//!
//! #[test]
//! fn every_rule_is_hit() -> Result {
//!     arbiter().rules_are_hit()
//! }
//!
//! #[test]
//! fn every_bug_is_found() -> Result {
//!     let bugs = Bugs { most_packets: |_| Some(3), ..Bugs::with_count(12) };
//!     arbiter().bugs_are_found("bad_rtl", &bugs)
//! }
//! ```
//!
//! Checks of the block's own parts run in the test's process. The corpus and the bugs go through
//! the program, as for a user.

mod bugs;
mod corpus;
mod parts;
mod reference;
mod scoreboard;

pub use bugs::Bugs;
use cosim_base::error::Error;
use cosim_harness::harness::{BlockInfo, Explain};
pub use parts::bins_hit;
pub use scoreboard::observe_golden;
use serde_json::Value;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The problems that a check found, one per line.
#[derive(Clone, PartialEq, Eq)]
pub struct CheckFailures(Vec<String>);

/// The result of a check, to be returned by a test.
pub type Result<T = ()> = std::result::Result<T, CheckFailures>;

impl CheckFailures {
    /// A single problem.
    pub fn from_line(line: impl Into<String>) -> Self {
        Self(vec![line.into()])
    }

    /// All problems, or `Ok` if there are none.
    ///
    /// # Errors
    /// The problems.
    pub fn from_lines(lines: Vec<String>) -> Result {
        if lines.is_empty() { Ok(()) } else { Err(Self(lines)) }
    }
}

impl fmt::Display for CheckFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// Same as `Display`, because a failing test prints its error with `Debug`.
impl fmt::Debug for CheckFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CheckFailures {}

impl From<Error> for CheckFailures {
    fn from(error: Error) -> Self {
        Self::from_line(error.to_string())
    }
}

/// The checks of one block.
#[derive(Clone)]
pub struct Checks {
    info: &'static BlockInfo,
    read_again: fn() -> Result,
    draws: fn() -> Result,
    pins: fn() -> Result,
    wrong_outputs: fn() -> Result,
    rules: fn() -> Result,
    scoreboard: fn(&[&str]) -> Result,
    program: PathBuf,
    models: Option<PathBuf>,
}

impl Checks {
    /// The checks of a block. `program` is the crate's: `env!("CARGO_BIN_EXE_name")`.
    pub fn for_block<B: Explain>(program: impl Into<PathBuf>) -> Self {
        Self {
            info: BlockInfo::from_block::<B>(),
            read_again: parts::scenarios_can_be_read_again::<B>,
            draws: parts::weights_draw_legal_stimulus::<B>,
            pins: parts::environment_drives_every_pin::<B>,
            wrong_outputs: parts::environment_bears_any_outputs::<B>,
            rules: parts::rules_are_hit::<B>,
            scoreboard: scoreboard::every_check_fires::<B>,
            program: program.into(),
            models: None,
        }
    }

    /// The block as data.
    pub fn info(&self) -> &'static BlockInfo {
        self.info
    }

    /// Sets the program's cache folder for models. Default: the user's cache.
    #[must_use]
    pub fn models(self, folder: impl Into<PathBuf>) -> Self {
        Self { models: Some(folder.into()), ..self }
    }

    /// Every built-in scenario can be written to a file and read again.
    ///
    /// # Errors
    /// The scenarios that cannot be read.
    pub fn scenarios_can_be_read_again(&self) -> Result {
        (self.read_again)()
    }

    /// Every scenario file that is accepted generates legal stimulus, whatever its numbers.
    ///
    /// # Errors
    /// Scenarios with the error in their stimulus, or that too few changed scenarios can be read.
    pub fn weights_draw_legal_stimulus(&self) -> Result {
        (self.draws)()
    }

    /// The environment drives every input in every cycle; see
    /// [`undriven`](cosim_harness::harness::undriven).
    ///
    /// # Errors
    /// The undriven pins, with the scenario and the cycle.
    pub fn environment_drives_every_pin(&self) -> Result {
        (self.pins)()
    }

    /// The environment never panics, whatever a wrong block drives. Blame runs it with the DUT
    /// alone.
    ///
    /// # Errors
    /// The profiles and scenarios in which it panics, with the cycle and the kind of outputs.
    pub fn environment_bears_any_outputs(&self) -> Result {
        (self.wrong_outputs)()
    }

    /// In each profile, the cases of a default run hit every rule, except those that the golden
    /// model calls unreachable. Those are never hit. The same holds for the bins of
    /// [`Coverage`](cosim_harness::harness::Coverage) and their reasons.
    ///
    /// # Errors
    /// Rules and bins that violate this, and cases in which the golden model fails.
    pub fn rules_are_hit(&self) -> Result {
        (self.rules)()
    }

    /// Every check of the scoreboard fires on some faulty reference, and every check that
    /// fires is in [`Scoreboard::checks`](cosim_harness::harness::Scoreboard::checks). The faults
    /// are at pins: outputs and inputs that are stuck, flipped or late, temporarily or permanently,
    /// and cases that end too early.
    ///
    /// A check that needs another kind of fault is in `elsewhere` and has its own test, for which
    /// [`shown`] helps.
    ///
    /// # Errors
    /// Names of checks that do not fire, or are not declared.
    pub fn scoreboard_fires(&self, elsewhere: &[&str]) -> Result {
        (self.scoreboard)(elsewhere)
    }

    /// Every vector of a folder belongs to this block, states its purpose, and does what it
    /// records, or matches if it records nothing. Golden model and RTL agree on it in every
    /// profile.
    ///
    /// # Errors
    /// The vectors that violate this, or that the folder is empty.
    pub fn corpus(&self, folder: impl AsRef<Path>) -> Result {
        corpus::check(self, folder.as_ref())
    }

    /// Every rule that is reachable in some profile has a vector that hits it, whose name starts
    /// with the rule: `t18-data-unit.json` for `T18`.
    ///
    /// # Errors
    /// Rules without a vector, and vectors that miss their rule.
    pub fn rules_have_vectors(&self, folder: impl AsRef<Path>) -> Result {
        corpus::rules(self, folder.as_ref())
    }

    /// Every patch in a folder adds a bug to the RTL that default runs with three seeds find. The
    /// vector shrinks to a few packets, fails again in the same way and passes on the good RTL, and
    /// the RTL is blamed.
    ///
    /// # Errors
    /// The bugs of [`Bugs::part`] that violate this, names in [`Bugs::open`] without a patch, or an
    /// unexpected number of patches.
    pub fn bugs_are_found(&self, folder: impl AsRef<Path>, bugs: &Bugs<'_>) -> Result {
        bugs::check(self, folder.as_ref(), bugs)
    }

    fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        if let Some(models) = &self.models {
            command.env("COSIM_CACHE", models);
        }
        // Each model runs for a few seconds at most, so optimising it takes longer than it saves.
        if env::var_os("CXXFLAGS").is_none() {
            command.env("CXXFLAGS", "-O1");
        }
        command.output().map_err(|error| file_failure(&self.program, error))
    }
}

/// A problem, with what a program wrote to standard output and standard error.
fn failed(problem: &str, output: &Output) -> CheckFailures {
    let streams = [&output.stdout, &output.stderr];
    let text = streams.map(|stream| String::from_utf8_lossy(stream).into_owned()).join("\n");
    CheckFailures::from_line(format!("{problem}: {text}"))
}

/// The files in a folder with this ending, sorted; at least one.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let unreadable = |error| file_failure(folder, error);
    let entries = folder.read_dir().map_err(unreadable)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<PathBuf>>>().map_err(unreadable)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    if paths.is_empty() {
        return Err(file_failure(folder, format_args!("no .{ending} in it")));
    }
    Ok(paths)
}

fn file_failure(path: &Path, problem: impl fmt::Display) -> CheckFailures {
    CheckFailures::from_line(format!("{}: {problem}", path.display()))
}

fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|error| file_failure(path, error))?;
    serde_json::from_str(&text).map_err(|error| file_failure(path, error))
}
