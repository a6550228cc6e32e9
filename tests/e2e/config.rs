//! Tests that `cosim.toml` provides defaults for options, and that the command line takes
//! precedence.

use crate::common::{Place, assert_code, assert_error_at, program, text};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// A folder with a `cosim.toml`.
fn folder(config: &str) -> Place {
    let place = Place::new();
    place.write("cosim.toml", config);
    // With any umask.
    place.set_mode("cosim.toml", 0o644);
    place
}

/// Runs the words of a line in a folder below, without any added block.
fn run_in(place: &Place, folder: &str, line: &str) -> Output {
    fs::create_dir_all(place.path(folder)).expect("a folder");
    let words = line.split(' ');
    program().current_dir(place.path(folder)).args(words).output().expect("the program runs")
}

/// The header in `results.json` of a run.
fn header(place: &Place, run: &str) -> Value {
    place.results(run)["run"].take()
}

/// Paths are relative to the folder of the file.
#[test]
fn options_have_the_defaults_of_the_nearest_file_upwards() {
    let scenarios = "scenario = [\"drain\", \"mine.toml\"]\n";
    let place = folder(&format!("[all]\nblock = \"qp\"\n[run]\ncases = 2\n{scenarios}"));
    place.write("mine.toml", "name = \"mine\"\nabout = \"of this folder\"\n");
    let output = run_in(&place, "a/b", "run --out out --seed 7");
    assert_code(&output, 0);
    let header = header(&place, "a/b/out");
    assert_eq!((&header["block"], &header["cases"]), (&"qp".into(), &2.into()));
    assert_eq!(header["scenarios"], json!(["drain", "mine"]));
    let printed = text(&output);
    assert!(printed.contains("cosim.toml"), "a run must not depend on a file unseen: {printed}");
    let timing = place.text("a/b/out/timing.json");
    assert!(timing.contains("--cases=2"), "the command line has the defaults: {timing}");
}

#[test]
fn the_command_line_comes_first() {
    let place = folder("[run]\nblock = \"qp\"\ncases = 2\nfixes = \"spec\"\n");
    // A case names its block and profile, and excludes --cases.
    place.exits(0, "run --out case --case recv/spec/default/0");
    place.exits(0, "run --out out --block recv --cases 1");
    let header = header(&place, "out");
    assert_eq!((&header["block"], &header["cases"]), (&"recv".into(), &1.into()));
}

/// The user may name any file, or none.
#[test]
fn a_file_that_others_can_write_sets_nothing_unless_a_variable_names_it() {
    let place = folder("[all]\nblock = \"qp\"\n");
    let file = place.path("cosim.toml").display().to_string();
    let line = "run --cases 1 --out out";
    let with = |file: &str| {
        let mut command = program();
        command.current_dir(place.path("")).env("COSIM_CONFIG", file).args(line.split(' '));
        command.output().unwrap()
    };
    assert_error_at(&with(""), "E0109", &[""]);
    place.set_mode("cosim.toml", 0o666);
    assert_error_at(&run_in(&place, "", line), "E0109", &[&file]);
    assert_code(&with(&file), 0);
    assert_eq!(header(&place, "out")["block"], "qp");
}

#[test]
fn mistakes_are_named_with_their_line_and_nothing_runs() {
    for (config, at, number) in [
        ("[run]\ncasse = 1\n", "2:1", "E0213"),
        ("[walk]\ncases = 1\n", "1:1", "E0213"),
        ("[run]\nout = \"here\"\n", "2:1", "E0213"),
        ("cases = 1\n", "1:1", "E0213"),
        ("[run]\ncases = \"many\"\n", "2:1", "E0215"),
        ("[run]\nquiet = 1\n", "2:1", "E0215"),
        ("[run\n", "1:5", "E0205"),
    ] {
        folder(config).refuses("run --out", &[(number, &format!("cosim.toml:{at}"), "out")]);
    }
}
