//! Waveforms contain both models, and are complete after a match, a mismatch, a hang and ^C.

use crate::common::{
    assert_code, assert_error_at, code, cosim, files, is_longer, json, patched_rtl, project, run,
    text, wait_until,
};
use cosim::PROGRAM;
use cosim::blocks::thread2::{Thread2, rows};
use cosim_core::harness::Explain;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use walkdir::WalkDir;
use wellen::simple::{Waveform, read};

/// A passing vector of some length.
fn saved_vector(folder: &Path) -> PathBuf {
    let out = folder.join("run");
    let arguments = ["run", "--cases", "1", "--scenario", "smoke", "--fixes", "repaired"];
    let more = ["--packets", "64", "--save-vectors", "1", "--out", out.to_str().unwrap()];
    assert_eq!(code(&run(arguments.iter().chain(&more))), 0);
    files(&out.join("saved"), "json").remove(0)
}

/// The values of a signal, by path.
fn values(wave: &mut Waveform, path: &[&str], name: &str) -> Vec<(u64, String)> {
    let variable = wave.hierarchy().lookup_var(path, name);
    let variable = variable.unwrap_or_else(|| panic!("no signal {path:?} {name}"));
    let reference = wave.hierarchy()[variable].signal_ref();
    wave.load_signals(&[reference]);
    let times = wave.time_table().to_vec();
    let signal = wave.get_signal(reference).unwrap();
    signal.iter_changes().map(|(time, value)| (times[time as usize], value.to_string())).collect()
}

/// Decodes a Verilog string of eight bits per character.
fn as_text(bits: &str) -> String {
    let padded = format!("{bits:0>192}");
    let bytes = (0..padded.len() / 8).map(|index| &padded[index * 8..index * 8 + 8]);
    let letters = bytes.map(|byte| u8::from_str_radix(byte, 2).unwrap()).filter(|byte| *byte > 0);
    letters.map(char::from).collect()
}

const TOP: [&str; 2] = ["TOP", "cosim_top"];
const DUT: [&str; 3] = ["TOP", "cosim_top", "dut"];
const GOLDEN: [&str; 3] = ["TOP", "cosim_top", "golden"];

/// The number of cycles in the output of a command.
fn cycles(output: &Output) -> u64 {
    let text = text(output);
    let (before, _) = text.split_once(" cycles").expect("the number of cycles is said");
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Checks that a waveform contains both models in exactly these cycles.
fn check_both_models(path: &Path, expected: Range<u64>) {
    let mut wave = read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let rtl_states = values(&mut wave, &DUT, "cur_state");
    let golden_states = values(&mut wave, &GOLDEN, "state");
    let rules = values(&mut wave, &GOLDEN, "rule");
    let cycles = values(&mut wave, &TOP, "cycle");
    let clock = values(&mut wave, &DUT, "clk");
    let end = *wave.time_table().last().unwrap();
    let begin = wave.time_table()[0];
    // Two ticks per cycle.
    assert_eq!(begin..end + 1, 2 * expected.start..2 * expected.end);
    let mut seen = BTreeSet::new();
    // The harness's own cycle in reset has no rule.
    for time in begin.max(2)..=end {
        let number = |changes| u64::from_str_radix(&at(changes, time), 2).unwrap();
        // A cycle begins with the rising edge and shows its own number.
        assert_eq!(number(&cycles), time / 2);
        assert_eq!(number(&clock), 1 - time % 2, "time {time}");
        // The states of RTL and golden model and the rule belong to the same cycle.
        let rule = as_text(&at(&rules, time));
        let row = rows::ROWS.iter().find(|row| row.name == rule);
        let state = as_text(&at(&golden_states, time));
        assert_eq!(row.map(|row| row.from.name()), Some(state.as_str()), "time {time}, {rule}");
        let code = number(&rtl_states);
        assert_eq!(row.map(|row| row.from as u64), Some(code), "time {time}, {rule}");
        seen.insert(rule);
    }
    assert!(seen.contains("T01"), "{seen:?}");
    for name in ["fetch_cxt_egress_ready", "fetch_mr_ingress_data"] {
        assert_eq!(values(&mut wave, &DUT, name), values(&mut wave, &GOLDEN, name));
    }
    // Each port, including wide ones, appears once per side, and so do memories.
    let hierarchy = wave.hierarchy();
    let names: Vec<String> =
        hierarchy.all_vars().map(|variable| hierarchy[variable].full_name(hierarchy)).collect();
    let ending = |end: &str| -> Vec<&str> {
        names.iter().map(String::as_str).filter(|name| name.ends_with(end)).collect()
    };
    for output in ["wqe_req_head", "rq_offset_din"] {
        let end = format!(".{output}");
        let places = [format!("TOP.cosim_top.dut{end}"), format!("TOP.cosim_top.golden{end}")];
        let mut found = ending(&end);
        found.sort_unstable();
        assert_eq!(found, places);
    }
    assert_eq!(ending(".fetch_cxt_egress_head"), ["TOP.cosim_top.dut.fetch_cxt_egress_head"]);
    assert_eq!(names.iter().filter(|name| name.contains("cosim_golden")).count(), 0);
    let words = names.iter().filter(|name| name.contains("msg_offset_mem")).count();
    assert_eq!(words, 256, "{names:?}");
}

/// The value of a signal at a time.
fn at(changes: &[(u64, String)], time: u64) -> String {
    let last = changes.iter().rev().find(|(changed, _)| *changed <= time);
    last.map_or_else(|| panic!("nothing at time {time}"), |(_, value)| value.clone())
}

#[test]
fn both_formats_hold_both_models() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    for name in ["all.fst", "all.vcd"] {
        let trace = folder.path().join(name);
        let arguments = ["replay", vector.to_str().unwrap(), "--trace-all", "--trace"];
        let output = run(arguments.iter().copied().chain([trace.to_str().unwrap()]));
        assert_code(&output, 0);
        check_both_models(&trace, 0..cycles(&output));
    }
}

