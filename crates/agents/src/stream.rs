//! AXI4-Stream (ARM IHI 0051): a transmitter sends beats of data to a receiver.
//!
//! [`StreamSource`] drives a receiving DUT, [`StreamSink`] takes the beats of a transmitting DUT,
//! and [`StreamMonitor`] checks the rules of the protocol. The data has at most 1024 bits.

mod agents;
mod monitor;

pub use agents::{StreamSink, StreamSource};
pub use monitor::StreamMonitor;

use crate::channel::{Readiness, ReadyWeights, any_id};
use crate::operations::{check_resets, field_error, longest_delay};
use crate::ports::{Optional, Ports, interface_pins};
use crate::wide::{Data, Lanes, Wide};
use cosim_harness::agent::{AgentTraffic, AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::{Burst, Offer, SourceWeights};
use cosim_harness::harness::{CaseRng, Draw, Percent, Span, Traffic, TrafficError};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pin, Pins};

interface_pins! {
    /// The ports of a stream. `T` holds the ports that the transmitter drives, `R` those of the
    /// receiver. All ports but `tvalid` are optional (IHI 0051, "Default value signaling").
    StreamPins<T, R> {
        tvalid: Pin<T> bit ["tvalid"] "the transmitter offers a beat";
        tready: Optional<R> bit ["tready"] "the receiver takes it; it takes every beat without it";
        tdata: Optional<T> ["tdata"] "the data, at most 1024 bits";
        tkeep: Optional<T> ["tkeep"] "one bit for each byte: whether it is part of the stream";
        tstrb: Optional<T> ["tstrb"] "one bit for each byte: whether it is data";
        tlast: Optional<T> bit ["tlast"] "the beat is the last one of its packet";
        tid: Optional<T> ["tid"] "the stream of the beat";
        tdest: Optional<T> ["tdest"] "where the beat is routed";
        tuser: Optional<T> ["tuser"] "sideband bits, at most 128";
    }
}

impl<T: Pins, R: Pins> StreamPins<T, R> {
    /// The ports whose names are `pattern` and the names of the specification, as in
    /// `s_axis_tvalid` ([`ports`](crate::ports)).
    ///
    /// # Panics
    /// If there is no `tvalid`; in a constant, this does not compile.
    pub const fn named(pattern: &str) -> Self {
        Self::from_ports(Ports::new(pattern))
    }

    /// The ports at these places.
    ///
    /// # Panics
    /// As [`Self::named`].
    pub const fn from_ports(ports: Ports<'_>) -> Self {
        Self::find(ports)
    }

    /// The width of the data in bytes; 0 without `tdata`.
    pub const fn lanes(&self) -> u32 {
        match &self.tdata {
            Some(pin) => pin.width() / 8,
            None => 0,
        }
    }

    /// The beat on offer. Ports that do not exist have the values of IHI 0051, "Default value
    /// signaling": all bytes are data, and the rest is 0.
    #[inline]
    pub fn offered(&self, transmitter: &T) -> Option<StreamBeat> {
        if !self.tvalid.is_high(transmitter) {
            return None;
        }
        let number = |pin: &Option<Pin<T>>| pin.map_or(0, |pin| pin.get(transmitter));
        let keep = self
            .tkeep
            .map_or_else(|| Lanes::ones(self.lanes()), |pin| Wide::read_pin(pin, transmitter));
        Some(StreamBeat {
            data: self.tdata.map_or(Wide::ZERO, |pin| Wide::read_pin(pin, transmitter)),
            keep,
            strb: self.tstrb.map_or(keep, |pin| Wide::read_pin(pin, transmitter)),
            last: self.tlast.is_none_or(|pin| pin.is_high(transmitter)),
            id: Uint::new(number(&self.tid)),
            dest: Uint::new(number(&self.tdest)),
            user: self.tuser.map_or(Wide::ZERO, |pin| Wide::read_pin(pin, transmitter)),
        })
    }

    /// Whether the receiver takes a beat.
    #[inline]
    pub fn is_ready(&self, receiver: &R) -> bool {
        self.tready.is_none_or(|pin| pin.is_high(receiver))
    }

    /// The beat that is taken in this cycle.
    #[inline]
    pub fn taken(&self, transmitter: &T, receiver: &R) -> Option<StreamBeat> {
        self.offered(transmitter).filter(|_| self.is_ready(receiver))
    }
}

// ANCHOR: beat
/// A beat: one transfer of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamBeat {
    /// The data.
    #[serde(default)]
    pub data: Data,
    /// The bytes that are part of the stream; all by default.
    #[serde(default = "all_lanes", skip_serializing_if = "is_all")]
    pub keep: Lanes,
    /// The bytes that are data; all of `keep` by default.
    #[serde(default = "all_lanes", skip_serializing_if = "is_all")]
    pub strb: Lanes,
    /// Whether the beat is the last one of its packet.
    #[serde(default)]
    pub last: bool,
    /// The stream.
    #[serde(default)]
    pub id: Uint<32>,
    /// The destination.
    #[serde(default)]
    pub dest: Uint<32>,
    /// The sideband bits.
    #[serde(default)]
    pub user: Lanes,
}
// ANCHOR_END: beat

fn all_lanes() -> Lanes {
    Lanes::ones(128)
}

fn is_all(lanes: &Lanes) -> bool {
    *lanes == all_lanes()
}

impl StreamBeat {
    /// A beat of data with all bytes.
    pub fn new(data: Data, last: bool) -> Self {
        let (id, user) = (Uint::new(0), Lanes::ZERO);
        Self { data, keep: all_lanes(), strb: all_lanes(), last, id, dest: id, user }
    }

