//! `cosim mutate`: faults that the testbench finds, and their report.

use crate::common::{
    assert_code, assert_error, assert_error_at, assert_is_for_anyone, changed_rtl, code, copy_rtl,
    cosim, is_longer, json, looked_at, program, run, script, text, wait_until,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A mutation analysis that takes seconds, on a block with fast equivalence checks. The models with
/// mutants are compiled with little optimisation.
fn grading(out: &Path, arguments: &[&str]) -> Command {
    let mut command = program();
    command.env("CXXFLAGS", "-O0").args(["mutate", "--block", "recv", "--fixes", "repaired"]);
    command.arg("--out").arg(out);
    command.args(arguments);
    command
}

fn grade(out: &Path, arguments: &[&str]) -> Output {
    grading(out, arguments).output().expect("the program runs")
}

/// One case leaves some survivors with counterexamples and some that are proved equivalent.
const FEW: [&str; 8] = ["--mutants", "24", "--cases", "1", "--scenario", "default", "--seed", "5"];

fn mutants(report: &Value) -> &Vec<Value> {
    report["profiles"][0]["mutants"].as_array().expect("mutants")
}

fn merge(parts: &[&Path], out: &Path) -> Output {
    let mut command = program();
    command.arg("merge").args(parts).arg("--out").arg(out).output().expect("the program runs")
}

/// The files of a result, by name.
fn left(out: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("mutate.json".to_owned(), fs::read(out.join("mutate.json")).unwrap())];
    for path in crate::common::files(&out.join("mutants"), "json") {
        files.push((
            path.file_name().unwrap().to_str().unwrap().to_owned(),
            fs::read(path).unwrap(),
        ));
    }
    files.sort();
    files
}

fn page(out: &Path) -> String {
    fs::read_to_string(out.join("report.html")).unwrap()
}

/// Checks that the page lists survivors and shows the RTL with the mutants of each line.
fn assert_page(out: &Path, mutants: &[Value]) {
    let is_left =
        |mutant: &&Value| ["survived", "undecided"].contains(&mutant["verdict"].as_str().unwrap());
    let left = mutants.iter().filter(is_left).count();
    let seen = looked_at(out, "survived");
    let survivors = mutants.iter().filter(|mutant| mutant["verdict"] == "survived").count();
    assert!(seen["title"].as_str().unwrap().starts_with("Mutation: recv, "), "{}", seen["title"]);
    assert!(seen["verdict"].as_str().unwrap().ends_with(" %"), "{}", seen["verdict"]);
    assert_eq!(seen["tone"], if left > 0 { "open" } else { "good" });
    assert_eq!(seen["facts"][0], format!("{survivors} survived"));
    if left > 0 {
        let list = &seen["lists"]["left"];
        assert_eq!(list["count"], format!("{left} of {left}"));
        assert_eq!(list["searched"], format!("{survivors} of {left}"));
        // Each of them leads to its line.
        assert!(seen["anchors"]["kinds"].as_array().unwrap().contains(&"code".into()), "{seen}");
    }
    assert_is_for_anyone(&seen);
    let text = page(out);
    assert!(text.contains("RecvSideFsm.sv <span class="), "the RTL is shown");
    // A killed mutant is listed at its line.
    let killed = mutants.iter().find(|mutant| mutant["verdict"] == "killed").unwrap();
    let line = format!("<b>{:5} ", killed["sources"][0]["line"].as_u64().unwrap());
    let reported =
        text.lines().flat_map(|line| line.split("<span class=")).find(|part| part.contains(&line));
    assert!(
        reported.is_some_and(|reported| reported.contains(" killed")),
        "{killed}: {reported:?}"
    );
}

/// Runs the command of a survivor as the page shows it: it must survive again.
fn assert_commands_of_survivors(out: &Path) {
    let report = json(&out.join("mutate.json"));
    let survives = |mutant: &&Value| mutant["verdict"] == "survived";
    let survivor = mutants(&report).iter().find(survives).expect("one case leaves survivors");
    let page = page(out);
    let shown = page.split("<code class=\"run\">").map(|rest| rest.split('<').next().unwrap());
    let only = format!(" --only {} ", survivor["id"]);
    let command = shown.into_iter().find(|command| command.contains(&only)).expect("its command");
    let words: Vec<&str> = command.split(' ').collect();
    let again = TempDir::new().unwrap();
    let mut run = program();
    let run = run.env("CXXFLAGS", "-O0").current_dir(again.path()).args(&words[1..]);
    let output = run.output().unwrap();
    assert_eq!(code(&output), 1, "{command}: {}", text(&output));
    let printed = text(&output);
    let [file, line] = ["file", "line"].map(|name| &survivor["sources"][0][name]);
    let place = format!("{}:{line}", file.as_str().unwrap());
    for part in [&format!("mutant {} of recv", survivor["id"]), "survived", &place] {
        assert!(printed.contains(part), "{command}: {part}: {printed}");
    }
}

