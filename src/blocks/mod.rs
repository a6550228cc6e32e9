//! The blocks. A new one is added here, in `build.rs` and in `lib.rs`.

pub mod dll;
pub mod qp;
pub mod recv;
pub mod rx;
pub mod thread2;
