//! Parameters of the RTL besides the mask of fixes: selection, validation, names and vectors.

use crate::common::{Place, THREAD2_TOP, cases, corpus, json, members};
use crate::resume::ended;
use rustix::process::Signal;
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_hard_coded_parameter_passes_with_the_defaults_and_fails_with_others() {
    for bug in
        ["61-depth-is-always-16", "62-replay-limit-is-always-64", "63-ack-latency-is-always-16"]
    {
        let place = Place::with_bug(&format!("dll/{bug}"));
        let run = "run --block dll --cases 2 --quiet --no-shrink --no-waves --rtl rtl --fixes";
        for (code, fixes) in [(0, "spec"), (1, "small"), (1, "large")] {
            place.exits(code, &format!("{run} {fixes} --out {fixes}"));
        }
    }
}

/// The profiles of thread2 have all fixes or none. These masks distinguish any two bits: RTL that
/// uses the bit of another fix fails with one of them. Icarus needs no compiler per mask.
#[test]
fn each_fix_of_thread2_has_its_own_bit() {
    let used = "FIXES[F6_ACK_RELIABLE_ONLY]";
    let other = "FIXES[F6_ACK_RELIABLE_ONLY + 1]";
    let place = Place::with_change(THREAD2_TOP, used, other);
    let run = "run --fixes 0xaa,0xcc,0xf0 --simulator icarus --cases 2 --max-failures 1 \
               --scenario default --scenario events --quiet --no-shrink --no-waves --out";
    place.exits(0, &format!("{run} good"));
    place.exits(1, &format!("{run} bad --rtl rtl"));
    // A two-state mismatch is also a four-state mismatch.
    let signature = place.results("bad")["failures"][0]["signature"].to_string();
    assert!(signature.starts_with("\"mismatch-"), "{signature}");
}

#[test]
fn a_case_is_named_by_its_parameters_and_runs_again_by_that_name() {
    let place = Place::new();
    let choice = "--block dll --scenario lossy --cases 2 --fixes repaired";
    place.exits(0, &format!("run --quiet --out all {choice} --parameter REPLAY_DEPTH=4"));
    let all = place.results("all");
    assert_eq!(
        all["profiles"][0]["parameters"],
        json!({ "REPLAY_DEPTH": 4, "REPLAY_LIMIT": 64, "ACKNAK_LATENCY": 16 })
    );
    let name = "dll/repaired+REPLAY_DEPTH=4/lossy/1";
    place.exits(0, &format!("run --quiet --out alone --case {name} --save-vectors 1"));
    assert_eq!(cases(&place.results("alone"))[name], cases(&all)[name]);
    // The vector records every parameter, and its replay uses them.
    let path = format!("alone/saved/{}", place.names("alone/saved")[0]);
    let vector = place.json(&path);
    assert_eq!(vector["fixes"], "repaired");
    assert_eq!(vector["parameters"]["REPLAY_DEPTH"], 4);
    place.prints(0, &["repaired+REPLAY_DEPTH=4: match"], &format!("replay {path}"));
    let other = format!("replay {path} --parameter REPLAY_DEPTH=16");
    place.prints(0, &["repaired: match"], &other);
}

#[test]
fn random_parameters_are_drawn_by_the_seed_and_are_run_again_by_their_names() {
    let place = Place::new();
    let of = |name: &str, words: &str| {
        let run = "run --block recv --scenario default --seed 5 --quiet --no-waves";
        place.exits(0, &format!("{run} --out {name} {words}"));
        let results = place.results(name);
        let profiles = results["run"]["profiles"].as_array().unwrap().iter();
        let names = profiles.map(|profile| profile.as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), results)
    };
    let (names, first) = of("first", "--fixes random:2 --cases 3 --save-vectors 6");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 2, "{names:?}");
    for fixed in ["spec", "repaired", "small", "large", "inverted"] {
        assert!(!names.contains(&fixed.to_owned()), "{names:?}");
    }
    // Shards have the same parameters. Requesting fewer gives a prefix of them.
    assert_eq!(of("part", "--fixes random:2 --cases 3 --shard 2/2").0, names);
    assert_eq!(of("one", "--fixes random:1 --cases 1").0, names[..1]);
    // The reproduce command and the vector contain only the name.
    let name = format!("recv/{}/default/2", names[1]);
    place.exits(0, &format!("run --quiet --out alone --seed 5 --case {name}"));
    assert_eq!(cases(&place.results("alone"))[&name], cases(&first)[&name]);
    let replays = place.json_of(0, "replay first/saved");
    let fixes = members(&replays, "fixes").into_iter().collect::<BTreeSet<_>>();
    assert_eq!(fixes, names.iter().map(String::as_str).collect());
    // A stored random seed also draws the parameters of the resumed run.
    let run = "run --quiet --no-waves --threads 1 --block recv --fixes random:1 \
               --scenario default --cases 2000 --seed random --out out";
    ended(&place, run, Signal::KILL, "out/run.journal", 4000);
    place.exits(0, "resume --quiet out");
    assert_eq!(place.results("out")["totals"]["matched"], 2000);
}

#[test]
fn illegal_parameters_of_a_vector_are_refused_with_name_and_range() {
    let place = Place::new();
    let mut vector = json(corpus("dll/b5-lost-tlp"));
    for (parameters, message) in [
        (json!({ "REPLAY_DEPTH": 3 }), "parameters: parameter REPLAY_DEPTH is 3"),
        (json!({ "DEPTH": 2 }), "parameters: unknown parameter `DEPTH`"),
        (json!({ "REPLAY_DEPTH": "2" }), "parameters.REPLAY_DEPTH: invalid type: string"),
    ] {
        vector["parameters"] = parameters;
        place.write("bad.json", &vector.to_string());
        place.prints(2, &["bad.json", message], "replay bad.json");
    }
}

/// `--fixes` selects the profile; parameters named in a vector stay.
#[test]
fn another_profile_keeps_the_parameters_that_a_vector_names() {
    // A vector of recv whose parameter LOW is not that of its profile.
    let other_low = corpus("recv/k2-taken-as-another-comes");
    for (options, fixes, hits) in [
        ("--fixes spec", "spec+LOW=16", true),
        ("--fixes 0x01", "0x01+LOW=16", true),
        ("--fixes spec+LOW=2", "spec+LOW=2", false),
        ("--fixes spec --parameter LOW=2", "spec+LOW=2", false),
    ] {
        let replay = Place::new().json_of(0, &format!("replay {options} {other_low}"));
        assert_eq!(replay[0]["fixes"], fixes, "{replay}");
        assert_eq!(replay[0]["rules"].get("K2").is_some(), hits, "{options}: {replay}");
    }
}

/// Corner cases of legal parameters: the largest buffer that sequence numbers permit, timers of two
/// cycles, and replays that never end in time.
#[test]
fn corners_of_the_legal_parameters_match() {
    for [depth, limit, latency] in [[2048, 4000, 3], [2, 2, 2], [16, 16, 300]] {
        let rest = format!("REPLAY_LIMIT={limit} --parameter ACKNAK_LATENCY={latency}");
        let run = "run --block dll --cases 2 --quiet --no-waves --out out --parameter";
        Place::new().exits(0, &format!("{run} REPLAY_DEPTH={depth} --parameter {rest}"));
    }
}
