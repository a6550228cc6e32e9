//! A regression whose models are built.

use super::code::CodeCoverage;
use super::collector::Collector;
use super::{Event, Events, FinishedRun, Outcome, Regression, WriteFailures};
use crate::revision;
use crate::runner::{self, Failures, Limits, Progress as _, Start};
use crate::setup::Session;
use crate::worker::OneShotWorker;
use crate::worker::one_shot::VectorJob;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::engine::{SessionSetup, Waves};
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::coverage::{Database, Recorder, Run, weights_hashes};
use cosim_formats::run::{
    Day, Header, InterruptedRun, Journal, LostWorkers, Moment, OutputLocation, PeakMemory, Plan,
    RtlCopy, RunCommand, RunDirectory, State, Tally, Timing,
};
use cosim_rtl::backend::RtlModels as _;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub struct RunStart {
    directory: RunDirectory,
    journal: Option<Journal>,
    left: Option<InterruptedRun>,
    run_command: RunCommand,
}

impl RunStart {
    pub fn folder(&self) -> &Path {
        self.directory.folder()
    }

    /// Cases that ended before the interruption.
    pub fn cases(&self) -> u64 {
        self.left.as_ref().map_or(0, |left| left.state.totals.cases + left.cases.len() as u64)
    }
}

/// A regression whose models are built.
pub struct PreparedRegression<'a> {
    pub(super) job: &'a Regression,
    pub(super) session: Arc<Session>,
    pub(super) opening: SessionSetup,
    pub(super) worker: OneShotWorker,
    pub(super) plan: Plan,
    pub(super) header: Header,
    pub(super) counted: Option<CodeCoverage>,
    pub(super) interrupted: Arc<AtomicBool>,
}

