//! `results.json`: can a program read every case from it, and does it stay small?

use crate::common::{cases, code, json, patched_rtl, project, run, text};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> std::process::Output {
    run(["run", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

fn schema() -> jsonschema::Validator {
    let output = run(["list", "--results-schema"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    jsonschema::validator_for(&serde_json::from_slice(&output.stdout).unwrap()).unwrap()
}

#[test]
fn results_fit_their_schema_and_add_up() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = wrong.path().join("rtl");
    let validator = schema();
    let bad = ["--rtl", rtl.to_str().unwrap(), "--no-waves", "--cases", "20", "--scenario", "ring"];
    for (arguments, expected) in [(&["--cases", "20", "--block", "dll"][..], 0), (&bad, 1)] {
        let folder = TempDir::new().unwrap();
        let output = run_into(folder.path(), arguments);
        assert_eq!(code(&output), expected, "{}", text(&output));
        let results = json(&folder.path().join("results.json"));
        let errors: Vec<String> =
            validator.iter_errors(&results).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let cases = cases(&results);
        let totals = |name: &str| results["totals"][name].as_u64().unwrap();
        assert_eq!(cases.len() as u64, totals("cases"));
        assert_eq!(cases.values().map(|case| case.cycles).sum::<u64>(), totals("cycles"));
        assert_eq!(cases.values().map(|case| case.packets).sum::<u64>(), totals("packets"));
        let matched = cases.values().filter(|case| case.verdict == "match").count();
        assert_eq!(matched as u64, totals("matched"));
    }
    assert!(!validator.is_valid(&serde_json::json!({ "format": "cosim-results" })));
}

/// What a case does alone is what the row says of it.
#[test]
fn a_case_of_a_row_is_the_case_of_its_name() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--cases", "3", "--seed", "9", "--shard", "2/5"];
    assert_eq!(code(&run_into(&folder.path().join("all"), &arguments)), 0);
    let all = cases(&json(&folder.path().join("all/results.json")));
    // 54 cases; places 1, 6, 11, ... are of this shard.
    assert_eq!(all.len(), 11);
    for (name, case) in all.iter().step_by(3) {
        let alone = folder.path().join("alone");
        let output = run_into(&alone, &["--case", name, "--seed", "9", "--force"]);
        assert_eq!(code(&output), 0, "{}", text(&output));
        let alone = cases(&json(&alone.join("results.json")));
        assert_eq!(alone.iter().collect::<Vec<_>>(), [(name, case)]);
    }
}

#[test]
fn a_passed_case_takes_a_few_bytes() {
    let size = |cases: &str| {
        let folder = TempDir::new().unwrap();
        assert_eq!(code(&run_into(folder.path(), &["--cases", cases, "--quiet"])), 0);
        let results = json(&folder.path().join("results.json"));
        let length = fs::metadata(folder.path().join("results.json")).unwrap().len();
        (length, results["totals"]["cases"].as_u64().unwrap())
    };
    let [(few, few_cases), (many, many_cases)] = ["20", "220"].map(size);
    let each = (many - few) as f64 / (many_cases - few_cases) as f64;
    assert!(each < 10.0, "{each:.1} bytes for a case");
}
