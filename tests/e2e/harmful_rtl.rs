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
    Place, assert_code, assert_contains, below_build, cases, corpus, files, interrupted, json,
    project, source, text, wait_until,
};
use rayon::prelude::*;
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

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
    if (!std::strcmp(what, "print")) std::puts("\033[31ma line of the RTL's\r"), std::fflush(stdout);
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
        write(file.file_name().unwrap(), &source(&file));
    }
    let top = source("rtl/thread2/ReqRecvCore_Thread_2.v");
    assert!(top.contains(KEY) && top.contains(BEFORE), "the RTL has other lines now");
    let top = top
        .replace("endmodule", HARM)
        .replace(BEFORE, &format!("  reg harm_bug;\n{BEFORE}"))
        .replace(KEY, &KEY.replace("mr_key", "mr_key ^ {31'd0, harm_bug}"));
    write("ReqRecvCore_Thread_2.v".as_ref(), &top);
    folder
});

/// A line, which begins with variables that select a harm, on that RTL. RTL that writes files
/// cannot run in a sandbox.
fn on_rtl(line: &str) -> String {
    let writes = line.contains("HARM_MARK=") || line.contains("HARM_ONCE=");
    format!("{line} --rtl {} {}", RTL.display(), if writes { "--no-sandbox" } else { "" })
}

#[track_caller]
fn exits(place: &Place, code: i32, words: &str, line: &str) {
    place.prints(code, &[words], &on_rtl(line));
}

/// A run of a few cases of one scenario.
const RUN: &str = "run --scenario smoke --fixes spec --packets 64 --out";

/// Limits of memory and of the time without progress: short if a hang is expected, otherwise long
/// enough for a busy machine.
fn limits(harm: &str) -> &'static str {
    match ["spin", "stop"].contains(&harm) {
        true => "--memory-limit 512M --stuck-after 1s",
        false => "--memory-limit 512M --stuck-after 5m",
    }
}

/// Checks every command on a model with this harm.
fn is_a_verdict(harm: &str, expected: &str) {
    let place = Place::new();
    let limited = format!("{RUN} run --cases 2 {}", limits(harm));
    place.prints(1, &[expected, "FAIL"], &on_rtl(&format!("HARM={harm} {limited}")));
    assert_eq!(cases(&place.results("run")).len(), 2, "{harm}");
    let (originals, vectors): (Vec<String>, Vec<String>) =
        place.vectors("run").into_iter().partition(|path| path.ends_with(".original.json"));
    assert_eq!(vectors.len(), 2, "{harm}: each has its vector");
    // Hangs are not shrunk, because each candidate would take the full timeout.
    let is_shrunk = !expected.starts_with("hang");
    assert_eq!(originals.len(), usize::from(is_shrunk), "{harm}: the first is shrunk");
    if is_shrunk {
        let small = place.json(&originals[0].replace(".original", ""));
        let packets = small["stimulus"]["traffic"]["packets"].as_array().unwrap();
        // A packet takes at least three cycles.
        assert!(packets.len() < 8, "{harm} comes in cycle 20, {} packets", packets.len());
    }
    for (command, code, words, harm) in [
        ("replay", 1, expected, harm),
        ("explain", 1, expected, harm),
        ("shrink", i32::from(!is_shrunk), expected, harm),
        ("replay", 0, "", "none"),
    ] {
        let line = format!("HARM={harm} {command} {} {}", vectors[0], limits(harm));
        exits(&place, code, words, &line);
    }
}

#[test]
fn a_process_that_ends_is_a_verdict() {
    [
        ("exit", "crashed: process exited with code 0"),
        ("_exit", "crashed: process exited with code 0"),
        ("abort", "crashed: process killed by SIGABRT"),
        ("null", "crashed: process killed by SIGSEGV"),
        ("recursion", "crashed: process killed by SIG"),
        ("memory", "crashed: process killed by SIGSEGV"),
        ("close", "crashed: process"),
    ]
    .par_iter()
    .for_each(|(harm, expected)| is_a_verdict(harm, expected));
}

#[test]
fn a_model_that_does_not_return_is_a_verdict() {
    is_a_verdict("spin", "hang: the model did not return");
    is_a_verdict("stop", "hang: the model did not return");
}

/// A batch of 32 cycles takes several times the limit.
#[test]
fn a_model_of_a_few_cycles_per_second_is_no_hang() {
    let vector = corpus("thread2/raw-ready-glitches-of-a-send");
    exits(
        &Place::new(),
        0,
        "",
        &format!("HARM=slow replay {vector} --stuck-after 1s --fixes spec"),
    );
}