#[test]
#[ignore = "slow: five mutation analyses"]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads_and_the_parts() {
    let folder = TempDir::new().unwrap();
    let [one, three, other] = ["one", "three", "other"].map(|name| folder.path().join(name));
    let output = grade(&one, &[&FEW[..], &["--threads", "1"]].concat());
    assert_code(&output, 0);
    let [first, second] = ["1/2", "2/2"].map(|part| {
        let out = folder.path().join(part.replace('/', "-of-"));
        assert_code(&grade(&out, &[&FEW[..], &["--threads", "3", "--shard", part]].concat()), 0);
        out
    });
    let output = merge(&[&second, &first], &three);
    assert_code(&output, 0);
    assert!(text(&output).contains(" of 24 mutants killed"), "{}", text(&output));
    let report = json(&one.join("mutate.json"));
    for verdict in ["killed", "survived", "equivalent"] {
        let is_it = |mutant: &Value| mutant["verdict"] == verdict;
        assert!(mutants(&report).iter().any(is_it), "none is {verdict}: choose another seed");
    }
    let vectors = mutants(&report).iter().filter(|mutant| mutant["vector"].is_string()).count();
    assert_eq!(left(&one).len(), 1 + vectors, "the grading and a vector for each survivor");
    assert!(left(&one) == left(&three), "the parts do not make the whole");
    assert_page(&one, mutants(&report));
    assert_eq!(page(&one), page(&three), "the parts have another page than the whole");
    // Parts that are incomplete or foreign are refused by name.
    for (parts, number, words) in [
        (vec![first.as_path()], "E0222", "2/2"),
        (vec![first.as_path(), first.as_path()], "E0222", "1/2"),
        (vec![first.as_path(), one.as_path()], "E0221", ""),
    ] {
        let refused = folder.path().join("refused");
        assert_error_at(&merge(&parts, &refused), number, words);
        assert!(!refused.exists());
    }
    assert_code(
        &grade(&other, &["--mutants", "24", "--cases", "1", "--seed", "6", "--no-judge"]),
        0,
    );
    let places = |out: &Path| -> Vec<String> {
        let report = json(&out.join("mutate.json"));
        mutants(&report).iter().map(|mutant| mutant["does"].to_string()).collect()
    };
    assert_ne!(places(&one), places(&other), "another seed, another list");
}

/// The same mutants with a solver and without it. What is equivalent by more than its structure
/// is then only believed to be so.
#[test]
fn without_a_certificate_a_mutant_is_only_believed_equivalent() {
    let folder = TempDir::new().unwrap();
    let statuses = |out: &Path| -> Vec<(String, String)> {
        let report = json(&out.join("mutate.json"));
        let status = |one: &Value| {
            let by = one["certificate"]["by"].as_str().unwrap_or_default();
            (one["verdict"].as_str().unwrap().to_owned(), by.to_owned())
        };
        mutants(&report).iter().map(status).collect()
    };
    let graded = |is_certified: bool, options: &[&str], exit: i32| {
        let out = folder.path().join("out");
        let mut command = grading(&out, &[&FEW[..], &["--force"], options].concat());
        if !is_certified {
            command.env("CADICAL", script(&folder.path().join("cadical"), "exit 0"));
        }
        let output = command.output().unwrap();
        assert_code(&output, exit);
        let is_named = text(&output).contains("; believed equivalent, not certified: ");
        assert_eq!(is_named, !is_certified, "{}", text(&output));
        statuses(&out)
    };
    let (with, without) = (graded(true, &[], 0), graded(false, &[], 4));
    let expected = with.iter().cloned().map(|(verdict, by)| match by.as_str() {
        "" | "structure" => (verdict, by),
        _ => ("believed".to_owned(), "nothing".to_owned()),
    });
    assert_eq!(without, expected.collect::<Vec<_>>());
    assert_ne!(with, without, "choose another seed");
    assert_eq!(graded(false, &["--accept-believed"], 0), without);
}

