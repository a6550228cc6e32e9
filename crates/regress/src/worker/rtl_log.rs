//! Shows what the RTL of workers prints.
//!
//! A worker's standard output and error are a pipe, so RTL cannot truncate, overwrite or colour the
//! user's log. A thread for each worker reads the pipe until the worker ends. Each line is cleaned,
//! bounded, marked with [`MARK`], and repeated lines are folded: what a model prints when it is
//! created is shown once, however many models a command builds. The reader never waits for the
//! user's terminal, so no result depends on who reads the log.

use cosim_base::program;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashSet;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::ChildStderr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Begins each line of RTL, which no line of the program begins with.
const MARK: &str = "rtl: ";
/// Bytes of a line that are shown.
const LONGEST: usize = 1000;
/// Lines and bytes that are shown of work whose lines are all new: cases of a run differ little.
const MOST_FOLDED: Room = Room { lines: 1000, bytes: 1 << 17 };
/// Lines and bytes that are shown otherwise.
const MOST: Room = Room { lines: 10_000, bytes: 1 << 20 };
/// How long a reader waits at a time. A closed pipe ends the wait at once.
const TICK: Duration = Duration::from_millis(100);
/// How long a reader goes on after its worker has ended. A process that the worker has started and
/// that has left its group may hold the pipe.
const REST: Duration = Duration::from_millis(200);
/// How long the program waits until the lines are written.
const WRITTEN: Duration = Duration::from_secs(1);
/// Bytes per read.
const CHUNK: usize = 1 << 16;

/// Lines and bytes that may still be shown.
#[derive(Debug, Clone, Copy)]
struct Room {
    lines: usize,
    bytes: usize,
}

/// What is shown of the RTL's lines, for all workers of a command.
#[derive(Debug, Clone)]
pub struct RtlLog(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    room: Room,
    /// Lines that were not shown and not reported yet.
    hidden: u64,
    /// Whether a line is shown only once in this work.
    folds_all: bool,
    /// The lines shown in this work.
    shown: HashSet<Vec<u8>>,
    /// The lines shown in earlier work. They are neither shown again nor counted.
    earlier: HashSet<Vec<u8>>,
    writer: Sender<Message>,
}

/// A message to the thread that writes.
enum Message {
    Text(String),
    /// Answered once all earlier texts are written.
    Flush(Sender<()>),
}

impl Default for RtlLog {
    fn default() -> Self {
        Self::new(writer())
    }
}

impl RtlLog {
    fn new(writer: Sender<Message>) -> Self {
        let (shown, earlier) = (HashSet::new(), HashSet::new());
        let state = State { room: MOST, hidden: 0, folds_all: false, shown, earlier, writer };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Begins new work. If it `folds_all`, a line that any worker has printed before is not shown
    /// again. A line of earlier work never is.
    pub fn start_work(&self, folds_all: bool) {
        let mut state = self.state();
        state.room = if folds_all { MOST_FOLDED } else { MOST };
        state.folds_all = folds_all;
        let shown = std::mem::take(&mut state.shown);
        if state.earlier.len() < MOST.lines {
            state.earlier.extend(shown);
        }
    }

    /// Shows what a worker prints until it ends.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn listen(&self, pipe: ChildStderr) -> io::Result<Listener> {
        let is_over = Arc::new(AtomicBool::new(false));
        let lines = Lines::new(self.clone());
        let of_thread = Arc::clone(&is_over);
        let thread = thread::Builder::new()
            .name("rtl-log".to_owned())
            .spawn(move || listen(pipe, lines, &of_thread))?;
        Ok(Listener { thread: Some(thread), is_over })
    }

    /// Reports the lines that were not shown, and waits until all text is written, but not for
    /// ever: the user's terminal may be stopped.
    pub fn close(&self) {
        let (sender, written) = mpsc::channel();
        {
            let mut state = self.state();
            let hidden = std::mem::take(&mut state.hidden);
            if hidden > 0 {
                state.write(&more_lines(hidden));
            }
            let _ = state.writer.send(Message::Flush(sender));
        }
        let _ = written.recv_timeout(WRITTEN);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a line, or counts it.
    fn add(&self, line: &[u8], is_cut: bool) {
        let mut state = self.state();
        if state.earlier.contains(line) {
            return;
        }
        if (state.folds_all && state.shown.contains(line)) || !state.takes(line) {
            state.hidden += 1;
            return;
        }
        state.shown.insert(line.to_owned());
        let end = if is_cut { "…" } else { "" };
        let line = String::from_utf8_lossy(line);
        state.write(&format!("{}{end}", line.trim_end_matches('\r')));
    }

    /// Reports that the last line of a worker came again.
    fn repeat_last_line(&self, times: u64) {
        let mut state = self.state();
        let text = more_lines(times);
        match !state.folds_all && state.takes(text.as_bytes()) {
            true => state.write(&text),
            false => state.hidden += times,
        }
    }
}

impl State {
    fn takes(&mut self, line: &[u8]) -> bool {
        let Room { lines, bytes } = self.room;
        if lines == 0 || line.len() > bytes {
            // No later line is shown either: that would look as if none were missing.
            self.room = Room { lines: 0, bytes: 0 };
            return false;
        }
        self.room = Room { lines: lines - 1, bytes: bytes - line.len() };
        true
    }

