//! The traffic of a case: a program, the words that it loads, and the stalls of the memory.
//!
//! The program is a list of instructions by name. Branches name their target by the number of
//! instructions that they skip, so that a program is still legal after shrinking removes some.

use crate::instructions::{Instruction, Op};
use cosim_core::harness::{self, TrafficError};
use cosim_core::value::Uint;

/// The size of the memory in bytes, which repeats in the whole address space.
const MEMORY: u32 = 1 << 14;
/// The address of the program, where the core begins. The data is below it, so that addresses near
/// 0 are those of data, and what a program loads does not depend on its length.
pub const PROGRAM: u32 = 1 << 13;
/// The most instructions of a program.
pub const MOST: usize = 1000;

cosim_core::traffic! {
    /// The traffic.
    pub struct Traffic {
        /// Key of the noise on `mem_rdata` in cycles without a read; 0: zeros.
        noise: Uint<64>,
        /// The program, from address 0x2000. An `ebreak` follows it.
        program: Vec<Instruction>,
        /// The words from address 0. All others are 0.
        data: Vec<Uint<32>> = default,
        /// Cycles that each transfer waits; 0 after the end of the list.
        stalls: Vec<Uint<12>> = default,
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        let error =
            |path: String, message: &str| Err(TrafficError { path, message: message.to_owned() });
        match self.program.iter().position(|instruction| !instruction.is_legal()) {
            Some(index) => error(format!("program[{index}]"), "the operands do not fit"),
            None if self.program.len() > MOST => error("program".to_owned(), "more than 1000"),
            None if self.data.len() > PROGRAM as usize / 4 => {
                error("data".to_owned(), "more words than there are before the program")
            }
            None => Ok(()),
        }
    }
}

/// A memory in half-words. Stores do not change the program: the core may have fetched it before.
#[derive(Debug, Clone)]
pub struct Memory(Vec<u16>);

impl Memory {
    /// The memory at the beginning of a case.
    pub fn new(traffic: &Traffic) -> Self {
        let mut memory = Self(vec![0; (PROGRAM / 2) as usize]);
        for (address, word) in (0..).step_by(4).zip(&traffic.data) {
            memory.write(address, 0b1111, word.get() as u32);
        }
        let program = &traffic.program;
        let mut addresses = vec![0];
        for instruction in program {
            addresses.push(addresses[addresses.len() - 1] + i64::from(instruction.op.length()));
        }
        for (index, instruction) in program.iter().enumerate() {
            // A target outside the program is its end.
            let to = (index as i64).saturating_add(instruction.imm).clamp(0, program.len() as i64);
            let distance = addresses[to as usize] - addresses[index];
            let is_relative = instruction.op.format().is_relative;
            let imm = if is_relative { distance } else { instruction.imm };
            memory.0.extend(Instruction { imm, ..*instruction }.encode());
        }
        memory.0.extend(Instruction::new(Op::Ebreak, [0; 3], 0).encode());
        memory.0.resize((MEMORY / 2) as usize, 0);
        memory
    }

    /// The 32 bits at an even address.
    pub fn read(&self, address: u32) -> u32 {
        let half = |address: u32| u32::from(self.0[(address % MEMORY / 2) as usize]);
        half(address) | half(address.wrapping_add(2)) << 16
    }

    /// Writes bytes of a word.
    pub fn write(&mut self, address: u32, strobes: u8, word: u32) {
        let (address, mask) = (address & !3, mask(strobes));
        if address % MEMORY < PROGRAM {
            let word = self.read(address) & !mask | word & mask;
            let first = (address % MEMORY / 2) as usize;
            self.0[first..first + 2].copy_from_slice(&[word as u16, (word >> 16) as u16]);
        }
    }
}

/// The bits of the bytes that strobes enable.
pub fn mask(strobes: u8) -> u32 {
    (0..4).filter(|byte| strobes >> byte & 1 == 1).map(|byte| 0xff << (8 * byte)).sum()
}
