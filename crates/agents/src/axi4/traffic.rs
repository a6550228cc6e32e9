//! The operations of an AXI4 manager, and how they are drawn.

use super::{Axi4Address, Axi4Burst, Axi4Pins};
use crate::agent::AgentWeights;
use crate::channel::{AddressPool, AddressWeights, Readiness, ReadyWeights};
use crate::scenarios::Pace;
use crate::wide::{Data, Lanes, Wide};
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
pub struct Axi4Beat {
    /// Cycles between the beat before it and its offer.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The data of all bytes of the bus.
    pub data: Data,
    /// The bytes that are written. Lanes that are not part of the beat are ignored.
    pub strobe: Lanes,
}

/// A read or a write of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Axi4Access {
    /// A write of some beats.
    Write {
        /// The beats, 1 to 256.
        beats: Vec<Axi4Beat>,
        /// Cycles between the start of the operation and the offer of the address.
        #[serde(default)]
        address_delay: Uint<12>,
        /// Cycles between the start of the operation and the offer of the first beat.
        #[serde(default)]
        data_delay: Uint<12>,
    },
    /// A read.
    Read {
        /// The number of beats, 1 to 256.
        beats: Uint<9>,
    },
}

/// An operation of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4Operation {
    /// Cycles between the start of the operation before it and its start.
    #[serde(default)]
    pub gap: Uint<12>,
    /// Whether it waits until all operations before it are complete. Its gap begins then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fence: bool,
    /// The ID.
    #[serde(default)]
    pub id: Uint<32>,
    /// The byte address of the first beat.
    pub address: Uint<64>,
    /// The logarithm of the bytes of a beat.
    pub size: Uint<3>,
    /// The kind of the burst.
    pub burst: Axi4Burst,
    /// The memory attributes.
    #[serde(default)]
    pub cache: Uint<4>,
    /// The protection type.
    #[serde(default)]
    pub prot: Uint<3>,
    /// The quality of service.
    #[serde(default)]
    pub qos: Uint<4>,
    /// The read or write.
    pub access: Axi4Access,
    /// A reset that follows its start. Operations that are not complete are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

impl Axi4Operation {
    /// The number of beats.
    pub fn beats(&self) -> u32 {
        match &self.access {
            Axi4Access::Write { beats, .. } => beats.len() as u32,
            Axi4Access::Read { beats } => beats.get() as u32,
        }
    }

    /// Its transfer on the address channel.
    #[inline]
    pub fn address(&self) -> Axi4Address {
        Axi4Address {
            id: self.id.get(),
            address: self.address.get(),
            len: self.beats().saturating_sub(1),
            size: self.size.get() as u32,
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
    fn wrong(&self) -> Option<(&'static str, &'static str)> {
        let beats = self.beats();
        let address = self.address();
        let total = u64::from(beats) << address.size;
        let aligned = address.address & !((1 << address.size) - 1);
        match self.burst {
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
            _ if self.reset.is_some_and(|reset| reset.cycles.get() == 0) => {
                Some(("reset.cycles", "0; a reset lasts at least one cycle"))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Axi4Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self.access, Axi4Access::Read { .. }) { "read" } else { "write" };
        write!(f, "{kind} {}", self.address())
    }
}

/// The operations of a manager, and its stalls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axi4Traffic {
    /// The operations. At most one starts per cycle.
    #[serde(default)]
    pub operations: Vec<Axi4Operation>,
    /// The stalls of `bready`.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub bready: Readiness,
    /// The stalls of `rready`, one for each beat.
    #[serde(default, skip_serializing_if = "Readiness::is_default")]
    pub rready: Readiness,
}

impl Traffic for Axi4Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        for (index, operation) in self.operations.iter().enumerate() {
            if let Some((field, message)) = operation.wrong() {
                let path = format!("operations[{index}].{field}");
                return Err(TrafficError { path, message: message.to_owned() });
            }
        }
        Ok(())
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
        /// Largest ID.
        ids: Uint<32> = 3,
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

impl Axi4Weights {
    /// Draws a traffic of `operations` operations.
    pub(super) fn draw<M: Pins, S: Pins>(
        &self,
        pins: &Axi4Pins<M, S>,
        operations: u32,
        reset: Percent,
        rng: &mut CaseRng,
    ) -> Axi4Traffic {
        let mut pool = AddressPool::new(&self.addresses, pins.address().addr.width());
        let operations: Vec<_> =
            (0..operations).map(|_| self.operation(pins, &mut pool, reset, rng)).collect();
        let beats = operations.iter().map(Axi4Operation::beats).sum();
        let bready = self.ready.draw(operations.len() as u32, rng);
        Axi4Traffic { operations, bready, rready: self.ready.draw(beats, rng) }
    }

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
        let id = rng.random_range(0..=self.ids.get().min((1 << id_bits) - 1));
        let mut address = pool.draw(1 << full, rng);
        if rng.chance(self.page_by_id) {
            address = address & 0xfff | id << 12;
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
            self.write(pins, beats, rng)
        } else {
            Axi4Access::Read { beats: Uint::new(beats) }
        };
        Axi4Operation {
            gap: offer.gap,
            fence: rng.chance(self.fence),
            id: Uint::new(id),
            address: Uint::new(address),
            size: Uint::new(size),
            burst,
            // Reserved encodings have a bit of 3:2 without bit 1 (IHI 0022, "Memory types").
            cache: Uint::new(rng.one_of(&[0, 1, 2, 3, 6, 7, 10, 11, 14, 15])),
            prot: rng.bits(),
            qos: rng.bits(),
            access,
            reset: offer.reset,
        }
    }

    fn write<M: Pins, S: Pins>(
        &self,
        pins: &Axi4Pins<M, S>,
        beats: u64,
        rng: &mut CaseRng,
    ) -> Axi4Access {
        let bytes = pins.bytes();
        let mut beat = |_| {
            let is_partial = pins.wstrb.is_some() && rng.chance(self.partial);
            let strobe = if is_partial { Lanes::any(bytes, rng) } else { Lanes::ones(bytes) };
            let gap = rng.wait(self.beat_gaps.gap, self.beat_gaps.longest_gap);
            Axi4Beat { gap, data: Wide::any(8 * bytes, rng), strobe }
        };
        let beats = (0..beats).map(&mut beat).collect();
        let delay = rng.wait(self.skew.gap, self.skew.longest_gap);
        let none = Uint::new(0);
        let is_address = rng.chance(Percent::new(50));
        let (address_delay, data_delay) = if is_address { (delay, none) } else { (none, delay) };
        Axi4Access::Write { beats, address_delay, data_delay }
    }
}
