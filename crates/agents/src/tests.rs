//! Tests of the protocols, as tables: cycles that are written from the specification, and the check
//! that fires, the bins that are hit, or what reports show. Pins of a cycle have their names, and
//! are 1 or have the value after `=`; `aw` is `awvalid` and `awready`. `|` separates cycles.

mod connected;
mod coverage;
mod pages;
mod rules;

use crate::apb::{ApbMonitor, ApbPins};
use crate::axi_lite::{AxiLiteMonitor, AxiLitePins};
use crate::axi4::{Axi4Monitor, Axi4Pins};
use crate::interface::Interface;
use crate::memory_port::{MemoryPortMonitor, MemoryPortPins};
use crate::stream::{StreamMonitor, StreamPins};
use crate::testing::pins;
use crate::wishbone::{WishboneMode, WishboneMonitor, WishbonePins};
use cosim_harness::harness::Violation;
use verilated::{Pin, Pins};

/// The pins of both sides of a protocol, in a module.
macro_rules! protocol {
    ($name:ident { $($m:tt)* } { $($s:tt)* } $($pins:ident: $type:ident = $value:expr;)+) => {
        mod $name {
            use super::*;

            pins!(M { $($m)* });
            pins!(S { $($s)* });

            $( pub const $pins: $type<M, S> = $value; )+
        }
    };
}

protocol!(axi4 {
    awvalid: 1 u8, awaddr: 16 u16, awid: 2 u8, awlen: 8 u8, awsize: 3 u8, awburst: 2 u8,
    awlock: 1 u8, awcache: 4 u8, awprot: 3 u8, wvalid: 1 u8, wdata: 128 [u32; 4], wstrb: 16 u16,
    wlast: 1 u8, bready: 1 u8, arvalid: 1 u8, araddr: 16 u16, arid: 2 u8, arlen: 8 u8,
    arsize: 3 u8, arburst: 2 u8, arlock: 1 u8, arcache: 4 u8, rready: 1 u8,
} {
    awready: 1 u8, wready: 1 u8, bvalid: 1 u8, bid: 2 u8, bresp: 2 u8, arready: 1 u8,
    rvalid: 1 u8, rid: 2 u8, rdata: 128 [u32; 4], rresp: 2 u8, rlast: 1 u8,
} PINS: Axi4Pins = Axi4Pins::named(""););
protocol!(axi_lite {
    awvalid: 1 u8, awaddr: 12 u16, awprot: 3 u8, wvalid: 1 u8, wdata: 32 u32,
    wstrb: 4 u8, bready: 1 u8, arvalid: 1 u8, araddr: 12 u16, rready: 1 u8,
} {
    awready: 1 u8, wready: 1 u8, bvalid: 1 u8, bresp: 2 u8, arready: 1 u8,
    rvalid: 1 u8, rdata: 32 u32, rresp: 2 u8,
} PINS: AxiLitePins = AxiLitePins::named(""););
protocol!(apb {
    psel: 1 u8, penable: 1 u8, pwrite: 1 u8, paddr: 10 u16, pwdata: 32 u32, pstrb: 4 u8,
    pprot: 3 u8,
} { pready: 1 u8, prdata: 32 u32, pslverr: 1 u8, } PINS: ApbPins = ApbPins::named(""););
protocol!(wishbone {
    cyc: 1 u8, stb: 1 u8, we: 1 u8, adr: 8 u8, dat_w: 32 u32, sel: 4 u8,
} { ack: 1 u8, err: 1 u8, rty: 1 u8, dat_r: 32 u32, stall: 1 u8, }
    CLASSIC: WishbonePins = WishbonePins::named("", WishboneMode::Classic).with_word_addresses();
    PIPELINED: WishbonePins = WishbonePins::named("", WishboneMode::Pipelined);
);
protocol!(wishbone_reads { cyc: 1 u8, stb: 1 u8, adr: 8 u8, } { ack: 1 u8, dat_r: 32 u32, }
    PINS: WishbonePins = WishbonePins::named("", WishboneMode::Classic););
