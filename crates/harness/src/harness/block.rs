//! The contract between DUT, golden model and stimulus.
//!
//! A [`Block`] names the parts of one RTL block, and [`Weights`] draw its [`Traffic`]. In every
//! cycle, the harness calls them in this order:
//!
//! 1. [`Environment::drive`] sets every input pin, from registered state alone.
//! 2. [`Golden::cycle`] evaluates the cycle once and [`Golden::outputs`] computes every output pin
//!    from the result. The DUT computes the same pins, and the harness compares them;
//!    [`Comparison`](super::Comparison) says which of them.
//! 3. [`Scoreboard::observe`] judges the cycle at transaction level.
//! 4. [`Golden::clock`] and [`Environment::clock`] take the rising edge, the environment with the
//!    golden model's outputs: the stimulus of a case never depends on the DUT.

use super::built_in::BuiltInRtl;
use super::coverage::Coverage;
use super::environment::{Environment, Traffic};
use super::generator::{Scenario, Weights};
use super::golden::Golden;
use super::naming::Naming;
use super::parameters::{Parameter, Parameters, Profile};
use super::properties::Properties;
use super::same::is_same;
use super::scoreboard::Scoreboard;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use verilated::{Field, ModelKind, Pins, Port};

/// A block under test: its pins, its models and its stimulus. [`Explain`](super::Explain) adds what
/// only reports need.
pub trait Block: Copy + Debug + Send + Sync + 'static {
    /// The name on the command line.
    const NAME: &'static str;
    /// One line that describes the block.
    const TITLE: &'static str;
    /// The RTL the program was built with, from the generated module.
    const RTL: LinkedRtl<Self::Inputs, Self::Outputs>;
    /// The RTL's parameters other than the mask of fixes, which `RTL` names.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The parameter sets that a regression runs by default.
    const PROFILES: &'static [Profile] = &[
        Profile::new("spec", Parameters::with_fixes::<Self>(0x00)),
        Profile::new("repaired", Parameters::with_fixes::<Self>(0xff)),
    ];
    /// Default number of cases of each profile and scenario.
    const CASES: u64 = 400;
    /// The reset input, if there is one. Every case begins with a cycle in reset in which all
    /// other inputs are low.
    const RESET: Option<ResetPin> = Some(ResetPin::high("rst"));
    /// Further reset inputs, which are active together with [`Block::RESET`].
    const OTHER_RESETS: &'static [ResetPin] = &[];
    /// The inputs of a wrapper that say which clocks rise at the end of a step, if the RTL has
    /// several. All rise in the cycle in reset.
    const CLOCKS: &'static [&'static str] = &[];
    /// The number of input bits, if the default cases together drive every input vector.
    const EXHAUSTIVE: Option<u32> = None;
    /// The state register inside the top module, at most 64 bits, if the block has one. Waves and
    /// explanations show it.
    const STATE_REGISTER: Option<&'static str> = None;
    /// Outputs whose timing the specification leaves free. The harness does not compare them; the
    /// scoreboard checks their transactions, and environment and scoreboard follow the DUT
    /// instead of the golden model. See [`Comparison`](super::Comparison).
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &[];
    /// The specification that RTL and golden model are written from, in Markdown
    /// ([`document!`](crate::document)). Reports show it, and link each rule to its text.
    const SPECIFICATION: Option<Document> = None;
    /// Naming rules of ports. They decide which of several differing outputs a report names
    /// first, and which channels an explanation shows.
    const NAMING: Naming = Naming::DEFAULT;

    /// Every input but the clock.
    type Inputs: Pins + Debug + Default;
    /// Every output.
    type Outputs: Pins + Debug + Default;
    /// The golden model.
    type Golden: Golden<Self::Inputs, Self::Outputs>;
    /// The transactions that drive the block.
    type Traffic: Traffic;
    /// The environment, which follows [`Block::Traffic`].
    type Environment<'a>: Environment<'a, Self::Inputs, Self::Outputs, Self::Traffic>;
    /// The checks at transaction level.
    type Scoreboard<'a>: Scoreboard<'a, Self::Inputs, Self::Outputs, Self::Traffic>;
    /// The weights of a scenario.
    type Weights: Weights<Self>;
    /// Functional coverage in addition to the golden model's rules; `()` if the block declares
    /// none.
    type Coverage: Coverage<Self>;

    /// The built-in scenarios.
    fn scenarios() -> Vec<Scenario<Self::Weights>> {
        Self::Weights::scenarios()
    }

    /// Properties that hold in every cycle for all inputs; `cosim prove` proves them.
    fn properties(_parameters: &Parameters) -> Properties {
        Properties::default()
    }

    /// The named fields of a wide port. Reports show differences by field, and shrinking clears
    /// fields one by one.
    fn fields(_port: &str) -> &'static [(&'static str, Field)] {
        &[]
    }
}

