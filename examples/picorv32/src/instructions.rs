//! The instruction set: RV32IMC as one table, written from the RISC-V unprivileged specification
//! (version 20191213, chapters 2, 7, 16 and 24) and from nothing else.
//!
//! The generator draws rows, programs are assembled and words are decoded by them, and the model
//! executes them. The core decodes by itself, so a wrong row shows.

use crate::formats::*;
use cosim_core::harness::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an instruction does with its operands `a` and `b`: `a` is the first source, or the address
/// of an instruction without one; `b` is the second source, or the immediate.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Writes a result.
    Compute(fn(u32, u32) -> u32),
    /// Writes a result; an instruction of the extension M.
    Multiply(fn(u32, u32) -> u32),
    /// Loads this many bytes, and extends them.
    Load(u32, fn(u32) -> u32),
    /// Stores this many bytes.
    Store(u32),
    /// Jumps on a condition.
    Branch(fn(u32, u32) -> bool),
    /// Jumps, and writes the address of the instruction behind it.
    Jump,
    /// Traps.
    System,
    /// A directive of the assembler.
    Directive,
}

/// A row of the table.
struct Row {
    format: Format,
    /// The bits that are no operands.
    word: u32,
    /// The instruction that it abbreviates, or itself.
    base: Op,
    kind: Kind,
}

/// Declares the instructions: variant, name, format, the bits that are no operands, and the effect
/// or, of a compressed one, the instruction that it abbreviates.
macro_rules! instructions {
    ($(
        $op:ident $name:literal $format:ident $word:literal $(= $base:ident)? $(: $kind:expr)?;
    )+) => {
        /// An instruction by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Op { $( #[doc = $name] #[serde(rename = $name)] $op, )+ }

        impl Default for Op {
            fn default() -> Self { Self::ALL[0] }
        }

        impl Op {
            /// Every instruction.
            pub const ALL: &[Self] = &[$( Self::$op ),+];
            /// The instructions as values of an axis of coverage.
            pub const VALUES: &[Value] = &[$( Value { name: $name, meaning: $name } ),+];
        }

        const ROWS: &[Row] = &[$( Row {
            format: $format,
            word: $word,
            base: [$(Op::$base,)? Op::$op][0],
            kind: [$($kind,)? Kind::Directive][0],
        } ),+];
    };
}

use Kind::{Branch, Compute, Jump, Load, Multiply, Store, System};

const ADD: Kind = Compute(|a, b| a.wrapping_add(b));
const SLT: Kind = Compute(|a, b| u32::from((a as i32) < b as i32));
const SLTU: Kind = Compute(|a, b| u32::from(a < b));
const XOR: Kind = Compute(|a, b| a ^ b);
const OR: Kind = Compute(|a, b| a | b);
const AND: Kind = Compute(|a, b| a & b);
// The low five bits of the second operand count.
const SLL: Kind = Compute(|a, b| a << (b & 31));
const SRL: Kind = Compute(|a, b| a >> (b & 31));
const SRA: Kind = Compute(|a, b| (a as i32 >> (b & 31)) as u32);

