//! `cosim watch`: what counts as a save, and what is printed for it.

use crate::common::{code, copy_rtl, program, run_in, text};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Path within the RTL folder.
const FILE: &str = "thread2/ReqRecvCore_Thread_2.v";

/// A correct line, and the same line with a bug.
const RIGHT: &str = "rq_offset_din     = rq_offset_wen ? rq_offset_new";
const BUG: &str = "rq_offset_din     = rq_offset_wen ? rq_offset_new + 24'd1";

/// Ends the text of a run.
const WAITING: &str = "  waiting for the next save";

/// Longer than anything takes; a timeout is a failure.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A running `cosim watch`, and its folder.
struct Watching {
    folder: TempDir,
    child: Child,
    /// The lines of its output.
    printed: Receiver<String>,
    errors: ChildStderr,
}

impl Watching {
    /// Watches a copy of the RTL in `rtl`.
    fn new(what: &str) -> Self {
        let folder = TempDir::new().unwrap();
        copy_rtl(&folder.path().join("rtl"));
        let mut child = program()
            .current_dir(folder.path())
            .args(["watch", "--rtl", what, "--fixes", "spec", "--cases", "4", "--packets", "40"])
            .args(["--block", "thread2"])
            .args(["--scenario", "default", "--no-shrink", "--no-waves"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, printed) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let errors = child.stderr.take().unwrap();
        Self { folder, child, printed, errors }
    }

    fn rtl(&self) -> PathBuf {
        self.folder.path().join("rtl")
    }

    /// The next line of output. The test fails if the program ends first.
    #[track_caller]
    fn line(&mut self) -> String {
        self.printed.recv_timeout(TIMEOUT).unwrap_or_else(|error| {
            let _ = self.child.kill();
            panic!("no line: {error}; it ended with {:?}", self.child.wait())
        })
    }

    /// The next line, which must be about a group and start with `word`, such as "new" or "gone".
    fn group(&mut self, word: &str) -> String {
        let line = self.line();
        assert!(line.trim_start().starts_with(word), "expected {word}: {line}");
        line
    }

    /// The verdict of the next run, which must have this number.
    #[track_caller]
    fn verdict(&mut self, number: u32, expected: &str) -> String {
        let mut line = self.line();
        while line == WAITING {
            line = self.line();
        }
        assert!(line.starts_with(&format!("run {number}  {expected}")), "{number}: {line}");
        line
    }

    fn text(&self) -> String {
        fs::read_to_string(self.rtl().join(FILE)).unwrap()
    }

    /// Saves the file as editors do: writes a new file and renames it.
    fn save(&self, text: &str) {
        let new = self.rtl().join("new~");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.rtl().join(FILE)).unwrap();
    }

    /// Sends ^C. Returns the exit code and the remaining output.
    fn interrupt(mut self) -> (i32, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        let mut rest: String = self.printed.iter().collect();
        self.errors.read_to_string(&mut rest).unwrap();
        (status.code().expect("it was not killed"), rest)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // If the test failed, the child still runs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text with one replacement.
fn with_bug(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no `{from}`");
    text.replacen(from, to, 1)
}

/// One long session, as in practice.
#[test]
fn every_save_is_one_run_and_says_what_changed() {
    let mut watching = Watching::new("rtl");
    let good = watching.text();
    let first = watching.verdict(1, "PASS  thread2");
    assert!(first.contains("0 of them failed") && !first.contains("before"), "{first}");

    let bug = with_bug(&good, RIGHT, BUG);
    watching.save(&bug);
    let failed = watching.verdict(2, "FAIL  thread2");
    assert!(failed.contains("cycles/s, ") && failed.contains(" before)"), "{failed}");
    let new = watching.group("new");
    assert!(
        new.contains("mismatch-rq_offset_din-UPDATE_RQ_s") && new.contains("runs/watch-thread2/"),
        "{new}"
    );

    // A syntax error is reported, and the program waits for the next save.
    watching.save(&with_bug(&good, "endmodule", "endmodul"));
    watching.verdict(3, "NOT RUN");
    while watching.line() != WAITING {}

    // Written in place, with another comment: the bug is still there.
    fs::write(watching.rtl().join(FILE), format!("{bug}// still\n")).unwrap();
    watching.verdict(4, "FAIL");
    watching.group("still");

    watching.save(&good);
    watching.verdict(5, "PASS");
    let gone = watching.group("gone");
    assert!(gone.contains("mismatch-rq_offset_din-UPDATE_RQ_s"), "{gone}");

    // Two files in one save: another folder replaces this one.
    let other = watching.folder.path().join("other");
    copy_rtl(&other);
    fs::write(other.join(FILE), &bug).unwrap();
    fs::write(other.join("extra.vh"), "// nothing\n").unwrap();
    let exchange = RenameFlags::EXCHANGE;
    renameat_with(CWD, &other, CWD, watching.rtl(), exchange).unwrap();
    watching.verdict(6, "FAIL");
    watching.group("new");

    // An editor's own files are no save.
    fs::write(watching.rtl().join(".x.swp"), "").unwrap();
    fs::write(watching.rtl().join("4913"), "").unwrap();
    watching.save(&good);
    watching.verdict(7, "PASS");
    watching.group("gone");

    let (code, rest) = watching.interrupt();
    assert_eq!((code, rest.as_str()), (130, WAITING), "nothing else was said");
}

/// A single file: its folder is watched, because saving by renaming creates a new file.
#[test]
fn a_replaced_file_is_still_watched() {
    let mut watching = Watching::new(&format!("rtl/{FILE}"));
    watching.verdict(1, "PASS");
    for number in 2..4 {
        watching.save(&format!("{}// {number}\n", watching.text()));
        watching.verdict(number, "PASS");
    }
    // Included files count, too.
    let header = watching.rtl().join("thread2/ReqRecvCore_Thread_2.vh");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, text + "// saved\n").unwrap();
    watching.verdict(4, "PASS");
    assert_eq!(watching.interrupt().0, 130);
}

#[test]
fn rtl_that_cannot_be_watched_is_refused() {
    let folder = TempDir::new().unwrap();
    copy_rtl(&folder.path().join("rtl"));
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/file"), "mine").unwrap();
    for (arguments, expected) in [
        (&["watch"][..], "no RTL to watch"),
        (&["watch", "--rtl", "built-in"], "no RTL to watch"),
        (&["watch", "--rtl", "none"], "none"),
        (&["watch", "--rtl", "rtl", "--scenario", "none"], "none"),
        (&["watch", "--rtl", "rtl", "--cases", "1", "--out", "mine"], "mine"),
    ] {
        let output = run_in(folder.path(), arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
    }
    assert_eq!(fs::read_dir(folder.path().join("mine")).unwrap().count(), 1);
}