/// Tests all port names.
#[test]
fn every_block_has_waves_and_can_be_explained() {
    let folder = TempDir::new().unwrap();
    for block in PROGRAM.blocks {
        let corpus = files(&project().join("vectors").join(block.info().name), "json");
        let vector = corpus.first().unwrap().to_str().unwrap();
        let profile = &block.info().profiles[0].name;
        let explained = run(["explain", "--fixes", profile, vector]);
        assert_eq!(code(&explained), 0, "{vector}: {}", text(&explained));
        let trace = folder.path().join(format!("{}.vcd", block.info().name));
        let arguments = ["replay", "--fixes", profile, "--trace", trace.to_str().unwrap(), vector];
        let output = run(arguments);
        assert_eq!(code(&output), 0, "{vector}: {}", text(&output));
        assert!(!values(&mut read(&trace).unwrap(), &GOLDEN, "rule").is_empty(), "{vector}");
    }
}

#[test]
fn a_window_around_the_end_is_traced_by_default() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let trace = folder.path().join("window.fst");
    let arguments = ["replay", vector.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
    let output = run(arguments);
    assert_code(&output, 0);
    check_both_models(&trace, last_of(cycles(&output)));
}

/// The cycles that are traced if all match.
fn last_of(cycles: u64) -> Range<u64> {
    cycles - 50..cycles
}

#[test]
fn a_trace_is_whole_after_a_mismatch() {
    let patch = files(&project().join("tests/bad_rtl/thread2"), "patch").remove(8);
    let rtl = patched_rtl(&patch);
    let folder = TempDir::new().unwrap();
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("run"));
    let arguments = ["run", "--max-failures", "1", "--rtl", rtl.to_str().unwrap(), "--out"];
    assert_code(&run(arguments.iter().copied().chain([out.to_str().unwrap()])), 1);
    let waves = files(&out.join("failures"), "fst");
    assert_eq!(waves.len(), 1, "the failing case was traced by itself");
    let mut wave = read(&waves[0]).unwrap();
    assert!(!values(&mut wave, &GOLDEN, "state").is_empty());
}

