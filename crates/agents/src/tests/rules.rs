//! Each rule of each monitor fires, and legal cycles pass.

use super::{
    ApbMonitor, Axi4Monitor, AxiLiteMonitor, MemoryPortMonitor, StreamMonitor, WishboneMonitor,
    apb, axi_lite, axi4, broken_check, memory_port, stream, violation, wishbone,
};
use std::collections::BTreeSet;

/// A protocol, with the cycles of its table.
struct Table {
    broken: fn(&str) -> Option<String>,
    /// All checks that the monitor declares.
    checks: Vec<String>,
    /// Cycles, and the check that fires in the last one or at the end, without the prefix.
    cases: Vec<(String, &'static str)>,
    prefix: &'static str,
    legal: &'static [&'static str],
}

impl Table {
    fn check(self) {
        let mut fired = BTreeSet::new();
        for (cycles, check) in self.cases {
            let found = (self.broken)(&cycles).unwrap_or_default();
            assert_eq!(found, format!("{}{check}", self.prefix), "{cycles}");
            fired.insert(found);
        }
        let all: BTreeSet<String> = self.checks.into_iter().collect();
        assert_eq!(fired, all, "each declared check has a case");
        for cycles in self.legal {
            assert_eq!((self.broken)(cycles), None, "{cycles}");
        }
    }
}

fn owned(cases: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    cases.iter().map(|(cycles, check)| (cycles.to_string(), *check)).collect()
}

/// The rules of channels, which AXI4 and AXI4-Lite share. IHI 0022, "Handshake process": a valid
/// and its payload are stable until the handshake. "Reset": valids are low in reset.
const AXI: [(&str, &str); 24] = [
    ("awvalid|", "awvalid-held"),
    ("wvalid|", "wvalid-held"),
    ("arvalid|", "arvalid-held"),
    ("aw w|bvalid|", "bvalid-held"),
    ("ar|rvalid|", "rvalid-held"),
    ("awvalid awaddr=4|aw awaddr=8", "aw-payload-held"),
    ("awvalid awprot=1|awvalid", "aw-payload-held"),
    ("wvalid wdata=1|wvalid wdata=2", "w-payload-held"),
    ("wvalid wstrb=1|w wstrb=2", "w-payload-held"),
    ("arvalid araddr=4|arvalid", "ar-payload-held"),
    ("aw w|bvalid|bvalid bresp=2 bready", "b-payload-held"),
    ("ar|rvalid rdata=1|rvalid rdata=2", "r-payload-held"),
    ("reset|reset awvalid", "awvalid-in-reset"),
    ("reset|reset wvalid", "wvalid-in-reset"),
    ("reset|reset arvalid", "arvalid-in-reset"),
    ("reset|reset bvalid", "bvalid-in-reset"),
    ("reset|reset rvalid", "rvalid-in-reset"),
    ("reset|awvalid", "awvalid-after-reset"),
    ("reset|wvalid", "wvalid-after-reset"),
    ("reset|arvalid", "arvalid-after-reset"),
    // "Exclusive accesses", "Definition of AXI4-Lite": EXOKAY needs an exclusive access.
    ("aw w|bvalid bresp=1", "b-exokay"),
    ("ar|rvalid rresp=1", "r-exokay"),
    // "Dependencies between channel handshake signals": each operation has a response.
    ("aw w", "b-missing"),
    ("ar", "r-missing"),
];

/// "Dependencies between channel handshake signals": responses follow address and data.
const AXI_RESPONSES: [(&str, &str); 8] = [
    ("aw|bvalid", "b-without-write"),
    ("w|bvalid", "b-without-write"),
    ("aw w bvalid", "b-without-write"),
    ("aw w|b|bvalid", "b-without-write"),
    ("arvalid|arvalid rvalid", "r-without-read"),
    ("ar rvalid", "r-without-read"),
    ("ar|r|rvalid", "r-without-read"),
    ("ar|reset|rvalid", "r-without-read"),
];

const AXI_LEGAL: [&str; 7] = [
    "",
    // Data before address, and address before data.
    "w|aw|bvalid|b",
    "awvalid|aw|wvalid|w|b bresp=3",
    // Responses of two writes in a row, while the next one is taken.
    "aw w|aw w b|b",
    "ar|ar r rresp=2|rvalid|r",
    // A ready may fall without a valid ("Handshake process"), and a reset ends everything.
    "awready|wready|awvalid|reset awvalid|reset|",
    // The first cycle of a reset is not checked.
    "reset awvalid bvalid|reset|",
];

