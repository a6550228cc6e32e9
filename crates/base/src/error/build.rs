//! Errors of the crates that build models.

use super::{Code, Error, codes, of_files};
use verilated_build::Error as BuildError;
use verilated_runtime::Error as RuntimeError;

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::Build { code: of_build(&error), message: error.to_string() }
    }
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Self {
        Self::Build { code: of_runtime(&error), message: error.to_string() }
    }
}

fn of_build(error: &BuildError) -> Code {
    match error {
        BuildError::Verilator(error) => of_runtime(error),
        BuildError::Files(error) => of_files(error),
        BuildError::Verilate { .. } => codes::VERILATOR_REJECTED,
        BuildError::VerilatorFailed { .. } => codes::COMPILE_FAILED,
        BuildError::Port { .. } => codes::BAD_PORT,
        BuildError::Foreign { .. } => codes::FOREIGN_CODE,
        BuildError::Option { .. } => codes::BAD_VERILATOR_OPTION,
        BuildError::Template(_) => codes::INTERNAL,
        BuildError::Compile { .. } => codes::COMPILE_FAILED,
        BuildError::LibclangMissing { .. } => codes::LIBCLANG_MISSING,
        BuildError::Twice { .. } => codes::DECLARED_TWICE,
        BuildError::Ports { .. } => codes::PORTS_DIFFER,
        BuildError::TooMuch { .. } => codes::TOO_LARGE,
        BuildError::Interrupted => codes::INTERRUPTED,
        BuildError::Program { .. } | BuildError::Late { .. } => codes::PROGRAM_FAILED,
        BuildError::IcarusMissing { .. } => codes::ICARUS_MISSING,
        BuildError::CompilerMissing { .. } => codes::COMPILER_MISSING,
        BuildError::Io { .. } => codes::WRITE_FAILED,
    }
}

fn of_runtime(error: &RuntimeError) -> Code {
    match error {
        RuntimeError::VerilatorMissing { .. } => codes::VERILATOR_MISSING,
        RuntimeError::RootMissing { .. } | RuntimeError::VerilatorTooOld { .. } => {
            codes::VERILATOR_UNUSABLE
        }
        RuntimeError::UnknownRandom { .. } => codes::COMPILE_FAILED,
        RuntimeError::Io { .. } => codes::WRITE_FAILED,
    }
}
