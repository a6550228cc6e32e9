//! Workers lost to causes outside the RTL: the verdict is still that of the RTL.

use super::{Place, RUN, Signal, exits, start, wait_until};
use crate::common::assert_code;
use rustix::process::{Pid, kill_process};
use std::fs;

/// A worker is killed, or stopped: without progress, its case is repeated.
#[test]
fn a_worker_that_is_lost_from_outside_changes_no_result() {
    for (stuck_after, how) in
        [("1h", ": process killed by SIGKILL"), ("1s", ": process made no progress")]
    {
        let place = Place::new();
        exits(&place, 0, "", &format!("{RUN} undisturbed --cases 8"));
        let more = format!("--cases 8 --stuck-after {stuck_after}");
        // One process stops, and writes its number into the file.
        let mut child = start(&place, "HARM=stop HARM_ONCE=once", &more);
        if stuck_after == "1h" {
            let worker = || fs::read_to_string(place.path("once")).ok()?.trim().parse::<i32>().ok();
            wait_until(&mut child, || worker().is_some());
            kill_process(Pid::from_raw(worker().unwrap()).unwrap(), Signal::KILL).unwrap();
        }
        assert_code(&child.wait_with_output().unwrap(), 0);
        let [run, undisturbed] =
            ["run", "undisturbed"].map(|run| place.text(&format!("{run}/results.json")));
        assert!(run == undisturbed, "the same bytes");
        let lost = place.json("run/timing.json")["lost_workers"].clone();
        assert_eq!(lost["count"], 1, "{lost}");
        assert!(lost["first"][0].as_str().unwrap().ends_with(how), "{lost}");
    }
}

/// As when memory is short: the run ends with the reason and can be resumed.
#[test]
fn too_many_killed_workers_end_the_run() {
    let place = Place::new();
    let run = format!("HARM=kill {RUN} run --cases 2 --threads 1 --no-sandbox");
    exits(&place, 3, "SIGKILL", &run);
    assert!(!place.has_file("run/results.json"));
    place.exits(0, "resume run");
    assert_eq!(place.results("run")["totals"]["cases"], 2);
}

/// RTL can send itself the signals of people and batch systems: the second time, the verdict
/// counts. In a sandbox, it cannot send SIGKILL to itself, so trying is a verdict.
#[test]
fn a_signal_of_the_rtl_to_itself_is_a_verdict() {
    for (harm, signal) in [("term", "SIGTERM"), ("kill", "SIGSYS")] {
        let line = format!("HARM={harm} {RUN} run --cases 1 --no-shrink --no-waves");
        exits(&Place::new(), 1, &format!("crashed: process killed by {signal}"), &line);
    }
}
