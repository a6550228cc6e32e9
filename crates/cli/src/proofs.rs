//! Commands that ask the provers.

pub mod answers;
pub mod diff;
pub mod prove;
