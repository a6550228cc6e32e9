//! Invalid vectors: exit code 2, with the file, the place and what was expected. No input panics.

use crate::common::{Place, assert_error, assert_error_at, project, text};
use cosim::blocks::thread2::Thread2;
use cosim_core::vector::VectorFile;
use proptest::prelude::*;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;

/// A vector of a SEND_ONLY.
fn good() -> String {
    let path = project().join("vectors/thread2/t14-send-only-completes.json");
    fs::read_to_string(path).unwrap()
}

/// Checks that `cosim replay` refuses a file with this content with this error at this place.
#[track_caller]
fn refused(content: &str, number: &str, words: &str) {
    let place = Place::new();
    place.write("bad.json", content);
    let output = place.run("replay bad.json");
    assert_error_at(&output, number, "bad.json");
    assert_error_at(&output, number, words);
}

#[test]
fn files_and_fields_that_are_unknown_missing_or_do_not_fit() {
    refused("", "E0207", "");
    refused("not json", "E0204", "bad.json:1:2: ");
    refused("[1, 2]", "E0215", "bad.json:1:");
    refused("{}", "E0214", "`format`");
    refused(&good()[..good().len() / 2], "E0204", "");
    refused(&(good() + "{}"), "E0204", "");
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
        refused(&good().replacen(from, to, 1), number, words);
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
        refused(&vector, number, words);
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
    fs::set_permissions(place.path("secret.json"), Permissions::from_mode(0o000)).unwrap();
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
