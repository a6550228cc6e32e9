//! AXI4-Lite (ARM IHI 0022, part B): reads and writes of one data word each.
//!
//! [`AxiLiteManager`] drives a subordinate DUT, [`AxiLiteSubordinate`] answers a manager DUT, and
//! [`AxiLiteMonitor`] checks the rules of the protocol.

mod coverage;
mod manager;
mod memory_check;
mod monitor;
mod subordinate;
#[cfg(test)]
mod tests;

pub use coverage::AxiLiteSampler;
pub use manager::AxiLiteManager;
pub use monitor::{AxiLiteEvents, AxiLiteMonitor, AxiLiteRead, AxiLiteWrite};
pub use subordinate::{AxiLiteSubordinate, AxiLiteSubordinateTraffic, AxiLiteSubordinateWeights};

use crate::agent::AgentWeights;
use crate::channel::{AddressPool, AddressWeights, Readiness, ReadyWeights};
use crate::ports::{Finder, PortRule};
use crate::scenarios::Pace;
use crate::wide::check_bus;
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{
    CaseRng, Draw, Naming, Percent, Reset, Traffic, TrafficError, Transfer,
};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pin, Pins};

/// The naming rules of ports like `s_axi_awvalid`, for
/// [`Block::NAMING`](cosim_harness::harness::Block::NAMING). Its channel is `s_axi_aw`.
pub const NAMING: Naming = Naming {
    valid: &["awvalid", "wvalid", "bvalid", "arvalid", "rvalid"],
    ready: &["awready", "wready", "bready", "arready", "rready"],
    joined: &["aw", "w", "b", "ar", "r"],
    ..Naming::DEFAULT
};

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

/// The ports of an AXI4-Lite interface. `M` holds the ports that the manager drives, `S` those of
/// the subordinate.
#[derive(Debug, Clone, Copy)]
pub struct AxiLitePins<M, S> {
    /// The manager offers a write address.
    pub awvalid: Pin<M>,
    /// The subordinate takes the write address.
    pub awready: Pin<S>,
    /// The byte address of a write.
    pub awaddr: Pin<M>,
    /// The protection type of a write.
    pub awprot: Option<Pin<M>>,
    /// The manager offers write data.
    pub wvalid: Pin<M>,
    /// The subordinate takes the write data.
    pub wready: Pin<S>,
    /// The write data, 32 or 64 bits.
    pub wdata: Pin<M>,
    /// One bit for each byte of write data: whether it is written.
    pub wstrb: Option<Pin<M>>,
    /// The subordinate offers a write response.
    pub bvalid: Pin<S>,
    /// The manager takes the write response.
    pub bready: Pin<M>,
    /// The write response.
    pub bresp: Option<Pin<S>>,
    /// The manager offers a read address.
    pub arvalid: Pin<M>,
    /// The subordinate takes the read address.
    pub arready: Pin<S>,
    /// The byte address of a read.
    pub araddr: Pin<M>,
    /// The protection type of a read.
    pub arprot: Option<Pin<M>>,
    /// The subordinate offers read data.
    pub rvalid: Pin<S>,
    /// The manager takes the read data.
    pub rready: Pin<M>,
    /// The read data, 32 or 64 bits.
    pub rdata: Pin<S>,
    /// The read response.
    pub rresp: Option<Pin<S>>,
}

impl<M: Pins, S: Pins> AxiLitePins<M, S> {
    /// The ports whose names are `pattern` and the names of the specification, as in
    /// `s_axi_awvalid` ([`ports`](crate::ports)). An interface may have the channels of writes or
    /// those of reads alone.
    ///
    /// # Panics
    /// If a port is missing that is not optional, or the data has more than 64 bits; in a
    /// constant, this does not compile.
    pub const fn of(pattern: &str) -> Self {
        Self::of_two(pattern, pattern)
    }

