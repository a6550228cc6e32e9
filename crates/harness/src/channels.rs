//! Parts for blocks whose pins are channels: sources and sinks that drive them, monitors that check
//! their protocol, weights, coverage, and the comparison of transactions.
//!
//! A channel carries items from its driver to its receiver. With valid and ready, an item is taken
//! in a cycle in which both are high; with valid alone, in each cycle in which valid is high.
//! `declare!` declares the channels of a block by their pins.

mod coverage;
mod delivery;
mod expected;
mod grants;
mod item;
mod monitor;
mod packet;
mod port;
mod settings;
mod sink;
mod source;
mod weights;

pub use coverage::{ChannelSampler, GAP, STALL, cycles_index};
pub use delivery::Delivery;
pub use expected::{InOrder, PerId, transaction_checks};
pub use grants::{RoundRobin, grant_checks};
pub use item::{
    ChannelItem, SettingsAgent, SinkAgent, SinkCoverage, SinkItem, SourceAgent, SourceCoverage,
    SourceItem,
};
pub use monitor::{Monitor, Protocol};
pub use packet::{Packet, PacketBeat};
pub use port::{DrivenPort, FieldValue, PortBits};
#[doc(hidden)]
pub use port::{lanes, put_lanes, put_part, put_port};
pub use settings::{LONGEST_SETTING, SETTINGS, Setting, Settings, SettingsOf};
#[doc(hidden)]
pub use settings::{cycles, draw as draw_settings, next_value};
pub use sink::Sink;
pub use source::{Burst, Entry, Lanes, Offer, Source, Sources, longest_delay};
pub use weights::{ChannelScenario, Next, SinkWeights, SourceWeights, default_scenarios};
