//! The command line of `cosim`. Each command has a file with its arguments, text and
//! JSON output, progress and exit code. Other crates do the work.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     cosim_cli::main()
//! }
//! ```

// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod blocks;
mod failures;
mod proofs;
mod quality;
mod records;
mod running;
mod terminal;
#[cfg(test)]
mod wording;

use blocks::{bench, build_models, cache, doctor, list, located, new, trust};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cosim_base::error::{Error, codes};
use cosim_base::files;
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::command_line;
use failures::{explain, export, open, replay, shrink};
use proofs::{diff, prove};
use quality::{cover, mutate, signoff};
use records::{compare, history, report};
use running::{merge, resume, run, watch};
use std::env;
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use terminal::{colour, config, doc, error, examples, help, progress, schema, shell};

const AFTER_HELP: &str = "\
Exit codes: 0 everything matched, 1 a mismatch, a hang or a failed check, 2 bad arguments or bad \
input, 3 something is missing on this machine, 4 undecided or only believed \
(prove, diff, cover close, mutate), 130 interrupted.";

/// Compare RTL with its golden model: every output in every cycle.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a regression: random cases through RTL and golden model.
    Run(Box<run::Arguments>),
    /// Replay vectors.
    #[command(aliases = ["rerun", "reproduce"])]
    Replay(replay::Arguments),
    /// Shrink a vector to the smallest one with the same failure.
    Shrink(shrink::Arguments),
    /// Explain a failing vector: decoded values and surrounding cycles.
    Explain(explain::Arguments),
    /// Export vectors as testbenches in plain Verilog for any simulator.
    Export(export::Arguments),
    /// Measure cycles per second of the bare model and of the harness on one core.
    Bench(bench::Arguments),
    /// Show or clear the cache of compiled models and of answers of Yosys and ABC.
    Cache(cache::Arguments),
    /// Merge, report or rank coverage databases.
    Cover(cover::Arguments),
    /// Show the book: tutorials, guides, reference.
    Doc(doc::Arguments),
    /// List error codes, or explain one.
    Error(error::Arguments),
    /// List blocks, profiles, scenarios and rules.
    List(list::Arguments),
    /// Resume a run or a mutation analysis that was killed or interrupted.
    Resume(resume::Arguments),
    /// Print the JSON schema of a file format.
    Schema(schema::Arguments),
    /// Merge the shards of a run into one run directory.
    Merge(merge::Arguments),
    /// Inject faults into the RTL and report which ones the testbench finds.
    Mutate(mutate::Arguments),
    /// Prove the properties of blocks for all inputs after a first cycle in reset.
    Prove(prove::Arguments),
    /// Prove that two RTLs of a block are equivalent, or show where they differ.
    Diff(diff::Arguments),
    /// Compare two runs: new and gone failures, coverage and speed.
    Compare(compare::Arguments),
    /// Show what covers each rule of a specification: cases, mutants, proofs and more.
    Signoff(signoff::Arguments),
    /// Generate a crate for your block from the ports of its RTL.
    New(new::Arguments),
    /// Trust a crate of blocks: let commands build and run it.
    Trust(trust::Arguments),
    /// Re-run the regression whenever the RTL changes.
    Watch(watch::Arguments),
    /// Regenerate report.html of a run directory.
    Report(report::Arguments),
    /// Record runs in a history file, and show failures, coverage and speed over time.
    History(history::Arguments),
    /// Open the page of a run in a browser, or the waves of a failure in a viewer.
    Open(open::Arguments),
    /// Show which tools are installed, what needs them and how to get them.
    Doctor(doctor::Arguments),
    /// Print completions for a shell.
    Completions(shell::Completions),
    /// Print or write manual pages.
    Man(shell::Man),
    /// Builds the models of a crate, for its build script.
    #[command(hide = true)]
    BuildModels,
}

