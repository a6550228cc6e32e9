//! `results.json`: every case is readable, and the file stays small.

use crate::common::{Place, cases, files, schema};
use std::fs;

#[test]
fn results_fit_their_schema_and_add_up() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let validator = schema("results");
    for (code, line) in
        [(0, "--block dll"), (1, "--block thread2 --rtl rtl --no-waves --scenario ring")]
    {
        place.exits(code, &format!("run --cases 20 --out {code} {line}"));
        let results = place.results(code);
        validator.validate(&results).unwrap();
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

#[test]
fn a_case_of_a_row_is_the_case_of_its_name() {
    let place = Place::new();
    place.exits(0, "run --seed 9 --cases 3 --shard 2/5 --out all");
    let all = cases(&place.results("all"));
    // 66 cases; places 1, 6, 11, ... belong to this shard.
    assert_eq!(all.len(), 13);
    for (name, case) in all.iter().step_by(3) {
        place.exits(0, &format!("run --seed 9 --case {name} --out alone --force"));
        let alone = cases(&place.results("alone"));
        assert_eq!(alone.iter().collect::<Vec<_>>(), [(name, case)]);
    }
}

/// RTL that is ready for packets when it must not be.
fn rtl_that_always_fails() -> Place {
    let [low, high] = ["fetch_cxt_egress_ready = 1'b0;", "fetch_cxt_egress_ready = 1'b1;"];
    let place = Place::with_change("ReqRecvCore_Thread_2.v", low, high);
    let file = "rtl/ReqRecvCore_Thread_2.v";
    place.write(file, &place.text(file).replace(low, high));
    place
}

/// A nightly run in which everything fails must not fill the disk.
#[test]
fn a_case_takes_a_few_bytes_even_if_it_fails_like_many() {
    let place = rtl_that_always_fails();
    let validator = schema("results");
    let run = "run --quiet --no-shrink --no-waves";
    for (line, code, verdict, most) in [
        ("--scenario smoke", 0, "match", 10.0),
        ("--rtl rtl --scenario ring --fixes spec", 1, "mismatch", 20.0),
    ] {
        let measure = |count: u32| {
            place.exits(code, &format!("{run} {line} --cases {count} --out {code}-{count}"));
            let name = format!("{code}-{count}/results.json");
            let results = place.json(&name);
            assert!(validator.is_valid(&results));
            let all = cases(&results);
            assert!(all.values().all(|case| case.verdict == verdict), "{results}");
            (fs::metadata(place.path(&name)).unwrap().len(), all.len())
        };
        let [(few, few_cases), (many, many_cases)] = [200, 1200].map(measure);
        let each = (many - few) as f64 / (many_cases - few_cases) as f64;
        assert!(each < most, "{each:.1} bytes for a case that is a {verdict}");
    }
}

/// Memory use does not grow from a few thousand to tens of thousands of cases, whether they match
/// or fail. A hundred bytes per case would exceed the bound twofold.
#[test]
#[ignore = "slow: tens of thousands of cases"]
fn memory_does_not_grow_with_the_number_of_cases() {
    const MORE: u64 = 80_000;
    let place = rtl_that_always_fails();
    for (code, more) in [(0, ""), (1, "--rtl rtl --no-shrink --no-waves")] {
        let fixed = "run --quiet --force --out out --scenario smoke --fixes spec --packets 1";
        let peak = |cases: u64| {
            place.exits(code, &format!("{fixed} --cases {cases} {more}"));
            let memory = place.json("out/timing.json")["peak_memory"].clone();
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
    let place = Place::new();
    let run = "run --packets 20000 --cases 1 --scenario chaos --fixes spec --save-vectors 1";
    place.exits(0, &format!("{run} --out out"));
    let vector = files(&place.path("out/saved"), "json").remove(0);
    let size = fs::metadata(&vector).unwrap().len();
    // 16 cycles for each packet, with 1840 random bits in wide ports: 460 hex digits, and the
    // names.
    assert!(size > 320_000 * 460 && size < 320_000 * 900, "{size} bytes");
    place.exits(0, &format!("replay {}", vector.display()));
}
