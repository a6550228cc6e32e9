//! The constrained-random generator of programs.
//!
//! A program is a list of units: an instruction, or a few that belong together, such as a loop.
//! Forward branches skip whole units, so that they do not enter a loop in its middle.

use crate::COMPRESSED_ISA;
use crate::formats::Place;
use crate::instructions::{Instruction, Kind, Op, decode};
use crate::scenarios::Weights;
use crate::stimulus::{MOST, Traffic};
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
/// Branches at the end of loops with their sources, and the most rounds for which the condition
/// holds. `beq` and `bgeu` are taken when the counter is 0, which it is once.
const LOOPS: [(Op, u8, u8, i64); 6] = [
    (Op::Bne, COUNTER, 0, 4),
    (Op::Blt, 0, COUNTER, 4),
    (Op::Bltu, 0, COUNTER, 4),
    (Op::Bge, COUNTER, 0, 4),
    (Op::Beq, COUNTER, 0, 1),
    (Op::Bgeu, 0, COUNTER, 1),
];

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
    let registers = [SHORT, SHORT, SHORT, LONG, LONG].map(|all| rng.one_of(&all)).to_vec();
    let mut program = Generator { weights, rng, has_compressed, registers, last: 0, units: vec![] };
    program.prologue(packets);
    while program.units.iter().map(Vec::len).sum::<usize>() < packets {
        program.unit();
    }
    if program.rng.chance(weights.trap) {
        program.trap();
    }
    let program = resolved(&program.units);
    let pointer = |_| Uint::new(4 * rng.random_range(POINTERS as u64..32));
    let mut data: Vec<Uint<32>> = (0..POINTERS).map(pointer).collect();
    data.extend((0..VALUES).map(|_| match rng.random_range(0..3) {
        0 => Uint::new(rng.random_range(0..64)),
        1 => Uint::new(rng.corner(u32::MAX.into())),
        _ => rng.bits(),
    }));
    let stalls = rng.waits(3 * packets as u64 + 20, weights.stall, weights.longest_stall);
    Traffic { noise, program, data, stalls }
}

/// The program of some units, in which forward branches count instructions instead of units.
fn resolved(units: &[Vec<Instruction>]) -> Vec<Instruction> {
    let mut starts = vec![0];
    starts.extend(units.iter().scan(0, |end, unit| {
        *end += unit.len();
        Some(*end)
    }));
    let mut program = units.concat();
    for (index, instruction) in program.iter_mut().enumerate() {
        if instruction.op.format().is_relative && instruction.imm > 0 {
            let unit = starts.partition_point(|start| *start <= index) - 1;
            let target = (unit + instruction.imm as usize).min(units.len());
            instruction.imm = (starts[target] - index) as i64;
        }
    }
    program
}

/// The register that fits and is nearest to this one.
fn clamp(register: u8, place: Place) -> u8 {
    register.clamp(place.registers().start, place.registers().end - 1)
}

struct Generator<'a> {
    weights: &'a Weights,
    rng: &'a mut CaseRng,
    has_compressed: bool,
    /// The registers of values in this program.
    registers: Vec<u8>,
    /// The destination of the last instruction.
    last: u8,
    units: Vec<Vec<Instruction>>,
}

