//! The constrained-random generator of programs.
//!
//! A program is a list of units: an instruction, or a few that belong together, such as a loop.
//! Forward branches skip whole units, so that they do not enter a loop in its middle.

use crate::COMPRESSED_ISA;
use crate::instructions::Op;
use crate::scenarios::Weights;
use crate::stimulus::{Line, MOST, Traffic};
use cosim_core::harness::{CaseRng, Draw, Parameters};
use cosim_core::value::Uint;
use rand::RngExt;

/// The link register, the stack pointer, the loop counter and a register for targets.
const LINK: u8 = 1;
const SP: u8 = 2;
const COUNTER: u8 = 3;
const TARGET: u8 = 4;
/// The base of most loads and stores, and one that programs change.
const BASE: u8 = 8;
const OTHER_BASE: u8 = 9;
/// Registers of values. Compressed instructions reach those of `SHORT` alone.
const SHORT: [u8; 6] = [10, 11, 12, 13, 14, 15];
const LONG: [u8; 6] = [5, 6, 7, 20, 28, 31];
/// Before the address in `BASE` are pointers, and behind it are values.
const POINTERS: i64 = 16;
const VALUES: u64 = 24;

#[rustfmt::skip]
const REGISTER: [Op; 10] =
    [Op::Add, Op::Sub, Op::Sll, Op::Slt, Op::Sltu, Op::Xor, Op::Srl, Op::Sra, Op::Or, Op::And];
#[rustfmt::skip]
const IMMEDIATE: [Op; 12] = [
    Op::Addi, Op::Slti, Op::Sltiu, Op::Xori, Op::Ori, Op::Andi, Op::Slli, Op::Srli, Op::Srai,
    Op::Lui, Op::Auipc, Op::Fence,
];
#[rustfmt::skip]
const MULTIPLY: [Op; 8] =
    [Op::Mul, Op::Mulh, Op::Mulhsu, Op::Mulhu, Op::Div, Op::Divu, Op::Rem, Op::Remu];
#[rustfmt::skip]
const COMPRESSED: [Op; 15] = [
    Op::CAddi4spn, Op::CAddi, Op::CLi, Op::CAddi16sp, Op::CLui, Op::CSrli, Op::CSrai, Op::CAndi,
    Op::CSub, Op::CXor, Op::COr, Op::CAnd, Op::CSlli, Op::CMv, Op::CAdd,
];
const BRANCHES: [Op; 6] = [Op::Beq, Op::Bne, Op::Blt, Op::Bge, Op::Bltu, Op::Bgeu];
const LOADS: [(Op, i64); 5] = [(Op::Lb, 1), (Op::Lbu, 1), (Op::Lh, 2), (Op::Lhu, 2), (Op::Lw, 4)];
const STORES: [(Op, i64); 3] = [(Op::Sb, 1), (Op::Sh, 2), (Op::Sw, 4)];
/// Illegal words: a wrong funct3 or funct7, other extensions, all zeros and all ones.
const ILLEGAL: [i64; 12] = [
    0,
    0xffff_ffff,
    0x1067,
    0x2063,
    0x3003,
    0x3023,
    0x0200_1013,
    0x8000_0033,
    0x4000_1033,
    0x100f,
    0xc000_2073,
    0x0000_000b,
];
/// Illegal half-words: c.addi4spn 0, c.fld, c.lui 0, c.srli 33, c.subw, c.slli 33, c.lwsp x0,
/// c.jr x0.
const ILLEGAL_SHORT: [i64; 8] = [0, 0x2000, 0x6181, 0x9005, 0x9c01, 0x1286, 0x4002, 0x8002];

