//! Checks surviving mutants for equivalence, and replays the counterexamples.

use super::{ChosenMutants, MutationAnalysis};
use crate::agreement::observe;
use crate::mutate::Mutants;
use crate::mutate::equivalence::EquivalenceChecker;
use crate::mutate::grade::Workers;
use crate::queue::{lost, run_queries};
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::program;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::built::Built;
use cosim_block::mutate::{AttemptResult, KillAttempt};
use cosim_block::rtl::{Rtl, command_line};
use cosim_block::vector::Origin;
use cosim_block::worker::task::{Action, Task};
use cosim_formal::answer::{Answer, Undecidable};
use cosim_formal::certificate::Certificate;
use cosim_formal::ladder::{LATER, SOON};
use cosim_formats::mutation::{MutantStatus, Report};
use cosim_harness::harness::Profile;
use cosim_regress::worker::{Finish, OneShotWorker};
use cosim_rtl::backend::{RtlModels as _, View};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use verilated_build::activity::Activity;

/// Interval between writes of the report. An interruption loses at most this much.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// Reason if the mutant differs, but not in anything that is compared.
const OPEN: &str = "it changes only bits or timing that the comparison leaves open";
/// Reason if a replayed counterexample shows no difference.
const UNSEEN: &str = "it changes only what is written to a memory, or needs register values before \
     reset that no case has";

/// The equivalence checker of a profile, created on first use.
///
/// The results of ABC depend on the network. So the network contains all mutants, including those
/// killed, checked before an interruption, or belonging to another shard. The result of a mutant
/// then depends on the choice of mutants only.
pub(super) struct EquivalenceChecks<'a> {
    job: &'a MutationAnalysis,
    mutants: &'a Mutants,
    profile: &'a Profile,
    worker: OneShotWorker,
    checker: Mutex<Option<Result<Arc<EquivalenceChecker<'a>>, String>>>,
    /// Mutants for which the cheap proofs failed.
    requested: Mutex<BTreeSet<u32>>,
}

impl<'a> EquivalenceChecks<'a> {
    pub(super) fn new(
        job: &'a MutationAnalysis,
        ChosenMutants { profile, mutants }: &'a ChosenMutants,
        interrupted: &Arc<AtomicBool>,
    ) -> Self {
        let worker = OneShotWorker::new(job.program.clone(), Arc::clone(interrupted));
        let (checker, requested) = (Mutex::default(), Mutex::default());
        Self { job, mutants, profile, worker, checker, requested }
    }

    /// The equivalence checker, or the reason why there is none.
    pub(super) fn checker(&self) -> Result<Result<Arc<EquivalenceChecker<'a>>, String>, Error> {
        let mut checker = self.checker.lock().map_err(|_| lost())?;
        if let Some(checker) = &*checker {
            return Ok(checker.clone());
        }
        let info = self.job.block.info();
        let made = EquivalenceChecker::new(info, self.mutants);
        let made = match made.map_err(Undecidable::because) {
            Err(because) => Err(because?),
            Ok(made) => {
                let parameters = &self.profile.parameters;
                let rtl = self.job.setup.rtl.build_for_user(info, parameters, View::Quick)?;
                let recorded = observe(self.job.block, self.profile, &rtl, &self.worker)?;
                match recorded.map_or_else(Some, |cases| made.find_doubt(info, &cases)) {
                    Some(because) => Err(because),
                    None if self.job.checks_equivalence => Ok(self.with_properties(made)?),
                    None => Ok(made),
                }
            }
        };
        Ok(checker.insert(made.map(Arc::new)).clone())
    }

    /// Adds the properties of the block that hold on the RTL to the equivalence checker.
    fn with_properties(
        &self,
        checker: EquivalenceChecker<'a>,
    ) -> Result<EquivalenceChecker<'a>, Error> {
        let mut proved = Vec::new();
        let places: Vec<u32> = checker.property_range().collect();
        run_queries(
            &places,
            self.job.threads,
            &checking(places.len()),
            |place| checker.holds(*place),
            |place, holds| {
                proved.extend(holds.then_some(*place));
                Ok(())
            },
        )?;
        Ok(checker.with_proved(proved))
    }

    /// Removes mutants with equivalence checks that cost less than running all cases: structural
    /// equality and, unless equivalence checking is off, cheap proofs. Results go to the report at
    /// once. A mutant that is only believed equivalent stays, because a case may still kill it.
    pub(super) fn check_cheaply(&self, report: &mut Report, index: usize) -> Result<(), Error> {
        let alive = report.profiles[index].alive();
        if alive.is_empty() {
            return Ok(());
        }
        // If the checker cannot be created, the error is reported after all cases have run.
        let Ok(checker) = self.checker()? else { return Ok(()) };
        let at_once = |id| Some((id, MutantStatus::from_proof(checker.at_once(id)?)));
        report.set(index, alive.into_iter().filter_map(at_once));
        if !self.job.checks_equivalence {
            return Ok(());
        }
        let left = report.profiles[index].alive();
        let mut writer = ReportWriter::new(report, index, &self.job.lock.folder);
        let counts =
            |certificate: &Certificate| certificate.is_there() || self.job.header.accept_believed;
        run_queries(
            &left,
            self.job.threads,
            &checking(left.len()),
            |id| self.soon(&checker, *id),
            |id, shown| match shown.filter(counts) {
                Some(certificate) => writer.note(*id, MutantStatus::from_proof(certificate)),
                None => Ok(()),
            },
        )
    }

    /// Tries a cheap equivalence proof of a mutant, once per mutant.
    fn soon(
        &self,
        checker: &EquivalenceChecker<'_>,
        id: u32,
    ) -> Result<Option<Certificate>, Error> {
        if self.requested.lock().map_err(|_| lost())?.contains(&id) {
            return Ok(None);
        }
        let shown = checker.prove(id, SOON)?;
        if shown.is_none() {
            self.requested.lock().map_err(|_| lost())?.insert(id);
        }
        Ok(shown)
    }
}