/// Runs the command line of this process. This is the whole `main` of a program.
pub fn main() -> ExitCode {
    shell::complete();
    program::set_writer(progress::show);
    verilated::ignore_file_size_signal();
    panic::set_hook(Box::new(|info| {
        if thread::current().name() != Some(cosim_report::report::READER) {
            program::show(&format!("internal error, please report it: {info}\n"));
        }
    }));
    let command = command();
    let words = checked(env::args_os().collect());
    let words = words.and_then(|words| config::with_defaults(&command, words));
    let words = match words {
        Ok((words, note)) => {
            config::show(note.as_deref());
            let text = |word: &OsString| word.to_string_lossy().into_owned();
            program::set_command(words.iter().map(text).collect());
            words
        }
        Err(error) => {
            program::show(&format!("{}\n", error.with_code()));
            return error.exit_code();
        }
    };
    let cli = command
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| end_with(&error));
    let display = progress::Display::start();
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        if cli.command.is_parallel() {
            start_threads()?;
        }
        match cli.command.needs() {
            Needs::Blocks => located::set()?,
            Needs::BlocksIfThere => located::set_if_built(),
            Needs::Nothing => {}
        }
        execute(cli.command)
    }));
    drop(display);
    // An abandoned thread may have left unfinished files.
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

/// What a command needs of the program with the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// The blocks, whose crate is built for it.
    Blocks,
    /// What is built already, to show more.
    BlocksIfThere,
    Nothing,
}

/// Starts the threads of parallel work. Without them, its first use would panic.
fn start_threads() -> Result<(), Error> {
    rayon::ThreadPoolBuilder::new().build_global().map_err(|error| {
        let message = format!("cannot start threads: {error}; raise the limits (ulimit -u, -v)");
        Error::Environment(codes::SYSTEM, message)
    })
}

impl Command {
    fn is_parallel(&self) -> bool {
        matches!(self, Self::Diff(_)) || self.needs() == Needs::Blocks
    }

    fn needs(&self) -> Needs {
        // The error says which file is missing, and no crate is built for it.
        if self.inputs().iter().any(|path| is_missing(path)) {
            return Needs::BlocksIfThere;
        }
        match self {
            Self::Diff(arguments) if arguments.has_top() => Needs::Nothing,
            Self::Merge(arguments) if arguments.has_gradings() => Needs::BlocksIfThere,
            Self::Run(_)
            | Self::Replay(_)
            | Self::Shrink(_)
            | Self::Explain(_)
            | Self::Export(_)
            | Self::Bench(_)
            | Self::List(_)
            | Self::Resume(_)
            | Self::Merge(_)
            | Self::Mutate(_)
            | Self::Prove(_)
            | Self::Diff(_)
            | Self::Signoff(_)
            | Self::Watch(_) => Needs::Blocks,
            Self::Schema(arguments) if arguments.is_of_blocks() => Needs::Blocks,
            Self::Cover(arguments) if arguments.has_blocks() => Needs::Blocks,
            Self::Report(_) | Self::History(_) | Self::Open(_) | Self::Doctor(_) => {
                Needs::BlocksIfThere
            }
            Self::BuildModels
            | Self::Cache(_)
            | Self::Compare(_)
            | Self::Cover(_)
            | Self::Doc(_)
            | Self::Error(_)
            | Self::Schema(_)
            | Self::New(_)
            | Self::Trust(_)
            | Self::Completions(_)
            | Self::Man(_) => Needs::Nothing,
        }
    }

    fn inputs(&self) -> &[PathBuf] {
        match self {
            Self::Replay(arguments) => &arguments.vectors,
            Self::Shrink(arguments) => arguments.inputs(),
            Self::Explain(arguments) => arguments.inputs(),
            Self::Export(arguments) => arguments.inputs(),
            Self::Resume(arguments) => arguments.inputs(),
            Self::Merge(arguments) => arguments.inputs(),
            Self::Signoff(arguments) => arguments.inputs(),
            _ => &[],
        }
    }
}

/// Whether a word of the command line can only be a file, and there is none.
fn is_missing(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let is_number = text.chars().all(|letter| letter.is_ascii_digit());
    !is_number && !text.contains(['*', '?', '[']) && path.symlink_metadata().is_err()
}

