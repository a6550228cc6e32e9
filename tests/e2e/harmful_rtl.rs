//! RTL that leaves the process, breaks it or never returns: is that a verdict, with all others going on?
//!
//! One RTL does all of it, as its environment says: `HARM` is what, `HARM_AT` in which cycle, `HARM_MARK`
//! a file that names the processes it happened in.

use crate::common::{below_build, cases, code, cosim, files, json, program, project, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HARM: &str = r#"
`systemc_header
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
inline long harm_deeper(long n) {
    volatile char room[4096];
    room[n % 4096] = 1;
    return harm_deeper(n + 1) + room[0];
}
inline void harm_do(const char* what) {
    if (const char* mark = std::getenv("HARM_MARK")) {
        if (FILE* file = std::fopen(mark, "a")) {
            std::fprintf(file, "%d\n", static_cast<int>(getpid()));
            std::fclose(file);
        }
    }
    if (!std::strcmp(what, "exit")) std::exit(0);
    if (!std::strcmp(what, "_exit")) _exit(0);
    if (!std::strcmp(what, "abort")) std::abort();
    if (!std::strcmp(what, "null")) { volatile int* volatile nowhere = nullptr; *nowhere = 1; }
    if (!std::strcmp(what, "recursion")) harm_deeper(0);
    if (!std::strcmp(what, "memory")) for (;;) std::memset(std::malloc(1 << 20), 1, 1 << 20);
    if (!std::strcmp(what, "spin")) for (volatile int turn = 0;; turn = turn + 1) {}
    if (!std::strcmp(what, "stop")) std::raise(SIGSTOP);
    if (!std::strcmp(what, "close")) for (int file = 0; file <= 20; ++file) close(file);
    if (!std::strcmp(what, "print")) std::puts("a line of the RTL's"), std::fflush(stdout);
}
inline void harm(unsigned cycle) {
    const char* what = std::getenv("HARM");
    const char* at = std::getenv("HARM_AT");
    if (what && cycle == (at ? std::atoi(at) : 20)) harm_do(what);
}
inline int harm_at_load() {
    if (const char* what = std::getenv("HARM_AT_LOAD")) harm_do(what);
    return 0;
}
static const int harm_loaded = harm_at_load();
`verilog
reg [31:0] harm_cycle;
always @(posedge clk or posedge rst)
  if (rst) harm_cycle <= 32'd0; else harm_cycle <= harm_cycle + 32'd1;
always @(posedge clk) $c("harm(", harm_cycle, ");");
endmodule"#;

/// The RTL, the same for all tests, so that it is compiled once.
static RTL: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = below_build("harmful_rtl");
    fs::create_dir_all(&folder).unwrap();
    for file in files(&project().join("rtl"), "vh") {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/ReqRecvCore_Thread_2.v")).unwrap();
    fs::write(folder.join("ReqRecvCore_Thread_2.v"), top.replace("endmodule", HARM)).unwrap();
    folder
});

/// A run of a few cases of one scenario in a folder.
fn run_arguments(out: &Path) -> Vec<String> {
    let rtl = RTL.to_str().unwrap();
    let fixed =
        ["run", "--scenario", "smoke", "--fixes", "spec", "--packets", "64", "--rtl", rtl, "--out"];
    fixed.iter().map(|word| (*word).to_owned()).chain([out.to_str().unwrap().to_owned()]).collect()
}

fn run(out: &Path, environment: &[(&str, &str)], more: &[&str]) -> Output {
    let mut command = cosim();
    command.args(run_arguments(out)).args(more).envs(environment.iter().copied());
    command.output().expect("the program runs")
}

fn on_vector(command: &str, vector: &Path, environment: &[(&str, &str)]) -> Output {
    let rtl = RTL.to_str().unwrap();
    let mut program = cosim();
    program.args([command, vector.to_str().unwrap(), "--rtl", rtl, "--stuck-after", "2s"]);
    program.args(["--memory-limit", "512M"]);
    program.envs(environment.iter().copied()).output().expect("the program runs")
}

