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

use super::checked::{Checked, checked};
use super::coverage::Coverage;
use super::draw::Percent;
use super::info::BuiltInRtl;
use super::naming::Naming;
use super::parameters::{Parameter, Parameters, Profile};
use super::properties::Properties;
use super::rng::CaseRng;
use super::span::Span;
use super::stimulus::Stimulus;
use super::transfer::Transfer;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fmt::Debug;
use verilated::{Field, ModelKind, Pins, Port};

/// A block under test: its pins, its models and its stimulus. [`Explain`] adds what only reports
/// need.
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
        Profile::new("spec", Parameters::of::<Self>(0x00)),
        Profile::new("repaired", Parameters::of::<Self>(0xff)),
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
    type Golden: Golden<Self>;
    /// The transactions that drive the block.
    type Traffic: Traffic;
    /// The environment, which follows [`Block::Traffic`].
    type Environment<'a>: Environment<'a, Self>;
    /// The checks at transaction level.
    type Scoreboard<'a>: Scoreboard<'a, Self>;
    /// The weights of a scenario.
    type Weights: Weights<Self>;
    /// Functional coverage in addition to the golden model's rules; `()` if the block declares
    /// none.
    type Coverage: Coverage<Self>;

    /// The built-in scenarios.
    fn scenarios() -> Vec<Scenario<Self::Weights>> {
        Self::Weights::scenarios()
    }

    /// Draws a stimulus of about `packets` packets.
    fn stimulus(
        weights: &Self::Weights,
        parameters: &Parameters,
        packets: u32,
        rng: &mut CaseRng,
    ) -> Stimulus<Self> {
        match weights.raw_pins(parameters, packets, rng) {
            Some(cycles) => Stimulus::cycles(cycles),
            None => Stimulus::traffic(weights.traffic(parameters, packets, rng)),
        }
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

/// Equality of names, in a constant.
pub(crate) const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

/// Whether a name is one of some names, in a constant.
pub(crate) const fn has_name(names: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < names.len() {
        if is_same(names[index], name) {
            return true;
        }
        index += 1;
    }
    false
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
    B::Inputs::of_bytes(&bytes)
}

/// Names and meanings for reports. They decide nothing.
pub trait Explain: Block {
    /// Name of a state by its code in the RTL.
    fn state_name(_code: u64) -> Option<&'static str> {
        None
    }

    /// The rules that lead from one state to another.
    fn rules_between(_from: &str, _to: &str) -> Vec<&'static str> {
        Vec::new()
    }

    /// The meaning of a field's value, such as the name of an opcode.
    fn meaning(_field: &str, _value: u64) -> Option<String> {
        None
    }

    /// The transfer of a channel in a cycle with a high valid, in words, as in "Nak 3". `channel`
    /// is the name of the valid without its last word.
    fn words(_channel: &str, _inputs: &Self::Inputs, _outputs: &Self::Outputs) -> Option<String> {
        None
    }

    /// The pending stimulus at the environment's position, in words.
    fn in_flight(environment: &Self::Environment<'_>) -> Vec<String> {
        Environment::in_flight(environment)
    }
}

/// The transactions of a case: an explicit list, which a vector stores.
pub trait Traffic: Serialize + DeserializeOwned + JsonSchema + Clone + Debug + Send + Sync {
    /// Words in the names of numbers that are delays in cycles. Shrinking reduces delays before
    /// other numbers and never merges two of them.
    const WAITS: &'static [&'static str] = &["gap", "stall", "delay", "after", "cycles"];

    /// Checks what the types cannot express, such as the order of packets.
    ///
    /// # Errors
    /// The first wrong place, and the reason.
    fn check(&self) -> Result<(), TrafficError> {
        Ok(())
    }
}

