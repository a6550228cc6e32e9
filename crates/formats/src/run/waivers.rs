//! Waivers of known failures, each with an expiry date.

use super::moment::Moment;
use cosim_base::text;
use cosim_harness::harness::Signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A day in UTC, as in `2027-01-31`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Day(String);

impl Day {
    /// The UTC day of a point in time.
    pub fn from_moment(moment: Moment) -> Self {
        let mut text = moment.seconds();
        text.truncate(10);
        Self(text)
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Days in this format sort as their texts do.
        match humantime::parse_rfc3339(&format!("{text}T00:00:00Z")) {
            Ok(_) if text.len() == 10 => Ok(Self(text.to_owned())),
            _ => Err(format!("`{text}` is not a date: expected YYYY-MM-DD, as in 2027-01-31")),
        }
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.0
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A waiver of a known failure, valid until a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The block that fails.
    pub block: String,
    /// The signature of the failure, as in the summary of a run and in `results.json`.
    pub signature: Signature,
    /// Why the failure is waived.
    pub reason: String,
    /// The last day on which it is waived.
    pub expires: Day,
}

/// The waiver of a group of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waived {
    /// Why the failures are waived.
    pub reason: String,
    /// The last day on which they are waived.
    pub expires: Day,
    /// Whether the waiver had expired when the run ended, so that the failures count.
    pub expired: bool,
}

impl fmt::Display for Waived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, expires, expired } = self;
        let reason = text::line(reason);
        match expired {
            true => write!(f, "was waived until {expires}, which has passed: {reason}"),
            false => write!(f, "waived until {expires}: {reason}"),
        }
    }
}
