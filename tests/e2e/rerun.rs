//! `cosim rerun`: repeats exactly the failures of a run.

use crate::common::{assert_error_at, changed_rtl, code, json, run, text};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const TOP: &str = "ReqRecvCore_Thread_2.v";

fn rerun(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let folder = folder.to_str().unwrap();
    let output = run(["rerun", folder, "--format", "json"].iter().chain(arguments));
    let (code, text) = (code(&output), text(&output));
    (code, serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}")))
}

#[test]
fn failures_are_repeated_and_are_fixed_still_red_or_different() {
    let out = TempDir::new().unwrap();
    let folder = out.path().join("run");
    // Wrong for one QP in four.
    let bad = changed_rtl(TOP, "? rq_offset_new :", "? rq_offset_new ^ {23'd0, &qp[1:0]} :");
    let first = run([
        "run",
        "--fixes",
        "repaired",
        "--scenario",
        "default",
        "--cases",
        "80",
        "--no-shrink",
        "--no-waves",
        "--quiet",
        "--rtl",
        bad.path().to_str().unwrap(),
        "--out",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(code(&first), 1, "{}", text(&first));
    let results = json(&folder.join("results.json"));
    let totals = &results["totals"];
    let cases = totals["cases"].as_u64().unwrap();
    let failed = cases - totals["matched"].as_u64().unwrap();
    // More failures than are listed individually.
    assert!(failed > 20 && failed < cases, "{totals}");

    // A run directory may come from anyone, so it does not choose what is compiled. On the built-in
    // RTL, all would look fixed.
    let unnamed = run(["rerun", folder.to_str().unwrap()]);
    assert_error_at(&unnamed, "E0211", "--recorded-rtl");
    // On the RTL of the run, all failures occur again.
    let (code_of_same, same) = rerun(&folder, &["--recorded-rtl"]);
    assert_eq!((code_of_same, &same["still_red"]), (1, &Value::from(failed)), "{same}");
    let names = |report: &Value| -> Vec<String> {
        let cases = report["cases"].as_array().unwrap();
        cases.iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&same).len() as u64, failed);
    let row = results["failures"][0]["case"].as_str().unwrap();
    assert_eq!(names(&same)[0], row);

    let (code_of_good, good) = rerun(&folder, &["--rtl", "built-in"]);
    assert_eq!((code_of_good, &good["fixed"]), (0, &Value::from(failed)), "{good}");
    assert_eq!(names(&good), names(&same));

    let other = changed_rtl(TOP, "fetch_cxt_egress_ready = 1'b1", "fetch_cxt_egress_ready = 1'b0");
    let (code_of_other, different) = rerun(&folder, &["--rtl", other.path().to_str().unwrap()]);
    assert_eq!(code_of_other, 1);
    let [fixed, red, others] =
        ["fixed", "still_red", "different"].map(|fate| different[fate].as_u64().unwrap());
    assert_eq!((fixed + red + others, red), (failed, 0), "{different}");
    assert!(others > 0, "{different}");
}

#[test]
fn a_run_without_failures_has_nothing_to_repeat() {
    let out = TempDir::new().unwrap();
    let folder = out.path().join("run");
    let arguments = ["--scenario", "default", "--cases", "2", "--quiet"];
    let first = run(["run", "--out", folder.to_str().unwrap()].iter().chain(&arguments));
    assert_eq!(code(&first), 0, "{}", text(&first));
    for (folder, reason) in
        [(folder.as_path(), "no case failed in it"), (out.path().join("none").as_path(), "none")]
    {
        let again = run(["rerun", folder.to_str().unwrap()]);
        assert_eq!(code(&again), 2, "{}", text(&again));
        assert!(text(&again).contains(reason), "{}", text(&again));
    }
    let cases = run(["rerun", folder.to_str().unwrap(), "--cases", "3"]);
    assert_eq!(code(&cases), 2, "{}", text(&cases));
}
