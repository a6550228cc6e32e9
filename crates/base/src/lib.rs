//! Errors, files and text handling that every crate of cosim uses.
//!
//! - [`error`] has the errors that users see, each with a stable code.
//! - [`program`] holds the name, version and identity of the running program.
//! - [`files`] reads inputs and writes files atomically; [`checksum`] protects records against
//!   edits.
//! - [`parallel`] works on several threads.
//! - [`path_bytes`] serializes paths between processes.
//! - [`text`] escapes foreign text for each output format.
//!
//! ```
//! use cosim_base::error::codes::Code;
//!
//! let code = Code::find("E0213").unwrap();
//! assert_eq!(code.exit(), 2);
//! ```

#![warn(missing_docs)]
// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod checksum;
pub mod error;
pub mod files;
pub mod parallel;
pub mod path_bytes;
pub mod program;
pub mod run_file;
pub mod text;