fn execute(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Replay(arguments) => replay::execute(&arguments),
        Command::Shrink(arguments) => shrink::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Bench(arguments) => bench::execute(&arguments),
        Command::Cache(arguments) => cache::execute(&arguments),
        Command::Cover(arguments) => cover::execute(&arguments),
        Command::Doc(arguments) => doc::execute(&arguments),
        Command::Error(arguments) => error::execute(&arguments),
        Command::List(arguments) => list::execute(&arguments),
        Command::Resume(arguments) => resume::execute(&arguments),
        Command::Schema(arguments) => schema::execute(&arguments),
        Command::Merge(arguments) => merge::execute(&arguments),
        Command::Mutate(arguments) => mutate::execute(&arguments),
        Command::Prove(arguments) => prove::execute(&arguments),
        Command::Diff(arguments) => diff::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Signoff(arguments) => signoff::execute(&arguments),
        Command::New(arguments) => new::execute(&arguments),
        Command::Trust(arguments) => trust::execute(&arguments),
        Command::Watch(arguments) => watch::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::History(arguments) => history::execute(&arguments),
        Command::Open(arguments) => open::execute(&arguments),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
        Command::BuildModels => build_models::execute(),
    }
}

/// Refuses names that are not UTF-8: vectors, journals, results and messages to workers record
/// them. All paths of a command are words of its command line, or relative to its working
/// directory.
fn checked(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let wrong = |what: &str, name: &OsStr| {
        let name = name.to_string_lossy();
        let message =
            format!("{what} `{name}` is not UTF-8, and no file could record it; rename it");
        Err(Error::Usage(codes::COMMAND_LINE, message))
    };
    if let Some(word) = words.iter().find(|word| word.to_str().is_none()) {
        return wrong("the argument", word);
    }
    let folders = [env::current_dir().unwrap_or_default(), env::temp_dir()];
    for (what, folder) in ["the working directory", "TMPDIR"].into_iter().zip(folders) {
        if folder.to_str().is_none() {
            return wrong(what, folder.as_os_str());
        }
    }
    Ok(words)
}

fn command() -> clap::Command {
    let command = help::fit(examples::add(Cli::command(), program::name()));
    command.name(program::name()).version(program::version())
}

/// Ends the process with the output of clap: help, the version, or a usage error.
fn end_with(error: &clap::Error) -> ! {
    let text = error.to_string();
    let Some(message) = text.strip_prefix("error: ") else { error.exit() };
    // The parser of a value may have returned an error with its own code.
    let own = error.source().and_then(|source| source.downcast_ref::<Error>());
    let code = own.map_or(codes::COMMAND_LINE, Error::code);
    let word =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| {
            match error.get(kind) {
                Some(ContextValue::String(word)) => Some(word.as_str()),
                _ => None,
            }
        });
    let hint = word.and_then(|word| wanted(error.kind(), word, &program::command()));
    let hint = hint.map_or_else(String::new, |line| format!("; did you mean `{line}`?"));
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    // The suggestions of clap include hidden commands.
    let rest: Vec<&str> = rest.split("\n\n").filter(|part| !part.contains("subcommand")).collect();
    program::show(&format!("error[{code}]: {first}{hint}\n{}", rest.join("\n\n")));
    process::exit(i32::from(code.exit()))
}

/// The command line that the user wanted instead of one with a word too much.
fn wanted(kind: ErrorKind, word: &str, words: &[String]) -> Option<String> {
    let program = words.first()?;
    let cli = Cli::command();
    let known = cli.get_subcommands().filter(|known| !known.is_hide_set());
    if kind == ErrorKind::InvalidSubcommand && cli.find_subcommand(words.get(1)?).is_none() {
        let own = text::like(word, known.map(clap::Command::get_name))?;
        return Some(format!("{program} {own}"));
    }
    let (of, place) = (words.get(1)?, words.iter().position(|other| other == word)?);
    let mut line = words.to_vec();
    match cli.find_subcommand(of)? {
        man if man.get_name() == "man" && cli.find_subcommand(word).is_some() => {
            line = vec![program.clone(), word.to_owned(), "--help".to_owned()];
        }
        command if !word.starts_with('-') && takes_block(command) => {
            line.insert(place, "--block".to_owned());
        }
        _ => return None,
    }
    Some(command_line(&line))
}

fn takes_block(command: &clap::Command) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some("block"))
}

fn parsed(command: &[String]) -> Option<Command> {
    let matches = Cli::command().try_get_matches_from(command).ok()?;
    Some(Cli::from_arg_matches(&matches).ok()?.command)
}

