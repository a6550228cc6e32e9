//! The sandbox: by default, RTL can do nothing to the machine.

use super::{RUN, on_rtl};
use crate::common::{Place, assert_code, assert_contains, code, files, text};
use std::process::Output;

const REFUSED: &str = "escape: write=0 remove=0 folder=0 cache=0 mode=0 system=0 socket=0 fork=0 signal=0 null=1 read=1";

/// A place with files that the RTL tries to remove and change.
fn targets() -> Place {
    Place::with_files(&[("harm_removed", ""), ("harm_mode", "")])
}

/// Runs a command in that place on RTL that tries to escape.
fn escape(place: &Place, line: &str) -> Output {
    place.run(&on_rtl(&format!("HARM=escape HARM_BUG=1 {line}")))
}

/// A failing run, so that failures are processed, too.
fn failing_run(place: &Place, more: &str) -> Output {
    let output = escape(place, &format!("{RUN} out --cases 1 --max-failures 1 {more}"));
    assert_code(&output, 1);
    output
}

fn escapes(output: &Output) -> Vec<String> {
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = printed.lines().filter_map(|line| line.strip_prefix("rtl: "));
    lines.filter(|line| line.starts_with("escape: ")).map(str::to_owned).collect()
}

#[test]
fn no_command_lets_rtl_out_of_the_sandbox() {
    let place = targets();
    let output = failing_run(&place, "");
    assert_contains(&text(&output), &["sandbox: "]);
    let sandbox = place.json("out/timing.json")["sandbox"].clone();
    assert_contains(sandbox.as_str().unwrap(), &["seccomp"]);
    assert_eq!(files(&place.path("out/failures"), "fst").len(), 1, "waves are written");
    let vector = place.vector("out");
    let mut outputs = vec![output];
    for line in [
        "replay VECTOR --trace waves.fst",
        "replay VECTOR --trace waves.vcd",
        "explain VECTOR",
        "shrink VECTOR --out small.json",
    ] {
        let output = escape(&place, &line.replace("VECTOR", &vector));
        assert!([0, 1].contains(&code(&output)), "{line}: {}", text(&output));
        outputs.push(output);
    }
    for output in &outputs {
        let escapes = escapes(output);
        assert!(!escapes.is_empty(), "{}", text(output));
        assert!(escapes.iter().all(|line| line == REFUSED), "{escapes:?}");
    }
    let expected = ["harm_mode", "harm_removed", "out", "small.json", "waves.fst", "waves.vcd"];
    assert_eq!(place.names(""), expected);
}

#[test]
fn without_a_sandbox_rtl_may_do_what_its_user_may() {
    let place = targets();
    let output = failing_run(&place, "--no-sandbox --no-shrink --no-waves");
    assert_eq!(escapes(&output)[0], REFUSED.replace('0', "1"));
    assert_contains(&text(&output), &["sandbox: none (--no-sandbox)"]);
    assert!(place.has_file("harm_escape"));
}
