//! The traffic of a case: a program, the words that it loads, and the stalls of the memory.
//!
//! The program is a list of instructions by name. Branches name their target by the number of
//! instructions that they skip, so that a program is still legal after shrinking removes some.

use crate::instructions::Op;
use cosim_core::harness::{self, TrafficError};
use cosim_core::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The size of the memory in bytes, which repeats in the whole address space.
pub const MEMORY: u32 = 1 << 14;
/// The address of the program, where the core begins. The data is below it, so that addresses near
/// 0 are those of data, and what a program loads does not depend on its length.
pub const PROGRAM: u32 = 1 << 13;
/// The most instructions of a program.
pub const MOST: usize = 1000;
/// The most instructions that a branch skips.
const FAR: i64 = 1000;

/// The traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Key of the noise on `mem_rdata` in cycles without a read; 0: zeros.
    pub noise: Uint<64>,
    /// The program, from address 0x2000. An `ebreak` follows it.
    pub program: Vec<Line>,
    /// The words from address 0. All others are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Uint<32>>,
    /// Cycles that each transfer waits; 0 after the end of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Uint<12>>,
}

/// An instruction of the program. Operands that are left out are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The name, as in the specification; `li` and `la` are two instructions each.
    pub op: Op,
    /// The destination register.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rd: Uint<5>,
    /// The first source register.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rs1: Uint<5>,
    /// The second source register.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rs2: Uint<5>,
    /// The immediate. For branches, jumps and `la`: the number of instructions from this one to
    /// the target.
    #[serde(default, skip_serializing_if = "is_default")]
    pub imm: i64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Line {
    /// An instruction without operands.
    pub const fn new(op: Op) -> Self {
        let zero = Uint::new(0);
        Self { op, rd: zero, rs1: zero, rs2: zero, imm: 0 }
    }

    /// The same with this destination.
    pub const fn rd(self, rd: u8) -> Self {
        Self { rd: Uint::new(rd as u64), ..self }
    }

    /// The same with this first source.
    pub const fn rs1(self, rs1: u8) -> Self {
        Self { rs1: Uint::new(rs1 as u64), ..self }
    }

    /// The same with this second source.
    pub const fn rs2(self, rs2: u8) -> Self {
        Self { rs2: Uint::new(rs2 as u64), ..self }
    }

    /// The same with this immediate.
    pub const fn imm(self, imm: i64) -> Self {
        Self { imm, ..self }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let format = self.op.format();
        let registers = [
            ("rd", self.rd, format.rd),
            ("rs1", self.rs1, format.rs1),
            ("rs2", self.rs2, format.rs2),
        ];
        for (name, register, place) in registers {
            if !place.allows(register.get()) {
                return Err((name, format!("x{}, expected {}", register.get(), place.registers())));
            }
        }
        let (least, most, step) =
            if format.is_relative { (-FAR, FAR, 1) } else { format.immediates() };
        if !(least..=most).contains(&self.imm) || self.imm % step != 0 {
            let multiple = format!("a multiple of {step} from {least} to {most}");
            return Err(("imm", format!("{}, expected {multiple}", self.imm)));
        }
        Ok(())
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        let error = |path: String, message: String| Err(TrafficError { path, message });
        for (index, line) in self.program.iter().enumerate() {
            if let Err((field, message)) = line.check() {
                return error(format!("program[{index}].{field}"), message);
            }
        }
        if self.program.len() > MOST {
            let count = self.program.len();
            return error("program".to_owned(), format!("{count} instructions, at most {MOST}"));
        }
        let most = (PROGRAM / 4) as usize;
        if self.data.len() > most {
            return error("data".to_owned(), format!("{} words, at most {most}", self.data.len()));
        }
        Ok(())
    }
}

/// The addresses of the instructions of a program, and of its end.
pub fn addresses(program: &[Line]) -> Vec<u32> {
    let mut all = vec![PROGRAM];
    all.extend(program.iter().scan(PROGRAM, |end, line| {
        *end += line.op.length();
        Some(*end)
    }));
    all
}

impl Traffic {
    /// The memory as half-words, at the beginning of the case.
    pub fn memory(&self) -> Vec<u16> {
        let mut memory = vec![0; MEMORY as usize / 2];
        let addresses = addresses(&self.program);
        let end = self.program.len();
        let ebreak = Line::new(Op::Ebreak);
        for (index, line) in self.program.iter().chain([&ebreak]).enumerate() {
            let here = addresses[index];
            // A target outside the program is its end.
            let to = (index as i64 + line.imm).clamp(0, end as i64) as usize;
            let distance = addresses[to].cast_signed() - here.cast_signed();
            let halves = line.op.encode(line, distance);
            let first = here as usize / 2;
            memory[first..first + halves.len()].copy_from_slice(&halves);
        }
        for (index, word) in self.data.iter().enumerate() {
            memory[2 * index] = word.get() as u16;
            memory[2 * index + 1] = (word.get() >> 16) as u16;
        }
        memory
    }
}
