//! Parameters of the RTL besides the mask of fixes: selection, validation, names and vectors.

use crate::common::{
    assert_code, cases, changed_rtl, code, is_longer, json, patched_rtl, program, project, run,
    text, wait_until,
};
use serde_json::{Value, json as value};
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

#[test]
fn a_hard_coded_parameter_passes_with_the_defaults_and_fails_in_the_default_run() {
    for bug in
        ["61-depth-is-always-16", "62-replay-limit-is-always-64", "63-ack-latency-is-always-16"]
    {
        let copy = patched_rtl(&project().join(format!("tests/bad_rtl/dll/{bug}.patch")));
        let (rtl, folder) = (copy.path().join("rtl"), TempDir::new().unwrap());
        let run_with = |name: &str, fixes: &str| {
            let out = folder.path().join(name);
            let arguments = ["run", "--block", "dll", "--cases", "2", "--quiet", "--no-shrink"];
            let more = ["--no-waves", "--fixes", fixes, "--rtl", rtl.to_str().unwrap()];
            run([&arguments[..], &more, &["--out", out.to_str().unwrap()]].concat())
        };
        let good = run_with("spec", "spec");
        assert_eq!(code(&good), 0, "{bug}: {}", text(&good));
        let bad = run_with("all", "all");
        assert_eq!(code(&bad), 1, "{bug}: {}", text(&bad));
        let results = json(&folder.path().join("all/results.json"));
        let has_failed = |profile: &str| {
            let all = results["profiles"].as_array().unwrap();
            let found = all.iter().find(|one| one["profile"] == profile).unwrap();
            let scenarios = found["scenarios"].as_array().unwrap();
            scenarios.iter().any(|scenario| {
                let kinds = ["mismatched", "hung", "check_failed", "crashed"];
                kinds.iter().any(|kind| scenario[1][kind].as_u64().unwrap() > 0)
            })
        };
        assert!(has_failed("small") && has_failed("large"), "{bug}: {}", text(&bad));
    }
}

/// The profiles of thread2 have all fixes or none. These masks distinguish any two bits: RTL that
/// uses the bit of another fix fails with one of them. Icarus needs no compiler per mask.
#[test]
fn each_fix_of_thread2_has_its_own_bit() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let with = |more: &[&str]| {
        let fixed = ["run", "--block", "thread2", "--fixes", "0xaa,0xcc,0xf0", "--quiet"];
        let few = ["--simulator", "icarus", "--cases", "2", "--max-failures", "1", "--no-shrink"];
        let scenarios = ["--scenario", "default", "--scenario", "events", "--no-waves", "--force"];
        let out = ["--out", out.to_str().unwrap()];
        run([&fixed[..], &few, &scenarios, &out, more].concat())
    };
    assert_code(&with(&[]), 0);
    let used = "FIXES[F6_ACK_RELIABLE_ONLY]";
    let copy = changed_rtl("ReqRecvCore_Thread_2.v", used, "FIXES[F6_ACK_RELIABLE_ONLY + 1]");
    assert_code(&with(&["--rtl", copy.path().to_str().unwrap()]), 1);
}

#[test]
fn a_case_is_named_by_its_parameters_and_runs_again_by_that_name() {
    let folder = TempDir::new().unwrap();
    let run_into = |name: &str, arguments: &[&str]| {
        let out = folder.path().join(name);
        let fixed = ["run", "--quiet", "--out", out.to_str().unwrap()];
        assert_code(&run([&fixed[..], arguments].concat()), 0);
        json(&out.join("results.json"))
    };
    let choice = ["--block", "dll", "--scenario", "lossy", "--cases", "2", "--fixes", "repaired"];
    let all = run_into("all", &[&choice[..], &["--parameter", "REPLAY_DEPTH=4"]].concat());
    let name = "dll/repaired+REPLAY_DEPTH=4/lossy/1";
    let case = cases(&all)[name].clone();
    assert_eq!(
        all["profiles"][0]["parameters"],
        value!({ "REPLAY_DEPTH": 4, "REPLAY_LIMIT": 64, "ACKNAK_LATENCY": 16 })
    );
    let alone = run_into("alone", &["--case", name, "--save-vectors", "1"]);
    assert_eq!(cases(&alone)[name], case);
    // The vector records every parameter, and its replay uses them.
    let saved = fs::read_dir(folder.path().join("alone/saved")).unwrap().next().unwrap().unwrap();
    let vector = json(&saved.path());
    assert_eq!(vector["fixes"], "repaired");
    assert_eq!(vector["parameters"]["REPLAY_DEPTH"], 4);
    let path = saved.path();
    let output = run(["replay", path.to_str().unwrap()]);
    assert_eq!(code(&output), 0);
    assert!(text(&output).contains("repaired+REPLAY_DEPTH=4: match"), "{}", text(&output));
    let other = run(["replay", path.to_str().unwrap(), "--parameter", "REPLAY_DEPTH=16"]);
    assert!(text(&other).contains("repaired: match"), "{}", text(&other));
}

