//! What a build says when the RTL does not fit: the port by name, or Verilator's own words.

use crate::common::{below_build, cargo, project, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A copy of the project's sources.
fn copy() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in
        ["Cargo.toml", "Cargo.lock", "build.rs", "benches", "core", "rtl", "src", "verilated"]
    {
        let status = Command::new("cp")
            .arg("-r")
            .arg(project().join(name))
            .arg(folder.path())
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
    }
    folder
}

/// `cargo check` of a copy; all copies share what they have in common.
fn check(folder: &Path) -> Output {
    cargo()
        .args(["check", "--lib", "--locked", "--color", "never"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", below_build("build-errors"))
        .output()
        .unwrap()
}

fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join("rtl").join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no `{from}`");
    fs::write(&path, text.replace(from, to)).unwrap();
}

/// One test, since the checks share a build folder.
#[test]
fn a_port_that_appears_vanishes_or_changes_width_is_named() {
    let top = "ReqRecvCore_Thread_2.v";
    let good = copy();
    let output = check(good.path());
    assert!(output.status.success(), "the copy builds: {}", text(&output));

    let clock = "input  wire         clk,";
    let cases: [(&str, String, &str); 4] = [
        (clock, format!("{clock}\n  input  wire new_input,"), "new_input"),
        (clock, format!("{clock}\n  output wire new_output,"), "new_output"),
        (
            "input  wire [95:0]  cq_resp_head",
            "input  wire [87:0]  cq_resp_head".to_owned(),
            "cq_resp_head",
        ),
        (
            "output wire [23:0]  rq_offset_din",
            "output wire [25:0]  rq_offset_din".to_owned(),
            "rq_offset_din",
        ),
    ];
    for (from, to, port) in cases {
        let folder = copy();
        change(folder.path(), top, from, &to);
        let output = check(folder.path());
        let said = text(&output);
        assert!(!output.status.success(), "{port} was not noticed");
        assert!(said.contains("error[E") && said.contains(port), "{port}: {said}");
    }

    let folder = copy();
    change(folder.path(), top, "eq_resp_ready", "eq_answer_ready");
    let said = text(&check(folder.path()));
    assert!(said.contains("eq_resp_ready") && said.contains("eq_answer_ready"), "{said}");

    let folder = copy();
    change(folder.path(), "ReqRecvCore_Thread_2.vh", "`define", "`defin");
    let output = check(folder.path());
    let said = text(&output);
    assert!(!output.status.success());
    assert!(said.contains("rtl/ReqRecvCore_Thread_2.vh:"), "file and line: {said}");
    assert!(said.contains("%Error") && !said.contains("panicked"), "{said}");
}
