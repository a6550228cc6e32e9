//! The recipe for `git bisect` in `docs/how-to/diff.md`, run as it is shown.

use crate::common::{copy_rtl, patched_rtl, program, project, text};
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};
use tempfile::TempDir;

/// The first line of the RTL of `recv`.
const TOP: &str = "module RecvSideFsm";
/// Its file.
const FILE: &str = "rtl/recv/RecvSideFsm.sv";

/// Runs a command of a shell that finds the tested program.
fn shell(here: &Path, command: &str) -> Output {
    let cosim = program();
    let folder = Path::new(cosim.get_program()).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap();
    let path = env::join_paths([folder].into_iter().chain(env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", path).current_dir(here);
    shell.envs(cosim.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output));
    output
}

fn commit(here: &Path, subject: &str) {
    let git = "git -c user.name=a -c user.email=a@example.org";
    shell(here, &format!("git add -A && {git} commit -qm {subject} && git tag {subject}"));
}

/// A commit that replaces a text in the RTL of `recv`.
fn change(here: &Path, subject: &str, from: &str, to: &str) {
    let before = fs::read_to_string(here.join(FILE)).unwrap();
    assert!(before.contains(from), "{from}");
    fs::write(here.join(FILE), before.replacen(from, to, 1)).unwrap();
    commit(here, subject);
}

/// Is the first failing commit found, although the commit that git tests first does not compile?
#[test]
fn the_documented_commands_find_the_first_failing_commit() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    shell(here, "git init -q -b main");
    copy_rtl(&here.join("rtl"));
    let vector = project().join("vectors/recv/decision-chosen-once-kept.json");
    let vector = fs::read_to_string(vector).unwrap();
    fs::write(here.join("failure.json"), vector.replacen("\"all\"", "\"spec\"", 1)).unwrap();
    commit(here, "v1.0");
    change(here, "comment", TOP, "// A comment.\nmodule RecvSideFsm");
    fs::write(here.join("README"), "nothing").unwrap();
    commit(here, "elsewhere");
    change(here, "syntax", TOP, "modul RecvSideFsm");
    change(here, "repaired", "modul RecvSideFsm", TOP);
    let bug = patched_rtl(&project().join("tests/bad_rtl/recv/10-low-is-low.patch"));
    fs::copy(bug.path().join(FILE), here.join(FILE)).unwrap();
    commit(here, "bug");
    change(here, "later", TOP, "// Another comment.\nmodule RecvSideFsm");

    let page = fs::read_to_string(project().join("docs/how-to/diff.md")).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("    "));
    let commands: Vec<&str> = commands.filter(|line| line.starts_with("git bisect ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let outputs: Vec<Output> = commands.iter().map(|command| shell(here, command)).collect();
    let log = text(&shell(here, "git bisect log"));
    let found = text(&shell(here, "git log -1 --format=%s refs/bisect/bad"));
    assert_eq!(found.trim(), "bug", "{log}{}", text(&outputs[1]));
    assert!(log.contains("] syntax\n") && log.contains("git bisect skip"), "{log}");
}
