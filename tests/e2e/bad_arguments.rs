//! Bad arguments and bad scenario files: exit code 2, a message that helps, nothing written.

use crate::common::{code, program, run, text};
use std::fs;
use tempfile::TempDir;

/// Nobody may be there to read what is wrong.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = program();
    let status = command.args(["replay", "/nowhere/vector.json"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2), "{status}");
}

#[test]
fn bad_arguments_exit_2_and_say_what_was_expected() {
    let cases: [(&[&str], &str); 30] = [
        (&[], "Usage"),
        (&["jump"], "jump"),
        (&["run", "--block", "thread9"], "expected thread2"),
        (&["run", "--fixes", "none"], "expected spec, repaired, all, or a mask"),
        (&["run", "--fixes", "0x100"], "0x00 to 0xff"),
        (&["run", "--scenario", "storm"], "expected smoke, default"),
        (&["run", "--seed=-1"], "0 to 2^64"),
        (&["run", "--seed", "many"], "a number"),
        (&["run", "--cases", "x"], "--cases"),
        (&["run", "--packets", "0"], "1..=20000"),
        (&["run", "--threads", "0"], "--threads"),
        (&["run", "--shard", "3/2"], "I/N"),
        (&["run", "--time", "soon"], "--time"),
        (&["run", "--time", "99999999999999999999s"], "--time"),
        (&["run", "--shard", "1/18446744073709551616"], "I/N"),
        (&["run", "--cases", "281474976710656"], "--cases"),
        (&["run", "--packets", "20001"], "1..=20000"),
        (&["run", "--case", "thread2/spec/17"], "BLOCK/PROFILE/SCENARIO/INDEX"),
        (&["run", "--case", "thread2/spec/storm/17"], "expected smoke"),
        (&["run", "--cases", "-1"], "'--cases <N>'"),
        (&["run", "--scenario", "smoke", "--scenario", "smoke"], "two are named `smoke`"),
        (&["run", "--case", "thread2/spec/smoke/0", "--fixes", "repaired"], "--case names spec"),
        (&["run", "--case", "thread2/spec/smoke/0", "--block", "dll"], "--case names thread2"),
        (&["run", "--case", "thread2/all/smoke/18446744073709551614"], "BLOCK/PROFILE"),
        (&["replay", "--block", "thread9", "/nowhere.json"], "expected thread2"),
        (&["run", "--rtl", "/nowhere"], "neither a Verilog file nor a folder"),
        (&["run", "--unknown"], "--unknown"),
        (&["replay"], "VECTOR"),
        (
            &[
                "replay",
                "--block",
                "dll",
                "vectors/thread2/d1-write-with-immediate-skips-units.json",
            ],
            "vector of block thread2, not of dll",
        ),
        (&["replay", "/nowhere.json"], "cannot be read"),
    ];
    for (arguments, expected) in cases {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("run");
        let mut all: Vec<&str> = arguments.to_vec();
        if arguments.first() == Some(&"run") {
            all.extend(["--out", out.to_str().unwrap()]);
        }
        let output = run(&all);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
        assert!(!out.exists(), "{arguments:?} wrote something");
        assert!(!text(&output).contains("panicked"), "{arguments:?}");
    }
}

#[test]
fn a_bad_scenario_file_is_named_with_line_and_column() {
    let cases = [
        ("{", "1:1: EOF"),
        (
            "{\n  \"name\": \"x\", \"about\": \"\", \"weights\": { \"gaps\": 1 } }",
            "unknown field `gaps`",
        ),
        ("{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"gap\": 200 } }", "0 to 100"),
        (
            "{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"units\": [3, 1] } }",
            "ends before it begins",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\",\n\"weights\": { \"empty\": 80, \"jumbo\": 40 } }",
            "s.json:2:41: empty and jumbo exclude each other and are 120 percent",
        ),
        (
            "{ \"name\": \"x\", \"about\": \"\", \"weights\": { \"qps\": [0, 0] } }",
            "begins below 1",
        ),
        ("{ \"about\": \"\", \"weights\": {} }", "missing field `name`"),
        ("{ \"name\": \"a/b\", \"about\": \"\", \"weights\": {} }", "letters, digits"),
        ("[]", "invalid"),
    ];
    for (content, expected) in cases {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("s.json");
        fs::write(&file, content).unwrap();
        let output = run(["run", "--scenario", file.to_str().unwrap(), "--out", "/nowhere/out"]);
        assert_eq!(code(&output), 2, "{content}: {}", text(&output));
        assert!(text(&output).contains("s.json"), "{content}: {}", text(&output));
        assert!(text(&output).contains(expected), "{content}: {}", text(&output));
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["list"]] {
        assert_eq!(code(&run(arguments)), 0, "{arguments:?}");
    }
}
