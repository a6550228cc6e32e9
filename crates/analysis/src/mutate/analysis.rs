//! Mutation analysis of one block: runs cases on mutants, and checks surviving mutants for
//! equivalence.
//!
//! [`MutationAnalysis::run`] keeps the report in its folder up to date, so that an interrupted
//! analysis can be resumed. Nothing is printed here; progress is reported as [`AnalysisEvent`]s.

mod equivalence;

use super::Mutants;
use super::grade::{CaseSet, FirstKill, Workers, rounds};
use crate::agreement::Pair;
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::mutate::KillMethod;
use cosim_formats::mutation::{Header, MutantStatus, Mutation, ProfileGrading, Report};
use cosim_formats::run::DirectoryLock;
use cosim_harness::harness::{Case, Profile};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::setup::{Session, Setup, cases_of};
use cosim_regress::worker::{OneShotWorker, WorkerProgram};
use cosim_rtl::backend::{RtlModels as _, View};
use cosim_rtl::yosys;
use equivalence::EquivalenceChecks;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

/// Cases of each scenario after which cheap equivalence checks remove mutants.
const EARLY_CHECK_CASES: usize = 10;
/// A smaller model is built once at most this fraction of its mutants is alive, because fewer
/// mutants simulate faster.
const REBUILD_FRACTION: (usize, usize) = (3, 4);

pub struct ChosenMutants {
    pub profile: Profile,
    pub mutants: Mutants,
}

/// A mutation analysis of one block. It owns its folder.
pub struct MutationAnalysis {
    pub block: &'static BlockHandle,
    pub chosen: Vec<ChosenMutants>,
    pub setup: Setup,
    pub header: Header,
    /// The folder of the result.
    pub lock: DirectoryLock,
    /// The result so far.
    pub before: Report,
    /// Workers, and threads of the equivalence checker.
    pub threads: usize,
    pub program: WorkerProgram,
    pub checks_equivalence: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum AnalysisEvent<'a> {
    Profile {
        block: &'a str,
        profile: &'a str,
    },
    /// A round of cases begins.
    Round {
        alive: u64,
        mutants: u64,
        run: u64,
        cases: u64,
    },
    /// Cheap equivalence checks remove mutants early.
    Sorting,
    /// Surviving mutants are checked for equivalence.
    Equivalence {
        /// Number of survivors.
        left: u64,
    },
    Ended,
}

pub type AnalysisEvents<'a> = dyn FnMut(AnalysisEvent<'_>) + 'a;

/// The outcome of an analysis. The folder stays locked until the lock is released.
pub struct AnalysisResult {
    /// The report, already written.
    pub report: Report,
    /// Whether every mutant has its verdict.
    pub is_whole: bool,
    pub lock: DirectoryLock,
}

