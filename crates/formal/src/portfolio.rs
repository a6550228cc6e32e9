//! The portfolio: every attempt that proofs and equivalence checks make with ABC, in one table.
//!
//! Limits on frames and conflicts should stop an attempt before its time limit does, so that
//! replies are the same on every machine. Replies that a time limit stopped are not cached. The
//! callers (`prove::query`, and `equivalence` of mutation analysis) run cheap attempts first.

use std::fmt;

/// An engine of ABC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `bmc3`: searches for a trace from reset, frame by frame. It proves nothing.
    BoundedSearch,
    /// `ind`: an induction step. It finds no traces.
    Induction,
    /// `pdr`: property-directed reachability. It proves, or finds a trace.
    Pdr,
}

/// One run of an engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Commands that reduce the network first, or empty. `scorr` and `lcorr` merge equal signals
    /// and registers (`-w` prints the registers, which a certificate needs); `dc2` rewrites logic.
    pub reduce: &'static str,
    /// The engine that decides.
    pub engine: Engine,
    /// Maximum number of frames.
    pub frames: u32,
    /// Maximum number of conflicts in one call of the solver.
    pub conflicts: Option<u32>,
    /// Time limit in seconds.
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
        write!(f, " -T {}", self.seconds)?;
        // It writes its invariant.
        if self.engine == Engine::Pdr { write!(f, " -d") } else { Ok(()) }
    }
}

use Engine::{BoundedSearch, Induction, Pdr};

/// Time limit of the longest attempts, in seconds.
pub const SECONDS: u32 = 60;

// Used by proofs and by equivalence checks.

/// A trace within a few cycles; if there is none, the base of an induction.
pub const INDUCTION_BASE: Attempt = Attempt::new(BoundedSearch, 6, 20_000, 10);
/// The step of an induction over two cycles, which proves most properties. It needs a base.
pub const INDUCTION_STEP: Attempt = Attempt::new(Induction, 2, 1_000_000, 10);
/// A proof of an invariant that induction does not prove, or of a property that is nearly
/// inductive.
pub const SHORT_PROOF: Attempt = Attempt::new(Pdr, 20, 1000, 10);

// Proofs of properties.

/// A quick search: most broken properties break soon after reset.
pub const QUICK_SEARCH: Attempt = Attempt::new(BoundedSearch, 30, 5000, 5);
/// A search with more time.
pub const SEARCH: Attempt = Attempt::new(BoundedSearch, 30, 20_000, 20);
/// A proof with much time, of a reduced network.
pub const LONG_PROOF: Attempt = Attempt::new(Pdr, 200, 5000, 60).after("scorr -w; dc2");

// Equivalence checks of mutants, with the queries of `Aig`.

/// `nearby`: only registers in the fan-out cone of the mutation can differ.
pub const NEARBY: Attempt = Attempt::new(Pdr, 40, 20_000, 2);
/// As [`NEARBY`], with more time, for the mutants that remain.
pub const NEARBY_LONG: Attempt = Attempt::new(Pdr, 100, 20_000, 20);
/// Merges registers that are always equal on both sides.
pub const EQUAL_REGISTERS: Attempt = Attempt::new(Pdr, 2, 100, 10).after("lcorr");
/// Merges any signals that are always equal on both sides.
pub const EQUAL_SIGNALS: Attempt = Attempt::new(Pdr, 2, 100, 10).after("dc2; scorr");
/// `alone`: only one register can differ. The network is small but may need many frames: two
/// counters that count in different orders have many pairs of values.
pub const ONE_REGISTER: Attempt = Attempt::new(Pdr, 600, 5000, 3);
/// `by_word`: memory words keep equal abstractions.
pub const MEMORY_WORD: Attempt = Attempt::new(Pdr, 100, 20_000, 30).after("scorr; dc2");
/// A quick search for a difference, which makes the longer proofs unnecessary.
pub const QUICK_DIFFERENCE: Attempt = Attempt::new(BoundedSearch, 40, 20_000, 3);
/// A search for a difference.
pub const DIFFERENCE: Attempt = Attempt::new(BoundedSearch, 40, 20_000, SECONDS);
/// As [`DIFFERENCE`], with exact memories, which make a frame much larger.
pub const DIFFERENCE_WITH_MEMORIES: Attempt = Attempt::new(BoundedSearch, 20, 5000, SECONDS);
/// The last proof of equivalence.
pub const EQUIVALENCE: Attempt = Attempt::new(Pdr, 100, 2000, SECONDS).after("scorr; dc2");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_a_script_of_abc() {
        assert_eq!(INDUCTION_BASE.to_string(), "bmc3 -F 6 -C 20000 -T 10");
        assert_eq!(LONG_PROOF.to_string(), "scorr -w; dc2; pdr -F 200 -C 5000 -T 60 -d");
        let unlimited = Attempt { conflicts: None, seconds: 0.5, ..INDUCTION_STEP };
        assert_eq!(unlimited.to_string(), "ind -F 2 -T 0.5");
    }
}