impl PreparedRegression<'_> {
    /// Creates the run directory.
    ///
    /// # Errors
    /// If the location cannot hold a run.
    pub fn create_run(
        &self,
        place: &OutputLocation,
        events: &mut Events<'_>,
    ) -> Result<RunStart, Error> {
        let directory = RunDirectory::create(place, &self.header)?;
        let mut state = State { save: self.job.save, ..State::default() };
        directory.stand(&mut state);
        let run_command = RunCommand::from_process(self.identity());
        let examined = self.job.setup.rtl.examined(self.job.block.info())?;
        self.header.run_rtl().record(&examined.whole_hash());
        let warn = |error| {
            events(Event::Warning(format!(
                "cannot write the journal, so this run cannot be resumed: {error}"
            )));
        };
        let journal = Journal::create(directory.folder(), run_command.clone(), &state);
        let journal = journal.map_err(warn).ok();
        Ok(RunStart { directory, journal, left: None, run_command })
    }

    /// Resumes an interrupted run in a folder.
    ///
    /// # Errors
    /// [`Error::File`] if the folder has another run, or another process writes it.
    pub fn resume_run(&self, folder: &Path, left: InterruptedRun) -> Result<RunStart, Error> {
        let now = self.identity();
        let then = &left.run_command.header;
        let keys = [&now, then].into_iter().flat_map(|header| header.as_object());
        for key in keys.flat_map(|header| header.keys()) {
            let (then, value) = (&then[key], &now[key]);
            if then != value {
                let message = format!(
                    "cannot be resumed: {key} was {then} and is {value} now; repeat the run with `run --force`"
                );
                return Err(Error::File {
                    code: codes::CANNOT_RESUME,
                    path: folder.to_owned(),
                    message,
                });
            }
        }
        let directory = RunDirectory::resume(folder, &left.state)?;
        let run_command = left.run_command.clone();
        Ok(RunStart { directory, journal: None, left: Some(left), run_command })
    }

    /// The header, as in `results.json`.
    fn identity(&self) -> Value {
        serde_json::to_value(&self.header).unwrap_or_default()
    }

    /// Runs the cases and writes the directory. Starts no case after `time`.
    ///
    /// # Errors
    /// If no workers can be started. Write errors are in the result.
    pub fn run(
        &self,
        place: RunStart,
        time: Option<Duration>,
        events: &mut Events<'_>,
    ) -> Result<FinishedRun, Error> {
        let RunStart { directory, journal, left, run_command } = place;
        // Cases of the journal are reported as events, so exclude them.
        let before = left.as_ref().map_or(0, |left| left.state.totals.cases);
        events(Event::Started { plan: &self.plan, before });
        let mut collector = self.collector(directory, events)?;
        collector.journal = journal;
        let Self { job, opening, plan, interrupted, .. } = self;
        let (mut start, mut place) = (Start::default(), 0);
        if let Some(left) = left {
            place = collector.restore(job.block, plan, left)?;
            start.failures = collector.tally.totals.failures();
            start.hangs = collector.hangs;
            let state = collector.state(place);
            let folder = collector.directory.folder();
            collector.journal = Some(Journal::create(folder, run_command, &state)?);
        }
        // The journal may name any number.
        let before = Duration::try_from_secs_f64(collector.before.0).unwrap_or_default();
        let program = &job.program;
        let time = time.map(|time| time.saturating_sub(before));
        let limits = Limits { time, ..job.limits };
        let end = runner::run(
            program,
            opening,
            plan.from(place),
            start,
            &limits,
            interrupted,
            &mut collector,
        );
        collector.gathered();
        let end = end?;
        let (seconds, failures_seconds) = collector.seconds();
        (collector.events)(Event::Ended);

        let Collector { tally, directory, mut failures, mut unwritten, lost_workers, .. } =
            collector;
        // The failures of a shard are completed when the shards are merged.
        if plan.shard.is_whole() {
            failures.settle();
        }
        failures.unwritten().iter().for_each(|error| unwritten.add(error));
        let ended = Moment::now();
        let day = (!self.header.waivers.is_empty()).then(|| Day::from_moment(ended));
        let timing = Timing {
            ended: ended.milliseconds(),
            command: program::command(),
            threads: job.limits.threads,
            seconds,
            failures_seconds,
            cycles_per_second: tally.totals.cycles as f64 / seconds,
            peak_memory: PeakMemory::measure(),
            commit: revision::commit_of(&self.own_files()),
            sandbox: program.in_force().map(|in_force| in_force.to_string()),
            lost_workers,
        };
        let coverage = match plan.shard.is_whole() {
            true => tally.coverage.database(),
            false => tally.coverage.part(),
        };
        let failures = failures.groups().to_vec();
        if self.job.keep.sources && !failures.is_empty() {
            // Reproducing is a service: a design that cannot be copied has its failures, too.
            let examined = job.setup.rtl.examined(job.block.info())?;
            match RtlCopy::new(&examined, timing.commit.clone()) {
                Ok(copy) => {
                    copy.write(directory.folder()).unwrap_or_else(|error| unwritten.add(&error))
                }
                Err(error) => {
                    program::warn(format_args!(
                        "`replay --recorded-rtl` will not find the RTL: {error}"
                    ));
                }
            }
        }
        let mut header = self.header.clone();
        if !header.is_whole() {
            header.exhaustive = None;
        }
        let sources = self.counted.as_ref().map(|counted| counted.sources.clone());
        let outcome =
            Outcome { header, tally, coverage, sources, failures, end, day, timing, unwritten };
        Ok(outcome.conclude(directory))
    }

    fn own_files(&self) -> Vec<&str> {
        let files = self.header.rtl_files.iter().filter(|file| !file.built_in);
        files.map(|file| file.path.as_str()).collect()
    }

    fn collector<'a, 'e>(
        &self,
        directory: RunDirectory,
        events: &'a mut Events<'e>,
    ) -> Result<Collector<'a, 'e>, Error> {
        let Self { job, session, worker, plan, header, .. } = self;
        let origin = Origin {
            seed: Some(job.seed),
            build: Some(program::build().to_owned()),
            rtl: Some(header.rtl.clone()),
            given: job.setup.rtl.clone(),
            ..Origin::default()
        };
        let folder = directory.folder().to_owned();
        Ok(Collector {
            events,
            tally: Tally::new(job.block.info(), plan, self.recorder()?)?,
            directory,
            failures: Failures::new(
                job.block,
                Arc::clone(session),
                job.setup.rtl.clone(),
                &folder,
                origin.clone(),
                job.keep,
                worker.clone(),
            ),
            session: Arc::clone(session),
            profiles: plan.profiles.clone(),
            origin,
            save: job.save,
            unwritten: WriteFailures::default(),
            aside: Duration::ZERO,
            began: Instant::now(),
            journal: None,
            hangs: 0,
            lost_workers: LostWorkers::default(),
            before: (0.0, 0.0),
            until: job.until,
        })
    }

    fn nothing_covered(&self) -> Result<Database, Error> {
        let mut database = Database::new(self.job.block.info(), &self.plan.profiles)?;
        if let Some(counted) = &self.counted {
            database.code.clone_from(&counted.code);
        }
        Ok(database)
    }

    fn recorder(&self) -> Result<Recorder, Error> {
        let Self { job, plan, header, opening, .. } = self;
        let run = Run {
            build: program::build().to_owned(),
            rtl: header.rtl.clone(),
            seed: job.seed,
            packets: job.setup.packets,
        };
        let profiles = plan.profiles.iter().map(|profile| profile.name.to_string()).collect();
        let weights = weights_hashes(&opening.scenarios);
        let scenarios = plan.scenarios.iter().cloned().zip(weights).collect();
        Ok(Recorder::new(self.nothing_covered()?, run, profiles, scenarios))
    }

    /// Writes a waveform of the first case.
    ///
    /// # Errors
    /// If the waveform cannot be recorded or written.
    pub fn trace(&self, waves: Waves) -> Result<(), Error> {
        let Some(case) = self.plan.iter().next() else { return Ok(()) };
        let text = self.session.vector(&case, Origin::default(), None)?;
        let vector = VectorFile::from_text(text, Path::new(&case.name))?;
        let (block, rtl) = (self.job.block, &self.job.setup.rtl);
        let profile = &self.plan.profiles[case.profile];
        self.worker.trace(&VectorJob { block, vector: &vector, profile, rtl }, waves)?.done()?;
        Ok(())
    }
}
