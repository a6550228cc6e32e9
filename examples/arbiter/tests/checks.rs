//! The checks that the library provides for every block.

use arbiter::Arbiter;
use cosim_core::checks::{Bugs, Checks, Result};

fn arbiter() -> Checks {
    Checks::of::<Arbiter>(env!("CARGO_BIN_EXE_arbiter")).models(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn scenarios_can_be_read_again() -> Result {
    arbiter().scenarios_can_be_read_again()
}

#[test]
fn whatever_a_scenario_says_its_stimulus_is_legal() -> Result {
    arbiter().weights_draw_legal_stimulus()
}

#[test]
fn the_environment_drives_every_pin() -> Result {
    arbiter().environment_drives_every_pin()
}

#[test]
fn the_environment_goes_on_whatever_a_wrong_block_drives() -> Result {
    arbiter().environment_bears_any_outputs()
}

#[test]
fn every_rule_is_hit() -> Result {
    arbiter().rules_are_hit()
}

#[test]
fn every_check_fires() -> Result {
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
    arbiter().bugs_are_found("bad_rtl", &Bugs { most_packets: |_| Some(3), ..Bugs::of(12) })
}
