//! The transmitter and the receiver of a stream.

use super::{StreamBeat, StreamPins, StreamSinkTraffic, StreamTraffic};
use crate::agent::{Agent, Counts, Progress, interface_of};
use crate::wide::{Wide, check_bus};
use cosim_harness::channels::{Sink, Source};
use cosim_harness::harness::{Noise, Reset};
use verilated::{Pin, Pins};

/// Sends beats to a receiving DUT, each after its gap. `tvalid` is low in reset and in the first
/// cycle after it (IHI 0051, "Reset").
#[derive(Debug, Clone)]
pub struct StreamSource<'a, I, O> {
    pins: StreamPins<I, O>,
    source: Source<'a, StreamBeat>,
    /// Whether the cycle before was in reset.
    was_reset: bool,
    /// Whether a beat is on offer in this cycle.
    offers: bool,
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
        self.source.clock(self.pins.is_ready(outputs)).and_then(|offer| offer.reset)
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.source.left() == 0
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts { handshakes: self.source.taken(), operations: self.source.taken() }
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for StreamSource<'a, I, O> {
    type Pins = StreamPins<I, O>;
    type Traffic = StreamTraffic;

    interface_of!(manager I O);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        check_bus::<32>(8 * pins.lanes());
        Self { pins, source: Source::new(&traffic.beats), was_reset: true, offers: false }
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
        let mut set = |pin: &Option<Pin<I>>, words: &[u32]| {
            if let Some(pin) = pin {
                pin.set_words(inputs, words);
            }
        };
        set(&pins.tdata, &data);
        set(&pins.tkeep, beat.as_ref().map_or(&lanes, |beat| &beat.keep.0));
        set(&pins.tstrb, beat.as_ref().map_or(&lanes, |beat| &beat.strb.0));
        set(&pins.tuser, beat.as_ref().map_or(&lanes, |beat| &beat.user.0));
        let number = |value: u64| [value as u32];
        set(&pins.tlast, &beat.map_or([lanes[0]], |beat| number(u64::from(beat.last))));
        set(&pins.tid, &beat.map_or([lanes[1]], |beat| number(beat.id.get())));
        set(&pins.tdest, &beat.map_or([lanes[2]], |beat| number(beat.dest.get())));
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Progress {
        let reset = self.edge(in_reset, inputs, outputs);
        Progress::new(reset, self.is_idle(), self.counts())
    }

    fn in_flight(&self) -> Option<String> {
        match self.source.offer() {
            Some(beat) if self.offers => {
                Some(format!("offers {beat}, {} beats to come", self.source.left() - 1))
            }
            _ => (!self.is_idle()).then(|| format!("{} beats to come", self.source.left())),
        }
    }
}

/// Takes the beats of a transmitting DUT.
#[derive(Debug, Clone)]
pub struct StreamSink<'a, I, O> {
    pins: StreamPins<O, I>,
    ready: Sink<'a>,
    taken: u64,
    /// Whether a beat was on offer in the cycle before.
    offered: bool,
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
        let taken = self.ready.take(self.offered, self.pins.is_ready(inputs));
        self.taken += u64::from(taken);
        None
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        !self.offered
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts { handshakes: self.taken, operations: 0 }
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for StreamSink<'a, I, O> {
    type Pins = StreamPins<O, I>;
    type Traffic = StreamSinkTraffic;

    interface_of!(subordinate I O);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { pins, ready: traffic.ready.sink(), taken: 0, offered: false }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        if let Some(pin) = self.pins.tready {
            pin.set(inputs, u64::from(!in_reset && self.ready.ready()));
        }
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Progress {
        let reset = self.edge(in_reset, inputs, outputs);
        Progress::new(reset, self.is_idle(), self.counts())
    }

    fn in_flight(&self) -> Option<String> {
        (!self.is_idle()).then(|| format!("took {} beats, stalls or takes the next", self.taken))
    }
}
