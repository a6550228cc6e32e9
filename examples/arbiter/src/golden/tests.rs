//! The rows of the specification.

use super::*;

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
