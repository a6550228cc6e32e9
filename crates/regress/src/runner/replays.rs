//! Replays many vectors, each in its own worker, and returns the results in order.

use crate::worker::loss::CORRUPTED;
use crate::worker::worker_pool::{self, Client, Completion, Launch, PoolAction};
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::engine::Replayed;
use cosim_block::vector::VectorFile;
use cosim_block::worker::task::{Action, Task};
use cosim_block::worker::wire::{Answer, Work};
use cosim_harness::harness::Verdict;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Clone)]
pub struct Replay<'a> {
    pub file: &'a VectorFile,
    pub recorded: Option<&'a Verdict>,
    pub profile: String,
    pub model: Built,
}

/// Replays vectors on `workers` workers. `each` receives the results in order, with their indices.
///
/// # Errors
/// An error of `each`, or a refusal of a worker, such as a model with wrong ports.
pub fn replay_all(
    launch: &impl Launch,
    workers: usize,
    replays: &[Replay<'_>],
    interrupted: &AtomicBool,
    each: &mut dyn FnMut(usize, Replayed) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut client = Replays { replays, next: 0, interrupted, each };
    worker_pool::run(launch, None, workers.min(replays.len()).max(1), &mut client)
}

struct Replays<'a, 'b> {
    replays: &'a [Replay<'a>],
    next: usize,
    interrupted: &'a AtomicBool,
    each: &'b mut dyn FnMut(usize, Replayed) -> Result<(), Error>,
}

impl Client for Replays<'_, '_> {
    type Item = usize;

    fn next(&mut self) -> Option<(usize, Work)> {
        let index = self.next;
        let Replay { file, profile, model, .. } = self.replays.get(index)?.clone();
        self.next += 1;
        let action = Action::Replay(file.clone());
        let task = Task { block: file.block.clone(), profile, model, action };
        Some((index, Work::Task(Box::new(task))))
    }

    fn is_simulated(&self) -> bool {
        self.replays.iter().any(|replay| replay.model.is_simulated())
    }

    fn poll(&mut self) -> PoolAction {
        if self.interrupted.load(Ordering::Relaxed) {
            PoolAction::Stop
        } else {
            PoolAction::Continue
        }
    }

    fn landed(&mut self, index: usize, completion: Completion) -> Result<PoolAction, Error> {
        let recorded = self.replays[index].recorded;
        let replayed = match completion {
            Completion::Answer(Answer::Task(json)) => {
                serde_json::from_str(&json).unwrap_or_else(|_| {
                    let message = CORRUPTED.to_owned();
                    Replayed::lost(Verdict::Crashed { cycle: None, message }, recorded)
                })
            }
            Completion::Answer(Answer::Panicked(message)) => {
                Replayed::lost(Verdict::Crashed { cycle: None, message }, recorded)
            }
            Completion::Lost(verdict) => Replayed::lost(verdict, recorded),
            Completion::Answer(answer) => {
                let message = format!("a worker answers a replay with {answer:?}");
                return Err(Error::Environment(codes::WORKER_FAILED, message));
            }
        };
        (self.each)(index, replayed)?;
        Ok(PoolAction::Continue)
    }
}
