//! Invalid vectors: exit code 2, with the file, the place and what was expected. No input panics.

use crate::common::{assert_error, assert_error_at, files, project, run, text};
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

/// Checks that `cosim replay` refuses a file with this content with this error at this place.
#[track_caller]
fn refused(content: &str, number: &str, place: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.json");
    fs::write(&path, content).unwrap();
    let output = run(["replay", path.to_str().unwrap()]);
    assert_error_at(&output, number, "bad.json");
    assert_error_at(&output, number, place);
}

/// The good vector with one replacement.
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
fn files_that_are_no_json_or_no_vector_are_refused() {
    refused("", "E0207", "");
    refused("not json", "E0204", "bad.json:1:2: ");
    refused("[1, 2]", "E0215", "bad.json:1:");
    refused("{}", "E0214", "`format`");
    refused(&good()[..good().len() / 2], "E0204", "");
    refused(&(good() + "{}"), "E0204", "");
    refused(&with("cosim-vector", "cosim-image"), "E0206", "`cosim-vector`");
    refused(&with("\"version\": 1", "\"version\": 3"), "E0206", "reads 1");
    refused(&with("\"block\": \"thread2\"", "\"block\": \"thread9\""), "E0209", "");
    refused(&with("\"block\": \"thread2\"", "\"block\": \"dll\""), "E0213", "bad.json:");
}

#[test]
fn fields_that_are_unknown_missing_or_do_not_fit() {
    refused(&with("\"pkt_length\"", "\"pkt_lenght\""), "E0213", "`pkt_lenght`");
    refused(&with("\"recorded\": null", "\"recorded\": 7"), "E0215", "recorded");
    refused(&with(",\n  \"recorded\": null", ""), "E0214", "`recorded`");
    refused(
        &with("\"net_opcode\": 4", "\"net_opcode\": 32"),
        "E0215",
        "packets[0].header.net_opcode",
    );
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 32"), "E0215", "0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": -1"), "E0215", "0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": 4.5"), "E0215", "0 to 31");
    refused(&with("\"net_opcode\": 4", "\"net_opcode\": \"SEND\""), "E0215", "0 to 31");
    refused(&with("\"raddr\": \"0x", "\"raddr\": \"0xfffffffffffffffff"), "E0215", "64 bits");
    refused(&with("\"raddr\": \"0x", "\"raddr\": \"zz"), "E0215", "packets[0].header.raddr");
}

#[test]
fn an_impossible_order() {
    refused(
        &with("\"net_opcode\": 4", "\"net_opcode\": 1"),
        "E0208",
        "stimulus.traffic.packets[0].header",
    );
    refused(
        &with("\"net_opcode\": 4", "\"net_opcode\": 2"),
        "E0208",
        "stimulus.traffic.packets[0].header",
    );
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
    refused(&vector("[]"), "E0208", "stimulus.cycles");
    refused(&vector("[{}]"), "E0215", "stimulus.cycles[0]");
    refused(&vector("[{\"rst\": \"0x1\"}]"), "E0215", "stimulus.cycles[0]");
    refused(&vector("[{\"rst\": \"0x2\"}]"), "E0215", "stimulus.cycles[0].rst");
    refused(&vector("[{\"rst\": 1}]"), "E0215", "stimulus.cycles[0].rst");
    refused(&vector("[{\"rts\": \"0x1\"}]"), "E0215", "`rts`");
    refused(
        &vector("[{\"rst\": \"0x1\", \"rst\": \"0x1\"}]"),
        "E0215",
        "stimulus.cycles[0]: port `rst`",
    );
}

#[test]
fn a_folder_a_huge_file_and_one_that_may_not_be_read() {
    let folder = TempDir::new().unwrap();
    let output = run(["replay", folder.path().to_str().unwrap()]);
    assert_error(&output, "E0207");

    let huge = folder.path().join("huge.json");
    File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let begin = std::time::Instant::now();
    let output = run(["replay", huge.to_str().unwrap()]);
    assert_error_at(&output, "E0202", "512 MiB");
    assert!(begin.elapsed().as_secs() < 60, "it is not read");

    let binary = folder.path().join("binary.json");
    fs::write(&binary, [0xff, 0xfe, 0x00, 0x80]).unwrap();
    let output = run(["replay", binary.to_str().unwrap()]);
    assert_error_at(&output, "E0203", "binary.json:1:1: ");

    let secret = folder.path().join("secret.json");
    fs::write(&secret, good()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read it anyway.
    if File::open(&secret).is_err() {
        assert_error(&run(["replay", secret.to_str().unwrap()]), "E0201");
    }
}

#[test]
fn the_first_bad_vector_stops_all_of_them() {
    let folder = TempDir::new().unwrap();
    let (good_path, bad) = (folder.path().join("good.json"), folder.path().join("bad.json"));
    fs::write(&good_path, good()).unwrap();
    fs::write(&bad, "{").unwrap();
    let output = run(["replay", good_path.to_str().unwrap(), bad.to_str().unwrap()]);
    assert_error(&output, "E0204");
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

    /// Overwrites bytes in the middle of a good vector.
    #[test]
    fn damaged_vectors_never_panic(at in 0usize..4000, bytes in proptest::collection::vec(any::<u8>(), 1..8)) {
        let mut content = good().into_bytes();
        let at = at % content.len();
        let end = (at + bytes.len()).min(content.len());
        content[at..end].copy_from_slice(&bytes[..end - at]);
        parse(&content);
    }

    /// Truncates a good vector.
    #[test]
    fn truncated_vectors_are_refused(length in 0usize..4000) {
        let good = good();
        let length = length % (good.trim_end().len() - 1);
        prop_assert!(!parse(&good.as_bytes()[..length]));
    }

    /// Changes a number in a good vector: it must fit its field or be refused.
    #[test]
    fn numbers_fit_or_are_refused(value in any::<i64>()) {
        let accepted = parse(with("\"pkt_length\": ", &format!("\"pkt_length\": {value}, \"x\": ")).as_bytes());
        prop_assert!(!accepted, "an extra field is never accepted");
        let replaced = good().replacen("\"service_type\": 0", &format!("\"service_type\": {value}"), 1);
        prop_assert_eq!(parse(replaced.as_bytes()), (0..8).contains(&value));
    }
}
