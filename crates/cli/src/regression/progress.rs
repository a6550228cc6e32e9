//! Shows the events of a regression: a progress bar on a terminal, and warnings.

use crate::is_watched;
use cosim_regress::program;
use cosim_regress::regression::Event;
use cosim_regress::runner::Plan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows the events of a regression.
pub struct Renderer {
    bar: ProgressBar,
    shows_progress: bool,
}

impl Renderer {
    /// Shows progress, unless it `is_quiet` or standard error is not a terminal. Warnings are
    /// always printed.
    pub fn new(is_quiet: bool) -> Self {
        Self { bar: ProgressBar::hidden(), shows_progress: !is_quiet && is_watched() }
    }

    /// Shows an event.
    pub fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Started { plan, before } => {
                if self.shows_progress {
                    self.bar = progress_bar(plan);
                    self.bar.inc(before);
                }
            }
            Event::Case { totals, .. } => {
                self.bar.inc(1);
                self.bar.set_message(format!("{:.1} M cycles", totals.cycles as f64 / 1e6));
            }
            Event::Shrinking(case) => self.bar.set_message(format!("shrinking {}", case.name)),
            Event::Ended => self.bar.finish_and_clear(),
            Event::Warning(text) => program::say(format_args!("warning: {text}")),
        }
    }
}

/// The progress bar of a run.
fn progress_bar(plan: &Plan) -> ProgressBar {
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
