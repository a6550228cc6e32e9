//! Compares a graph with what Verilator's model of the RTL did on the same pins.
//!
//! The graph is the one that engines get: Yosys may read the RTL differently, and a pass that makes
//! the graph may be wrong. Registers and memory words without an initial value are unknown, and an
//! output counts where it is known. The model began with random values there.

mod contents;

use super::simulation::{Known, settle, value_of};
use super::{Aig, Interface, Literal, split};
use crate::CutMemory;
use contents::Contents;
use cosim_block::agreement::RecordedInputs;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use verilated::Port;

/// Cases that are simulated at once: the bits of a word.
const LANES: usize = 64;

#[derive(Debug, Clone, Copy)]
pub struct Pins<'a> {
    pub inputs: &'a [Port],
    pub outputs: &'a [Port],
    /// The sizes of the structs of the inputs and of the outputs, in bytes.
    pub sizes: [usize; 2],
}

/// A bit of an output that the graph and Verilator's model have differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    pub case: String,
    /// The cycle, counted from 0.
    pub cycle: usize,
    pub output: String,
    pub bit: u32,
    pub in_graph: bool,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, cycle, output, bit, in_graph } = self;
        let [graph, model] = [*in_graph, !in_graph].map(u8::from);
        write!(
            f,
            "Yosys reads this RTL differently: {output}[{bit}] is {graph} in its netlist and {model} in \
             Verilator's model, at cycle {cycle} of {case}"
        )
    }
}

/// A read port of a memory that is cut out.
struct ReadPort {
    memory: usize,
    address: Vec<Literal>,
    /// Node and bit of its data.
    data: Vec<(usize, usize)>,
}

/// A write port of a memory that is cut out.
struct WritePort {
    memory: usize,
    address: Vec<Literal>,
    /// Enable, bit and data.
    bits: Vec<(Literal, usize, Literal)>,
}

/// Reads, and the gates that depend on them and on earlier stages alone.
#[derive(Default)]
struct Stage {
    reads: Vec<ReadPort>,
    ands: Vec<(u32, [Literal; 2])>,
}

/// A bit of a port: its literal in the graph, the port, the bit, and the byte of the struct.
struct Pin<'a> {
    literal: Literal,
    port: &'a Port,
    bit: u32,
}

impl Pin<'_> {
    fn value(&self, cycle: &[Option<&[u8]>]) -> Known {
        let (byte, bit) = (self.port.offset + self.bit as usize / 8, self.bit % 8);
        let mut value = Known::default();
        for (lane, bytes) in cycle.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            match bytes[byte] >> bit & 1 {
                1 => value.is_one |= 1 << lane,
                _ => value.is_zero |= 1 << lane,
            }
        }
        value
    }
}

