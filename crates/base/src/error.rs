//! Errors that users see: a stable code, what is wrong, where, and what to do.

#[cfg(feature = "tools")]
mod build;
pub mod codes;

pub use codes::Code;

use crate::text;
use serde_json::error::Category;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verilated::Error as ModelError;
use verilated_files::Error as FilesError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument is invalid.
    #[error("{1}")]
    Usage(Code, String),
    /// An input file is wrong at a known place.
    #[error("{}:{line}:{column}: {message}", text::path(.path))]
    Input {
        /// The kind of mistake.
        code: Code,
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
        /// The kind of mistake.
        code: Code,
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// A model cannot be built. The crates that build models turn their errors into this one.
    #[error("{message}")]
    Build {
        /// The kind of failure.
        code: Code,
        /// What is wrong and what to do.
        message: String,
    },
    /// A model cannot be loaded, or has wrong ports.
    #[error(transparent)]
    Model(#[from] verilated::Error),
    /// A result cannot be written.
    #[error("{}: {source}", text::path(.path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The vector of a case would exceed the size limit of readers.
    #[error(
        "the vector would be larger than {most} MiB, the limit for reading vectors; run fewer \
         transactions (--packets), or fewer raw cycles per transaction"
    )]
    VectorTooLarge {
        /// The limit in MiB.
        most: u64,
    },
    /// A model crashed or hung its process; the RTL is the cause.
    #[error("{1}")]
    Lost(Code, String),
    /// The netlist of Yosys behaves differently from Verilator's model of the RTL, so no result of
    /// the netlist holds for the RTL.
    #[error(
        "{block}, profile {profile}: the netlist of Yosys differs from the RTL: {name}: {what}; nothing was counted. \
         Look for constructs that simulation and synthesis read differently (docs/how-to/gates.md)"
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
    /// Something else than the RTL ended the processes of the models.
    #[error(
        "{how}, {times} times with the same work. The system usually does that when memory is \
         short: use fewer --threads or a lower --memory-limit. Continue the run with `resume`"
    )]
    WorkersKilled {
        /// How often.
        times: u32,
        /// How the last process ended.
        how: String,
    },
    /// An error that a worker reports.
    #[error("{message}")]
    Worker {
        /// The code of the error in the worker.
        code: Code,
        /// The message.
        message: String,
    },
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
    /// The machine lacks something.
    #[error("{1}")]
    Environment(Code, String),
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Usage(code, _)
            | Self::Input { code, .. }
            | Self::File { code, .. }
            | Self::Lost(code, _)
            | Self::Environment(code, _)
            | Self::Worker { code, .. }
            | Self::Build { code, .. } => *code,
            Self::Model(ModelError::Stopped(_) | ModelError::Assertion { .. }) => {
                codes::MODEL_STOPPED
            }
            Self::Model(ModelError::Ports { .. }) => codes::PORTS_DIFFER,
            Self::Model(ModelError::Library { .. }) => codes::BAD_LIBRARY,
            Self::Write { .. } => codes::WRITE_FAILED,
            Self::VectorTooLarge { .. } => codes::VECTOR_TOO_LARGE,
            Self::NetlistDiffers { .. } => codes::NETLIST_DIFFERS,
            Self::WorkersKilled { .. } => codes::WORKERS_KILLED,
            Self::Interrupted => codes::INTERRUPTED,
        }
    }

    /// Why Yosys makes no netlist, if the error says that: commands that also have other ways to
    /// decide go on without one.
    ///
    /// # Errors
    /// Any other error stays one.
    pub fn of_yosys(self) -> Result<String, Self> {
        match self {
            Self::Environment(code, message)
                if [codes::YOSYS_FAILED, codes::YOSYS_ENDED].contains(&code) =>
            {
                Ok(message)
            }
            other => Err(other),
        }
    }

    /// The error with its code, such as `error[E0102]: ...`.
    pub fn with_code(&self) -> String {
        format!("error[{}]: {self}", self.code())
    }

    /// The exit code of the command, which the error's code determines.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code().exit())
    }

    /// An [`Error::Write`] for `path`, for use with `map_err`.
    pub fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source: without_path(source) }
    }

    /// Replaces a temporary path in an error of a worker.
    #[must_use]
    pub fn renamed(self, from: &Path, to: &Path) -> Self {
        match self {
            Self::Worker { code, message } => {
                let [from, to] = [from, to].map(|path| path.display().to_string());
                Self::Worker { code, message: message.replace(&from, &to) }
            }
            other => other,
        }
    }

    /// A JSON error in the file `path`, with line and column.
    pub fn json(path: &Path, error: &serde_json::Error) -> Self {
        Self::json_at(path, ".", error)
    }

    /// A JSON error at a place of the file `path`, such as `stimulus.traffic.packets[3].gap`.
    pub fn json_at(path: &Path, place: &str, error: &serde_json::Error) -> Self {
        // serde_json repeats the position in its text.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or(&text);
        let code = match error.classify() {
            Category::Data => of_data(text),
            Category::Io => codes::FILE_UNREADABLE,
            Category::Syntax | Category::Eof => codes::JSON_SYNTAX,
        };
        let text = with_suggestion(text);
        let message = if place == "." { text.into_owned() } else { format!("{place}: {text}") };
        let (line, column) = (error.line(), error.column());
        Self::Input { code, path: path.to_owned(), line, column, message }
    }

    /// A TOML error in the file `path` with this text, at a place such as `run[3].seeds` if known.
    pub fn toml(path: &Path, text: &str, place: Option<&str>, error: &toml::de::Error) -> Self {
        let is_toml = toml::Deserializer::parse(text).is_ok();
        let code = if is_toml { of_data(error.message()) } else { codes::TOML_SYNTAX };
        let place = place.filter(|place| *place != ".").map(|place| format!("{place}: "));
        let problem = with_suggestion(error.message());
        let message = format!("{}{problem}", place.unwrap_or_default());
        let offset = error.span().map_or(0, |span| span.start);
        Self::at_offset(code, path, text, offset, message)
    }

    /// An error at a byte offset of the file `path` with this text.
    pub fn at_offset(code: Code, path: &Path, text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let line = before.matches('\n').count() + 1;
        Self::Input { code, path: path.to_owned(), line, column, message }
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "does not exist".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Self::File { code: codes::FILE_UNREADABLE, path: path.to_owned(), message }
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        Self::Build { code: of_files(&error), message: error.to_string() }
    }
}

