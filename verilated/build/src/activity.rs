//! What this process is doing, for a display of progress.
//!
//! Code that may take longer than a second begins an [`Activity`] and updates its counts. Nothing
//! is printed here. A display reads [`current`] now and then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static CURRENT: Mutex<Current> =
    Mutex::new(Current { all: Vec::new(), building_since: None, built: Duration::ZERO });

/// The activities, and the time of those that build.
struct Current {
    all: Vec<(u64, Snapshot)>,
    /// Since when an activity builds, without a break.
    building_since: Option<Instant>,
    /// The time before that in which one did.
    built: Duration,
}

impl Current {
    /// The time for which `one` waits for the current build.
    fn wait(&self, one: &Snapshot) -> Duration {
        // What began later is a step of the build.
        let since = self.building_since.filter(|since| !one.builds && one.began < *since);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Adds the time of the builds when the last one ends.
    fn end_of_builds(&mut self) {
        if self.all.iter().any(|(_, one)| one.builds) {
            return;
        }
        let waits: Vec<Duration> = self.all.iter().map(|(_, one)| self.wait(one)).collect();
        for ((_, one), wait) in self.all.iter_mut().zip(waits) {
            one.waited += wait;
        }
        self.built += self.building_since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }
}

fn lock_current() -> MutexGuard<'static, Current> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work for less time than this is no base for an estimate.
const ENOUGH: Duration = Duration::from_secs(3);

/// The time in which this process built models so far.
pub fn built() -> Duration {
    let now = lock_current();
    now.built + now.building_since.map_or(Duration::ZERO, |since| since.elapsed())
}

/// The state of an activity.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What is done, as in "compiling alu".
    pub text: String,
    /// What the counts count, in the plural; empty if there are no counts.
    pub unit: &'static str,
    /// Units that are done.
    pub done: u64,
    /// Units that were done before the activity began.
    pub before: u64,
    /// All units, if their number is known.
    pub total: Option<u64>,
    /// More about the state, as in "2 failed".
    pub note: String,
    /// When the activity began.
    pub began: Instant,
    /// The expected time from begin to end.
    pub expected: Option<Duration>,
    /// Whether it builds what other activities wait for.
    pub builds: bool,
    /// The time in which it waited for builds.
    pub waited: Duration,
    /// The time of other work that is no part of its units, and since when it does such work.
    pub aside: (Duration, Option<Instant>),
    /// The expected time of such work to the end.
    pub more: Duration,
}

impl Snapshot {
    /// The time since its beginning, without that for builds.
    pub fn worked(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.waited)
    }

    /// The expected time to the end, if there is an estimate.
    pub fn remaining_time(&self) -> Option<Duration> {
        let elapsed = self.worked();
        if let Some(expected) = self.expected {
            return expected.checked_sub(elapsed);
        }
        let (done, left) = (self.done - self.before.min(self.done), self.total?);
        let left = left.saturating_sub(self.done);
        let (aside, since) = self.aside;
        let aside = aside + since.map_or(Duration::ZERO, |since| since.elapsed());
        let on_units = elapsed.saturating_sub(aside);
        (done > 0 && elapsed >= ENOUGH)
            .then(|| on_units.mul_f64(left as f64 / done as f64) + self.more)
    }
}

/// An activity, which lasts until the value is dropped.
#[derive(Debug)]
#[must_use]
pub struct Activity(u64);

impl Activity {
    /// Begins an activity.
    pub fn start(text: impl Into<String>) -> Self {
        Self::new(text.into(), false)
    }

    /// Begins to build what other activities wait for. Their clocks stand still meanwhile.
    pub fn building(text: impl Into<String>) -> Self {
        Self::new(text.into(), true)
    }

    fn new(text: String, builds: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let snapshot = Snapshot {
            text,
            unit: "",
            done: 0,
            before: 0,
            total: None,
            note: String::new(),
            began: Instant::now(),
            expected: None,
            builds,
            waited: Duration::ZERO,
            aside: (Duration::ZERO, None),
            more: Duration::ZERO,
        };
        let mut now = lock_current();
        if builds {
            now.building_since.get_or_insert(snapshot.began);
        }
        now.all.push((id, snapshot));
        Self(id)
    }

    /// Counts `total` units. `before` of them are done already.
    pub fn counting(self, unit: &'static str, before: u64, total: Option<u64>) -> Self {
        self.change(|now| {
            (now.unit, now.done, now.before, now.total) = (unit, before, before, total)
        });
        self
    }

    /// Counts `total` units, `done` of which are done.
    pub fn count(&self, unit: &'static str, done: u64, total: Option<u64>) {
        self.change(|now| (now.unit, now.done, now.total) = (unit, done, total));
    }

    /// Sets the expected time from begin to end.
    pub fn expecting(self, time: Option<Duration>) -> Self {
        self.change(|now| now.expected = time);
        self
    }

    /// One more unit is done.
    pub fn advance(&self) {
        self.change(|now| now.done += 1);
    }

    /// Sets the number of units that are done.
    pub fn reach(&self, done: u64) {
        self.change(|now| now.done = done);
    }

