//! The rows of the specification.

use super::*;
use harness::Golden as _;

#[test]
fn the_table_has_the_rows_of_the_specification_in_its_order() {
    let specified = include_str!("../../README.md").lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("| **")?.split_once("**")?;
        Some(name)
    });
    let specified: Vec<&str> = specified.collect();
    let rows: Vec<&str> = RULES[..specified.len()].iter().map(|rule| rule.name).collect();
    assert_eq!(rows, specified);
}

#[test]
fn a_lock_without_an_offer_waits_and_a_reset_ends_it() {
    let mut golden = Golden { max_beats: 8, owner: Some(2), ..Golden::default() };
    let room = Inputs { out_ready: Bits1::new(1), ..Inputs::default() };
    let reset = Inputs { rst: Bits1::new(1), ..room };
    for (inputs, rule, state) in [(room, L1, "LOCKED"), (reset, R1, "FREE")] {
        let cycle = golden.cycle(&inputs);
        assert_eq!(golden.clock(&inputs, &cycle), rule);
        assert_eq!(golden.state(), state);
    }
}
