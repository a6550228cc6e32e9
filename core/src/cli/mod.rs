//! The command line.

mod bench;
mod cache;
mod cover;
mod done;
mod error;
mod explain;
mod export;
mod history;
mod list;
mod merge;
mod mutate;
mod new;
mod options;
mod plan;
mod prove;
mod regression;
mod replay;
mod report;
mod run;
mod shrink;
mod summary;
mod watch;

use crate::error::{Error, codes};
use crate::files;
use crate::program::{self, Program};
use crate::text;
use crate::worker;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::error::Error as _;
use std::io::{self, IsTerminal};
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

const AFTER_HELP: &str = "\
Exit codes: 0 everything matched, 1 a mismatch, a hang or a failed check, 2 bad arguments or bad \
input, 3 something is missing on this machine, 130 interrupted.";

/// Co-simulation regressions: Verilator RTL against a golden model, every output, every cycle.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Regression: random cases through RTL and golden model, side by side.
    Run(Box<run::Arguments>),
    /// Run JSON vectors again.
    Replay(replay::Arguments),
    /// The smallest vector that still shows the same failure.
    Shrink(shrink::Arguments),
    /// A failure for a person: values decoded, cycles around it.
    Explain(explain::Arguments),
    /// A vector as a testbench in plain Verilog, for any simulator.
    Export(export::Arguments),
    /// Cycles per second of the bare model and of the harness, on one core.
    Bench(bench::Arguments),
    /// Show or clear the cache of compiled models and of answers of Yosys and ABC.
    Cache(cache::Arguments),
    /// Coverage databases of many runs: put together, reported, ranked.
    Cover(cover::Arguments),
    /// List error codes, or explain one.
    Error(error::Arguments),
    /// Blocks, profiles, scenarios and rules.
    List(list::Arguments),
    /// One run directory out of all shards of a run.
    Merge(merge::Arguments),
    /// Grades the bench: puts faults into the RTL, and lists which of them are found.
    Mutate(mutate::Arguments),
    /// What blocks promise, proved of their RTL for every input.
    Prove(prove::Arguments),
    /// The skeleton of a crate for a block of one's own, from the ports of its RTL.
    New(new::Arguments),
    /// Regression, again at every save of the RTL, until ^C.
    Watch(watch::Arguments),
    /// The page for people of a run directory, again.
    Report(report::Arguments),
    /// Runs over weeks in one SQLite file: failures, coverage and speed.
    History(history::Arguments),
    /// Works on models for the other commands.
    #[command(hide = true)]
    Worker(worker::serve::Arguments),
}

/// Runs the command line of this process: the whole of a program's `main`.
pub fn main(program: Program) -> ExitCode {
    program::set(program);
    verilated::ignore_file_size_signal();
    panic::set_hook(Box::new(|info| {
        // A panic of a worker's model is a verdict; the runner reports it.
        if !thread::current().name().is_some_and(|name| name.starts_with("case-")) {
            program::say(format_args!("internal error, please report it: {info}"));
        }
    }));
    let command = Cli::command().name(program.name).version(program.version);
    let cli = command
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| end_with(&error));
    let result = panic::catch_unwind(AssertUnwindSafe(|| match cli.command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Replay(arguments) => replay::execute(&arguments),
        Command::Shrink(arguments) => shrink::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Bench(arguments) => bench::execute(&arguments),
        Command::Cache(arguments) => cache::execute(&arguments),
        Command::Cover(arguments) => cover::execute(&arguments),
        Command::Error(arguments) => error::execute(&arguments),
        Command::List(arguments) => list::execute(&arguments),
        Command::Merge(arguments) => merge::execute(&arguments),
        Command::Mutate(arguments) => mutate::execute(&arguments),
        Command::Prove(arguments) => prove::execute(&arguments),
        Command::New(arguments) => new::execute(&arguments),
        Command::Watch(arguments) => watch::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::History(arguments) => history::execute(&arguments),
        Command::Worker(arguments) => worker::serve::serve(&arguments),
    }));
    // A thread that was given up may have some.
    files::remove_unfinished();
    match result {
        Ok(Ok(code)) => code,
        Ok(Err(Error::Interrupted)) => ExitCode::from(INTERRUPTED),
        Ok(Err(error)) => {
            program::show(&format!("{}\n", error.with_code()));
            error.exit_code()
        }
        Err(_) => ExitCode::from(3),
    }
}

