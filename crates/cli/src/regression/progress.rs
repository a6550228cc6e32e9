//! Shows the events of a regression: progress and warnings.

use crate::progress;
use cosim_base::program;
use cosim_harness::value::short;
use cosim_regress::regression::Event;
use verilated_build::activity::Activity;

/// Shows the events of a regression.
#[derive(Default)]
pub struct Renderer {
    running: Option<Activity>,
    shrinking: Option<Activity>,
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
        if !matches!(event, Event::Warning(_)) {
            self.shrinking = None;
        }
        match event {
            Event::Started { plan, before } => {
                let total = (plan.indices.end != u64::MAX).then(|| plan.len());
                self.running = Some(Activity::begin(plan.block).counting("cases", before, total));
            }
            Event::Case { totals, .. } => {
                let Some(running) = &self.running else { return };
                running.reach(totals.cases);
                let cycles = format!("{} cycles", short(totals.cycles as f64));
                running.note(match totals.failures() {
                    0 => cycles,
                    failed => format!("{failed} failed, {cycles}"),
                });
            }
            Event::Shrinking(case) => {
                self.shrinking = Some(Activity::begin(format!("shrinking {}", case.name)));
            }
            Event::Ended => self.running = None,
            Event::Warning(text) => program::warn(format_args!("{text}")),
        }
    }
}