#[test]
fn an_output_that_is_inverted_is_found_at_that_output() {
    let folder = TempDir::new().unwrap();
    let output = grade(folder.path(), &["--mutants", "300", "--cases", "4", "--no-judge"]);
    assert_code(&output, 0);
    let report = json(&folder.path().join("mutate.json"));
    let schema = cosim().args(["schema", "mutate"]).output().unwrap();
    let schema =
        jsonschema::validator_for(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!schema.is_valid(&serde_json::json!({ "format": "cosim-mutation" })));

    // Outputs that accompany a valid signal, wrong in every cycle or never valid.
    let outputs = [
        "pkt_ready",
        "match_req",
        "alloc_valid",
        "credit_valid",
        "copy_valid",
        "keep_valid",
        "release_valid",
        "temp_alloc_valid",
        "protocol_error",
    ];
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
            assert_eq!(source["file"], "RecvSideFsm.sv", "{mutant}");
        }
    }
}

#[test]
fn a_score_below_the_goal_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let few =
        ["--mutants", "60", "--cases", "1", "--seed", "5", "--min-score", "100", "--no-judge"];
    let output = grade(&folder.path().join("alone"), &few);
    assert_code(&output, 1);
    assert!(text(&output).contains("below 100 %"), "{}", text(&output));
    assert_commands_of_survivors(&folder.path().join("alone"));

    // The goal of a plan applies to all shards together.
    let plan = folder.path().join("plan.toml");
    let text_of_plan = "format = \"cosim-plan\"\nversion = 1\n[[run]]\nblocks = [\"dll\"]\n\
                        [[run]]\nname = \"score\"\nblocks = [\"recv\"]\nfixes = \"repaired\"\ncases = 1\n\
                        mutants = 60\nmin_score = 100\n";
    fs::write(&plan, text_of_plan).unwrap();
    let parts = ["1/2", "2/2"].map(|part| {
        let out = folder.path().join(part.replace('/', "-of-"));
        let mut command = program();
        command.env("CXXFLAGS", "-O0").args([
            "mutate",
            "--no-judge",
            "--seed",
            "5",
            "--shard",
            part,
        ]);
        assert_code(&command.arg("--plan").arg(&plan).arg("--out").arg(&out).output().unwrap(), 0);
        out
    });
    let whole = folder.path().join("whole");
    let output = merge(&[&parts[0], &parts[1]], &whole);
    assert_code(&output, 1);
    assert!(text(&output).contains("below 100 %"), "{}", text(&output));
    let run = &json(&whole.join("mutate.json"))["run"];
    assert_eq!(
        (&run["block"], &run["mutants"], &run["cases"]),
        (&"recv".into(), &60.into(), &1.into())
    );
}

/// The goal applies to each shard. The second shard of one mutant has none.
#[test]
fn a_shard_without_mutants_is_a_failure_and_the_merged_analysis_is_not() {
    let folder = TempDir::new().unwrap();
    let parts = [("1/2", 0), ("2/2", 1)].map(|(part, expected)| {
        let out = folder.path().join(part.replace('/', "-of-"));
        let one = ["--mutants", "1", "--cases", "1", "--no-judge", "--shard", part];
        let output = grade(&out, &[&one[..], &["--min-score", "90"]].concat());
        assert_eq!(code(&output), expected, "{part}: {}", text(&output));
        out
    });
    assert_code(&merge(&[&parts[0], &parts[1]], &folder.path().join("whole")), 0);
}

