//! What is proved of small RTLs, and what is not.

use super::*;
use crate::yosys::verilog;

/// A counter that holds what it offers, a register without reset, and a memory that is written before it is read.
const RTL: &str =
    "module top(input clk, input rst, input go, input [3:0] d, output [3:0] count, output free,
                              output [3:0] kept);
    reg [3:0] counter; reg loose; reg [3:0] memory [0:1]; reg [1:0] written;
    always @(posedge clk or posedge rst) if (rst) counter <= 0;
        else if (go) counter <= counter == 9 ? 0 : counter + 1;
    always @(posedge clk) loose <= loose;
    wire writes = go & ~rst & ~written[1];
    always @(posedge clk or posedge rst) if (rst) written <= 0; else if (writes) written <= written + 1;
    always @(posedge clk) if (writes) memory[written[0]] <= {3'd0, d[0]};
    assign count = counter;
    assign free = loose;
    assign kept = written[1] ? memory[d[1]] : 0;
endmodule";

/// The answers about expressions over the ports; each is 1 where something is broken.
fn found(bad: &[&str], assumption: &str) -> Vec<Found> {
    found_with(bad, assumption, Vec::new())
}

/// The same with registers that the block names.
fn found_with(bad: &[&str], assumption: &str, registers: Vec<(&'static str, u32)>) -> Vec<Found> {
    let mut text = "module cosim_monitor(input clk, input rst, input go, input [3:0] d".to_owned();
    for place in 0..bad.len() {
        text += &format!(", output cosim_bad_{place}, output cosim_legal_{place}");
    }
    text += ");\nwire [3:0] count, kept; wire free;\n";
    for (name, width) in &registers {
        text += &format!("wire [{}:0] {name};\n", width - 1);
    }
    text += "top dut(.clk(clk), .rst(rst), .go(go), .d(d), .count(count), .free(free), .kept(kept)";
    for (name, _) in &registers {
        text += &format!(", .{name}({name})");
    }
    text += ");\n";
    for (place, bad) in bad.iter().enumerate() {
        text += &format!(
            "assign cosim_bad_{place} = {bad};\nassign cosim_legal_{place} = cosim_bad_{place} & {assumption};\n"
        );
    }
    text += "endmodule\n";
    let property = |text: &&str| Property {
        kind: Kind::Held,
        text: (*text).to_owned(),
        of_registers: !registers.is_empty(),
    };
    let properties = bad.iter().map(property).collect();
    let assumes = assumption != "1'b1";
    let monitor = Monitor { text, state: None, registers, properties, assumes };
    let prover =
        Prover::of(&verilog(RTL), &[], monitor, "clk", Some(("rst", true))).unwrap().unwrap();
    (0..bad.len()).map(|place| prover.prove(place).unwrap()).collect()
}

/// Whether it was proved with this assumption.
fn is_proved(found: &Found, with: Assumed) -> bool {
    matches!(found, Found::Shown(Shown::Proved { assumed, .. }) if *assumed == with)
}

#[test]
fn what_holds_in_every_reachable_cycle_is_proved_and_what_does_not_is_broken() {
    let all = found(&["count > 9", "count == 9", "1'b0", "free"], "1'b1");
    assert!(is_proved(&all[0], Assumed::Nothing), "{:?}", all[0]);
    let Found::Broken { cycles, .. } = &all[1] else { panic!("{:?}", all[1]) };
    assert!(cycles.len() >= 9, "nine edges lead to it: {cycles:?}");
    assert!(cycles.iter().filter(|bits| bits.iter().any(|bit| bit == "go")).count() >= 9);
    assert!(is_proved(&all[2], Assumed::Nothing), "{:?}", all[2]);
    // Nothing says what it begins with.
    assert!(matches!(all[3], Found::Broken { .. }), "{:?}", all[3]);
}

#[test]
fn a_memory_counts_where_any_data_would_break_a_property() {
    let all = found(&["kept > 1", "kept == 1"], "1'b1");
    let whole = Shown::Proved { assumed: Assumed::Nothing, memories: Memories::Whole };
    assert_eq!(all[0], Found::Shown(whole));
    assert!(matches!(all[1], Found::Broken { memories: Memories::Whole, .. }), "{:?}", all[1]);
}

#[test]
fn an_assumption_is_told_where_it_is_needed() {
    let all = found(&["count > 9", "go"], "~go");
    assert!(is_proved(&all[0], Assumed::Nothing), "{:?}", all[0]);
    assert!(is_proved(&all[1], Assumed::OffersStay), "{:?}", all[1]);
}

#[test]
fn registers_inside_can_be_spoken_of_and_ones_that_are_not_there_are_named() {
    let all = found_with(&["counter > 9", "counter == 9"], "1'b1", vec![("counter", 4)]);
    assert!(is_proved(&all[0], Assumed::Nothing), "{:?}", all[0]);
    assert!(matches!(all[1], Found::Broken { .. }), "{:?}", all[1]);
    for register in [("nothing", 4), ("counter", 5)] {
        let all = found_with(&["1'b0"], "1'b1", vec![register]);
        let Found::Shown(Shown::Open { because }) = &all[0] else { panic!("{:?}", all[0]) };
        assert!(
            because.contains(&format!("no `{}` of {} bits", register.0, register.1)),
            "{because}"
        );
    }
}
