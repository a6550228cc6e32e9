//! The checks that the library provides for every block.

use arbiter::Arbiter;
use cosim_core::checks::{Bugs, Checks, Result};

fn arbiter() -> Checks {
    Checks::for_block::<Arbiter>(env!("CARGO_BIN_EXE_arbiter")).models(env!("CARGO_TARGET_TMPDIR"))
}

/// Do the parts of the block hold what the harness asks of them?
#[test]
fn parts() -> Result {
    arbiter().scenarios_can_be_read_again()?;
    arbiter().weights_draw_legal_stimulus()?;
    arbiter().environment_drives_every_pin()?;
    arbiter().environment_bears_any_outputs()?;
    arbiter().rules_are_hit()?;
    arbiter().scoreboard_fires(&[])
}

#[test]
fn every_vector_does_what_it_says() -> Result {
    arbiter().corpus("vectors")
}

#[test]
fn every_rule_has_a_vector() -> Result {
    arbiter().rules_have_vectors("vectors")
}

#[test]
fn every_bug_is_found() -> Result {
    arbiter().bugs_are_found("bad_rtl", &Bugs { most_packets: |_| Some(3), ..Bugs::with_count(12) })
}
