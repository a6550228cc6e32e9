//! `cosim bisect`: the first commit at which a vector fails.

use crate::common::{assert_error, code, copy_rtl, cosim, patched_rtl, project, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A repository with a commit for each change of `rtl/`.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().unwrap());
        repository.git(&["init", "-q"]);
        copy_rtl(&repository.path().join("rtl"));
        repository.commit("first");
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let git =
            Command::new("git").args(identity).args(arguments).current_dir(self.path()).output();
        let output = git.unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", subject]);
        self.git(&["tag", subject]);
    }

    /// A commit that replaces a text in the RTL of `recv`.
    fn change(&self, subject: &str, from: &str, to: &str) {
        let file = self.path().join("rtl/recv/RecvSideFsm.sv");
        let before = fs::read_to_string(&file).unwrap();
        assert!(before.contains(from), "{from}");
        fs::write(&file, before.replacen(from, to, 1)).unwrap();
        self.commit(subject);
    }

    fn bisect(&self, arguments: &[&str]) -> Output {
        cosim().current_dir(self.path()).arg("bisect").args(arguments).output().unwrap()
    }
}

fn json_of(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(output)))
}

/// The first line of the RTL of `recv`.
const TOP: &str = "module RecvSideFsm";

/// Is the first failing commit found, with its patch, although a commit does not compile and others
/// do not change the RTL?
#[test]
fn the_first_failing_commit_is_found_with_its_patch() {
    let repository = Repository::new();
    repository.change("comment", TOP, "// A comment.\nmodule RecvSideFsm");
    repository.change("syntax", TOP, "modul RecvSideFsm");
    repository.change("repaired", "modul RecvSideFsm", TOP);
    fs::write(repository.path().join("README"), "nothing").unwrap();
    repository.commit("elsewhere");
    let bug = patched_rtl(&project().join("tests/bad_rtl/recv/10-low-is-low.patch"));
    let file = "rtl/recv/RecvSideFsm.sv";
    fs::copy(bug.path().join(file), repository.path().join(file)).unwrap();
    repository.commit("bug");
    repository.change("later", TOP, "// Another comment.\nmodule RecvSideFsm");

    let vector = project().join("vectors/recv/decision-chosen-once-kept.json");
    let vector = vector.to_str().unwrap();
    let found = repository.bisect(&["first:rtl", "later", vector, "--fixes", "spec"]);
    assert_eq!(code(&found), 0, "{}", text(&found));
    assert!(text(&found).contains("  bug\n"), "{}", text(&found));
    let json = &["--fixes", "spec", "--format", "json"];
    let found =
        json_of(&repository.bisect(&[&["first:rtl", "later:rtl", vector], &json[..]].concat()));
    let subjects = |list: &serde_json::Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|commit| commit["subject"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(subjects(&found["first"]), ["bug"], "{found}");
    assert_eq!(found["commits"], 5, "comment, syntax, repaired, bug, later: {found}");
    assert!(found["patch"].as_str().unwrap().contains("+++ b/rtl/recv/RecvSideFsm.sv"), "{found}");
    assert!(found["verdict"].as_str().unwrap().contains("alloc_valid"), "{found}");

    // Without the commit that repairs it, the one that does not compile may be the first.
    repository.git(&["checkout", "-q", "syntax"]);
    fs::copy(bug.path().join(file), repository.path().join(file)).unwrap();
    repository.commit("both");
    let found = repository.bisect(&[&["comment:rtl", "both", vector], &json[..]].concat());
    assert_eq!(code(&found), 4, "{}", text(&found));
    let found = json_of(&found);
    assert_eq!(subjects(&found["first"]), ["both", "syntax"], "{found}");
    assert_eq!(found["skipped"][0][0]["subject"], "syntax", "{found}");
    assert!(found["skipped"][0][1].as_str().unwrap().starts_with("rtl: "), "{found}");
}

/// Ends that are not a passing ancestor and a failing descendant are refused, and nothing that
/// looks like an option or leads out of the repository reaches git.
#[test]
fn ends_that_say_nothing_are_errors() {
    let repository = Repository::new();
    fs::write(repository.path().join("README"), "nothing").unwrap();
    repository.commit("second");
    let vector = project().join("vectors/recv/decision-chosen-once-kept.json");
    let vector = vector.to_str().unwrap();
    for (good, bad, of, number) in [
        ("first:rtl", "second", vector, "E0510"),
        ("second:rtl", "first", vector, "E0510"),
        ("first:rtl", "first", vector, "E0510"),
        ("first", "second", vector, "E0510"),
        ("first:rtl", "second:README", vector, "E0510"),
        ("first:../rtl", "second", vector, "E0510"),
        ("first:rtl", "nothing", vector, "E0509"),
        ("first:rtl", "--output=x", vector, "E0509"),
        ("first:rtl", "second", "no-vector", "E0207"),
        ("first:rtl", "second", "recv/spec/nothing/1", "E0105"),
    ] {
        let arguments = ["--fixes", "spec", "--", good, bad, of];
        assert_error(&repository.bisect(&arguments), number);
    }
}
