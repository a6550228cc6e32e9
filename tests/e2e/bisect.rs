//! The recipe for `git bisect` in `docs/how-to/diff.md`, run as it is shown.

use crate::common::{Place, assert_code, program, project, text, typed_in};
use std::fs;

/// The first line of the RTL of `recv`.
const TOP: &str = "module RecvSideFsm";
/// Its file.
const FILE: &str = "rtl/recv/RecvSideFsm.sv";

fn commit(place: &Place, subject: &str) {
    for line in ["add -A", &format!("commit -qm {subject}"), &format!("tag {subject}")] {
        place.git(line);
    }
}

/// Is the first failing commit found, although the commit that git tests first does not compile?
#[test]
fn the_documented_commands_find_the_first_failing_commit() {
    let place = Place::with_rtl();
    place.git("init -q -b main");
    let vector = project().join("vectors/recv/decision-chosen-once-kept.json");
    let vector = fs::read_to_string(vector).unwrap();
    place.write("failure.json", &vector.replacen("\"all\"", "\"spec\"", 1));
    commit(&place, "v1.0");
    let change = |subject: &str, from: &str, to: &str| {
        place.edit(FILE, from, to);
        commit(&place, subject);
    };
    change("comment", TOP, "// A comment.\nmodule RecvSideFsm");
    place.write("README", "nothing");
    commit(&place, "elsewhere");
    change("syntax", TOP, "modul RecvSideFsm");
    change("repaired", "modul RecvSideFsm", TOP);
    place.write(FILE, &Place::with_bug("recv/10-low-is-low").text(FILE));
    commit(&place, "bug");
    change("later", TOP, "// Another comment.\nmodule RecvSideFsm");

    let page = fs::read_to_string(project().join("docs/how-to/diff.md")).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("    "));
    let commands: Vec<&str> = commands.filter(|line| line.starts_with("git bisect ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let cosim = program();
    let folder = std::path::Path::new(cosim.get_program()).parent().unwrap().display();
    let mut printed = String::new();
    for command in commands {
        let output = typed_in(&place.path(""), &format!("PATH={folder}:$PATH; {command}"));
        assert_code(&output, 0);
        printed += &text(&output);
    }
    let log = place.git("bisect log");
    let found = place.git("log -1 --format=%s refs/bisect/bad");
    assert_eq!(found.trim(), "bug", "{log}{printed}");
    assert!(log.contains("] syntax\n") && log.contains("git bisect skip"), "{log}");
}
