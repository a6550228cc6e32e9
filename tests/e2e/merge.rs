//! `cosim merge`: the merged shards equal the whole run, and other shards are refused.

use crate::common::{
    assert_code, assert_error, assert_error_at, assert_same_run, code, json, patched_rtl, program,
    project, run, text, write_record,
};
use serde_json::{Value, json as value};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--quiet", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

/// Runs the shards of a run, each into its own folder.
fn shards(folder: &Path, count: usize, arguments: &[&str], expected: &[i32]) -> Vec<PathBuf> {
    let shard = |index: usize| {
        let out = folder.join(format!("shard-{index}"));
        let shard = format!("{index}/{count}");
        let output = run_into(&out, &[arguments, &["--shard", &shard]].concat());
        assert!(expected.contains(&code(&output)), "{}", text(&output));
        out
    };
    (1..=count).map(shard).collect()
}

fn merge(shards: &[PathBuf], out: &Path, more: &[&str]) -> Output {
    let shards = shards.iter().map(|shard| shard.to_str().unwrap());
    let out = ["--out", out.to_str().unwrap()];
    run(["merge"].into_iter().chain(shards).chain(out).chain(more.iter().copied()))
}

/// One bug with several variants, shrunk and traced. Shards differ in their first failure.
#[test]
fn shards_of_a_red_run_merge_to_its_bytes() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = wrong.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let arguments = ["--rtl", rtl.to_str().unwrap(), "--cases", "4", "--save-vectors", "5"];
    let whole = folder.path().join("whole");
    assert_eq!(code(&run_into(&whole, &arguments)), 1);
    let group = json(&whole.join("results.json"))["failures"][0].clone();
    assert!(group["variants"].as_array().unwrap().len() > 1, "{group}");
    let shards = shards(folder.path(), 4, &arguments, &[0, 1]);
    let merged = folder.path().join("merged");
    let history = folder.path().join("runs.sqlite");
    let more = ["--history", history.to_str().unwrap()];
    let output = merge(&shards, &merged, &more);
    assert_code(&output, 1);
    assert!(text(&output).starts_with("FAIL  thread2, seed 1: 88 cases"), "{}", text(&output));
    assert!(text(&output).contains("NEW: in no earlier run"), "{}", text(&output));
    assert_same_run(&whole, &merged);
    for file in [&group["waves"], &group["explanation"]] {
        assert!(merged.join(file.as_str().unwrap()).is_file(), "{file}");
    }
    assert!(fs::read_to_string(merged.join("report.html")).unwrap().contains("UPDATE_RQ_s"));

    // In another order: the same bytes, and the same run in the history.
    let mut turned = shards.clone();
    turned.reverse();
    let refused = merge(&turned, &merged, &more);
    assert_error_at(&refused, "E0602", "--force");
    assert_code(&merge(&turned, &merged, &[&more[..], &["--force"]].concat()), 1);
    assert_same_run(&whole, &merged);
    let shown = run(["history", "show", history.to_str().unwrap(), "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown}");
}

/// Several blocks, and a coverage goal that no single shard reaches.
#[test]
fn a_coverage_goal_applies_to_all_shards_together() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--block", "qp,dll", "--cases", "3", "--packets", "20", "--min-coverage"];
    let of = |percent: &str, name: &str| {
        let folder = folder.path().join(name);
        let arguments = [&arguments[..], &[percent]].concat();
        let expected = code(&run_into(&folder.join("whole"), &arguments));
        let shards = shards(&folder, 2, &arguments, &[0]);
        let output = merge(&shards, &folder.join("merged"), &[]);
        assert_code(&output, expected);
        for block in ["qp", "dll"] {
            assert_same_run(&folder.join("whole").join(block), &folder.join("merged").join(block));
        }
        (expected, text(&output))
    };
    let (green, printed) = of("20", "low");
    assert_eq!(green, 0, "{printed}");
    assert!(printed.trim_end().ends_with("PASS  2 blocks: dll passed, qp passed"), "{printed}");
    let (red, printed) = of("100", "high");
    assert_eq!(red, 1, "{printed}");
}

const GREEN: [&str; 6] = ["--block", "qp", "--cases", "8", "--packets", "3"];

