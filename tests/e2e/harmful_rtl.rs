//! RTL that ends, corrupts or hangs its process: each is a verdict, and all other cases run.
//!
//! One RTL contains all kinds of harm and is controlled by its environment. `HARM` selects the
//! kind, `HARM_AT` the cycle, `HARM_TURN` the n-th model of the process that reaches the cycle, and
//! `HARM_MARK` a file that lists the affected processes. With `HARM_ONCE`, it happens only in the
//! process that creates this file. `HARM=escape` prints what the RTL may do to the machine. With
//! `HARM_BUG`, it also has a bug: from cycle 60 on, a key differs. With `HARM=slow`, each
//! cycle is slow.

mod interruption;
mod lost;
mod sandbox;

use crate::common::{
    assert_code, below_build, cases, code, cosim, files, json, program, project, text, wait_until,
};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempDir};

const HARM: &str = r#"
`systemc_header
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
inline long harm_deeper(long n) {
    volatile char room[4096];
    room[n % 4096] = 1;
    return harm_deeper(n + 1) + room[0];
}
inline void harm_escape() {
    FILE* const written = std::fopen("harm_escape", "w");
    if (written) std::fclose(written);
    FILE* const nothing = std::fopen("/dev/null", "w");
    if (nothing) std::fclose(nothing);
    FILE* const read = std::fopen("/proc/version", "r");
    if (read) std::fclose(read);
    const int network = socket(AF_INET, SOCK_STREAM, 0);
    if (network >= 0) close(network);
    const int forked = fork();
    if (forked == 0) _exit(0);
    if (forked > 0) waitpid(forked, nullptr, 0);
    const bool mode = chmod("harm_mode", 0600) == 0;
    const bool removed = unlink("harm_removed") == 0;
    const bool folder = mkdir("harm_folder", 0700) == 0;
    const std::string cache = std::getenv("COSIM_CACHE");
    const int cached = open((cache + "/harm").c_str(), O_CREAT | O_WRONLY, 0600);
    if (cached >= 0) unlink((cache + "/harm").c_str());
    std::fprintf(stderr, "escape: write=%d remove=%d folder=%d cache=%d mode=%d system=%d socket=%d fork=%d signal=%d null=%d read=%d\n",
                 written != nullptr, removed, folder, cached >= 0, mode, std::system("exit 0") == 0, network >= 0, forked > 0,
                 kill(getppid(), 0) == 0, nothing != nullptr, read != nullptr);
}
inline void harm_do(const char* what) {
    if (const char* once = std::getenv("HARM_ONCE")) {
        const int file = open(once, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (file < 0) return;
        dprintf(file, "%d\n", static_cast<int>(getpid()));
        close(file);
    }
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
    if (!std::strcmp(what, "kill")) std::raise(SIGKILL);
    if (!std::strcmp(what, "term")) std::raise(SIGTERM);
    if (!std::strcmp(what, "escape")) harm_escape();
    if (!std::strcmp(what, "close")) for (int file = 0; file <= 20; ++file) close(file);
    if (!std::strcmp(what, "log")) {
        for (const int file : {1, 2}) if (ftruncate(file, 0) == 0) std::abort();
        for (int line = 0; line < 1000; ++line) std::fputs("\033[31mPASS  forged\n", stderr);
        std::fputs("100%\rPASS  forged", stderr);
    }
    // The message that a session is open, to every pipe of the process.
    if (!std::strcmp(what, "forge")) for (int file = 3; file < 20; ++file) if (write(file, "\1\0\0\0\0", 5)) {}
    if (!std::strcmp(what, "print")) std::puts("a line of the RTL's"), std::fflush(stdout);
}
inline void harm_think() {
    for (const clock_t until = std::clock() + CLOCKS_PER_SEC / 7; std::clock() < until;) {}
}
inline void harm(unsigned cycle) {
    const char* what = std::getenv("HARM");
    const char* at = std::getenv("HARM_AT");
    const char* turn = std::getenv("HARM_TURN");
    static int turns = 0;
    if (what && !std::strcmp(what, "slow")) harm_think();
    if (what && cycle == (at ? std::atoi(at) : 20) && ++turns >= (turn ? std::atoi(turn) : 0)) harm_do(what);
}
inline int harm_bug() {
    static const bool is_there = std::getenv("HARM_BUG") != nullptr;
    return is_there;
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
always @(posedge clk) harm_bug <= $c1("harm_bug()") && harm_cycle > 32'd60;
endmodule"#;

/// The line with the bug.
const KEY: &str = "fetch_mr_ingress_head[MR_HEAD_KEY +: 32]            = mr_key;";
/// Where the bug's register is declared.
const BEFORE: &str = "  assign msg_offset = msg_offset_used[qp]";

/// The RTL, shared by all tests so that it is compiled once. Each test is a process that writes it.
/// Files are replaced atomically, so that other tests never read a partial one.
static RTL: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = below_build("harmful_rtl");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &OsStr, text: &str| {
        let mut file = NamedTempFile::new_in(folder.parent().unwrap()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.persist(folder.join(name)).unwrap();
    };
    for file in files(&project().join("rtl/thread2"), "vh") {
        write(file.file_name().unwrap(), &fs::read_to_string(&file).unwrap());
    }
    let top = fs::read_to_string(project().join("rtl/thread2/ReqRecvCore_Thread_2.v")).unwrap();
    assert!(top.contains(KEY) && top.contains(BEFORE), "the RTL has other lines now");
    let top = top
        .replace("endmodule", HARM)
        .replace(BEFORE, &format!("  reg harm_bug;\n{BEFORE}"))
        .replace(KEY, &KEY.replace("mr_key", "mr_key ^ {31'd0, harm_bug}"));
    write("ReqRecvCore_Thread_2.v".as_ref(), &top);
    folder
});

/// Arguments of a run of a few cases of one scenario into a folder.
fn run_arguments(out: &Path) -> Vec<String> {
    let rtl = RTL.to_str().unwrap();
    let fixed = ["run", "--block", "thread2", "--scenario", "smoke", "--fixes", "spec"];
    let rest = ["--packets", "64", "--rtl", rtl, "--out"];
    fixed
        .iter()
        .chain(&rest)
        .map(|word| (*word).to_owned())
        .chain([out.to_str().unwrap().to_owned()])
        .collect()
}

fn run(out: &Path, environment: &[(&str, &str)], more: &[&str]) -> Output {
    let mut command = cosim();
    command.args(run_arguments(out)).args(more).args(marks(environment));
    command.envs(environment.iter().copied()).output().expect("the program runs")
}

/// RTL that writes files cannot run in a sandbox.
fn marks(environment: &[(&str, &str)]) -> Option<&'static str> {
    let writes = environment.iter().any(|(name, _)| ["HARM_MARK", "HARM_ONCE"].contains(name));
    writes.then_some("--no-sandbox")
}

/// The hang timeout: short if a hang is expected, otherwise long enough for a busy machine.
fn progress_timeout(environment: &[(&str, &str)]) -> &'static str {
    let hangs = environment.iter().any(|(_, harm)| ["spin", "stop"].contains(harm));
    if hangs { "1s" } else { "5m" }
}

fn on_vector(command: &str, vector: &Path, environment: &[(&str, &str)]) -> Output {
    let rtl = RTL.to_str().unwrap();
    let mut program = cosim();
    program.args([command, vector.to_str().unwrap(), "--rtl", rtl]);
    program.args(["--stuck-after", progress_timeout(environment), "--memory-limit", "512M"]);
    program.envs(environment.iter().copied()).output().expect("the program runs")
}

/// Checks every command on a model with this harm.
fn is_a_verdict(harm: &str, expected: &str) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let environment = [("HARM", harm)];
    let limits = ["--stuck-after", progress_timeout(&environment), "--memory-limit", "512M"];
    let output = run(&out, &environment, &[&["--cases", "2"][..], &limits].concat());
    assert_eq!(code(&output), 1, "{harm}: {}", text(&output));
    assert!(text(&output).contains(expected), "{harm}: {}", text(&output));
    assert!(text(&output).contains("FAIL"), "{harm}: {}", text(&output));
    assert_eq!(cases(&json(&out.join("results.json"))).len(), 2, "{harm}");
    let vectors = files(&out.join("failures"), "json");
    let (originals, vectors): (Vec<PathBuf>, Vec<PathBuf>) =
        vectors.into_iter().partition(|path| path.to_str().unwrap().ends_with(".original.json"));
    assert_eq!(vectors.len(), 2, "{harm}: each has its vector");
    // Hangs are not shrunk, because each candidate would take the full timeout.
    let is_shrunk = !expected.starts_with("hang");
    assert_eq!(originals.len(), usize::from(is_shrunk), "{harm}: the first is shrunk");
    if is_shrunk {
        let small = json(&originals[0].with_extension("").with_extension("json"));
        let packets = small["stimulus"]["traffic"]["packets"].as_array().unwrap();
        // A packet takes at least three cycles.
        assert!(packets.len() < 8, "{harm} comes in cycle 20, {} packets", packets.len());
    }
    for (command, expected_code) in
        [("replay", 1), ("explain", 1), ("shrink", u8::from(!is_shrunk))]
    {
        let output = on_vector(command, &vectors[0], &environment);
        assert_eq!(code(&output), i32::from(expected_code), "{harm} {command}: {}", text(&output));
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

/// A batch of 32 cycles takes several times the limit.
#[test]
fn a_model_of_a_few_cycles_per_second_is_no_hang() {
    let vector = project().join("vectors/thread2/raw-ready-glitches-of-a-send.json");
    let rtl = RTL.to_str().unwrap();
    let mut command = cosim();
    command.args(["replay", vector.to_str().unwrap(), "--rtl", rtl, "--stuck-after", "1s"]);
    assert_code(&command.args(["--fixes", "spec"]).env("HARM", "slow").output().unwrap(), 0);
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
        let limits = ["--stuck-after", progress_timeout(&environment), "--memory-limit", "512M"];
        let output = run(&out, &environment, &[&["--cases", "2"][..], &limits].concat());
        assert_eq!(code(&output), 1, "{harm}: {}", text(&output));
        assert!(text(&output).contains(expected), "{harm}: {}", text(&output));
        assert_eq!(cases(&json(&out.join("results.json"))).len(), 2);
    }
}

#[test]
fn output_of_the_rtl_is_not_in_the_report() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let environment = [("HARM", "print")];
    let output = run(&out, &environment, &["--cases", "2", "--format", "json"]);
    assert_code(&output, 0);
    serde_json::from_slice::<Value>(&output.stdout).expect("standard output is JSON");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("a line of the RTL's"), "{printed}");
}

/// RTL cannot erase the log, colour it, or print a line that looks like one of the program.
#[test]
fn rtl_cannot_change_the_log() {
    let folder = TempDir::new().unwrap();
    for (name, sandbox) in [("in", None), ("without", Some("--no-sandbox"))] {
        let log = folder.path().join(format!("{name}.log"));
        fs::write(&log, "before\n").unwrap();
        let mut command = program();
        command.args(run_arguments(&folder.path().join(name))).args(["--cases", "2"]);
        command.args(sandbox).env("HARM", "log");
        command.stdout(Stdio::null());
        command.stderr(fs::OpenOptions::new().append(true).open(&log).unwrap());
        assert!(command.status().unwrap().success());
        let log = fs::read_to_string(&log).unwrap();
        assert!(log.starts_with("before\n"), "{log}");
        assert!(!log.contains(['\x1b', '\r']), "{log}");
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("forged")).collect();
        assert!(lines.iter().all(|line| line.starts_with("rtl: ")), "{log}");
        assert_eq!(lines.len(), 2, "repeated lines are folded: {log}");
    }
}

/// A message that the worker was not asked for is no outcome, and ends it.
#[test]
fn a_forged_message_ends_the_worker() {
    let folder = TempDir::new().unwrap();
    let output =
        run(&folder.path().join("run"), &[("HARM", "forge")], &["--cases", "2", "--no-shrink"]);
    assert_code(&output, 1);
    let corrupted = "crashed: process corrupted its channel";
    assert!(text(&output).contains(corrupted), "{}", text(&output));
}

/// The processes in which the harm occurred.
fn marked(mark: &Path) -> Vec<String> {
    let text = fs::read_to_string(mark).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether a process has ended; a zombie counts.
fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    stat.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

/// Checks that all of the processes have ended.
fn are_gone(processes: &[String]) {
    for process in processes {
        assert!(is_gone(process), "{process} was left behind");
    }
}

/// The children of a process.
fn children(parent: u32) -> Vec<String> {
    let of_parent = |stat: &str| {
        let rest = stat.rsplit(')').next()?;
        (rest.split_whitespace().nth(1)? == parent.to_string()).then_some(())
    };
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        of_parent(&fs::read_to_string(path.join("stat")).ok()?)?;
        Some(path.file_name()?.to_str()?.to_owned())
    });
    processes.collect()
}

/// Waits until `is_so`.
#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} for two minutes");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a run of the RTL whose model is compiled already.
fn start(out: &Path, environment: &[(&str, &str)], more: &[&str]) -> Child {
    let folder = TempDir::new().unwrap();
    assert_eq!(code(&run(&folder.path().join("good"), &[], &["--cases", "1"])), 0);
    program()
        .args(run_arguments(out))
        .args(more)
        .args(marks(environment))
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn hangs_end_the_run_at_their_limit_and_leave_no_process() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    let environment = [("HARM", "spin"), ("HARM_MARK", mark.to_str().unwrap())];
    let limits = ["--cases", "1000", "--stuck-after", "1s", "--max-hangs", "3"];
    let output = run(&out, &environment, &limits);
    assert_code(&output, 1);
    assert!(text(&output).contains("stopped by --max-hangs"), "{}", text(&output));
    assert_eq!(json(&out.join("results.json"))["ended"], "max-hangs");
    assert_eq!(cases(&json(&out.join("results.json"))).len(), 3);
    let processes = marked(&mark);
    assert!(processes.len() >= 3, "{processes:?}");
    are_gone(&processes);
}

const ENDLESS: [&str; 4] = ["--threads", "2", "--stuck-after", "1h"];

#[test]
fn an_interruption_ends_a_run_in_which_every_model_hangs() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    let environment = [("HARM", "spin"), ("HARM_MARK", mark.to_str().unwrap())];
    let mut run = start(&out, &environment, &ENDLESS);
    wait_until(&mut run, || marked(&mark).len() == 2);
    let begin = Instant::now();
    send(&run, Signal::INT);
    let output = run.wait_with_output().unwrap();
    assert_code(&output, 130);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(text(&output).contains("INTERRUPTED"), "{}", text(&output));
    assert_eq!(json(&out.join("results.json"))["ended"], "interrupted");
    are_gone(&marked(&mark));
}

/// The system ends the workers of a killed program, even stopped ones.
#[test]
fn no_worker_outlives_a_killed_program() {
    for harm in ["spin", "stop"] {
        let folder = TempDir::new().unwrap();
        let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
        let environment = [("HARM", harm), ("HARM_MARK", mark.to_str().unwrap())];
        let mut run = start(&out, &environment, &ENDLESS);
        wait_until(&mut run, || marked(&mark).len() == 2);
        let workers = children(run.id());
        assert!(marked(&mark).iter().all(|worker| workers.contains(worker)), "{workers:?}");
        run.kill().unwrap();
        run.wait().unwrap();
        wait_for("workers stay", || workers.iter().all(|worker| is_gone(worker)));
    }
}

/// Two signals at the same time: whichever ends the program, no worker remains, and the results of
/// a run are kept.
#[test]
fn a_second_interruption_leaves_no_worker() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    let environment = [("HARM", "stop"), ("HARM_MARK", mark.to_str().unwrap())];
    let mut run = start(&out, &environment, &ENDLESS);
    wait_until(&mut run, || marked(&mark).len() == 2);
    let workers = children(run.id());
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&run, signal);
    }
    assert_code(&run.wait_with_output().unwrap(), 130);
    wait_for("workers stay", || workers.iter().all(|worker| is_gone(worker)));
    assert!(["results.json", "results.json.partial"].iter().any(|name| out.join(name).exists()));
}

/// A program that blocks on its output ends at the second signal.
#[test]
fn a_second_interruption_ends_a_program_that_cannot_end_by_itself() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let (_reader, mut writer) = pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    loop {
        match writer.write(&[0; 64]) {
            Ok(written) => assert!(written > 0),
            Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    ioctl_fionbio(&writer, false).unwrap();
    let mut run = program()
        .args(["run", "--block", "thread2", "--time", "100h", "--scenario", "smoke", "--out"])
        .arg(&out)
        .stdout(writer)
        .spawn()
        .unwrap();
    wait_until(&mut run, || crate::common::is_longer(&out.join("results.json.partial"), 2000));
    let workers = children(run.id());
    assert!(!workers.is_empty());
    send(&run, Signal::INT);
    let results = out.join("results.json");
    wait_until(&mut run, || results.exists());
    assert_eq!(json(&results)["ended"], "interrupted");
    // It has started to print and is blocked.
    assert_eq!(run.try_wait().unwrap(), None);
    send(&run, Signal::INT);
    wait_for("the program goes on", || run.try_wait().unwrap().is_some());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    wait_for("workers stay", || workers.iter().all(|worker| is_gone(worker)));
}

/// The model hangs after the shrink has made the vector smaller: that vector is kept.
#[test]
fn an_interrupted_shrink_keeps_its_best_vector() {
    let folder = TempDir::new().unwrap();
    let (out, mark) = (folder.path().join("run"), folder.path().join("mark"));
    // The run's only case is one process. In the process of the shrink, the fortieth model hangs.
    let environment = [
        ("HARM", "spin"),
        ("HARM_AT", "2"),
        ("HARM_TURN", "40"),
        ("HARM_BUG", "1"),
        ("HARM_MARK", mark.to_str().unwrap()),
    ];
    let more = ["--cases", "1", "--no-waves", "--stuck-after", "1h"];
    let mut run = start(&out, &environment, &more);
    wait_until(&mut run, || !marked(&mark).is_empty());
    send(&run, Signal::INT);
    assert_code(&run.wait_with_output().unwrap(), 130);
    are_gone(&marked(&mark));
    let results = json(&out.join("results.json"));
    assert_eq!(results["ended"], "interrupted");
    let group = &results["failures"][0];
    let packets = |name: &str| {
        let vector = json(&out.join(group[name].as_str().unwrap()));
        vector["stimulus"]["traffic"]["packets"].as_array().unwrap().len()
    };
    assert_eq!(packets("original"), 64, "as found: {group}");
    assert!(packets("vector") < 64, "shrunk: {group}");
    let vector = out.join(group["vector"].as_str().unwrap());
    let again = on_vector("replay", &vector, &[("HARM_BUG", "1")]);
    assert_code(&again, 1);
    assert!(text(&again).contains("(as recorded)"), "{}", text(&again));
}

/// Cases longer than the cycle of the harm crash, and the others match, with any number of threads.
#[test]
fn cases_that_crash_are_named_with_a_vector_each_and_all_others_match() {
    let folder = TempDir::new().unwrap();
    let good = folder.path().join("good");
    assert_eq!(code(&run(&good, &[], &["--cases", "40"])), 0);
    let good = cases(&json(&good.join("results.json")));
    let mut lengths: Vec<u64> = good.values().map(|case| case.cycles).collect();
    lengths.sort_unstable();
    // A cycle far from the end of every case. At most twenty cases have a vector of their own.
    let gap = lengths[21..37].windows(2).max_by_key(|two| two[1] - two[0]).expect("many cases");
    let at = gap[0].midpoint(gap[1]);
    assert!(gap[1] - gap[0] >= 4, "no gap between the lengths of cases: {lengths:?}");
    let long: BTreeSet<&str> =
        good.iter().filter(|(_, case)| case.cycles > at).map(|(name, _)| name.as_str()).collect();
    assert!((1..20).contains(&long.len()), "{long:?}");
    let mut results = Vec::new();
    for threads in ["1", "2", "5"] {
        let out = folder.path().join(threads);
        let at = at.to_string();
        let environment = [("HARM", "exit"), ("HARM_AT", at.as_str())];
        assert_code(&run(&out, &environment, &["--cases", "40", "--threads", threads]), 1);
        results.push(fs::read(out.join("results.json")).unwrap());
        let cases = cases(&json(&out.join("results.json")));
        assert_eq!(cases.keys().collect::<Vec<_>>(), good.keys().collect::<Vec<_>>());
        for (name, case) in &cases {
            let expected = if long.contains(name.as_str()) { "crashed" } else { "match" };
            assert_eq!(case.verdict, expected, "{name}: {case:?} {:?}", good[name]);
        }
        let vectors: Vec<Value> =
            files(&out.join("failures"), "json").iter().map(|path| json(path)).collect();
        let named: BTreeSet<&str> =
            vectors.iter().map(|vector| vector["origin"]["case"].as_str().unwrap()).collect();
        assert_eq!(named, long, "each has its vector");
        let recorded = "process exited with code 0";
        assert!(vectors.iter().all(|vector| vector["recorded"]["message"] == recorded));
    }
    assert!(results.iter().all(|result| *result == results[0]), "the same bytes");
}
