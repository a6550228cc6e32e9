//! Vector files: which files of a folder are vectors, and what is refused. Invalid ones exit with 2
//! and name the file, the place and what was expected. No input panics.

use crate::common::{
    Place, assert_code, assert_error, assert_error_at, corpus, source, text, vector_of,
};
use cosim::blocks::thread2::Thread2;
use cosim_core::vector::VectorFile;
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};

/// A matching vector of the corpus.
fn vector() -> String {
    source(vector_of("qp"))
}

fn pipe(place: &Place, name: &str) {
    mknodat(CWD, place.path(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
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
    place.link(place.path("elsewhere/d.json"), "corpus/c.json");
    place.link(place.path("elsewhere"), "corpus/linked");
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
        place.link(place.path(target), &name);
        refused(&place, vectors, words);
        place.remove(&name);
    }
}

#[test]
fn pipes_and_devices_are_refused_as_vectors() {
    let place = Place::new();
    pipe(&place, "pipe.json");
    place.link("/dev/zero", "zero.json");
    for name in ["pipe.json", "zero.json"] {
        refused(&place, name, name);
        place.exits(2, &format!("explain {name}"));
        place.exits(2, &format!("shrink {name}"));
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
    place.write("failures/x.json", &vector());
    place.write("failures/x.original.json", &vector());
    place.write("failures/x.explained.json", "{\"fixes\": \"spec\"}");
    let named = place.names("failures").into_iter().map(|name| format!("failures/{name}"));
    let named: Vec<String> = named.collect();
    assert_eq!(named.len(), 3, "as a shell gives them");
    for given in ["failures", "'failures/*.json'", &named.join(" ")] {
        replays(&place, given, 2, "x.explained.json");
        place.exits(0, &format!("export --fixes spec -o bench {given}"));
        assert_eq!(place.names("bench").len(), 2);
        place.remove("bench");
    }
    refused(&place, "failures/x.explained.json", "x.explained.json");
}

/// Verilator would read them forever.
#[test]
fn pipes_and_devices_are_refused_as_rtl() {
    let top = source("rtl/qp/QpStateCtrl.sv");
    let place = Place::new();
    // Each case has its own folder of RTL.
    let refused_with = |rtl: &[&str], included: &str, expected: &str| {
        place.write("rtl/top.v", &format!("`include {included}\n{top}"));
        for rtl in rtl {
            place.prints(2, &[expected], &format!("run --block qp --cases 1 --rtl {rtl}"));
        }
        place.remove("rtl");
        fs::create_dir_all(place.path("rtl/below")).unwrap();
    };
    let both = ["rtl", "rtl/top.v"];
    for included in ["\"/dev/zero\"", "`H\n`define H \"/dev/zero\""] {
        refused_with(&both, included, "/dev/zero");
    }
    place.link("/dev/zero", "rtl/endless.vh");
    refused_with(&both, "\"endless.vh\"", "endless.vh");
    pipe(&place, "rtl/below/endless");
    refused_with(&both, "\"below/endless\"", "below/endless");
    pipe(&place, "rtl/pipe.v");
    refused_with(&["rtl"], "\"nothing.vh\"", "pipe.v");
    // A link to the folder itself adds nothing.
    place.link(place.path("rtl"), "rtl/loop");
    refused_with(&["rtl"], "\"nothing.vh\"", "nothing.vh");
    File::create(place.path("rtl/top.v")).unwrap().set_len(1 << 40).unwrap();
    place.prints(2, &["too large"], "run --block qp --cases 1 --rtl rtl/top.v");
}

/// A vector of a SEND_ONLY.
fn good() -> String {
    source(corpus("thread2/t14-send-only-completes"))
}

/// Checks that `cosim replay` refuses a file with this content with this error at this place.
#[track_caller]
fn invalid(content: &str, number: &str, words: &str) {
    let place = Place::with_files(&[("bad.json", content)]);
    let output = place.run("replay bad.json");
    assert_error_at(&output, number, &["bad.json", words]);
}

#[test]
fn files_and_fields_that_are_unknown_missing_or_do_not_fit() {
    invalid("", "E0207", "");
    invalid("not json", "E0204", "bad.json:1:2: ");
    invalid("[1, 2]", "E0215", "bad.json:1:");
    invalid("{}", "E0214", "`format`");
    invalid(&good()[..good().len() / 2], "E0204", "");
    invalid(&(good() + "{}"), "E0204", "");
    let opcode = r#""net_opcode": 4"#;
    for (from, to, number, words) in [
        ("cosim-vector", "cosim-image", "E0206", "`cosim-vector`"),
        (r#""version": 1"#, r#""version": 3"#, "E0206", "reads 1"),
        (r#""block": "thread2""#, r#""block": "thread9""#, "E0209", ""),
        (r#""block": "thread2""#, r#""block": "dll""#, "E0213", "bad.json:"),
        (r#""pkt_length""#, r#""pkt_lenght""#, "E0213", "`pkt_lenght`"),
        (r#""recorded": null"#, r#""recorded": 7"#, "E0215", "recorded"),
        (",\n  \"recorded\": null", "", "E0214", "`recorded`"),
        (opcode, r#""net_opcode": 32"#, "E0215", "packets[0].header.net_opcode"),
        (opcode, r#""net_opcode": "SEND""#, "E0215", "0 to 31"),
        (r#""raddr": "0x"#, r#""raddr": "0xfffffffffffffffff"#, "E0215", "64 bits"),
        (r#""raddr": "0x"#, r#""raddr": "zz"#, "E0215", "packets[0].header.raddr"),
        // An impossible order.
        (opcode, r#""net_opcode": 1"#, "E0208", "stimulus.traffic.packets[0].header"),
    ] {
        assert!(good().contains(from), "the vector has no `{from}`");
        invalid(&good().replacen(from, to, 1), number, words);
    }
    // Pins of each cycle.
    for (cycles, number, words) in [
        ("", "E0208", "stimulus.cycles"),
        ("{}", "E0215", "stimulus.cycles[0]"),
        (r#"{"rst": "0x1"}"#, "E0215", "stimulus.cycles[0]"),
        (r#"{"rst": "0x2"}"#, "E0215", "stimulus.cycles[0].rst"),
        (r#"{"rts": "0x1"}"#, "E0215", "`rts`"),
        (r#"{"rst": "0x1", "rst": "0x1"}"#, "E0215", "stimulus.cycles[0]: port `rst`"),
    ] {
        let vector = format!(
            r#"{{"format": "cosim-vector", "version": 1, "block": "thread2", "fixes": "all",
            "origin": {{"about": ""}}, "stimulus": {{"cycles": [{cycles}]}}, "recorded": null}}"#
        );
        invalid(&vector, number, words);
    }
}

#[test]
fn a_folder_a_huge_file_and_one_that_may_not_be_read() {
    let place = Place::new();
    place.fails("E0207", "", "replay .");
    File::create(place.path("huge.json")).unwrap().set_len(1 << 30).unwrap();
    let begin = std::time::Instant::now();
    place.fails("E0202", "512 MiB", "replay huge.json");
    assert!(begin.elapsed().as_secs() < 60, "it is not read");
    fs::write(place.path("binary.json"), [0xff, 0xfe, 0x00, 0x80]).unwrap();
    place.fails("E0203", "binary.json:1:1: ", "replay binary.json");
    place.write("secret.json", &good());
    place.set_mode("secret.json", 0o000);
    // Root can read it anyway.
    if File::open(place.path("secret.json")).is_err() {
        place.fails("E0201", "", "replay secret.json");
    }
    // The first bad vector stops all of them.
    place.write("good.json", &good());
    place.write("bad.json", "{");
    let output = place.run("replay good.json bad.json");
    assert_error(&output, "E0204");
    assert!(output.stdout.is_empty(), "nothing was replayed: {}", text(&output));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Overwrites bytes in the middle of a good vector.
    #[test]
    fn damaged_vectors_never_panic(at in 0usize..4000, bytes in proptest::collection::vec(any::<u8>(), 1..8)) {
        let mut content = good().into_bytes();
        let at = at % content.len();
        let end = (at + bytes.len()).min(content.len());
        content[at..end].copy_from_slice(&bytes[..end - at]);
        let place = Place::new();
        fs::write(place.path("any.json"), content).unwrap();
        let _ = VectorFile::read(&place.path("any.json")).map(|file| file.parse::<Thread2>());
    }
}
