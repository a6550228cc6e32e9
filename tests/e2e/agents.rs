//! Interfaces of standard protocols: `cosim new` writes agents for them, and their default traffic
//! is legal and reaches edges.

use crate::common::{Place, assert_contains};
use crate::outside::{Outside, UNWRITTEN};

const RTL: &str = include_str!("data/interfaces.sv");

/// Does a module with all protocols on both sides get agents for all of them, is their traffic
/// legal, and does it reach the last word, the longest bursts and a thousand transfers?
#[test]
fn interfaces_of_all_protocols_get_agents() {
    let lines = [
        "interface: AXI4 subordinate S_AXI_*,",
        "interface: AXI4 manager M_AXI_*,",
        "interface: AXI4-Lite subordinate s_axil_wr_*, reads s_axil_rd_*,",
        "interface: AXI4-Lite manager m_axil_*,",
        "interface: AXI4-Stream receiver s_axis_*,",
        "interface: AXI4-Stream transmitter m_axis_*,",
        "interface: APB subordinate psel,",
        "interface: APB manager m_apb_*,",
        "interface: Wishbone subordinate wb_*,",
        "interface: Wishbone manager wbm_*,",
        "interface: memory port or register bus subordinate cs,",
        "interface: memory port or register bus subordinate *a,",
        "interface: memory port or register bus subordinate *b,",
        "interface: memory port or register bus manager ram_*,",
        "inputs in no channel, held by `tie` in src/lib.rs: S_AXI_WUSER = 0",
        "channels: source cmd (cmd_valid, cmd_ready), sink rsp (rsp_valid, rsp_ready);",
    ];
    let block = Outside::new("interfaces_block", RTL, "--top interfaces", &lines);
    let lines = ["tie S_AXI_WUSER = 0;", "vary mode["];
    assert_contains(&block.text("src/lib.rs"), &lines);
    let lines = ["`S_AXI_WUSER` is always 0", "`mode` has random values"];
    assert_contains(&block.text("README.md"), &lines);
    // One output belongs to no interface.
    for (from, to) in [
        (UNWRITTEN, ""),
        ("fn outputs(&self, _inputs", "fn outputs(&self, inputs"),
        ("M_AXI_WUSER = rtl::Bits1::new(0);", "M_AXI_WUSER = inputs.S_AXI_WUSER;"),
    ] {
        block.edit("src/golden.rs", from, to);
    }
    block.edit("src/scoreboard.rs", UNWRITTEN, "");
    block.edit("src/scoreboard.rs", "let _ = beat; // ", "");
    block.builds();
    let tied = "inputs that never change (`tie`): S_AXI_WUSER = 0";
    block.prints(0, &["PASS", tied], "run --cases 20 --out good");
    for (name, bad) in
        [("last", "&S_AXI_AWADDR[15:2]"), ("longest", "&S_AXI_AWLEN"), ("late", "transfers > 1000")]
    {
        let address = format!("S_AXI_AWADDR ^ ({bad} ? 16'h40 : 16'h0), S");
        let counter = "    int transfers = 0;\n    always_ff @(posedge clk) \
                       if (S_AXI_BVALID && S_AXI_BREADY) transfers <= transfers + 1;\nendmodule";
        let changes = [("S_AXI_AWADDR, S", &*address), ("endmodule", counter)];
        block.plant(name, "given.sv", &changes);
        let run = "run --cases 60 --max-failures 1 --no-shrink";
        block.prints(1, &["check-"], &format!("{run} --rtl {name} --out bad-{name}"));
    }
}

