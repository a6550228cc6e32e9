//! `cosim completions` and `cosim man`: completions of shells, and manual pages.
//!
//! The script of a shell calls this program, which offers names of blocks, profiles, scenarios,
//! cases and files. It starts no program that may come with a checkout, and offers plain words
//! only: a shell inserts them as they are, and a run directory or a file may come from anyone. Bash
//! completes the names of other files by itself, which quotes them.

use crate::failures::failure;
use crate::terminal::options::{heading, path};
use crate::{command, print_text};
use clap::{Arg, Args, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_formats::run::{self, RESULTS};
use cosim_regress::blocks;
use cosim_report::report::Results;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Set by the script of a shell.
const VARIABLE: &str = "COSIM_COMPLETE";
/// Larger results take too long to read for a completion, in bytes.
const MOST_RESULTS: u64 = 8 << 20;

/// The shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell that completes the commands.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn completions(arguments: &Completions) -> Result<ExitCode, Error> {
    let mut text = Vec::new();
    let name = program::name();
    let shells = Shells::builtins();
    let shell = shells.completer(&arguments.shell.to_string()).ok_or_else(|| {
        Error::Environment(codes::INTERNAL, format!("no completions for {}", arguments.shell))
    })?;
    shell
        .write_registration(VARIABLE, name, name, name, &mut text)
        .map_err(Error::write("standard output"))?;
    let text = String::from_utf8_lossy(&text);
    // Where this program offers nothing, Bash completes names of files, and quotes them.
    print_text(&text.replace("-o bashdefault ", "-o bashdefault -o default "))?;
    Ok(ExitCode::SUCCESS)
}

/// Answers the script of a shell, and ends the process then.
pub fn complete() {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(|| with_values(command())).var(VARIABLE).complete();
    }
}

/// The commands with candidates for the values of their arguments.
fn with_values(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|command| {
        with_values(command).mut_args(|argument| match candidates(&argument) {
            Some(completer) => argument.add(completer),
            // clap would offer every name of a file.
            None if argument.get_value_hint() != ValueHint::Unknown => {
                argument.add(ArgValueCompleter::new(plain_paths))
            }
            None => argument,
        })
    })
}

/// The candidates for the values of an argument; `None`: what clap offers.
fn candidates(argument: &Arg) -> Option<ArgValueCompleter> {
    let values: fn() -> Vec<String> = match argument.get_id().as_str() {
        "block" => || names(|known| vec![known.block.clone()]),
        "fixes" => || names(|known| known.profiles.clone()),
        "scenario" => || names(|known| known.scenarios.clone()),
        "case" => cases,
        "vector" | "vectors" | "what" => numbers,
        "code" => || {
            let all = codes::groups().flat_map(|(_, codes)| codes);
            all.map(|code| code.number().to_owned()).collect()
        },
        _ => return None,
    };
    let with_paths =
        matches!(argument.get_id().as_str(), "vector" | "vectors" | "what" | "scenario");
    Some(ArgValueCompleter::new(move |current: &OsStr| {
        let text = current.to_string_lossy();
        // Values of one argument may have commas between them.
        let (before, last) = text
            .rsplit_once(',')
            .map_or(("", &*text), |(before, last)| (&text[..before.len() + 1], last));
        let mut values = values();
        values.retain(|value| is_plain(value) && value.starts_with(last));
        let mut all: Vec<CompletionCandidate> = values
            .iter()
            .map(|value| CompletionCandidate::new(format!("{before}{value}")))
            .collect();
        if with_paths {
            all.extend(plain_paths(current));
        }
        all
    }))
}

/// The paths that begin with a text and are plain words.
fn plain_paths(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut paths = PathCompleter::any().complete(current);
    paths.retain(|path| path.get_value().to_str().is_some_and(is_plain));
    paths
}