/// The weights of a scenario, and the stimulus drawn with them.
pub trait Weights<B: Block<Weights = Self>>:
    Checked + Serialize + DeserializeOwned + Clone + Debug + Send + Sync
{
    /// The scenario that `cosim bench` measures: typical traffic.
    const BENCH: &'static str = "default";

    /// The built-in scenarios.
    fn scenarios() -> Vec<Scenario<Self>>;

    /// Draws a traffic of about `packets` packets that is legal under `parameters`.
    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> B::Traffic;

    /// Draws unconstrained stimulus of that length instead of a traffic, if the weights select
    /// it.
    fn raw_pins(
        &self,
        _parameters: &Parameters,
        _packets: u32,
        _rng: &mut CaseRng,
    ) -> Option<Vec<B::Inputs>> {
        None
    }
}

/// An error in a traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficError {
    /// Place in the JSON of the traffic, as in `packets[3].wqe`.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
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

/// A rule of a golden model: a row of a transition table or a named behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The name used in reports, as in `T18`.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The rules that fired in one cycle, by index into [`Golden::RULES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleSet(u128);

impl RuleSet {
    /// No rule.
    pub const EMPTY: Self = Self(0);
    /// The largest number of rules of a block.
    pub const CAPACITY: usize = 128;

    /// Does not compile in a constant if a set cannot hold `rules` rules. The harness checks it
    /// for every block:
    ///
    /// ```
    /// const _: () = cosim_harness::harness::RuleSet::can_hold(128);
    /// ```
    ///
    /// One more rule does not compile:
    ///
    /// ```compile_fail
    /// const _: () = cosim_harness::harness::RuleSet::can_hold(129);
    /// ```
    ///
    /// # Panics
    /// If there are too many.
    pub const fn can_hold(rules: usize) {
        assert!(
            rules <= Self::CAPACITY,
            "a block has at most 128 rules: combine some, or widen cosim_harness::harness::RuleSet"
        );
    }

    /// The set of one rule.
    #[inline]
    pub const fn one(rule: usize) -> Self {
        Self(1 << rule)
    }

    /// The set of the rules whose bits are 1.
    #[inline]
    pub const fn of_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The set as bits: rule n is bit n.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The rules of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set or the empty set, without a branch.
    #[inline]
    #[must_use]
    pub const fn only_if(self, holds: bool) -> Self {
        Self(self.0 & (holds as u128).wrapping_neg())
    }

    /// Whether one of some rules is in the set.
    #[inline]
    pub const fn has(self, rules: Self) -> bool {
        self.0 & rules.0 != 0
    }

    /// The names of the rules among those of their block, with `+` between them.
    pub fn names(self, rules: &[Rule]) -> String {
        self.iter().map(|rule| rules[rule].name).collect::<Vec<_>>().join("+")
    }

    /// The indices of the rules, in rising order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let rule = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(rule)
        })
    }
}

/// A golden model: the required behavior of the block, written in Rust from the specification. It
/// is `Clone`, so that mutation analysis can inject faults into it.
pub trait Golden<B: Block>: Clone + Send {
    /// Whether the model is written. While it is not, a case drives the RTL without a comparison
    /// and ends as [`Verdict::NoGoldenModel`](super::Verdict::NoGoldenModel).
    const IS_WRITTEN: bool = true;

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
    fn cycle(&self, inputs: &B::Inputs) -> Self::Cycle;

    /// Computes every output before the rising edge; `cycle` is the result of [`Golden::cycle`] for
    /// the same `inputs`.
    fn outputs(&self, inputs: &B::Inputs, cycle: &Self::Cycle, outputs: &mut B::Outputs);

    /// Sets every bit of `open` that the specification leaves open in this cycle, as in payload
    /// without its valid. The comparison skips exactly these bits. The outputs must still be a
    /// function of registers and inputs, because environment and scoreboard may read them.
    #[inline]
    fn dont_care(&self, _inputs: &B::Inputs, _cycle: &Self::Cycle, _open: &mut B::Outputs) {}

