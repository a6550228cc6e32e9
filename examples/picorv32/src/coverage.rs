//! The functional coverage: the instructions that the core retires.

use crate::formats::NO;
use crate::instructions::{Instruction, Kind, Op, decode};
use crate::rtl::{Inputs, Outputs};
use crate::{COMPRESSED_ISA, Picorv32};
use cosim_core::harness::{self, Axis, Bins, Covergroup, Edge, Parameters};

/// The instructions that do not trap.
const OP: Axis = Axis::new("operation", Op::VALUES.split_at(Op::Fence as usize + 1).0);
const BRANCH: Axis = {
    let from_beq = Op::VALUES.split_at(Op::Beq as usize).1;
    Axis::new("branch", from_beq.split_at(Op::Lb as usize - Op::Beq as usize).0)
};

cosim_core::coverage! {
    axis HAZARD = "hazard" {
        "none": "no source is written by the instruction before",
        "result": "a source is the result of the instruction before",
        "load": "a source is loaded by the instruction before",
    }
    axis STALL = "fetch stall" {
        "0": "the last fetch did not wait", "1": "it waited one cycle",
        "2+": "it waited two cycles or more",
    }
    axis TAKEN = "taken" { "taken": "it is taken", "not taken": "it is not taken" }
    axis WAY = "way" { "forward": "to a higher address", "backward": "to a lower address" }
    axis LENGTH = "length" { "32": "32 bits", "16": "16 bits" }
    axis CAUSE = "cause" {
        "illegal": "illegal instruction", "requested": "ecall or ebreak",
        "data": "misaligned load or store", "target": "misaligned target of a jump",
    }

    groups GROUPS;
    HAZARDS = "hazards": "instructions, by their dependence on the one before" [OP, HAZARD]
        unless |at, _| (at[1] > 0 && !has_source(Op::ALL[at[0]])).then_some("it has no source");
    STALLS = "stalls": "instructions, by the wait of the last fetch before" [OP, STALL];
    BRANCHES = "branches": "conditional branches" [BRANCH, TAKEN, WAY];
    LENGTHS = "lengths": "instructions, by their length" [OP, LENGTH] unless no_short_form;
    TRAPS = "traps": "traps, by cause and length of the instruction" [CAUSE, LENGTH] unless no_trap;
}

fn has_source(op: Op) -> bool {
    [op.format().rs1, op.format().rs2] != [NO; 2]
}

fn has_compressed(parameters: &Parameters) -> bool {
    parameters.get(COMPRESSED_ISA) == 1
}

fn no_short_form(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    match at[1] {
        0 => None,
        _ if !has_compressed(parameters) => Some("COMPRESSED_ISA is 0"),
        _ => (!Op::ALL[at[0]].is_abbreviated()).then_some("it has no compressed form"),
    }
}

fn no_trap(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    match (at[0], at[1], has_compressed(parameters)) {
        (_, 1, false) => Some("COMPRESSED_ISA is 0"),
        (3, _, true) => Some("with COMPRESSED_ISA every even target is aligned"),
        _ => None,
    }
}

/// The state of coverage collection.
#[derive(Debug, Clone)]
pub struct Coverage {
    has_compressed: bool,
    before: Option<Instruction>,
    /// Cycles that the present transfer and the last fetch waited.
    wait: usize,
    fetch_wait: usize,
}

impl Coverage {
    /// The bins of an instruction that the core retires.
    fn retire(&self, instruction: Option<Instruction>, outputs: &Outputs, bins: &mut Bins<'_>) {
        let is_short = usize::from(self.has_compressed && outputs.rvfi_insn.get() & 3 != 3);
        let kind = instruction.map(|instruction| instruction.op.kind());
        if outputs.rvfi_trap.is_high() {
            let cause = match kind {
                None => 0,
                Some(Kind::System) => 1,
                Some(Kind::Load(..) | Kind::Store(_)) => 2,
                Some(_) => 3,
            };
            bins.record(TRAPS.bin([cause, is_short]));
            return;
        }
        let Some(instruction) = instruction else { return };
        let op = instruction.op as usize;
        let hazard = match self.before {
            Some(before) if before.rd != 0 && instruction.reads(before.rd) => {
                1 + usize::from(matches!(before.op.kind(), Kind::Load(..)))
            }
            _ => 0,
        };
        bins.record(HAZARDS.bin([op, hazard]));
        bins.record(STALLS.bin([op, self.fetch_wait.min(2)]));
        bins.record(LENGTHS.bin([op, is_short]));
        if let Some(Kind::Branch(_)) = kind {
            let behind = outputs.rvfi_pc_rdata.get() + if is_short == 1 { 2 } else { 4 };
            let not_taken = usize::from(outputs.rvfi_pc_wdata.get() == behind);
            let is_backward = usize::from(instruction.imm < 0);
            bins.record(BRANCHES.bin([op - Op::Beq as usize, not_taken, is_backward]));
        }
    }
}

impl harness::Coverage<Picorv32> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(parameters: &Parameters) -> Self {
        let has_compressed = has_compressed(parameters);
        Self { has_compressed, before: None, wait: 0, fetch_wait: 0 }
    }

    fn after(&mut self, edge: &Edge<'_, Picorv32>, bins: &mut Bins<'_>) {
        let (inputs, outputs): (&Inputs, &Outputs) = (edge.inputs, edge.outputs);
        if !inputs.resetn.is_high() {
            return;
        }
        if outputs.rvfi_valid.is_high() {
            let instruction = decode(outputs.rvfi_insn.get() as u32, self.has_compressed);
            self.retire(instruction, outputs, bins);
            self.before = instruction;
        }
        if outputs.mem_valid.is_high() && !inputs.mem_ready.is_high() {
            self.wait += 1;
        } else if outputs.mem_valid.is_high() {
            let wait = std::mem::take(&mut self.wait);
            self.fetch_wait = if outputs.mem_instr.is_high() { wait } else { self.fetch_wait };
        }
    }
}