#[test]
fn shards_that_are_missing_doubled_or_foreign_are_named_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let all = shards(folder.path(), 3, &GREEN, &[0]);
    let out = folder.path().join("merged");
    let refused = |shards: &[PathBuf], number: &str, words: &[&str]| {
        let output = merge(shards, &out, &[]);
        assert_error(&output, number);
        for word in words {
            assert_error_at(&output, number, word);
        }
        assert!(!out.exists(), "nothing is left");
    };
    let [one, two, three] = &all[..] else { panic!("three") };
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    refused(&[one.clone(), three.clone()], "E0222", &["2/3"]);
    let double = folder.path().join("double");
    assert_eq!(code(&run_into(&double, &[&GREEN[..], &["--shard", "2/3"]].concat())), 0);
    let twice = [one.clone(), two.clone(), three.clone(), double];
    refused(&twice, "E0222", &["double", "2/3", &name(two)]);

    // For a shard of another run, the message names the difference. The last argument takes
    // precedence.
    for (more, what) in [
        (&["--seed", "2"][..], "seed is 2 here and 1 there"),
        (&["--scenario", "default"], "scenarios is [\"default\"] here and"),
        (&["--min-coverage", "1"], "min_coverage is 1.0 here and null there"),
        (&["-D", "SOMETHING=1"], "given is"),
    ] {
        let foreign = folder.path().join("foreign");
        let arguments = [&GREEN[..], &["--shard", "2/3", "--force"], more].concat();
        assert_eq!(code(&run_into(&foreign, &arguments)), 0, "{more:?}");
        let names = ["foreign: ", &one.display().to_string(), what];
        refused(&[one.clone(), foreign, three.clone()], "E0221", &names);
    }
    // A shard of another build.
    let path = two.join("results.json");
    let whole = fs::read_to_string(&path).unwrap();
    let build = json(&path)["run"]["build"].as_str().unwrap().to_owned();
    write_record(&path, &whole.replace(&build, "0123456789ab"));
    refused(&all, "E0220", &[&name(two), "0123456789ab"]);

    // Truncated files: within the cases, and after them.
    for end in ["{\"from\"", "\"totals\""] {
        fs::write(&path, &whole[..whole.find(end).unwrap()]).unwrap();
        refused(&all, "E0219", &["shard-2/results.json"]);
    }
    // Edited, replaced and missing files that decide the verdict.
    fs::write(&path, whole.replace("\"mismatched\":0", "\"mismatched\":1")).unwrap();
    refused(&all, "E0219", &["shard-2/results.json"]);
    fs::write(&path, &whole).unwrap();
    let coverage = two.join("coverage.json");
    let covered = fs::read_to_string(&coverage).unwrap();
    fs::write(&coverage, covered.replacen("\"cycles\":", "\"cycles\":1", 1)).unwrap();
    refused(&all, "E0219", &["shard-2/coverage.json"]);
    fs::copy(one.join("coverage.json"), &coverage).unwrap();
    refused(&all, "E0221", &["shard-2/coverage.json"]);
    fs::remove_file(&coverage).unwrap();
    refused(&all, "E0201", &["shard-2/coverage.json"]);
    fs::write(&coverage, covered).unwrap();
    // A missing case, with consistent sums.
    let line = whole.lines().find(|line| line.starts_with("{\"from\"")).unwrap();
    let mut row: Value = serde_json::from_str(line.trim_end_matches(',')).unwrap();
    for column in ["cycles", "packets"] {
        row[column].as_array_mut().unwrap().pop();
    }
    write_record(&path, &whole.replace(line.trim_end_matches(','), &row.to_string()));
    refused(&all, "E0219", &["shard-2/results.json:"]);
    // As left by a killed run.
    fs::rename(&path, two.join("results.json.partial")).unwrap();
    refused(&all, "E0218", &["shard-2: "]);
    // As left by an interrupted run.
    let interrupted = whole.replace("\"ended\": \"complete\"", "\"ended\": \"interrupted\"");
    write_record(&path, &interrupted.replace("\"passed\": true", "\"passed\": false"));
    refused(&all, "E0223", &["shard-2: "]);
    fs::write(&path, whole).unwrap();
    fs::remove_file(two.join("results.json.partial")).unwrap();
    refused(&[one.clone(), folder.path().to_owned()], "E0221", &[]);
    let output = merge(&all, two, &["--force"]);
    assert_error(&output, "E0604");
    assert_code(&merge(&all, &out, &[]), 0);
}

