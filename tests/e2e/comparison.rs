//! Kinds of comparison: `examples/fifo` compares one RTL in every cycle, with don't-care bits, and
//! as transactions. Which RTL passes and which fails follows from the FIFO's specification.

use crate::common::{json, text};
use crate::export::icarus;
use crate::outside::Outside;
use std::fs;

/// Writes a variant of the FIFO into a new folder.
fn variant(outside: &Outside, name: &str, change: impl Fn(&str) -> String) {
    let rtl = fs::read_to_string(outside.path().join("rtl/Fifo.sv")).unwrap();
    let changed = change(&rtl);
    assert_ne!(changed, rtl, "{name}");
    fs::create_dir(outside.path().join(name)).unwrap();
    fs::write(outside.path().join(name).join("Fifo.sv"), changed).unwrap();
}

/// The exit codes of the three blocks, in the order exact, don't-care, transactions.
fn codes(outside: &Outside, rtl: &str) -> [i32; 3] {
    ["exact", "dont_care", "transactions"].map(|block| {
        let out = format!("run-{rtl}-{block}");
        let run = ["run", "--block", block, "--rtl", rtl, "--cases", "20", "--no-shrink"];
        let output = outside.run(&[&run[..], &["--max-failures", "1", "--out", &out]].concat());
        output.status.code().unwrap()
    })
}

fn each_kind_finds_what_it_says(outside: &Outside) {
    // The specification sets data without valid to 0: only the exact block detects a violation.
    variant(outside, "open", |rtl| {
        rtl.replace("pop_valid ? items[first_q] : '0", "items[first_q]")
    });
    assert_eq!(codes(outside, "open"), [1, 0, 0]);
    // An item comes out some cycles later, in order: only the transaction block accepts it.
    variant(outside, "late", |rtl| {
        let rtl = rtl.replace(
            "assign pop_valid  = !rst && count_q != '0;",
            "logic [1:0] age_q;\n  always_ff @(posedge clk) begin\n    if (rst || count_q == '0 || \
             popped) age_q <= '0;\n    else if (age_q != 2'd3) age_q <= age_q + 1'b1;\n  end\n  \
             assign pop_valid  = !rst && count_q != '0 && age_q == 2'd3;",
        );
        assert!(rtl.contains("age_q"));
        rtl
    });
    assert_eq!(codes(outside, "late"), [1, 1, 0]);
    // Every kind detects a wrong item.
    variant(outside, "wrong", |rtl| rtl.replace("<= push_data;", "<= push_data ^ 8'h10;"));
    assert_eq!(codes(outside, "wrong"), [1, 1, 1]);
}

fn results_say_how_outputs_were_compared(outside: &Outside) {
    let printed = outside.prints(0, &["run", "--block", "all", "--cases", "20", "--out", "good"]);
    assert!(printed.contains("compared: every output as transactions"), "{printed}");
    assert!(printed.contains("except for don't-care bits"), "{printed}");
    let comparison = |block: &str| {
        let results = json(&outside.path().join("good").join(block).join("results.json"));
        assert_eq!(results["version"], 1);
        results["run"]["comparison"].clone()
    };
    let outputs = ["pop_data", "pop_valid", "push_ready"];
    assert_eq!(comparison("exact"), serde_json::json!({ "cycle_exact": outputs }));
    assert_eq!(comparison("dont_care"), serde_json::json!({ "dont_care": outputs }));
    assert_eq!(comparison("transactions"), serde_json::json!({ "transactions": outputs }));
    let page = fs::read_to_string(outside.path().join("good/transactions/report.html")).unwrap();
    assert!(!page.contains("every output in every cycle"), "only where it is true");
}

/// A failure of transactions is shrunk, replayed, explained and blamed.
fn a_failure_of_transactions(outside: &Outside) {
    let run = ["run", "--block", "transactions", "--rtl", "wrong", "--max-failures", "1"];
    let printed = outside.prints(1, &[&run[..], &["--out", "found"]].concat());
    assert!(printed.contains("the RTL violates the specification"), "{printed}");
    let results = json(&outside.path().join("found/results.json"));
    let vector = format!("found/{}", results["failures"][0]["vector"].as_str().unwrap());
    let small = json(&outside.path().join(&vector));
    assert_eq!(small["stimulus"]["traffic"]["push"].as_array().unwrap().len(), 1, "{small}");
    assert_eq!(small["recorded"]["check"], "pop-differs", "{small}");
    outside.prints(0, &["replay", "--rtl", "wrong", "--expect-recorded", &vector]);
    outside.prints(0, &["replay", "--rtl", "built-in", &vector]);
    let explained = outside.prints(1, &["explain", "--recorded-rtl", &vector]);
    assert!(explained.contains("pop-differs"), "{explained}");
    // The testbench has the pins of the recorded run: it fails on this RTL as the case did, and
    // says so if the RTL behaves differently.
    outside.prints(0, &["export", "--recorded-rtl", &vector, "-o", "bench"]);
    let simulated = icarus(&outside.path().join("bench"));
    assert!(simulated.starts_with("FAIL  check failed at cycle "), "{simulated}");
    fs::copy(outside.path().join("rtl/Fifo.sv"), outside.path().join("bench/rtl/Fifo.sv")).unwrap();
    let simulated = icarus(&outside.path().join("bench"));
    assert!(simulated.starts_with("OTHER mismatch at cycle "), "{simulated}");
    for command in [
        &["bench", "--block", "transactions"][..],
        &["mutate", "--golden", "--block", "transactions"],
    ] {
        let refused = outside.prints(2, command);
        assert!(refused.contains("E0113"), "{command:?}: {refused}");
    }
}

