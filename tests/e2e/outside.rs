//! A block in an external crate: a copy of `examples/arbiter` outside of the repository builds, and
//! every command works on it.

use crate::common::{cargo_outside, code, json, models, program_outside, project, text};
use crate::export::icarus;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use walkdir::WalkDir;

/// A crate outside of the repository, and its program.
pub struct Outside {
    folder: TempDir,
    program: &'static str,
}

/// Leftovers of earlier builds in the example's folder, which a user's crate lacks.
const LEFT: [&str; 3] = ["target", "runs", "Cargo.lock"];

impl Outside {
    /// A copy of the example `arbiter`.
    pub fn copy() -> Self {
        Self::copy_of("arbiter")
    }

    /// A copy of an example. Paths to the library lead back to the repository.
    pub fn copy_of(program: &'static str) -> Self {
        let folder = TempDir::new().unwrap();
        let example = project().join("examples").join(program);
        let is_wanted = |name: &std::ffi::OsStr| !LEFT.iter().any(|left| name == *left);
        for entry in
            WalkDir::new(&example).into_iter().filter_entry(|entry| is_wanted(entry.file_name()))
        {
            let entry = entry.unwrap();
            let to = folder.path().join(entry.path().strip_prefix(&example).unwrap());
            if entry.file_type().is_dir() {
                fs::create_dir_all(to).unwrap();
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
        let manifest = folder.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains("\"../../core"), "{text}");
        let core = format!("\"{}", project().join("core").display());
        fs::write(&manifest, text.replace("\"../../core", &core)).unwrap();
        Self { folder, program }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs Cargo in the crate.
    pub fn cargo(&self, arguments: &[&str]) -> Output {
        cargo_outside(self.path()).args(arguments).output().unwrap()
    }

    /// Runs the program in the crate's folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        program_outside(self.program)
            .args(arguments)
            .current_dir(self.path())
            .env("COSIM_CACHE", models())
            .output()
            .unwrap()
    }

    /// Like [`Outside::run`]. Returns the output of a run that must end with `expected`.
    #[track_caller]
    pub fn prints(&self, expected: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(code(&output), expected, "{arguments:?}: {}", text(&output));
        text(&output)
    }
}

fn commands(outside: &Outside) {
    let listed = outside.prints(0, &["list"]);
    assert!(listed.contains("arbiter: Arbiter, round robin"), "{listed}");
    assert!(!listed.contains("thread2"), "our blocks are not a stranger's: {listed}");
    assert!(outside.prints(0, &["--version"]).starts_with("cosim 0.1.0"));

    let run = ["run", "--cases", "20", "--out", "run"];
    assert!(outside.prints(0, &run).contains("PASS  arbiter"));
    let results = json(&outside.path().join("run/results.json"));
    assert_eq!(results["passed"], true);
    assert_eq!(results["run"]["block"], "arbiter");

    let replayed = outside.prints(0, &["replay", "--expect-recorded", "vectors"]);
    assert!(replayed.contains("17 as expected, 0 not"), "{replayed}");
    let explained = outside.prints(0, &["explain", "vectors/l4-cut-at-the-limit.json"]);
    assert!(explained.contains("matched"), "{explained}");
    // No linked model has this parameter, so its model is compiled and cached.
    outside.prints(0, &["run", "--cases", "5", "--parameter", "MAX_BEATS=3", "--out", "three"]);
    assert!(outside.prints(0, &["cache"]).contains("Arbiter"));
    let limit = ["--parameter", "MAX_BEATS=3", "-o", "bench"];
    outside.prints(0, &[&["export", "vectors/l4-cut-at-the-limit.json"][..], &limit].concat());
    assert!(icarus(&outside.path().join("bench")).starts_with("PASS  "));
    assert!(outside.prints(0, &["bench"]).contains("lock-step"));
}

/// A bug is found, shrunk, explained, replayed and blamed on the RTL.
fn a_bug(outside: &Outside) {
    let patch = outside.path().join("bad_rtl/05-cut-keeps-the-lock.patch");
    let bad = outside.path().join("bad");
    fs::create_dir(&bad).unwrap();
    fs::copy(outside.path().join("rtl/Arbiter.v"), bad.join("Arbiter.v")).unwrap();
    let patched =
        Command::new("patch").args(["-p2", "-s", "-i"]).arg(patch).current_dir(bad).output();
    assert!(patched.unwrap().status.success());
    let run = ["run", "--rtl", "bad", "--no-shrink", "--max-failures", "1", "--out", "found"];
    let found = outside.prints(1, &run);
    assert!(found.contains("the RTL violates the specification"), "{found}");
    let results = json(&outside.path().join("found/results.json"));
    let vector = format!("found/{}", results["failures"][0]["vector"].as_str().unwrap());
    outside.prints(0, &["shrink", "--rtl", "bad", &vector, "--out", "small.json"]);
    outside.prints(0, &["replay", "--rtl", "bad", "--expect-recorded", "small.json"]);
    outside.prints(0, &["replay", "--rtl", "built-in", "small.json"]);
    // The number of packets follows from what a packet that is cut needs.
    let small = json(&outside.path().join("small.json"));
    let lists = small["stimulus"]["traffic"]["req"].as_array().unwrap();
    let packets: usize = lists.iter().map(|list| list.as_array().unwrap().len()).sum();
    assert!((1..=3).contains(&packets), "{small}");
    outside.prints(0, &["export", "--rtl", "bad", "small.json", "-o", "small"]);
    let simulated = icarus(&outside.path().join("small"));
    let verdict = &small["recorded"];
    let place = format!("cycle {}: {} is", verdict["cycle"], verdict["port"].as_str().unwrap());
    assert!(simulated.starts_with(&format!("FAIL  mismatch at {place}")), "{simulated}");
    let explained = outside.prints(1, &["explain", "--recorded-rtl", "small.json"]);
    assert!(explained.contains("L4") || explained.contains("F4"), "{explained}");
}

/// One test, because everything is built once.
#[test]
fn an_external_crate_builds_and_every_command_works() {
    let outside = Outside::copy();
    // Remove builds of earlier copies.
    outside.cargo(&["clean", "--package", "arbiter"]);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    commands(&outside);
    a_bug(&outside);
    let tested = outside.cargo(&["test"]);
    assert!(tested.status.success(), "{}", text(&tested));
}