#[test]
fn axi_lite_rules() {
    let table = Table {
        broken: |cycles| broken_check(AxiLiteMonitor::new(axi_lite::PINS), cycles, ""),
        checks: [
            AxiLiteMonitor::<axi_lite::M, axi_lite::S>::manager_checks(),
            AxiLiteMonitor::<axi_lite::M, axi_lite::S>::subordinate_checks(),
        ]
        .concat(),
        cases: owned(&[AXI.as_slice(), &AXI_RESPONSES].concat()),
        prefix: "axi-lite-",
        legal: &AXI_LEGAL,
    };
    // A write need not be complete, and an address need not be that of the first byte.
    for cycles in ["aw", "w"] {
        assert_eq!((table.broken)(cycles), None, "{cycles}");
    }
    assert_eq!((table.broken)("aw awaddr=3 w wstrb=15|b"), None);
    table.check();
}

#[test]
fn axi4_rules() {
    let mut cases = owned(&[AXI.as_slice(), &AXI_RESPONSES].concat());
    cases.extend(owned(&[
        // "Address structure": the last beat; one too early, one too late, before the address.
        ("aw awlen=1|w", "w-last"),
        ("aw awlen=1|w wlast=0|w wlast=0", "w-last"),
        ("w|aw awlen=1", "w-last"),
        // "Data read and write structure": strobes outside of the lanes: narrow, unaligned, and in
        // the second beat.
        ("aw awsize=2 awaddr=4|w wstrb=8", "w-strobe"),
        ("aw awsize=2 awaddr=4|w wstrb=256", "w-strobe"),
        ("aw awsize=2 awaddr=6|w wstrb=32", "w-strobe"),
        ("aw awsize=2 awaddr=4 awlen=1|w wlast=0 wstrb=240|w wstrb=240", "w-strobe"),
        ("aw awlen=1|w wlast=0", "w-missing"),
        ("w", "w-missing"),
        ("aw", "w-missing"),
        // "Transaction ordering": responses have the ID of their operation, in order.
        ("aw awlen=1|w wlast=0|bvalid", "b-without-write"),
        ("aw w awid=1|bvalid bid=2", "b-without-write"),
        ("ar arid=1|rvalid rid=2", "r-without-read"),
        ("ar arlen=1|rvalid", "r-last"),
        ("ar arlen=1|r rlast=0|r rlast=0", "r-last"),
        ("ar arlen=1|r rlast=0", "r-missing"),
        ("awvalid awlen=1|awvalid awlen=2", "aw-payload-held"),
        ("wvalid|wvalid wlast=0", "w-payload-held"),
        ("arvalid arid=1|arvalid arid=2", "ar-payload-held"),
    ]));
    // "Address structure" and "Memory types": the rules of addresses, on both channels.
    for (pins, rules) in [
        ("burst=3", ["aw-burst-reserved", "ar-burst-reserved"]),
        ("size=5", ["aw-size", "ar-size"]),
        ("burst=0 len=16", ["aw-fixed-length", "ar-fixed-length"]),
        ("burst=2 len=2", ["aw-wrap-length", "ar-wrap-length"]),
        ("burst=2 len=0", ["aw-wrap-length", "ar-wrap-length"]),
        ("burst=2 len=1 addr=8", ["aw-wrap-alignment", "ar-wrap-alignment"]),
        ("addr=4080 len=1", ["aw-4k-boundary", "ar-4k-boundary"]),
        ("addr=8177 len=1", ["aw-4k-boundary", "ar-4k-boundary"]),
        ("lock=1", ["aw-exclusive", "ar-exclusive"]),
        ("cache=4", ["aw-cache-reserved", "ar-cache-reserved"]),
        ("cache=13", ["aw-cache-reserved", "ar-cache-reserved"]),
    ] {
        for (channel, rule) in ["aw", "ar"].into_iter().zip(rules) {
            let pins = pins.split(' ').map(|pin| format!(" {channel}{pin}")).collect::<String>();
            cases.push((format!("{channel}valid{pins}"), rule));
        }
    }
    let legal = [
        // Data before the address, and a response with an error.
        "w wlast=0|w|aw awlen=1|b bresp=2",
        // Responses overtake other IDs, and beats of reads alternate.
        "aw awid=1 w|aw awid=2 w|b bid=2|b bid=1",
        "ar arid=1 arlen=1|ar arid=2 arlen=1|r rid=2 rlast=0|r rid=1 rlast=0|r rid=1|r rid=2",
        // Narrow and unaligned beats have their lanes.
        "aw awsize=2 awaddr=6 awlen=2|w wlast=0 wstrb=192|w wlast=0 wstrb=3840|w wstrb=61440|b",
        "aw awburst=2 awsize=2 awaddr=8 awlen=3|w wlast=0 wstrb=3840|w wlast=0 wstrb=61440|\
         w wlast=0 wstrb=15|w wstrb=240|b",
        "aw awburst=0 awsize=0 awaddr=3 awlen=1|w wlast=0 wstrb=8|w wstrb=8|b",
        // The last byte of a 4 KB page, and the longest bursts.
        "ar araddr=4080|r",
        "arvalid arlen=255|ar arlen=255|reset|reset|",
        "arvalid arburst=0 arlen=15|reset arvalid|",
        "arvalid arcache=15|ar arcache=15|r",
    ];
    type Monitor = Axi4Monitor<axi4::M, axi4::S>;
    let table = Table {
        broken: |cycles| {
            let defaults = "awsize=4 arsize=4 awburst=1 arburst=1 wlast rlast";
            broken_check(Monitor::new(axi4::PINS), cycles, defaults)
        },
        checks: [Monitor::manager_checks(), Monitor::subordinate_checks()].concat(),
        cases,
        prefix: "axi4-",
        legal: &AXI_LEGAL,
    };
    for cycles in legal {
        assert_eq!((table.broken)(cycles), None, "{cycles}");
    }
    table.check();
}