    /// Takes the DUT's outputs before the rising edge, for registers that depend on handshakes
    /// whose timing is free. The harness calls it only for blocks with
    /// [`Block::TRANSACTION_OUTPUTS`], and the model should read only these outputs: otherwise it
    /// follows the error that it should find.
    #[inline]
    fn observe(&mut self, _inputs: &B::Inputs, _cycle: &Self::Cycle, _outputs: &B::Outputs) {}

    /// The rising edge: registers take their next values. Returns the rules that applied. `cycle`
    /// is the result of [`Golden::cycle`] for the same `inputs`.
    fn clock(&mut self, inputs: &B::Inputs, cycle: &Self::Cycle) -> RuleSet;

    /// Evaluates a cycle for its outputs alone.
    #[inline]
    fn show(&self, inputs: &B::Inputs, outputs: &mut B::Outputs) {
        self.outputs(inputs, &self.cycle(inputs), outputs);
    }

    /// Evaluates a cycle for its rising edge alone. Returns the rules that applied.
    #[inline]
    fn edge(&mut self, inputs: &B::Inputs) -> RuleSet {
        let cycle = self.cycle(inputs);
        self.clock(inputs, &cycle)
    }

    /// Evaluates a cycle: outputs, then the rising edge. Returns the rules that applied.
    #[inline]
    fn step(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> RuleSet {
        let cycle = self.cycle(inputs);
        self.outputs(inputs, &cycle, outputs);
        self.clock(inputs, &cycle)
    }

    /// Name of the present state, as in the RTL.
    fn state(&self) -> &'static str;
}

/// The environment of the block. It responds to the golden model and follows an explicit list of
/// stimulus.
pub trait Environment<'a, B: Block> {
    /// The inputs that it holds at a value, and the values as they are written. The summary of a
    /// run names them.
    const TIED: &'static [(&'static str, &'static str)] = &[];

    /// An environment at the beginning of `traffic`.
    fn new(traffic: &'a B::Traffic, parameters: &Parameters) -> Self;

    /// Drives every input of the coming cycle. It must write each pin in every cycle, because
    /// `inputs` holds the values of some other cycle. [`undriven`](super::undriven) finds pins
    /// that it does not write.
    fn drive(&mut self, inputs: &mut B::Inputs);

    /// Takes the rising edge; the arguments are the cycle's inputs and the golden model's
    /// outputs.
    fn clock(&mut self, inputs: &B::Inputs, outputs: &B::Outputs);

    /// Whether all stimulus is used and nothing is pending.
    fn finished(&self) -> bool;

    /// Number of handshakes so far. A case without further handshakes hangs.
    fn handshakes(&self) -> u64;

    /// The longest time without a handshake that the stimulus can cause, in cycles.
    fn progress_timeout(&self) -> u64;

    /// Packets the block took so far.
    fn packets(&self) -> u64;

    /// What it is doing, in words, for reports.
    fn in_flight(&self) -> Vec<String> {
        Vec::new()
    }

    /// The channels in a cycle, for reports: the same ones in each cycle. Ports that belong to none
    /// of them are shown by [`Block::NAMING`].
    fn transfers(_inputs: &B::Inputs, _outputs: &B::Outputs) -> Vec<Transfer> {
        Vec::new()
    }
}

/// Checks whole transactions of legal stimulus, in addition to the comparison of pins.
pub trait Scoreboard<'a, B: Block>: Sized {
    /// The name of every check, as in [`Violation::check`]. A test with
    /// `cosim_core::checks::Checks` shows that each check can fail.
    fn checks() -> Vec<String> {
        Vec::new()
    }

