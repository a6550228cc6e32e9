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
#[cfg(test)]
mod declared;
mod delivery;
mod expected;
mod grants;
mod items;
mod monitor;
mod packet;
mod port;
mod settings;
mod sink;
mod source;
mod weights;

#[doc(hidden)]
pub use coverage::without_ready;
pub use coverage::{ChannelSampler, GAP, STALL, cycles_index};
#[doc(hidden)]
pub use declare::check_outputs;
pub use declare::{
    DRAIN, DomainReset, SLACK, check_clocks, choose, choose_lane, raw_pins, steps_per_edge,
};
pub use delivery::{Delivery, DeliveryChecks};
pub use expected::{InOrder, PerId, TransactionChecks};
pub use grants::{GrantChecks, RoundRobin};
pub use monitor::{Monitor, Protocol};
pub use packet::{Packet, PacketBeat};
pub use port::{DrivenPort, FieldValue, PortBits};
#[doc(hidden)]
pub use port::{FieldOf, PinUse, Width, check_pins, lanes, put_lanes, words};
pub use settings::{LONGEST_SETTING, SETTINGS, Setting, Settings, SettingsOf};
#[doc(hidden)]
pub use settings::{check as check_settings, cycles, draw as draw_settings, next_value};
pub use sink::Sink;
pub use source::{Burst, Lanes, Offer, Source, Sources};
pub use weights::{ChannelScenario, SinkWeights, SourceWeights, default_scenarios};
