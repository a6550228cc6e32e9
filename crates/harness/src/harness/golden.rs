//! What the writer of a golden model sees. `I` are the inputs of the block, and `O` its outputs.

use super::parameters::Parameters;
use super::rule_set::{Rule, RuleSet};
use std::panic::Location;

/// The place of a golden model or a scoreboard that is still to be written, `None` if it is. While
/// there is one, a case drives the RTL without a comparison and ends as
/// [`Verdict::NoGoldenModel`](super::Verdict::NoGoldenModel), and a run names the place.
pub type Unwritten = Option<&'static Location<'static>>;

/// The line that calls this function, as the place to write.
#[track_caller]
pub const fn unwritten() -> Unwritten {
    Some(Location::caller())
}

/// A golden model: the required behavior of the block, written in Rust from the specification.
pub trait Golden<I, O>: Send {
    /// Where the model is to be written; see [`Unwritten`].
    const UNWRITTEN: Unwritten = None;

    /// Every rule, in the order of their indices in a [`RuleSet`].
    const RULES: &'static [Rule];

    /// Whether the specification leaves output bits open in some cycles, so that the harness
    /// calls [`Golden::dont_care`]. A run fails if some bit is never compared.
    const HAS_DONT_CARES: bool = false;

    /// Intermediate results of a cycle that outputs, edge and coverage share; `()` if there are
    /// none.
    type Cycle;

    /// Why no legal stimulus hits a rule under `parameters`; `None` if one can.
    fn unreachable(_rule: usize, _parameters: &Parameters) -> Option<String> {
        None
    }

    /// A model after reset, with these parameters.
    fn new(parameters: &Parameters) -> Self;

    /// Evaluates a cycle from the registers and `inputs`.
    fn cycle(&self, inputs: &I) -> Self::Cycle;

    /// Computes every output before the rising edge; `cycle` is the result of [`Golden::cycle`] for
    /// the same `inputs`.
    fn outputs(&self, inputs: &I, cycle: &Self::Cycle, outputs: &mut O);

    /// Sets every bit of `open` that the specification leaves open in this cycle, as in payload
    /// without its valid. The comparison skips exactly these bits. The outputs must still be a
    /// function of registers and inputs, because environment and scoreboard may read them.
    #[inline]
    fn dont_care(&self, _inputs: &I, _cycle: &Self::Cycle, _open: &mut O) {}

    /// Takes the DUT's outputs before the rising edge, for registers that depend on handshakes
    /// whose timing is free. The harness calls it only for blocks with
    /// [`Block::TRANSACTION_OUTPUTS`](super::Block::TRANSACTION_OUTPUTS), and the model should read
    /// only these outputs: otherwise it follows the error that it should find.
    #[inline]
    fn observe(&mut self, _inputs: &I, _cycle: &Self::Cycle, _outputs: &O) {}

    /// The rising edge: registers take their next values. Returns the rules that applied. `cycle`
    /// is the result of [`Golden::cycle`] for the same `inputs`.
    fn clock(&mut self, inputs: &I, cycle: &Self::Cycle) -> RuleSet;

    /// Evaluates a cycle for its outputs alone.
    #[inline]
    fn show(&self, inputs: &I, outputs: &mut O) {
        self.outputs(inputs, &self.cycle(inputs), outputs);
    }

    /// Evaluates a cycle for its rising edge alone. Returns the rules that applied.
    #[inline]
    fn edge(&mut self, inputs: &I) -> RuleSet {
        let cycle = self.cycle(inputs);
        self.clock(inputs, &cycle)
    }

    /// Evaluates a cycle: outputs, then the rising edge. Returns the rules that applied.
    #[inline]
    fn step(&mut self, inputs: &I, outputs: &mut O) -> RuleSet {
        let cycle = self.cycle(inputs);
        self.outputs(inputs, &cycle, outputs);
        self.clock(inputs, &cycle)
    }

    /// Name of the present state, as in the RTL.
    fn state(&self) -> &'static str;
}
