//! Shows the events of a regression: progress and warnings.

use crate::terminal::progress;
use cosim_base::program;
use cosim_harness::value::short;
use cosim_regress::regression::Event;
use std::time::{Duration, Instant};
use verilated_build::activity::Activity;

/// How long the counts that are shown may be out of date.
const BETWEEN_NOTES: Duration = Duration::from_millis(50);

#[derive(Default)]
pub struct Renderer {
    running: Option<Activity>,
    shrinking: Option<Activity>,
    /// The number of cases before each failure that was shrunk.
    shrunk: Vec<u64>,
    cases: (u64, Option<u64>),
    /// When the counts were last shown, and the failures among them.
    noted: Option<(Instant, u64)>,
}

impl Renderer {
    /// Shows progress, unless it `is_quiet`. Warnings are always printed.
    pub fn new(is_quiet: bool) -> Self {
        if is_quiet {
            progress::hush();
        }
        Self::default()
    }

    pub fn show(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Warning(_)) && self.shrinking.take().is_some() {
            let (done, total) = self.cases;
            let expected = expected(&self.shrunk, done, total);
            let count = self.shrunk.len().max(1) as f64;
            if let Some(running) = &self.running {
                running.turn_back(|so_far| so_far.mul_f64(expected / count));
            }
        }
        match event {
            Event::Started { plan, before } => {
                let total = (plan.indices.end != u64::MAX).then(|| plan.len());
                (self.shrunk, self.cases) = (Vec::new(), (before, total));
                self.running = Some(Activity::start(plan.block).counting("cases", before, total));
            }
            Event::Case { totals, .. } => {
                let Some(running) = &self.running else { return };
                running.reach(totals.cases);
                self.cases.0 = totals.cases;
                // Cases can be shorter than their text takes to write.
                let failures = totals.failures();
                let is_noted = |(noted, before): (Instant, u64)| {
                    before == failures && noted.elapsed() < BETWEEN_NOTES
                };
                if self.noted.is_some_and(is_noted) {
                    return;
                }
                self.noted = Some((Instant::now(), failures));
                let cycles = format!("{} cycles", short(totals.cycles as f64));
                running.note(match failures {
                    0 => cycles,
                    failed => format!("{failed} failed, {cycles}"),
                });
            }
            Event::Shrinking(case) => {
                self.shrunk.push(self.cases.0);
                self.running.iter().for_each(Activity::turn_aside);
                self.shrinking = Some(Activity::start(format!("shrinking {}", case.name)));
            }
            Event::Ended => self.running = None,
            Event::Warning(text) => program::warn(format_args!("{text}")),
        }
    }
}

/// How many more failures will be shrunk: the first of each kind is. `shrunk` has the number of
/// cases before each. New kinds get rare, so as many are expected in each doubling of the cases as
/// in the last one.
fn expected(shrunk: &[u64], done: u64, total: Option<u64>) -> f64 {
    let doublings = total.map_or(0.0, |total| (total as f64 / done.max(1) as f64).log2().max(0.0));
    let recent = shrunk.iter().filter(|place| **place >= done / 2).count();
    recent as f64 * doublings
}

#[cfg(test)]
mod tests {
    use super::expected;

    #[test]
    fn the_number_of_failures_to_shrink_follows_from_the_last_doubling_of_cases() {
        let found = [0, 1, 3, 7, 15];
        // One in the cases 8 to 16, and two more doublings to 64 cases.
        assert_eq!(expected(&found, 16, Some(64)), 2.0);
        assert_eq!(expected(&found, 64, Some(64)), 0.0);
        assert_eq!(expected(&[], 16, Some(64)), 0.0);
        assert_eq!(expected(&found, 16, None), 0.0);
        // None for a long time.
        assert_eq!(expected(&found, 100, Some(1_000_000)), 0.0);
        assert!(expected(&[0, 0], 0, Some(1000)).is_finite());
    }
}
