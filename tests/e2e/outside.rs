//! A block in an external crate: a copy of `examples/arbiter` outside of the repository builds, and
//! every command works on it.

use crate::common::{Place, assert_code, cargo_outside, program_outside, project, text};
use crate::export::icarus;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use walkdir::WalkDir;

/// A crate outside of the repository, and its program. Paths are relative to the crate.
pub struct Outside {
    place: Place,
    name: String,
    path: PathBuf,
}

/// Leftovers of earlier builds in the example's folder, which a user's crate lacks.
const LEFT: [&str; 3] = ["target", "runs", "Cargo.lock"];

impl Outside {
    /// A crate in a place, and its program has the same name.
    pub fn at(place: Place, name: &str) -> Self {
        let path = place.path(name);
        Self { place, name: name.to_owned(), path }
    }

    /// A copy of an example. Paths to the library lead back to the repository.
    pub fn copy_of(name: &str) -> Self {
        let outside = Self::at(Place::new(), name);
        let example = project().join("examples").join(name);
        let is_wanted = |name: &std::ffi::OsStr| !LEFT.iter().any(|left| name == *left);
        for entry in
            WalkDir::new(&example).into_iter().filter_entry(|entry| is_wanted(entry.file_name()))
        {
            let entry = entry.unwrap();
            let to = outside.path().join(entry.path().strip_prefix(&example).unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
        let core = format!("\"{}", project().join("core").display());
        let text = outside.text("Cargo.toml");
        assert!(text.contains("\"../../core"), "{text}");
        outside.write("Cargo.toml", &text.replace("\"../../core", &core));
        outside
    }

    /// A copy of an example that is built, without builds of earlier copies.
    #[track_caller]
    pub fn built(name: &str) -> Self {
        let outside = Self::copy_of(name);
        outside.cargo(&["clean", "--package", name]);
        outside.builds();
        outside
    }

    /// Runs `cosim new` with more words on RTL in `given.sv`. Returns what is printed, too.
    #[track_caller]
    pub fn new(name: &str, rtl: &str, words: &str) -> (Self, String) {
        let place = Place::new();
        place.write("given.sv", rtl);
        Self::in_place(place, name, &format!("given.sv {words}"))
    }

    /// Runs `cosim new` with more words in a place. Returns what is printed, too.
    #[track_caller]
    pub fn in_place(place: Place, name: &str, words: &str) -> (Self, String) {
        let printed = place.exits(0, &format!("new {name} {words}"));
        (Self::at(place, name), printed)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path in the place.
    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.place.has(&self.file(name))
    }

    pub fn text(&self, name: &str) -> String {
        self.place.text(&self.file(name))
    }

    pub fn write(&self, name: &str, text: &str) {
        self.place.write(&self.file(name), text);
    }

    pub fn json(&self, name: &str) -> Value {
        self.place.json(&self.file(name))
    }

    /// The vector of the first failure of a run.
    #[track_caller]
    pub fn vector(&self, run: &str) -> String {
        let results = self.json(&format!("{run}/results.json"));
        format!("{run}/{}", results["failures"][0]["vector"].as_str().unwrap())
    }

    /// Replaces text that is there once.
    #[track_caller]
    pub fn edit(&self, name: &str, changes: &[(&str, &str)]) {
        let mut text = self.text(name);
        for (from, to) in changes {
            assert_eq!(text.matches(from).count(), 1, "{from}: {text}");
            text = text.replace(from, to);
        }
        self.write(name, &text);
    }

    /// Writes a copy of a file of `rtl` to another folder, with replaced text.
    #[track_caller]
    pub fn plant(&self, folder: &str, file: &str, changes: &[(&str, &str)]) {
        let mut text = self.text(&format!("rtl/{file}"));
        for (from, to) in changes {
            assert!(text.contains(from), "no `{from}`: {text}");
            text = text.replace(from, to);
        }
        self.write(&format!("{folder}/{file}"), &text);
    }

    /// Runs Cargo in the crate.
    pub fn cargo(&self, arguments: &[&str]) -> Output {
        cargo_outside(self.path()).args(arguments).output().unwrap()
    }

    /// Builds the crate without a warning.
    #[track_caller]
    pub fn builds(&self) {
        is_without_warnings(&self.cargo(&["build"]));
    }

    /// Like [`Outside::builds`], with clippy in place of the compiler to lint in the same step.
    #[track_caller]
    pub fn lints(&self) {
        let mut cargo = cargo_outside(self.path());
        cargo.arg("build").env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        is_without_warnings(&cargo.output().unwrap());
    }

    /// Runs the program in the crate's folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut program = program_outside(&self.name);
        program.args(arguments).current_dir(self.path()).output().unwrap()
    }

    /// Runs the words of a line, whose exit code must be `expected`. Returns what is printed.
    #[track_caller]
    pub fn exits(&self, expected: i32, line: &str) -> String {
        let words = shlex::split(line).expect("quotes in pairs");
        let output = self.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_code(&output, expected);
        text(&output)
    }

    /// [`Outside::exits`], which must print all of `words`.
    #[track_caller]
    pub fn prints(&self, expected: i32, words: &[&str], line: &str) -> String {
        let printed = self.exits(expected, line);
        for words in words {
            assert!(printed.contains(words), "expected `{words}`: {printed}");
        }
        printed
    }

    /// Exports a vector, and returns what its testbench prints in Icarus.
    #[track_caller]
    pub fn exported(&self, words: &str, bench: &str) -> String {
        self.exits(0, &format!("export {words} -o {bench}"));
        icarus(&self.path.join(bench))
    }
}

#[track_caller]
fn is_without_warnings(built: &Output) {
    assert_code(built, 0);
    assert!(!text(built).contains("warning"), "{}", text(built));
}

fn commands(outside: &Outside) {
    let listed = outside.prints(0, &["arbiter: Arbiter, round robin"], "list");
    assert!(!listed.contains("thread2"), "our blocks are not a stranger's: {listed}");
    assert!(outside.exits(0, "--version").starts_with("cosim 0.1.0"));

    outside.prints(0, &["PASS  arbiter"], "run --cases 20 --out run");
    let results = outside.json("run/results.json");
    assert_eq!(results["passed"], true);
    assert_eq!(results["run"]["block"], "arbiter");

    outside.prints(0, &["17 as expected, 0 not"], "replay --expect-recorded vectors");
    let cut = "vectors/l4-cut-at-the-limit.json";
    outside.prints(0, &["matched"], &format!("explain {cut}"));
    // No linked model has this parameter, so its model is compiled and cached.
    outside.exits(0, "run --cases 5 --parameter MAX_BEATS=3 --out three");
    outside.prints(0, &["Arbiter"], "cache");
    let simulated = outside.exported(&format!("{cut} --parameter MAX_BEATS=3"), "bench");
    assert!(simulated.starts_with("PASS  "), "{simulated}");
    outside.prints(0, &["lock-step"], "bench");
}

/// A bug is found, shrunk, explained, replayed and blamed on the RTL.
fn a_bug(outside: &Outside) {
    outside.plant("bad", "Arbiter.v", &[]);
    let patch = outside.path().join("bad_rtl/05-cut-keeps-the-lock.patch");
    let mut command = Command::new("patch");
    command.args(["-p2", "-s", "-i"]).arg(patch).current_dir(outside.path().join("bad"));
    assert_code(&command.output().unwrap(), 0);
    let found = outside.exits(1, "run --rtl bad --no-shrink --max-failures 1 --out found");
    assert!(found.contains("the RTL violates the specification"), "{found}");
    let vector = outside.vector("found");
    outside.exits(0, &format!("shrink --rtl bad {vector} --out small.json"));
    outside.exits(0, "replay --rtl bad --expect-recorded small.json");
    outside.exits(0, "replay --rtl built-in small.json");
    // The number of packets follows from what a packet that is cut needs.
    let small = outside.json("small.json");
    let lists = small["stimulus"]["traffic"]["req"].as_array().unwrap();
    let packets: usize = lists.iter().map(|list| list.as_array().unwrap().len()).sum();
    assert!((1..=3).contains(&packets), "{small}");
    let simulated = outside.exported("--rtl bad small.json", "small");
    let verdict = &small["recorded"];
    let place = format!("cycle {}: {} is", verdict["cycle"], verdict["port"].as_str().unwrap());
    assert!(simulated.starts_with(&format!("FAIL  mismatch at {place}")), "{simulated}");
    let explained = outside.exits(1, "explain --recorded-rtl small.json");
    assert!(explained.contains("L4") || explained.contains("F4"), "{explained}");
}

/// One test, because everything is built once.
#[test]
fn an_external_crate_builds_and_every_command_works() {
    let outside = Outside::built("arbiter");
    commands(&outside);
    a_bug(&outside);
    assert_code(&outside.cargo(&["test"]), 0);
}
