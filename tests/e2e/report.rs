//! `report.html` in a browser.

use crate::common::{
    assert_code, assert_error_at, assert_is_for_anyone, changed_rtl, code, json, looked_at,
    looked_at_page, run, text, write_record,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(folder: &Path, arguments: &[&str]) -> Output {
    let out = folder.to_str().unwrap();
    run([&["run", "--quiet", "--out", out], arguments].concat())
}

#[test]
fn a_browser_shows_failures_and_their_details() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    // Two bugs: an acknowledge without bypass, and no request to the CQ.
    let rtl = changed_rtl("ReqRecvCore_Thread_2.v", "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    let file = rtl.path().join("ReqRecvCore_Thread_2.v");
    let source = fs::read_to_string(&file).unwrap();
    assert!(source.contains("cq_req_valid = 1'b1"));
    fs::write(&file, source.replace("cq_req_valid = 1'b1", "cq_req_valid = 1'b0")).unwrap();
    let rtl = rtl.path().to_str().unwrap();
    let arguments = ["--cases", "20", "--fixes", "repaired", "--rtl", rtl];
    assert_code(&run_into(&out, &arguments), 1);
    let seen = looked_at(&out, "T02");
    assert_eq!(seen["title"], "FAIL: thread2, seed 1");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"FAIL".into(), &"bad".into()));
    let results = json(&out.join("results.json"));
    let failed = results["failures"].as_array().unwrap();
    let cases: u64 = failed.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    let total = &results["totals"]["cases"];
    assert_eq!(seen["facts"][0], format!("{cases} of {total} cases failed"));
    let command = seen["command"].as_str().unwrap();
    let largest = failed.iter().max_by_key(|group| group["count"].as_u64()).unwrap();
    assert!(command.contains(largest["case"].as_str().unwrap()), "{command}");
    // Failures come first, and everything else is folded.
    let sections = ["failures", "coverage", "cases", "history", "specification", "run"];
    assert_eq!(seen["sections"], serde_json::json!(sections));
    assert_eq!(seen["folded"], serde_json::json!(sections[1..]));
    let failures = serde_json::json!({ "count": 2, "open": 1, "open after Enter": 2 });
    assert_eq!(seen["failures"], failures);
    assert_eq!(seen["diagrams"], 1);
    assert!(seen["wrong"].as_u64().unwrap() > 0);
    // Waves and source: the cursor is at the failure, what differs comes first, keys step, and a
    // signal leads to a line that assigns it.
    let inspector = &seen["inspector"];
    let port = inspector["first"][0].as_str().unwrap().strip_prefix("golden.").unwrap();
    let names = [format!("golden.{port}"), format!("dut.{port}")];
    assert_eq!(inspector["first"], serde_json::json!(names), "{inspector}");
    assert_ne!(inspector["values"][0], inspector["values"][1], "{inspector}");
    let cycle = |name: &str| inspector[name].as_u64().unwrap();
    assert_eq!((cycle("stepped") + 2, cycle("end") > cycle("stepped")), (cycle("cycle"), true));
    assert_eq!(inspector["added"], serde_json::json!([1, "dut.cur_state"]), "{inspector}");
    let shown = inspector["assigned"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(shown.clone().any(|line| line.contains(&format!("{port} "))), "{port}: {inspector}");
    assert!(shown.clone().any(|line| line.contains("// ")), "values: {inspector}");
    assert_eq!(seen["scrolled to the error"], true);
    assert!(seen["files"]["count"].as_u64().unwrap() > 4, "vectors and waves are linked");
    assert_page_works(&seen);
    // A case that failed leads to its failure, an uncovered bin to its declaration.
    let kinds: Vec<&str> =
        seen["anchors"]["kinds"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        ["failure", "bins", "rule", "spec"].iter().all(|kind| kinds.contains(kind)),
        "{kinds:?}"
    );
}

/// Checks properties of every report of `thread2`.
fn assert_page_works(seen: &Value) {
    // T02, "no context, stay idle", is one of 63 rules.
    let rules = &seen["lists"]["rules"];
    assert_eq!((&rules["count"], &rules["searched"]), (&"63 of 63".into(), &"1 of 63".into()));
    assert_eq!(rules["left"], serde_json::json!(["T02"]));
    let facets = &seen["lists"]["bins"]["facets"];
    assert_eq!(facets["Status"], serde_json::json!(["all", "uncovered", "hit", "unreachable"]));
    let facets = seen["lists"]["cases"]["facets"].as_object().unwrap();
    assert_eq!(facets.keys().collect::<Vec<_>>(), ["Profile", "Scenario", "Verdict"]);
    assert_eq!(seen["deep link"], true);
    // The state diagram: a selected transition shows its rules, and the hits of each profile.
    assert_eq!(seen["transition"]["rules"], serde_json::json!(["T46"]));
    assert_eq!(seen["transition"]["heads"][0], "Rule");
    let sizes = seen["smallest text"].as_array().unwrap();
    assert!(sizes.iter().all(|size| size.as_f64() >= Some(10.5)), "legible: {sizes:?}");
    assert!(seen["printed pages"].as_u64().unwrap() <= 8, "{}", seen["printed pages"]);
    assert_is_for_anyone(seen);
}

