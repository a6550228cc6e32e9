//! What every crate of cosim needs.
//!
//! - [`error`] has the errors that users see, each with a stable code.
//! - [`program`] says which program this process is.
//! - [`files`] reads inputs and writes files whole; [`checksum`] ends those that must not be edited.
//! - [`text`] makes text of others fit to be printed.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod checksum;
pub mod error;
pub mod files;
pub mod program;
pub mod text;
