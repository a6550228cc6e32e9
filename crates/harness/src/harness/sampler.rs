//! The bins of a block, and the counters of a case.

use super::block::{Block, CycleOf};
use super::comparison::{
    COMPARED, COMPARED_TRANSACTIONS, OpenCounts, bit_name, counted_bits, counted_outputs,
    follows_dut,
};
use super::coverage::{Bins, Coverage, Covergroup, Edge, RULES, group_bins};
use super::golden::Golden;
use super::hits::Hits;
use super::parameters::Parameters;
use super::rule_set::{Rule, RuleSet};
use super::tally::Tally;
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use verilated::{Pins, Port};

const fn bins_with<B: Block, C: Coverage<B>>() -> usize {
    B::Golden::RULES.len() + group_bins(C::GROUPS)
}

/// The number of bins of a block: rules, covergroups, compared bits if the block has don't-cares,
/// and compared transactions if it has transaction outputs.
pub fn bins<B: Block>() -> usize {
    const { bins_with::<B, B::Coverage>() + counted_bits::<B>() + follows_dut::<B>() as usize }
}

/// The group of a bin, and its number in the group.
fn group_of(groups: &'static [Covergroup], bin: usize) -> Option<(&'static Covergroup, usize)> {
    let mut left = bin;
    for group in groups {
        match left.checked_sub(group.bins()) {
            None => return Some((group, left)),
            Some(rest) => left = rest,
        }
    }
    None
}

/// Why bins are unreachable, by their numbers among all bins; legal stimulus can hit the others.
pub fn unreachable<B: Block>(parameters: &Parameters) -> BTreeMap<usize, String> {
    unreachable_of(B::Golden::RULES, B::Golden::unreachable, B::Coverage::GROUPS, parameters)
}

fn unreachable_of(
    rules: &[Rule],
    of_rule: fn(usize, &Parameters) -> Option<String>,
    groups: &'static [Covergroup],
    parameters: &Parameters,
) -> BTreeMap<usize, String> {
    let reason = |bin: usize| match bin.checked_sub(rules.len()) {
        None => of_rule(bin, parameters),
        Some(bin) => {
            let (group, bin) = group_of(groups, bin)?;
            group.unreachable(bin, parameters).map(str::to_owned)
        }
    };
    let bins = 0..rules.len() + group_bins(groups);
    bins.filter_map(|bin| Some((bin, reason(bin)?))).collect()
}

/// For each bin of a block with these parameters up to the last unreachable one, whether it is
/// unreachable.
type UnreachableBins = (TypeId, Parameters, Vec<bool>);

