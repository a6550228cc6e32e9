//! Worker processes, which load and run models.
//!
//! RTL and the libraries linked to it may end the process, corrupt its memory or never return. So
//! the main process never loads a model. It starts the program with the blocks as a worker and
//! sends work through a pipe. A crash or a hang of such a process is a verdict. The other end of
//! the pipe, with the messages, is [`cosim_block::worker`].
//!
//! - [`process`] starts and ends a worker; [`supervisor`] detects its loss; [`loss`] decides what
//!   follows.
//! - [`rtl_log`] shows what the RTL prints.
//! - [`block_queries`] asks the program about its blocks.
//! - [`one_shot`] runs one task, such as a shrink; [`worker_pool`] runs many on several workers,
//!   such as the cases of a run.

pub mod block_queries;
pub mod loss;
pub mod one_shot;
pub mod process;
pub mod rtl_log;
pub mod supervisor;
pub mod worker_pool;

pub use loss::Loss;
pub use one_shot::{Finish, OneShotWorker};
pub use process::{Limits, WorkerProgram};
