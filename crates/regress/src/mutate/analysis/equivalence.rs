//! Checks surviving mutants for equivalence, and runs the counterexamples.

use super::MutationAnalysis;
use crate::mutate::equivalence::{EquivalenceChecker, EquivalenceVerdict};
use crate::mutate::grade::Workers;
use crate::mutate::report::{MutantStatus, Proof, Report, VECTORS};
use crate::mutate::{AttemptResult, KillAttempt, Mutants};
use crate::worker::{Action, Task};
use crate::worker::{Finish, OneShotWorker};
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_formats::vector::Origin;
use cosim_harness::harness::Profile;
use cosim_rtl::models::{Built, Rtl, command_line};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What was judged is written so often: an interruption loses no more.
const WRITTEN: Duration = Duration::from_secs(1);
/// Of what is proved by more than the look of the network.
const INDUCTION: MutantStatus = MutantStatus::Equivalent { proof: Proof::Induction };
/// A difference that was not seen.
const UNSEEN: &str = "it changes only what is written to a memory, or needs register values before \
     reset that no case has";

/// The judge of a profile, made when it is first asked.
///
/// What ABC finds depends on the network. So it has all mutations, whatever was found of them, was judged before an interruption,
/// or is graded in another part: what is said of one of them depends on nothing but the choice.
pub(super) struct Bench<'a> {
    job: &'a MutationAnalysis,
    mutants: &'a Mutants,
    judge: Mutex<Option<Result<Arc<EquivalenceChecker<'a>>, String>>>,
    /// What was asked for proofs that take little, without success.
    asked: Mutex<BTreeSet<u32>>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(job: &'a MutationAnalysis, mutants: &'a Mutants) -> Self {
        Self { job, mutants, judge: Mutex::default(), asked: Mutex::default() }
    }

    /// The judge, or the reason why there is none.
    pub(super) fn judge(&self) -> Result<Result<Arc<EquivalenceChecker<'a>>, String>, Error> {
        let mut judge = self.judge.lock().map_err(|_| lost())?;
        if let Some(judge) = &*judge {
            return Ok(judge.clone());
        }
        let made = match EquivalenceChecker::new(self.job.block.info(), self.mutants)? {
            Ok(made) if self.job.checks_equivalence => Ok(self.with_properties(made)?),
            made => made,
        };
        Ok(judge.insert(made.map(Arc::new)).clone())
    }

    /// A judge that knows what the RTL does of what the block promises.
    fn with_properties(
        &self,
        judge: EquivalenceChecker<'a>,
    ) -> Result<EquivalenceChecker<'a>, Error> {
        let mut proved = Vec::new();
        let places: Vec<u32> = judge.property_range().collect();
        each(
            &places,
            self.job.threads,
            |place| judge.holds(place),
            |place, holds| {
                proved.extend(holds.then_some(place));
                Ok(())
            },
        )?;
        Ok(judge.with_proved(proved))
    }

    /// Takes out what nothing can find, as far as that takes less than to run all cases: what is the same network, and,
    /// unless the grading is without a judge, what is proved soon. It is in the report as it comes.
    pub(super) fn look(&self, report: &mut Report, index: usize) -> Result<(), Error> {
        let alive = report.profiles[index].alive();
        if alive.is_empty() {
            return Ok(());
        }
        // The reason why it cannot be judged is told when all cases were run.
        let Ok(judge) = self.judge()? else { return Ok(()) };
        let at_once = |id| match judge.at_once(id)? {
            EquivalenceVerdict::Equivalent(proof) => Some((id, MutantStatus::Equivalent { proof })),
            _ => None,
        };
        report.profiles[index].set(alive.into_iter().filter_map(at_once));
        if !self.job.checks_equivalence {
            return Ok(());
        }
        let left = report.profiles[index].alive();
        let mut writer = ReportWriter::new(report, index, &self.job.lock.folder);
        each(
            &left,
            self.job.threads,
            |id| self.soon(&judge, id),
            |id, is_shown| if is_shown { writer.note(id, INDUCTION) } else { Ok(()) },
        )
    }

    /// Whether a proof that takes little shows that nothing differs. It is tried once.
    fn soon(&self, judge: &EquivalenceChecker<'_>, id: u32) -> Result<bool, Error> {
        if self.asked.lock().map_err(|_| lost())?.contains(&id) {
            return Ok(false);
        }
        let is_shown = judge.soon(id)?;
        if !is_shown {
            self.asked.lock().map_err(|_| lost())?.insert(id);
        }
        Ok(is_shown)
    }
}

