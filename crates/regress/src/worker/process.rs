//! Starts, talks to and ends a worker process.

use super::loss::Loss;
use super::sandbox::{ActiveSandbox, Sandbox};
use super::supervisor::{Link, Received};
use crate::program;
use cosim_base::error::{Error, codes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::param::clock_ticks_per_second;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process that closed its channel may take to end.
const FAREWELL: Duration = Duration::from_millis(500);
/// How often it is looked at meanwhile.
const TICK: Duration = Duration::from_millis(2);
/// How long a message may wait for a worker that does not read it.
const SENDING: Duration = Duration::from_secs(10);
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// What a worker may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time without progress after which it hangs.
    pub stuck_after: Duration,
    /// Address space in bytes, if it is limited.
    pub memory: Option<u64>,
    /// What it may do to the machine.
    pub sandbox: Sandbox,
}

/// The program that workers are started from: this one, as a rule.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    limits: Limits,
    /// The restrictions of its workers, once one has said them.
    in_force: Arc<OnceLock<ActiveSandbox>>,
}

impl Program {
    /// This program, as the process runs it, even if its file was replaced since.
    ///
    /// # Errors
    /// [`Error::Environment`] if the system does not say which it is.
    pub fn this(limits: Limits) -> Result<Self, Error> {
        let own = Path::new("/proc/self/exe");
        let path = if own.exists() {
            own.to_owned()
        } else {
            std::env::current_exe().map_err(|error| {
                Error::Environment(
                    codes::SYSTEM,
                    format!("cannot find the path of this program: {error}"),
                )
            })?
        };
        Ok(Self { path, limits, in_force: Arc::default() })
    }

    /// Another program of this library, for a process that cannot be a worker itself: a test.
    pub fn at(path: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { path: path.into(), limits, in_force: Arc::default() }
    }

    /// The restrictions under which its workers run; none if it has started none yet.
    pub fn in_force(&self) -> Option<ActiveSandbox> {
        self.in_force.get().copied()
    }

    /// A worker says under which restrictions it runs: the kernel decides, so it is the same for all.
    pub(super) fn confined(&self, in_force: ActiveSandbox) {
        if self.in_force.set(in_force).is_ok()
            && let Some(warning) = in_force.warning()
        {
            program::say(format_args!("warning: {warning}"));
        }
    }

    /// What its workers may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Starts a worker, which may write in the folder `writable` only. If its models are `simulated` by a program, it may
    /// start that, and has a folder for temporary files, too. It ends when the thread does that called this.
    ///
    /// # Errors
    /// [`Error::Environment`] if there can be no further process.
    pub fn start(&self, writable: Option<&Path>, simulated: bool) -> Result<Process, Error> {
        let failed = |error: io::Error| {
            Error::Environment(
                codes::SYSTEM,
                format!("cannot start a process for the model: {error}"),
            )
        };
        let mut command = Command::new(&self.path);
        command.arg0("cosim").arg("worker").arg("--parent").arg(process::id().to_string());
        if let Some(memory) = self.limits.memory {
            command.arg("--memory").arg(memory.to_string());
        }
        if self.limits.sandbox == Sandbox::Off {
            command.arg("--no-sandbox");
        }
        if let Some(folder) = writable {
            command.arg("--writable").arg(folder);
        }
        let temporary =
            simulated.then(|| TempDir::with_prefix("cosim-")).transpose().map_err(failed)?;
        if let Some(folder) = &temporary {
            command.arg("--simulated").arg("--writable").arg(folder.path());
            command.env("TMPDIR", folder.path());
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::other("no pipes")));
        };
        let (requests, replies) = (OwnedFd::from(requests), OwnedFd::from(replies));
        rustix::io::ioctl_fionbio(&requests, true).map_err(|error| failed(error.into()))?;
        Ok(Process {
            child,
            requests: requests.into(),
            replies: replies.into(),
            ended: None,
            _temporary: temporary,
        })
    }
}

