//! What is told of a run while it goes on.

use crate::cli::summary::Unwritten;
use crate::engine::Session;
use crate::error::Error;
use crate::harness::{Case, Outcome, Profile, Verdict};
use crate::runner::{Failures, Milestones, Plan, Progress, RunDirectory, Tally};
use crate::vector::Origin;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Collects what the run does.
pub(super) struct Observer {
    pub tally: Tally,
    pub directory: RunDirectory,
    pub failures: Failures,
    pub session: Arc<dyn Session>,
    pub profiles: Vec<Profile>,
    pub origin: Origin,
    /// Vectors of matching cases still to be saved.
    pub save: u64,
    pub unwritten: Unwritten,
    /// Time spent on failures.
    pub aside: Duration,
    /// When the run began.
    pub began: Instant,
    pub milestones: Milestones,
    pub bar: ProgressBar,
}

impl Progress for Observer {
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        // A case cut short by the user has no verdict; it counts nowhere and is written nowhere.
        if outcome.verdict == Verdict::Cancelled {
            return Ok(());
        }
        self.tally.add(case, outcome);
        let seconds = self.began.elapsed().saturating_sub(self.aside).as_secs_f64();
        self.milestones.pass(seconds, self.tally.totals.cycles);
        self.bar.inc(1);
        self.bar.set_message(format!("{:.1} M cycles", self.tally.totals.cycles as f64 / 1e6));
        if outcome.verdict.is_failure() {
            self.bar.set_message(format!("shrinking {}", case.name));
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
            // Said at once: a long run goes on without.
            eprintln!("cosim: warning: results are lost: {error}");
        }
        Ok(())
    }
}

/// How far the run is.
pub(super) fn progress_bar(plan: &Plan) -> ProgressBar {
    let endless = plan.indices.end == u64::MAX;
    let (length, template) = if endless {
        (None, "{spinner} {pos} cases, {msg}, {elapsed}")
    } else {
        (Some(plan.len()), "{bar:30} {pos}/{len} cases, {msg}, {eta} left")
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
