//! A synchronous memory port: an access per cycle, and read data after a fixed latency.
//!
//! [`MemoryPortManager`] drives a memory DUT, [`MemoryPortSubordinate`] is the memory of a DUT, and
//! [`MemoryPortMonitor`] checks the rules of the port. No standard defines it; the rules are those
//! of the usual memories of FPGAs and ASICs. The data has at most 1024
//! bits.
//!
//! - A cycle with `en` is an access: a write if `we` is high, otherwise a read.
//! - A write changes the bytes whose bit of `be` is high.
//! - The data of a read is on `rdata` `latency` cycles later, for one cycle. At other times, it is
//!   undefined.

mod agents;
mod monitor;

pub use agents::{MemoryPortManager, MemoryPortSubordinate};
pub use monitor::{MemoryPortAccess, MemoryPortEvents, MemoryPortMonitor};

use crate::channel::{AddressPool, AddressWeights};
use crate::operations::{Operations, operation};
use crate::ports::{Optional, Ports, interface_pins};
use crate::wide::{Data, Lanes, Wide};
use cosim_harness::agent::{AgentTraffic, AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{Draw, Percent, Reset, Traffic};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pin, Pins};

interface_pins! {
    /// The ports of a memory port. `M` holds the ports that the manager drives, `S` those of the
    /// memory.
    MemoryPortPins<M, S> {
        en: Optional<M> bit
            ["en", "cs", "ce", "ena", "enable", "sel", "select", "chip_select", "req"]
            "an access; each cycle is one without it";
        we: Optional<M> bit
            ["we", "wr", "wen", "wr_en", "write", "write_en", "write_enable", "wren", "w_en"]
            "the access is a write; all are reads without it";
        be: Optional<M>
            ["be", "wstrb", "bwe", "byte_en", "byteen", "byte_enable", "wmask", "strb", "bsel"]
            "one bit for each byte: whether it is written";
        re: Optional<M> bit
            ["re", "rd", "ren", "rd_en", "read", "read_en", "read_enable", "rden", "r_en"]
            "the access is a read; without it, each access that is no write";
        addr: Pin<M> ["addr", "address", "adr"] "the address in words";
        wdata: Optional<M>
            ["wdata", "write_data", "din", "data_in", "wr_data", "data_w", "writedata", "d", "di", "w_data"]
            "the write data, at most 1024 bits";
        rdata: Pin<S>
            ["rdata", "read_data", "dout", "data_out", "rd_data", "data_r", "readdata", "q", "do", "r_data"]
            "the read data";
    } with {
        /// Cycles between an access and its read data.
        latency: u32 = 1;
        /// The number of words; addresses are below it.
        depth: u64 = 0;
    }
}

impl<M: Pins, S: Pins> MemoryPortPins<M, S> {
    /// The ports whose names are `pattern` and those of [`PORTS`], as in `ram_addr` and `ram_din`
    /// ([`ports`](crate::ports)). The latency is one cycle, and all addresses exist.
    ///
    /// # Panics
    /// If `addr` or `rdata` is missing; in a constant, this does not compile.
    pub const fn named(pattern: &str) -> Self {
        Self::from_ports(Ports::new(pattern))
    }

    /// The ports at these places.
    ///
    /// # Panics
    /// As [`Self::named`].
    pub const fn from_ports(ports: Ports<'_>) -> Self {
        let pins = Self::find(ports);
        let bits = pins.addr.width();
        pins.with_depth(if bits < 64 { 1 << bits } else { u64::MAX })
    }

    /// The same ports with another latency in cycles.
    #[must_use]
    pub const fn with_latency(self, latency: u32) -> Self {
        Self { latency, ..self }
    }

    /// The same ports of a memory of `depth` words.
    #[must_use]
    pub const fn with_depth(self, depth: u64) -> Self {
        Self { depth, ..self }
    }

    /// The width of the data in bytes.
    pub const fn bytes(&self) -> u32 {
        self.rdata.width() / 8
    }

    /// Whether a cycle need not have an access.
    pub(crate) fn is_quiet_when_idle(&self) -> bool {
        self.en.is_some() || self.re.is_some()
    }

    #[inline]
    pub(crate) fn has_access(&self, m: &M) -> bool {
        let is_high = |pin: Option<Pin<M>>| pin.is_none_or(|pin| pin.is_high(m));
        is_high(self.en) && (is_high(self.re) || self.we.is_some_and(|we| we.is_high(m)))
    }

