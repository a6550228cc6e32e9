//! The operations of an AXI4 manager, and how they are drawn.

use super::{Axi4Address, Axi4Burst, Axi4Pins};
use crate::channel::{AddressPool, AddressWeights, Readiness, ReadyWeights, any_id};
use crate::operations::{check_resets, field_error, longest_delay, operation};
use crate::wide::{Lanes, Wide};
use cosim_harness::agent::{AgentTraffic, AgentWeights, CasePlan, DrawnTraffic, Pace};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{CaseRng, Draw, Percent, Reset, Span, Traffic, TrafficError};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::Pins;

/// A beat of write data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4Beat<const WORDS: usize = 32> {
    /// Cycles between the beat before it and its offer.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The data of all bytes of the bus.
    pub data: Wide<WORDS>,
    /// The bytes that are written. Lanes that are not part of the beat are ignored.
    pub strobe: Lanes,
}

/// A read or a write of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Axi4Access<const WORDS: usize = 32> {
    /// A write of some beats.
    Write {
        /// The beats, 1 to 256.
        beats: Vec<Axi4Beat<WORDS>>,
        /// Cycles between the start of the operation and the offer of the address.
        #[serde(default)]
        address_delay: Uint<12>,
        /// Cycles between the start of the operation and the offer of the first beat.
        #[serde(default)]
        data_delay: Uint<12>,
    },
    /// A read.
    Read {
        /// The number of beats, 1 to 256; 1 by default.
        #[serde(default = "one_beat", skip_serializing_if = "is_one")]
        beats: Uint<9>,
    },
}

fn one_beat() -> Uint<9> {
    Uint::new(1)
}

fn is_one(beats: &Uint<9>) -> bool {
    *beats == one_beat()
}

fn is_incr(burst: &Axi4Burst) -> bool {
    *burst == Axi4Burst::Incr
}

fn is_zero<const WIDTH: u32>(value: &Uint<WIDTH>) -> bool {
    value.get() == 0
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4Operation<const WORDS: usize = 32> {
    /// Cycles between the start of the operation before it and its start.
    #[serde(default)]
    pub gap: Uint<12>,
    /// Whether it waits until all operations before it are complete. Its gap begins then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fence: bool,
    /// The ID.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub id: Uint<32>,
    /// The byte address of the first beat.
    pub address: Uint<64>,
    /// The logarithm of the bytes of a beat; by default, all of the bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Uint<3>>,
    /// The kind of the burst; INCR by default.
    #[serde(default, skip_serializing_if = "is_incr")]
    pub burst: Axi4Burst,
    /// The memory attributes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache: Uint<4>,
    /// The protection type.
    #[serde(default)]
    pub prot: Uint<3>,
    /// The quality of service.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub qos: Uint<4>,
    /// The read or write.
    pub access: Axi4Access<WORDS>,
    /// A reset that follows its start. Operations that are not complete are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

impl<const WORDS: usize> Axi4Operation<WORDS> {
    /// The number of beats.
    pub fn beats(&self) -> u32 {
        match &self.access {
            Axi4Access::Write { beats, .. } => beats.len() as u32,
            Axi4Access::Read { beats } => beats.get() as u32,
        }
    }

    /// Its transfer on the address channel of a bus. `full` is the logarithm of the bytes of the
    /// bus.
    #[inline]
    pub fn address(&self, full: u64) -> Axi4Address {
        Axi4Address {
            id: self.id.get(),
            address: self.address.get(),
            len: self.beats().saturating_sub(1),
            size: self.size.map_or(full, |size| size.get()) as u32,
            burst: self.burst as u64,
            lock: 0,
            cache: self.cache.get(),
            prot: self.prot.get(),
            qos: self.qos.get(),
            region: 0,
            user: 0,
        }
    }

    /// The field that breaks a rule of IHI 0022, "Address structure", and the reason.
    fn broken_rule(&self) -> Option<(&'static str, &'static str)> {
        let beats = self.beats();
        let address = self.address(0);
        let total = u64::from(beats) << address.size;
        let aligned = address.address & !((1 << address.size) - 1);
        let is_simple = beats == 1 && self.size.is_none() && self.burst == Axi4Burst::Incr;
        match self.burst {
            _ if WORDS == 2 && !(is_simple && self.id.get() == 0) => {
                Some(("access", "AXI4-Lite has one beat of all bytes of the bus, without an ID"))
            }
            _ if !(1..=256).contains(&beats) => {
                Some(("access.beats", "a burst has 1 to 256 beats"))
            }
            Axi4Burst::Fixed if beats > 16 => {
                Some(("access.beats", "a FIXED burst has at most 16 beats"))
            }
            Axi4Burst::Wrap if ![2, 4, 8, 16].contains(&beats) => {
                Some(("access.beats", "a WRAP burst has 2, 4, 8 or 16 beats"))
            }
            Axi4Burst::Wrap if aligned != address.address => {
                Some(("address", "the address of a WRAP burst is a multiple of its size"))
            }
            Axi4Burst::Incr if aligned % 4096 + total > 4096 => {
                Some(("address", "a burst does not cross a 4 KB boundary"))
            }
            _ => None,
        }
    }
}

operation!(Axi4Operation<WORDS>, |own| {
    let skew = match &own.access {
        Axi4Access::Write { beats, address_delay, data_delay } => {
            let gap = beats.iter().map(|beat| beat.gap.get()).max().unwrap_or(0);
            address_delay.get().max(data_delay.get()) + gap
        }
        Axi4Access::Read { .. } => 0,
    };
    own.gap.get() + skew
});

impl<const WORDS: usize> fmt::Display for Axi4Operation<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self.access, Axi4Access::Read { .. }) { "read" } else { "write" };
        match self.size {
            Some(_) => write!(f, "{kind} {}", self.address(0)),
            None => write!(f, "{kind} {:#x}", self.address.get()),
        }
    }
}

