//! `cosim mutate --in-diff`: mutants only in lines that a change touches.

use crate::common::{Place, copy_rtl};
use serde_json::{Value, json};

#[test]
#[ignore = "slow: compiles a model with mutants"]
fn each_mutant_is_in_a_line_that_changed() {
    let place = Place::new();
    for folder in ["old", "sum", "comment"] {
        copy_rtl(&place.path(folder));
    }
    let file = "qp/QpStateCtrl.sv";
    place.edit(&format!("sum/{file}"), "evt_tail + PTR_ONE", "PTR_ONE + evt_tail");
    place.edit(&format!("comment/{file}"), "case (hw_kind)", "case (hw_kind) // changed\n");
    let mutate = |new: &str| {
        let mutate = "mutate --block qp --mutants 6 --cases 2 --no-judge --out mutants --force";
        place.json_of(0, &format!("{mutate} --in-diff old/qp --rtl {new}/qp"))
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
    assert_eq!(mutate("comment"), json!([]), "no mutant is in a changed line");
}
