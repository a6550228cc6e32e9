//! Invalid arguments and scenario files: exit code 2, a helpful message, and nothing written.

use crate::common::{
    assert_code, assert_error, assert_error_at, code, cosim, files, program, project, run, text,
};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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
    let cases: [(&[&str], &str, &str); 37] = [
        (&["jump"], "E0101", "jump"),
        (&["run", "--block", "thread9"], "E0102", "thread9"),
        (&["run", "--fixes", "none"], "E0103", "`none`"),
        (&["run", "--fixes", "0x100"], "E0103", "0x00 to 0xff"),
        (&["run", "--scenario", "storm"], "E0105", "`storm`"),
        (&["run", "--seed=-1"], "E0101", "0 to 2^64"),
        (&["run", "--seed", "many"], "E0101", "--seed"),
        (&["run", "--cases", "x"], "E0101", "--cases"),
        (&["run", "--packets", "0"], "E0101", "from 1 to 20000"),
        (&["run", "--threads", "0"], "E0101", "--threads"),
        (&["run", "--shard", "3/2"], "E0101", "I/N"),
        (&["run", "--time", "soon"], "E0101", "--time"),
        (&["run", "--time", "99999999999999999999s"], "E0101", "--time"),
        (&["run", "--shard", "1/18446744073709551616"], "E0101", "I/N"),
        (&["run", "--cases", "281474976710656"], "E0101", "--cases"),
        (&["run", "--packets", "20001"], "E0101", "from 1 to 20000"),
        (&["run", "--case", "thread2/spec/17"], "E0106", "BLOCK/PROFILE/SCENARIO/INDEX"),
        (&["run", "--case", "thread2/spec/storm/17"], "E0105", "`storm`"),
        (&["run", "--cases", "-1"], "E0101", "'--cases <N>'"),
        (&["run", "--scenario", "smoke", "--scenario", "smoke"], "E0212", "`smoke`"),
        (&["run", "--case", "thread2/spec/smoke/0", "--fixes", "repaired"], "E0106", "--fixes"),
        (&["run", "--case", "thread2/spec/smoke/0", "--block", "dll"], "E0106", "--block"),
        (&["run", "--case", "thread2/all/smoke/18446744073709551614"], "E0106", "BLOCK/PROFILE"),
        (&["run", "--cases", "1e308"], "E0101", "from 0 to 140737488355327"),
        (&["run", "--seed", "18446744073709551616"], "E0101", "0 to 2^64"),
        (&["run", "--threads", "inf"], "E0101", "from 1 to 1024"),
        (&["run", "--min-coverage", "nan"], "E0101", "from 0 to 100"),
        (&["run", "--time", "584542046090y"], "E0101", "365days"),
        (&["run", "--memory-limit", "18446744073709551616"], "E0101", "bytes"),
        (&["run", "--save-vectors", "18446744073709551615"], "E0101", "from 0 to"),
        (&["mutate", "--mutants", "18446744073709551615"], "E0101", "from 1 to 100000"),
        (&["replay", "--block", "thread9", "/nowhere.json"], "E0102", "thread9"),
        (&["run", "--rtl", "/nowhere"], "E0301", "/nowhere"),
        (&["run", "--unknown"], "E0101", "--unknown"),
        (&["replay"], "E0101", "VECTOR"),
        (
            &[
                "replay",
                "--block",
                "dll",
                "vectors/thread2/d1-write-with-immediate-skips-units.json",
            ],
            "E0209",
            "thread2",
        ),
        (&["replay", "/nowhere.json"], "E0201", "/nowhere.json: "),
    ];
    for (arguments, number, words) in cases {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("run");
        let mut all: Vec<&str> = arguments.to_vec();
        if arguments.first() == Some(&"run") {
            all.extend(["--out", out.to_str().unwrap()]);
        }
        let output = run(&all);
        assert_error_at(&output, number, words);
        assert!(!out.exists(), "{arguments:?} wrote something");
    }
}

#[test]
fn a_bad_scenario_file_is_named_with_line_and_column() {
    let cases = [
        ("{", "E0204", "s.json:1:1: "),
        (
            "{\n  \"name\": \"x\", \"about\": \"\", \"weights\": { \"gaps\": 1 } }",
            "E0213",
            "s.json:2:",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"gap\": 200 } }",
            "E0215",
            "0 to 100",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"units\": [3, 1] } }",
            "E0215",
            "s.json:1:",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\",\n\"weights\": { \"empty\": 80, \"jumbo\": 40 } }",
            "E0215",
            "s.json:2:41: ",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"qps\": [0, 0] } }",
            "E0215",
            "s.json:1:",
        ),
        ("{ \"about\": \"\", \"weights\": {} }", "E0214", "`name`"),
        ("{ \"name\": \"a/b\", \"about\": \"\", \"weights\": {} }", "E0212", "`a/b`"),
        ("[]", "E0215", "s.json:1:"),
    ];
    for (content, number, place) in cases {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("s.json");
        fs::write(&file, content).unwrap();
        let output = run(["run", "--scenario", file.to_str().unwrap(), "--out", "/nowhere/out"]);
        assert_error_at(&output, number, "s.json");
        assert_error_at(&output, number, place);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["list"]] {
        assert_eq!(code(&run(arguments)), 0, "{arguments:?}");
    }
}

