//! The checks that the library provides for every block.

use async_fifo::AsyncFifo;
use cosim_core::checks::{Bugs, Checks, Result};

fn fifo() -> Checks {
    Checks::of::<AsyncFifo>(env!("CARGO_BIN_EXE_async_fifo")).models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of the block hold what the harness asks of them?
#[test]
fn parts() -> Result {
    fifo().scenarios_can_be_read_again()?;
    fifo().weights_draw_legal_stimulus()?;
    fifo().environment_drives_every_pin()?;
    fifo().rules_are_hit()?;
    fifo().scoreboard_fires(&[])
}

#[test]
fn every_bug_is_found() -> Result {
    let bugs = Bugs { most_packets: |_| Some(12), open: None, ..Bugs::of(10) };
    fifo().bugs_are_found("bad_rtl", &bugs)
}
