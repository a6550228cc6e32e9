//! `cosim watch`.

use crate::running::conclude::EarlierRuns;
use crate::running::regression::{Options, Renderer};
use crate::terminal::options::{heading, path};
use crate::{INTERRUPTED, counted, interruption, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_block::rtl::Rtl;
use cosim_formats::run::{End, Group, OutputLocation, Totals};
use cosim_harness::value::short;
use cosim_regress::regression::FinishedRun;
use cosim_rtl::backend;
use cosim_rtl::models::OnDisk;
use notify_debouncer_mini::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Files saved within this time count as one save.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// Polling interval for ^C.
const POLL: Duration = Duration::from_millis(100);
const GROUPS_SHOWN: usize = 8;

/// Ends the text of each run.
const WAITING: &str = "  waiting for the next save";

/// What to run again.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Write the run directory to DIR, which every run replaces [default: runs/watch-BLOCK].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

/// Runs the regression, and repeats it whenever the RTL is saved, until ^C.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let jobs = arguments.options.jobs(None)?;
    let [job] = jobs.as_slice() else {
        let message = "`watch` takes one block; choose it with --block";
        return Err(Error::Usage(codes::CHOOSE_ONE, message.to_owned()));
    };
    let rtl = job.setup.rtl.clone();
    if rtl.paths.is_empty() && rtl.lists.is_empty() {
        let message = "no RTL to watch; name it, as in --rtl my-rtl";
        return Err(Error::Usage(codes::NOTHING_SELECTED, message.to_owned()));
    }
    rtl.check_there()?;
    let folder = arguments.out.clone().unwrap_or_else(|| {
        let name = format!("watch-{}", job.block.info().name);
        Path::new("runs").join(name)
    });
    let place = OutputLocation::Named { folder, replace: true };
    let interrupted = interruption()?;
    let mut watcher = Watcher::new(rtl)?;
    let mut renderer = Renderer::new(false);
    let mut last: Option<RunSnapshot> = None;
    for number in 1.. {
        watcher.start_watching()?;
        let mut read = None;
        match job.prepare(&interrupted, &mut |event| renderer.show(event)) {
            Ok(ready) => {
                let started = ready.create_run(&place, &mut |event| renderer.show(event))?;
                let run = ready
                    .run(started, arguments.options.time, &mut |event| renderer.show(event))?;
                let report = EarlierRuns::default().publish(run).run;
                if report.end == End::Interrupted {
                    return Ok(ExitCode::from(INTERRUPTED));
                }
                read = Some(files_read(&report));
                let seen = RunSnapshot::new(&report);
                print_text(&seen.text(number, &report, last.as_ref()))?;
                arguments.options.show_problems(&report)?;
                print_text(WAITING)?;
                last = Some(seen);
            }
            Err(error) if can_saving_help(&error, number == 1) => {
                let error = error.with_code();
                print_text(&format!("run {number}  NOT RUN: {error}\n{WAITING}"))?;
            }
            Err(error) => return Err(error),
        }
        watcher.wait(read, &interrupted)?;
        backend::forget_examined();
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether saving the RTL may help. It does not help against a wrong option or a missing tool.
fn can_saving_help(error: &Error, is_first: bool) -> bool {
    match error {
        Error::Usage(..) => !is_first,
        Error::Build { code, .. } => {
            ![codes::VERILATOR_MISSING, codes::VERILATOR_UNUSABLE, codes::INTERRUPTED]
                .contains(code)
        }
        Error::Write { .. } | Error::Environment(..) | Error::Interrupted => false,
        _ => true,
    }
}

/// The user's files that Verilator read.
fn files_read(report: &FinishedRun) -> Vec<PathBuf> {
    let given = report.header.rtl_files.iter().filter(|file| !file.built_in);
    given.map(|file| PathBuf::from(&file.path)).collect()
}

/// The state of a run, for comparison with the next.
struct RunSnapshot {
    signatures: BTreeSet<String>,
    cycles_per_second: f64,
}

impl RunSnapshot {
    fn new(report: &FinishedRun) -> Self {
        let signatures = report.failures.iter().map(|group| group.signature.to_string());
        let cycles_per_second = report.timing.cycles_per_second;
        Self { signatures: signatures.collect(), cycles_per_second }
    }

    /// The verdict in one line, then the failures, marked as new, and those that disappeared.
    fn text(&self, number: u64, report: &FinishedRun, last: Option<&Self>) -> String {
        let Totals { cases, cycles, .. } = report.tally.totals;
        let was = last.map(|last| format!(", {} before", short(last.cycles_per_second)));
        let mut text = format!(
            "run {number}  {}  {}: {}, {} of them failed; {} cycles compared in {:.1} s ({} cycles/s{})\n",
            report.verdict(),
            report.header.block,
            counted(cases, "case"),
            report.tally.totals.failures(),
            short(cycles as f64),
            report.timing.seconds,
            short(self.cycles_per_second),
            was.unwrap_or_default(),
        );
        for group in report.failures.iter().take(GROUPS_SHOWN) {
            let Group { signature, count, first, .. } = group;
            let is_new = last.is_none_or(|last| !last.signatures.contains(&signature.to_string()));
            let what = if is_new { "new  " } else { "still" };
            let _ = write!(text, "  {what}  {signature}: {}", counted(*count, "case"));
            let vector = first.vector.as_ref().map(|vector| report.folder.join(vector));
            match vector {
                Some(vector) => writeln!(text, ", {}", vector.display()),
                None => writeln!(text),
            }
            .unwrap_or_default();
        }
        if report.failures.len() > GROUPS_SHOWN {
            let _ = writeln!(text, "  and {} more", report.failures.len() - GROUPS_SHOWN);
        }
        for gone in last.iter().flat_map(|last| last.signatures.difference(&self.signatures)) {
            let _ = writeln!(text, "  gone   {gone}");
        }
        text
    }
}

/// Waits for saves. Events of the system only wake it up; it compares the files on disk, so that
/// reading a file or writing an editor's backup is no save.
struct Watcher {
    rtl: Rtl,
    /// The files that Verilator read in the last run.
    read: Vec<PathBuf>,
    /// The state of the files before the last run.
    seen: OnDisk,
    debouncer: Debouncer<RecommendedWatcher>,
    events: Receiver<DebounceEventResult>,
}

impl Watcher {
    fn new(rtl: Rtl) -> Result<Self, Error> {
        let (sender, events) = channel();
        let debouncer = new_debouncer(DEBOUNCE, sender).map_err(|error| cannot_watch(&error))?;
        Ok(Self { rtl, read: Vec::new(), seen: OnDisk::default(), debouncer, events })
    }

    fn start_watching(&mut self) -> Result<(), Error> {
        self.seen = self.read_files()?;
        Ok(())
    }

    /// Waits for a save since the last [`Watcher::start_watching`]. `read` lists the files that
    /// Verilator read since.
    fn wait(&mut self, read: Option<Vec<PathBuf>>, interrupted: &AtomicBool) -> Result<(), Error> {
        let known = self.read.clone();
        if let Some(read) = read {
            self.read = read;
        }
        // The comparison below finds saves before this point. Later ones cause an event.
        let now = self.read_files()?;
        let seen = std::mem::replace(&mut self.seen, now);
        if OnDisk::snapshot(&self.rtl, &known) != seen {
            return self.settle();
        }
        while !interrupted.load(Ordering::Relaxed) {
            match self.events.recv_timeout(POLL) {
                Ok(_) if self.read_files()? != self.seen => return self.settle(),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "the system stopped reporting changes of files; start `watch` \
                         again";
                    return Err(Error::Environment(codes::CANNOT_WATCH, message.to_owned()));
                }
            }
        }
        Err(Error::Interrupted)
    }

    /// Waits until nothing was written for a moment, which ends a save.
    fn settle(&mut self) -> Result<(), Error> {
        let mut before = self.read_files()?;
        loop {
            thread::sleep(DEBOUNCE);
            let now = self.read_files()?;
            if now == before {
                return Ok(());
            }
            before = now;
        }
    }

    /// Reads the state of the files. Watches their folders first, so that no change is missed.
    fn read_files(&mut self) -> Result<OnDisk, Error> {
        let now = OnDisk::snapshot(&self.rtl, &self.read);
        for folder in now.folders() {
            let watched = self.debouncer.watcher().watch(folder, RecursiveMode::NonRecursive);
            // The removal of a folder shows in its parent folder.
            if let Err(error) = watched
                && folder.is_dir()
            {
                return Err(cannot_watch(&error));
            }
        }
        Ok(OnDisk::snapshot(&self.rtl, &self.read))
    }
}

fn cannot_watch(error: &notify_debouncer_mini::notify::Error) -> Error {
    Error::Environment(
        codes::CANNOT_WATCH,
        format!(
            "cannot watch files: {error}; raise the limits fs.inotify.max_user_watches and \
             fs.inotify.max_user_instances with sysctl"
        ),
    )
}
