//! ^C during a replay, shrink or explanation. Each time, the work cannot end by itself, so the test
//! does not depend on timing.

use super::{RTL, are_gone, marked, marks, send, wait_for};
use crate::common::{assert_code, json, program, project, text, wait_until};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use tempfile::TempDir;

/// Interrupts a command that cannot end by itself, and returns its output.
fn interrupted(mut child: Child) -> Output {
    send(&child, Signal::INT);
    wait_for("the command goes on", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 130);
    output
}

/// A vector of 20 000 packets that shows `HARM_BUG`.
fn large_vector(folder: &Path) -> PathBuf {
    let given = project().join("vectors/thread2/f5b-off-last-unit-of-a-send-hangs.json");
    let mut vector = json(&given);
    let packets = vector["stimulus"]["traffic"]["packets"].as_array_mut().unwrap();
    let packet = packets[0].clone();
    *packets = vec![packet; 20_000];
    vector["fixes"] = "repaired".into();
    vector["recorded"] = serde_json::Value::Null;
    let large = folder.join("large.json");
    fs::write(&large, serde_json::to_vec(&vector).unwrap()).unwrap();
    large
}

#[test]
fn an_interruption_is_heard_while_a_vector_is_at_work_that_never_returns() {
    let folder = TempDir::new().unwrap();
    let vector = large_vector(folder.path());
    let trace = folder.path().join("waves.vcd");
    let trace = trace.to_str().unwrap();
    // Compile the models first, so that the RTL is running when the signal arrives.
    for arguments in [&["replay", "--trace", trace][..], &["explain"]] {
        let environment = [("HARM_BUG", "1")];
        assert_code(&start(&vector, arguments, &environment).wait_with_output().unwrap(), 1);
    }
    fs::remove_file(trace).unwrap();
    // The second model determines how the first failed.
    for (arguments, turn) in [
        (&["replay"][..], "1"),
        (&["shrink"], "1"),
        (&["explain"], "1"),
        (&["explain"], "2"),
        (&["replay", "--trace", trace], "1"),
        (&["replay", "--trace", trace], "2"),
    ] {
        for harm in ["spin", "stop"] {
            let mark = folder.path().join("mark");
            let _ = fs::remove_file(&mark);
            let environment = [
                ("HARM", harm),
                ("HARM_TURN", turn),
                ("HARM_BUG", "1"),
                ("HARM_MARK", mark.to_str().unwrap()),
            ];
            let mut child = start(&vector, arguments, &environment);
            wait_until(&mut child, || !marked(&mark).is_empty());
            interrupted(child);
            are_gone(&marked(&mark));
        }
    }
    assert!(!Path::new(trace).exists(), "no waves were whole");
    assert!(!vector.with_extension("shrunk.json").exists(), "nothing smaller was found");
}

/// Starts a command on a vector and that RTL.
fn start(vector: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Child {
    program()
        .args(arguments)
        .arg(vector)
        .args(["--stuck-after", "1h", "--rtl", RTL.to_str().unwrap()])
        .args(marks(environment))
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The fortieth model hangs: the smallest vector until then is written.
#[test]
fn an_interrupted_shrink_writes_its_best_vector() {
    let folder = TempDir::new().unwrap();
    let large = large_vector(folder.path());
    let mark = folder.path().join("mark");
    let environment = [
        ("HARM", "spin"),
        ("HARM_AT", "2"),
        ("HARM_TURN", "40"),
        ("HARM_BUG", "1"),
        ("HARM_MARK", mark.to_str().unwrap()),
    ];
    let mut child = start(&large, &["shrink"], &environment);
    wait_until(&mut child, || !marked(&mark).is_empty());
    interrupted(child);
    let small = large.with_extension("shrunk.json");
    let again = start(&small, &["replay"], &[("HARM_BUG", "1")]).wait_with_output().unwrap();
    assert_code(&again, 1);
    assert!(text(&again).contains("(as recorded)"), "{}", text(&again));
    // The bug shows from cycle 60 on, so the window of packets before that cycle fails.
    let packets = json(&small)["stimulus"]["traffic"]["packets"].as_array().unwrap().len();
    assert!(packets < 20_000, "{packets} packets");
}
