//! Registers without reset: initial values are random, expose bugs, and are stored in the vector.

use crate::common::{assert_code, changed_rtl, files, json, run, text};
use serde_json::{Value, json as value};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wellen::simple::read;

/// RTL whose message offset is right only while a register without reset holds the right value.
fn rtl_that_needs(right: &str) -> TempDir {
    // The value that changes the register never occurs.
    changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "  assign msg_offset = msg_offset_used[qp]",
        &format!(
            "  reg [3:0] mode;\n  always @(posedge clk) if (fetch_cxt_egress_head == 416'h5eed) mode <= mode + 1;\n  \
             wire right = {right};\n  assign msg_offset = !right ? 32'd0 : msg_offset_used[qp]"
        ),
    )
}

/// The vector of the failure in a run of one profile. Its replay fails again with this RTL and
/// matches with the good one.
fn found(rtl: &Path, out: &Path, more: &[&str]) -> (PathBuf, Value) {
    let (rtl, folder) = (rtl.to_str().unwrap(), out.to_str().unwrap());
    let fixed = ["run", "--fixes", "repaired", "--cases", "20", "--quiet", "--max-failures", "1"];
    assert_code(&run([&fixed[..], &["--rtl", rtl, "--out", folder], more].concat()), 1);
    let group = json(&out.join("results.json"))["failures"][0].clone();
    let vector = out.join(group["vector"].as_str().unwrap());
    let path = vector.to_str().unwrap();
    assert_code(&run(["replay", "--expect-recorded", "--rtl", rtl, path]), 0);
    assert_code(&run(["replay", "--rtl", "built-in", path]), 0);
    let stimulus = json(&vector)["stimulus"].clone();
    (vector, stimulus)
}

#[test]
fn a_register_that_works_only_when_it_begins_as_ones_is_found() {
    let (rtl, folder) = (rtl_that_needs("&mode"), TempDir::new().unwrap());
    let (vector, stimulus) = found(rtl.path(), &folder.path().join("run"), &[]);
    assert_eq!(stimulus["before_reset"], "zeros", "shrunk to what is easiest to read");
    let vector = vector.to_str().unwrap();
    let explained = run(["explain", "--rtl", rtl.path().to_str().unwrap(), vector]);
    let printed = text(&explained);
    assert!(printed.contains("registers hold zeros before reset"), "{printed}");
    // The waveform must show the failure, not a matching case.
    assert!(printed.contains("differs:"), "{printed}");
}

#[test]
fn a_register_that_works_only_when_it_begins_as_zeros_is_found() {
    let (rtl, folder) = (rtl_that_needs("~|mode"), TempDir::new().unwrap());
    let (_, stimulus) = found(rtl.path(), &folder.path().join("run"), &["--no-waves"]);
    assert_eq!(stimulus.get("before_reset"), None, "ones are the rule and not said");
}

#[test]
fn a_register_that_fails_at_one_value_of_sixteen_is_found_with_any_number_of_threads() {
    let (rtl, folder) = (rtl_that_needs("mode != 4'b0101"), TempDir::new().unwrap());
    let out = folder.path().join("run");
    let (vector, stimulus) = found(rtl.path(), &out, &["--no-waves", "--threads", "1"]);
    let seed = stimulus["before_reset"]["random"].as_u64();
    assert!(seed.is_some_and(|seed| u32::try_from(seed).is_ok()), "{stimulus}");
    let other = folder.path().join("other");
    let (same, _) = found(rtl.path(), &other, &["--no-waves", "--threads", "3"]);
    for (one, two) in [(&vector, &same), (&out.join("results.json"), &other.join("results.json"))] {
        assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap(), "{one:?}");
    }
    // Other initial values do not fail.
    let mut changed = json(&vector);
    for before_reset in [value!("zeros"), value!("ones")] {
        changed["stimulus"]["before_reset"] = before_reset;
        let path = folder.path().join("changed.json");
        fs::write(&path, changed.to_string()).unwrap();
        assert_code(
            &run(["replay", "--rtl", rtl.path().to_str().unwrap(), path.to_str().unwrap()]),
            0,
        );
    }
}

