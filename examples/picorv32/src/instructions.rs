//! The instruction set: RV32IMC as one table, written from the RISC-V unprivileged specification
//! (version 20191213, chapters 2, 7, 16 and 24) and from nothing else.
//!
//! Programs are assembled from the table, and the model decodes words by it. The core decodes by
//! itself, so a wrong row shows.

use crate::stimulus::Line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The place of a register in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The instruction has no such operand.
    No,
    /// It is always this register.
    Is(u8),
    /// It is the destination.
    Same,
    /// Five bits from this bit on.
    At(u32),
    /// The same, but not `x0`, which is another instruction.
    NotZero(u32),
    /// Three bits from this bit on: `x8` to `x15`.
    Short(u32),
}

impl Place {
    /// Whether the register fits.
    pub const fn allows(self, register: u64) -> bool {
        match self {
            No | Is(_) | Same => register == 0,
            At(_) => register < 32,
            NotZero(_) => 0 < register && register < 32,
            Short(_) => 8 <= register && register < 16,
        }
    }

    /// The registers that fit, in words.
    pub const fn registers(self) -> &'static str {
        match self {
            No | Is(_) | Same => "no register",
            At(_) => "x0 to x31",
            NotZero(_) => "x1 to x31",
            Short(_) => "x8 to x15",
        }
    }

    /// Its lowest bit and its width.
    const fn field(self) -> (u32, u32) {
        match self {
            No | Is(_) | Same => (0, 0),
            At(low) | NotZero(low) => (low, 5),
            Short(low) => (low, 3),
        }
    }

    const fn encode(self, register: u64) -> u32 {
        let (low, width) = self.field();
        (register as u32 & ones(width)) << low
    }

    /// The register in a word whose destination is `rd`; `None` if the word is another instruction.
    fn decode(self, word: u32, rd: u8) -> Option<u8> {
        let (low, width) = self.field();
        let field = (word >> low & ones(width)) as u8;
        match self {
            Is(register) => Some(register),
            Same => Some(rd),
            Short(_) => Some(8 + field),
            NotZero(_) if field == 0 => None,
            No | At(_) | NotZero(_) => Some(field),
        }
    }
}

/// A word with this many ones at its low end.
const fn ones(width: u32) -> u32 {
    ((1_u64 << width) - 1) as u32
}

/// The low `width` bits of a value, sign-extended.
pub const fn signed(value: u32, width: u32) -> u32 {
    (value.cast_signed() << (32 - width) >> (32 - width)).cast_unsigned()
}

/// The operands of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Place of the destination.
    pub rd: Place,
    /// Place of the first source.
    pub rs1: Place,
    /// Place of the second source.
    pub rs2: Place,
    /// Parts of the immediate: its bits from high to low, and the place of the lowest.
    parts: &'static [(u32, u32, u32)],
    is_signed: bool,
    /// Immediate 0 is reserved.
    is_not_zero: bool,
    /// The immediate is the distance to a target.
    pub is_relative: bool,
    /// Bits that are ignored.
    ignored: u32,
}

impl Format {
    const fn new(rd: Place, rs1: Place, rs2: Place, parts: &'static [(u32, u32, u32)]) -> Self {
        let (is_signed, is_not_zero, is_relative) = (true, false, false);
        Self { rd, rs1, rs2, parts, is_signed, is_not_zero, is_relative, ignored: 0 }
    }

    const fn unsigned(self) -> Self {
        Self { is_signed: false, ..self }
    }

    const fn not_zero(self) -> Self {
        Self { is_not_zero: true, ..self }
    }

    const fn relative(self) -> Self {
        Self { is_relative: true, ..self }
    }

    /// The smallest and the largest immediate, and the number of which each is a multiple.
    pub fn immediates(&self) -> (i64, i64, i64) {
        let Some(high) = self.parts.iter().map(|part| part.0).max() else { return (0, 0, 1) };
        let low = self.parts.iter().map(|part| part.1).min().unwrap_or(0);
        let (least, most) =
            if self.is_signed { (-(1 << high), 1 << high) } else { (0, 1 << (high + 1)) };
        (least, most - (1 << low), 1 << low)
    }

    fn encode(&self, immediate: u32) -> u32 {
        let part =
            |(high, low, at): &(u32, u32, u32)| (immediate >> low & ones(high - low + 1)) << at;
        self.parts.iter().map(part).sum()
    }

    /// The immediate in a word; `None` if it is reserved.
    fn decode(&self, word: u32) -> Option<u32> {
        let part = |(high, low, at): &(u32, u32, u32)| (word >> at & ones(high - low + 1)) << low;
        let value: u32 = self.parts.iter().map(part).sum();
        let width = self.parts.iter().map(|part| part.0 + 1).max().unwrap_or(32);
        let value = if self.is_signed { signed(value, width) } else { value };
        (value != 0 || !self.is_not_zero).then_some(value)
    }

