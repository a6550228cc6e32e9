//! `report.html` in a browser.

use crate::common::{
    assert_is_for_anyone, changed_rtl, code, cosim, looked_at, run, text, write_record,
};
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(folder: &Path, arguments: &[&str]) -> Output {
    cosim().args(["run", "--quiet", "--out"]).arg(folder).args(arguments).output().unwrap()
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
    let output = run_into(&out, &arguments);
    assert_eq!(code(&output), 1, "{}", text(&output));
    let seen = looked_at(&out, "no context");
    let [title, verdict, failures, diagrams, wrong, opened, links, rest @ ..] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!(title, "title: FAIL: thread2, seed 1");
    assert_eq!(verdict, "verdict: FAIL");
    assert_eq!(failures, "failures: 2 open: 1");
    assert_eq!(diagrams, "timing diagrams: 1");
    assert_eq!(wrong, "wrong values: True");
    assert_eq!(opened, "open after Enter: 2");
    assert_eq!(links, "links: True missing: []");
    assert_page_works(rest);
}

/// Checks properties of every report of `thread2`.
fn assert_page_works(seen: &[String]) {
    let [rules, rest @ ..] = seen else { panic!("{seen:?}") };
    // T02, "no context, stay idle", is one of 63 rules.
    assert_eq!(rules, "rows: 63 filtered: ['T02'] 1 of 63");
    assert_is_for_anyone(rest);
}

#[test]
fn a_green_report_is_small_however_many_cases_there_are_and_can_be_made_again() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments =
        ["--cases", "2778", "--packets", "1", "--scenario", "smoke", "--scenario", "ring"];
    let output = run_into(&out, &arguments);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let page = out.join("report.html");
    let first = fs::read(&page).unwrap();
    assert!(first.len() < 500_000, "{}", first.len());
    fs::remove_file(&page).unwrap();
    let again = run(["report", out.to_str().unwrap()]);
    assert_eq!(code(&again), 0, "{}", text(&again));
    assert_eq!(fs::read(&page).unwrap(), first);
    let seen = looked_at(&out, "no context");
    assert_eq!(seen[..2], ["title: PASS: thread2, seed 1", "verdict: PASS"]);
    assert_eq!(seen[2], "failures: 0 open: 0");
    assert_page_works(&seen[4..]);
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
fn edited_results_are_rejected_and_version_4_is_readable() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    run_into(&out, &["--cases", "1", "--scenario", "smoke"]);
    let results = out.join("results.json");
    let text_of = fs::read_to_string(&results).unwrap();
    let edited = text_of.replacen("\"passed\": true", "\"passed\": false", 1);
    assert_ne!(edited, text_of);
    fs::write(&results, &edited).unwrap();
    for command in [&["report"][..], &["rerun", "--quiet"]] {
        let output = run(command.iter().copied().chain([out.to_str().unwrap()]));
        assert_eq!(code(&output), 2, "{command:?}: {}", text(&output));
    }
    let is_new =
        |line: &&str| ["\"checksum\": ", "\"coverage\": "].iter().any(|key| line.starts_with(key));
    let old: Vec<&str> = text_of.lines().filter(|line| !is_new(line)).collect();
    let old = old.join("\n").replacen("\"version\": 6", "\"version\": 4", 1);
    fs::write(&results, old.replacen("\"passed\": true,", "\"passed\": true", 1)).unwrap();
    let output = run(["report", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output));
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = TempDir::new().unwrap();
    let nothing = run(["report", folder.path().to_str().unwrap()]);
    assert_eq!(code(&nothing), 2, "{}", text(&nothing));
    fs::write(folder.path().join("results.json"), "{\"format\": \"other\"}").unwrap();
    let other = run(["report", folder.path().to_str().unwrap()]);
    assert_eq!(code(&other), 2);
    assert!(text(&other).contains("results.json:1:"), "{}", text(&other));
    assert!(text(&other).contains("found other, expected cosim-results"), "{}", text(&other));
    assert!(!folder.path().join("report.html").exists());
}
