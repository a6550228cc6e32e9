//! Blocks that the guides and the pages of the agents show: a UART receiver, verified with an agent
//! of its own, a timer behind a register bus, a register of a stream, and memories behind buses.

pub mod apb;
pub mod axi4;
pub mod receiver;
pub mod stream;
pub mod timer;
pub mod wishbone;
