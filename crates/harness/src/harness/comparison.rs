//! Which output bits are compared in a cycle, and in how many cycles each bit was compared.
//!
//! There are three kinds of comparison, one for each output. Cycle-exact outputs are compared in
//! every cycle. Of a block with don't-cares ([`Golden::HAS_DONT_CARES`]), the comparison skips the
//! bits that the golden model leaves open in a cycle. Outputs whose timing is free
//! ([`Block::TRANSACTION_OUTPUTS`]) are checked by the scoreboard, transaction by transaction.

use super::block::{Block, CycleOf};
use super::golden::Golden;
use super::parameters::Parameters;
use super::rule_set::{Rule, RuleSet};
use super::same::{has_name, is_same};
use super::scoreboard::Scoreboard as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verilated::{Pins, Port};

/// The name of the covergroup of compared bits.
pub const COMPARED: &str = "compared bits";
/// The name of the covergroup of compared transactions. It has one bin.
pub const COMPARED_TRANSACTIONS: &str = "compared transactions";

/// How an output is compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Every bit in every cycle.
    CycleExact,
    /// In every cycle, the bits that the specification defines there.
    DontCare,
    /// Transactions, in any cycle that the specification allows; the scoreboard checks them.
    Transactions,
}

impl Comparison {
    /// How a report describes the outputs that are compared in this way.
    pub fn description(self) -> &'static str {
        match self {
            Self::CycleExact => "in every cycle",
            Self::DontCare => "in every cycle, except for don't-care bits",
            Self::Transactions => "as transactions",
        }
    }
}

/// Whether environment and scoreboard follow the DUT's outputs, because the timing of some is
/// free. Otherwise they follow the golden model.
pub const fn follows_dut<B: Block>() -> bool {
    !B::TRANSACTION_OUTPUTS.is_empty()
}

/// Whether golden model and scoreboard are written. Until then, nothing is compared.
pub const fn is_written<B: Block>() -> bool {
    B::Golden::UNWRITTEN.is_none() && B::Scoreboard::<'static>::UNWRITTEN.is_none()
}

/// Whether some output bits are not compared in some cycle.
pub const fn has_masks<B: Block>() -> bool {
    B::Golden::HAS_DONT_CARES || follows_dut::<B>()
}

/// Does not compile in a constant if a transaction output is not an output.
pub(super) const fn check_outputs<B: Block>() {
    let (names, mut index) = (B::TRANSACTION_OUTPUTS, 0);
    while index < names.len() {
        let (ports, mut at, mut is_output) = (B::Outputs::PORTS, 0, false);
        while at < ports.len() {
            is_output |= is_same(ports[at].name, names[index]);
            at += 1;
        }
        assert!(is_output, "Block::TRANSACTION_OUTPUTS names a port that is not an output");
        index += 1;
    }
}

pub(super) fn transaction_bits<B: Block>() -> B::Outputs {
    let mut bytes = vec![0; size_of::<B::Outputs>()];
    for port in B::Outputs::PORTS {
        if has_name(B::TRANSACTION_OUTPUTS, port.name) {
            bytes[port.offset..port.offset + port.size()].fill(0xff);
        }
    }
    B::Outputs::from_bytes(&bytes)
}

/// The bits of a cycle that are not compared. `always` is [`transaction_bits`].
#[inline]
pub(super) fn open_bits<B: Block>(
    golden: &B::Golden,
    inputs: &B::Inputs,
    cycle: &CycleOf<B>,
    always: &B::Outputs,
    open: &mut B::Outputs,
) {
    *open = *always;
    if B::Golden::HAS_DONT_CARES {
        golden.dont_care(inputs, cycle, open);
    }
}

/// The outputs whose compared bits are counted.
pub(super) fn counted_outputs(
    outputs: &'static [Port],
    transaction_outputs: &'static [&'static str],
) -> impl Iterator<Item = &'static Port> {
    outputs.iter().filter(move |port| !has_name(transaction_outputs, port.name))
}

/// The number of bits whose comparisons are counted: none if every bit is always compared.
pub(super) const fn counted_bits<B: Block>() -> usize {
    if !B::Golden::HAS_DONT_CARES {
        return 0;
    }
    let (ports, mut index, mut bits) = (B::Outputs::PORTS, 0, 0);
    while index < ports.len() {
        if !has_name(B::TRANSACTION_OUTPUTS, ports[index].name) {
            bits += ports[index].width as usize;
        }
        index += 1;
    }
    bits
}

/// The name of a counted bit, as in `data[3]`.
pub fn bit_name(port: &str, width: u32, bit: u32) -> String {
    if width == 1 { port.to_owned() } else { format!("{port}[{bit}]") }
}

/// The golden model of a block whose outputs are all checked as transactions: it predicts no pin.
/// The scoreboard models the transactions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untimed;

impl<I, O: Default> Golden<I, O> for Untimed {
    const RULES: &'static [Rule] = &[];

    type Cycle = ();

    fn new(_: &Parameters) -> Self {
        Self
    }

    fn cycle(&self, _: &I) {}

    fn outputs(&self, _: &I, (): &(), outputs: &mut O) {
        *outputs = O::default();
    }

    fn clock(&mut self, _: &I, (): &()) -> RuleSet {
        RuleSet::EMPTY
    }

    fn state(&self) -> &'static str {
        "untimed"
    }
}

/// Low bits of a count that are stored in bit planes.
const PLANES: usize = 8;

/// Counts in how many cycles each output bit was open.
///
/// Plane n holds bit n of the count of every bit of the packed struct, so one addition counts 64
/// bits. After 255 cycles the planes are added to the counts.
#[derive(Debug, Default)]
pub(super) struct OpenCounts {
    planes: Vec<[u64; PLANES]>,
    pending: u32,
    counts: Vec<u64>,
    cycles: u64,
}

impl OpenCounts {
    pub(super) fn new<B: Block>() -> Self {
        let is_used = counted_bits::<B>() > 0;
        let words = if is_used { size_of::<B::Outputs>() / 8 } else { 0 };
        let (planes, counts) = (vec![[0; PLANES]; words], vec![0; words * 64]);
        Self { planes, counts, ..Self::default() }
    }

    #[inline]
    pub(super) fn count(&mut self, open: &impl Pins) {
        self.cycles += 1;
        let (words, _) = open.as_bytes().as_chunks::<8>();
        for (planes, word) in self.planes.iter_mut().zip(words) {
            let mut carry = u64::from_le_bytes(*word);
            for plane in planes {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
            }
        }
        self.pending += 1;
        if self.pending == (1 << PLANES) - 1 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.pending = 0;
        for (planes, counts) in self.planes.iter_mut().zip(self.counts.chunks_mut(64)) {
            for (shift, plane) in planes.iter_mut().enumerate() {
                let mut left = std::mem::take(plane);
                while left != 0 {
                    counts[left.trailing_zeros() as usize] += 1 << shift;
                    left &= left - 1;
                }
            }
        }
    }

    /// The number of cycles in which each counted bit was compared, in the order of the ports.
    pub(super) fn compared(mut self, counted: impl Iterator<Item = &'static Port>) -> Vec<u64> {
        if self.planes.is_empty() {
            return Vec::new();
        }
        self.flush();
        let bits = |port: &'static Port| {
            let first = port.offset * 8;
            first..first + port.width as usize
        };
        let places = counted.flat_map(bits);
        places.map(|place| self.cycles - self.counts[place]).collect()
    }
}
