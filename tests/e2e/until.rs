//! `cosim run --until-coverage`: a run ends at its coverage goal, in the same way everywhere.

use crate::common::{
    assert_code, assert_error_at, assert_same_run, code, json, patched_rtl, project, run, text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

#[test]
fn a_run_ends_at_its_coverage_goal_with_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let of = |name: &str, arguments: &[&str]| {
        let out = folder.path().join(name);
        let output = run_into(&out, &[&["--block", "qp"], arguments].concat());
        (code(&output), text(&output), out)
    };
    let (exit, printed, all) = of("all", &["--until-coverage", "100", "--threads", "1"]);
    assert_eq!(exit, 0, "{printed}");
    assert!(
        printed.contains(
            "stopped when every profile covered 100 % (--until-coverage, at most 4400 cases)"
        ),
        "{printed}"
    );
    assert!(printed.contains("coverage: 100 % of"), "{printed}");
    let results = json(&all.join("results.json"));
    assert_eq!(results["ended"], "covered");
    let cases = results["totals"]["cases"].as_u64().unwrap();
    assert!(cases < 4400, "{cases}");
    for threads in ["2", "5"] {
        let (exit, printed, other) =
            of(threads, &["--until-coverage", "100", "--threads", threads]);
        assert_eq!(exit, 0, "{printed}");
        assert_same_run(&all, &other);
    }
    // Cases come in the order of the plan, so the run is a prefix of the full one.
    let (exit, printed, plain) = of("plain", &[]);
    assert_eq!(exit, 0, "{printed}");
    let whole = fs::read_to_string(plain.join("results.json")).unwrap();
    let lines = |text: &str| -> Vec<String> {
        let cases = text.lines().skip_while(|line| *line != "\"cases\": [").skip(1);
        let cases = cases.take_while(|line| !line.starts_with(']'));
        cases.map(|line| line.trim_end_matches(',').to_owned()).collect()
    };
    let started = lines(&fs::read_to_string(all.join("results.json")).unwrap());
    assert!(lines(&whole).starts_with(&started[..started.len() - 1]));
    assert!(started.len() > 1);
    // A goal of 0 needs no case, and a run without a cycle fails.
    let (exit, printed, nothing) = of("nothing", &["--until-coverage", "0"]);
    assert_eq!(exit, 1, "{printed}");
    assert_eq!(json(&nothing.join("results.json"))["totals"]["cases"], 0);

    let (exit, printed, few) = of("few", &["--until-coverage", "100", "--cases", "4"]);
    assert_eq!(exit, 1, "{printed}");
    assert!(
        printed.starts_with("FAIL") && printed.contains("less than 100 % (--until-coverage)"),
        "{printed}"
    );
    assert!(printed.contains("    not hit: "), "{printed}");
    assert_eq!(json(&few.join("results.json"))["totals"]["cases"], 44);
}

#[test]
fn conflicting_options_are_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for more in [["--min-coverage", "90"], ["--case", "qp/spec/default/1"]] {
        assert_code(&run_into(&out, &[&["--until-coverage", "90"][..], &more].concat()), 2);
    }
    for wrong in ["101", "-1", "all"] {
        let output = run_into(&out, &["--block", "qp", "--until-coverage", wrong]);
        assert_error_at(&output, "E0101", "0 to 100");
    }
    for wrong in ["qp/spec/default/1~6", "qp/spec/default/1~"] {
        assert_code(&run(["run", "--case", wrong]), 2);
    }
    assert!(!out.exists());
}

/// A failure is reproduced by its command, and with all others, as in any run.
#[test]
fn a_case_that_fails_is_run_again_like_any_other() {
    // Few cases show the bug.
    let bad = patched_rtl(&project().join("tests/bad_rtl/qp/24-notification-survives-rts.patch"));
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let rtl = bad.path().join("rtl");
    let rtl = rtl.to_str().unwrap();
    let arguments = ["--block", "qp", "--rtl", rtl, "--until-coverage", "100", "--cases", "40"];
    let quick = ["--no-shrink", "--no-waves", "--format", "json"];
    let output = run_into(&out, &[&arguments[..], &quick].concat());
    assert_code(&output, 1);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let commands = printed["commands"].as_object().unwrap();
    assert!(!commands.is_empty());
    for (case, command) in commands {
        let words = shlex_words(command.as_str().unwrap());
        let again = run(words[1..].iter().map(String::as_str).chain([
            "--quiet",
            "--no-shrink",
            "--no-waves",
            "--out",
            folder.path().join(case.replace('/', "-")).to_str().unwrap(),
        ]));
        assert_eq!(code(&again), 1, "{command}: {}", text(&again));
    }
    let again = run(["replay", "--recorded-rtl", out.to_str().unwrap(), "--format", "json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    let totals = &printed["totals"];
    let failed = totals["cases"].as_u64().unwrap() - totals["matched"].as_u64().unwrap();
    let replays = again["replays"].as_array().unwrap().iter();
    let cases = replays.filter(|replay| replay["name"].as_str().unwrap().starts_with("qp/"));
    let is_same = |replay: &Value| assert_eq!(replay["result"], "still fails", "{replay}");
    assert_eq!(cases.inspect(|replay| is_same(replay)).count() as u64, failed, "{again}");
}

/// The words of a command without quotes.
fn shlex_words(command: &str) -> Vec<String> {
    assert!(!command.contains(['\'', '"', '\\']), "{command}");
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn shards_and_a_coverage_goal_exclude_each_other() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let until = ["--block", "qp", "--until-coverage", "50", "--shard", "1/2"];
    assert_code(&run_into(&out, &until), 2);
    assert!(!out.exists());
}
