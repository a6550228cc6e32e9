//! Distributes work to several workers and delivers the results in order.
//!
//! One thread per worker sends work and receives results. A worker processes its work in order and
//! reports each item at once. When it is lost, the first item without a result was the one in
//! progress. That item runs again alone in a fresh process, so its verdict does not depend on
//! earlier work ([`super::loss`]). The following items go to the next worker.
//!
//! Memory use is bounded: a limited number of items is in flight, and each result is delivered as
//! soon as all earlier ones are.

use super::loss::{Loss, Losses};
use super::process::{Process, WorkerProgram};
use super::supervisor::{Event, Link, Supervisor};
use cosim_base::error::{Error, codes};
use cosim_block::engine::SessionSetup;
use cosim_block::worker::sandbox::ActiveSandbox;
use cosim_block::worker::wire::{Answer, Reply, Request, Work};
use cosim_harness::harness::Verdict;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Items per worker that are in flight or wait for an earlier result.
const AHEAD: usize = 64;
/// Items that a worker has at most.
const BATCH: usize = 16;
/// Polling interval for interruption and the time limit.
const TICK: Duration = Duration::from_millis(20);
/// How long results accumulate before the pool reads them. A wakeup per result would cost as much
/// as creating the models.
const GATHER: Duration = Duration::from_millis(1);

pub trait Launch: Sync {
    type Link: Link;

    /// Starts a worker. It may start a simulator program if models are `simulated`. It may end with
    /// the calling thread.
    ///
    /// # Errors
    /// If no further worker can be started.
    fn launch(&self, simulated: bool) -> Result<Self::Link, Error>;

    /// Time without progress after which a worker counts as hung.
    fn stuck_after(&self) -> Duration;

    fn confined(&self, _: ActiveSandbox) {}

    /// Work begins. The models of an `is_session` run many cases.
    fn start_work(&self, _is_session: bool) {}

    fn end(&self) {}
}

impl Launch for WorkerProgram {
    type Link = Process;

    fn launch(&self, simulated: bool) -> Result<Process, Error> {
        // Running cases needs no writable folder.
        self.start(None, simulated)
    }

    fn stuck_after(&self) -> Duration {
        self.limits().stuck_after
    }

    fn confined(&self, in_force: ActiveSandbox) {
        Self::confined(self, in_force);
    }

    fn start_work(&self, is_session: bool) {
        self.log().start_work(is_session);
    }

