//! Functional coverage: the declarations of a block, and the counters of a case.
//!
//! A [`Covergroup`] has axes, an axis has values, and each combination of values is a bin. The
//! bins are numbered: first the golden model's rules, then the groups in the order of
//! [`Coverage::GROUPS`]. A hit is therefore one write.

use super::block::{Block, CycleOf, Document};
use super::parameters::Parameters;
use super::rule_set::RuleSet;
use super::same::is_same;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// The largest number of axes of a group.
pub const MOST_AXES: usize = 6;

/// The name of the group that every block has: the rules of its golden model.
pub const RULES: &str = "rules";

/// One value of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// A short name, as in `RTS`.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// Values that exclude each other.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity that the values classify.
    pub name: &'static str,
    /// The values.
    #[serde(deserialize_with = "super::leaked::list")]
    pub values: &'static [Value],
}

impl Axis {
    /// An axis.
    pub const fn new(name: &'static str, values: &'static [Value]) -> Self {
        Self { name, values }
    }
}

/// Declares axes and covergroups: a constant for each axis, a constant with all groups, and a
/// constant [`Place`] for each group.
///
/// An axis has a name, and values with their meanings. A group has a name, a description, axes and,
/// after `unless`, the reason for each unreachable bin.
///
/// ```
/// # use cosim_harness::harness::Covergroup;
/// cosim_harness::coverage! {
///     axis STATE = "state" { "idle": "no packet is locked", "locked": "a packet has the output" }
///     axis END = "end" { "last": "its last beat", "cut": "it is cut" }
///
///     groups GROUPS;
///     RESETS = "resets": "resets, by the state they find" [STATE];
///     ENDS = "ends": "packets: where they begin, how they end" [STATE, END]
///         unless |at, _| (at == [0, 1]).then_some("what begins alone is not cut");
/// }
/// assert_eq!(STATE.values[1].name, "locked");
/// assert_eq!(GROUPS.iter().map(Covergroup::bins).collect::<Vec<_>>(), [2, 4]);
/// let bin = ENDS.bin([1, 0]);
/// # let _ = (bin, RESETS);
/// ```
#[macro_export]
macro_rules! coverage {
    (
        $( $(#[$attribute:meta])* axis $seen:vis $axis:ident = $axis_name:literal {
            $( $value:literal: $meaning:literal ),* $(,)?
        } )*
        $( groups $visible:vis $groups:ident; $(
            $place:ident = $name:literal: $about:literal [$( $of:expr ),+]
                $( unless $unreachable:expr )?;
        )+ )?
    ) => {
        $(
            $(#[$attribute])*
            $seen const $axis: $crate::harness::Axis = $crate::harness::Axis::new(
                $axis_name,
                &[$( $crate::harness::Value { name: $value, meaning: $meaning } ),*],
            );
        )*
        $(
            /// Every group.
            $visible const $groups: &[$crate::harness::Covergroup] = &[$(
                $crate::harness::Covergroup::new($name, $about, &[$( $of ),+])
                    $( .unless($unreachable) )?
            ),+];
            $(
                $visible const $place: $crate::harness::Place<
                    { [$( stringify!($of) ),+].len() },
                > = $crate::harness::Place::find_group($groups, $name);
            )+
        )?
    };
}

/// Returns why a bin is unreachable, from the values of its axes.
pub type Unreachable = fn(&[usize], &Parameters) -> Option<&'static str>;

/// Bins that belong together: one for each value of an axis, or for each combination of several.
#[derive(Debug, Clone, Copy)]
pub struct Covergroup {
    /// The name of the interface that it belongs to; empty if it is the block's own.
    owner: &'static str,
    /// The name in reports, behind that of its interface.
    pub name: &'static str,
    /// What it counts, and when.
    pub about: &'static str,
    /// The axes; a cross has several.
    pub axes: &'static [Axis],
    unreachable: Unreachable,
}

impl Covergroup {
    /// A group without unreachable bins.
    pub const fn new(name: &'static str, about: &'static str, axes: &'static [Axis]) -> Self {
        Self { owner: "", name, about, axes, unreachable: |_, _| None }
    }

    /// The same group of an interface.
    pub(crate) const fn owned_by(self, owner: &'static str) -> Self {
        Self { owner, ..self }
    }

    /// The name in reports, as in `axi writes`.
    pub fn full_name(&self) -> String {
        [self.owner, self.name]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The same group with a reason for each unreachable bin: a row of the specification, or an
    /// argument. A case that hits such a bin fails.
    #[must_use]
    pub const fn unless(self, unreachable: Unreachable) -> Self {
        Self { unreachable, ..self }
    }

    /// The number of its bins.
    pub const fn bins(&self) -> usize {
        let (mut bins, mut axis) = (1, 0);
        while axis < self.axes.len() {
            bins *= self.axes[axis].values.len();
            axis += 1;
        }
        bins
    }

    /// The bin of a combination of values, if the groups before have `first` bins.
    #[inline]
    pub fn bin(&self, first: usize, at: &[usize]) -> Bin {
        debug_assert!(at.len() == self.axes.len(), "the group has another number of axes");
        let bin = self.axes.iter().zip(at).fold(0, |bin, (axis, at)| {
            debug_assert!(*at < axis.values.len(), "the axis has no such value");
            bin * axis.values.len() + at
        });
        Bin(first + bin)
    }

    /// The values of a bin, by axis.
    pub(super) fn values(&self, bin: usize) -> [usize; MOST_AXES] {
        let mut at = [0; MOST_AXES];
        let mut left = bin;
        for (index, axis) in self.axes.iter().enumerate().rev() {
            at[index] = left % axis.values.len();
            left /= axis.values.len();
        }
        at
    }

    /// Why a bin of the group is unreachable; `None` if legal stimulus can hit it.
    pub fn unreachable(&self, bin: usize, parameters: &Parameters) -> Option<&'static str> {
        (self.unreachable)(&self.values(bin)[..self.axes.len()], parameters)
    }
}

/// The position of a number on an axis, given where its values begin; the first one begins at 0.
///
/// ```
/// use cosim_harness::harness::class;
///
/// assert_eq!([0, 1, 7, 8].map(|cycles| class(cycles, [1, 2, 8])), [0, 1, 2, 3]);
/// ```
#[inline]
pub fn class<const COUNT: usize>(number: u64, from: [u64; COUNT]) -> usize {
    from.iter().filter(|from| number >= **from).count()
}

/// The values of an axis of numbers, by their place in the range of their field:
/// [`corner_class`] gives the position. [`Draw::corner`](super::draw::Draw::corner) draws numbers
/// of all values but `other`.
///
/// ```
/// use cosim_harness::harness::{Axis, CORNERS, corner_class};
///
/// const BYTES: Axis = Axis::new("bytes", CORNERS);
/// let name = |number| BYTES.values[corner_class(number, u64::from(u16::MAX))].name;
/// assert_eq!([0, 1, 64, 63].map(name), ["0", "1", "2^k", "2^k - 1"]);
/// assert_eq!([5, 65534, 65535].map(name), ["other", "largest - 1", "largest"]);
/// ```
pub const CORNERS: &[Value] = &[
    Value { name: "0", meaning: "zero" },
    Value { name: "1", meaning: "one" },
    Value { name: "2^k", meaning: "a power of two above 1" },
    Value { name: "2^k - 1", meaning: "one less than a power of two, above 1" },
    Value { name: "other", meaning: "none of these" },
    Value { name: "largest - 1", meaning: "one less than the largest number of the field" },
    Value { name: "largest", meaning: "the largest number of the field" },
];

/// The position of a number on an axis of [`CORNERS`], if its field holds numbers up to `most`.
#[inline]
pub const fn corner_class(number: u64, most: u64) -> usize {
    match number {
        0 | 1 => number as usize,
        _ if number == most => 6,
        _ if number + 1 == most => 5,
        _ if number.is_power_of_two() => 2,
        _ if number & (number + 1) == 0 => 3,
        _ => 4,
    }
}

/// The first bin of a group. As a constant, it makes a hit an addition of a number that is known
/// at compile time.
#[derive(Debug, Clone, Copy)]
pub struct Place<const AXES: usize> {
    first: usize,
    sizes: [usize; AXES],
}

impl<const AXES: usize> Place<AXES> {
    /// The place of a group by its name.
    ///
    /// # Panics
    /// If there is no such group, or it has another number of axes; at compile time in a
    /// constant.
    pub const fn find_group(groups: &[Covergroup], name: &str) -> Self {
        let (mut first, mut index) = (0, 0);
        while index < groups.len() {
            let group = &groups[index];
            if is_same(group.name, name) {
                assert!(group.axes.len() == AXES, "the group has another number of axes");
                assert!(AXES <= MOST_AXES, "a group has at most six axes");
                let mut sizes = [0; AXES];
                let mut axis = 0;
                while axis < AXES {
                    sizes[axis] = group.axes[axis].values.len();
                    axis += 1;
                }
                return Self { first, sizes };
            }
            first += group.bins();
            index += 1;
        }
        panic!("no covergroup has this name")
    }

    /// The bin of a combination of values.
    #[inline]
    pub const fn bin(&self, at: [usize; AXES]) -> Bin {
        let (mut bin, mut axis) = (0, 0);
        while axis < AXES {
            debug_assert!(at[axis] < self.sizes[axis], "the axis has no such value");
            bin = bin * self.sizes[axis] + at[axis];
            axis += 1;
        }
        Bin(self.first + bin)
    }
}

/// A bin, by its number behind the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin(usize);

/// The counters of a case: first the rules, then the groups.
#[derive(Debug)]
pub struct Bins<'a> {
    pub(super) groups: &'a mut [u64],
}

