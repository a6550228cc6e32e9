//! Properties of a block that hold in every cycle for all inputs; `cosim prove` proves them for
//! its RTL.
//!
//! Invariants are assertions in `NAME_sva.sv` beside the RTL. Expressions here are Verilog over the
//! ports of the block, and over the ports and wires of the module in that file.

use serde::{Deserialize, Serialize};

/// The properties of a block that are data: over the names of its ports, and generated from the
/// rules of its golden model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Properties {
    /// Valids and enables whose payload is 0 while they are 0, or the name of a single payload.
    pub quiescent: Vec<&'static str>,
    /// Channels whose valid stays high until its ready.
    pub stable: Vec<StableChannel>,
    /// Codes of the state register that are not states, so the register never holds them.
    pub illegal_states: Vec<&'static str>,
    /// Enables, and the only states in which they are 1. It needs a `Block::STATE_REGISTER`.
    #[serde(deserialize_with = "super::leaked::named")]
    pub enabled: Vec<(&'static str, &'static [&'static str])>,
    /// The golden model's rules as properties of the RTL.
    pub transitions: Vec<TransitionProperty>,
    /// Abstractions of memory words, for memories in which some bits have no meaning.
    pub word_abstractions: Vec<WordAbstraction>,
    /// Bounded progress under protocol assumptions.
    pub progress: Vec<Progress>,
}

/// An abstraction of memory words. Two RTLs whose memories hold words of the same meaning can be
/// equivalent even if the words differ. The proof also shows that the other bits have no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordAbstraction {
    /// The memory.
    pub memory: &'static str,
    /// The width of its words in bits.
    pub width: u32,
    /// The meaning, as a Verilog expression of `word` with at most `width` bits.
    pub meaning: &'static str,
}

/// A task that the block finishes within a bounded number of its own cycles, however long the
/// environment stalls it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Progress {
    /// The task in words, as in "a packet that was taken".
    pub what: String,
    /// True while the task is not finished.
    pub busy: String,
    /// True in cycles in which the block waits for the environment.
    pub waits: String,
    /// The largest number of the block's own cycles.
    pub within: u32,
    /// Cycles that each event adds to the bound: their number, the event in words and as an
    /// expression.
    pub more: Option<(u32, &'static str, String)>,
    /// Protocol assumptions, in words and as expressions. The property is checked until one of
    /// them fails.
    pub assumptions: Vec<(&'static str, String)>,
    /// Known deadlocks, each with its erratum.
    pub known_deadlocks: Vec<KnownDeadlock>,
}

impl Progress {
    /// A task that the block finishes within a number of its own cycles.
    pub fn new(what: impl Into<String>, busy: &str, waits: &str, within: u32) -> Self {
        let (what, busy, waits) = (what.into(), busy.to_owned(), waits.to_owned());
        Self { what, busy, waits, within, ..Self::default() }
    }
}

/// A known deadlock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownDeadlock {
    /// Its description, with the place in the specification.
    pub what: &'static str,
    /// True in the deadlock, as an expression.
    pub when: String,
    /// An event that ends it, in words and as an expression; `None` if the environment cannot end
    /// it.
    pub until: Option<(&'static str, String)>,
}

/// A rule as a property of the RTL.
///
/// The wire `rule_N` is 1 while rule N of [`Properties::transitions`] applies. Expressions are
/// Verilog over ports, and over signals and wires of `NAME_sva.sv`, in that cycle. Constants are
/// sized, as in `8'd1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitionProperty {
    /// Its name. A name that is not a rule of the golden model stands for the cycles in which no
    /// rule of the family applies.
    pub rule: &'static str,
    /// The family of rules of which exactly one applies in every cycle outside of reset; `None`
    /// if several or none may apply.
    pub one_of: Option<String>,
    /// When it applies.
    pub when: String,
    /// Values of outputs and wires in that cycle.
    pub outputs: Vec<(&'static str, String)>,
    /// Values of registers after the edge, unless a reset begins there.
    pub next: Vec<(&'static str, String)>,
}

impl TransitionProperty {
    /// A rule that applies under a condition.
    pub fn new(rule: &'static str, when: impl Into<String>) -> Self {
        Self { rule, when: when.into(), ..Self::default() }
    }

    /// The same rule in a family.
    #[must_use]
    pub fn one_of(self, family: &str) -> Self {
        Self { one_of: Some(family.to_owned()), ..self }
    }

    /// The same rule with further values of outputs and wires.
    #[must_use]
    pub fn shows<V: Into<String>>(
        mut self,
        outputs: impl IntoIterator<Item = (&'static str, V)>,
    ) -> Self {
        self.outputs.extend(outputs.into_iter().map(|(name, value)| (name, value.into())));
        self
    }

    /// The same rule with further values of registers after the edge.
    #[must_use]
    pub fn loads<V: Into<String>>(
        mut self,
        next: impl IntoIterator<Item = (&'static str, V)>,
    ) -> Self {
        self.next.extend(next.into_iter().map(|(name, value)| (name, value.into())));
        self
    }
}

/// A channel whose offer is stable until it is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StableChannel {
    /// Its valid.
    pub valid: &'static str,
    /// Whether its payload is stable, too.
    pub payload: bool,
}

impl StableChannel {
    /// A channel whose valid and payload are stable until ready.
    pub const fn whole(valid: &'static str) -> Self {
        Self { valid, payload: true }
    }

    /// A channel whose valid is stable until ready; its payload may change.
    pub const fn valid(valid: &'static str) -> Self {
        Self { valid, payload: false }
    }
}
