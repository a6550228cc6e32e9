//! Runs programs so that an interruption ends them and their output stays bounded.
//!
//! RTL decides how much a tool prints. Messages for people keep their first and their last MiB. Of
//! output that decides something, all is kept, and more than a limit is an error.

use crate::Error;
use crate::activity::Activity;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, prlimit};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The signal that ends a program at its limit of processor time.
pub const EXCEEDED: i32 = Signal::XCPU.as_raw();
/// What is kept of messages, at their start and at their end.
const END: usize = 1 << 20;
/// The most that is read of a file that a tool wrote: the description of the largest designs.
const MOST_FILE: u64 = 1 << 30;
/// Where the system says how much memory the machine has.
const MEMORY: &str = "/proc/meminfo";
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
///
/// # Errors
/// [`Error::Interrupted`].
pub fn check_interrupted() -> Result<(), Error> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Polls `ready` until it returns a value.
pub(crate) fn wait<T>(mut ready: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    loop {
        if let Some(value) = ready()? {
            return Ok(value);
        }
        check_interrupted()?;
        thread::sleep(TICK);
    }
}

/// How much of a stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The start and the end, for messages.
    Ends,
    /// Everything, because it decides something; more than so many bytes are an error.
    All(usize),
}

/// All of the output that is parsed.
pub(crate) const ALL: Keep = Keep::All(256 << 20);

/// Runs a program to its end and returns its messages, of which a long middle part is left out. The
/// program has its own process group, so that a ^C of the terminal does not reach it and is not
/// mistaken for a failure.
///
/// # Errors
/// [`Error::Interrupted`], or [`Error::Program`] if it cannot be started.
pub fn messages(command: Command) -> Result<Output, Error> {
    messages_until(None, command)
}

/// Runs a program like [`messages`], and ends it at the deadline, if there is one.
///
/// # Errors
/// As [`messages`]. [`Error::Late`] at the deadline.
pub fn messages_until(deadline: Option<Instant>, command: Command) -> Result<Output, Error> {
    watched(command, &[], deadline, [Keep::Ends; 2])
}

/// Runs a program like [`messages`], limited to `seconds` of processor time. [`EXCEEDED`] ends it
/// at the limit.
///
/// # Errors
/// As [`messages`].
pub fn messages_within(seconds: u64, command: Command) -> Result<Output, Error> {
    watched(command, &within(seconds), None, [Keep::Ends; 2])
}

/// Runs a program like [`messages_within`] and returns all of its standard output. One that sleeps
/// uses no processor time: it is ended at the deadline, if there is one.
///
/// # Errors
/// As [`messages`]. [`Error::TooMuch`] if the output is too long to be read. [`Error::Late`] at the
/// deadline.
pub fn answer_within(
    seconds: u64,
    deadline: Option<Instant>,
    command: Command,
) -> Result<Output, Error> {
    watched(command, &within(seconds), deadline, [ALL, Keep::Ends])
}

/// Runs a program with as large a stack as the system permits: Verilator follows expressions as
/// deep as they are nested. Its memory is limited: a parameter that only stands for a value lets it
/// unroll loops until the machine has none left. Returns of standard output and standard error what
/// `keep` says.
pub(crate) fn with_large_stack(command: Command, keep: [Keep; 2]) -> Result<Output, Error> {
    let own = getrlimit(Resource::Stack);
    let limits = [
        (Resource::Stack, Rlimit { current: own.maximum, ..own }),
        (Resource::As, Rlimit { current: Some(most_memory()), ..getrlimit(Resource::As) }),
    ];
    watched(command, &limits, None, keep)
}

/// The most memory of a Verilator, in bytes: half of that of the machine, and at least 8 GiB.
fn most_memory() -> u64 {
    let text = std::fs::read_to_string(MEMORY).unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib << 9).max(8 << 30)
}

fn within(seconds: u64) -> [(Resource, Rlimit); 1] {
    [(Resource::Cpu, Rlimit { current: Some(seconds), ..getrlimit(Resource::Cpu) })]
}

