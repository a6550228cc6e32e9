//! Tests the JSON format of a stimulus in a vector.

use cosim::blocks::thread2::Thread2;
use cosim_core::harness::{Block, Drive, Stimulus, reset_inputs};
use cosim_core::vector::{Origin, Vector, parse};
use cosim_core::verilated::Pins;
use proptest::prelude::*;
use std::path::Path;

type Inputs = <Thread2 as Block>::Inputs;

fn bytes<P: Pins>(pins: &P) -> Vec<u8> {
    pins.as_bytes().to_vec()
}

fn size() -> usize {
    bytes(&Inputs::default()).len()
}

fn text_of(cycles: &[Inputs]) -> String {
    let stimulus = Stimulus::<Thread2>::cycles(cycles.to_vec());
    Vector::new(&Thread2::PROFILES[0], Origin::default(), stimulus, None).to_text().unwrap()
}

fn read(text: &str) -> Result<Vec<Inputs>, String> {
    let vector = parse::<Thread2>(text, Path::new("vector.json"));
    match vector.map_err(|error| error.to_string())?.stimulus.drive {
        Drive::Cycles(cycles) => Ok(cycles),
        Drive::Traffic(_) => panic!("raw pins"),
    }
}

#[test]
fn a_cycle_is_one_line_with_the_changed_ports() {
    let reset = reset_inputs::<Thread2>();
    let mut released = reset;
    released.rst = Default::default();
    let text = text_of(&[reset, reset, released]);
    let lines = text.lines().map(|line| line.trim().trim_end_matches(','));
    let lines: Vec<&str> = lines.skip_while(|line| *line != "\"cycles\": [").take(4).collect();
    assert_eq!(lines[2..], ["{}", r#"{"rst": "0x0"}"#]);
    assert_eq!(lines[1].matches("0x").count(), Inputs::PORTS.len());
    assert!(read(&text).is_ok_and(|cycles| cycles[2].first_difference(&released).is_none()));
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
        let vector = format!(
            r#"{{"format":"cosim-vector","version":1,"block":"thread2","fixes":"all",
            "origin":{{"about":""}},"stimulus":{text},"recorded":null}}"#
        );
        let error = read(&vector).expect_err("an invalid stimulus");
        // The second line, after what stands before the stimulus.
        assert!(error.contains("vector.json:2:") && error.contains("stimulus"), "{error}");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn any_pins_are_read_as_they_were_written(
        cycles in prop::collection::vec(prop::collection::vec(any::<u8>(), size()), 1..6),
        // The bytes that change from one cycle to the next.
        changes in prop::collection::vec(prop::collection::vec(any::<bool>(), size()), 6),
    ) {
        let mut pins = vec![0; size()];
        let cycles: Vec<Inputs> = cycles
            .iter()
            .zip(&changes)
            .map(|(cycle, changes)| {
                for (index, byte) in cycle.iter().enumerate().filter(|(i, _)| changes[*i]) {
                    pins[index] = *byte;
                }
                Inputs::from_bytes(&pins)
            })
            .collect();
        let again = read(&text_of(&cycles)).unwrap();
        prop_assert_eq!(again.len(), cycles.len());
        for (before, after) in cycles.iter().zip(&again) {
            prop_assert_eq!(bytes(before), bytes(after));
        }
    }
}
