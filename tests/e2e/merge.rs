//! `cosim merge`: the merged shards equal the whole run, and other shards are refused.

use crate::common::{Place, assert_code, assert_error_at, code, program, project};
use serde_json::json as value;
use std::fs;
use std::process::Command;

/// Runs the shards of a run, each into its own folder `IofN`. Returns their names.
pub fn shards(place: &Place, count: usize, run: &str, expected: &[i32]) -> String {
    let shard = |index: usize| {
        let output = place.run(&format!("{run} --shard {index}/{count} --out {index}of{count}"));
        assert!(expected.contains(&code(&output)), "{output:?}");
        format!("{index}of{count}")
    };
    (1..=count).map(shard).collect::<Vec<_>>().join(" ")
}

/// Several blocks, and a coverage goal that no single shard reaches.
#[test]
fn a_coverage_goal_applies_to_all_shards_together() {
    for (percent, expected) in [(20, 0), (100, 1)] {
        let place = Place::new();
        let run = "run --quiet --block qp,dll --cases 3 --packets 20 --min-coverage";
        let run = format!("{run} {percent}");
        place.exits(expected, &format!("{run} --out whole"));
        let names = shards(&place, 2, &run, &[0]);
        let printed = place.exits(expected, &format!("merge {names} --out merged"));
        place.same_run("whole", "merged");
        let last = "PASS  2 blocks: dll passed, qp passed";
        assert_eq!(printed.trim_end().ends_with(last), expected == 0, "{printed}");
    }
}

const GREEN: &str = "--block qp --cases 8 --packets 3";

#[test]
fn shards_that_are_missing_doubled_or_foreign_are_named_and_nothing_is_written() {
    let place = Place::new();
    let green = format!("run --quiet {GREEN}");
    let names = shards(&place, 3, &green, &[0]);
    let refused = |shards: &str, number: &str, words: &[&str]| {
        let output = place.run(&format!("merge {shards} --out merged"));
        assert_error_at(&output, number, words);
        assert!(!place.has_file("merged"), "nothing is left");
    };
    let all = |number: &str, words: &[&str]| refused(&names, number, words);
    refused("1of3 3of3", "E0222", &["2/3"]);
    place.exits(0, &format!("{green} --shard 2/3 --out double"));
    refused(&format!("{names} double"), "E0222", &["double", "2/3", "2of3"]);
    // For a shard of another run, the message names the difference. The last argument takes
    // precedence.
    for (more, what) in [
        ("--seed 2", "seed is 2 here and 1 there"),
        ("--scenario default", "scenarios is [\"default\"] here and"),
        ("--min-coverage 1", "min_coverage is 1.0 here and null there"),
        ("-D SOMETHING=1", "given is"),
    ] {
        place.exits(0, &format!("{green} --shard 2/3 --force --out foreign {more}"));
        refused("1of3 foreign 3of3", "E0221", &["foreign: ", "1of3", what]);
    }
    let (results, coverage) = ("2of3/results.json", "2of3/coverage.json");
    let [whole, covered] = [results, coverage].map(|name| place.text(name));
    // A shard of another build.
    let build = place.json(results)["run"]["build"].as_str().unwrap().to_owned();
    place.edit_record(results, &build, "0123456789ab");
    all("E0220", &["2of3", "0123456789ab"]);
    // One that has a field which the others have not.
    place.write(results, &whole);
    let of_first = place.text("1of3/results.json");
    place.edit_record("1of3/results.json", "\"weights\":", "\"first\":1,\"weights\":");
    all("E0221", &["2of3: ", "first is null here and 1 there"]);
    place.write("1of3/results.json", &of_first);
    // Truncated files: within the cases, and after them.
    for end in ["{\"from\"", "\"totals\""] {
        place.write(results, &whole[..whole.find(end).unwrap()]);
        all("E0219", &[results]);
    }
    // Files of another shard, and missing files.
    place.write(results, &whole);
    place.write(coverage, &place.text("1of3/coverage.json"));
    all("E0221", &[coverage]);
    place.remove(coverage);
    all("E0201", &[coverage]);
    place.write(coverage, &covered);
    // As left by a killed run.
    let partial = place.path("2of3/results.json.partial");
    fs::rename(place.path(results), &partial).unwrap();
    all("E0218", &["2of3: "]);
    // As left by an interrupted run.
    let interrupted = whole.replace("\"ended\": \"complete\"", "\"ended\": \"interrupted\"");
    let interrupted = interrupted.replace("\"passed\": true", "\"passed\": false");
    place.write_record(results, &interrupted);
    all("E0223", &["2of3: "]);
    place.write(results, &whole);
    fs::remove_file(partial).unwrap();
    refused(&format!("1of3 {}", place.path("").display()), "E0221", &[""]);
    place.fails("E0604", "", &format!("merge {names} --out 2of3 --force"));
    // The order of the shards makes no other run in the history.
    let merge = "merge --history runs.jsonl --out merged";
    place.exits(0, &format!("{merge} {names}"));
    place.fails("E0602", "--force", &format!("{merge} {names}"));
    place.exits(0, &format!("{merge} --force 3of3 1of3 2of3"));
    let shown = place.json_of(0, "history show runs.jsonl");
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown}");
}

