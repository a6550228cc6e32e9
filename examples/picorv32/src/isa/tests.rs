//! Expected values are from the specification: its tables of encodings, by hand, and its rules. The
//! regression compares all other rows and values with the core.

#![expect(clippy::unusual_byte_groupings, reason = "groups are the fields of an instruction")]

use super::*;
use crate::instructions::{Op, disassemble};
use crate::stimulus::Traffic;
use cosim_core::value::Uint;

const MIN: u32 = 0x8000_0000;
const MAX: u32 = u32::MAX;

/// Executes one instruction at address 0x2000 with `x1` and `x2`. Address 0 holds 0x80817fff.
fn run(word: u32, x1: u32, x2: u32, has_compressed: bool) -> Step {
    let program = vec![Instruction::new(Op::Word, [0; 3], word.into())];
    let data = vec![Uint::new(0x8081_7fff)];
    let memory = Memory::new(&Traffic { program, data, ..Traffic::default() });
    let mut machine = Machine::new(memory, has_compressed);
    machine.registers[1..3].copy_from_slice(&[x1, x2]);
    machine.step()
}

#[test]
fn instructions_write_their_results() {
    // funct7, rs2, rs1, funct3, rd, opcode; the instruction; x1, x2 and the result.
    let rows = [
        (0b111111111111_00001_011_00011_0010011, "sltiu x3, x1, -1", 5, 0, 1),
        (0b00000000000000000001_00011_0010111, "auipc x3, 1", 0, 0, 0x3000),
        (0b0000000_00010_00001_001_00011_0110011, "sll x3, x1, x2", 1, 33, 2),
        (0b0100000_00100_00001_101_00011_0010011, "srai x3, x1, 4", MIN, 0, 0xf800_0000),
        // -2^31 * -2^31 = 2^62; -2^31 * 2^31 = -2^62; (2^32 - 1)^2 = 2^64 - 2^33 + 1.
        (0b0000001_00010_00001_001_00011_0110011, "mulh x3, x1, x2", MIN, MIN, 1 << 30),
        (0b0000001_00010_00001_010_00011_0110011, "mulhsu x3, x1, x2", MIN, MIN, 3 << 30),
        (0b0000001_00010_00001_011_00011_0110011, "mulhu x3, x1, x2", MAX, MAX, MAX - 1),
        // Table 7.1. Division rounds towards zero: -7 / 2 = -3, remainder -1.
        (0b0000001_00010_00001_100_00011_0110011, "div x3, x1, x2", 7, 0, MAX),
        (0b0000001_00010_00001_100_00011_0110011, "div x3, x1, x2", MIN, MAX, MIN),
        (0b0000001_00010_00001_100_00011_0110011, "div x3, x1, x2", MAX - 6, 2, MAX - 2),
        (0b0000001_00010_00001_101_00011_0110011, "divu x3, x1, x2", 7, 0, MAX),
        (0b0000001_00010_00001_110_00011_0110011, "rem x3, x1, x2", 7, 0, 7),
        (0b0000001_00010_00001_110_00011_0110011, "rem x3, x1, x2", MIN, MAX, 0),
        (0b0000001_00010_00001_110_00011_0110011, "rem x3, x1, x2", MAX - 6, 2, MAX),
        (0b0000001_00010_00001_111_00011_0110011, "remu x3, x1, x2", 7, 0, 7),
        (0b000000000001_00001_000_00011_0000011, "lb x3, 1(x1)", 2, 0, 0xffff_ff80),
        (0b000000000001_00001_101_00011_0000011, "lhu x3, 1(x1)", 1, 0, 0x8081),
        // The link is the address behind the instruction, which has 4 or 2 bytes.
        (0b1_0000000000_0_00000000_00011_1101111, "jal x3, -1048576", 0, 0, 0x2004),
        (0b100_1_00001_00000_10, "jalr x1, 0(x1)", 0x300, 0, 0x2002),
        (0b011_0_00010_00110_01, "addi x2, x2, 384", 0, 64, 448),
        (0b011_1_00011_11111_01, "lui x3, -1", 0, 0, 0xffff_f000),
    ];
    for (word, text, x1, x2, result) in rows {
        assert_eq!((&*disassemble(word, true), run(word, x1, x2, true).written.1), (text, result));
    }
    // addi x0, x1, 1.
    assert_eq!(run(0x0010_8013, 5, 0, true).written, (0, 0));
}

#[test]
fn words_that_are_no_instruction_are_illegal() {
    let illegal = [
        0x0000_1067,             // jalr with funct3 1
        0x0200_5013,             // srli by 32 and more
        0x4000_1033,             // funct7 of sub with sll
        0x0000_100f,             // fence.i is not in RV32IMC
        0xc000_2073,             // rdcycle is not in RV32IMC
        0x0000,                  // by definition
        0b000_00000000_001_00,   // c.addi4spn without immediate
        0b001_000_000_00_000_00, // c.fld
        0b011_0_00011_00000_01,  // c.lui without immediate
        0b100_1_00_000_00001_01, // c.srli by 33
        0b010_0_00000_00100_10,  // c.lwsp to x0
        0b100_0_00000_00000_10,  // c.jr x0
    ];
    for word in illegal {
        assert!(decode(word, true).is_none(), "{word:#010x}");
    }
    // Without the extension C, a word whose low bits are not 11 is illegal.
    assert!(decode(0x0000_0001, false).is_none());
}

#[test]
fn jumps_and_branches_reach_their_targets() {
    // bltu x1, x2, 8 and blt x1, x2, 8.
    assert_eq!(
        [0x0020_e463, 0x0020_c463].map(|word| run(word, MAX, 1, true).next),
        [0x2004, 0x2008]
    );
    // jalr x1, 1(x1) clears bit 0 of the sum.
    assert_eq!(run(0x0010_80e7, 0x200, 0, true).next, 0x200);
    // jal x1, 6. Without the extension C, a target must be a multiple of 4, and nothing is linked.
    let step = run(0x0060_00ef, 0, 0, false);
    assert_eq!((step.traps, step.written), (true, (0, 0)));
}

#[test]
fn stores_enable_their_bytes() {
    // sb, sh, sw of x2 to 0(x1).
    let store = |funct3: u32, x1| {
        let step = run(0x0020_8023 | funct3 << 12, x1, 0xa1b2_c3d4, true);
        (step.traps, step.access.map(|it| (it.address, it.strobes, it.data)))
    };
    assert_eq!(store(0, 0x103), (false, Some((0x100, 0b1000, 0xd400_0000))));
    assert_eq!(store(1, 0x102), (false, Some((0x100, 0b1100, 0xc3d4_0000))));
    assert!(store(1, 0x101).0 && store(2, 0x102).0);
}
