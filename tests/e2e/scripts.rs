//! The scripts detect missing tools.

use crate::common::{Place, assert_code, project, script, source, text};
use crate::documentation::below;
use std::process::{Command, Output};

/// `scripts/setup.sh` accepts a folder with libclang as its location for bindgen.
#[test]
fn the_cxx_library_of_clang_is_not_taken_for_libclang() {
    let place = Place::new();
    let has_libclang = || {
        let mut bash = Command::new("bash");
        bash.args(["-c", ". scripts/setup.sh && has_libclang"]).current_dir(project());
        bash.env("LIBCLANG_PATH", place.path("")).status().expect("bash runs").success()
    };
    assert!(!has_libclang(), "an empty folder");
    place.write("libclang-cpp.so.14", "");
    assert!(!has_libclang(), "libclang-cpp only");
    place.write("libclang-14.so.14.0.6", "");
    assert!(has_libclang(), "libclang");
}

/// The arguments with which `scripts/run` starts the program. Cargo and the program are stubs.
fn started_with(arguments: &str) -> String {
    let place = Place::new();
    for (name, text) in [("bin/cargo", "exit 0"), ("target/release/cosim", "echo \"$@\"")] {
        place.write(name, "");
        script(&place.path(name), text);
    }
    let path = std::env::var("PATH").expect("a PATH");
    let output = Command::new("scripts/run")
        .args(arguments.split(' '))
        .env("PATH", format!("{}:{path}", place.path("bin").display()))
        .env("CARGO_TARGET_DIR", place.path("target"))
        .current_dir(project())
        .output()
        .expect("bash runs");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn a_regression_is_of_all_blocks_if_none_is_named() {
    assert_eq!(started_with("--cases 3"), "run --block all --cases 3");
    assert_eq!(started_with("--cases 3 --block qp"), "run --cases 3 --block qp");
    assert_eq!(started_with("--block=qp,dll"), "run --block=qp,dll");
}

/// A row that names nothing would be kept for ever.
#[test]
fn every_budget_of_builds_names_what_exists() {
    let script = source("scripts/times");
    let table = source("docs/times.tsv");
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let [ratio, target, name] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}: expected three columns");
        };
        assert!(ratio.parse::<f64>().is_ok() && target.parse::<f64>().is_ok(), "{row}");
        assert!(script.contains(&format!("\"{name}\"")), "{name} is no budget of scripts/times");
    }
    let crates = regex::Regex::new(r#""crate ([a-z-]+) [a-z_]+""#).expect("a constant pattern");
    let lock = source("Cargo.lock");
    for found in crates.captures_iter(&script) {
        let name = &found[1];
        assert!(lock.contains(&format!("name = \"{name}\"\n")), "there is no crate {name}");
    }
    for found in script.match_indices("\"build examples/") {
        let name = script[found.0 + 7..].split('"').next().expect("the end of the name");
        assert!(project().join(name).join("Cargo.toml").is_file(), "there is no {name}");
    }
}

/// A folder that grew has to shrink, or its budget is raised on purpose.
#[test]
fn no_folder_is_larger_than_its_budget() {
    let mut sizes = Command::new(project().join("scripts/sizes"));
    assert_code(&sizes.arg("check").output().expect("Python"), 0);
}

/// Lines, bytes and folders without a budget are too much, and no command raises a budget.
#[test]
fn the_budget_of_a_folder_falls_and_never_rises() {
    let place = Place::new();
    let sizes = |argument: &str| -> Output {
        Command::new(place.path("scripts/sizes")).arg(argument).output().expect("Python")
    };
    let write = |name: &str, text: &str| {
        place.write(name, text);
        place.git("add .");
    };
    place.git("init -q");
    std::fs::create_dir(place.path("scripts")).expect("a folder");
    std::fs::copy(project().join("scripts/sizes"), place.path("scripts/sizes")).expect("a copy");
    write("vectors/one.json", "{}\n{}\n");
    write("src/lib.rs", "// one\n// two\n");
    write("docs/sizes.tsv", "2\t14\tRust\t.\n999\t99999\tscripts\tscripts\n");
    assert_code(&sizes("check"), 0);
    let refused = |name: &str, lines: &str, expected: &str| {
        write(name, lines);
        let output = sizes("check");
        let printed = text(&output);
        assert!(!output.status.success() && printed.contains(expected), "{expected}: {printed}");
        assert_code(&sizes("write"), 0);
        assert!(!sizes("check").status.success(), "a budget was raised");
    };
    refused("src/lib.rs", "// one and more\n", "bytes of Rust");
    refused("src/lib.rs", "//\n//\n//\n", "lines of Rust");
    write("src/lib.rs", "//\n");
    assert_code(&sizes("check"), 0);
    assert_code(&sizes("write"), 0);
    refused("src/lib.rs", "//\n//\n", "lines of Rust");
    write("src/lib.rs", "//\n");
    refused("docs/page.md", "A page.\n", "1 lines of Markdown");
}

/// Subjects are read in lists: a scope, one change, at most 72 characters. Those before this test
/// stay as they are.
#[test]
fn subjects_of_commits_have_a_scope_and_one_change() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(project()).output();
        String::from_utf8_lossy(&output.expect("git").stdout).into_owned()
    };
    let added = ["log", "--format=%H", "-Ssubjects_of_commits_have", "--", "tests/e2e/scripts.rs"];
    let first = git(&added).lines().last().map(|hash| format!("{hash}..HEAD"));
    let subjects = first.map(|since| git(&["log", "--no-merges", "--format=%s", &since]));
    let subject = regex::Regex::new("^[a-z0-9_-]+: [a-z].*[^.]$").expect("a constant pattern");
    let is_wrong = |text: &&str| text.len() > 72 || text.contains(';') || !subject.is_match(text);
    assert_eq!(subjects.unwrap_or_default().lines().find(is_wrong), None);
}

/// A listed test that is renamed would run in the gate.
#[test]
fn each_deep_test_exists() {
    let folders = ["crates", "tests", "verilated"].map(|folder| project().join(folder));
    let sources: String =
        folders.iter().flat_map(|folder| below(folder, "rs")).map(source).collect();
    let listed = source("tests/deep.txt");
    let names: Vec<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    let is_gone = |name: &&&str| {
        let function = name.rsplit("::").next().unwrap_or(name);
        !sources.contains(&format!("fn {function}()"))
    };
    assert_eq!(names.iter().find(is_gone), None);
    assert!(names.is_sorted_by(|name, next| name < next), "sorted, each once");
}
