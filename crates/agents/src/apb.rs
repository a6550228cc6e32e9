//! APB4 (ARM IHI 0024): one read or write at a time, in a setup and an access phase.
//!
//! [`ApbManager`] drives a subordinate DUT, [`ApbSubordinate`] answers a manager DUT, and
//! [`ApbMonitor`] checks the rules of the protocol.

mod agents;
mod monitor;

pub use crate::operations::BusAccess as ApbAccess;
pub use agents::{ApbManager, ApbSubordinate};
pub use monitor::{ApbMonitor, ApbTransfer};

use crate::channel::{AddressPool, AddressWeights, Errors};
use crate::operations::{BusDraw, Operations, delays, longest, operation};
use crate::ports::{Optional, Ports, interface_pins};
use crate::wide::check_bus;
use cosim_harness::agent::{AgentTraffic, AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{Draw, Percent, Reset, Traffic};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verilated::{Pin, Pins};

interface_pins! {
    /// The ports of an APB interface. `M` holds the ports that the manager drives, `S` those of the
    /// subordinate.
    ApbPins<M, S> {
        psel: Pin<M> bit ["psel"] "the subordinate is selected";
        penable: Pin<M> bit ["penable"] "the transfer is in its access phase";
        pwrite: Pin<M> bit ["pwrite"] "the transfer is a write";
        paddr: Pin<M> ["paddr"] "the byte address";
        pwdata: Pin<M> ["pwdata"] "the write data, at most 64 bits";
        pstrb: Optional<M> ["pstrb", "pwstrb"] "one bit for each byte: whether it is written";
        pprot: Optional<M> ["pprot"] "the protection type";
        pready: Optional<S> bit ["pready"]
            "the subordinate completes the transfer; in one cycle without it";
        prdata: Pin<S> ["prdata"] "the read data";
        pslverr: Optional<S> bit ["pslverr"] "the transfer failed";
    }
}

impl<M: Pins, S: Pins> ApbPins<M, S> {
    /// The ports whose names are `pattern` and the names of the specification, as in `psel`
    /// ([`ports`](crate::ports)).
    ///
    /// # Panics
    /// If a port is missing that is not optional, or the data has more than 64 bits; in a
    /// constant, this does not compile.
    pub const fn named(pattern: &str) -> Self {
        Self::from_ports(Ports::new(pattern))
    }

    /// The ports at these places.
    ///
    /// # Panics
    /// As [`Self::named`].
    pub const fn from_ports(ports: Ports<'_>) -> Self {
        let pins = Self::find(ports);
        check_bus::<2>(pins.pwdata.width());
        pins
    }

    /// The width of the data in bytes.
    pub const fn bytes(&self) -> u32 {
        self.pwdata.width() / 8
    }

    /// The address of the first byte of the data bus.
    pub(crate) const fn first_byte(&self, address: u64) -> u64 {
        address & !(self.bytes() as u64 - 1)
    }

    /// Whether the subordinate completes a transfer in its access phase.
    #[inline]
    pub fn is_ready(&self, subordinate: &S) -> bool {
        self.pready.is_none_or(|pin| pin.is_high(subordinate))
    }

    /// The transfer that completes in a cycle outside reset.
    #[inline]
    pub fn complete(&self, m: &M, s: &S) -> Option<ApbTransfer> {
        if !(self.psel.is_high(m) && self.penable.is_high(m) && self.is_ready(s)) {
            return None;
        }
        let is_write = self.pwrite.is_high(m);
        let all = (1 << self.bytes()) - 1;
        Some(ApbTransfer {
            is_write,
            address: self.paddr.get(m),
            prot: self.pprot.map_or(0, |pin| pin.get(m)),
            data: if is_write { self.pwdata.get(m) } else { self.prdata.get(s) },
            strobe: if is_write { self.pstrb.map_or(all, |pin| pin.get(m)) } else { 0 },
            is_error: self.pslverr.is_some_and(|pin| pin.is_high(s)),
        })
    }

    /// The transfer of a cycle in words, for
    /// [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, manager: &M, subordinate: &S) -> Option<String> {
        self.complete(manager, subordinate).map(|transfer| transfer.to_string())
    }
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApbOperation {
    /// Idle cycles before its setup phase.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The read or write.
    pub access: ApbAccess,
    /// The protection type.
    #[serde(default)]
    pub prot: Uint<3>,
    /// A reset that follows its setup phase. An operation that is not complete is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

operation!(ApbOperation, |own| own.gap.get());

/// The operations of a manager.
pub type ApbTraffic = Operations<ApbOperation>;

/// The wait states of a subordinate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApbSubordinateTraffic {
    /// Wait states of consecutive transfers, in cycles; transfers after the list have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Uint<12>>,
    /// The numbers of the transfers that fail, from 0, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Uint<16>>,
}

impl Traffic for ApbSubordinateTraffic {}

cosim_harness::weights! {
    /// How a manager draws operations.
    pub struct ApbWeights {
        /// Gaps between operations.
        source: SourceWeights = SourceWeights::default(),
        /// The addresses.
        addresses: AddressWeights = AddressWeights::default(),
        /// Chance of a write; otherwise, the operation is a read.
        write: Percent = 50,
        /// Chance that a write does not have all strobes, if there is `pstrb`.
        partial: Percent = 40,
    }

    /// How a subordinate answers.
    pub struct ApbSubordinateWeights {
        /// Wait states of transfers.
        latency: SourceWeights = SourceWeights::default(),
        /// Chance of an error response, which does not reach the target.
        errors: Percent = 0,
    }
}

impl AgentWeights for ApbWeights {
    fn paced(self, pace: &Pace) -> Self {
        let addresses = self.addresses.paced(pace);
        Self { source: pace.source.clone(), addresses, ..self }
    }
}

impl AgentWeights for ApbSubordinateWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { latency: pace.latency(), errors: pace.errors.unwrap_or(self.errors) }
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<ApbPins<M, S>> for ApbTraffic {
    type Weights = ApbWeights;

    fn draw(weights: &Self::Weights, pins: &ApbPins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let mut pool = AddressPool::new(&weights.addresses, pins.paddr.width());
        let bus = BusDraw {
            write: weights.write,
            partial: pins.pstrb.map(|_| weights.partial),
            bytes: pins.bytes(),
            step: u64::from(pins.bytes()),
        };
        let mut operation = || {
            let offer = weights.source.offer((), reset, rng);
            let access = bus.access(&mut pool, rng);
            ApbOperation { gap: offer.gap, access, prot: rng.bits(), reset: offer.reset }
        };
        Self { operations: (0..operations).map(|_| operation()).collect() }
    }
}

impl AgentTraffic for ApbSubordinateTraffic {
    fn longest_delay(&self) -> u64 {
        longest(&self.stalls) + 1
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<ApbPins<M, S>> for ApbSubordinateTraffic {
    type Weights = ApbSubordinateWeights;

    fn draw(weights: &Self::Weights, pins: &ApbPins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, rng, .. } = plan;
        let stalls = delays(&weights.latency, operations, rng);
        let errors = Errors::draw(pins.pslverr.is_none(), weights.errors, operations, rng);
        Self { stalls, errors }
    }
}
