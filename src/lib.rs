//! Co-simulation of RTL blocks against golden models.

pub mod blocks;
pub mod harness;
pub mod value;
