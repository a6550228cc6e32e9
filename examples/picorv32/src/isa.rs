//! The instruction-set model: RV32IMC, written from the RISC-V unprivileged specification
//! (version 20191213, chapters 2, 7 and 16) and from nothing else.
//!
//! [`decode`] gives the meaning of an instruction word, [`Cpu::execute`] its effect. The model
//! knows no memory and no timing: it says which load or store an instruction makes, and the
//! follower compares it with the transfer on the port.

use std::fmt;

/// An operation. A compressed instruction is decoded to the operation that it abbreviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "these are the mnemonics of the specification")]
#[rustfmt::skip]
pub enum Op {
    Lui, Auipc, Jal, Jalr,
    Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Lb, Lh, Lw, Lbu, Lhu, Sb, Sh, Sw,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And,
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu,
    Fence, Ecall, Ebreak,
}

use Op::{
    Add, Addi, And, Andi, Auipc, Beq, Bge, Bgeu, Blt, Bltu, Bne, Div, Divu, Ebreak, Ecall, Fence,
    Jal, Jalr, Lb, Lbu, Lh, Lhu, Lui, Lw, Mul, Mulh, Mulhsu, Mulhu, Or, Ori, Rem, Remu, Sb, Sh,
    Sll, Slli, Slt, Slti, Sltiu, Sltu, Sra, Srai, Srl, Srli, Sub, Sw, Xor, Xori,
};

impl Op {
    /// A jump that is always taken.
    pub const fn is_jump(self) -> bool {
        matches!(self, Jal | Jalr)
    }

    /// A conditional branch.
    pub const fn is_branch(self) -> bool {
        matches!(self, Beq | Bne | Blt | Bge | Bltu | Bgeu)
    }

    /// A load.
    pub const fn is_load(self) -> bool {
        matches!(self, Lb | Lh | Lw | Lbu | Lhu)
    }

    /// A store.
    pub const fn is_store(self) -> bool {
        matches!(self, Sb | Sh | Sw)
    }

    /// Whether the operation has an immediate as its second operand and writes a register.
    const fn is_immediate(self) -> bool {
        matches!(self, Addi | Slti | Sltiu | Xori | Ori | Andi | Slli | Srli | Srai)
    }

    /// Whether the operation reads `rs1`.
    pub const fn reads_rs1(self) -> bool {
        !matches!(self, Lui | Auipc | Jal | Fence | Ecall | Ebreak)
    }

    /// Whether the operation reads `rs2`.
    pub const fn reads_rs2(self) -> bool {
        self.reads_rs1() && !self.is_load() && !self.is_immediate() && !matches!(self, Jalr)
    }
}

/// A decoded instruction. Registers and the immediate are 0 if the operation has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// The destination register.
    pub rd: u8,
    /// The first source register.
    pub rs1: u8,
    /// The second source register.
    pub rs2: u8,
    /// The immediate, sign-extended.
    pub imm: u32,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, rd, rs1, rs2, imm } = *self;
        let (name, imm) = (format!("{op:?}").to_lowercase(), imm.cast_signed());
        match op {
            Fence | Ecall | Ebreak => write!(f, "{name}"),
            Lui | Auipc => write!(f, "{name} x{rd}, {:#x}", imm.cast_unsigned() >> 12),
            Jal => write!(f, "{name} x{rd}, pc{imm:+}"),
            _ if op.is_branch() => write!(f, "{name} x{rs1}, x{rs2}, pc{imm:+}"),
            _ if op.is_store() => write!(f, "{name} x{rs2}, {imm}(x{rs1})"),
            _ if op.is_load() => write!(f, "{name} x{rd}, {imm}(x{rs1})"),
            Jalr => write!(f, "{name} x{rd}, {imm}(x{rs1})"),
            _ if op.is_immediate() => write!(f, "{name} x{rd}, x{rs1}, {imm}"),
            _ => write!(f, "{name} x{rd}, x{rs1}, x{rs2}"),
        }
    }
}

/// Bits `high` to `low` of a word.
const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

/// The low `width` bits of a value, sign-extended.
const fn signed(value: u32, width: u32) -> u32 {
    (value.cast_signed() << (32 - width) >> (32 - width)).cast_unsigned()
}

/// The length in bytes of an instruction that begins with this half-word.
pub const fn length(first: u32, has_compressed: bool) -> u32 {
    if has_compressed && first & 3 != 3 { 2 } else { 4 }
}

/// The instruction of a word. A 16-bit instruction is in the low half. `None` if it is illegal or
/// reserved.
pub fn decode(word: u32, has_compressed: bool) -> Option<Instruction> {
    match length(word, has_compressed) {
        2 => decode_16(word & 0xffff),
        _ => decode_32(word),
    }
}

