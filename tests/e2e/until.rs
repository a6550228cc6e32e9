//! `cosim run --until-coverage`: a run ends at its coverage goal, as a beginning of the whole run.

use crate::common::{Place, assert_code, typed_in};
use serde_json::Value;

#[test]
fn a_run_ends_at_its_coverage_goal() {
    let place = Place::new();
    let goal = "run --block qp --until-coverage";
    let printed = place.exits(0, &format!("{goal} 100 --out all"));
    for words in [
        "stopped when every profile covered 100 % (--until-coverage, at most 4400 cases)",
        "coverage: 100 % of",
    ] {
        assert!(printed.contains(words), "{printed}");
    }
    let results = place.results("all");
    assert_eq!(results["ended"], "covered");
    assert!(results["totals"]["cases"].as_u64() < Some(4400), "{}", results["totals"]);
    // Cases come in the order of the plan, so the run is a prefix of the full one.
    place.exits(0, "run --block qp --out plain");
    let plain = place.results("plain");
    let [started, plain] = [&results, &plain].map(|run| run["cases"].as_array().unwrap());
    assert!(plain.starts_with(&started[..started.len() - 1]) && started.len() > 1);
    // A goal of 0 needs no case, and a run without a cycle fails.
    place.exits(1, &format!("{goal} 0 --out nothing"));
    assert_eq!(place.results("nothing")["totals"]["cases"], 0);
    let printed = place.exits(1, &format!("{goal} 100 --cases 4 --out few"));
    let missed = printed.contains("less than 100 % (--until-coverage)");
    assert!(printed.starts_with("FAIL") && missed, "{printed}");
    assert!(printed.contains("    not hit: "), "{printed}");
    assert_eq!(place.results("few")["totals"]["cases"], 44);
}

#[test]
fn conflicting_options_are_refused_with_the_reason() {
    let place = Place::new();
    for options in [
        "--block qp --until-coverage 90 --min-coverage 90",
        "--until-coverage 90 --case qp/spec/default/1",
        "--block qp --until-coverage 50 --shard 1/2",
        "--case qp/spec/default/1~6",
        "--case qp/spec/default/1~",
    ] {
        place.exits(2, &format!("run --out out {options}"));
    }
    place.fails("E0101", "0 to 100", "run --out out --block qp --until-coverage 101");
    assert!(!place.has("out"));
}

/// A failure is reproduced by its command, and with all others, as in any run.
#[test]
fn a_case_that_fails_is_run_again_like_any_other() {
    // Few cases show the bug.
    let place = Place::with_bug("qp/24-notification-survives-rts");
    let run = "run --block qp --rtl rtl --until-coverage 100 --cases 40 --out out";
    let printed = place.json_of(1, &format!("{run} --no-shrink --no-waves"));
    let commands = printed["commands"].as_object().unwrap();
    assert!(!commands.is_empty());
    for (number, command) in commands.values().enumerate() {
        let line = command.as_str().unwrap();
        assert!(line.contains("--build "), "{line}");
        let line = format!("{line} --quiet --no-shrink --no-waves --out {number}");
        assert_code(&typed_in(&place.path(""), &line), 1);
    }
    let again = place.json_of(1, "replay --recorded-rtl out");
    let totals = &printed["totals"];
    let failed = totals["cases"].as_u64().unwrap() - totals["matched"].as_u64().unwrap();
    let replays = again["replays"].as_array().unwrap().iter();
    let cases = replays.filter(|replay| replay["name"].as_str().unwrap().starts_with("qp/"));
    let is_same = |replay: &&Value| assert_eq!(replay["result"], "still fails", "{replay}");
    assert_eq!(cases.inspect(is_same).count() as u64, failed, "{again}");
}