    /// The access of a cycle outside reset. The data of a read comes later.
    #[inline]
    pub fn access(&self, m: &M) -> Option<MemoryPortAccess> {
        if !self.has_access(m) {
            return None;
        }
        let address = self.addr.get(m);
        let is_write = self.we.is_some_and(|pin| pin.is_high(m));
        let all = || Lanes::ones(self.bytes());
        Some(MemoryPortAccess {
            is_write,
            address,
            data: match self.wdata {
                Some(pin) if is_write => Wide(pin.words(m)),
                _ => Wide::ZERO,
            },
            lanes: match self.be {
                Some(pin) if is_write => Wide(pin.words(m)),
                _ => all(),
            },
        })
    }

    /// The access of a cycle in words, for
    /// [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, manager: &M) -> Option<String> {
        self.access(manager).map(|access| access.to_string())
    }
}

/// A read or a write of a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MemoryPortOperationKind {
    /// A write.
    Write {
        /// The address in words.
        address: Uint<64>,
        /// The data.
        data: Data,
        /// The bytes that are written.
        lanes: Lanes,
    },
    /// A read.
    Read {
        /// The address in words.
        address: Uint<64>,
    },
}

impl fmt::Display for MemoryPortOperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { address, data, lanes } => {
                write!(f, "write {data} lanes {lanes} to {:#x}", address.get())
            }
            Self::Read { address } => write!(f, "read {:#x}", address.get()),
        }
    }
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPortOperation {
    /// Cycles without an access before it.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The read or write.
    pub access: MemoryPortOperationKind,
    /// A reset that follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

operation!(MemoryPortOperation, |own| own.gap.get());

/// The operations of a manager.
pub type MemoryPortTraffic = Operations<MemoryPortOperation>;

/// The traffic of a memory: there is none, because its latency is fixed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPortSubordinateTraffic {}

impl Traffic for MemoryPortSubordinateTraffic {}

cosim_harness::weights! {
    /// How a manager draws operations.
    pub struct MemoryPortWeights {
        /// Gaps between operations.
        source: SourceWeights = SourceWeights::default(),
        /// The addresses, in words.
        addresses: AddressWeights = AddressWeights::default(),
        /// Chance of a write; otherwise, the operation is a read.
        write: Percent = 50,
        /// Chance that a write does not have all bytes, if there is `be`.
        partial: Percent = 40,
    }

    /// A memory has no weights.
    pub struct MemoryPortSubordinateWeights {}
}

impl AgentWeights for MemoryPortWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { source: pace.source.clone(), ..self }
    }
}

impl AgentWeights for MemoryPortSubordinateWeights {
    fn paced(self, _: &Pace) -> Self {
        self
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<MemoryPortPins<M, S>> for MemoryPortTraffic {
    type Weights = MemoryPortWeights;

    fn draw(weights: &Self::Weights, pins: &MemoryPortPins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let mut pool =
            AddressPool::new(&weights.addresses, pins.addr.width()).up_to(pins.depth.max(1) - 1);
        let mut operation = || {
            let offer = weights.source.offer((), reset, rng);
            let address = Uint::new(pool.draw(1, rng));
            let access = if pins.we.is_some() && rng.chance(weights.write) {
                let data = Wide::any(8 * pins.bytes(), rng);
                let is_partial = pins.be.is_some() && rng.chance(weights.partial);
                let some = Lanes::any(pins.bytes(), rng);
                let lanes = if is_partial { some } else { Lanes::ones(pins.bytes()) };
                MemoryPortOperationKind::Write { address, data, lanes }
            } else {
                MemoryPortOperationKind::Read { address }
            };
            MemoryPortOperation { gap: offer.gap, access, reset: offer.reset }
        };
        Self { operations: (0..operations).map(|_| operation()).collect() }
    }
}

impl AgentTraffic for MemoryPortSubordinateTraffic {
    fn longest_delay(&self) -> u64 {
        0
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<MemoryPortPins<M, S>> for MemoryPortSubordinateTraffic {
    type Weights = MemoryPortSubordinateWeights;

    fn draw(_: &Self::Weights, _: &MemoryPortPins<M, S>, _: CasePlan<'_>) -> Self {
        Self {}
    }
}
