//! Wishbone B4: reads and writes in bus cycles, classic or pipelined.
//!
//! [`WishboneManager`] drives a subordinate DUT, [`WishboneSubordinate`] answers a manager DUT, and
//! [`WishboneMonitor`] checks the rules of the protocol. In the classic mode, `stb` stays high
//! until the subordinate terminates the transfer. In the pipelined mode, requests follow each
//! other while `stall` is low, and terminations come later, in order.

mod agents;
mod monitor;

pub use crate::operations::BusAccess as WishboneAccess;
pub use agents::{WishboneManager, WishboneSubordinate};
pub use monitor::{WishboneMonitor, WishboneTransfer};

use crate::channel::{AddressPool, AddressWeights, Errors, Readiness, ReadyWeights};
use crate::operations::{BusDraw, Operations, delays, longest, operation};
use crate::ports::{Optional, OrZero, Ports, interface_pins};
use crate::target::Response;
use crate::wide::check_bus;
use cosim_harness::agent::{AgentTraffic, AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{Draw, Percent, Reset, Traffic};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pin, Pins};

/// The mode of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WishboneMode {
    /// One request at a time (B4, "Standard protocol").
    Classic,
    /// Requests follow each other (B4, "Pipelined protocol").
    Pipelined,
}

interface_pins! {
    /// The ports of a Wishbone interface. `M` holds the ports that the manager drives, `S` those of
    /// the subordinate.
    WishbonePins<M, S> {
        cyc: Pin<M> bit ["cyc"] "a bus cycle is in progress";
        stb: Pin<M> bit ["stb"] "a request is valid";
        we: OrZero<M> bit ["we"] "the request is a write; missing in an interface that only reads";
        adr: Pin<M> ["adr", "addr"] "the address";
        write_data: OrZero<M>
            ["dat_w", "dat", "data", "data_w", "wdata", "dat_m", "dat_ms", "mosi", "dat_mosi"]
            "the write data, at most 64 bits";
        sel: Optional<M> ["sel"] "one bit for each byte: whether it takes part";
        ack: Pin<S> bit ["ack"] "the transfer succeeded";
        err: Optional<S> bit ["err"] "the transfer failed";
        rty: Optional<S> bit ["rty"] "the manager should retry it";
        read_data: OrZero<S>
            ["dat_r", "dat", "data", "data_r", "rdata", "dat_s", "dat_sm", "miso", "dat_miso"]
            "the read data";
        stall: Optional<S> bit ["stall"] "the request is not taken; only in the pipelined mode";
    } with {
        /// The mode.
        mode: WishboneMode = WishboneMode::Classic;
        /// Bytes from an address to the next one: 1, or the width of the data for word addresses.
        address_step: u32 = 1;
    }
}

impl<M: Pins, S: Pins> WishbonePins<M, S> {
    /// The ports whose names are `pattern` and the names of the specification, as in `wb_cyc_i` and
    /// `wb_dat_o` ([`ports`](crate::ports)). Addresses are in bytes.
    ///
    /// # Panics
    /// If a port is missing that is not optional, or the data has more than 64 bits; in a
    /// constant, this does not compile.
    pub const fn named(pattern: &str, mode: WishboneMode) -> Self {
        Self::from_ports(Ports::new(pattern), mode)
    }

    /// The ports at these places.
    ///
    /// # Panics
    /// As [`Self::named`].
    pub const fn from_ports(ports: Ports<'_>, mode: WishboneMode) -> Self {
        let pins = Self { mode, ..Self::find(ports) };
        check_bus::<2>(pins.write_data.width());
        check_bus::<2>(pins.read_data.width());
        pins
    }

    /// The same ports with addresses that count words of the data bus.
    #[must_use]
    pub const fn with_word_addresses(self) -> Self {
        Self { address_step: self.bytes(), ..self }
    }

    /// The width of the data in bytes; 1 without data.
    pub const fn bytes(&self) -> u32 {
        match (self.write_data.width(), self.read_data.width()) {
            (0, 0) => 1,
            (0, bits) | (bits, _) => bits / 8,
        }
    }

    #[inline]
    pub(crate) fn is_pipelined(&self) -> bool {
        self.mode == WishboneMode::Pipelined
    }

    /// Whether the subordinate takes a request of the pipelined mode.
    #[inline]
    pub(crate) fn is_taken(&self, s: &S) -> bool {
        self.stall.is_none_or(|pin| !pin.is_high(s))
    }

    /// The terminations of a cycle: acknowledge, error, retry.
    #[inline]
    pub(crate) fn terminations(&self, s: &S) -> [bool; 3] {
        let is_high = |pin: Option<Pin<S>>| pin.is_some_and(|pin| pin.is_high(s));
        [self.ack.is_high(s), is_high(self.err), is_high(self.rty)]
    }