    /// Begins other work, which no unit pays for.
    pub fn turn_aside(&self) {
        self.change(|now| now.aside.1 = now.aside.1.or_else(|| Some(Instant::now())));
    }

    /// Ends the other work. `more` returns the time expected for such work to the end from the time
    /// that it took so far.
    pub fn turn_back(&self, more: impl FnOnce(Duration) -> Duration) {
        self.change(|now| {
            let since = now.aside.1.take().map_or(Duration::ZERO, |since| since.elapsed());
            now.aside.0 += since;
            now.more = more(now.aside.0);
        });
    }

    /// Sets the text.
    pub fn describe(&self, text: impl Into<String>) {
        let text = text.into();
        self.change(|now| now.text = text);
    }

    /// Sets the note.
    pub fn note(&self, note: impl Into<String>) {
        let note = note.into();
        self.change(|now| now.note = note);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        if let Some((_, snapshot)) = lock_current().all.iter_mut().find(|(id, _)| *id == self.0) {
            change(snapshot);
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        let mut now = lock_current();
        let was_building = now.all.iter().any(|(id, one)| *id == self.0 && one.builds);
        now.all.retain(|(id, _)| *id != self.0);
        if was_building {
            now.end_of_builds();
        }
    }
}

/// The current activities, in the order in which they began.
pub fn current() -> Vec<Snapshot> {
    let now = lock_current();
    let of = |one: &Snapshot| Snapshot { waited: one.waited + now.wait(one), ..one.clone() };
    now.all.iter().map(|(_, snapshot)| of(snapshot)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Option<Snapshot> {
        current().into_iter().find(|now| now.text == text)
    }

    #[test]
    fn an_activity_is_current_until_it_is_dropped() {
        let activity = Activity::start("first").counting("cases", 2, Some(10));
        activity.advance();
        activity.note("1 failed");
        let now = named("first").unwrap();
        assert_eq!((now.done, now.total, now.note.as_str()), (3, Some(10), "1 failed"));
        drop(activity);
        assert!(named("first").is_none());
    }

    #[test]
    fn the_time_left_follows_from_the_counts_or_from_an_earlier_time() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let activity = Activity::start("second").counting("cases", 4, Some(10));
        let now = Snapshot { began: ago(10), ..named("second").unwrap() };
        assert!(now.remaining_time().is_none(), "nothing is done yet");
        let left = Snapshot { done: 6, ..now.clone() }.remaining_time().unwrap();
        // Two cases in 10 s, and four are left.
        assert!((20..22).contains(&left.as_secs()), "{left:?}");
        let expected = Some(Duration::from_secs(15));
        let left = Snapshot { expected, ..now.clone() }.remaining_time().unwrap();
        assert!((4..=5).contains(&left.as_secs()), "{left:?}");
        let late = Snapshot { expected: Some(Duration::from_secs(1)), ..now }.remaining_time();
        assert!(late.is_none(), "longer than expected");
        drop(activity);
    }

    #[test]
    fn the_time_of_builds_is_no_base_for_an_estimate() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let case = Activity::start("third").counting("cases", 0, Some(100));
        case.reach(1);
        let now = Snapshot { began: ago(100), ..named("third").unwrap() };
        // One case in 84 s of compilation says nothing about the other 99.
        let compiled = Snapshot { waited: Duration::from_secs(98), ..now.clone() };
        assert_eq!((compiled.worked().as_secs(), compiled.remaining_time()), (2, None));
        let ran = Snapshot { waited: Duration::from_secs(90), ..now }.remaining_time().unwrap();
        assert!((990..=1000).contains(&ran.as_secs()), "99 cases of 10 s: {ran:?}");
        drop(case);
    }

    #[test]
    fn other_work_is_added_to_the_estimate_and_not_extrapolated() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let seconds = Duration::from_secs;
        let now = Snapshot { began: ago(50), done: 10, total: Some(100), ..snapshot() };
        // Ten cases in 10 s; 40 s went into shrinking, of which 5 s are expected to follow.
        let now = Snapshot { aside: (seconds(30), Some(ago(10))), more: seconds(5), ..now };
        let left = now.remaining_time().unwrap().as_secs();
        assert!((94..=96).contains(&left), "{left}");
    }

    fn snapshot() -> Snapshot {
        let activity = Activity::start("sixth");
        let now = named("sixth").unwrap();
        drop(activity);
        now
    }

    #[test]
    fn clocks_stand_still_while_something_is_built() {
        let began = Instant::now();
        let (outer, before) = (Activity::start("fourth"), built());
        let build = Activity::building("model");
        let step = Activity::start("step");
        while began.elapsed() < Duration::from_millis(30) {
            std::thread::yield_now();
        }
        let now = named("fourth").unwrap();
        assert!(now.waited >= Duration::from_millis(20), "{:?}", now.waited);
        for name in ["model", "step"] {
            assert_eq!(named(name).unwrap().waited, Duration::ZERO);
        }
        drop(step);
        drop(build);
        assert!(built() - before >= Duration::from_millis(20));
        assert!(named("fourth").unwrap().waited >= now.waited);
        drop(outer);
    }
}
