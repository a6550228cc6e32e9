//! AXI4-Lite (ARM IHI 0022, part B): reads and writes of one data word each.
//!
//! [`AxiLiteManager`] drives a subordinate DUT, [`AxiLiteSubordinate`] answers a manager DUT, and
//! [`AxiLiteMonitor`] checks the rules of the protocol. They are those of [AXI4](crate::axi4) with
//! the ports of the subset: single beats of all bytes of the bus, without IDs.

pub use crate::axi4::{
    Axi4SubordinateTraffic as AxiLiteSubordinateTraffic,
    Axi4SubordinateWeights as AxiLiteSubordinateWeights, AxiResponse, NAMING,
};

use crate::axi4::{
    Axi4Access, Axi4Beat, Axi4Burst, Axi4Manager, Axi4Monitor, Axi4Operation, Axi4Pins,
    Axi4Subordinate, Axi4Traffic,
};
use crate::channel::{AddressPool, AddressWeights, ReadyWeights};
use crate::memory_check::MemoryCheck;
use crate::ports::PortRule;
use crate::target::Memory;
use crate::wide::{Lanes, Wide};
use cosim_harness::agent::{AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{CaseRng, Draw, Percent, Violation};
use cosim_harness::value::Uint;
use std::collections::VecDeque;
use std::fmt;
use verilated::Pins;

/// The ports of an AXI4-Lite interface. `M` holds the ports that the manager drives, `S` those of
/// the subordinate. The data has at most 64 bits ("Definition of AXI4-Lite").
pub type AxiLitePins<M, S> = Axi4Pins<M, S, 2>;
/// Drives a subordinate DUT.
pub type AxiLiteManager<'a, M, S> = Axi4Manager<'a, M, S, 2>;
/// Answers a manager DUT.
pub type AxiLiteSubordinate<'a, I, O, T = Memory> = Axi4Subordinate<'a, I, O, T, 2>;
/// The operations of a manager, and its stalls.
pub type AxiLiteTraffic = Axi4Traffic<2>;
/// An operation of a manager.
pub type AxiLiteOperation = Axi4Operation<2>;
/// A read or a write of a manager.
pub type AxiLiteAccess = Axi4Access<2>;

/// The ports of the protocol.
pub const PORTS: &[PortRule] = &[
    PortRule::manager(&["awvalid"], "the manager offers a write address").bit(),
    PortRule::subordinate(&["awready"], "the subordinate takes it").bit(),
    PortRule::manager(&["awaddr"], "the byte address of a write"),
    PortRule::manager(&["awprot"], "the protection type of a write").optional(),
    PortRule::manager(&["wvalid"], "the manager offers write data").bit(),
    PortRule::subordinate(&["wready"], "the subordinate takes it").bit(),
    PortRule::manager(&["wdata"], "the write data, 32 or 64 bits"),
    PortRule::manager(&["wstrb"], "one bit for each byte: whether it is written").optional(),
    PortRule::subordinate(&["bvalid"], "the subordinate offers a write response").bit(),
    PortRule::manager(&["bready"], "the manager takes it").bit(),
    PortRule::subordinate(&["bresp"], "the write response").optional(),
    PortRule::manager(&["arvalid"], "the manager offers a read address").bit(),
    PortRule::subordinate(&["arready"], "the subordinate takes it").bit(),
    PortRule::manager(&["araddr"], "the byte address of a read"),
    PortRule::manager(&["arprot"], "the protection type of a read").optional(),
    PortRule::subordinate(&["rvalid"], "the subordinate offers read data").bit(),
    PortRule::manager(&["rready"], "the manager takes it").bit(),
    PortRule::subordinate(&["rdata"], "the read data, 32 or 64 bits"),
    PortRule::subordinate(&["rresp"], "the read response").optional(),
];

cosim_harness::weights! {
    /// How a manager draws operations.
    pub struct AxiLiteWeights {
        /// Gaps between operations.
        source: SourceWeights = SourceWeights::default(),
        /// Delays of the address or the data of a write, behind its start.
        skew: SourceWeights = SourceWeights::new(30, 6),
        /// Stalls of `bready` and `rready`.
        ready: ReadyWeights = ReadyWeights::default(),
        /// The addresses.
        addresses: AddressWeights = AddressWeights::default(),
        /// Chance of a write; otherwise, the operation is a read.
        write: Percent = 50,
        /// Chance that an operation waits until all before it are complete.
        fence: Percent = 30,
        /// Chance that a write does not have all strobes, if there is `wstrb`.
        partial: Percent = 40,
    }
}

impl AgentWeights for AxiLiteWeights {
    fn paced(self, pace: &Pace) -> Self {
        let ready = self.ready.paced(pace);
        // Without gaps, address and data of a write leave together.
        let skew = if pace.source.gap.get() == 0 { SourceWeights::new(0, 0) } else { self.skew };
        let addresses = self.addresses.paced(pace);
        Self { source: pace.source.clone(), ready, skew, addresses, ..self }
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<AxiLitePins<M, S>> for AxiLiteTraffic {
    type Weights = AxiLiteWeights;

    fn draw(weights: &Self::Weights, pins: &AxiLitePins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let bits = pins.aw.addr.width().max(pins.ar.addr.width());
        let mut pool = AddressPool::new(&weights.addresses, bits);
        let (has_write, has_read) = (pins.aw.valid.is_present(), pins.ar.valid.is_present());
        let mut operation = || {
            let offer = weights.source.offer((), reset, rng);
            let address = Uint::new(pool.draw(u64::from(pins.bytes()), rng));
            let access = match has_write && (rng.chance(weights.write) || !has_read) {
                true => weights.write(pins, rng),
                false => Axi4Access::Read { beats: Uint::new(1) },
            };
            Axi4Operation {
                gap: offer.gap,
                fence: rng.chance(weights.fence),
                id: Uint::new(0),
                address,
                size: None,
                burst: Axi4Burst::Incr,
                cache: Uint::new(0),
                prot: rng.bits(),
                qos: Uint::new(0),
                access,
                reset: offer.reset,
            }
        };
        let list = (0..operations).map(|_| operation()).collect();
        let bready = weights.ready.draw(operations, rng);
        Axi4Traffic { operations: list, bready, rready: weights.ready.draw(operations, rng) }
    }
}

impl AxiLiteWeights {
    fn write<M: Pins, S: Pins>(
        &self,
        pins: &AxiLitePins<M, S>,
        rng: &mut CaseRng,
    ) -> AxiLiteAccess {
        let bytes = pins.bytes();
        let is_partial = pins.wstrb.is_some() && rng.chance(self.partial);
        let strobe = match is_partial {
            true => Lanes::new(rng.bits::<8>().get()).low(bytes),
            false => Lanes::ones(bytes),
        };
        let delay = rng.wait(self.skew.gap, self.skew.longest_gap);
        let none = Uint::new(0);
        let is_address = rng.chance(Percent::new(50));
        let (address_delay, data_delay) = if is_address { (delay, none) } else { (none, delay) };
        let data = Wide::new(rng.bits::<64>().get() >> (64 - 8 * bytes));
        let beats = vec![Axi4Beat { gap: none, data, strobe }];
        Axi4Access::Write { beats, address_delay, data_delay }
    }
}

// ANCHOR: events
/// A complete write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxiLiteWrite {
    /// The byte address.
    pub address: u64,
    /// The protection type.
    pub prot: u64,
    /// The data of all bytes of the bus.
    pub data: u64,
    /// The bytes that are written.
    pub strobe: u64,
    /// The response.
    pub response: AxiResponse,
}

impl fmt::Display for AxiLiteWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, strobe, response, .. } = self;
        write!(f, "write {data:#x} strobe {strobe:#x} to {address:#x}: {response}")
    }
}