/// Registers with initial values, one of them without a reset, and a synchronous reset, as is usual
/// in FPGAs. `docs/blocks/recv.md` does not specify the style, so the golden model stays that of
/// the built-in RTL.
#[test]
fn rtl_with_initial_values_passes_without_a_mutation() {
    let folder = TempDir::new().unwrap();
    let rtl = folder.path().join("rtl");
    copy_rtl(&rtl);
    let path = rtl.join("recv/RecvSideFsm.sv");
    let original = fs::read_to_string(&path).unwrap();
    let original = original.replace("@(posedge clk or posedge rst)", "@(posedge clk)");
    let (registers, logic) = original.split_at(original.find("// ---- Taking packets").unwrap());
    // `reg NAME;` with a comment after it.
    let with_value = |line: &str| match line.split_once(';') {
        Some((declared, rest)) if declared.trim_start().starts_with("logic ") => {
            format!("{declared} = 0;{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    let registers: String = registers.lines().map(with_value).collect();
    assert_eq!(registers.matches(" = 0;").count(), 8, "{registers}");
    let text_of_rtl = format!("{registers}{logic}");
    let output = "assign match_req = ";
    assert!(text_of_rtl.contains(output), "RecvSideFsm.sv has no `{output}`");
    let without_reset = "reg works = 1'b1;\nalways @(posedge clk) works <= works;\n";
    let text_of_rtl = text_of_rtl.replacen(output, &format!("{without_reset}{output}works && "), 1);
    fs::write(&path, text_of_rtl).unwrap();
    let few = ["--mutants", "20", "--cases", "1", "--no-judge", "--rtl", rtl.to_str().unwrap()];
    assert_code(&grade(&folder.path().join("out"), &few), 0);
}

#[test]
fn an_interrupted_analysis_resumes_to_the_same_result() {
    let folder = TempDir::new().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let few = ["--mutants", "60", "--cases", "200", "--seed", "5", "--no-judge"];
    assert_code(&grade(&whole, &few), 0);
    let mut child = grading(&parts, &few).stderr(Stdio::piped()).spawn().unwrap();
    let partial = parts.join("mutate.json.partial");
    let is_at_work = || fs::read_to_string(&partial).is_ok_and(|text| text.contains("cases_run"));
    wait_until(&mut child, is_at_work);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 130);
    assert!(text(&output).contains("resume"), "{}", text(&output));
    assert_eq!(json(&partial)["complete"], false);
    assert!(!parts.join("mutate.json").exists());
    // The page shows the mutants so far, and the command as it was given.
    let page = fs::read_to_string(parts.join("report.html")).unwrap();
    assert!(page.contains("The analysis was interrupted"), "{page}");
    assert!(page.contains(" --no-judge"), "{page}");
    fs::remove_file(parts.join("report.html")).unwrap();
    assert_eq!(code(&run(["report", parts.to_str().unwrap()])), 0);
    assert!(parts.join("report.html").is_file());
    // A skipped equivalence check was reported at the start and is not repeated.
    let resume = |more: &[&str]| {
        let mut command = program();
        command.env("CXXFLAGS", "-O0").args(["resume"]).arg(&parts).args(more);
        command.output().unwrap()
    };
    for again in [&["--no-judge"][..], &["--min-score", "1"], &["--stuck-after", "1s"]] {
        assert_code(&resume(again), 2);
    }
    assert_code(&resume(&[]), 0);
    let bytes = |out: &Path| fs::read(out.join("mutate.json")).unwrap();
    assert_eq!(bytes(&whole), bytes(&parts));
    assert!(!partial.exists());
    assert_code(&resume(&[]), 2);
}

/// Resumes analyses of several blocks, including those not started, with the original relative
/// paths, from any folder.
#[test]
#[ignore = "slow: mutation analyses of three blocks"]
fn a_killed_analysis_of_several_blocks_resumes_all_of_them() {
    let folder = TempDir::new().unwrap();
    let few = ["--cases", "2", "--fixes", "spec", "--seed", "5", "--no-judge", "--quiet"];
    let grading = |out: &str| {
        let mut command = program();
        command.current_dir(folder.path()).env("CXXFLAGS", "-O0");
        command.args(["mutate", "--block", "qp,recv", "--mutants", "6", "--out", out]);
        command.args(few).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert_eq!(grading("whole").status().unwrap().code(), Some(0));
    let mut child = grading("killed").spawn().unwrap();
    let partial = folder.path().join("killed/recv/mutate.json.partial");
    wait_until(&mut child, || is_longer(&partial, 0));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut command = program();
    command.env("CXXFLAGS", "-O0").args(["resume"]).arg(folder.path().join("killed"));
    assert_code(&command.output().unwrap(), 0);
    for block in ["qp", "recv"] {
        let [left, right] = ["whole", "killed"]
            .map(|out| fs::read(folder.path().join(out).join(block).join("mutate.json")).unwrap());
        assert!(left == right, "{block} is another one");
        assert!(!folder.path().join("killed").join(block).join("mutate.json.partial").exists());
    }
}

/// Verilator accepts it, Yosys does not.
#[test]
fn rtl_that_yosys_cannot_read_is_an_error_that_says_where() {
    let from = "module RecvSideFsm";
    let rtl =
        changed_rtl("RecvSideFsm.sv", from, &format!("class odd; int x[$]; endclass\n{from}"));
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let file = rtl.path().join("RecvSideFsm.sv");
    let output = grade(&out, &["--mutants", "10", "--rtl", file.to_str().unwrap()]);
    assert_error_at(&output, "E0501", &format!("{}:", file.display()));
    assert!(!out.exists(), "nothing is written");
}

#[test]
fn without_yosys_the_error_says_how_to_install_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let output = grading(&out, &[]).env("YOSYS", "/nowhere/yosys").output().unwrap();
    assert_error_at(&output, "E0907", "apt-get install yosys");
    assert!(!out.exists(), "nothing is written");
}

/// A testbench that fails without mutants cannot be graded.
#[test]
fn rtl_with_a_bug_is_not_graded() {
    let patch = crate::common::project().join("tests/bad_rtl/recv/46-kept-dp-released.patch");
    let wrong = crate::common::patched_rtl(&patch);
    let folder = TempDir::new().unwrap();
    let file = wrong.path().join("rtl/recv/RecvSideFsm.sv");
    let few = ["--mutants", "10", "--cases", "100", "--rtl", file.to_str().unwrap()];
    let output = grade(&folder.path().join("out"), &few);
    assert_error(&output, "E0404");
}

/// Every fault of the golden model of `qp` in one profile, on a few short cases.
#[test]
fn faults_of_the_golden_model_are_detected_without_comparison() {
    let folder = TempDir::new().unwrap();
    let grade = |name: &str, threads: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let mut command = program();
        command.args(["mutate", "--golden", "--block", "qp", "--fixes", "spec", "--cases", "1"]);
        command.args(["--mutants", "9999", "--packets", "40", "--threads", threads, "--out"]);
        let output = command.arg(&out).args(more).output().expect("the program runs");
        (output, out)
    };
    let (output, one) = grade("one", "1", &["--corpus", "vectors/qp"]);
    assert_code(&output, 0);
    let report = json(&one.join("golden.json"));
    let profile = &report["profiles"][0];
    let faults = profile["faults"].as_array().unwrap();
    let of = |rule: &str, fault: &str, port: &str| {
        let is_it = |one: &&Value| {
            let is_port = port.is_empty() || one["port"] == port;
            one["rule"] == rule && one["fault"] == fault && is_port
        };
        faults.iter().find(is_it).unwrap_or_else(|| panic!("{rule} {fault} {port}"))
    };
    // RESET to INIT stores nothing, so the next command is answered for the state RESET.
    let skipped = of("C1", "skips", "");
    assert!(!skipped["noticed"].is_null() && !skipped["vector"].is_null(), "{skipped}");
    // A packet is wrongly accepted or wrongly rejected.
    for rule in ["M1", "M2", "M3"] {
        let driven = of(rule, "drives", "msg_accept");
        assert!(!driven["noticed"].is_null(), "{driven}");
    }
    let score = &profile["score"];
    assert_eq!(score["faults"].as_u64().unwrap() as usize, faults.len());
    assert!(score["checks"].as_u64() > score["seen"].as_u64().map(|seen| seen * 9 / 10), "{score}");
    // Undetected faults are named, and cause a failure if all must be detected.
    let left = |one: &&Value| {
        !one["differs"].is_null() && one["noticed"].is_null() && one["vector"].is_null()
    };
    let left: Vec<&Value> = faults.iter().filter(left).collect();
    let printed = text(&output);
    for one in left.iter().take(3) {
        assert!(
            printed.contains(&format!("{} {} ", one["id"], one["rule"].as_str().unwrap())),
            "{one}: {printed}"
        );
    }
    let (output, three) = grade("three", "3", &["--corpus", "vectors/qp", "--min-score", "100"]);
    assert_eq!(code(&output), i32::from(!left.is_empty()), "{}", text(&output));
    let bytes = |out: &Path| fs::read(out.join("golden.json")).unwrap();
    assert!(bytes(&one) == bytes(&three), "it depends on the threads");
    // Without a corpus, the report mentions none. No RTL is involved.
    assert_error(&grade("three", "2", &[]).0, "E0602");
    let (output, alone) = grade("three", "2", &["--force"]);
    assert_code(&output, 0);
    assert_eq!(json(&alone.join("golden.json"))["profiles"][0]["score"]["corpus"], 0);
    for of_rtl in [&["--rtl", "rtl"][..], &["--simulator", "icarus"]] {
        let (output, refused) = grade("refused", "2", of_rtl);
        assert_error(&output, "E0107");
        assert!(!refused.exists());
    }
}