/// Every command on a model that does this harm.
fn is_a_verdict(harm: &str, expected: &str) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let environment = [("HARM", harm)];
    let output =
        run(&out, &environment, &["--cases", "2", "--stuck-after", "2s", "--memory-limit", "512M"]);
    assert_eq!(code(&output), 1, "{harm}: {}", text(&output));
    assert!(text(&output).contains(expected), "{harm}: {}", text(&output));
    assert!(text(&output).contains("FAIL"), "{harm}: {}", text(&output));
    assert_eq!(cases(&json(&out.join("results.json"))).len(), 2, "{harm}");
    let vectors = files(&out.join("failures"), "json");
    assert_eq!(vectors.len(), 2, "{harm}: each has its vector");
    for command in ["replay", "explain", "shrink"] {
        let output = on_vector(command, &vectors[0], &environment);
        assert_eq!(code(&output), 1, "{harm} {command}: {}", text(&output));
        assert!(text(&output).contains(expected), "{harm} {command}: {}", text(&output));
    }
    let output = on_vector("replay", &vectors[0], &[]);
    assert_eq!(code(&output), 0, "{harm}, gone: {}", text(&output));
}

#[test]
fn leaving_the_process_is_a_verdict() {
    is_a_verdict("exit", "crashed: process exited with code 0");
    is_a_verdict("_exit", "crashed: process exited with code 0");
}

#[test]
fn breaking_the_process_is_a_verdict() {
    is_a_verdict("abort", "crashed: process killed by SIGABRT");
    is_a_verdict("null", "crashed: process killed by SIGSEGV");
    is_a_verdict("recursion", "crashed: process killed by SIG");
}

#[test]
fn taking_all_memory_is_a_verdict() {
    is_a_verdict("memory", "crashed: process killed by SIGSEGV");
}

#[test]
fn closing_the_files_of_the_process_is_a_verdict() {
    is_a_verdict("close", "crashed: process");
}

#[test]
fn a_model_that_does_not_return_is_a_verdict() {
    is_a_verdict("spin", "hang: the model did not return");
    is_a_verdict("stop", "hang: the model did not return");
}

#[test]
fn a_library_that_leaves_the_process_while_it_is_loaded_is_a_verdict() {
    let folder = TempDir::new().unwrap();
    for (harm, expected) in [
        ("exit", "crashed: loading the model, process exited with code 0"),
        ("spin", "hang: the model did not return"),
    ] {
        let out = folder.path().join(harm);
        let environment = [("HARM_AT_LOAD", harm)];
        let output = run(
            &out,
            &environment,
            &["--cases", "2", "--stuck-after", "2s", "--memory-limit", "512M"],
        );
        assert_eq!(code(&output), 1, "{harm}: {}", text(&output));
        assert!(text(&output).contains(expected), "{harm}: {}", text(&output));
        assert_eq!(cases(&json(&out.join("results.json"))).len(), 2);
    }
}

#[test]
fn what_rtl_prints_is_no_part_of_a_report() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let environment = [("HARM", "print")];
    let output = run(&out, &environment, &["--cases", "2", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    serde_json::from_slice::<Value>(&output.stdout).expect("standard output is JSON");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("a line of the RTL's"), "{printed}");
}

/// The processes in which the harm was done.
fn marked(mark: &Path) -> Vec<String> {
    let text = fs::read_to_string(mark).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// None of the processes is there any more.
fn are_gone(processes: &[String]) {
    for process in processes {
        assert!(!Path::new("/proc").join(process).exists(), "{process} was left behind");
    }
}

#[test]
fn hangs_end_the_run_at_their_limit_and_leave_no_process() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    let environment = [("HARM", "spin"), ("HARM_MARK", mark.to_str().unwrap())];
    let limits = ["--cases", "1000", "--stuck-after", "1s", "--max-hangs", "3"];
    let output = run(&out, &environment, &limits);
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("ended by --max-hangs"), "{}", text(&output));
    assert_eq!(json(&out.join("results.json"))["ended"], "max-hangs");
    assert_eq!(cases(&json(&out.join("results.json"))).len(), 3);
    let processes = marked(&mark);
    assert!(processes.len() >= 3, "{processes:?}");
    are_gone(&processes);
}

#[test]
fn an_interruption_ends_a_run_in_which_every_model_hangs() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    // So that the model is compiled.
    assert_eq!(code(&run(&folder.path().join("good"), &[], &["--cases", "1"])), 0);
    let run = program()
        .args(run_arguments(&out))
        .args(["--threads", "2", "--stuck-after", "1h"])
        .envs([("HARM", "spin"), ("HARM_MARK", mark.to_str().unwrap())])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while marked(&mark).len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(120), "no model hangs");
        thread::yield_now();
    }
    let pid = Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
    let begin = Instant::now();
    kill_process(pid, Signal::INT).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", text(&output));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert!(text(&output).contains("INTERRUPTED"), "{}", text(&output));
    assert_eq!(json(&out.join("results.json"))["ended"], "interrupted");
    are_gone(&marked(&mark));
}
