//! The RTL blocks of an RDMA NIC, each with golden model, stimulus and scoreboard.
//!
//! What runs them is `cosim_core`; this crate has nothing but blocks, as anyone's crate has.

pub mod blocks;

#[cfg(not(test))]
mod program;
#[cfg(not(test))]
pub use program::PROGRAM;
