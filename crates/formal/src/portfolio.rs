//! The portfolio: every attempt that proofs and equivalence checks make with ABC, in one table.
//!
//! Attempts differ in what is reduced first, in the engine, and in its limits. Limits on frames and conflicts come
//! first, so that replies are the same on every machine; where the limit in seconds decides, the reply is not kept.
//! Cheap attempts come first; the order is that of the callers (`prove::asked`, and `equivalence` of mutation
//! analysis).

use std::fmt;

/// An engine of ABC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `bmc3`: searches for a trace from reset, frame by frame. Proves nothing.
    BoundedSearch,
    /// `ind`: the step of an induction. Finds nothing.
    Induction,
    /// `pdr`: property-directed reachability. Proves, or finds a trace.
    Pdr,
}

/// An attempt at one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Commands that reduce the network first; empty: none. `scorr` and `lcorr` merge signals and registers that are
    /// always equal, `dc2` rewrites logic.
    pub reduce: &'static str,
    /// The engine.
    pub engine: Engine,
    /// Frames at most.
    pub frames: u32,
    /// Conflicts of one call of the solver at most.
    pub conflicts: Option<u32>,
    /// Seconds at most.
    pub seconds: f64,
}

impl Attempt {
    const fn new(engine: Engine, frames: u32, conflicts: u32, seconds: u32) -> Self {
        Self { reduce: "", engine, frames, conflicts: Some(conflicts), seconds: seconds as f64 }
    }

    const fn after(self, reduce: &'static str) -> Self {
        Self { reduce, ..self }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.reduce.is_empty() {
            write!(f, "{}; ", self.reduce)?;
        }
        let engine = match self.engine {
            Engine::BoundedSearch => "bmc3",
            Engine::Induction => "ind",
            Engine::Pdr => "pdr",
        };
        write!(f, "{engine} -F {}", self.frames)?;
        if let Some(conflicts) = self.conflicts {
            write!(f, " -C {conflicts}")?;
        }
        write!(f, " -T {}", self.seconds)
    }
}

use Engine::{BoundedSearch, Induction, Pdr};

/// Seconds after which the longest attempts give up.
pub const SECONDS: u32 = 60;

// Both: an induction over two cycles.

/// A trace within a few cycles; if there is none, the base of an induction.
pub const INDUCTION_BASE: Attempt = Attempt::new(BoundedSearch, 6, 20_000, 10);
/// The step of an induction over two cycles: most properties need no more. By itself it shows nothing.
pub const INDUCTION_STEP: Attempt = Attempt::new(Induction, 2, 1_000_000, 10);
/// A proof of an invariant that the induction does not show, or of a property that is nearly inductive.
pub const SHORT_PROOF: Attempt = Attempt::new(Pdr, 20, 1000, 10);

// Proofs of properties.

/// A quick search: most broken properties break soon after reset.
pub const QUICK_SEARCH: Attempt = Attempt::new(BoundedSearch, 30, 5000, 5);
/// A search with more time.
pub const SEARCH: Attempt = Attempt::new(BoundedSearch, 30, 20_000, 20);
/// A proof with much time, of a reduced network.
pub const LONG_PROOF: Attempt = Attempt::new(Pdr, 200, 5000, 60).after("scorr; dc2");

// Equivalence checks of mutants.

/// Registers near the mutation are all that can differ.
pub const NEARBY: Attempt = Attempt::new(Pdr, 40, 20_000, 2);
/// The same with more time, for the last mutants that are left.
pub const NEARBY_LONG: Attempt = Attempt::new(Pdr, 100, 20_000, 20);
/// Registers of both sides that are always equal are merged; nothing more is needed.
pub const EQUAL_REGISTERS: Attempt = Attempt::new(Pdr, 2, 100, 10).after("lcorr");
/// The same for any signals.
pub const EQUAL_SIGNALS: Attempt = Attempt::new(Pdr, 2, 100, 10).after("dc2; scorr");
/// One register alone is reached. The network is small, and may need many frames: a counter and one that counts in
/// another order have many pairs of values.
pub const ONE_REGISTER: Attempt = Attempt::new(Pdr, 600, 5000, 3);
/// Words of memories stay equal in meaning.
pub const MEMORY_WORD: Attempt = Attempt::new(Pdr, 100, 20_000, 30).after("scorr; dc2");
/// A quick search for a difference; a difference needs none of the longer proofs.
pub const QUICK_DIFFERENCE: Attempt = Attempt::new(BoundedSearch, 40, 20_000, 3);
/// A search for a difference.
pub const DIFFERENCE: Attempt = Attempt::new(BoundedSearch, 40, 20_000, SECONDS);
/// The same with exact memories, in which a frame is much larger.
pub const DIFFERENCE_WITH_MEMORIES: Attempt = Attempt::new(BoundedSearch, 20, 5000, SECONDS);
/// The last proof of equivalence.
pub const EQUIVALENCE: Attempt = Attempt::new(Pdr, 100, 2000, SECONDS).after("scorr; dc2");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_a_script_of_abc() {
        assert_eq!(INDUCTION_BASE.to_string(), "bmc3 -F 6 -C 20000 -T 10");
        assert_eq!(LONG_PROOF.to_string(), "scorr; dc2; pdr -F 200 -C 5000 -T 60");
        let unlimited = Attempt { conflicts: None, seconds: 0.5, ..INDUCTION_STEP };
        assert_eq!(unlimited.to_string(), "ind -F 2 -T 0.5");
    }
}
