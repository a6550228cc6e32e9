//! Traces hold both models, and are whole after a match, a mismatch, a hang and ^C.

use crate::common::{code, cosim, files, is_longer, patched_rtl, project, run, text, wait_until};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use wellen::simple::{Waveform, read};

/// A passing vector of some length.
fn saved_vector(folder: &Path) -> PathBuf {
    let out = folder.join("run");
    let arguments = ["run", "--cases", "1", "--scenario", "smoke", "--fixes", "repaired"];
    let more = ["--save-vectors", "1", "--out", out.to_str().unwrap()];
    assert_eq!(code(&run(arguments.iter().chain(&more))), 0);
    files(&out.join("saved"), "json").remove(0)
}

/// Values of a signal, by its path.
fn values(wave: &mut Waveform, path: &[&str], name: &str) -> Vec<(u64, String)> {
    let variable = wave.hierarchy().lookup_var(path, name);
    let variable = variable.unwrap_or_else(|| panic!("no signal {path:?} {name}"));
    let reference = wave.hierarchy()[variable].signal_ref();
    wave.load_signals(&[reference]);
    let times = wave.time_table().to_vec();
    let signal = wave.get_signal(reference).unwrap();
    signal.iter_changes().map(|(time, value)| (times[time as usize], value.to_string())).collect()
}

/// A Verilog string: eight bits a character.
fn as_text(bits: &str) -> String {
    let padded = format!("{bits:0>192}");
    let bytes = (0..padded.len() / 8).map(|index| &padded[index * 8..index * 8 + 8]);
    let letters = bytes.map(|byte| u8::from_str_radix(byte, 2).unwrap()).filter(|byte| *byte > 0);
    letters.map(char::from).collect()
}

const TOP: [&str; 2] = ["TOP", "cosim_top"];
const DUT: [&str; 3] = ["TOP", "cosim_top", "dut"];
const GOLDEN: [&str; 3] = ["TOP", "cosim_top", "golden"];

fn check_both_models(path: &Path) {
    let mut wave = read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let rtl_states = values(&mut wave, &DUT, "cur_state");
    let golden_states = values(&mut wave, &GOLDEN, "state");
    assert!(rtl_states.len() > 10, "{rtl_states:?}");
    // In lock step: both state registers change at the same times, to the same state.
    let decode = |(time, bits): &(u64, String)| (*time, u64::from_str_radix(bits, 2).unwrap());
    let codes: Vec<(u64, u64)> = rtl_states.iter().map(decode).collect();
    for (time, bits) in &golden_states {
        let rtl = codes.iter().rev().find(|(at, _)| at <= time).map(|(_, code)| *code);
        let expected = match as_text(bits).as_str() {
            "IDLE_s" => 1,
            "JUDGE_s" => 2,
            "UPDATE_RQ_s" => 10,
            "GEN_ACK_s" => 16,
            _ => continue,
        };
        assert_eq!(rtl, Some(expected), "time {time}, {}", as_text(bits));
    }
    let ready = values(&mut wave, &TOP, "fetch_cxt_egress_ready");
    assert_eq!(ready, values(&mut wave, &GOLDEN, "fetch_cxt_egress_ready"));
    let rules: Vec<String> =
        values(&mut wave, &GOLDEN, "rule").iter().map(|(_, bits)| as_text(bits)).collect();
    assert!(rules.iter().any(|rule| rule == "T01"), "{rules:?}");
}

#[test]
fn both_formats_hold_both_models() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    for name in ["all.fst", "all.vcd"] {
        let trace = folder.path().join(name);
        let arguments = ["replay", vector.to_str().unwrap(), "--trace-all", "--trace"];
        let output = run(arguments.iter().copied().chain([trace.to_str().unwrap()]));
        assert_eq!(code(&output), 0, "{}", text(&output));
        check_both_models(&trace);
    }
}

#[test]
fn a_window_around_the_end_is_traced_by_default() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let trace = folder.path().join("window.fst");
    let arguments = ["replay", vector.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
    assert_eq!(code(&run(arguments)), 0);
    let mut wave = read(&trace).unwrap();
    let first = values(&mut wave, &DUT, "cur_state")[0].0;
    assert!(first > 100, "the trace begins at time {first}, two for a cycle");
}

#[test]
fn a_trace_is_whole_after_a_mismatch() {
    let patch = files(&project().join("tests/bad_rtl/thread2"), "patch").remove(8);
    let rtl = patched_rtl(&patch);
    let folder = TempDir::new().unwrap();
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("run"));
    let arguments = ["run", "--max-failures", "1", "--rtl", rtl.to_str().unwrap(), "--out"];
    let output = run(arguments.iter().copied().chain([out.to_str().unwrap()]));
    assert_eq!(code(&output), 1, "{}", text(&output));
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
        .filter(|path| crate::common::json(path)["recorded"]["verdict"] == "hang");
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("hang.vcd");
    let vector = hangs.into_iter().next().expect("a hang is recorded in the corpus");
    let arguments = ["replay", vector.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
    let output = run(arguments);
    assert_eq!(code(&output), 1, "{}", text(&output));
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
    // Interrupted once the trace has begun to grow; until it is whole it has another name.
    wait_until(&mut child, || {
        files(folder.path(), "vcd").iter().any(|path| is_longer(path, 1_000_000))
    });
    assert!(!trace.exists());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut wave = read(&trace).unwrap();
    assert!(values(&mut wave, &DUT, "cur_state").len() > 10);
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_work() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let vector = vector.to_str().unwrap();
    for arguments in [
        ["replay", vector, "--trace", "/nowhere/x.fst"],
        ["shrink", vector, "--out", "/nowhere/x.json"],
        ["shrink", vector, "--out", folder.path().to_str().unwrap()],
    ] {
        let output = run(arguments.iter().chain(&["--fixes", "spec"]));
        assert_eq!(code(&output), 2, "{arguments:?}: {}", crate::common::text(&output));
    }
}

#[test]
fn a_case_of_a_run_can_be_traced_by_its_name() {
    let folder = TempDir::new().unwrap();
    let (out, trace) = (folder.path().join("run"), folder.path().join("case.fst"));
    let [out, path] = [&out, &trace].map(|path| path.to_str().unwrap());
    let case = ["run", "--case", "thread2/repaired/ring/3", "--out", out, "--trace", path];
    let output = run(case);
    assert_eq!(code(&output), 0, "{}", text(&output));
    check_both_models(&trace);
    let several = run(["run", "--case", "thread2/all/ring/3", "--trace", path]);
    assert_eq!(code(&several), 2, "{}", text(&several));
    assert_eq!(code(&run(["run", "--trace", path])), 2);
}

#[test]
fn another_ending_is_refused() {
    let folder = TempDir::new().unwrap();
    let vector = saved_vector(folder.path());
    let output = run(["replay", vector.to_str().unwrap(), "--trace", "/tmp/x.png"]);
    assert_eq!(code(&output), 2, "{}", text(&output));
    assert!(text(&output).contains(".fst or .vcd"), "{}", text(&output));
}
