//! Each rule by hand: the cycle that it applies in, its outputs, and the states around it.
//!
//! All values are worked out from the specification. Pins are bit ranges of its section 3, so that
//! the layouts are tested, too.

use super::*;
use crate::blocks::testing::{self, REPAIRED};
use crate::blocks::thread2::Thread2;
use cosim_core::harness::Golden as _;
use std::collections::BTreeSet;

type Bench = testing::Bench<Thread2>;

/// Short names of pins and of fields, by their bits.
macro_rules! short {
    ($($name:literal: $($pins:literal)* $([ $port:literal $($bits:literal = $value:literal)+ ])*;)+) => {
        &[$(($name, concat!($($pins, " ",)* $($(" ", $port, "[", $bits, "]=", $value,)+)*))),+]
    };
}

/// No two fields of a packet are equal, so that none can be mistaken for another.
const SHORT: &[(&str, &str)] = short! {
    // A packet of RC QP 0x1234c3 in RTS: opcode, bytes.
    "pkt": "fetch_cxt_egress_valid"
        ["fetch_cxt_egress_head" "37:35" = 3 "47:40" = 6 "63:48" = "0xbeef" "95:64" = "0x11112222"
         "127:96" = "0x33334444" "159:128" = "0x10000" "167:160" = 5 "223:192" = "0x77567890"
         "255:224" = "0x55556666" "287:256" = "0x77778888" "295:288" = 4 "351:320" = "0x9999aaaa"
         "383:352" = "0xbbbbcccc"]
        ["fetch_cxt_egress_data" "23:0" = "0xabcdef" "28:24" = "$1" "55:32" = "0x1234c3"
         "95:64" = "0x51e57e11" "159:96" = "0x0123456789abcdef" "191:160" = "0xd00dfeed"
         "319:288" = "0x0a0b0c0d" "351:320" = "0xc0a80102" "367:352" = "0x4321" "383:368" = "$2"];
    "in": ["fetch_cxt_egress_head" "37:35" = "$1"];
    "of": ["fetch_cxt_egress_data" "31:29" = "$1"];
    "solicited": ["fetch_cxt_egress_data" "56:56" = 1];
    // All partners answer. As a DataUnit, the NextUnit has 0x4600 bytes.
    "go": "wqe_req_ready wqe_resp_valid wqe_resp_last cq_req_ready cq_resp_valid eq_req_ready"
        "eq_resp_valid fetch_mr_ingress_ready"
        "rq_offset_dout=0x110 cache_offset_dout=0x20 cache_owned_dout=0x99"
        ["wqe_resp_data" "31:6" = "0x118" "37:32" = 8 "77:70" = 4]
        ["cq_resp_head" "95:32" = "0xc0c0111122223340"]
        ["eq_resp_head" "95:32" = "0xe0e0444455556660"];
    // A DataUnit with its valid and without it.
    "unit": "wqe_resp_valid"
        ["wqe_resp_data" "30:0" = "$1" "63:32" = "0x0dd01ee1" "127:64" = "0x7fff12345000"];
    "beat": ["wqe_resp_data" "30:0" = "$1" "63:32" = "0x0dd01ee1" "127:64" = "0x7fff12345000"];
    "at": ["wqe_resp_data" "127:64" = "$1"];
    "inline": ["wqe_resp_data" "31:31" = 1];
    "last": "wqe_resp_last";
    "take": "fetch_mr_ingress_ready";

    "idle": "fetch_cxt_egress_ready";
    "q": "rq_offset_addr=0xc3 cache_offset_addr=0xc3 cache_owned_addr=0x43";
    "taken": "wqe_resp_ready";
    "wqe": "wqe_req_valid wqe_req_start wqe_req_last"
        ["wqe_req_head" "23:0" = "0x1234c3" "31:24" = 6 "63:32" = "0x33334444"
         "95:64" = "0x10000" "127:96" = "0x11112222"];
    "cq": "cq_req_valid cq_req_head=0x0400_0000_beef";
    "eq": "eq_req_valid eq_req_head=0x0200_0056_7890";
    "step": "rq_offset_wen rq_offset_din=$1 cache_offset_wen cache_offset_din=$2";
    // What all MR requests of a packet of 100 bytes have, and then what each has.
    "mr": "rq_offset_addr=0xc3 cache_offset_addr=0xc3 cache_owned_addr=0x43"
        "fetch_mr_ingress_valid fetch_mr_ingress_start fetch_mr_ingress_last"
        ["fetch_mr_ingress_head" "7:0" = "0xc3" "30:24" = 1]
        ["fetch_mr_ingress_data" "23:0" = "0x1234c3" "55:32" = "0xabcdef" "95:64" = "0xd00dfeed"
         "111:96" = 100 "127:112" = "0x4321" "191:160" = "0xc0a80102" "223:192" = "0x0a0b0c0d"];
    "place": ["fetch_mr_ingress_head" "63:32" = "0x4000001" "95:64" = "0x11112222"
         "127:96" = "0x0dd01ee1" "191:128" = "0x7fff12345000" "223:192" = "$1"]
        ["fetch_mr_ingress_data" "31:24" = "$2" "60:56" = "$3"];
    // Flags, opcode.
    "remote": ["fetch_mr_ingress_head" "63:32" = "$1" "95:64" = "0x11112222" "127:96" = "0x51e57e11"
         "191:128" = "0x0123456789abcdef" "223:192" = 100]
        ["fetch_mr_ingress_data" "31:24" = "0xff" "60:56" = "$2"];
    "cqe": ["fetch_mr_ingress_head" "63:32" = "0x2000001" "95:64" = "0x55556666"
         "127:96" = "0x77778888" "191:128" = "0xc0c0111122223340" "223:192" = 32]
        ["fetch_mr_ingress_data" "31:24" = "0xff" "60:56" = 26 "151:128" = "0x110" "156:152" = "$1"];
    "event": ["fetch_mr_ingress_head" "63:32" = "0x2000001" "95:64" = "0x9999aaaa"
         "127:96" = "0xbbbbcccc" "191:128" = "0xe0e0444455556660" "223:192" = 32]
        ["fetch_mr_ingress_data" "31:24" = "0xff" "60:56" = 27];
    "ack": ["fetch_mr_ingress_head" "31:31" = 1]
        ["fetch_mr_ingress_data" "31:24" = "0xff" "60:56" = 20];
    "bypass": ["fetch_mr_ingress_head" "31:31" = 1];
    "svc": ["fetch_mr_ingress_data" "63:61" = "$1"];
    // Address, length, tail.
    "piece": "fetch_mr_ingress_valid" ["fetch_mr_ingress_head" "191:128" = "$1" "223:192" = "$2"]
        ["fetch_mr_ingress_data" "31:24" = "$3"];
};