    /// The bits that say which instruction a word is.
    const fn fixed(&self) -> u32 {
        let (mut operands, mut index) = (self.ignored, 0);
        let places = [self.rd, self.rs1, self.rs2];
        while index < 3 {
            let (low, width) = places[index].field();
            operands |= ones(width) << low;
            index += 1;
        }
        index = 0;
        while index < self.parts.len() {
            let (high, low, at) = self.parts[index];
            operands |= ones(high - low + 1) << at;
            index += 1;
        }
        !operands
    }
}

use Place::{At, Is, No, NotZero, Same, Short};

const RD: Place = At(7);
const RS1: Place = At(15);
const RS2: Place = At(20);
const SP: Place = Is(2);
const FIXED: Format = Format::new(No, No, No, &[]);
/// Section 2.7: fields of FENCE that are not used are ignored.
const FENCE: Format = Format { ignored: 0xffff_8f80, ..FIXED };
const R: Format = Format::new(RD, RS1, RS2, &[]);
const I: Format = Format::new(RD, RS1, No, &[(11, 0, 20)]);
const SHIFT: Format = Format::new(RD, RS1, No, &[(4, 0, 20)]).unsigned();
const S: Format = Format::new(No, RS1, RS2, &[(11, 5, 25), (4, 0, 7)]);
const B: Format =
    Format::new(No, RS1, RS2, &[(12, 12, 31), (10, 5, 25), (4, 1, 8), (11, 11, 7)]).relative();
const U: Format = Format::new(RD, No, No, &[(19, 0, 12)]).unsigned();
const J: Format =
    Format::new(RD, No, No, &[(20, 20, 31), (10, 1, 21), (11, 11, 20), (19, 12, 12)]).relative();
/// A word as it is.
const WORD: Format = Format::new(No, No, No, &[(31, 0, 0)]).unsigned();
const HALF: Format = Format::new(No, No, No, &[(15, 0, 0)]).unsigned();
/// Two instructions.
const LI: Format = Format::new(RD, No, No, &[(31, 0, 0)]).unsigned();
const LA: Format = Format::new(RD, No, No, &[]).relative();

const SIX: &[(u32, u32, u32)] = &[(5, 5, 12), (4, 0, 2)];
const C_4SPN: Format =
    Format::new(Short(2), SP, No, &[(5, 4, 11), (9, 6, 7), (2, 2, 6), (3, 3, 5)])
        .unsigned()
        .not_zero();
const C_LW: Format =
    Format::new(Short(2), Short(7), No, &[(5, 3, 10), (2, 2, 6), (6, 6, 5)]).unsigned();
const C_SW: Format = Format { rd: No, rs2: Short(2), ..C_LW };
const C_I: Format = Format::new(RD, Same, No, SIX);
const C_LI: Format = Format { rs1: No, ..C_I };
const C_LUI: Format = C_LI.not_zero();
const C_16SP: Format =
    Format::new(SP, SP, No, &[(9, 9, 12), (4, 4, 6), (6, 6, 5), (8, 7, 3), (5, 5, 2)]).not_zero();
const C_SHIFT: Format = Format::new(Short(7), Same, No, &[(4, 0, 2)]).unsigned();
const C_SLLI: Format = Format { rd: RD, ..C_SHIFT };
const C_ANDI: Format = Format { rd: Short(7), ..C_I };
const C_A: Format = Format::new(Short(7), Same, Short(2), &[]);
const C_MV: Format = Format::new(RD, No, NotZero(2), &[]);
const C_ADD: Format = Format { rs1: Same, ..C_MV };
const C_JR: Format = Format::new(No, NotZero(7), No, &[]);
const C_JALR: Format = Format { rd: Is(1), ..C_JR };
#[rustfmt::skip]
const C_J: Format = Format::new(No, No, No, &[
    (11, 11, 12), (4, 4, 11), (9, 8, 9), (10, 10, 8), (6, 6, 7), (7, 7, 6), (3, 1, 3), (5, 5, 2),
]).relative();
const C_JAL: Format = Format { rd: Is(1), ..C_J };
const C_B: Format =
    Format::new(No, Short(7), No, &[(8, 8, 12), (4, 3, 10), (7, 6, 5), (2, 1, 3), (5, 5, 2)])
        .relative();
const C_LWSP: Format =
    Format::new(NotZero(7), SP, No, &[(5, 5, 12), (4, 2, 4), (7, 6, 2)]).unsigned();
const C_SWSP: Format = Format::new(No, SP, At(2), &[(5, 2, 9), (7, 6, 7)]).unsigned();