thread_local! {
    /// Cache of the unreachable bins by block and parameters, because every case uses them.
    static UNREACHABLE: RefCell<Vec<UnreachableBins>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn first_unreachable<B: Block>(hits: &Hits, parameters: &Parameters) -> Option<usize> {
    first_hit(hits, TypeId::of::<B>(), parameters, unreachable::<B>)
}

fn first_hit(
    hits: &Hits,
    block: TypeId,
    parameters: &Parameters,
    unreachable: fn(&Parameters) -> BTreeMap<usize, String>,
) -> Option<usize> {
    UNREACHABLE.with_borrow_mut(|all| {
        let known = all.iter().position(|(of, with, _)| *of == block && with == parameters);
        let known = known.unwrap_or_else(|| {
            let mut bins = Vec::new();
            for bin in unreachable(parameters).into_keys() {
                bins.resize(bin, false);
                bins.push(true);
            }
            all.push((block, *parameters, bins));
            all.len() - 1
        });
        let bins = &all[known].2;
        let mut hit = hits.hit_bins().map(|(bin, _)| bin);
        hit.find(|bin| bins.get(*bin).is_some_and(|is_unreachable| *is_unreachable))
    })
}

/// The name of a bin, as in `modify: RTS, SQD, done`.
pub fn bin_name<B: Block>(bin: usize) -> String {
    let counted = counted_outputs(B::Outputs::PORTS, B::TRANSACTION_OUTPUTS);
    name_of(bin, B::Golden::RULES, B::Coverage::GROUPS, counted)
}

fn name_of(
    bin: usize,
    rules: &[Rule],
    groups: &'static [Covergroup],
    counted: impl Iterator<Item = &'static Port>,
) -> String {
    if let Some(rule) = rules.get(bin) {
        return format!("{RULES}: {}", rule.name);
    }
    let Some((group, bin)) = group_of(groups, bin - rules.len()) else {
        let bits = counted
            .flat_map(|port| (0..port.width).map(|bit| bit_name(port.name, port.width, bit)));
        let mut bits = bits.skip(bin - rules.len() - group_bins(groups));
        return match bits.next() {
            Some(bit) => format!("{COMPARED}: {bit}"),
            None => format!("{COMPARED_TRANSACTIONS}: all"),
        };
    };
    let values = group.axes.iter().zip(group.values(bin));
    let names: Vec<&str> = values.map(|(axis, at)| axis.values[at].name).collect();
    format!("{}: {}", group.full_name(), names.join(", "))
}

/// Rules that a [`Tally`] counts.
const TALLY: usize = u64::BITS as usize;

/// Counters and sampler of one case. `C` is the block's coverage, or `()` to count rules only.
pub(super) struct CoverageSampler<B: Block, C> {
    sampler: C,
    /// Hits by bin. Hits of rules that are not added yet are in `rules`.
    hits: Vec<u64>,
    /// The first 64 rules, and the others.
    rules: [Tally; 2],
    open: OpenCounts,
    block: PhantomData<fn() -> B>,
}

thread_local! {
    /// The counters of the last case of this thread, all 0: in a short case, clearing thousands of
    /// them anew would take longer than all that it counts.
    static COUNTERS: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

impl<B: Block, C: Coverage<B>> CoverageSampler<B, C> {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let mut hits = COUNTERS.take();
        hits.resize(bins_with::<B, C>(), 0);
        Self {
            sampler: C::new(parameters),
            hits,
            rules: [const { Tally::new() }; 2],
            open: OpenCounts::new::<B>(),
            block: PhantomData,
        }
    }

    /// Takes the rising edge of the golden model and samples it.
    #[inline]
    pub(super) fn clock(
        &mut self,
        golden: &mut B::Golden,
        inputs: &B::Inputs,
        decided: &CycleOf<B>,
        samples: bool,
    ) -> RuleSet {
        if samples {
            self.sampler.before(golden, inputs, decided);
        }
        golden.clock(inputs, decided)
    }

    #[inline]
    pub(super) fn count(&mut self, edge: &Edge<'_, B>, samples: bool) {
        let ([first, others], rules) = (&mut self.rules, edge.rules.bits());
        first.count(rules as u64, &mut self.hits);
        if const { B::Golden::RULES.len() > TALLY } {
            others.count((rules >> TALLY) as u64, &mut self.hits[TALLY..]);
        }
        if samples {
            let groups = &mut self.hits[B::Golden::RULES.len()..];
            self.sampler.after(edge, &mut Bins { groups });
        }
    }

    /// Counts a comparison that skips the bits in `open`.
    #[inline]
    pub(super) fn compare(&mut self, open: &B::Outputs) {
        if B::Golden::HAS_DONT_CARES {
            self.open.count(open);
        }
    }

    pub(super) fn into_hits(mut self) -> Hits {
        let [first, others] = &mut self.rules;
        first.finish(&mut self.hits);
        if const { B::Golden::RULES.len() > TALLY } {
            others.finish(&mut self.hits[TALLY..]);
        }
        let counted = counted_outputs(B::Outputs::PORTS, B::TRANSACTION_OUTPUTS);
        let mut hits = Hits::drain_counts(&mut self.hits);
        COUNTERS.set(self.hits);
        self.open.compared(counted).into_iter().for_each(|count| hits.push(count));
        hits
    }
}