/// Whether a program ended by a fault of its own, and not because another one killed it.
pub fn is_crash(status: ExitStatus) -> bool {
    let faults = [Signal::SEGV, Signal::ABORT, Signal::BUS, Signal::ILL, Signal::FPE];
    status.signal().is_some_and(|signal| faults.iter().any(|fault| fault.as_raw() == signal))
}

/// Reads a text that a tool wrote. Bytes that are not UTF-8, as in a string of the RTL, are
/// replaced.
///
/// # Errors
/// [`Error::TooMuch`] if it is too long. [`Error::Io`].
pub fn written_text(path: &Path) -> Result<String, Error> {
    read_at_most(path, MOST_FILE)
}

fn read_at_most(path: &Path, most: u64) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io(path))?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(Error::io(path))?;
    if bytes.len() as u64 > most {
        let what = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(Error::TooMuch { what, most: most >> 20 });
    }
    Ok(text(bytes))
}

/// Converts output to text without a copy, if it is UTF-8.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn watched(
    mut command: Command,
    limits: &[(Resource, Rlimit)],
    deadline: Option<Instant>,
    [out, err]: [Keep; 2],
) -> Result<Output, Error> {
    check_interrupted()?;
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |source| Error::Program { program: program.clone(), source };
    let mut child = spawned.map_err(failed)?;
    let _activity = Activity::start(format!("running {name}"));
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        for (resource, limit) in limits {
            // Fails if the program has ended already.
            let _ = prlimit(Some(pid), *resource, *limit);
        }
    }
    let is_too_much = Arc::new(AtomicBool::new(false));
    let check_time = || match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(Error::Late { program: name.clone() }),
        _ => Ok(()),
    };
    let check_output = || match (is_too_much.load(Ordering::Relaxed), out, err) {
        (true, Keep::All(most), _) | (true, _, Keep::All(most)) => {
            let what = format!("the output of {name}");
            Err(Error::TooMuch { what, most: most as u64 >> 20 })
        }
        _ => Ok(()),
    };
    let stdout = reader(child.stdout.take(), out, &is_too_much);
    let stderr = reader(child.stderr.take(), err, &is_too_much);
    let readers = match (stdout, stderr) {
        (Ok(stdout), Ok(stderr)) => [stdout, stderr],
        (Err(source), _) | (_, Err(source)) => {
            end(&mut child)?;
            return Err(failed(source));
        }
    };
    let status = watch(&mut child, || check_time().and_then(|()| check_output()))?;
    if deadline.is_some() {
        // A program that it left behind may hold the pipes open.
        wait(|| {
            let is_read = readers.iter().all(thread::JoinHandle::is_finished);
            if is_read { Ok(Some(())) } else { check_time().map(|()| None) }
        })?;
    }
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap_or_default());
    check_output()?;
    Ok(Output { status, stdout, stderr })
}

/// Reads a program's output on a separate thread, so that the program does not block on a full
/// pipe. Sets `is_too_much` if it cannot keep all that it must.
fn reader<R: Read + Send + 'static>(
    pipe: Option<R>,
    keep: Keep,
    is_too_much: &Arc<AtomicBool>,
) -> io::Result<thread::JoinHandle<Vec<u8>>> {
    let is_too_much = Arc::clone(is_too_much);
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let Some(mut pipe) = pipe else { return bytes };
        // A read error keeps the output so far; the exit status reports failures.
        match keep {
            Keep::Ends => bytes = ends(pipe, END),
            Keep::All(most) => {
                let _ = pipe.by_ref().take(most as u64 + 1).read_to_end(&mut bytes);
                if bytes.len() > most {
                    is_too_much.store(true, Ordering::Relaxed);
                    bytes = Vec::new();
                    let _ = io::copy(&mut pipe, &mut io::sink());
                }
            }
        }
        bytes
    })
}

