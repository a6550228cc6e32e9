//! Why a model could not be built.

use std::io;
use std::path::PathBuf;

/// Number of errors of Verilator to show: the others mostly follow from them.
const ERRORS_SHOWN: usize = 5;

/// The messages of Verilator up to the last shown error, the number of further ones, and lines that
/// belong to no message.
fn first_errors(output: &str) -> String {
    let (mut shown, mut more, mut is_left_out) = (0, 0, false);
    let (mut text, mut rest) = (String::new(), String::new());
    for line in output.lines() {
        if line.starts_with('%') {
            let is_end = line.starts_with("%Error: Exiting due to");
            if line.starts_with("%Error") && !is_end {
                is_left_out = shown == ERRORS_SHOWN;
                *(if is_left_out { &mut more } else { &mut shown }) += 1;
            } else {
                is_left_out = more > 0;
            }
        } else if !line.starts_with([' ', '\t']) {
            is_left_out = false;
        }
        let is_message = line.starts_with(['%', ' ', '\t']);
        if !is_left_out {
            let to = if more > 0 && !is_message { &mut rest } else { &mut text };
            to.push_str(line);
            to.push('\n');
        }
    }
    let more = match more {
        0 => String::new(),
        1 => "1 more error, which may follow from these\n".to_owned(),
        more => format!("{more} more errors, which may follow from these\n"),
    };
    (text + &more + &rest).trim_end().to_owned()
}

/// A failure between Verilog sources and a compiled model. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Verilator is missing, or its runtime cannot be used.
    #[error(transparent)]
    Verilator(#[from] verilated_runtime::Error),
    /// Verilator rejected the RTL. Its messages follow.
    #[error("Verilator refused {top}:\n{}", first_errors(output))]
    Verilate {
        /// The top module.
        top: String,
        /// Verilator's messages with file and line.
        output: String,
    },
    /// Verilator failed for a reason outside the RTL, such as a full disk. Its messages follow.
    #[error("Verilator failed on {top}:\n{output}")]
    VerilatorFailed {
        /// The top module.
        top: String,
        /// Verilator's messages.
        output: String,
    },
    /// A port has an unsupported type or direction.
    #[error("port `{port}` of {top}: {reason}")]
    Port {
        /// The top module.
        top: String,
        /// The port's name.
        port: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The RTL imports a C function.
    #[error(
        "{place} imports the C function `{function}` (`import \"DPI-C\"`), which is not supported; \
         exclude the import with a macro (-D), or write the function in SystemVerilog"
    )]
    Foreign {
        /// The file, the line and the column of the import.
        place: String,
        /// The function's name in C.
        function: String,
    },
    /// An option of Verilator that cosim does not pass on.
    #[error("option {option:?} of Verilator: {reason}")]
    Option {
        /// The option, as given.
        option: String,
        /// Why it is refused.
        reason: String,
    },
    /// A code template does not match its data.
    #[error("internal error in a template of generated code, please report it: {0}")]
    Template(String),
    /// The C++ compiler failed or is missing.
    #[error("compiling {what} failed:\n{message}")]
    Compile {
        /// What was being compiled.
        what: String,
        /// The compiler's message.
        message: String,
    },
    /// libclang, which reads the C header of a model's ports, is missing.
    #[error(
        "libclang was not found: {reason}; install it with `apt-get install libclang-dev`, or set \
         LIBCLANG_PATH to the folder that has libclang.so"
    )]
    LibclangMissing {
        /// The reason.
        reason: String,
    },
    /// A module is declared twice.
    #[error("module {module} is declared in both {first} and {second}; name only one of them")]
    Twice {
        /// The module.
        module: String,
        /// Where it is declared, as `file:line`.
        first: String,
        /// The second declaration.
        second: String,
    },
    /// The model has unexpected ports.
    #[error("the ports of {top} differ from those this program was built with:\n{differences}")]
    Ports {
        /// The top module.
        top: String,
        /// One difference per line.
        differences: String,
    },
    /// A tool printed or wrote too much to be read.
    #[error("{what} is longer than {most} MiB; make the RTL smaller, or let it print less")]
    TooMuch {
        /// What is too long.
        what: String,
        /// The limit in MiB.
        most: u64,
    },
    /// A program was ended at its time limit.
    #[error("`{program}` did not end within its time limit")]
    Late {
        /// The program.
        program: String,
    },
    /// The user interrupted the operation.
    #[error("interrupted")]
    Interrupted,
    /// A program cannot be run.
    #[error("cannot run `{program}`: {source}")]
    Program {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// Icarus Verilog is missing.
    #[error(
        "Icarus Verilog was not found ({tried}); install it with `apt-get install iverilog`, or set IVERILOG to \
         the program"
    )]
    IcarusMissing {
        /// The program that was tried, with the system's error.
        tried: String,
    },
    /// No C++ compiler was found.
    #[error(
        "no C++ compiler was found ({tried}); install one with `apt-get install g++`, or set CXX \
         to its path"
    )]
    CompilerMissing {
        /// What was tried, with the system's error.
        tried: String,
    },
    /// The cache cannot be used, or a file in it.
    #[error(transparent)]
    Files(#[from] verilated_files::Error),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// An [`Error::Io`] for `path`, for use with `map_err`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cascade_of_errors_shows_the_first_ones_their_number_and_the_advice() {
        let error = |number| {
            format!("%Error: a.v:{number}:1: syntax error\n    {number} | alwys\n      | ^~~~~\n")
        };
        let text = |count: usize| {
            let errors: String = (1..=count).map(error).collect();
            let end =
                format!("%Error: Exiting due to {count} error(s)\n        ... See the manual\n");
            let top = "t".to_owned();
            Error::Verilate { top, output: format!("{errors}{end}Name the file.") }.to_string()
        };
        let few = text(5);
        assert_eq!(few.matches("syntax error").count(), 5);
        assert!(few.contains("Exiting due to 5") && !few.contains("more error"), "{few}");
        let first: String = (1..=5).map(error).collect();
        let expected = format!(
            "Verilator refused t:\n{first}46 more errors, which may follow from these\nName the file."
        );
        assert_eq!(text(51), expected);
    }
}
