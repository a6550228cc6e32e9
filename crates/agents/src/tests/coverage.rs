//! Which bins a cycle hits, and what reports show.

use super::{apb, axi_lite, axi4, cycle, hits, memory_port, stream, wishbone};
use crate::interface::Interface;
use verilated::Pins;

const AXI4: &str = "awsize=4 arsize=4 awburst=1 arburst=1";

/// Checks the bins of each cycle, in its order.
fn check<M: Pins, S: Pins, P: Interface<M, S>>(pins: P, defaults: &str, cycles: &[(&str, &str)]) {
    let all: Vec<&str> = cycles.iter().map(|(cycle, _)| *cycle).collect();
    let found = hits(pins, &all.join("|"), defaults);
    for (found, (cycle, expected)) in found.iter().zip(cycles) {
        assert_eq!(found, expected, "{cycle}");
    }
}

#[test]
fn axi4_covers_bursts_order_and_skew() {
    check(
        axi4::PINS,
        AXI4,
        &[
            ("", ""),
            (
                "aw awid=1 awlen=15 ar arburst=2 arlen=1",
                "stalls aw 0, stalls ar 0, bursts write INCR 16, outstanding write 1, \
             bursts read WRAP 2-15, outstanding read 1",
            ),
            ("aw awid=2", "stalls aw 0, bursts write INCR 1, outstanding write 2"),
            ("w wlast", "stalls w 0, skew address"),
            (
                "b bid=2 r",
                "stalls b 0, stalls r 0, responses write OKAY apart, order write overtakes, \
             responses read OKAY apart",
            ),
            (
                "b bid=1 bresp=3",
                "stalls b 0, responses write DECERR back-to-back, order write first",
            ),
            ("r rlast", "stalls r 0, responses read OKAY apart, order read first"),
        ],
    );
}

#[test]
fn axi_lite_covers_responses_and_skew() {
    check(
        axi_lite::PINS,
        "",
        &[
            ("aw w", "stalls aw 0, stalls w 0, outstanding write 1, skew together"),
            ("aw b", "stalls aw 0, stalls b 0, responses write OKAY apart, outstanding write 1"),
            ("w", "stalls w 0, skew address"),
            ("b bresp=2", "stalls b 0, responses write SLVERR apart"),
            ("w", "stalls w 0"),
            ("awvalid", ""),
            ("aw", "stalls aw 1, outstanding write 1, skew data"),
        ],
    );
}

#[test]
fn apb_covers_waits_and_distance() {
    check(
        apb::PINS,
        "",
        &[
            ("psel pwrite", ""),
            ("psel penable pwrite", ""),
            ("psel penable pwrite pready", "transfers write okay apart, waits write 1"),
            ("psel", ""),
            ("psel penable pready pslverr", "transfers read error back-to-back, waits read 0"),
        ],
    );
}

#[test]
fn wishbone_covers_terminations_stalls_and_transfers_in_flight() {
    check(
        wishbone::PIPELINED,
        "",
        &[
            ("cyc stb stall", ""),
            ("cyc stb we", "requests write apart 1, outstanding 1"),
            ("cyc stb err", "requests read back-to-back 0, outstanding 2, transfers err"),
            ("cyc ack", "transfers ack"),
        ],
    );
}

#[test]
fn a_memory_port_covers_pairs() {
    check(
        memory_port::PINS,
        "",
        &[
            ("en we addr=3", "accesses write 1"),
            ("en addr=3", "accesses read 0, pairs write read same"),
            ("", ""),
            ("en addr=3", "accesses read 1"),
        ],
    );
}

#[test]
fn a_stream_covers_gap_stall_and_length() {
    check(
        stream::PINS,
        "",
        &[
            ("tvalid tready", "beats 0 0"),
            ("tready", ""),
            ("tvalid tlast", ""),
            ("tvalid tlast tready", "beats 1 1, packets 2-7"),
        ],
    );
}

/// What reports show of a cycle: each channel with an item, and whether it is taken.
fn shown_transfers<M: Pins, S: Pins>(
    pins: impl Interface<M, S>,
    names: &str,
    defaults: &str,
) -> String {
    let (_, m, s) = cycle(names, defaults);
    let item = |one: cosim_harness::harness::Transfer| {
        let taken = if one.is_taken { "" } else { " waits" };
        Some(format!("{}: {}{taken}", one.channel, one.item?))
    };
    pins.transfers(&m, &s).into_iter().filter_map(item).collect::<Vec<_>>().join("; ")
}

