//! Expected values are from the specification: its tables of encodings, by hand, and its rules.

#![expect(clippy::unusual_byte_groupings, reason = "groups are the fields of an instruction")]

use super::*;
use crate::instructions::{decode, disassemble, length};
use crate::stimulus::Line;

/// Executes one instruction with `x1`, `x2` at address 0x100. Returns the effect and the registers.
fn run(word: u32, x1: u32, x2: u32) -> (Effect, Cpu) {
    let mut cpu = Cpu::new(0x100);
    cpu.set(1, x1);
    cpu.set(2, x2);
    let instruction = decode(word, true).unwrap();
    let effect = cpu.execute(&instruction, length(word, true), true);
    (effect, cpu)
}

/// The result in `x3` of an operation `x3 = x1 op x2`: funct7, rs2 = 2, rs1 = 1, funct3, rd = 3.
fn op(funct7: u32, funct3: u32, x1: u32, x2: u32) -> u32 {
    let word = funct7 << 25 | 2 << 20 | 1 << 15 | funct3 << 12 | 3 << 7 | 0x33;
    run(word, x1, x2).1.get(3)
}

/// The words of each row are these instructions.
#[track_caller]
fn read(rows: &[(u32, &str)]) {
    for (word, text) in rows {
        assert_eq!(disassemble(*word, true), *text, "{word:#x}");
    }
}

#[test]
fn instructions_of_32_bits_are_decoded() {
    read(&[
        // imm[11:0] = 0xfff, rs1 = 2, funct3 = 000, rd = 1, 0010011.
        (0xfff1_0093, "addi x1, x2, -1"),
        (0x1234_52b7, "lui x5, 0x12345"),
        (0xffff_f297, "auipc x5, 0xfffff"),
        // imm[20|10:1|11|19:12]: -2 has all of them 1.
        (0xffff_f0ef, "jal x1, pc-2"),
        (0x8000_006f, "jal x0, pc-1048576"),
        (0x0010_006f, "jal x0, pc+2048"),
        // imm[12|10:5] rs2 rs1 funct3 imm[4:1|11]: bit 11 alone is bit 7 of the word.
        (0x0020_80e3, "beq x1, x2, pc+2048"),
        (0xfe20_fee3, "bgeu x1, x2, pc-4"),
        (0x0020_c463, "blt x1, x2, pc+8"),
        (0xffc1_2083, "lw x1, -4(x2)"),
        (0xfe11_1fa3, "sh x1, -1(x2)"),
        (0x4050_d193, "srai x3, x1, 5"),
        (0x0ff0_000f, "fence"),
        (0x73, "ecall"),
        (0x10_0073, "ebreak"),
    ]);
}

#[test]
fn words_that_are_no_instruction_are_illegal() {
    let illegal = [
        0x0000_1067, // jalr with funct3 1
        0x0000_2063, // branch with funct3 2
        0x0000_3003, // load with funct3 3
        0x0000_3023, // store with funct3 3
        0x0200_1013, // slli by 32 and more
        0x0200_5013, // srli by 32 and more
        0x8000_0033, // funct7 1000000
        0x4000_1033, // funct7 of sub with sll
        0x0000_100f, // fence.i is not in RV32IMC
        0xc000_2073, // rdcycle is not in RV32IMC
        0xffff_ffff,
    ];
    for word in illegal {
        assert_eq!(decode(word, true), None, "{word:#010x}");
    }
    // Without the extension C, a word whose low bits are not 11 is illegal.
    assert_eq!(decode(0x0000_0001, false), None);
}

#[test]
fn instructions_of_16_bits_are_decoded() {
    read(&[
        // Each immediate bit of an instruction is 1 once, to show its place.
        (0b000_00000001_000_00, "addi x8, x2, 8"),
        (0b000_00000010_000_00, "addi x8, x2, 4"),
        (0b000_00000100_001_00, "addi x9, x2, 64"),
        (0b000_01000000_001_00, "addi x9, x2, 16"),
        (0b010_001_010_01_011_00, "lw x11, 72(x10)"),
        (0b110_100_010_10_011_00, "sw x11, 36(x10)"),
        (0b000_1_00101_11111_01, "addi x5, x5, -1"),
        (0b001_1_0_00_0_0_0_000_0_01, "jal x1, pc-2048"),
        (0b101_0_1_10_0_0_1_001_0_01, "jal x0, pc+658"),
        (0b101_0_0_01_1_1_0_000_1_01, "jal x0, pc+1376"),
        (0b010_0_00111_01010_01, "addi x7, x0, 10"),
        (0b011_1_00010_00000_01, "addi x2, x2, -512"),
        (0b011_0_00010_10000_01, "addi x2, x2, 16"),
        (0b011_0_00010_01000_01, "addi x2, x2, 64"),
        (0b011_0_00010_00110_01, "addi x2, x2, 384"),
        (0b011_0_00010_00001_01, "addi x2, x2, 32"),
        (0b011_1_00011_11111_01, "lui x3, 0xfffff"),
        (0b100_0_00_000_00011_01, "srli x8, x8, 3"),
        (0b100_0_01_001_00011_01, "srai x9, x9, 3"),
        (0b100_1_10_001_11110_01, "andi x9, x9, -2"),
        (0b100_0_11_000_00_001_01, "sub x8, x8, x9"),
        (0b100_0_11_000_01_001_01, "xor x8, x8, x9"),
        (0b100_0_11_000_10_001_01, "or x8, x8, x9"),
        (0b100_0_11_000_11_001_01, "and x8, x8, x9"),
        (0b110_1_00_000_00000_01, "beq x8, x0, pc-256"),
        (0b111_0_01_000_10101_01, "bne x8, x0, pc+172"),
        (0b000_0_00101_00001_10, "slli x5, x5, 1"),
        (0b010_1_00101_00101_10, "lw x5, 100(x2)"),
        (0b100_0_00101_00000_10, "jalr x0, 0(x5)"),
        (0b100_1_00101_00000_10, "jalr x1, 0(x5)"),
        (0b100_0_00101_00110_10, "add x5, x0, x6"),
        (0b100_1_00101_00110_10, "add x5, x5, x6"),
        (0b100_1_00000_00000_10, "ebreak"),
        (0b110_100001_00101_10, "sw x5, 96(x2)"),
    ]);
}