/// A row of the table.
struct Row {
    op: Op,
    format: Format,
    /// The bits that are no operands.
    word: u32,
    fixed: u32,
    /// The instruction that it abbreviates, or itself.
    base: Op,
}

/// Declares the instructions: variant, name, format, the bits that are no operands, and the
/// instruction that a compressed one abbreviates.
macro_rules! instructions {
    ($( $variant:ident $name:literal $format:ident $word:literal $($base:ident)?; )+) => {
        /// An instruction by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Op {
            $( #[doc = $name] #[serde(rename = $name)] $variant, )+
        }

        impl Op {
            /// Its name.
            const fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }
        }

        const ROWS: &[Row] = &[$( Row {
            op: Op::$variant,
            format: $format,
            word: $word,
            fixed: $format.fixed(),
            base: [$(Op::$base,)? Op::$variant][0],
        } ),+];
    };
}

instructions! {
    Lui "lui" U 0x37;
    Auipc "auipc" U 0x17;
    Jal "jal" J 0x6f;
    Jalr "jalr" I 0x67;
    Beq "beq" B 0x63;
    Bne "bne" B 0x1063;
    Blt "blt" B 0x4063;
    Bge "bge" B 0x5063;
    Bltu "bltu" B 0x6063;
    Bgeu "bgeu" B 0x7063;
    Lb "lb" I 0x03;
    Lh "lh" I 0x1003;
    Lw "lw" I 0x2003;
    Lbu "lbu" I 0x4003;
    Lhu "lhu" I 0x5003;
    Sb "sb" S 0x23;
    Sh "sh" S 0x1023;
    Sw "sw" S 0x2023;
    Addi "addi" I 0x13;
    Slti "slti" I 0x2013;
    Sltiu "sltiu" I 0x3013;
    Xori "xori" I 0x4013;
    Ori "ori" I 0x6013;
    Andi "andi" I 0x7013;
    Slli "slli" SHIFT 0x1013;
    Srli "srli" SHIFT 0x5013;
    Srai "srai" SHIFT 0x4000_5013;
    Add "add" R 0x33;
    Sub "sub" R 0x4000_0033;
    Sll "sll" R 0x1033;
    Slt "slt" R 0x2033;
    Sltu "sltu" R 0x3033;
    Xor "xor" R 0x4033;
    Srl "srl" R 0x5033;
    Sra "sra" R 0x4000_5033;
    Or "or" R 0x6033;
    And "and" R 0x7033;
    Mul "mul" R 0x0200_0033;
    Mulh "mulh" R 0x0200_1033;
    Mulhsu "mulhsu" R 0x0200_2033;
    Mulhu "mulhu" R 0x0200_3033;
    Div "div" R 0x0200_4033;
    Divu "divu" R 0x0200_5033;
    Rem "rem" R 0x0200_6033;
    Remu "remu" R 0x0200_7033;
    Fence "fence" FENCE 0x0ff0_000f;
    Ecall "ecall" FIXED 0x73;
    Ebreak "ebreak" FIXED 0x10_0073;
    CAddi4spn "c.addi4spn" C_4SPN 0x0000 Addi;
    CLw "c.lw" C_LW 0x4000 Lw;
    CSw "c.sw" C_SW 0xc000 Sw;
    CAddi "c.addi" C_I 0x0001 Addi;
    CJal "c.jal" C_JAL 0x2001 Jal;
    CLi "c.li" C_LI 0x4001 Addi;
    CAddi16sp "c.addi16sp" C_16SP 0x6101 Addi;
    CLui "c.lui" C_LUI 0x6001 Lui;
    CSrli "c.srli" C_SHIFT 0x8001 Srli;
    CSrai "c.srai" C_SHIFT 0x8401 Srai;
    CAndi "c.andi" C_ANDI 0x8801 Andi;
    CSub "c.sub" C_A 0x8c01 Sub;
    CXor "c.xor" C_A 0x8c21 Xor;
    COr "c.or" C_A 0x8c41 Or;
    CAnd "c.and" C_A 0x8c61 And;
    CJ "c.j" C_J 0xa001 Jal;
    CBeqz "c.beqz" C_B 0xc001 Beq;
    CBnez "c.bnez" C_B 0xe001 Bne;
    CSlli "c.slli" C_SLLI 0x0002 Slli;
    CLwsp "c.lwsp" C_LWSP 0x4002 Lw;
    CJr "c.jr" C_JR 0x8002 Jalr;
    CMv "c.mv" C_MV 0x8002 Add;
    CEbreak "c.ebreak" FIXED 0x9002 Ebreak;
    CJalr "c.jalr" C_JALR 0x9002 Jalr;
    CAdd "c.add" C_ADD 0x9002 Add;
    CSwsp "c.swsp" C_SWSP 0xc002 Sw;
    Li "li" LI 0x37;
    La "la" LA 0x17;
    Word "word" WORD 0x0;
    Half "half" HALF 0x0;
}