/// Do interfaces of a module with several clocks get agents at their clocks, with checks that fire?
#[test]
fn interfaces_of_several_clocks_get_agents() {
    let place = Place::with_files(&[("crossing.sv", include_str!("data/crossing.sv"))]);
    let block = Outside::in_place(place, "crossing_block", "--top crossing .", &[]);
    let lines = [
        "agent s_axis: StreamSource on \"s_axis_\" at s_axis_aclk;",
        "agent m_axis: StreamSink on \"m_axis_\" at m_axis_aclk;",
        "agent m_apb: ApbManager on \"m_apb_\" at m_axis_aclk;",
    ];
    assert_contains(&block.text("src/lib.rs"), &lines);
    block.edit("src/scoreboard.rs", UNWRITTEN, "");
    block.edit("src/scoreboard.rs", "let _ = beat; // ", "");
    block.builds();
    let run = |expected, words: &str, rtl: &str| {
        let run = "run --cases 20 --max-failures 1 --rtl";
        block.prints(expected, &[words], &format!("{run} {rtl} --out out-{rtl}"));
    };
    run(0, "PASS", "built-in");
    let items = "} = items[rbin[2:0]]";
    for (name, check, from, to) in [
        ("stable", "check-m_axis-differs", items, &*format!("{items} ^ 17'(wbin)")),
        ("read", "check-read-data", "= words[", "= m_apb_psel && wbin == 3 ? '0 : words["),
    ] {
        block.plant(name, "crossing.sv", &[(from, to)]);
        run(1, check, name);
    }
}

/// Does a block that only takes items build, does a run of it fail until something is compared, and
/// is it a hang if it takes no more items while it continues elsewhere?
#[test]
fn a_block_that_only_takes_items_and_never_stops_fails_while_nothing_is_compared() {
    let rtl = "module Sink(input logic clk, rst_n, s_axis_tvalid, input logic [7:0] s_axis_tdata,
        output logic s_axis_tready, wb_cyc_o, wb_stb_o, output logic [7:0] wb_adr_o,
        input logic wb_ack_i, input logic [31:0] wb_dat_i);
        logic alive; assign {wb_cyc_o, wb_stb_o} = {2{alive}};
        always_ff @(posedge clk) {alive, s_axis_tready} <= {rst_n, rst_n};
        always_ff @(posedge clk) wb_adr_o <= rst_n ? wb_adr_o + 8'(wb_ack_i) : 0; endmodule";
    let place = Place::with_files(&[("Sink.sv", rtl)]);
    let block = Outside::in_place(place, "sink", "Sink.sv", &[]);
    block.edit("src/scoreboard.rs", UNWRITTEN, "");
    block.builds();
    let compared = "never compared these outputs: s_axis_tready, wb_adr_o, wb_cyc_o, wb_stb_o";
    block.prints(1, &[compared], "run --cases 5");
    block.plant("stuck", "Sink.sv", &[("<= {rst_n, rst_n}", "<= {rst_n, 1'b0}")]);
    block.prints(1, &["hang"], "run --cases 5 --out stuck-run --rtl stuck");
}

/// Does `examples/blocks`, which the guides show, pass, and is it found when its RTL is broken?
#[test]
fn the_guides_show_an_example_that_passes() {
    let outside = Outside::built("blocks");
    for (block, file, from, to) in [
        ("uart_rx", "UartRx.sv", "index == 9", "index == 8"),
        ("timer", "Timer.sv", "count >= limit ? 0", "count > limit ? 0"),
        ("numberer", "Numberer.sv", "number <= s_axis_tlast ? 0 :", "number <="),
        ("apb_memory", "Memories.sv", "if (pstrb[i])", ""),
        ("wishbone_memory", "Memories.sv", "wb_err <= !rst && request", "wb_err <= 0"),
        ("axi4_memory", "Memories.sv", "burst == 2'b10", "burst == 2'b11"),
    ] {
        let run = format!("run --block {block} --cases 10 --out");
        outside.prints(0, &["PASS"], &format!("{run} good-{block}"));
        outside.plant(block, file, &[(from, to)]);
        outside.exits(1, &format!("{run} out-{block} --rtl {block} --max-failures 1"));
    }
    let explain = format!("explain --recorded-rtl {}", outside.vector("out-timer"));
    outside.prints(1, &[">      4 ", "differs: read_data"], &explain);
}
