//! Reads of a memory in one cycle: at equal addresses they return equal data.

use super::gates::{Gates, Operands};
use super::{Aig, FALSE, Interface, Literal, TRUE, in_order, split};
use crate::OF;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An unclocked read port of a memory that is cut out.
#[derive(Debug, Default)]
struct ReadPort {
    /// The inputs with its data, by bit.
    data: BTreeMap<u32, u32>,
    address: BTreeMap<u32, Literal>,
}

/// 1 if the addresses are equal. The shorter one begins with zeros.
fn equal(gates: &mut Gates, [left, right]: [&ReadPort; 2]) -> Literal {
    let bits: BTreeSet<u32> =
        [left, right].iter().flat_map(|port| port.address.keys()).copied().collect();
    let mut equal = TRUE;
    for bit in bits {
        let [left, right] =
            [left, right].map(|port| port.address.get(&bit).copied().unwrap_or(FALSE));
        let same = gates.choose(left, right, right ^ 1);
        equal = gates.and(equal, same);
    }
    equal
}

impl Aig {
    /// The graph in which the read ports of a memory return equal data at equal addresses, within
    /// a cycle. Clocked ports, and memories that are not [followed](crate::OF), return
    /// anything, as before.
    #[must_use]
    pub fn with_equal_reads(self, interface: &Interface<'_>) -> Self {
        let mut gates = Gates::above(self.highest());
        // What the graph sees of an input, and what the input is now.
        let mut seen: BTreeMap<u32, Literal> = BTreeMap::new();
        let mut free: HashMap<u32, u32> = HashMap::new();
        for ports in self.read_ports(interface).values() {
            for (place, port) in ports.iter().enumerate() {
                for before in &ports[..place] {
                    let equal = equal(&mut gates, [port, before]);
                    for (bit, node) in &port.data {
                        let Some(other) = before.data.get(bit) else { continue };
                        let input = *free.entry(*node).or_insert_with(|| gates.node());
                        let own = seen.get(node).copied().unwrap_or(input * 2);
                        seen.insert(*node, gates.choose(equal, other * 2, own));
                    }
                }
            }
        }
        let mut ands = self.ands.clone();
        ands.extend(gates.all);
        ands.extend(seen.into_iter().map(|(node, literal)| (node, [literal, TRUE])));
        // Where a port depends on its own data by the structure alone, the graph stays as it is.
        let Some(ands) = in_order(&ands) else { return self };
        let mut inputs = self.inputs;
        for (node, _) in &mut inputs {
            *node = free.get(node).copied().unwrap_or(*node);
        }
        Self { inputs, ands, ..self }
    }

    /// The read ports of each memory with several. The address of a port does not depend on the
    /// data of a later one in the same cycle.
    fn read_ports(&self, interface: &Interface<'_>) -> BTreeMap<String, Vec<ReadPort>> {
        let memory_of = |port: &str| port.split_once(OF).map(|(_, memory)| memory.to_owned());
        let mut all: BTreeMap<String, BTreeMap<String, ReadPort>> = BTreeMap::new();
        for (node, name) in &self.inputs {
            let (port, bit) = split(name);
            let Some(port) = port.strip_prefix(interface.read) else { continue };
            let Some(memory) = memory_of(port) else { continue };
            all.entry(memory)
                .or_default()
                .entry(port.to_owned())
                .or_default()
                .data
                .insert(bit, *node);
        }
        for (literal, name) in &self.outputs {
            let (port, bit) = split(name);
            let Some(port) = port.strip_prefix(interface.read_at[0]) else { continue };
            let known = memory_of(port).and_then(|memory| all.get_mut(&memory)?.get_mut(port));
            if let Some(known) = known {
                known.address.insert(bit, *literal);
            }
        }
        all.retain(|_, ports| ports.len() > 1);
        // A port's address, by each node of its data.
        let mut addresses: HashMap<u32, Vec<Literal>> = HashMap::new();
        for port in all.values().flat_map(BTreeMap::values) {
            let address: Vec<Literal> = port.address.values().copied().collect();
            addresses.extend(port.data.values().map(|node| (*node, address.clone())));
        }
        // With the address of each port whose data an address depends on, it depends on more than
        // that port.
        let operands = Operands::from_aig(self);
        let depth = |port: &ReadPort| {
            let address = port.address.values().copied();
            let cone =
                operands.cone(address, |node| addresses.get(&node).into_iter().flatten().copied());
            cone.iter().filter(|node| addresses.contains_key(node)).count()
        };
        let sorted = |ports: BTreeMap<String, ReadPort>| {
            let mut ports: Vec<ReadPort> = ports.into_values().collect();
            ports.sort_by_cached_key(&depth);
            ports
        };
        all.into_iter().map(|(memory, ports)| (memory, sorted(ports))).collect()
    }
}