/// Whether a word means itself in every shell.
fn is_plain(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+:".contains(letter);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

struct Known {
    block: String,
    profiles: Vec<String>,
    scenarios: Vec<String>,
}

/// Names of the blocks of the program that is installed beside this one, or else of the latest run.
/// A crate is not built, and what was built in its folder is not started.
fn names(of: fn(&Known) -> Vec<String>) -> Vec<String> {
    crate::blocks::located::set_if_built();
    let infos = blocks::infos();
    let installed = infos.iter().map(|info| Known {
        block: info.name.to_owned(),
        profiles: info.profiles.iter().map(|profile| profile.name.to_string()).collect(),
        scenarios: info.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
    });
    let latest = latest().map(|results| Known {
        block: results.run.block,
        profiles: results.run.profiles,
        scenarios: results.run.scenarios,
    });
    let mut names: Vec<String> = installed.chain(latest).flat_map(|known| of(&known)).collect();
    names.sort();
    names.dedup();
    names
}

fn latest() -> Option<Results> {
    let folder = failure::latest();
    let size = fs::metadata(folder.join(RESULTS)).ok()?.len();
    (size <= MOST_RESULTS).then(|| Results::read(&folder, |_, _| ()).ok())?
}

/// Failing cases of the latest run, then the first case of each of its scenarios.
fn cases() -> Vec<String> {
    let Some(Results { run, failures, .. }) = latest() else { return Vec::new() };
    let failed = failures.iter().flat_map(|group| &group.first_cases);
    let mut names: Vec<String> = failed.map(|case| case.name.clone()).collect();
    for profile in &run.profiles {
        let first = run.scenarios.iter().map(|name| format!("{}/{profile}/{name}/0", run.block));
        names.extend(first);
    }
    names
}

/// The numbers of the failures of the latest run.
fn numbers() -> Vec<String> {
    let causes = latest().map_or(0, |results| run::causes(&results.failures).len());
    (1..=causes).map(|number| number.to_string()).collect()
}

/// Where manual pages go.
#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for each command into DIR, a folder that exists [default: print the page of the
    /// program].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

pub fn man(arguments: &Man) -> Result<ExitCode, Error> {
    let command = in_full(command().disable_help_subcommand(true));
    match &arguments.out {
        None => print_text(&page(&command)?)?,
        Some(folder) => write(&command, folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The command with all that its long help has: a manual page leaves out what short help does.
fn in_full(mut command: clap::Command) -> clap::Command {
    command.build();
    let command = command.mut_args(|argument| {
        let help = argument.get_long_help().or(argument.get_help()).cloned();
        argument.hide_short_help(false).help(help.unwrap_or_default())
    });
    let mut command = command.mut_subcommands(in_full);
    let usage = command.render_usage().to_string();
    command.override_usage(usage.trim_start_matches("Usage: ").to_owned())
}

/// Writes the pages of a command and of its subcommands.
fn write(command: &clap::Command, folder: &Path) -> Result<(), Error> {
    let path = folder.join(clap_mangen::Man::new(command.clone()).get_filename());
    fs::write(&path, page(command)?).map_err(Error::write(&path))?;
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.into_iter().try_for_each(|below| write(below, folder))
}

/// The page of a command in the format of man.
fn page(command: &clap::Command) -> Result<String, Error> {
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render(&mut text).map_err(Error::write("standard output"))?;
    let text = String::from_utf8_lossy(&text);
    // The text after the options: lines as they are.
    let text = text.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    Ok(text.replace(".SH EXTRA\n", ".SH NOTES\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_every_option_with_its_help_and_its_value() {
        fn check(command: &clap::Command) {
            let page = page(command).expect("a page");
            let plain = page.replace("\\*(Aq", "'").replace('\\', "");
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                if argument.get_id() == "help" {
                    continue;
                }
                let help = argument.get_help().expect("a help").to_string();
                let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(plain.contains(&help), "{}: {help}", command.get_name());
                let long = argument.get_long().map(|long| format!("--{long}"));
                assert!(plain.contains(&long.unwrap_or_default()), "{}", argument.get_id());
            }
            assert!(!page.contains(".SH EXTRA"), "{page}");
            assert!(!plain.contains("[--"), "no option without its value: {page}");
            command.get_subcommands().filter(|below| !below.is_hide_set()).for_each(check);
        }
        check(&in_full(crate::command().disable_help_subcommand(true)));
    }

    #[test]
    fn only_words_that_mean_themselves_in_a_shell_are_offered() {
        for word in ["thread2", "spec", "qp/spec/full-queue/0", "E0101", "1", "a_b.json", "w:3+x"] {
            assert!(is_plain(word), "{word}");
        }
        let bad = [
            "",
            "-x",
            "--rtl=x",
            "$(touch x)",
            "`x`",
            "a b",
            "a;b",
            "a\nb",
            "\u{1b}[31m",
            "~",
            "a*",
            "x'y",
        ];
        for word in bad {
            assert!(!is_plain(word), "{word}");
        }
    }

    #[test]
    fn every_value_with_candidates_is_an_argument() {
        let mut found = Vec::new();
        let command = crate::command();
        for command in command.get_subcommands() {
            let known = command.get_arguments().filter(|argument| candidates(argument).is_some());
            found.extend(known.map(|argument| argument.get_id().to_string()));
        }
        for name in ["block", "fixes", "scenario", "case", "vector", "vectors", "what", "code"] {
            assert!(found.iter().any(|other| other == name), "{name}");
        }
    }
}