impl Bins<'_> {
    /// Records that the case hits a bin. A bin counts cases, so a sampler may skip bins that it
    /// has hit before.
    #[inline]
    pub fn record(&mut self, bin: Bin) {
        // A number beyond the last bin is a bug of the block, which its own tests find.
        debug_assert!(bin.0 < self.groups.len(), "no such bin");
        if let Some(count) = self.groups.get_mut(bin.0) {
            *count = 1;
        }
    }

    /// The bins behind the first ones.
    #[inline]
    pub(crate) fn behind(&mut self, first: usize) -> Bins<'_> {
        Bins { groups: self.groups.get_mut(first..).unwrap_or_default() }
    }
}

/// A rising edge.
#[derive(Debug)]
pub struct Edge<'a, B: Block> {
    /// The golden model, with the registers after the edge.
    pub golden: &'a B::Golden,
    /// The inputs of the cycle that ends.
    pub inputs: &'a B::Inputs,
    /// Its outputs.
    pub outputs: &'a B::Outputs,
    /// The rules that applied.
    pub rules: RuleSet,
}

/// The functional coverage that a block declares in addition to its golden model's rules.
///
/// The harness samples it on the golden side in each cycle of a case of legal stimulus. It must
/// not allocate. `()` is the coverage of a block that declares none, and `(A, B)` is that of `A`
/// and `B` together.
pub trait Coverage<B: Block>: Sized {
    /// Every group.
    const GROUPS: &'static [Covergroup] = &[];

