//! A run until enough is covered, on several machines that share a folder.
//!
//! Every shard learns what came of all cases, so each plans the same rounds, and has the whole run at its end. Of each round it
//! runs its part, and leaves in the folder what came of it; what came of the other parts it reads there. A part that is not there when its own is
//! done, and as much time again has passed, it runs itself: what comes of a case does not depend on who runs it. So no shard needs another one,
//! and one that comes late, or is run twice, reads what is there. Of two who leave the same part the first has left it: all read the same.

use super::guide::Guide;
use super::journal::{next, record};
use super::plan::Shard;
use super::pool::{Cases, End, Limits, Progress, Start};
use crate::engine::Opening;
use crate::error::{Error, codes};
use crate::files::write_first;
use crate::harness::{Case, Outcome, Verdict};
use crate::judged::Judged;
use crate::worker::crew::{self, Client, Landing, Launch, Next};
use crate::worker::wire::Work;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The file that says of which run a folder is.
const RUN: &str = "run.json";
/// How a part begins.
const MARK: &[u8] = b"cosim-part 1\n";
/// How long others are waited for before a part of one's own was run.
const PATIENCE: Duration = Duration::from_millis(100);
/// From one look at what is there to the next: at first, and at most.
const NAPS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// A folder in which the shards of a run tell each other what came of their cases.
#[derive(Debug)]
pub struct Exchange {
    folder: PathBuf,
    shard: Shard,
}

impl Exchange {
    /// That of a run, as one of its shards sees it; `run` says what the shards have in common.
    ///
    /// # Errors
    /// [`Error::File`] if it is that of another run; [`Error::Write`] if it cannot be made.
    pub fn open(folder: &Path, shard: Shard, run: &Value) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
        let path = folder.join(RUN);
        if !path.exists() {
            write_first(&path, format!("{run:#}\n").as_bytes())?;
        }
        let text = fs::read(&path).map_err(|error| Error::unreadable(&path, &error))?;
        let there: Value =
            serde_json::from_slice(&text).map_err(|error| Error::json(&path, &error))?;
        let keys = [run, &there].into_iter().flat_map(|run| run.as_object());
        for key in keys.flat_map(|run| run.keys()) {
            let (there, here) = (&there[key], &run[key]);
            if there != here {
                let message = format!(
                    "belongs to another run: its {key} is {there}, here it is {here}; name another folder with --exchange, or \
                     remove this one"
                );
                return Err(Error::File {
                    code: codes::OTHER_EXCHANGE,
                    path: folder.to_owned(),
                    message,
                });
            }
        }
        Ok(Self { folder: folder.to_owned(), shard })
    }

    /// Where a part of a round is left.
    fn path(&self, round: u64, part: u64) -> PathBuf {
        self.folder.join(format!("round-{round:06}")).join(part.to_string())
    }

    /// What came of the cases of a part, if somebody has left it.
    fn read(&self, round: u64, part: u64, cases: &[&Case]) -> Result<Option<Vec<Outcome>>, Error> {
        let path = self.path(round, part);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::unreadable(&path, &error)),
        };
        let wrong = |message: &str| {
            let message = format!("{message}; remove the folder {}", self.folder.display());
            Error::File { code: codes::OTHER_EXCHANGE, path: path.clone(), message }
        };
        let damaged = || wrong("is damaged, or of another version");
        let mut rest = bytes.strip_prefix(MARK).ok_or_else(damaged)?;
        let content = next(&mut rest).ok_or_else(damaged)?;
        let there: Vec<(u64, Outcome)> = postcard::from_bytes(content).map_err(|_| damaged())?;
        let places = there.iter().map(|(place, _)| *place);
        if !places.eq(cases.iter().map(|case| case.place)) {
            return Err(wrong("has other cases than this run has there"));
        }
        Ok(Some(there.into_iter().map(|(_, outcome)| outcome).collect()))
    }

    /// Leaves what came of the cases of a part, unless somebody has.
    fn leave(
        &self,
        round: u64,
        part: u64,
        cases: &[&Case],
        outcomes: &[Outcome],
    ) -> Result<(), Error> {
        let path = self.path(round, part);
        let below = self.folder.join(format!("round-{round:06}"));
        // The folder itself is not made again: who removes it means it.
        match fs::create_dir(&below) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::write(below)(error));
            }
            _ => {}
        }
        let there: Vec<(u64, &Outcome)> =
            cases.iter().map(|case| case.place).zip(outcomes).collect();
        let bytes = postcard::to_stdvec(&there)
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        write_first(&path, &[MARK, &record(&bytes)].concat())?;
        Ok(())
    }
}

