//! `cosim export`: the testbench gives the result of `cosim replay` in independent simulators.
//!
//! `COSIM_EXPORT=all` selects every vector of the corpus and every bug instead of a few.

use crate::common::{
    Place, assert_code, assert_contains, blocks, code, corpus, patches, python, source, text,
    vectors_of,
};
use rayon::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether every vector and every bug is selected.
fn selects_all() -> bool {
    std::env::var_os("COSIM_EXPORT").is_some_and(|value| value == "all")
}

/// The results of replaying vectors on their RTL, whether they match or not.
fn replayed(place: &Place, line: &str) -> Vec<Value> {
    let output = place.run(&format!("replay --recorded-rtl --format json {line}"));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

/// Runs a shell command in a folder and returns its output.
fn shell(folder: &Path, command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands in the testbench's README, in order.
fn commands(folder: &Path) -> Vec<String> {
    let readme = source(folder.join("README.md"));
    assert_eq!(readme.lines().count(), 4, "{readme}");
    let second = readme.lines().nth(1).unwrap();
    second.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The output in Icarus, with the README's command.
pub fn icarus(folder: &Path) -> String {
    shell(folder, &commands(folder)[0])
}

/// The output in Verilator, with the README's command. It begins with that of `make`.
fn verilator(folder: &Path) -> String {
    shell(folder, &commands(folder)[1])
}

/// The first line that the testbench must print for the outcome of a replay.
fn expected(outcome: &Value) -> String {
    match outcome["verdict"].as_str().unwrap() {
        "match" => "PASS  ".to_owned(),
        "mismatch" | "unknown" => {
            let word = |name: &str| outcome[name].as_str().unwrap();
            let [port, actual, expected] = ["port", "actual", "expected"].map(word);
            let cycle = &outcome["cycle"];
            format!("FAIL  mismatch at cycle {cycle}: {port} is {actual}, expected {expected}\n")
        }
        "hang" => format!("FAIL  hang at cycle {}: ", outcome["cycle"]),
        other => panic!("{other}: {outcome}"),
    }
}

/// Exports a replayed vector into a folder, and compares the result in Icarus.
#[track_caller]
fn agrees(place: &Place, replay: &Value, out: &str) {
    let (vector, fixes) = (replay["vector"].as_str().unwrap(), replay["fixes"].as_str().unwrap());
    place.exits(0, &format!("export {vector} -o {out} --recorded-rtl --fixes {fixes}"));
    let printed = icarus(&place.path(out));
    let mut wanted = expected(&replay["outcome"]);
    if !printed.starts_with(&wanted) {
        // Memory that was never written is unknown in Icarus, as in a four-state replay.
        let four_valued = replayed(place, &format!("--simulator icarus --fixes {fixes} {vector}"));
        let outcome = &four_valued[0]["outcome"];
        assert_eq!(outcome["verdict"], "unknown", "{vector} {fixes}: {printed}, not {wanted}");
        wanted = expected(outcome);
    }
    assert!(printed.starts_with(&wanted), "{vector} {fixes}: {printed}, not {wanted}");
}

/// Does the corpus do the same in all simulators: compiled, with four values, and as a testbench in
/// Icarus and in Verilator? Every 17th vector is simulated with four values, every 61st exported:
/// some of each block, in each of their profiles.
#[test]
fn the_corpus_does_the_same_in_each_simulator() {
    let place = Place::new();
    let corpus = |step: usize| {
        let corpus = blocks().flat_map(vectors_of).step_by(if selects_all() { 1 } else { step });
        corpus.map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    let four_valued = "replay --simulator icarus --expect-recorded --quiet";
    place.exits(0, &format!("{four_valued} {}", corpus(17)));
    let replays = replayed(&place, &corpus(61));
    let numbered = replays.par_iter().enumerate();
    numbered.for_each(|(at, replay)| agrees(&place, replay, &at.to_string()));
    // Verilator compiles C++ for each testbench, so test one block.
    for (at, block) in blocks().rev().enumerate() {
        let of_block = format!("/vectors/{block}/");
        let is_of_block = |replay: &Value| replay["vector"].as_str().unwrap().contains(&of_block);
        let first = replays.iter().position(is_of_block).expect("a vector of each block");
        if at == 0 || selects_all() {
            let printed = verilator(&place.path(&first.to_string()));
            assert!(printed.lines().any(|line| line.starts_with("PASS  ")), "{block}: {printed}");
        }
    }
}

/// Makes vectors of failures on the RTL of a place.
fn fail(place: &Place, block: &str) -> Vec<String> {
    let line = format!("run --block {block} --cases 60 --max-failures 3 --no-waves --no-shrink");
    let output = place.run(&format!("{line} --quiet --rtl rtl --out run"));
    assert!([0, 1].contains(&code(&output)), "{}", text(&output));
    place.vectors("run")
}

/// The selection includes registers without reset, whose initial values matter.
#[test]
fn failures_of_bad_rtl_are_the_same_mismatch_in_icarus() {
    let few = ["bad_rtl/qp/01-reset-keeps-states", "bad_rtl/thread2/43-rq-wrap-one-late"];
    let few = few.map(|bug| format!("bad_rtl/{bug}"));
    let bugs = blocks().flat_map(|block| patches(&format!("bad_rtl/{block}")));
    let bugs: Vec<String> = bugs.filter(|bug| selects_all() || few.contains(bug)).collect();
    let exported = bugs.par_iter().map(|bug| {
        let place = Place::with_patch(bug);
        let vectors = fail(&place, bug.split('/').nth(1).unwrap());
        for (at, vector) in vectors.iter().enumerate() {
            agrees(&place, &replayed(&place, vector)[0], &at.to_string());
        }
        vectors.len()
    });
    let exported: usize = exported.sum();
    assert!(exported >= bugs.len(), "{exported} failures of {} bugs", bugs.len());
}

#[test]
fn a_failure_is_printed_once_with_later_differences_and_waves() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let vector = fail(&place, "thread2").remove(0);
    let replay = &replayed(&place, &vector)[0];
    agrees(&place, replay, "bench");
    let (out, first) = (place.path("bench"), expected(&replay["outcome"]));
    let printed = verilator(&out);
    assert!(printed.contains(&first) && !printed.contains("PASS"), "{printed}");
    let (printed, again) = (icarus(&out), shell(&out, "vvp -n cosim_tb.vvp +waves"));
    assert_eq!(printed.matches("FAIL").count(), 1, "{printed}");
    assert!(!printed.contains("PASS"), "{printed}");
    assert_contains(&again, &[&first]);
    assert_contains(&place.text("bench/waves.vcd"), &["cosim_cycle", "cur_state"]);
    // The testbench drives ten more cycles, not the rest of the case.
    let cycle = replay["outcome"]["cycle"].as_u64().unwrap();
    let later = |line: &str| line.split("cycle ").nth(1)?.split(':').next()?.parse::<u64>().ok();
    assert!(printed.lines().filter_map(later).all(|later| later <= cycle + 10), "{printed}");
    // The testbench is strict Verilog 2005.
    shell(&out, "iverilog -g2005 -Wall -t null -s cosim_tb -c files.f");

    // A macro of user RTL is part of the case.
    place.exits(0, &format!("export {vector} -o user --rtl rtl -D MARK=1"));
    let header = place.text("rtl/thread2/ReqRecvCore_Thread_2.vh");
    assert_eq!(place.text("user/rtl/ReqRecvCore_Thread_2.vh"), header);
    assert_contains(&place.text("user/files.f"), &["+define+MARK=1"]);
    assert!(icarus(&place.path("user")).starts_with("FAIL  mismatch"));
    place.exits(0, &format!("export {vector} -o built-in --rtl built-in"));
    assert!(icarus(&place.path("built-in")).starts_with("PASS  "));
}

#[test]
fn several_vectors_become_a_folder_each() {
    let place = Place::new();
    let [one, other] = ["qp/c1-reset-to-init", "dll/a9-timeout"].map(corpus);
    // Parent folders are created.
    let export = format!("export {one} {other} --fixes spec -o for/designers");
    place.prints(0, &["2 testbenches, each in its own folder"], &export);
    for name in ["c1-reset-to-init", "a9-timeout"] {
        let out = place.path("for/designers").join(name);
        assert!(icarus(&out).starts_with("PASS  "), "{name}");
        // A testbench without its files does not pass.
        fs::remove_file(out.join("expected.hex")).unwrap();
        let printed = shell(&out, "vvp -n cosim_tb.vvp 2>&1");
        assert_contains(&printed, &["FAIL  stimulus.hex or expected.hex is not here"]);
        assert!(!printed.contains("PASS"), "{printed}");
    }
    // By default, each profile of a vector gets a testbench.
    place.exits(0, &format!("export {one} {other} -o all"));
    let profiles = replayed(&place, &other);
    assert!(profiles.len() > 1, "{profiles:?}");
    for profile in &profiles {
        let name = format!("all/a9-timeout-{}", profile["fixes"].as_str().unwrap());
        assert!(place.has_file(&format!("{name}/README.md")), "{name}");
    }
}

#[test]
fn nothing_is_overwritten_and_ambiguous_exports_are_refused() {
    let place = Place::new();
    let [vector, dll] = ["qp/c1-reset-to-init", "dll/a9-timeout"].map(corpus);
    let given = source(&vector);
    place.write("full/mine", &given);
    let twice = vector.replace("/qp/", "/qp/../qp/");
    for (line, words) in [
        (format!("{vector} -o full --fixes spec"), "exists and is not empty"),
        ("full/mine -o full/mine --fixes spec".to_owned(), "full/mine"),
        (vector.clone(), "--out"),
        (format!("{dll} -o new"), "choose one with --fixes"),
        (format!("{vector} -o new --block dll"), "is a vector of block qp"),
        (format!("{vector} -o new -D 'A=\"b c\"'"), "does not work in file lists"),
        (format!("{vector} {twice} -o new"), "as "),
    ] {
        place.prints(2, &[words], &format!("export {line}"));
        // Nothing half-made is left.
        assert_eq!([place.names(""), place.names("full")], [["full"], ["mine"]]);
        assert_eq!(place.text("full/mine"), given);
    }
    // A bit that is X differs from each value: only `!==` says so.
    place.exits(0, &format!("export {vector} -o new --fixes spec"));
    let bench = place.text("new/cosim_tb.v");
    let compared: Vec<&str> = bench.lines().filter(|line| line.contains("cosim_out[")).collect();
    let is_strict = |line: &&str| line.contains("!==") || !line.contains("!=");
    assert!(!compared.is_empty() && compared.iter().all(is_strict), "{compared:?}");
}

/// Does the cocotb test of a vector pass where the replay passes, and does it name cycle and port
/// of a difference?
#[test]
fn cocotb_sees_what_a_replay_sees() {
    let (place, vector) = (Place::new(), corpus("recv/decision-chosen-once"));
    place.exits(0, &format!("export {vector} -o bench --cocotb --fixes repaired"));
    let cocotb = |expected: i32| {
        let output = python().arg("run.py").current_dir(place.path("bench")).output().unwrap();
        assert_code(&output, expected);
        text(&output)
    };
    assert_contains(&cocotb(0), &["TESTS=1 PASS=1"]);
    // The last digit of a word is the lowest bits of the last port.
    let words = place.text("bench/expected.hex");
    let names = words.lines().next().unwrap().trim_start_matches("// ");
    let (last, cycles) = (names.split(' ').next_back().unwrap(), words.lines().count() - 1);
    let (others, digit) = words.trim_end().split_at(words.trim_end().len() - 1);
    let digit = u32::from_str_radix(digit, 16).unwrap();
    place.write("bench/expected.hex", &format!("{others}{:x}\n", digit ^ 1));
    assert_contains(&cocotb(1), &[&format!("mismatch at cycle {}: {last} is ", cycles - 1)]);
}