    /// Whether a byte is in `strb` and not in `keep`.
    pub(crate) fn is_reserved(&self) -> bool {
        self.strb.exceeds(&self.keep)
    }
}

impl Burst for StreamBeat {
    type Item = Self;

    #[inline]
    fn item(&self, _: u64) -> Self {
        *self
    }
}

impl Default for StreamBeat {
    fn default() -> Self {
        Self::new(Wide::ZERO, false)
    }
}

impl fmt::Display for StreamBeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data {}", self.data)?;
        if !is_all(&self.keep) {
            write!(f, " keep {}", self.keep)?;
        }
        if self.strb != self.keep && !is_all(&self.strb) {
            write!(f, " strb {}", self.strb)?;
        }
        let numbers = [("id", self.id), ("dest", self.dest)];
        for (name, value) in numbers.iter().filter(|(_, value)| value.get() > 0) {
            write!(f, " {name} {:#x}", value.get())?;
        }
        if self.user != Lanes::ZERO {
            write!(f, " user {}", self.user)?;
        }
        f.write_str(if self.last { " last" } else { "" })
    }
}

impl fmt::Debug for StreamBeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The beats of a transmitter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamTraffic {
    /// The beats, each with the gap before it.
    #[serde(default)]
    pub beats: Vec<Offer<StreamBeat>>,
}

impl Traffic for StreamTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        let is_reserved =
            |beat: &Offer<StreamBeat>| !is_all(&beat.item.strb) && beat.item.is_reserved();
        match self.beats.iter().position(is_reserved) {
            None => check_resets("beats", &self.beats),
            Some(at) => Err(field_error(
                "beats",
                at,
                "item.strb",
                "has a byte that is not in `keep`, which is reserved",
            )),
        }
    }
}

/// The stalls of a receiver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSinkTraffic {
    /// The stalls of `tready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub ready: Readiness,
}

impl Traffic for StreamSinkTraffic {}

cosim_harness::weights! {
    /// How a transmitter sends packets.
    pub struct StreamWeights {
        /// Gaps between beats.
        source: SourceWeights = SourceWeights::default(),
        /// Beats of a packet.
        beats: Span<12, 1> = 1..=8,
        /// Chance that the last beat of a packet has fewer bytes, if there is `tkeep`.
        partial: Percent = 50,
        /// Chance that any bytes of a beat are null or position bytes, if there are `tkeep` and
        /// `tstrb`.
        sparse: Percent = 0,
        /// Largest `tid`, within its width; of the others, the lowest 15 are drawn.
        ids: Uint<32> = 4294967295,
        /// Largest `tdest`, likewise.
        dests: Uint<32> = 4294967295,
    }

    /// How a receiver takes beats.
    pub struct StreamSinkWeights {
        /// Stalls of ready.
        ready: ReadyWeights = ReadyWeights::default(),
    }
}

impl AgentWeights for StreamWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { source: pace.source.clone(), ..self }
    }
}

impl AgentWeights for StreamSinkWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { ready: self.ready.paced(pace) }
    }
}

impl AgentTraffic for StreamTraffic {
    fn longest_delay(&self) -> u64 {
        longest_delay(&self.beats) + 1
    }
}

impl<T: Pins, R: Pins> DrawnTraffic<StreamPins<T, R>> for StreamTraffic {
    type Weights = StreamWeights;

    /// Draws packets of about `beats` beats. The last packet is complete.
    fn draw(weights: &Self::Weights, pins: &StreamPins<T, R>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations: beats, reset, rng } = plan;
        let mut traffic = StreamTraffic::default();
        while (traffic.beats.len() as u32) < beats {
            let length = weights.beats.draw(rng).min(u64::from(beats));
            let number = |pin: &Option<Pin<T>>, most: Uint<32>, rng: &mut CaseRng| {
                let limit = pin.map_or(0, |pin| (1_u64 << pin.width().min(32)) - 1);
                Uint::new(any_id(limit.min(most.get()), rng))
            };
            let id = number(&pins.tid, weights.ids, rng);
            let dest = number(&pins.tdest, weights.dests, rng);
            for left in (0..length).rev() {
                let mut beat = weights.beat(pins, left == 0, rng);
                (beat.id, beat.dest) = (id, dest);
                traffic.beats.push(weights.source.offer(beat, reset, rng));
            }
        }
        traffic
    }
}

impl AgentTraffic for StreamSinkTraffic {
    fn longest_delay(&self) -> u64 {
        self.ready.longest_delay()
    }
}

impl<P> DrawnTraffic<P> for StreamSinkTraffic {
    type Weights = StreamSinkWeights;

    fn draw(weights: &Self::Weights, _: &P, plan: CasePlan<'_>) -> Self {
        Self { ready: weights.ready.draw(plan.operations, plan.rng) }
    }
}

impl StreamWeights {
    fn beat<T: Pins, R: Pins>(
        &self,
        pins: &StreamPins<T, R>,
        last: bool,
        rng: &mut CaseRng,
    ) -> StreamBeat {
        let lanes = pins.lanes();
        let mut beat = StreamBeat::new(Wide::any(8 * lanes, rng), last);
        if let Some(pin) = pins.tuser {
            beat.user = Lanes::any(pin.width(), rng);
        }
        if pins.tkeep.is_some() && lanes > 1 {
            if rng.chance(self.sparse) {
                beat.keep = Lanes::any(lanes, rng);
                let strb = Lanes::any(lanes, rng);
                beat.strb = if pins.tstrb.is_some() { beat.keep.and(&strb) } else { beat.keep };
            } else if last && rng.chance(self.partial) {
                beat.keep = Lanes::ones(rng.random_range(1..lanes));
                beat.strb = beat.keep;
            }
        }
        beat
    }
}
