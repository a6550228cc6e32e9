//! Events of a regression in progress.

use cosim_formats::run::{Plan, Totals};
use cosim_harness::harness::{Case, Outcome};

pub type Events<'a> = dyn FnMut(Event<'_>) + 'a;

#[derive(Debug)]
pub enum Event<'a> {
    /// The run starts. `before` cases ended before it was interrupted.
    Started {
        plan: &'a Plan,
        /// Cases that had ended.
        before: u64,
    },
    Case {
        case: &'a Case,
        outcome: &'a Outcome,
        /// All cases so far.
        totals: &'a Totals,
    },
    /// A failure is being shrunk and traced.
    Shrinking(&'a Case),
    Ended,
    /// The run continues, but something is lost.
    Warning(String),
}