#[test]
fn shards_that_gnu_parallel_runs_are_the_run() {
    let found = Command::new("sh").args(["-c", "command -v parallel"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: merge::shards_that_gnu_parallel_runs...: apt-get install parallel");
        return;
    }
    let folder = TempDir::new().unwrap();
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    assert_eq!(code(&run_into(&whole, &GREEN)), 0);
    let mut command = Command::new(project().join("docs/how-to/scale-out/gnu-parallel"));
    command.current_dir(project()).env("COSIM", program().get_program()).arg("3").arg(&out);
    assert_code(&command.args(GREEN).output().unwrap(), 0);
    assert_same_run(&whole, &out.join("run"));
}

/// Shards with many cases, derived from a small run, to measure the merge: a million cases, or ten
/// million with COSIM_TEST_MERGE_CASES=10000000.
#[test]
fn merging_takes_no_more_memory_for_more_cases() {
    const MOST: u64 = 200_000_000;
    let cases = std::env::var("COSIM_TEST_MERGE_CASES").map_or(1_000_000, |n| n.parse().unwrap());
    let folder = TempDir::new().unwrap();
    let small = ["--block", "qp", "--scenario", "default", "--cases", "4", "--packets", "3"];
    let all = shards(folder.path(), 4, &small, &[0]);
    for (index, shard) in (0u64..).zip(&all) {
        grow(shard, index, cases / 4);
    }
    let out = folder.path().join("merged");
    assert_code(&merge(&all, &out, &["--quiet"]), 0);
    let head = fs::read_to_string(out.join("junit.xml")).unwrap();
    assert!(head.contains(&format!("{} further cases", cases - 1000)), "all cases are counted");
    let peak = &json(&out.join("timing.json"))["peak_memory"]["program"];
    assert!(peak.as_u64().unwrap() < MOST, "{peak} bytes");
}

/// Gives shard `index` of 4 this number of cases.
fn grow(shard: &Path, index: u64, cases: u64) {
    const ROW: u64 = 256;
    let path = shard.join("results.json");
    let mut results = json(&path);
    let [cycles, packets] = [123, 45];
    results["run"]["cases"] = value!(4 * cases);
    let totals = |totals: &mut Value| {
        totals["cases"] = value!(cases);
        totals["matched"] = value!(cases);
        totals["cycles"] = value!(cases * cycles);
        totals["packets"] = value!(cases * packets);
    };
    totals(&mut results["totals"]);
    totals(&mut results["profiles"][0]["scenarios"][0][1]);
    let run = &results["run"];
    let mut text = format!(
        "{{\n\"format\": \"cosim-results\",\n\"version\": {},\n\"run\": {run},\n\"cases\": [",
        results["version"]
    );
    for from in (0..cases).step_by(ROW as usize) {
        let count = ROW.min(cases - from) as usize;
        let column = |number: u64| vec![number.to_string(); count].join(",");
        let separator = if from == 0 { "" } else { "," };
        let place = index + 4 * from;
        let (cycles, packets) = (column(cycles), column(packets));
        write!(
            text,
            "{separator}\n{{\"from\":{place},\"cycles\":[{cycles}],\"packets\":[{packets}]}}"
        )
        .unwrap();
    }
    text.push_str("\n],\n");
    let tail = ["profiles", "totals", "failures", "coverage", "ended", "passed", "checksum"];
    let tail = tail.map(|key| format!("\"{key}\": {}", results[key]));
    text.push_str(&format!("{}\n}}\n", tail.join(",\n")));
    write_record(&path, &text);
    let path = shard.join("coverage.json");
    let mut coverage = json(&path);
    coverage["parts"][0]["cases"] = value!({ "first": index, "step": 4, "count": cases });
    let checksum = coverage.as_object_mut().unwrap().remove("checksum").unwrap();
    let text = coverage.to_string();
    let text = text.strip_suffix('}').unwrap();
    write_record(&path, &format!("{text},\n\"checksum\": {checksum}\n}}\n"));
}
