//! Block `thread2`, row by row: does every row of the transition table do what the specification
//! says?
//!
//! Every expectation is a literal worked out by hand from the specification: all outputs of the
//! cycle, the row that the golden model takes, and its states. `bench` runs the golden model.
//! `beats` and `drive` have the inputs, `expect` the outputs, `script` the cycles by name.
//! `cosim prove` and the corpus check the RTL against the rows.

mod beats;
mod bench;
mod codes;
mod drive;
mod expect;
mod script;
mod table;

mod cq_and_eq;
mod data_units;
mod fix_priorities;
mod layouts;
mod mr_for_queues;
mod mr_for_rdma;
mod mr_for_send;
mod packets;
mod placement;
mod states;
mod update_rq;
mod wqe_requests;

use crate::blocks::thread2::Thread2;
use cosim_core::harness::{Block, Golden as _};
use std::collections::BTreeSet;

#[test]
fn the_table_has_every_row_once() {
    let rows: BTreeSet<&str> = table::ROWS.iter().map(|(row, ..)| *row).collect();
    let rules: BTreeSet<&str> =
        <Thread2 as Block>::Golden::RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(rows, rules);
    assert_eq!(rows.len(), table::ROWS.len());
}
