//! The functional coverage: what was executed, seen from the port by a follower.

use crate::follower::{Executed, Follower, depends};
use crate::instructions::{Instruction, Op};
use crate::isa::{Effect, Trap};
use crate::rtl::{Inputs, Outputs};
use crate::scoreboard::transfer;
use crate::{COMPRESSED_ISA, Picorv32};
use cosim_core::harness::{self, Bins, Covergroup, Edge, Parameters};

cosim_core::coverage! {
    axis OP = "operation" {
        "lui": "lui", "auipc": "auipc", "jal": "jal", "jalr": "jalr", "beq": "beq", "bne": "bne",
        "blt": "blt", "bge": "bge", "bltu": "bltu", "bgeu": "bgeu", "lb": "lb", "lh": "lh",
        "lw": "lw", "lbu": "lbu", "lhu": "lhu", "sb": "sb", "sh": "sh", "sw": "sw",
        "addi": "addi", "slti": "slti", "sltiu": "sltiu", "xori": "xori", "ori": "ori",
        "andi": "andi", "slli": "slli", "srli": "srli", "srai": "srai", "add": "add",
        "sub": "sub", "sll": "sll", "slt": "slt", "sltu": "sltu", "xor": "xor", "srl": "srl",
        "sra": "sra", "or": "or", "and": "and", "mul": "mul", "mulh": "mulh",
        "mulhsu": "mulhsu", "mulhu": "mulhu", "div": "div", "divu": "divu", "rem": "rem",
        "remu": "remu", "fence": "fence",
    }
    axis HAZARD = "hazard" {
        "none": "no source is written by the instruction before",
        "result": "a source is the result of the instruction before",
        "load": "a source is loaded by the instruction before",
    }
    axis STALL = "fetch stall" {
        "0": "the last fetch did not wait", "1": "it waited one cycle",
        "2+": "it waited two cycles or more",
    }
    axis BRANCH = "branch" {
        "beq": "beq", "bne": "bne", "blt": "blt", "bge": "bge", "bltu": "bltu", "bgeu": "bgeu",
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
        unless |at, _| (at[1] > 0 && !reads(at[0])).then_some("the operation has no source");
    STALLS = "stalls": "instructions, by the wait of the last fetch before" [OP, STALL];
    BRANCHES = "branches": "conditional branches" [BRANCH, TAKEN, WAY];
    LENGTHS = "lengths": "instructions, by their length" [OP, LENGTH] unless no_short_form;
    TRAPS = "traps": "traps, by cause and length of the instruction" [CAUSE, LENGTH] unless no_trap;
}

const OPS: usize = Op::Fence as usize + 1;
const _: () = assert!(OPS == OP.values.len());

fn reads(op: usize) -> bool {
    !matches!(OP.values[op].name, "lui" | "auipc" | "jal" | "fence")
}

fn has_compressed(parameters: &Parameters) -> bool {
    parameters.get(COMPRESSED_ISA) == 1
}

fn no_short_form(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    const SHORT: [&str; 17] = [
        "lui", "jal", "jalr", "beq", "bne", "lw", "sw", "addi", "andi", "slli", "srli", "srai",
        "add", "sub", "xor", "or", "and",
    ];
    match at[1] {
        0 => None,
        _ if !has_compressed(parameters) => Some("COMPRESSED_ISA is 0"),
        _ => (!SHORT.contains(&OP.values[at[0]].name)).then_some("it has no compressed form"),
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
    follower: Follower,
    before: Option<Instruction>,
    /// Cycles that the present transfer and the last fetch waited.
    wait: usize,
    fetch_wait: usize,
    has_trapped: bool,
}

impl Coverage {
    /// The bins of an instruction that was executed.
    fn hit(before: Option<Instruction>, wait: usize, executed: &Executed, bins: &mut Bins<'_>) {
        let Executed { instruction, length, effect } = *executed;
        let is_short = usize::from(length == 2);
        if let Effect::Trap(trap) = effect {
            let cause = match trap {
                Trap::Illegal => 0,
                Trap::Requested => 1,
                Trap::MisalignedData(_) => 2,
                Trap::MisalignedTarget(_) => 3,
            };
            bins.hit(TRAPS.bin([cause, is_short]));
            return;
        }
        let Some(instruction) = instruction else { return };
        let op = instruction.op as usize;
        let hazard = match before {
            Some(before) if depends(before.rd, &instruction) => {
                1 + usize::from(before.op.is_load())
            }
            _ => 0,
        };
        bins.hit(HAZARDS.bin([op, hazard]));
        bins.hit(STALLS.bin([op, wait.min(2)]));
        bins.hit(LENGTHS.bin([op, is_short]));
        if instruction.op.is_branch() {
            let is_backward = usize::from(instruction.imm.cast_signed() < 0);
            let not_taken = usize::from(effect != Effect::Taken);
            bins.hit(BRANCHES.bin([op - Op::Beq as usize, not_taken, is_backward]));
        }
    }
}

impl harness::Coverage<Picorv32> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(parameters: &Parameters) -> Self {
        Self {
            follower: Follower::new(has_compressed(parameters)),
            before: None,
            wait: 0,
            fetch_wait: 0,
            has_trapped: false,
        }
    }

    fn after(&mut self, edge: &Edge<'_, Picorv32>, bins: &mut Bins<'_>) {
        let (inputs, outputs): (&Inputs, &Outputs) = (edge.inputs, edge.outputs);
        let Self { follower, before, wait, fetch_wait, has_trapped } = self;
        let last_wait = *fetch_wait;
        let mut hit = |executed: Executed| {
            Self::hit(*before, last_wait, &executed, bins);
            *before = executed.instruction;
        };
        // A violation is for the scoreboard.
        if let Some(transfer) = transfer(inputs, outputs) {
            let _ = follower.transfer(&transfer, &mut hit);
            if transfer.is_fetch {
                *fetch_wait = *wait;
            }
            *wait = 0;
        } else if outputs.mem_valid.get() == 1 {
            *wait += 1;
        }
        if outputs.trap.get() == 1 && !*has_trapped {
            let _ = follower.trap(&mut hit);
            *has_trapped = true;
        }
    }
}
