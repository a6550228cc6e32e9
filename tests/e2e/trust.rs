//! A crate is built only if the user trusts it, and no other user can write what Cargo reads.

use crate::common::{Place, assert_code, assert_error, assert_error_at, program, text};
use crate::terminal::typed_on_a_terminal;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

const UNTRUSTED: &str = "E0116";
const OF_OTHERS: &str = "E0117";
/// The error after the program that stands for Cargo has failed.
const UNBUILT: &str = "E0115";

const MODULE: &str = "module a(input clk, output reg q); always @(posedge clk) q <= 1; endmodule";

/// A crate of blocks in `above/crate`, and a program in the place of Cargo that notes its start.
struct Checkout(Place);

impl Checkout {
    fn new() -> Self {
        let checkout = Self(Place::new());
        // The library is a package without code, so that it is built at once.
        let manifest = "[package]\nname = \"stranger\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                        [workspace]\n[dependencies]\ncosim-core = { path = \"../near\" }\n";
        let near = "[package]\nname = \"cosim-core\"\nversion = \"0.1.0\"\n[workspace]\n";
        checkout.write("above/crate/Cargo.toml", manifest);
        checkout.write("above/crate/src/main.rs", "fn main() {}");
        checkout.write("above/crate/build.rs", "fn main() {}");
        checkout.write("above/crate/v.json", "{}");
        checkout.write("above/near/Cargo.toml", near);
        checkout.write("above/near/src/lib.rs", "");
        checkout.script("cargo", "echo \"$PWD $RUSTUP_TOOLCHAIN $*\"");
        checkout
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
        self.set(name, 0o644);
    }

    /// A program that notes what `echo` prints, and fails.
    fn script(&self, name: &str, echo: &str) {
        self.write(name, &format!("#!/bin/sh\n{echo} >> \"$LOG\"\nexit 1\n"));
        self.set(name, 0o755);
    }

    fn set(&self, name: &str, mode: u32) {
        self.0.set_mode(name, mode);
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.at(name)).unwrap().permissions().mode() & 0o777
    }

    fn program(&self, folder: &str) -> Command {
        let mut program = program();
        program.current_dir(self.at(folder)).env_remove("RUSTUP_TOOLCHAIN");
        program.env("CARGO", self.at("cargo")).env("LOG", self.at("log"));
        program.env("COSIM_STATE", self.at("state"));
        program
    }

    fn run_in(&self, folder: &str, words: &str) -> Output {
        self.program(folder).args(words.split(' ')).output().unwrap()
    }

    fn run(&self, words: &str) -> Output {
        self.run_in("above/crate", words)
    }

    /// Checks that `cosim list` fails with this error.
    #[track_caller]
    fn list(&self, number: &str) {
        assert_error(&self.run("list"), number);
    }

    /// What Cargo was started with since the last call.
    fn started(&self) -> Option<String> {
        let text = fs::read_to_string(self.at("log")).ok()?;
        fs::remove_file(self.at("log")).unwrap();
        Some(text)
    }

    #[track_caller]
    fn trust(&self) {
        assert_code(&self.run("trust"), 0);
    }
}

#[test]
fn no_command_builds_a_crate_that_the_user_did_not_trust() {
    let checkout = Checkout::new();
    let with_blocks = "run,list,watch,bench,prove,mutate,schema vector,diff a b,replay v.json,\
                       explain v.json,shrink v.json,export v.json -o out,resume src,signoff src,\
                       merge src --out out,cover close src --out out";
    for words in with_blocks.split(',') {
        let output = checkout.run(words);
        // It says what would be built: the crate, and a package of another folder.
        let shown = ["cosim trust ", "above/crate\n", "above/near\n"];
        assert_error_at(&output, UNTRUSTED, &shown);
        assert_eq!(checkout.started(), None, "{words}");
    }
    checkout.trust();
    assert_eq!(checkout.started(), None, "trust builds nothing");
    for words in ["list", "replay v.json"] {
        assert_error(&checkout.run(words), UNBUILT);
        assert!(checkout.started().is_some(), "{words}");
    }
}

