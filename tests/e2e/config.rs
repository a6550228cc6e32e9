//! Tests that `cosim.toml` provides defaults for options, and that the command line takes
//! precedence.

use crate::common::{assert_error_at, code, cosim, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// A folder with a `cosim.toml`.
fn folder(config: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("cosim.toml"), config).expect("a file");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    cosim().current_dir(folder).args(arguments).output().expect("the program runs")
}

/// The header in `results.json` of a run in `out`.
fn header(folder: &Path) -> Value {
    let path = folder.join("out/results.json");
    let results = fs::read_to_string(path).expect("results");
    serde_json::from_str::<Value>(&results).expect("JSON")["run"].take()
}

#[test]
fn options_have_the_defaults_of_the_nearest_file_upwards() {
    let folder =
        folder("[all]\nblock = \"qp\"\n[run]\ncases = 2\nscenario = [\"drain\", \"meet\"]\n");
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).expect("a folder");
    let output = run(&below, &["run", "--out", "out", "--seed", "7"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let header = header(&below);
    assert_eq!(header["block"], "qp");
    assert_eq!(header["cases"], 2);
    assert_eq!(header["scenarios"], serde_json::json!(["drain", "meet"]));
    assert!(text(&output).contains("cosim.toml"), "a run must not depend on a file unseen");
    let timing = fs::read_to_string(below.join("out/timing.json")).expect("times");
    assert!(timing.contains("--cases=2"), "the command line has the defaults: {timing}");
}

#[test]
fn the_command_line_comes_first() {
    let folder = folder("[run]\nblock = \"qp\"\ncases = 2\nfixes = \"spec\"\n");
    // A case names its block and profile, and excludes --cases.
    let arguments = ["run", "--out", "case", "--case", "recv/spec/default/0"];
    let output = run(folder.path(), &arguments);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let arguments = ["run", "--out", "out", "--block", "recv", "--cases", "1"];
    let output = run(folder.path(), &arguments);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert_eq!(header(folder.path())["block"], "recv");
    assert_eq!(header(folder.path())["cases"], 1);
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let folder = folder("[run]\nblock = \"qp\"\ncases = 1\nhistory = \"runs.db\"\n");
    let below = folder.path().join("below");
    fs::create_dir(&below).expect("a folder");
    let output = run(&below, &["run", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(folder.path().join("runs.db").exists());
}

#[test]
fn mistakes_are_named_with_their_line_and_nothing_runs() {
    for (config, place, error) in [
        ("[run]\ncasse = 1\n", "2:1", "E0213"),
        ("[walk]\ncases = 1\n", "1:1", "E0213"),
        ("[run]\nout = \"here\"\n", "2:1", "E0213"),
        ("cases = 1\n", "1:1", "E0213"),
        ("[run]\ncases = \"many\"\n", "2:1", "E0215"),
        ("[run]\nquiet = 1\n", "2:1", "E0215"),
        ("[run\n", "1:5", "E0205"),
    ] {
        let folder = folder(config);
        let output = run(folder.path(), &["run", "--out", "out"]);
        assert_error_at(&output, error, &format!("cosim.toml:{place}"));
        assert!(!folder.path().join("out").exists(), "{config}");
    }
}

#[test]
fn a_variable_names_another_file_or_none() {
    let folder = folder("[run]\nblock = \"nothing\"\n");
    let other = folder.path().join("other.toml");
    fs::write(&other, "[run]\nblock = \"qp\"\ncases = 1\n").expect("a file");
    let with = |value: &Path| {
        let arguments = ["run", "--out", "out", "--force"];
        let mut command = cosim();
        command.current_dir(folder.path()).env("COSIM_CONFIG", value).args(arguments);
        command.output().expect("the program runs")
    };
    assert_eq!(code(&with(&other)), 0);
    assert_eq!(header(folder.path())["block"], "qp");
    let output = cosim()
        .current_dir(folder.path())
        .env("COSIM_CONFIG", "")
        .args(["list", "--block", "qp"])
        .output()
        .expect("the program runs");
    assert_eq!(code(&output), 0, "{}", text(&output));
}
