//! Tests that invalid weights are refused with their position.

use cosim::blocks::dll::scenarios as dll;
use cosim::blocks::thread2::scenarios::Weights;
use cosim_core::harness::{Checked, Scenario};

#[test]
fn a_percentage_above_100_is_refused_with_its_position() {
    let read = |text: &str| serde_json::from_str::<Scenario<Weights>>(text);
    let scenario = |gap: u32| {
        format!("{{\"name\": \"x\", \"about\": \"\",\n\"weights\": {{\"gap\": {gap}}}}}")
    };
    assert_eq!(read(&scenario(100)).unwrap().weights.gap.get(), 100);
    // 101 to 127 fit the type but once meant "always"; 128 does not fit.
    for wrong in [101, 127, 128] {
        let error = read(&scenario(wrong)).unwrap_err();
        // The number ends before column 23.
        assert_eq!((error.line(), error.column()), (2, 23), "{error}");
        assert!(error.to_string().contains("a percentage from 0 to 100"), "{error}");
    }
}

/// The message for these weights, which are in line 2.
fn objection<W: serde::de::DeserializeOwned + Checked>(weights: &str) -> String {
    let text = format!("{{\"name\": \"x\", \"about\": \"\",\n\"weights\": {{{weights}}}}}");
    match serde_json::from_str::<Scenario<W>>(&text) {
        Ok(_) => String::new(),
        Err(error) => {
            assert_eq!(error.line(), 2, "{error}");
            assert!((13..=14 + weights.len()).contains(&error.column()), "{error}");
            error.to_string()
        }
    }
}

#[test]
fn weights_that_conflict_are_refused_with_their_position() {
    let none = r#""operations": {"send": 0, "long_send": 0, "write": 0, "long_write": 0, "read": 0, "unknown": 0}"#;
    assert!(objection::<Weights>(none).contains("all weights of operations are 0"));
    assert_eq!(objection::<Weights>(&none.replace("\"read\": 0", "\"read\": 1")), "");
    let none =
        r#""services": {"rc": 0, "uc": 0, "rd": 0, "ud": 0, "cnp": 0, "xrc": 0, "reserved": 0}"#;
    assert!(objection::<Weights>(none).contains("all weights of services are 0"));
    let sum = objection::<Weights>(r#""empty": 60, "jumbo": 41"#);
    assert!(sum.contains("empty and jumbo exclude each other and are 101 percent"), "{sum}");
    assert_eq!(objection::<Weights>(r#""empty": 60, "jumbo": 40"#), "");
    for direction in ["tlps", "acks", "naks"] {
        let weights = format!(r#""{direction}": {{"lost": 100, "damaged": 20}}"#);
        let sum = objection::<dll::Weights>(&weights);
        assert!(sum.contains("lost and damaged exclude each other and are 120 percent"), "{sum}");
    }
}

#[test]
fn ranges_of_required_items_begin_at_one() {
    for name in ["qps", "units"] {
        assert!(
            objection::<Weights>(&format!(r#""{name}": [0, 0]"#))
                .contains("begins below the minimum of 1")
        );
        assert_eq!(objection::<Weights>(&format!(r#""{name}": [1, 1]"#)), "");
    }
    assert!(
        objection::<Weights>(r#""message_packets": [1, 4]"#)
            .contains("begins below the minimum of 2")
    );
    assert_eq!(objection::<Weights>(r#""payload": [0, 0]"#), "", "packets may be empty");
    assert!(
        objection::<dll::Weights>(r#""tlps_per_packet": [0, 0]"#)
            .contains("begins below the minimum of 1")
    );
    let blackout = r#""tlps": {"blackout_length": [0, 3]}"#;
    assert!(objection::<dll::Weights>(blackout).contains("begins below the minimum of 1"));
    assert_eq!(objection::<dll::Weights>(r#""untroubled_tlps": [0, 0]"#), "");
}
