//! The blocks. A new one is added here, in `build.rs` and in `program.rs`.

/// Declares conditions as bits of a set.
macro_rules! conditions {
    ($set:ty; $( $name:ident = $bit:literal: $meaning:literal; )+) => {
        $( #[doc = $meaning] pub const $name: $set = 1 << $bit; )+
    };
}

pub mod dll;
pub mod qp;
pub mod recv;
pub mod rx;
pub mod thread2;

#[cfg(test)]
mod testing;
