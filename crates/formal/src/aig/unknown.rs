//! X-freedom: whether unknown values reach an output.

use super::miter::Miter;
use super::{Aig, EquivalenceQuery, FALSE, Interface, Reads, split};
use std::collections::HashMap;

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

impl Aig {
    /// Asks whether one of the outputs can differ between two copies of the RTL with equal inputs,
    /// from the cycle after the reset cycle on. Of each copy's own are the values of registers
    /// before the reset cycle, idle payload, and what memories return: with [`Reads::Anything`] in
    /// every read, with [`Reads::Word`] at one arbitrary address until it is written. With
    /// `illegal`, only while no output whose name begins with it was 1 so far.
    ///
    /// One address is enough: values that differ at several are reached from equal ones by steps
    /// that change one, and one of these steps changes the output. `None` if `reads` is
    /// [`Reads::Word`] and no memory can be followed.
    pub fn unknown(
        &self,
        interface: &Interface<'_>,
        unknowns: &Unknowns<'_>,
        reads: Reads,
        illegal: Option<&str>,
    ) -> Option<EquivalenceQuery> {
        let is_word = reads == Reads::Word;
        let is_followed = |(_, name): &(u32, String)| {
            name.starts_with(interface.read) && split(name).0.contains(crate::cut::OF)
        };
        if is_word && !self.inputs.iter().any(is_followed) {
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
        let mut shared = self.known_after_reset(interface);
        loop {
            let mut miter = Miter::copies(self, interface, &shared, &payload);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() {
                let ports = (&unknowns.outputs[..], illegal);
                let differs = miter.differs_at(self, interface, ports, is_word);
                return Some(match differs {
                    FALSE => EquivalenceQuery::Same,
                    _ => miter.file(differs),
                });
            }
            for index in differing.keys() {
                shared.remove(index);
            }
        }
    }
}
