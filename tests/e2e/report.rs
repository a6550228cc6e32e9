//! `report.html` in a browser.

use crate::common::{Place, assert_is_for_anyone, looked_at, looked_at_page};
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_browser_shows_failures_and_their_details() {
    let place = Place::without_bypass();
    // The list finds a failing case by its name, and by its verdict.
    place.exits(1, "run --quiet --cases 9 --fixes repaired --rtl rtl --no-waves --out one");
    let results = place.results("one");
    let cases = results["cases"].as_array().unwrap();
    let failed = cases.iter().rfind(|case| case["seed"].is_string()).expect("a failed case");
    let seen = looked_at(&place.path("one"), failed["name"].as_str().unwrap());
    let list = &seen["lists"]["cases"];
    assert_eq!(list["left"], json!([failed["name"]]), "{list}");
    let verdicts = list["facets"]["Verdict"].as_array().unwrap();
    assert!(verdicts.len() > 2 && verdicts[1] == "match", "{verdicts:?}");
    assert!(list["searched"].as_str().unwrap().starts_with("1 of "), "{list}");
    // Another bug: besides an acknowledge without bypass, no request to the CQ.
    let file = "rtl/ReqRecvCore_Thread_2.v";
    let wrong = place.text(file).replace("cq_req_valid = 1'b1", "cq_req_valid = 1'b0");
    assert_ne!(wrong, place.text(file));
    place.write(file, &wrong);
    place.exits(1, "run --quiet --cases 20 --fixes repaired --rtl rtl --out out");
    let seen = looked_at(&place.path("out"), "T02");
    assert_eq!(seen["title"], "FAIL: thread2, seed 1");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"FAIL".into(), &"bad".into()));
    let results = place.results("out");
    let failed = results["failures"].as_array().unwrap();
    let cases: u64 = failed.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    let total = &results["totals"]["cases"];
    assert_eq!(seen["facts"][0], format!("{cases} of {total} cases failed"));
    let command = seen["command"].as_str().unwrap();
    let largest = failed.iter().max_by_key(|group| group["count"].as_u64()).unwrap();
    assert!(command.contains(largest["case"].as_str().unwrap()), "{command}");
    // Failures come first, and everything else is folded.
    let sections = ["failures", "coverage", "cases", "history", "specification", "run"];
    assert_eq!(seen["sections"], json!(sections));
    assert_eq!(seen["folded"], json!(sections[1..]));
    assert_eq!(seen["failures"], json!({ "count": 2, "open": 1, "open after Enter": 2 }));
    assert_eq!(seen["diagrams"], 1);
    assert!(seen["wrong"].as_u64().unwrap() > 0);
    // Waves and source: the cursor is at the failure, what differs comes first, keys step, and a
    // signal leads to a line that assigns it.
    let inspector = &seen["inspector"];
    let port = inspector["first"][0].as_str().unwrap().strip_prefix("golden.").unwrap();
    let names = [format!("golden.{port}"), format!("dut.{port}")];
    assert_eq!(inspector["first"], json!(names), "{inspector}");
    assert_ne!(inspector["values"][0], inspector["values"][1], "{inspector}");
    let cycle = |name: &str| inspector[name].as_u64().unwrap();
    assert_eq!((cycle("stepped") + 2, cycle("end") > cycle("stepped")), (cycle("cycle"), true));
    assert_eq!(inspector["added"], json!([1, "dut.cur_state"]), "{inspector}");
    let shown = inspector["assigned"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(shown.clone().any(|line| line.contains(&format!("{port} "))), "{port}: {inspector}");
    assert!(shown.clone().any(|line| line.contains("// ")), "values: {inspector}");
    assert_eq!(seen["scrolled to the error"], true);
    assert!(seen["files"]["count"].as_u64().unwrap() > 4, "vectors and waves are linked");
    assert_page_works(&seen);
    // A case that failed leads to its failure, an uncovered bin to its declaration.
    let kinds = seen["anchors"]["kinds"].as_array().unwrap();
    for kind in ["failure", "bins", "rule", "spec"] {
        assert!(kinds.contains(&kind.into()), "{kind}: {kinds:?}");
    }
}

