//! Builds the RTL into the program, one model for each profile.

use cosim_build::Block;
use std::process::ExitCode;

// ANCHOR: build
fn main() -> ExitCode {
    let arbiter = Block::new("arbiter", "Arbiter");
    cosim_build::build(&[arbiter
        .model([("MAX_BEATS", 8)])
        .model([("MAX_BEATS", 1)])
        .model([("MAX_BEATS", 2)])])
}
// ANCHOR_END: build
