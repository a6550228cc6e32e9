//! Shows what the program is doing: one line on a terminal, or a line every 30 s in a log.
//!
//! Library crates begin activities and update their counts
//! ([`activity`]). A thread reads them and draws.

use cosim_base::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use verilated_build::activity::{self, Snapshot};

/// How often a terminal is drawn.
const TICK: Duration = Duration::from_millis(100);
/// Activities that end sooner are not shown.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);
/// How often a log gets a line.
const INTERVAL: Duration = Duration::from_secs(30);
/// Width of a bar in characters.
const BAR: u64 = 20;

static IS_QUIET: AtomicBool = AtomicBool::new(false);
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Shows no progress from now on.
pub fn hush() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Writes with the progress line removed, so that output never mixes with it.
pub fn suspended<T>(write: impl FnOnce() -> T) -> T {
    match LINE.get() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// Writes text for people to standard error, with colours on a terminal. Ignores failures.
pub fn show(text: &str) {
    suspended(|| {
        let _ = write!(anstream::stderr().lock(), "{}", crate::terminal::colour::painted(text));
    });
}

/// Shows progress until it is dropped.
pub struct Display {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    pub fn start() -> Self {
        let (end, ended) = channel::<()>();
        let is_terminal = io::stderr().is_terminal();
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || {
            let mut log = Log { last: Instant::now(), text: String::new() };
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if IS_QUIET.load(Ordering::Relaxed) {
                    continue;
                }
                let now = activity::current();
                match is_terminal {
                    true => draw(&now),
                    false => {
                        if let Some(line) = log.line(&now) {
                            cosim_base::program::print_note(format_args!("{line}"));
                        }
                    }
                }
            }
            if let Some(line) = LINE.get() {
                line.finish_and_clear();
            }
        });
        Self { end: Some(end), thread: thread.ok() }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn draw(now: &[Snapshot]) {
    let is_long = |one: &Snapshot| one.began.elapsed() >= PROGRESS_DELAY;
    if !now.iter().any(is_long) {
        if let Some(line) = LINE.get() {
            line.finish_and_clear();
        }
        return;
    }
    let line = LINE.get_or_init(|| {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            line.set_style(style);
        }
        line
    });
    if line.is_finished() {
        line.reset();
    }
    line.set_message(sentence(now, true));
    line.tick();
}

struct Log {
    last: Instant,
    /// The last line.
    text: String,
}

impl Log {
    /// The line that is due now, if any.
    fn line(&mut self, now: &[Snapshot]) -> Option<String> {
        // A command without a long wait has a log without lines of progress.
        let is_long = now.iter().any(|one| one.began.elapsed() >= INTERVAL);
        if !is_long || self.last.elapsed() < INTERVAL {
            return None;
        }
        self.last = Instant::now();
        let text = sentence(now, false);
        (std::mem::replace(&mut self.text, text.clone()) != text).then_some(text)
    }
}

/// The outermost and the innermost activity in one line.
fn sentence(now: &[Snapshot], has_bar: bool) -> String {
    let outer = now.first().map(|one| phrase(one, has_bar)).unwrap_or_default();
    match now.last() {
        Some(inner) if inner.text != now[0].text => format!("{outer}: {}", phrase(inner, false)),
        _ => outer,
    }
}

/// An activity, as in "dll: 12 of 560 cases, 1 failed, about 40 s left".
fn phrase(one: &Snapshot, has_bar: bool) -> String {
    let Snapshot { text, unit, done, total, note, .. } = one;
    let mut phrase = String::new();
    if let (true, Some(total @ 1..)) = (has_bar, *total) {
        let filled = (done * BAR / total).min(BAR) as usize;
        phrase = format!("[{}{}] ", "#".repeat(filled), "-".repeat(BAR as usize - filled));
    }
    phrase += &text::line(text);
    match (unit.is_empty(), total) {
        (true, _) => {}
        (false, Some(total)) => phrase += &format!(": {done} of {total} {unit}"),
        (false, None) => phrase += &format!(": {done} {unit}"),
    }
    if !note.is_empty() {
        phrase += &format!(", {}", text::line(note));
    }
    phrase += &format!(", {}", seconds(one.worked()));
    if let Some(left) = one.remaining_time() {
        phrase += &format!(", about {} left", seconds(left));
    }
    phrase
}

/// A time, as in "41 s" or "12 min".
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot {
            text: text.to_owned(),
            unit: "",
            done: 0,
            before: 0,
            total: None,
            note: String::new(),
            began: Instant::now(),
            expected: None,
            builds: false,
            waited: Duration::ZERO,
            aside: (Duration::ZERO, None),
            more: Duration::ZERO,
        }
    }

    #[test]
    fn a_line_says_what_is_done_how_far_it_is_and_how_long_it_takes() {
        let began = Instant::now().checked_sub(Duration::from_secs(10)).expect("a time");
        let cases = Snapshot {
            unit: "cases",
            done: 25,
            total: Some(100),
            note: "2 failed".to_owned(),
            began,
            ..snapshot("dll")
        };
        assert_eq!(
            sentence(std::slice::from_ref(&cases), true),
            "[#####---------------] dll: 25 of 100 cases, 2 failed, 10 s, about 30 s left"
        );
        let inner = snapshot("shrinking dll/spec/smoke/3");
        let both = sentence(&[cases, inner], false);
        assert!(both.ends_with("left: shrinking dll/spec/smoke/3, 0 s"), "{both}");
    }

    #[test]
    fn a_log_gets_a_line_of_a_long_wait_once_per_interval() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let since = |seconds| ago(seconds).expect("a time");
        let long = [Snapshot { began: since(31), ..snapshot("proving dll") }];
        let short = [Snapshot { began: since(5), ..snapshot("proving dll") }];
        let mut log = Log { last: since(31), text: String::new() };
        assert_eq!(log.line(&short), None);
        assert_eq!(log.line(&long).as_deref(), Some("proving dll, 31 s"));
        assert_eq!(log.line(&long), None, "the interval has begun again");
        let minutes = |seconds| [Snapshot { began: since(seconds), ..snapshot("a build") }];
        for (seconds, expected) in [(125, Some("a build, 2 min")), (155, None)] {
            log.last = since(31);
            assert_eq!(log.line(&minutes(seconds)).as_deref(), expected, "{seconds}");
        }
    }

    #[test]
    fn a_time_has_a_suitable_unit() {
        let cases = [(59, "59 s"), (120, "2 min"), (7300, "2 h 1 min")];
        for (time, expected) in cases {
            assert_eq!(seconds(Duration::from_secs(time)), expected);
        }
    }
}