/// A text of the block that reports show or commands read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its path, as named in the block's source.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A [`Document`] at a path relative to the file that names it.
#[macro_export]
macro_rules! document {
    ($file:literal) => {
        $crate::harness::Document { path: $file, text: include_str!($file) }
    };
}

/// An input of one bit that resets a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetPin {
    name: &'static str,
    is_high: bool,
}

impl ResetPin {
    /// An active-high reset.
    pub const fn high(name: &'static str) -> Self {
        Self { name, is_high: true }
    }

    /// An active-low reset, such as `rst_n`.
    pub const fn low(name: &'static str) -> Self {
        Self { name, is_high: false }
    }

    /// The name of the input, and its active level.
    pub const fn name_and_level(self) -> (&'static str, bool) {
        (self.name, self.is_high)
    }

    /// Its port.
    ///
    /// # Panics
    /// If it is not one of `inputs`. The harness calls this in a constant for every block, so a
    /// wrong name does not compile.
    const fn port(self, inputs: &'static [Port]) -> &'static Port {
        let mut index = 0;
        while index < inputs.len() {
            if inputs[index].width == 1 && is_same(inputs[index].name, self.name) {
                return &inputs[index];
            }
            index += 1;
        }
        panic!(
            "Block::RESET is not a 1-bit input: set it to the RTL's reset, as in \
             Some(ResetPin::low(\"rst_n\")), or to None if there is no reset"
        )
    }
}

/// The inputs of a cycle in reset; all low if the block has no reset.
pub fn reset_inputs<B: Block>() -> B::Inputs {
    low_but_reset::<B>(true)
}

/// The inputs at power-up, before the first cycle. The reset is still inactive, so that an
/// asynchronous reset has an edge.
pub fn power_up_inputs<B: Block>() -> B::Inputs {
    low_but_reset::<B>(false)
}

fn low_but_reset<B: Block>(in_reset: bool) -> B::Inputs {
    let mut bytes = B::Inputs::new_zeroed().as_bytes().to_vec();
    let reset = const {
        match B::RESET {
            Some(pin) => Some((pin.port(B::Inputs::PORTS), pin.is_high)),
            None => None,
        }
    };
    if let Some((port, is_high)) = reset {
        bytes[port.offset] = u8::from(is_high == in_reset);
    }
    for pin in B::OTHER_RESETS {
        bytes[pin.port(B::Inputs::PORTS).offset] = u8::from(pin.is_high == in_reset);
    }
    for clock in B::CLOCKS.iter().filter(|_| in_reset) {
        let port = ResetPin::high(clock).port(B::Inputs::PORTS);
        bytes[port.offset] = 1;
    }
    B::Inputs::from_bytes(&bytes)
}

/// The RTL that a program was built with, and its linked models.
#[derive(Debug, Clone, Copy)]
pub struct LinkedRtl<I, O> {
    /// The RTL.
    pub rtl: BuiltInRtl,
    /// The linked model with an index into [`BuiltInRtl::embedded`].
    pub model: fn(usize) -> Option<ModelKind<I, O>>,
}

impl<I, O> LinkedRtl<I, O> {
    /// The linked model with these parameters, if there is one.
    pub fn linked(&self, parameters: &Parameters) -> Option<ModelKind<I, O>> {
        self.rtl.linked(parameters).and_then(self.model)
    }
}

/// What a golden model shares within a cycle, as [`Golden::Cycle`].
pub type CycleOf<B> =
    <<B as Block>::Golden as Golden<<B as Block>::Inputs, <B as Block>::Outputs>>::Cycle;

impl Parameters {
    /// The default parameters of a block with this mask of fixes.
    pub const fn with_fixes<B: Block>(fixes: u8) -> Self {
        Self::declared(B::PARAMETERS, fixes)
    }
}
