//! `cosim mutate`: does the bench find faults, and does it say of which?

use crate::common::{changed_rtl, code, cosim, is_longer, json, program, text, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A grading that takes seconds: the models with mutants are compiled with little optimisation.
fn grading(out: &Path, arguments: &[&str]) -> Command {
    let mut command = program();
    command.env("CXXFLAGS", "-O0").args(["mutate", "--block", "qp", "--out"]).arg(out);
    command.args(arguments);
    command
}

fn grade(out: &Path, arguments: &[&str]) -> Output {
    grading(out, arguments).output().expect("the program runs")
}

fn mutants(report: &Value) -> &Vec<Value> {
    report["profiles"][0]["mutants"].as_array().expect("mutants")
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let folder = TempDir::new().unwrap();
    let [one, three, other] = ["one", "three", "other"].map(|name| folder.path().join(name));
    let few = ["--mutants", "60", "--cases", "4", "--seed", "5"];
    for (out, threads) in [(&one, "1"), (&three, "3")] {
        let output = grade(out, &[&few[..], &["--threads", threads]].concat());
        assert_eq!(code(&output), 0, "{}", text(&output));
    }
    let bytes = |out: &Path| fs::read(out.join("mutate.json")).unwrap();
    assert_eq!(bytes(&one), bytes(&three));
    let output = grade(&other, &["--mutants", "60", "--cases", "1", "--seed", "6", "--no-judge"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let places = |out: &Path| -> Vec<String> {
        let report = json(&out.join("mutate.json"));
        mutants(&report).iter().map(|mutant| mutant["does"].to_string()).collect()
    };
    assert_ne!(places(&one), places(&other), "another seed, another list");
}

#[test]
fn an_output_that_is_inverted_is_found_at_that_output() {
    let folder = TempDir::new().unwrap();
    let output = grade(folder.path(), &["--mutants", "300", "--cases", "4", "--no-judge"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let report = json(&folder.path().join("mutate.json"));
    let schema = cosim().args(["list", "--mutate-schema"]).output().unwrap();
    let schema =
        jsonschema::validator_for(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!schema.is_valid(&serde_json::json!({ "format": "cosim-mutation" })));

    // What leaves the block with its valid, wrong in every cycle, or never there.
    let outputs = ["cmd_ready", "rsp_valid", "hw_ready", "msg_accept", "msg_ack", "evt_valid"];
    let mut seen = 0;
    for mutant in mutants(&report) {
        let signal = mutant["signal"].as_str().unwrap_or_default();
        let name = signal.split('[').next().unwrap();
        let drives = ["Y", "Q"].contains(&mutant["port"].as_str().unwrap());
        if mutant["mode"] == "inv" && drives && outputs.contains(&name) {
            seen += 1;
            assert_eq!(mutant["verdict"], "killed", "{mutant}");
        }
    }
    assert!(seen > 0, "no output is inverted: choose another seed");
    let score = &report["profiles"][0]["score"];
    let count = |verdict: &str| {
        mutants(&report).iter().filter(|mutant| mutant["verdict"] == verdict).count() as u64
    };
    assert_eq!(mutants(&report).len(), 300);
    assert_eq!(score["killed"], count("killed"));
    assert!(count("killed") >= 200, "{score}");
    for mutant in mutants(&report) {
        for source in mutant["sources"].as_array().unwrap() {
            assert_eq!(source["file"], "QpStateCtrl.v", "{mutant}");
        }
    }
}

#[test]
fn a_score_below_the_least_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let few =
        ["--mutants", "60", "--cases", "1", "--seed", "5", "--min-score", "100", "--no-judge"];
    let output = grade(folder.path(), &few);
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("below 100 %"), "{}", text(&output));
}

#[test]
fn an_interrupted_grading_goes_on_and_ends_as_if_it_had_not_been() {
    let folder = TempDir::new().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let few = ["--mutants", "60", "--cases", "60", "--seed", "5", "--no-judge"];
    let output = grade(&whole, &few);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let mut child = grading(&parts, &few).stderr(Stdio::piped()).spawn().unwrap();
    let partial = parts.join("mutate.json.partial");
    wait_until(&mut child, || is_longer(&partial, 0));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", text(&output));
    assert!(text(&output).contains("mutate --resume"), "{}", text(&output));
    assert_eq!(json(&partial)["complete"], false);
    assert!(!parts.join("mutate.json").exists());
    let mut command = program();
    command.env("CXXFLAGS", "-O0").args(["mutate", "--no-judge", "--resume"]).arg(&parts);
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output));
    let bytes = |out: &Path| fs::read(out.join("mutate.json")).unwrap();
    assert_eq!(bytes(&whole), bytes(&parts));
    assert!(!partial.exists());
}

/// Verilator takes it, Yosys does not.
#[test]
fn rtl_that_yosys_cannot_read_is_an_error_that_says_where() {
    let from = "module QpStateCtrl";
    let rtl = changed_rtl("QpStateCtrl.v", from, &format!("class odd; int x[$]; endclass\n{from}"));
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let file = rtl.path().join("QpStateCtrl.v");
    let output = grade(&out, &["--mutants", "10", "--rtl", file.to_str().unwrap()]);
    assert_eq!(code(&output), 3, "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("Yosys cannot read this RTL"), "{said}");
    assert!(said.contains(&format!("{}:", file.display())), "{said}");
    assert!(!out.exists(), "nothing is written");
}

#[test]
fn without_yosys_the_error_says_how_to_install_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let output = grading(&out, &[]).env("YOSYS", "/nowhere/yosys").output().unwrap();
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("apt-get install yosys"), "{}", text(&output));
    assert!(!out.exists(), "nothing is written");
}

