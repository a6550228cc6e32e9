//! Vector files: which files of a folder are vectors, and what is refused before it is read.

use crate::common::{Place, assert_code, files, project, text};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;

/// A matching vector of the corpus.
fn vector() -> String {
    fs::read_to_string(files(&project().join("vectors/qp"), "json").remove(0)).unwrap()
}

fn pipe(place: &Place, name: &str) {
    mknodat(CWD, place.path(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn link(place: &Place, target: &str, name: &str) {
    symlink(place.path(target), place.path(name)).unwrap();
}

/// Replays vectors, and checks their number and that other files are listed.
#[track_caller]
fn replays(place: &Place, vectors: &str, count: usize, skipped: &str) {
    let output = place.run(&format!("replay --fixes spec --format json {vectors}"));
    assert_code(&output, 0);
    let reports: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(reports.len(), count, "{vectors}: {printed}");
    assert!(printed.contains(skipped), "{vectors}: {printed}");
}

#[track_caller]
fn refused(place: &Place, vectors: &str, words: &str) {
    let output = place.run(&format!("replay {vectors}"));
    assert_code(&output, 2);
    let is_named = text(&output).contains(words);
    assert!(is_named && output.stdout.is_empty(), "{words}: {}", text(&output));
}

/// Regression test: a dangling link and `A.JSON` were skipped silently.
#[test]
fn every_vector_of_a_folder_is_replayed_and_skipped_files_are_listed() {
    let place = Place::new();
    for name in ["corpus/a.json", "corpus/B.JSON", "elsewhere/d.json"] {
        place.write(name, &vector());
    }
    link(&place, "elsewhere/d.json", "corpus/c.json");
    link(&place, "elsewhere", "corpus/linked");
    place.write("corpus/schema.json", "{}");
    place.write("corpus/README.md", "");
    replays(&place, "corpus", 4, "corpus/schema.json");
    // A pattern also matches folders.
    replays(&place, "'corp*'", 4, "");

    for (target, name, vectors, words) in [
        ("nowhere", "gone", "corpus", "corpus/gone"),
        ("nowhere", "gone.json", "corpus", "gone.json"),
        ("nowhere", "gone.json", "'corpus/*.json'", "gone.json"),
        ("nowhere", "gone.json", "corpus/gone.json", "gone.json"),
        ("corpus", "loop", "corpus", "corpus/loop"),
    ] {
        let name = format!("corpus/{name}");
        link(&place, target, &name);
        refused(&place, vectors, words);
        fs::remove_file(place.path(&name)).unwrap();
    }
}

#[test]
fn pipes_and_devices_are_refused_as_vectors() {
    let place = Place::new();
    pipe(&place, "pipe.json");
    link(&place, "/dev/zero", "zero.json");
    for name in ["pipe.json", "zero.json"] {
        refused(&place, name, name);
        for command in ["explain", "shrink"] {
            place.exits(2, &format!("{command} {name}"));
        }
    }
    refused(&place, ".", "pipe.json");
    for (option, name) in [("--scenario", "./pipe"), ("--plan", "pipe.toml"), ("-f", "pipe.f")] {
        pipe(&place, name);
        place.exits(2, &format!("run {option} {name}"));
    }
}

/// Regression test: explanations of failures, which are beside their vectors, were read as vectors.
#[test]
fn the_failures_of_a_run_are_replayed_and_exported() {
    let place = Place::new();
    for name in ["x.json", "x.original.json"] {
        place.write(&format!("failures/{name}"), &vector());
    }
    place.write("failures/x.explained.json", "{\"fixes\": \"spec\"}");
    let named = place.names("failures").into_iter().map(|name| format!("failures/{name}"));
    let named: Vec<String> = named.collect();
    assert_eq!(named.len(), 3, "as a shell gives them");
    for given in ["failures", "'failures/*.json'", &named.join(" ")] {
        replays(&place, given, 2, "x.explained.json");
        place.exits(0, &format!("export --fixes spec -o bench {given}"));
        assert_eq!(place.names("bench").len(), 2);
        fs::remove_dir_all(place.path("bench")).unwrap();
    }
    refused(&place, "failures/x.explained.json", "x.explained.json");
}

/// Verilator would read them forever.
#[test]
fn pipes_and_devices_are_refused_as_rtl() {
    let top = fs::read_to_string(project().join("rtl/qp/QpStateCtrl.sv")).unwrap();
    let place = Place::new();
    // Each case has its own folder of RTL.
    let refused_with = |rtl: &[&str], included: &str, expected: &str| {
        place.write("rtl/top.v", &format!("`include {included}\n{top}"));
        for rtl in rtl {
            place.prints(2, &[expected], &format!("run --block qp --cases 1 --rtl {rtl}"));
        }
        fs::remove_dir_all(place.path("rtl")).unwrap();
        fs::create_dir_all(place.path("rtl/below")).unwrap();
    };
    let both = ["rtl", "rtl/top.v"];
    for included in ["\"/dev/zero\"", "`H\n`define H \"/dev/zero\""] {
        refused_with(&both, included, "/dev/zero");
    }
    link(&place, "/dev/zero", "rtl/endless.vh");
    refused_with(&both, "\"endless.vh\"", "endless.vh");
    pipe(&place, "rtl/below/endless");
    refused_with(&both, "\"below/endless\"", "below/endless");
    pipe(&place, "rtl/pipe.v");
    refused_with(&["rtl"], "\"nothing.vh\"", "pipe.v");
    // A link to the folder itself adds nothing.
    link(&place, "rtl", "rtl/loop");
    refused_with(&["rtl"], "\"nothing.vh\"", "nothing.vh");
    fs::File::create(place.path("rtl/top.v")).unwrap().set_len(1 << 40).unwrap();
    place.prints(2, &["too large"], "run --block qp --cases 1 --rtl rtl/top.v");
}
