//! A worker: a process of the program that loads models and answers the tool over a pipe.
//!
//! RTL and the libraries linked to it may end the process, corrupt its memory or never return. A
//! crash or a hang of a worker is a verdict of the tool.
//!
//! - [`wire`]: frames and messages of the protocol.
//! - [`task`]: a self-contained unit of work on a model.
//! - [`serve`]: the worker's loop.
//! - [`sandbox`] restricts what a worker may do to the machine.

pub mod sandbox;
pub mod serve;
pub mod task;
pub mod wire;
