//! The transmitter and the receiver of a stream.

use super::{StreamBeat, StreamPins, StreamSinkTraffic, StreamTraffic};
use crate::interface::interface_of;
use crate::ports::DriveOptional;
use crate::wide::{Wide, check_bus};
use cosim_harness::agent::{Agent, Counts, Progress};
use cosim_harness::channels::{Sink, Source};
use cosim_harness::harness::{Noise, Reset};
use verilated::Pins;

/// Sends beats to a receiving DUT, each after its gap. `tvalid` is low in reset and in the first
/// cycle after it (IHI 0051, "Reset").
#[derive(Debug, Clone)]
pub struct StreamSource<'a, I, O> {
    pins: StreamPins<I, O>,
    source: Source<'a, StreamBeat>,
    was_reset: bool,
    /// Whether a beat is on offer in this cycle.
    offers: bool,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins> StreamSource<'a, I, O> {
    #[inline]
    fn edge(&mut self, in_reset: bool, _: &I, outputs: &O) -> Option<Reset> {
        // A cycle without an offer, in or after reset, does not count as a cycle of the gap.
        let is_open = !in_reset && !self.was_reset;
        self.was_reset = in_reset;
        if !is_open {
            return None;
        }
        let offer = self.source.clock(self.pins.is_ready(outputs));
        let taken = self.source.taken();
        self.counts = Counts { handshakes: taken, operations: taken };
        offer.and_then(|offer| offer.reset)
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.source.remaining() == 0
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for StreamSource<'a, I, O> {
    type Pins = StreamPins<I, O>;
    type Traffic = StreamTraffic;

    interface_of!(manager I O);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        check_bus::<32>(8 * pins.lanes());
        let (source, counts) = (Source::new(&traffic.beats), Counts::default());
        Self { pins, source, was_reset: true, offers: false, counts }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I) {
        let pins = &self.pins;
        let beat = self.source.offer().filter(|_| !in_reset && !self.was_reset);
        self.offers = beat.is_some();
        pins.tvalid.set(inputs, u64::from(self.offers));
        let lanes: [u32; 4] = noise.words();
        let idle = || Wide::noise(8 * pins.lanes(), noise);
        let data = beat.as_ref().map_or_else(idle, |beat| beat.data).0;
        pins.tdata.set_words(inputs, &data);
        pins.tkeep.set_words(inputs, beat.as_ref().map_or(&lanes, |beat| &beat.keep.0));
        pins.tstrb.set_words(inputs, beat.as_ref().map_or(&lanes, |beat| &beat.strb.0));
        pins.tuser.set_words(inputs, beat.as_ref().map_or(&lanes, |beat| &beat.user.0));
        let number = |value: u64| [value as u32];
        pins.tlast.set_words(inputs, &beat.map_or([lanes[0]], |beat| number(u64::from(beat.last))));
        pins.tid.set_words(inputs, &beat.map_or([lanes[1]], |beat| number(beat.id.get())));
        pins.tdest.set_words(inputs, &beat.map_or([lanes[2]], |beat| number(beat.dest.get())));
    }

    fn in_flight(&self) -> Option<String> {
        match self.source.offer() {
            Some(beat) if self.offers => {
                Some(format!("offers {beat}, {} beats to come", self.source.remaining() - 1))
            }
            _ => (!self.is_idle()).then(|| format!("{} beats to come", self.source.remaining())),
        }
    }
}

/// Takes the beats of a transmitting DUT.
#[derive(Debug, Clone)]
pub struct StreamSink<'a, I, O> {
    pins: StreamPins<O, I>,
    ready: Sink<'a>,
    /// Whether a beat was on offer in the cycle before.
    offered: bool,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins> StreamSink<'a, I, O> {
    #[inline]
    fn edge(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Option<Reset> {
        if in_reset {
            self.ready.reset();
            self.offered = false;
            return None;
        }
        self.offered = self.pins.tvalid.is_high(outputs);
        let taken = self.ready.clock_with_ready(self.offered, self.pins.is_ready(inputs));
        self.counts.handshakes += u64::from(taken);
        None
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        !self.offered
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for StreamSink<'a, I, O> {
    type Pins = StreamPins<O, I>;
    type Traffic = StreamSinkTraffic;

    interface_of!(subordinate I O);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { pins, ready: traffic.ready.sink(), offered: false, counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        self.pins.tready.set(inputs, u64::from(!in_reset && self.ready.is_ready()));
    }

    fn in_flight(&self) -> Option<String> {
        let taken = self.counts.handshakes;
        (!self.is_idle()).then(|| format!("took {taken} beats, stalls or takes the next"))
    }
}
