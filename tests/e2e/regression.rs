//! `cosim run`: results, files and limits of a run, with any number of threads.

use crate::common::{
    assert_code, assert_same_run, cases, changed_rtl, code, cosim, is_longer, json, patched_rtl,
    program, project, run, text, wait_until,
};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn run_into(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let folder = folder.to_str().unwrap();
    run(["run", "--out", folder].iter().chain(arguments))
}

fn list(block: &str) -> Value {
    let output = run(["list", "--format", "json"]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    all.into_iter().find(|entry| entry["name"] == block).unwrap()
}

fn blocks() -> Vec<String> {
    cosim::PROGRAM.blocks.iter().map(|block| block.info().name.to_owned()).collect()
}

/// Without this, raw pins could hide that traffic misses a rule.
#[test]
#[ignore = "slow: a regression of all blocks"]
fn traffic_alone_hits_every_rule_that_can_be_hit() {
    for block in blocks() {
        let folder = TempDir::new().unwrap();
        let scenarios = list(&block)["scenarios"].as_array().unwrap().clone();
        let names = scenarios.iter().map(|scenario| scenario["name"].as_str().unwrap());
        let mut arguments = vec!["--block", &block, "--cases", "120", "--quiet"];
        for name in names.filter(|name| *name != "chaos") {
            arguments.extend(["--scenario", name]);
        }
        assert_code(&run_into(folder.path(), &arguments), 0);
        for profile in json(&folder.path().join("results.json"))["profiles"].as_array().unwrap() {
            for (rule, hits) in profile["rules"].as_object().unwrap() {
                assert!(hits.as_u64().unwrap() > 0, "{block} {} {rule}", profile["profile"]);
            }
        }
    }
}

#[test]
fn unreachable_rows_are_listed_with_the_reason() {
    let folder = TempDir::new().unwrap();
    run_into(folder.path(), &["--cases", "1", "--packets", "64", "--scenario", "smoke"]);
    let results = json(&folder.path().join("results.json"));
    let [spec, repaired] = &results["profiles"].as_array().unwrap()[..] else { panic!("two") };
    assert_eq!(
        spec["unreachable"]["T43"],
        "nothing enters EQ_REQ_s without F1 (proof: `cosim prove`)"
    );
    assert_eq!(repaired["unreachable"]["T08"], "replaced by F0 (proof: `cosim prove`)");
    assert_eq!(spec["rules"]["T01"], 64, "without resets each packet is taken once");
    // A reason that `cosim prove` proves is not marked as argued.
    run_into(
        &folder.path().join("recv"),
        &["--block", "recv", "--fixes", "spec", "--cases", "1", "--scenario", "posted"],
    );
    let results = json(&folder.path().join("recv/results.json"));
    let spec = &results["profiles"][0];
    assert_eq!(spec["unreachable"]["P14"], "needs F0 (proof: `cosim prove`)");
    // Nothing is proved for rx.
    run_into(&folder.path().join("rx"), &["--block", "rx", "--fixes", "spec", "--cases", "1"]);
    let results = json(&folder.path().join("rx/results.json"));
    let argued = "without F5 of thread2 there is no length error (argued)";
    assert_eq!(results["profiles"][0]["unreachable"]["EV2"], argued);
}

/// Forty cases of each profile and scenario suffice and take about a second, because one case in
/// eighty has more than 512 packets.
#[test]
fn a_bug_after_512_packets_of_a_case_is_found_with_drawn_lengths() {
    let rtl = changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "  assign msg_offset = msg_offset_used[qp]",
        "  reg [9:0] taken;\n  always @(posedge clk or posedge rst) begin\n    if (rst) taken <= 10'd0;\n    \
         else if (cxt_load && taken != 10'd1023) taken <= taken + 10'd1;\n  end\n  \
         assign msg_offset = taken > 10'd512 ? 32'd0 : msg_offset_used[qp]",
    );
    let folder = TempDir::new().unwrap();
    let run_with = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let fixed =
            ["--cases", "40", "--quiet", "--no-shrink", "--no-waves", "--max-failures", "1"];
        run_into(&out, &[&fixed[..], &["--rtl", rtl.path().to_str().unwrap()], more].concat())
    };
    assert_code(&run_with("short", &["--packets", "64"]), 0);
    let drawn = run_with("drawn", &[]);
    assert_code(&drawn, 1);
    // The printed command reproduces the failure.
    let printed = text(&drawn);
    let case = printed.split("--case ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let out = folder.path().join("alone");
    let alone = ["--case", case, "--no-waves", "--no-shrink"];
    assert_code(
        &run_into(&out, &[&alone[..], &["--rtl", rtl.path().to_str().unwrap()]].concat()),
        1,
    );
}