/// The operations of a manager, and its stalls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4Traffic<const WORDS: usize = 32> {
    /// The operations. At most one starts per cycle.
    #[serde(default)]
    pub operations: Vec<Axi4Operation<WORDS>>,
    /// The stalls of `bready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub bready: Readiness,
    /// The stalls of `rready`, one for each beat.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub rready: Readiness,
}

impl<const WORDS: usize> Traffic for Axi4Traffic<WORDS> {
    fn check(&self) -> Result<(), TrafficError> {
        for (index, operation) in self.operations.iter().enumerate() {
            if let Some((field, message)) = operation.broken_rule() {
                return Err(field_error("operations", index, field, message));
            }
        }
        check_resets("operations", &self.operations)
    }
}

impl<const WORDS: usize> Axi4Traffic<WORDS> {
    /// An upper bound of the time without a handshake, in cycles.
    pub(crate) fn delay(&self) -> u64 {
        let readies = self.bready.longest_delay() + self.rready.longest_delay();
        longest_delay(&self.operations) + readies + 1
    }
}

cosim_harness::weights! {
    /// How a manager draws operations.
    pub struct Axi4Weights {
        /// Gaps between operations.
        source: SourceWeights = SourceWeights::default(),
        /// Gaps between beats of write data.
        beat_gaps: SourceWeights = SourceWeights::new(20, 4),
        /// Delays of the address or the data of a write, behind its start.
        skew: SourceWeights = SourceWeights::new(30, 6),
        /// Stalls of `bready` and `rready`.
        ready: ReadyWeights = ReadyWeights::default(),
        /// The addresses.
        addresses: AddressWeights = AddressWeights::default(),
        /// Chance of a write; otherwise, the operation is a read.
        write: Percent = 50,
        /// Chance that an operation waits until all before it are complete.
        fence: Percent = 30,
        /// Beats of a burst.
        beats: Span<9, 1> = 1..=20,
        /// Chance of an INCR burst of 256 beats, or as many as fit, at an end of its 4 KB.
        longest: Percent = 5,
        /// Chance of a FIXED burst, if there is `burst`.
        fixed: Percent = 10,
        /// Chance of a WRAP burst of those that are not FIXED, if there is `burst`.
        wrap: Percent = 20,
        /// Chance of beats that are narrower than the bus, if there is `size`.
        narrow: Percent = 30,
        /// Chance of an address that is no multiple of the size of a beat.
        unaligned: Percent = 20,
        /// Chance that a beat does not have all strobes, if there is `wstrb`.
        partial: Percent = 30,
        /// Largest ID, within its width; of the others, the lowest 15 are drawn.
        ids: Uint<32> = 4294967295,
        /// Chance that the 4 KB page of an operation follows from its ID, so that different IDs
        /// do not share addresses.
        page_by_id: Percent = 0,
    }
}

impl AgentWeights for Axi4Weights {
    fn paced(self, pace: &Pace) -> Self {
        let ready = self.ready.paced(pace);
        // Without gaps, address and data of a write leave together, beat after beat.
        let none = SourceWeights::new(0, 0);
        let is_fast = pace.source.gap.get() == 0;
        let skew = if is_fast { none.clone() } else { self.skew };
        let beat_gaps = if is_fast { none } else { self.beat_gaps };
        let addresses = self.addresses.paced(pace);
        Self { source: pace.source.clone(), ready, skew, beat_gaps, addresses, ..self }
    }
}

impl<const WORDS: usize> AgentTraffic for Axi4Traffic<WORDS> {
    fn longest_delay(&self) -> u64 {
        self.delay()
    }
}

impl<M: Pins, S: Pins> DrawnTraffic<Axi4Pins<M, S>> for Axi4Traffic {
    type Weights = Axi4Weights;

