//! The rules of AXI4-Stream, and the coverage of a stream.

use super::{StreamBeat, StreamPins};
use crate::channel::{Channel, ChannelRules};
use cosim_harness::channels::{ChannelSampler, GAP, STALL};
use cosim_harness::harness::{Bins, Covergroup, Place, Violation};
use verilated::Pins;

/// Checks the rules of AXI4-Stream in every cycle, and returns the beats.
#[derive(Debug, Clone)]
pub struct StreamMonitor<T, R> {
    pins: StreamPins<T, R>,
    channel: Channel<StreamBeat>,
}

impl<T: Pins, R: Pins> StreamMonitor<T, R> {
    /// IHI 0051, "Handshake process": when `TVALID` is asserted, it must remain asserted until the
    /// handshake.
    pub const VALID_HELD: &'static str = "axis-valid-held";
    /// IHI 0051, "Handshake process": while a beat waits for `TREADY`, data and control do not
    /// change.
    pub const PAYLOAD_HELD: &'static str = "axis-payload-held";
    /// IHI 0051, "Reset": in reset, `TVALID` must be low.
    pub const QUIET_IN_RESET: &'static str = "axis-quiet-in-reset";
    /// IHI 0051, "Reset": `TVALID` may only rise after a rising edge at which the reset is
    /// inactive.
    pub const QUIET_AFTER_RESET: &'static str = "axis-quiet-after-reset";
    /// IHI 0051, "TKEEP and TSTRB combinations": a byte with `TSTRB` and without `TKEEP` is
    /// reserved.
    pub const STRB_WITHOUT_KEEP: &'static str = "axis-strb-without-keep";

    /// All checks. Only a transmitter can break them.
    pub const CHECKS: &'static [&'static str] = &[
        Self::VALID_HELD,
        Self::PAYLOAD_HELD,
        Self::QUIET_IN_RESET,
        Self::QUIET_AFTER_RESET,
        Self::STRB_WITHOUT_KEEP,
    ];

    /// A monitor of an idle stream.
    pub fn new(pins: StreamPins<T, R>) -> Self {
        let rules = ChannelRules {
            valid_held: Some(Self::VALID_HELD),
            payload_held: Some(Self::PAYLOAD_HELD),
            quiet_in_reset: Some(Self::QUIET_IN_RESET),
            quiet_after_reset: Some(Self::QUIET_AFTER_RESET),
        };
        Self { pins, channel: Channel::new(rules, pins.tvalid.port().name) }
    }

    /// Observes a cycle. Returns the beat that is taken.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        transmitter: &T,
        receiver: &R,
    ) -> Result<Option<StreamBeat>, Violation> {
        let offer = self.pins.offered(transmitter);
        if !in_reset && let Some(beat) = &offer {
            let is_reserved = |(strb, keep): (&u32, &u32)| strb & !keep != 0;
            if beat.strb.0.iter().zip(&beat.keep.0).any(is_reserved) {
                let valid = self.pins.tvalid.port().name;
                let message = format_args!("{valid}: keep {}, strb {}", beat.keep, beat.strb);
                return Err(Violation::new(Self::STRB_WITHOUT_KEEP, message));
            }
        }
        self.channel.observe(in_reset, offer, self.pins.is_ready(receiver))
    }
}

cosim_harness::axes! {
    /// Beats of a packet.
    BEATS = "beats" { "1": "one beat", "2-7": "2 to 7 beats", "8+": "8 beats or more" }
}

/// The covergroups of a stream.
pub(super) const GROUPS: &[Covergroup] = &[
    Covergroup::new("beats", "beats: gap before the beat, and its stall", &[GAP, STALL]),
    Covergroup::new("packets", "packets, by their length in beats", &[BEATS]),
];

/// Samples the coverage of a stream.
#[derive(Debug, Clone)]
pub struct StreamSampler<T, R> {
    pins: StreamPins<T, R>,
    channel: ChannelSampler,
    /// Beats of the packet so far.
    length: u64,
    beats: Place<2>,
    packets: Place<1>,
}

impl<T: Pins, R: Pins> StreamSampler<T, R> {
    /// A sampler whose groups begin at index `first` of the block's groups.
    pub fn new(pins: StreamPins<T, R>, groups: &'static [Covergroup], first: usize) -> Self {
        Self {
            pins,
            channel: ChannelSampler::default(),
            length: 0,
            beats: Place::of(groups, groups[first].name),
            packets: Place::of(groups, groups[first + 1].name),
        }
    }

    /// Samples a rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, transmitter: &T, receiver: &R, bins: &mut Bins<'_>) {
        let (beat, packet) = self.edge(in_reset, transmitter, receiver);
        if let Some(beat) = beat {
            bins.hit(self.beats.bin(beat));
        }
        if let Some(packet) = packet {
            bins.hit(self.packets.bin([packet]));
        }
    }

    /// The bins of the beat and of the packet that end in this cycle.
    #[inline]
    pub(super) fn edge(
        &mut self,
        in_reset: bool,
        transmitter: &T,
        receiver: &R,
    ) -> (Option<[usize; 2]>, Option<usize>) {
        let (valid, ready) = (self.pins.tvalid.is_high(transmitter), self.pins.is_ready(receiver));
        let beat = self.channel.clock(in_reset, valid, ready);
        if in_reset {
            self.length = 0;
        }
        if beat.is_none() {
            return (None, None);
        }
        self.length += 1;
        if self.pins.tlast.is_some_and(|pin| !pin.is_high(transmitter)) {
            return (beat, None);
        }
        let index = match std::mem::take(&mut self.length) {
            1 => 0,
            2..=7 => 1,
            _ => 2,
        };
        (beat, Some(index))
    }
}