    /// The file of unreachable lines, branches and toggles of the RTL, each with its reason
    /// ([`document!`](crate::document)). `cosim run --coverage` uses it.
    const WAIVERS: Option<Document> = None;

    /// The file that declares the groups, `document!("coverage.rs")`. Reports link each bin to its
    /// declaration.
    const SOURCE: Option<Document> = None;

    /// The sampler at the beginning of a case.
    fn new(parameters: &Parameters) -> Self;

    /// Called before a rising edge, to store register values that the edge overwrites.
    #[inline]
    fn before(&mut self, _golden: &B::Golden, _inputs: &B::Inputs, _cycle: &CycleOf<B>) {}

    /// Called after the edge, to record hits. It is not called for the harness's cycle in reset.
    fn after(&mut self, edge: &Edge<'_, B>, bins: &mut Bins<'_>);
}

impl<B: Block> Coverage<B> for () {
    fn new(_: &Parameters) -> Self {}

    #[inline]
    fn after(&mut self, _: &Edge<'_, B>, _: &mut Bins<'_>) {}
}

/// The largest number of groups of two coverages together.
const MOST_GROUPS: usize = 64;

/// The groups of two coverages together.
struct Joined<B, L, R>(PhantomData<(B, L, R)>);

impl<B: Block, L: Coverage<B>, R: Coverage<B>> Joined<B, L, R> {
    const PADDED: [Covergroup; MOST_GROUPS] = {
        assert!(L::GROUPS.len() + R::GROUPS.len() <= MOST_GROUPS, "too many covergroups");
        let mut all = [Covergroup::new("", "", &[]); MOST_GROUPS];
        let mut index = 0;
        while index < L::GROUPS.len() + R::GROUPS.len() {
            let left = index < L::GROUPS.len();
            all[index] = if left { L::GROUPS[index] } else { R::GROUPS[index - L::GROUPS.len()] };
            index += 1;
        }
        all
    };
    const GROUPS: &'static [Covergroup] =
        Self::PADDED.split_at(L::GROUPS.len() + R::GROUPS.len()).0;
}

/// The coverage of the channels of a block, and its own.
impl<B: Block, L: Coverage<B>, R: Coverage<B>> Coverage<B> for (L, R) {
    const GROUPS: &'static [Covergroup] = Joined::<B, L, R>::GROUPS;
    const WAIVERS: Option<Document> = match L::WAIVERS {
        Some(file) => Some(file),
        None => R::WAIVERS,
    };
    const SOURCE: Option<Document> = match R::SOURCE {
        Some(file) => Some(file),
        None => L::SOURCE,
    };

    fn new(parameters: &Parameters) -> Self {
        (L::new(parameters), R::new(parameters))
    }

    #[inline]
    fn before(&mut self, golden: &B::Golden, inputs: &B::Inputs, cycle: &CycleOf<B>) {
        self.0.before(golden, inputs, cycle);
        self.1.before(golden, inputs, cycle);
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, B>, bins: &mut Bins<'_>) {
        self.0.after(edge, bins);
        self.1.after(edge, &mut bins.behind(const { group_bins(L::GROUPS) }));
    }
}

pub(crate) const fn group_bins(groups: &[Covergroup]) -> usize {
    let (mut bins, mut index) = (0, 0);
    while index < groups.len() {
        bins += groups[index].bins();
        index += 1;
    }
    bins
}

#[cfg(test)]
mod tests;