/// A bench that is red without any mutant says nothing of mutants.
#[test]
fn rtl_with_a_bug_is_not_graded() {
    let patch = crate::common::project().join("tests/bad_rtl/qp");
    let patch = crate::common::files(&patch, "patch").remove(0);
    let wrong = crate::common::patched_rtl(&patch);
    let folder = TempDir::new().unwrap();
    let file = wrong.path().join("rtl/QpStateCtrl.v");
    let few = ["--mutants", "10", "--cases", "100", "--rtl", file.to_str().unwrap()];
    let output = grade(&folder.path().join("out"), &few);
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("not green without any mutation"), "{}", text(&output));
}

/// A register that is always 0 gates an output: to hold it at 0 changes nothing, and what says so has to know
/// which values the register takes.
#[test]
fn a_mutant_that_nothing_can_find_is_proved_equivalent() {
    let from = "  assign cmd_ready =";
    let spare = "  reg [63:0] spare;\n  always @(posedge clk or posedge rst)\n    if (rst) spare <= 64'd0;\n    \
                 else spare <= {spare[62:0], spare[63]};\n  assign cmd_ready = (^spare) ^";
    let rtl = changed_rtl("QpStateCtrl.v", from, spare);
    let file = rtl.path().join("QpStateCtrl.v");
    let folder = TempDir::new().unwrap();
    let few = ["--mutants", "300", "--cases", "3", "--rtl", file.to_str().unwrap()];
    let output = grade(folder.path(), &few);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let report = json(&folder.path().join("mutate.json"));
    let is_spare = |mutant: &&Value| {
        let signal = mutant["signal"].as_str().unwrap_or_default();
        signal.starts_with("spare[") && mutant["port"] == "Q"
    };
    let mut held = 0;
    for mutant in mutants(&report).iter().filter(is_spare) {
        if mutant["mode"] == "const0" {
            held += 1;
            assert_eq!(mutant["verdict"], "equivalent", "{mutant}");
            assert_eq!(mutant["proof"], "induction", "{mutant}");
        } else if mutant["mode"] != "cnot1" {
            assert_eq!(mutant["verdict"], "killed", "{mutant}");
        }
    }
    assert!(held > 0, "none is held at 0: choose another seed");
}

/// What the judge says and what cases find never contradict each other.
#[test]
fn nothing_that_is_proved_equivalent_is_killed_and_vectors_find_what_survives() {
    let folder = TempDir::new().unwrap();
    let [judged, hunted] = ["judged", "hunted"].map(|name| folder.path().join(name));
    let output = grade(&judged, &["--mutants", "200", "--cases", "1", "--seed", "3"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let more = ["--mutants", "200", "--cases", "60", "--seed", "3", "--no-judge"];
    let output = grade(&hunted, &more);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let [judged_report, hunted_report] =
        [&judged, &hunted].map(|out| json(&out.join("mutate.json")));
    let mut equivalent = 0;
    for (judged, hunted) in mutants(&judged_report).iter().zip(mutants(&hunted_report)) {
        assert_eq!(judged["does"], hunted["does"]);
        if judged["verdict"] == "equivalent" {
            equivalent += 1;
            assert_eq!(hunted["verdict"], "survived", "{judged}");
        }
    }
    assert!(equivalent > 10, "{}", judged_report["profiles"][0]["score"]);
    // The good RTL does in each of them what the golden model does.
    let vectors = judged.join("mutants");
    assert!(vectors.is_dir(), "one case is too few to find all of them");
    let output = cosim().arg("replay").arg(&vectors).output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output));
}

/// The RTL of the mutant is made in another way, so what it does in the case that finds it is a check of both.
#[test]
fn one_mutant_alone_has_a_vector_waves_and_an_explanation() {
    let folder = TempDir::new().unwrap();
    let [all, one] = ["all", "one"].map(|name| folder.path().join(name));
    let few = ["--mutants", "60", "--cases", "2", "--seed", "5"];
    let output = grade(&all, &[&few[..], &["--no-judge"]].concat());
    assert_eq!(code(&output), 0, "{}", text(&output));
    let report = json(&all.join("mutate.json"));
    let is_killed = |mutant: &&Value| mutant["verdict"] == "killed";
    let mutant = mutants(&report).iter().find(is_killed).unwrap();
    let id = mutant["id"].to_string();
    let output = grade(&one, &[&few[..], &["--only", &id, "--fixes", "spec"]].concat());
    assert_eq!(code(&output), 0, "{}", text(&output));
    let said = text(&output);
    let case = mutant["case"].as_str().unwrap();
    assert!(said.contains(&format!("killed by {case}: mismatch")), "{said}");
    assert!(said.contains("What differs"), "{said}");
    let file = |ending: &str| one.join(format!("mutants/spec-{id}.{ending}"));
    assert!(is_longer(&file("fst"), 100));
    let output = cosim().arg("replay").arg(file("json")).arg("--expect-recorded").output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output));
    let good = ["--rtl", "built-in"];
    let output = cosim().arg("replay").arg(file("json")).args(good).output().unwrap();
    assert_eq!(code(&output), 0, "without the mutation it matches: {}", text(&output));
}

#[test]
fn the_scoreboard_alone_finds_mutants_by_its_checks() {
    let folder = TempDir::new().unwrap();
    let few = ["--mutants", "60", "--cases", "4", "--seed", "5", "--checks-only"];
    let output = grade(folder.path(), &few);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let report = json(&folder.path().join("mutate.json"));
    assert_eq!(report["run"]["means"], "checks");
    let killed: Vec<&Value> =
        mutants(&report).iter().filter(|mutant| mutant["verdict"] == "killed").collect();
    assert!(!killed.is_empty());
    for mutant in killed {
        let by = mutant["by"].as_str().unwrap();
        assert!(by.starts_with("check ") || by == "crash", "{mutant}");
    }
}
