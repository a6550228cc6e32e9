//! Work on models, done in processes of its own.
//!
//! Nobody knows what RTL and the libraries linked to it do: they may leave the process, break its memory or
//! never return. So no model is loaded into the process that reports: it starts itself again with the hidden
//! command `worker`, hands out work through a pipe, and whatever becomes of such a process is a verdict.
//!
//! - [`wire`] has the frames and messages, the same on both sides.
//! - [`serve`] is the worker's side.
//! - [`process`] starts and ends a worker; [`attend`] listens to one and notices when it is lost.
//! - [`desk`] has one piece of work done, as a shrink; [`crew`] has many done by several workers, as the
//!   cases of a run.

pub mod attend;
pub mod crew;
pub mod desk;
pub mod process;
pub mod serve;
pub mod wire;

pub use attend::Loss;
pub use desk::{Desk, Finish};
pub use process::{Limits, Program};