    /// The ports of an interface whose channels of writes have another pattern than those of reads.
    ///
    /// # Panics
    /// As [`AxiLitePins::of`].
    pub const fn of_two(writes: &str, reads: &str) -> Self {
        let w = Finder::new(PORTS, writes).with::<M>("awvalid");
        let r = Finder::new(PORTS, reads).with::<M>("arvalid");
        assert!(w.is_there() || r.is_there(), "the block has no awvalid or arvalid of this name");
        let pins = Self {
            awvalid: w.of("awvalid"),
            awready: w.of("awready"),
            awaddr: w.of("awaddr"),
            awprot: w.find("awprot"),
            wvalid: w.of("wvalid"),
            wready: w.of("wready"),
            wdata: w.of("wdata"),
            wstrb: w.find("wstrb"),
            bvalid: w.of("bvalid"),
            bready: w.of("bready"),
            bresp: w.find("bresp"),
            arvalid: r.of("arvalid"),
            arready: r.of("arready"),
            araddr: r.of("araddr"),
            arprot: r.find("arprot"),
            rvalid: r.of("rvalid"),
            rready: r.of("rready"),
            rdata: r.of("rdata"),
            rresp: r.find("rresp"),
        };
        // At most 64 bits (IHI 0022, "Definition of AXI4-Lite").
        check_bus::<2>(8 * pins.bytes());
        pins
    }

    /// The width of the data in bytes, 4 or 8.
    pub const fn bytes(&self) -> u32 {
        (if self.wdata.is_present() { self.wdata.width() } else { self.rdata.width() }) / 8
    }

    /// The address of the first byte of the data bus.
    pub(crate) const fn first_byte(&self, address: u64) -> u64 {
        address & !(self.bytes() as u64 - 1)
    }

    /// The payload of a channel in a cycle with a high valid, for
    /// [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, channel: &str, manager: &M, subordinate: &S) -> Option<String> {
        let (m, s) = (manager, subordinate);
        let is_of = |valid: &str| valid.strip_suffix("valid") == Some(channel);
        let response = |pin: Option<Pin<S>>| AxiResponse::of(pin.map_or(0, |pin| pin.get(s)));
        if is_of(self.awvalid.port().name) {
            Some(format!("write {:#x}", self.awaddr.get(m)))
        } else if is_of(self.wvalid.port().name) {
            let strobe = self.wstrb.map(|pin| format!(" strobe {:#x}", pin.get(m)));
            Some(format!("{:#x}{}", self.wdata.get(m), strobe.unwrap_or_default()))
        } else if is_of(self.bvalid.port().name) {
            Some(response(self.bresp).to_string())
        } else if is_of(self.arvalid.port().name) {
            Some(format!("read {:#x}", self.araddr.get(m)))
        } else if is_of(self.rvalid.port().name) {
            Some(format!("{:#x} {}", self.rdata.get(s), response(self.rresp)))
        } else {
            None
        }
    }

    /// The channels in a cycle.
    pub(crate) fn transfers(&self, m: &M, s: &S) -> Vec<Transfer> {
        let channels = [
            (self.awvalid.port(), self.awvalid.is_high(m), self.awready.is_high(s)),
            (self.wvalid.port(), self.wvalid.is_high(m), self.wready.is_high(s)),
            (self.bvalid.port(), self.bvalid.is_high(s), self.bready.is_high(m)),
            (self.arvalid.port(), self.arvalid.is_high(m), self.arready.is_high(s)),
            (self.rvalid.port(), self.rvalid.is_high(s), self.rready.is_high(m)),
        ];
        crate::transfer::axi::<M, S>(channels, |channel| self.words(channel, m, s))
    }
}

/// A response (IHI 0022, "Read and write response structure").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AxiResponse {
    /// `OKAY`: the access succeeded.
    #[default]
    Okay,
    /// `EXOKAY`: the exclusive access succeeded. AXI4-Lite does not have it.
    ExOkay,
    /// `SLVERR`: the subordinate reports an error.
    SlvErr,
    /// `DECERR`: there is no subordinate at the address.
    DecErr,
}

impl AxiResponse {
    /// The response with a code, of which the low two bits count.
    #[inline]
    pub const fn of(code: u64) -> Self {
        match code & 3 {
            0 => Self::Okay,
            1 => Self::ExOkay,
            2 => Self::SlvErr,
            _ => Self::DecErr,
        }
    }

    /// The code.
    #[inline]
    pub const fn code(self) -> u64 {
        self as u64
    }
}

impl From<crate::Response> for AxiResponse {
    fn from(response: crate::Response) -> Self {
        match response {
            crate::Response::Okay => Self::Okay,
            crate::Response::DecodeError => Self::DecErr,
            crate::Response::Error | crate::Response::Retry => Self::SlvErr,
        }
    }
}