/// A complete read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxiLiteRead {
    /// The byte address.
    pub address: u64,
    /// The protection type.
    pub prot: u64,
    /// The data of all bytes of the bus.
    pub data: u64,
    /// The response.
    pub response: AxiResponse,
}

impl fmt::Display for AxiLiteRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, response, .. } = self;
        write!(f, "read {data:#x} from {address:#x}: {response}")
    }
}

/// What happens on an interface in a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AxiLiteEvents {
    /// A write of which both address and data are taken as of this cycle, with `OKAY` in place of
    /// its response.
    pub write_start: Option<AxiLiteWrite>,
    /// A write whose response is taken.
    pub write: Option<AxiLiteWrite>,
    /// The byte address and the protection type of a read whose address is taken.
    pub read_start: Option<(u64, u64)>,
    /// A read whose data is taken.
    pub read: Option<AxiLiteRead>,
}
// ANCHOR_END: events

/// Checks the rules of AXI4-Lite in every cycle, and returns complete reads and writes.
#[derive(Debug, Clone)]
pub struct AxiLiteMonitor<M, S> {
    axi: Axi4Monitor<M, S, 2>,
    /// Writes without a response.
    writes: VecDeque<AxiLiteWrite>,
}

impl<M: Pins, S: Pins> AxiLiteMonitor<M, S> {
    /// The checks that a manager can break.
    pub fn manager_checks() -> Vec<String> {
        Axi4Monitor::<M, S, 2>::manager_checks()
    }