/// Runs the cases that a guide chooses, together with the other shards, until there is none any more, a limit, or `interrupted`.
///
/// # Errors
/// What `progress` returns; what is wrong with the folder; if there can be no workers.
pub fn run_part(
    launch: &impl Launch,
    (opening, judged): (&Opening, &mut Judged),
    (guide, start): (&mut Rc<RefCell<Guide>>, Start),
    exchange: &Exchange,
    (limits, interrupted): (&Limits, &AtomicBool),
    progress: &mut dyn Progress,
) -> Result<End, Error> {
    let mut cases = Cases::new((guide, start), judged, limits, interrupted, progress);
    if cases.is_over() {
        return Ok(cases.end());
    }
    let mut rounds = Rounds::new(cases, exchange, interrupted);
    crew::run(launch, Some(opening), limits.threads, &mut rounds)?;
    rounds.end()
}

/// The rounds of a run, of which this shard runs a part.
struct Rounds<'a> {
    cases: Cases<'a, Rc<RefCell<Guide>>>,
    exchange: &'a Exchange,
    interrupted: &'a AtomicBool,
    round: Round,
    /// What is run here.
    at_work: Option<Part>,
    /// What a part of this shard's takes.
    usual: Duration,
    is_over: bool,
    is_interrupted: bool,
    error: Option<Error>,
}

/// A round, and what is known of it.
#[derive(Default)]
struct Round {
    number: u64,
    cases: Vec<Case>,
    /// Cases that were told of before the run was gone on with.
    told: usize,
    /// By part.
    known: BTreeMap<u64, VecDeque<Outcome>>,
    /// Until when the other shards are waited for.
    patience: Option<Instant>,
}

/// A part of a round that is run here.
struct Part {
    part: u64,
    left: VecDeque<Case>,
    flying: usize,
    outcomes: Vec<Outcome>,
    began: Instant,
}

impl Round {
    /// The parts that have cases, of so many shards.
    fn parts(&self, shards: u64) -> u64 {
        shards.min(self.cases.len() as u64)
    }

    /// The cases of a part, from 1.
    fn part(&self, part: u64, shards: u64) -> Vec<&Case> {
        let first = usize::try_from(part - 1).unwrap_or(usize::MAX);
        let step = usize::try_from(shards).unwrap_or(usize::MAX);
        self.cases.iter().skip(first).step_by(step).collect()
    }
}

