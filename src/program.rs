//! The program with all blocks.
//!
//! What runs the blocks is compiled where it stands, so it is a static, which no other crate
//! compiles again, and tests inside of this crate do without it.

use crate::blocks::dll::Dll;
use crate::blocks::qp::Qp;
use crate::blocks::recv::Recv;
use crate::blocks::rx::Rx;
use crate::blocks::thread2::Thread2;
use cosim_core::Program;

/// The program with all blocks.
pub static PROGRAM: &Program = cosim_core::program!(Thread2, Dll, Qp, Recv, Rx);
