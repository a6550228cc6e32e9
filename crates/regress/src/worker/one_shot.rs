//! Runs one task in a worker process of its own.

use super::loss::{CORRUPTED, Loss, Losses};
use super::process::WorkerProgram;
use super::supervisor::{Event, Link, Supervisor};
use crate::blocks::BlockHandle;
use cosim_base::error::{Error, codes};
use cosim_base::files::{folder_of, is_special, make_whole_apart};
use cosim_block::built::Built;
use cosim_block::driven::DrivenPins;
use cosim_block::engine::{Replayed, ShrinkProgress, ShrunkVector, Waves};
use cosim_block::rtl::Rtl;
use cosim_block::worker::wire::{Answer, Reply, Request, Work};
use cosim_harness::harness::{Blame, Outcome, Profile, Verdict};
use cosim_rtl::backend::{RtlModels as _, View};
use verilated_runtime::Tracing;

use cosim_block::vector::VectorFile;
use cosim_block::worker::task::{Action, Task};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Polling interval for interruption.
const TICK: Duration = Duration::from_millis(20);
/// Time between cancelling a task and killing its worker.
const GRACE: Duration = Duration::from_millis(500);
/// The same for a worker that writes a waveform, which it completes up to the current cycle. A
/// second interruption does not wait.
const TRACE_GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub enum Finish<T> {
    Done(T),
    /// The model crashed or hung its process; the verdict. The user interrupted the task.
    Lost(Verdict),
    /// The user did not want to wait.
    Interrupted,
}

impl<T> Finish<T> {
    /// The result.
    ///
    /// # Errors
    /// [`Error::Lost`] with the verdict, or [`Error::Interrupted`].
    pub fn done(self) -> Result<T, Error> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Lost(verdict) => Err(Error::Lost(codes::MODEL_CRASHED, verdict.to_string())),
            Self::Interrupted => Err(Error::Interrupted),
        }
    }
}

/// Runs single tasks, each in a fresh worker.
#[derive(Debug, Clone)]
pub struct OneShotWorker {
    program: WorkerProgram,
    interrupted: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
pub struct VectorJob<'a> {
    pub block: &'static BlockHandle,
    pub vector: &'a VectorFile,
    pub profile: &'a Profile,
    pub rtl: &'a Rtl,
}

impl VectorJob<'_> {
    fn task(&self, model: Built, action: Action) -> Task {
        let (block, profile) = (self.block.info().name.to_owned(), self.profile.name.to_string());
        Task { block, profile, model, action }
    }

    fn build(&self, view: View) -> Result<Built, Error> {
        self.rtl.build_for_user(self.block.info(), &self.profile.parameters, view)
    }
}

