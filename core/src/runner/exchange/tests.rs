//! Do shards that share a folder plan the rounds that one machine plans, whoever runs which part?

use super::*;
use crate::runner::guide::tests::{guide, outcome, run};
use crate::worker::wire::Answer;
use serde_json::json;
use tempfile::TempDir;

const GOAL: f64 = 97.0;
const CASES: u64 = 400;

/// The places of the cases that were told of, in order.
#[derive(Default)]
struct Log(Vec<u64>);

impl Progress for Log {
    fn case(&mut self, case: &Case, _: &Outcome) -> Result<(), Error> {
        self.0.push(case.place);
        Ok(())
    }
}

fn alone() -> Vec<u64> {
    run(&mut guide(GOAL, true, CASES), 1).iter().map(|case| case.place).collect()
}

fn open(folder: &Path, shard: &str) -> Result<Exchange, Error> {
    Exchange::open(folder, shard.parse().unwrap(), &json!({ "seed": 1, "shards": 3 }))
}

/// Runs a shard, `dies_after` so many cases of its own; what it was told of, and how many cases it ran.
fn shard(
    folder: &Path,
    shard: &str,
    dies_after: Option<usize>,
) -> Result<(Vec<u64>, usize), Error> {
    let exchange = open(folder, shard)?;
    let mut guide = Rc::new(RefCell::new(guide(GOAL, true, CASES)));
    let limits = Limits { threads: 1, max_failures: None, max_hangs: 10, time: None };
    let (interrupted, mut log) = (AtomicBool::new(false), Log::default());
    let mut judged = Judged::none();
    let source = (&mut guide, Start::default());
    let cases = Cases::new(source, &mut judged, &limits, &interrupted, &mut log);
    let mut rounds = Rounds::new(cases, &exchange, &interrupted);
    let (mut on_their_way, mut ran) = (VecDeque::new(), 0);
    loop {
        while on_their_way.len() < 4
            && let Some((case, _)) = rounds.next()
        {
            on_their_way.push_back(case);
        }
        if dies_after == Some(ran) {
            break;
        }
        let Some(case) = on_their_way.pop_front() else {
            rounds.end()?;
            break;
        };
        ran += 1;
        let landing = Completion::Answer(Answer::Case(Box::new(outcome(&case))));
        rounds.landed(case, landing)?;
    }
    Ok((log.0, ran))
}

#[test]
fn shards_at_the_same_time_tell_of_the_cases_of_one_machine() {
    let folder = TempDir::new().unwrap();
    let alone = alone();
    assert!(alone.len() > 200, "{}", alone.len());
    thread::scope(|scope| {
        let shards = ["1/3", "2/3", "3/3"];
        let shards = shards.map(|name| scope.spawn(|| shard(folder.path(), name, None).unwrap()));
        for shard in shards {
            assert_eq!(shard.join().unwrap().0, alone);
        }
    });
}

#[test]
fn a_part_that_nobody_leaves_is_run_by_who_waits_for_it() {
    let folder = TempDir::new().unwrap();
    let alone = alone();
    // One dies in the midst of a part, and the others never come.
    let (told, _) = shard(folder.path(), "1/3", Some(50)).unwrap();
    assert!(told.len() < alone.len());
    let (told, ran) = shard(folder.path(), "2/3", None).unwrap();
    assert_eq!(told, alone);
    assert!(ran < alone.len(), "what was left was not run again");
    // Who comes late runs nothing.
    assert_eq!(shard(folder.path(), "1/3", None).unwrap(), (alone.clone(), 0));
    // With more shards than cases of a round, one that has no part.
    let folder = TempDir::new().unwrap();
    assert_eq!(shard(folder.path(), "99/99", None).unwrap(), (alone.clone(), alone.len()));
}

#[test]
fn what_does_not_belong_to_the_run_is_refused() {
    let folder = TempDir::new().unwrap();
    shard(folder.path(), "1/3", Some(40)).unwrap();
    let other = Exchange::open(folder.path(), Shard::WHOLE, &json!({ "seed": 2, "shards": 3 }));
    let said = other.unwrap_err().to_string();
    assert!(said.contains("belongs to another run: its seed is 1, here it is 2"), "{said}");
    let part = folder.path().join("round-000001/1");
    let bytes = fs::read(&part).unwrap();
    let mut flipped = bytes.clone();
    flipped[40] ^= 1;
    for damaged in [&bytes[..bytes.len() - 1], &flipped[..], &[]] {
        fs::write(&part, damaged).unwrap();
        let said = shard(folder.path(), "2/3", None).unwrap_err().to_string();
        assert!(said.contains("round-000001/1: is damaged"), "{said}");
    }
    fs::copy(folder.path().join("round-000001/2"), &part).unwrap();
    let said = shard(folder.path(), "2/3", None).unwrap_err().to_string();
    assert!(said.contains("has other cases than this run has there"), "{said}");
    // Who removes the folder ends the run.
    fs::write(&part, bytes).unwrap();
    let exchange = open(folder.path(), "1/3").unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    let left = exchange.leave(1, 1, &[], &[]);
    assert!(matches!(left, Err(Error::Write { .. })), "{left:?}");
}
