//! The program with the blocks, and its blocks.

use crate::worker::block_queries::BlockQueries;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::engine::Query;
use cosim_block::program::{Description, ENTRY, VERSION};
use cosim_harness::harness::{Answers, BlockInfo, Facts, Parameters};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use verilated_build::answer_within;

/// Time in seconds that an answer may take: processor time, and time on the clock.
const DESCRIBED_WITHIN: u64 = 60;

#[derive(Debug)]
pub struct BlockHandle {
    info: &'static BlockInfo,
    queries: &'static BlockQueries,
}

#[derive(Debug)]
pub struct BlockProgram {
    /// Its file, as named.
    pub path: PathBuf,
    /// Keeps the file that was opened, even if a build replaces it.
    _file: File,
    blocks: Vec<&'static BlockHandle>,
}

static PROGRAM: OnceLock<BlockProgram> = OnceLock::new();

/// Sets the program with the blocks of this process. Only the first call has an effect. `tool` is a
/// hash of the sources of this program.
///
/// # Errors
/// [`Error::Environment`] if it is no program with blocks, or one of another version.
pub fn set(path: &Path, tool: &'static str) -> Result<(), Error> {
    if PROGRAM.get().is_none() {
        let _ = PROGRAM.set(BlockProgram::open(path, tool)?);
    }
    Ok(())
}

/// The folder of the crate of a program with blocks; `None` if this program cannot read its
/// description.
///
/// # Errors
/// [`Error::Environment`] if it cannot be started or fails.
pub fn folder(path: &Path) -> Result<Option<PathBuf>, Error> {
    let described = Described::read(path)?;
    Ok(described.description().ok().map(|description| description.folder.into()))
}

pub fn program() -> Option<&'static BlockProgram> {
    PROGRAM.get()
}

/// The error of a command that needs blocks, if no program is set.
pub fn missing() -> Error {
    Error::Usage(codes::NO_BLOCKS, "the command needs a program with blocks".to_owned())
}

/// The blocks of this process, or none if no program is set.
pub fn all_blocks() -> &'static [&'static BlockHandle] {
    PROGRAM.get().map_or(&[], |program| &program.blocks)
}

pub fn infos() -> Vec<&'static BlockInfo> {
    all_blocks().iter().map(|block| block.info()).collect()
}

pub fn find(name: &str) -> Option<&'static BlockHandle> {
    all_blocks().iter().copied().find(|block| block.info().name == name)
}

/// What a program prints for one word of its entry.
fn answer(path: &Path, start: &Path, word: &str) -> Result<Vec<u8>, Error> {
    let mut command = Command::new(start);
    command.arg0("cosim").args([ENTRY, word]);
    let deadline = Instant::now().checked_add(Duration::from_secs(DESCRIBED_WITHIN));
    match answer_within(DESCRIBED_WITHIN, deadline, command) {
        Ok(Output { status, stdout, .. }) if status.success() => Ok(stdout),
        Ok(Output { status, stderr, .. }) => {
            let printed = String::from_utf8_lossy(&stderr);
            Err(failed(path, &format_args!("{status}: {}", printed.trim())))
        }
        Err(error) => Err(failed(path, &error)),
    }
}

/// A program that was started to describe itself.
struct Described {
    path: PathBuf,
    file: File,
    /// The path that starts the file that was opened: a build may replace it while workers run.
    start: PathBuf,
    printed: Vec<u8>,
}

fn failed(path: &Path, error: &dyn fmt::Display) -> Error {
    let message = format!("{}, the program with the blocks: {error}", path.display());
    Error::Environment(codes::PROGRAM_FAILED, message)
}

impl Described {
    fn read(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(|error| failed(path, &error))?;
        let opened = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        // The interpreter of a script opens it after this file is closed.
        let mut first = [0; 2];
        let is_script = file.read_exact(&mut first).is_ok() && first == *b"#!";
        let start = match opened.exists() && !is_script {
            true => opened,
            false => std::path::absolute(path).map_err(|error| failed(path, &error))?,
        };
        let printed = answer(path, &start, "describe")?;
        Ok(Self { path: path.to_owned(), file, start, printed })
    }

