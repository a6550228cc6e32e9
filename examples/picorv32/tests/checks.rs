//! The checks that the library provides for every block.

use cosim_core::checks::{Bugs, Checks, Result};
use picorv32::Picorv32;

fn picorv32() -> Checks {
    Checks::for_block::<Picorv32>(env!("CARGO_BIN_EXE_picorv32"))
        .models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of the block hold what the harness asks of them?
#[test]
fn parts() -> Result {
    picorv32().scenarios_can_be_read_again()?;
    picorv32().weights_draw_legal_stimulus()?;
    picorv32().environment_drives_every_pin()?;
    picorv32().environment_bears_any_outputs()?;
    picorv32().rules_are_hit()?;
    picorv32().scoreboard_fires(&[])
}

#[test]
fn every_bug_is_found() -> Result {
    picorv32()
        .bugs_are_found("bad_rtl", &Bugs { most_packets: |_| Some(7), ..Bugs::with_count(10) })
}
