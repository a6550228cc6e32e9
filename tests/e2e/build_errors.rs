//! Build errors: a wrong port by name, or Verilator's message.

use crate::common::text;
use crate::outside::Outside;

/// Each added, removed or resized port is named, and so is the place of a Verilog error. `outside`
/// builds the example with its own RTL.
#[test]
fn a_port_that_appears_vanishes_or_changes_width_is_named() {
    let example = Outside::copy_of("arbiter");
    // Crates in one build folder must have different names.
    let manifest = example.text("Cargo.toml").replacen("\"arbiter\"", "\"ports\"", 1);
    example.write("Cargo.toml", &manifest);
    let good = example.text("rtl/Arbiter.v");
    let broken = |changes: &[(&str, &str)]| {
        example.plant("rtl", "Arbiter.v", changes);
        // `build` instead of `check`, because the dependencies are built already, but not checked.
        let output = example.cargo(&["build", "--lib", "--color", "never"]);
        example.write("rtl/Arbiter.v", &good);
        let printed = text(&output);
        assert!(!output.status.success(), "{changes:?} goes unnoticed: {printed}");
        printed
    };
    let clock = "input  wire        clk,";
    let printed = broken(&[
        (clock, "input  wire        clk,\n  input  wire new_input,\n  output wire new_output,"),
        ("input  wire [3:0]  req_last", "input  wire [4:0]  req_last"),
        ("output reg  [15:0] out_data", "output reg  [17:0] out_data"),
        ("out_ready", "out_taken"),
    ]);
    for port in ["new_input", "new_output", "req_last", "out_data", "out_ready", "out_taken"] {
        assert!(printed.contains("error[E") && printed.contains(port), "{port}: {printed}");
    }
    let printed = broken(&[("localparam [0:0] FREE", "localparm [0:0] FREE")]);
    assert!(printed.contains("rtl/Arbiter.v:"), "file and line: {printed}");
    assert!(printed.contains("%Error") && !printed.contains("panicked"), "{printed}");
}