/// The profile names of a run.
fn profiles(results: &Value) -> Vec<String> {
    let profiles = results["run"]["profiles"].as_array().unwrap();
    profiles.iter().map(|profile| profile.as_str().unwrap().to_owned()).collect()
}

#[test]
fn random_parameters_are_drawn_by_the_seed_and_are_run_again_by_their_names() {
    let folder = TempDir::new().unwrap();
    let run_into = |name: &str, arguments: &[&str]| {
        let out = folder.path().join(name);
        let fixed = ["run", "--quiet", "--no-waves", "--out", out.to_str().unwrap()];
        assert_code(&run([&fixed[..], arguments].concat()), 0);
        json(&out.join("results.json"))
    };
    let choice = ["--block", "recv", "--fixes", "random:2", "--scenario", "default"];
    let of = |name: &str, cases: &str, more: &[&str]| {
        run_into(name, &[&choice[..], &["--cases", cases, "--seed", "5"], more].concat())
    };
    let first = of("first", "3", &["--save-vectors", "6"]);
    let names = profiles(&first);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 2, "{names:?}");
    for fixed in ["spec", "repaired", "small", "large", "inverted"] {
        assert!(!names.contains(&fixed.to_owned()), "{names:?}");
    }
    // Shards have the same parameters. Requesting fewer gives a prefix of them.
    let part = of("part", "3", &["--shard", "2/2"]);
    assert_eq!(profiles(&part), names);
    let one = ["--block", "recv", "--fixes", "random:1", "--scenario", "default"];
    let one = run_into("one", &[&one[..], &["--cases", "1", "--seed", "5"]].concat());
    assert_eq!(profiles(&one), names[..1]);
    // The reproduce command and the vector contain only the name.
    let name = format!("recv/{}/default/2", names[1]);
    let alone = run_into("alone", &["--seed", "5", "--case", &name]);
    assert_eq!(cases(&alone)[&name], cases(&first)[&name]);
    let saved = folder.path().join("first/saved");
    let output = run(["replay", "--format", "json", saved.to_str().unwrap()]);
    assert_code(&output, 0);
    let replays: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let fixes: BTreeSet<&str> =
        replays.iter().map(|replay| replay["fixes"].as_str().unwrap()).collect();
    assert_eq!(fixes, names.iter().map(String::as_str).collect());
}

/// The stored random seed also draws the parameters of the resumed run.
#[test]
fn a_run_with_random_parameters_is_resumed_with_those() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut command = program();
    command.args(["run", "--quiet", "--no-waves", "--threads", "1", "--block", "recv"]);
    command.args(["--fixes", "random:1", "--scenario", "default", "--cases", "2000"]);
    command.args(["--seed", "random", "--out"]).arg(&out);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || is_longer(&out.join("run.journal"), 4000));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_code(&run(["resume", "--quiet", out.to_str().unwrap()]), 0);
    assert_eq!(json(&out.join("results.json"))["totals"]["matched"], 2000);
}