/// The assembler writes each instruction so that the decoder reads it.
#[test]
fn what_is_assembled_is_decoded() {
    for word in (0..1 << 20).map(|index: u32| index.wrapping_mul(0x9e37_79b9)) {
        let Some(found) = decode(word, false) else { continue };
        let imm = if matches!(found.op, Lui | Auipc) { found.imm >> 12 } else { found.imm };
        let line = Line::new(found.op).rd(found.rd).rs1(found.rs1).rs2(found.rs2);
        let halves =
            line.imm(i64::from(imm)).op.encode(&line.imm(i64::from(imm)), imm.cast_signed());
        let again = u32::from(halves[0]) | u32::from(halves[1]) << 16;
        assert_eq!(decode(again, false), Some(found), "{word:#x}");
    }
}

#[test]
fn reserved_instructions_of_16_bits_are_illegal() {
    let illegal = [
        0x0000,                   // by definition
        0b000_00000000_001_00,    // c.addi4spn without immediate
        0b001_000_000_00_000_00,  // c.fld
        0b011_000_000_00_000_00,  // c.flw
        0b101_000_000_00_000_00,  // c.fsd
        0b111_000_000_00_000_00,  // c.fsw
        0b011_0_00010_00000_01,   // c.addi16sp without immediate
        0b011_0_00011_00000_01,   // c.lui without immediate
        0b100_1_00_000_00001_01,  // c.srli by 33
        0b100_1_11_000_00_000_01, // c.subw of RV64
        0b000_1_00101_00001_10,   // c.slli by 33
        0b010_0_00000_00100_10,   // c.lwsp to x0
        0b100_0_00000_00000_10,   // c.jr x0
        0b001_0_00101_00000_10,   // c.fldsp
    ];
    for word in illegal {
        assert_eq!(decode(word, true), None, "{word:#06x}");
    }
}

#[test]
fn arithmetic_wraps_and_shifts_by_five_bits() {
    assert_eq!(op(0, 0, u32::MAX, 2), 1);
    assert_eq!(op(0x20, 0, 1, 2), u32::MAX);
    assert_eq!(op(0, 1, 1, 33), 2);
    assert_eq!(op(0, 5, 0x8000_0000, 4), 0x0800_0000);
    assert_eq!(op(0x20, 5, 0x8000_0000, 4), 0xf800_0000);
    assert_eq!([op(0, 2, u32::MAX, 0), op(0, 3, u32::MAX, 0)], [1, 0]);
    assert_eq!([op(0, 4, 12, 10), op(0, 6, 12, 10), op(0, 7, 12, 10)], [6, 14, 8]);
    // sltiu x3, x1, -1 compares with 2^32 - 1.
    assert_eq!(run(0xfff0_b193, 5, 0).1.get(3), 1);
}

#[test]
fn products_have_their_signs() {
    const MIN: u32 = 0x8000_0000;
    // -1 * -1 = 1; signed * unsigned: -1 * (2^32 - 1) = -2^32 + 1; (2^32 - 1)^2 = 2^64 - 2^33 + 1.
    assert_eq!(op(1, 0, u32::MAX, u32::MAX), 1);
    assert_eq!(op(1, 1, u32::MAX, u32::MAX), 0);
    assert_eq!(op(1, 2, u32::MAX, u32::MAX), u32::MAX);
    assert_eq!(op(1, 3, u32::MAX, u32::MAX), u32::MAX - 1);
    // -2^31 * -2^31 = 2^62; -2^31 * 2^31 = -2^62.
    assert_eq!([op(1, 1, MIN, MIN), op(1, 2, MIN, MIN)], [1 << 30, 3 << 30]);
}

