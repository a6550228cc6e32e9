//! Cached answers of Yosys and ABC: results are the same with and without them, and no query runs
//! twice.

use crate::common::{assert_code, files, json, patched_rtl, program, project, text};
use serde_json::Value;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A private cache, and an ABC that counts its starts.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: TempDir::new().unwrap() };
        let script = |name: &str, text: &str| {
            fs::write(bench.path(name), format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(bench.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("yosys", "exec \"$REAL\" \"$@\"");
        script("yosys-abc", "echo started >>\"$STARTS\"\nexec \"$REAL-abc\" \"$@\"");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = program();
        let real = env::var_os("YOSYS").unwrap_or_else(|| "yosys".into());
        command.envs([("COSIM_CACHE", self.path("cache")), ("STARTS", self.path("starts"))]);
        command.env("YOSYS", self.path("yosys")).env("REAL", real).env("CXXFLAGS", "-O0");
        command
    }

    fn run(&self, arguments: &[&str], out: &str) -> Output {
        self.command().args(arguments).arg("--out").arg(self.path(out)).output().unwrap()
    }

    /// The number of starts of ABC since the last call.
    fn starts(&self) -> usize {
        let text = fs::read_to_string(self.path("starts")).unwrap_or_default();
        let _ = fs::remove_file(self.path("starts"));
        text.lines().count()
    }

    fn cache(&self, action: &str) -> Value {
        let output = self.command().args(["cache", action, "--format", "json"]).output().unwrap();
        assert_code(&output, 0);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// The files of a result that must be reproducible, without the times of proofs and the checksum
/// over them.
fn result(out: &Path, name: &str, vectors: &str) -> Vec<Vec<String>> {
    let vectors = files(&out.join(vectors), "json");
    let paths = [out.join(name)].into_iter().chain(vectors);
    let lines = |path| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        let is_timed = text.contains("\"seconds\": ");
        let is_kept = |line: &&str| {
            !is_timed || !["\"seconds\": ", "\"checksum\": "].iter().any(|no| line.contains(no))
        };
        text.lines().filter(is_kept).map(str::to_owned).collect()
    };
    paths.map(lines).collect()
}

/// The proof has a refuted property, whose vector comes from a replay each time.
#[test]
fn a_second_proof_of_the_same_rtl_is_the_same_without_starting_abc() {
    let bench = Bench::new();
    let patch = project().join("tests/bad_rtl/recv/46-kept-dp-released.patch");
    let rtl = patched_rtl(&patch);
    let rtl = rtl.path().join("rtl");
    let options = ["prove", "--block", "recv", "--fixes", "spec", "--only", "P21: ", "--rtl"];
    let options = [&options[..], &[rtl.to_str().unwrap()]].concat();
    let of = |out: &str| result(&bench.path(out), "proof.json", "failures");

    let first = bench.run(&options, "first");
    assert_code(&first, 1);
    let proof = json(&bench.path("first/proof.json"));
    assert_eq!(proof["profiles"][0]["properties"][0]["status"], "refuted", "{proof}");
    let starts = bench.starts();
    assert!(starts > 0);

    let second = bench.run(&options, "second");
    assert_code(&second, 1);
    assert_eq!(bench.starts(), 0, "every answer is kept");
    assert!(of("second") == of("first"), "kept answers give another result");
    // The answers of ABC, and the network of the RTL.
    let requested = starts + 1;
    let reported = format!("{requested} of {requested} answers of Yosys and ABC were in the cache");
    assert!(text(&second).contains(&reported), "{reported}: {}", text(&second));

    let third = bench.run(&[&options[..], &["--no-cache"]].concat(), "third");
    assert_code(&third, 1);
    assert_eq!(bench.starts(), starts, "all is asked again");
    assert!(of("third") == of("first"));

    // The `cache` command shows and clears them together with the compiled models.
    let number = &bench.cache("show")["answers"];
    assert!(number["number"].as_u64().unwrap() >= 2 && number["bytes"].as_u64().unwrap() > 0);
    let shown = bench.command().arg("cache").output().unwrap();
    assert!(text(&shown).contains(&format!("{} answers of Yosys and ABC", number["number"])));
    assert_eq!(bench.cache("clear")["answers"], number["number"]);
    assert_eq!(bench.cache("show")["answers"]["number"], 0);
}

#[test]
#[ignore = "slow: four mutation analyses"]
fn a_mutation_analysis_is_the_same_with_cached_answers() {
    let bench = Bench::new();
    let options = ["mutate", "--block", "recv", "--fixes", "repaired", "--mutants", "24"];
    let few = ["--cases", "1", "--scenario", "default", "--seed", "5"];
    let options = [&options[..], &few].concat();
    let mut starts = Vec::new();
    for (out, more) in [("first", None), ("second", None), ("third", Some("--no-cache"))] {
        let options: Vec<&str> = options.iter().copied().chain(more).collect();
        assert_code(&bench.run(&options, out), 0);
        starts.push(bench.starts());
        let of = |out: &str| result(&bench.path(out), "mutate.json", "mutants");
        assert!(of(out) == of("first"), "{out} is another grading");
    }
    // Queries that reached the time limit run again.
    assert!(starts[1] * 4 < starts[0] && starts[1] * 4 < starts[2], "{starts:?}");
}

/// The folder of answers is a file. The proof is the same, and a warning says what to do.
#[test]
fn answers_that_cannot_be_stored_are_a_warning() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).unwrap();
    fs::write(bench.path("cache/answers"), "").unwrap();
    let only = "release_id is 0";
    let output = bench.run(&["prove", "--block", "recv", "--fixes", "spec", "--only", only], "out");
    assert_code(&output, 0);
    let text = text(&output);
    assert_eq!(text.matches("warning: ").count(), 1, "{text}");
    assert!(text.contains("set COSIM_CACHE"), "{text}");
}