    /// The checks that a subordinate can break.
    pub fn subordinate_checks() -> Vec<String> {
        Axi4Monitor::<M, S, 2>::subordinate_checks()
    }

    /// A monitor of an idle interface.
    pub fn new(pins: AxiLitePins<M, S>) -> Self {
        Self { axi: Axi4Monitor::new(pins), writes: VecDeque::new() }
    }

    /// Observes a cycle.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(&mut self, in_reset: bool, m: &M, s: &S) -> Result<AxiLiteEvents, Violation> {
        let events = self.axi.observe(in_reset, m, s)?;
        if in_reset {
            self.writes.clear();
        }
        let write = events.write.and_then(|(_, response)| {
            self.writes.pop_front().map(|write| AxiLiteWrite { response, ..write })
        });
        let write_start = self.axi.pop_write_beat().map(|beat| AxiLiteWrite {
            address: beat.burst.address,
            prot: beat.burst.prot,
            data: beat.data.get(),
            strobe: beat.strobe.get(),
            response: AxiResponse::Okay,
        });
        self.writes.extend(write_start);
        let read_start = events.read_start.map(|read| (read.address, read.prot));
        let read = events.read.map(|read| AxiLiteRead {
            address: read.burst.address,
            prot: read.burst.prot,
            data: read.data.get(),
            response: read.response,
        });
        Ok(AxiLiteEvents { write_start, write, read_start, read })
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a response is missing.
    pub fn finish(&self) -> Result<(), Violation> {
        self.axi.finish()
    }
}

impl MemoryCheck {
    /// Observes the events of a cycle on the interface with this number. Call
    /// [`MemoryCheck::reset`] in reset.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn axi_lite<M: Pins, S: Pins>(
        &mut self,
        port: u32,
        monitor: &AxiLiteMonitor<M, S>,
        events: &AxiLiteEvents,
    ) -> Result<(), Violation> {
        let (port, bytes) = (u64::from(port), monitor.axi.pins.bytes());
        let first = |address: u64| address & !u64::from(bytes - 1);
        if let Some((address, _)) = events.read_start {
            self.start_read(port, first(address));
        }
        if let Some(write) = events.write_start {
            self.start_write(port, first(write.address), write.data, write.strobe);
        }
        if let Some(write) = events.write {
            self.finish_write(port, write.response == AxiResponse::Okay);
        }
        if let Some(read) = events.read {
            let bytes = if read.response == AxiResponse::Okay { bytes } else { 0 };
            self.finish_read(port, read.data, bytes)
                .map_err(|violation| violation.with_subject(monitor.axi.pins.rdata.name()))?;
        }
        Ok(())
    }
}