#[test]
fn a_code_is_explained_and_all_are_listed() {
    let output = run(["error", "e0213"]);
    assert_code(&output, 0);
    assert!(text(&output).starts_with("E0213: "), "{}", text(&output));
    let output = run(["error"]);
    assert_code(&output, 0);
    assert!(text(&output).contains("\n  E0213  "), "{}", text(&output));
    assert_error(&run(["error", "E0000"]), "E0101");
}

#[test]
fn no_command_prints_the_usage() {
    let output = run::<&str>([]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("Usage"), "{}", text(&output));
}

/// Files record names as text.
#[test]
fn names_that_are_not_utf_8_exit_2_before_anything_runs() {
    let bad = |name: &str| OsString::from_vec([name.as_bytes(), b"\xff"].concat());
    let folder = TempDir::new().unwrap();
    let vector = files(&project().join("vectors/recv"), "json").remove(0);
    let at = |name: &OsString| folder.path().join(name).into_os_string();
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<OsString>>();
    fs::create_dir(at(&bad("dir"))).unwrap();
    fs::copy(&vector, at(&bad("vector"))).unwrap();
    for (mut arguments, last) in [
        (words(&["run", "--block", "qp", "--cases", "1", "--out"]), at(&bad("out"))),
        (words(&["merge", "x", "--out"]), at(&bad("out"))),
        (words(&["replay"]), at(&bad("vector"))),
        (words(&["explain"]), at(&bad("vector"))),
        (words(&["resume"]), at(&bad("dir"))),
        (words(&["replay"]), at(&bad("dir"))),
        (words(&["report"]), at(&bad("dir"))),
        (words(&["open", "--print"]), at(&bad("dir"))),
        (words(&["history", "show"]), at(&bad("h.db"))),
        (words(&["cover", "report"]), at(&bad("dir"))),
        (words(&["list", "--block"]), bad("qp")),
    ] {
        arguments.push(last);
        let output = run(&arguments);
        assert_error(&output, "E0101");
        assert!(!Path::new(&at(&bad("out"))).exists(), "{arguments:?}");
    }
    // A vector below a named folder.
    fs::create_dir(at(&"below".into())).unwrap();
    let name = OsString::from_vec(b"below/a\xff.json".to_vec());
    fs::copy(&vector, at(&name)).unwrap();
    assert_error(&run([OsString::from("replay"), at(&"below".into())]), "E0207");
    for variable in ["TMPDIR", "COSIM_CACHE"] {
        let mut command = cosim();
        command.env(variable, at(&bad("dir"))).args(["cache"]);
        assert_eq!(code(&command.output().unwrap()), 2, "{variable}");
    }
    let output = cosim().current_dir(at(&bad("dir"))).args(["list"]).output().unwrap();
    assert_error(&output, "E0101");
}

#[test]
fn a_path_that_begins_with_a_dash_is_no_option_of_the_browser() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("-run")).unwrap();
    fs::write(folder.path().join("-run/report.html"), "").unwrap();
    let mut command = cosim();
    command.current_dir(folder.path()).env("BROWSER", "true");
    let output = command.args(["open", "--print", "--", "-run"]).output().unwrap();
    assert_code(&output, 0);
    let path = folder.path().canonicalize().unwrap().join("-run/report.html");
    assert_eq!(text(&output).trim(), format!("true {}", path.display()));
}

/// A program with blocks that is a script with these lines.
fn script(folder: &Path, lines: &str) -> PathBuf {
    let path = folder.join("blocks");
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn the_program_with_the_blocks_may_be_a_script() {
    let folder = TempDir::new().unwrap();
    let real = Path::new(program().get_program()).with_file_name("cosim-blocks");
    script(folder.path(), &format!("exec '{}' \"$@\"", real.display()));
    // Its path may be relative.
    let mut command = cosim();
    command.current_dir(folder.path()).env("COSIM_BLOCKS", "blocks");
    let output = command.args(["run", "--block", "qp", "--cases", "1", "--out", "out"]).output();
    assert_code(&output.unwrap(), 0);
}

#[test]
#[ignore = "slow: waits a minute for the limit"]
fn a_program_with_blocks_that_sleeps_ends_at_a_limit() {
    let folder = TempDir::new().unwrap();
    let path = script(folder.path(), "sleep 10000");
    let output = cosim().env("COSIM_BLOCKS", path).arg("list").output().unwrap();
    assert_error_at(&output, "E0908", "does not answer within 60 s");
}

/// Threads need address space. With too little of it, a command ends with an error.
#[test]
fn without_threads_a_command_ends_with_an_error() {
    let folder = TempDir::new().unwrap();
    let program = program();
    let mut has_ended = false;
    for limit in (20..400).step_by(20) {
        let mut command = std::process::Command::new("sh");
        let line = format!("ulimit -v {limit}000; exec \"$0\" \"$@\"");
        command.args(["-c", &line]).arg(program.get_program());
        command.args(["run", "--block", "qp", "--cases", "1", "--force", "--out"]);
        command.arg(folder.path().join("out")).current_dir(project());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().unwrap();
        let printed = text(&output);
        assert!(!printed.contains("internal error"), "{limit} MB: {printed}");
        // No memory at all is a signal of the system.
        match output.status.code() {
            Some(0) | None => {}
            Some(3) => has_ended |= printed.contains("error[E0910]"),
            // It cannot be loaded.
            Some(127) => {}
            other => panic!("{limit} MB: {other:?}: {printed}"),
        }
    }
    assert!(has_ended, "some limit permits the program but not its threads");
}
