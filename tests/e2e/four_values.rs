//! `--simulator icarus`: good RTL shows no unknown value, and four-state bugs in bad RTL are found.

use crate::common::{Place, blocks, corpus, patches, vector_of};
use rayon::prelude::*;
use std::os::unix::fs::symlink;

/// The vectors of the corpus are in `export`.
#[test]
fn good_rtl_shows_no_unknown_value() {
    let run = "run --block qp,recv,dll --simulator icarus --cases 1 --packets 20 --out run";
    Place::new().exits(0, run);
}

/// The compiler without its simulator. One package contains both, and the error names it.
#[test]
fn without_vvp_the_error_says_how_to_install_it() {
    let place = Place::new();
    for path in std::env::split_paths(&std::env::var_os("PATH").unwrap()) {
        for entry in std::fs::read_dir(path).into_iter().flatten().map(Result::unwrap) {
            if entry.file_name() != "vvp" {
                // The first program of a name is the one that is found.
                let _ = symlink(entry.path(), place.path("").join(entry.file_name()));
            }
        }
    }
    let path = place.path("").display().to_string();
    let line = format!("PATH={path} replay --simulator icarus {}", vector_of("recv"));
    place.fails("E0906", "apt-get install iverilog", &line);
}

/// Each cycle takes Icarus a part of a second, and the case several times the hang timeout.
#[test]
fn a_slow_design_is_no_hang() {
    const WORK: &str = "  integer work_turn; reg [63:0] work_sum;
  always @(posedge clk) for (work_turn = 0; work_turn < 400000; work_turn = work_turn + 1)
    work_sum = work_turn[0] ? work_sum * 64'd3 : {32'd0, work_turn};
endmodule";
    let place = Place::with_change("ReqRecvCore_Thread_2.v", "endmodule", WORK);
    let vector = corpus("thread2/raw-ready-glitches-of-a-send");
    let options = "--rtl rtl --simulator icarus --stuck-after 1s --fixes spec";
    place.exits(0, &format!("replay {vector} {options}"));
}

/// RTL with bugs that only four-state simulation shows.
fn unknown_patches() -> Vec<String> {
    let folders = blocks().map(|block| format!("bad_unknown/{block}"));
    let patches: Vec<String> = folders.flat_map(|folder| patches(&folder)).collect();
    assert!(patches.len() >= 6, "{patches:?}");
    patches
}

#[test]
fn a_four_state_bug_is_found_shrunk_explained_and_replayed() {
    are_found(&unknown_patches()[..1]);
}

#[test]
#[ignore = "slow: a simulation in Icarus for each changed RTL"]
fn all_four_state_bugs_are_found() {
    are_found(&unknown_patches()[1..]);
}

/// Each passes a two-state run, in which registers are zeros, ones or random, and idle pins are
/// noise.
fn are_found(patches: &[String]) {
    patches.par_iter().for_each(|patch| {
        let place = Place::with_patch(patch);
        let block = patch.split('/').nth(1).unwrap();
        let line = format!("run --block {block} --rtl rtl --max-failures 1 --quiet --simulator");
        place.exits(0, &format!("{line} verilator --cases 8 --out verilator"));
        place.exits(1, &format!("{line} icarus --cases 2 --out icarus"));
        let results = place.results("icarus");
        assert_eq!(results["totals"]["unknown"], 1, "{}", results["totals"]);
        let signature = results["failures"][0]["signature"].as_str().unwrap();
        assert!(signature.starts_with("unknown-"), "{patch}: {signature}");
        let vector = place.vector("icarus");
        let waves = place.path(&vector).with_extension("fst");
        assert!(waves.is_file(), "{patch}: {waves:?}");
        let words = ["unknown at cycle", "the RTL violates the specification"];
        place.prints(1, &words, &format!("explain --recorded-rtl {vector}"));
        // The vector records the simulator.
        place.exits(0, &format!("replay --recorded-rtl --expect-recorded {vector}"));
        // Two values do not show it, and good RTL does not, either.
        place.exits(0, &format!("replay --recorded-rtl --simulator verilator {vector}"));
        place.exits(0, &format!("replay --rtl built-in --simulator icarus {vector}"));
    });
}