/// Writes the report as it grows, though not each time.
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
        self.report.profiles[self.index].set([(id, status)]);
        if self.written.elapsed() < WRITTEN {
            return Ok(());
        }
        self.written = Instant::now();
        self.report.write(self.folder)
    }
}

fn lost() -> Error {
    Error::Environment(
        codes::INTERNAL,
        "a thread of the equivalence checker ended unexpectedly".to_owned(),
    )
}

impl MutationAnalysis {
    /// Judges what is left. What is judged is in the report as it comes, with its last verdict.
    pub(super) fn judge(
        &self,
        profile: &Profile,
        bench: &Bench<'_>,
        workers: &Workers<'_>,
        report: &mut Report,
        index: usize,
    ) -> Result<(), Error> {
        let folder = &self.lock.folder;
        let graded = &mut report.profiles[index];
        let open = graded.alive();
        if open.is_empty() {
            return report.write(folder);
        }
        let judge = match bench.judge()? {
            Ok(judge) => judge,
            Err(because) => {
                let because = |id| (id, MutantStatus::Undecided { because: because.clone() });
                graded.set(open.into_iter().map(because));
                return report.write(folder);
            }
        };
        let does = |id: &u32| {
            let mutant = graded.mutants.iter().find(|mutant| mutant.mutation.id == *id)?;
            Some((*id, format!("{}: {}", mutant.mutation.at(), mutant.does)))
        };
        let checker = EquivalenceRun {
            job: self,
            profile,
            bench,
            judge: &judge,
            model: bench.mutants.build(self.block.info(), &self.mutations(bench.mutants, &open))?,
            worker: OneShotWorker::new(self.program.clone(), Arc::clone(workers.interrupted)),
            does: open.iter().filter_map(does).collect(),
        };
        let mut writer = ReportWriter::new(report, index, folder);
        // What takes little comes first: it leaves few, and it is most of what an interrupted judge has said.
        let mut left = Vec::new();
        let soon = each(
            &open,
            self.threads,
            |id| checker.soon(id),
            |id, status| match status {
                Some(status) => writer.note(id, status),
                None => {
                    left.push(id);
                    Ok(())
                }
            },
        );
        left.sort_unstable();
        let ended = soon.and_then(|()| {
            each(&left, self.threads, |id| checker.status(id), |id, status| writer.note(id, status))
        });
        report.write(folder)?;
        ended
    }
}

/// Does something for each of some numbers, as of mutations, so many at a time, and notes what came of it, one at a time.
fn each<T: Send>(
    ids: &[u32],
    threads: usize,
    ask: impl Fn(u32) -> Result<T, Error> + std::marker::Sync,
    note: impl FnMut(u32, T) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let note = Mutex::new(note);
    let one = |id: u32| -> Result<(), Error> {
        let answer = ask(id)?;
        let mut note = note.lock().map_err(|_| lost())?;
        (*note)(id, answer)
    };
    let work = || -> Result<(), Error> {
        while !is_over.load(Ordering::Relaxed)
            && let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed))
        {
            // The others need not go on.
            one(*id).inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let hands: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended: Vec<_> =
            hands.into_iter().map(|hand| hand.join().unwrap_or_else(|_| Err(lost()))).collect();
        ended.into_iter().collect()
    })
}

/// A judge, and what is needed to try what it says.
struct EquivalenceRun<'a, 'b> {
    job: &'a MutationAnalysis,
    profile: &'a Profile,
    bench: &'a Bench<'b>,
    judge: &'a EquivalenceChecker<'b>,
    model: Built,
    worker: OneShotWorker,
    /// What each mutation does, and where.
    does: BTreeMap<u32, String>,
}