/// Open bits are skipped by the exported testbench and by four-value simulation, too.
fn other_simulators_skip_open_bits(outside: &Outside) {
    let save = ["run", "--block", "dont_care", "--rtl", "open", "--cases", "4"];
    outside.prints(0, &[&save[..], &["--save-vectors", "1", "--out", "saved"]].concat());
    let saved = fs::read_dir(outside.path().join("saved/saved")).unwrap();
    let vector = saved.map(|entry| entry.unwrap().path()).next().unwrap();
    let vector = vector.to_str().unwrap();
    outside.prints(0, &["export", "--rtl", "open", vector, "-o", "open-bench"]);
    assert!(icarus(&outside.path().join("open-bench")).starts_with("PASS  "));
    let four = ["replay", "--rtl", "open", "--simulator", "icarus", vector];
    outside.prints(0, &four);
}

/// A golden model that never compares a bit is detected.
fn a_bit_that_is_never_compared_fails(outside: &Outside) {
    let golden = outside.path().join("src/golden.rs");
    let source = fs::read_to_string(&golden).unwrap();
    let hidden = source.replace("        if crate::in_reset(inputs) || self.items.is_empty() {", "        open.pop_data = Bits8::new(0x80);\n        if crate::in_reset(inputs) || self.items.is_empty() {");
    assert_ne!(hidden, source);
    fs::write(&golden, hidden).unwrap();
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    let printed =
        outside.prints(1, &["run", "--block", "dont_care", "--cases", "20", "--out", "never"]);
    assert!(printed.contains("never compared these outputs: pop_data[7]"), "{printed}");
}

/// One test, because everything is built once.
#[test]
fn one_rtl_is_compared_in_three_ways() {
    let outside = Outside::copy_of("fifo");
    outside.cargo(&["clean", "--package", "fifo"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    each_kind_finds_what_it_says(&outside);
    results_say_how_outputs_were_compared(&outside);
    a_failure_of_transactions(&outside);
    other_simulators_skip_open_bits(&outside);
    let tested = outside.cargo(&["test", "--", "--skip", "every_bug"]);
    assert!(tested.status.success(), "{}", text(&tested));
    a_bit_that_is_never_compared_fails(&outside);
}

/// RTL with two clocks, whose counters are compared in every step and whose items as transactions:
/// all checks of the crate hold.
#[test]
fn two_clocks_are_compared_in_both_ways() {
    let outside = Outside::copy_of("async_fifo");
    outside.cargo(&["clean", "--package", "async_fifo"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    let printed = outside.prints(0, &["run", "--cases", "20", "--out", "good"]);
    let compared = "popped, pushed in every cycle; pop_data, pop_valid, push_ready as transactions";
    assert!(printed.contains(compared), "{printed}");
    let refused = outside.prints(2, &["run", "--simulator", "icarus", "--out", "four"]);
    assert!(refused.contains("E0113"), "{refused}");
    let tested = outside.cargo(&["test", "--", "--skip", "every_bug"]);
    assert!(tested.status.success(), "{}", text(&tested));
}

/// An AXI4-Lite memory is verified with protocol agents: all checks of the crate hold.
#[test]
fn a_memory_is_verified_with_agents() {
    let outside = Outside::copy_of("axi_lite_memory");
    outside.cargo(&["clean", "--package", "axi_lite_memory"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    let printed = outside.prints(0, &["run", "--cases", "20", "--out", "good"]);
    assert!(printed.contains("as transactions"), "{printed}");
    let tested = outside.cargo(&["test", "--", "--skip", "every_bug"]);
    assert!(tested.status.success(), "{}", text(&tested));
}

/// The planted bugs of the examples are found, whichever way their outputs are compared.
#[test]
#[ignore = "slow: compiles a model for each bug"]
fn every_bug_of_the_examples_is_found() {
    for example in ["fifo", "async_fifo", "axi_lite_memory"] {
        let outside = Outside::copy_of(example);
        outside.cargo(&["clean", "--package", example]);
        let tested = outside.cargo(&["test", "every_bug"]);
        assert!(tested.status.success(), "{example}: {}", text(&tested));
        assert!(text(&tested).contains("1 passed"), "{example}: {}", text(&tested));
    }
}