    /// The description, whose texts are as constants: they are read once and used until the end.
    fn description(&self) -> Result<Description<BlockInfo>, Error> {
        let bytes: &'static [u8] = Vec::leak(self.printed.clone());
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if first != VERSION.as_bytes() {
            return Err(differs(&self.path, &String::from_utf8_lossy(first)));
        }
        let rest = bytes.get(first.len() + 1..).unwrap_or_default();
        let (description, rest) = postcard::take_from_bytes(rest)
            .map_err(|error| failed(&self.path, &format_args!("its description: {error}")))?;
        match rest.is_empty() {
            true => Ok(description),
            false => Err(failed(&self.path, &"its description is not complete")),
        }
    }
}

impl BlockProgram {
    fn open(path: &Path, tool: &'static str) -> Result<Self, Error> {
        let described = Described::read(path)?;
        let Description { identity, blocks, .. } = described.description()?;
        let Described { path, file, start, .. } = described;
        program::identify(identity, tool);
        let queries: &'static BlockQueries = Box::leak(Box::new(BlockQueries::new(start)));
        let handle = |info: BlockInfo| -> &'static BlockHandle {
            let name = info.name;
            let answers = Box::leak(Box::new(Remote { name, queries }));
            let info = Box::leak(Box::new(BlockInfo { answers, ..info }));
            Box::leak(Box::new(BlockHandle { info, queries }))
        };
        let blocks = blocks.into_iter().map(handle).collect();
        Ok(Self { path, _file: file, blocks })
    }

    /// What the program prints for one word of its entry.
    ///
    /// # Errors
    /// [`Error::Environment`] if it fails.
    pub fn answer(&self, word: &str) -> Result<Vec<u8>, Error> {
        answer(&self.path, &self.start(), word)
    }

    pub fn start(&self) -> PathBuf {
        self.blocks.first().map_or_else(|| self.path.clone(), |block| block.queries.path())
    }
}

fn differs(path: &Path, other: &str) -> Error {
    let message = format!(
        "{}: the program with the blocks says `{other}`, and this is `{VERSION}`; build the crate with \
         the version of cosim-core that belongs to this `cosim`, or install the other `cosim`",
        path.display()
    );
    Error::Environment(codes::VERSIONS_DIFFER, message)
}

impl BlockHandle {
    pub fn info(&self) -> &'static BlockInfo {
        self.info
    }

    /// Asks a query.
    ///
    /// # Errors
    /// Errors of the query. [`Error::Environment`] if the program does not answer.
    pub fn query<T: DeserializeOwned>(&self, query: &Query) -> Result<T, Error> {
        let bytes = self.queries.query(self.info.name, query)?;
        postcard::from_bytes(&bytes).map_err(|error| not_read(&error))
    }
}

fn not_read(error: &postcard::Error) -> Error {
    Error::Environment(codes::WORKER_FAILED, format!("an answer of the program: {error}"))
}

/// The answers of a block through its program.
struct Remote {
    name: &'static str,
    queries: &'static BlockQueries,
}

impl Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Remote {
    /// An answer with texts that live as long as the process.
    fn query<T: Deserialize<'static>>(&self, query: &Query) -> Result<T, String> {
        let bytes = self.queries.query(self.name, query).map_err(|error| error.to_string())?;
        postcard::from_bytes(Vec::leak(bytes)).map_err(|error| not_read(&error).to_string())
    }
}

impl Answers for Remote {
    fn facts(&self, parameters: &Parameters) -> Result<Facts, String> {
        self.query(&Query::Facts { fixes: parameters.fixes(), values: parameters.named() })
    }

    fn meaning(&self, port: &str, value: u64) -> Result<Option<String>, String> {
        self.query(&Query::Meaning(port.to_owned(), value))
    }
}