    fn end(&self) {
        self.log().close();
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Completion {
    /// A result, but never a refusal: a refusal ends all work.
    Answer(Answer),
    /// The worker was lost while it processed the item.
    Lost(Verdict),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolAction {
    /// Start more work.
    Continue,
    /// Start no new work, but finish work in progress.
    Drain,
    /// End the workers, but deliver the results that exist.
    Stop,
    /// End the workers and deliver nothing more.
    Abandon,
}

/// Supplies work and takes results.
pub trait Client {
    type Item;

    fn next(&mut self) -> Option<(Self::Item, Work)>;

    /// Polled many times a second.
    fn poll(&mut self) -> PoolAction;

    /// Takes a result. Results come in the order of the work.
    ///
    /// # Errors
    /// Any error ends all work.
    fn landed(&mut self, item: Self::Item, completion: Completion) -> Result<PoolAction, Error>;

    fn gathered(&mut self) {}

    /// The work was stopped. The results that follow come behind work without a result.
    fn record_gap(&mut self) {}

    /// Whether a simulator program runs some of the models, in addition to those of the session
    /// setup.
    fn is_simulated(&self) -> bool {
        false
    }

    /// A worker was lost for the reason in the text and its work repeated. This says nothing about
    /// the RTL.
    fn lost_worker(&mut self, _: &str) {}
}

#[derive(Debug, Clone)]
struct InFlightWork {
    place: u64,
    work: Work,
    losses: Losses,
}

impl InFlightWork {
    /// Whether the item is repeated, alone in a fresh worker.
    fn is_alone(&self) -> bool {
        self.losses.any()
    }

    fn named(&self, text: &str) -> String {
        match &self.work {
            Work::Case(case) => format!("{}: {text}", case.name),
            Work::Task(_) | Work::Query(..) => text.to_owned(),
        }
    }

    fn name_case(&self, error: Error) -> Error {
        match error {
            Error::WorkersKilled { times, how } => {
                Error::WorkersKilled { times, how: self.named(&how) }
            }
            other => other,
        }
    }
}

#[derive(Default)]
struct PoolState {
    queue: Mutex<VecDeque<InFlightWork>>,
    /// Notified when the queue grows or the work is over.
    wake: Condvar,
    over: AtomicBool,
    workers: usize,
}

impl PoolState {
    fn queue(&self) -> MutexGuard<'_, VecDeque<InFlightWork>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn end(&self) {
        // The lock prevents that a thread starts to wait between the store and the notification.
        let queue = self.queue();
        self.over.store(true, Ordering::Relaxed);
        drop(queue);
        self.wake.notify_all();
    }

    /// Takes at most `most` items for a worker. Blocks until there is one if the worker has
    /// `nothing` to do.
    fn take_items(&self, most: usize, nothing: bool) -> Vec<InFlightWork> {
        let mut queue = self.queue();
        while nothing && queue.is_empty() && !self.is_over() {
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        // The last items are shared out in small portions, so that all workers end at about the
        // same time.
        let share = queue.len().div_ceil(2 * self.workers);
        let mut taken = Vec::new();
        while taken.len() < most.min(share) {
            match queue.front() {
                // A repeated item runs alone.
                Some(piece) if piece.is_alone() && !(nothing && taken.is_empty()) => break,
                Some(_) => {}
                None => break,
            }
            let alone = queue.front().is_some_and(InFlightWork::is_alone);
            taken.extend(queue.pop_front());
            if alone {
                break;
            }
        }
        taken
    }

    /// Adds items behind the others, with one notification.
    fn add(&self, pieces: Vec<InFlightWork>) {
        if !pieces.is_empty() {
            self.queue().extend(pieces);
            self.wake.notify_all();
        }
    }

    /// Puts items back that a worker did not process. The queue stays in the order of the work,
    /// because all later results wait for the first item.
    fn give_back(&self, pieces: impl Iterator<Item = InFlightWork>) {
        let mut queue = self.queue();
        for piece in pieces {
            let behind = queue.partition_point(|waiting| waiting.place < piece.place);
            queue.insert(behind, piece);
        }
        drop(queue);
        self.wake.notify_all();
    }
}

/// Ends the work when the client's side returns or panics.
struct ShutdownGuard<'a>(&'a PoolState);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

enum CompletionEvent {
    /// The place of an item, and its result.
    Result(u64, Completion),
    /// A worker was lost for the reason in the text, and its work was repeated.
    LostWorker(String),
}

/// Processes the client's work with `workers` workers.
///
/// # Errors
/// Errors of the client, a refusal of a worker, or a failure to start workers.
pub fn run<C: Client>(
    launch: &impl Launch,
    opening: Option<&SessionSetup>,
    workers: usize,
    client: &mut C,
) -> Result<(), Error> {
    let shared = PoolState { workers, ..PoolState::default() };
    let simulated = client.is_simulated() || opening.is_some_and(SessionSetup::is_simulated);
    let (sender, completions) = mpsc::channel();
    launch.start_work(opening.is_some());
    let result = thread::scope(|scope| {
        let _end = ShutdownGuard(&shared);
        for index in 0..workers {
            let (shared, sender) = (&shared, sender.clone());
            let (worker, assigned) = (None, VecDeque::new());
            let worker_thread =
                WorkerThread { launch, opening, simulated, shared, sender, worker, assigned };
            let name = format!("worker-{index}");
            thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, move || worker_thread.work())
                .map_err(|error| {
                    Error::Environment(codes::SYSTEM, format!("no threads: {error}"))
                })?;
        }
        drop(sender);
        let (items, finished) = (BTreeMap::new(), BTreeMap::new());
        WorkerPool { shared: &shared, completions, items, finished }.drive(client, workers)
    });
    launch.end();
    result
}

/// The client's side of the pool.
struct WorkerPool<'a, I> {
    shared: &'a PoolState,
    completions: Receiver<Result<CompletionEvent, Error>>,
    /// Items handed out, by place.
    items: BTreeMap<u64, I>,
    /// Results that wait for an earlier one, by place.
    finished: BTreeMap<u64, (I, Completion)>,
}