#[test]
fn commands_that_need_no_block_start_nothing() {
    let checkout = Checkout::new();
    let lines = "replay nosuch.json,explain nosuch.json,shrink nosuch.json,resume nosuch.json,\
                 signoff nosuch.json,report nosuch.json,export nosuch.json -o out,\
                 compare nosuch nosuch,merge nosuch --out out,cover report nosuch,\
                 cover rank nosuch,cover merge nosuch --out out";
    for words in lines.split(',') {
        let output = checkout.run(words);
        assert_code(&output, 2);
        let printed = text(&output);
        assert!(printed.contains("nosuch") && !printed.contains(UNTRUSTED), "{words}: {printed}");
        assert_eq!(checkout.started(), None, "{words}");
    }
}

#[test]
fn a_crate_is_trusted_by_its_folder_and_not_by_its_path() {
    let checkout = Checkout::new();
    checkout.trust();
    // From a folder below, too, and through a link.
    checkout.0.link(checkout.at("above/crate/src"), "link");
    assert_error(&checkout.run_in("link", "list"), UNBUILT);
    // Only the user can read and write what is remembered.
    let records = checkout.0.names("state/trusted");
    let [record] = &records[..] else { panic!("{records:?}") };
    let record = format!("state/trusted/{record}");
    assert_eq!((checkout.mode(&record), checkout.mode("state")), (0o600, 0o700));
    for (mode, number) in [(0o666, UNTRUSTED), (0o600, UNBUILT)] {
        checkout.set(&record, mode);
        checkout.list(number);
    }
    // Another folder in its place.
    let mut copy = Command::new("cp");
    copy.args(["-r", "above/crate", "above/other"]).current_dir(checkout.at(""));
    assert_code(&copy.output().unwrap(), 0);
    fs::rename(checkout.at("above/crate"), checkout.at("above/first")).unwrap();
    fs::rename(checkout.at("above/other"), checkout.at("above/crate")).unwrap();
    checkout.list(UNTRUSTED);
    checkout.trust();
    checkout.list(UNBUILT);
    assert_code(&checkout.run("trust --revoke"), 0);
    checkout.list(UNTRUSTED);
    // A folder without a crate, and a folder for what is remembered that others can write.
    assert_error(&checkout.run_in("above", "trust"), "E0114");
    checkout.set("state", 0o777);
    assert_error_at(&checkout.run("trust"), "E0111", &["COSIM_STATE"]);
}

#[test]
fn what_others_could_have_written_is_not_built() {
    let checkout = Checkout::new();
    checkout.trust();
    let crate_files = ["crate/build.rs", "crate/src/main.rs", "crate/src", "near/src/lib.rs"];
    for name in crate_files.into_iter().chain(["near/Cargo.toml", "near"]) {
        let name = &format!("above/{name}");
        let mode = checkout.mode(name);
        checkout.set(name, 0o777);
        for words in ["list", "trust"] {
            assert_error(&checkout.run(words), OF_OTHERS);
            assert_eq!(checkout.started(), None, "{name}");
        }
        checkout.set(name, mode);
    }
    // A link to a file that others can write.
    checkout.write("elsewhere/data.rs", "");
    checkout.set("elsewhere", 0o777);
    checkout.0.link(checkout.at("elsewhere/data.rs"), "above/crate/src/data.rs");
    checkout.list(OF_OTHERS);
    checkout.set("elsewhere", 0o755);
    checkout.list(UNBUILT);
    // Cargo looks for the workspace of this one in folders that others can write.
    let manifest = checkout.0.text("above/crate/Cargo.toml");
    checkout.write("above/crate/Cargo.toml", &manifest.replace("[workspace]\n", ""));
    assert_error_at(&checkout.run("list"), OF_OTHERS, &["[workspace]"]);
    checkout.write("above/Cargo.toml", "[workspace]\nmembers = [\"crate\"]\n");
    checkout.started();
    checkout.list(UNBUILT);
    checkout.set("above/Cargo.toml", 0o646);
    checkout.list(OF_OTHERS);
}

