//! The instruction-set model: a processor without timing, from chapters 2 and 7 of the
//! specification. It executes one instruction after the other from a memory of its own.

use crate::formats::NO;
use crate::instructions::{Instruction, Kind, decode, length};
use crate::stimulus::{Memory, PROGRAM};

/// A load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The address of the word.
    pub address: u32,
    /// The bytes of the word that are written: bit n is byte n; 0 for a load.
    pub strobes: u8,
    /// The word. Bytes that are not written are 0.
    pub data: u32,
}

/// An instruction that was executed.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its address.
    pub pc: u32,
    /// Its word, or the half-word if the lowest bits are not 11.
    pub word: u32,
    /// The address behind it.
    pub behind: u32,
    /// The address of the next instruction.
    pub next: u32,
    /// The register that it writes and the value, or zeros.
    pub written: (u8, u32),
    /// The load or store. A misaligned one traps; the port may show it at an aligned address.
    pub access: Option<Access>,
    /// It traps: it is not executed.
    pub traps: bool,
}

/// The processor and its memory.
#[derive(Debug, Clone)]
pub struct Machine {
    pc: u32,
    registers: [u32; 32],
    memory: Memory,
    /// It has instructions of 16 bits.
    pub has_compressed: bool,
}

impl Machine {
    /// All registers are 0, and the program begins.
    pub const fn new(memory: Memory, has_compressed: bool) -> Self {
        Self { pc: PROGRAM, registers: [0; 32], memory, has_compressed }
    }

    /// Executes the next instruction. One that traps changes nothing.
    pub fn step(&mut self) -> Step {
        let (pc, word) = (self.pc, self.memory.read(self.pc));
        let length = length(word, self.has_compressed);
        let (word, behind) =
            (if word & 3 == 3 { word } else { word & 0xffff }, pc.wrapping_add(length));
        let (written, access, traps) = ((0, 0), None, true);
        let mut step = Step { pc, word, behind, next: behind, written, access, traps };
        if let Some(instruction) = decode(word, self.has_compressed) {
            self.execute(&instruction, &mut step);
        }
        step
    }

    fn execute(&mut self, instruction: &Instruction, step: &mut Step) {
        let Instruction { op, rd, rs1, rs2, imm } = *instruction;
        let [first, second] = [rs1, rs2].map(|register| self.registers[register as usize]);
        let a = if op.format().rs1 == NO { step.pc } else { first };
        let b = if op.format().rs2 == NO { imm as u32 } else { second };
        let address = a.wrapping_add(imm as u32);
        let word = address & !3;
        let mut result = None;
        match op.kind() {
            Kind::Compute(function) | Kind::Multiply(function) => result = Some(function(a, b)),
            Kind::Branch(is_taken) if is_taken(a, b) => {
                step.next = step.pc.wrapping_add(imm as u32);
            }
            Kind::Branch(_) => {}
            Kind::Jump => {
                // The least significant bit of the sum is cleared.
                step.next = address & !1;
                result = Some(step.behind);
            }
            Kind::Load(size, extend) => {
                step.access = Some(Access { address: word, strobes: 0, data: 0 });
                if !address.is_multiple_of(size) {
                    return;
                }
                result = Some(extend(self.memory.read(word) >> (8 * (address & 3))));
            }
            Kind::Store(size) => {
                let lane = address & (4 - size);
                let strobes = (((1 << size) - 1) << lane) as u8;
                let data = (b & u32::MAX >> (32 - 8 * size)) << (8 * lane);
                step.access = Some(Access { address: word, strobes, data });
                if !address.is_multiple_of(size) {
                    return;
                }
                self.memory.write(word, strobes, data);
            }
            Kind::System | Kind::Directive => return,
        }
        if !self.has_compressed && step.next & 3 != 0 {
            return;
        }
        if let Some(value) = result.filter(|_| rd != 0) {
            self.registers[rd as usize] = value;
            step.written = (rd, value);
        }
        (self.pc, step.traps) = (step.next, false);
    }
}

#[cfg(test)]
mod tests;
