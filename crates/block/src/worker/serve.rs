//! The worker's side: receives work, runs it, and sends the results.
//!
//! One thread reads requests, so that a cancellation arrives while a model runs. A second thread
//! runs the model. A third reports progress several times per second. Standard input and output
//! belong to the RTL, so the channel uses other descriptors.

use super::sandbox::{self, ActiveSandbox};
use super::wire::{Answer, Frames, MAX_LENGTH, Refusal, Reply, Request, Work, frame};
use crate::blocks::Program;
use crate::engine::{Models, SessionSetup, ShrinkProgress, ShrunkVector};
use crate::vector::VectorFile;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{Outcome, Watch};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
};
use std::any::Any;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between reports that the worker is alive.
const HEARTBEAT: Duration = Duration::from_millis(200);
/// Shortest interval between progress reports of a shrink.
const SHRINK_REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// Shortest interval between sending the smallest vector, as a multiple of the time to produce it.
const BEST_SHARE: u32 = 20;
/// Stack of the model's thread, in bytes.
const STACK: usize = 16 << 20;
/// Bytes per read.
const CHUNK: usize = 1 << 16;

/// Command line settings of a worker.
#[derive(Debug, Default)]
pub struct Settings {
    /// PID of the process that started it.
    pub parent: i32,
    /// Address space limit in bytes.
    pub memory: Option<u64>,
    /// Run without a sandbox.
    pub no_sandbox: bool,
    /// Folders in which files may be written.
    pub writable: Vec<PathBuf>,
    /// Whether a simulator program runs the models.
    pub simulated: bool,
}

/// Serves requests until the channel closes.
///
/// # Errors
/// [`Error::Environment`] if a system call fails.
pub fn serve(program: &'static Program, settings: &Settings) -> Result<ExitCode, Error> {
    confine(settings)?;
    let (mut requests, replies) = channel().map_err(|error| environment(&error))?;
    // Enter the sandbox first: other threads inherit it.
    let in_force = match settings.no_sandbox {
        true => Ok(ActiveSandbox::Off),
        false => sandbox::enter(&settings.writable, settings.simulated),
    };
    let replies = Arc::new(Mutex::new(replies));
    let in_force = match in_force {
        Ok(in_force) => in_force,
        Err(error) => {
            send(&replies, &Reply::NotReady(Refusal::from_error(&error)));
            return Ok(ExitCode::FAILURE);
        }
    };
    send(&replies, &Reply::Started(in_force));
    let watch = Arc::new(Watch::default());
    let (sender, work) = mpsc::channel();
    let (candidates, outcomes) = mpsc::channel();
    let of_model = Worker {
        program,
        replies: Arc::clone(&replies),
        watch: Arc::clone(&watch),
        models: None,
        outcomes,
    };
    thread::Builder::new()
        // The panic hook knows the thread by this name: a panic in a case is its verdict, not an
        // internal error.
        .name("case-model".to_owned())
        .stack_size(STACK)
        .spawn(move || of_model.work(&work))
        .map_err(|error| environment(&error))?;
    let of_heart = Arc::clone(&watch);
    let heart = move || -> () {
        loop {
            thread::sleep(HEARTBEAT);
            send(&replies, &Reply::Alive(of_heart.progress()));
        }
    };
    thread::Builder::new().spawn(heart).map_err(|error| environment(&error))?;
    let mut frames = Frames::default();
    loop {
        match frames.message(MAX_LENGTH) {
            Ok(Some(Request::Cancel)) => watch.cancel(),
            // The receivers live as long as the process.
            Ok(Some(Request::Judged(outcome))) => drop(candidates.send(outcome)),
            Ok(Some(request)) => drop(sender.send(request)),
            Ok(None) => {
                if read(&mut requests, frames.buffer()).unwrap_or(0) == 0 {
                    return Ok(ExitCode::SUCCESS);
                }
            }
            Err(_) => {
                let message = "this program answers `cosim` only; run `cosim` instead";
                return Err(Error::Usage(codes::COMMAND_LINE, message.to_owned()));
            }
        }
    }
}

fn environment(error: &io::Error) -> Error {
    Error::Environment(codes::SYSTEM, format!("cannot start a worker: {error}"))
}

/// Ends the process with its parent and sets its resource limits.
fn confine(settings: &Settings) -> Result<(), Error> {
    let environment = |error: rustix::io::Errno| environment(&error.into());
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(environment)?;
    if getppid().map(Pid::as_raw_pid) != Some(settings.parent) {
        // The parent has ended already.
        process::exit(1);
    }
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).map_err(environment)?;
    if let Some(memory) = settings.memory {
        let limit = Rlimit { current: Some(memory), maximum: Some(memory) };
        // Fails if the user has a lower limit, which then stays.
        let _ = setrlimit(Resource::As, limit);
    }
    Ok(())
}