impl<I> WorkerPool<'_, I> {
    fn drive<C: Client<Item = I>>(&mut self, client: &mut C, workers: usize) -> Result<(), Error> {
        let mut next = PoolAction::Continue;
        let mut place = 0;
        loop {
            if next == PoolAction::Continue {
                next = client.poll();
            } else if client.poll() == PoolAction::Stop {
                next = PoolAction::Stop;
            }
            if next == PoolAction::Stop {
                return self.stop(client);
            }
            let mut pieces = Vec::new();
            while next == PoolAction::Continue
                && self.items.len() + self.finished.len() < workers * AHEAD
            {
                let Some((item, work)) = client.next() else { break };
                self.items.insert(place, item);
                pieces.push(InFlightWork { place, work, losses: Losses::default() });
                place += 1;
            }
            self.shared.add(pieces);
            if self.items.is_empty() && self.finished.is_empty() {
                return Ok(());
            }
            match self.completions.recv_timeout(TICK) {
                Ok(completion) => {
                    self.record(completion?, client);
                    thread::sleep(GATHER);
                    while let Ok(completion) = self.completions.try_recv() {
                        self.record(completion?, client);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Environment(
                        codes::WORKER_FAILED,
                        "the workers' threads are gone".to_owned(),
                    ));
                }
            }
            while let Some((item, completion)) = self.next_in_order() {
                match client.landed(item, completion)? {
                    PoolAction::Continue => {}
                    PoolAction::Drain => next = PoolAction::Drain,
                    PoolAction::Stop => return self.stop(client),
                    PoolAction::Abandon => return Ok(()),
                }
            }
            client.gathered();
            if next == PoolAction::Drain {
                self.withdraw();
            }
        }
    }

    /// Takes back the items that no worker has started.
    fn withdraw(&mut self) {
        self.shared.queue().retain(|piece| {
            // A repeated item has started before.
            let stays = piece.is_alone();
            if !stays {
                self.items.remove(&piece.place);
            }
            stays
        });
    }

    /// Delivers the results that exist.
    fn stop<C: Client<Item = I>>(&mut self, client: &mut C) -> Result<(), Error> {
        self.shared.end();
        while let Ok(completion) = self.completions.try_recv() {
            self.record(completion?, client);
        }
        let mut is_in_order = true;
        while let Some((place, (item, completion))) = self.finished.pop_first() {
            let first = self.items.first_key_value();
            if is_in_order && first.is_some_and(|(flying, _)| *flying < place) {
                is_in_order = false;
                client.record_gap();
            }
            if client.landed(item, completion)? == PoolAction::Abandon {
                return Ok(());
            }
        }
        Ok(())
    }

    fn record<C: Client<Item = I>>(&mut self, landed: CompletionEvent, client: &mut C) {
        match landed {
            CompletionEvent::Result(place, completion) => {
                if let Some(item) = self.items.remove(&place) {
                    self.finished.insert(place, (item, completion));
                }
            }
            CompletionEvent::LostWorker(how) => client.lost_worker(&how),
        }
    }

    fn next_in_order(&mut self) -> Option<(I, Completion)> {
        let (first, _) = self.finished.first_key_value()?;
        if self.items.first_key_value().is_some_and(|(flying, _)| flying < first) {
            return None;
        }
        self.finished.pop_first().map(|(_, completion)| completion)
    }
}

struct WorkerThread<'a, L: Launch> {
    launch: &'a L,
    opening: Option<&'a SessionSetup>,
    simulated: bool,
    shared: &'a PoolState,
    sender: Sender<Result<CompletionEvent, Error>>,
    worker: Option<Supervisor<L::Link>>,
    /// Items of the worker without a result, in order.
    assigned: VecDeque<InFlightWork>,
}