fn new(fixes: u8) -> Bench {
    Bench::new(&Parameters::with_fixes::<Thread2>(fixes), SHORT, "")
}

/// All partners answer until a state is reached.
#[track_caller]
fn bring(bench: &mut Bench, state: State) {
    for _ in 0..20 {
        if bench.golden.state == state {
            return;
        }
        bench.edge("go");
    }
    panic!("{state:?} is not reached");
}

/// Rows that no packet reaches.
const IMPOSSIBLE: [&str; 3] = ["T32", "T36", "T46"];

/// Rule, states before and after it, masks, the packet and cycles before, inputs, all outputs.
/// Opcodes and states have the codes of sections 3 and 4.
const TABLE: &str = "
 T01 | IDLE JUDGE | 00 ff | - | pkt(4,100) go | idle
 T02 | IDLE IDLE | 00 ff | - | go | idle
 T03 | JUDGE WQE_REQ | 00 ff | pkt(4,100) | pkt(10,7) go | q
 T04 | JUDGE MR_FOR_WRITE | 00 ff | pkt(10,100) | go | q
 T05 | JUDGE MR_FOR_READ | 00 ff | pkt(15,100) | go | q
 T06 | JUDGE IDLE | 00 ff | pkt(20,100) | go | q
 F7 | JUDGE IDLE | 80 ff | pkt(4,100) in(6) | go | q
 T07 | WQE_REQ NEXT_UNIT | 00 ff | pkt(4,100) | go | q wqe
 T08 | WQE_REQ IDLE | 00 fe | pkt(4,100) | - | q wqe
 F0 | WQE_REQ WQE_REQ | 01 ff | pkt(4,100) | - | q wqe
 T09 | NEXT_UNIT DATA_UNIT | 00 ff | pkt(4,100) | go | q taken
 T10 | NEXT_UNIT NEXT_UNIT | 00 ff | pkt(4,100) | beat(100) | q taken
 T11 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(9,100) | unit(100) last | q taken
 T12 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(11,100) | unit(0) last | q taken
 D1 | DATA_UNIT DATA_UNIT | 00 ff | pkt(9,100) | unit(100) | q taken
 D1 | DATA_UNIT DATA_UNIT | 00 ff | pkt(11,0) | unit(100) | q taken
 T13 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(2,0) | unit(100) last | q taken
 T14 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(4,0) | unit(0) last | q taken
 T15 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(3,0) | unit(100) last | q taken
 T16 | DATA_UNIT UPDATE_RQ | 00 ff | pkt(5,0) | unit(0) last | q taken
 T17 | DATA_UNIT GEN_ACK | 00 ff | pkt(0,0) | unit(100) last | q taken
 T17 | DATA_UNIT GEN_ACK | 00 ff | pkt(1,0) | unit(0) last | q taken
 F6a | DATA_UNIT IDLE | 40 ff | pkt(1,0) of(1) | unit(0) last | q taken
 T18 | DATA_UNIT MR_FOR_SEND | 00 ff | pkt(4,100) | unit(1) last | q
 T19 | DATA_UNIT DATA_UNIT | 00 ff | pkt(4,100) | beat(100) last | q
 T19 | DATA_UNIT DATA_UNIT | 00 ff | pkt(4,100) | beat(0) last | q taken
 T19 | DATA_UNIT DATA_UNIT | 00 ff | pkt(4,0) | beat(100) last | q taken
 T19 | DATA_UNIT DATA_UNIT | 00 ff | pkt(11,100) | beat(100) last | q taken
 T20 | DATA_UNIT DATA_UNIT | 00 ff | pkt(4,0) | unit(100) | q taken
 T21 | DATA_UNIT DATA_UNIT | 00 ff | pkt(4,100) | unit(0) | q taken
 T21 | DATA_UNIT DATA_UNIT | 00 df | pkt(4,100) | unit(0) last | q taken
 F5a | DATA_UNIT UPDATE_RQ | 20 ff | pkt(0,100) of(1) | unit(0) last | q taken
 T22 | CQ_REQ CQ_RESP | 00 ff | pkt(4,100) | go | q cq
 T23 | CQ_REQ CQ_REQ | 00 ff | pkt(4,100) | - | q cq
 T24 | CQ_RESP MR_FOR_CQ | 00 ff | pkt(4,100) | go | q cq_resp_ready
 T25 | CQ_RESP CQ_RESP | 00 ff | pkt(4,100) | - | q cq_resp_ready
 T26 | EQ_REQ EQ_RESP | 02 ff | pkt(4,100) solicited | go | q eq
 T27 | EQ_REQ EQ_REQ | 02 ff | pkt(4,100) solicited | - | q eq
 T28 | EQ_RESP MR_FOR_EQ | 02 ff | pkt(4,100) solicited | go | q eq_resp_ready
 T29 | EQ_RESP EQ_RESP | 02 ff | pkt(4,100) solicited | - | q eq_resp_ready
 T30 | UPDATE_RQ CQ_REQ | 00 ff | pkt(2,100) | go | q step(0x114,0x28)
 T30 | UPDATE_RQ CQ_REQ | 00 ff | pkt(3,100) | go | q step(0x114,0x28)
 T30 | UPDATE_RQ CQ_REQ | 00 ff | pkt(4,100) | go | q step(0x114,0x28)
 T30 | UPDATE_RQ CQ_REQ | 00 ff | pkt(5,100) | go | q step(0x114,0x28)
 T31 | UPDATE_RQ MR_FOR_WRITE | 00 ff | pkt(9,100) | go | q step(0x114,0x28)
 T31 | UPDATE_RQ MR_FOR_WRITE | 00 ff | pkt(11,100) | go | q step(0x114,0x28)
 T32 | UPDATE_RQ IDLE | 00 ff | pkt(0,100) | - | q step(0,0)
 F5e | UPDATE_RQ CQ_REQ | 20 ff | pkt(0,100); 3* go; unit(0) last | go | q step(0x114,0x28)
 T33 | MR_FOR_SEND DATA_UNIT | 00 ff | pkt(4,100) | beat(30) take | mr place(30,0,4) taken
 T33 | MR_FOR_SEND DATA_UNIT | 00 ff | pkt(4,100) | beat(101) inline take | mr place(100,0xff,4) bypass taken
 T33 | MR_FOR_SEND DATA_UNIT | 00 df | pkt(4,100) | beat(100) last take | mr place(100,0xff,4) taken
 T34 | MR_FOR_SEND MR_FOR_SEND | 00 ff | pkt(4,100) | beat(30) last | mr place(30,0,4)
 F5b | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(2,100) | beat(100) last take | mr place(100,0xff,2) taken
 F5b | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(3,100) | beat(101) last take | mr place(100,0xff,3) taken
 F5b | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(4,100) | beat(100) last take | mr place(100,0xff,4) taken
 F5b | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(5,100) | beat(100) last take | mr place(100,0xff,5) taken
 F5c | MR_FOR_SEND GEN_ACK | 20 ff | pkt(0,100) solicited | beat(100) last take | mr place(100,0xff,0) taken
 F5c | MR_FOR_SEND GEN_ACK | 20 ff | pkt(1,100) | beat(101) last take | mr place(100,0xff,1) taken
 F6b | MR_FOR_SEND IDLE | 60 ff | pkt(1,100) of(1) | beat(100) last take | mr place(100,0xff,1) svc(1) taken
 F5d | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(4,100) | beat(99) last take | mr place(99,0,4) taken
 F5d | MR_FOR_SEND UPDATE_RQ | 20 ff | pkt(0,100) of(1) | beat(99) last take | mr place(99,0,0) svc(1) taken
 T35 | MR_FOR_WRITE GEN_ACK | 00 ff | pkt(6,100) | go | mr remote(0x4000002,6)
 T35 | MR_FOR_WRITE GEN_ACK | 00 ff | pkt(7,100) | go | mr remote(0x4000002,7)
 T35 | MR_FOR_WRITE GEN_ACK | 00 ff | pkt(8,100) | go | mr remote(0x4000002,8)
 T35 | MR_FOR_WRITE GEN_ACK | 00 ff | pkt(10,100) solicited | go | mr remote(0x4000002,10)
 T35 | MR_FOR_WRITE GEN_ACK | 00 f7 | pkt(9,100) | go | mr remote(0x4000002,9)
 T35 | MR_FOR_WRITE GEN_ACK | 00 f7 | pkt(11,100) | go | mr remote(0x4000002,11)
 F3 | MR_FOR_WRITE CQ_REQ | 08 ff | pkt(9,100) | go | mr remote(0x4000002,9)
 F3 | MR_FOR_WRITE CQ_REQ | 48 ff | pkt(11,100) of(1) | go | mr remote(0x4000002,11) svc(1)
 F6c | MR_FOR_WRITE IDLE | 40 ff | pkt(10,100) of(1) | go | mr remote(0x4000002,10) svc(1)
 F6c | MR_FOR_WRITE IDLE | 40 f7 | pkt(11,100) of(1) | go | mr remote(0x4000002,11) svc(1)
 T36 | MR_FOR_WRITE IDLE | 00 ff | pkt(4,100) | go | mr remote(0x4000002,4)
 T37 | MR_FOR_WRITE MR_FOR_WRITE | 00 ff | pkt(10,100) | - | mr remote(0x4000002,10)
 T38 | MR_FOR_READ IDLE | 00 ef | pkt(12,100) | go | mr remote(0x4000004,16) bypass
 T38 | MR_FOR_READ IDLE | 00 ef | pkt(13,100) | go | mr remote(0x4000004,17) bypass
 F4 | MR_FOR_READ IDLE | 10 ff | pkt(14,100) | go | mr remote(0x4000004,18)
 F4 | MR_FOR_READ IDLE | 10 ff | pkt(15,100) | go | mr remote(0x4000004,19)
 T39 | MR_FOR_READ MR_FOR_READ | 00 ef | pkt(15,100) | - | mr remote(0x4000004,19) bypass
 T39 | MR_FOR_READ MR_FOR_READ | 10 ff | pkt(15,100) | - | mr remote(0x4000004,19)
 T40 | MR_FOR_CQ GEN_ACK | 00 ff | pkt(4,100) | go | mr cqe(4)
 T40 | MR_FOR_CQ GEN_ACK | 00 fd | pkt(4,100) solicited | go | mr cqe(4)
 T40 | MR_FOR_CQ GEN_ACK | 08 ff | pkt(11,100) | go | mr cqe(11)
 F1 | MR_FOR_CQ EQ_REQ | 02 ff | pkt(4,100) solicited | go | mr cqe(4)
 F1 | MR_FOR_CQ EQ_REQ | 4a ff | pkt(11,100) solicited of(1) | go | mr cqe(11) svc(1)
 F6d | MR_FOR_CQ IDLE | 40 ff | pkt(4,100) of(1) | go | mr cqe(4) svc(1)
 F6d | MR_FOR_CQ IDLE | 40 fd | pkt(4,100) of(1) solicited | go | mr cqe(4) svc(1)
 T41 | MR_FOR_CQ MR_FOR_CQ | 00 ff | pkt(4,100) solicited | - | mr cqe(4)
 T42 | MR_FOR_EQ GEN_ACK | 02 ff | pkt(4,100) solicited | go | mr event
 F6e | MR_FOR_EQ IDLE | 42 ff | pkt(4,100) solicited of(1) | go | mr event svc(1)
 T43 | MR_FOR_EQ MR_FOR_CQ | 02 fb | pkt(4,100) solicited | - | mr event
 F2 | MR_FOR_EQ MR_FOR_EQ | 06 ff | pkt(4,100) solicited | - | mr event
 T44 | GEN_ACK IDLE | 00 ff | pkt(4,100) | go | mr ack
 T45 | GEN_ACK GEN_ACK | 00 ff | pkt(10,100) | - | mr ack
 T46 | undefined IDLE | 00 ff | pkt(4,100) | go | q";