#[test]
fn apb_rules() {
    type Monitor = ApbMonitor<apb::M, apb::S>;
    Table {
        broken: |cycles| broken_check(Monitor::new(apb::PINS), cycles, ""),
        checks: [Monitor::manager_checks(), Monitor::subordinate_checks()].concat(),
        cases: owned(&[
            ("|penable", "enable-without-select"),
            ("psel penable", "no-setup"),
            ("psel|psel penable pready|psel penable", "no-setup"),
            ("psel|psel", "no-access"),
            ("psel|", "no-access"),
            ("psel|psel penable|psel", "withdrawn"),
            ("psel|psel penable|penable", "withdrawn"),
            ("psel paddr=4|psel penable paddr=8", "address-held"),
            ("psel|psel penable|psel penable paddr=8 pready", "address-held"),
            ("psel pwrite|psel penable", "write-held"),
            ("psel pwrite pwdata=1|psel penable pwrite pwdata=2", "data-held"),
            ("psel pwrite pstrb=1|psel penable pwrite pstrb=2", "strobe-held"),
            ("psel pprot=1|psel penable pprot=3", "prot-held"),
            ("psel pstrb=2", "strobe-in-read"),
            ("reset|reset psel", "select-in-reset"),
            ("psel|psel penable", "not-complete"),
        ]),
        prefix: "apb-",
        legal: &[
            "pready|pslverr|",
            "psel|psel penable pready|",
            "psel|psel penable|psel penable|psel penable pready pslverr|psel paddr=4|\
             psel penable pready paddr=4",
            // Write data may change in a read.
            "psel pwdata=1|psel penable pready pwdata=2",
            "psel pwrite pstrb=3 pwdata=7|psel penable pready pwrite pstrb=3 pwdata=7",
            "psel|reset psel|reset|psel|psel penable pready",
        ],
    }
    .check();
}

#[test]
fn wishbone_rules() {
    type Monitor = WishboneMonitor<wishbone::M, wishbone::S>;
    let classic = |cycles: &str| broken_check(Monitor::new(wishbone::CLASSIC), cycles, "");
    let pipelined = |cycles: &str| broken_check(Monitor::new(wishbone::PIPELINED), cycles, "");
    let both = [
        ("stb", "stb-without-cyc"),
        ("reset|reset cyc", "active-in-reset"),
        ("reset|reset stb", "active-in-reset"),
        ("cyc stb stall|cyc", "stb-held"),
        ("cyc stb stall adr=4|cyc stb stall adr=8", "request-held"),
        ("cyc stb stall we dat_w=4|cyc stb stall we dat_w=8", "request-held"),
        ("cyc stb stall|", "cyc-held"),
        ("cyc stb ack err", "two-terminations"),
        ("cyc stb rty err", "two-terminations"),
        ("ack", "no-request"),
        ("cyc rty", "no-request"),
        ("cyc stb stall", "not-terminated"),
    ];
    let table = |broken, cases, legal| Table {
        broken,
        checks: [Monitor::manager_checks(), Monitor::subordinate_checks()].concat(),
        cases,
        prefix: "wishbone-",
        legal,
    };
    let legal = &[
        "",
        "cyc stb|cyc stb|cyc stb ack|",
        "cyc|cyc stb we dat_w=3|cyc stb we dat_w=3 ack|cyc|cyc stb err|",
        // The data of a read may change.
        "cyc stb dat_w=1|cyc stb dat_w=2 rty|",
        "cyc stb|reset cyc stb|reset|",
    ];
    table(classic, owned(&both), legal).check();
    // A request that was taken, without a termination.
    let taken = [
        ("cyc stb|", "cyc-held"),
        ("cyc stb|cyc", "not-terminated"),
        ("cyc stb|cyc ack|cyc ack", "no-request"),
    ];
    let legal = &[
        "cyc stb ack|",
        "cyc stb adr=1|cyc stb adr=2|cyc stb adr=3 ack|cyc ack|cyc err|",
        "cyc stb stall adr=1|cyc stb adr=1|cyc ack",
    ];
    table(pipelined, owned(&[both.as_slice(), &taken].concat()), legal).check();
    let monitor = Monitor::new(wishbone::CLASSIC).permit_idle_ack();
    assert_eq!(broken_check(monitor, "ack|cyc stb ack|ack", ""), None);
}

