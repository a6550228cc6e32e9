//! Commands on failing cases and on vectors.

pub mod explain;
pub mod export;
pub mod failure;
pub mod open;
pub mod replay;
pub mod shrink;
