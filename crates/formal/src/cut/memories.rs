//! The memories that are cut out, for a simulation of the network with their contents.

use super::{Kind as _, rank};
use cosim_aig::CutMemory;
use cosim_rtl::rtlil::{self, Cell, Memory};
use std::collections::BTreeMap;

/// Collects the memories of a netlist while its cells are cut out.
pub(super) struct CutMemories {
    all: BTreeMap<String, CutMemory>,
    /// The write ports of each memory, with their ranks.
    writes: BTreeMap<String, Vec<(u64, String)>>,
    /// The initial contents of each memory, with their ranks: the first word, and digits.
    initial: BTreeMap<String, Vec<(u64, i64, Vec<char>)>>,
}

impl CutMemories {
    pub(super) fn from_netlist(netlist: &str) -> Self {
        let empty = |Memory { name, width, size, offset }: Memory<'_>| {
            let memory = CutMemory {
                width: width as usize,
                size,
                offset,
                initial: BTreeMap::new(),
                reads: Vec::new(),
                writes: Vec::new(),
            };
            (name.to_owned(), memory)
        };
        let all = rtlil::memories(netlist).map(empty).collect();
        Self { all, writes: BTreeMap::new(), initial: BTreeMap::new() }
    }

    /// Adds a port, or initial contents.
    pub(super) fn add(&mut self, cell: &Cell<'_>, stem: &str) {
        let Some(name) = cell.memory() else { return };
        if cell.kind.starts_with("$memrd") {
            if let Some(memory) = self.all.get_mut(&name).filter(|_| !cell.waits()) {
                memory.reads.push(stem.to_owned());
            }
        } else if cell.kind.starts_with("$memwr") {
            self.writes.entry(name).or_default().push((rank(cell), stem.to_owned()));
        } else if cell.kind.starts_with("$meminit") {
            let signed = |digits: Vec<char>| {
                let bits = digits.iter().rev().map(|digit| i64::from(*digit == '1'));
                bits.fold(0, |value, bit| value << 1 | bit)
            };
            let digits = |port| cell.port(port).and_then(rtlil::digits);
            if let (Some(address), Some(data)) = (digits("\\ADDR"), digits("\\DATA")) {
                let initial = (rank(cell), signed(address), data);
                self.initial.entry(name).or_default().push(initial);
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<CutMemory> {
        for (name, memory) in &mut self.all {
            let mut writes = self.writes.remove(name).unwrap_or_default();
            writes.sort();
            memory.writes = writes.into_iter().map(|(_, stem)| stem).collect();
            let mut initial = self.initial.remove(name).unwrap_or_default();
            initial.sort();
            for (_, first, data) in initial {
                for (word, digits) in (first..).zip(data.chunks(memory.width.max(1))) {
                    let bits = digits.iter().map(|digit| match digit {
                        '0' => Some(false),
                        '1' => Some(true),
                        _ => None,
                    });
                    if let Ok(word) = u64::try_from(word - memory.offset) {
                        memory.initial.insert(word, bits.collect());
                    }
                }
            }
        }
        self.all.into_values().collect()
    }
}
