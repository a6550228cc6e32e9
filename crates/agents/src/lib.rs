//! Protocol agents: managers, subordinates and monitors of standard interfaces.
//!
//! A manager starts the transfers of an interface and drives a subordinate DUT. A subordinate
//! answers a manager DUT. A monitor watches both sides, checks the rules of the protocol in every
//! cycle, and returns decoded transfers. It shares no code with the agents, so it also checks them.
//!
//! | module | protocol | specification |
//! |---|---|---|
//! | [`stream`] | AXI4-Stream | ARM IHI 0051 |
//! | [`axi_lite`] | AXI4-Lite | ARM IHI 0022, part B |
//! | [`axi4`] | AXI4 without exclusive accesses | ARM IHI 0022, part A |
//! | [`apb`] | APB4 | ARM IHI 0024 |
//! | [`wishbone`] | Wishbone, classic and pipelined | Wishbone B4 |
//! | [`memory_port`] | synchronous memory port | the module |
//! | [`fields`] | input port with fields and without a protocol | the module |
//!
//! Rules cite sections by their titles, because issues of a specification number them differently.
//!
//! The ports of an interface are found by a prefix and the protocol's names:
//!
//! ```ignore
//! agent axi: AxiLiteManager on "s_axi_";
//! ```
//!
//! The first parameter of the struct of ports is the side that drives the valids: the inputs of a
//! subordinate DUT, the outputs of a manager DUT.
//!
//! `declare!` declares traffic, environment, weights and coverage of a block from a list of agents
//! and channels. A traffic stores everything that decides timing, so a replay draws no random
//! number.

#![warn(missing_docs)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod apb;
pub mod axi4;
pub mod axi_lite;
mod channel;
pub mod fields;
mod interface;
mod items;
mod lanes;
mod memory_check;
pub mod memory_port;
mod names;
mod operations;
pub mod ports;
pub mod stream;
mod target;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transfer;
mod wide;
pub mod wishbone;

pub use channel::{AddressWeights, Readiness, ReadyWeights};
pub use interface::{Interface, InterfaceCoverage};
pub use items::{Item, ItemWeights, Items, Queue};
pub use memory_check::MemoryCheck;
pub use operations::{BusAccess, Operation, Operations};
pub use ports::Ports;
pub use target::{Access, Memory, Response, Target};
pub use wide::{Data, Lanes, Wide};

// For the macros of this crate.
pub use cosim_harness;
pub use verilated;
