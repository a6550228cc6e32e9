//! `cosim compare`: two runs of a block.

use crate::common::{Place, assert_is_for_anyone, looked_at_page, members, source};
use serde_json::Value;

fn changes(compared: &Value) -> Vec<&str> {
    members(&compared["failures"], "change")
}

#[test]
fn failures_are_new_still_there_gone_or_not_run() {
    let place = Place::without_bypass();
    let run = "run --quiet --no-waves --no-shrink --fixes spec --cases 4 --scenario smoke";
    place.exits(0, &format!("{run} --scenario ring --out good"));
    place.exits(1, &format!("{run} --scenario ring --out bad --rtl rtl"));
    place.exits(0, &format!("{run} --scenario ring --out other-seed --seed 2"));
    place.exits(0, &format!("{run} --out part"));
    // A change of RTL alone, in both directions.
    let new = place.json_of(1, "compare good bad");
    let all = changes(&new);
    assert_eq!(new["settings"].as_array().unwrap().len(), 1, "{new}");
    assert!(!all.is_empty() && all.iter().all(|change| *change == "new"), "{new}");
    assert_eq!(changes(&place.json_of(0, "compare bad good")), vec!["gone"; all.len()]);
    let still = place.json_of(0, "compare bad bad");
    assert_eq!(changes(&still), vec!["still"; all.len()]);
    assert_eq!(still["settings"], Value::from(Vec::<Value>::new()));
    // Other cases say nothing about a failure.
    assert_eq!(changes(&place.json_of(0, "compare bad other-seed")), vec!["not_run"; all.len()]);
    // A run of one scenario covers less, which the page names.
    let coverage = place.json_of(0, "compare good part")["coverage"][0].clone();
    assert!(!coverage["lost"].as_array().unwrap().is_empty(), "{coverage}");
    assert!(coverage["gained"].as_array().unwrap().is_empty(), "{coverage}");
    place.exits(1, "compare good bad --out compare.html");
    let seen = looked_at_page(&place.path("compare.html"), &["mismatch"]);
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"WORSE".into(), &"bad".into()));
    assert_is_for_anyone(&seen);
}

#[test]
fn what_is_no_run_of_the_same_block_is_refused() {
    let place = Place::new();
    place.exits(0, "run --block qp --cases 1 --quiet --out qp");
    place.exits(0, "run --block dll --cases 1 --quiet --out dll");
    place.fails("E0221", "", "compare qp dll");
    place.exits(2, "compare qp missing");
    place.exits(2, "compare qp .");
}

/// The commit of a run is marked if its RTL is not in it. No filter of the repository runs.
#[test]
fn uncommitted_rtl_is_marked() {
    let place = Place::new();
    let source = source("rtl/qp/QpStateCtrl.sv");
    place.write("rtl/QpStateCtrl.sv", &source);
    place.git("init --quiet");
    place.commit("first");
    place.git("config filter.evil.clean 'touch mark; cat'");
    place.write(".gitattributes", "*.sv filter=evil\n");
    let commit = |name: &str| {
        place.exits(0, &format!("run --block qp --rtl rtl --cases 1 --quiet --out {name}"));
        place.json(&format!("{name}/timing.json"))["commit"].as_str().unwrap().to_owned()
    };
    let clean = commit("clean");
    assert_eq!(clean.len(), 40, "{clean}");
    place.write("rtl/QpStateCtrl.sv", &(source + "// more\n"));
    assert_eq!(commit("changed"), format!("{clean}-dirty"));
    assert!(!place.has_file("mark"));
}
