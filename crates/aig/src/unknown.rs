//! X-freedom: whether unknown values reach an output.

use super::candidates::Candidate;
use super::gates::Operands;
use super::miter::Miter;
use super::{Aig, EquivalenceQuery, FALSE, Interface, Literal, split};
use std::collections::{HashMap, HashSet};

/// Outputs that must be free of unknown values, and what is unknown.
#[derive(Debug)]
pub struct Unknowns<'a> {
    /// Each output, with the output that must be 1 for it to count.
    pub outputs: Vec<Governed>,
    /// Payload inputs with their valids: a payload is unknown while its valid is 0.
    pub payload: &'a [[&'static str; 2]],
}

/// An output, with the output that must be 1 for it to count.
pub type Governed = (&'static str, Option<&'static str>);

/// What memories return to two copies.
#[derive(Debug, Clone, Copy)]
pub enum UnknownWords<'a> {
    /// Each copy gets any data in every read.
    All,
    /// One word of each memory, at an arbitrary address, is unknown until it is written. The other
    /// words are equal: the answer also says whether the copies can write those differently.
    One,
    /// As [`UnknownWords::One`]; also no register that reset makes known may differ, and no
    /// candidate may be wrong. The query is small. It fails where a register may hold an unknown
    /// word, so that an answer other than no says nothing.
    Alone(&'a [Candidate]),
}

/// What counts as a difference of two copies.
pub(super) struct Difference<'a> {
    pub(super) outputs: &'a [Governed],
    /// Pairs that must not differ either.
    pub(super) pairs: &'a [[Literal; 2]],
    /// Prefix of the outputs after which nothing counts any more.
    pub(super) illegal: Option<&'a str>,
    /// Candidates about the one word that is unknown.
    pub(super) candidates: Option<&'a [Candidate]>,
}

impl Aig {
    /// Asks whether one of the outputs can differ between two copies of the RTL with equal inputs,
    /// from the cycle after the reset cycle on. Of each copy's own are the values of registers
    /// before the reset cycle, free signals, idle payload, also in the reset cycle, and what
    /// memories return. With `illegal`, only while
    /// no output whose name begins with it was 1 so far.
    ///
    /// One address is enough: values that differ at several are reached from equal ones by steps
    /// that change one, and one of these steps changes the output. `None` if one word is to be
    /// unknown and no memory can be followed.
    pub fn unknown(
        &self,
        interface: &Interface<'_>,
        unknowns: &Unknowns<'_>,
        words: UnknownWords<'_>,
        illegal: Option<&str>,
    ) -> Option<EquivalenceQuery> {
        let (candidates, is_alone) = match words {
            UnknownWords::All => (None, false),
            UnknownWords::One => (Some(&[][..]), false),
            UnknownWords::Alone(candidates) => (Some(candidates), true),
        };
        let is_followed = |(_, name): &(u32, String)| {
            name.starts_with(interface.read) && split(name).0.contains(crate::OF)
        };
        if candidates.is_some() && !self.inputs.iter().any(is_followed) {
            return None;
        }
        let nodes: HashMap<(&str, u32), u32> =
            self.inputs.iter().map(|(node, name)| (split(name), *node)).collect();
        let bits = unknowns.payload.iter().flat_map(|[payload, valid]| {
            let valid = nodes.get(&(*valid, 0)).copied();
            let bits = nodes.iter().filter(move |((port, _), _)| port == payload);
            bits.filter_map(move |(_, node)| Some([*node, valid?]))
        });
        let mut payload: Vec<[u32; 2]> = bits.collect();
        payload.sort_unstable();
        let mut shared = self.known_after_reset(interface, &payload);
        loop {
            let mut miter = Miter::copies(self, interface, &shared, &payload);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() || is_alone {
                let matters = self.behind(interface, unknowns);
                let matters = |(index, pair)| matters.contains(&index).then_some(pair);
                let pairs: Vec<_> = differing.into_iter().filter_map(matters).collect();
                let outputs = &unknowns.outputs[..];
                let difference = Difference { outputs, pairs: &pairs, illegal, candidates };
                return Some(match miter.differs_at(self, interface, difference) {
                    FALSE => EquivalenceQuery::Same,
                    differs => miter.file(differs),
                });
            }
            for index in differing.keys() {
                shared.remove(index);
            }
        }
    }

    /// The registers on which the outputs depend. Those of the monitor alone, which may hold
    /// payload without its valid, are none of them.
    fn behind(&self, interface: &Interface<'_>, unknowns: &Unknowns<'_>) -> HashSet<usize> {
        let [place, when] = interface.read_at;
        let memory = interface.write.into_iter().chain([place, when]);
        let memory: Vec<&str> = memory.collect();
        let outputs = unknowns
            .outputs
            .iter()
            .flat_map(|(output, governor)| std::iter::once(*output).chain(*governor));
        let outputs: HashSet<&str> = outputs.collect();
        let is_requested = |(_, name): &&(Literal, String)| {
            let port = split(name).0;
            outputs.contains(port) || memory.iter().any(|prefix| port.starts_with(prefix))
        };
        let places = self.latches.iter().enumerate().map(|(place, latch)| (latch.node, place));
        let places: HashMap<u32, usize> = places.collect();
        let next = |node: u32| places.get(&node).map(|place| self.latches[*place].next);
        let requested = self.outputs.iter().filter(is_requested).map(|(literal, _)| *literal);
        let cone = Operands::from_aig(self).cone(requested, next);
        cone.iter().filter_map(|node| places.get(node).copied()).collect()
    }
}
