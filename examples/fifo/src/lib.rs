//! A FIFO, verified in four ways. Its specification is `README.md`.

mod golden;
mod scoreboard;

use cosim_core::harness::{GoldenInC, InC};
use cosim_core::verilated::CModelKind;

cosim_core::declare! {
    rtl "fifo";
    reset rst high;
    source push: Push { data: push_data[8] } on push_valid, push_ready;
    sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready
        unless |at, parameters| (at[0] == 0 && parameters.get(DEPTH) == 1)
            .then_some("a FIFO of one item needs a cycle between two items");
    parameter DEPTH = 4 in 1..=64, "items";
    profile "four" {}
    profile "one" { DEPTH = 1 }
    cases 100;
    scoreboard scoreboard::Scoreboard;

    block Exact = "exact": "FIFO, every output in every cycle" { golden golden::Golden<false>; }
    block DontCare = "dont_care": "FIFO, data only while it is valid" { golden golden::Golden<true>; }
    block Cpp = "cpp": "FIFO, golden model in C++" { golden GoldenInC<Self>; }
    block Transactions = "transactions": "FIFO, items in order at any time" { transactions; }
}

impl InC for Cpp {
    const MODEL: CModelKind<rtl::Inputs, rtl::Outputs> = rtl::GOLDEN;
    const HAS_DONT_CARES: bool = true;
}
