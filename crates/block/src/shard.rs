//! Shards: parts of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of N shards of a run, as `I/N` with I from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The whole run.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// I, from 1.
    pub fn index(self) -> u64 {
        self.index
    }

    /// Whether it is the whole run.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// N, which is also the distance between positions of this shard.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Whether a position, counted from 0, belongs to this shard.
    pub fn contains(self, place: u64) -> bool {
        place % self.count == self.index - 1
    }

    /// The first position of this shard from `start` on.
    pub fn first_from(self, start: u64) -> u64 {
        let (wanted, here) = (self.index - 1, start % self.count);
        let ahead = if wanted >= here { wanted - here } else { self.count - here + wanted };
        start.saturating_add(ahead)
    }

    /// Number of positions of this shard below `end`.
    pub fn below(self, end: u64) -> u64 {
        end / self.count + u64::from(end % self.count >= self.index)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parsed {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err(format!("`{text}` is not I/N with I from 1 to N, as in 2/8")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}