    /// A scoreboard for `traffic` and a block with `parameters`.
    fn new(traffic: &'a B::Traffic, parameters: &Parameters) -> Self;

    /// Observes one cycle before its rising edge. The first one is the harness's cycle in reset,
    /// which the environment does not observe.
    ///
    /// # Errors
    /// The first [`Violation`].
    fn observe(&mut self, inputs: &B::Inputs, outputs: &B::Outputs) -> Result<(), Violation>;

    /// Checks the end of the case.
    ///
    /// # Errors
    /// A [`Violation`] if something is still pending.
    fn finish(&mut self) -> Result<(), Violation>;

    /// The number of transactions that it compared so far. A run of a block with
    /// [`Block::TRANSACTION_OUTPUTS`] fails if this is 0 in all cases of a profile.
    fn compared(&self) -> u64 {
        0
    }

    /// Names of values that it counts but does not check, as in "packets lost".
    fn counters() -> Vec<Counter<Self>> {
        Vec::new()
    }

    /// The numbers of [`Scoreboard::counters`].
    fn counts(&self) -> Vec<u64> {
        Self::counters().iter().map(|counter| (counter.value)(self)).collect()
    }
}

/// A counter of a scoreboard that the summary shows.
pub struct Counter<S: ?Sized> {
    /// What is counted.
    pub name: &'static str,
    /// How the numbers of several cases are combined.
    pub total: Total,
    /// The number of a case.
    pub value: fn(&S) -> u64,
}

impl<S> Counter<S> {
    /// A number that is added up over cases.
    pub fn sum(name: &'static str, value: fn(&S) -> u64) -> Self {
        Self { name, total: Total::Sum, value }
    }

    /// A counter that shows the largest value of all cases.
    pub fn max(name: &'static str, value: fn(&S) -> u64) -> Self {
        Self { name, total: Total::Max, value }
    }
}

/// How the numbers of several cases are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Total {
    /// They are added.
    Sum,
    /// The largest is used.
    Max,
}

impl Total {
    /// Combines two numbers.
    pub fn of(self, left: u64, right: u64) -> u64 {
        match self {
            Self::Sum => left.saturating_add(right),
            Self::Max => left.max(right),
        }
    }
}

/// A failed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
pub struct Violation {
    /// The check's name.
    pub check: String,
    /// The expected and the observed value.
    pub message: String,
}

impl Violation {
    /// A violation of `check`. Cold and never inlined, because formatting code would keep the
    /// compiler from inlining the hot callers.
    #[cold]
    #[inline(never)]
    pub fn new(check: &str, message: impl fmt::Display) -> Self {
        Self { check: check.to_owned(), message: message.to_string() }
    }

    /// The observed and the expected value, and the cycle since which it is expected, if the
    /// message ends with `, expected VALUE` or `, expected VALUE since cycle N`.
    pub fn values(&self) -> Option<(&str, &str, Option<u64>)> {
        let (actual, expected) = self.message.rsplit_once(", expected ")?;
        let since = expected.rsplit_once(" since cycle ");
        let since = since.and_then(|(expected, cycle)| Some((expected, cycle.parse().ok()?)));
        Some(match since {
            Some((expected, cycle)) => (actual, expected, Some(cycle)),
            None => (actual, expected, None),
        })
    }
}

/// A named set of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "W: serde::Deserialize<'de> + Checked"))]
pub struct Scenario<W> {
    /// The name on the command line.
    pub name: String,
    /// What it is for, in one line.
    pub about: String,
    /// The weights.
    #[serde(deserialize_with = "checked")]
    pub weights: W,
    /// The share of long cases, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongCases>,
}

/// A share of long cases in a scenario, because some bugs need many packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongCases {
    /// Their share of the cases, in percent.
    pub percent: Percent,
    /// Packets of a long case.
    pub packets: Span<20, 1>,
}

impl<W> Scenario<W> {
    /// A scenario with cases of ordinary length.
    pub fn new(name: &str, about: &str, weights: W) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), weights, long: None }
    }

    /// The same scenario with a share of long cases.
    #[must_use]
    pub fn with_long(self, percent: u64, packets: Span<20, 1>) -> Self {
        Self { long: Some(LongCases { percent: Percent::new(percent), packets }), ..self }
    }
}