/// The bits of ports that the graph has.
fn pins_of<'a>(ports: &'a [Port], named: impl Iterator<Item = (Literal, &'a str)>) -> Vec<Pin<'a>> {
    let ports: HashMap<&str, &Port> = ports.iter().map(|port| (port.name, port)).collect();
    let pin = |(literal, name)| {
        let (name, bit) = split(name);
        let port = ports.get(name).filter(|port| bit < port.width)?;
        Some(Pin { literal, port, bit })
    };
    named.filter_map(pin).collect()
}

impl Aig {
    /// Compares the outputs of the graph with recorded ones. Returns how many bits were known and
    /// equal, by output.
    ///
    /// # Errors
    /// The first [`Contradiction`].
    pub fn judge(
        &self,
        memories: &[CutMemory],
        pins: Pins<'_>,
        cases: &[RecordedInputs],
    ) -> Result<BTreeMap<&'static str, u64>, Box<Contradiction>> {
        let mut compared = BTreeMap::new();
        for chunk in cases.chunks(LANES) {
            self.judge_some(memories, pins, chunk, &mut compared)?;
        }
        Ok(compared)
    }

    fn judge_some(
        &self,
        memories: &[CutMemory],
        pins: Pins<'_>,
        cases: &[RecordedInputs],
        compared: &mut BTreeMap<&'static str, u64>,
    ) -> Result<(), Box<Contradiction>> {
        let mut contents: Vec<Contents<'_>> = memories.iter().map(Contents::new).collect();
        let (reads, writes) = self.memory_ports(memories);
        let stages = self.stages(reads);
        let mut values = self.at_power_on();
        let inputs = self.inputs.iter().map(|(node, name)| (*node * 2, name.as_str()));
        let outputs = self.outputs.iter().map(|(literal, name)| (*literal, name.as_str()));
        let (inputs, outputs) = (pins_of(pins.inputs, inputs), pins_of(pins.outputs, outputs));
        let sizes = pins.sizes.map(|size| size.max(1));
        let longest = cases.iter().map(|case| case.outputs.len() / sizes[1]).max().unwrap_or(0);
        for cycle in 0..longest {
            let slices =
                |bytes_of: fn(&RecordedInputs) -> &[u8], size: usize| -> Vec<Option<&[u8]>> {
                    let range = cycle * size..(cycle + 1) * size;
                    cases.iter().map(|case| bytes_of(case).get(range.clone())).collect()
                };
            let driven = slices(|case| &case.cycles, sizes[0]);
            let shown = slices(|case| &case.outputs, sizes[1]);
            for pin in &inputs {
                values[pin.literal as usize / 2] = pin.value(&driven);
            }
            for Stage { reads, ands } in &stages {
                for ReadPort { memory, address, data } in reads {
                    let address: Vec<Known> =
                        address.iter().map(|bit| value_of(&values, *bit)).collect();
                    let read = contents[*memory].read(&address);
                    for (node, bit) in data {
                        values[*node] = read.get(*bit).copied().unwrap_or_default();
                    }
                }
                settle(ands, &mut values);
            }
            for pin in &outputs {
                let (graph, model) = (value_of(&values, pin.literal), pin.value(&shown));
                let wrong = graph.is_one & model.is_zero | graph.is_zero & model.is_one;
                if wrong != 0 {
                    let lane = wrong.trailing_zeros() as usize;
                    return Err(Box::new(Contradiction {
                        case: cases[lane].case.clone(),
                        cycle,
                        output: pin.port.name.to_owned(),
                        bit: pin.bit,
                        in_graph: graph.is_one >> lane & 1 == 1,
                    }));
                }
                let equal = graph.is_one & model.is_one | graph.is_zero & model.is_zero;
                *compared.entry(pin.port.name).or_default() += u64::from(equal.count_ones());
            }
            for WritePort { memory, address, bits } in &writes {
                let value = |literal: &Literal| value_of(&values, *literal);
                let address: Vec<Known> = address.iter().map(value).collect();
                let bits: Vec<(Known, usize, Known)> = bits
                    .iter()
                    .map(|(enable, bit, data)| (value(enable), *bit, value(data)))
                    .collect();
                contents[*memory].write(&address, &bits);
            }
            let next: Vec<Known> =
                self.latches.iter().map(|latch| value_of(&values, latch.next)).collect();
            for (latch, next) in self.latches.iter().zip(next) {
                values[latch.node as usize] = next;
            }
        }
        Ok(())
    }

    fn memory_ports(&self, memories: &[CutMemory]) -> (Vec<ReadPort>, Vec<WritePort>) {
        let Interface { read, read_at: [place, _], write: [enable, data, address], .. } =
            Interface::OURS;
        let mut literals: HashMap<(&str, usize), Literal> = HashMap::new();
        let mut widths: HashMap<&str, usize> = HashMap::new();
        let inputs = self.inputs.iter().map(|(node, name)| (*node * 2, name));
        let outputs = self.outputs.iter().map(|(literal, name)| (*literal, name));
        for (literal, name) in inputs.chain(outputs) {
            let (port, bit) = split(name);
            literals.insert((port, bit as usize), literal);
            let width = widths.entry(port).or_default();
            *width = (*width).max(bit as usize + 1);
        }
        // The bits of a port, lowest first.
        let bits = |prefix: &str, stem: &str| -> Vec<Literal> {
            let name = format!("{prefix}{stem}");
            let width = widths.get(name.as_str()).copied().unwrap_or(0);
            (0..width).filter_map(|bit| literals.get(&(name.as_str(), bit)).copied()).collect()
        };
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (memory, CutMemory { reads: read_ports, writes: write_ports, .. }) in
            memories.iter().enumerate()
        {
            for stem in read_ports {
                let node = |(bit, literal): (usize, Literal)| (literal as usize / 2, bit);
                let data = bits(read, stem).into_iter().enumerate().map(node).collect();
                reads.push(ReadPort { memory, address: bits(place, stem), data });
            }
            for stem in write_ports {
                let bits_of = bits(enable, stem).into_iter().zip(bits(data, stem)).enumerate();
                let bits_of = bits_of.map(|(bit, (enable, data))| (enable, bit, data)).collect();
                writes.push(WritePort { memory, address: bits(address, stem), bits: bits_of });
            }
        }
        (reads, writes)
    }

    /// The order in which reads and gates are evaluated. A read that depends on its own data is
    /// left out, so that it is unknown.
    fn stages(&self, reads: Vec<ReadPort>) -> Vec<Stage> {
        // The level of a read in a loop grows up to this one.
        let endless = reads.len() + 1;
        let mut levels = vec![0_usize; self.highest() as usize + 1];
        let mut of_reads = vec![1_usize; reads.len()];
        loop {
            for (read, level) in reads.iter().zip(&of_reads) {
                read.data.iter().for_each(|(node, _)| levels[*node] = *level);
            }
            for (node, operands) in &self.ands {
                let [left, right] = operands.map(|operand| levels[operand as usize / 2]);
                levels[*node as usize] = left.max(right);
            }
            let level = |read: &ReadPort| {
                let before = read.address.iter().map(|bit| levels[*bit as usize / 2]).max();
                endless.min(before.unwrap_or(0) + 1)
            };
            let now: Vec<usize> = reads.iter().map(level).collect();
            if now == of_reads {
                break;
            }
            of_reads = now;
        }
        let mut stages: Vec<Stage> = Vec::new();
        stages.resize_with(endless + 1, Stage::default);
        for (node, operands) in &self.ands {
            stages[levels[*node as usize]].ands.push((*node, *operands));
        }
        for (read, level) in reads.into_iter().zip(of_reads).filter(|(_, level)| *level < endless) {
            stages[level].reads.push(read);
        }
        stages.retain(|stage| !stage.reads.is_empty() || !stage.ands.is_empty());
        stages
    }
}
