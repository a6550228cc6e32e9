//! Programs that are run: watched, so that an interruption ends them.

use crate::Error;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How often a running program is looked at.
const TICK: Duration = Duration::from_millis(5);
/// How long a program may take to end once it was asked to.
const GRACE: Duration = Duration::from_millis(300);

/// Ends every program that this crate runs in this process, and lets it begin no other; what was asked
/// for returns [`Error::Interrupted`]. Safe to call from a thread that handles signals.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether [`interrupt`] was called.
pub(crate) fn check() -> Result<(), Error> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Waits for `ready` until it returns a value.
pub(crate) fn wait<T>(mut ready: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    loop {
        if let Some(value) = ready()? {
            return Ok(value);
        }
        check()?;
        thread::sleep(TICK);
    }
}

/// Runs a program to its end; what it says is in the result. It has a process group of its own: a ^C of the terminal does not reach
/// it, so that its end is never mistaken for a failure.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Program`] if it cannot be begun.
pub fn output(mut command: Command) -> Result<Output, Error> {
    check()?;
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|source| Error::Program { program, source })?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = watch(&mut child);
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    Ok(Output { status: status?, stdout, stderr })
}

/// Reads what a program says on a thread of its own: it waits for nobody with a full pipe.
fn reader<R: Read + Send + 'static>(pipe: Option<R>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is shown; the exit status says how it ended.
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
    // The program and all that it began: a compiler's driver does its work in others.
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