#[test]
fn other_masks_match_too() {
    // T43 (F1 without F2), F5 alone, F6 with F3, everything but F0. The others distinguish any two
    // fixes.
    for mask in ["0x02", "0x20", "0x48", "0xfe", "0x55", "0x33", "0x0f"] {
        let folder = TempDir::new().unwrap();
        let output = run_into(folder.path(), &["--fixes", mask, "--cases", "25", "--quiet"]);
        assert_eq!(code(&output), 0, "{mask}: {}", text(&output));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_number_of_threads() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let (rtl, folder) = (wrong.path().join("rtl"), TempDir::new().unwrap());
    let [one, two, seven] = ["1", "2", "7"].map(|threads| {
        let out = folder.path().join(threads);
        let fixed = ["--seed", "77", "--cases", "6", "--save-vectors", "5", "--rtl"];
        let more = [rtl.to_str().unwrap(), "--no-waves", "--threads", threads];
        assert_eq!(code(&run_into(&out, &[&fixed[..], &more].concat())), 1);
        out
    });
    assert_same_run(&one, &two);
    assert_same_run(&one, &seven);
}

#[test]
fn another_seed_draws_other_cases() {
    let results = |seed: &str| {
        let folder = TempDir::new().unwrap();
        run_into(folder.path(), &["--seed", seed, "--cases", "2"]);
        json(&folder.path().join("results.json"))["cases"].clone()
    };
    assert_ne!(results("1"), results("2"));
}

#[test]
fn a_run_that_compares_nothing_has_failed() {
    let folder = TempDir::new().unwrap();
    let output = run_into(folder.path(), &["--cases", "0"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output).contains("no cycle was compared"), "{}", text(&output));
}

#[test]
fn an_interrupted_run_exits_130_and_leaves_a_readable_run_directory() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let mut child = program()
        .args(["run", "--block", "thread2", "--time", "1h", "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(&mut child, || is_longer(&out.join("results.json.partial"), 2000));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (first_line, last_line) = (&lines[0], &lines[lines.len() - 1]);
    let resume = format!(" resume {}", out.display());
    assert!(last_line.starts_with("  next: ") && last_line.ends_with(&resume), "{last_line}");
    assert!(first_line.starts_with("INTERRUPTED"), "{first_line}");
    let results = json(&out.join("results.json"));
    assert_eq!(results["ended"], "interrupted");
    assert_eq!(results["passed"], false);
    assert!(!results["cases"].as_array().unwrap().is_empty(), "the results so far are written");
    assert!(out.join("timing.json").is_file());
}

#[test]
fn the_time_limit_ends_an_endless_run() {
    let folder = TempDir::new().unwrap();
    assert_code(&run_into(folder.path(), &["--time", "1s", "--quiet"]), 0);
    assert_eq!(json(&folder.path().join("results.json"))["ended"], "time");
}

/// The last of very many shards has at most one case and is found without iterating over the
/// others.
#[test]
fn a_shard_of_very_many_ends_in_time() {
    let folder = TempDir::new().unwrap();
    let arguments =
        ["--time", "1s", "--shard", "2/1000000000000", "--scenario", "smoke", "--quiet"];
    assert_code(&run_into(folder.path(), &arguments), 0);
}

#[test]
fn a_scenario_can_come_from_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mine.json");
    let weights = r#"{ "name": "mine", "about": "only SENDs",
        "weights": { "operations": { "write": 0, "long_write": 0, "read": 0, "unknown": 0 } } }"#;
    fs::write(&file, weights).unwrap();
    let out = folder.path().join("run");
    assert_code(&run_into(&out, &["--cases", "3", "--scenario", file.to_str().unwrap()]), 0);
    let results = json(&out.join("results.json"));
    assert!(cases(&results).contains_key("thread2/spec/mine/0"), "{results}");
    assert_eq!(results["profiles"][0]["rules"]["T05"], 0, "no READ was drawn");
}

#[test]
fn json_on_standard_output_is_json() {
    let folder = TempDir::new().unwrap();
    let output = run_into(folder.path(), &["--cases", "1", "--format", "json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["passed"], true);
    for command in ["list", "bench"] {
        let mut program = cosim();
        program.args([command, "--format", "json"]);
        if command == "bench" {
            program.args(["--block", "thread2", "--fixes", "spec"]);
        }
        let output = program.output().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(value.is_array(), "{command}");
    }
}
