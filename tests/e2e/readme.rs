//! Checks that README.md, `docs/tutorial/first-failure.md` and other pages show the actual output
//! of their commands.
//!
//! Every command of an indented block (`    $ command`) runs in order, as in one shell, which
//! begins in a folder that looks like the project. The lines of a
//! here-document, up to `END`, belong to the command. Its output must match the document. A line
//! `...` stands for any lines. Machine-dependent values (times, speeds, hashes of builds) are not
//! compared.

use crate::common::{Place, cargo_outside, copy_rtl, files, program, project, run, source, text};
use cosim::PROGRAM;
use regex::Regex;
use snapbox::{Assert, Redactions};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a document and the output shown for it.
struct Transcript {
    line: usize,
    command: String,
    /// `...` stands for any lines.
    output: String,
}

/// The commands of the indented blocks of a text.
fn shown(text: &str) -> Vec<Transcript> {
    let mut commands: Vec<Transcript> = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        // A blank line belongs to the output if more of it follows.
        let code = line.strip_prefix("    ").or(line.is_empty().then_some(""));
        match (code, commands.last_mut()) {
            (Some(code), _) if code.starts_with("$ ") => {
                let command = code[2..].to_owned();
                commands.push(Transcript { line: index + 1, command, output: String::new() });
                in_block = true;
            }
            (Some(code), Some(Transcript { command, .. })) if in_block && is_open(command) => {
                *command += "\n";
                *command += code;
            }
            (Some(code), Some(command)) if in_block => {
                let any_lines = code.trim() == "...";
                command.output += if any_lines { code.trim() } else { code };
                command.output.push('\n');
            }
            _ => in_block = false,
        }
    }
    for Transcript { output, .. } in &mut commands {
        output.truncate(output.trim_end().len());
    }
    commands
}

/// Whether a command has a here-document that has not ended.
fn is_open(command: &str) -> bool {
    command.contains("<<'END'") && !command.ends_with("\nEND")
}

/// Patterns of machine-dependent values.
fn redactions() -> Redactions {
    let mut redactions = Redactions::new();
    for (name, pattern) in [
        ("[TIME]", r"\b[0-9]+(\.[0-9]+)? (s|ms|min)\b"),
        ("[SPEED]", r"\b[0-9.]+[kMG]? cycles/s"),
        ("[THREADS]", r"\b[0-9]+ threads?\b"),
        ("[HASH]", r"\b[0-9a-f]{12}\b"),
        ("[SANDBOX]", r"sandbox: [^\n]+"),
        ("[VERSION]", r"Verilator [0-9.]+"),
        ("[PROVERS]", r"Yosys [0-9.]+[^\n]*, CaDiCaL [^\n]*"),
        ("[MOMENT]", r"\b[0-9]{8}T[0-9]{6}Z(-[0-9]+)?\b"),
    ] {
        let pattern = Regex::new(pattern).expect("a pattern that is always the same");
        redactions.insert(name, pattern).expect("a name in brackets");
    }
    redactions
}

/// The difference between printed and shown output, if any.
fn difference(shown: &str, printed: &str) -> Option<String> {
    let redactions = redactions();
    let shown = redactions.redact(shown);
    let assert = Assert::new().redact_with(redactions);
    assert.try_eq(None, printed.into(), shown.into()).err().map(|error| error.to_string())
}

/// A folder like the project's.
fn playground() -> Place {
    let place = Place::new();
    place.link_program();
    for name in ["tests", "vectors", "docs", "examples"] {
        place.link(project().join(name), name);
    }
    // A real copy, because the README copies it and changes the copy.
    copy_rtl(&place.path("rtl"));
    place
}

