//! Invalid arguments and scenario files: exit code 2, a helpful message, and nothing written.

use crate::common::{
    Place, assert_code, assert_error, assert_error_at, files, program, project, script, text,
};
use crate::full_disk::under;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

/// The error message cannot be written.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = program();
    let status = command.args(["replay", "/nowhere/vector.json"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2), "{status}");
}

#[test]
fn bad_arguments_exit_2_and_name_the_argument() {
    let place = Place::new();
    let other = "vectors/thread2/d1-write-with-immediate-skips-units.json";
    let other = format!("replay --block dll {}", project().join(other).display());
    place.fails("E0209", "thread2", &other);
    for (line, number, words) in [
        ("rnu", "E0101", "`run`"),
        ("run --blok qp", "E0101", "'--block'"),
        ("run --block tread2", "E0102", "did you mean `thread2`?"),
        ("run --scenario smok", "E0105", "did you mean `smoke`?"),
        ("run --fixes spce", "E0103", "did you mean `spec`?"),
        ("run --case thread2/spc/smoke/0", "E0103", "did you mean `spec`?"),
        ("run --seed=-1", "E0101", "0 to 2^64"),
        ("run --shard 3/2", "E0101", "I/N"),
        ("run --packets 20001", "E0101", "from 1 to 20000"),
        ("run --case thread2/spec/17", "E0106", "BLOCK/PROFILE/SCENARIO/INDEX"),
        ("run --scenario smoke --scenario smoke", "E0212", "`smoke`"),
        ("run --case thread2/spec/smoke/0 --fixes repaired", "E0106", "--fixes"),
        ("run --cases 1e308", "E0101", "from 0 to 140737488355327"),
        ("run --threads inf", "E0101", "from 1 to 1024"),
        ("run --time 584542046090y", "E0101", "365days"),
        ("run --memory-limit 18446744073709551616", "E0101", "bytes"),
        ("run --save-vectors 18446744073709551615", "E0101", "from 0 to"),
        ("mutate --mutants 18446744073709551615", "E0101", "from 1 to 100000"),
        ("run --rtl /nowhere", "E0301", "/nowhere"),
        ("run --unknown", "E0101", "--unknown"),
        ("replay", "E0101", "VECTOR"),
        ("replay /nowhere.json", "E0201", "/nowhere.json: "),
    ] {
        let out = if line.starts_with("run ") { "--out out" } else { "" };
        place.fails(number, words, &format!("{line} {out}"));
        assert!(!place.has("out"), "{line} wrote something");
    }
    // Nothing is similar.
    let printed = place.exits(2, "run --block zzzzzz");
    assert!(!printed.contains("did you mean"), "{printed}");
}

#[test]
fn a_bad_scenario_file_is_named_with_line_and_column() {
    let place = Place::new();
    let weights = |weights: &str| {
        format!("{{\"name\": \"x\", \"about\": \"\",\n\"weights\": {{ {weights} }} }}")
    };
    for (content, number, words) in [
        ("{".to_owned(), "E0204", "s.json:1:1: "),
        (weights("\"gaps\": 1"), "E0213", "s.json:2:"),
        (weights("\"gap\": 200"), "E0215", "0 to 100"),
        (weights("\"empty\": 80, \"jumbo\": 40"), "E0215", "s.json:2:39: weights: "),
        (weights("").replace("\"name\": \"x\", ", ""), "E0214", "`name`"),
        (weights("").replace("\"x\"", "\"a/b\""), "E0212", "`a/b`"),
        ("[]".to_owned(), "E0215", "s.json:1:"),
    ] {
        place.write("s.json", &content);
        let output = place.run("run --scenario s.json --out /nowhere/out");
        assert_error_at(&output, number, "s.json");
        assert_error_at(&output, number, words);
    }
}

#[test]
fn help_version_and_codes_are_no_errors_and_no_command_prints_the_usage() {
    let place = Place::new();
    for (code, line, words) in [
        (0, "--help", ""),
        (0, "--version", ""),
        (0, "run --help", ""),
        (0, "list", ""),
        (2, "", "Usage"),
        (0, "error e0213", "E0213: "),
        (0, "error", "\n  E0213  "),
    ] {
        place.prints(code, &[words], line);
    }
    place.fails("E0101", "", "error E0000");
}

/// Files record names as text.
#[test]
fn names_that_are_not_utf_8_exit_2_before_anything_runs() {
    let bad = |name: &str| OsString::from_vec([name.as_bytes(), b"\xff"].concat());
    let place = Place::new();
    let vector = files(&project().join("vectors/recv"), "json").remove(0);
    let at = |name: &str| place.path("").join(bad(name)).into_os_string();
    fs::create_dir(at("dir")).unwrap();
    fs::copy(&vector, at("vector")).unwrap();
    let output = place.command("run --block qp --cases 1 --out").arg(at("out")).output().unwrap();
    assert_error(&output, "E0101");
    assert!(!Path::new(&at("out")).exists());
    // A vector below a named folder.
    place.write("below/README.md", "");
    let named = OsString::from_vec(b"below/a\xff.json".to_vec());
    fs::rename(at("vector"), place.path("").join(named)).unwrap();
    place.fails("E0207", "", "replay below");
    for variable in ["TMPDIR", "COSIM_CACHE"] {
        let output = place.command("cache").env(variable, at("dir")).output().unwrap();
        assert_code(&output, 2);
    }
    let output = place.command("list").current_dir(at("dir")).output().unwrap();
    assert_error(&output, "E0101");
}

#[test]
fn a_path_that_begins_with_a_dash_is_no_option_of_the_browser() {
    let place = Place::new();
    place.write("-run/report.html", "");
    let printed = place.exits(0, "BROWSER=true open --print -- -run");
    let path = place.path("-run/report.html").canonicalize().unwrap();
    assert_eq!(printed.trim(), format!("true {}", path.display()));
}

#[test]
fn the_program_with_the_blocks_may_be_a_script() {
    let place = Place::new();
    let real = Path::new(program().get_program()).with_file_name("cosim-blocks");
    script(&place.path("blocks"), &format!("exec '{}' \"$@\"", real.display()));
    // Its path may be relative.
    place.exits(0, "COSIM_BLOCKS=blocks run --block qp --cases 1 --out out");
    // Its failure is the error, although nobody trusts the crate of the folder.
    fs::create_dir(place.path("bin")).unwrap();
    let copy = place.path("bin/cosim");
    fs::copy(program().get_program(), &copy).unwrap();
    script(&place.path("bin/cosim-blocks"), "echo broken >&2; exit 1");
    let mut command = std::process::Command::new(copy);
    let output = command.arg("list").current_dir(project()).output().unwrap();
    assert_error(&output, "E0908");
}

/// Threads need address space. With too little of it, a command ends with an error.
#[test]
fn without_threads_a_command_ends_with_an_error() {
    let place = Place::new();
    let run = "run --block qp --cases 1 --force --out out";
    let mut has_ended = false;
    for limit in (20..400).step_by(20) {
        let output = under(&format!("ulimit -v {limit}000; exec"), &place, "", run);
        let printed = text(&output);
        assert!(!printed.contains("internal error"), "{limit} MB: {printed}");
        match output.status.code() {
            // Without memory, it ends by a signal of the system or cannot be loaded.
            Some(0 | 127) | None => {}
            Some(3) => has_ended |= printed.contains("error[E0910]"),
            other => panic!("{limit} MB: {other:?}: {printed}"),
        }
    }
    assert!(has_ended, "some limit permits the program but not its threads");
}
