//! README.md: is what it shows what happens?
//!
//! Every command of an indented block (`    $ command`) is run, in order, in one folder that looks like the
//! project after `scripts/run`; what it prints must be what the README shows. A line `...` stands for any
//! lines. What differs from machine to machine (times, speeds, hashes of builds) is not compared.

use crate::common::{QUICKLY, copy_rtl, models, program, project};
use regex::Regex;
use snapbox::{Assert, Redactions};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A command of the README and the output it shows.
struct Shown {
    line: usize,
    command: String,
    /// With `...` for any lines.
    output: String,
}

/// The commands of the indented blocks of a text.
fn shown(text: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        // A blank line is part of the output if more of it follows.
        let code = line.strip_prefix("    ").or(line.is_empty().then_some(""));
        match (code, commands.last_mut()) {
            (Some(code), _) if code.starts_with("$ ") => {
                let command = code[2..].to_owned();
                commands.push(Shown { line: index + 1, command, output: String::new() });
                in_block = true;
            }
            (Some(code), Some(command)) if in_block => {
                let any_lines = code.trim() == "...";
                command.output += if any_lines { code.trim() } else { code };
                command.output.push('\n');
            }
            _ => in_block = false,
        }
    }
    for Shown { output, .. } in &mut commands {
        output.truncate(output.trim_end().len());
    }
    commands
}

/// What depends on machine and moment.
fn redactions() -> Redactions {
    let mut redactions = Redactions::new();
    for (name, pattern) in [
        ("[TIME]", r"\b[0-9]+(\.[0-9]+)? (s|ms|min)\b"),
        ("[SPEED]", r"\b[0-9.]+[kMG]? cycles/s"),
        ("[THREADS]", r"\b[0-9]+ threads?\b"),
        ("[HASH]", r"\b[0-9a-f]{12}\b"),
        ("[SANDBOX]", r"sandbox: [^\n]+"),
        ("[VERSION]", r"Verilator [0-9.]+"),
        ("[MOMENT]", r"\b[0-9]{8}T[0-9]{6}Z(-[0-9]+)?\b"),
    ] {
        let pattern = Regex::new(pattern).expect("a pattern that is always the same");
        redactions.insert(name, pattern).expect("a name in brackets");
    }
    redactions
}

/// How what is printed differs from what is shown, if it does.
fn difference(shown: &str, printed: &str) -> Option<String> {
    let redactions = redactions();
    let shown = redactions.redact(shown);
    let assert = Assert::new().redact_with(redactions);
    assert.try_eq(None, printed.into(), shown.into()).err().map(|error| error.to_string())
}

/// A folder like the project's, in which `target/release/cosim` and `scripts/run` are the tested program.
fn playground() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["tests", "vectors", "docs"] {
        symlink(project().join(name), at(name)).expect("a link");
    }
    // A real copy: the README copies it again and changes that.
    copy_rtl(&at("rtl"));
    fs::create_dir_all(at("target/release")).expect("a folder");
    fs::create_dir(at("scripts")).expect("a folder");
    symlink(program().get_program(), at("target/release/cosim")).expect("a link");
    let script = "#!/bin/sh\nexec target/release/cosim run --block all \"$@\"\n";
    fs::write(at("scripts/run"), script).expect("a script");
    let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(at("scripts/run"), executable).expect("an executable script");
    folder
}

/// What a command prints on standard output, in the playground.
fn printed(folder: &Path, command: &str) -> String {
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder)
        .env("COSIM_CACHE", models())
        .env(QUICKLY.0, QUICKLY.1)
        .output()
        .expect("bash runs");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let readme = fs::read_to_string(project().join("README.md")).expect("README.md is there");
    let commands = shown(&readme);
    for step in ["scripts/run", " run ", " explain ", " replay "] {
        assert!(commands.iter().any(|shown| shown.command.contains(step)), "{step} is not shown");
    }
    let folder = playground();
    let wrong: Vec<String> = commands
        .iter()
        .filter_map(|Shown { line, command, output }| {
            let difference = difference(output, &printed(folder.path(), command))?;
            Some(format!("README.md:{line}: $ {command}\n{difference}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn another_output_is_a_difference() {
    let printed = "PASS  7 cases in 0.8 s\n  a\n  b\nend";
    assert_eq!(difference("PASS  7 cases in 1.9 s\n...\nend", printed), None);
    let wrong = [
        "PASS  8 cases in 0.8 s\n...\nend",
        "PASS  7 cases in 0.8 s\n  a\n  b",
        "PASS  7 cases in 0.8 s\n...\nmiddle\n...",
    ];
    for shown in wrong {
        assert!(difference(shown, printed).is_some(), "{shown}");
    }
}
