//! The assembler: the encoding of each instruction, from the tables of the specification. It only
//! makes stimulus; the instruction-set model decodes words by itself.

use crate::stimulus::Line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a register in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The instruction has no such operand.
    No,
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
            Self::No => register == 0,
            Self::At(_) => register < 32,
            Self::NotZero(_) => 0 < register && register < 32,
            Self::Short(_) => 8 <= register && register < 16,
        }
    }

    /// The registers that fit, in words.
    pub const fn registers(self) -> &'static str {
        match self {
            Self::No => "no register",
            Self::At(_) => "x0 to x31",
            Self::NotZero(_) => "x1 to x31",
            Self::Short(_) => "x8 to x15",
        }
    }

    const fn encode(self, register: u64) -> u32 {
        match self {
            Self::No => 0,
            Self::At(low) | Self::NotZero(low) => (register as u32) << low,
            Self::Short(low) => (register as u32 & 7) << low,
        }
    }
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
    /// The immediate is the distance to a target.
    pub is_relative: bool,
}

impl Format {
    const fn new(rd: Place, rs1: Place, rs2: Place, parts: &'static [(u32, u32, u32)]) -> Self {
        Self { rd, rs1, rs2, parts, is_signed: true, is_relative: false }
    }

    const fn unsigned(self) -> Self {
        Self { is_signed: false, ..self }
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

    fn immediate(&self, value: u32) -> u32 {
        let part = |(high, low, at): &(u32, u32, u32)| {
            (u64::from(value) >> low & ((1 << (high - low + 1)) - 1)) << at
        };
        self.parts.iter().map(part).sum::<u64>() as u32
    }
}

use Place::{At, No, NotZero, Short};

const RD: Place = At(7);
const RS1: Place = At(15);
const RS2: Place = At(20);
const FIXED: Format = Format::new(No, No, No, &[]);
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
    Format::new(Short(2), No, No, &[(5, 4, 11), (9, 6, 7), (2, 2, 6), (3, 3, 5)]).unsigned();
const C_LW: Format =
    Format::new(Short(2), Short(7), No, &[(5, 3, 10), (2, 2, 6), (6, 6, 5)]).unsigned();
const C_SW: Format =
    Format::new(No, Short(7), Short(2), &[(5, 3, 10), (2, 2, 6), (6, 6, 5)]).unsigned();
const C_I: Format = Format::new(RD, No, No, SIX);
const C_16SP: Format =
    Format::new(No, No, No, &[(9, 9, 12), (4, 4, 6), (6, 6, 5), (8, 7, 3), (5, 5, 2)]);
const C_SHIFT: Format = Format::new(Short(7), No, No, &[(4, 0, 2)]).unsigned();
const C_SLLI: Format = Format::new(RD, No, No, &[(4, 0, 2)]).unsigned();
const C_ANDI: Format = Format::new(Short(7), No, No, SIX);
const C_A: Format = Format::new(Short(7), No, Short(2), &[]);
const C_R: Format = Format::new(RD, No, NotZero(2), &[]);
const C_JR: Format = Format::new(No, NotZero(7), No, &[]);
const C_J: Format = Format::new(
    No,
    No,
    No,
    &[(11, 11, 12), (4, 4, 11), (9, 8, 9), (10, 10, 8), (6, 6, 7), (7, 7, 6), (3, 1, 3), (5, 5, 2)],
)
.relative();
const C_B: Format =
    Format::new(No, Short(7), No, &[(8, 8, 12), (4, 3, 10), (7, 6, 5), (2, 1, 3), (5, 5, 2)])
        .relative();
const C_LWSP: Format = Format::new(RD, No, No, &[(5, 5, 12), (4, 2, 4), (7, 6, 2)]).unsigned();
const C_SWSP: Format = Format::new(No, No, At(2), &[(5, 2, 9), (7, 6, 7)]).unsigned();

/// Declares the instructions: variant, name, format, and the bits that are no operands.
macro_rules! instructions {
    ($( $variant:ident $name:literal $format:ident $word:literal; )+) => {
        /// An instruction by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Op {
            $( #[doc = $name] #[serde(rename = $name)] $variant, )+
        }

        impl Op {
            /// Its operands.
            pub const fn format(self) -> Format {
                match self { $( Self::$variant => $format, )+ }
            }

            /// Its bits that are no operands.
            const fn word(self) -> u32 {
                match self { $( Self::$variant => $word, )+ }
            }
        }
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
    Fence "fence" FIXED 0x0ff0_000f;
    Ecall "ecall" FIXED 0x73;
    Ebreak "ebreak" FIXED 0x10_0073;
    CAddi4spn "c.addi4spn" C_4SPN 0x0000;
    CLw "c.lw" C_LW 0x4000;
    CSw "c.sw" C_SW 0xc000;
    CAddi "c.addi" C_I 0x0001;
    CJal "c.jal" C_J 0x2001;
    CLi "c.li" C_I 0x4001;
    CAddi16sp "c.addi16sp" C_16SP 0x6101;
    CLui "c.lui" C_I 0x6001;
    CSrli "c.srli" C_SHIFT 0x8001;
    CSrai "c.srai" C_SHIFT 0x8401;
    CAndi "c.andi" C_ANDI 0x8801;
    CSub "c.sub" C_A 0x8c01;
    CXor "c.xor" C_A 0x8c21;
    COr "c.or" C_A 0x8c41;
    CAnd "c.and" C_A 0x8c61;
    CJ "c.j" C_J 0xa001;
    CBeqz "c.beqz" C_B 0xc001;
    CBnez "c.bnez" C_B 0xe001;
    CSlli "c.slli" C_SLLI 0x0002;
    CLwsp "c.lwsp" C_LWSP 0x4002;
    CJr "c.jr" C_JR 0x8002;
    CMv "c.mv" C_R 0x8002;
    CEbreak "c.ebreak" FIXED 0x9002;
    CJalr "c.jalr" C_JR 0x9002;
    CAdd "c.add" C_R 0x9002;
    CSwsp "c.swsp" C_SWSP 0xc002;
    Li "li" LI 0x37;
    La "la" LA 0x17;
    Word "word" WORD 0x0;
    Half "half" HALF 0x0;
}

impl Op {
    /// The length in bytes.
    pub const fn length(self) -> u32 {
        match self {
            Self::Li | Self::La => 8,
            Self::Half => 2,
            Self::Word => 4,
            _ if self.word() & 3 == 3 => 4,
            _ => 2,
        }
    }

    /// The half-words of an instruction whose target is `distance` bytes ahead.
    pub fn encode(self, line: &Line, distance: i32) -> Vec<u16> {
        let format = self.format();
        let value = if format.is_relative { distance } else { line.imm as i32 }.cast_unsigned();
        if matches!(self, Self::Li | Self::La) {
            // `addi` adds a signed number of 12 bits, so the upper part is rounded.
            let rd = RD.encode(line.rd.get());
            let upper = value.wrapping_add(0x800) & 0xffff_f000;
            let addi = I.immediate(value) | rd | RS1.encode(line.rd.get()) | Self::Addi.word();
            return [halves(upper | rd | self.word()), halves(addi)].concat();
        }
        let word = self.word()
            | format.rd.encode(line.rd.get())
            | format.rs1.encode(line.rs1.get())
            | format.rs2.encode(line.rs2.get())
            | format.immediate(value);
        halves(word)[..self.length() as usize / 2].to_vec()
    }
}

fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stimulus::disassemble;

    /// What the model decodes from the assembled instruction.
    fn read(line: Line, distance: i32) -> String {
        let halves = line.op.encode(&line, distance);
        let upper = halves.get(1).map_or(0, |half| u32::from(*half) << 16);
        disassemble(u32::from(halves[0]) | upper, true)
    }

    #[test]
    fn each_format_is_read_as_it_was_written() {
        let all = |op| Line::new(op).rd(1).rs1(2).rs2(3);
        assert_eq!(read(all(Op::Sub), 0), "sub x1, x2, x3");
        assert_eq!(read(all(Op::Addi).imm(-2048), 0), "addi x1, x2, -2048");
        assert_eq!(read(all(Op::Sw).imm(-1), 0), "sw x3, -1(x2)");
        assert_eq!(read(all(Op::Bltu), -4096), "bltu x2, x3, pc-4096");
        assert_eq!(read(all(Op::Bltu), 2730), "bltu x2, x3, pc+2730");
        assert_eq!(read(all(Op::Jal), 0xa_aaaa), "jal x1, pc+699050");
        assert_eq!(read(all(Op::Lui).imm(0xabcde), 0), "lui x1, 0xabcde");
        assert_eq!(read(all(Op::Srai).imm(31), 0), "srai x1, x2, 31");
        let short = |op| Line::new(op).rd(9).rs1(10).rs2(11);
        assert_eq!(read(short(Op::CAddi4spn).imm(680), 0), "addi x9, x2, 680");
        assert_eq!(read(short(Op::CAddi4spn).imm(340), 0), "addi x9, x2, 340");
        assert_eq!(read(short(Op::CLw).imm(84), 0), "lw x9, 84(x10)");
        assert_eq!(read(short(Op::CSw).imm(40), 0), "sw x11, 40(x10)");
        assert_eq!(read(short(Op::CAddi16sp).imm(-352), 0), "addi x2, x2, -352");
        assert_eq!(read(short(Op::CJ), 1364), "jal x0, pc+1364");
        assert_eq!(read(short(Op::CJal), -1366), "jal x1, pc-1366");
        assert_eq!(read(short(Op::CBnez), 170), "bne x10, x0, pc+170");
        assert_eq!(read(short(Op::CLwsp).imm(168), 0), "lw x9, 168(x2)");
        assert_eq!(read(short(Op::CSwsp).imm(84), 0), "sw x11, 84(x2)");
        assert_eq!(read(short(Op::CSub), 0), "sub x9, x9, x11");
    }

    #[test]
    fn li_loads_any_word() {
        for value in [0, 0x7ff, 0x800, 0xffff_f800, 0x8000_0000, 0x1234_5fff] {
            let line = Line::new(Op::Li).rd(5).imm(value);
            let mut cpu = crate::isa::Cpu::new(0);
            for pair in line.op.encode(&line, 0).chunks(2) {
                let word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
                let instruction = crate::isa::decode(word, true).unwrap();
                cpu.execute(&instruction, 4, true);
            }
            assert_eq!(i64::from(cpu.get(5)), value);
        }
    }

    #[test]
    fn immediates_have_the_range_of_their_format() {
        assert_eq!(I.immediates(), (-2048, 2047, 1));
        assert_eq!(C_16SP.immediates(), (-512, 496, 16));
        assert_eq!(C_LW.immediates(), (0, 124, 4));
        assert_eq!(FIXED.immediates(), (0, 0, 1));
    }
}