protocol!(memory_port {
    en: 1 u8, we: 1 u8, be: 16 u16, addr: 5 u8, wdata: 128 [u32; 4],
} { rdata: 128 [u32; 4], }
    PINS: MemoryPortPins = MemoryPortPins::named("").with_latency(2).with_depth(24);
);
protocol!(stream {
    tvalid: 1 u8, tdata: 72 [u32; 3], tkeep: 9 u16, tstrb: 9 u16, tlast: 1 u8, tid: 3 u8,
    tdest: 2 u8, tuser: 5 u8,
} { tready: 1 u8, } PINS: StreamPins = StreamPins::named(""););

/// The pins of a cycle, on top of those that it has by default, and whether it is in reset.
fn cycle<M: Pins, S: Pins>(names: &str, defaults: &str) -> (bool, M, S) {
    let (mut m, mut s, mut in_reset) = (M::default(), S::default(), false);
    let mut set = |name: &str, value| match (Pin::<M>::find("", name), Pin::<S>::find("", name)) {
        (Some(pin), _) => pin.set(&mut m, value),
        (_, Some(pin)) => pin.set(&mut s, value),
        _ => panic!("no pin {name}"),
    };
    for name in defaults.split_whitespace().chain(names.split_whitespace()) {
        let (name, value) = name.split_once('=').unwrap_or((name, "1"));
        match name {
            "reset" => in_reset = true,
            "aw" | "w" | "b" | "ar" | "r" => {
                set(&format!("{name}valid"), 1);
                set(&format!("{name}ready"), 1);
            }
            _ => set(name, value.parse().unwrap()),
        }
    }
    (in_reset, m, s)
}

/// A monitor, whatever it returns.
trait Monitor<M, S> {
    fn watch(&mut self, in_reset: bool, m: &M, s: &S) -> Result<(), Violation>;
    fn end(&self) -> Result<(), Violation>;
}

macro_rules! monitors {
    ($($monitor:ident $(, $finish:ident)?;)+) => {
        $(
            impl<M: Pins, S: Pins> Monitor<M, S> for $monitor<M, S> {
                fn watch(&mut self, in_reset: bool, m: &M, s: &S) -> Result<(), Violation> {
                    self.observe(in_reset, m, s).map(drop)
                }

                fn end(&self) -> Result<(), Violation> {
                    $( self.$finish()?; )?
                    Ok(())
                }
            }
        )+
    };
}

monitors! {
    Axi4Monitor, finish;
    AxiLiteMonitor, finish;
    ApbMonitor, finish;
    WishboneMonitor, finish;
    MemoryPortMonitor;
    StreamMonitor;
}

/// The check that fails in the last of some cycles; those before are legal.
fn broken_check<M: Pins, S: Pins>(
    monitor: impl Monitor<M, S>,
    cycles: &str,
    defaults: &str,
) -> Option<String> {
    violation(monitor, cycles, defaults).map(|violation| violation.check)
}

fn violation<M: Pins, S: Pins>(
    mut monitor: impl Monitor<M, S>,
    cycles: &str,
    defaults: &str,
) -> Option<Violation> {
    let all: Vec<&str> = cycles.split('|').collect();
    for (index, names) in all.iter().enumerate() {
        let (in_reset, m, s) = cycle(names, defaults);
        match monitor.watch(in_reset, &m, &s) {
            Ok(()) => {}
            Err(violation) if index + 1 == all.len() => return Some(violation),
            Err(violation) => panic!("{names} of {cycles}: {violation:?}"),
        }
    }
    monitor.end().err()
}

/// The bins that each of some cycles hits: the group, and the value on each axis.
fn hits<M: Pins, S: Pins, P: Interface<M, S>>(
    pins: P,
    cycles: &str,
    defaults: &str,
) -> Vec<String> {
    let mut state = P::State::default();
    let in_cycle = |names| {
        let (in_reset, m, s) = cycle(names, defaults);
        let mut all = Vec::new();
        pins.sample(&mut state, in_reset, &m, &s, |group, at| {
            let group = &P::GROUPS[group];
            let values = group.axes.iter().zip(at).map(|(axis, at)| axis.values[*at].name);
            let values: Vec<&str> = values.collect();
            all.push(format!("{} {}", group.name, values.join(" ")));
        });
        all.join(", ")
    };
    cycles.split('|').map(in_cycle).collect()
}
