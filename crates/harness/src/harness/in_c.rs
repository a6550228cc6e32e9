//! Golden models that are written in C or C++.

use super::block::Block;
use super::golden::Golden;
use super::parameters::Parameters;
use super::rule_set::{Rule, RuleSet};
use std::fmt;
use verilated::{CModel, CModelKind, Pins};

/// The name of the mask of fixes among the parameters that a model in C receives.
const FIXES: &str = "FIXES";

/// A block whose golden model is written in C or C++. The build script compiles it
/// (`cosim_build::Block::golden`) and generates the header that it implements.
pub trait InC: Block {
    /// The model, `rtl::GOLDEN` of the generated module.
    const MODEL: CModelKind<Self::Inputs, Self::Outputs>;
    /// [`Golden::RULES`], in the order of the bits that the model sets.
    const RULES: &'static [Rule] = &[];
    /// [`Golden::HAS_DONT_CARES`].
    const HAS_DONT_CARES: bool = false;

    /// [`Golden::unreachable`].
    fn unreachable(_rule: usize, _parameters: &Parameters) -> Option<String> {
        None
    }
}

/// The golden model of a block whose model is [in C](InC).
pub struct GoldenInC<B: InC>(CModel<B::Inputs, B::Outputs>);

impl<B: InC> fmt::Debug for GoldenInC<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GoldenInC").field(&self.0).finish()
    }
}

impl<B: InC> Golden<B::Inputs, B::Outputs> for GoldenInC<B> {
    const RULES: &'static [Rule] = B::RULES;
    const HAS_DONT_CARES: bool = B::HAS_DONT_CARES;

    /// The outputs, and the bits of them that are open.
    type Cycle = [B::Outputs; 2];

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        B::unreachable(rule, parameters)
    }

    /// A model after reset.
    ///
    /// # Panics
    /// If the model refuses the parameters; the case ends as crashed.
    fn new(parameters: &Parameters) -> Self {
        let fixes = (FIXES, u64::from(parameters.fixes()));
        let model = B::MODEL.create(parameters.values().chain([fixes]));
        Self(model.expect("the golden model in C refuses the parameters"))
    }

    fn cycle(&self, inputs: &B::Inputs) -> Self::Cycle {
        self.0.outputs(inputs)
    }

    fn outputs(&self, _: &B::Inputs, cycle: &Self::Cycle, outputs: &mut B::Outputs) {
        *outputs = cycle[0];
    }

    fn dont_care(&self, _: &B::Inputs, cycle: &Self::Cycle, open: &mut B::Outputs) {
        *open = open.select(&cycle[1], &cycle[1]);
    }

    fn clock(&mut self, inputs: &B::Inputs, _: &Self::Cycle) -> RuleSet {
        let all = (1_u128 << B::RULES.len()) - 1;
        RuleSet::from_bits(self.0.clock(inputs) & all)
    }

    fn state(&self) -> &'static str {
        self.0.state()
    }
}