/// Updates the report, and writes it at intervals.
struct ReportWriter<'a> {
    report: &'a mut Report,
    index: usize,
    folder: &'a Path,
    written: Instant,
}

impl<'a> ReportWriter<'a> {
    fn new(report: &'a mut Report, index: usize, folder: &'a Path) -> Self {
        Self { report, index, folder, written: Instant::now() }
    }

    fn note(&mut self, id: u32, status: MutantStatus) -> Result<(), Error> {
        self.report.set(self.index, [(id, status)]);
        if self.written.elapsed() < WRITE_INTERVAL {
            return Ok(());
        }
        self.written = Instant::now();
        self.report.write(self.folder)
    }
}

fn checking(count: usize) -> Activity {
    Activity::start("checking equivalence").counting("mutants", 0, Some(count as u64))
}

impl MutationAnalysis {
    /// Checks the survivors for equivalence. Verdicts go to the report at once.
    pub(super) fn check_survivors(
        &self,
        profile: &Profile,
        checks: &EquivalenceChecks<'_>,
        workers: &Workers<'_>,
        report: &mut Report,
        index: usize,
    ) -> Result<(), Error> {
        let folder = &self.lock.folder;
        let open = report.profiles[index].alive();
        if open.is_empty() {
            return report.write(folder);
        }
        let checker = match checks.checker()? {
            Ok(checker) => checker,
            Err(because) => {
                let because = |id| (id, MutantStatus::Undecided { because: because.clone() });
                report.set(index, open.into_iter().map(because));
                return report.write(folder);
            }
        };
        let graded = &report.profiles[index];
        let does = |id: &u32| {
            let mutant = graded.mutants.iter().find(|mutant| mutant.mutation.id == *id)?;
            Some((*id, format!("{}: {}", mutant.mutation.first_place(), mutant.does)))
        };
        let checker = EquivalenceRun {
            job: self,
            profile,
            checks,
            checker: &checker,
            model: checks
                .mutants
                .build(self.block.info(), &self.mutations(checks.mutants, &open))?,
            worker: OneShotWorker::new(self.program.clone(), Arc::clone(workers.interrupted)),
            does: open.iter().filter_map(does).collect(),
        };
        let mut writer = ReportWriter::new(report, index, folder);
        // Cheap checks first: they decide most mutants, so an interruption loses little.
        let mut left = Vec::new();
        let soon = run_queries(
            &open,
            self.threads,
            &checking(open.len()),
            |id| checker.soon(*id),
            |id, status| match status {
                Some(status) => writer.note(*id, status),
                None => {
                    left.push(*id);
                    Ok(())
                }
            },
        );
        left.sort_unstable();
        let ended = soon.and_then(|()| {
            let ask = |id: &u32| checker.status(*id);
            let note = |id: &u32, status| writer.note(*id, status);
            run_queries(&left, self.threads, &checking(left.len()), ask, note)
        });
        report.write(folder)?;
        ended
    }
}

/// An equivalence checker, and what replays its counterexamples.
struct EquivalenceRun<'a, 'b> {
    job: &'a MutationAnalysis,
    profile: &'a Profile,
    checks: &'a EquivalenceChecks<'b>,
    checker: &'a EquivalenceChecker<'b>,
    model: Built,
    worker: OneShotWorker,
    /// Description and location of each mutation.
    does: BTreeMap<u32, String>,
}

