//! Asks the program with the blocks about them, in a process that never loads a model: RTL cannot
//! change an answer.

use super::process::{Limits, Process, WorkerProgram};
use super::supervisor::{Event, Supervisor};
use cosim_base::error::{Error, codes};
use cosim_block::engine::Query;
use cosim_block::worker::sandbox::Sandbox;
use cosim_block::worker::wire::{Answer, Reply, Request, Work};
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time without progress after which the process counts as hung.
const STUCK_AFTER: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(20);
/// Answers that are kept: the parameters of a run are asked for again and again.
const MOST_KEPT: usize = 4096;

/// The process that answers. It is started with the first query.
pub struct BlockQueries {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<Supervisor<Process>>,
    /// Short answers, by block and query.
    known: HashMap<Vec<u8>, Vec<u8>>,
}

impl Debug for BlockQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockQueries").field("path", &self.path).finish_non_exhaustive()
    }
}

impl BlockQueries {
    pub fn new(path: PathBuf) -> Self {
        Self { path, state: Mutex::default() }
    }

    /// The path that starts the program.
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Asks a query about a block. The answer is postcard.
    ///
    /// # Errors
    /// Errors of the query. [`Error::Environment`] if the process does not answer.
    pub fn query(&self, block: &str, query: &Query) -> Result<Vec<u8>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let key = match query {
            Query::Facts { .. } | Query::Meaning(..) => postcard::to_allocvec(&(block, query)).ok(),
            _ => None,
        };
        if let Some(answer) = key.as_ref().and_then(|key| state.known.get(key)) {
            return Ok(answer.clone());
        }
        let answer = state.query(&self.path, block, query)?;
        if let Some(key) = key.filter(|_| state.known.len() < MOST_KEPT) {
            state.known.insert(key, answer.clone());
        }
        Ok(answer)
    }
}

impl State {
    fn query(&mut self, path: &PathBuf, block: &str, query: &Query) -> Result<Vec<u8>, Error> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => {
                let sandbox = Sandbox::On;
                let limits = Limits { stuck_after: STUCK_AFTER, memory: None, sandbox };
                Supervisor::new(
                    WorkerProgram::from_path(path, limits).start(None, false)?,
                    STUCK_AFTER,
                )
            }
        };
        let work = Work::Query(block.to_owned(), Box::new(query.clone()));
        process.send(&Request::Work { place: 0, work })?;
        process.start_clocks();
        loop {
            let replies = match process.wait(TICK) {
                Event::Replies(replies) => replies,
                Event::Lost(loss) => {
                    let message = format!(
                        "the program with the blocks does not answer a query about block {block}: {}",
                        loss.how()
                    );
                    return Err(Error::Environment(codes::WORKER_FAILED, message));
                }
            };
            for reply in replies {
                let answer = match reply {
                    Reply::Done { answer: Answer::Query(answer), .. } => Ok(answer),
                    Reply::Done { answer: Answer::Refused(refusal), .. } => Err(refusal.into()),
                    Reply::Done { answer: Answer::Panicked(why), .. } => Err(Error::Environment(
                        codes::WORKER_FAILED,
                        format!("block {block} panics while it answers a query: {why}"),
                    )),
                    Reply::NotReady(refusal) => return Err(refusal.into()),
                    _ => continue,
                };
                self.process = Some(process);
                return answer;
            }
        }
    }
}
