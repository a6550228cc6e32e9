//! Waveforms contain both models, and are complete after a match, a mismatch, a hang and ^C.

use crate::common::{
    Place, files, interrupted, is_longer, json, vector_of, vectors_of, wait_until,
};
use cosim::PROGRAM;
use cosim::blocks::thread2::{Thread2, rules};
use cosim_core::harness::Explain;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;
use wellen::simple::{Waveform, read};

/// A passing vector of a run with these options.
fn saved_vector(place: &Place, options: &str) -> String {
    place.exits(0, &format!("run --cases 1 --save-vectors 1 --out run {options}"));
    files(&place.path("run/saved"), "json").remove(0).display().to_string()
}

pub fn values(wave: &mut Waveform, path: &[&str], name: &str) -> Vec<(u64, String)> {
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
pub const DUT: [&str; 3] = ["TOP", "cosim_top", "dut"];
pub const GOLDEN: [&str; 3] = ["TOP", "cosim_top", "golden"];

/// Checks that a waveform contains both models in exactly these cycles.
fn check_both_models(path: &Path, expected: Range<u64>) {
    let mut wave = read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let [rtl_states, clock] = ["cur_state", "clk"].map(|name| values(&mut wave, &DUT, name));
    let [golden_states, rules] = ["state", "rule"].map(|name| values(&mut wave, &GOLDEN, name));
    let cycles = values(&mut wave, &TOP, "cycle");
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
        let index = rules::RULES.iter().position(|row| row.name == rule).expect(&rule);
        let row = &rules::ROWS[index];
        let state = as_text(&at(&golden_states, time));
        assert_eq!((row.from.name(), row.from as u64), (&*state, number(&rtl_states)), "{time}");
        seen.insert(rule);
    }
    assert!(seen.contains("T01"), "{seen:?}");
    for name in ["fetch_cxt_egress_ready", "fetch_mr_ingress_data"] {
        assert_eq!(values(&mut wave, &DUT, name), values(&mut wave, &GOLDEN, name));
    }
    // Each port, including wide ones, appears once per side, and so do memories.
    let hierarchy = wave.hierarchy();
    let names = hierarchy.all_vars().map(|variable| hierarchy[variable].full_name(hierarchy));
    let mut names: Vec<String> = names.collect();
    names.sort();
    for (port, sides) in [
        ("wqe_req_head", &["dut", "golden"][..]),
        ("rq_offset_din", &["dut", "golden"]),
        ("fetch_cxt_egress_head", &["dut"]),
    ] {
        let of_port = names.iter().filter(|name| name.ends_with(&format!(".{port}")));
        let expected = sides.iter().map(|side| format!("TOP.cosim_top.{side}.{port}"));
        assert!(of_port.cloned().eq(expected), "{port}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("cosim_golden")));
    let words = names.iter().filter(|name| name.contains("msg_offset_mem")).count();
    assert_eq!(words, 256, "{names:?}");
}

fn at(changes: &[(u64, String)], time: u64) -> String {
    let last = changes.iter().rev().find(|(changed, _)| *changed <= time);
    last.map_or_else(|| panic!("nothing at time {time}"), |(_, value)| value.clone())
}

#[test]
fn both_formats_hold_both_models() {
    let place = Place::new();
    let vector = saved_vector(&place, "--scenario smoke --fixes repaired --packets 64");
    // A window around the end is traced by default.
    for (name, more) in [("all.fst", "--trace-all"), ("all.vcd", "--trace-all"), ("end.fst", "")] {
        let printed = place.exits(0, &format!("replay {vector} --trace {name} {more}"));
        let (before, _) = printed.split_once(" cycles").expect("the number of cycles");
        let cycles: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
        let all = if more.is_empty() { last_of(cycles) } else { 0..cycles };
        check_both_models(&place.path(name), all);
    }
    // An unwritable path and another ending are refused before the work.
    let replay = format!("replay --fixes spec {vector} --trace");
    let shrink = format!("shrink --fixes spec {vector} --out");
    place.exits(2, &format!("{replay} /nowhere/x.fst"));
    place.exits(2, &format!("{shrink} /nowhere/x.json"));
    place.exits(2, &format!("{shrink} run"));
    place.fails("E0604", ".fst or .vcd", &format!("replay {vector} --trace x.png"));
}

/// Tests all port names.
#[test]
fn every_block_has_waves_and_can_be_explained() {
    let place = Place::new();
    for block in PROGRAM.blocks {
        let (name, profile) = (block.info().name, &block.info().profiles[0].name);
        let vector = format!("--fixes {profile} {}", vector_of(name));
        place.exits(0, &format!("explain {vector}"));
        place.exits(0, &format!("replay --trace {name}.vcd {vector}"));
        let mut wave = read(place.path(&format!("{name}.vcd"))).unwrap();
        assert!(!values(&mut wave, &GOLDEN, "rule").is_empty(), "{vector}");
    }
}

/// The cycles that are traced if all match.
fn last_of(cycles: u64) -> Range<u64> {
    cycles - 50..cycles
}

/// S0's hang (F5 is off, the WQE's last unit is consumed in MR_FOR_SEND_s) is in the corpus.
#[test]
fn a_trace_is_whole_after_a_hang() {
    let place = Place::new();
    let is_hang = |path: &PathBuf| json(path)["recorded"]["verdict"] == "hang";
    let vector = vectors_of("thread2").into_iter().find(is_hang).expect("a hang is in the corpus");
    place.exits(1, &format!("replay {} --trace hang.vcd", vector.display()));
    let mut wave = read(place.path("hang.vcd")).unwrap();
    let states = values(&mut wave, &GOLDEN, "state");
    assert_eq!(as_text(&states.last().unwrap().1), "DATA_UNIT_s");
}

#[test]
fn a_trace_is_whole_after_an_interruption() {
    let place = Place::new();
    let vector = saved_vector(&place, "--scenario backpressure --fixes spec --packets 20000");
    let trace = place.path("cut.vcd");
    let mut child = place.start(&format!("replay {vector} --trace-all --trace cut.vcd"));
    // Interrupt as soon as the trace grows. An incomplete trace is in a folder of its own.
    let partial = || {
        let entries = WalkDir::new(place.path(".")).into_iter().flatten();
        let mut files = entries.filter(|entry| entry.path().extension() == Some("vcd".as_ref()));
        files.any(|entry| is_longer(entry.path(), 1_000_000))
    };
    wait_until(&mut child, partial);
    assert!(!trace.exists());
    interrupted(child);
    let mut wave = read(&trace).unwrap();
    // The trace is complete up to the interruption and contains both models.
    let end = *wave.time_table().last().unwrap() / 2;
    let number = |bits: &str| u64::from_str_radix(bits, 2).unwrap();
    let cycles = values(&mut wave, &TOP, "cycle").into_iter();
    let counted: Vec<_> = cycles.map(|(time, cycle)| (time, number(&cycle))).collect();
    assert_eq!(counted, (0..=end).map(|cycle| (2 * cycle, cycle)).collect::<Vec<_>>());
    let name = |code: String| Thread2::state_name(number(&code)).unwrap().to_owned();
    let rtl = values(&mut wave, &DUT, "cur_state").into_iter();
    let rtl = after_reset(rtl.map(|(time, code)| (time, name(code))));
    let golden = values(&mut wave, &GOLDEN, "state").into_iter();
    assert_eq!(rtl, after_reset(golden.map(|(time, text)| (time, as_text(&text)))));
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
fn a_case_of_a_run_can_be_traced_by_its_name() {
    let place = Place::new();
    let case = "run --case thread2/repaired/ring/3 --out";
    place.exits(0, &format!("{case} run --packets 64 --trace case.fst"));
    let totals = place.results("run")["totals"].clone();
    check_both_models(&place.path("case.fst"), last_of(totals["cycles"].as_u64().unwrap()));
    place.exits(0, &format!("{case} again --trace-all --trace all.fst"));
    assert_eq!(read(place.path("all.fst")).unwrap().time_table()[0], 0);
}