instructions! {
    Lui "lui" U 0x37: Compute(|_, b| b << 12);
    Auipc "auipc" U 0x17: Compute(|a, b| a.wrapping_add(b << 12));
    Jal "jal" J 0x6f: Jump;
    Jalr "jalr" I 0x67: Jump;
    Beq "beq" B 0x63: Branch(|a, b| a == b);
    Bne "bne" B 0x1063: Branch(|a, b| a != b);
    Blt "blt" B 0x4063: Branch(|a, b| (a as i32) < b as i32);
    Bge "bge" B 0x5063: Branch(|a, b| a as i32 >= b as i32);
    Bltu "bltu" B 0x6063: Branch(|a, b| a < b);
    Bgeu "bgeu" B 0x7063: Branch(|a, b| a >= b);
    Lb "lb" I 0x03: Load(1, |value| value as i8 as u32);
    Lh "lh" I 0x1003: Load(2, |value| value as i16 as u32);
    Lw "lw" I 0x2003: Load(4, |value| value);
    Lbu "lbu" I 0x4003: Load(1, |value| value & 0xff);
    Lhu "lhu" I 0x5003: Load(2, |value| value & 0xffff);
    Sb "sb" S 0x23: Store(1);
    Sh "sh" S 0x1023: Store(2);
    Sw "sw" S 0x2023: Store(4);
    Addi "addi" I 0x13: ADD;
    Slti "slti" I 0x2013: SLT;
    Sltiu "sltiu" I 0x3013: SLTU;
    Xori "xori" I 0x4013: XOR;
    Ori "ori" I 0x6013: OR;
    Andi "andi" I 0x7013: AND;
    Slli "slli" SHIFT 0x1013: SLL;
    Srli "srli" SHIFT 0x5013: SRL;
    Srai "srai" SHIFT 0x4000_5013: SRA;
    Add "add" R 0x33: ADD;
    Sub "sub" R 0x4000_0033: Compute(|a, b| a.wrapping_sub(b));
    Sll "sll" R 0x1033: SLL;
    Slt "slt" R 0x2033: SLT;
    Sltu "sltu" R 0x3033: SLTU;
    Xor "xor" R 0x4033: XOR;
    Srl "srl" R 0x5033: SRL;
    Sra "sra" R 0x4000_5033: SRA;
    Or "or" R 0x6033: OR;
    And "and" R 0x7033: AND;
    Mul "mul" R 0x0200_0033: Multiply(|a, b| a.wrapping_mul(b));
    Mulh "mulh" R 0x0200_1033: Multiply(|a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u32);
    Mulhsu "mulhsu" R 0x0200_2033: Multiply(|a, b| ((a as i32 as i64 * b as i64) >> 32) as u32);
    Mulhu "mulhu" R 0x0200_3033: Multiply(|a, b| ((a as u64 * b as u64) >> 32) as u32);
    // Table 7.1: division by zero gives all ones, and the remainder is the dividend. The overflow
    // of -2^31 / -1 gives -2^31, remainder 0.
    Div "div" R 0x0200_4033: Multiply(|a, b| match b {
        0 => u32::MAX,
        _ => (a as i32).wrapping_div(b as i32) as u32,
    });
    Divu "divu" R 0x0200_5033: Multiply(|a, b| a.checked_div(b).unwrap_or(u32::MAX));
    Rem "rem" R 0x0200_6033: Multiply(|a, b| match b {
        0 => a,
        _ => (a as i32).wrapping_rem(b as i32) as u32,
    });
    Remu "remu" R 0x0200_7033: Multiply(|a, b| a.checked_rem(b).unwrap_or(a));
    Fence "fence" FENCE 0x0ff0_000f: Compute(|_, _| 0);
    Ecall "ecall" FIXED 0x73: System;
    Ebreak "ebreak" FIXED 0x10_0073: System;
    CAddi4spn "c.addi4spn" C_4SPN 0x0000 = Addi;
    CLw "c.lw" C_LW 0x4000 = Lw;
    CSw "c.sw" C_SW 0xc000 = Sw;
    CAddi "c.addi" C_I 0x0001 = Addi;
    CJal "c.jal" C_JAL 0x2001 = Jal;
    CLi "c.li" C_LI 0x4001 = Addi;
    CAddi16sp "c.addi16sp" C_16SP 0x6101 = Addi;
    CLui "c.lui" C_LUI 0x6001 = Lui;
    CSrli "c.srli" C_SHIFT 0x8001 = Srli;
    CSrai "c.srai" C_SHIFT 0x8401 = Srai;
    CAndi "c.andi" C_ANDI 0x8801 = Andi;
    CSub "c.sub" C_A 0x8c01 = Sub;
    CXor "c.xor" C_A 0x8c21 = Xor;
    COr "c.or" C_A 0x8c41 = Or;
    CAnd "c.and" C_A 0x8c61 = And;
    CJ "c.j" C_J 0xa001 = Jal;
    CBeqz "c.beqz" C_B 0xc001 = Beq;
    CBnez "c.bnez" C_B 0xe001 = Bne;
    CSlli "c.slli" C_SLLI 0x0002 = Slli;
    CLwsp "c.lwsp" C_LWSP 0x4002 = Lw;
    CJr "c.jr" C_JR 0x8002 = Jalr;
    CMv "c.mv" C_MV 0x8002 = Add;
    CEbreak "c.ebreak" FIXED 0x9002 = Ebreak;
    CJalr "c.jalr" C_JALR 0x9002 = Jalr;
    CAdd "c.add" C_ADD 0x9002 = Add;
    CSwsp "c.swsp" C_SWSP 0xc002 = Sw;
    La "la" LA 0x17;
    Word "word" WORD 0x0;
    Half "half" HALF 0x0;
}

impl Op {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its operands.
    pub const fn format(self) -> &'static Format {
        &self.row().format
    }

    /// Its effect, or that of the instruction that it abbreviates.
    pub const fn kind(self) -> Kind {
        self.row().base.row().kind
    }

    /// The length in bytes.
    pub const fn length(self) -> u32 {
        match self {
            Self::La => 8,
            Self::Word => 4,
            _ if self.row().word & 3 == 3 => 4,
            _ => 2,
        }
    }

    /// The instructions of this length whose effect is as `is_wanted` says.
    pub fn of_length(length: u32, is_wanted: impl Fn(Kind) -> bool) -> Vec<Self> {
        let is_wanted = |op: &Self| op.length() == length && is_wanted(op.kind());
        Self::ALL.iter().copied().filter(is_wanted).collect()
    }

    /// Whether an instruction of 16 bits abbreviates it.
    pub fn is_abbreviated(self) -> bool {
        Self::ALL.iter().any(|op| *op != self && op.row().base == self)
    }
}

