//! ^C during a replay, shrink or explanation. Each time, the work cannot end by itself, so the test
//! does not depend on timing.

use super::{FORTIETH, are_gone, marked, on_rtl, packets, send, still_fails, wait_for};
use crate::common::{Place, assert_code, wait_until};
use crate::shrinking::long_vector;
use rustix::process::Signal;
use std::fs;
use std::process::Child;

/// Starts the words of a line on `large.json`, a vector of 20 000 packets that shows `HARM_BUG`.
fn start(place: &Place, line: &str) -> Child {
    if !place.has_file("large.json") {
        place.write("large.json", &long_vector().to_string());
    }
    place.start_with_pipes(&on_rtl(&format!("{line} large.json --stuck-after 1h")))
}

/// Starts a command that cannot end by itself, and interrupts it when the harm occurs.
fn interrupted(place: &Place, line: &str) {
    let mut child = start(place, line);
    wait_until(&mut child, || !marked(place).is_empty());
    send(&child, Signal::INT);
    wait_for("the command goes on", || child.try_wait().unwrap().is_some());
    assert_code(&child.wait_with_output().unwrap(), 130);
    are_gone(&marked(place));
}

#[test]
fn an_interruption_is_heard_while_a_vector_is_at_work_that_never_returns() {
    let place = Place::new();
    // Compile the models first, so that the RTL is running when the signal arrives.
    for line in ["replay --trace waves.vcd", "explain"] {
        let child = start(&place, &format!("HARM_BUG=1 {line}"));
        assert_code(&child.wait_with_output().unwrap(), 1);
    }
    place.remove("waves.vcd");
    // The second model determines how the first failed.
    for (line, turn) in [
        ("replay", "1"),
        ("shrink", "1"),
        ("explain", "1"),
        ("explain", "2"),
        ("replay --trace waves.vcd", "1"),
        ("replay --trace waves.vcd", "2"),
    ] {
        for harm in ["spin", "stop"] {
            let _ = fs::remove_file(place.path("mark"));
            let variables = format!("HARM={harm} HARM_TURN={turn} HARM_BUG=1 HARM_MARK=mark");
            interrupted(&place, &format!("{variables} {line}"));
        }
    }
    assert!(!place.has_file("waves.vcd"), "no waves were whole");
    assert!(!place.has_file("large.shrunk.json"), "nothing smaller was found");
}

/// The fortieth model hangs: the smallest vector until then is written.
#[test]
fn an_interrupted_shrink_writes_its_best_vector() {
    let place = Place::new();
    interrupted(&place, &format!("{FORTIETH} shrink"));
    let small = place.path("large.shrunk.json");
    still_fails(&place, &small);
    // The bug shows from cycle 60 on, so the window of packets before that cycle fails.
    assert!(packets(&small) < 20_000, "{} packets", packets(&small));
}
