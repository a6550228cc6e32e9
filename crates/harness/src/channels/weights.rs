//! Weights of channels, and the scenarios that a block of channels gets by default.

use super::source::{Lanes, Offer};
use crate::agent::{AgentWeights, Pace};
use crate::harness::{CaseRng, Draw, Percent};
use crate::value::Uint;

/// The largest distance in cycles between an item and the reset that follows it.
const RESET_WITHIN: u64 = 12;

crate::weights! {
    /// How a source offers items.
    pub struct SourceWeights {
        /// Chance of a gap before an item.
        gap: Percent = 40,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 12,
    }

    /// How a sink takes items.
    pub struct SinkWeights {
        /// Chance of a stall before an item.
        stall: Percent = 40,
        /// Longest stall in cycles.
        longest_stall: Uint<12> = 12,
    }
}

impl AgentWeights for SourceWeights {
    fn paced(self, pace: &Pace) -> Self {
        pace.source.clone()
    }
}

impl AgentWeights for SinkWeights {
    fn paced(self, pace: &Pace) -> Self {
        pace.sink.clone()
    }
}

/// Which list of a source gets the next entry: the lanes in use, and the chance of a reset.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    /// A bit for each lane in use.
    pub among: u64,
    /// The chance of a reset after an entry.
    pub reset: Percent,
}

impl SourceWeights {
    /// Appends an entry to the list of a lane; to none if no lane is in use.
    pub fn push<T, L: Lanes<Entry = Offer<T>>>(
        &self,
        lists: &mut L,
        next: Next,
        rng: &mut CaseRng,
        draw: impl FnOnce(&mut CaseRng) -> T,
    ) {
        let lanes = 0..lists.lists().len();
        let used: Vec<usize> = lanes.filter(|lane| next.among >> lane & 1 == 1).collect();
        let lane = match used.as_slice() {
            [] => None,
            [lane] => Some(*lane),
            lanes => Some(rng.one_of(lanes)),
        };
        let item = draw(rng);
        let entry = self.offer(item, next.reset, rng);
        if let Some(lane) = lane {
            lists.list_mut(lane).push(entry);
        }
    }
}

impl SourceWeights {
    /// These weights.
    pub fn new(gap: u64, longest_gap: u64) -> Self {
        Self { gap: Percent::new(gap), longest_gap: Uint::new(longest_gap) }
    }

    /// An item with a drawn gap, and a reset after it with the chance `reset`.
    pub fn offer<T>(&self, item: T, reset: Percent, rng: &mut CaseRng) -> Offer<T> {
        let gap = rng.wait(self.gap, self.longest_gap);
        let reset = rng.reset(reset, RESET_WITHIN);
        Offer { gap, item, reset }
    }
}

impl SinkWeights {
    /// These weights.
    pub fn new(stall: u64, longest_stall: u64) -> Self {
        Self { stall: Percent::new(stall), longest_stall: Uint::new(longest_stall) }
    }

    /// The stalls of `items` consecutive items.
    pub fn stalls(&self, items: u32, rng: &mut CaseRng) -> Vec<Uint<12>> {
        (0..items).map(|_| rng.wait(self.stall, self.longest_stall)).collect()
    }
}

/// A default scenario: weights for all sources and all sinks of a block.
#[derive(Debug, Clone)]
pub struct ChannelScenario {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The weights of each source.
    pub source: SourceWeights,
    /// The weights of each sink.
    pub sink: SinkWeights,
    /// Chance of a reset after an item, in percent.
    pub reset: u64,
    /// Cycles of unconstrained stimulus per item; 0: items.
    pub raw: u64,
}

/// The scenarios that a block of channels has without any of its own. Those with resets are left
/// out for a block without a reset, and the one with unconstrained stimulus for a block without
/// outputs that are compared in every cycle.
pub fn default_scenarios(has_reset: bool, has_raw: bool) -> Vec<ChannelScenario> {
    let new = |name, about, [gap, longest_gap]: [u64; 2], [stall, longest_stall]: [u64; 2]| {
        ChannelScenario {
            name,
            about,
            source: SourceWeights::new(gap, longest_gap),
            sink: SinkWeights::new(stall, longest_stall),
            reset: 0,
            raw: 0,
        }
    };
    let mut all = vec![
        new("default", "typical traffic: some gaps and some stalls", [40, 12], [40, 12]),
        new("full-speed", "no gap and no stall", [0, 0], [0, 0]),
        new("slow-sources", "a gap before each item", [100, 20], [0, 0]),
        new("slow-sinks", "a stall before each item", [0, 0], [100, 20]),
        new("bursts", "many items in a row, then a long gap or stall", [8, 60], [8, 60]),
    ];
    if has_reset {
        let resets = new("resets", "resets while items are in flight", [30, 6], [50, 6]);
        all.push(ChannelScenario { reset: 12, ..resets });
    }
    if has_raw {
        let raw = new("raw-pins", "random values on all pins", [0, 0], [0, 0]);
        all.push(ChannelScenario { raw: 3, ..raw });
    }
    all
}