#[test]
fn a_library_that_leaves_the_process_while_it_is_loaded_is_a_verdict() {
    let place = Place::new();
    for (harm, expected) in [
        ("exit", "crashed: loading the model, process exited with code 0"),
        ("spin", "hang: the model did not return"),
    ] {
        let line = format!("HARM_AT_LOAD={harm} {RUN} {harm} --cases 2 {}", limits(harm));
        exits(&place, 1, expected, &line);
        assert_eq!(cases(&place.results(harm)).len(), 2);
    }
}

/// Lines of the RTL have a mark and no colours, so none looks like one of the program.
#[test]
fn output_of_the_rtl_is_not_in_the_report() {
    let line = format!("HARM=print {RUN} run --cases 2 --format json");
    let output = Place::new().run(&on_rtl(&line));
    assert_code(&output, 0);
    serde_json::from_slice::<Value>(&output.stdout).expect("standard output is JSON");
    let printed = String::from_utf8_lossy(&output.stderr);
    let mut lines = printed.lines().filter(|line| line.contains("a line of the RTL's"));
    assert!(lines.next().is_some_and(|line| line.starts_with("rtl: ")), "{printed}");
    assert!(lines.next().is_none(), "repeated lines are folded: {printed}");
    assert!(!printed.contains(['\x1b', '\r']), "{printed}");
}

