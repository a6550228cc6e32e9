//! Places in units, steps of the RQ, updates of the cache, and the widths of fields.

use super::*;

#[test]
fn t18_t21_t33_units_are_used_up_to_their_last_byte() {
    run(
        &[SPEC, REPAIRED],
        "> pkt(0,100)
         unit(100)
         beat(100) take                | piece(0x7fff12345000,100,0xff) taken | = T33
         unit(0) last                  |                                      | = T17
         > pkt(2,51)
         unit(40)                      | = q taken                            | = T21
         unit(0)                       | = q taken                            | = T21
         beat(60)                      | = q taken                            | = T19
         beat(61)                      | = q                                  | = T19
         // One byte is left, at laddr + 60.
         unit(61)                      | = q                                  | = T18
         beat(61) take                 | piece(0x7fff1234503c,1,0)            | = T33
         unit(0x7fffffff) at(0xaaaa)
         beat(0x7fffffff) at(0xaaaa) take | piece(0xaaaa,50,0xff)             | = T33
         unit(0) last                  |                                      | = T13
         // The message is over: the next one begins at the first unit.
         > pkt(4,100)
         unit(1)                       | = q                                  | = T18",
    );
}

/// 0xffff_ffff_ffff_fff0 + 32 = 0x1_0000_0000_0000_0010, and positions beyond 64 KiB.
#[test]
fn t33_addresses_wrap_at_64_bits_and_places_do_not_at_16() {
    run(
        &[SPEC, REPAIRED],
        "> pkt(0,32)
         unit(100)
         beat(100) at(0xfffffffffffffff0) take | piece(0xfffffffffffffff0,32,0xff)
         unit(0) last
         > pkt(2,8)
         unit(100)
         beat(100) at(0xfffffffffffffff0) take | piece(0x10,8,0xff)
         unit(0) last
         > pkt(0,0xffff)
         unit(0x20000)
         beat(0x20000) take | piece(0x7fff12345000,0xffff,0xff)
         unit(0) last
         > pkt(1,0xffff)
         unit(0x20000)
         beat(0x20000) take | piece(0x7fff12354fff,0xffff,0xff)
         unit(0) last
         > pkt(1,3)
         unit(0x20000)
         beat(0x20000) take | piece(0x7fff12364ffe,2,0)
         unit(0x7fffffff) at(0xaaaa)
         beat(0x7fffffff) at(0xaaaa) take | piece(0xaaaa,1,0xff)",
    );
}

/// Two messages alternate, each split inside its unit. The QPs share a cell, not a place (D19).
/// Every UPDATE_RQ_s and every reset clears places, the former only that of its QP.
#[test]
fn message_offsets_are_kept_for_each_qp() {
    run(
        &[SPEC, REPAIRED],
        "> pkt(0,60)
         unit(100)
         beat(100) take | piece(0x7fff12345000,60,0xff)
         unit(0) last
         > pkt(0,30) qp(0x43)
         unit(100)
         beat(100) take | piece(0x7fff12345000,30,0xff) rq_offset_addr=0x43 cache_owned_addr=0x43
         unit(0) last
         > pkt(2,70) qp(0xff0043)
         unit(100)
         beat(100) take | piece(0x7fff1234501e,70,0xff)
         unit(0) last
         > pkt(1,30)
         unit(100)
         beat(100) take | piece(0x7fff1234503c,30,0xff)
         unit(0) last
         > pkt(0,20) qp(0x43)
         unit(100)
         beat(100) take | piece(0x7fff12345000,20,0xff)
         unit(0) last
         > pkt(11,100)
         unit(100) last
         > pkt(4,10)
         unit(100)
         beat(100) take | piece(0x7fff12345000,10,0xff)
         > pkt(1,10) qp(0x43)
         unit(100)
         beat(100) take | piece(0x7fff12345014,10,0xff)
         rst
         > pkt(1,10) qp(0x43)
         unit(1) | rq_offset_addr=0x43 | = T18",
    );
}

/// Unconstrained pins: MR_FOR_SEND_s uses the beat on its pins, also a used-up one, which requests
/// nothing and is counted.
#[test]
fn t33_t34_requests_are_made_for_the_beat_on_the_pins() {
    run(
        &[SPEC, REPAIRED],
        "> pkt(0,60)
         unit(100)
         beat(10) at(0xaaaa0000)      | piece(0xaaaa0000,10,0)        | = T34
         beat(100) take               | piece(0x7fff12345000,60,0xff) | = T33
         unit(0) last
         > pkt(2,40)
         unit(100)
         beat(50) at(0xaaaa0000) take | piece(0xaaaa003c,0,0)         | = T33
         unit(10)                     |                               | = T21
         unit(100)                    |                               | = T18
         beat(100) take               | piece(0x7fff12345000,40,0xff) | = T33",
    );
    run(&[0x20, REPAIRED], "> pkt(4,100) \n unit(100) \n beat(0) last take | | = F5d");
}

