//! A FIFO between two clocks. Its specification is `README.md`.
//!
//! The handshakes may come at any time, so the scoreboard checks their items. The counters of both
//! domains are compared in every step.

mod golden;
mod scoreboard;

cosim_core::declare! {
    rtl "async_fifo";
    clocks wclk, rclk;
    reset wrst_n low;
    reset rrst_n low;
    source push: Push { data: push_data[8] } on push_valid, push_ready at wclk;
    sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready at rclk;
    golden golden::Golden;
    scoreboard scoreboard::Scoreboard;
    transactions push_ready, pop_valid, pop_data;
    cases 200;
    block AsyncFifo = "async_fifo": "FIFO between two clocks";
}
