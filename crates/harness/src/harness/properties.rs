//! What a block promises in every cycle, whatever its inputs are: what `cosim prove` shows of its RTL.

/// The promises of a block, by the names of its ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    /// Valids and enables while which are 0 their payload is 0; or a single payload's name.
    pub quiescent: Vec<&'static str>,
    /// Valids that stay, once they are 1, until their ready.
    pub stable: Vec<StableChannel>,
    /// Names of codes of the state register that are no states: it never has one of them.
    pub illegal_states: Vec<&'static str>,
    /// Enables, and the states in which alone they are 1. It takes a `Block::STATE_REGISTER`.
    pub enabled: Vec<(&'static str, &'static [&'static str])>,
    /// Registers and wires of the RTL, beside its ports, that `rules` and `always` speak of, with their widths in bits:
    /// the one place in which a block's golden model and the names of its RTL meet. One inside of an instance is named
    /// with it, as `device.count`, and is `device_count` in expressions.
    pub registers: Vec<(&'static str, u32)>,
    /// What the golden model's rules say of the RTL.
    pub transitions: Vec<TransitionProperty>,
    /// What holds in every cycle outside of reset: in words, and as a Verilog expression over ports and `registers`.
    pub invariants: Vec<(String, String)>,
    /// What the words of memories mean, where not every bit of them does.
    pub word_abstractions: Vec<WordAbstraction>,
    /// What the proof remembers of its own, and what other expressions may name.
    pub proof_registers: Vec<ProofRegister>,
    /// What comes to an end, if the partners do their part.
    pub progress: Vec<Progress>,
}

/// What the words of a memory mean: two RTLs whose memories hold words of the same meaning may be equivalent, whatever the words
/// are. That nothing else of a word counts is no assumption: it is part of what is proved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordAbstraction {
    /// The memory.
    pub memory: &'static str,
    /// Bits of its words.
    pub width: u32,
    /// As many bits at most, as a Verilog expression of `word`.
    pub meaning: &'static str,
}

/// A register of the proof: 0 in reset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofRegister {
    /// Its name, which no port and no register of the RTL has.
    pub name: &'static str,
    /// Its width in bits.
    pub width: u32,
    /// What it holds after an edge outside of reset, as a Verilog expression.
    pub next: String,
}

/// Something that a block finishes: it takes no more than so many cycles of its own, however long its partners keep it
/// waiting in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is finished, in words, as in "a packet that was taken".
    pub what: String,
    /// While it is not finished.
    pub busy: String,
    /// The cycles of it in which a partner has something to do: to be ready, or to answer.
    pub waits: String,
    /// The cycles of its own that it takes, at most.
    pub within: u32,
    /// Cycles that each edge of a kind adds to them: how many, the edges in words and as an expression; none if there is
    /// no such kind.
    pub more: Option<(u32, &'static str, String)>,
    /// What is assumed of the partners, in words and as an expression that holds in each cycle: it is looked at until they
    /// break it for the first time.
    pub assumptions: Vec<(&'static str, String)>,
    /// What the specification knows of that is never finished, with its erratum.
    pub known_deadlocks: Vec<KnownDeadlock>,
}

/// A way not to come to an end that is known of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDeadlock {
    /// What it is, with the place where the specification has it.
    pub what: &'static str,
    /// The cycles of it, as an expression.
    pub when: String,
    /// What ends it all the same if it comes, in words and as an expression; none if nothing does that the partners may do.
    pub until: Option<(&'static str, String)>,
}

/// What a rule says of the RTL.
///
/// The wire `rule_N` is 1 where the rule with place N in [`Properties::rules`] applies. Expressions are Verilog over the
/// ports and [`Properties::registers`], of the cycle in which the rule applies; constants are sized, as in `8'd1`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransitionProperty {
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
pub struct StableChannel {
    /// Its valid.
    pub valid: &'static str,
    /// Whether its payload waits, too.
    pub payload: bool,
}

impl StableChannel {
    /// A channel whose valid and payload stay until ready.
    pub const fn whole(valid: &'static str) -> Self {
        Self { valid, payload: true }
    }

    /// A channel whose valid stays until ready; its payload may change meanwhile.
    pub const fn valid(valid: &'static str) -> Self {
        Self { valid, payload: false }
    }
}
