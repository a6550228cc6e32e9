//! The checks that the library provides for every block.

use async_fifo::AsyncFifo;
use cosim_core::checks::{Bugs, Checks, Result};

fn fifo() -> Checks {
    Checks::of::<AsyncFifo>(env!("CARGO_BIN_EXE_async_fifo")).models(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn scenarios_can_be_read_again() -> Result {
    fifo().scenarios_can_be_read_again()
}

#[test]
fn whatever_a_scenario_says_its_stimulus_is_legal() -> Result {
    fifo().weights_draw_legal_stimulus()
}

#[test]
fn the_environment_drives_every_pin() -> Result {
    fifo().environment_drives_every_pin()
}

#[test]
fn every_bin_is_hit() -> Result {
    fifo().rules_are_hit()
}

#[test]
fn every_check_fires() -> Result {
    fifo().scoreboard_fires(&[])
}

#[test]
fn every_bug_is_found() -> Result {
    let bugs = Bugs { most_packets: |_| Some(12), open: None, ..Bugs::of(10) };
    fifo().bugs_are_found("bad_rtl", &bugs)
}
