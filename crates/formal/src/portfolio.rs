//! The portfolio: every attempt of an engine that proofs and equivalence checks make, in one table.
//!
//! Limits on frames and conflicts should stop an attempt before its limit of processor time does,
//! so that replies are the same on every machine. Replies that a limit of time stopped are not
//! cached. The callers ([`ladder`](crate::ladder), and `prove::query`) run cheap attempts
//! first.

use crate::engine::abc::{Abc, Command};
use crate::engine::states::States;
use crate::engine::{Attempt, Engine, SECONDS};

impl Attempt {
    const fn new(engine: &'static dyn Engine, frames: u32, conflicts: u32, seconds: u32) -> Self {
        Self { engine, frames, conflicts: Some(conflicts), seconds, step: None }
    }
}

// The engines.

const BOUNDED_SEARCH: &Abc = &Abc { reduce: "", command: Command::BoundedSearch };
const STEP: &Abc = &Abc { reduce: "", command: Command::Induction };
const PDR: &Abc = &pdr_after("");

/// `pdr` of a network that these commands reduce.
const fn pdr_after(reduce: &'static str) -> Abc {
    Abc { reduce, command: Command::Pdr }
}

// Used by proofs and by equivalence checks.

/// A trace within a few cycles.
pub const FIRST_CYCLES: Attempt = Attempt::new(BOUNDED_SEARCH, 6, 20_000, 10);
/// A trace within a few cycles, or else an induction over two cycles, which proves most properties.
pub const INDUCTION: Attempt = Attempt { step: Some(&INDUCTION_STEP), ..FIRST_CYCLES };
/// Counters of twelve bits whose order it compares take some ten seconds.
pub const INDUCTION_STEP: Attempt = Attempt::new(STEP, 2, 1_000_000, 60);
/// An induction over an unknown word of a memory. Which word is read, and whether it was written,
/// are two choices among hundreds of registers, which takes many conflicts.
pub const WORD: Attempt =
    Attempt { step: Some(&WORD_STEP), ..Attempt::new(BOUNDED_SEARCH, 3, 1_000_000, 60) };
/// Minutes for a system of several blocks.
const WORD_STEP: Attempt = Attempt::new(STEP, 2, 10_000_000, 400);
/// A proof of an invariant that induction does not prove, or of a property that is nearly
/// inductive.
pub const SHORT_PROOF: Attempt = Attempt::new(PDR, 20, 1000, 10);

// Proofs of properties.

/// A quick search: most broken properties break soon after reset.
pub const QUICK_SEARCH: Attempt = Attempt::new(BOUNDED_SEARCH, 30, 5000, 5);
/// A search with more time.
pub const SEARCH: Attempt = Attempt::new(BOUNDED_SEARCH, 30, 20_000, 20);
/// A proof with much time, of a reduced network.
pub const LONG_PROOF: Attempt = Attempt::new(&pdr_after("scorr -w; dc2"), 200, 5000, 60);

// Equivalence checks of mutants, with the queries of `Aig`.

/// `nearby`: only registers in the fan-out cone of the mutation can differ.
pub const NEARBY: Attempt = Attempt::new(PDR, 40, 20_000, 2);
/// As [`NEARBY`], with more time, for the mutants that remain.
pub const NEARBY_LONG: Attempt = Attempt::new(PDR, 100, 20_000, 20);
/// Merges registers that are always equal on both sides.
pub const EQUAL_REGISTERS: Attempt = Attempt::new(&pdr_after("lcorr"), 2, 100, 10);
/// Merges any signals that are always equal on both sides.
pub const EQUAL_SIGNALS: Attempt = Attempt::new(&pdr_after("dc2; scorr"), 2, 100, 10);
/// As [`EQUAL_SIGNALS`], with more time: many outputs at once, or two RTLs.
pub const MANY_EQUAL_SIGNALS: Attempt = Attempt::new(&pdr_after("dc2; scorr"), 2, 100, 60);
/// `alone`: only one register can differ. The network is small but may need many frames.
pub const ONE_REGISTER: Attempt = Attempt::new(PDR, 600, 5000, 3);
/// `alone`, if the pairs of values are some thousand: all of them are collected.
pub const PAIRS_OF_VALUES: Attempt = Attempt::new(&States, 50, 0, 2);
/// `by_word`: memory words keep equal abstractions.
pub const MEMORY_WORD: Attempt = Attempt::new(&pdr_after("scorr; dc2"), 100, 20_000, 30);
/// A quick search for a difference, which makes the longer proofs unnecessary.
pub const QUICK_DIFFERENCE: Attempt = Attempt::new(BOUNDED_SEARCH, 40, 20_000, 3);
pub const DIFFERENCE: Attempt = Attempt::new(BOUNDED_SEARCH, 40, 20_000, SECONDS);
/// As [`DIFFERENCE`], with exact memories, which make a frame much larger.
pub const DIFFERENCE_WITH_MEMORIES: Attempt = Attempt::new(BOUNDED_SEARCH, 20, 5000, SECONDS);
/// The last proof of equivalence.
pub const EQUIVALENCE: Attempt = Attempt::new(&pdr_after("scorr; dc2"), 100, 2000, SECONDS);