impl<'a> Rounds<'a> {
    fn new(
        cases: Cases<'a, Rc<RefCell<Guide>>>,
        exchange: &'a Exchange,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self {
            cases,
            exchange,
            interrupted,
            round: Round::default(),
            at_work: None,
            usual: PATIENCE,
            is_over: false,
            is_interrupted: false,
            error: None,
        }
    }

    /// Why the run ended.
    fn end(self) -> Result<End, Error> {
        match self.error {
            Some(error) => Err(error),
            None if self.is_interrupted => Ok(End::Interrupted),
            None => Ok(self.cases.end()),
        }
    }

    fn shards(&self) -> u64 {
        self.exchange.shard.count()
    }

    /// Whether the run has been stopped.
    fn is_stopped(&mut self) -> bool {
        self.is_interrupted |= self.interrupted.load(Ordering::Relaxed);
        self.is_interrupted
    }

    /// Leaves the part that was run here, and waits until there is another one to run; whether there is.
    fn go_on(&mut self) -> Result<bool, Error> {
        if let Some(Part { part, outcomes, began, .. }) = self.at_work.take() {
            let cases = self.round.part(part, self.shards());
            self.exchange.leave(self.round.number, part, &cases, &outcomes)?;
            if part == self.exchange.shard.index() {
                self.usual = began.elapsed();
            }
        }
        let [mut nap, longest] = NAPS;
        while !self.is_stopped() {
            if self.round.cases.is_empty() && !self.next_round() {
                return Ok(false);
            }
            let missing = self.missing()?;
            let own = self.exchange.shard.index();
            if missing.is_empty() {
                if !self.tell()? {
                    return Ok(false);
                }
                [nap, _] = NAPS;
            } else if missing.contains(&own) {
                self.begin(own);
                return Ok(true);
            } else if self.is_patience_over() {
                // Not all begin with the same one.
                let behind = missing.iter().find(|part| **part > own);
                self.begin(*behind.unwrap_or(&missing[0]));
                return Ok(true);
            } else {
                thread::sleep(nap);
                nap = longest.min(nap * 2);
            }
        }
        Ok(false)
    }

    /// Plans the next round; whether there is one.
    fn next_round(&mut self) -> bool {
        let (number, cases, told) = self.cases.source.borrow_mut().round();
        self.round = Round { number, cases, told, ..Round::default() };
        !self.round.cases.is_empty()
    }

    /// The parts of this round that nobody has left yet.
    fn missing(&mut self) -> Result<Vec<u64>, Error> {
        let shards = self.shards();
        let mut missing = Vec::new();
        for part in 1..=self.round.parts(shards) {
            if self.round.known.contains_key(&part) {
                continue;
            }
            let cases = self.round.part(part, shards);
            match self.exchange.read(self.round.number, part, &cases)? {
                Some(outcomes) => drop(self.round.known.insert(part, outcomes.into())),
                None => missing.push(part),
            }
        }
        Ok(missing)
    }

    /// Whether the other shards have been waited for long enough.
    fn is_patience_over(&mut self) -> bool {
        let usual = self.usual;
        let until = self.round.patience.get_or_insert_with(|| Instant::now() + usual);
        *until <= Instant::now()
    }

    /// Begins with a part.
    fn begin(&mut self, part: u64) {
        let left = self.round.part(part, self.shards()).into_iter().cloned().collect();
        let (flying, outcomes, began) = (0, Vec::new(), Instant::now());
        self.at_work = Some(Part { part, left, flying, outcomes, began });
    }

    /// Tells of all cases of the round, in order; whether the run goes on.
    fn tell(&mut self) -> Result<bool, Error> {
        let shards = self.shards();
        let Round { cases, told, mut known, .. } = std::mem::take(&mut self.round);
        for (number, case) in cases.iter().enumerate() {
            let part = known.get_mut(&(number as u64 % shards + 1));
            let Some(outcome) = part.and_then(VecDeque::pop_front) else { continue };
            // What was told of the round before the run was killed is not told again.
            if number < told {
                continue;
            }
            if self.is_stopped() || self.cases.ended(case, &outcome)? != Next::Continue {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Client for Rounds<'_> {
    type Item = Case;

    fn next(&mut self) -> Option<(Case, Work)> {
        loop {
            if self.is_over || self.is_interrupted {
                return None;
            }
            if let Some(at_work) = &mut self.at_work {
                if let Some(case) = at_work.left.pop_front() {
                    at_work.flying += 1;
                    let work = self.cases.work(&case);
                    return Some((case, work));
                }
                if at_work.flying > 0 {
                    return None;
                }
            }
            match self.go_on() {
                Ok(true) => {}
                Ok(false) => self.is_over = true,
                Err(error) => {
                    self.error = Some(error);
                    self.is_over = true;
                }
            }
        }
    }

    fn look(&mut self) -> Next {
        if self.is_stopped() { Next::Stop } else { Next::Continue }
    }

    fn landed(&mut self, case: Case, landing: Landing) -> Result<Next, Error> {
        let outcome = self.cases.outcome(&case, landing)?;
        // It has no verdict, and so has its part none.
        self.is_interrupted |= outcome.verdict == Verdict::Cancelled;
        if let Some(at_work) = &mut self.at_work {
            at_work.flying -= 1;
            at_work.outcomes.push(outcome);
        }
        Ok(Next::Continue)
    }

    fn lost_worker(&mut self, how: &str) {
        self.cases.lost_worker(how);
    }
}

#[cfg(test)]
mod tests;