fn of_files(error: &FilesError) -> Code {
    match error {
        FilesError::Cache { .. } => codes::CACHE_UNWRITABLE,
        FilesError::UnsafeCache { .. } => codes::CACHE_UNSAFE,
        FilesError::Changed { .. } => codes::RTL_CHANGED,
        FilesError::Name { .. } => codes::CANNOT_COPY,
        FilesError::Io { .. } => codes::WRITE_FAILED,
    }
}

/// The code for a well-formed file with wrong data. It depends on the wording of serde, which does
/// not export the kind of an error.
fn of_data(message: &str) -> Code {
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        codes::UNKNOWN_FIELD
    } else if message.starts_with("missing field") {
        codes::MISSING_FIELD
    } else {
        codes::BAD_VALUE
    }
}

/// For serde's error about an unknown name, replaces the list of all expected names with the most
/// similar one. Other errors stay unchanged.
fn with_suggestion(message: &str) -> Cow<'_, str> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let is_unknown = of_data(message) == codes::UNKNOWN_FIELD;
    let (true, Some((name, expected))) = (is_unknown, names.split_first()) else {
        return message.into();
    };
    let hint = text::suggestion(name, expected.iter().copied());
    if hint.is_empty() {
        return message.into();
    }
    let what = message.split('`').next().unwrap_or_default();
    format!("{what}`{name}`{hint}").into()
}

/// Removes the temporary path that `tempfile` appends to an error of the system.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((system, _)) if error.get_ref().is_some() => io::Error::new(error.kind(), system),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::with_suggestion;

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        let all = "expected one of `name`, `opcode`, `gap`";
        let unknown = |name: &str| format!("unknown field `{name}`, {all}");
        for name in ["opcod", "opcdoe", "opcodes"] {
            let expected = format!("unknown field `{name}`; did you mean `opcode`?");
            assert_eq!(with_suggestion(&unknown(name)), expected);
        }
        assert_eq!(with_suggestion(&unknown("length")), unknown("length"));
        for other in ["missing field `name`", "unknown field `x`, there are no fields"] {
            assert_eq!(with_suggestion(other), other);
        }
    }
}