/// Reserves standard input and output for the channel. Output of the RTL goes to standard error, a
/// pipe to the tool.
fn channel() -> io::Result<(File, File)> {
    let requests = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let replies = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = OpenOptions::new().read(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((requests, replies))
}

fn read(from: &mut File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut chunk = [0; CHUNK];
    let read = from.read(&mut chunk)?;
    buffer.extend_from_slice(&chunk[..read]);
    Ok(read)
}

/// Sends a message. A worker that cannot send aborts.
fn send(replies: &Mutex<File>, reply: &Reply) {
    let Ok(bytes) = frame(reply) else {
        // The parent sees the abort as the loss of the worker.
        process::abort();
    };
    let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
    if replies.write_all(&bytes).is_err() {
        process::abort();
    }
}

/// The state of the model's thread.
struct Worker {
    program: &'static Program,
    replies: Arc<Mutex<File>>,
    watch: Arc<Watch>,
    models: Option<Box<dyn Models>>,
    /// The outcomes of candidates that the tool ran.
    outcomes: Receiver<Option<Box<Outcome>>>,
}

impl Worker {
    fn work(mut self, requests: &Receiver<Request>) {
        for request in requests {
            let reply = match request {
                Request::Open(opening) => self.open(&opening),
                Request::Work { place, work } => {
                    let run = AssertUnwindSafe(|| self.answer(&work));
                    let answer = catch_unwind(run).unwrap_or_else(|payload| {
                        Answer::Panicked(panic_message(payload.as_ref()))
                    });
                    Reply::Done { place, answer }
                }
                Request::Cancel | Request::Judged(_) => continue,
            };
            send(&self.replies, &reply);
        }
    }

    fn answer(&self, work: &Work) -> Answer {
        let refused = |error: Error| Answer::Refused(Refusal::from_error(&error));
        match (work, &self.models) {
            (Work::Case(case), Some(models)) => {
                let run = || models.run(case, &self.watch);
                Answer::Case(Box::new(self.watch.model(run)))
            }
            (Work::Case(_), None) => refused(Error::Environment(
                codes::WORKER_FAILED,
                "a case came before its models".to_owned(),
            )),
            (Work::Task(task), _) => {
                let mut reporter = ShrinkReporter::new(&self.replies);
                let mut run = |candidate: VectorFile| {
                    send(&self.replies, &Reply::Candidate(Box::new(candidate)));
                    self.outcomes.recv().ok().flatten().map(|outcome| *outcome)
                };
                let result = task.run(self.program, &self.watch, &mut reporter, &mut run);
                result.map_or_else(refused, Answer::Task)
            }
            (Work::Query(block, query), _) => {
                let answer = self.program.find(block).and_then(|block| block.answer(query));
                answer.map_or_else(refused, Answer::Query)
            }
        }
    }

    fn open(&mut self, opening: &SessionSetup) -> Reply {
        let block = self.program.find(&opening.block);
        match block.and_then(|block| self.watch.model(|| block.open(opening))) {
            Ok(models) => {
                self.models = Some(models);
                Reply::Ready
            }
            Err(error) => Reply::NotReady(Refusal::from_error(&error)),
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without message".to_owned())
}

/// Reports the progress of a shrink at a limited rate.
struct ShrinkReporter<'a> {
    replies: &'a Mutex<File>,
    last_report: Instant,
    /// When the smallest vector was last sent. The first is sent at once.
    best: Option<Instant>,
    /// The time to produce the last vector that was sent.
    cost: Duration,
}

impl<'a> ShrinkReporter<'a> {
    fn new(replies: &'a Mutex<File>) -> Self {
        Self { replies, last_report: Instant::now(), best: None, cost: Duration::ZERO }
    }
}

impl ShrinkProgress for ShrinkReporter<'_> {
    fn candidate(&mut self, candidates: u64, kept: u64) {
        if self.last_report.elapsed() > SHRINK_REPORT_INTERVAL {
            send(self.replies, &Reply::Shrinking { candidates, kept });
            self.last_report = Instant::now();
        }
    }

    fn keep_best(&mut self, best: &dyn Fn() -> Result<ShrunkVector, Error>) {
        let pause = SHRINK_REPORT_INTERVAL.max(self.cost * BEST_SHARE);
        if self.best.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        let begin = Instant::now();
        if let Ok(best) = best() {
            send(self.replies, &Reply::Best(Box::new(best)));
        }
        self.best = Some(Instant::now());
        self.cost = begin.elapsed();
    }
}
