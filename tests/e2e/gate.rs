//! The corpus as a gate: the commands of `docs/how-to/ci.md` pass the good RTL and no other.

use crate::common::{assert_code, patched_rtl, project, run, text};
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// The commands in the document that check user RTL.
fn gate(rtl: &Path, out: &Path) -> Vec<Output> {
    let document = fs::read_to_string(project().join("docs/how-to/ci.md")).unwrap();
    let commands: Vec<String> = document
        .lines()
        .filter_map(|line| line.strip_prefix("    target/release/cosim "))
        .filter(|line| line.contains("--rtl path/to/rtl"))
        .map(|line| line.replace("runs/gate", out.to_str().unwrap()))
        .map(|line| line.replace("path/to/rtl", rtl.to_str().unwrap()))
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let arguments = |command: &str| -> Vec<String> {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        // A real gate runs too long for a test.
        if words[0] == "run" {
            words.extend(["--cases", "10", "--max-failures", "3", "--no-waves"].map(str::to_owned));
        }
        words
    };
    commands.iter().map(|command| run(arguments(command))).collect()
}

#[test]
fn the_gate_of_the_documents_passes_the_good_rtl_and_no_other() {
    let folder = TempDir::new().unwrap();
    for output in gate(&project().join("rtl"), &folder.path().join("good")) {
        assert_code(&output, 0);
    }
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    for output in gate(&wrong.path().join("rtl"), &folder.path().join("bad")) {
        assert_code(&output, 1);
    }
}

#[test]
fn a_record_is_expected_and_without_a_record_a_match() {
    // The first vector records a hang; the second matches.
    let hang = "vectors/thread2/f5d-off-short-wqe-hangs.json";
    let good = "vectors/thread2/t14-send-only-completes.json";
    let output = run(["replay", "--expect-recorded", hang, good]);
    assert_code(&output, 0);
    assert!(
        text(&output).contains("PASS  2 vectors, 3 replays: 3 as expected, 0 not"),
        "{}",
        text(&output)
    );
    let output = run(["replay", hang, good]);
    assert_code(&output, 1);
    assert!(
        text(&output).contains("FAIL  2 vectors, 3 replays: 2 matched, 1 not"),
        "{}",
        text(&output)
    );

    // The same hang is unexpected without a record.
    let folder = TempDir::new().unwrap();
    let mut vector = crate::common::json(&project().join(hang));
    vector["recorded"] = serde_json::Value::Null;
    let silent = folder.path().join("silent.json");
    fs::write(&silent, vector.to_string()).unwrap();
    assert_code(&run(["replay", "--expect-recorded", silent.to_str().unwrap()]), 1);
}

#[test]
fn folders_and_patterns_name_vectors_and_other_fixes_are_skipped() {
    let pattern = "vectors/thread2/f5d-*.json";
    let output = run(["replay", "--expect-recorded", "--fixes", "repaired", pattern]);
    assert!(text(&output).contains("skipped, made for other fixes: 1"), "{}", text(&output));
    let output = run(["replay", "--expect-recorded", "--quiet", "vectors"]);
    assert_code(&output, 0);
    assert!(text(&output).starts_with("PASS  "), "{}", text(&output));
    assert_code(&run(["replay", "vectors/thread2/no-such-*.json"]), 2);
}