/// The standard output of a command in a shell that is in `now`, which the command may change. The
/// shell began in `folder`.
fn printed(folder: &Path, now: &mut PathBuf, command: &str) -> String {
    // The crate has to be there before it is built with the settings below.
    if let Some((before, rest)) = command.split_once(" && cd ") {
        let first = printed(folder, now, before);
        return format!("{first}\n{}", printed(folder, now, &format!("cd {rest}")));
    }
    let path = std::env::var("PATH").expect("a path");
    let place = folder.join("bin/now");
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(format!("trap 'pwd > {}' EXIT\n{command}", place.display()));
    let entered = command.strip_prefix("cd ").and_then(|rest| rest.split([' ', '\n']).next());
    let inside = entered.map_or_else(|| now.clone(), |name| now.join(name));
    let inside = fs::canonicalize(&inside).unwrap_or(inside);
    if inside != folder {
        // The same settings as for other crates outside the repository.
        let cargo = cargo_outside(&inside);
        bash.envs(cargo.get_envs().filter_map(|(name, value)| Some((name, value?))));
        bash.env("COSIM_PROFILE", "dev");
        for (setting, value) in [("OPT_LEVEL", "0"), ("DEBUG", "false"), ("LTO", "off")] {
            bash.env(format!("CARGO_PROFILE_DEV_{setting}"), value);
        }
    }
    let settings = program();
    bash.envs(settings.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    let output = bash.current_dir(&*now).output().expect("bash runs");
    *now = fs::read_to_string(&place).expect("the folder of the shell").trim_end().into();
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    assert_shown("README.md", &[" run ", " new ", " explain "], &playground());
}

/// Is the bug that README runs the planted one, on the present RTL?
#[test]
fn the_bug_of_the_readme_is_a_planted_one() {
    let planted = Place::with_bug("dll/38-damaged-tlp-delivered");
    assert!(planted.text("rtl/dll/PcieDllRx.sv") == source("examples/bug/PcieDllRx.sv"));
}

#[test]
fn the_first_failure_shows_what_its_commands_print() {
    let steps = [" run ", " explain ", " replay "];
    assert_shown("docs/tutorial/first-failure.md", &steps, &playground());
}

#[test]
fn the_way_to_closed_coverage_shows_what_its_commands_print() {
    let steps = [" cover close ", " replay ", " --closed "];
    assert_shown("docs/how-to/coverage.md", &steps, &playground());
}

#[test]
fn the_tutorial_of_the_fifo_shows_what_its_commands_print() {
    assert_tutorial("docs/tutorial/fifo.md", Some("fifo/rtl/Fifo.sv"));
}

#[test]
#[ignore = "slow: builds a crate and a variant of its RTL"]
fn the_tutorial_of_a_block_shows_what_its_commands_print() {
    assert_tutorial("docs/tutorial/add-a-block.md", None);
}

#[test]
#[ignore = "slow: builds a crate and two variants of its RTL"]
fn the_tutorial_of_a_peripheral_shows_what_its_commands_print() {
    let rtl = "blocks/rtl/AxiLiteMemory.sv";
    assert_tutorial("docs/tutorial/axi-lite.md", Some(rtl));
}

/// Checks a tutorial in a folder with the RTL of an example alone.
#[track_caller]
fn assert_tutorial(name: &str, rtl: Option<&str>) {
    let place = Place::new();
    place.link_program();
    if let Some(rtl) = rtl {
        let rtl = project().join("examples").join(rtl);
        fs::copy(&rtl, place.path("").join(rtl.file_name().expect("a file"))).expect("a copy");
    }
    assert_shown(name, &[" new ", " run", " explain "], &place);
}

/// Checks that a document shows these steps and the output of its commands in a place.
#[track_caller]
fn assert_shown(name: &str, steps: &[&str], place: &Place) {
    let commands = shown(&source(name));
    for step in steps {
        assert!(commands.iter().any(|shown| shown.command.contains(step)), "{step} is not shown");
    }
    let folder = fs::canonicalize(place.path("")).expect("the folder");
    let mut now = folder.clone();
    let mut wrong = String::new();
    for Transcript { line, command, output } in commands {
        if let Some(found) = difference(&output, &printed(&folder, &mut now, &command)) {
            wrong += &format!("{name}:{line}: $ {command}\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn another_output_is_a_difference() {
    let printed = "PASS  7 cases in 0.8 s\n  a\n  b\nend";
    assert_eq!(difference("PASS  7 cases in 1.9 s\n...\nend", printed), None);
    for shown in [
        "PASS  8 cases in 0.8 s\n...\nend",
        "PASS  7 cases in 0.8 s\n  a\n  b",
        "PASS  7 cases in 0.8 s\n...\nmiddle\n...",
    ] {
        assert!(difference(shown, printed).is_some(), "{shown}");
    }
}

/// A text without line breaks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn states(name: &str, expected: &str) {
    assert!(joined(&source(name)).contains(expected), "{name} does not say `{expected}`");
}

#[test]
fn documents_have_the_profiles_of_each_block_and_the_number_of_bugs() {
    let mut count = 0;
    for block in PROGRAM.blocks.iter().map(|block| block.info()) {
        count += files(&project().join("tests/bad_rtl").join(block.name), "patch").len();
        for profile in block.profiles {
            states(&format!("docs/blocks/{}.md", block.name), &format!("`{}`", profile.name));
        }
    }
    states("README.md", &format!("`tests/bad_rtl` has {count} realistic bugs"));
    states("docs/explanation/architecture.md", &format!("all {count} bugs"));
}

#[test]
fn exit_codes_are_the_same_in_every_list() {
    let codes = |text: &str| -> Vec<String> {
        let pattern = Regex::new(r"(?:^|[ ,;·|])(0|1|2|3|4|130) ").expect("a pattern");
        pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
    };
    let all = ["0", "1", "2", "3", "4", "130"];
    for text in [text(&run(["--help"])), source("docs/reference/commands.md")] {
        let list = joined(&text);
        let (_, list) = list.split_once("Exit codes:").expect("a list");
        assert_eq!(codes(list.split("interrupted").next().expect("a list")), all);
    }
    let page = source("docs/how-to/ci.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| exit code")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let of_page = rows.filter_map(|line| line.split('|').nth(1).map(str::trim));
    assert_eq!(of_page.collect::<Vec<_>>(), all);
}