/// Draws a program of about `packets` instructions.
pub fn traffic(
    weights: &Weights,
    parameters: &Parameters,
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    let packets = (packets as usize).min(MOST / 2);
    let has_compressed = parameters.get(COMPRESSED_ISA) == 1;
    let noise = rng.bits();
    let is_long = packets >= 16;
    let mut registers = vec![rng.one_of(&SHORT), rng.one_of(&SHORT), rng.one_of(&LONG)];
    registers.extend([rng.one_of(&SHORT), rng.one_of(&LONG)]);
    let mut program = Generator { weights, rng, has_compressed, registers, last: 0, units: vec![] };
    program.prologue(packets);
    while program.length() < packets {
        program.unit();
    }
    if program.rng.chance(weights.trap) {
        program.trap();
    }
    if is_long {
        program.epilogue();
    }
    let program = resolved(program.units);
    let pointer = |_| Uint::new(4 * rng.random_range(POINTERS as u64..32));
    let mut data: Vec<Uint<32>> = (0..POINTERS).map(pointer).collect();
    data.extend((0..VALUES).map(|_| Uint::new(value(rng) as u64)));
    let transfers = if weights.stall.get() > 0 { 3 * packets + 20 } else { 0 };
    let stalls = (0..transfers).map(|_| rng.wait(weights.stall, weights.longest_stall));
    Traffic { noise, program, data, stalls: stalls.collect() }
}

/// A word, often an edge case.
fn value(rng: &mut CaseRng) -> i64 {
    const EDGES: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffe, 0x8000];
    i64::from(match rng.random_range(0..3) {
        0 => rng.one_of(&EDGES),
        1 => rng.random_range(0..64),
        _ => rng.random::<u32>(),
    })
}

/// Replaces the number of units that a forward branch skips by that of instructions.
fn resolved(units: Vec<Vec<Line>>) -> Vec<Line> {
    let starts: Vec<usize> = units
        .iter()
        .scan(0, |next, unit| Some(std::mem::replace(next, *next + unit.len())))
        .collect();
    let end = units.iter().map(Vec::len).sum();
    let mut program = Vec::with_capacity(end);
    for (index, unit) in units.into_iter().enumerate() {
        for mut line in unit {
            if line.op.format().is_relative && line.imm > 0 {
                let to = starts.get(index + line.imm as usize).copied().unwrap_or(end);
                line.imm = (to - program.len()) as i64;
            }
            program.push(line);
        }
    }
    program
}

struct Generator<'a> {
    weights: &'a Weights,
    rng: &'a mut CaseRng,
    has_compressed: bool,
    /// The registers of values in this program.
    registers: Vec<u8>,
    /// The destination of the last instruction.
    last: u8,
    units: Vec<Vec<Line>>,
}

