//! Collects the results of a run: totals, failures, journal and files.

use super::{Event, Events, WriteFailures};
use crate::blocks::BlockHandle;
use crate::merge;
use crate::runner::{Failures, Progress};
use crate::setup::Session;
use cosim_base::error::{Error, codes};
use cosim_block::vector::Origin;
use cosim_formats::coverage::Database;
use cosim_formats::run::{
    Group, InterruptedRun, JOURNAL, Journal, LostWorkers, Plan, ProfileResults, RunDirectory,
    State, Tally,
};
use cosim_harness::harness::{Case, Outcome, Profile, Verdict};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Collector<'a, 'e> {
    pub events: &'a mut Events<'e>,
    pub tally: Tally,
    pub directory: RunDirectory,
    pub failures: Failures,
    pub session: Arc<Session>,
    pub profiles: Vec<Profile>,
    pub origin: Origin,
    /// Number of further matching cases whose vectors are saved.
    pub save: u64,
    pub unwritten: WriteFailures,
    /// Time spent on failures.
    pub aside: Duration,
    pub began: Instant,
    /// The journal that lets `resume` continue the run, if it can be written.
    pub journal: Option<Journal>,
    pub hangs: u64,
    pub lost_workers: LostWorkers,
    /// Seconds of cases and of failures before the run was resumed.
    pub before: (f64, f64),
    /// Coverage of reachable bins at which the run ends, in percent in every profile.
    pub until: Option<f64>,
}

impl Progress for Collector<'_, '_> {
    fn is_enough(&self) -> bool {
        self.until.is_some_and(|percent| self.tally.coverage.reaches(percent))
    }

    fn lost_worker(&mut self, how: &str) {
        self.lost_workers.add(how);
    }

    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        // A cancelled case has no verdict, so it is neither counted nor written.
        if outcome.verdict == Verdict::Cancelled {
            // The journal ends here, so that a resumed run repeats the case.
            self.journal = None;
            return Ok(());
        }
        let kinds = self.failures.kinds();
        self.collect_case(case, outcome)?;
        // The interruption cut the processing of this failure short. A resumed run repeats it.
        if outcome.verdict.is_failure() && self.failures.is_interrupted() {
            self.journal = None;
        }
        let Some(mut journal) = self.journal.take() else { return Ok(()) };
        // A failure of a new kind took long to process, so store the whole state.
        let written = match kinds == self.failures.kinds() {
            true => journal.add(case, outcome),
            false => Ok(true),
        };
        let written = written.and_then(|is_long| match is_long {
            true => journal.renew(&self.state(case.place + 1)),
            false => Ok(()),
        });
        self.keep(journal, written);
        Ok(())
    }

    fn record_gap(&mut self) {
        // A resumed run goes on behind the last case of the journal.
        self.journal = None;
    }

    fn gathered(&mut self) {
        let Some(mut journal) = self.journal.take() else { return };
        let written = journal.flush();
        self.keep(journal, written);
    }
}

impl Collector<'_, '_> {
    /// Keeps the journal, or removes it if it could not be written.
    fn keep(&mut self, journal: Journal, written: Result<(), Error>) {
        let Err(error) = written else {
            self.journal = Some(journal);
            return;
        };
        (self.events)(Event::Warning(format!(
            "cannot write the journal, so this run cannot be resumed: {error}"
        )));
        journal.remove();
    }

    /// Counts a case and stores its files.
    pub fn collect_case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        self.hangs += u64::from(matches!(outcome.verdict, Verdict::Hang { cycle: None, .. }));
        self.tally.add(case, outcome);
        (self.events)(Event::Case { case, outcome, totals: &self.tally.totals });
        if outcome.verdict.is_failure() {
            (self.events)(Event::Shrinking(case));
            // Shrinking may take long.
            self.gathered();
            let begin = Instant::now();
            self.failures.add(case, &self.profiles[case.profile], outcome)?;
            self.aside += begin.elapsed();
        } else if self.save > 0 && outcome.verdict == Verdict::Match {
            self.save -= 1;
            let about = format!("{}: everything matches", case.name);
            let origin = Origin { about, case: Some(case.name.clone()), ..self.origin.clone() };
            let text = self.session.vector(case, origin, None);
            if let Err(error) = text.and_then(|text| self.directory.save(case, &text)) {
                self.unwritten.add(&error);
            }
        }
        if let Err(error) = self.directory.case(case, outcome) {
            // Warn now, because a long run continues without these results.
            (self.events)(Event::Warning(format!("cannot write results: {error}")));
        }
        Ok(())
    }

    /// Seconds of cases and of failures since the run was begun.
    pub fn seconds(&self) -> (f64, f64) {
        let cases = self.began.elapsed().saturating_sub(self.aside).as_secs_f64();
        (self.before.0 + cases, self.before.1 + self.aside.as_secs_f64())
    }

    /// The state of the run if all places before `next` are done.
    pub fn state(&self, next: u64) -> State {
        let Database { parts, finds, .. } = self.tally.coverage.part();
        let groups = self.failures.groups().to_vec();
        let unwritten = self.failures.unwritten().iter().map(ToString::to_string);
        let mut state = State {
            next,
            profiles: serde_json::to_value(&self.tally.profiles).unwrap_or_default(),
            totals: self.tally.totals,
            hangs: self.hangs,
            first_cases: groups.iter().map(|group| group.first_cases.clone()).collect(),
            groups,
            parts,
            finds,
            save: self.save,
            seconds: self.seconds(),
            unwritten: self.unwritten.all.iter().cloned().chain(unwritten).collect(),
            ..State::default()
        };
        self.directory.stand(&mut state);
        state
    }

    /// Restores the state of an interrupted run without running cases. Returns the place of the
    /// next case.
    ///
    /// # Errors
    /// If the state cannot be read.
    pub fn restore(
        &mut self,
        block: &BlockHandle,
        plan: &Plan,
        left: InterruptedRun,
    ) -> Result<u64, Error> {
        let InterruptedRun { state, cases, .. } = left;
        let firsts = state.first_cases.iter().flatten();
        let mut named = firsts.chain(cases.iter().map(|(case, _)| case));
        if let Some(foreign) = named.find(|case| !plan.contains(case)) {
            let message = format!("contains the case {}, which this run has not", foreign.name);
            let path = self.directory.folder().join(JOURNAL);
            return Err(Error::File { code: codes::CANNOT_RESUME, path, message });
        }
        let profiles: Vec<ProfileResults> = match state.profiles {
            Value::Null => Vec::new(),
            profiles => serde_json::from_value(profiles)
                .map_err(|error| Error::json(&self.directory.folder().join(JOURNAL), &error))?,
        };
        merge::add(&mut self.tally, block.info(), &state.totals, &profiles);
        self.tally.coverage.restore(state.parts, state.finds);
        let groups = state.groups.into_iter().zip(state.first_cases);
        let groups = groups.map(|(group, first_cases)| Group { first_cases, ..group });
        self.failures.restore(groups.collect());
        self.hangs = state.hangs;
        self.save = state.save;
        self.before = state.seconds;
        state
            .unwritten
            .into_iter()
            .for_each(|text| self.unwritten.add(&Error::Environment(codes::WRITE_FAILED, text)));
        let mut next = state.next;
        for (case, outcome) in cases {
            self.collect_case(&case, &outcome)?;
            next = case.place + 1;
        }
        Ok(next)
    }
}
