//! Files that RTL opens at run time are part of the RTL for every command.

use crate::common::{changed_rtl, code, files, json, run_in, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// RTL of block `qp` that inverts an output if its table says so. A parameter names the table.
fn rtl(table: &str) -> TempDir {
    let good = "assign msg_ack      = msg_taken && msg_reliable && !msg_naked;";
    let from_table = "localparam TABLE = \"flip.hex\";\n  reg flip [0:0];\n  initial $readmemh(TABLE, flip);\n  \
                      assign msg_ack = (msg_taken && msg_reliable && !msg_naked) ^ flip[0];";
    let folder = changed_rtl("QpStateCtrl.sv", good, from_table);
    fs::write(folder.path().join("flip.hex"), table).unwrap();
    folder
}

/// A short run in a folder. Icarus compiles fast; `new` tests a table with Verilator.
fn short(folder: &Path, rtl: &Path, more: &[&str]) -> Output {
    let words =
        ["run", "--block", "qp", "--scenario", "default", "--cases", "2", "--packets", "20"];
    let rest =
        ["--no-shrink", "--no-waves", "--simulator", "icarus", "--rtl", rtl.to_str().unwrap()];
    run_in(folder, &[&words[..], &rest, more].concat())
}

#[track_caller]
fn ends(output: &Output, expected: i32) -> String {
    let printed = text(output);
    assert_eq!(code(output), expected, "{printed}");
    printed
}

fn identity(folder: &Path) -> Value {
    json(&folder.join("results.json"))["run"]["rtl"].clone()
}

#[test]
fn a_table_is_part_of_the_rtl() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let rtl = rtl("0\n");
    let table = rtl.path().join("flip.hex");
    ends(&short(place, rtl.path(), &["--out", "green"]), 0);
    let shown = fs::read_to_string(place.join("green/results.json")).unwrap();
    assert!(shown.contains(table.to_str().unwrap()), "the table is among the files");
    ends(&short(place, rtl.path(), &["--shard", "1/2", "--out", "one"]), 0);

    fs::write(&table, "1\n").unwrap();
    ends(&short(place, rtl.path(), &["--out", "red"]), 1);
    assert_ne!(identity(&place.join("green")), identity(&place.join("red")));
    // The hashed table is the one that is read, whatever is in a worker's working directory.
    ends(&short(rtl.path(), Path::new("."), &["--out", "inside"]), 1);
    assert_eq!(identity(&place.join("red")), identity(&rtl.path().join("inside")));
    ends(&short(place, rtl.path(), &["--shard", "2/2", "--out", "two"]), 1);
    ends(&run_in(place, &["merge", "one", "two", "--out", "both"]), 2);

    let vector = files(&place.join("red/failures"), "json").remove(0);
    let replay = || {
        let rtl = ["--simulator", "icarus", "--rtl", rtl.path().to_str().unwrap()];
        run_in(place, &[&["replay", vector.to_str().unwrap()], &rtl[..]].concat())
    };
    ends(&replay(), 1);
    fs::write(&table, "0\n").unwrap();
    ends(&replay(), 0);
    // The run directory has a copy of its table.
    ends(&run_in(place, &["replay", "red", "--recorded-rtl", "--expect-recorded"]), 0);
    let printed =
        ends(&run_in(place, &["replay", "red", "--rtl", rtl.path().to_str().unwrap()]), 0);
    assert!(printed.contains(", it was "), "{printed}");
    let exported = ["export", vector.to_str().unwrap(), "-o", "bench", "--rtl"];
    ends(&run_in(place, &[&exported[..], &[rtl.path().to_str().unwrap()]].concat()), 0);
    assert_eq!(fs::read_to_string(place.join("bench/flip.hex")).unwrap(), "0\n");
}

#[test]
fn a_table_that_is_missing_or_there_twice_is_bad_input() {
    let place = TempDir::new().unwrap();
    let rtl = rtl("0\n");
    fs::write(place.path().join("flip.hex"), "1\n").unwrap();
    let printed = ends(&short(place.path(), rtl.path(), &["--out", "out"]), 2);
    assert!(printed.contains("flip.hex"), "{printed}");
    for folder in [place.path(), rtl.path()] {
        fs::remove_file(folder.join("flip.hex")).unwrap();
    }
    let printed = ends(&short(place.path(), rtl.path(), &["--out", "out"]), 2);
    assert!(printed.contains("flip.hex") && printed.contains("QpStateCtrl.sv:"), "{printed}");
    assert!(!place.path().join("out").exists(), "nothing is written");
}

#[test]
fn a_computed_name_is_reported() {
    let place = TempDir::new().unwrap();
    let from = "assign msg_nak      = msg_naked;";
    let computed = "reg [8*4:1] name;\n  reg flip [0:0];\n  initial begin\n    name = \"flip\";\n    \
                    if (name[1]) $readmemh({name, \".hex\"}, flip);\n  end\n  assign msg_nak = msg_naked;";
    let rtl = changed_rtl("QpStateCtrl.sv", from, computed);
    let printed = ends(&short(place.path(), rtl.path(), &["--out", "out"]), 0);
    assert!(printed.contains("warning: ") && printed.contains("QpStateCtrl.sv:208: "), "{printed}");
}
