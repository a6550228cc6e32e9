//! Build errors: a wrong port by name, or Verilator's message.

use crate::common::text;
use crate::outside::Outside;
use std::fs;

/// Builds the example's library with changes to its RTL that break the build, and returns the
/// output.
fn broken(example: &Outside, changes: &[(&str, &str)]) -> String {
    let path = example.path().join("rtl/Arbiter.v");
    let good = fs::read_to_string(&path).unwrap();
    let mut bad = good.clone();
    for (from, to) in changes {
        assert!(bad.contains(from), "no `{from}`");
        bad = bad.replace(from, to);
    }
    fs::write(&path, bad).unwrap();
    // `build` instead of `check`, because the dependencies are built already, but not checked.
    let output = example.cargo(&["build", "--lib", "--color", "never"]);
    fs::write(&path, good).unwrap();
    let printed = text(&output);
    assert!(!output.status.success(), "{changes:?} goes unnoticed: {printed}");
    printed
}

/// Each added, removed or resized port is named, and so is the place of a Verilog error. `outside`
/// builds the example with its own RTL.
#[test]
fn a_port_that_appears_vanishes_or_changes_width_is_named() {
    let example = Outside::copy();
    // Crates in one build folder must have different names.
    let manifest = example.path().join("Cargo.toml");
    let named = fs::read_to_string(&manifest).unwrap().replacen("\"arbiter\"", "\"ports\"", 1);
    fs::write(&manifest, named).unwrap();

    let clock = "input  wire        clk,";
    let printed = broken(
        &example,
        &[
            (clock, "input  wire        clk,\n  input  wire new_input,\n  output wire new_output,"),
            ("input  wire [3:0]  req_last", "input  wire [4:0]  req_last"),
            ("output reg  [15:0] out_data", "output reg  [17:0] out_data"),
            ("out_ready", "out_taken"),
        ],
    );
    for port in ["new_input", "new_output", "req_last", "out_data", "out_ready", "out_taken"] {
        assert!(printed.contains("error[E") && printed.contains(port), "{port}: {printed}");
    }

    let printed = broken(&example, &[("localparam [0:0] FREE", "localparm [0:0] FREE")]);
    assert!(printed.contains("rtl/Arbiter.v:"), "file and line: {printed}");
    assert!(printed.contains("%Error") && !printed.contains("panicked"), "{printed}");
}
