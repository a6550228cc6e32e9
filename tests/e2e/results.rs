//! `results.json`: every case is readable, and the file stays small.

use crate::common::{
    assert_code, cases, changed_rtl, code, files, json, patched_rtl, project, run,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> std::process::Output {
    run(["run", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

fn schema() -> jsonschema::Validator {
    let output = run(["schema", "results"]);
    assert_code(&output, 0);
    jsonschema::validator_for(&serde_json::from_slice(&output.stdout).unwrap()).unwrap()
}

#[test]
fn results_fit_their_schema_and_add_up() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = wrong.path().join("rtl");
    let validator = schema();
    let bad = ["--rtl", rtl.to_str().unwrap(), "--no-waves", "--cases", "20", "--scenario", "ring"];
    for (arguments, expected) in [(&["--cases", "20", "--block", "dll"][..], 0), (&bad, 1)] {
        let folder = TempDir::new().unwrap();
        assert_code(&run_into(folder.path(), arguments), expected);
        let results = json(&folder.path().join("results.json"));
        let errors: Vec<String> =
            validator.iter_errors(&results).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let cases = cases(&results);
        let totals = |name: &str| results["totals"][name].as_u64().unwrap();
        assert_eq!(cases.len() as u64, totals("cases"));
        assert_eq!(cases.values().map(|case| case.cycles).sum::<u64>(), totals("cycles"));
        assert_eq!(cases.values().map(|case| case.packets).sum::<u64>(), totals("packets"));
        let matched = cases.values().filter(|case| case.verdict == "match").count();
        assert_eq!(matched as u64, totals("matched"));
    }
    assert!(!validator.is_valid(&serde_json::json!({ "format": "cosim-results" })));
}

/// A case alone has the result in the row.
#[test]
fn a_case_of_a_row_is_the_case_of_its_name() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--cases", "3", "--seed", "9", "--shard", "2/5"];
    assert_eq!(code(&run_into(&folder.path().join("all"), &arguments)), 0);
    let all = cases(&json(&folder.path().join("all/results.json")));
    // 66 cases; places 1, 6, 11, ... belong to this shard.
    assert_eq!(all.len(), 13);
    for (name, case) in all.iter().step_by(3) {
        let alone = folder.path().join("alone");
        assert_code(&run_into(&alone, &["--case", name, "--seed", "9", "--force"]), 0);
        let alone = cases(&json(&alone.join("results.json")));
        assert_eq!(alone.iter().collect::<Vec<_>>(), [(name, case)]);
    }
}

#[test]
fn a_passed_case_takes_a_few_bytes() {
    let size = |cases: &str| {
        let folder = TempDir::new().unwrap();
        assert_eq!(
            code(&run_into(folder.path(), &["--scenario", "smoke", "--cases", cases, "--quiet"])),
            0
        );
        let results = json(&folder.path().join("results.json"));
        let length = fs::metadata(folder.path().join("results.json")).unwrap().len();
        (length, results["totals"]["cases"].as_u64().unwrap())
    };
    let [(few, few_cases), (many, many_cases)] = ["20", "220"].map(size);
    let each = (many - few) as f64 / (many_cases - few_cases) as f64;
    assert!(each < 10.0, "{each:.1} bytes for a case");
}

/// RTL that is ready for packets when it must not be.
fn rtl_that_always_fails() -> TempDir {
    let [low, high] = ["fetch_cxt_egress_ready = 1'b0;", "fetch_cxt_egress_ready = 1'b1;"];
    let folder = changed_rtl("ReqRecvCore_Thread_2.v", low, "fetch_cxt_egress_ready = 1'b1;");
    let top = folder.path().join("ReqRecvCore_Thread_2.v");
    let changed = fs::read_to_string(&top).unwrap().replace(low, high);
    fs::write(&top, changed).unwrap();
    folder
}

/// A nightly run in which everything fails must not fill the disk.
#[test]
fn a_failed_case_takes_a_few_bytes_when_many_fail_alike() {
    let folder = rtl_that_always_fails();
    let validator = schema();
    let measure = |count: &str| {
        let out = TempDir::new().unwrap();
        let rtl = folder.path().to_str().unwrap();
        let given = ["--rtl", rtl, "--cases", count, "--scenario", "ring", "--fixes", "spec"];
        assert_code(
            &run_into(
                out.path(),
                &[&given[..], &["--no-shrink", "--no-waves", "--quiet"]].concat(),
            ),
            1,
        );
        let path = out.path().join("results.json");
        let results = json(&path);
        assert!(validator.is_valid(&results));
        assert_eq!(results["totals"]["mismatched"].to_string(), count, "every case fails");
        let verdicts = cases(&results);
        assert_eq!(verdicts.len().to_string(), count);
        assert!(verdicts.values().all(|case| case.verdict == "mismatch"));
        fs::metadata(path).unwrap().len()
    };
    let [few, many] = ["200", "1200"].map(measure);
    let each = (many - few) as f64 / 1000.0;
    assert!(each < 20.0, "{each:.1} bytes for a case");
}

/// Memory use does not grow from a few thousand to tens of thousands of cases, whether they match
/// or fail. A hundred bytes per case would exceed the bound twofold.
#[test]
#[ignore = "slow: tens of thousands of cases"]
fn memory_does_not_grow_with_the_number_of_cases() {
    const MORE: u64 = 80_000;
    let wrong = rtl_that_always_fails();
    let bad = ["--rtl", wrong.path().to_str().unwrap(), "--no-shrink", "--no-waves"];
    for (more, expected) in [(&[][..], 0), (&bad, 1)] {
        let peak = |cases: u64| {
            let folder = TempDir::new().unwrap();
            let cases = cases.to_string();
            let fixed = ["--scenario", "smoke", "--fixes", "spec", "--packets", "1", "--quiet"];
            assert_code(
                &run_into(folder.path(), &[&fixed[..], &["--cases", &cases], more].concat()),
                expected,
            );
            let memory = json(&folder.path().join("timing.json"))["peak_memory"].clone();
            ["program", "largest_process"].map(|name| memory[name].as_u64().unwrap())
        };
        // Compile the model first, so that the compared runs do not.
        peak(1);
        let (few, many) = (peak(4000), peak(4000 + MORE));
        for (few, many) in few.into_iter().zip(many) {
            assert!(few > 1 << 20, "{few} bytes are no process");
            assert!(many < few + MORE * 50, "{few} bytes, with {MORE} more cases {many}");
        }
    }
}

/// Raw pins give the largest vectors: every bit of every port is random in every cycle.
#[test]
#[ignore = "slow: a vector of more than 147 MB"]
fn every_vector_that_a_run_writes_can_be_read() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--packets", "20000", "--cases", "1", "--scenario", "chaos", "--fixes"];
    assert_code(
        &run_into(folder.path(), &[&arguments[..], &["spec", "--save-vectors", "1"]].concat()),
        0,
    );
    let vector = files(&folder.path().join("saved"), "json").remove(0);
    let size = fs::metadata(&vector).unwrap().len();
    // 16 cycles for each packet, with 1840 random bits in wide ports: 460 hex digits, and the
    // names.
    assert!(size > 320_000 * 460 && size < 320_000 * 900, "{size} bytes");
    assert_code(&run(["replay", vector.to_str().unwrap()]), 0);
}
