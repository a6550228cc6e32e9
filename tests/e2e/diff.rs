//! `cosim diff`: refactorings are proved equivalent, and a difference has a vector that shows it.

use crate::common::{Place, looked_at};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

const DIFF: &str = "diff --block recv --fixes spec --no-waves --out out";

/// The only profile of the result in `out`.
fn profile(place: &Place) -> serde_json::Value {
    place.json("out/diff.json")["profiles"][0].clone()
}

/// Without a certificate, RTLs are only believed to be equivalent. Without a netlist, cases decide
/// as far as they can, and nothing is equivalent.
#[test]
fn another_encoding_of_states_is_proved_equivalent() {
    let place = Place::with_patch("refactored_rtl/recv/05-states-gray");
    place.exits(0, &format!("{DIFF} built-in rtl"));
    let proved = profile(&place);
    for (name, value) in [("status", "equivalent"), ("basis", "correspondence"), ("inputs", "all")]
    {
        assert_eq!(proved[name], value, "{proved}");
    }
    assert_eq!(proved["certificate"]["by"], "invariant", "{proved}");
    assert!(proved["cases"].as_u64().unwrap() > 10, "{proved}");
    let seen = looked_at(&place.path("out"), "netlist");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"equivalent".into(), &"good".into()));

    for (exit, is_missing, option) in
        [(4, true, ""), (4, false, ""), (0, false, "--accept-believed")]
    {
        let solver = place.without_solver(is_missing);
        let printed = place.exits(exit, &format!("{solver} {DIFF} --force {option} built-in rtl"));
        let believed = profile(&place);
        assert_eq!(believed["status"], "believed", "{believed}");
        assert_eq!(believed["certificate"]["by"], "nothing", "{believed}");
        assert!(printed.starts_with("believed  recv: "), "{printed}");
        assert!(place.text("out/report.html").contains("believed"));
    }

    let yosys = place.yosys("case \"$*\" in *-s*) sleep 1000 ;; esac");
    place.exits(4, &format!("{yosys} {DIFF} --force --time 3s built-in rtl"));
    let ended = profile(&place);
    assert_eq!(ended["status"], "undecided", "{ended}");
    let because = ended["because"].as_str().unwrap();
    assert!(because.contains("the time limit ended the reading by Yosys"), "{ended}");
}

/// The bug shows in legal traffic, and only the new RTL differs from the golden model.
#[test]
fn a_bug_has_a_vector_of_legal_traffic() {
    let place = Place::with_bug("recv/10-low-is-low");
    place.exits(1, &format!("{DIFF} built-in rtl"));
    let profile = profile(&place);
    assert_eq!(profile["status"], "different", "{profile}");
    assert_eq!(profile["legal"]["is_legal"], true, "{profile}");
    assert!(profile["right"].as_str().unwrap().starts_with("OLD is right"), "{profile}");
    let vector = profile["vector"].as_str().unwrap();
    place.exits(1, &format!("replay --rtl rtl out/{vector}"));
    place.exits(0, &format!("replay --rtl built-in out/{vector}"));
    let page = place.text("out/report.html");
    place.exits(0, "report out");
    assert_eq!(place.text("out/report.html"), page, "the page is made again");
    // An edited record is refused.
    place.edit("out/diff.json", "\"different\"", "\"equivalent\"");
    place.fails("E0219", "", "report out");
}

/// Only an offer that is withdrawn shows the difference, so it is shown, but is not legal traffic.
#[test]
fn a_difference_that_needs_illegal_traffic_says_so() {
    let withdrawn = "logic was_offered;
  always_ff @(posedge clk or posedge rst)
    if (rst) was_offered <= 1'b0; else was_offered <= pkt_valid && !pkt_ready;
  assign protocol_error = !rst && (misfits || was_offered && !pkt_valid);";
    let same = "assign protocol_error = !rst && misfits;";
    let place = Place::with_change("RecvSideFsm.sv", same, withdrawn);
    place.exits(1, &format!("{DIFF} built-in rtl"));
    let any = profile(&place);
    let legal = &any["legal"];
    assert_eq!((&any["port"], &legal["is_legal"]), (&"protocol_error".into(), &false.into()));
    assert!(legal["because"].as_str().unwrap().contains(" in cycle "), "{legal}");
    assert_eq!(legal["otherwise"], "equivalent, proved", "{legal}");
    place.exits(0, &format!("{DIFF} --force --legal-only built-in rtl"));
    let legal = profile(&place);
    assert_eq!((&legal["status"], &legal["inputs"]), (&"equivalent".into(), &"legal".into()));
}

/// A module without a block, whose ports have other names than those of a block.
const ADDER: &str = "\
module Adder (input wire clk, rst, go, input wire [3:0] a, b, output reg [4:0] sum);
  always @(posedge clk) if (rst) sum <= 0; else if (go) sum <= a + b;
endmodule
";

/// A place with an adder, and `diff` with a cache there.
fn adder() -> (Place, String) {
    let place = Place::new();
    place.write("old.sv", ADDER);
    let cache = place.path("cache");
    (place, format!("COSIM_CACHE={} diff --out out --no-waves", cache.display()))
}

