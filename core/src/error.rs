//! Errors a user sees: what, where, what to do next, and the exit code.

use crate::text;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verilated::Error as ModelError;
use verilated_build::Error as BuildError;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument does not make sense.
    #[error("{0}")]
    Usage(String),
    /// An input file is wrong, at a place.
    #[error("{}:{line}:{column}: {message}", text::path(.path))]
    Input {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// A file named by the user cannot be used.
    #[error("{}: {message}", text::path(.path))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// A model could not be built.
    #[error(transparent)]
    Build(#[from] verilated_build::Error),
    /// A model could not be loaded, or has other ports.
    #[error(transparent)]
    Model(#[from] verilated::Error),
    /// A result could not be written.
    #[error("{}: {source}", text::path(.path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A vector of a case would be larger than any command reads.
    #[error(
        "the vector would be larger than {most} MiB, more than is read; run fewer packets \
         (--packets), or fewer raw cycles per packet"
    )]
    VectorTooLarge {
        /// The limit in MiB.
        most: u64,
    },
    /// A model took its process with it, or never came back: the failure is the RTL's.
    #[error("{0}")]
    Lost(String),
    /// Yosys's netlist of an RTL behaves differently from Verilator's model of the RTL, so no result of the netlist holds for
    /// the RTL.
    #[error(
        "{block}, profile {profile}: the netlist of Yosys differs from the RTL: {name}: {what}; nothing was counted. \
         Look for constructs that simulation and synthesis read differently (docs/gates.md). For waves of the netlist, \
         add --netlist --trace FILE.fst to `cosim run --case CASE`, or to `cosim replay VECTOR`, with the same RTL"
    )]
    NetlistDiffers {
        /// The block.
        block: String,
        /// The profile.
        profile: String,
        /// The case or vector.
        name: String,
        /// Cycle, port and both values.
        what: String,
    },
    /// Something else than the RTL ends the processes that models run in.
    #[error(
        "{how}, {times} times with the same work. The system does that when memory is short: use fewer --threads or a lower \
         --memory-limit. Continue the run with `resume`"
    )]
    WorkersKilled {
        /// How often.
        times: u32,
        /// How the last process ended.
        how: String,
    },
    /// What a worker told of an error of its own.
    #[error("{message}")]
    Worker {
        /// The exit code that it deserves.
        exit_code: u8,
        /// What it is.
        message: String,
    },
    /// The user did not want to wait.
    #[error("interrupted")]
    Interrupted,
    /// The machine does not let us work.
    #[error("{0}")]
    Environment(String),
}

impl Error {
    /// The command's exit code: 1 for what the RTL did, 2 for what the user gave, 3 for what the machine
    /// lacks, 130 if the user ended it.
    pub fn code(&self) -> u8 {
        match self {
            Self::Lost(_) | Self::NetlistDiffers { .. } => 1,
            Self::Build(BuildError::Interrupted) => 130,
            Self::Usage(_)
            | Self::Input { .. }
            | Self::File { .. }
            | Self::VectorTooLarge { .. }
            | Self::Build(
                BuildError::Verilate { .. }
                | BuildError::Twice { .. }
                | BuildError::Ports { .. }
                | BuildError::Port { .. }
                | BuildError::Foreign { .. },
            )
            | Self::Model(ModelError::Ports { .. }) => 2,
            Self::Build(_)
            | Self::Model(_)
            | Self::Write { .. }
            | Self::WorkersKilled { .. }
            | Self::Environment(_) => 3,
            Self::Worker { exit_code, .. } => *exit_code,
            Self::Interrupted => 130,
        }
    }

    /// [`Error::code`] for the system.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// An [`Error::Write`] for `path`, for use with `map_err`.
    pub fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source: without_path(source) }
    }

    /// What a worker said of a file that it knows by another name.
    #[must_use]
    pub fn renamed(self, from: &Path, to: &Path) -> Self {
        match self {
            Self::Worker { exit_code, message } => {
                let [from, to] = [from, to].map(|path| path.display().to_string());
                Self::Worker { exit_code, message: message.replace(&from, &to) }
            }
            other => other,
        }
    }

    /// A JSON error in the file `path`, with line and column.
    pub fn json(path: &Path, error: &serde_json::Error) -> Self {
        Self::json_at(path, ".", error)
    }

    /// A JSON error at a place of the file `path`, as in `stimulus.traffic.packets[3].gap`.
    pub fn json_at(path: &Path, place: &str, error: &serde_json::Error) -> Self {
        // serde_json appends the position it also gives by number.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or(&text);
        let message = if place == "." { text.to_owned() } else { format!("{place}: {text}") };
        Self::Input { path: path.to_owned(), line: error.line(), column: error.column(), message }
    }

    /// A TOML error in the file `path`, whose text this is, at a place as in `run[3].seeds` if it is known.
    pub fn toml(path: &Path, text: &str, place: Option<&str>, error: &toml::de::Error) -> Self {
        let place = place.filter(|place| *place != ".").map(|place| format!("{place}: "));
        let message = format!("{}{}", place.unwrap_or_default(), error.message());
        Self::at_offset(path, text, error.span().map_or(0, |span| span.start), message)
    }

    /// An error at a byte of the text of the file `path`.
    pub fn at_offset(path: &Path, text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let line = before.matches('\n').count() + 1;
        Self::Input { path: path.to_owned(), line, column, message }
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::File { path: path.to_owned(), message: format!("cannot be read: {error}") }
    }
}

/// An error of the system as it is: `tempfile` adds a path behind it, and that is of a name nobody knows.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((system, _)) if error.get_ref().is_some() => io::Error::new(error.kind(), system),
        _ => error,
    }
}