#[test]
fn random_parameters_are_of_a_run_alone() {
    let vector = project().join("vectors/recv/k2-taken-as-another-comes.json");
    for arguments in [
        &["run", "--block", "recv", "--fixes", "random:0"][..],
        &["run", "--block", "recv", "--fixes", "random:65"],
        &["run", "--block", "recv", "--fixes", "spec,random:x"],
        &["replay", "--fixes", "random:2", vector.to_str().unwrap()],
        &["prove", "--block", "recv", "--fixes", "random:2"],
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains("random:"), "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn illegal_parameters_are_refused_with_name_and_range() {
    let dll = ["run", "--block", "dll", "--parameter"];
    for (given, message) in [
        ("REPLAY_DEPTH=3", "REPLAY_DEPTH is 3: expected a power of two from 2 to 2048"),
        ("REPLAY_DEPTH=4096", "expected a power of two from 2 to 2048"),
        ("REPLAY_LIMIT=1", "REPLAY_LIMIT is 1: expected a number from 2 to 65535"),
        ("ACKNAK_LATENCY=65536", "expected a number from 2 to 65535"),
        ("DEPTH=2", "expected REPLAY_DEPTH, REPLAY_LIMIT, ACKNAK_LATENCY"),
        ("REPLAY_DEPTH", "is not NAME=VALUE"),
        ("REPLAY_DEPTH=-2", "is not NAME=VALUE"),
    ] {
        let output = run([&dll[..], &[given]].concat());
        assert_eq!(code(&output), 2, "{given}: {}", text(&output));
        assert!(text(&output).contains("--parameter: "), "{given}: {}", text(&output));
        assert!(text(&output).contains(message), "{given}: {}", text(&output));
    }
    let none = run(["run", "--parameter", "REPLAY_DEPTH=2"]);
    assert_eq!(code(&none), 2);
    assert!(text(&none).contains("the block has no parameters"), "{}", text(&none));
}

#[test]
fn parameters_of_a_vector_are_checked() {
    let folder = TempDir::new().unwrap();
    let good = json(&project().join("vectors/dll/b5-lost-tlp.json"));
    for (parameters, message) in [
        (value!({ "REPLAY_DEPTH": 3 }), "parameters: parameter REPLAY_DEPTH is 3"),
        (value!({ "DEPTH": 2 }), "parameters: unknown parameter `DEPTH`"),
        (value!({ "REPLAY_DEPTH": "2" }), "parameters.REPLAY_DEPTH: invalid type: string"),
        (value!({ "REPLAY_DEPTH": -2 }), "parameters.REPLAY_DEPTH: invalid value"),
    ] {
        let mut vector = good.clone();
        vector["parameters"] = parameters;
        let path = folder.path().join("bad.json");
        fs::write(&path, vector.to_string()).unwrap();
        let output = run(["replay", path.to_str().unwrap()]);
        assert_code(&output, 2);
        assert!(text(&output).contains("bad.json"), "{}", text(&output));
        assert!(text(&output).contains(message), "expected `{message}` in {}", text(&output));
    }
}

/// `--fixes` selects the profile; parameters named in a vector stay.
#[test]
fn another_profile_keeps_the_parameters_that_a_vector_names() {
    let vector = project().join("vectors/recv/k2-taken-as-another-comes.json");
    let vector = vector.to_str().unwrap();
    for (options, fixes, hits) in [
        (&["--fixes", "spec"][..], "spec+LOW=16", true),
        (&["--fixes", "0x01"], "0x01+LOW=16", true),
        (&["--fixes", "spec+LOW=2"], "spec+LOW=2", false),
        (&["--fixes", "spec", "--parameter", "LOW=2"], "spec+LOW=2", false),
    ] {
        let output = run([&["replay", "--format", "json"], options, &[vector]].concat());
        assert_eq!(code(&output), 0, "{options:?}: {}", text(&output));
        let replay: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(replay[0]["fixes"], fixes, "{replay}");
        assert_eq!(replay[0]["rules"].get("K2").is_some(), hits, "{options:?}: {replay}");
    }
}

/// Corner cases of legal parameters: the largest buffer that sequence numbers permit, timers of two
/// cycles, and replays that never end in time.
#[test]
fn corners_of_the_legal_parameters_match() {
    for parameters in [[2048, 4000, 3], [2, 2, 2], [16, 16, 300]] {
        let folder = TempDir::new().unwrap();
        let names = ["REPLAY_DEPTH", "REPLAY_LIMIT", "ACKNAK_LATENCY"];
        let given: Vec<String> =
            names.iter().zip(parameters).map(|(name, value)| format!("{name}={value}")).collect();
        let mut arguments = vec!["run", "--block", "dll", "--cases", "2", "--quiet", "--no-waves"];
        arguments.extend(given.iter().flat_map(|given| ["--parameter", given]));
        arguments.extend(["--out", folder.path().to_str().unwrap()]);
        let output = run(&arguments);
        assert_eq!(code(&output), 0, "{given:?}: {}", text(&output));
    }
}