#[test]
fn a_green_report_is_small_however_many_cases_there_are_and_can_be_made_again() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments =
        ["--cases", "2778", "--packets", "1", "--scenario", "smoke", "--scenario", "ring"];
    assert_code(&run_into(&out, &arguments), 0);
    let page = out.join("report.html");
    let first = fs::read(&page).unwrap();
    // The bins of the block are most of the page; each of the cases would add some 60 bytes.
    assert!(first.len() < 600_000, "{}", first.len());
    fs::remove_file(&page).unwrap();
    assert_code(&run(["report", out.to_str().unwrap()]), 0);
    assert_eq!(fs::read(&page).unwrap(), first);
    let seen = looked_at(&out, "T02");
    assert_eq!(seen["title"], "PASS: thread2, seed 1");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    assert_eq!(seen["failures"], serde_json::json!({ "count": 0, "open": 0 }));
    assert_eq!(seen["folded"], serde_json::json!(["specification", "run"]));
    assert_page_works(&seen);
    // The script computes the names and seeds of all cases from their places.
    let cases = &seen["lists"]["cases"];
    assert_eq!(cases["count"], "11112 of 11112");
    assert_eq!(cases["orders"][0][1][0], "thread2/spec/smoke/0");
    assert_eq!(cases["orders"][1][1][0], "thread2/repaired/ring/2777");
}

/// A failing case has its seed in `results.json`. The list finds it by that seed and by its
/// verdict.
#[test]
fn a_case_is_found_by_its_seed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let rtl = changed_rtl("ReqRecvCore_Thread_2.v", "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    let rtl = rtl.path().to_str().unwrap();
    run_into(&out, &["--cases", "9", "--fixes", "repaired", "--rtl", rtl, "--no-waves"]);
    let results = json(&out.join("results.json"));
    let cases = results["cases"].as_array().unwrap();
    let failed = cases.iter().rfind(|case| case["seed"].is_string()).expect("a failed case");
    let seen = looked_at(&out, failed["seed"].as_str().unwrap());
    let list = &seen["lists"]["cases"];
    assert_eq!(list["left"], serde_json::json!([failed["name"]]), "{list}");
    let verdicts = list["facets"]["Verdict"].as_array().unwrap();
    assert!(verdicts.len() > 2 && verdicts[1] == "match", "{verdicts:?}");
    assert!(list["searched"].as_str().unwrap().starts_with("1 of "), "{list}");
}

/// Processor time does not depend on what else runs, so it has a limit here.
#[test]
#[ignore = "slow: 100,000 cases"]
fn a_page_of_100_000_cases_is_small_and_quick() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let scenarios = ["--scenario", "smoke", "--scenario", "ring"];
    let arguments = [&["--cases", "25000", "--packets", "1"][..], &scenarios].concat();
    assert_code(&run_into(&out, &arguments), 0);
    let page = out.join("report.html");
    let size = fs::metadata(&page).unwrap().len();
    assert!(size < 3_000_000, "{size} bytes");
    let seen = looked_at_page(&page, &["ring/24999", "--time"]);
    eprintln!("{size} bytes, {seen}");
    assert_eq!((&seen["count"], &seen["rows"]), (&"2 of 100000".into(), &2.into()));
    assert!(seen["until usable"].as_f64() < Some(1.0), "{seen}");
}

#[test]
fn markup_in_results_is_escaped() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    run_into(&out, &["--cases", "1", "--scenario", "smoke"]);
    let results = out.join("results.json");
    let text = fs::read_to_string(&results).unwrap();
    let marked = text.replacen("\"rtl\":\"", "\"rtl\":\"<script>alert(1)</script>", 1);
    assert_ne!(text, marked);
    write_record(&results, &marked);
    assert_eq!(code(&run(["report", out.to_str().unwrap()])), 0);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)"), "it is escaped");
    assert!(!page.contains("<script>alert"), "it is no markup");
}

/// Edited results are rejected. Results of version 4, which have no checksum, are still readable.
#[test]
fn edited_results_are_rejected() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    run_into(&out, &["--cases", "1", "--scenario", "smoke"]);
    let results = out.join("results.json");
    let text_of = fs::read_to_string(&results).unwrap();
    let edited = text_of.replacen("\"passed\": true", "\"passed\": false", 1);
    assert_ne!(edited, text_of);
    fs::write(&results, &edited).unwrap();
    for command in [&["report"][..], &["replay", "--quiet"]] {
        let output = run(command.iter().copied().chain([out.to_str().unwrap()]));
        assert_eq!(code(&output), 2, "{command:?}: {}", text(&output));
    }
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = TempDir::new().unwrap();
    assert_code(&run(["report", folder.path().to_str().unwrap()]), 2);
    fs::write(folder.path().join("results.json"), "{\"format\": \"other\"}").unwrap();
    let other = run(["report", folder.path().to_str().unwrap()]);
    assert_eq!(code(&other), 2);
    assert_error_at(&other, "E0214", "results.json:1:");
    let head = r#"{"format": "other", "version": 1, "run": {}, "checksum": ""}"#;
    fs::write(folder.path().join("results.json"), head).unwrap();
    assert_error_at(&run(["report", folder.path().to_str().unwrap()]), "E0206", "results.json");
    assert!(!folder.path().join("report.html").exists());
}
