//! A block in an external crate: a copy of `examples/arbiter` outside of the repository builds, and
//! every command works on it. Errors of its build name the wrong port, or have Verilator's message.

use crate::common::{Place, assert_code, assert_contains, cargo_outside, project, text};
use crate::export::icarus;
use std::ops::Deref;
use std::process::{Command, Output};
use walkdir::WalkDir;

/// A crate outside of the repository, in which its program runs.
pub struct Outside(Place);

impl Deref for Outside {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

/// Leftovers of earlier builds in the example's folder, which a user's crate lacks.
/// The line that says that a file of a new crate is still to be written.
pub const UNWRITTEN: &str = "    const UNWRITTEN: harness::Unwritten = harness::unwritten();\n";

const LEFT: [&str; 3] = ["target", "runs", "Cargo.lock"];

impl Outside {
    /// A crate in a place, and its program has the same name.
    pub fn at(place: Place, name: &str) -> Self {
        Self(place.of_crate(name))
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
            let to = outside.path("").join(entry.path().strip_prefix(&example).unwrap());
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

    /// Runs `cosim new` with options on RTL in `given.sv`. It must print all of `words`.
    #[track_caller]
    pub fn new(name: &str, rtl: &str, options: &str, words: &[&str]) -> Self {
        let place = Place::with_files(&[("given.sv", rtl)]);
        Self::in_place(place, name, &format!("given.sv {options}"), words)
    }

    /// Runs `cosim new` with options in a place. It must print all of `words`.
    #[track_caller]
    pub fn in_place(place: Place, name: &str, options: &str, words: &[&str]) -> Self {
        place.prints(0, words, &format!("new {name} {options}"));
        Self::at(place, name)
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
        cargo_outside(&self.path("")).args(arguments).output().unwrap()
    }

    /// Builds the crate without a warning.
    #[track_caller]
    pub fn builds(&self) {
        is_without_warnings(&self.cargo(&["build"]));
    }

    /// Like [`Outside::builds`], with clippy in place of the compiler to lint in the same step.
    #[track_caller]
    pub fn lints(&self) {
        let mut cargo = cargo_outside(&self.path(""));
        cargo.arg("build").env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        is_without_warnings(&cargo.output().unwrap());
    }

    /// Exports a vector, and returns what its testbench prints in Icarus.
    #[track_caller]
    pub fn exported(&self, words: &str, bench: &str) -> String {
        self.exits(0, &format!("export {words} -o {bench}"));
        icarus(&self.path(bench))
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
    let mut command = Command::new("patch");
    command.args(["-p2", "-s", "-i", "../bad_rtl/05-cut-keeps-the-lock.patch"]);
    command.current_dir(outside.path("bad"));
    assert_code(&command.output().unwrap(), 0);
    let run = "run --rtl bad --no-shrink --max-failures 1 --out found";
    outside.prints(1, &["the RTL violates the specification"], run);
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

/// Each added, removed or resized port is named, and so is the place of a Verilog error. `outside`
/// builds the example with its own RTL.
#[test]
fn a_port_that_appears_vanishes_or_changes_width_is_named() {
    let example = Outside::copy_of("arbiter");
    // Crates in one build folder must have different names.
    let manifest = example.text("Cargo.toml").replacen("\"arbiter\"", "\"ports\"", 1);
    example.write("Cargo.toml", &manifest);
    let good = example.text("rtl/Arbiter.v");
    let broken = |changes: &[(&str, &str)]| {
        example.plant("rtl", "Arbiter.v", changes);
        // `build` instead of `check`, because the dependencies are built already, but not checked.
        let output = example.cargo(&["build", "--lib", "--color", "never"]);
        example.write("rtl/Arbiter.v", &good);
        let printed = text(&output);
        assert!(!output.status.success(), "{changes:?} goes unnoticed: {printed}");
        printed
    };
    let clock = "input  wire        clk,";
    let new = "input  wire        clk,\n  input  wire new_input,\n  output wire new_output,";
    let words = ["nothing drives `new_input[1]`", "`outputs` lacks `new_output`"];
    assert_contains(&broken(&[(clock, new)]), &words);
    let printed = broken(&[
        ("input  wire [3:0]  req_last", "input  wire [4:0]  req_last"),
        ("output reg  [15:0] out_data", "output reg  [17:0] out_data"),
    ]);
    assert_contains(&printed, &["`req_last` has 5 bits, not 4", "`out_data` has 18 bits, not 16"]);
    // A port of another name is one error of the declaration, at its token.
    let printed = broken(&[("out_valid", "out_vld")]);
    let error =
        "error: the RTL has no output `out_valid`; did you mean `out_vld`?\n  --> src/lib.rs";
    assert_contains(&printed, &[error]);
    assert_eq!(printed.matches("--> src/lib.rs").count(), 1, "{printed}");
    let printed = broken(&[("localparam [0:0] FREE", "localparm [0:0] FREE")]);
    assert_contains(&printed, &["rtl/Arbiter.v:", "%Error"]);
    assert!(!printed.contains("panicked"), "{printed}");
}
