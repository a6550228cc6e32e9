//! The blocks.

pub mod thread2;