/// D11: msg_offset and parsed wrap, and their sums do not.
#[test]
fn places_wrap_at_32_bits() {
    let mut bench = new(REPAIRED);
    bench.golden.msg_offset[0xc3] = 0xffff_8000;
    bench.run("pkt(1,0xffff)");
    bring(&mut bench, State::DATA_UNIT_s);
    bench.run(
        "2* unit(0x7fff8000)         |                                      | = T21
         // parsed 0xffff_0000 + 0x7fff_ffff needs 33 bits.
         beat(0x7fffffff)            | = q                                  | = T19
         unit(0x8000)                |                                      | = T21
         unit(0x9000)
         beat(0x9000) take           | piece(0x7fff12345000,0x9000,0)       | = T33
         // Both are 0x1000 now.
         unit(0x10000) at(0xaaaa)
         beat(0x10000) at(0xaaaa) take | piece(0xaaaa,0x6fff,0xff)          | = T33
         unit(0) last                |                                      | = T17",
    );
    assert_eq!(bench.golden.msg_offset[0xc3], 0x7fff);
}

/// Fields reach to their most significant bits, and reserved bits are ignored. RDMA_WRITE_ONLY (10)
/// and SEND_ONLY_WITH_IMM (5) without payload, of service 7.
#[test]
fn fields_have_all_of_their_bits() {
    let ones = |port: &str, msb: u32| -> String {
        let words = (0..=msb).step_by(32);
        let word = |lsb: u32| {
            let msb = msb.min(lsb + 31);
            format!(" {port}[{msb}:{lsb}]={}", u64::MAX >> (63 + lsb - msb))
        };
        words.map(word).collect()
    };
    let packet = |opcode: u64| {
        let (head, data) = (ones("fetch_cxt_egress_head", 415), ones("fetch_cxt_egress_data", 487));
        format!("fetch_cxt_egress_valid{head}{data} fetch_cxt_egress_data[28:24]={opcode}")
    };
    new(SPEC).run(&packet(10)).run(
        "-
         go | = top top_mr(0x4000002,0xffff,10) fetch_mr_ingress_data[111:96]=0xffff | = T35",
    );
    let next = format!("wqe_resp_valid rq_offset_dout=0xffffff {}", ones("wqe_resp_data", 127));
    let address = format!("cq_resp_valid {}", ones("cq_resp_head", 95));
    // Entries of an illegal size: the offset stays. The next WQE crosses the cell.
    let tables = "rq_offset_dout=0xfffff cache_offset_dout=0xff cache_owned_dout=0xff";
    let completion = "top_mr(0x2000001,32,26)
        fetch_mr_ingress_data[151:128]=0xffffff fetch_mr_ingress_data[156:152]=5";
    new(SPEC).run(&format!("{} fetch_cxt_egress_data[383:368]=0", packet(5))).run(&format!(
        "-
         go           | = top top_wqe                           | = T07
         {next}       |                                         | = T09
         unit(1) last |                                         | = T16
         {tables}     | = top step(0xfffff,0) cache_owned_wen   | = T30
         go           | = top cq_req_valid cq_req_head=0xffff   | = T22
         {address}    |                                         | = T24
         go           | = top {}                                | = T40",
        completion.replace('\n', " "),
    ));
}

/// What UPDATE_RQ_s writes: rq_offset, cache_offset, and whether the cell is freed.
#[track_caller]
fn writes(ring: (u64, u64), next: [u64; 3], tables: [u64; 3]) -> [u64; 3] {
    let ((log, length), [rq, cell, owner]) = (ring, tables);
    let mut bench = new(SPEC);
    bench.run(&format!("pkt(4,0) entry({log}) ring({length})"));
    bring(&mut bench, State::UPDATE_RQ_s);
    let golden = &mut bench.golden;
    [golden.next_wqe_addr, golden.next_wqe_size, golden.cur_wqe_size] = next;
    let inputs = format!("rq_offset_dout={rq} cache_offset_dout={cell} cache_owned_dout={owner}");
    let outputs = bench.outputs(&inputs);
    [outputs.rq_offset_din.get(), outputs.cache_offset_din.get(), outputs.cache_owned_wen.get()]
}

/// The numbers of a table's lines.
fn numbers<const N: usize>(table: &str) -> impl Iterator<Item = [u64; N]> {
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).expect(word),
        None => word.parse().expect(word),
    };
    let row = move |row: &str| {
        let row: Vec<u64> = row.split_whitespace().map(number).collect();
        row.try_into().expect("a number for each column")
    };
    table.split([';', '\n']).map(row)
}

