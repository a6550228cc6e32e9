//! The checks that the library provides for every block, on each of the four blocks.

use cosim_core::checks::{Bugs, Checks, Result};
use cosim_core::harness::Explain;
use fifo::{Cpp, DontCare, Exact, Transactions};

fn checks<B: Explain>() -> Checks {
    Checks::for_block::<B>(env!("CARGO_BIN_EXE_fifo")).models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of each block hold what the harness asks of them?
fn parts<B: Explain>() -> Result {
    checks::<B>().scenarios_can_be_read_again()?;
    checks::<B>().weights_draw_legal_stimulus()?;
    checks::<B>().environment_drives_every_pin()?;
    checks::<B>().environment_bears_any_outputs()?;
    checks::<B>().rules_are_hit()?;
    checks::<B>().scoreboard_fires(&[])
}

#[test]
fn parts_of_each_block() -> Result {
    parts::<Exact>()?;
    parts::<DontCare>()?;
    parts::<Cpp>()?;
    parts::<Transactions>()
}

/// Is each planted bug found, whichever way the outputs are compared?
#[test]
fn every_bug_is_found() -> Result {
    let bugs = Bugs { most_packets: |_| Some(9), open: None, ..Bugs::with_count(10) };
    checks::<Exact>().bugs_are_found("bad_rtl", &bugs)?;
    checks::<DontCare>().bugs_are_found("bad_rtl", &bugs)?;
    checks::<Cpp>().bugs_are_found("bad_rtl", &bugs)?;
    checks::<Transactions>().bugs_are_found("bad_rtl", &bugs)
}
