//! `cosim signoff`: what covers each rule of a specification.

use crate::common::{
    assert_error, assert_error_at, assert_is_for_anyone, code, json, looked_at_page, project,
    run_in, text, write_record,
};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn each_rule_has_its_cases_vectors_and_planted_bugs() {
    let folder = TempDir::new().unwrap();
    let run = ["run", "--block", "qp", "--cases", "10", "--quiet", "--out", "run"];
    assert_eq!(code(&run_in(folder.path(), &run)), 0);
    let at = |place: &str| project().join(place).display().to_string();
    let (vectors, bugs) = (at("vectors/qp"), at("tests/bad_rtl/qp"));
    let words = ["signoff", "run", "--vectors", &vectors, "--bugs", &bugs];
    let more = ["--out", "matrix.html", "--csv", "matrix.csv", "--format", "json"];
    let output = run_in(folder.path(), &[&words[..], &more].concat());
    let matrix: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    let columns = ["cases", "vectors", "bins", "mutants", "proofs", "planted bugs"];
    assert_eq!(matrix["columns"], serde_json::json!(columns));
    let rules = matrix["rules"].as_array().unwrap();
    let rule = |name: &str| {
        let found = rules.iter().find(|rule| rule["rule"] == name).expect("the rule");
        found["cells"].as_array().unwrap().clone()
    };
    // R1 is reset; bugs 01 and 02 name it, and so does more than one vector.
    let reset = rule("R1");
    let count = |cell: &Value| cell["good"].as_u64().unwrap();
    let hits = &json(&folder.path().join("run/results.json"))["profiles"][0]["rules"]["R1"];
    assert_eq!(&reset[0]["good"], hits);
    assert!(count(&reset[1]) >= 1 && count(&reset[5]) >= 2, "{reset:?}");
    // No mutation analysis and no proof is among the results.
    assert_eq!((count(&reset[3]), count(&reset[4])), (0, 0));
    let empty = |rule: &Value| {
        rule["cells"].as_array().unwrap().iter().filter(|cell| cell["good"] == 0).count()
    };
    let gaps: Vec<usize> = rules.iter().map(empty).collect();
    assert!(gaps.is_sorted_by(|one, other| one >= other), "empty cells first: {gaps:?}");
    let unused = rules.iter().filter(|rule| rule["cells"][0]["good"] == 0).count();
    assert_eq!(code(&output), i32::from(unused > 0));
    let table = fs::read_to_string(folder.path().join("matrix.csv")).unwrap();
    assert_eq!(table.lines().count(), rules.len() + 1);
    assert!(table.starts_with("\"rule\",\"meaning\",\"cases\",\"vectors\""), "{table}");
    let seen = looked_at_page(&folder.path().join("matrix.html"), &["R1"]);
    let list = &seen["lists"]["rules-matrix"];
    assert_eq!(list["count"], format!("{0} of {0}", rules.len()));
    assert!(list["left"].as_array().unwrap().contains(&"R1".into()), "{list}");
    assert_is_for_anyone(&seen);
}

#[test]
fn results_of_other_rtl_and_folders_without_results_are_refused() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        let run = ["run", "--block", "qp", "--cases", "1", "--quiet", "--out", name];
        assert_eq!(code(&run_in(folder.path(), &run)), 0);
    }
    let results = folder.path().join("two/results.json");
    let changed = fs::read_to_string(&results).unwrap().replacen("\"rtl\":\"", "\"rtl\":\"0", 1);
    write_record(&results, &changed);
    assert_error_at(&run_in(folder.path(), &["signoff", "one", "two"]), "E0221", "two");
    assert_error(&run_in(folder.path(), &["signoff", "one", "."]), "E0218");
    assert_error(&run_in(folder.path(), &["signoff", "one", "--bugs", "missing"]), "E0201");
}
