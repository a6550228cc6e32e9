//! Bad vectors: exit code 2, the file, the place and what was expected. No input panics.

use crate::common::{code, files, project, run, text};
use cosim::blocks::thread2::Thread2;
use cosim_core::vector::{self, VectorFile};
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::Path;
use tempfile::TempDir;

fn good() -> String {
    let path = files(&project().join("vectors/thread2"), "json")
        .into_iter()
        .find(|path| path.to_string_lossy().contains("t14-"))
        .expect("a vector of a SEND_ONLY");
    fs::read_to_string(path).unwrap()
}

/// What `cosim replay` says of a file with that text.
#[track_caller]
fn refused(content: &str, expected: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.json");
    fs::write(&path, content).unwrap();
    let output = run(["replay", path.to_str().unwrap()]);
    let said = text(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("bad.json"), "{said}");
    assert!(said.contains(expected), "expected `{expected}` in: {said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// The good vector with one piece replaced.
fn with(from: &str, to: &str) -> String {
    let good = good();
    assert!(good.contains(from), "the vector has no `{from}`");
    good.replacen(from, to, 1)
}

#[test]
fn the_good_vector_is_good() {
    assert!(vector::parse::<Thread2>(&good(), Path::new("good.json")).is_ok());
}

#[test]
fn what_is_no_json_or_no_vector() {
    refused("", "is empty");
    refused("not json", "1:2: expected ident");
    refused("[1, 2]", "expected");
    refused("{}", "missing field `format`");
    refused(&good()[..good().len() / 2], "EOF");
    refused(&(good() + "{}"), "trailing characters");
    refused(&with("cosim-vector", "cosim-image"), "expected `cosim-vector`");
    refused(&with("\"version\": 1", "\"version\": 3"), "version is 3, this program reads 1 to 2");
    refused(&with("\"block\": \"thread2\"", "\"block\": \"thread9\""), "expected thread2");
    refused(&with("\"block\": \"thread2\"", "\"block\": \"dll\""), "bad.json");
}

#[test]
fn fields_that_are_unknown_missing_or_do_not_fit() {
    refused(&with("\"pkt_length\"", "\"pkt_lenght\""), "unknown field `pkt_lenght`");
    refused(&with("\"recorded\": null", "\"recorded\": 7"), "recorded");
    refused(&with(",\n  \"recorded\": null", ""), "missing field `recorded`");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 32"), "packets[0].header.net_opcode");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 32"), "an integer from 0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": -1"), "an integer from 0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 4.5"), "an integer from 0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": \"SEND\""), "an integer from 0 to 31");
    refused(&with("\"raddr\": \"0x", "\"raddr\": \"0xfffffffffffffffff"), "at most 64 bits");
    refused(&with("\"raddr\": \"0x", "\"raddr\": \"zz"), "a hex string");
}

#[test]
fn an_impossible_order() {
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 1"), "SEND_MIDDLE without a SEND_FIRST");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 2"), "stimulus.traffic.packets[0].header");
}

#[test]
fn raw_pins_with_too_few_or_wrong_ports() {
    let vector = |cycles: &str| {
        format!(
            "{{\"format\": \"cosim-vector\", \"version\": 1, \"block\": \"thread2\", \"fixes\": \
             \"all\", \"origin\": {{\"about\": \"\"}}, \"stimulus\": {{\"cycles\": {cycles}}}, \
             \"recorded\": null}}"
        )
    };
    refused(&vector("[]"), "at least one cycle");
    refused(&vector("[{}]"), "missing port");
    refused(&vector("[{\"rst\": \"0x1\"}]"), "missing port");
    refused(&vector("[{\"rst\": \"0x2\"}]"), "not a hex string of at most 1 bits");
    refused(&vector("[{\"rst\": 1}]"), "stimulus.cycles[0].rst");
    refused(&vector("[{\"rts\": \"0x1\"}]"), "unknown port `rts`: expected an input, ");
    refused(&vector("[{\"rst\": \"0x1\", \"rst\": \"0x1\"}]"), "given twice");
}

#[test]
fn a_folder_a_huge_file_and_one_that_may_not_be_read() {
    let folder = TempDir::new().unwrap();
    let output = run(["replay", folder.path().to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("no vector is there"), "{}", text(&output));

    let huge = folder.path().join("huge.json");
    File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let begin = std::time::Instant::now();
    let output = run(["replay", huge.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("at most 512 MiB"), "{}", text(&output));
    assert!(begin.elapsed().as_secs() < 60, "it is not read");

    let binary = folder.path().join("binary.json");
    fs::write(&binary, [0xff, 0xfe, 0x00, 0x80]).unwrap();
    let output = run(["replay", binary.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("binary.json:1:1: is not UTF-8"), "{}", text(&output));

    let secret = folder.path().join("secret.json");
    fs::write(&secret, good()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read it all the same.
    if File::open(&secret).is_err() {
        assert_eq!(code(&run(["replay", secret.to_str().unwrap()])), 2);
    }
}

#[test]
fn the_first_bad_vector_stops_all_of_them() {
    let folder = TempDir::new().unwrap();
    let (good_path, bad) = (folder.path().join("good.json"), folder.path().join("bad.json"));
    fs::write(&good_path, good()).unwrap();
    fs::write(&bad, "{").unwrap();
    let output = run(["replay", good_path.to_str().unwrap(), bad.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(output.stdout.is_empty(), "nothing was replayed: {}", text(&output));
}

fn parse(content: &[u8]) -> bool {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("any.json");
    fs::write(&path, content).unwrap();
    match VectorFile::read(&path) {
        Ok(file) => file.parse::<Thread2>().is_ok(),
        Err(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes in the middle of a good vector are overwritten.
    #[test]
    fn damaged_vectors_never_panic(at in 0usize..4000, bytes in proptest::collection::vec(any::<u8>(), 1..8)) {
        let mut content = good().into_bytes();
        let at = at % content.len();
        let end = (at + bytes.len()).min(content.len());
        content[at..end].copy_from_slice(&bytes[..end - at]);
        parse(&content);
    }

    /// A good vector ends early.
    #[test]
    fn truncated_vectors_are_refused(length in 0usize..4000) {
        let good = good();
        let length = length % (good.trim_end().len() - 1);
        prop_assert!(!parse(&good.as_bytes()[..length]));
    }

    /// A number of a good vector becomes another one: it fits its field, or is refused.
    #[test]
    fn numbers_fit_or_are_refused(value in any::<i64>()) {
        let accepted = parse(with("\"pkt_length\": ", &format!("\"pkt_length\": {value}, \"x\": ")).as_bytes());
        prop_assert!(!accepted, "an extra field is never accepted");
        let replaced = good().replacen("\"service_type\": 0", &format!("\"service_type\": {value}"), 1);
        prop_assert_eq!(parse(replaced.as_bytes()), (0..8).contains(&value));
    }
}
