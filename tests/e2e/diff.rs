//! `cosim diff`: refactorings are proved equivalent, and a difference has a vector that shows it.

use crate::common::{
    assert_code, assert_error, assert_error_at, changed_rtl, code, copy_rtl, cosim, json,
    looked_at, patched_rtl, project, run, text, without_certificates,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn diff(old: &str, new: &Path, out: &Path, options: &[&str]) -> Output {
    let command = ["diff", "--block", "recv", "--fixes", "spec", "--out"];
    cosim().args(command).arg(out).args(options).arg(old).arg(new).output().unwrap()
}

#[test]
fn another_encoding_of_states_is_proved_equivalent() {
    let rtl = patched_rtl(&project().join("tests/refactored_rtl/recv/05-states-gray.patch"));
    let out = rtl.path().join("out");
    assert_code(&diff("built-in", &rtl.path().join("rtl"), &out, &[]), 0);
    let profile = &json(&out.join("diff.json"))["profiles"][0];
    assert_eq!(
        (&profile["status"], &profile["basis"], &profile["inputs"]),
        (&"equivalent".into(), &"correspondence".into(), &"all".into()),
        "{profile}"
    );
    assert_eq!(profile["certificate"]["by"], "invariant", "{profile}");
    assert!(profile["cases"].as_u64().unwrap() > 10, "{profile}");
    let seen = looked_at(&out, "netlist");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"equivalent".into(), &"good".into()));
}

#[test]
fn without_a_certificate_rtls_are_only_believed_to_be_equivalent() {
    let rtl = patched_rtl(&project().join("tests/refactored_rtl/recv/05-states-gray.patch"));
    for (is_missing, options, exit) in
        [(true, &[][..], 4), (false, &[], 4), (false, &["--accept-believed"], 0)]
    {
        let out = rtl.path().join("out");
        let mut command = without_certificates(is_missing, rtl.path());
        command.args(["diff", "--block", "recv", "--fixes", "spec", "--force", "--out"]).arg(&out);
        let output = command.args(options).arg("built-in").arg(rtl.path().join("rtl")).output();
        let output = output.unwrap();
        assert_code(&output, exit);
        let profile = &json(&out.join("diff.json"))["profiles"][0];
        assert_eq!(profile["status"], "believed", "{profile}");
        assert_eq!(profile["certificate"]["by"], "nothing", "{profile}");
        assert!(text(&output).starts_with("believed  recv: "), "{}", text(&output));
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("1 believed") || page.contains("believed"), "{page}");
    }
}

/// Cases decide as far as they can, and nothing is equivalent without a netlist.
#[test]
fn the_time_limit_ends_yosys() {
    let rtl = patched_rtl(&project().join("tests/refactored_rtl/recv/05-states-gray.patch"));
    let (yosys, out) = (rtl.path().join("yosys"), rtl.path().join("out"));
    let real = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
    let script = format!("case \"$*\" in *-s*) sleep 1000 ;; *) exec {real} \"$@\" ;; esac");
    fs::write(&yosys, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&yosys, Permissions::from_mode(0o755)).unwrap();
    let mut command = cosim();
    command.env("YOSYS", &yosys).args(["diff", "--block", "recv", "--fixes", "spec", "--time"]);
    command.args(["3s", "--out"]).arg(&out).arg("built-in").arg(rtl.path().join("rtl"));
    assert_code(&command.output().unwrap(), 4);
    let profile = &json(&out.join("diff.json"))["profiles"][0];
    assert_eq!(profile["status"], "undecided", "{profile}");
    let because = profile["because"].as_str().unwrap();
    assert!(because.contains("the time limit ended the reading by Yosys"), "{profile}");
}

/// The bug shows in legal traffic, and only the new RTL differs from the golden model.
#[test]
fn a_bug_has_a_vector_of_legal_traffic() {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/recv/10-low-is-low.patch"));
    let (new, out) = (rtl.path().join("rtl"), rtl.path().join("out"));
    assert_code(&diff("built-in", &new, &out, &["--no-waves"]), 1);
    let profile = &json(&out.join("diff.json"))["profiles"][0];
    assert_eq!(
        (&profile["status"], &profile["legal"]["is_legal"]),
        (&"different".into(), &true.into())
    );
    assert!(profile["right"].as_str().unwrap().starts_with("OLD is right"), "{profile}");
    let vector = out.join(profile["vector"].as_str().unwrap());
    let replay = |rtl: &str| code(&run(["replay", "--rtl", rtl, vector.to_str().unwrap()]));
    assert_eq!((replay(new.to_str().unwrap()), replay("built-in")), (1, 0));
    let page = fs::read(out.join("report.html")).unwrap();
    assert_eq!(code(&run(["report", out.to_str().unwrap()])), 0);
    assert_eq!(fs::read(out.join("report.html")).unwrap(), page, "the page is made again");
    // An edited record is refused.
    let record = fs::read_to_string(out.join("diff.json")).unwrap();
    fs::write(out.join("diff.json"), record.replace("\"different\"", "\"equivalent\"")).unwrap();
    assert_error(&run(["report", out.to_str().unwrap()]), "E0219");
}

