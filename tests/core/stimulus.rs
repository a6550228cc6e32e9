//! Tests the JSON format of a stimulus.

use cosim::blocks::thread2::Thread2;
use cosim_core::harness::{Stimulus, reset_inputs};
use cosim_core::verilated::BeforeReset;

fn read(text: &str) -> Result<Stimulus<Thread2>, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn written(before_reset: BeforeReset) -> String {
    let pins = vec![reset_inputs::<Thread2>()];
    let stimulus = Stimulus::<Thread2>::cycles(pins).with_before_reset(before_reset);
    serde_json::to_string(&stimulus).unwrap()
}

#[test]
fn registers_before_reset_are_written_and_read() {
    for (before_reset, text) in [
        (BeforeReset::Zeros, r#"{"before_reset":"zeros","cycles":"#),
        (BeforeReset::Ones, r#"{"cycles":"#),
        (BeforeReset::Random(7), r#"{"before_reset":{"random":7},"cycles":"#),
    ] {
        let written = written(before_reset);
        assert!(written.starts_with(text), "{written}");
        assert_eq!(read(&written).unwrap().before_reset, before_reset);
    }
}

#[test]
fn an_invalid_stimulus_is_refused() {
    for (text, expected) in [
        ("{}", "missing field `traffic` or `cycles`"),
        (
            r#"{"cycles":[],"traffic":{"noise":"0x1","tables":{},"packets":[]}}"#,
            "expected one of them",
        ),
        (r#"{"cycles":[],"pins":[]}"#, "unknown field `pins`"),
        (r#"{"cycles":[],"before_reset":"twos"}"#, "unknown variant `twos`"),
        (r#"{"cycles":[],"before_reset":{"random":4294967296}}"#, "invalid value"),
        (r#"{"cycles":[],"before_reset":{"random":-1}}"#, "invalid value"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
