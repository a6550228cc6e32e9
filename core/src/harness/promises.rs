//! What a block promises in every cycle, whatever its inputs are: what `cosim prove` shows of its RTL.

/// The promises of a block, by the names of its ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Promises {
    /// Valids and enables while which are 0 their payload is 0; or a single payload's name.
    pub zero: Vec<&'static str>,
    /// Valids that stay, once they are 1, until their ready.
    pub held: Vec<Held>,
    /// Names of codes of the state register that are no states: it never has one of them.
    pub no_states: Vec<&'static str>,
    /// Enables, and the states in which alone they are 1. It takes a `Block::STATE_REGISTER`.
    pub enabled: Vec<(&'static str, &'static [&'static str])>,
}

/// A channel that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Its valid.
    pub valid: &'static str,
    /// Whether its payload waits, too.
    pub payload: bool,
}

impl Held {
    /// A channel whose valid and payload stay until ready.
    pub const fn whole(valid: &'static str) -> Self {
        Self { valid, payload: true }
    }

    /// A channel whose valid stays until ready; its payload may change meanwhile.
    pub const fn valid(valid: &'static str) -> Self {
        Self { valid, payload: false }
    }
}
