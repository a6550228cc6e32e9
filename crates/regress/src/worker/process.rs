//! Starts and ends a worker process, and exchanges bytes with it.

use super::loss::Loss;
use super::rtl_log::{Listener, RtlLog};
use super::supervisor::{Link, Received};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::program::ENTRY;
use cosim_block::worker::sandbox::{ActiveSandbox, Sandbox};
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
use std::sync::{Arc, Once, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process that closed its channel may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
/// Polling interval while a process ends.
const TICK: Duration = Duration::from_millis(2);
/// How long a message may wait for a worker that does not read it.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes per read. Resource limits and restrictions of a worker.
const CHUNK: usize = 1 << 16;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time without progress after which a worker counts as hung.
    pub stuck_after: Duration,
    /// Address space in bytes, if limited.
    pub memory: Option<u64>,
    /// Whether the worker restricts itself.
    pub sandbox: Sandbox,
}

#[derive(Debug, Clone)]
pub struct WorkerProgram {
    path: PathBuf,
    limits: Limits,
    in_force: Arc<OnceLock<ActiveSandbox>>,
    log: RtlLog,
}

impl WorkerProgram {
    pub fn from_path(path: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { path: path.into(), limits, in_force: Arc::default(), log: RtlLog::default() }
    }

    /// The active sandbox of the workers, or `None` before the first worker.
    pub fn in_force(&self) -> Option<ActiveSandbox> {
        self.in_force.get().copied()
    }

    /// Records the sandbox that a worker reports. The kernel decides it, so it is the same for all
    /// workers.
    pub(super) fn confined(&self, in_force: ActiveSandbox) {
        if self.in_force.set(in_force).is_ok()
            && let Some(warning) = in_force.warning()
        {
            program::warn(format_args!("{warning}"));
        }
    }

    pub(super) fn log(&self) -> &RtlLog {
        &self.log
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Starts a worker that may write in the folder `writable` only. If a program simulates its
    /// models (`simulated`), it may start that program and gets a folder for temporary files. The
    /// worker ends with the calling thread.
    ///
    /// # Errors
    /// [`Error::Environment`] if no further process can be started.
    pub fn start(&self, writable: Option<&Path>, simulated: bool) -> Result<Process, Error> {
        let failed = |error: io::Error| {
            Error::Environment(
                codes::SYSTEM,
                format!("cannot start a process for the model: {error}"),
            )
        };
        static IS_KEPT: Once = Once::new();
        IS_KEPT.call_once(verilated::keep_inherited_files);
        let mut command = Command::new(&self.path);
        command.arg0("cosim").args([ENTRY, "serve", "--parent"]).arg(process::id().to_string());
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
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(requests), Some(replies), Some(printed)) = pipes else {
            return Err(failed(io::Error::other("no pipes")));
        };
        let (requests, replies) = (OwnedFd::from(requests), OwnedFd::from(replies));
        let mut process = Process {
            child,
            requests: requests.into(),
            replies: replies.into(),
            printed: None,
            ended: None,
            _temporary: temporary,
        };
        rustix::io::ioctl_fionbio(&process.requests, true).map_err(|error| failed(error.into()))?;
        process.printed = Some(self.log.listen(printed).map_err(failed)?);
        Ok(process)
    }
}

/// A worker's process. Dropping it ends it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    requests: File,
    replies: File,
    /// Shows what the RTL prints.
    printed: Option<Listener>,
    ended: Option<Loss>,
    _temporary: Option<TempDir>,
}

impl Process {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// The exit status, if the process has ended. It stays a zombie, so that its PID is not reused.
    fn has_ended(&self) -> Option<WaitIdStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid()?), options).ok().flatten()
    }

    /// The process and its children: a simulator program runs as a child.
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

    /// Kills the process with its children and records how it ended.
    fn finish(&mut self, ended: Loss) {
        if let Some(pid) = self.pid() {
            // The process may have left its group, or not have joined it yet.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(printed) = &mut self.printed {
            printed.end();
        }
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
                    if begin.elapsed() > SEND_TIMEOUT {
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
            // A child of the process may hold the channel open.
            return if self.has_ended().is_some() && !wait_for(&self.replies, PollFlags::IN, TICK) {
                Received::Closed
            } else {
                Received::Quiet
            };
        }
        let mut chunk = [0; CHUNK];
        match self.replies.read(&mut chunk) {
            Ok(0) => Received::Closed,
            Ok(read) => {
                buffer.extend_from_slice(&chunk[..read]);
                Received::Bytes
            }
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
        // The channel may close before the process has ended.
        while status.is_none() && begin.elapsed() < EXIT_TIMEOUT {
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

/// The `/proc` folders of a process's threads.
fn threads(process: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten();
    threads.flatten().map(|thread| thread.path())
}

/// Index of the user time in [`stat`]; the system time follows.
const USER_TIME: usize = 11;

/// The fields of `/proc/*/stat` from the state on. Empty if the process or thread is gone.
fn stat(of: &Path) -> Vec<String> {
    let stat = fs::read_to_string(of.join("stat")).unwrap_or_default();
    // The name before the state may contain blanks and parentheses.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().map(str::to_owned).collect()
}

/// Whether a file is ready for `what` within `timeout`.
fn wait_for(file: &File, what: PollFlags, timeout: Duration) -> bool {
    let timeout = Timespec::try_from(timeout).ok();
    let mut files = [PollFd::new(file, what)];
    poll(&mut files, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}

/// Signals that people and batch systems use to end processes. RTL seldom sends one to itself.
const FROM_OUTSIDE: [Signal; 5] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::XCPU];

/// How a process ended. The same cause always gives the same text prefix.
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

    /// A process with a worker's channel that runs a shell script.
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
            printed: None,
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
    fn the_way_a_process_ends_gives_its_loss() {
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
    fn processor_time_and_state_come_from_proc() {
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
    fn a_child_that_holds_the_channel_ends_with_its_process() {
        let message = "process exited with code 5".to_owned();
        assert_eq!(end_of("sleep 1000 & exit 5"), Loss::Died(message));
    }
}
