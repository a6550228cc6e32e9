//! Parts of traffics that the protocols share: operations with gaps and resets, and accesses of a
//! data bus.

use crate::channel::AddressPool;
use cosim_harness::agent::AgentTraffic;
use cosim_harness::channels::{Offer, SourceWeights};
use cosim_harness::harness::{self, CaseRng, Draw, Percent, Reset, Traffic, TrafficError};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug};

/// An operation of a traffic.
pub trait Operation:
    Debug + Clone + PartialEq + Eq + Send + Sync + Serialize + DeserializeOwned + JsonSchema
{
    /// The cycles that it lets pass by itself, without a reset.
    fn delay(&self) -> u64;

    /// The reset that follows it.
    fn reset(&self) -> Option<Reset>;
}

/// The operations of a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operations<T> {
    /// The operations, one after the other.
    #[serde(default = "Vec::<T>::new")]
    pub operations: Vec<T>,
}

impl<T> Default for Operations<T> {
    fn default() -> Self {
        Self { operations: Vec::new() }
    }
}

impl<T: Operation> Traffic for Operations<T> {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("operations", &self.operations)
    }
}

impl<T: Operation> AgentTraffic for Operations<T> {
    fn longest_delay(&self) -> u64 {
        longest_delay(&self.operations) + 3
    }
}

/// The operations with these fields.
macro_rules! operation {
    ($type:ident $(<$words:ident>)?, |$own:ident| $delay:expr) => {
        impl $(<const $words: usize>)? crate::operations::Operation for $type $(<$words>)? {
            fn delay(&self) -> u64 {
                let $own = self;
                $delay
            }

            fn reset(&self) -> Option<Reset> {
                self.reset
            }
        }
    };
}
pub(crate) use operation;

impl<T> Operation for Offer<T>
where
    Self: Debug + Clone + Eq + Send + Sync + Serialize + DeserializeOwned + JsonSchema,
{
    fn delay(&self) -> u64 {
        self.gap.get()
    }

    fn reset(&self) -> Option<Reset> {
        self.reset
    }
}

pub(crate) fn field_error(list: &str, index: usize, field: &str, message: &str) -> TrafficError {
    TrafficError { path: format!("{list}[{index}].{field}"), message: message.to_owned() }
}

pub(crate) fn check_resets<T: Operation>(list: &str, all: &[T]) -> Result<(), TrafficError> {
    harness::check_resets(list, all.iter().map(Operation::reset))
}

/// The longest time that one operation of a list lets pass, with its reset.
pub(crate) fn longest_delay<T: Operation>(all: &[T]) -> u64 {
    let delay = |one: &T| one.delay() + one.reset().map_or(0, |reset| reset.total());
    all.iter().map(delay).max().unwrap_or(0)
}

pub(crate) fn longest(delays: &[Uint<12>]) -> u64 {
    delays.iter().map(|delay| delay.get()).max().unwrap_or(0)
}

pub(crate) fn delays(weights: &SourceWeights, count: u32, rng: &mut CaseRng) -> Vec<Uint<12>> {
    (0..count).map(|_| rng.wait(weights.gap, weights.longest_gap)).collect()
}

/// A read or a write on a data bus of at most 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BusAccess {
    /// A write.
    Write {
        /// The address, in units of the port.
        address: Uint<64>,
        /// The data of all bytes of the bus.
        data: Uint<64>,
        /// The bytes that are written.
        strobe: Uint<8>,
    },
    /// A read of all bytes of the bus.
    Read {
        /// The address, in units of the port.
        address: Uint<64>,
    },
}

/// How accesses of a bus are drawn: the chance of a write, the chance that it does not have all
/// strobes, and the bytes of the bus.
pub(crate) struct BusDraw {
    pub(crate) write: Percent,
    pub(crate) partial: Option<Percent>,
    pub(crate) bytes: u32,
    /// The distance of two words in units of the address.
    pub(crate) step: u64,
}

impl BusDraw {
    pub(crate) fn access(&self, pool: &mut AddressPool<'_>, rng: &mut CaseRng) -> BusAccess {
        let address = Uint::new(pool.draw(self.step, rng));
        if !rng.chance(self.write) {
            return BusAccess::Read { address };
        }
        let all = Uint::<8>::new((1 << self.bytes) - 1);
        let is_partial = self.partial.is_some_and(|partial| rng.chance(partial));
        let some = Uint::new(rng.bits::<8>().get() & all.get());
        let data = Uint::new(rng.bits::<64>().get() >> (64 - 8 * self.bytes));
        BusAccess::Write { address, data, strobe: if is_partial { some } else { all } }
    }
}

impl fmt::Display for BusAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { address, data, strobe } => {
                let (address, data) = (address.get(), data.get());
                write!(f, "write {data:#x} strobe {:#x} to {address:#x}", strobe.get())
            }
            Self::Read { address } => write!(f, "read {:#x}", address.get()),
        }
    }
}