/// Section 1: a reset leaves every state at once, and all outputs are 0.
#[test]
fn each_rule_applies_in_its_cycle_and_a_reset_leaves_each_state() {
    let mut rules = BTreeSet::new();
    for row in TABLE.lines().skip(1) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let &[rule, states, masks, before, inputs, outputs] = &cells[..] else { panic!("{row}") };
        let state = |name: &str| {
            let mut states = State::ALL.into_iter();
            states.find(|state| state.name().trim_end_matches("_s") == name).expect(row)
        };
        let (from, to) = states.split_once(' ').expect(row);
        rules.insert(rule);
        for mask in masks.split(' ') {
            let mut bench = new(u8::from_str_radix(mask, 16).expect(row));
            bench.run(&before.replace(';', "\n"));
            if IMPOSSIBLE.contains(&rule) {
                bench.golden.state = state(from);
            }
            bring(&mut bench, state(from));
            let (mut reset, inputs_in_reset) =
                (bench.clone(), format!("rst pkt(4,100) {}", inputs.trim_matches('-')));
            assert_eq!(reset.outputs(&inputs_in_reset), Outputs::default(), "{row}");
            assert!(reset.edge(&inputs_in_reset).is_empty(), "{row}");
            assert_eq!(reset.golden.state, State::IDLE_s, "{row}");
            bench.run(&format!("{inputs} | = {outputs} | = {rule}"));
            assert_eq!(bench.golden.state, state(to), "{row}");
        }
    }
    assert_eq!(rules, Golden::RULES.iter().map(|rule| rule.name).collect());
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
