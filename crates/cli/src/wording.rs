//! Checks that all text for users uses the terms of the field.
//!
//! It checks the help of every command, the table of error codes, every string literal of the
//! sources and every template. Reviews cover tests and comments.

use crate::Cli;
use crate::terminal::examples;
use clap::CommandFactory;
use cosim_base::error::codes;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Refused phrases, each with its replacement: `tests/words.tsv`.
fn refused_phrases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("../../../tests/words.tsv").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| {
        let [place, phrase, instead] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {row}")
        };
        ["text", "all"].contains(&place).then_some((phrase, instead))
    })
}

fn refused(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // Skip names of bins, files and keys.
    if words.len() < 3 {
        return None;
    }
    let text = words.join(" ").to_lowercase();
    let found = refused_phrases().find(|(phrase, _)| {
        let starts = text.match_indices(phrase).map(|(at, _)| (at, at + phrase.len()));
        let is_word = |edge: Option<char>| !edge.is_some_and(char::is_alphanumeric);
        starts.into_iter().any(|(from, to)| {
            is_word(text[..from].chars().next_back()) && is_word(text[to..].chars().next())
        })
    });
    found.map(|(phrase, instead)| format!("`{phrase}`, write {instead}: {text}"))
}

/// The help of a command and of all nested ones.
fn help(command: &mut clap::Command, all: &mut Vec<String>) {
    all.push(command.render_long_help().to_string());
    command.get_subcommands_mut().for_each(|below| help(below, all));
}

/// Names of bins that coverage databases contain, so they must stay.
const PUBLIC: [&str; 2] = ["unit goes on", "packet goes on"];

fn commands() -> clap::Command {
    let mut cli = examples::add(Cli::command(), "cosim");
    cli.build();
    cli
}

/// The string literals of a source, without comments and unit tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let (mut all, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let tail = &rest[at..];
        rest = if tail.starts_with("//") {
            tail.split_once('\n').map_or("", |(_, next)| next)
        } else if let Some(next) = tail.strip_prefix("'\"'") {
            next
        } else if let Some(literal) = tail.strip_prefix('"') {
            let mut is_escaped = false;
            let end = literal.find(|letter| {
                let ends = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                ends
            });
            let (text, next) = literal.split_at(end.unwrap_or(literal.len()));
            all.push(text.replace("\\\n", ""));
            next.get(1..).unwrap_or_default()
        } else {
            &tail[1..]
        };
    }
    all
}

/// The files with this ending in the repository whose text reaches users.
fn files(ending: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["core", "crates", "src", "verilated", "examples"].map(|name| root.join(name));
    let files = folders.iter().flat_map(WalkDir::new).map(|entry| entry.unwrap().into_path());
    let is_counted = |path: &PathBuf| {
        let name = path.to_string_lossy();
        path.extension().is_some_and(|found| found == ending)
            && !["/tests", "/target/", "/wording.rs", "/checks/"]
                .iter()
                .any(|part| name.contains(part))
    };
    files.filter(is_counted).collect()
}

#[test]
fn help_uses_the_terms_of_the_field() {
    let mut all = Vec::new();
    help(&mut commands(), &mut all);
    assert!(all.len() > 20, "{}", all.len());
    let wrong: Vec<String> = all.iter().filter_map(|text| refused(text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn error_codes_use_the_terms_of_the_field() {
    let texts = codes::ALL.iter().flat_map(|code| [code.title().to_owned(), code.explanation()]);
    let wrong: Vec<String> = texts.filter_map(|text| refused(&text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_and_pages_use_the_terms_of_the_field() {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    for path in files("rs") {
        texts.extend(literals(&read(&path)).into_iter().map(|text| (path.clone(), text)));
    }
    assert!(texts.len() > 3000, "{}", texts.len());
    texts.extend(files("html").into_iter().map(|path| (path.clone(), read(&path))));
    let texts = texts.iter().filter(|(_, text)| !PUBLIC.contains(&text.as_str()));
    let wrong = texts.filter_map(|(path, text)| {
        refused(text).map(|message| format!("{}: {message}", path.display()))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn literals_are_found_without_comments_and_tests() {
    let source = "let a = \"one \\\"two\\\" \\\n  three\"; // \"no\"\nlet b = '\"';\nlet c = \"four\";\n\
                  #[cfg(test)]\nmod tests { \"no\" }";
    assert_eq!(literals(source), ["one \\\"two\\\"   three", "four"]);
}

#[test]
fn each_command_ends_with_two_examples_that_parse() {
    let commands = commands();
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for (path, words) in examples::all_examples() {
        let line = std::iter::once("cosim").chain(words.split_whitespace());
        let parsed = commands.clone().try_get_matches_from(line);
        assert!(parsed.is_ok(), "{words}: {}", parsed.unwrap_err());
        *seen.entry(path).or_default() += 1;
    }
    assert!(seen.values().all(|count| *count == 2), "{seen:?}");
    let mut paths = Vec::new();
    for command in commands.get_subcommands().filter(|command| !command.is_hide_set()) {
        let below: Vec<&str> = command.get_subcommands().map(|below| below.get_name()).collect();
        match below.as_slice() {
            [] => paths.push(command.get_name().to_owned()),
            below => {
                paths.extend(below.iter().map(|name| format!("{} {name}", command.get_name())))
            }
        }
    }
    paths.retain(|path| !path.contains("help"));
    paths.sort();
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), paths);
}

/// Options whose meaning depends on the command.
const OWN: [&str; 13] = [
    "block", "cases", "details", "force", "format", "history", "only", "out", "plan", "seed",
    "shard", "time", "top",
];

#[test]
fn an_option_has_the_same_help_in_every_command() {
    let commands = commands();
    let mut texts = std::collections::BTreeMap::<String, String>::new();
    let below = commands.get_subcommands().flat_map(clap::Command::get_subcommands);
    for command in commands.get_subcommands().chain(below) {
        for option in command.get_opts().filter(|option| !option.is_hide_set()) {
            let name = option.get_id().to_string();
            let Some(help) = option.get_help().map(ToString::to_string) else { continue };
            if OWN.contains(&&*name) {
                continue;
            }
            let first = texts.entry(name).or_insert_with(|| help.clone());
            assert_eq!(*first, help, "{}: --{}", command.get_name(), option.get_id());
        }
    }
}
