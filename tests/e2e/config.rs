//! Tests that `cosim.toml` provides defaults for options, and that the command line takes
//! precedence.

use crate::common::{assert_code, assert_error, assert_error_at, code, cosim, text};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// A folder with a `cosim.toml`.
fn folder(config: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("cosim.toml");
    fs::write(&file, config).expect("a file");
    // With any umask.
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("permissions");
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
    assert_code(&output, 0);
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
    assert_code(&run(folder.path(), &arguments), 0);
    let arguments = ["run", "--out", "out", "--block", "recv", "--cases", "1"];
    assert_code(&run(folder.path(), &arguments), 0);
    assert_eq!(header(folder.path())["block"], "recv");
    assert_eq!(header(folder.path())["cases"], 1);
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let folder = folder("[run]\nblock = \"qp\"\ncases = 1\nscenario = \"mine.toml\"\n");
    let scenario = "name = \"mine\"\nabout = \"of this folder\"\n";
    fs::write(folder.path().join("mine.toml"), scenario).expect("a file");
    let below = folder.path().join("below");
    fs::create_dir(&below).expect("a folder");
    assert_code(&run(&below, &["run", "--out", "out"]), 0);
    assert_eq!(header(&below)["scenarios"], serde_json::json!(["mine"]));
}

/// The sources of other people may contain a `cosim.toml`.
#[test]
fn a_file_sets_nothing_that_weakens_a_check_or_names_code() {
    for option in [
        "no-sandbox = true",
        "rtl = \"rtl\"",
        "memory-limit = \"none\"",
        "history = \"h.db\"",
        "stuck-after = \"1h\"",
        "simulator = \"verilator\"",
        "plan = \"plan.toml\"",
        "out = \"out\"",
    ] {
        let folder = folder(&format!("[run]\n{option}\n"));
        let rtl = folder.path().join("rtl");
        fs::create_dir(&rtl).expect("a folder");
        let mark = folder.path().join("mark");
        let evil = format!("module evil; initial $system(\"touch {}\"); endmodule", mark.display());
        fs::write(rtl.join("evil.v"), evil).expect("a file");
        let output = run(folder.path(), &["run", "--block", "recv", "--cases", "1"]);
        assert_error_at(&output, "E0213", "cosim.toml:2:1");
        assert!(!mark.exists() && !folder.path().join("runs").exists(), "{option}");
    }
    for (command, option) in [
        ("replay", "recorded-rtl = true"),
        ("replay", "expect-recorded = true"),
        ("replay", "fixes = \"repaired\""),
        ("prove", "accept-bounded = 1"),
        ("prove", "accept-believed = true"),
        ("all", "accept-believed = true"),
        ("all", "no-sandbox = true"),
    ] {
        let folder = folder(&format!("[{command}]\n{option}\n"));
        let output = run(folder.path(), &["replay", "/nowhere.json"]);
        assert_error_at(&output, "E0213", "cosim.toml:2:1");
    }
}

#[test]
fn a_file_that_others_can_write_is_named_and_sets_nothing() {
    let folder = folder("[all]\nblock = \"qp\"\n");
    let file = folder.path().join("cosim.toml");
    fs::set_permissions(&file, Permissions::from_mode(0o666)).expect("permissions");
    let output = run(folder.path(), &["run", "--cases", "1", "--out", "out"]);
    assert_error(&output, "E0109");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains(&file.display().to_string()), "{printed}");
    // The user may decide otherwise.
    let mut command = cosim();
    command.current_dir(folder.path()).env("COSIM_CONFIG", &file);
    let output = command.args(["run", "--cases", "1", "--out", "out", "--force"]).output();
    assert_eq!(code(&output.expect("the program runs")), 0);
    assert_eq!(header(folder.path())["block"], "qp");
}

#[test]
fn the_search_for_a_file_ends_at_the_repository() {
    let folder = folder("[all]\nblock = \"qp\"\n");
    let below = folder.path().join("repository/below");
    fs::create_dir_all(&below).expect("a folder");
    fs::create_dir(folder.path().join("repository/.git")).expect("a folder");
    let output = run(&below, &["run", "--cases", "1", "--out", "out"]);
    assert_error(&output, "E0109");
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
    assert_code(
        &cosim()
            .current_dir(folder.path())
            .env("COSIM_CONFIG", "")
            .args(["list", "--block", "qp"])
            .output()
            .expect("the program runs"),
        0,
    );
}