    fn write(&self, line: &str) {
        // `program::show` replaces control characters. The text is one line.
        let _ = self.writer.send(Message::Text(format!("{MARK}{line}\n")));
    }
}

fn more_lines(lines: u64) -> String {
    let s = if lines == 1 { "" } else { "s" };
    format!("… {lines} more line{s}")
}

/// The thread that writes. It alone waits for the user's terminal.
fn writer() -> Sender<Message> {
    static WRITER: OnceLock<Sender<Message>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = mpsc::channel();
        let write = move || write_all(&receiver, program::show);
        // Without the thread, nobody receives, and nothing is shown.
        let _ = thread::Builder::new().name("rtl-log-writer".to_owned()).spawn(write);
        sender
    };
    WRITER.get_or_init(start).clone()
}

fn write_all(messages: &Receiver<Message>, mut show: impl FnMut(&str)) {
    for message in messages {
        match message {
            Message::Text(text) => show(&text),
            Message::Flush(done) => drop(done.send(())),
        }
    }
}

/// The reader of a worker's pipe.
#[derive(Debug)]
pub struct Listener {
    thread: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

impl Listener {
    /// Shows the rest, once the worker has ended.
    pub fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen(mut pipe: ChildStderr, mut lines: Lines, is_over: &AtomicBool) {
    let mut buffer = vec![0; CHUNK];
    let mut over: Option<Instant> = None;
    loop {
        if is_over.load(Ordering::Relaxed) && over.get_or_insert_with(Instant::now).elapsed() > REST
        {
            break;
        }
        let is_there = {
            let timeout = Timespec::try_from(TICK).ok();
            let mut files = [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)];
            poll(&mut files, timeout.as_ref()).is_ok_and(|ready| ready > 0)
        };
        match is_there.then(|| pipe.read(&mut buffer)) {
            Some(Ok(0)) => break,
            Some(Ok(read)) => lines.add(&buffer[..read]),
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Some(Err(_)) => break,
            None if over.is_some() => break,
            None => {}
        }
    }
    lines.end();
}

/// Splits the output of a worker into lines, and folds those that come several times in a row.
struct Lines {
    log: RtlLog,
    /// The line so far, at most [`LONGEST`] bytes.
    line: Vec<u8>,
    is_cut: bool,
    /// The last line, and how often it came again.
    last: Option<Vec<u8>>,
    again: u64,
}

impl Lines {
    fn new(log: RtlLog) -> Self {
        Self { log, line: Vec::new(), is_cut: false, last: None, again: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n");
            let kept = text.unwrap_or(piece);
            let room = LONGEST - self.line.len();
            self.line.extend_from_slice(&kept[..kept.len().min(room)]);
            self.is_cut |= kept.len() > room;
            if text.is_some() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        if self.last.as_ref() == Some(&line) {
            self.again += 1;
            return;
        }
        self.end_repeats();
        self.log.add(&line, is_cut);
        self.last = Some(line);
    }

    fn end_repeats(&mut self) {
        let again = std::mem::take(&mut self.again);
        if again > 0 {
            self.log.repeat_last_line(again);
        }
    }

    fn end(mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_repeats();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn log() -> (RtlLog, Receiver<Message>) {
        let (sender, receiver) = mpsc::channel();
        (RtlLog::new(sender), receiver)
    }

    fn shown_messages(messages: &Receiver<Message>) -> String {
        let texts = messages.try_iter().filter_map(|message| match message {
            Message::Text(text) => Some(text),
            Message::Flush(done) => {
                let _ = done.send(());
                None
            }
        });
        texts.collect()
    }

    fn log_outputs(log: &RtlLog, outputs: &[&[u8]]) {
        for output in outputs {
            let mut lines = Lines::new(log.clone());
            // Pieces end anywhere.
            output.chunks(3).for_each(|piece| lines.add(piece));
            lines.end();
        }
    }

    fn log_all(folds_all: bool, outputs: &[&[u8]]) -> String {
        let (log, messages) = log();
        log.start_work(folds_all);
        log_outputs(&log, outputs);
        let closing = thread::spawn(move || log.close());
        let mut text = String::new();
        while !closing.is_finished() {
            text += &shown_messages(&messages);
            thread::yield_now();
        }
        closing.join().unwrap();
        text + &shown_messages(&messages)
    }

    #[test]
    fn each_line_of_rtl_has_the_mark() {
        assert_eq!(
            log_all(false, &[b"a\nPASS  b\r\n\nc"]),
            "rtl: a\nrtl: PASS  b\nrtl: \nrtl: c\n"
        );
        assert_eq!(log_all(false, &[b"\xff\xfe\n"]), "rtl: \u{fffd}\u{fffd}\n");
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = [b"x".repeat(5 * LONGEST), b"\ny\n".to_vec()].concat();
        let expected = format!("rtl: {}…\nrtl: y\n", "x".repeat(LONGEST));
        assert_eq!(log_all(false, &[&long]), expected);
        let whole = b"x".repeat(LONGEST);
        assert_eq!(log_all(false, &[&whole]), format!("rtl: {}\n", "x".repeat(LONGEST)));
    }

    #[test]
    fn repeated_lines_are_folded() {
        let output = [&b"a\n".repeat(413)[..], b"b\na\n"].concat();
        let expected = "rtl: a\nrtl: … 412 more lines\nrtl: b\nrtl: a\n";
        assert_eq!(log_all(false, &[&output]), expected);
        // Over all workers, in a run of many cases.
        let expected = "rtl: a\nrtl: b\nrtl: c\nrtl: … 3 more lines\n";
        assert_eq!(log_all(true, &[b"a\nb\n", b"a\nb\na\nc\n"]), expected);
    }

    /// A command builds and runs many models, and each prints when it is created.
    #[test]
    fn lines_of_earlier_work_are_not_shown_again() {
        let (log, messages) = log();
        let mut text = String::new();
        for (folds_all, output) in
            [(true, &b"a\nb\n"[..]), (false, b"a\nb\nc\nc\nd\nc\n"), (true, b"a\nc\ne\n")]
        {
            log.start_work(folds_all);
            log_outputs(&log, &[output]);
            text += &shown_messages(&messages);
        }
        assert_eq!(text, "rtl: a\nrtl: b\nrtl: c\nrtl: … 1 more line\nrtl: d\nrtl: c\nrtl: e\n");
    }

    #[test]
    fn all_lines_together_are_bounded() {
        let output: String = (0..3 * MOST.lines).map(|line| format!("{line}\n")).collect();
        let text = log_all(false, &[output.as_bytes()]);
        assert_eq!(text.lines().count(), MOST.lines + 1);
        assert!(text.ends_with(&format!("rtl: … {} more lines\n", 2 * MOST.lines)), "{text}");
        let long: String =
            (0..3000).map(|line| format!("{line} {}\n", "x".repeat(LONGEST))).collect();
        let text = log_all(false, &[long.as_bytes()]);
        assert!(text.len() < 2 * MOST.bytes && text.ends_with("more lines\n"), "{}", text.len());
    }

    /// The reader of a process that prints as fast as it can ends with the process, although nobody
    /// takes the lines.
    #[test]
    fn output_without_end_neither_blocks_nor_fills_the_memory() {
        let (log, messages) = log();
        let mut command = Command::new("sh");
        command.args(["-c", "n=0; while :; do n=$((n+1)); echo $n >&2; done"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut listener = log.listen(child.stderr.take().unwrap()).unwrap();
        while log.state().hidden < 1000 {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        listener.end();
        assert_eq!(shown_messages(&messages).lines().count(), MOST.lines);
    }

    #[test]
    fn a_process_that_keeps_the_pipe_does_not_keep_the_program() {
        let (log, messages) = log();
        let mut command = Command::new("sh");
        command.args(["-c", "echo a >&2; sleep 100 & echo $!"]);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut listener = log.listen(child.stderr.take().unwrap()).unwrap();
        child.wait().unwrap();
        listener.end();
        assert_eq!(shown_messages(&messages), "rtl: a\n");
        let mut process = String::new();
        let mut stdout = child.stdout.take().unwrap();
        while !process.ends_with('\n') {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            process.push(char::from(byte[0]));
        }
        Command::new("kill").arg(process.trim()).status().unwrap();
    }
}
