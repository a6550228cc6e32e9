//! Cases whose golden side is cached: a run that skips scoreboard and coverage gives the same
//! results.

use crate::common::{QUICKLY, code, cosim, json, patched_rtl, project, text};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Runs some cases of every scenario. Returns the folder of the run, and the number of cached
/// cases.
fn run(cache: &Path, out: &str, expected: i32, more: &[&str]) -> (PathBuf, u64) {
    let folder = cache.join(out);
    let fixed = [
        "run",
        "--block",
        "dll",
        "--fixes",
        "spec",
        "--cases",
        "10",
        "--quiet",
        "--no-waves",
        "--out",
    ];
    let output = cosim()
        .args(fixed)
        .arg(&folder)
        .args(more)
        .env("COSIM_CACHE", cache.join("cache"))
        .env(QUICKLY.0, QUICKLY.1)
        .output()
        .unwrap();
    assert_eq!(code(&output), expected, "{}", text(&output));
    let judged = json(&folder.join("timing.json"))["judged_before"].as_u64().unwrap();
    (folder, judged)
}

#[track_caller]
fn are_same(one: &Path, other: &Path) {
    for file in ["results.json", "coverage.json"] {
        let [one, other] = [one, other].map(|run| fs::read(run.join(file)).unwrap());
        assert!(one == other, "{file} differs");
    }
}

/// A second run of the same cases has the same bytes, on good and bad RTL, with and without
/// coverage.
#[test]
fn a_run_of_cases_that_were_judged_before_has_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let (first, judged) = run(folder.path(), "first", 0, &[]);
    assert_eq!(judged, 0);
    let cases = json(&first.join("results.json"))["totals"]["cases"].as_u64().unwrap();
    assert!(cases >= 30, "{cases}");
    let (second, judged) = run(folder.path(), "second", 0, &[]);
    assert_eq!(judged, cases, "raw pins, too");
    are_same(&first, &second);
    let (all, judged) = run(folder.path(), "all", 0, &["--no-cache"]);
    assert_eq!(judged, 0);
    are_same(&first, &all);
    // Another length means other cases.
    assert_eq!(run(folder.path(), "short", 0, &["--packets", "9"]).1, 0);

    // Failing cases run in full, the others use the cache.
    let rtl = patched_rtl(&project().join("tests/bad_rtl/dll/15-skip-without-modulo.patch"));
    let rtl = rtl.path().to_str().unwrap();
    let given = ["--rtl", rtl, "--no-shrink"];
    let (known, judged) = run(folder.path(), "known", 1, &given);
    let totals = json(&known.join("results.json"))["totals"].clone();
    assert_eq!(totals["matched"].as_u64().unwrap(), judged, "{totals}");
    assert!(judged > 0 && judged < cases, "{totals}");
    let (full, _) = run(folder.path(), "full", 1, &[&given[..], &["--no-cache"]].concat());
    are_same(&known, &full);
}