#[test]
fn a_module_that_is_not_there_has_no_block() {
    let (place, diff) = adder();
    for (number, line) in [
        ("E0303", "--top Other old.sv"),
        ("E0101", "--top 'Adder; x' old.sv"),
        ("E0107", "--top Adder built-in"),
        ("E0101", "--top Adder --block recv old.sv"),
        ("E0101", "--reset rst old.sv"),
        ("E0309", "--top Adder --reset nothing old.sv"),
    ] {
        place.fails(number, "", &format!("{diff} {line} old.sv"));
        assert!(!place.has("out"), "{line}");
    }
    // What is built for the module is run, so nobody else may be able to write it.
    fs::create_dir(place.path("cache")).ok();
    fs::set_permissions(place.path("cache"), Permissions::from_mode(0o777)).unwrap();
    place.fails("E0606", "", &format!("{diff} --top Adder old.sv old.sv"));
}

#[test]
#[ignore = "slow: builds the library and a crate"]
fn a_module_without_a_block_is_compared() {
    let (place, diff) = adder();
    place.write("new.sv", &ADDER.replace("a + b", "a - b"));
    place.write("same.sv", &ADDER.replace("a + b", "{1'b0, b} + a"));
    place.exits(1, &format!("{diff} --top Adder old.sv new.sv"));
    let profile = profile(&place);
    assert_eq!(profile["found_by"], "bounded search", "{profile}");
    assert_eq!(profile["port"], "sum", "{profile}");
    let vector = place.json(&format!("out/{}", profile["vector"].as_str().unwrap()));
    let cycles = vector["stimulus"]["cycles"].as_array().unwrap();
    assert!((1..=3).contains(&cycles.len()), "{vector}");
    place.exits(0, &format!("{diff} --force --top Adder old.sv same.sv"));
    place.exits(0, &format!("COSIM_CACHE={} cache clear", place.path("cache").display()));
    assert!(!place.has("cache/tops"));
}

/// git finds no hook, filter or name that runs something or leads out of the folder.
#[test]
fn rtl_of_a_revision_is_compared_by_its_text() {
    let place = Place::with_rtl();
    place.write(".gitattributes", "* filter=run\n");
    let link = place.path("rtl/recv/link.sv");
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    for line in [
        "init -q",
        "add -A",
        "commit -qm first",
        "config filter.run.smudge 'touch ran; cat'",
        "config core.fsmonitor 'touch ran'",
    ] {
        place.git(line);
    }
    fs::remove_file(link).unwrap();
    place.edit("rtl/recv/RecvSideFsm.sv", "// P0", "// A comment only.\n\n");
    place.exits(0, &format!("{DIFF} HEAD:rtl rtl"));
    let record = place.json("out/diff.json");
    assert_eq!(record["profiles"][0]["basis"], "text", "{record}");
    assert_eq!(record["old"]["commit"].as_str().unwrap().len(), 40, "{record}");
    assert!(place.has("out/rtl-old/recv/recv_pkg.sv"));
    assert!(!place.has("out/rtl-old/recv/link.sv") && !place.has("ran"));
    let other = DIFF.replace("--out out", "--out other");
    for (old, number) in [
        ("HEAD:missing", "E0509"),
        ("nothing:rtl", "E0509"),
        ("--output=x:rtl", "E0509"),
        (":rtl", "E0301"),
        ("missing", "E0301"),
    ] {
        place.fails(number, "", &format!("{other} -- {old} rtl"));
        assert!(!place.has("other"), "{old}");
    }
    place.fails("E0602", "out", &format!("{DIFF} HEAD:rtl rtl"));
    // An earlier result is replaced.
    place.exits(0, &format!("{DIFF} --force HEAD:rtl rtl"));
    place.write("out/thesis.txt", "mine");
    place.fails("E0602", "out", &format!("{DIFF} --force HEAD:rtl rtl"));
    assert!(place.has("out/rtl-old/recv/recv_pkg.sv"));
}

/// Only a data file differs between the commits, and the working tree has yet another one.
#[test]
fn data_files_of_a_revision_come_from_its_commit() {
    let place = Place::with_rtl();
    let same = "assign protocol_error = !rst && misfits;";
    let flipped = "logic flip [0:0]; initial $readmemh(\"data/flip.hex\", flip);
  assign protocol_error = !rst && (misfits ^ flip[0]);";
    place.edit("rtl/recv/RecvSideFsm.sv", same, flipped);
    place.git("init -q");
    for (tag, table) in [("zero", Some("0\n")), ("one", Some("1\n")), ("none", None)] {
        match table {
            Some(table) => place.write("data/flip.hex", table),
            None => fs::remove_file(place.path("data/flip.hex")).unwrap(),
        }
        place.git("add -A");
        place.git(&format!("commit -qm {tag}"));
        place.git(&format!("tag {tag}"));
    }
    place.write("data/flip.hex", "0\n");
    place.exits(1, &format!("{DIFF} --time 1s zero:rtl one:rtl"));
    assert_eq!(profile(&place)["port"], "protocol_error");
    let line = format!("{DIFF} --time 1s --force zero:rtl");
    place.fails("E0311", "RecvSideFsm.sv", &format!("{line} none:rtl"));
    place.exits(0, &format!("{line} zero:rtl"));
    let profile = profile(&place);
    assert_eq!(profile["basis"], "text", "{profile}");
    assert!(profile["cases"].as_u64().unwrap() > 10, "the first cases run: {profile}");
}