/// S0's hang (F5 is off, the WQE's last unit is consumed in MR_FOR_SEND_s) is in the corpus.
#[test]
fn a_trace_is_whole_after_a_hang() {
    let hangs = files(&project().join("vectors/thread2"), "json")
        .into_iter()
        .filter(|path| json(path)["recorded"]["verdict"] == "hang");
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("hang.vcd");
    let vector = hangs.into_iter().next().expect("a hang is recorded in the corpus");
    let arguments = ["replay", vector.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
    assert_code(&run(arguments), 1);
    let mut wave = read(&trace).unwrap();
    let states = values(&mut wave, &GOLDEN, "state");
    assert_eq!(as_text(&states.last().unwrap().1), "DATA_UNIT_s");
}

#[test]
fn a_trace_is_whole_after_an_interruption() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments = ["run", "--cases", "1", "--scenario", "backpressure", "--fixes", "spec"];
    let more = ["--packets", "20000", "--save-vectors", "1", "--out", out.to_str().unwrap()];
    assert_eq!(code(&run(arguments.iter().chain(&more))), 0);
    let vector = files(&out.join("saved"), "json").remove(0);
    let trace = folder.path().join("cut.vcd");
    let program = cosim();
    let mut child = Command::new(program.get_program())
        .args(["replay", vector.to_str().unwrap(), "--trace-all", "--trace"])
        .arg(&trace)
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Interrupt as soon as the trace grows. An incomplete trace is in a folder of its own.
    let partial = || {
        let entries = WalkDir::new(folder.path()).into_iter().flatten();
        let mut files = entries.filter(|entry| entry.path().extension() == Some("vcd".as_ref()));
        files.any(|entry| is_longer(entry.path(), 1_000_000))
    };
    wait_until(&mut child, partial);
    assert!(!trace.exists());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut wave = read(&trace).unwrap();
    // The trace is complete up to the interruption and contains both models.
    let end = *wave.time_table().last().unwrap() / 2;
    let counted: Vec<(u64, u64)> = values(&mut wave, &TOP, "cycle")
        .into_iter()
        .map(|(time, cycle)| (time, u64::from_str_radix(&cycle, 2).unwrap()))
        .collect();
    assert_eq!(counted, (0..=end).map(|cycle| (2 * cycle, cycle)).collect::<Vec<_>>());
    let name = |code: String| {
        let code = u64::from_str_radix(&code, 2).unwrap();
        Thread2::state_name(code).unwrap().to_owned()
    };
    let rtl = values(&mut wave, &DUT, "cur_state").into_iter();
    let golden = values(&mut wave, &GOLDEN, "state").into_iter();
    assert_eq!(
        after_reset(rtl.map(|(time, code)| (time, name(code)))),
        after_reset(golden.map(|(time, text)| (time, as_text(&text))))
    );
}

/// The state in the first cycle after the harness's own cycle in reset, and its changes.
fn after_reset(changes: impl Iterator<Item = (u64, String)>) -> Vec<(u64, String)> {
    let mut states: Vec<_> = changes.map(|(time, state)| (time.max(2), state)).collect();
    let begin = states.iter().rposition(|(time, _)| *time == 2).expect("it began before");
    states.drain(..begin);
    states.dedup_by(|next, state| next.1 == state.1);
    states
}

#[test]
fn an_unwritable_path_is_refused_before_the_work() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let vector = vector.to_str().unwrap();
    for arguments in [
        ["replay", vector, "--trace", "/nowhere/x.fst"],
        ["shrink", vector, "--out", "/nowhere/x.json"],
        ["shrink", vector, "--out", folder.path().to_str().unwrap()],
    ] {
        let output = run(arguments.iter().chain(&["--fixes", "spec"]));
        assert_eq!(code(&output), 2, "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn a_case_of_a_run_can_be_traced_by_its_name() {
    let folder = TempDir::new().unwrap();
    let (out, trace) = (folder.path().join("run"), folder.path().join("case.fst"));
    let [out, path] = [&out, &trace].map(|path| path.to_str().unwrap());
    let case = ["run", "--case", "thread2/repaired/ring/3", "--packets", "64", "--out", out];
    assert_code(&run(case.iter().chain(&["--trace", path])), 0);
    let results = json(&folder.path().join("run/results.json"));
    check_both_models(&trace, last_of(results["totals"]["cycles"].as_u64().unwrap()));
    let all = folder.path().join("all.fst");
    let all = all.to_str().unwrap();
    let out = folder.path().join("again");
    let out = out.to_str().unwrap();
    let whole = ["run", "--case", "thread2/repaired/ring/3", "--out", out, "--trace-all"];
    assert_eq!(code(&run(whole.iter().chain(&["--trace", all]))), 0);
    assert_eq!(read(all).unwrap().time_table()[0], 0);
    assert_eq!(code(&run(["run", "--case", "thread2/repaired/ring/3", "--trace-all"])), 2);
    assert_code(&run(["run", "--case", "thread2/all/ring/3", "--trace", path]), 2);
    assert_eq!(code(&run(["run", "--trace", path])), 2);
}

#[test]
fn another_ending_is_refused() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let output = run(["replay", vector.to_str().unwrap(), "--trace", "/tmp/x.png"]);
    assert_error_at(&output, "E0604", ".fst or .vcd");
}