/// Reads to the end and keeps `most` bytes of the start and of the end.
fn ends(mut pipe: impl Read, most: usize) -> Vec<u8> {
    let mut first = Vec::new();
    let _ = pipe.by_ref().take(most as u64).read_to_end(&mut first);
    let (mut last, mut left_out) = (VecDeque::<u8>::new(), 0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                last.extend(&buffer[..read]);
                let excess = last.len().saturating_sub(most);
                left_out += excess;
                last.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    if left_out > 0 {
        first.extend(format!("\n... {left_out} bytes are left out ...\n").into_bytes());
    }
    first.extend(last);
    first
}

/// Waits for a program. Ends its process group after an interruption, or if `check` fails.
fn watch(child: &mut Child, check: impl Fn() -> Result<(), Error>) -> Result<ExitStatus, Error> {
    let ended = wait(|| {
        let status = child.try_wait().map_err(Error::io(Path::new("a running program")))?;
        if status.is_none() {
            check()?;
        }
        Ok(status)
    });
    if matches!(ended, Err(Error::Interrupted | Error::TooMuch { .. } | Error::Late { .. })) {
        end(child)?;
    }
    ended
}

/// Ends the process group of a program: a compiler driver starts further programs.
fn end(child: &mut Child) -> Result<(), Error> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let send = |signal| group.is_some_and(|group| kill_process_group(group, signal).is_ok());
    send(Signal::TERM);
    let requested = Instant::now();
    while requested.elapsed() < GRACE {
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            break;
        }
        thread::sleep(TICK);
    }
    send(Signal::KILL);
    child.wait().map_err(Error::io(Path::new("a running program")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn long_messages_keep_their_start_and_their_end() {
        let output =
            messages(shell("echo first; head -c 8388608 /dev/zero; echo last; echo err >&2"));
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("first\n") && text.ends_with("last\n"));
        assert!(text.len() < 2 * END + 100, "{}", text.len());
        assert!(text.contains("\n... 6291467 bytes are left out ...\n"));
        assert_eq!(output.stderr, b"err\n");
        for length in [0, 1, 5, 9, 10, 11, 1000] {
            let bytes: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
            let kept = ends(&*bytes, 5);
            if length <= 10 {
                assert_eq!(kept, bytes);
            } else {
                assert!(kept.starts_with(&bytes[..5]) && kept.ends_with(&bytes[length - 5..]));
            }
        }
    }

    #[test]
    fn an_answer_is_whole_or_an_error() {
        let output = answer_within(60, None, shell("head -c 8388608 /dev/zero")).unwrap();
        assert_eq!(output.stdout.len(), 8 << 20);
        // It never ends by itself.
        let endless = shell("trap '' PIPE TERM; cat /dev/zero");
        let error = watched(endless, &[], None, [Keep::All(1 << 20), Keep::Ends]);
        assert!(matches!(error, Err(Error::TooMuch { .. })), "{error:?}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"1234\xff").unwrap();
        assert_eq!(read_at_most(file.path(), 5).unwrap(), "1234\u{fffd}");
        assert!(matches!(read_at_most(file.path(), 4), Err(Error::TooMuch { .. })));
    }

    #[test]
    fn a_program_that_computes_for_too_long_is_ended_by_a_signal() {
        let output = messages_within(1, shell("while :; do :; done")).unwrap();
        assert_eq!(output.status.signal(), Some(EXCEEDED), "{output:?}");
        let output = messages_within(1, shell("sleep 1.5; echo end")).unwrap();
        assert_eq!(output.stdout, b"end\n", "time that passes is no work");
    }

    #[test]
    fn a_program_that_sleeps_for_too_long_is_ended() {
        // The second leaves a program behind that holds its output open.
        for endless in ["trap '' TERM; sleep 1000", "setsid sleep 20 & echo end"] {
            let deadline = Instant::now() + Duration::from_millis(200);
            let error = messages_until(Some(deadline), shell(endless));
            assert!(matches!(error, Err(Error::Late { .. })), "{endless}: {error:?}");
        }
        let in_seconds = |seconds| Instant::now().checked_add(Duration::from_secs(seconds));
        let error = answer_within(1, in_seconds(1), shell("sleep 1000"));
        assert!(matches!(error, Err(Error::Late { .. })), "{error:?}");
        let output = answer_within(1000, in_seconds(1000), shell("echo end")).unwrap();
        assert_eq!(output.stdout, b"end\n");
        let output = messages_until(Some(Instant::now() + GRACE * 1000), shell("echo end"));
        assert_eq!(output.unwrap().stdout, b"end\n");
    }
}
