//! Worker processes, which load and run models.
//!
//! RTL and the libraries linked to it may end the process, corrupt its memory or never return. So
//! the main process never loads a model. It starts itself again with the hidden command `worker`
//! and sends work through a pipe. A crash or a hang of such a process is a verdict.
//!
//! - [`task`]: a self-contained unit of work on a model.
//! - [`wire`]: frames and messages of the protocol.
//! - [`serve`]: the worker's side.
//! - [`process`] starts and ends a worker; [`supervisor`] detects its loss; [`loss`] decides what
//!   follows.
//! - [`rtl_log`] shows what the RTL prints.
//! - [`sandbox`] restricts what a worker may do to the machine.
//! - [`one_shot`] runs one task, such as a shrink; [`worker_pool`] runs many on several workers,
//!   such as the cases of a run.

pub mod loss;
pub mod one_shot;
pub mod process;
pub mod rtl_log;
pub mod sandbox;
pub mod serve;
pub mod supervisor;
pub mod task;
pub mod wire;
pub mod worker_pool;

pub use loss::Loss;
pub use one_shot::{Finish, OneShotWorker};
pub use process::{Limits, Program};
pub use sandbox::{ActiveSandbox, Sandbox};
pub use task::{Action, Task};
