//! Names and meanings of a block for reports.

use super::block::Block;
use super::environment::Environment;

/// Names and meanings for reports. They decide nothing.
pub trait Explain: Block {
    /// Name of a state by its code in the RTL.
    fn state_name(_code: u64) -> Option<&'static str> {
        None
    }

    /// The rules that lead from one state to another.
    fn rules_between(_from: &str, _to: &str) -> Vec<&'static str> {
        Vec::new()
    }

    /// The meaning of a field's value, such as the name of an opcode.
    fn meaning(_field: &str, _value: u64) -> Option<String> {
        None
    }

    /// The transfer of a channel in a cycle with a high valid, in words, as in "Nak 3". `channel`
    /// is the name of the valid without its last word.
    fn words(_channel: &str, _inputs: &Self::Inputs, _outputs: &Self::Outputs) -> Option<String> {
        None
    }

    /// The pending stimulus at the environment's position, in words.
    fn in_flight(environment: &Self::Environment<'_>) -> Vec<String> {
        Environment::in_flight(environment)
    }
}
