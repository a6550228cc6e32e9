//! `cosim resume`: a run that was killed at any moment and resumed equals an undisturbed run.

use crate::common::{Place, assert_code, cases, files, is_longer, text, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

/// Starts a run, and waits until its journals have `bytes` or it ends. Returns their longest size.
fn start(place: &Place, line: &str, out: &str, bytes: u64) -> (Child, u64) {
    let mut child = place.start(&format!("{line} {out}"));
    let mut longest = 0;
    while longest < bytes && child.try_wait().expect("a child").is_none() {
        let entries = walkdir::WalkDir::new(place.path(out)).into_iter().flatten();
        let journals = entries.filter(|entry| entry.file_name() == "run.journal");
        let sizes = journals.filter_map(|entry| entry.metadata().ok());
        longest = longest.max(sizes.map(|metadata| metadata.len()).sum());
        thread::sleep(Duration::from_millis(1));
    }
    (child, longest)
}

/// Starts a command, and ends it with a signal when `file` has more than `bytes`. Returns the exit
/// code and the output.
#[track_caller]
pub fn ended(place: &Place, line: &str, signal: Signal, file: &str, bytes: u64) -> Output {
    let mut command = place.command(line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    wait_until(&mut child, || is_longer(&place.path(file), bytes));
    kill_process(Pid::from_child(&child), signal).expect("a child");
    child.wait_with_output().expect("a child")
}

/// Kills a run at several sizes of its journals, and sometimes the run that resumes it. The result
/// must equal that of an undisturbed run.
fn assert_is_the_same_after_kills(place: &Place, arguments: &str) {
    let run = format!("run --quiet {arguments} --out");
    let (mut child, longest) = start(place, &run, "whole", u64::MAX);
    let expected = child.wait().expect("a child").code().expect("it was not killed");
    let mut is_resumed = false;
    for number in 1..=5 {
        let kill_after = |line: &str, bytes: u64| {
            let mut child = start(place, line, "killed", bytes).0;
            let _ = child.kill();
            child.wait().expect("a child");
        };
        let step = longest / 6;
        kill_after(&run, number * step);
        if number % 2 == 0 {
            kill_after("resume --quiet", number * step + step / 2);
        }
        let output = place.run("resume --quiet killed");
        let printed = text(&output);
        if printed.contains("nothing to resume") {
            // The run had ended or not started.
            assert_code(&output, 2);
            if !printed.contains("has ended") {
                place.exits(expected, &format!("{run} killed --force"));
            }
        } else {
            assert_code(&output, expected);
            is_resumed |= !printed.contains(": 0 cases had ended before");
        }
        place.same_run("whole", "killed");
        place.remove("killed");
    }
    assert!(is_resumed, "no run was killed among its cases");
}

/// The end depends on the coverage before the kill.
#[test]
#[ignore = "slow: a coverage goal, reached twice"]
fn a_killed_run_with_a_coverage_goal_resumes_to_the_same_result() {
    assert_is_the_same_after_kills(&Place::new(), "--block qp,dll --until-coverage 100");
}

/// Failures that are shrunk, many that are only counted, and signatures that coincide.
#[test]
fn a_killed_red_run_resumes_to_the_same_result() {
    let (from, to) = ("? rq_offset_new :", "? rq_offset_new ^ {23'd0, qp[0]} :");
    let place = Place::with_change("ReqRecvCore_Thread_2.v", from, to);
    let arguments = "--rtl rtl --fixes spec --no-waves --cases";
    // Compile the model first.
    place.run(&format!("run {arguments} 0 --out first"));
    assert_is_the_same_after_kills(&place, &format!("{arguments} 12"));
}

const PARTIAL: &str = "out/results.json.partial";

/// An interrupted run writes all results and can be resumed. Limits include counts from before.
#[test]
fn an_interrupted_run_is_resumed_within_its_limits() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let run = "run --rtl rtl --no-shrink --no-waves --max-failures 3000 --out";
    place.exits(1, &format!("{run} whole"));
    let output = ended(&place, &format!("{run} out"), Signal::INT, PARTIAL, 4000);
    assert_code(&output, 130);
    let printed = text(&output);
    assert!(printed.starts_with("INTERRUPTED"), "{printed}");
    let last_line = printed.trim_end().lines().last().unwrap();
    assert!(last_line.starts_with("  next: ") && last_line.contains(" resume "), "{printed}");
    let results = "out/results.json";
    let partly = place.json(results);
    assert_eq!((&partly["ended"], &partly["passed"]), (&"interrupted".into(), &false.into()));
    assert_eq!(cases(&partly).len(), partly["totals"]["cases"]);
    assert!(place.has_file("out/timing.json"));
    // Edited results are invalid input, and nothing changes.
    let written = place.text(results);
    place.edit(results, "\"seed\":1", "\"seed\":2");
    let edited = place.text(results);
    place.exits(2, "resume out");
    assert_eq!(place.text(results), edited);
    place.write(results, &written);
    place.exits(1, "resume out");
    place.same_run("whole", "out");
    place.fails("E0224", "", "resume out");
}

/// While a run writes its directory, no other command does. If it is killed, whole lines are left.
#[test]
fn a_run_of_something_else_is_not_resumed() {
    let place = Place::with_change("QpStateCtrl.sv", "endmodule", "// as it was\nendmodule");
    let rtl = "rtl/QpStateCtrl.sv";
    let mut child = place.start("run --block qp --rtl rtl --time 10m --out out");
    wait_until(&mut child, || is_longer(&place.path(PARTIAL), 4000));
    place.fails("E0603", "", "resume out");
    for more in ["qp", "qp --force", "dll"] {
        let printed = place.exits(2, &format!("run --cases 1 --out out --block {more}"));
        let holder = format!("is being written by another run, process {}", child.id());
        assert!(printed.contains(&holder) && printed.contains("--time 10m"), "{printed}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let read_journal = || fs::read(place.path("out/run.journal")).unwrap();
    let journal = read_journal();
    place.edit(rtl, "as it was", "as it is");
    place.fails("E0224", "rtl was", "resume out");
    assert_eq!(read_journal(), journal, "nothing has changed");
    place.edit(rtl, "as it is", "as it was");
    // The partial results are edited: seed, RTL, packets.
    let written = place.text(PARTIAL);
    let rows = written.lines().skip_while(|line| *line != "\"cases\": [").skip(1);
    for row in rows.map(|line| line.trim_end_matches(',')) {
        serde_json::from_str::<Value>(row).unwrap_or_else(|error| panic!("{error}: {row}"));
    }
    for (from, to) in [
        ("\"seed\":1", "\"seed\":2"),
        ("\"rtl\":\"", "\"rtl\":\"0"),
        ("\"packets\":null", "\"packets\":7"),
    ] {
        place.edit(PARTIAL, from, to);
        place.exits(2, "resume out");
        place.write(PARTIAL, &written);
    }
    place.write(PARTIAL, &written[..100]);
    place.exits(2, "resume out");
    place.write(PARTIAL, &written);
    assert_eq!(read_journal(), journal, "nothing has changed");
    // A truncated end of the journal is tolerated, a missing beginning is not.
    fs::write(place.path("out/run.journal"), &journal[..100]).unwrap();
    place.fails("E0224", "run.journal: ", "resume out");
    for line in ["rtl", "out --seed 2", "out --cases 1", "out --rtl out"] {
        place.exits(2, &format!("resume {line}"));
    }
    assert!(files(&place.path("out"), "json").is_empty(), "no results");
    let run = "run --block qp --cases 1 --out out";
    place.fails("E0602", "", run);
    place.exits(0, &format!("{run} --force"));
    assert!(!place.has_file(PARTIAL));
}

/// A journal names a command: its RTL, its history file, its folder.
#[test]
fn a_run_of_another_user_is_resumed_only_if_it_is_trusted() {
    let place = Place::new();
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    let run = "run --block qp --time 10m --history history.jsonl --out out";
    ended(&place, run, Signal::KILL, PARTIAL, 4000);
    let before = size("out/run.journal");
    let cache = format!("COSIM_CACHE={}", place.path("cache").display());
    let by_another_user = format!("{cache} resume out");
    place.fails("E0224", "--recorded-rtl", &by_another_user);
    place.prints(2, &["history.jsonl"], &by_another_user);
    assert!(
        !place.has_file("history.jsonl") && size("out/run.journal") == before,
        "nothing was obeyed"
    );
    for line in [&*format!("{by_another_user} --recorded-rtl"), "resume out"] {
        ended(&place, line, Signal::KILL, PARTIAL, size(PARTIAL) + 4000);
    }
}
