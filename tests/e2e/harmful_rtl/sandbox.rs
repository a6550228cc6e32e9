//! The sandbox: by default, RTL can do nothing to the machine.

use super::{RUN, output};
use crate::common::{Place, assert_code, code, files, text};
use std::process::Output;

const REFUSED: &str = "escape: write=0 remove=0 folder=0 cache=0 mode=0 system=0 socket=0 fork=0 signal=0 null=1 read=1";

/// A place with files that the RTL tries to remove and change.
fn targets() -> Place {
    let place = Place::new();
    for name in ["harm_removed", "harm_mode"] {
        place.write(name, "");
    }
    place
}

/// Runs a command in that place on RTL that tries to escape.
fn escape(place: &Place, line: &str) -> Output {
    output(place, &format!("HARM=escape HARM_BUG=1 {line}"))
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
    assert!(text(&output).contains("sandbox: "), "{}", text(&output));
    let printed = place.json("out/timing.json")["sandbox"].clone();
    assert!(printed.as_str().unwrap().contains("seccomp"), "{printed}");
    assert_eq!(files(&place.path("out/failures"), "fst").len(), 1, "waves are written");
    let vector = place.results("out")["failures"][0]["vector"].clone();
    let vector = format!("out/{}", vector.as_str().unwrap());
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
    assert!(text(&output).contains("sandbox: none (--no-sandbox)"), "{}", text(&output));
    assert!(place.has("harm_escape"));
}
