//! The RTL blocks of an RDMA NIC, each with golden model, stimulus and scoreboard.
//!
//! What runs them is `cosim_core`; this crate has nothing but blocks, as anyone's crate has.

pub mod blocks;

use blocks::dll::Dll;
use blocks::qp::Qp;
use blocks::recv::Recv;
use blocks::rx::Rx;
use blocks::thread2::Thread2;
use cosim_core::Program;

/// The program with all blocks.
pub const PROGRAM: Program = cosim_core::program!(Thread2, Dll, Qp, Recv, Rx);
