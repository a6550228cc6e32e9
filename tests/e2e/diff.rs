//! `cosim diff`: refactorings are proved equivalent, and a difference has a vector that shows it.

use crate::common::{Place, code, corpus, looked_at, program, project, source};
use crate::documentation::below;
use std::fs;

const DIFF: &str = "diff --block recv --fixes spec --no-waves --out out";

/// The answer for the only profile of the result in `out`.
fn answer(place: &Place) -> serde_json::Value {
    place.json("out/answers.json")["profiles"][0]["rows"][0].clone()
}

/// Without a certificate, RTLs are only believed to be equivalent. Without a netlist, cases decide
/// as far as they can, and nothing is equivalent.
#[test]
fn another_encoding_of_states_is_proved_equivalent() {
    let place = Place::with_patch("refactored_rtl/recv/05-states-gray");
    place.exits(0, &format!("{DIFF} built-in rtl"));
    let proved = answer(&place);
    for (name, value) in [("status", "proved"), ("basis", "correspondence"), ("traffic", "any")] {
        assert_eq!(proved[name], value, "{proved}");
    }
    assert_eq!(proved["certificate"]["by"], "invariant", "{proved}");
    let profile = &place.json("out/answers.json")["profiles"][0];
    assert!(profile["cases"].as_u64().unwrap() > 10, "{profile}");
    let seen = looked_at(&place.path("out"), "netlist");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"equivalent".into(), &"good".into()));

    for (exit, is_missing, option) in
        [(4, true, ""), (4, false, ""), (0, false, "--accept-believed")]
    {
        let solver = place.without_solver(is_missing);
        let printed = place.exits(exit, &format!("{solver} {DIFF} --force {option} built-in rtl"));
        let believed = answer(&place);
        assert_eq!(believed["status"], "believed", "{believed}");
        assert_eq!(believed["certificate"]["by"], "nothing", "{believed}");
        assert!(printed.starts_with("believed  recv: "), "{printed}");
        assert!(place.text("out/report.html").contains("believed"));
    }

    let yosys = place.yosys("case \"$*\" in *-s*) sleep 1000 ;; esac");
    place.exits(4, &format!("{yosys} {DIFF} --force --time 3s built-in rtl"));
    let ended = answer(&place);
    assert_eq!(ended["status"], "open", "{ended}");
    let because = ended["because"].as_str().unwrap();
    assert!(because.contains("the time limit ended the reading by Yosys"), "{ended}");
}