/// Decodes an instruction of 32 bits: chapter 24, tables of RV32I and RV32M.
fn decode_32(word: u32) -> Option<Instruction> {
    let [rd, rs1, rs2] = [7, 15, 20].map(|low| bits(word, low + 4, low) as u8);
    let (funct3, funct7) = (bits(word, 14, 12), bits(word, 31, 25));
    let i_imm = signed(bits(word, 31, 20), 12);
    let s_imm = signed(funct7 << 5 | bits(word, 11, 7), 12);
    let b_imm = bits(word, 31, 31) << 12
        | bits(word, 7, 7) << 11
        | bits(word, 30, 25) << 5
        | bits(word, 11, 8) << 1;
    let j_imm = bits(word, 31, 31) << 20
        | bits(word, 19, 12) << 12
        | bits(word, 20, 20) << 11
        | bits(word, 30, 21) << 1;
    let pick = |ops: [Option<Op>; 8]| ops[funct3 as usize];
    let none = Instruction { op: Fence, rd: 0, rs1: 0, rs2: 0, imm: 0 };
    Some(match bits(word, 6, 0) {
        0b011_0111 => Instruction { op: Lui, rd, imm: word & 0xffff_f000, ..none },
        0b001_0111 => Instruction { op: Auipc, rd, imm: word & 0xffff_f000, ..none },
        0b110_1111 => Instruction { op: Jal, rd, imm: signed(j_imm, 21), ..none },
        0b110_0111 if funct3 == 0 => Instruction { op: Jalr, rd, rs1, imm: i_imm, ..none },
        0b110_0011 => {
            let ops = [Beq, Bne, Blt, Bge, Bltu, Bgeu].map(Some);
            let [eq, ne, lt, ge, ltu, geu] = ops;
            let op = pick([eq, ne, None, None, lt, ge, ltu, geu])?;
            Instruction { op, rs1, rs2, imm: signed(b_imm, 13), ..none }
        }
        0b000_0011 => {
            let ops = [Some(Lb), Some(Lh), Some(Lw), None, Some(Lbu), Some(Lhu), None, None];
            Instruction { op: pick(ops)?, rd, rs1, imm: i_imm, ..none }
        }
        0b010_0011 => {
            let ops = [Some(Sb), Some(Sh), Some(Sw), None, None, None, None, None];
            Instruction { op: pick(ops)?, rs1, rs2, imm: s_imm, ..none }
        }
        0b001_0011 => {
            let (op, imm) = match (funct3, funct7) {
                (0b001, 0) => (Slli, u32::from(rs2)),
                (0b101, 0) => (Srli, u32::from(rs2)),
                (0b101, 0b010_0000) => (Srai, u32::from(rs2)),
                (0b001 | 0b101, _) => return None,
                _ => ([Addi, Slli, Slti, Sltiu, Xori, Srli, Ori, Andi][funct3 as usize], i_imm),
            };
            Instruction { op, rd, rs1, imm, ..none }
        }
        0b011_0011 => {
            let op = match (funct7, funct3) {
                (0, _) => [Add, Sll, Slt, Sltu, Xor, Srl, Or, And][funct3 as usize],
                (1, _) => [Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu][funct3 as usize],
                (0b010_0000, 0b000) => Sub,
                (0b010_0000, 0b101) => Sra,
                _ => return None,
            };
            Instruction { op, rd, rs1, rs2, ..none }
        }
        // Section 2.7: fields of FENCE that are not used are ignored.
        0b000_1111 if funct3 == 0 => none,
        _ if word == 0x0000_0073 => Instruction { op: Ecall, ..none },
        _ if word == 0x0010_0073 => Instruction { op: Ebreak, ..none },
        _ => return None,
    })
}

