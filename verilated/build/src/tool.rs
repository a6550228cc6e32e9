//! Runs programs so that an interruption ends them.

use crate::Error;
use crate::activity::Activity;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, prlimit};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The signal that ends a program at its limit of processor time.
pub const EXCEEDED: i32 = Signal::XCPU.as_raw();
/// Polling interval of a running program.
const TICK: Duration = Duration::from_millis(5);
/// How long a program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(300);

/// Ends every program that this crate runs in this process and prevents new ones. The operations
/// return [`Error::Interrupted`]. Safe to call from a thread that handles signals.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Fails after a call of [`interrupt`].
pub(crate) fn check() -> Result<(), Error> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Polls `ready` until it returns a value.
pub(crate) fn wait<T>(mut ready: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    loop {
        if let Some(value) = ready()? {
            return Ok(value);
        }
        check()?;
        thread::sleep(TICK);
    }
}

/// Runs a program to its end and returns its output. The program has its own process group, so that
/// a ^C of the terminal does not reach it and is not mistaken for a failure.
///
/// # Errors
/// [`Error::Interrupted`], or [`Error::Program`] if it cannot be started.
pub fn output(command: Command) -> Result<Output, Error> {
    watched(command, None)
}

/// Runs a program like [`output`], limited to `seconds` of processor time. [`EXCEEDED`] ends it at
/// the limit.
///
/// # Errors
/// As [`output`].
pub fn output_within(seconds: u64, command: Command) -> Result<Output, Error> {
    watched(command, Some(seconds))
}

fn watched(mut command: Command, seconds: Option<u64>) -> Result<Output, Error> {
    check()?;
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut child = spawned.map_err(|source| Error::Program { program, source })?;
    let _activity = Activity::begin(format!("running {name}"));
    if let (Some(pid), Some(_)) = (Pid::from_raw(child.id().cast_signed()), seconds) {
        let limit = Rlimit { current: seconds, ..getrlimit(Resource::Cpu) };
        // Fails if the program has ended already.
        let _ = prlimit(Some(pid), Resource::Cpu, limit);
    }
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = watch(&mut child);
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    Ok(Output { status: status?, stdout, stderr })
}

/// Reads a program's output on a separate thread, so that the program does not block on a full
/// pipe.
fn reader<R: Read + Send + 'static>(pipe: Option<R>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A read error keeps the output so far; the exit status reports failures.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

fn watch(child: &mut Child) -> Result<ExitStatus, Error> {
    let failed = Error::io(Path::new("a running program"));
    let ended = wait(|| child.try_wait().map_err(Error::io(Path::new("a running program"))));
    if !matches!(ended, Err(Error::Interrupted)) {
        return ended;
    }
    // End the whole process group: a compiler driver starts further programs.
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let end = |signal| group.is_some_and(|group| kill_process_group(group, signal).is_ok());
    end(Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            break;
        }
        thread::sleep(TICK);
    }
    end(Signal::KILL);
    child.wait().map_err(failed)?;
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_program_that_computes_for_too_long_is_ended_by_a_signal() {
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            command
        };
        let output = output_within(1, shell("while :; do :; done")).unwrap();
        assert_eq!(output.status.signal(), Some(EXCEEDED), "{output:?}");
        let output = output_within(1, shell("sleep 1.5; echo end")).unwrap();
        assert_eq!(output.stdout, b"end\n", "time that passes is no work");
    }
}
