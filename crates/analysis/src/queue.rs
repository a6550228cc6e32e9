//! Queries that run on several threads.

use cosim_base::error::{Error, codes};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use verilated_build::activity::Activity;

/// Applies `ask` to each query on so many threads, and passes each answer to `note`, one at a
/// time. The activity counts the answers. An error ends it; answers that came before are noted.
///
/// # Errors
/// The first one of `ask` or `note`, or there are no threads.
pub(crate) fn run_queries<Q: Sync, A: Send>(
    named_queries: &[Q],
    threads: usize,
    activity: &Activity,
    ask: impl Fn(&Q) -> Result<A, Error> + Sync,
    note: impl FnMut(&Q, A) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let note = Mutex::new(note);
    let run_one = |named_query: &Q| -> Result<(), Error> {
        let answer = ask(named_query)?;
        activity.advance();
        let mut note = note.lock().map_err(|_| lost())?;
        (*note)(named_query, answer)
    };
    let work = || -> Result<(), Error> {
        while !is_over.load(Ordering::Relaxed)
            && let Some(named_query) = named_queries.get(next.fetch_add(1, Ordering::Relaxed))
        {
            // An error stops the other threads.
            run_one(named_query).inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let spawn = |_| {
            thread::Builder::new().spawn_scoped(scope, work).map_err(|error| {
                is_over.store(true, Ordering::Relaxed);
                Error::Environment(codes::SYSTEM, format!("no threads: {error}"))
            })
        };
        let hands: Vec<_> = (0..threads.min(named_queries.len())).map(spawn).collect();
        let joined = |hand: Result<thread::ScopedJoinHandle<'_, _>, Error>| {
            hand?.join().unwrap_or_else(|_| Err(lost()))
        };
        let ended: Vec<_> = hands.into_iter().map(joined).collect();
        ended.into_iter().collect()
    })
}

/// A thread ended unexpectedly.
pub(crate) fn lost() -> Error {
    let message = "a thread that asks the provers ended unexpectedly".to_owned();
    Error::Environment(codes::INTERNAL, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_keeps_earlier_answers_and_asks_nothing_more() {
        let ids: Vec<u32> = (1..=100).collect();
        let mut noted = Vec::new();
        let ask = |id: &u32| if *id < 40 { Ok(id * 2) } else { Err(Error::Interrupted) };
        let ended = run_queries(&ids, 1, &Activity::start(""), ask, |id, answer| {
            noted.push((*id, answer));
            Ok(())
        });
        assert!(matches!(ended, Err(Error::Interrupted)));
        assert_eq!(noted, (1..40).map(|id| (id, id * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn every_question_gets_one_answer_with_any_number_of_threads() {
        let ids: Vec<u32> = (1..=100).collect();
        for threads in [1, 3, 200] {
            let mut noted = Vec::new();
            run_queries(
                &ids,
                threads,
                &Activity::start(""),
                |id| Ok(*id),
                |_, id| {
                    noted.push(id);
                    Ok(())
                },
            )
            .unwrap();
            noted.sort_unstable();
            assert_eq!(noted, ids, "{threads} threads");
        }
    }
}