/// The bug shows in legal traffic, and only the new RTL differs from the golden model.
#[test]
fn a_bug_has_a_vector_of_legal_traffic() {
    let place = Place::with_bug("recv/10-low-is-low");
    place.exits(1, &format!("{DIFF} built-in rtl"));
    let answer = answer(&place);
    assert_eq!(answer["status"], "failing", "{answer}");
    assert_eq!(answer["difference"]["legal"]["is_legal"], true, "{answer}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("OLD is right"), "{answer}");
    let vector = answer["vector"].as_str().unwrap();
    place.exits(1, &format!("replay --rtl rtl out/{vector}"));
    place.exits(0, &format!("replay --rtl built-in out/{vector}"));
    let page = place.text("out/report.html");
    place.exits(0, "report out");
    assert_eq!(place.text("out/report.html"), page, "the page is made again");
    // An edited record is refused.
    place.edit("out/answers.json", "\"failing\"", "\"proved\"");
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
    let any = &answer(&place)["difference"];
    let legal = &any["legal"];
    assert_eq!((&any["port"], &legal["is_legal"]), (&"protocol_error".into(), &false.into()));
    assert!(legal["because"].as_str().unwrap().contains(" in cycle "), "{legal}");
    assert_eq!(legal["otherwise"], "equivalent, proved", "{legal}");
    place.exits(0, &format!("{DIFF} --force --legal-only built-in rtl"));
    let legal = answer(&place);
    assert_eq!((&legal["status"], &legal["traffic"]), (&"proved".into(), &"legal".into()));
}

/// A module without a block, whose ports have other names than those of a block.
const ADDER: &str = "\
module Adder (input wire clk, rst, go, input wire [3:0] a, b, output reg [4:0] sum);
  always @(posedge clk) if (rst) sum <= 0; else if (go) sum <= a + b;
endmodule
";

fn adder() -> (Place, String) {
    let place = Place::new();
    place.write("old.sv", ADDER);
    let cache = place.path("cache");
    (place, format!("COSIM_CACHE={} diff --out out --no-waves", cache.display()))
}

#[test]
fn a_module_that_is_not_there_has_no_block() {
    let (place, diff) = adder();
    fs::create_dir(place.path("cache")).unwrap();
    let rows = [
        ("E0303", "", "--top Other old.sv old.sv"),
        ("E0101", "", "--top 'Adder; x' old.sv old.sv"),
        ("E0107", "", "--top Adder built-in old.sv"),
        ("E0101", "", "--top Adder --block recv old.sv old.sv"),
        ("E0101", "", "--reset rst old.sv old.sv"),
        ("E0309", "", "--top Adder --reset nothing old.sv old.sv"),
    ];
    place.refuses(&diff, &rows);
    // What is built for the module is run, so nobody else may be able to write it.
    place.set_mode("cache", 0o777);
    place.fails("E0606", "", &format!("{diff} --top Adder old.sv old.sv"));
}

/// Is each refactoring proved equivalent, but one, and no bug?
#[test]
#[ignore = "slow: a proof for each refactoring"]
fn every_refactoring_is_equivalent_and_no_bug_is() {
    let mut open = Vec::new();
    for (kind, block, expected) in [
        ("refactored_rtl", "recv", 0),
        ("refactored_rtl", "dll", 0),
        ("refactored_rtl", "qp", 0),
        ("refactored_rtl", "rx", 0),
        ("refactored_rtl", "thread2", 0),
        ("bad_rtl", "recv", 1),
    ] {
        for patch in below(&project().join("tests").join(kind).join(block), "patch") {
            let name = patch.file_stem().unwrap().to_string_lossy().into_owned();
            let place = Place::with_patch(&format!("{kind}/{block}/{name}"));
            let output =
                place.run(&format!("diff built-in rtl --block {block} --no-waves --out out"));
            if code(&output) != expected {
                open.push(format!("{block}/{name}"));
            }
        }
    }
    assert!(open.iter().all(|name| name.starts_with("thread2/")) && open.len() < 2, "{open:?}");
}

#[test]
#[ignore = "slow: builds the library and a crate"]
fn a_module_without_a_block_is_compared() {
    let (place, diff) = adder();
    place.write("new.sv", &ADDER.replace("a + b", "a - b"));
    place.write("same.sv", &ADDER.replace("a + b", "{1'b0, b} + a"));
    place.exits(1, &format!("{diff} --top Adder old.sv new.sv"));
    let answer = answer(&place);
    assert_eq!(answer["found_by"], "bounded search", "{answer}");
    assert_eq!(answer["difference"]["port"], "sum", "{answer}");
    let vector = place.json(&format!("out/{}", answer["vector"].as_str().unwrap()));
    let cycles = vector["stimulus"]["cycles"].as_array().unwrap();
    assert!((1..=3).contains(&cycles.len()), "{vector}");
    place.exits(0, &format!("{diff} --force --top Adder old.sv same.sv"));
    place.exits(0, &format!("COSIM_CACHE={} cache clear", place.path("cache").display()));
    assert!(!place.has_file("cache/tops"));
}

/// git finds no hook, filter or name that runs something or leads out of the folder.
#[test]
fn rtl_of_a_revision_is_compared_by_its_text() {
    let place = Place::with_rtl();
    place.write(".gitattributes", "* filter=run\n");
    place.link("/etc/passwd", "rtl/recv/link.sv");
    place.git("init -q");
    place.commit("first");
    place.git("config filter.run.smudge 'touch ran; cat'");
    place.git("config core.fsmonitor 'touch ran'");
    place.remove("rtl/recv/link.sv");
    place.edit("rtl/recv/RecvSideFsm.sv", "// P0", "// A comment only.\n\n");
    place.exits(0, &format!("{DIFF} HEAD:rtl rtl"));
    assert_eq!(answer(&place)["basis"], "text");
    let record = place.json("out/answers.json");
    assert_eq!(record["old"]["commit"].as_str().unwrap().len(), 40, "{record}");
    assert!(place.has_file("out/rtl-old/recv/recv_pkg.sv"));
    assert!(!place.has_file("out/rtl-old/recv/link.sv") && !place.has_file("ran"));
    let other = DIFF.replace("--out out", "--out other");
    let rows = [
        ("E0509", "", "HEAD:missing rtl"),
        ("E0509", "", "nothing:rtl rtl"),
        ("E0509", "", "--output=x:rtl rtl"),
        ("E0301", "", ":rtl rtl"),
        ("E0301", "", "missing rtl"),
    ];
    place.refuses(&format!("{other} --"), &rows);
    place.fails("E0602", "out", &format!("{DIFF} HEAD:rtl rtl"));
    // An earlier result is replaced.
    place.exits(0, &format!("{DIFF} --force HEAD:rtl rtl"));
    place.write("out/thesis.txt", "mine");
    place.fails("E0602", "out", &format!("{DIFF} --force HEAD:rtl rtl"));
    assert!(place.has_file("out/rtl-old/recv/recv_pkg.sv"));
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
        place.commit(tag);
    }
    place.write("data/flip.hex", "0\n");
    place.exits(1, &format!("{DIFF} --time 1s zero:rtl one:rtl"));
    assert_eq!(answer(&place)["difference"]["port"], "protocol_error");
    let line = format!("{DIFF} --time 1s --force zero:rtl");
    place.fails("E0311", "RecvSideFsm.sv", &format!("{line} none:rtl"));
    place.exits(0, &format!("{line} zero:rtl"));
    assert_eq!(answer(&place)["basis"], "text");
    let profile = &place.json("out/answers.json")["profiles"][0];
    assert!(profile["cases"].as_u64().unwrap() > 10, "the first cases run: {profile}");
}