/// A failure that needs one value of sixteen is the same in waveforms and in `explain`, where the
/// golden model's observer surrounds the design, and in a model without registered inputs.
#[test]
fn initial_values_do_not_depend_on_the_surroundings_of_the_design() {
    let (rtl, folder) = (rtl_that_needs("mode != 4'b0101"), TempDir::new().unwrap());
    let out = folder.path().join("run");
    let (vector, _) = found(rtl.path(), &out, &[]);
    let group = json(&out.join("results.json"))["failures"][0].clone();
    assert_eq!(group["notes"], value!([]), "{group}");
    let waves = files(&out.join("failures"), "fst");
    assert_eq!(waves.len(), 1, "{group}");
    let mut wave = read(&waves[0]).unwrap();
    let mode = wave.hierarchy().lookup_var(&["TOP", "cosim_top", "dut"], "mode").expect("a signal");
    let mode = wave.hierarchy()[mode].signal_ref();
    wave.load_signals(&[mode]);
    let held = wave.get_signal(mode).unwrap();
    let held: Vec<String> = held.iter_changes().map(|(_, value)| value.to_string()).collect();
    assert_eq!(held, ["0101"]);
    let path = vector.to_str().unwrap();
    let explained = text(&run(["explain", "--rtl", rtl.path().to_str().unwrap(), path]));
    assert!(explained.contains("differs:"), "{explained}");

    // A falling edge prevents registered inputs.
    let design = rtl.path().join("ReqRecvCore_Thread_2.v");
    let text_of_it = fs::read_to_string(&design).unwrap();
    let falling = "  reg seen;\n  always @(negedge clk) seen <= rst;\n  wire never = seen && fetch_cxt_egress_head == 416'h5eed;\n";
    let plain =
        text_of_it.replacen("  wire right =", &format!("{falling}  wire right = never | "), 1);
    assert_ne!(plain, text_of_it);
    fs::write(&design, plain).unwrap();
    assert_code(
        &run(["replay", "--expect-recorded", "--rtl", rtl.path().to_str().unwrap(), path]),
        0,
    );
}

/// RTL that detects whether it was compiled with tracing.
#[test]
fn waves_that_do_not_show_the_failure_are_refused_and_the_run_says_so() {
    let (rtl, folder) =
        (rtl_that_needs("(^mode | 1'b1) & $c1(\"VM_TRACE\")"), TempDir::new().unwrap());
    let out = folder.path().join("run");
    let (vector, _) = found(rtl.path(), &out, &[]);
    let group = json(&out.join("results.json"))["failures"][0].clone();
    let note = group["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("no waves: the RTL behaves differently while it is traced"), "{note}");
    assert!(files(&out.join("failures"), "fst").is_empty());
    let (rtl, trace) = (rtl.path().to_str().unwrap(), folder.path().join("waves.fst"));
    let traced = ["replay", "--rtl", rtl, vector.to_str().unwrap(), "--trace"];
    let output = run(traced.into_iter().chain([trace.to_str().unwrap()]));
    assert_code(&output, 1);
    assert!(text(&output).contains("while it is traced: the result is match"), "{}", text(&output));
    assert!(!trace.exists());
}

/// `$random` depends on the case only, not on cases that run before it or in parallel.
#[test]
fn random_numbers_of_rtl_are_the_same_at_any_number_of_threads() {
    let rtl = changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "  assign msg_offset = msg_offset_used[qp]",
        "  reg [31:0] dice;\n  always @(posedge clk) dice <= $random;\n  \
         assign msg_offset = dice[7:0] == 8'd0 ? 32'd5 : msg_offset_used[qp]",
    );
    let folder = TempDir::new().unwrap();
    let all = ["1", "2", "8"].map(|threads| {
        let out = folder.path().join(threads);
        let (rtl, path) = (rtl.path().to_str().unwrap(), out.to_str().unwrap());
        let fixed =
            ["run", "--fixes", "spec", "--scenario", "smoke", "--cases", "60", "--no-waves"];
        assert_code(
            &run([&fixed[..], &["--rtl", rtl, "--out", path, "--threads", threads, "--no-shrink"]]
                .concat()),
            1,
        );
        let results = json(&out.join("results.json"));
        // The random numbers decide: some cases fail, but not all.
        let totals = |name: &str| results["totals"][name].as_u64().unwrap();
        assert!(totals("matched") > 0 && totals("mismatched") > 0, "{}", results["totals"]);
        let mut files = vec![out.join("results.json")];
        files.extend(crate::common::files(&out.join("failures"), "json"));
        let read =
            |path: &PathBuf| (path.strip_prefix(&out).unwrap().to_owned(), fs::read(path).unwrap());
        files.iter().map(read).collect::<Vec<_>>()
    });
    assert!(all.iter().all(|files| *files == all[0]), "the same bytes");
}
