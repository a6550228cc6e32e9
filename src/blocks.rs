//! The blocks. A new one is added here, in `build.rs` and in `program.rs`.

pub mod dll;
pub mod qp;
pub mod recv;
pub mod rx;
pub mod thread2;

#[cfg(test)]
mod testing;