#[test]
fn shards_that_gnu_parallel_runs_are_the_run() {
    let found = Command::new("sh").args(["-c", "command -v parallel"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: merge::shards_that_gnu_parallel_runs...: apt-get install parallel");
        return;
    }
    let place = Place::new();
    place.exits(0, &format!("run --quiet {GREEN} --out whole"));
    let mut command = Command::new(project().join("docs/how-to/scale-out/gnu-parallel"));
    command.current_dir(project()).env("COSIM", program().get_program()).arg("3");
    command.arg(place.path("out")).args(GREEN.split(' '));
    assert_code(&command.output().unwrap(), 0);
    place.same_run("whole", "out/run");
}

/// Shards with many cases, derived from a small run, to measure the merge: a million cases, or ten
/// million with COSIM_TEST_MERGE_CASES=10000000.
#[test]
fn merging_takes_no_more_memory_for_more_cases() {
    const MOST: u64 = 200_000_000;
    let cases = std::env::var("COSIM_TEST_MERGE_CASES").map_or(1_000_000, |n| n.parse().unwrap());
    let place = Place::new();
    let small = "run --quiet --block qp --scenario default --cases 4 --packets 3";
    let names = shards(&place, 4, small, &[0]);
    for (index, name) in (0u64..).zip(names.split(' ')) {
        grow(&place, name, index, cases / 4);
    }
    place.exits(0, &format!("merge --quiet {names} --out merged"));
    let further = format!("{} further cases", cases - 1000);
    assert!(place.text("merged/junit.xml").contains(&further), "all cases are counted");
    let peak = &place.json("merged/timing.json")["peak_memory"]["program"];
    assert!(peak.as_u64().unwrap() < MOST, "{peak} bytes");
}

/// Gives shard `index` of 4 this number of cases.
fn grow(place: &Place, shard: &str, index: u64, cases: u64) {
    const ROW: u64 = 256;
    let [of_results, of_coverage] =
        ["results", "coverage"].map(|name| format!("{shard}/{name}.json"));
    let mut results = place.json(&of_results);
    let [cycles, packets] = [123, 45];
    results["run"]["cases"] = value!(4 * cases);
    for path in ["/totals", "/profiles/0/scenarios/0/1"] {
        let totals = results.pointer_mut(path).expect("totals");
        for (name, each) in [("cases", 1), ("matched", 1), ("cycles", cycles), ("packets", packets)]
        {
            totals[name] = value!(cases * each);
        }
    }
    let rows = (0..cases).step_by(ROW as usize).map(|from| {
        let count = ROW.min(cases - from) as usize;
        let [cycles, packets] = [cycles, packets].map(|number: u64| vec![number; count]);
        value!({ "from": index + 4 * from, "cycles": cycles, "packets": packets }).to_string()
    });
    let rows = rows.collect::<Vec<_>>().join(",\n");
    let member = |key: &str| format!("\"{key}\": {}", results[key]);
    let head = ["format", "version", "run"].map(member).join(",\n");
    let tail = ["profiles", "totals", "failures", "coverage", "ended", "passed", "checksum"];
    let tail = tail.map(member).join(",\n");
    let text = format!("{{\n{head},\n\"cases\": [\n{rows}\n],\n{tail}\n}}\n");
    place.write_record(&of_results, &text);
    let mut coverage = place.json(&of_coverage);
    coverage["parts"][0]["cases"] = value!({ "first": index, "step": 4, "count": cases });
    coverage.as_object_mut().unwrap().remove("checksum").unwrap();
    let text = coverage.to_string();
    let text = text.strip_suffix('}').unwrap();
    place.write_record(&of_coverage, &format!("{text},\n\"checksum\": \"\"\n}}\n"));
}