impl fmt::Display for AxiResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["OKAY", "EXOKAY", "SLVERR", "DECERR"][*self as usize])
    }
}

/// A read or a write of a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AxiLiteAccess {
    /// A write.
    Write {
        /// The byte address.
        address: Uint<64>,
        /// The data of all bytes of the bus.
        data: Uint<64>,
        /// The bytes that are written.
        strobe: Uint<8>,
        /// Cycles between the start of the operation and the offer of the address.
        #[serde(default)]
        address_delay: Uint<12>,
        /// Cycles between the start of the operation and the offer of the data.
        #[serde(default)]
        data_delay: Uint<12>,
    },
    /// A read.
    Read {
        /// The byte address.
        address: Uint<64>,
    },
}

impl fmt::Display for AxiLiteAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { address, data, strobe, .. } => {
                let (address, data) = (address.get(), data.get());
                write!(f, "write {data:#x} strobe {:#x} to {address:#x}", strobe.get())
            }
            Self::Read { address } => write!(f, "read {:#x}", address.get()),
        }
    }
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxiLiteOperation {
    /// Cycles between the start of the operation before it and its start.
    #[serde(default)]
    pub gap: Uint<12>,
    /// Whether it waits until all operations before it are complete. Its gap begins then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fence: bool,
    /// The read or write.
    pub access: AxiLiteAccess,
    /// The protection type.
    #[serde(default)]
    pub prot: Uint<3>,
    /// A reset that follows its start. Operations that are not complete are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// The operations of a manager, and its stalls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxiLiteTraffic {
    /// The operations. At most one starts per cycle.
    #[serde(default)]
    pub operations: Vec<AxiLiteOperation>,
    /// The stalls of `bready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub bready: Readiness,
    /// The stalls of `rready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub rready: Readiness,
}

impl Traffic for AxiLiteTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        let is_wrong = |operation: &AxiLiteOperation| {
            operation.reset.is_some_and(|reset| reset.cycles.get() == 0)
        };
        match self.operations.iter().position(is_wrong) {
            None => Ok(()),
            Some(index) => Err(TrafficError {
                path: format!("operations[{index}].reset.cycles"),
                message: "0; a reset lasts at least one cycle".to_owned(),
            }),
        }
    }
}

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

impl AxiLiteWeights {
    /// Draws a traffic of `operations` operations.
    pub(crate) fn draw<M: Pins, S: Pins>(
        &self,
        pins: &AxiLitePins<M, S>,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> AxiLiteTraffic {
        let bits = pins.awaddr.width().max(pins.araddr.width());
        let mut pool = AddressPool::new(&self.addresses, bits);
        let mut list = Vec::new();
        for _ in 0..operations {
            let offer = self.source.offer((), reset, rng);
            let address = Uint::new(pool.draw(u64::from(pins.bytes()), rng));
            let (has_write, has_read) = (pins.awvalid.is_present(), pins.arvalid.is_present());
            let access = if has_write && (rng.chance(self.write) || !has_read) {
                self.write(pins, address, rng)
            } else {
                AxiLiteAccess::Read { address }
            };
            list.push(AxiLiteOperation {
                gap: offer.gap,
                fence: rng.chance(self.fence),
                access,
                prot: rng.bits(),
                reset: offer.reset,
            });
        }
        let bready = self.ready.draw(operations, rng);
        AxiLiteTraffic { operations: list, bready, rready: self.ready.draw(operations, rng) }
    }

    fn write<M: Pins, S: Pins>(
        &self,
        pins: &AxiLitePins<M, S>,
        address: Uint<64>,
        rng: &mut CaseRng,
    ) -> AxiLiteAccess {
        let all = Uint::<8>::new((1 << pins.bytes()) - 1);
        let is_partial = pins.wstrb.is_some() && rng.chance(self.partial);
        let strobe = if is_partial { Uint::new(rng.bits::<8>().get() & all.get()) } else { all };
        let delay = rng.wait(self.skew.gap, self.skew.longest_gap);
        let is_address = rng.chance(Percent::new(50));
        let none = Uint::new(0);
        let (address_delay, data_delay) = if is_address { (delay, none) } else { (none, delay) };
        let data = Uint::new(rng.bits::<64>().get() >> (64 - 8 * pins.bytes()));
        AxiLiteAccess::Write { address, data, strobe, address_delay, data_delay }
    }
}