impl Generator<'_> {
    fn length(&self) -> usize {
        self.units.iter().map(Vec::len).sum()
    }

    fn prologue(&mut self, packets: usize) {
        let base = 4 * POINTERS;
        let mut lines = vec![Line::new(Op::Li).rd(BASE).imm(base)];
        if packets >= 16 {
            lines.push(Line::new(Op::Li).rd(SP).imm(base + 32));
            lines.push(Line::new(Op::Li).rd(OTHER_BASE).imm(base + 16));
        }
        for register in self.registers.clone().into_iter().take(packets / 3) {
            lines.push(Line::new(Op::Li).rd(register).imm(value(self.rng)));
        }
        self.units.extend(lines.into_iter().map(|line| vec![line]));
    }

    /// Stores every value, so that a wrong one shows.
    fn epilogue(&mut self) {
        for (index, register) in self.registers.clone().into_iter().enumerate() {
            let line = Line::new(Op::Sw).rs1(BASE).rs2(register).imm(4 * index as i64);
            self.units.push(vec![line]);
        }
    }

    fn is_compressed(&mut self) -> bool {
        self.has_compressed && self.rng.chance(self.weights.compressed)
    }

    fn source(&mut self) -> u8 {
        match self.rng.random_range(0..20) {
            0 => 0,
            1 => BASE,
            _ if self.rng.chance(self.weights.hazard) => self.last,
            _ => self.rng.one_of(&self.registers),
        }
    }

    /// A source in `x8` to `x15`.
    fn short_source(&mut self) -> u8 {
        let source = self.source();
        if (8..16).contains(&source) { source } else { self.short() }
    }

    fn short(&mut self) -> u8 {
        let short: Vec<u8> =
            self.registers.iter().copied().filter(|register| SHORT.contains(register)).collect();
        self.rng.one_of(&short)
    }

    fn destination(&mut self) -> u8 {
        if self.rng.random_range(0..20) == 0 { 0 } else { self.rng.one_of(&self.registers) }
    }

    /// An immediate of the instruction.
    fn immediate(&mut self, op: Op) -> i64 {
        let (least, most, step) = op.format().immediates();
        let drawn = match self.rng.random_range(0..6) {
            0 => least,
            1 => most,
            2 => step,
            _ => self.rng.random_range(least / step..=most / step) * step,
        };
        // Immediate 0 of some compressed instructions is reserved.
        if drawn == 0 { step } else { drawn }
    }

    fn unit(&mut self) {
        let weights = self.weights;
        let shares = [
            weights.compute,
            weights.multiply,
            weights.load,
            weights.store,
            weights.branch,
            weights.loops,
            weights.jump,
        ];
        let total = shares.iter().map(|share| share.get()).sum();
        let mut left = self.rng.random_range(0..total);
        let kind = shares.iter().position(|share| match left.checked_sub(share.get()) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        let unit = match kind {
            Some(kind @ 0..=3) => self.straight(kind),
            Some(4) => vec![self.branch()],
            Some(5) => self.repeat(),
            _ => self.jump(),
        };
        self.units.push(unit);
    }

    /// Instructions that do not branch. The last destination is noted.
    fn straight(&mut self, kind: usize) -> Vec<Line> {
        let lines = match kind {
            0 => vec![self.compute()],
            1 => vec![self.register(&MULTIPLY)],
            2 => self.load(),
            _ => self.store(),
        };
        let rd = |line: &Line| line.rd.get() as u8;
        self.last = lines.last().map_or(0, rd);
        lines
    }

    fn register(&mut self, ops: &[Op]) -> Line {
        let op = self.rng.one_of(ops);
        let (rd, rs1, rs2) = (self.destination(), self.source(), self.source());
        Line::new(op).rd(rd).rs1(rs1).rs2(rs2)
    }

    fn compute(&mut self) -> Line {
        if self.is_compressed() {
            return self.compressed();
        }
        if self.rng.random() {
            return self.register(&REGISTER);
        }
        let op = self.rng.one_of(&IMMEDIATE);
        let (rd, rs1, imm) = (self.destination(), self.source(), self.immediate(op));
        match op {
            Op::Fence => Line::new(op),
            Op::Lui | Op::Auipc => Line::new(op).rd(rd).imm(imm),
            _ => Line::new(op).rd(rd).rs1(rs1).imm(imm),
        }
    }

    fn compressed(&mut self) -> Line {
        let op = self.rng.one_of(&COMPRESSED);
        let imm = self.immediate(op);
        let (rd, rs2, short) = (self.destination(), self.source().max(1), self.short());
        // These instructions read their destination, too.
        let changed =
            if self.registers.contains(&self.last) && self.rng.random() { self.last } else { rd };
        let short = if SHORT.contains(&self.last) && self.rng.random() { self.last } else { short };
        match op {
            Op::CAddi16sp => Line::new(op).imm(imm),
            Op::CAddi4spn | Op::CSrli | Op::CSrai | Op::CAndi => Line::new(op).rd(short).imm(imm),
            Op::CSub | Op::CXor | Op::COr | Op::CAnd => {
                Line::new(op).rd(short).rs2(self.short_source())
            }
            Op::CAddi | Op::CSlli => Line::new(op).rd(changed).imm(imm),
            Op::CMv | Op::CAdd => Line::new(op).rd(changed).rs2(rs2),
            _ => Line::new(op).rd(rd).imm(imm),
        }
    }

    /// A base register, and the instruction that sets it.
    fn base(&mut self) -> (u8, Option<Line>) {
        if !self.rng.chance(self.weights.hazard) {
            return (self.rng.one_of(&[BASE, BASE, OTHER_BASE]), None);
        }
        let set = if self.rng.random() {
            Line::new(Op::Addi).rs1(BASE).imm(4 * self.rng.random_range(0..8))
        } else {
            Line::new(Op::Lw).rs1(BASE).imm(-4 * self.rng.random_range(1..=POINTERS))
        };
        (OTHER_BASE, Some(set.rd(OTHER_BASE)))
    }

    fn load(&mut self) -> Vec<Line> {
        if self.is_compressed() {
            if self.rng.random_range(0..3) == 0 {
                let rd = self.rng.one_of(&self.registers);
                return vec![Line::new(Op::CLwsp).rd(rd).imm(4 * self.rng.random_range(0..16))];
            }
            let ((base, set), rd) = (self.base(), self.short());
            let line = Line::new(Op::CLw).rd(rd).rs1(base).imm(4 * self.rng.random_range(0..32));
            return set.into_iter().chain([line]).collect();
        }
        let (op, size) = self.rng.one_of(&LOADS);
        let ((base, set), rd) = (self.base(), self.destination());
        let imm = self.rng.random_range(-8..64 / size) * size;
        set.into_iter().chain([Line::new(op).rd(rd).rs1(base).imm(imm)]).collect()
    }

    fn store(&mut self) -> Vec<Line> {
        if self.is_compressed() {
            if self.rng.random_range(0..3) == 0 {
                let line = Line::new(Op::CSwsp).rs2(self.source());
                return vec![line.imm(4 * self.rng.random_range(0..16))];
            }
            let (rs2, (base, set)) = (self.short_source(), self.base());
            let line = Line::new(Op::CSw).rs1(base).rs2(rs2).imm(4 * self.rng.random_range(0..32));
            return set.into_iter().chain([line]).collect();
        }
        let (op, size) = self.rng.one_of(&STORES);
        let (rs2, (base, set)) = (self.source(), self.base());
        let imm = self.rng.random_range(0..64 / size) * size;
        set.into_iter().chain([Line::new(op).rs1(base).rs2(rs2).imm(imm)]).collect()
    }

    fn branch(&mut self) -> Line {
        let skipped = self.rng.random_range(1..=4);
        if self.is_compressed() {
            let op = self.rng.one_of(&[Op::CBeqz, Op::CBnez]);
            return Line::new(op).rs1(self.short_source()).imm(skipped);
        }
        let (op, rs1, rs2) = (self.rng.one_of(&BRANCHES), self.source(), self.source());
        Line::new(op).rs1(rs1).rs2(rs2).imm(skipped)
    }

    /// A loop. The conditions hold for a few rounds, whatever the body does.
    fn repeat(&mut self) -> Vec<Line> {
        let rounds = self.rng.random_range(1..=4);
        let branch = |op, rs1, rs2| Line::new(op).rs1(rs1).rs2(rs2);
        let (rounds, branch) = match self.rng.random_range(0..6) {
            0 => (rounds, branch(Op::Bne, COUNTER, 0)),
            1 => (rounds, branch(Op::Blt, 0, COUNTER)),
            2 => (rounds, branch(Op::Bltu, 0, COUNTER)),
            3 => (rounds, branch(Op::Bge, COUNTER, 0)),
            // Taken when the counter is 0, which it is once.
            4 => (1, branch(Op::Beq, COUNTER, 0)),
            _ => (1, branch(Op::Bgeu, 0, COUNTER)),
        };
        let mut body = Vec::new();
        for _ in 0..self.rng.random_range(0..4) {
            let kind = self.rng.random_range(0..4);
            body.extend(self.straight(kind));
        }
        body.push(Line::new(Op::Addi).rd(COUNTER).rs1(COUNTER).imm(-1));
        let back = -(body.len() as i64);
        let set = Line::new(Op::Addi).rd(COUNTER).imm(rounds);
        [vec![set], body, vec![branch.imm(back)]].concat()
    }

    fn jump(&mut self) -> Vec<Line> {
        let skipped = self.rng.random_range(1..=4);
        let link = self.rng.one_of(&[0, LINK]);
        let is_compressed = self.is_compressed();
        self.last = link;
        if self.rng.random() {
            return vec![match is_compressed {
                true => Line::new(self.rng.one_of(&[Op::CJ, Op::CJal])).imm(skipped),
                false => Line::new(Op::Jal).rd(link).imm(skipped),
            }];
        }
        let mut lines = vec![Line::new(Op::La).rd(TARGET).imm(skipped)];
        match self.rng.random_range(0..3) {
            0 => lines.push(Line::new(Op::Addi).rd(self.short()).imm(1)),
            1 => lines.extend([
                Line::new(Op::Sw).rs1(BASE).rs2(TARGET),
                Line::new(Op::Lw).rs1(BASE).rd(TARGET),
            ]),
            _ => {}
        }
        lines.push(match is_compressed {
            true => Line::new(self.rng.one_of(&[Op::CJr, Op::CJalr])).rs1(TARGET),
            // Bit 0 of the target is cleared.
            false => Line::new(Op::Jalr).rd(link).rs1(TARGET).imm(self.rng.random_range(0..=1)),
        });
        lines
    }

    /// Puts a unit that traps at a random place behind the prologue.
    fn trap(&mut self) {
        let is_compressed = self.is_compressed();
        let unit = match (self.rng.random_range(0..5), is_compressed) {
            (0, true) => vec![Line::new(Op::CEbreak)],
            (0, false) => vec![Line::new(self.rng.one_of(&[Op::Ecall, Op::Ebreak]))],
            (1, true) => vec![
                Line::new(Op::Addi).rd(OTHER_BASE).rs1(BASE).imm(self.rng.random_range(1..=3)),
                match self.rng.random() {
                    true => Line::new(Op::CLw).rd(SHORT[0]).rs1(OTHER_BASE),
                    false => Line::new(Op::CSw).rs2(SHORT[0]).rs1(OTHER_BASE),
                },
            ],
            (1, false) => {
                let loads = [(Op::Lh, 1), (Op::Lhu, 3), (Op::Lw, 1), (Op::Lw, 2), (Op::Lw, 3)];
                let stores = [(Op::Sh, 1), (Op::Sh, 3), (Op::Sw, 1), (Op::Sw, 2), (Op::Sw, 3)];
                let (op, imm) = self.rng.one_of(&[loads, stores].concat());
                vec![Line::new(op).rs1(BASE).imm(imm)]
            }
            (2, _) if !self.has_compressed => vec![
                Line::new(Op::La).rd(TARGET).imm(1),
                Line::new(Op::Jalr).rd(LINK).rs1(TARGET).imm(2),
            ],
            (3, true) => vec![Line::new(Op::Half).imm(i64::from(self.rng.random::<u16>()))],
            // A random word, but no FENCE, whose reserved fields the core does not ignore: README.
            (3, false) => match self.rng.random::<u32>() {
                word if word & 0x7f == 0x0f => vec![Line::new(Op::Fence)],
                word => vec![Line::new(Op::Word).imm(i64::from(word))],
            },
            (_, true) => vec![Line::new(Op::Half).imm(self.rng.one_of(&ILLEGAL_SHORT))],
            (_, false) => vec![Line::new(Op::Word).imm(self.rng.one_of(&ILLEGAL))],
        };
        let place = self.rng.random_range(self.units.len() / 2..=self.units.len());
        self.units.insert(place, unit);
    }
}
