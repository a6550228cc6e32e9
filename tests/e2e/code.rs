//! Code coverage of the RTL: `cosim run --coverage`, its output, and tools that read it.

use crate::common::{assert_code, changed_rtl, json, run, run_in, text};
use cosim::PROGRAM;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// All files that must be reproducible.
fn written(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = ["coverage.info", "coverage.json", "results.json"].map(str::to_owned);
    let sources = fs::read_dir(folder.join("sources")).unwrap();
    let sources =
        sources.map(|entry| format!("sources/{}", entry.unwrap().file_name().to_string_lossy()));
    let all = names.into_iter().chain(sources);
    all.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

fn qp(out: &Path, arguments: &[&str]) -> String {
    let fixed = ["run", "--block", "qp", "--coverage", "--cases", "6", "--out"];
    let output = run(fixed.iter().chain(&[out.to_str().unwrap()]).chain(arguments));
    assert_code(&output, 0);
    text(&output)
}

#[test]
fn lines_and_branches_are_those_of_all_threads_and_shards_and_genhtml_shows_them() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let printed = qp(&at("one"), &["--threads", "1"]);
    assert!(printed.contains("\n  RTL: lines "), "{printed}");
    qp(&at("two"), &["--threads", "2"]);
    assert_eq!(written(&at("one")), written(&at("two")));
    // Replacing a run removes all of its files.
    qp(&at("two"), &["--threads", "2", "--force"]);
    for (name, shard) in [("part-1", "1/2"), ("part-2", "2/2")] {
        qp(&at(name), &["--shard", shard]);
    }
    let merged = run_in(folder.path(), &["merge", "part-2", "part-1", "--out", "whole"]);
    assert_code(&merged, 0);
    assert_eq!(written(&at("one")), written(&at("whole")));
    // The merged databases of the shards have the same coverage as the whole.
    let report = |databases: &[&str]| {
        let output =
            run_in(folder.path(), &[&["cover", "report", "--format", "lcov"], databases].concat());
        assert_code(&output, 0);
        output.stdout
    };
    let info = fs::read(at("one").join("coverage.info")).unwrap();
    assert_eq!(report(&["part-1", "part-2"]), info);
    assert_eq!(report(&["whole", "part-2", "one"]), info, "no case counts twice");
    let reported = text(&run_in(folder.path(), &["cover", "report", "one"]));
    assert!(reported.contains("spec: lines "), "{reported}");
    // The database conforms to its schema.
    let schema = serde_json::from_slice(&run(["schema", "coverage"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json(&at("one").join("coverage.json"))));
    // The page contains the text of the RTL, escaped.
    let page = fs::read_to_string(at("one").join("report.html")).unwrap();
    assert!(
        page.contains("hw_state_d  = hw_state;") && page.contains("answer_valid &lt;= cmd_taken;")
    );
    // lcov reads the file in the run directory.
    let genhtml = Command::new("genhtml")
        .args(["--branch-coverage", "--output-directory", "html", "coverage.info"])
        .current_dir(at("one"))
        .output()
        .expect("scripts/test installs lcov");
    let printed =
        String::from_utf8_lossy(&genhtml.stdout) + String::from_utf8_lossy(&genhtml.stderr);
    assert!(genhtml.status.success(), "{printed}");
    let shown =
        fs::read_to_string(at("one").join("html/sources/QpStateCtrl.sv.gcov.html")).unwrap();
    assert!(shown.contains("qp_written"), "{shown}");
}

#[test]
fn a_line_that_no_case_reaches_is_an_uncovered_point_of_user_rtl() {
    let rtl = changed_rtl(
        "QpStateCtrl.sv",
        "      if (evt_enters) evt_tail <= evt_tail + PTR_ONE;",
        "      if (evt_enters) evt_tail <= evt_tail + PTR_ONE;\n      if (rst) answer_valid <= 1'b1;",
    );
    let folder = TempDir::new().unwrap();
    let printed =
        qp(folder.path(), &["--rtl", rtl.path().to_str().unwrap(), "--force", "--details"]);
    assert!(
        printed.contains("not reached: QpStateCtrl.sv:255, branch if, profile spec"),
        "{printed}"
    );
}

/// `cosim cover close` proves what no case reaches; a waiver by hand would hide a point.
#[test]
fn no_block_waives_a_point_of_its_code() {
    for block in PROGRAM.blocks {
        assert!(block.info().waivers.is_none(), "{}", block.info().name);
    }
}

/// Verilator 5.006 tests the result of the function before it calls it where it splits a block.
#[test]
fn what_a_function_decides_is_counted() {
    let rtl = changed_rtl(
        "QpStateCtrl.sv",
        "  assign rsp_valid = answer_valid;",
        "  logic toggles;\n  always_ff @(posedge clk) begin\n    \
         if (cmd_valid && is_reliable(cmd_service)) toggles <= !toggles;\n  end\n  \
         assign rsp_valid = answer_valid;",
    );
    let folder = TempDir::new().unwrap();
    let printed =
        qp(folder.path(), &["--rtl", rtl.path().to_str().unwrap(), "--force", "--details"]);
    assert!(!printed.contains("not reached"), "{printed}");
    assert!(printed.contains("branches 100 % of 32"), "{printed}");
}

#[test]
fn code_coverage_without_support_is_refused() {
    for (arguments, expected) in [
        (vec!["--simulator", "icarus"], "--simulator icarus"),
        (vec!["--case", "qp/spec/drain/1"], "--case"),
    ] {
        let output = run(["run", "--block", "qp", "--coverage"].iter().chain(&arguments));
        assert_code(&output, 2);
        assert!(text(&output).contains(expected), "{}", text(&output));
    }
}

/// The second statement never holds: no answer is valid in reset.
#[test]
fn cover_statements_of_the_rtl_are_a_group_of_their_own() {
    let rtl = changed_rtl(
        "QpStateCtrl.sv",
        "  assign rsp_valid = answer_valid;",
        "  taken: cover property (@(posedge clk) cmd_valid && cmd_ready);\n  \
         never: cover property (@(posedge clk) rst && rsp_valid);\n  assign rsp_valid = answer_valid;",
    );
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let plain = qp(&folder.path().join("plain"), &[]);
    assert!(!plain.contains("cover statements"), "{plain}");
    // Other versions leave them out together with assertions.
    let more = if plain.contains("Verilator 5.006,") { &[][..] } else { &["--assertions"] };
    let printed = qp(&out, &[&["--rtl", rtl.path().to_str().unwrap()], more].concat());
    assert!(printed.contains("cover statements 50.0 % of 2"), "{printed}");
    let database = fs::read_to_string(out.join("coverage.json")).unwrap();
    for label in ["taken", "never"] {
        let one = database.split_whitespace().collect::<String>();
        assert!(one.contains(&format!("\"cover\",\"{label}\"")), "{label}");
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let cases = page.split("cover taken</code>: ").nth(1).unwrap().split('<').next().unwrap();
    assert!(cases.parse::<u64>().is_ok_and(|cases| cases > 0), "{cases}");
    assert!(page.contains("cover never</code>: 0"), "{page}");
}