/// Decodes an instruction of 16 bits: chapter 16, tables 16.5 to 16.7. HINTs are instructions
/// without effect. Instructions of F, D, RV64 and RV128 are illegal.
fn decode_16(word: u32) -> Option<Instruction> {
    let (full, other) = (bits(word, 11, 7) as u8, bits(word, 6, 2) as u8);
    // The registers x8 to x15.
    let (short, low) = (8 + bits(word, 9, 7) as u8, 8 + bits(word, 4, 2) as u8);
    let imm6 = bits(word, 12, 12) << 5 | bits(word, 6, 2);
    let imm = signed(imm6, 6);
    let word_offset = bits(word, 5, 5) << 6 | bits(word, 12, 10) << 3 | bits(word, 6, 6) << 2;
    let jump = signed(
        bits(word, 12, 12) << 11
            | bits(word, 8, 8) << 10
            | bits(word, 10, 9) << 8
            | bits(word, 6, 6) << 7
            | bits(word, 7, 7) << 6
            | bits(word, 2, 2) << 5
            | bits(word, 11, 11) << 4
            | bits(word, 5, 3) << 1,
        12,
    );
    let branch = signed(
        bits(word, 12, 12) << 8
            | bits(word, 6, 5) << 6
            | bits(word, 2, 2) << 5
            | bits(word, 11, 10) << 3
            | bits(word, 4, 3) << 1,
        9,
    );
    let new = |op, rd, rs1, rs2, imm| Some(Instruction { op, rd, rs1, rs2, imm });
    match (bits(word, 1, 0), bits(word, 15, 13)) {
        // c.addi4spn; immediate 0 is reserved, and 0x0000 is illegal.
        (0, 0b000) => {
            let imm = bits(word, 10, 7) << 6
                | bits(word, 12, 11) << 4
                | bits(word, 5, 5) << 3
                | bits(word, 6, 6) << 2;
            if imm == 0 { None } else { new(Addi, low, 2, 0, imm) }
        }
        (0, 0b010) => new(Lw, low, short, 0, word_offset),
        (0, 0b110) => new(Sw, 0, short, low, word_offset),
        // c.addi and c.nop.
        (1, 0b000) => new(Addi, full, full, 0, imm),
        // c.jal.
        (1, 0b001) => new(Jal, 1, 0, 0, jump),
        // c.li.
        (1, 0b010) => new(Addi, full, 0, 0, imm),
        // c.addi16sp and c.lui; immediate 0 is reserved.
        (1, 0b011) if imm6 == 0 => None,
        (1, 0b011) if full == 2 => {
            let imm = bits(word, 12, 12) << 9
                | bits(word, 4, 3) << 7
                | bits(word, 5, 5) << 6
                | bits(word, 2, 2) << 5
                | bits(word, 6, 6) << 4;
            new(Addi, 2, 2, 0, signed(imm, 10))
        }
        (1, 0b011) => new(Lui, full, 0, 0, imm << 12),
        // Arithmetic on x8 to x15. Shifts by 32 and more are not for RV32.
        (1, 0b100) => match (bits(word, 11, 10), bits(word, 12, 12)) {
            (0b00, 0) => new(Srli, short, short, 0, imm6),
            (0b01, 0) => new(Srai, short, short, 0, imm6),
            (0b10, _) => new(Andi, short, short, 0, imm),
            (0b11, 0) => new([Sub, Xor, Or, And][bits(word, 6, 5) as usize], short, short, low, 0),
            _ => None,
        },
        // c.j.
        (1, 0b101) => new(Jal, 0, 0, 0, jump),
        (1, 0b110) => new(Beq, 0, short, 0, branch),
        (1, 0b111) => new(Bne, 0, short, 0, branch),
        (2, 0b000) if imm6 < 32 => new(Slli, full, full, 0, imm6),
        // c.lwsp; x0 is reserved.
        (2, 0b010) if full != 0 => {
            let imm = bits(word, 3, 2) << 6 | bits(word, 12, 12) << 5 | bits(word, 6, 4) << 2;
            new(Lw, full, 2, 0, imm)
        }
        (2, 0b100) => match (bits(word, 12, 12), full, other) {
            // c.jr x0 is reserved.
            (0, 0, 0) => None,
            (0, _, 0) => new(Jalr, 0, full, 0, 0),
            (0, _, _) => new(Add, full, 0, other, 0),
            (_, 0, 0) => new(Ebreak, 0, 0, 0, 0),
            (_, _, 0) => new(Jalr, 1, full, 0, 0),
            _ => new(Add, full, full, other, 0),
        },
        // c.swsp.
        (2, 0b110) => new(Sw, 0, 2, other, bits(word, 8, 7) << 6 | bits(word, 12, 9) << 2),
        _ => None,
    }
}

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
        let (a, b) = (self.get(rs1), self.get(rs2));
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
            let strobes = ((1_u32 << size) - 1) << lane;
            let data = if size == 4 { b } else { b & ((1 << (8 * size)) - 1) };
            let address = address & !3;
            return Effect::Store(Store {
                address,
                strobes: strobes as u8,
                data: data << (8 * lane),
            });
        }
        match op {
            Ecall | Ebreak => return Effect::Trap(Trap::Requested),
            Fence => {}
            Lui => self.set(rd, imm),
            Auipc => self.set(rd, self.pc.wrapping_add(imm)),
            _ if op.is_immediate() => self.set(rd, compute(op, a, imm)),
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
