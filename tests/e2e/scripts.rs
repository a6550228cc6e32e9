//! The scripts detect missing tools.

use crate::common::project;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Whether `scripts/setup.sh` accepts `folder` as the location of bindgen's libclang.
fn has_libclang(folder: &Path) -> bool {
    Command::new("bash")
        .args(["-c", ". scripts/setup.sh && has_libclang"])
        .env("LIBCLANG_PATH", folder)
        .current_dir(project())
        .status()
        .expect("bash runs")
        .success()
}

#[test]
fn the_cxx_library_of_clang_is_not_taken_for_libclang() {
    let folder = TempDir::new().expect("a temporary folder");
    assert!(!has_libclang(folder.path()), "an empty folder");
    fs::write(folder.path().join("libclang-cpp.so.14"), "").expect("a file");
    assert!(!has_libclang(folder.path()), "libclang-cpp only");
    fs::write(folder.path().join("libclang-14.so.14.0.6"), "").expect("a file");
    assert!(has_libclang(folder.path()), "libclang");
}

/// The arguments with which `scripts/run` starts the program. Cargo and the program are stubs.
fn started_with(arguments: &[&str]) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let script = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable one");
    };
    script("bin/cargo", "exit 0");
    script("target/release/cosim", "echo \"$@\"");
    let path = std::env::var("PATH").expect("a PATH");
    let output = Command::new("scripts/run")
        .args(arguments)
        .env("PATH", format!("{}:{path}", folder.path().join("bin").display()))
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        .current_dir(project())
        .output()
        .expect("bash runs");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn a_regression_is_of_all_blocks_if_none_is_named() {
    assert_eq!(started_with(&["--cases", "3"]), "run --block all --cases 3");
    assert_eq!(started_with(&["--cases", "3", "--block", "qp"]), "run --cases 3 --block qp");
    assert_eq!(started_with(&["--block=qp,dll"]), "run --block=qp,dll");
}

/// A row that names nothing would be kept for ever.
#[test]
fn every_budget_of_builds_names_what_exists() {
    let read = |name: &str| fs::read_to_string(project().join(name)).expect(name);
    let script = read("scripts/times");
    let table = read("docs/times.tsv");
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
    let lock = read("Cargo.lock");
    for found in crates.captures_iter(&script) {
        let name = &found[1];
        assert!(lock.contains(&format!("name = \"{name}\"\n")), "there is no crate {name}");
    }
    for found in script.match_indices("\"build examples/") {
        let name = script[found.0 + 7..].split('"').next().expect("the end of the name");
        assert!(project().join(name).join("Cargo.toml").is_file(), "there is no {name}");
    }
}

/// `scripts/sizes ARGUMENT` of a repository: whether it succeeds, and what it prints.
fn sizes(root: &Path, argument: &str) -> (bool, String) {
    let output = Command::new(root.join("scripts/sizes")).arg(argument).output().expect("Python");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).expect("text"))
}

/// A folder that grew has to shrink, or its budget is raised on purpose.
#[test]
fn no_folder_is_larger_than_its_budget() {
    let (within, printed) = sizes(&project(), "check");
    assert!(within, "{printed}");
}

/// Lines, bytes and folders without a budget are too much, and no command raises a budget.
#[test]
fn the_budget_of_a_folder_falls_and_never_rises() {
    let folder = TempDir::new().expect("a temporary folder");
    let root = folder.path();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(root.join(name).parent().expect("a folder")).expect("a folder");
        fs::write(root.join(name), text).expect("a file");
        let added = Command::new("git").args(["add", "."]).current_dir(root).status();
        assert!(added.expect("git runs").success());
    };
    let init = Command::new("git").args(["init", "-q"]).current_dir(root).status();
    assert!(init.expect("git runs").success());
    fs::create_dir(root.join("scripts")).expect("a folder");
    fs::copy(project().join("scripts/sizes"), root.join("scripts/sizes")).expect("a copy");
    write("vectors/one.json", "{}\n{}\n");
    write("src/lib.rs", "// one\n// two\n");
    write("docs/sizes.tsv", "2\t14\tRust\t.\n999\t99999\tscripts\tscripts\n");
    assert!(sizes(root, "check").0, "{}", sizes(root, "check").1);
    let refused = |what: &str| {
        let (within, printed) = sizes(root, "check");
        assert!(!within && printed.contains(what), "{what}: {printed}");
        assert!(sizes(root, "write").0);
        assert!(!sizes(root, "check").0, "a budget was raised");
    };
    write("src/lib.rs", "// one and more\n");
    refused("bytes of Rust");
    write("src/lib.rs", "//\n//\n//\n");
    refused("lines of Rust");
    write("src/lib.rs", "//\n");
    assert!(sizes(root, "check").0 && sizes(root, "write").0);
    write("src/lib.rs", "//\n//\n");
    refused("lines of Rust");
    write("src/lib.rs", "//\n");
    write("docs/page.md", "A page.\n");
    refused("1 lines of Markdown");
}
