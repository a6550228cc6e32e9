//! `cosim signoff`: what covers each rule of a specification.

use crate::common::{Place, assert_is_for_anyone, code, looked_at_page, project, text};
use serde_json::{Value, json};

#[test]
fn each_rule_has_its_cases_vectors_and_planted_bugs() {
    let place = Place::new();
    place.exits(0, "run --block qp --cases 10 --quiet --out run");
    let at = |folder: &str| project().join(folder).display().to_string();
    let (vectors, bugs) = (at("vectors/qp"), at("tests/bad_rtl/qp"));
    let files = "--out matrix.html --csv matrix.csv --format json";
    let output = place.run(&format!("signoff run --vectors {vectors} --bugs {bugs} {files}"));
    let matrix: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    // No mutation analysis and no proof is among the results.
    assert_eq!(matrix["columns"], json!(["cases", "vectors", "bins", "planted bugs"]));
    assert_eq!(
        (&matrix["missing"][0][0], &matrix["missing"][1][0]),
        (&"mutants".into(), &"proofs".into())
    );
    let rules = matrix["rules"].as_array().unwrap().iter();
    let rules = rules.map(|rule| {
        let cells = rule["cells"].as_array().unwrap().iter();
        (&rule["rule"], cells.map(|cell| cell["good"].as_u64().unwrap()).collect())
    });
    let rules: Vec<(&Value, Vec<u64>)> = rules.collect();
    // R1 is reset; bugs 01 and 02 name it, and so does more than one vector.
    let (_, reset) = rules.iter().find(|(name, _)| *name == "R1").expect("the rule");
    let hits = &place.results("run")["profiles"][0]["rules"]["R1"];
    assert_eq!(reset[0], *hits);
    assert!(reset[1] >= 1 && reset[3] >= 2, "{reset:?}");
    let empty = |(_, cells): &(&Value, Vec<u64>)| cells.iter().filter(|good| **good == 0).count();
    let gaps: Vec<usize> = rules.iter().map(empty).collect();
    assert!(gaps.is_sorted_by(|one, other| one >= other), "empty cells first: {gaps:?}");
    let has_unused = rules.iter().any(|(_, cells)| cells[0] == 0);
    assert_eq!(code(&output), i32::from(has_unused));
    let table = place.text("matrix.csv");
    assert_eq!(table.lines().count(), rules.len() + 1);
    assert!(table.starts_with("\"rule\",\"meaning\",\"cases\",\"vectors\""), "{table}");
    let seen = looked_at_page(&place.path("matrix.html"), &["R1"]);
    let list = &seen["lists"]["rules-matrix"];
    assert_eq!(list["count"], format!("{0} of {0}", rules.len()));
    assert!(list["left"].as_array().unwrap().contains(&"R1".into()), "{list}");
    assert_is_for_anyone(&seen);

    // Results of other RTL, and folders without results, are refused.
    place.exits(0, "run --block qp --cases 1 --quiet --out other");
    place.edit_record("other/results.json", "\"rtl\":\"", "\"rtl\":\"0");
    let rows = [("E0221", "other", "other"), ("E0218", "", "."), ("E0201", "", "--bugs missing")];
    place.refuses("signoff run", &rows);
}
