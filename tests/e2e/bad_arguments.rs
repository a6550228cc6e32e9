//! Invalid arguments and scenario files: exit code 2, a helpful message, and nothing written.

use crate::common::{
    Place, assert_code, assert_error, assert_error_at, corpus, program, project, script, text,
    vector_of,
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
    let place = Place::with_rtl();
    place.write("mine/file", "mine");
    let other = corpus("thread2/d1-write-with-immediate-skips-units");
    let other = format!("replay --block dll {other}");
    let random = format!("replay --fixes random:2 {}", vector_of("recv"));
    let rows = [
        ("E0101", "run`?", "rnu"),
        ("E0101", "'--block'", "run --blok qp"),
        ("E0102", "did you mean `thread2`?", "run --block tread2"),
        ("E0105", "did you mean `smoke`?", "run --scenario smok"),
        ("E0103", "did you mean `spec`?", "run --fixes spce"),
        ("E0103", "did you mean `spec`?", "run --case thread2/spc/smoke/0"),
        ("E0101", "0 to 2^64", "run --seed=-1"),
        ("E0101", "I/N", "run --shard 3/2"),
        ("E0101", "from 1 to 20000", "run --packets 20001"),
        ("E0106", "BLOCK/PROFILE/SCENARIO/INDEX", "run --case thread2/spec/17"),
        ("E0106", "", "run --case qp/spec/default/1~6"),
        ("E0106", "", "run --case qp/spec/default/1~"),
        ("E0212", "`smoke`", "run --scenario smoke --scenario smoke"),
        ("E0106", "--fixes", "run --case thread2/spec/smoke/0 --fixes repaired"),
        ("E0101", "from 0 to 140737488355327", "run --cases 1e308"),
        ("E0101", "from 1 to 1024", "run --threads inf"),
        ("E0101", "365days", "run --time 584542046090y"),
        ("E0101", "bytes", "run --memory-limit 18446744073709551616"),
        ("E0101", "from 0 to", "run --save-vectors 18446744073709551615"),
        ("E0101", "from 1 to 100000", "mutate --mutants 18446744073709551615"),
        ("E0301", "/nowhere", "run --rtl /nowhere"),
        ("E0101", "--unknown", "run --unknown"),
        // Goals of coverage.
        ("E0101", "0 to 100", "run --block qp --min-coverage 101"),
        ("E0101", "0 to 100", "run --block qp --until-coverage 101"),
        ("E0101", "", "run --block qp --until-coverage 90 --min-coverage 90"),
        ("E0101", "", "run --until-coverage 90 --case qp/spec/default/1"),
        ("E0110", "", "run --block qp --until-coverage 50 --shard 1/2"),
        // Options that one of several blocks does not have.
        ("E0103", "block qp: --fixes: ", "run --block all --fixes repaired"),
        ("E0105", "block thread2: ", "run --block all --scenario rollover"),
        ("E0104", "block qp: --parameter", "run --block dll,qp --parameter REPLAY_DEPTH=4"),
        ("E0106", "--block", "run --block dll,qp --case thread2/spec/ring/0"),
        // Parameters. Random ones are of a run alone.
        ("E0103", "random:", "run --block recv --fixes spec,random:x"),
        ("E0103", "random:", &random),
        ("E0103", "random:", "prove --block recv --fixes random:2"),
        ("E0104", "the block has no parameters", "run --parameter REPLAY_DEPTH=2"),
        ("E0104", "a power of two from 2 to 2048", "run --block dll --parameter REPLAY_DEPTH=4096"),
        ("E0104", "a number from 2 to 65535", "run --block dll --parameter ACKNAK_LATENCY=65536"),
        ("E0104", "is not NAME=VALUE", "run --block dll --parameter REPLAY_DEPTH"),
        // Code coverage, assertions and Icarus.
        ("E0107", "--simulator", "run --block qp --coverage --simulator icarus"),
        ("E0101", "--case", "run --block qp --coverage --case qp/spec/drain/1"),
        ("E0107", "", "run --block qp --assertions --simulator icarus"),
        ("E0107", "", "mutate --block qp --assertions"),
        ("E0107", "--simulator icarus", "bench --simulator icarus"),
        ("E0107", "--simulator icarus", "mutate --mutants 1 --simulator icarus"),
        ("E0107", "--simulator icarus", "mutate --fixes spec --only 1 --simulator icarus"),
        // Waves.
        ("E0101", "", "run --case thread2/repaired/ring/3 --trace-all"),
        ("E0108", "", "run --case thread2/all/ring/3 --trace case.fst"),
        ("E0101", "", "run --trace case.fst"),
        ("E0109", "no RTL to watch", "watch"),
        ("E0109", "no RTL to watch", "watch --rtl built-in"),
        ("E0301", "none", "watch --rtl none"),
        ("E0105", "none", "watch --rtl rtl --scenario none"),
        ("E0602", "mine", "watch --rtl rtl --cases 1 --out mine"),
        ("E0101", "VECTOR", "replay"),
        ("E0201", "/nowhere.json: ", "replay /nowhere.json"),
        ("E0207", "", "replay --expect-recorded no-such-*.json"),
        ("E0209", "thread2", &other),
        // What people type first.
        ("E0101", "--block qp`?", "run qp"),
        ("E0101", " run --help`?", "man run"),
        ("E0101", "--help", "bisect --run"),
        ("E0101", "NEW", "compare a"),
        ("E0201", "does not exist", "compare a b"),
        ("E0201", "nope: does not exist", "rerun nope"),
        ("E0201", "nope: does not exist", "resume nope"),
        ("E0201", "does not exist", "history add h.jsonl nope"),
        ("E0201", " run` starts one", "open nope"),
        ("E0109", "no property contains `nope`", "prove --block qp --property nope"),
        ("E0218", "runs/latest", "signoff"),
        ("E0207", "is not a vector", "explain mine/file"),
        ("E0218", "", "explain 9"),
        ("E0218", "", "explain 1 --run mine"),
        ("E0201", "", "explain 1 --run mine/file"),
        ("E0101", " run`?", "rn"),
        ("E0101", "--threads", "run --jobs none"),
        ("E0101", "--threads", "run -j none"),
        ("E0301", "`built-in`", "diff a b"),
        ("E0201", "does not exist", "history show nope"),
        ("E0201", "does not exist", "report ."),
        ("E0101", "<NAME>", "new"),
    ];
    place.refuses("", &rows);
    assert_eq!(place.names("mine"), ["file"]);
    // Nothing is similar, and no error is in the words of the operating system.
    for line in ["run --block zzzzzz", "resume nope", "compare a b", "replay nope"] {
        let printed = place.exits(2, line);
        assert!(!printed.contains("did you mean") && !printed.contains("os error"), "{printed}");
    }
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
        assert_error_at(&output, number, &["s.json", words]);
    }
}

#[test]
fn help_version_and_codes_are_no_errors_and_no_command_prints_the_usage() {
    let place = Place::new();
    for line in ["--help", "--version", "run --help", "list"] {
        place.exits(0, line);
    }
    place.prints(2, &["Usage"], "");
    place.prints(0, &["E0213: "], "error e0213");
    place.prints(0, &["\n  E0213  "], "error");
    place.fails("E0101", "", "error E0000");
}

/// Files record names as text.
#[test]
fn names_that_are_not_utf_8_exit_2_before_anything_runs() {
    let bad = |name: &str| OsString::from_vec([name.as_bytes(), b"\xff"].concat());
    let place = Place::new();
    let at = |name: &str| place.path("").join(bad(name)).into_os_string();
    fs::create_dir(at("dir")).unwrap();
    fs::copy(vector_of("recv"), at("vector")).unwrap();
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
    let place = Place::with_files(&[("-run/report.html", "")]);
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
