//! The command line as people see it: progress, colours, suggestions, completions, and viewers.

use crate::common::{
    assert_error, assert_error_at, code, files, json, patched_rtl, program, project, run, text,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use wellen::simple::read;

/// Runs the program on a terminal of 60 columns.
fn on_a_terminal(words: &str, variables: &[(&str, &str)]) -> String {
    let program = program();
    let line = format!("stty rows 24 cols 60; {} {words}", program.get_program().display());
    let mut command = Command::new("script");
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(set).envs(variables.iter().copied()).current_dir(project());
    let output = command.args(["-qec", &line, "/dev/null"]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A line that moves the cursor back shows what a long wait does, and fits the terminal.
#[test]
fn a_long_wait_shows_on_a_terminal_what_is_done() {
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let out = folder.path().join("run");
    let words =
        format!("run --block qp --rtl rtl/qp --cases 1 --packets 1 --out {}", out.display());
    // Nothing is cached, so the model is compiled, with optimisation: longer than a second.
    let cache = [("COSIM_CACHE", cache.to_str().unwrap()), ("CXXFLAGS", "-O2")];
    let shown = on_a_terminal(&words, &cache);
    let progress: Vec<String> = shown
        .split(['\r', '\n'])
        .map(|line| anstream::adapter::strip_str(line).to_string())
        .filter(|line| line.contains("building QpStateCtrl"))
        .collect();
    assert!(!progress.is_empty(), "{shown:?}");
    for line in &progress {
        assert!(line.trim_end().chars().count() <= 60, "{line:?}");
    }
    // The last line is the summary, and nothing of the progress is behind it.
    let (_, after) = shown.rsplit_once("PASS").expect("the verdict");
    assert!(!after.contains("building"), "{after:?}");
}

/// Colours appear on a terminal, and neither with `NO_COLOR` nor in a pipe.
#[test]
fn verdicts_have_colours_on_a_terminal_only() {
    let folder = TempDir::new().unwrap();
    let words = |name: &str| {
        let out = folder.path().join(name);
        format!("run --block qp --cases 1 --scenario default --out {}", out.display())
    };
    let coloured = on_a_terminal(&words("a"), &[("TERM", "xterm"), ("NO_COLOR", "")]);
    assert!(
        coloured.contains("\u{1b}[32mPASS") || coloured.contains("\u{1b}[1m\u{1b}[32mPASS"),
        "{coloured:?}"
    );
    let plain = on_a_terminal(&words("b"), &[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert!(plain.contains("PASS") && !plain.contains("[32m"), "{plain:?}");
    let piped = run(words("c").split(' '));
    assert!(!text(&piped).contains('\u{1b}'), "{}", text(&piped));
}

/// A misspelt name is answered with the similar one.
#[test]
fn misspelt_names_get_a_suggestion() {
    for (words, number, expected) in [
        ("rnu", "E0101", "`run`"),
        ("run --blok qp", "E0101", "'--block'"),
        ("run --block tread2", "E0102", "did you mean `thread2`?"),
        ("run --scenario smok", "E0105", "did you mean `smoke`?"),
        ("run --fixes spce", "E0103", "did you mean `spec`?"),
        ("run --case qp/spc/smoke/0", "E0103", "did you mean `spec`?"),
        ("mutate --mutants x", "E0101", "expected a whole number"),
    ] {
        let output = run(words.split(' '));
        assert_error_at(&output, number, expected);
    }
    // Nothing is similar.
    let output = run(["run", "--block", "zzzzzz"]);
    assert!(!text(&output).contains("did you mean"), "{}", text(&output));
}

/// Every shell reads its completions, and every command has a manual page.
#[test]
fn completions_and_manual_pages_cover_every_command() {
    let completions = run(["completions", "bash"]);
    assert_eq!(code(&completions), 0);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cosim.bash");
    fs::write(&file, &completions.stdout).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked));
    for shell in ["zsh", "fish"] {
        let printed = text(&run(["completions", shell]));
        assert!(printed.contains("until-coverage"), "{shell}: {printed}");
    }
    let man = folder.path().join("man");
    fs::create_dir(&man).unwrap();
    assert_eq!(code(&run(["man", "--out", man.to_str().unwrap()])), 0);
    let pages: BTreeSet<String> = files(&man, "1")
        .iter()
        .map(|page| page.file_stem().unwrap().display().to_string())
        .collect();
    for page in ["cosim", "cosim-run", "cosim-cover-merge", "cosim-doctor"] {
        assert!(pages.contains(page), "{page}: {pages:?}");
    }
    assert!(!pages.contains("cosim-worker"), "{pages:?}");
    let missing = folder.path().join("missing");
    assert_error(&run(["man", "--out", missing.to_str().unwrap()]), "E0601");
}

/// `doctor` finds what is there, and a machine without a compiler cannot run user RTL.
#[test]
fn doctor_says_what_is_missing() {
    let doctor = |output: Output| -> serde_json::Value {
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
    };
    let output = run(["doctor", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let found = doctor(output);
    assert_eq!(found["works"], true);
    let named = |found: &serde_json::Value, name: &str| -> serde_json::Value {
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["found"].clone()
    };
    assert!(named(&found, "Verilator").as_str().unwrap().starts_with("5."), "{found}");
    assert!(named(&found, "Yosys").is_string(), "{found}");
    let output = program()
        .args(["doctor", "--format", "json"])
        .env("PATH", "/nowhere")
        .env_remove("VERILATOR")
        .env_remove("CXX")
        .env_remove("YOSYS")
        .output()
        .unwrap();
    assert_eq!(code(&output), 3, "{}", text(&output));
    let found = doctor(output);
    assert_eq!(found["works"], false);
    for name in ["Verilator", "C++ compiler", "Yosys"] {
        assert!(named(&found, name).is_null(), "{name}: {found}");
    }
}

/// A failing run of qp, in which the ready for commands stays high in reset.
fn failing(out: &Path, more: &[&str]) -> Output {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/qp/05-ready-in-reset.patch"));
    let words = ["run", "--block", "qp", "--cases", "4", "--scenario", "default", "--rtl"];
    let out = ["--out", out.to_str().unwrap()];
    run(words
        .iter()
        .copied()
        .chain([rtl.path().join("rtl/qp").to_str().unwrap()])
        .chain(out)
        .chain(more.iter().copied()))
}

/// The viewer gets the failing waves, the differing signals first, and the cursor at the failure.
#[test]
fn open_shows_the_page_and_the_waves_of_a_failure() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    assert_eq!(code(&failing(&out, &[])), 1);
    let out = out.to_str().unwrap();
    let page = text(&run(["open", out, "--print"]));
    assert!(page.trim_end().ends_with("/run/report.html"), "{page}");
    let results = json(&Path::new(out).join("results.json"));
    let failure = &results["failures"][0];
    let (port, cycle) =
        (failure["verdict"]["port"].as_str().unwrap(), failure["verdict"]["cycle"].as_u64());

    let printed = text(&run(["open", out, "--waves", port, "--viewer", "gtkwave", "--print"]));
    let words: Vec<&str> = printed.split_whitespace().collect();
    let ["gtkwave", waves, save] = words[..] else { panic!("{printed}") };
    let save = fs::read_to_string(save).unwrap();
    assert!(save.contains(&format!("*-2.000000 {} ", cycle.unwrap() * 2)), "{save}");
    let wave = read(waves).unwrap();
    let signals: Vec<&str> = save.lines().filter_map(|line| line.strip_prefix("TOP.")).collect();
    for signal in &signals {
        let name = signal.split('[').next().unwrap();
        let mut path: Vec<&str> = std::iter::once("TOP").chain(name.split('.')).collect();
        let name = path.pop().unwrap();
        assert!(wave.hierarchy().lookup_var(&path, name).is_some(), "{signal}");
    }
    let place = |name: &str| signals.iter().position(|signal| *signal == name);
    let dut = place(&format!("cosim_top.dut.{port}")).expect("the RTL's output");
    assert!(dut < place("cosim_top.dut.rst").unwrap(), "{signals:?}");
    assert_eq!(place(&format!("cosim_top.golden.{port}")), Some(dut + 1));

    let printed = text(&run(["open", out, "--waves", "--viewer", "surfer", "--print"]));
    let commands = printed.split_whitespace().last().unwrap();
    let commands = fs::read_to_string(commands).unwrap();
    assert!(commands.contains(&format!("cursor_set {}\n", cycle.unwrap() * 2)), "{commands}");

    assert_error(&run(["open", out, "--waves", "no-such-failure", "--print"]), "E0109");
    let missing = program()
        .args(["open", out, "--waves", "--viewer", "surfer"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_error(&missing, "E0908");
}

/// Uncovered bins of a run that ended early say nothing of the stimulus.
#[test]
fn a_run_that_ended_early_lists_no_uncovered_bins() {
    let folder = TempDir::new().unwrap();
    let (early, one) = (folder.path().join("early"), folder.path().join("one"));
    let output = text(&failing(&early, &["--max-failures", "1", "--details"]));
    assert!(output.contains("--max-failures") && !output.contains("    not hit:"), "{output}");
    let case = ["run", "--case", "qp/spec/default/0", "--out", one.to_str().unwrap()];
    let output = text(&run(case));
    assert!(output.contains("uncovered bins") && !output.contains("    not hit:"), "{output}");
}
