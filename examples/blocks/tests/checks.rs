//! The checks that the library provides for every block, on two of the blocks.

use blocks::{async_fifo::AsyncFifo, axi_lite::AxiLiteMemory};
use cosim_core::checks::{Bugs, Checks, Result};
use cosim_core::harness::Explain;

fn checks<B: Explain>() -> Checks {
    Checks::for_block::<B>(env!("CARGO_BIN_EXE_blocks")).models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of a block hold what the harness asks of them?
fn parts<B: Explain>() -> Result {
    checks::<B>().scenarios_can_be_read_again()?;
    checks::<B>().weights_draw_legal_stimulus()?;
    checks::<B>().environment_drives_every_pin()?;
    checks::<B>().rules_are_hit()?;
    checks::<B>().scoreboard_fires(&[])
}

#[test]
fn parts_of_the_fifo() -> Result {
    parts::<AsyncFifo>()
}

#[test]
fn parts_of_the_memory() -> Result {
    checks::<AxiLiteMemory>().environment_bears_any_outputs()?;
    parts::<AxiLiteMemory>()
}

/// Is each planted bug found?
#[test]
fn every_bug_is_found() -> Result {
    let bugs = Bugs { most_packets: |_| Some(12), open: None, ..Bugs::with_count(10) };
    checks::<AsyncFifo>().bugs_are_found("bad_rtl/async_fifo", &bugs)?;
    let bugs = Bugs { most_packets: |_| Some(9), open: None, ..Bugs::with_count(8) };
    checks::<AxiLiteMemory>().bugs_are_found("bad_rtl/axi_lite_memory", &bugs)
}
