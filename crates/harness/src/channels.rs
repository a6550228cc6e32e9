//! Parts for blocks whose pins are channels: sources and sinks that drive them, monitors that check
//! their protocol, weights, coverage, and the comparison of transactions.
//!
//! A channel carries items from its driver to its receiver. With valid and ready, an item is taken
//! in a cycle in which both are high; with valid alone, in each cycle in which valid is high. For
//! a block whose pins are channels and a reset, [`channels!`](crate::channels) declares traffic,
//! environment, weights and coverage from a list of pins.

mod block;
mod coverage;
mod declare;
mod delivery;
mod expected;
mod grants;
mod items;
mod monitor;
mod packet;
mod sink;
mod source;
mod weights;

pub use coverage::{ChannelSampler, GAP, STALL};
pub use declare::{
    DRAIN, DomainReset, SLACK, check_clocks, choose, choose_lane, raw_pins, steps_per_edge,
};
#[doc(hidden)]
pub use declare::{check_outputs, with_lane};
pub use delivery::{Delivery, DeliveryChecks};
pub use expected::{InOrder, PerId, TransactionChecks};
pub use grants::{GrantChecks, RoundRobin};
pub use monitor::{Monitor, Protocol};
pub use packet::{Packet, PacketBeat};
pub use sink::Sink;
pub use source::{Burst, Lanes, Offer, Source, Sources};
pub use weights::{ChannelScenario, SinkWeights, SourceWeights, default_scenarios};