#[test]
fn division_follows_table_7_1() {
    const MIN: u32 = 0x8000_0000;
    let all = |a, b| [4, 5, 6, 7].map(|funct3| op(1, funct3, a, b));
    assert_eq!(all(7, 0), [u32::MAX, u32::MAX, 7, 7]);
    assert_eq!(all(MIN, u32::MAX), [MIN, 0, 0, MIN]);
    // Division rounds towards zero, and the remainder has the sign of the dividend.
    assert_eq!(all((-7_i32).cast_unsigned(), 2)[0], (-3_i32).cast_unsigned());
    assert_eq!(all((-7_i32).cast_unsigned(), 2)[2], u32::MAX);
    assert_eq!(all(7, (-2_i32).cast_unsigned())[2], 1);
    assert_eq!([all(20, 6)[1], all(20, 6)[3]], [3, 2]);
}

#[test]
fn branches_compare_with_and_without_sign() {
    // funct3 of beq, bne, blt, bge, bltu, bgeu; x1, x2, pc + 8.
    let taken = |x1, x2| {
        [0, 1, 4, 5, 6, 7].map(|funct3| {
            let (effect, cpu) = run(0x0020_8463 | funct3 << 12, x1, x2);
            assert_eq!(cpu.pc, if effect == Effect::Taken { 0x108 } else { 0x104 });
            effect == Effect::Taken
        })
    };
    assert_eq!(taken(5, 5), [true, false, false, true, false, true]);
    assert_eq!(taken(u32::MAX, 1), [false, true, true, false, false, true]);
    assert_eq!(taken(1, u32::MAX), [false, true, false, true, true, false]);
}

#[test]
fn jumps_link_and_clear_bit_0() {
    // jalr x1, 1(x1): the target is the old value of x1.
    let (effect, cpu) = run(0x0010_80e7, 0x200, 0);
    assert_eq!((effect, cpu.pc, cpu.get(1)), (Effect::Taken, 0x200, 0x104));
    // c.jalr x1 links to the instruction behind its two bytes.
    let (_, cpu) = run(0x9082, 0x300, 0);
    assert_eq!((cpu.pc, cpu.get(1)), (0x300, 0x102));
    // Without the extension C, a target must be a multiple of 4, and nothing is linked.
    let mut cpu = Cpu::new(0);
    let jump = decode(0x0060_00ef, false).unwrap();
    assert_eq!(cpu.execute(&jump, 4, false), Effect::Trap(Trap::MisalignedTarget(6)));
    assert_eq!(cpu, Cpu::new(0));
}

#[test]
fn stores_enable_their_bytes() {
    let store = |word, x1| match run(word, x1, 0xa1b2_c3d4).0 {
        Effect::Store(Store { address, strobes, data }) => Ok((address, strobes, data)),
        Effect::Trap(trap) => Err(trap),
        other => panic!("{other:?}"),
    };
    // sb, sh, sw of x2 to 0(x1).
    assert_eq!(store(0x0020_8023, 0x103), Ok((0x100, 0b1000, 0xd400_0000)));
    assert_eq!(store(0x0020_9023, 0x102), Ok((0x100, 0b1100, 0xc3d4_0000)));
    assert_eq!(store(0x0020_a023, 0x100), Ok((0x100, 0b1111, 0xa1b2_c3d4)));
    assert_eq!(store(0x0020_9023, 0x101), Err(Trap::MisalignedData(0x101)));
    assert_eq!(store(0x0020_a023, 0x102), Err(Trap::MisalignedData(0x102)));
}

#[test]
fn loads_extend_their_values() {
    let load = |funct3: u32, address: u32| {
        let instruction = decode(1 << 15 | funct3 << 12 | 3 << 7 | 3, true).unwrap();
        let mut cpu = Cpu::new(0);
        cpu.set(1, address);
        assert_eq!(cpu.execute(&instruction, 4, true), Effect::Load(address));
        cpu.load(&instruction, address, 0x8081_7fff);
        cpu.get(3)
    };
    assert_eq!([load(0, 3), load(4, 3), load(0, 1)], [0xffff_ff80, 0x80, 0x7f]);
    assert_eq!([load(1, 2), load(5, 2), load(1, 0)], [0xffff_8081, 0x8081, 0x7fff]);
    assert_eq!(load(2, 0), 0x8081_7fff);
}

#[test]
fn x0_is_always_zero() {
    // addi x0, x1, 1.
    assert_eq!(run(0x0010_8013, 5, 0).1.get(0), 0);
}

#[test]
fn a_trap_changes_nothing() {
    let before = run(0x0ff0_000f, 1, 2).1;
    let mut cpu = before.clone();
    let ebreak = decode(0x10_0073, true).unwrap();
    assert_eq!(cpu.execute(&ebreak, 4, true), Effect::Trap(Trap::Requested));
    assert_eq!(cpu, before);
}