impl<L: Launch> WorkerThread<'_, L> {
    fn work(mut self) {
        if let Err(error) = self.try_work() {
            let _ = self.sender.send(Err(error));
        }
        if let Some(worker) = &mut self.worker {
            worker.kill();
        }
    }

    fn try_work(&mut self) -> Result<(), Error> {
        // Moving average of the time per item.
        let mut each = Duration::ZERO;
        let mut last = Instant::now();
        let mut is_confined = false;
        loop {
            self.hand_out()?;
            if self.shared.is_over() {
                return Ok(());
            }
            let Some(worker) = &mut self.worker else { continue };
            let had = self.assigned.len();
            let event = worker.wait(TICK);
            if !is_confined && let Some(in_force) = worker.sandbox() {
                self.launch.confined(in_force);
                is_confined = true;
            }
            match event {
                Event::Replies(replies) => {
                    for reply in replies {
                        self.process_reply(reply)?;
                    }
                }
                Event::Lost(loss) => self.lost(loss)?,
            }
            let done = u32::try_from(had.saturating_sub(self.assigned.len())).unwrap_or(u32::MAX);
            if done > 0 {
                each = (each * 3 + last.elapsed() / done) / 4;
                last = Instant::now();
                // Short enough that the worker does not run out of work.
                let dry = each * u32::try_from(self.assigned.len()).unwrap_or(0) / 4;
                thread::sleep(GATHER.min(dry));
            }
        }
    }

    /// Gives the worker more items. Starts a worker if there is none.
    fn hand_out(&mut self) -> Result<(), Error> {
        let is_alone = self.assigned.front().is_some_and(InFlightWork::is_alone);
        if is_alone || self.assigned.len() > BATCH / 2 {
            return Ok(());
        }
        let nothing = self.assigned.is_empty();
        let pieces = self.shared.take_items(BATCH - self.assigned.len(), nothing);
        if pieces.is_empty() {
            return Ok(());
        }
        // A repeated item needs a fresh worker.
        if pieces.iter().any(InFlightWork::is_alone)
            && let Some(mut used) = self.worker.take()
        {
            used.kill();
        }
        if self.worker.is_none() {
            let link = self.launch.launch(self.simulated)?;
            let mut worker = Supervisor::new(link, self.launch.stuck_after());
            if let Some(opening) = self.opening {
                worker.send(&Request::Open(opening.clone()))?;
            }
            self.worker = Some(worker);
        }
        if let Some(worker) = &mut self.worker {
            if nothing {
                worker.start_clocks();
            }
            for piece in pieces {
                worker.send(&Request::Work { place: piece.place, work: piece.work.clone() })?;
                self.assigned.push_back(piece);
            }
        }
        Ok(())
    }

    fn process_reply(&mut self, reply: Reply) -> Result<(), Error> {
        match reply {
            Reply::NotReady(refusal) | Reply::Done { answer: Answer::Refused(refusal), .. } => {
                Err(refusal.into())
            }
            Reply::Done { answer, .. } => {
                // The supervisor lets only the answer to the first item through.
                if let Some(piece) = self.assigned.pop_front() {
                    self.report(piece, Completion::Answer(answer));
                }
                Ok(())
            }
            Reply::Ready
            | Reply::Alive(_)
            | Reply::Shrinking { .. }
            | Reply::Best(_)
            | Reply::Candidate(_)
            | Reply::Started(_) => Ok(()),
        }
    }

    /// The worker is lost, and with it the item in progress.
    fn lost(&mut self, loss: Loss) -> Result<(), Error> {
        let was_ready = self.worker.take().is_some_and(|worker| worker.is_ready());
        let Some(mut piece) = self.assigned.pop_front() else { return Ok(()) };
        self.shared.give_back(self.assigned.drain(..));
        let verdict = match loss {
            // The worker died before any work, so no item is the cause.
            Loss::Died(how) if self.opening.is_some() && !was_ready => {
                let message = format!("loading the model, {how}");
                Some(Verdict::Crashed { cycle: None, message })
            }
            loss => piece.losses.add(loss).map_err(|error| piece.name_case(error))?,
        };
        match verdict {
            Some(verdict) => self.report(piece, Completion::Lost(verdict)),
            None => self.shared.give_back(std::iter::once(piece)),
        }
        Ok(())
    }

    fn report(&self, piece: InFlightWork, completion: Completion) {
        for loss in piece.losses.to_others(matches!(completion, Completion::Answer(_))) {
            let how = piece.named(loss.how());
            let _ = self.sender.send(Ok(CompletionEvent::LostWorker(how)));
        }
        let completion = match (piece.losses.died(), completion) {
            (Some(how), Completion::Answer(_)) => Completion::Lost(Verdict::Crashed {
                cycle: None,
                message: format!("{how}; it did not happen again when the case ran alone"),
            }),
            (_, completion) => completion,
        };
        // The receiver may be gone once the work is over.
        let _ = self.sender.send(Ok(CompletionEvent::Result(piece.place, completion)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Case;

    fn piece(place: u64) -> InFlightWork {
        let name = place.to_string();
        let case = Case { place, profile: 0, scenario: 0, name, seed: 0 };
        InFlightWork { place, work: Work::Case(case), losses: Losses::default() }
    }

    /// Does a client that is stopped know which results have another before them missing?
    #[test]
    fn results_behind_a_missing_one_are_announced() {
        struct Taken(Vec<String>);
        impl Client for Taken {
            type Item = u64;
            fn next(&mut self) -> Option<(u64, Work)> {
                None
            }
            fn poll(&mut self) -> PoolAction {
                PoolAction::Stop
            }
            fn landed(&mut self, item: u64, _: Completion) -> Result<PoolAction, Error> {
                self.0.push(item.to_string());
                Ok(PoolAction::Continue)
            }
            fn record_gap(&mut self) {
                self.0.push("gap".to_owned());
            }
        }
        let shared = PoolState { workers: 2, ..PoolState::default() };
        let (_sender, completions) = mpsc::channel();
        let result =
            |place: u64| (place, (place, Completion::Answer(Answer::Panicked(String::new()))));
        let (items, finished) = ([(6, 6)].into(), [3, 4, 7, 8].map(result).into());
        let mut pool = WorkerPool { shared: &shared, completions, items, finished };
        let mut taken = Taken(Vec::new());
        pool.drive(&mut taken, 2).unwrap();
        assert_eq!(taken.0, ["3", "4", "gap", "7", "8"]);
    }

    /// Returned items run first, because the results of all others wait for them.
    #[test]
    fn returned_items_keep_the_order_of_the_work() {
        let queue = Mutex::new([4, 7].map(piece).into());
        let shared = PoolState { queue, workers: 2, ..PoolState::default() };
        shared.give_back([5, 6].map(piece).into_iter());
        shared.give_back([1, 2].map(piece).into_iter());
        let places: Vec<u64> = shared.queue().iter().map(|piece| piece.place).collect();
        assert_eq!(places, [1, 2, 4, 5, 6, 7]);
    }
}
