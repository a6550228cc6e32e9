//! The checks that the library provides for every block.

use cosim_core::checks::{Bugs, Checks, Result};
use regblock::Regblock;

fn checks() -> Checks {
    Checks::for_block::<Regblock>(env!("CARGO_BIN_EXE_regblock"))
        .models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of the block hold what the harness asks of them?
#[test]
fn parts() -> Result {
    checks().scenarios_can_be_read_again()?;
    checks().weights_draw_legal_stimulus()?;
    checks().environment_drives_every_pin()?;
    checks().environment_bears_any_outputs()?;
    checks().rules_are_hit()?;
    checks().scoreboard_fires(&[])
}

/// Is each planted bug found?
#[test]
fn every_bug_is_found() -> Result {
    let bugs = Bugs { most_packets: |_| Some(6), open: None, ..Bugs::with_count(10) };
    checks().bugs_are_found("bad_rtl", &bugs)
}
