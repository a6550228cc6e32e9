//! The rules of AXI4-Stream, and the coverage of a stream.

use super::{StreamBeat, StreamPins, all_lanes};
use crate::interface::Interface;
use crate::names::violate_port;
use crate::transfer::transfer;
use cosim_harness::channels::{ChannelSampler, GAP, STALL};
use cosim_harness::channels::{Monitor, Protocol};
use cosim_harness::harness::{Covergroup, Transfer, Violation, check_list, class};
use verilated::Pins;

/// Checks the rules of AXI4-Stream in every cycle, and returns the beats.
#[derive(Debug, Clone)]
pub struct StreamMonitor<T, R> {
    pins: StreamPins<T, R>,
    channel: Monitor<StreamBeat>,
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
    pub fn checks() -> Vec<String> {
        check_list(&[
            Self::VALID_HELD,
            Self::PAYLOAD_HELD,
            Self::QUIET_IN_RESET,
            Self::QUIET_AFTER_RESET,
            Self::STRB_WITHOUT_KEEP,
        ])
    }

    /// A monitor of an idle stream.
    pub fn new(pins: StreamPins<T, R>) -> Self {
        let rules = Protocol {
            prefix: "",
            valid_held: Some(Self::VALID_HELD),
            item_held: Some(Self::PAYLOAD_HELD),
            quiet_in_reset: Some(Self::QUIET_IN_RESET),
            quiet_after_reset: Some(Self::QUIET_AFTER_RESET),
        };
        Self { pins, channel: Monitor::from_port(rules, pins.tvalid.name()) }
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
        if let Some(beat) = offer.as_ref().filter(|beat| !in_reset && beat.is_reserved()) {
            let message = format_args!("keep {}, strb {}", beat.keep, beat.strb);
            let pin = self.pins.tstrb.unwrap_or(self.pins.tvalid);
            return violate_port(pin.name(), Self::STRB_WITHOUT_KEEP, message);
        }
        self.channel.observe(in_reset, offer, self.pins.is_ready(receiver))
    }
}

cosim_harness::coverage! {
    /// Beats of a packet.
    axis BEATS = "beats" { "1": "one beat", "2-7": "2 to 7 beats", "8+": "8 beats or more" }
}

const BEAT: usize = 0;
const PACKETS: usize = 1;

/// The state of the coverage.
#[derive(Debug, Clone, Default)]
pub struct StreamState {
    channel: ChannelSampler,
    /// Beats of the packet so far.
    length: u64,
}

impl<T: Pins, R: Pins> Interface<T, R> for StreamPins<T, R> {
    type State = StreamState;

    const GROUPS: &'static [Covergroup] = &[
        Covergroup::new("beats", "beats: gap before the beat, and its stall", &[GAP, STALL]),
        Covergroup::new("packets", "packets, by their length in beats", &[BEATS]),
    ];

    fn transfers(&self, t: &T, r: &R) -> Vec<Transfer> {
        // Only what the ports say.
        let printed = |beat: StreamBeat| StreamBeat {
            keep: if self.tkeep.is_some() { beat.keep } else { all_lanes() },
            strb: if self.tstrb.is_some() { beat.strb } else { all_lanes() },
            last: self.tlast.is_some() && beat.last,
            ..beat
        };
        let item = self.offered(t).map(|beat| printed(beat).to_string());
        let ready = [self.tready.is_some(), self.is_ready(r)];
        vec![transfer::<T, R>(self.tvalid.name(), "tvalid", item, ready)]
    }

    #[inline]
    fn sample(
        &self,
        state: &mut StreamState,
        in_reset: bool,
        t: &T,
        r: &R,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        let beat = state.channel.clock(in_reset, self.tvalid.is_high(t), self.is_ready(r));
        if in_reset {
            state.length = 0;
        }
        let Some(beat) = beat else { return };
        hit(BEAT, &beat);
        state.length += 1;
        if self.tlast.is_none_or(|pin| pin.is_high(t)) {
            hit(PACKETS, &[class(std::mem::take(&mut state.length), [2, 8])]);
        }
    }
}
