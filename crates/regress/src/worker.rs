//! Worker processes, which load and run models.
//!
//! RTL and the libraries linked to it may end the process, corrupt its memory or never return. So
//! the main process never loads a model. It starts itself again with the hidden command `worker`
//! and sends work through a pipe. A crash or a hang of such a process is a verdict.
//!
//! - [`task`] is a piece of work on a model, with all it needs.
//! - [`wire`] has the frames and messages, the same on both sides.
//! - [`serve`] is the worker's side.
//! - [`process`] starts and ends a worker; [`supervisor`] listens to one and notices when it is lost;
//!   [`loss`] decides what follows from that.
//! - [`sandbox`] keeps a worker from the rest of the machine.
//! - [`one_shot`] has one piece of work done, as a shrink; [`worker_pool`] has many done by several workers, as the
//!   cases of a run.

pub mod loss;
pub mod one_shot;
pub mod process;
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
