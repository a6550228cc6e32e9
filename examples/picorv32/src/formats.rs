//! The formats of instructions: the places of registers and immediates in a word, from chapters 2
//! and 16 of the specification.

use std::ops::Range;

/// The place of a register in an instruction: some bits from `low` on, which are added to `base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    low: u32,
    bits: u32,
    base: u8,
    /// The first register that is legal.
    least: u8,
}

impl Place {
    /// The registers that are legal.
    pub const fn registers(self) -> Range<u8> {
        self.least..self.base + (1 << self.bits)
    }

    /// The bits of a register in a word.
    pub const fn encode(self, register: u8) -> u32 {
        (register.wrapping_sub(self.base) as u32 & ones(self.bits)) << self.low
    }

    /// The register in a word; `None` if the word is another instruction.
    pub const fn decode(self, word: u32) -> Option<u8> {
        let register = self.base + (word >> self.low & ones(self.bits)) as u8;
        if register < self.least { None } else { Some(register) }
    }
}

/// The instruction has no such operand, or it is always `x0`.
pub const NO: Place = is(0);
const SP: Place = is(2);
const RD: Place = at(7);
const RS1: Place = at(15);
const RS2: Place = at(20);

/// Always this register.
const fn is(base: u8) -> Place {
    Place { low: 0, bits: 0, base, least: base }
}

const fn at(low: u32) -> Place {
    Place { low, bits: 5, base: 0, least: 0 }
}

/// Not `x0`, which is another instruction.
const fn not_zero(low: u32) -> Place {
    Place { least: 1, ..at(low) }
}

/// Three bits: `x8` to `x15`.
const fn short(low: u32) -> Place {
    Place { low, bits: 3, base: 8, least: 8 }
}

/// A word with this many ones at its low end.
const fn ones(width: u32) -> u32 {
    ((1_u64 << width) - 1) as u32
}

/// The operands of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Place of the destination.
    pub rd: Place,
    /// Place of the first source, which may be that of the destination.
    pub rs1: Place,
    /// Place of the second source.
    pub rs2: Place,
    /// Parts of the immediate: its bits from high to low, and the place of the lowest.
    parts: &'static [(u32, u32, u32)],
    is_signed: bool,
    /// Immediate 0 is reserved.
    pub is_not_zero: bool,
    /// The immediate is the distance to a target.
    pub is_relative: bool,
    /// Bits that are ignored.
    pub ignored: u32,
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

    /// The number of bits of the immediate, from bit 0 on.
    fn width(&self) -> u32 {
        self.parts.iter().map(|part| part.0 + 1).max().unwrap_or(0)
    }

    /// The smallest and the largest immediate, and the number of which each is a multiple.
    pub fn immediates(&self) -> (i64, i64, i64) {
        let step = 1 << self.parts.iter().map(|part| part.1).min().unwrap_or(0);
        match (self.is_signed, self.width()) {
            (_, 0) => (0, 0, 1),
            (true, width) => (-(1 << (width - 1)), (1 << (width - 1)) - step, step),
            (false, width) => (0, (1 << width) - step, step),
        }
    }

    /// The bits of an immediate in a word.
    pub fn encode(&self, immediate: i64) -> u32 {
        let part = |(high, low, at): &(u32, u32, u32)| {
            (immediate as u32 >> low & ones(high - low + 1)) << at
        };
        self.parts.iter().map(part).sum()
    }

    /// The immediate in a word.
    pub fn decode(&self, word: u32) -> i64 {
        let part = |(high, low, at): &(u32, u32, u32)| (word >> at & ones(high - low + 1)) << low;
        let value: u32 = self.parts.iter().map(part).sum();
        match (self.is_signed, 32 - self.width()) {
            (true, unused @ 0..32) => ((value << unused) as i32 >> unused).into(),
            _ => value.into(),
        }
    }
}