impl Op {
    /// A jump that is always taken.
    pub const fn is_jump(self) -> bool {
        matches!(self, Self::Jal | Self::Jalr)
    }

    /// A conditional branch.
    pub const fn is_branch(self) -> bool {
        matches!(self, Self::Beq | Self::Bne | Self::Blt | Self::Bge | Self::Bltu | Self::Bgeu)
    }

    /// A load.
    pub const fn is_load(self) -> bool {
        matches!(self, Self::Lb | Self::Lh | Self::Lw | Self::Lbu | Self::Lhu)
    }

    /// A store.
    pub const fn is_store(self) -> bool {
        matches!(self, Self::Sb | Self::Sh | Self::Sw)
    }

    /// Whether it has a first and a second source register.
    pub const fn reads(self) -> [bool; 2] {
        [!matches!(self.format().rs1, No), !matches!(self.format().rs2, No)]
    }

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its operands.
    pub const fn format(self) -> &'static Format {
        &self.row().format
    }

    /// The length in bytes.
    pub const fn length(self) -> u32 {
        match self {
            Self::Li | Self::La => 8,
            Self::Half => 2,
            Self::Word => 4,
            _ if self.row().word & 3 == 3 => 4,
            _ => 2,
        }
    }

    /// The half-words of an instruction whose target is `distance` bytes ahead.
    pub fn encode(self, line: &Line, distance: i32) -> Vec<u16> {
        let Row { format, word, .. } = self.row();
        let value = if format.is_relative { distance } else { line.imm as i32 }.cast_unsigned();
        let rd = format.rd.encode(line.rd.get());
        if matches!(self, Self::Li | Self::La) {
            // `addi` adds a signed number of 12 bits, so the upper part is rounded.
            let upper = value.wrapping_add(0x800) & 0xffff_f000;
            let addi = I.encode(value) | rd | RS1.encode(line.rd.get()) | Self::Addi.row().word;
            return [halves(upper | rd | word), halves(addi)].concat();
        }
        let sources = format.rs1.encode(line.rs1.get()) | format.rs2.encode(line.rs2.get());
        halves(word | rd | sources | format.encode(value))[..self.length() as usize / 2].to_vec()
    }
}

fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

/// A decoded instruction. A compressed one is that which it abbreviates. Registers and the
/// immediate are 0 if the operation has none.
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
        let (name, imm) = (op.name(), imm.cast_signed());
        match op {
            Op::Fence | Op::Ecall | Op::Ebreak => write!(f, "{name}"),
            Op::Lui | Op::Auipc => write!(f, "{name} x{rd}, {:#x}", imm.cast_unsigned() >> 12),
            Op::Jal => write!(f, "{name} x{rd}, pc{imm:+}"),
            _ if op.is_branch() => write!(f, "{name} x{rs1}, x{rs2}, pc{imm:+}"),
            _ if op.is_store() => write!(f, "{name} x{rs2}, {imm}(x{rs1})"),
            _ if op.is_load() || op == Op::Jalr => write!(f, "{name} x{rd}, {imm}(x{rs1})"),
            _ if !op.reads()[1] => write!(f, "{name} x{rd}, x{rs1}, {imm}"),
            _ => write!(f, "{name} x{rd}, x{rs1}, x{rs2}"),
        }
    }
}

/// The length in bytes of an instruction that begins with this half-word.
pub const fn length(first: u32, has_compressed: bool) -> u32 {
    if has_compressed && first & 3 != 3 { 2 } else { 4 }
}

/// The instruction of a word. A 16-bit instruction is in the low half. `None` if it is illegal or
/// reserved. HINTs are instructions without effect.
pub fn decode(word: u32, has_compressed: bool) -> Option<Instruction> {
    let length = length(word, has_compressed);
    let word = if length == 2 { word & 0xffff } else { word };
    ROWS[..Op::Li as usize].iter().find_map(|row| {
        let Row { format, base, .. } = row;
        if word & row.fixed != row.word & row.fixed || row.op.length() != length {
            return None;
        }
        let rd = format.rd.decode(word, 0)?;
        let (rs1, rs2) = (format.rs1.decode(word, rd)?, format.rs2.decode(word, rd)?);
        let imm = format.decode(word)?;
        let imm = if matches!(base, Op::Lui | Op::Auipc) { imm << 12 } else { imm };
        Some(Instruction { op: *base, rd, rs1, rs2, imm })
    })
}

/// The word at an address as an instruction, in words.
pub fn disassemble(word: u32, has_compressed: bool) -> String {
    match decode(word, has_compressed) {
        Some(instruction) => instruction.to_string(),
        None => format!("illegal {word:#010x}"),
    }
}