impl Generator<'_> {
    fn prologue(&mut self, packets: usize) {
        let base = 4 * POINTERS;
        let set = |rd, imm| vec![Instruction::new(Op::Addi, [rd, 0, 0], imm)];
        self.units.push(set(BASE, base));
        if packets >= 16 {
            self.units.extend([set(SP, base + 32), set(OTHER_BASE, base + 16)]);
        }
        for (rd, offset) in self.registers.iter().zip((0..).step_by(4)).take(packets / 3) {
            self.units.push(vec![Instruction::new(Op::Lw, [*rd, 0, 0], base + offset)]);
        }
    }

    fn is_compressed(&mut self) -> bool {
        self.has_compressed && self.rng.chance(self.weights.compressed)
    }

    /// An operation of a kind.
    fn op(&mut self, is_wanted: fn(Kind) -> bool) -> Op {
        let short = Op::of_length(2, is_wanted);
        let is_short = self.is_compressed() && !short.is_empty();
        self.rng.one_of(&if is_short { short } else { Op::of_length(4, is_wanted) })
    }

    /// A register that fits: mostly one of the values.
    fn register(&mut self, place: Place, is_source: bool) -> u8 {
        let drawn = match self.rng.random_range(0..20) {
            0 => 0,
            1 if is_source => BASE,
            _ if is_source && self.rng.chance(self.weights.hazard) => self.last,
            _ => self.rng.one_of(&self.registers),
        };
        let fits = |register: &u8| place.registers().contains(register);
        let fitting: Vec<u8> = self.registers.iter().copied().filter(fits).collect();
        match fits(&drawn) || fitting.is_empty() {
            true => clamp(drawn, place),
            false => self.rng.one_of(&fitting),
        }
    }

    /// An instruction with random operands.
    fn instruction(&mut self, op: Op) -> Instruction {
        let format = op.format();
        let (mut rd, rs2) = (self.register(format.rd, false), self.register(format.rs2, true));
        let mut rs1 = self.register(format.rs1, true);
        if format.rs1 == format.rd {
            rd = if self.registers.contains(&rs1) { rs1 } else { rd };
            rs1 = rd;
        }
        let (least, most, step) = format.immediates();
        let imm = match self.rng.random_range(0..6) {
            0 => least,
            1 => most,
            2 => step,
            _ => self.rng.random_range(least / step..=most / step) * step,
        };
        // Immediate 0 is reserved.
        let imm = if imm == 0 && format.is_not_zero { step } else { imm };
        Instruction::new(op, [rd, rs1, rs2], if most == 0 { 0 } else { imm })
    }

    fn unit(&mut self) {
        let shares = self.weights.shares();
        let mut left = self.rng.random_range(0..=shares.iter().sum());
        let is_it = |share: &u64| left.checked_sub(*share).map(|rest| left = rest).is_none();
        let unit = match shares.iter().position(is_it) {
            Some(kind @ 0..=3) => self.straight(kind),
            Some(4) => {
                let op = self.op(|kind| matches!(kind, Kind::Branch(_)));
                let imm = self.rng.random_range(2..=5);
                vec![Instruction { imm, ..self.instruction(op) }]
            }
            Some(5) => self.repeat(),
            _ => self.jump(),
        };
        self.units.push(unit);
    }

    /// Instructions that do not branch. The last destination is noted.
    fn straight(&mut self, kind: usize) -> Vec<Instruction> {
        let op = self.op(match kind {
            0 => |kind| matches!(kind, Kind::Compute(_)),
            1 => |kind| matches!(kind, Kind::Multiply(_)),
            2 => |kind| matches!(kind, Kind::Load(..)),
            _ => |kind| matches!(kind, Kind::Store(_)),
        });
        let mut drawn = self.instruction(op);
        self.last = drawn.rd;
        let (size, least) = match op.kind() {
            // Stores do not reach the pointers.
            Kind::Load(size, _) if op.length() == 4 => (size, -8),
            Kind::Load(size, _) | Kind::Store(size) => (size, 0),
            _ => return vec![drawn],
        };
        drawn.imm = i64::from(size) * self.rng.random_range(least..16);
        if !op.format().rs1.registers().contains(&BASE) {
            return vec![drawn];
        }
        if !self.rng.chance(self.weights.hazard) {
            drawn.rs1 = self.rng.one_of(&[BASE, BASE, OTHER_BASE]);
            return vec![drawn];
        }
        drawn.rs1 = OTHER_BASE;
        let (op, imm) = match self.rng.random() {
            true => (Op::Addi, 4 * self.rng.random_range(0..8)),
            false => (Op::Lw, -4 * self.rng.random_range(1..=POINTERS)),
        };
        vec![Instruction::new(op, [OTHER_BASE, BASE, 0], imm), drawn]
    }

    /// A loop. The condition holds for a few rounds, whatever the body does.
    fn repeat(&mut self) -> Vec<Instruction> {
        let (op, rs1, rs2, most) = self.rng.one_of(&LOOPS);
        let rounds = self.rng.random_range(1..=most);
        let mut unit = vec![Instruction::new(Op::Addi, [COUNTER, 0, 0], rounds)];
        for _ in 0..self.rng.random_range(0..4) {
            let kind = self.rng.random_range(0..4);
            unit.extend(self.straight(kind));
        }
        unit.push(Instruction::new(Op::Addi, [COUNTER, COUNTER, 0], -1));
        unit.push(Instruction::new(op, [0, rs1, rs2], 1 - unit.len() as i64));
        unit
    }

    fn jump(&mut self) -> Vec<Instruction> {
        let op = self.op(|kind| matches!(kind, Kind::Jump));
        let skipped = self.rng.random_range(2..=5);
        self.last = self.rng.one_of(&[0, LINK]);
        let rd = clamp(self.last, op.format().rd);
        if op.format().is_relative {
            return vec![Instruction::new(op, [rd, 0, 0], skipped)];
        }
        let mut unit = vec![Instruction::new(Op::La, [TARGET, 0, 0], skipped)];
        match self.rng.random_range(0..3) {
            0 => unit.push(self.instruction(Op::Addi)),
            1 => unit.extend([
                Instruction::new(Op::Sw, [0, BASE, TARGET], 0),
                Instruction::new(Op::Lw, [TARGET, BASE, 0], 0),
            ]),
            _ => {}
        }
        // Bit 0 of the target is cleared.
        let imm = if op == Op::Jalr { self.rng.random_range(0..=1) } else { 0 };
        unit.push(Instruction::new(op, [rd, TARGET, 0], imm));
        unit
    }

    /// Puts a unit that traps into the second half of the program.
    fn trap(&mut self) {
        let unit = match self.rng.random_range(0..5) {
            0 => vec![Instruction::new(self.op(|kind| matches!(kind, Kind::System)), [0; 3], 0)],
            1 => {
                let op = self.op(|kind| matches!(kind, Kind::Load(2.., _) | Kind::Store(2..)));
                let offset = self.rng.random_range(1..=3);
                let Instruction { rd, rs2, .. } = self.instruction(op);
                let rs1 = clamp(OTHER_BASE, op.format().rs1);
                let set = Instruction::new(Op::Addi, [OTHER_BASE, BASE, 0], offset);
                vec![set, Instruction::new(op, [rd, rs1, rs2], 0)]
            }
            2 if !self.has_compressed => vec![
                Instruction::new(Op::La, [TARGET, 0, 0], 1),
                Instruction::new(Op::Jalr, [LINK, TARGET, 0], 2),
            ],
            _ => vec![self.word()],
        };
        let place = self.rng.random_range(self.units.len() / 2..=self.units.len());
        self.units.insert(place, unit);
    }

    /// A word that may be illegal: a random one, or an instruction with a wrong bit. It is no jump,
    /// which could reach the data, and no FENCE, whose reserved fields the core does not ignore.
    fn word(&mut self) -> Instruction {
        let is_short = self.is_compressed();
        let (op, length) = if is_short { (Op::Half, 2) } else { (Op::Word, 4) };
        loop {
            let legal =
                self.rng.one_of(&Op::of_length(length, |kind| !matches!(kind, Kind::Directive)));
            let legal = self.instruction(legal).word();
            let word = match self.rng.random_range(0..3) {
                0 => self.rng.random_range(0..=u32::MAX >> (32 - 8 * length)),
                1 => 0,
                _ => legal ^ 1 << self.rng.random_range(0..8 * length),
            };
            let kind = decode(word, self.has_compressed).map(|found| found.op.kind());
            let has_length = is_short == (word & 3 != 3) || !self.has_compressed;
            if has_length && !matches!(kind, Some(Kind::Jump)) && word & 0x7f != 0x0f {
                return Instruction::new(op, [0; 3], word.into());
            }
        }
    }
}