/// Only an offer that is withdrawn shows the difference, so it is shown, but is not legal traffic.
#[test]
fn a_difference_that_needs_illegal_traffic_says_so() {
    let withdrawn = "logic was_offered;
  always_ff @(posedge clk or posedge rst)
    if (rst) was_offered <= 1'b0; else was_offered <= pkt_valid && !pkt_ready;
  assign protocol_error = !rst && (misfits || was_offered && !pkt_valid);";
    let same = "assign protocol_error = !rst && misfits;";
    let rtl = changed_rtl("RecvSideFsm.sv", same, withdrawn);
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("any");
    assert_code(&diff("built-in", rtl.path(), &out, &["--no-waves"]), 1);
    let profile = &json(&out.join("diff.json"))["profiles"][0];
    let legal = &profile["legal"];
    assert_eq!((&profile["port"], &legal["is_legal"]), (&"protocol_error".into(), &false.into()));
    assert!(legal["because"].as_str().unwrap().contains(" in cycle "), "{legal}");
    assert_eq!(legal["otherwise"], "equivalent, proved", "{legal}");
    let out = folder.path().join("legal");
    assert_code(&diff("built-in", rtl.path(), &out, &["--no-waves", "--legal-only"]), 0);
    let profile = &json(&out.join("diff.json"))["profiles"][0];
    assert_eq!((&profile["status"], &profile["inputs"]), (&"equivalent".into(), &"legal".into()));
}

/// A module without a block, whose ports have other names than those of a block.
const ADDER: &str = "\
module Adder (input wire clk, rst, go, input wire [3:0] a, b, output reg [4:0] sum);
  always @(posedge clk) if (rst) sum <= 0; else if (go) sum <= a + b;
endmodule
";

fn diff_of_adder(here: &Path, options: &[&str], sides: [&str; 2]) -> Output {
    let [old, new] = sides;
    let mut command = cosim();
    command.current_dir(here).env("COSIM_CACHE", here.join("cache"));
    command.args(["diff", "--out", "out", "--no-waves"]).args(options).args([old, new]);
    command.output().unwrap()
}

#[test]
fn a_module_that_is_not_there_has_no_block() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    fs::write(here.join("old.sv"), ADDER).unwrap();
    for (options, old, number) in [
        (&["--top", "Other"][..], "old.sv", "E0303"),
        (&["--top", "Adder; x"], "old.sv", "E0101"),
        (&["--top", "Adder"], "built-in", "E0107"),
        (&["--top", "Adder", "--block", "recv"], "old.sv", "E0101"),
        (&["--reset", "rst"], "old.sv", "E0101"),
        (&["--top", "Adder", "--reset", "nothing"], "old.sv", "E0309"),
    ] {
        assert_error(&diff_of_adder(here, options, [old, "old.sv"]), number);
        assert!(!here.join("out").exists(), "{options:?}");
    }
    // What is built for the module is run, so nobody else may be able to write it.
    fs::create_dir(here.join("cache")).ok();
    fs::set_permissions(here.join("cache"), Permissions::from_mode(0o777)).unwrap();
    assert_error(&diff_of_adder(here, &["--top", "Adder"], ["old.sv"; 2]), "E0606");
}

#[test]
#[ignore = "slow: builds the library and a crate"]
fn a_module_without_a_block_is_compared() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    for (name, sum) in [("old", "a + b"), ("new", "a - b"), ("same", "{1'b0, b} + a")] {
        fs::write(here.join(format!("{name}.sv")), ADDER.replace("a + b", sum)).unwrap();
    }
    let top = &["--top", "Adder"];
    assert_code(&diff_of_adder(here, top, ["old.sv", "new.sv"]), 1);
    let profile = &json(&here.join("out/diff.json"))["profiles"][0];
    assert_eq!(profile["found_by"], "bounded search", "{profile}");
    assert_eq!(profile["port"], "sum", "{profile}");
    let vector = json(&here.join("out").join(profile["vector"].as_str().unwrap()));
    let cycles = vector["stimulus"]["cycles"].as_array().unwrap();
    assert!((1..=3).contains(&cycles.len()), "{vector}");
    fs::remove_dir_all(here.join("out")).unwrap();
    let output = diff_of_adder(here, top, ["old.sv", "same.sv"]);
    assert_code(&output, 0);
    let cleared = cosim().args(["cache", "clear"]).env("COSIM_CACHE", here.join("cache")).output();
    assert_eq!(code(&cleared.unwrap()), 0);
    assert!(!here.join("cache/tops").exists());
}

