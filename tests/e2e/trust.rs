//! A crate is built only if the user trusts it, and no other user can write what Cargo reads.

use crate::common::{assert_code, assert_error, assert_error_at, code, program, text};
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const UNTRUSTED: &str = "E0116";
const OF_OTHERS: &str = "E0117";
/// The error after the program that stands for Cargo has failed.
const UNBUILT: &str = "E0115";
/// A user that exists on no machine.
const STRANGER: u32 = 65533;

/// A crate of blocks in `above/crate`, and a program in the place of Cargo that notes its start.
struct Checkout {
    folder: TempDir,
}

impl Checkout {
    fn new() -> Self {
        let checkout = Self { folder: TempDir::new().unwrap() };
        // The library is a package without code, so that it is built at once.
        let manifest = "[package]\nname = \"stranger\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                        [workspace]\n[dependencies]\ncosim-core = { path = \"../near\" }\n";
        checkout.write("above/crate/Cargo.toml", manifest);
        checkout.write("above/crate/src/main.rs", "fn main() {}");
        checkout.write("above/crate/build.rs", "fn main() {}");
        checkout.write("above/crate/v.json", "{}");
        let near = "[package]\nname = \"cosim-core\"\nversion = \"0.1.0\"\n[workspace]\n";
        checkout.write("above/near/Cargo.toml", near);
        checkout.write("above/near/src/lib.rs", "");
        checkout
            .write("cargo", "#!/bin/sh\necho \"$PWD $RUSTUP_TOOLCHAIN $*\" >> \"$LOG\"\nexit 1\n");
        checkout.set("cargo", 0o755);
        checkout
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
        self.set(name, 0o644);
    }

    fn set(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
    }

    fn program(&self) -> Command {
        let mut program = program();
        program.current_dir(self.at("above/crate")).env_remove("RUSTUP_TOOLCHAIN");
        program.env("CARGO", self.at("cargo")).env("LOG", self.at("log"));
        program.env("COSIM_STATE", self.at("state"));
        program
    }

    fn run(&self, words: &str) -> Output {
        self.program().args(words.split(' ')).output().unwrap()
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

const WITH_BLOCKS: [&str; 16] = [
    "run",
    "list",
    "watch",
    "bench",
    "prove",
    "mutate",
    "schema vector",
    "diff a b",
    "replay v.json",
    "explain v.json",
    "shrink v.json",
    "export v.json -o out",
    "resume src",
    "signoff src",
    "merge src --out out",
    "cover close src --out out",
];

#[test]
fn no_command_builds_a_crate_that_the_user_did_not_trust() {
    let checkout = Checkout::new();
    for words in WITH_BLOCKS {
        let output = checkout.run(words);
        assert_error_at(&output, UNTRUSTED, "cosim trust ");
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        // It says what would be built: the crate, and a package of another folder.
        for folder in ["above/crate\n", "above/near\n"] {
            assert!(shown.contains(folder), "{words}: {shown}");
        }
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
    let missing = "replay explain shrink resume signoff report compare";
    let missing = missing.split(' ').map(|command| match command {
        "compare" => "compare nosuch nosuch".to_owned(),
        command => format!("{command} nosuch.json"),
    });
    let others = ["merge nosuch --out out", "export nosuch.json -o out", "cover report nosuch"];
    let others = others.into_iter().chain(["cover rank nosuch", "cover merge nosuch --out out"]);
    for words in missing.chain(others.map(str::to_owned)) {
        let output = checkout.run(&words);
        let printed = text(&output);
        assert_eq!(code(&output), 2, "{words}: {printed}");
        assert!(printed.contains("nosuch") && !printed.contains(UNTRUSTED), "{words}: {printed}");
        assert_eq!(checkout.started(), None, "{words}");
    }
}

#[test]
fn a_crate_is_trusted_by_its_folder_and_not_by_its_path() {
    let checkout = Checkout::new();
    checkout.trust();
    // From a folder below, too, and through a link.
    symlink(checkout.at("above/crate/src"), checkout.at("link")).unwrap();
    let output = checkout.program().current_dir(checkout.at("link")).arg("list").output().unwrap();
    assert_error(&output, UNBUILT);
    // Only the user can read and write what is remembered.
    let records: Vec<_> = fs::read_dir(checkout.at("state/trusted")).unwrap().collect();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    let record = record.as_ref().unwrap().path();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&record), mode(&checkout.at("state"))), (0o600, 0o700));
    fs::set_permissions(&record, Permissions::from_mode(0o666)).unwrap();
    assert_error(&checkout.run("list"), UNTRUSTED);
    fs::set_permissions(&record, Permissions::from_mode(0o600)).unwrap();
    assert_error(&checkout.run("list"), UNBUILT);
    // Another folder in its place.
    let words = ["-r", "above/crate", "above/other"];
    assert!(
        Command::new("cp").args(words).current_dir(&checkout.folder).status().unwrap().success()
    );
    fs::rename(checkout.at("above/crate"), checkout.at("above/first")).unwrap();
    fs::rename(checkout.at("above/other"), checkout.at("above/crate")).unwrap();
    assert_error(&checkout.run("list"), UNTRUSTED);
    checkout.trust();
    assert_error(&checkout.run("list"), UNBUILT);
    assert_eq!(code(&checkout.run("trust --revoke")), 0);
    assert_error(&checkout.run("list"), UNTRUSTED);
    // A folder without a crate, and a folder for what is remembered that others can write.
    let output =
        checkout.program().current_dir(checkout.at("above")).arg("trust").output().unwrap();
    assert_error(&output, "E0114");
    checkout.set("state", 0o777);
    assert_error_at(&checkout.run("trust"), "E0111", "COSIM_STATE");
}