/// A worker's process. Dropping it ends it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    requests: File,
    replies: File,
    /// How it ended.
    ended: Option<Loss>,
    /// Removed with this.
    _temporary: Option<TempDir>,
}

impl Process {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether it has ended; it stays a zombie, so that its number is not given to another process.
    fn has_ended(&self) -> Option<WaitIdStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid()?), options).ok().flatten()
    }

    /// It and the processes that it started: what simulates a model does the work.
    fn processes(&self) -> Vec<PathBuf> {
        let all = Path::new("/proc");
        let own = all.join(self.child.id().to_string());
        let started = threads(&own).flat_map(|thread| {
            let started = fs::read_to_string(thread.join("children")).unwrap_or_default();
            started.split_whitespace().map(|process| all.join(process)).collect::<Vec<_>>()
        });
        let mut processes: Vec<PathBuf> = started.collect();
        processes.push(own);
        processes
    }

    /// Kills it and everything that it started, and takes note of its end.
    fn finish(&mut self, ended: Loss) {
        if let Some(pid) = self.pid() {
            // It may have left its group, or not be in it yet.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.ended = Some(ended);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Link for Process {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        let begin = Instant::now();
        while !left.is_empty() {
            match self.requests.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if begin.elapsed() > SENDING {
                        return Err(error);
                    }
                    wait_for(&self.requests, PollFlags::OUT, TICK * 10);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, timeout: Duration) -> Received {
        if !wait_for(&self.replies, PollFlags::IN, timeout) {
            // A process that it started may hold the channel open.
            return if self.has_ended().is_some() && !wait_for(&self.replies, PollFlags::IN, TICK) {
                Received::Closed
            } else {
                Received::Quiet
            };
        }
        let before = buffer.len();
        buffer.resize(before + CHUNK, 0);
        let read = self.replies.read(&mut buffer[before..]);
        buffer.truncate(before + read.as_ref().map_or(0, |read| *read));
        match read {
            Ok(0) => Received::Closed,
            Ok(_) => Received::Bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Received::Quiet,
            Err(_) => Received::Closed,
        }
    }

    fn end(&mut self) -> Loss {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let begin = Instant::now();
        let mut status = self.has_ended();
        // Whoever asks because of a closed channel comes before the process is gone.
        while status.is_none() && begin.elapsed() < FAREWELL {
            thread::sleep(TICK);
            status = self.has_ended();
        }
        let ended = status.map_or_else(
            || Loss::Died("process closed its channel to the program".to_owned()),
            |status| loss(&status),
        );
        self.finish(ended.clone());
        ended
    }

    fn kill(&mut self) {
        if self.ended.is_none() {
            self.finish(Loss::Died("process was ended".to_owned()));
        }
    }

    fn used(&mut self) -> Duration {
        let of_process = |process: &PathBuf| {
            let stat = stat(process);
            let times = stat.iter().skip(USER_TIME).take(2);
            times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>()
        };
        let ticks: u64 = self.processes().iter().map(of_process).sum();
        Duration::from_millis(ticks * 1000 / clock_ticks_per_second())
    }

    fn is_runnable(&mut self) -> bool {
        let processes = self.processes();
        let mut threads = processes.iter().flat_map(|process| threads(process));
        threads.any(|thread| stat(&thread).first().is_some_and(|state| state == "R"))
    }
}

/// The threads of a process.
fn threads(process: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten();
    threads.flatten().map(|thread| thread.path())
}

/// Where the processor time is in [`stat`]: of the program, and then of the system for it.
const USER_TIME: usize = 11;

/// What the system says of a process or thread, from its state on; nothing if it is gone.
fn stat(of: &Path) -> Vec<String> {
    let stat = fs::read_to_string(of.join("stat")).unwrap_or_default();
    // The name before the state may have blanks and parentheses.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().map(str::to_owned).collect()
}

/// Whether a file is ready for `what` within `timeout`.
fn wait_for(file: &File, what: PollFlags, timeout: Duration) -> bool {
    let timeout = Timespec::try_from(timeout).ok();
    let mut files = [PollFd::new(file, what)];
    poll(&mut files, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}

/// The signals that people and systems end other processes with; RTL seldom sends one to itself.
const FROM_OUTSIDE: [Signal; 5] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::XCPU];

/// How a process ended, in words that begin the same whenever it ends like that.
fn loss(status: &WaitIdStatus) -> Loss {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Loss::Died(format!("process exited with code {code}")),
        (None, Some(signal)) => {
            let how = format!("process killed by {}", signal_name(signal));
            if signal == Signal::KILL.as_raw() {
                Loss::Killed(how)
            } else if FROM_OUTSIDE.iter().any(|outside| outside.as_raw() == signal) {
                Loss::Signalled(how)
            } else {
                Loss::Died(how)
            }
        }
        (None, None) => Loss::Died("process ended".to_owned()),
    }
}

