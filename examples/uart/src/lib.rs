//! Blocks that the guides and the pages of the agents show: a UART receiver, verified with an agent
//! of its own, a timer behind a register bus, and a register of a stream.

pub mod receiver;
pub mod stream;
pub mod timer;
