//! `cosim history`: failures over many runs.

use crate::common::{
    Place, assert_contains, assert_error, assert_is_for_anyone, looked_at_page, members,
};
use crate::full_disk::under;
use std::process::Child;

const RUN: &str = "run --quiet --no-waves --cases 3 --scenario smoke --force";

#[test]
fn a_failure_is_new_once_and_then_known() {
    let place = Place::never_ready();
    place.exits(0, &format!("{RUN} --out run --history h.jsonl"));
    let bad = format!("{RUN} --out run --fixes spec --rtl rtl");
    place.prints(1, &["NEW: in no earlier run"], &format!("{bad} --history h.jsonl"));
    place.prints(1, &["    known since 20", ", in 1 run\n"], &format!("{bad} --history h.jsonl"));
    // `--baseline` adds nothing.
    place.prints(1, &[", in 2 runs\n"], &format!("{bad} --baseline h.jsonl"));
    let shown = place.json_of(0, "history show h.jsonl");
    assert_eq!(shown["runs"].as_array().unwrap().len(), 3);
    let [failure] = &shown["failures"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!((&failure["runs"], &failure["cases"]), (&2.into(), &6.into()));
    assert_eq!(failure["first"][1], shown["runs"][1]["rtl"]);
    assert_ne!(failure["first"][1], shown["runs"][0]["rtl"]);
    assert!(failure["first"][0].as_str() < failure["last"][0].as_str());
    // The report shows the trend.
    place.exits(0, "report --history h.jsonl run");
    let page = place.text("run/report.html");
    assert_contains(&page, &["3 runs of this block since 20"]);
    // All three runs were in one folder, so that is where each point of each chart leads to.
    let points = page.matches("<a href=\"report.html\" tabindex=\"-1\"><circle").count();
    assert_eq!((points, page.matches("<figure>").count()), (9, 3), "{page}");
}

#[test]
fn a_history_has_a_page_with_charts_failures_and_linked_runs() {
    let place = Place::never_ready();
    let run = format!("{RUN} --fixes spec --history history.jsonl --out 'runs of #1/");
    place.exits(0, &format!("{run}good'"));
    place.exits(1, &format!("{run}bad' --rtl rtl"));
    let printed = place.exits(0, "history report history.jsonl");
    assert!(printed.trim().ends_with("history.jsonl.html"), "{printed}");
    let written = |page: &str| place.text(page).replace("&#x2f;", "/");
    let linked = "href=\"runs%20of%20%231/bad/report.html\"";
    assert_contains(&written("history.jsonl.html"), &[linked]);
    let seen = looked_at_page(&place.path("history.jsonl.html"), &["bad-is-no-word"]);
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"FAIL".into(), &"bad".into()));
    assert_eq!(seen["facts"][1], "1 open failure");
    assert_eq!(seen["lists"]["runs"]["count"], "2 of 2");
    assert_eq!(seen["lists"]["failures"]["count"], "1 of 1");
    assert_is_for_anyone(&seen);
    // A run that is removed has a row, and no link.
    place.remove("runs of #1/bad");
    place.exits(0, "history report history.jsonl --out other.html");
    let left = written("other.html");
    assert!(!left.contains("bad/report.html") && left.contains("good/report.html"));
}

/// A run is added once. One of the processes creates the file.
#[test]
fn processes_that_write_at_once_lose_nothing() {
    let place = Place::new();
    for seed in 0..8 {
        place.exits(0, &format!("{RUN} --fixes spec --seed {seed} --out {seed}"));
    }
    let add = |seed: u32| place.start(&format!("history add h.jsonl {seed}"));
    let mut processes: Vec<Child> = (0..8).map(add).collect();
    assert!(processes.iter_mut().all(|process| process.wait().unwrap().success()));
    let shown = place.json_of(0, "history show h.jsonl");
    let mut seeds = members(&shown["runs"], "seed");
    seeds.sort_unstable();
    assert_eq!(seeds, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    for (file, words) in [
        ("h.jsonl", "0 runs added, 1 already recorded"),
        ("new.jsonl", "1 run added, 0 already recorded"),
    ] {
        let printed = place.exits(0, &format!("history add {file} 3"));
        assert!(printed.starts_with(words), "{printed}");
    }
    assert_eq!(place.json_of(0, "history show h.jsonl"), shown);
}

#[test]
fn a_newer_a_damaged_and_a_foreign_file_are_refused_before_the_run() {
    let place = Place::new();
    place.exits(0, &format!("{RUN} --out other --history h.jsonl"));
    let good = place.text("h.jsonl");
    for (from, to) in
        [("history 1", "history 2"), ("{", "SQLite format 3"), ("\"cases\":", "\"cases\":-")]
    {
        let bad = format!("{good}{}", good.replacen(from, to, 1));
        place.write("h.jsonl", &bad);
        place.fails("E0226", "h.jsonl:2:", &format!("{RUN} --out out --history h.jsonl"));
        assert_eq!(place.text("h.jsonl"), bad, "it is left as it is");
        assert!(!place.has_file("out"), "nothing is run");
    }
    // A line that does not fit on the disk leaves no part.
    let blank = "\n".repeat(900);
    place.write("h.jsonl", &blank);
    assert_error(&under("ulimit -f 1 && exec", &place, "", "history add h.jsonl other"), "E0601");
    assert_eq!(place.text("h.jsonl"), blank);
}