    fn draw(weights: &Self::Weights, pins: &Axi4Pins<M, S>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let mut pool = AddressPool::new(&weights.addresses, pins.address().addr.width());
        let operations: Vec<_> =
            (0..operations).map(|_| weights.operation(pins, &mut pool, reset, rng)).collect();
        let beats = operations.iter().map(Axi4Operation::beats).sum();
        let bready = weights.ready.draw(operations.len() as u32, rng);
        Axi4Traffic { operations, bready, rready: weights.ready.draw(beats, rng) }
    }
}

impl Axi4Weights {
    fn operation<M: Pins, S: Pins>(
        &self,
        pins: &Axi4Pins<M, S>,
        pool: &mut AddressPool<'_>,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Axi4Operation {
        let offer = self.source.offer((), reset, rng);
        let full = pins.full_size();
        let size = match pins.address().size {
            Some(_) if rng.chance(self.narrow) => rng.random_range(0..=full),
            _ => full,
        };
        let burst = match pins.address().burst {
            Some(_) if rng.chance(self.fixed) => Axi4Burst::Fixed,
            Some(_) if rng.chance(self.wrap) && pins.address().len.is_some() => Axi4Burst::Wrap,
            _ => Axi4Burst::Incr,
        };
        let mut beats =
            if pins.address().len.is_some() { self.beats.draw(rng).min(256) } else { 1 };
        match burst {
            Axi4Burst::Fixed => beats = beats.min(16),
            Axi4Burst::Wrap => beats = rng.one_of(&[2, 4, 8, 16]),
            Axi4Burst::Incr => {}
        }
        let id_bits = pins.address().id.map_or(0, |pin| pin.width().min(32));
        let id = any_id(self.ids.get().min((1 << id_bits) - 1), rng);
        let mut address = pool.draw(1 << full, rng);
        if rng.chance(self.page_by_id) {
            address = address & 0xfff | pool.page(id);
        }
        address &= !((1 << size) - 1);
        if burst != Axi4Burst::Wrap && rng.chance(self.unaligned) {
            address += rng.random_range(0..1 << size);
        }
        if burst == Axi4Burst::Incr {
            let page = address & !0xfff;
            let last = pool.last(address).min(page | 0xfff);
            if rng.chance(self.longest) && pins.address().len.is_some() {
                // The first or the last bytes of the page.
                let first = pool.first(address).max(page);
                beats = ((last - first + 1) >> size).clamp(1, 256);
                let at_end = last.saturating_sub((beats << size) - 1).max(first);
                address = if rng.chance(Percent::new(50)) { first } else { at_end };
                address &= !((1 << size) - 1);
            }
            // The burst ends at the 4 KB boundary, or with the addresses.
            let aligned = address & !((1 << size) - 1);
            beats = beats.min((last - aligned + 1) >> size).max(1);
        }
        let (has_write, has_read) = (pins.aw.valid.is_present(), pins.ar.valid.is_present());
        let access = if has_write && (rng.chance(self.write) || !has_read) {
            draw_write(pins, beats, [&self.beat_gaps, &self.skew], self.partial, rng)
        } else {
            Axi4Access::Read { beats: Uint::new(beats) }
        };
        Axi4Operation {
            gap: offer.gap,
            fence: rng.chance(self.fence),
            id: Uint::new(id),
            address: Uint::new(address),
            size: Some(Uint::new(size)),
            burst,
            // Reserved encodings have a bit of 3:2 without bit 1 (IHI 0022, "Memory types").
            cache: Uint::new(rng.one_of(&[0, 1, 2, 3, 6, 7, 10, 11, 14, 15])),
            prot: rng.bits(),
            qos: rng.bits(),
            access,
            reset: offer.reset,
        }
    }
}

/// Draws a write of some beats, with the gaps between them and the skew of address and data.
fn draw_write<M: Pins, S: Pins, const WORDS: usize>(
    pins: &Axi4Pins<M, S, WORDS>,
    beats: u64,
    [gaps, skew]: [&SourceWeights; 2],
    partial: Percent,
    rng: &mut CaseRng,
) -> Axi4Access<WORDS> {
    let bytes = pins.bytes();
    let mut beat = |_| {
        let is_partial = pins.wstrb.is_some() && rng.chance(partial);
        let strobe = if is_partial { Lanes::any(bytes, rng) } else { Lanes::ones(bytes) };
        let gap = rng.wait(gaps.gap, gaps.longest_gap);
        Axi4Beat { gap, data: Wide::any(8 * bytes, rng), strobe }
    };
    let beats = (0..beats).map(&mut beat).collect();
    let delay = rng.wait(skew.gap, skew.longest_gap);
    let none = Uint::new(0);
    let is_address = rng.chance(Percent::new(50));
    let (address_delay, data_delay) = if is_address { (delay, none) } else { (none, delay) };
    Axi4Access::Write { beats, address_delay, data_delay }
}