impl EquivalenceRun<'_, '_> {
    /// The word on a mutation, if it takes no long search.
    fn soon(&self, id: u32) -> Result<Option<MutantStatus>, Error> {
        if let Some(because) = self.judge.apart(id) {
            return Ok(Some(MutantStatus::Undecided { because: because.to_owned() }));
        }
        if self.bench.soon(self.judge, id)? {
            return Ok(Some(INDUCTION));
        }
        // What differs with memories that are cut out may not do so with those that are there.
        for with_memories in [false, true] {
            let EquivalenceVerdict::Differs(cycles) = self.judge.glance(id, with_memories)? else {
                break;
            };
            if let Ok(status) = self.attempt(id, cycles)? {
                return Ok(Some(status));
            }
        }
        Ok(self.judge.later(id)?.then_some(INDUCTION))
    }

    /// The last word on a mutation.
    fn status(&self, id: u32) -> Result<MutantStatus, Error> {
        let first = match self.judge.rule(id)? {
            EquivalenceVerdict::Equivalent(proof) => return Ok(MutantStatus::Equivalent { proof }),
            EquivalenceVerdict::Open(because) => because,
            EquivalenceVerdict::Differs(cycles) => match self.attempt(id, cycles)? {
                Ok(status) => return Ok(status),
                Err(because) => because,
            },
        };
        let second = match self.judge.search(id)? {
            EquivalenceVerdict::Equivalent(proof) => return Ok(MutantStatus::Equivalent { proof }),
            EquivalenceVerdict::Open(because) => because,
            EquivalenceVerdict::Differs(cycles) => match self.attempt(id, cycles)? {
                Ok(status) => return Ok(status),
                Err(because) if because == first => return Ok(MutantStatus::Undecided { because }),
                Err(because) => because,
            },
        };
        Ok(MutantStatus::Undecided { because: format!("{first}; {second}") })
    }

    /// Drives a trace of the judge's into a mutation, and keeps it if it finds it. Else the reason why that shows
    /// nothing.
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
        Ok(match self.worker.have::<AttemptResult>(task)? {
            Finish::Done(AttemptResult::Found(vector)) => Ok(MutantStatus::Survived {
                vector: Some(self.keep(&format!("{name}.json"), &vector)?),
            }),
            Finish::Done(AttemptResult::NotFound) => Err(UNSEEN.to_owned()),
            Finish::Done(AttemptResult::Red { verdict, vector }) => {
                let file = self.keep(&format!("{name}-red.json"), &vector)?;
                let file = job.lock.folder.join(file);
                return Err(red(&verdict, &file, &job.header.given));
            }
            Finish::Lost(verdict) => Err(verdict.to_string()),
            Finish::Interrupted => return Err(Error::Interrupted),
        })
    }

    /// Writes a vector; its name below the folder of the result.
    fn keep(&self, name: &str, vector: &str) -> Result<String, Error> {
        let folder = self.job.lock.folder.join(VECTORS);
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        write_whole(&folder.join(name), vector.as_bytes(), Sync::OnDisk)?;
        Ok(format!("{VECTORS}/{name}"))
    }
}

/// What was to find a mutation has found the RTL itself, or the golden model.
fn red(verdict: &str, vector: &Path, rtl: &Rtl) -> Error {
    let path = vector.display().to_string();
    let mut words = rtl.arguments();
    words.insert(0, path.clone());
    let words = command_line(&words);
    Error::Lost(
        codes::EQUIVALENCE_FAILED,
        format!(
            "the unchanged RTL fails with inputs of the equivalence checker: {verdict}. They are \
             in {path}: run `cosim explain {words}`. If `cosim replay {words}` matches, Yosys \
             reads this RTL differently from Verilator"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_before_an_interruption_is_noted_and_nothing_after_it_is_asked() {
        let ids: Vec<u32> = (1..=100).collect();
        let mut noted = Vec::new();
        let ask = |id| if id < 40 { Ok(id * 2) } else { Err(Error::Interrupted) };
        let ended = each(&ids, 1, ask, |id, answer| {
            noted.push((id, answer));
            Ok(())
        });
        assert!(matches!(ended, Err(Error::Interrupted)));
        assert_eq!(noted, (1..40).map(|id| (id, id * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn every_mutation_is_asked_about_once_whatever_the_threads() {
        let ids: Vec<u32> = (1..=100).collect();
        for threads in [1, 3, 200] {
            let mut noted = Vec::new();
            each(&ids, threads, Ok, |id, _| {
                noted.push(id);
                Ok(())
            })
            .unwrap();
            noted.sort_unstable();
            assert_eq!(noted, ids, "{threads} threads");
        }
    }
}