pub const FIXED: Format = Format::new(NO, NO, NO, &[]);
/// Section 2.7: fields of FENCE that are not used are ignored.
pub const FENCE: Format = Format { ignored: 0xffff_8f80, ..FIXED };
pub const R: Format = Format::new(RD, RS1, RS2, &[]);
pub const I: Format = Format::new(RD, RS1, NO, &[(11, 0, 20)]);
pub const SHIFT: Format = Format::new(RD, RS1, NO, &[(4, 0, 20)]).unsigned();
pub const S: Format = Format::new(NO, RS1, RS2, &[(11, 5, 25), (4, 0, 7)]);
pub const B: Format =
    Format::new(NO, RS1, RS2, &[(12, 12, 31), (10, 5, 25), (4, 1, 8), (11, 11, 7)]).relative();
pub const U: Format = Format::new(RD, NO, NO, &[(19, 0, 12)]).unsigned();
pub const J: Format =
    Format::new(RD, NO, NO, &[(20, 20, 31), (10, 1, 21), (11, 11, 20), (19, 12, 12)]).relative();
/// A word as it is.
pub const WORD: Format = Format::new(NO, NO, NO, &[(31, 0, 0)]).unsigned();
pub const HALF: Format = Format::new(NO, NO, NO, &[(15, 0, 0)]).unsigned();
/// Two instructions.
pub const LA: Format = Format::new(RD, NO, NO, &[]).relative();

const SIX: &[(u32, u32, u32)] = &[(5, 5, 12), (4, 0, 2)];
pub const C_4SPN: Format =
    Format::new(short(2), SP, NO, &[(5, 4, 11), (9, 6, 7), (2, 2, 6), (3, 3, 5)])
        .unsigned()
        .not_zero();
pub const C_LW: Format =
    Format::new(short(2), short(7), NO, &[(5, 3, 10), (2, 2, 6), (6, 6, 5)]).unsigned();
pub const C_SW: Format = Format { rd: NO, rs2: short(2), ..C_LW };
pub const C_I: Format = Format::new(RD, RD, NO, SIX);
pub const C_LI: Format = Format { rs1: NO, ..C_I };
pub const C_LUI: Format = C_LI.not_zero();
pub const C_16SP: Format =
    Format::new(SP, SP, NO, &[(9, 9, 12), (4, 4, 6), (6, 6, 5), (8, 7, 3), (5, 5, 2)]).not_zero();
pub const C_SHIFT: Format = Format::new(short(7), short(7), NO, &[(4, 0, 2)]).unsigned();
pub const C_SLLI: Format = Format { rd: RD, rs1: RD, ..C_SHIFT };
pub const C_ANDI: Format = Format { rd: short(7), rs1: short(7), ..C_I };
pub const C_A: Format = Format::new(short(7), short(7), short(2), &[]);
pub const C_MV: Format = Format::new(RD, NO, not_zero(2), &[]);
pub const C_ADD: Format = Format { rs1: RD, ..C_MV };
pub const C_JR: Format = Format::new(NO, not_zero(7), NO, &[]);
pub const C_JALR: Format = Format { rd: is(1), ..C_JR };
#[rustfmt::skip]
pub const C_J: Format = Format::new(NO, NO, NO, &[
    (11, 11, 12), (4, 4, 11), (9, 8, 9), (10, 10, 8), (6, 6, 7), (7, 7, 6), (3, 1, 3), (5, 5, 2),
]).relative();
pub const C_JAL: Format = Format { rd: is(1), ..C_J };
pub const C_B: Format =
    Format::new(NO, short(7), NO, &[(8, 8, 12), (4, 3, 10), (7, 6, 5), (2, 1, 3), (5, 5, 2)])
        .relative();
pub const C_LWSP: Format =
    Format::new(not_zero(7), SP, NO, &[(5, 5, 12), (4, 2, 4), (7, 6, 2)]).unsigned();
pub const C_SWSP: Format = Format::new(NO, SP, at(2), &[(5, 2, 9), (7, 6, 7)]).unsigned();