impl EquivalenceRun<'_, '_> {
    /// The status of a mutant, if a cheap check decides it.
    fn soon(&self, id: u32) -> Result<Option<MutantStatus>, Error> {
        if let Some(because) = self.checker.apart(id) {
            return Ok(Some(MutantStatus::Undecided { because: because.to_owned() }));
        }
        if let Some(certificate) = self.checks.soon(self.checker, id)? {
            return Ok(Some(MutantStatus::from_proof(certificate)));
        }
        let glance = |with_memories| -> Result<_, Error> {
            let found = self.checker.glance(id, with_memories)?;
            let Answer::Reached { trace, .. } = found else { return Ok((false, None)) };
            Ok((true, self.attempt(id, trace)?.ok()))
        };
        let (differs, status) = glance(false)?;
        if status.is_some() {
            return Ok(status);
        }
        if let Some(certificate) = self.checker.prove(id, LATER)? {
            return Ok(Some(MutantStatus::from_proof(certificate)));
        }
        // A difference with free memory contents may be impossible with exact memories, whose
        // network takes Yosys longer than most proofs.
        if differs { Ok(glance(true)?.1) } else { Ok(None) }
    }

    fn status(&self, id: u32) -> Result<MutantStatus, Error> {
        let first = match self.judged(id, self.checker.rule(id)?)? {
            Ok(status) => return Ok(status),
            Err(because) => because,
        };
        let second = match self.judged(id, self.checker.search(id)?)? {
            Ok(status) => return Ok(status),
            Err(because) if because == first => return Ok(MutantStatus::Undecided { because }),
            Err(because) => because,
        };
        Ok(MutantStatus::Undecided { because: format!("{first}; {second}") })
    }

    /// The status of a mutant with this answer, or why there is none.
    fn judged(&self, id: u32, answer: Answer) -> Result<Result<MutantStatus, String>, Error> {
        match answer {
            Answer::Never { certificate, .. } => Ok(Ok(MutantStatus::from_proof(certificate))),
            Answer::Reached { trace, .. } => self.attempt(id, trace),
            Answer::Open { because, .. } | Answer::Disputed { because } => Ok(Err(because)),
        }
    }

    /// Replays a counterexample on a mutant, and stores the vector if it kills the mutant.
    /// Otherwise returns the reason why it does not.
    fn attempt(
        &self,
        id: u32,
        cycles: Vec<Vec<String>>,
    ) -> Result<Result<MutantStatus, String>, Error> {
        let Self { job, profile, .. } = self;
        let does = self.does.get(&id).map_or("", String::as_str);
        let origin = Origin {
            about: format!(
                "generated to kill the mutation of seed {} in which {does}",
                job.header.seed
            ),
            build: Some(job.header.build.clone()),
            rtl: Some(job.header.rtl.clone()),
            given: job.header.given.clone(),
            ..Origin::default()
        };
        let task = Task {
            block: job.block.info().name.to_owned(),
            profile: profile.name.to_string(),
            model: self.model.clone(),
            action: Action::Try(KillAttempt { mutation: id, cycles, origin }),
        };
        let name = format!("{}-{id}", profile.name);
        Ok(match self.worker.run_task::<AttemptResult>(task)? {
            Finish::Done(AttemptResult::Found(vector)) => {
                Ok(MutantStatus::Survived { vector: Some(self.keep(&name, &vector)?) })
            }
            Finish::Done(AttemptResult::NotFound) => Err(UNSEEN.to_owned()),
            Finish::Done(AttemptResult::OnlyOpen) => Err(OPEN.to_owned()),
            Finish::Done(AttemptResult::Red { verdict, vector }) => {
                let file = self.keep(&format!("{name}-red"), &vector)?;
                let file = file.path(&job.lock.folder);
                return Err(rtl_failure(&verdict, &file, &job.header.given));
            }
            Finish::Lost(verdict) => Err(verdict.to_string()),
            Finish::Interrupted => return Err(Error::Interrupted),
        })
    }

    fn keep(&self, name: &str, vector: &str) -> Result<RunFile, Error> {
        let file = RunFile::new(RunFolder::Mutants, name, "json");
        file.write(&self.job.lock.folder, vector.as_bytes(), Sync::OnDisk)?;
        Ok(file)
    }
}

/// The error if a counterexample makes the unmodified RTL fail.
fn rtl_failure(verdict: &str, vector: &Path, rtl: &Rtl) -> Error {
    let path = vector.display().to_string();
    let mut words = rtl.arguments();
    words.insert(0, path.clone());
    let (words, program) = (command_line(&words), program::called());
    Error::Lost(
        codes::EQUIVALENCE_FAILED,
        format!(
            "the unchanged RTL fails with inputs of the equivalence checker: {verdict}. They are \
             in {path}: run `{program} explain {words}`. If `{program} replay {words}` matches, Yosys \
             reads this RTL differently from Verilator"
        ),
    )
}