/// The first line of the RTL of `recv`.
const RECV_MODULE: &str = "module RecvSideFsm";
const RECV_FILE: &str = "rtl/recv/RecvSideFsm.sv";

/// Is the first failing commit found, although the commit that git tests first does not compile?
#[test]
fn the_documented_commands_find_the_first_failing_commit() {
    let place = Place::with_rtl();
    place.git("init -q -b main");
    let vector = source(corpus("recv/decision-chosen-once-kept"));
    place.write("failure.json", &vector.replacen("\"all\"", "\"spec\"", 1));
    place.commit("v1.0");
    let change = |subject: &str, from: &str, to: &str| {
        place.edit(RECV_FILE, from, to);
        place.commit(subject);
    };
    change("comment", RECV_MODULE, "// A comment.\nmodule RecvSideFsm");
    place.write("README", "nothing");
    place.commit("elsewhere");
    change("syntax", RECV_MODULE, "modul RecvSideFsm");
    change("repaired", "modul RecvSideFsm", RECV_MODULE);
    place.write(RECV_FILE, &Place::with_bug("recv/10-low-is-low").text(RECV_FILE));
    place.commit("bug");
    change("later", RECV_MODULE, "// Another comment.\nmodule RecvSideFsm");

    let page = source("docs/how-to/diff.md");
    let commands = page.lines().filter_map(|line| line.strip_prefix("    "));
    let commands: Vec<&str> = commands.filter(|line| line.starts_with("git bisect ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let cosim = program();
    let folder = std::path::Path::new(cosim.get_program()).parent().unwrap().display();
    let mut printed = String::new();
    for command in commands {
        printed += &place.typed(0, &format!("PATH={folder}:$PATH; {command}"));
    }
    let log = place.git("bisect log");
    let found = place.git("log -1 --format=%s refs/bisect/bad");
    assert_eq!(found.trim(), "bug", "{log}{printed}");
    assert!(log.contains("] syntax\n") && log.contains("git bisect skip"), "{log}");
}