#[test]
fn reports_show_items_in_words() {
    let cases = [
        (
            shown_transfers(
                axi4::PINS,
                "aw awaddr=16 awlen=3 awid=2 rvalid rdata=5 rlast rid=1",
                AXI4,
            ),
            "aw: write 0x10, 4 beats of 16 bytes, INCR, id 0x2; r: 0x5 OKAY id 0x1 last waits",
        ),
        (
            shown_transfers(axi_lite::PINS, "aw awaddr=16 w wdata=9 wstrb=3 r rdata=5 rresp=2", ""),
            "aw: write 0x10; w: 0x9 strobe 0x3; r: 0x5 SLVERR",
        ),
        (
            shown_transfers(apb::PINS, "psel penable pready paddr=8 prdata=255 pslverr", ""),
            "apb: read 0xff from 0x8: error",
        ),
        (
            shown_transfers(wishbone::CLASSIC, "cyc stb adr=8 ack dat_r=255", ""),
            "cyc: read 0x8, ack 0xff",
        ),
        (
            shown_transfers(memory_port::PINS, "en we addr=3 be=3 wdata=255", ""),
            "en: write 0xff lanes 0x3 to 0x3",
        ),
        (
            shown_transfers(stream::PINS, "tvalid tdata=31 tkeep=511 tstrb=511 tid=2 tlast", ""),
            "tvalid: data 0x1f keep 0x1ff id 0x2 last waits",
        ),
    ];
    for (shown, expected) in cases {
        assert_eq!(shown, expected);
    }
}

/// Are interfaces found in lanes of common ports and in members of structs, and shown as such?
#[test]
fn interfaces_may_be_lanes_of_ports_and_members_of_structs() {
    use crate::ports::Ports;
    use crate::stream::StreamPins;
    use cosim_harness::harness::Layout;
    use verilated::{Bits, Pin};

    crate::testing::pins!(T { tvalid: 3 u8, tdata: 24 u32, req: 12 u16, });
    crate::testing::pins!(R { tready: 3 u8, resp: 2 u8, });
    cosim_harness::layout! {
        /// The transmitter.
        pub struct Req in Bits<12, u16> {
            /// A beat is on offer.
            t_valid [0 : 0],
            /// Its data.
            t_data [8 : 1],
            /// The last beat.
            t_last [10 : 10],
        }
    }
    cosim_harness::layout! {
        /// The receiver.
        pub struct Resp in Bits<2, u8> {
            /// The receiver takes it.
            t_ready [1 : 1],
        }
    }
    const LANES: [StreamPins<T, R>; 2] = [
        StreamPins::from_ports(Ports::new("").lane(0, 3)),
        StreamPins::from_ports(Ports::new("").lane(2, 3)),
    ];
    const MEMBERS: StreamPins<T, R> = StreamPins::from_ports(
        Ports::new("")
            .with_structs(&[("req", <Req as Layout>::FIELDS), ("resp", <Resp as Layout>::FIELDS)]),
    );
    assert!(LANES[0].tlast.is_none() && MEMBERS.tlast.is_some());
    assert_eq!([LANES[1].lanes(), MEMBERS.lanes()], [1, 1]);
    let lanes = "tvalid=5 tdata=11206656 tready=1";
    assert_eq!(shown_transfers(LANES[0], lanes, ""), "tvalid[0]: data 0x0");
    assert_eq!(shown_transfers(LANES[1], lanes, ""), "tvalid[2]: data 0xab waits");
    let mut t = T::default();
    LANES[1].tdata.unwrap().set(&mut t, 0x1cd);
    LANES[1].tvalid.set(&mut t, 1);
    let port = |name| Pin::<T>::named("", name).get(&t);
    assert_eq!([port("tdata"), port("tvalid")], [0xcd_0000, 4]);
    assert_eq!(shown_transfers(MEMBERS, "req=1367 resp=2", ""), "req[0]: data 0xab last");
    assert_eq!(MEMBERS.tdata.unwrap().name().to_string(), "req[8:1]");
}
