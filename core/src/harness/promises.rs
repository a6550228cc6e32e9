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
    /// Registers and wires of the RTL, beside its ports, that `rules` and `always` speak of, with their widths in bits:
    /// the one place in which a block's golden model and the names of its RTL meet. One inside of an instance is named
    /// with it, as `device.count`, and is `device_count` in expressions.
    pub registers: Vec<(&'static str, u32)>,
    /// What the golden model's rules say of the RTL.
    pub rules: Vec<RuleSays>,
    /// What holds in every cycle outside of reset: in words, and as a Verilog expression over ports and `registers`.
    pub always: Vec<(String, String)>,
}

/// What a rule says of the RTL.
///
/// The wire `rule_N` is 1 where the rule with place N in [`Promises::rules`] applies. Expressions are Verilog over the
/// ports and [`Promises::registers`], of the cycle in which the rule applies; constants are sized, as in `8'd1`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSays {
    /// Its name. One that is none of the golden model's stands for the cycles in which no rule of a family applies.
    pub rule: &'static str,
    /// The rules of which exactly one applies in every cycle outside of reset, and how people call them; none if
    /// several or none of them may apply.
    pub one_of: Option<String>,
    /// When it applies.
    pub when: String,
    /// Outputs and wires in that cycle.
    pub outputs: Vec<(&'static str, String)>,
    /// What registers hold after the edge, unless the reset is there by then.
    pub next: Vec<(&'static str, String)>,
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