#[test]
fn violations_name_the_pin_that_breaks_the_rule() {
    let wishbone = |cycles| violation(WishboneMonitor::new(wishbone::CLASSIC), cycles, "");
    let axi4 = |cycles| violation(Axi4Monitor::new(axi4::PINS), cycles, "");
    let apb = |cycles| violation(ApbMonitor::new(apb::PINS), cycles, "");
    let stream = |cycles| violation(StreamMonitor::new(stream::PINS), cycles, "");
    for (violation, pin) in [
        (wishbone("stb"), "stb"),
        (wishbone("cyc stb|cyc stb adr=8"), "adr"),
        (wishbone("cyc stb we|cyc stb we dat_w=1"), "dat_w"),
        (wishbone("cyc stb we|cyc stb"), "we"),
        (wishbone("cyc stb|cyc stb sel=1"), "sel"),
        (wishbone("cyc stb ack err"), "err"),
        (wishbone("cyc stb ack rty"), "rty"),
        (wishbone("ack"), "ack"),
        (axi4("aw awlen=1|w wlast"), "wlast"),
        (axi4("aw|w wlast wstrb=2"), "wstrb"),
        (axi4("aw|w wlast|bvalid bresp=1"), "bresp"),
        (axi4("ar arlen=1|rvalid rlast"), "rlast"),
        (apb("psel pstrb=2"), "pstrb"),
        (stream("tvalid tstrb=1"), "tstrb"),
    ] {
        let violation = violation.unwrap();
        assert_eq!(violation.subject, pin, "{violation:?}");
    }
}

#[test]
fn memory_port_rules() {
    type Monitor = MemoryPortMonitor<memory_port::M, memory_port::S>;
    let table = Table {
        broken: |cycles| broken_check(Monitor::new(memory_port::PINS), cycles, ""),
        checks: [Monitor::manager_checks(), Monitor::subordinate_checks()].concat(),
        cases: owned(&[
            ("en addr=24", "address-range"),
            ("reset|reset en", "enable-in-reset"),
            ("en we be=1 addr=3 wdata=7|en addr=3||rdata=8", "read-data"),
            // Too late by a cycle.
            ("en we be=1 addr=3 wdata=7|en addr=3|rdata=7|rdata=0", "read-data"),
        ]),
        prefix: "memory-",
        legal: &[
            // The other bytes, and another address, were never written.
            "en we be=1 addr=3 wdata=7|en addr=3|en addr=4|rdata=263|rdata=9",
            "en we be=1 addr=3 wdata=7|reset en|reset||en addr=3||rdata=1",
            // A write after a read does not change its data.
            "en we be=1 addr=3 wdata=7|en addr=3|en we be=1 addr=3 wdata=8|rdata=7",
            "addr=31 we|",
        ],
    };
    let monitor = Monitor::new(memory_port::PINS).without_memory();
    assert_eq!(broken_check(monitor, table.cases[2].0.as_str(), ""), None);
    table.check();
}

#[test]
fn stream_rules() {
    type Monitor = StreamMonitor<stream::M, stream::S>;
    Table {
        broken: |cycles| broken_check(Monitor::new(stream::PINS), cycles, "tkeep=511 tstrb=511"),
        checks: Monitor::checks(),
        cases: owned(&[
            ("tvalid tdata=1|tready", "valid-held"),
            ("tvalid tdata=1|tvalid tdata=2 tready", "payload-held"),
            ("tvalid tdata=1|tvalid tdata=1 tlast tready", "payload-held"),
            ("reset|reset tvalid tready", "quiet-in-reset"),
            ("reset|tvalid tready", "quiet-after-reset"),
            ("tvalid tkeep=1 tstrb=2 tready", "strb-without-keep"),
        ]),
        prefix: "axis-",
        legal: &[
            // The registers of a synchronous reset change at the end of its first cycle.
            "reset tvalid tdata=3|reset tready|tready|tvalid tkeep=3 tstrb=1 tready|\
             tvalid tdata=2|tvalid tdata=2 tready|",
            // A reset ends an offer.
            "tvalid tdata=2|reset tvalid tdata=2|reset",
        ],
    }
    .check();
}