/// Section 5, rq_offset. log2 of an entry's bytes, bytes of the ring, slots of the WQE, the offset
/// before and after.
#[test]
fn t30_steps_the_rq_by_whole_entries() {
    const STEPS: &str = "6 0x100000 1 0x1000 0x1004;  6 0x100000 4 0x1000 0x1004
        6 0x100000 5 0x1000 0x1008;  7 0x100000 8 0x1000 0x1008;  7 0x100000 9 0x1000 0x1010
        8 0x100000 1 0x1000 0x1010;  8 0x100000 17 0x1000 0x1020; 9 0x100000 32 0x1000 0x1020
        9 0x100000 33 0x1000 0x1040; 10 0x100000 64 0x1000 0x1040; 10 0x100000 65 0x1000 0x1080
        6 0x100000 255 0x1000 0x1100; 10 0x100000 255 0x1000 0x1100; 6 0x100000 0 0x1000 0x1000
        10 0x100000 193 0x1000 0x1100; 10 0x100000 192 0x1000 0x10c0";
    // 104 * 16 + 64 = 1728, 108 * 16 + 64 = 1792, (64 + 64) * 16 + 1024 = 3072.
    const WRAPS: &str = "6 1728 4 100 104; 6 1727 4 100 0; 6 1728 4 104 0; 6 1792 4 104 108
        10 3072 64 64 128; 10 3071 64 64 0; 6 0 4 100 0";
    // 0xff_fffe + 4 = 0x100_0002 slots are 0x1000_0020 bytes, and 64 more fit.
    const BITS: &str = "6 0xffffffff 4 0xfffffe 2; 6 0x10000060 4 0xfffffe 2
        6 0x1000005f 4 0xfffffe 0; 6 0xffffffff 4 0xfffffb 0xffffff";
    let legal = [STEPS, WRAPS, BITS].into_iter().flat_map(numbers::<5>);
    // An illegal entry steps by nothing and needs no room: 256 * 16 = 4096. 22 and 134 have the low
    // bits of 6; 38 is 6 + 32.
    let illegal = [0, 4, 5, 11, 12, 22, 38, 134, 255].into_iter().flat_map(|log| {
        numbers::<4>("4096 4 0x80 0x80; 4096 64 256 256; 4096 4 257 0; 4095 4 256 0")
            .map(move |[length, size, before, after]| [log, length, size, before, after])
    });
    for row @ [log, length, size, before, after] in legal.chain(illegal) {
        let written = writes((log, length), [before, 8, size], [before, 0x20, 0x99]);
        assert_eq!(written, [after, 0x20, 0], "{row:?}");
    }
}

/// Section 5, release. Address and slots of the next WQE, offset of this one in the RQ and in the
/// cell, and that in the cell after it; 256 is a release.
#[test]
fn t30_keeps_the_cell_up_to_its_256th_slot() {
    // 200 + 40 + 16 = 256, 255 + 0 + 1, 193 + 0 + 63.
    const ENDS: &str = "0x138 16 0x110 200 240; 0x138 17 0x110 200 256; 0x139 16 0x110 200 256
        0x138 16 0x110 201 256; 0x110 1 0x110 255 255; 0x110 2 0x110 255 256
        0x110 63 0x110 193 193; 0x110 63 0x110 194 256; 0x111 1 0x110 255 256";
    // Distances that are 0 in their low 8, 9, 16 and 24 bits, no next WQE, the one before.
    const FAR: &str = "0x210 1 0x110 0 256; 0x310 1 0x110 0 256; 0x10110 1 0x110 0 256
        0x1000110 1 0x110 0 256; 0x3ffffff 63 0x110 255 256; 0x118 0 0x110 0x20 256
        0x110 0 0x110 0 256; 0x118 1 0x110 0x20 0x28; 0x110 8 0x110 0x20 0x20
        0x10f 8 0x110 0x20 256; 0 8 0x110 0x20 256";
    // Compared in 26 bits.
    const BITS: &str =
        "0x1000000 8 0xffffff 0x20 0x21; 0xfffe 8 0xffffff 0x20 256; 0 8 0xffffff 0x20 256";
    for row in [ENDS, FAR, BITS].into_iter().flat_map(numbers::<5>) {
        let [address, size, rq, before, after] = row;
        // Only its owner frees the cell: not QP 0x43, which shares it, and not a free one.
        for owner in [0xc3, 0x43, 0xc2, 0] {
            let [_, offset, frees] =
                writes((6, 0xffff_ffff), [address, size, 4], [rq, before, owner]);
            let is_released = after == 256;
            assert_eq!(offset, after % 256, "{row:?}");
            assert_eq!(frees == 1, is_released && owner == 0xc3, "{row:?} {owner:#x}");
        }
    }
}
