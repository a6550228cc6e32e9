//! Why a run ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every case of the plan was run.
    Complete,
    /// `--until-coverage` was reached.
    Covered,
    /// `--time` was over.
    Time,
    /// `--max-failures` was reached.
    MaxFailures,
    /// `--max-hangs` was reached.
    MaxHangs,
    /// The user stopped it.
    Interrupted,
}

impl End {
    /// Whether the run reached its own end, so that what it did not reach counts.
    pub fn is_regular(self) -> bool {
        matches!(self, Self::Complete | Self::Covered | Self::Time)
    }
}