/// The processes in which the harm occurred, with `HARM_MARK=mark`.
fn marked(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(place.path("mark")).unwrap_or_default();
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

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} for two minutes");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a run into `run` of the RTL whose model is compiled already.
fn start(place: &Place, harm: &str, more: &str) -> Child {
    exits(place, 0, "", &format!("{RUN} good --force --cases 1"));
    place.start_with_pipes(&on_rtl(&format!("{harm} {RUN} run {more}")))
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn hangs_end_the_run_at_their_limit_and_leave_no_process() {
    let place = Place::new();
    let run = format!("HARM=spin HARM_MARK=mark {RUN} run --cases 1000 --stuck-after 1s");
    exits(&place, 1, "stopped by --max-hangs", &format!("{run} --max-hangs 3"));
    let results = place.results("run");
    assert_eq!(results["ended"], "max-hangs");
    assert_eq!(cases(&results).len(), 3);
    let processes = marked(&place);
    assert!(processes.len() >= 3, "{processes:?}");
    are_gone(&processes);
}

/// A run in which the models of both workers hang, and the workers.
fn endless(place: &Place, harm: &str) -> (Child, Vec<String>) {
    let harm = format!("HARM={harm} HARM_MARK=mark");
    let mut child = start(place, &harm, "--threads 2 --stuck-after 1h");
    wait_until(&mut child, || marked(place).len() == 2);
    let workers = children(child.id());
    assert!(marked(place).iter().all(|worker| workers.contains(worker)), "{workers:?}");
    (child, workers)
}

fn wait_for_the_end_of(workers: &[String]) {
    wait_for("workers stay", || workers.iter().all(|worker| is_gone(worker)));
}

/// Of two signals at the same time, either may end the program, and the results of a run are kept.
/// The system ends the workers of a killed program, even stopped ones.
#[test]
fn no_worker_outlives_a_run_in_which_every_model_hangs() {
    for (harm, signals) in [
        ("spin", &[Signal::INT][..]),
        ("stop", &[Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT]),
        ("spin", &[Signal::KILL]),
        ("stop", &[Signal::KILL]),
    ] {
        let place = Place::new();
        let (run, workers) = endless(&place, harm);
        for signal in signals {
            send(&run, *signal);
        }
        let output = run.wait_with_output().unwrap();
        if signals == [Signal::INT] {
            are_gone(&marked(&place));
            assert_contains(&text(&output), &["INTERRUPTED"]);
            assert_eq!(place.results("run")["ended"], "interrupted");
        }
        wait_for_the_end_of(&workers);
        if signals != [Signal::KILL] {
            assert_code(&output, 130);
            let names = ["run/results.json", "run/results.json.partial"];
            assert!(names.iter().any(|name| place.has_file(name)));
        }
    }
}

/// A program that blocks on its output ends at the second signal.
#[test]
fn a_second_interruption_ends_a_program_that_cannot_end_by_itself() {
    let place = Place::new();
    let (_reader, mut writer) = pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    loop {
        match writer.write(&[0; 64]) {
            Ok(written) => assert!(written > 0),
            Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    ioctl_fionbio(&writer, false).unwrap();
    let mut command = place.command("run --time 10m --scenario smoke --out run");
    let mut run = command.stdout(writer).spawn().unwrap();
    let partial = place.path("run/results.json.partial");
    wait_until(&mut run, || crate::common::is_longer(&partial, 2000));
    let workers = children(run.id());
    assert!(!workers.is_empty());
    send(&run, Signal::INT);
    wait_until(&mut run, || place.has_file("run/results.json"));
    assert_eq!(place.results("run")["ended"], "interrupted");
    // It has started to print and is blocked.
    assert_eq!(run.try_wait().unwrap(), None);
    send(&run, Signal::INT);
    wait_for("the program goes on", || run.try_wait().unwrap().is_some());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    wait_for_the_end_of(&workers);
}

/// The fortieth model of a process hangs.
const FORTIETH: &str = "HARM=spin HARM_AT=2 HARM_TURN=40 HARM_BUG=1 HARM_MARK=mark";

fn packets(vector: &Path) -> usize {
    json(vector)["stimulus"]["traffic"]["packets"].as_array().unwrap().len()
}

/// Checks that the vector shows the bug.
fn still_fails(place: &Place, vector: &Path) {
    let line = format!("HARM_BUG=1 replay {} --stuck-after 5m", vector.display());
    exits(place, 1, "(as recorded)", &line);
}

/// The model hangs after the shrink has made the vector smaller: that vector is kept.
#[test]
fn an_interrupted_shrink_keeps_its_best_vector() {
    let place = Place::new();
    // The run's only case is one process. In the process of the shrink, the fortieth model hangs.
    let mut run = start(&place, FORTIETH, "--cases 1 --no-waves --stuck-after 1h");
    wait_until(&mut run, || !marked(&place).is_empty());
    interrupted(run);
    are_gone(&marked(&place));
    let results = place.results("run");
    assert_eq!(results["ended"], "interrupted");
    let group = &results["failures"][0];
    let [original, vector] =
        ["original", "vector"].map(|name| place.path("run").join(group[name].as_str().unwrap()));
    assert_eq!(packets(&original), 64, "as found: {group}");
    assert!(packets(&vector) < 64, "shrunk: {group}");
    still_fails(&place, &vector);
}

/// Cases longer than the cycle of the harm crash, and the others match, with any number of threads.
#[test]
fn cases_that_crash_are_named_with_a_vector_each_and_all_others_match() {
    let place = Place::new();
    exits(&place, 0, "", &format!("{RUN} good --cases 40"));
    let good = cases(&place.results("good"));
    let mut lengths: Vec<u64> = good.values().map(|case| case.cycles).collect();
    lengths.sort_unstable();
    // A cycle far from the end of every case. At most twenty cases have a vector of their own.
    let gap = lengths[21..37].windows(2).max_by_key(|two| two[1] - two[0]).expect("many cases");
    let at = gap[0].midpoint(gap[1]);
    assert!(gap[1] - gap[0] >= 4, "no gap between the lengths of cases: {lengths:?}");
    let long: BTreeSet<&str> =
        good.iter().filter(|(_, case)| case.cycles > at).map(|(name, _)| name.as_str()).collect();
    assert!((1..20).contains(&long.len()), "{long:?}");
    let results = ["1", "2", "5"].map(|threads| {
        let run = format!("HARM=exit HARM_AT={at} {RUN} {threads} --cases 40");
        exits(&place, 1, "", &format!("{run} --threads {threads}"));
        place.text(&format!("{threads}/results.json"))
    });
    assert!(results.iter().all(|result| *result == results[0]), "the same bytes");
    let cases = cases(&place.results("1"));
    assert!(cases.keys().eq(good.keys()));
    for (name, case) in &cases {
        let expected = if long.contains(name.as_str()) { "crashed" } else { "match" };
        assert_eq!(case.verdict, expected, "{name}: {case:?} {:?}", good[name]);
    }
    let vectors: Vec<Value> = place.vectors("1").iter().map(|path| place.json(path)).collect();
    let named = vectors.iter().map(|vector| vector["origin"]["case"].as_str().unwrap());
    assert_eq!(named.collect::<BTreeSet<_>>(), long, "each has its vector");
    let recorded = "process exited with code 0";
    assert!(vectors.iter().all(|vector| vector["recorded"]["message"] == recorded));
}
