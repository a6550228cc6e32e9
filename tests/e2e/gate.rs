//! The corpus as a gate: the commands of `docs/how-to/ci.md` pass the good RTL and no other.

use crate::common::{Place, assert_code, json, project, run, text};
use std::fs;

/// Runs the commands in the document that check user RTL.
#[track_caller]
fn gate(place: &Place, rtl: &str, exit: i32) {
    let document = fs::read_to_string(project().join("docs/how-to/ci.md")).unwrap();
    let lines = document.lines().filter_map(|line| line.strip_prefix("    target/release/cosim "));
    let lines: Vec<&str> = lines.filter(|line| line.contains("--rtl path/to/rtl")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        // A real gate runs too long for a test.
        let few = match line.starts_with("run ") {
            true => "--cases 10 --max-failures 3 --no-waves",
            false => "",
        };
        let line = line.replace(" vectors/", &format!(" {}/vectors/", project().display()));
        place.exits(exit, &format!("{} {few}", line.replace("path/to/rtl", rtl)));
    }
}

#[test]
fn the_gate_of_the_documents_passes_the_good_rtl_and_no_other() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    gate(&place, project().join("rtl").to_str().unwrap(), 0);
    gate(&place, "rtl", 1);
}

#[test]
fn a_record_is_expected_and_without_a_record_a_match() {
    let place = Place::new();
    // The first vector records a hang; the second matches.
    let paths = ["f5d-off-short-wqe-hangs", "t14-send-only-completes"]
        .map(|name| project().join(format!("vectors/thread2/{name}.json")));
    let [hang, good] = paths.each_ref().map(|path| path.display());
    let printed = place.exits(0, &format!("replay --expect-recorded {hang} {good}"));
    assert!(printed.contains("PASS  2 vectors, 3 replays: 3 as expected, 0 not"), "{printed}");
    let printed = place.exits(1, &format!("replay {hang} {good}"));
    assert!(printed.contains("FAIL  2 vectors, 3 replays: 2 matched, 1 not"), "{printed}");
    // The same hang is unexpected without a record.
    let mut vector = json(&paths[0]);
    vector["recorded"] = serde_json::Value::Null;
    place.write("silent.json", &vector.to_string());
    place.exits(1, "replay --expect-recorded silent.json");
}

#[test]
fn folders_and_patterns_name_vectors_and_other_fixes_are_skipped() {
    for (exit, words, line) in [
        (0, "skipped, made for other fixes: 1", "--fixes repaired vectors/thread2/f5d-*.json"),
        (2, "", "vectors/thread2/no-such-*.json"),
    ] {
        let output = run(format!("replay --expect-recorded {line}").split(' '));
        assert_code(&output, exit);
        assert!(text(&output).contains(words), "{}", text(&output));
    }
}
