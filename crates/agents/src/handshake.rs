//! A channel with valid and ready and a payload of any ports, beside interfaces with agents. A
//! block of such channels alone is declared by [`channels!`](cosim_harness::channels).

pub use crate::items::ItemWeights as HandshakeWeights;

use crate::agent::{Agent, AgentTraffic, CasePlan, Counts, Progress};
use crate::items::Queue;
use crate::operations::{check_resets, longest_delay};
use crate::stream::StreamSinkTraffic;
use crate::wide::Data;
use cosim_harness::channels::{Offer, Sink};
use cosim_harness::harness::{Noise, Traffic, TrafficError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verilated::{Pin, Pins};

/// The ports of a channel. `T` holds the ports that the transmitter drives, `R` those of the
/// receiver.
#[derive(Debug, Clone, Copy)]
pub struct HandshakePins<T: 'static, R> {
    /// The transmitter offers an item.
    pub valid: Pin<T>,
    /// Whether it is low while an item is offered, as in `empty`.
    pub is_valid_low: bool,
    /// The receiver takes the item. Without it, it takes every item.
    pub ready: Option<Pin<R>>,
    /// Whether it is low while an item is taken, as in `full`.
    pub is_ready_low: bool,
    /// The payload, each at most 1024 bits.
    pub payload: &'static [Pin<T>],
}

impl<T: Pins, R: Pins> HandshakePins<T, R> {
    /// Whether an item is on offer.
    #[inline]
    pub fn is_offered(&self, transmitter: &T) -> bool {
        self.valid.is_high(transmitter) != self.is_valid_low
    }

    /// Whether the receiver takes an item.
    #[inline]
    pub fn is_ready(&self, receiver: &R) -> bool {
        self.ready.is_none_or(|ready| ready.is_high(receiver) != self.is_ready_low)
    }

    /// The payload of the item that is taken, a value for each port.
    pub fn taken(&self, transmitter: &T, receiver: &R) -> Option<Vec<Data>> {
        let is_taken = self.is_offered(transmitter) && self.is_ready(receiver);
        let value = |pin: &Pin<T>| Data::of(*pin, transmitter);
        is_taken.then(|| self.payload.iter().map(value).collect())
    }
}

/// The items of a source: a value for each port of the payload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandshakeTraffic {
    /// The items, each after its gap.
    #[serde(default)]
    pub items: Vec<Offer<Vec<Data>>>,
}

impl Traffic for HandshakeTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("items", &self.items)
    }
}

impl<T: Pins, R: Pins> AgentTraffic<HandshakePins<T, R>> for HandshakeTraffic {
    type Weights = HandshakeWeights;

    fn of_plan(weights: &Self::Weights, pins: &HandshakePins<T, R>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let item = |_| {
            let item = pins.payload.iter().map(|pin| Data::any(pin.width(), rng)).collect();
            weights.source.offer(item, reset, rng)
        };
        Self { items: (0..operations).map(item).collect() }
    }

    fn longest_delay(&self) -> u64 {
        longest_delay(&self.items) + 1
    }
}

/// Offers items to the DUT.
#[derive(Debug, Clone)]
pub struct HandshakeSource<'a, I: 'static, O> {
    pins: HandshakePins<I, O>,
    queue: Queue<'a, Vec<Data>>,
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for HandshakeSource<'a, I, O> {
    type Pins = HandshakePins<I, O>;
    type Traffic = HandshakeTraffic;

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { pins, queue: Queue::of(&traffic.items) }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, inputs: &mut I) {
        let pins = &self.pins;
        let item = self.queue.offered().filter(|_| !in_reset);
        pins.valid.set(inputs, u64::from(item.is_some() != pins.is_valid_low));
        for (place, pin) in pins.payload.iter().enumerate() {
            match item.and_then(|item| item.get(place)) {
                Some(value) => pin.set_words(inputs, &value.0),
                None => pin.set_words(inputs, &Data::noise(pin.width(), noise).0),
            }
        }
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, _: &I, outputs: &O) -> Progress {
        let is_open = self.queue.offered().is_none() || self.pins.is_ready(outputs);
        if !in_reset && is_open {
            self.queue.start();
        }
        self.queue.progress(false)
    }

    fn in_flight(&self) -> Option<String> {
        let left = self.queue.left();
        (left > 0).then(|| match self.queue.gap {
            0 => format!("offers an item, {} more to come", left - 1),
            gap => format!("idle for {gap} more cycles, {left} items to come"),
        })
    }
}

/// Takes the items of the DUT.
#[derive(Debug, Clone)]
pub struct HandshakeSink<'a, I, O: 'static> {
    pins: HandshakePins<O, I>,
    ready: Sink<'a>,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for HandshakeSink<'a, I, O> {
    type Pins = HandshakePins<O, I>;
    type Traffic = StreamSinkTraffic;

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { pins, ready: traffic.ready.sink(), counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        if let Some(pin) = self.pins.ready {
            let is_ready = !in_reset && self.ready.ready();
            pin.set(inputs, u64::from(is_ready != self.pins.is_ready_low));
        }
    }

    #[inline]
    fn clock(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Progress {
        let is_offered = !in_reset && self.pins.is_offered(outputs);
        match in_reset {
            true => self.ready.reset(),
            false => {
                let taken = self.ready.take(is_offered, self.pins.is_ready(inputs));
                self.counts.handshakes += u64::from(taken);
            }
        }
        Progress::new(None, !is_offered, self.counts)
    }
}
