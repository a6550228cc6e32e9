//! A worker's process, from outside.

use super::attend::{Link, Received};
use crate::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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
}

/// The program that workers are started from: this one, as a rule.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    limits: Limits,
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
                Error::Environment(format!("cannot tell where this program is: {error}"))
            })?
        };
        Ok(Self { path, limits })
    }

    /// Another program of this library, for a process that cannot be a worker itself: a test.
    pub fn at(path: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { path: path.into(), limits }
    }

    /// What its workers may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Starts a worker. It ends when the thread does that called this.
    ///
    /// # Errors
    /// [`Error::Environment`] if there can be no further process.
    pub fn start(&self) -> Result<Process, Error> {
        let failed = |error: io::Error| {
            Error::Environment(format!("cannot start a process for the model: {error}"))
        };
        let mut command = Command::new(&self.path);
        command.arg0("cosim").arg("worker").arg("--parent").arg(process::id().to_string());
        if let Some(memory) = self.limits.memory {
            command.arg("--memory").arg(memory.to_string());
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::other("no pipes")));
        };
        let (requests, replies) = (OwnedFd::from(requests), OwnedFd::from(replies));
        rustix::io::ioctl_fionbio(&requests, true).map_err(|error| failed(error.into()))?;
        Ok(Process { child, requests: requests.into(), replies: replies.into(), ended: None })
    }
}

/// A worker's process. Dropping it ends it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    requests: File,
    replies: File,
    /// How it ended.
    ended: Option<String>,
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

    /// Kills it and everything that it started, and takes note of its end.
    fn finish(&mut self, ended: String) {
        if let Some(pid) = self.pid() {
            // It may have left its group, or not be in it yet.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.ended = Some(ended);
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

    fn end(&mut self) -> String {
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
            || "process closed its channel to the program".to_owned(),
            |status| description(&status),
        );
        self.finish(ended.clone());
        ended
    }

    fn kill(&mut self) {
        if self.ended.is_none() {
            self.finish("process was ended".to_owned());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether a file is ready for `what` within `timeout`.
fn wait_for(file: &File, what: PollFlags, timeout: Duration) -> bool {
    let timeout = Timespec::try_from(timeout).ok();
    let mut files = [PollFd::new(file, what)];
    poll(&mut files, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}

/// How a process ended, in words that begin the same whenever it ends like that.
fn description(status: &WaitIdStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("process exited with code {code}"),
        (None, Some(signal)) => format!("process killed by {}", signal_name(signal)),
        (None, None) => "process ended".to_owned(),
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
        Process { child, requests: requests.into(), replies: replies.into(), ended: None }
    }

    fn end_of(script: &str) -> String {
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
        assert_eq!(end_of("exit 0"), "process exited with code 0");
        assert_eq!(end_of("exit 3"), "process exited with code 3");
        assert_eq!(end_of("kill -SEGV $$"), "process killed by SIGSEGV");
        assert_eq!(end_of("kill -ABRT $$"), "process killed by SIGABRT");
    }

    #[test]
    fn a_closed_channel_is_an_end() {
        let message = "process closed its channel to the program";
        assert_eq!(end_of("exec >&- <&-; sleep 1000"), message);
    }

    #[test]
    fn a_child_that_holds_the_channel_keeps_nobody_waiting_and_ends_too() {
        assert_eq!(end_of("sleep 1000 & exit 5"), "process exited with code 5");
    }
}