    /// The termination of a cycle in words, for
    /// [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, manager: &M, subordinate: &S) -> Option<String> {
        let mut words = Vec::new();
        if self.cyc.is_high(manager) && self.stb.is_high(manager) {
            let address = self.adr.get(manager);
            words.push(match self.we.is_high(manager) {
                true => format!("write {:#x} to {address:#x}", self.write_data.get(manager)),
                false => format!("read {address:#x}"),
            });
        }
        let [ack, err, rty] = self.terminations(subordinate);
        if ack {
            words.push(format!("ack {:#x}", self.read_data.get(subordinate)));
        }
        words.extend(err.then(|| "err".to_owned()));
        words.extend(rty.then(|| "rty".to_owned()));
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// The termination of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WishboneTermination {
    /// `ACK`: it succeeded.
    Ack,
    /// `ERR`: it failed.
    Err,
    /// `RTY`: the manager should retry it.
    Rty,
}

impl WishboneTermination {
    /// All, in the order of [`WishbonePins::terminations`].
    pub(crate) const ALL: [Self; 3] = [Self::Ack, Self::Err, Self::Rty];
}

impl fmt::Display for WishboneTermination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["ACK", "ERR", "RTY"][*self as usize])
    }
}

impl From<Response> for WishboneTermination {
    fn from(response: Response) -> Self {
        match response {
            Response::Okay => Self::Ack,
            Response::Error | Response::DecodeError => Self::Err,
            Response::Retry => Self::Rty,
        }
    }
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WishboneOperation {
    /// Cycles without a request before it.
    #[serde(default)]
    pub gap: Uint<12>,
    /// Whether it belongs to the bus cycle of the operation before it. Otherwise, `cyc` falls for
    /// a cycle or more when all transfers are terminated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub block: bool,
    /// The read or write.
    pub access: WishboneAccess,
    /// A reset that follows its first cycle. Operations that are not complete are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

operation!(WishboneOperation, |own| own.gap.get());

/// The operations of a manager.
pub type WishboneTraffic = Operations<WishboneOperation>;

/// The stalls and latencies of a subordinate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WishboneSubordinateTraffic {
    /// Cycles in which `stall` is high, in the pipelined mode.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub ready: Readiness,
    /// Cycles before each termination, beyond the cycle that follows the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Uint<12>>,
    /// The numbers of the transfers that fail, from 0, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Uint<16>>,
}

impl Traffic for WishboneSubordinateTraffic {}

cosim_harness::weights! {
    /// How a manager draws operations.
    pub struct WishboneWeights {
        /// Gaps between operations.
        source: SourceWeights = SourceWeights::default(),
        /// The addresses.
        addresses: AddressWeights = AddressWeights::default(),
        /// Chance of a write; otherwise, the operation is a read.
        write: Percent = 50,
        /// Chance that an operation belongs to the bus cycle of the one before.
        block: Percent = 60,
        /// Chance that a write does not select all bytes, if there is `sel`.
        partial: Percent = 40,
    }

    /// How a subordinate answers.
    pub struct WishboneSubordinateWeights {
        /// Stalls of requests.
        ready: ReadyWeights = ReadyWeights::default(),
        /// Delays of terminations.
        latency: SourceWeights = SourceWeights::default(),
        /// Chance of an error response, which does not reach the target.
        errors: Percent = 0,
    }
}

impl AgentWeights for WishboneWeights {
    fn paced(self, pace: &Pace) -> Self {
        let addresses = self.addresses.paced(pace);
        Self { source: pace.source.clone(), addresses, ..self }
    }
}

impl AgentWeights for WishboneSubordinateWeights {
    fn paced(self, pace: &Pace) -> Self {
        let ready = self.ready.paced(pace);
        let errors = pace.errors.unwrap_or(self.errors);
        Self { ready, latency: pace.source.clone(), errors }
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<WishbonePins<M, S>> for WishboneTraffic {
    type Weights = WishboneWeights;

    fn draw(weights: &Self::Weights, pins: &WishbonePins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let mut pool = AddressPool::new(&weights.addresses, pins.adr.width());
        let bus = BusDraw {
            write: if pins.we.width() == 0 { Percent::new(0) } else { weights.write },
            partial: pins.sel.map(|_| weights.partial),
            bytes: pins.bytes(),
            step: u64::from(pins.bytes() / pins.address_step.max(1)).max(1),
        };
        let mut operation = || {
            let offer = weights.source.offer((), reset, rng);
            let access = bus.access(&mut pool, rng);
            let block = rng.chance(weights.block);
            WishboneOperation { gap: offer.gap, block, access, reset: offer.reset }
        };
        Self { operations: (0..operations).map(|_| operation()).collect() }
    }
}

impl AgentTraffic for WishboneSubordinateTraffic {
    fn longest_delay(&self) -> u64 {
        self.ready.longest_delay() + longest(&self.delays) + 1
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<WishbonePins<M, S>> for WishboneSubordinateTraffic {
    type Weights = WishboneSubordinateWeights;

    fn draw(weights: &Self::Weights, pins: &WishbonePins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, rng, .. } = plan;
        let delays = delays(&weights.latency, operations, rng);
        let ready = weights.ready.draw(operations, rng);
        let errors = Errors::draw(pins.err.is_none(), weights.errors, operations, rng);
        Self { ready, delays, errors }
    }
}
