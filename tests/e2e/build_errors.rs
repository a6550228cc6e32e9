//! What a build says when the RTL does not fit: the port by name, or Verilator's own words.

use crate::common::text;
use crate::outside::Outside;
use std::fs;

/// `cargo check` of the example with one change to its RTL; whether it went well, and what was said.
fn check(crate_of_its_own: &Outside, from: &str, to: &str) -> (bool, String) {
    let path = crate_of_its_own.path().join("rtl/Arbiter.v");
    let good = fs::read_to_string(&path).unwrap();
    assert!(good.contains(from), "no `{from}`");
    fs::write(&path, good.replace(from, to)).unwrap();
    let output = crate_of_its_own.cargo(&["check", "--lib", "--color", "never"]);
    fs::write(&path, good).unwrap();
    (output.status.success(), text(&output))
}

/// One test, since the checks share a build folder.
#[test]
fn a_port_that_appears_vanishes_or_changes_width_is_named() {
    let example = Outside::copy();
    // In a build folder crates are told apart by their names.
    let manifest = example.path().join("Cargo.toml");
    let named = fs::read_to_string(&manifest).unwrap().replacen("\"arbiter\"", "\"ports\"", 1);
    fs::write(&manifest, named).unwrap();
    let clock = "input  wire        clk,";
    let (goes_well, said) = check(&example, clock, clock);
    assert!(goes_well, "the copy builds: {said}");

    let cases: [(&str, String, &str); 4] = [
        (clock, format!("{clock}\n  input  wire new_input,"), "new_input"),
        (clock, format!("{clock}\n  output wire new_output,"), "new_output"),
        ("input  wire [3:0]  req_last", "input  wire [4:0]  req_last".to_owned(), "req_last"),
        ("output reg  [15:0] out_data", "output reg  [17:0] out_data".to_owned(), "out_data"),
    ];
    for (from, to, port) in cases {
        let (goes_well, said) = check(&example, from, &to);
        assert!(!goes_well, "{port} was not noticed");
        assert!(said.contains("error[E") && said.contains(port), "{port}: {said}");
    }

    let (_, said) = check(&example, "out_ready", "out_taken");
    assert!(said.contains("out_ready") && said.contains("out_taken"), "{said}");

    let (goes_well, said) = check(&example, "localparam [0:0] FREE", "localparm [0:0] FREE");
    assert!(!goes_well);
    assert!(said.contains("rtl/Arbiter.v:"), "file and line: {said}");
    assert!(said.contains("%Error") && !said.contains("panicked"), "{said}");
}
