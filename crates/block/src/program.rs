//! The program with the blocks: what it says of itself, and its `main`.

use crate::blocks::Program;
use crate::engine::InstructionScope;
use crate::vector::internal;
use crate::worker::serve::{self, Settings};
use cosim_base::error::{Error, codes};
use cosim_base::files::find_program;
use cosim_base::program::{self, Identity};
use cosim_harness::harness::{BlockInfo, Facts, Parameters};
use schemars::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::panic;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::str::FromStr;
use std::thread;

/// The first line of a [`Description`]. The tool reads the rest only if the line is its own: the
/// messages of other sources may differ, even where the version of the protocol is the same.
pub const VERSION: &str =
    concat!("cosim-protocol 1, ", env!("CARGO_PKG_VERSION"), ", ", env!("COSIM_LIBRARY"));
/// A hash of the sources of the library for blocks, which determine what a seed generates.
pub const LIBRARY: &str = env!("COSIM_LIBRARY");
/// The first word of a command line that the tool gives. Every other command line is the tool's.
pub const ENTRY: &str = "cosim-block-program";
/// Names the program with the blocks to the tool.
pub const PROGRAM_VARIABLE: &str = "COSIM_BLOCKS";
/// Names the tool to the program with the blocks.
pub const TOOL_VARIABLE: &str = "COSIM_TOOL";
const TOOL: &str = "cosim";

/// What a program says of itself on standard output, in postcard, after [`VERSION`] and a line
/// break. The tool reads it into types that live as long as its process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Description<I> {
    /// Name, version, and build.
    pub identity: Identity,
    /// The folder of its crate.
    pub folder: &'static str,
    /// Its blocks.
    pub blocks: Vec<I>,
}

/// What a block says of these parameters.
///
/// # Errors
/// [`Error::Environment`] if its program does not answer.
pub fn facts(info: &BlockInfo, parameters: &Parameters) -> Result<Facts, Error> {
    info.answers.facts(parameters).map_err(|why| Error::Environment(codes::WORKER_FAILED, why))
}

/// As [`BlockInfo::unreachable`].
///
/// # Errors
/// As [`facts`].
pub fn unreachable(
    info: &BlockInfo,
    parameters: &Parameters,
) -> Result<BTreeMap<usize, String>, Error> {
    info.unreachable(parameters).map_err(|why| Error::Environment(codes::WORKER_FAILED, why))
}

/// The whole `main` of a program with blocks. It serves the tool if the tool started it. For all
/// other command lines it hands over to the tool, which then uses this program.
pub fn main(program: &'static Program) -> ExitCode {
    verilated::ignore_file_size_signal();
    panic::set_hook(Box::new(|info| {
        // A panic of a model is a verdict, which the tool reports.
        if !thread::current().name().is_some_and(|name| name.starts_with("case-")) {
            program::show(&format!("internal error, please report it: {info}\n"));
        }
    }));
    let mut words = env::args_os().skip(1).peekable();
    let result = match words.next_if(|word| word == ENTRY) {
        Some(_) => serve(program, words),
        None => Err(hand_over(words.collect())),
    };
    result.unwrap_or_else(|error| {
        program::show(&format!("{}\n", error.with_code()));
        error.exit_code()
    })
}

/// Runs a command of the tool.
fn serve(
    program: &'static Program,
    mut words: impl Iterator<Item = OsString>,
) -> Result<ExitCode, Error> {
    let wrong = || {
        let message = format!("`{ENTRY}` is for `cosim` only; run `cosim` instead");
        Error::Usage(codes::COMMAND_LINE, message)
    };
    let command = words.next().and_then(|word| word.into_string().ok());
    if let Some(name) = program.repeated() {
        let message = format!("two blocks have the name `{name}`; change `Block::NAME` of one");
        return Err(Error::Usage(codes::COMMAND_LINE, message));
    }
    match command.as_deref() {
        Some("describe") => describe(program)?,
        Some("schema") => print(schema(program).to_string().as_bytes())?,
        Some("serve") => return serve::serve(program, &settings(words).ok_or_else(wrong)?),
        Some("rounds") => {
            let words: Option<Vec<String>> = words.map(|word| word.into_string().ok()).collect();
            let words = words.ok_or_else(wrong)?;
            let [block, profile, rounds] = words.as_slice() else { return Err(wrong()) };
            let rounds: Option<Vec<u32>> = rounds.split(',').map(number).collect();
            let rounds: Option<[u32; InstructionScope::ALL.len()]> =
                rounds.and_then(|rounds| rounds.try_into().ok());
            let rounds = rounds.ok_or_else(wrong)?;
            let cycles = program.find(block)?.repeat(profile, rounds)?;
            print(format!("{cycles}\n").as_bytes())?;
        }
        _ => return Err(wrong()),
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(program: &Program) -> Result<(), Error> {
    let description = Description {
        identity: program.identity,
        folder: program.folder,
        blocks: program.blocks.iter().map(|block| block.info()).collect(),
    };
    let head = format!("{VERSION}\n").into_bytes();
    print(&postcard::to_extend(&description, head).map_err(internal)?)
}

/// The JSON schema of vectors, with one alternative for each block.
fn schema(program: &Program) -> Value {
    let mut generator = SchemaGenerator::default();
    let vectors: Vec<Value> =
        program.blocks.iter().map(|block| block.vector_schema(&mut generator)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cosim vector",
        "oneOf": vectors,
        "$defs": generator.take_definitions(true),
    })
}

fn print(bytes: &[u8]) -> Result<(), Error> {
    let written = io::stdout().write_all(bytes).and_then(|()| io::stdout().flush());
    written.map_err(Error::write("standard output"))
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn settings(mut words: impl Iterator<Item = OsString>) -> Option<Settings> {
    let mut settings = Settings::default();
    while let Some(option) = words.next() {
        let mut value = || words.next();
        let mut count = || value()?.into_string().ok();
        match option.to_str()? {
            "--parent" => settings.parent = number(&count()?)?,
            "--memory" => settings.memory = Some(number(&count()?)?),
            "--writable" => settings.writable.push(PathBuf::from(value()?)),
            "--no-sandbox" => settings.no_sandbox = true,
            "--simulated" => settings.simulated = true,
            _ => return None,
        }
    }
    Some(settings)
}

/// Replaces this process by the tool. Returns only if that fails.
fn hand_over(words: Vec<OsString>) -> Error {
    let own = match env::current_exe() {
        Ok(own) => own,
        Err(error) => return Error::Environment(codes::SYSTEM, error.to_string()),
    };
    let named = env::var_os(TOOL_VARIABLE).filter(|name| !name.is_empty());
    let tool = named.map_or_else(|| find_program(TOOL), |name| find_program(&name));
    let Some(tool) = tool.filter(|tool| tool.canonicalize().ok() != own.canonicalize().ok()) else {
        let message = format!(
            "this program has the blocks, and `cosim`, which runs them, is not installed; install it \
             with `cargo install cosim --version {}`, or set {TOOL_VARIABLE} to it",
            env!("CARGO_PKG_VERSION"),
        );
        return Error::Environment(codes::TOOL_MISSING, message);
    };
    let error = Command::new(&tool).args(words).env(PROGRAM_VARIABLE, own).exec();
    Error::Environment(codes::TOOL_MISSING, format!("{}: {error}", tool.display()))
}