#[test]
fn what_others_could_have_written_is_not_built() {
    let checkout = Checkout::new();
    checkout.trust();
    let crate_files = ["crate/build.rs", "crate/src/main.rs", "crate/src", "near/src/lib.rs"];
    for name in crate_files.into_iter().chain(["near/Cargo.toml", "near"]) {
        let name = &format!("above/{name}");
        let mode = fs::metadata(checkout.at(name)).unwrap().permissions().mode();
        checkout.set(name, 0o777);
        for words in ["list", "trust"] {
            let output = checkout.run(words);
            assert_error(&output, OF_OTHERS);
            assert_eq!(checkout.started(), None, "{name}");
        }
        checkout.set(name, mode & 0o777);
        // Only root can change the owner.
        if chown(checkout.at(name), Some(STRANGER), None).is_ok() {
            assert_error(&checkout.run("list"), OF_OTHERS);
            assert_eq!(checkout.started(), None, "{name}");
            chown(checkout.at(name), Some(0), None).unwrap();
        }
    }
    // A link to a file that others can write.
    checkout.write("elsewhere/data.rs", "");
    checkout.set("elsewhere", 0o777);
    symlink(checkout.at("elsewhere/data.rs"), checkout.at("above/crate/src/data.rs")).unwrap();
    assert_error(&checkout.run("list"), OF_OTHERS);
    checkout.set("elsewhere", 0o755);
    assert_error(&checkout.run("list"), UNBUILT);
    // Cargo looks for the workspace of this one in folders that others can write.
    let manifest = fs::read_to_string(checkout.at("above/crate/Cargo.toml")).unwrap();
    checkout.write("above/crate/Cargo.toml", &manifest.replace("[workspace]\n", ""));
    let output = checkout.run("list");
    assert_error_at(&output, OF_OTHERS, "[workspace]");
    checkout.write("above/Cargo.toml", "[workspace]\nmembers = [\"crate\"]\n");
    checkout.started();
    assert_error(&checkout.run("list"), UNBUILT);
    checkout.set("above/Cargo.toml", 0o646);
    assert_error(&checkout.run("list"), OF_OTHERS);
}

#[test]
fn cargo_starts_in_no_folder_of_others_and_reads_the_configuration_of_the_user() {
    let checkout = Checkout::new();
    checkout.write("above/.cargo/config.toml", "[net]\noffline = true\n");
    checkout.write("above/crate/.cargo/config.toml", "[term]\nquiet = true\n");
    checkout.write("above/rust-toolchain.toml", "[toolchain]\nchannel = \"1.89.0\"\n");
    checkout.trust();
    let started = || {
        assert_error(&checkout.run("list"), UNBUILT);
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
    checkout.write(
        "above/crate/a.v",
        "module a(input clk, output reg q); always @(posedge clk) q <= 1; endmodule",
    );
    let output = checkout.run("diff --top a a.v a.v");
    assert_error(&output, UNBUILT);
    let line = checkout.started().unwrap();
    assert!(line.starts_with("/ ") && !line.contains(&inner) && !line.contains("1.89.0"), "{line}");
}

/// With the real programs: a wrapper of the compiler, and a toolchain.
#[test]
fn no_program_of_a_configuration_above_runs() {
    let checkout = Checkout::new();
    let evil = "#!/bin/sh\necho \"$0 $*\" >> \"$LOG\"\nexit 1\n";
    for name in ["evil", "tc/bin/cargo", "tc/bin/rustc", "tc/bin/rustfmt"] {
        checkout.write(name, evil);
        checkout.set(name, 0o755);
    }
    let quoted = |name: &str| format!("{:?}", checkout.at(name).display().to_string());
    let config = format!("[build]\nrustc-wrapper = {}\n", quoted("evil"));
    checkout.write("above/.cargo/config.toml", &config);
    let channel = format!("[toolchain]\npath = {}\n", quoted("tc"));
    checkout.write("above/rust-toolchain.toml", &channel);
    checkout.trust();
    let mut command = checkout.program();
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
    checkout.write(
        "above/a.v",
        "module a(input clk, output reg q); always @(posedge clk) q <= 1; endmodule",
    );
    let mut command = checkout.program();
    command.env_remove("CARGO").current_dir(checkout.at("above"));
    let output = command.args(["new", "fresh", "--top", "a", "a.v"]).output().unwrap();
    assert_code(&output, 0);
    assert_eq!(checkout.started(), None);
    // It is trusted.
    let output = checkout.program().current_dir(checkout.at("above/fresh")).arg("list").output();
    assert_error(&output.unwrap(), UNBUILT);
}

#[test]
fn a_terminal_shows_the_question_once() {
    let checkout = Checkout::new();
    let list = |answer: &str| {
        let program = checkout.program();
        let mut command = Command::new("timeout");
        let line = format!("{} list", program.get_program().display());
        command.args(["60", "script", "-qec", &line, "/dev/null"]);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(checkout.at("above/crate"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
        let output = child.wait_with_output().unwrap();
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