/// git finds no hook, filter or name that runs something or leads out of the folder.
#[test]
fn rtl_of_a_revision_is_compared_by_its_text() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(here).output();
        assert!(output.unwrap().status.success(), "{arguments:?}");
    };
    copy_rtl(&here.join("rtl"));
    fs::write(here.join(".gitattributes"), "* filter=run\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", here.join("rtl/recv/link.sv")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    git(&["config", "filter.run.smudge", "touch ran; cat"]);
    git(&["config", "core.fsmonitor", "touch ran"]);
    fs::remove_file(here.join("rtl/recv/link.sv")).unwrap();
    let compare = |old: &str, new: &str, out: &str| {
        let command = ["diff", "--block", "recv", "--fixes", "spec", "--out", out];
        cosim().current_dir(here).args(command).args(["--", old, new]).output().unwrap()
    };
    let again = || {
        let command = ["diff", "--block", "recv", "--fixes", "spec", "--out", "out", "--force"];
        cosim().current_dir(here).args(command).args(["HEAD:rtl", "rtl"]).output().unwrap()
    };
    let file = here.join("rtl/recv/RecvSideFsm.sv");
    let text_of_file = fs::read_to_string(&file).unwrap();
    fs::write(&file, text_of_file.replace("// P0", "// A comment only.\n\n")).unwrap();
    let output = compare("HEAD:rtl", "rtl", "out");
    assert_code(&output, 0);
    let record = json(&here.join("out/diff.json"));
    assert_eq!(record["profiles"][0]["basis"], "text", "{record}");
    assert_eq!(record["old"]["commit"].as_str().unwrap().len(), 40, "{record}");
    assert!(here.join("out/rtl-old/recv/recv_pkg.sv").is_file());
    assert!(!here.join("out/rtl-old/recv/link.sv").exists() && !here.join("ran").exists());
    for (old, number) in [
        ("HEAD:missing", "E0509"),
        ("nothing:rtl", "E0509"),
        ("--output=x:rtl", "E0509"),
        (":rtl", "E0301"),
        ("missing", "E0301"),
    ] {
        assert_error(&compare(old, "rtl", "other"), number);
        assert!(!here.join("other").exists(), "{old}");
    }
    assert_error_at(&compare("HEAD:rtl", "rtl", "out"), "E0602", "out");
    assert_eq!(code(&again()), 0, "an earlier result is replaced");
    fs::write(here.join("out/thesis.txt"), "mine").unwrap();
    assert_error_at(&again(), "E0602", "out");
    assert!(here.join("out/rtl-old/recv/recv_pkg.sv").is_file());
}

/// Only a data file differs between the commits, and the working tree has yet another one.
#[test]
fn data_files_of_a_revision_come_from_its_commit() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(here).output();
        assert!(output.unwrap().status.success(), "{arguments:?}");
    };
    let write = |table: &str| fs::write(here.join("data/flip.hex"), table).unwrap();
    let commit = |tag: &str| {
        git(&["add", "-A"]);
        git(&["commit", "-qm", tag]);
        git(&["tag", tag]);
    };
    copy_rtl(&here.join("rtl"));
    let file = here.join("rtl/recv/RecvSideFsm.sv");
    let same = "assign protocol_error = !rst && misfits;";
    let flipped = "logic flip [0:0]; initial $readmemh(\"data/flip.hex\", flip);
  assign protocol_error = !rst && (misfits ^ flip[0]);";
    let rtl = fs::read_to_string(&file).unwrap();
    assert!(rtl.contains(same));
    fs::write(&file, rtl.replace(same, flipped)).unwrap();
    fs::create_dir(here.join("data")).unwrap();
    git(&["init", "-q"]);
    write("0\n");
    commit("zero");
    write("1\n");
    commit("one");
    git(&["rm", "-q", "data/flip.hex"]);
    commit("none");
    fs::create_dir_all(here.join("data")).unwrap();
    write("0\n");
    let compare = |old: &str, new: &str, out: &str| {
        let command = ["diff", "--block", "recv", "--fixes", "spec", "--no-waves", "--time", "1s"];
        cosim().current_dir(here).args(command).args(["--out", out, old, new]).output().unwrap()
    };
    assert_code(&compare("zero:rtl", "one:rtl", "out"), 1);
    let profile = &json(&here.join("out/diff.json"))["profiles"][0];
    assert_eq!(profile["port"], "protocol_error", "{profile}");
    assert_error_at(&compare("zero:rtl", "none:rtl", "other"), "E0311", "RecvSideFsm.sv");
    assert_code(&compare("zero:rtl", "zero:rtl", "same"), 0);
    let profile = &json(&here.join("same/diff.json"))["profiles"][0];
    assert_eq!(profile["basis"], "text", "{profile}");
    assert!(profile["cases"].as_u64().unwrap() > 10, "the first cases run: {profile}");
}
