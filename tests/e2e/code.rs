//! Code coverage of the RTL: `cosim run --coverage`, its output, and tools that read it.

use crate::common::{Place, assert_code, assert_contains, schema};
use crate::merge::shards;
use cosim::PROGRAM;
use std::fs;
use std::process::Command;

const COVERED: &str = "run --block qp --coverage --cases 6";

/// What a covered run of RTL with a change prints.
fn changed(from: &str, to: &str) -> String {
    let place = Place::with_change("QpStateCtrl.sv", from, to);
    place.exits(0, &format!("{COVERED} --out out --rtl rtl --details"))
}

#[test]
fn lines_and_branches_are_those_of_all_threads_and_shards_and_genhtml_shows_them() {
    let place = Place::new();
    place.prints(0, &["\n  RTL: lines "], &format!("{COVERED} --out one --threads 1"));
    place.exits(0, &format!("{COVERED} --out two --threads 2"));
    // Replacing a run removes all of its files.
    place.exits(0, &format!("{COVERED} --out two --threads 2 --force"));
    let parts = shards(&place, 2, COVERED, &[0]);
    place.exits(0, "merge 2of2 1of2 --out whole");
    place.same_run("one", "two");
    place.same_run("one", "whole");
    // The merged databases of the shards have the same coverage as the whole. No case counts twice.
    for databases in [&*parts, "whole 2of2 one"] {
        let output = place.run(&format!("cover report --format lcov {databases}"));
        assert_code(&output, 0);
        assert!(output.stdout == place.text("one/coverage.info").into_bytes(), "{databases}");
    }
    place.prints(0, &["spec: lines "], "cover report one");
    // The database conforms to its schema.
    schema("coverage").validate(&place.json("one/coverage.json")).unwrap();
    // The page contains the text of the RTL, escaped.
    let code = ["hw_state_d  = hw_state;", "answer_valid &lt;= cmd_taken;"];
    assert_contains(&place.text("one/report.html"), &code);
    // lcov reads the file in the run directory.
    let mut genhtml = Command::new("genhtml");
    genhtml.args(["--branch-coverage", "--output-directory", "html", "coverage.info"]);
    let output = genhtml.current_dir(place.path("one")).output();
    assert_code(&output.expect("scripts/test installs lcov"), 0);
    let shown = fs::read(place.path("one/html/sources/QpStateCtrl.sv.gcov.html")).unwrap();
    assert!(String::from_utf8_lossy(&shown).contains("qp_written"));
}

#[test]
fn a_line_that_no_case_reaches_is_an_uncovered_point_of_user_rtl() {
    let line = "      if (evt_enters) evt_tail <= evt_tail + PTR_ONE;";
    let printed = changed(line, &format!("{line}\n      if (rst) answer_valid <= 1'b1;"));
    assert_contains(&printed, &["not reached: QpStateCtrl.sv:255, branch if, profile spec"]);
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
    let printed = changed(
        "  assign rsp_valid = answer_valid;",
        "  logic toggles;\n  always_ff @(posedge clk) begin\n    \
         if (cmd_valid && is_reliable(cmd_service)) toggles <= !toggles;\n  end\n  \
         assign rsp_valid = answer_valid;",
    );
    assert!(!printed.contains("not reached"), "{printed}");
    assert_contains(&printed, &["branches 100 % of 32"]);
}

/// The second statement never holds: no answer is valid in reset.
#[test]
fn cover_statements_of_the_rtl_are_a_group_of_their_own() {
    let place = Place::with_change(
        "QpStateCtrl.sv",
        "  assign rsp_valid = answer_valid;",
        "  taken: cover property (@(posedge clk) cmd_valid && cmd_ready);\n  \
         never: cover property (@(posedge clk) rst && rsp_valid);\n  assign rsp_valid = answer_valid;",
    );
    let plain = place.exits(0, &format!("{COVERED} --out plain"));
    assert!(!plain.contains("cover statements"), "{plain}");
    // Other versions leave them out together with assertions.
    let more = if plain.contains("Verilator 5.006,") { "" } else { "--assertions" };
    let covered = ["cover statements 50.0 % of 2"];
    place.prints(0, &covered, &format!("{COVERED} --rtl rtl --out out {more}"));
    let database: String = place.text("out/coverage.json").split_whitespace().collect();
    assert_contains(&database, &["\"cover\",\"taken\"", "\"cover\",\"never\""]);
    let page = place.text("out/report.html");
    let cases = page.split("cover taken</code>: ").nth(1).unwrap().split('<').next().unwrap();
    assert!(cases.parse::<u64>().is_ok_and(|cases| cases > 0), "{cases}");
    assert!(page.contains("cover never</code>: 0"), "{page}");
}
