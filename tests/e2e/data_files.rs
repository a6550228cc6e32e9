//! Files that RTL opens at run time are part of the RTL for every command.

use crate::common::{Place, assert_code};

/// RTL of block `qp` that inverts an output if its table says so. A parameter names the table.
fn with_table(table: &str) -> Place {
    let good = "assign msg_ack      = msg_taken && msg_reliable && !msg_naked;";
    let from_table = "localparam TABLE = \"flip.hex\";\n  reg flip [0:0];\n  initial $readmemh(TABLE, flip);\n  \
                      assign msg_ack = (msg_taken && msg_reliable && !msg_naked) ^ flip[0];";
    let place = Place::with_change("QpStateCtrl.sv", good, from_table);
    place.write("rtl/flip.hex", table);
    place
}

/// A short run. Icarus compiles fast; `new` tests a table with Verilator.
const SHORT: &str = "run --block qp --scenario default --cases 2 --packets 20 --no-shrink \
                     --no-waves --simulator icarus --rtl";

#[test]
fn a_table_is_part_of_the_rtl() {
    let place = with_table("0\n");
    let identity = |run: &str| place.results(run)["run"]["rtl"].clone();
    place.exits(0, &format!("{SHORT} rtl --out green"));
    // The table is among the files.
    assert!(place.text("green/results.json").contains("rtl/flip.hex"));
    place.exits(0, &format!("{SHORT} rtl --shard 1/2 --out one"));

    place.write("rtl/flip.hex", "1\n");
    place.exits(1, &format!("{SHORT} rtl --out red"));
    assert_ne!(identity("green"), identity("red"));
    // The hashed table is the one that is read, whatever is in a worker's working directory.
    let mut inside = place.command(&format!("{SHORT} . --out ../inside"));
    assert_code(&inside.current_dir(place.path("rtl")).output().unwrap(), 1);
    assert_eq!(identity("red"), identity("inside"));
    place.exits(1, &format!("{SHORT} rtl --shard 2/2 --out two"));
    place.exits(2, "merge one two --out both");

    let vector = &place.vectors("red")[0];
    let replay = format!("replay {vector} --simulator icarus --rtl rtl");
    place.exits(1, &replay);
    place.write("rtl/flip.hex", "0\n");
    place.exits(0, &replay);
    // The run directory has a copy of its table.
    place.exits(0, "replay red --recorded-rtl --expect-recorded");
    place.prints(0, &[", it was "], "replay red --rtl rtl");
    place.exits(0, &format!("export {vector} -o bench --rtl rtl"));
    assert_eq!(place.text("bench/flip.hex"), "0\n");
}

#[test]
fn a_computed_name_is_reported() {
    let from = "assign msg_nak      = msg_naked;";
    let computed = "reg [8*4:1] name;\n  reg flip [0:0];\n  initial begin\n    name = \"flip\";\n    \
                    if (name[1]) $readmemh({name, \".hex\"}, flip);\n  end\n  assign msg_nak = msg_naked;";
    let place = Place::with_change("QpStateCtrl.sv", from, computed);
    place.prints(0, &["warning: ", "QpStateCtrl.sv:208: "], &format!("{SHORT} rtl --out out"));
}