impl OneShotWorker {
    /// A runner whose task ends soon after `interrupted` is set.
    pub fn new(program: WorkerProgram, interrupted: Arc<AtomicBool>) -> Self {
        Self { program, interrupted }
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    pub fn replay(&self, subject: &VectorJob<'_>) -> Result<Finish<Replayed>, Error> {
        let model = subject.build(View::Quick)?;
        self.run_task(subject.task(model, Action::Replay(subject.vector.clone())))
    }

    /// Writes a waveform of a vector.
    ///
    /// # Errors
    /// If the model cannot be built or the file cannot be written.
    pub fn trace(&self, subject: &VectorJob<'_>, waves: Waves) -> Result<Finish<()>, Error> {
        let view = View::Observed(Waves::format(&waves.path)?);
        let mut cut_short = None;
        // The temporary name ensures that a model that ends its process leaves no partial file at
        // the path.
        let made = make_whole_apart(&waves.path, |partial| {
            let written = Waves { path: partial.to_owned(), ..waves.clone() };
            let finish = self.observed(subject, view, |observed| {
                Action::Trace(subject.vector.clone(), observed, written)
            });
            match finish.map_err(|error| error.renamed(partial, &waves.path))? {
                Finish::Done(()) => Ok(()),
                other => {
                    let message = "the waveform was not completed".to_owned();
                    cut_short = Some(other);
                    Err(Error::Lost(codes::MODEL_CRASHED, message))
                }
            }
        });
        cut_short.map_or_else(|| made.map(Finish::Done), Ok)
    }

    pub fn record(&self, subject: &VectorJob<'_>) -> Result<Finish<DrivenPins>, Error> {
        self.observed(subject, View::Observed(Tracing::Fst), |observed| {
            Action::Record(subject.vector.clone(), observed)
        })
    }

    /// Determines which side violates the specification.
    pub fn judge(&self, subject: &VectorJob<'_>) -> Result<Finish<Blame>, Error> {
        let model = subject.build(View::Quick)?;
        self.run_task(subject.task(model, Action::Judge(subject.vector.clone())))
    }

    /// Explains the failure of a vector. `tracing` selects the model with waveform support to use,
    /// so that an already compiled one serves.
    pub fn explain(
        &self,
        subject: &VectorJob<'_>,
        tracing: Tracing,
    ) -> Result<Finish<cosim_block::explanation::Explanation>, Error> {
        self.observed(subject, View::Observed(tracing), |observed| {
            Action::Explain(subject.vector.clone(), observed)
        })
    }

    /// Shrinks a vector. If the task is cut short, the result is the smallest vector until then.
    ///
    /// # Errors
    /// If the model cannot be built, or the vector does not fail.
    pub fn shrink(
        &self,
        subject: &VectorJob<'_>,
        budget: u64,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<Finish<ShrunkVector>, Error> {
        let model = subject.build(View::Quick)?;
        let task = subject.task(model, Action::Shrink(subject.vector.clone(), budget));
        let mut best = None;
        let mut losses = Losses::single_task();
        let finish = loop {
            let attempt = self.attempt(&task, &mut |reply| {
                advance(reply, progress, &mut best);
                None
            })?;
            match attempt {
                Attempt::Finished(finish) => break finish,
                // A hang while shrinking is no verdict on the vector: keep the smallest one.
                Attempt::Lost(Loss::Hung) if best.is_some() => {
                    break Finish::Lost(Loss::Hung.into());
                }
                Attempt::Lost(loss) => {
                    if let Some(verdict) = losses.add(loss)? {
                        break Finish::Lost(verdict);
                    }
                }
            }
        };
        match (finish, best) {
            (Finish::Lost(_) | Finish::Interrupted, Some(best)) => Ok(Finish::Done(best)),
            (Finish::Lost(verdict @ Verdict::Crashed { .. }), None) => {
                self.shrink_lost(subject, &verdict, budget, progress).map(Finish::Done)
            }
            (finish, _) => Ok(finish),
        }
    }

    /// Shrinks a vector whose model ends its process, as `verdict` says. Every candidate runs in
    /// its own process, so few are tried.
    ///
    /// # Errors
    /// If the model cannot be built. [`Error::Lost`] if the verdict does not repeat.
    pub fn shrink_lost(
        &self,
        subject: &VectorJob<'_>,
        verdict: &Verdict,
        budget: u64,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let model = subject.build(View::Quick)?;
        let action = Action::ShrinkLost(subject.vector.clone(), verdict.clone(), budget);
        let task = subject.task(model.clone(), action);
        let mut best = None;
        let mut losses = Losses::single_task();
        loop {
            let attempt = self.attempt(&task, &mut |reply| match reply {
                Reply::Candidate(vector) => {
                    let task = subject.task(model.clone(), Action::Replay(*vector));
                    let outcome = match self.run_task::<Replayed>(task) {
                        Ok(Finish::Done(replayed)) => Some(replayed.outcome),
                        Ok(Finish::Lost(verdict)) => Some(Outcome::without_cycles(verdict)),
                        Ok(Finish::Interrupted) | Err(_) => None,
                    };
                    Some(Request::Judged(outcome.map(Box::new)))
                }
                other => {
                    advance(other, progress, &mut best);
                    None
                }
            })?;
            match (attempt, best.take()) {
                (Attempt::Finished(Finish::Done(vector)), _) => return Ok(vector),
                (Attempt::Finished(_), Some(best)) => return Ok(best),
                (Attempt::Finished(Finish::Interrupted), None) => return Err(Error::Interrupted),
                // No RTL runs in this process, so its end is no verdict.
                (Attempt::Finished(Finish::Lost(verdict)), None) => {
                    return Err(Error::Lost(codes::MODEL_CRASHED, verdict.to_string()));
                }
                (Attempt::Lost(loss), _) => {
                    if let Some(verdict) = losses.add(loss)? {
                        return Err(Error::Lost(codes::MODEL_CRASHED, verdict.to_string()));
                    }
                }
            }
        }
    }

    /// Runs a task without progress reports.
    ///
    /// # Errors
    /// Errors of the task.
    pub fn run_task<T: DeserializeOwned>(&self, task: Task) -> Result<Finish<T>, Error> {
        let mut losses = Losses::single_task();
        loop {
            match self.attempt(&task, &mut |_| None)? {
                Attempt::Finished(finish) => return Ok(finish),
                Attempt::Lost(loss) => {
                    if let Some(verdict) = losses.add(loss)? {
                        return Ok(Finish::Lost(verdict));
                    }
                }
            }
        }
    }

    /// Loads the bare model first, which reports wrong ports with the right error.
    fn observed<T: DeserializeOwned>(
        &self,
        subject: &VectorJob<'_>,
        view: View,
        action: impl FnOnce(Built) -> Action,
    ) -> Result<Finish<T>, Error> {
        let model = subject.build(View::Quick)?;
        match self.run_task::<Option<String>>(subject.task(model.clone(), Action::Load))? {
            Finish::Done(_) => {}
            Finish::Lost(verdict) => return Ok(Finish::Lost(verdict)),
            Finish::Interrupted => return Ok(Finish::Interrupted),
        }
        let observed = subject.build(view)?;
        self.run_task(subject.task(model, action(observed)))
    }

    fn attempt<T: DeserializeOwned>(
        &self,
        task: &Task,
        on_reply: &mut dyn FnMut(Reply) -> Option<Request>,
    ) -> Result<Attempt<T>, Error> {
        if self.is_interrupted() {
            return Ok(Attempt::Finished(Finish::Interrupted));
        }
        // The waveform writer creates further files in the folder of the waveform, which is
        // temporary.
        let writable = match &task.action {
            Action::Trace(_, _, waves) if is_special(&waves.path) => Some(waves.path.as_path()),
            Action::Trace(_, _, waves) => Some(folder_of(&waves.path)),
            _ => None,
        };
        let observed = match &task.action {
            Action::Trace(_, observed, _)
            | Action::Explain(_, observed)
            | Action::Record(_, observed) => observed,
            _ => &task.model,
        };
        let simulated = task.model.is_simulated() || observed.is_simulated();
        let process = self.program.start(writable, simulated)?;
        let stuck_after = self.program.limits().stuck_after;
        let mut supervisor = Supervisor::new(process, stuck_after);
        let answer = run_task(&mut supervisor, task.clone(), &self.interrupted, on_reply);
        supervisor.kill();
        self.program.log().close();
        if let Some(in_force) = supervisor.sandbox() {
            self.program.confined(in_force);
        }
        Ok(match answer? {
            Attempt::Finished(Finish::Done(json)) => match serde_json::from_str(&json) {
                Ok(result) => Attempt::Finished(Finish::Done(result)),
                // The result of another action.
                Err(_) => Attempt::Lost(Loss::Died(CORRUPTED.to_owned())),
            },
            Attempt::Finished(Finish::Lost(verdict)) => Attempt::Finished(Finish::Lost(verdict)),
            Attempt::Finished(Finish::Interrupted) => Attempt::Finished(Finish::Interrupted),
            Attempt::Lost(loss) => Attempt::Lost(loss),
        })
    }
}

enum Attempt<T> {
    Finished(Finish<T>),
    Lost(Loss),
}

/// Passes the progress of a shrink on, and keeps its smallest vector.
fn advance(reply: Reply, progress: &mut dyn ShrinkProgress, best: &mut Option<ShrunkVector>) {
    match reply {
        Reply::Shrinking { candidates, kept } => progress.candidate(candidates, kept),
        Reply::Best(vector) => *best = Some(*vector),
        _ => {}
    }
}

/// Runs a task in `worker` and returns its JSON.
fn run_task(
    worker: &mut Supervisor<impl Link>,
    task: Task,
    interrupted: &AtomicBool,
    on_reply: &mut dyn FnMut(Reply) -> Option<Request>,
) -> Result<Attempt<String>, Error> {
    let grace = if matches!(task.action, Action::Trace(..)) { TRACE_GRACE } else { GRACE };
    worker.send(&Request::Work { place: 0, work: Work::Task(Box::new(task)) })?;
    worker.start_clocks();
    let mut cancelled: Option<Instant> = None;
    loop {
        if cancelled.is_none() && interrupted.load(Ordering::Relaxed) {
            worker.send(&Request::Cancel)?;
            cancelled = Some(Instant::now());
        }
        if cancelled.is_some_and(|since| since.elapsed() > grace) {
            return Ok(Attempt::Finished(Finish::Interrupted));
        }
        let replies = match worker.wait(TICK) {
            Event::Replies(replies) => replies,
            Event::Lost(_) if cancelled.is_some() => {
                return Ok(Attempt::Finished(Finish::Interrupted));
            }
            Event::Lost(loss) => return Ok(Attempt::Lost(loss)),
        };
        for reply in replies {
            match reply {
                Reply::Done { answer: Answer::Task(json), .. } => {
                    return Ok(Attempt::Finished(Finish::Done(json)));
                }
                Reply::Done { answer: Answer::Panicked(message), .. } => {
                    let verdict = Verdict::Crashed { cycle: None, message };
                    return Ok(Attempt::Finished(Finish::Lost(verdict)));
                }
                Reply::NotReady(refusal) | Reply::Done { answer: Answer::Refused(refusal), .. } => {
                    return Err(refusal.into());
                }
                other => {
                    if let Some(answer) = on_reply(other) {
                        worker.send(&answer)?;
                        // The time in which this process made the answer is not the worker's.
                        worker.start_clocks();
                    }
                }
            }
        }
    }
}
