//! `cosim resume`: a run that was killed at any moment and resumed equals an undisturbed run.

use crate::common::{
    assert_code, assert_error, assert_error_at, assert_same_run, changed_rtl, code, files,
    is_longer, of_a_block, patched_rtl, program, project, run, text, wait_until,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--quiet", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

fn resume(out: &Path) -> Output {
    run(["resume", "--quiet", out.to_str().unwrap()])
}

/// A reproducible sequence of pseudo-random times.
struct Moments(u64);

impl Moments {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        most.mul_f64((self.0 >> 40) as f64 / (1u64 << 24) as f64)
    }
}

fn start(arguments: &[&str]) -> Child {
    let mut command = program();
    command.args(of_a_block(arguments)).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program runs")
}

/// Waits until a run writes its journal or ends.
fn wait_for_journal(child: &mut Child, out: &Path) {
    let writes = || {
        walkdir::WalkDir::new(out)
            .into_iter()
            .flatten()
            .any(|entry| entry.file_name() == "run.journal")
    };
    while !writes() && child.try_wait().expect("a child").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Starts the program and kills it `after` this time from the first journal entry.
fn killed(arguments: &[&str], out: &Path, after: Duration) {
    let mut child = start(arguments);
    wait_for_journal(&mut child, out);
    thread::sleep(after);
    let _ = child.kill();
    child.wait().expect("a child");
}

/// Kills a run at some moment, resumes it, kills it again, and so on. The final result must equal
/// that of an undisturbed run.
///
/// The moments are scaled to the duration of the undisturbed run, which varies on a busy machine.
/// So many moments are tried that some fall within the cases.
fn assert_is_the_same_after_kills(arguments: &[&str], kills: u32, seed: u64) {
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole");
    let place = whole.to_str().unwrap();
    let mut child = start(&[&["run", "--quiet", "--out", place], arguments].concat());
    wait_for_journal(&mut child, &whole);
    let begin = Instant::now();
    let expected = child.wait().expect("a child").code().expect("it was not killed");
    let mut time = begin.elapsed();
    let mut moments = Moments(seed);
    let mut is_gone_on = false;
    for number in 0.. {
        if number >= kills && (is_gone_on || number >= 10 * kills) {
            break;
        }
        let out = folder.path().join(format!("killed-{number}"));
        let place = out.to_str().unwrap();
        let first = [&["run", "--quiet", "--out", place], arguments].concat();
        killed(&first, &out, moments.below(time));
        if number % 2 == 1 {
            // The journal of the first process exists, so this one may be killed before it starts.
            killed(&["resume", "--quiet", place], &out, moments.below(time));
        }
        let output = resume(&out);
        let printed = text(&output);
        if printed.contains("nothing to resume") {
            // The run had ended or not started.
            assert_eq!(code(&output), 2, "{printed}");
            if printed.contains("has ended") {
                time = time.mul_f64(0.8);
            } else {
                time = time.mul_f64(1.2);
                let arguments = [arguments, &["--force"]].concat();
                assert_eq!(code(&run_into(&out, &arguments)), expected, "{printed}");
            }
        } else {
            assert_eq!(code(&output), expected, "{printed}");
            is_gone_on |= !printed.contains(": 0 cases had ended before");
        }
        assert_same_run(&whole, &out);
        fs::remove_dir_all(&out).unwrap();
    }
    assert!(is_gone_on, "no run was killed among its cases");
}

/// Number of kills: a few by default, more with COSIM_TEST_KILLS=100.
fn kills() -> u32 {
    std::env::var("COSIM_TEST_KILLS").map_or(4, |number| number.parse().unwrap())
}

/// The end depends on the coverage before the kill.
#[test]
#[ignore = "slow: a coverage goal, reached twice"]
fn a_killed_run_with_a_coverage_goal_resumes_to_the_same_result() {
    let arguments = ["--block", "qp,dll", "--until-coverage", "100"];
    assert_is_the_same_after_kills(&arguments, kills(), 3);
}

/// Failures that are shrunk, many that are only counted, and signatures that coincide.
#[test]
fn a_killed_red_run_resumes_to_the_same_result() {
    let (from, to) = ("? rq_offset_new :", "? rq_offset_new ^ {23'd0, qp[0]} :");
    let wrong = changed_rtl("ReqRecvCore_Thread_2.v", from, to);
    let rtl = wrong.path().to_str().unwrap();
    let arguments = ["--rtl", rtl, "--cases", "12", "--fixes", "spec", "--no-waves"];
    // Compile the model first.
    let folder = TempDir::new().unwrap();
    run_into(folder.path(), &[&arguments[..], &["--cases", "0"]].concat());
    assert_is_the_same_after_kills(&arguments, kills(), 2);
}

/// An interrupted run writes all results and can be resumed. Limits include counts from before.
#[test]
fn an_interrupted_run_is_resumed_within_its_limits() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = wrong.path().join("rtl");
    let arguments =
        ["--rtl", rtl.to_str().unwrap(), "--no-shrink", "--no-waves", "--max-failures", "3000"];
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole");
    assert_eq!(code(&run_into(&whole, &arguments)), 1);
    let out = folder.path().join("out");
    let place = out.to_str().unwrap();
    let mut child = start(&[&["run", "--quiet", "--out", place], &arguments[..]].concat());
    wait_until(&mut child, || is_longer(&out.join("results.json.partial"), 4000));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Edited results are invalid input, and nothing changes.
    let results = out.join("results.json");
    let written = fs::read_to_string(&results).unwrap();
    let edited = written.replacen("\"seed\":1", "\"seed\":2", 1);
    assert_ne!(edited, written);
    fs::write(&results, &edited).unwrap();
    assert_eq!(code(&resume(&out)), 2);
    assert_eq!(fs::read_to_string(&results).unwrap(), edited);
    fs::write(&results, written).unwrap();
    assert_code(&resume(&out), 1);
    assert_same_run(&whole, &out);
    let again = resume(&out);
    assert_error(&again, "E0224");
}

