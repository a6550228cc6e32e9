//! `cosim mutate --in-diff`: mutants only in lines that a change touches.

use crate::common::{assert_code, copy_rtl, cosim};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Copies the RTL of `qp`, with a replacement in one file.
fn rtl(to: &Path, from: &str, with: &str) {
    copy_rtl(to);
    let file = to.join("qp/QpStateCtrl.sv");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(file, text.replacen(from, with, 1)).unwrap();
}

#[test]
#[ignore = "slow: compiles a model with mutants"]
fn each_mutant_is_in_a_line_that_changed() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    rtl(&here.join("old"), "", "");
    rtl(&here.join("sum"), "evt_tail + PTR_ONE", "PTR_ONE + evt_tail");
    rtl(&here.join("comment"), "case (hw_kind)", "case (hw_kind) // changed\n");
    let mutate = |new: &str| -> Value {
        let command = ["mutate", "--block", "qp", "--mutants", "6", "--cases", "2", "--no-judge"];
        let options = ["--format", "json", "--out", "mutants", "--force", "--in-diff", "old/qp"];
        let mut cosim = cosim();
        let cosim = cosim.current_dir(here).args(command).args(options);
        let output = cosim.arg("--rtl").arg(format!("{new}/qp")).output().unwrap();
        assert_code(&output, 0);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = mutate("sum");
    let lines = report["run"]["in_diff"]["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let mutants = report["profiles"][0]["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 6);
    let at = |source: &Value| format!("{}:{}", source["file"].as_str().unwrap(), source["line"]);
    for mutant in mutants {
        let sources = mutant["sources"].as_array().unwrap();
        assert!(sources.iter().any(|source| lines.contains(&at(source).into())), "{mutant}");
    }
    assert_eq!(mutate("comment"), serde_json::json!([]), "no mutant is in a changed line");
}
