//! A traffic for agents of your own: items, each after its gap.

use crate::operations::{check_resets, longest_delay};
use cosim_harness::agent::{
    AgentTraffic, AgentWeights, CasePlan, Counts, DrawnTraffic, Pace, Progress,
};
use cosim_harness::channels::{Offer, SourceWeights};
use cosim_harness::harness::{CaseRng, Reset, Traffic, TrafficError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// An item that an agent sends, such as a frame.
pub trait Item:
    Debug + Clone + PartialEq + Eq + Send + Sync + Serialize + DeserializeOwned + JsonSchema
{
    /// The longest time that an item takes, in cycles.
    const CYCLES: u64 = 1;

    /// Draws an item.
    fn draw(rng: &mut CaseRng) -> Self;
}

/// The items of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Items<T> {
    /// The items, each with the gap before it.
    #[serde(default = "Vec::<Offer<T>>::new")]
    pub items: Vec<Offer<T>>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T: Item> Traffic for Items<T> {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("items", &self.items)
    }
}

cosim_harness::weights! {
    /// When an agent sends its items.
    pub struct ItemWeights {
        /// Gaps between items.
        source: SourceWeights = SourceWeights::default(),
    }
}

impl AgentWeights for ItemWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { source: pace.source.clone() }
    }
}

impl<T: Item> AgentTraffic for Items<T> {
    fn longest_delay(&self) -> u64 {
        longest_delay(&self.items) + T::CYCLES + 1
    }
}

impl<P, T: Item> DrawnTraffic<P> for Items<T> {
    type Weights = ItemWeights;

    fn draw(weights: &Self::Weights, _: &P, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, reset, rng } = plan;
        let item = |_| {
            let item = T::draw(rng);
            weights.source.offer(item, reset, rng)
        };
        Self { items: (0..operations).map(item).collect() }
    }
}

/// The items that an agent has not sent.
#[derive(Debug, Clone)]
pub struct Queue<'a, T> {
    rest: &'a [Offer<T>],
    /// Remaining cycles until the next item may start.
    gap: u64,
    taken: u64,
    reset: Option<Reset>,
}

impl<'a, T> Queue<'a, T> {
    /// The queue at the beginning of a traffic.
    pub fn new(traffic: &'a Items<T>) -> Self {
        let rest = &traffic.items;
        let gap = rest.first().map_or(0, |first| first.gap.get());
        Self { rest, gap, taken: 0, reset: None }
    }

    /// Takes the edge of a cycle in which the agent can start an item. Returns it when its gap is
    /// over.
    #[inline]
    pub fn start(&mut self) -> Option<&'a T> {
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        let (first, rest) = self.rest.split_first()?;
        self.gap = rest.first().map_or(0, |next| next.gap.get());
        (self.rest, self.reset) = (rest, first.reset);
        self.taken += 1;
        Some(&first.item)
    }

    /// Items that were not returned.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The progress of an agent that is sending an item or not.
    #[inline]
    pub fn progress(&mut self, is_sending: bool) -> Progress {
        let counts = Counts { handshakes: self.taken, operations: self.taken };
        Progress::new(self.reset.take(), self.rest.is_empty() && !is_sending, counts)
    }
}