/// Checks properties of every report of `thread2`.
fn assert_page_works(seen: &Value) {
    // T02, "no context, stay idle", is one of 63 rules.
    let rules = &seen["lists"]["rules"];
    assert_eq!((&rules["count"], &rules["searched"]), (&"63 of 63".into(), &"1 of 63".into()));
    assert_eq!(rules["left"], json!(["T02"]));
    let facets = &seen["lists"]["bins"]["facets"];
    assert_eq!(facets["Status"], json!(["all", "uncovered", "hit", "unreachable"]));
    let facets = seen["lists"]["cases"]["facets"].as_object().unwrap();
    assert_eq!(facets.keys().collect::<Vec<_>>(), ["Profile", "Scenario", "Verdict"]);
    assert_eq!(seen["deep link"], true);
    // The state diagram: a selected transition shows its rules, and the hits of each profile.
    assert_eq!(seen["transition"]["rules"], json!(["T46"]));
    assert_eq!(seen["transition"]["heads"][0], "Rule");
    let sizes = seen["smallest text"].as_array().unwrap();
    assert!(sizes.iter().all(|size| size.as_f64() >= Some(10.5)), "legible: {sizes:?}");
    assert!(seen["printed pages"].as_u64().unwrap() <= 8, "{}", seen["printed pages"]);
    assert_is_for_anyone(seen);
}

#[test]
fn a_green_report_is_small_however_many_cases_there_are_and_can_be_made_again() {
    let place = Place::new();
    let scenarios = "--scenario smoke --scenario ring";
    place.exits(0, &format!("run --quiet --cases 2778 --packets 1 --out out {scenarios}"));
    let first = place.text("out/report.html");
    // The bins of the block are most of the page; each of the cases would add some 60 bytes.
    assert!(first.len() < 600_000, "{}", first.len());
    place.remove("out/report.html");
    place.exits(0, "report out");
    assert!(place.text("out/report.html") == first, "the same bytes");
    let seen = looked_at(&place.path("out"), "T02");
    assert_eq!(seen["title"], "PASS: thread2, seed 1");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    assert_eq!(seen["failures"], json!({ "count": 0, "open": 0 }));
    assert_eq!(seen["folded"], json!(["specification", "run"]));
    assert_page_works(&seen);
    // The script computes the names of all cases from their places.
    let cases = &seen["lists"]["cases"];
    assert_eq!(cases["count"], "11112 of 11112");
    assert_eq!(cases["orders"][0][1][0], "thread2/spec/smoke/0");
    assert_eq!(cases["orders"][1][1][0], "thread2/repaired/ring/2777");
}

/// Processor time does not depend on what else runs, so it has a limit here.
#[test]
#[ignore = "slow: 100,000 cases"]
fn a_page_of_100_000_cases_is_small_and_quick() {
    let place = Place::new();
    let scenarios = "--scenario smoke --scenario ring";
    place.exits(0, &format!("run --quiet --cases 25000 --packets 1 --out out {scenarios}"));
    let page = place.path("out/report.html");
    let size = fs::metadata(&page).unwrap().len();
    assert!(size < 3_000_000, "{size} bytes");
    let seen = looked_at_page(&page, &["ring/24999", "--time"]);
    eprintln!("{size} bytes, {seen}");
    assert_eq!((&seen["count"], &seen["rows"]), (&"2 of 100000".into(), &2.into()));
    assert!(seen["until usable"].as_f64() < Some(1.0), "{seen}");
}

/// Edited results are rejected. With a new checksum, markup in them is escaped.
#[test]
fn edited_results_are_rejected_and_markup_is_escaped() {
    let place = Place::new();
    place.run("run --quiet --cases 1 --scenario smoke --out out");
    let results = place.text("out/results.json");
    place.edit("out/results.json", "\"passed\": true", "\"passed\": false");
    place.exits(2, "report out");
    place.exits(2, "replay --quiet out");
    place.write("out/results.json", &results);
    let marked = "\"rtl\":\"<script>alert(1)</script>";
    place.edit_record("out/results.json", "\"rtl\":\"", marked);
    place.exits(0, "report out");
    let page = place.text("out/report.html");
    assert!(page.contains("&lt;script&gt;alert(1)"), "it is escaped");
    assert!(!page.contains("<script>alert"), "it is no markup");
}