impl MutationAnalysis {
    /// Analyses every profile. After an interruption, the folder holds the results so far.
    ///
    /// # Errors
    /// The RTL or the workers fail.
    pub fn run(
        self,
        interrupted: &Arc<AtomicBool>,
        events: &mut AnalysisEvents<'_>,
    ) -> Result<AnalysisResult, Error> {
        let folder = self.lock.folder.clone();
        let mut report = self.before.clone();
        let workers = Workers { program: &self.program, threads: self.threads, interrupted };
        let mut is_whole = true;
        for (index, chosen) in self.chosen.iter().enumerate() {
            match self.profile(index, chosen, &workers, &mut report, events) {
                Ok(()) => {}
                // An interruption during a compilation ends the compiler with an error.
                Err(error) if error.code() == codes::INTERRUPTED => {
                    is_whole = false;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if is_whole {
            report.end();
        }
        report.write(&folder)?;
        Ok(AnalysisResult { report, is_whole, lock: self.lock })
    }

    fn profile(
        &self,
        index: usize,
        chosen: &ChosenMutants,
        workers: &Workers<'_>,
        report: &mut Report,
        events: &mut AnalysisEvents<'_>,
    ) -> Result<(), Error> {
        let ChosenMutants { profile, mutants } = chosen;
        events(AnalysisEvent::Profile { block: &self.header.block, profile: &profile.name });
        let own: Vec<Mutation> = self.mutations_of_shard(mutants);
        let fresh = ProfileGrading::new(&profile.name, &own);
        if report.profiles.len() <= index {
            report.profiles.push(fresh);
        } else if !has_same_mutants(&report.profiles[index], &fresh) {
            return Err(Error::Environment(
                codes::MUTANTS_CHANGED,
                format!(
                    "{}: the mutants differ from those of the earlier part of the analysis, made \
                     by {}; start again with `mutate --force`",
                    profile.name,
                    yosys::version()?
                ),
            ));
        }
        let checks = EquivalenceChecks::new(self, chosen, workers.interrupted);
        thread::scope(|scope| {
            // Creating the equivalence checker and building the first model take one thread each,
            // so run them in parallel. Errors are reported when the checker is used.
            if self.checks_early() && self.threads > 1 {
                let checker = || drop(checks.checker());
                let _ = thread::Builder::new().spawn_scoped(scope, checker);
            }
            self.run_job(index, (chosen, &checks), workers, report, events)
        })?;
        if self.checks_equivalence {
            let left = report.profiles[index].alive().len() as u64;
            events(AnalysisEvent::Equivalence { left });
            self.check_survivors(profile, &checks, workers, report, index)?;
        }
        events(AnalysisEvent::Ended);
        Ok(())
    }

    /// Runs cases in rounds on the mutants that are alive.
    fn run_job(
        &self,
        index: usize,
        (ChosenMutants { profile, mutants }, checks): (&ChosenMutants, &EquivalenceChecks<'_>),
        workers: &Workers<'_>,
        report: &mut Report,
        events: &mut AnalysisEvents<'_>,
    ) -> Result<(), Error> {
        let Self { block, header, .. } = self;
        let session = self.session(profile)?;
        let opening = session.opening(0)?;
        let cases = self.cases(profile, &session);
        let scenarios = session.scenarios().len();
        self.check_run(&report.profiles[index], cases.len())?;
        let mut made: Option<(Built, usize)> = None;
        let mut checked: Option<Built> = None;
        for end in rounds(header.cases) {
            let graded = &mut report.profiles[index];
            let end = end as usize * scenarios;
            let begin = graded.cases_run as usize;
            let alive = graded.alive();
            if begin >= end {
                continue;
            }
            if alive.is_empty() {
                break;
            }
            events(AnalysisEvent::Round {
                alive: alive.len() as u64,
                mutants: graded.score.mutants,
                run: begin as u64,
                cases: cases.len() as u64,
            });
            let is_still_good = |(_, size): &(_, usize)| {
                alive.len() * REBUILD_FRACTION.1 > *size * REBUILD_FRACTION.0
            };
            if !made.as_ref().is_some_and(is_still_good) {
                let model = mutants.build(block.info(), &self.mutations(mutants, &alive))?;
                made = Some((model, alive.len()));
            }
            let Some((model, _)) = &made else { continue };
            let rtl = match checked {
                Some(rtl) => rtl,
                None => {
                    let rtl = self.setup.rtl.build_for_user(
                        block.info(),
                        &profile.parameters,
                        View::Quick,
                    )?;
                    let worker =
                        OneShotWorker::new(self.program.clone(), Arc::clone(workers.interrupted));
                    // This model has no mutation enabled.
                    Pair { block, profile, rtl: &rtl, netlist: model }.check(&worker)?;
                    rtl
                }
            };
            let ground = CaseSet {
                block: block.info().name,
                profile: &profile.name,
                model,
                scenarios: &opening.scenarios,
                packets: header.packets,
                cases: &cases,
                method: header.means,
            };
            check_rtl(workers, &ground, &rtl, begin..end)?;
            checked = Some(rtl);
            // Mutant 0 is the unmodified netlist.
            let selected: Vec<u32> = [0].into_iter().chain(alive).collect();
            let found = workers.round(&ground, begin..end, &selected)?;
            check_netlist(&found, &ground)?;
            let killed =
                |(case, outcome): &FirstKill| MutantStatus::killed(&cases[*case].name, outcome);
            report.set(index, found.iter().map(|(id, found)| (*id, killed(found))));
            // Mutants proved equivalent here need not run the remaining cases.
            let early_end = EARLY_CHECK_CASES * scenarios;
            if self.checks_early() && begin < early_end && early_end <= end {
                events(AnalysisEvent::Sorting);
                checks.check_cheaply(report, index)?;
            }
            // Count the cases only now: after an interruption, the equivalence checks above are
            // repeated.
            report.profiles[index].cases_run = end as u64;
            report.write(&self.lock.folder)?;
        }
        Ok(())
    }

    /// Whether equivalence checks may remove mutants early. They may only if outputs are compared.
    fn checks_early(&self) -> bool {
        self.header.means == KillMethod::Compare
    }

    /// Refuses a report that counts more cases than exist.
    fn check_run(&self, graded: &ProfileGrading, cases: usize) -> Result<(), Error> {
        let run = graded.cases_run;
        if run <= cases as u64 {
            return Ok(());
        }
        let profile = &graded.profile;
        let message = format!(
            "is damaged: it counts {run} cases of {profile}, and there are only {cases}; start \
             again with `mutate --force`"
        );
        Err(Error::File { code: codes::DAMAGED, path: self.lock.folder.clone(), message })
    }

    /// The cases of one profile in the order of execution. `session` is that of the profile.
    pub fn cases(&self, profile: &Profile, session: &Session) -> Vec<Case> {
        let Header { run_seed, cases, .. } = self.header;
        cases_of(self.block.info(), session, profile, run_seed, 0..cases)
    }

    /// The session of one profile.
    ///
    /// # Errors
    /// An error in scenarios or RTL.
    pub fn session(&self, profile: &Profile) -> Result<Arc<Session>, Error> {
        let setup = Setup { profiles: vec![profile.clone()], ..self.setup.clone() };
        Session::new(self.block, &setup).map(Arc::new)
    }

    fn mutations_of_shard(&self, mutants: &Mutants) -> Vec<Mutation> {
        let all = mutants.mutations.iter();
        all.filter(|mutation| self.header.contains(mutation.id)).cloned().collect()
    }

    /// The mutations with these numbers. `ids` is sorted.
    pub fn mutations(&self, mutants: &Mutants, ids: &[u32]) -> Vec<Mutation> {
        let is_named = |mutation: &&Mutation| ids.binary_search(&mutation.id).is_ok();
        mutants.mutations.iter().filter(is_named).cloned().collect()
    }
}

/// Runs cases on Verilator's model of the unmodified RTL. None may fail.
///
/// # Errors
/// [`Error::Lost`] if a case fails.
pub fn check_rtl(
    workers: &Workers<'_>,
    ground: &CaseSet<'_>,
    rtl: &Built,
    cases: Range<usize>,
) -> Result<(), Error> {
    let found = workers.round(&CaseSet { model: rtl, ..*ground }, cases, &[0])?;
    let Some((case, outcome)) = found.get(&0) else { return Ok(()) };
    Err(Error::Lost(
        codes::BASELINE_FAILS,
        format!(
            "the unchanged RTL fails, so mutations cannot be graded: {}: {}",
            ground.cases[*case].name, outcome.verdict
        ),
    ))
}

/// Checks that no case fails on the unmodified netlist. The model of the RTL has passed the same
/// cases.
///
/// # Errors
/// [`Error::NetlistDiffers`] if a case fails.
pub fn check_netlist(found: &BTreeMap<u32, FirstKill>, ground: &CaseSet<'_>) -> Result<(), Error> {
    let Some((case, outcome)) = found.get(&0) else { return Ok(()) };
    Err(Error::NetlistDiffers {
        block: ground.block.to_owned(),
        profile: ground.profile.to_owned(),
        name: ground.cases[*case].name.clone(),
        what: format!("{}; the RTL matches the golden model", outcome.verdict),
    })
}

fn has_same_mutants(left: &ProfileGrading, right: &ProfileGrading) -> bool {
    let mutations = |graded: &ProfileGrading| -> Vec<Mutation> {
        graded.mutants.iter().map(|mutant| mutant.mutation.clone()).collect()
    };
    left.profile == right.profile && mutations(left) == mutations(right)
}
