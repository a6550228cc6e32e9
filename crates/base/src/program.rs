//! Identifies the running program: name, version and build.

use crate::text;
use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use verilated_files::Hash;

/// The identity of a program with blocks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Identity {
    /// A hash of its crate's sources and RTL.
    pub sources: &'static str,
    /// A hash of the sources of the library for blocks.
    pub library: &'static str,
    /// The version of Verilator that built its models.
    pub verilator: &'static str,
}

static IDENTITY: OnceLock<(Identity, &str)> = OnceLock::new();

/// Writes text to standard error, if the command line set it.
static WRITER: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that writes to standard error, for example around a progress line. Only the
/// first call has an effect.
pub fn set_writer(writer: fn(&str)) {
    let _ = WRITER.set(writer);
}

/// Prints a note on standard error. Unlike `eprintln!`, it does not panic when the reader is gone.
pub fn print_note(line: fmt::Arguments<'_>) {
    show(&format!("note: {line}\n"));
}

/// Prints a warning on standard error.
pub fn warn(line: fmt::Arguments<'_>) {
    show(&format!("warning: {line}\n"));
}

/// Prints on standard error why a command fails that has a result.
pub fn fail(line: fmt::Arguments<'_>) {
    show(&format!("FAIL  {line}\n"));
}

/// Writes lines to standard error, and ignores failures.
pub fn show(text: &str) {
    let text = text::lines(text);
    match WRITER.get() {
        Some(writer) => writer(&text),
        None => drop(write!(io::stderr(), "{text}")),
    }
}

/// Sets the identity of the program with the blocks, and a hash of the sources of the tool that
/// runs it. Only the first call has an effect.
pub fn identify(identity: Identity, tool: &'static str) {
    let _ = IDENTITY.set((identity, tool));
}

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Sets the command line of this process, including defaults from `cosim.toml`. Only the first call
/// has an effect.
pub fn set_command(words: Vec<String>) {
    let _ = COMMAND.set(words);
}

/// The command line of this process, including defaults from `cosim.toml`.
pub fn command() -> Vec<String> {
    COMMAND.get().cloned().unwrap_or_else(|| env::args().collect())
}

/// The program as the user called it: commands with it work in the same folder.
pub fn called() -> String {
    let word = command().into_iter().next().filter(|word| !word.is_empty());
    word.unwrap_or_else(|| name().to_owned())
}

/// The name of the program.
pub const fn name() -> &'static str {
    "cosim"
}

/// The version of the program.
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version of Verilator that built the program's models.
pub fn verilator() -> &'static str {
    IDENTITY.get().map_or("unknown", |(program, _)| program.verilator)
}

/// A hash of everything that determines the program's behaviour: its sources, RTL and dependencies,
/// cosim's sources, and Verilator.
pub fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let mut hash = Hash::default();
        if let Some((program, tool)) = IDENTITY.get() {
            hash.add(tool);
            hash.add(program.library);
            hash.add(program.sources);
            hash.add(program.verilator);
        }
        hash.short()
    })
}
