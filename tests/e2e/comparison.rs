//! Kinds of comparison: `examples/fifo` compares one RTL in every cycle, with don't-care bits, and
//! as transactions. Which RTL passes and which fails follows from the FIFO's specification.

use crate::common::{assert_code, files, text};
use crate::export::icarus;
use crate::outside::Outside;
use serde_json::json;

fn each_kind_finds_what_it_says(outside: &Outside) {
    let late = "logic [1:0] age_q;\n  always_ff @(posedge clk) begin\n    if (rst || count_q == '0 \
                || popped) age_q <= '0;\n    else if (age_q != 2'd3) age_q <= age_q + 1'b1;\n  end\n \
                assign pop_valid  = !rst && count_q != '0 && age_q == 2'd3;";
    for (name, from, to, expected) in [
        // The specification sets data without valid to 0: only the exact block detects a violation.
        ("open", "pop_valid ? items[first_q] : '0", "items[first_q]", [1, 0, 0]),
        // An item comes out some cycles later, in order: only the transaction block accepts it.
        ("late", "assign pop_valid  = !rst && count_q != '0;", late, [1, 1, 0]),
        // Every kind detects a wrong item.
        ("wrong", "<= push_data;", "<= push_data ^ 8'h10;", [1, 1, 1]),
    ] {
        outside.plant(name, "Fifo.sv", &[(from, to)]);
        for (block, code) in ["exact", "dont_care", "transactions"].iter().zip(expected) {
            let run = format!("run --block {block} --rtl {name} --out run-{name}-{block}");
            outside.exits(code, &format!("{run} --cases 20 --no-shrink --max-failures 1"));
        }
    }
}

fn results_say_how_outputs_were_compared(outside: &Outside) {
    let kinds = ["compared: every output as transactions", "except for don't-care bits"];
    outside.prints(0, &kinds, "run --block all --cases 20 --out good");
    let outputs = ["pop_data", "pop_valid", "push_ready"];
    for (block, comparison) in [
        ("exact", json!({ "cycle_exact": outputs })),
        ("dont_care", json!({ "dont_care": outputs })),
        ("transactions", json!({ "transactions": outputs })),
    ] {
        let results = outside.results(format!("good/{block}"));
        assert_eq!((&results["version"], &results["run"]["comparison"]), (&json!(1), &comparison));
    }
    let page = outside.text("good/transactions/report.html");
    assert!(!page.contains("every output in every cycle"), "only where it is true");
}

/// A failure of transactions is shrunk, replayed, explained and blamed.
fn a_failure_of_transactions(outside: &Outside) {
    let run = "run --block transactions --rtl wrong --max-failures 1 --out found";
    outside.prints(1, &["the RTL violates the specification"], run);
    let vector = outside.vector("found");
    let small = outside.json(&vector);
    assert_eq!(small["stimulus"]["traffic"]["push"].as_array().unwrap().len(), 1, "{small}");
    assert_eq!(small["recorded"]["check"], "pop-differs", "{small}");
    outside.exits(0, &format!("replay --rtl wrong --expect-recorded {vector}"));
    outside.exits(0, &format!("replay --rtl built-in {vector}"));
    outside.prints(1, &["differs: pop", "Fifo.sv:"], &format!("explain --recorded-rtl {vector}"));
    let page = outside.text("found/report.html");
    assert!(page.contains(r#""wrong":"pop""#) && !page.contains("untimed"), "the channel");
    // The testbench has the pins of the recorded run: it fails on this RTL as the case did, and
    // says so if the RTL behaves differently.
    let simulated = outside.exported(&format!("--recorded-rtl {vector}"), "bench");
    assert!(simulated.starts_with("FAIL  check failed at cycle "), "{simulated}");
    outside.write("bench/rtl/Fifo.sv", &outside.text("rtl/Fifo.sv"));
    let simulated = icarus(&outside.path("bench"));
    assert!(simulated.starts_with("OTHER mismatch at cycle "), "{simulated}");
    outside.prints(2, &["E0113"], "bench --block transactions");
}

/// Open bits are skipped by the exported testbench and by four-value simulation, too.
fn other_simulators_skip_open_bits(outside: &Outside) {
    let save = "run --block dont_care --rtl open --cases 4 --save-vectors 1 --out saved";
    outside.exits(0, save);
    let vector = files(&outside.path("saved/saved"), "json")[0].display().to_string();
    let simulated = outside.exported(&format!("--rtl open {vector}"), "open-bench");
    assert!(simulated.starts_with("PASS  "), "{simulated}");
    outside.exits(0, &format!("replay --rtl open --simulator icarus {vector}"));
}

/// A golden model that never compares a bit is detected.
fn a_bit_that_is_never_compared_fails(outside: &Outside) {
    let from = "        if crate::in_reset(inputs) || self.items.is_empty() {";
    let to = format!("        open.pop_data = Bits8::new(0x80);\n{from}");
    outside.edit("src/golden.rs", from, &to);
    assert_code(&outside.cargo(&["build"]), 0);
    let never = "never compared these outputs: pop_data[7]";
    outside.prints(1, &[never], "run --block dont_care --cases 20 --out never");
}

/// All checks of a crate, without its bugs.
const CHECKS: [&str; 4] = ["test", "--", "--skip", "every_bug"];

/// One test, because everything is built once.
#[test]
fn one_rtl_is_compared_in_three_ways() {
    let outside = Outside::built("fifo");
    each_kind_finds_what_it_says(&outside);
    results_say_how_outputs_were_compared(&outside);
    a_failure_of_transactions(&outside);
    other_simulators_skip_open_bits(&outside);
    assert_code(&outside.cargo(&CHECKS), 0);
    a_bit_that_is_never_compared_fails(&outside);
}

/// RTL with two clocks, whose counters are compared in every step and whose items as transactions,
/// and an AXI4-Lite memory with protocol agents: all checks of the crates hold.
#[test]
fn two_clocks_and_a_memory_are_compared_as_transactions() {
    let outside = Outside::built("blocks");
    let two = "popped, pushed in every cycle; pop_data, pop_valid, push_ready as transactions";
    for (block, compared) in [("async_fifo", two), ("axi_lite_memory", "as transactions")] {
        let run = format!("run --block {block} --cases 20 --out {block}");
        outside.prints(0, &[compared], &run);
    }
    assert_code(&outside.cargo(&CHECKS), 0);
    outside.prints(2, &["E0113"], "run --block async_fifo --simulator icarus --out four");
}

/// The planted bugs of the examples are found, whichever way their outputs are compared.
#[test]
#[ignore = "slow: compiles a model for each bug"]
fn every_bug_of_the_examples_is_found() {
    for example in ["fifo", "blocks"] {
        let output = Outside::built(example).cargo(&["test", "every_bug"]);
        assert_code(&output, 0);
        assert!(text(&output).contains("1 passed"), "{}", text(&output));
    }
}
