//! A UART receiver, verified with an agent of its own, and a timer behind a register bus. The
//! how-to guides "Write an agent for your own protocol" and "Verify a register bus" describe them.

pub mod receiver;
pub mod timer;