fn run_arguments(command: &[String]) -> Option<run::Arguments> {
    match parsed(command)? {
        Command::Run(arguments) => Some(*arguments),
        _ => None,
    }
}

fn mutate_arguments(command: &[String]) -> Option<mutate::Arguments> {
    match parsed(command)? {
        Command::Mutate(arguments) => Some(arguments),
        _ => None,
    }
}

/// The exit code of several results: a failure comes before what is undecided or only believed.
fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    codes
        .into_iter()
        .min_by_key(|code| match code {
            1 => 0,
            0 => u8::MAX,
            other => *other,
        })
        .unwrap_or(0)
}

/// Formats a count, such as "1 case", "2 cases" and "0 crashes".
fn counted(number: u64, thing: &str) -> String {
    let plural = if thing.ends_with("sh") || thing.ends_with("ch") { "es" } else { "s" };
    format!("{number} {thing}{}", if number == 1 { "" } else { plural })
}

/// The end of the text of a command: what it wrote, and the command to type next.
fn written(path: &Path, next: &[&str]) -> String {
    format!("  wrote {}\n{}", text::path(path), next_line(next))
}

/// The last line of a command: what to type next.
fn next_line(words: &[&str]) -> String {
    let words = words.iter().map(|word| (*word).to_owned());
    let words: Vec<String> = std::iter::once(program::called()).chain(words).collect();
    format!("  next: {}", text::line(&command_line(&words)))
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
    print_line(&text::json(&text))
}

/// Prints lines on standard output. Ignores a closed pipe.
fn print_text(text: &str) -> Result<(), Error> {
    print_line(&text::lines(text.trim_end()))
}

fn print_line(text: &str) -> Result<(), Error> {
    use std::io::Write;
    let painted = colour::painted(&format!("{text}\n"));
    let written = progress::suspended(|| anstream::stdout().write_all(painted.as_bytes()));
    match written {
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
/// The work in progress writes nothing and does not check [`IS_INTERRUPTED`].
static ENDS_AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Returns a flag that ^C and termination set. The second signal ends the process at once, and so
/// does the first one in [`at_once`].
fn interruption() -> Result<Arc<AtomicBool>, Error> {
    let flag = &*IS_INTERRUPTED;
    ctrlc::set_handler(move || {
        verilated_build::interrupt();
        if flag.swap(true, Ordering::SeqCst) || ENDS_AT_ONCE.load(Ordering::SeqCst) {
            files::remove_unfinished();
            process::exit(i32::from(INTERRUPTED));
        }
    })
    .map_err(|error| {
        Error::Environment(codes::SYSTEM, format!("cannot install the handler for ^C: {error}"))
    })?;
    Ok(Arc::clone(flag))
}

/// Runs long work that writes nothing, such as reading hundreds of MiB. An interruption ends the
/// process at once.
fn at_once<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    ENDS_AT_ONCE.store(true, Ordering::SeqCst);
    // Check for an earlier signal. A later one sees the stored flag.
    let result =
        if IS_INTERRUPTED.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { work() };
    ENDS_AT_ONCE.store(false, Ordering::SeqCst);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_commands_and_options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn names_that_are_not_utf_8_are_refused_before_anything_runs() {
        use std::os::unix::ffi::OsStringExt;
        let bad = || OsString::from_vec(b"--out=x\xff".to_vec());
        let words = |word: &str, last: OsString| checked(vec!["cosim".into(), word.into(), last]);
        let error = words("run", bad()).unwrap_err();
        assert_eq!(error.code(), codes::COMMAND_LINE);
        assert!(words("run", "--out=\u{e4}".into()).is_ok());
    }

    /// `options::path` refuses an empty path for all of them.
    #[test]
    fn each_path_of_each_command_has_the_parser_of_paths() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments() {
                let parser = format!("{:?}", argument.get_value_parser());
                let is_plain = ["path_buf", "os_string"].iter().any(|kind| parser.contains(kind));
                assert!(!is_plain, "{} {}: {parser}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        let mut cli = Cli::command();
        cli.build();
        cli.get_subcommands().filter(|command| !command.is_hide_set()).for_each(check);
    }
}
