//! The environment of a block, and the traffic that it follows. `I` are the inputs of the block,
//! `O` its outputs, and `T` its traffic.

use super::parameters::Parameters;
use super::transfer::Transfer;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The transactions of a case: an explicit list, which a vector stores.
pub trait Traffic: Serialize + DeserializeOwned + JsonSchema + Clone + Debug + Send + Sync {
    /// Words in the names of numbers that are delays in cycles. Shrinking reduces delays before
    /// other numbers and never merges two of them.
    const WAITS: &'static [&'static str] = &["gap", "stall", "delay", "after", "cycles"];

    /// Checks what the types cannot express, such as the order of packets.
    ///
    /// # Errors
    /// The first wrong place, and the reason.
    fn check(&self) -> Result<(), TrafficError> {
        Ok(())
    }
}

/// An error in a traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficError {
    /// Place in the JSON of the traffic, as in `packets[3].wqe`.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
}

/// Checks the part of a traffic with this name.
///
/// # Errors
/// The first wrong place below the name.
pub fn check_part(name: &str, part: &impl Traffic) -> Result<(), TrafficError> {
    part.check().map_err(|TrafficError { path, message }| {
        let dot = if path.starts_with('[') { "" } else { "." };
        TrafficError { path: format!("{name}{dot}{path}"), message }
    })
}

/// The environment of the block. It responds to the golden model and follows an explicit list of
/// stimulus.
pub trait Environment<'a, I, O, T> {
    /// The inputs that it holds at a value, and the values as they are written. The summary of a
    /// run names them.
    const TIED: &'static [(&'static str, &'static str)] = &[];

    /// An environment at the beginning of `traffic`.
    fn new(traffic: &'a T, parameters: &Parameters) -> Self;

    /// Drives every input of the coming cycle. It must write each pin in every cycle, because
    /// `inputs` holds the values of some other cycle. [`undriven`](super::undriven) finds pins
    /// that it does not write.
    fn drive(&mut self, inputs: &mut I);

    /// Takes the rising edge; the arguments are the cycle's inputs and the golden model's
    /// outputs.
    fn clock(&mut self, inputs: &I, outputs: &O);

    /// Whether all stimulus is used and nothing is pending.
    fn finished(&self) -> bool;

    /// Whether the case has finished although the block continues: something may be pending.
    fn is_cut(&self) -> bool {
        false
    }

    /// Number of handshakes so far. A case without further handshakes hangs.
    fn handshakes(&self) -> u64;

    /// The longest time without a handshake that the stimulus can cause, in cycles.
    fn progress_timeout(&self) -> u64;

    /// Packets the block took so far.
    fn packets(&self) -> u64;

    /// What it is doing, in words, for reports.
    fn in_flight(&self) -> Vec<String> {
        Vec::new()
    }

    /// The channels in a cycle, for reports: the same ones in each cycle. Ports that belong to none
    /// of them are shown by [`Block::NAMING`](super::Block::NAMING).
    fn transfers(_inputs: &I, _outputs: &O) -> Vec<Transfer> {
        Vec::new()
    }
}