#[test]
fn a_run_of_something_else_is_not_resumed() {
    let rtl = changed_rtl("QpStateCtrl.sv", "endmodule", "// as it was\nendmodule");
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let place = out.to_str().unwrap();
    let given = rtl.path().to_str().unwrap();
    let arguments = ["run", "--block", "qp", "--rtl", given, "--time", "1h", "--out", place];
    let mut child = start(&arguments);
    wait_until(&mut child, || is_longer(&out.join("results.json.partial"), 4000));
    let busy = resume(&out);
    assert_error(&busy, "E0603");
    child.kill().unwrap();
    child.wait().unwrap();
    let path = rtl.path().join("QpStateCtrl.sv");
    let verilog = fs::read_to_string(&path).unwrap();
    fs::write(&path, verilog.replace("as it was", "as it is")).unwrap();
    let journal = fs::read(out.join("run.journal")).unwrap();
    let output = resume(&out);
    assert_error_at(&output, "E0224", "rtl was");
    assert_eq!(fs::read(out.join("run.journal")).unwrap(), journal, "nothing has changed");
    fs::write(&path, &verilog).unwrap();
    // The partial results are edited: seed, RTL, packets.
    let partial = out.join("results.json.partial");
    let written = fs::read_to_string(&partial).unwrap();
    for (from, to) in [
        ("\"seed\":1", "\"seed\":2"),
        ("\"rtl\":\"", "\"rtl\":\"0"),
        ("\"packets\":null", "\"packets\":7"),
    ] {
        let edited = written.replacen(from, to, 1);
        assert_ne!(edited, written, "{from}");
        fs::write(&partial, edited).unwrap();
        let output = resume(&out);
        assert_eq!(code(&output), 2, "{from}: {}", text(&output));
    }
    fs::write(&partial, &written[..100]).unwrap();
    assert_eq!(code(&resume(&out)), 2);
    fs::write(&partial, &written).unwrap();
    assert_eq!(fs::read(out.join("run.journal")).unwrap(), journal, "nothing has changed");
    // A truncated end of the journal is tolerated, a missing beginning is not.
    fs::write(out.join("run.journal"), &journal[..100]).unwrap();
    let output = resume(&out);
    assert_error_at(&output, "E0224", "run.journal: ");
    assert_code(&resume(rtl.path()), 2);
    for more in [["--seed", "2"], ["--cases", "1"], ["--rtl", place]] {
        assert_code(&run(["resume", place].iter().chain(&more)), 2);
    }
    assert!(files(&out, "json").is_empty(), "no results");
}

/// A journal names a command: its RTL, its history file, its folder.
#[test]
fn a_run_of_another_user_is_resumed_only_if_it_is_trusted() {
    let folder = TempDir::new().unwrap();
    let (out, history) = (folder.path().join("out"), folder.path().join("history.db"));
    let place = out.to_str().unwrap();
    let arguments = ["run", "--block", "qp", "--time", "1h", "--out", place];
    let mut child = start(&[&arguments[..], &["--history", history.to_str().unwrap()]].concat());
    wait_until(&mut child, || is_longer(&out.join("results.json.partial"), 4000));
    child.kill().unwrap();
    child.wait().unwrap();
    let size = || fs::metadata(out.join("run.journal")).unwrap().len();
    let before = size();
    // The cache of another user.
    let cache = folder.path().join("cache");
    let resume = |more: &[&str]| {
        let mut command = program();
        command.env("COSIM_CACHE", &cache).args(["resume", place]).args(more);
        command
    };
    let output = resume(&[]).output().unwrap();
    assert_error_at(&output, "E0224", "--recorded-rtl");
    let printed = text(&output);
    assert!(printed.contains(history.to_str().unwrap()), "the command is shown: {printed}");
    assert!(!history.exists() && size() == before, "nothing was obeyed");
    for is_own in [false, true] {
        let mut command = if is_own { program() } else { resume(&["--recorded-rtl"]) };
        if is_own {
            command.args(["resume", place]);
        }
        let before = fs::metadata(out.join("results.json.partial")).unwrap().len();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until(&mut child, || is_longer(&out.join("results.json.partial"), before + 4000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