cosim_core::traffic! {
    /// An instruction. Operands that are left out are 0.
    #[derive(Copy)]
    pub struct Instruction {
        /// The name, as in the specification; `la` is two instructions.
        op: Op,
        /// The destination register.
        rd: u8 = default,
        /// The first source register.
        rs1: u8 = default,
        /// The second source register.
        rs2: u8 = default,
        /// The immediate. In a program, that of a branch, a jump and `la` is the number of
        /// instructions from this one to the target; else in bytes.
        imm: i64 = default,
    }
}

impl Instruction {
    /// An instruction with its registers `rd`, `rs1` and `rs2`, and its immediate.
    pub const fn new(op: Op, [rd, rs1, rs2]: [u8; 3], imm: i64) -> Self {
        Self { op, rd, rs1, rs2, imm }
    }

    /// Whether it reads this register.
    pub fn reads(&self, register: u8) -> bool {
        let Format { rs1, rs2, .. } = self.op.format();
        *rs1 != NO && self.rs1 == register || *rs2 != NO && self.rs2 == register
    }

    /// Whether its operands fit.
    pub fn is_legal(&self) -> bool {
        let (Self { rd, rs1, rs2, imm, .. }, format) = (*self, self.op.format());
        let word = self.word();
        [format.rd, format.rs1, format.rs2].map(|place| place.decode(word))
            == [rd, rs1, rs2].map(Some)
            && (format.is_relative || format.decode(word) == imm)
    }

    /// The word of an instruction other than `la`, with a distance in bytes.
    pub fn word(&self) -> u32 {
        let Row { format, word, .. } = self.op.row();
        let (rd, rs2) = (format.rd.encode(self.rd), format.rs2.encode(self.rs2));
        let rs1 = if format.rs1 == format.rd { 0 } else { format.rs1.encode(self.rs1) };
        word | rd | rs1 | rs2 | format.encode(self.imm)
    }

    /// Its half-words.
    pub fn encode(&self) -> Vec<u16> {
        if self.op == Op::La {
            // `addi` adds a signed number of 12 bits, so the upper part is rounded.
            let auipc = Self::new(Op::Auipc, [self.rd, 0, 0], (self.imm + 0x800) >> 12);
            let addi = Self::new(Op::Addi, [self.rd, self.rd, 0], self.imm);
            return [auipc.encode(), addi.encode()].concat();
        }
        let word = self.word();
        [word as u16, (word >> 16) as u16][..self.op.length() as usize / 2].to_vec()
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, rd, rs1, rs2, imm } = *self;
        let (name, format) = (Op::VALUES[op as usize].name, op.format());
        let text = match op.kind() {
            Kind::Store(_) => format!("{name} x{rs2}, {imm}(x{rs1})"),
            Kind::Load(..) | Kind::Jump if format.rs1 != NO => {
                format!("{name} x{rd}, {imm}(x{rs1})")
            }
            _ => {
                let registers = [(format.rd, rd), (format.rs1, rs1), (format.rs2, rs2)];
                let registers = registers.iter().filter(|(place, _)| *place != NO);
                let immediate = (format.immediates().1 > 0).then(|| imm.to_string());
                let operands = registers.map(|(_, register)| format!("x{register}"));
                format!("{name} {}", operands.chain(immediate).collect::<Vec<_>>().join(", "))
            }
        };
        f.write_str(text.trim_end())
    }
}

/// The length in bytes of an instruction that begins with this half-word.
pub const fn length(first: u32, has_compressed: bool) -> u32 {
    if has_compressed && first & 3 != 3 { 2 } else { 4 }
}

/// The instruction of a word. A compressed one is that which it abbreviates; it is in the low half.
/// `None` if it is illegal or reserved. HINTs are instructions without effect.
pub fn decode(word: u32, has_compressed: bool) -> Option<Instruction> {
    let length = length(word, has_compressed);
    let word = if length == 2 { word & 0xffff } else { word };
    Op::ALL[..Op::La as usize].iter().find_map(|op| {
        let Row { format, base, word: fixed, .. } = op.row();
        if op.length() != length || (word ^ fixed) & 3 != 0 {
            return None;
        }
        let (rd, rs1) = (format.rd.decode(word)?, format.rs1.decode(word)?);
        let rs2 = format.rs2.decode(word)?;
        let found = Instruction { op: *op, rd, rs1, rs2, imm: format.decode(word) };
        let is_same = (found.word() ^ word) & !format.ignored == 0;
        let is_legal = is_same && !(format.is_not_zero && found.imm == 0);
        is_legal.then_some(Instruction { op: *base, ..found })
    })
}

/// The instruction of a word, in words.
pub fn disassemble(word: u32, has_compressed: bool) -> String {
    match decode(word, has_compressed) {
        Some(instruction) => instruction.to_string(),
        None => format!("illegal {word:#010x}"),
    }
}
