//! Distributes work to several workers and delivers the results in order.
//!
//! One thread per worker sends work and receives results. A worker processes its work in order
//! and reports each item at once. When it is lost, the first item without a result was the one in
//! progress. That item runs again alone in a fresh process, so its verdict does not depend on
//! earlier work ([`super::loss`]). The following items go to the next worker.
//!
//! Memory does not grow with the work: a bounded number of pieces is in flight, and results are given away
//! as soon as all before them are there.

use super::loss::{Loss, Losses};
use super::process::{Process, Program};
use super::sandbox::ActiveSandbox;
use super::supervisor::{Event, Link, Supervisor};
use super::wire::{Answer, Reply, Request, Work};
use crate::engine::SessionSetup;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::Verdict;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces in flight or waiting for an earlier one, per worker.
const AHEAD: usize = 64;
/// Pieces that a worker has at most.
const HANDFUL: usize = 16;
/// How often interruption and time are looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long results may gather before they are looked at: to be woken by each of them would cost the cases
/// as much as their models' creation.
const NAP: Duration = Duration::from_millis(1);

/// Starts workers.
pub trait Launch: Sync {
    /// A connection to one.
    type Link: Link;

    /// Starts one, which may start the program that simulates models if they are `simulated`. It may end with the thread
    /// that called this.
    ///
    /// # Errors
    /// If there can be no further one.
    fn launch(&self, simulated: bool) -> Result<Self::Link, Error>;

    /// Time without progress after which one hangs.
    fn stuck_after(&self) -> Duration;

    /// One says under which restrictions it runs.
    fn confined(&self, _: ActiveSandbox) {}
}

impl Launch for Program {
    type Link = Process;

    fn launch(&self, simulated: bool) -> Result<Process, Error> {
        // Cases write nothing.
        self.start(None, simulated)
    }

    fn stuck_after(&self) -> Duration {
        self.limits().stuck_after
    }

    fn confined(&self, in_force: ActiveSandbox) {
        Self::confined(self, in_force);
    }
}

/// What came of a piece of work.
#[derive(Debug, Clone, PartialEq)]
pub enum Completion {
    /// A result; never a refusal, which ends all work.
    Answer(Answer),
    /// The worker was lost with it.
    Lost(Verdict),
}

/// What is to happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolAction {
    /// More work.
    Continue,
    /// No new work; what has begun is finished.
    Drain,
    /// Nothing more; workers are ended. What is done already is still delivered.
    Stop,
    /// Nothing more at all.
    Abandon,
}

/// Who gives work and takes results.
pub trait Client {
    /// What work is done for.
    type Item;

    /// The next piece, if there is one.
    fn next(&mut self) -> Option<(Self::Item, Work)>;

    /// Asked many times a second.
    fn look(&mut self) -> PoolAction;

    /// Takes a result; they come in the order of the work.
    ///
    /// # Errors
    /// What ends all work.
    fn landed(&mut self, item: Self::Item, landing: Completion) -> Result<PoolAction, Error>;

    /// Whether a program simulates some of the models, beside those of the opening.
    fn is_simulated(&self) -> bool {
        false
    }

    /// A worker was lost, as the text says, and its work is done again. That says nothing about the RTL.
    fn lost_worker(&mut self, _: &str) {}
}

/// A piece of work on its way.
#[derive(Debug, Clone)]
struct InFlightWork {
    place: u64,
    work: Work,
    /// The workers that were lost with it.
    losses: Losses,
}

impl InFlightWork {
    /// Whether it is done again, alone.
    fn is_alone(&self) -> bool {
        self.losses.any()
    }

    /// A text on it.
    fn named(&self, text: &str) -> String {
        match &self.work {
            Work::Case { case, .. } => format!("{}: {text}", case.name),
            Work::Task(_) => text.to_owned(),
        }
    }

    /// An error that came with it.
    fn at(&self, error: Error) -> Error {
        match error {
            Error::WorkersKilled { times, how } => {
                Error::WorkersKilled { times, how: self.named(&how) }
            }
            other => other,
        }
    }
}

