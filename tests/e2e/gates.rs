//! `docs/how-to/gates.md`: the netlist of good RTL behaves like the RTL, and that of bad RTL does
//! not.

use crate::common::{Place, patches, source};

/// RTL with a mismatch between simulation and synthesis.
fn bad() -> Vec<String> {
    let patches = patches("bad_gates/recv");
    assert!(patches.len() >= 3, "{patches:?}");
    patches
}

const OPTIONS: &str = "--block recv --fixes spec --rtl rtl --out";
const MUTATE: &str = "mutate --mutants 5 --cases 1 --no-judge";

/// Types the commands of the page in a place with `rtl`. The last one is the run of the netlist.
#[track_caller]
fn run_of_the_netlist(place: &Place, exit: i32, words: &str, more: &str) {
    let page = source("docs/how-to/gates.md");
    let block: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let at = block.iter().position(|line| line.starts_with("cosim ")).expect("a run");
    place.typed(0, &block[..at].join("\n"));
    place.prints(exit, &[words], &format!("{} {more}", block[at].trim_start_matches("cosim ")));
}

#[test]
fn the_netlist_of_good_rtl_passes_in_both_simulators() {
    let place = Place::with_rtl();
    for simulator in ["verilator", "icarus"] {
        let words = "RTL files: netlist.v; built-in: none";
        run_of_the_netlist(&place, 0, words, &format!("--simulator {simulator}"));
    }
}

#[test]
fn a_simulation_synthesis_mismatch_is_found() {
    are_found(&bad()[..1]);
}

#[test]
#[ignore = "slow: a netlist for each changed RTL"]
fn all_simulation_synthesis_mismatches_are_found() {
    are_found(&bad()[1..]);
}

/// A run of each passes, and a run of its netlist fails.
fn are_found(patches: &[String]) {
    for patch in patches {
        let place = Place::with_patch(patch);
        place.exits(0, "run --block recv --fixes repaired --cases 2 --rtl rtl --out good");
        let options = "--no-shrink --no-waves --out bad";
        run_of_the_netlist(&place, 1, "mismatch at cycle", options);
    }
}

/// Bugs that Yosys does not see in the original files: in branches of macros that Yosys defines,
/// and after a comment that Yosys obeys. One RTL contains all of them, so that each command
/// compiles once.
#[test]
fn proofs_and_mutation_see_bugs_that_synthesis_skips() {
    let (place, file) = (Place::with_rtl(), "rtl/recv/RecvSideFsm.sv");
    for (port, before, behind) in [
        ("copy", "`ifdef SYNTHESIS", "`endif"),
        ("keep", "`ifdef YOSYS", "`endif"),
        ("release", "// synopsys translate_off\n!rst ? ~NO_ID :\n// synopsys translate_on", ""),
    ] {
        let good = format!("!{port}_valid ? NO_ID : ");
        place.edit(file, &good, &format!("\n{before}\n{good}\n{behind}\n"));
    }
    place.exits(1, &format!("prove --only '_id is 0 while' {OPTIONS} proof"));
    let proof = place.json("proof/answers.json");
    let properties = proof["profiles"][0]["rows"].as_array().unwrap();
    assert_eq!(properties.len(), 3, "{proof}");
    assert!(properties.iter().all(|property| property["status"] == "failing"), "{proof}");
    // Cycle and port are those of the RTL's own failure.
    let words = ["mismatch at cycle 1 in ", ": copy_id is "];
    place.prints(1, &words, &format!("{MUTATE} {OPTIONS} mutation"));
}

/// The difference is found before anything is counted.
#[test]
fn a_netlist_that_differs_ends_proofs_and_mutation() {
    let place = Place::with_patch(&bad()[0]);
    let printed = place.exits(1, &format!("{MUTATE} {OPTIONS} mutation"));
    // The case and cycle of the difference between RTL and netlist.
    let at = regex::Regex::new(r"recv\S*:\s+at\s+cycle\s+[1-9]").unwrap();
    assert!(at.is_match(&printed), "{printed}");
    assert!(!place.has_file("mutation/mutate.json"), "nothing is counted");
    place.exits(1, &format!("prove --only 'copy_id is 0' {OPTIONS} proof"));
    let profile = &place.json("proof/answers.json")["profiles"][0];
    assert!(profile["because"].is_string(), "{profile}");
    assert_eq!(profile["rows"].as_array().map(Vec::len), Some(0), "{profile}");
}
