//! `cosim watch`: what counts as a save, and what is printed for it.

use crate::common::{Place, assert_contains, copy_rtl};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

const FILE: &str = "rtl/thread2/ReqRecvCore_Thread_2.v";

/// A correct line, and the same line with a bug.
const RIGHT: &str = "rq_offset_din     = rq_offset_wen ? rq_offset_new";
const BUG: &str = "rq_offset_din     = rq_offset_wen ? rq_offset_new + 24'd1";

/// Ends the text of a run.
const WAITING: &str = "  waiting for the next save";

/// Longer than anything takes; a timeout is a failure.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A running `cosim watch`, and its folder.
struct Watching {
    place: Place,
    child: Child,
    /// The lines of its output.
    printed: Receiver<String>,
    errors: ChildStderr,
}

impl Watching {
    /// Watches a copy of the RTL in `rtl`.
    fn new(what: &str) -> Self {
        let place = Place::with_rtl();
        let options = "--cases 4 --packets 40 --scenario default --no-shrink --no-waves";
        let mut child =
            place.start_with_pipes(&format!("watch --rtl {what} --fixes spec {options}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, printed) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let errors = child.stderr.take().unwrap();
        Self { place, child, printed, errors }
    }

    /// The next line of output. The test fails if the program ends first.
    #[track_caller]
    fn line(&mut self) -> String {
        self.printed.recv_timeout(TIMEOUT).unwrap_or_else(|error| {
            let _ = self.child.kill();
            panic!("no line: {error}; it ended with {:?}", self.child.wait())
        })
    }

    /// The verdict of the next run, which must have this number, and the line of a group that
    /// starts with a word such as "new" or "gone".
    #[track_caller]
    fn verdict(&mut self, number: u32, expected: &str, group: &str) -> String {
        let mut line = self.line();
        while line == WAITING {
            line = self.line();
        }
        assert!(line.starts_with(&format!("run {number}  {expected}")), "{number}: {line}");
        if !group.is_empty() {
            let next = self.line();
            assert!(next.trim_start().starts_with(group), "expected {group}: {next}");
            line += &next;
        }
        line
    }

    /// Saves the file as editors do: writes a new file and renames it.
    fn save(&self, text: &str) {
        self.place.write("rtl/new~", text);
        fs::rename(self.place.path("rtl/new~"), self.place.path(FILE)).unwrap();
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

/// One long session, as in practice.
#[test]
fn every_save_is_one_run_and_says_what_changed() {
    let mut watching = Watching::new("rtl");
    let good = watching.place.text(FILE);
    let first = watching.verdict(1, "PASS  thread2", "");
    assert!(first.contains("0 of them failed") && !first.contains("before"), "{first}");

    let bug = good.replacen(RIGHT, BUG, 1);
    watching.save(&bug);
    let failed = watching.verdict(2, "FAIL  thread2", "new");
    let signature = "mismatch-rq_offset_din-UPDATE_RQ_s";
    assert_contains(&failed, &["cycles/s, ", " before)", signature, "runs/watch-thread2/"]);

    // A syntax error is reported, and the program waits for the next save.
    watching.save(&good.replacen("endmodule", "endmodul", 1));
    watching.verdict(3, "NOT RUN", "");
    while watching.line() != WAITING {}

    // Written in place, with another comment: the bug is still there.
    watching.place.write(FILE, &format!("{bug}// still\n"));
    watching.verdict(4, "FAIL", "still");

    watching.save(&good);
    let gone = watching.verdict(5, "PASS", "gone");
    assert_contains(&gone, &[signature]);

    // Two files in one save: another folder replaces this one.
    let [rtl, other] = ["rtl", "other"].map(|name| watching.place.path(name));
    copy_rtl(&other);
    watching.place.write(&FILE.replace("rtl/", "other/"), &bug);
    watching.place.write("other/extra.vh", "// nothing\n");
    renameat_with(CWD, &other, CWD, &rtl, RenameFlags::EXCHANGE).unwrap();
    watching.verdict(6, "FAIL", "new");

    // An editor's own files are no save.
    watching.place.write("rtl/.x.swp", "");
    watching.place.write("rtl/4913", "");
    watching.save(&good);
    watching.verdict(7, "PASS", "gone");

    let (code, rest) = watching.interrupt();
    assert_eq!((code, rest.as_str()), (130, WAITING), "nothing else was said");
}

/// A single file: its folder is watched, because saving by renaming creates a new file.
#[test]
fn a_replaced_file_is_still_watched() {
    let mut watching = Watching::new(FILE);
    watching.verdict(1, "PASS", "");
    for number in 2..4 {
        watching.save(&format!("{}// {number}\n", watching.place.text(FILE)));
        watching.verdict(number, "PASS", "");
    }
    // Included files count, too.
    let header = "rtl/thread2/ReqRecvCore_Thread_2.vh";
    watching.place.write(header, &(watching.place.text(header) + "// saved\n"));
    watching.verdict(4, "PASS", "");
    assert_eq!(watching.interrupt().0, 130);
}