/// What the threads share.
struct PoolState {
    queue: Mutex<VecDeque<InFlightWork>>,
    /// Something was put into the queue, or the work is over.
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
        // Under the lock: nobody may begin to wait between this and the call that wakes them.
        let queue = self.queue();
        self.over.store(true, Ordering::Relaxed);
        drop(queue);
        self.wake.notify_all();
    }

    /// Some pieces for a worker that can take `most`; waits for one if it has `nothing` to do.
    fn take(&self, most: usize, nothing: bool) -> Vec<InFlightWork> {
        let mut queue = self.queue();
        while nothing && queue.is_empty() && !self.is_over() {
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        // The last ones are shared out in small parts, so that all workers end at about the same time.
        let share = queue.len().div_ceil(2 * self.workers);
        let mut taken = Vec::new();
        while taken.len() < most.min(share) {
            match queue.front() {
                // One with which a worker was lost is done alone.
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

    /// Gives back what a worker did not come to. The queue stays in the order of the work: results are delivered in that
    /// order, so the first piece is what the others wait for.
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

/// Ends the work when the client's side is left, in whatever way.
struct ShutdownGuard<'a>(&'a PoolState);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// News of a piece of work.
enum CompletionEvent {
    /// Its place and result.
    Result(u64, Completion),
    /// A worker was lost, as the text says, with work that was done again.
    LostWorker(String),
}

/// Does the client's work with so many workers.
///
/// # Errors
/// What the client returns; what a worker refuses; if there can be no workers.
pub fn run<C: Client>(
    launch: &impl Launch,
    opening: Option<&SessionSetup>,
    workers: usize,
    client: &mut C,
) -> Result<(), Error> {
    let shared = PoolState {
        queue: Mutex::new(VecDeque::new()),
        wake: Condvar::new(),
        over: AtomicBool::new(false),
        workers,
    };
    let simulated = client.is_simulated() || opening.is_some_and(SessionSetup::is_simulated);
    let (sender, landings) = mpsc::channel();
    thread::scope(|scope| {
        let _end = ShutdownGuard(&shared);
        for index in 0..workers {
            let (shared, sender) = (&shared, sender.clone());
            let (worker, has) = (None, VecDeque::new());
            let hand = WorkerThread { launch, opening, simulated, shared, sender, worker, has };
            let name = format!("worker-{index}");
            thread::Builder::new().name(name).spawn_scoped(scope, move || hand.work()).map_err(
                |error| Error::Environment(codes::SYSTEM, format!("no threads: {error}")),
            )?;
        }
        drop(sender);
        let (items, landed) = (BTreeMap::new(), BTreeMap::new());
        WorkerPool { shared: &shared, landings, items, landed }.drive(client, workers)
    })
}

/// The side of the client.
struct WorkerPool<'a, I> {
    shared: &'a PoolState,
    landings: Receiver<Result<CompletionEvent, Error>>,
    /// Handed out, by place.
    items: BTreeMap<u64, I>,
    /// Done, but an earlier one is not.
    landed: BTreeMap<u64, (I, Completion)>,
}

impl<I> WorkerPool<'_, I> {
    fn drive<C: Client<Item = I>>(&mut self, client: &mut C, workers: usize) -> Result<(), Error> {
        let mut next = PoolAction::Continue;
        let mut place = 0;
        loop {
            if next == PoolAction::Continue {
                next = client.look();
            } else if client.look() == PoolAction::Stop {
                next = PoolAction::Stop;
            }
            if next == PoolAction::Stop {
                return self.stop(client);
            }
            while next == PoolAction::Continue
                && self.items.len() + self.landed.len() < workers * AHEAD
            {
                let Some((item, work)) = client.next() else { break };
                self.items.insert(place, item);
                let piece = InFlightWork { place, work, losses: Losses::default() };
                self.shared.queue().push_back(piece);
                self.shared.wake.notify_one();
                place += 1;
            }
            if self.items.is_empty() && self.landed.is_empty() {
                return Ok(());
            }
            match self.landings.recv_timeout(TICK) {
                Ok(landing) => {
                    self.land(landing?, client);
                    thread::sleep(NAP);
                    while let Ok(landing) = self.landings.try_recv() {
                        self.land(landing?, client);
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
            while let Some((item, landing)) = self.next_in_order() {
                match client.landed(item, landing)? {
                    PoolAction::Continue => {}
                    PoolAction::Drain => next = PoolAction::Drain,
                    PoolAction::Stop => return self.stop(client),
                    PoolAction::Abandon => return Ok(()),
                }
            }
            if next == PoolAction::Drain {
                self.withdraw();
            }
        }
    }

    /// Takes back what no worker has.
    fn withdraw(&mut self) {
        self.shared.queue().retain(|piece| {
            // One with which a worker was lost has begun.
            let stays = piece.is_alone();
            if !stays {
                self.items.remove(&piece.place);
            }
            stays
        });
    }

    /// Delivers what is there, and no more.
    fn stop<C: Client<Item = I>>(&mut self, client: &mut C) -> Result<(), Error> {
        self.shared.end();
        while let Ok(landing) = self.landings.try_recv() {
            self.land(landing?, client);
        }
        while let Some((_, (item, landing))) = self.landed.pop_first() {
            if client.landed(item, landing)? == PoolAction::Abandon {
                return Ok(());
            }
        }
        Ok(())
    }

    fn land<C: Client<Item = I>>(&mut self, landed: CompletionEvent, client: &mut C) {
        match landed {
            CompletionEvent::Result(place, landing) => {
                if let Some(item) = self.items.remove(&place) {
                    self.landed.insert(place, (item, landing));
                }
            }
            CompletionEvent::LostWorker(how) => client.lost_worker(&how),
        }
    }

    /// The next result in order, if it is there.
    fn next_in_order(&mut self) -> Option<(I, Completion)> {
        let (first, _) = self.landed.first_key_value()?;
        if self.items.first_key_value().is_some_and(|(flying, _)| flying < first) {
            return None;
        }
        self.landed.pop_first().map(|(_, landing)| landing)
    }
}

/// One worker's thread.
struct WorkerThread<'a, L: Launch> {
    launch: &'a L,
    opening: Option<&'a SessionSetup>,
    simulated: bool,
    shared: &'a PoolState,
    sender: Sender<Result<CompletionEvent, Error>>,
    worker: Option<Supervisor<L::Link>>,
    /// What the worker has to do, in order.
    has: VecDeque<InFlightWork>,
}

impl<L: Launch> WorkerThread<'_, L> {
    fn work(mut self) {
        if let Err(error) = self.try_work() {
            let _ = self.sender.send(Err(error));
            // The client ends the work.
        }
        if let Some(worker) = &mut self.worker {
            worker.kill();
        }
    }

    fn try_work(&mut self) -> Result<(), Error> {
        // A moving average of what one piece takes.
        let mut each = Duration::ZERO;
        let mut last = Instant::now();
        let mut is_confined = false;
        loop {
            self.hand_out()?;
            if self.shared.is_over() {
                return Ok(());
            }
            let Some(worker) = &mut self.worker else { continue };
            let had = self.has.len();
            let event = worker.wait(TICK);
            if !is_confined && let Some(in_force) = worker.sandbox() {
                self.launch.confined(in_force);
                is_confined = true;
            }
            match event {
                Event::Replies(replies) => {
                    for reply in replies {
                        self.take(reply)?;
                    }
                }
                Event::Lost(loss) => self.lost(loss)?,
            }
            let done = u32::try_from(had.saturating_sub(self.has.len())).unwrap_or(u32::MAX);
            if done > 0 {
                each = (each * 3 + last.elapsed() / done) / 4;
                last = Instant::now();
                // Not so long that the worker runs dry.
                let dry = each * u32::try_from(self.has.len()).unwrap_or(0) / 4;
                thread::sleep(NAP.min(dry));
            }
        }
    }

    /// Gives the worker more to do; starts one if there is none.
    fn hand_out(&mut self) -> Result<(), Error> {
        let is_alone = self.has.front().is_some_and(InFlightWork::is_alone);
        if is_alone || self.has.len() > HANDFUL / 2 {
            return Ok(());
        }
        let nothing = self.has.is_empty();
        let pieces = self.shared.take(HANDFUL - self.has.len(), nothing);
        if pieces.is_empty() {
            return Ok(());
        }
        // What is done again is done by a worker that has done nothing else.
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
                worker.begin();
            }
            for piece in pieces {
                worker.send(&Request::Work { place: piece.place, work: piece.work.clone() })?;
                self.has.push_back(piece);
            }
        }
        Ok(())
    }

    fn take(&mut self, reply: Reply) -> Result<(), Error> {
        match reply {
            Reply::NotReady(refusal) | Reply::Done { answer: Answer::Refused(refusal), .. } => {
                Err(refusal.into())
            }
            Reply::Done { place, answer } => {
                let Some(piece) = self.has.pop_front() else { return Ok(()) };
                debug_assert_eq!(piece.place, place, "workers keep the order");
                self.land(piece, Completion::Answer(answer));
                Ok(())
            }
            Reply::Ready
            | Reply::Alive(_)
            | Reply::Shrinking { .. }
            | Reply::Best(_)
            | Reply::Started(_) => Ok(()),
        }
    }

    /// The worker is gone, and with it the piece at its work.
    fn lost(&mut self, loss: Loss) -> Result<(), Error> {
        let was_ready = self.worker.take().is_some_and(|worker| worker.is_ready());
        let Some(mut piece) = self.has.pop_front() else { return Ok(()) };
        self.shared.give_back(self.has.drain(..));
        let verdict = match loss {
            // Before any work: no piece has anything to do with it.
            Loss::Died(how) if self.opening.is_some() && !was_ready => {
                let message = format!("loading the model, {how}");
                Some(Verdict::Crashed { cycle: None, message })
            }
            loss => piece.losses.add(loss).map_err(|error| piece.at(error))?,
        };
        match verdict {
            Some(verdict) => self.land(piece, Completion::Lost(verdict)),
            None => self.shared.give_back(std::iter::once(piece)),
        }
        Ok(())
    }

    fn land(&self, piece: InFlightWork, landing: Completion) {
        for loss in piece.losses.to_others(matches!(landing, Completion::Answer(_))) {
            let how = piece.named(loss.how());
            let _ = self.sender.send(Ok(CompletionEvent::LostWorker(how)));
        }
        let landing = match (piece.losses.died(), landing) {
            (Some(how), Completion::Answer(_)) => Completion::Lost(Verdict::Crashed {
                cycle: None,
                message: format!("{how}; it did not happen again when the case ran alone"),
            }),
            (_, landing) => landing,
        };
        // Nobody listens any more once the work is over.
        let _ = self.sender.send(Ok(CompletionEvent::Result(piece.place, landing)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Case;

    fn piece(place: u64) -> InFlightWork {
        let name = place.to_string();
        let case = Case { place, profile: 0, scenario: 0, name, seed: 0 };
        let work = Work::Case { case, is_judged: false };
        InFlightWork { place, work, losses: Losses::default() }
    }

    /// Is the first piece next, whoever gives it back? The results of all others wait for it.
    #[test]
    fn what_is_given_back_is_done_in_the_order_of_the_work() {
        let shared = PoolState {
            queue: Mutex::new([4, 7].map(piece).into()),
            wake: Condvar::new(),
            over: AtomicBool::new(false),
            workers: 2,
        };
        shared.give_back([5, 6].map(piece).into_iter());
        shared.give_back([1, 2].map(piece).into_iter());
        let places: Vec<u64> = shared.queue().iter().map(|piece| piece.place).collect();
        assert_eq!(places, [1, 2, 4, 5, 6, 7]);
    }
}
