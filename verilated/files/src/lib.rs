//! Files that a program executes or identifies by a hash.
//!
//! `verilated-build` compiles models into shared libraries, and `verilated` loads them. This crate
//! has what both sides need, so that a program that only loads models does not depend on the code
//! that builds them. [`trust`] decides which files are safe to execute; [`foreign`] writes files
//! with the names that an RTL gives them; [`attached`] reads those that a compiled simulation
//! carries.

pub mod attached;
mod error;
pub mod foreign;
mod hash;
mod kept_file;
mod library;
pub mod trust;

pub use error::Error;
pub use hash::{Hash, identity};
pub use kept_file::{KeptFile, open};
pub use library::{BuiltLibrary, HASH_DIGITS};