/// Ends the process with what clap says: help, the version, or an error of usage.
fn end_with(error: &clap::Error) -> ! {
    let text = error.to_string();
    let Some(message) = text.strip_prefix("error: ") else { error.exit() };
    // A value may be refused by a type of ours, which knows more.
    let own = error.source().and_then(|source| source.downcast_ref::<Error>());
    let code = own.map_or(codes::COMMAND_LINE, Error::code);
    program::show(&format!("error[{code}]: {message}"));
    process::exit(i32::from(code.exit()))
}

/// What a command line says, if this program knows it.
fn parsed(command: &[String]) -> Option<Command> {
    let matches = Cli::command().try_get_matches_from(command).ok()?;
    Some(Cli::from_arg_matches(&matches).ok()?.command)
}

/// The options of a command that go with one of them.
#[cfg(test)]
fn options_beside<A: clap::Args>(option: &str) -> Vec<String> {
    let mut command = A::augment_args(clap::Command::new("one"));
    command.build();
    let find = |id: &str| command.get_arguments().find(|argument| argument.get_id() == id);
    let this = find(option).expect("an option of this command");
    let refused = |argument: &clap::Arg| {
        let of = |one, other: &clap::Arg| {
            command.get_arg_conflicts_with(one).iter().any(|one| one.get_id() == other.get_id())
        };
        of(this, argument) || of(argument, this)
    };
    let others = command.get_arguments().filter(|argument| argument.get_id() != option);
    let others = others.filter(|argument| !refused(argument));
    let mut names: Vec<String> = others.map(|argument| argument.get_id().to_string()).collect();
    names.sort();
    names
}

/// What a command line of `run` says, if it is one.
fn run_arguments(command: &[String]) -> Option<run::Arguments> {
    match parsed(command)? {
        Command::Run(arguments) => Some(*arguments),
        _ => None,
    }
}

/// What a command line of `mutate` says, if it is one.
fn mutate_arguments(command: &[String]) -> Option<mutate::Arguments> {
    match parsed(command)? {
        Command::Mutate(arguments) => Some(arguments),
        _ => None,
    }
}

/// A number of things, as in "1 case", "2 cases" and "0 crashes".
fn counted(number: u64, thing: &str) -> String {
    let plural = if thing.ends_with("sh") || thing.ends_with("ch") { "es" } else { "s" };
    format!("{number} {thing}{}", if number == 1 { "" } else { plural })
}

/// Prints JSON on standard output.
fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
    print_line(&text::json(&text))
}

/// Prints lines on standard output; a reader that went away is no error.
fn print_text(text: &str) -> Result<(), Error> {
    print_line(&text::lines(text.trim_end()))
}

fn print_line(text: &str) -> Result<(), Error> {
    use std::io::Write;
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::write("standard output")(error))
        }
        _ => Ok(()),
    }
}

/// Exit code of an interrupted command.
const INTERRUPTED: u8 = 130;

/// Set by ^C and by termination.
static IS_INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// There is nothing to be written, and what is at work does not look at [`IS_INTERRUPTED`].
static ENDS_AT_ONCE: AtomicBool = AtomicBool::new(false);

/// A flag that ^C and termination set; the second time ends the process at once, and so does the first in
/// [`at_once`].
fn interruption() -> Result<Arc<AtomicBool>, Error> {
    let flag = &*IS_INTERRUPTED;
    ctrlc::set_handler(move || {
        verilated_build::interrupt();
        if flag.swap(true, Ordering::SeqCst) || ENDS_AT_ONCE.load(Ordering::SeqCst) {
            files::remove_unfinished();
            process::exit(i32::from(INTERRUPTED));
        }
    })
    .map_err(|error| Error::Environment(codes::SYSTEM, format!("cannot watch for ^C: {error}")))?;
    Ok(Arc::clone(flag))
}

/// Does work that has written nothing and takes long, as reading hundreds of MiB: an interruption ends the
/// process in the midst of it.
fn at_once<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    ENDS_AT_ONCE.store(true, Ordering::SeqCst);
    // It came before, or it finds what was stored.
    let result =
        if IS_INTERRUPTED.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { work() };
    ENDS_AT_ONCE.store(false, Ordering::SeqCst);
    result
}

/// Whether a progress bar has somebody to look at it.
fn is_watched() -> bool {
    io::stderr().is_terminal()
}
