//! `cosim run --block all`: a regression of several blocks, each with its own run directory.

use crate::common::{
    Place, assert_contains, assert_error_at, assert_is_for_anyone, blocks, looked_at, program,
    project,
};

const SHORT: &str = "run --cases 2 --packets 3 --out";

#[test]
fn all_is_every_block_one_after_another() {
    let place = Place::new();
    let printed = place.exits(0, &format!("{SHORT} out --block all"));
    let mut sorted: Vec<&str> = blocks().chain(["report.html"]).collect();
    sorted.sort_unstable();
    assert_eq!(place.names("out"), sorted);
    // The index page has a row for each block, which leads to its page.
    let seen = looked_at(&place.path("out"), "dll");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    assert_eq!(seen["facts"][0], "5 of 5 blocks passed");
    assert_eq!(seen["lists"]["blocks"]["left"], serde_json::json!(["dll"]));
    assert_eq!(seen["files"]["count"], 5);
    assert_is_for_anyone(&seen);
    // `cosim report` writes it again.
    let first = place.text("out/report.html");
    place.remove("out/report.html");
    place.exits(0, "report out");
    assert!(place.text("out/report.html") == first, "the same bytes");
    let words: Vec<String> = blocks().map(|name| format!("{name} passed")).collect();
    let last = format!("PASS  {} blocks: {}\n", words.len(), words.join(", "));
    assert_contains(&printed, &[&last]);
    for name in blocks() {
        let results = place.results(format!("out/{name}"));
        assert_eq!((&results["run"]["block"], &results["passed"]), (&name.into(), &true.into()));
        assert_contains(&printed, &[&format!("PASS  {name}, seed 1")]);
    }
}

/// A folder with anything else is not replaced.
#[test]
fn several_are_run_as_each_alone_and_once() {
    let place = Place::new();
    let summaries = place.json_of(0, &format!("{SHORT} both --block qp,dll --block qp"));
    let blocks = summaries.as_array().unwrap().iter().map(|summary| &summary["run"]["block"]);
    assert_eq!(blocks.collect::<Vec<_>>(), ["qp", "dll"]);
    for block in ["qp", "dll"] {
        place.exits(0, &format!("{SHORT} {block} --block {block}"));
        place.same_run(block, &format!("both/{block}"));
    }
    // Without --out, they are below one folder of runs.
    place.exits(0, "run --block qp,dll --cases 2 --packets 3");
    let names = place.names("runs");
    assert!(names[0] == "latest" && names[1].starts_with("qp+dll-1-"), "{names:?}");
    assert_eq!(place.names("runs/latest"), ["dll", "qp", "report.html"]);
    let again = format!("{SHORT} both --block dll,qp");
    place.fails("E0602", "", &again);
    place.exits(0, &format!("{again} --force"));
    place.write("both/notes.txt", "mine");
    place.fails("E0602", "`notes.txt`", &format!("{again} --force"));
    assert_eq!(place.names("both"), ["dll", "notes.txt", "qp", "report.html"]);
}

/// Neither the first block nor any other one is run in place of the one that the user means.
#[test]
fn none_of_several_is_the_default() {
    let place = Place::new();
    let rtl = project().join("rtl/qp").display().to_string();
    for line in [
        "run --cases 1",
        "run --rtl RTL",
        "watch --rtl RTL",
        "mutate --mutants 1",
        "prove",
        "bench",
        "diff built-in RTL",
    ] {
        // Outside of any crate, and in the crate of several blocks.
        for folder in [place.path("").as_path(), project()] {
            let line = line.replace("RTL", &rtl);
            let output = program().current_dir(folder).args(line.split(' ')).output().unwrap();
            for name in blocks().chain(["all"]) {
                assert_error_at(&output, "E0109", &[&format!("--block {name}")]);
            }
        }
    }
    assert_eq!(place.names(""), [""; 0], "nothing is written");
    // A vector and a case name their block.
    place.exits(0, &format!("replay --quiet {}", project().join("vectors/qp/").display()));
    place.exits(0, "run --case qp/spec/drain/0 --out alone");
    // A case may be of any of several: one block, no folder below.
    place.exits(0, "run --block all --case qp/spec/drain/0 --out out");
    assert!(place.has_file("out/results.json"));
}

#[test]
fn one_that_fails_fails_the_regression_and_the_others_run() {
    let place = Place::with_bug("dll/13-skip-missing");
    let run = "run --block dll,qp --rtl rtl --fixes spec --max-failures 1 --quiet";
    let last = "FAIL  2 blocks: dll failed, qp passed\n";
    place.prints(1, &[last], &format!("{run} --no-shrink --no-waves --out out"));
    assert_eq!(place.results("out/qp")["passed"], true);
    // Its folder is replayed as a whole.
    place.exits(0, "replay out --rtl built-in");
    place.exits(1, "replay out --rtl rtl");
}

/// Joining compiles nothing again: the blocks are the same objects, and the identity changes with
/// each of the programs.
#[test]
#[allow(clippy::disallowed_macros)] // `program!` names the folder of this crate.
fn programs_are_joined_with_their_blocks() {
    let other: &'static cosim_core::Program = Box::leak(Box::new(cosim_core::Program {
        identity: cosim_core::Identity { sources: "other", ..cosim::PROGRAM.identity },
        blocks: &cosim::PROGRAM.blocks[..1],
        ..*cosim::PROGRAM
    }));
    let rest: &'static cosim_core::Program = Box::leak(Box::new(cosim_core::Program {
        blocks: &cosim::PROGRAM.blocks[1..],
        ..*cosim::PROGRAM
    }));
    let joined = cosim_core::program!(join rest, other);
    let named: Vec<&str> = joined.blocks.iter().map(|block| block.info().name).collect();
    assert_eq!(named, ["dll", "qp", "recv", "rx", "thread2"]);
    assert_eq!(joined.identity.sources, format!("{}+other", cosim::PROGRAM.identity.sources));
    assert_eq!(joined.folder, cosim::PROGRAM.folder);
    assert_eq!(joined.repeated(), None);
    let twice = cosim_core::program!(join cosim::PROGRAM, other);
    assert_eq!(twice.repeated(), Some("thread2"));
}