#[test]
fn cargo_starts_in_no_folder_of_others_and_reads_the_configuration_of_the_user() {
    let checkout = Checkout::new();
    checkout.write("above/.cargo/config.toml", "[net]\noffline = true\n");
    checkout.write("above/crate/.cargo/config.toml", "[term]\nquiet = true\n");
    checkout.write("above/rust-toolchain.toml", "[toolchain]\nchannel = \"1.89.0\"\n");
    checkout.trust();
    let started = || {
        checkout.list(UNBUILT);
        checkout.started().unwrap()
    };
    let option = |name: &str| format!("--config {}", checkout.at(name).display());
    let [outer, inner] =
        ["above/", "above/crate/"].map(|at| option(&format!("{at}.cargo/config.toml")));
    let line = started();
    assert!(line.starts_with("/ 1.89.0 build "), "{line}");
    assert!(line.contains(&format!("{outer} {inner}")), "the inner one decides: {line}");
    checkout.set("above/.cargo", 0o777);
    checkout.set("above/rust-toolchain.toml", 0o666);
    let line = started();
    assert!(!line.contains(&outer) && line.contains(&inner) && !line.contains("1.89.0"), "{line}");
    // A command that writes a crate of its own reads none of them.
    checkout.write("above/crate/a.v", MODULE);
    assert_error(&checkout.run("diff --top a a.v a.v"), UNBUILT);
    let line = checkout.started().unwrap();
    assert!(line.starts_with("/ ") && !line.contains(&inner) && !line.contains("1.89.0"), "{line}");
}

/// With the real programs: a wrapper of the compiler, and a toolchain.
#[test]
fn no_program_of_a_configuration_above_runs() {
    let checkout = Checkout::new();
    for name in ["evil", "tc/bin/cargo", "tc/bin/rustc", "tc/bin/rustfmt"] {
        checkout.script(name, "echo \"$0 $*\"");
    }
    let quoted = |name: &str| format!("{:?}", checkout.at(name).display().to_string());
    let config = format!("[build]\nrustc-wrapper = {}\n", quoted("evil"));
    checkout.write("above/.cargo/config.toml", &config);
    let channel = format!("[toolchain]\npath = {}\n", quoted("tc"));
    checkout.write("above/rust-toolchain.toml", &channel);
    checkout.trust();
    let mut command = checkout.program("above/crate");
    command.env_remove("CARGO").env("CARGO_NET_OFFLINE", "true").arg("list");
    // They count while they are the user's.
    assert_error(&command.output().unwrap(), UNBUILT);
    assert!(checkout.started().is_some());
    checkout.set("above/.cargo/config.toml", 0o666);
    checkout.set("above/rust-toolchain.toml", 0o666);
    // The crate is built, and its program is none with blocks.
    assert_error(&command.output().unwrap(), "E0913");
    assert_eq!(checkout.started(), None);
    // A new crate has no configuration yet, whoever wrote the file.
    checkout.set("above/rust-toolchain.toml", 0o644);
    checkout.write("above/a.v", MODULE);
    let mut command = checkout.program("above");
    command.env_remove("CARGO").args(["new", "fresh", "--top", "a", "a.v"]);
    assert_code(&command.output().unwrap(), 0);
    assert_eq!(checkout.started(), None);
    // It is trusted.
    assert_error(&checkout.run_in("above/fresh", "list"), UNBUILT);
}

#[test]
fn a_terminal_shows_the_question_once() {
    let checkout = Checkout::new();
    let list = |answer: &str| {
        let program = checkout.program("above/crate");
        let line = format!("{} list", program.get_program().display());
        let output = typed_on_a_terminal(&program, &line, answer);
        assert_code(&output, 2);
        text(&output)
    };
    for answer in ["", "n", "yy"] {
        let shown = list(answer);
        assert!(shown.contains(UNTRUSTED) && shown.contains("[y/N]"), "{shown}");
        assert_eq!(checkout.started(), None);
    }
    let shown = list("y");
    assert!(shown.contains(UNBUILT) && shown.contains("above/near"), "{shown}");
    assert!(checkout.started().is_some());
    let shown = list("");
    assert!(shown.contains(UNBUILT) && !shown.contains("[y/N]"), "{shown}");
}
