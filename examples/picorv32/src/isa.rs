//! The effect of instructions: registers, loads and stores, and traps, from chapters 2 and 7 of the
//! specification.
//!
//! The model knows no memory and no timing: it says which load or store an instruction makes, and
//! the follower compares it with the transfer on the port.

use crate::instructions::Op::{
    self, Add, Addi, And, Andi, Auipc, Beq, Bge, Bgeu, Blt, Bltu, Bne, Div, Divu, Ebreak, Ecall,
    Fence, Jal, Jalr, Lb, Lbu, Lh, Lhu, Lui, Lw, Mul, Mulh, Mulhsu, Mulhu, Or, Ori, Rem, Remu, Sb,
    Sh, Sll, Slli, Slt, Slti, Sltiu, Sltu, Sra, Srai, Srl, Srli, Sub, Sw, Xor, Xori,
};
use crate::instructions::{Instruction, signed};

/// Why an instruction is not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trap {
    /// The word is no instruction.
    Illegal,
    /// `ecall` or `ebreak`.
    Requested,
    /// A load or store of this address, which is not a multiple of its size.
    MisalignedData(u32),
    /// A jump to this address, which is not a multiple of 4. Impossible with compressed
    /// instructions.
    MisalignedTarget(u32),
}

/// The effect of an instruction beyond the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The next instruction follows.
    Next,
    /// A branch is taken, or a jump.
    Taken,
    /// It loads from this address; [`Cpu::load`] completes it.
    Load(u32),
    /// It stores.
    Store(Store),
    /// It is not executed.
    Trap(Trap),
}

/// A store, as the four bytes of an aligned word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Store {
    /// The address of the word.
    pub address: u32,
    /// The bytes of the word that are written: bit n is byte n.
    pub strobes: u8,
    /// The word. Bytes that are not written are 0.
    pub data: u32,
}

/// The registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// The address of the next instruction.
    pub pc: u32,
    registers: [u32; 32],
}

impl Cpu {
    /// All registers are 0, and the first instruction is at `pc`.
    pub const fn new(pc: u32) -> Self {
        Self { pc, registers: [0; 32] }
    }

    /// The value of a register.
    pub const fn get(&self, register: u8) -> u32 {
        self.registers[register as usize]
    }

    /// Writes a register; `x0` stays 0.
    pub const fn set(&mut self, register: u8, value: u32) {
        self.registers[register as usize] = if register == 0 { 0 } else { value };
    }

    /// Executes the instruction at `pc`, whose length in bytes is `length`. A trap changes nothing.
    pub fn execute(
        &mut self,
        instruction: &Instruction,
        length: u32,
        has_compressed: bool,
    ) -> Effect {
        let Instruction { op, rd, rs1, rs2, imm } = *instruction;
        let a = self.get(rs1);
        let b = if op.reads()[1] { self.get(rs2) } else { imm };
        let address = a.wrapping_add(imm);
        let next = self.pc.wrapping_add(length);
        let target = match op {
            Jal => Some(self.pc.wrapping_add(imm)),
            // The least significant bit of the sum is cleared.
            Jalr => Some(address & !1),
            _ if branches(op, a, b) => Some(self.pc.wrapping_add(imm)),
            _ => None,
        };
        if let Some(target) = target {
            if !has_compressed && target & 3 != 0 {
                return Effect::Trap(Trap::MisalignedTarget(target));
            }
            if op.is_jump() {
                self.set(rd, next);
            }
            self.pc = target;
            return Effect::Taken;
        }
        let size = size(op);
        if size > 0 && !address.is_multiple_of(size) {
            return Effect::Trap(Trap::MisalignedData(address));
        }
        if op.is_load() {
            self.pc = next;
            return Effect::Load(address);
        }
        if op.is_store() {
            self.pc = next;
            let lane = address & 3;
            let strobes = (((1_u32 << size) - 1) << lane) as u8;
            let data = if size == 4 { b } else { b & ((1 << (8 * size)) - 1) };
            return Effect::Store(Store {
                address: address & !3,
                strobes,
                data: data << (8 * lane),
            });
        }
        match op {
            Ecall | Ebreak => return Effect::Trap(Trap::Requested),
            Fence => {}
            Lui => self.set(rd, imm),
            Auipc => self.set(rd, self.pc.wrapping_add(imm)),
            _ if op.is_branch() => {}
            _ => self.set(rd, compute(op, a, b)),
        }
        self.pc = next;
        Effect::Next
    }

    /// Completes a load from `address`, whose aligned word is `word`.
    pub fn load(&mut self, instruction: &Instruction, address: u32, word: u32) {
        let value = word >> (8 * (address & 3));
        self.set(
            instruction.rd,
            match instruction.op {
                Lb => signed(value, 8),
                Lh => signed(value, 16),
                Lbu => value & 0xff,
                Lhu => value & 0xffff,
                _ => value,
            },
        );
    }
}

/// The bytes that a load or store moves; 0 for other operations.
const fn size(op: Op) -> u32 {
    match op {
        Lb | Lbu | Sb => 1,
        Lh | Lhu | Sh => 2,
        Lw | Sw => 4,
        _ => 0,
    }
}

/// Whether a branch is taken.
const fn branches(op: Op, a: u32, b: u32) -> bool {
    match op {
        Beq => a == b,
        Bne => a != b,
        Blt => a.cast_signed() < b.cast_signed(),
        Bge => a.cast_signed() >= b.cast_signed(),
        Bltu => a < b,
        Bgeu => a >= b,
        _ => false,
    }
}

/// The result of an operation on two values.
fn compute(op: Op, a: u32, b: u32) -> u32 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match op {
        Addi | Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Slti | Slt => u32::from(sa < sb),
        Sltiu | Sltu => u32::from(a < b),
        Xori | Xor => a ^ b,
        Ori | Or => a | b,
        Andi | And => a & b,
        // The low five bits of the second operand count.
        Slli | Sll => a << (b & 31),
        Srli | Srl => a >> (b & 31),
        Srai | Sra => (sa >> (b & 31)).cast_unsigned(),
        Mul => a.wrapping_mul(b),
        Mulh => ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
        Mulhsu => ((i64::from(sa) * i64::from(b)) >> 32) as u32,
        Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        // Table 7.1: division by zero gives all ones, and the remainder is the dividend. The
        // overflow of -2^31 / -1 gives -2^31, remainder 0.
        Divu => a.checked_div(b).unwrap_or(u32::MAX),
        Remu => a.checked_rem(b).unwrap_or(a),
        Div if b == 0 => u32::MAX,
        Rem if b == 0 => a,
        Div => sa.wrapping_div(sb).cast_unsigned(),
        Rem => sa.wrapping_rem(sb).cast_unsigned(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
