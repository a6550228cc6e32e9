//! The pins of a case that no RTL influences.

use cosim_base::error::{Error, codes};
use cosim_harness::harness::{BeforeResetText, Block, Recording, Verdict};
use serde::{Deserialize, Serialize};
use verilated::{BeforeReset, Pins};

/// The pins of a case: what the golden side drives and expects, or what was recorded while a block
/// ran whose stimulus follows the RTL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrivenPins {
    /// The bytes of the inputs of each cycle.
    pub inputs: Vec<Vec<u8>>,
    /// The bytes of the accepted outputs of each cycle: the golden model's, and the RTL's where
    /// its timing is free.
    pub outputs: Vec<Vec<u8>>,
    /// The bits that are not compared, if there are some.
    pub open: Option<Vec<Vec<u8>>>,
    /// The pins that have a wrong value in the cycle in which the recorded case fails.
    #[serde(default)]
    pub wrong: Vec<String>,
    /// What registers hold before reset.
    #[serde(with = "BeforeResetText")]
    pub before_reset: BeforeReset,
    /// How the case ends if no output differs.
    #[serde(with = "cosim_harness::as_json")]
    pub ends: Verdict,
}

impl DrivenPins {
    /// What the golden side of a stimulus drives and expects. Not for blocks whose stimulus follows
    /// the RTL.
    pub(crate) fn from_recording<B: Block>(
        recording: &Recording<'_, B>,
        before_reset: BeforeReset,
    ) -> Self {
        Self {
            inputs: bytes(recording.inputs()),
            outputs: bytes(recording.expected()),
            open: recording.open().map(bytes),
            wrong: Vec::new(),
            before_reset,
            ends: recording.outcome().verdict.clone(),
        }
    }
}

/// The bytes of the pins of each cycle.
pub(crate) fn bytes(cycles: &[impl Pins]) -> Vec<Vec<u8>> {
    cycles.iter().map(|pins| pins.as_bytes().to_vec()).collect()
}

/// Checks that the stimulus of a block does not follow the DUT. `outputs` are its transaction
/// outputs.
///
/// # Errors
/// [`Error::Usage`] if it does.
pub fn check_cycle_exact(block: &str, outputs: &[&str], what: &str) -> Result<(), Error> {
    if outputs.is_empty() {
        return Ok(());
    }
    let outputs = outputs.join(", ");
    let message = format!(
        "{what} needs a stimulus that does not depend on the RTL, and block {block} checks {outputs} as \
         transactions"
    );
    Err(Error::Usage(codes::NOT_CYCLE_EXACT, message))
}
