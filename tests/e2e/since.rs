//! Cases and mutants by what changed: `cosim run --since` and `cosim mutate --in-diff`.

use crate::common::{assert_error, cases, code, cosim, json, project, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Copies the RTL of `qp` with a replacement.
fn rtl(to: &Path, from: &str, with: &str) {
    fs::create_dir_all(to).unwrap();
    let mut is_there = false;
    for entry in fs::read_dir(project().join("rtl/qp")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        is_there |= text.contains(from);
        fs::write(to.join(path.file_name().unwrap()), text.replacen(from, with, 1)).unwrap();
    }
    assert!(is_there, "{from}");
}

/// Runs 20 cases of each of the 11 scenarios of `qp`.
fn run(here: &Path, new: &str, options: &[&str]) -> Output {
    let command = ["run", "--block", "qp", "--cases", "20", "--no-shrink", "--no-waves", "--rtl"];
    cosim().current_dir(here).args(command).arg(new).args(options).output().unwrap()
}

/// Names of the cases that failed.
fn failed(folder: &Path) -> BTreeSet<String> {
    let all = cases(&json(&folder.join("results.json")));
    all.into_iter().filter(|(_, case)| case.verdict != "match").map(|(name, _)| name).collect()
}

#[test]
fn a_change_without_old_rtl_or_with_another_run_is_refused() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    rtl(&here.join("old"), "", "");
    for (options, number) in [
        (&["--since", "missing"][..], "E0301"),
        (&["--since", "old", "--base-run", "missing"], "E0218"),
        (&["--since", "old", "--only-affected"], "E0101"),
        (&["--base-run", "base"], "E0101"),
        (&["--since", "old", "--shard", "1/2"], "E0101"),
    ] {
        let output =
            cosim().current_dir(here).args(["run", "--block", "qp"]).args(options).output();
        assert_error(&output.unwrap(), number);
        assert!(!here.join("runs").exists(), "{options:?}");
    }
}

#[test]
#[ignore = "slow: compiles seven models"]
fn cases_that_execute_a_change_are_found_and_nothing_that_fails_is_left_out() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    rtl(&here.join("old"), "", "");
    rtl(
        &here.join("bug"),
        "hw_notify_d = 1'b0;\n          hw_tells    = 1'b1;",
        "hw_notify_d = 1'b0;",
    );
    rtl(&here.join("neutral"), "= qp_pkg::EVT_ESTABLISHED;", "= (qp_pkg::EVT_ESTABLISHED);");
    rtl(&here.join("sum"), "evt_tail + PTR_ONE", "PTR_ONE + evt_tail");
    rtl(&here.join("comment"), "case (hw_kind)", "case (hw_kind) // changed\n");
    rtl(&here.join("outside"), "hw_tells    = 1'b0;", "hw_tells    = (1'b0);");
    let output = run(here, "old", &["--coverage", "--out", "base"]);
    assert_eq!(code(&output), 0, "{}", text(&output));

    assert_eq!(code(&run(here, "bug", &["--out", "whole"])), 1);
    let since = ["--since", "old", "--base-run", "base"];
    for (new, options, expected, left_out, number) in [
        ("bug", &["--only-affected"][..], 1, true, None),
        // All that may see the change run first, and a failure ends the run.
        ("bug", &[], 1, true, None),
        ("neutral", &["--only-affected"], 0, true, None),
        ("neutral", &[], 0, false, Some(220)),
        // Only the first case of each scenario.
        ("comment", &["--only-affected"], 0, true, Some(11)),
        ("outside", &["--only-affected"], 0, false, Some(220)),
        // Other cases: nothing is known of them.
        ("neutral", &["--only-affected", "--seed", "2"], 0, false, Some(220)),
    ] {
        let options = [&since[..], &["--force", "--out", "out"], options].concat();
        let output = run(here, new, &options);
        assert_eq!(code(&output), expected, "{new}: {}", text(&output));
        let results = json(&here.join("out/results.json"));
        let (change, ran) = (&results["run"]["since"], &results["totals"]["cases"]);
        let not_run = change["left_out"].as_u64().unwrap();
        assert_eq!(not_run > 0, left_out, "{new}: {change}");
        assert_eq!(ran.as_u64().unwrap() + not_run, 220, "{new}: {change}");
        assert!(number.is_none_or(|number| *ran == number), "{new}: {ran}");
        if new == "bug" {
            assert_eq!(failed(&here.join("out")), failed(&here.join("whole")));
        }
    }
    let record = here.join("base/executed.json");
    let edited = fs::read_to_string(&record).unwrap().replacen("\"seed\": 1", "\"seed\": 2", 1);
    fs::write(&record, edited).unwrap();
    assert_error(&run(here, "bug", &since), "E0219");

    // Each mutant is in the line that changed.
    let mutate = |new: &str| -> Value {
        let command = ["mutate", "--block", "qp", "--mutants", "6", "--cases", "2", "--no-judge"];
        let options = ["--format", "json", "--out", "mutants", "--force", "--in-diff", "old"];
        let mut cosim = cosim();
        let cosim = cosim.current_dir(here).args(command).args(options).args(["--rtl", new]);
        let output = cosim.output().unwrap();
        assert_eq!(code(&output), 0, "{}", text(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = mutate("sum");
    let lines = report["run"]["in_diff"]["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let mutants = report["profiles"][0]["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 6);
    let at = |source: &Value| format!("{}:{}", source["file"].as_str().unwrap(), source["line"]);
    for mutant in mutants {
        let sources = mutant["sources"].as_array().unwrap();
        assert!(sources.iter().any(|source| lines.contains(&at(source).into())), "{mutant}");
    }
    assert_eq!(mutate("comment"), serde_json::json!([]), "no mutant is in a changed line");
}