fn signal_name(signal: i32) -> String {
    let known = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let found = known.iter().find(|(known, _)| known.as_raw() == signal);
    found.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process like a worker's, that does what a shell is told.
    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = OwnedFd::from(child.stdin.take().unwrap());
        let replies = OwnedFd::from(child.stdout.take().unwrap());
        Process {
            child,
            requests: requests.into(),
            replies: replies.into(),
            ended: None,
            _temporary: None,
        }
    }

    fn end_of(script: &str) -> Loss {
        let mut process = shell(script);
        let mut buffer = Vec::new();
        let begin = Instant::now();
        while process.receive(&mut buffer, Duration::from_millis(10)) != Received::Closed {
            assert!(begin.elapsed() < Duration::from_secs(60), "{script}");
        }
        process.end()
    }

    #[test]
    fn how_a_process_ended_is_told() {
        let died = |how: &str| Loss::Died(how.to_owned());
        assert_eq!(end_of("exit 0"), died("process exited with code 0"));
        assert_eq!(end_of("exit 3"), died("process exited with code 3"));
        assert_eq!(end_of("kill -SEGV $$"), died("process killed by SIGSEGV"));
        assert_eq!(end_of("kill -ABRT $$"), died("process killed by SIGABRT"));
        assert_eq!(end_of("kill -KILL $$"), Loss::Killed("process killed by SIGKILL".to_owned()));
        let signalled = Loss::Signalled("process killed by SIGTERM".to_owned());
        assert_eq!(end_of("kill -TERM $$"), signalled);
    }

    #[test]
    fn the_system_says_what_a_process_does() {
        let mut busy = shell("while :; do :; done");
        let mut parent = shell("sh -c 'while :; do :; done'; exit 1");
        let mut idle = shell("exec sleep 1000");
        for process in [&mut busy, &mut parent] {
            while process.used() < Duration::from_millis(50) {
                assert!(process.has_ended().is_none());
                thread::sleep(TICK);
            }
            assert!(process.is_runnable());
        }
        while idle.is_runnable() {
            thread::sleep(TICK);
        }
        busy.kill();
        assert!(!busy.is_runnable());
        assert_eq!(busy.used(), Duration::ZERO);
    }

    /// Does a dropped process end, with the processes that it started?
    #[test]
    fn a_dropped_process_ends_with_its_children() {
        let process = shell("sleep 1000 & wait");
        while process.processes().len() < 2 {
            assert!(process.has_ended().is_none());
            thread::sleep(TICK);
        }
        let processes = process.processes();
        drop(process);
        // A killed child stays until its new parent reaps it.
        let is_gone = |process: &PathBuf| stat(process).first().is_none_or(|state| state == "Z");
        while !processes.iter().all(is_gone) {
            thread::sleep(TICK);
        }
    }

    #[test]
    fn a_closed_channel_is_an_end() {
        let message = "process closed its channel to the program".to_owned();
        assert_eq!(end_of("exec >&- <&-; sleep 1000"), Loss::Died(message));
    }

    #[test]
    fn a_child_that_holds_the_channel_keeps_nobody_waiting_and_ends_too() {
        let message = "process exited with code 5".to_owned();
        assert_eq!(end_of("sleep 1000 & exit 5"), Loss::Died(message));
    }
}
