//! Conflicting weights of a block are refused.

use cosim::blocks::{dll::generator::scenarios as dll, thread2::generator::scenarios as thread2};
use cosim_core::harness::{Checked, Scenario};

/// Checks that the message about these weights contains `words`. Without words, there is none.
#[track_caller]
fn refused<W: serde::de::DeserializeOwned + Checked>(weights: &str, words: &str) {
    let text = format!("{{\"name\": \"x\", \"about\": \"\", \"weights\": {{{weights}}}}}");
    let error = serde_json::from_str::<Scenario<W>>(&text).err();
    let message = error.map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(message.is_empty(), words.is_empty(), "{weights}: {message}");
    assert!(message.contains(words), "{weights}: {message}");
}

#[test]
fn weights_that_conflict_are_refused() {
    let operations = r#""operations": {"send": 0, "long_send": 0, "write": 0, "long_write": 0, "read": 0, "unknown": 0}"#;
    let services =
        r#""services": {"rc": 0, "uc": 0, "rd": 0, "ud": 0, "cnp": 0, "xrc": 0, "reserved": 0}"#;
    for (weights, words) in [
        (operations, "all weights of operations are 0"),
        (&operations.replace("\"read\": 0", "\"read\": 1"), ""),
        (services, "all weights of services are 0"),
        (r#""empty": 60, "jumbo": 41"#, "empty and jumbo exclude each other and are 101 percent"),
        (r#""empty": 60, "jumbo": 40"#, ""),
        (r#""qps": [0, 0]"#, "begins below the minimum of 1"),
        (r#""units": [0, 0]"#, "begins below the minimum of 1"),
        (r#""qps": [1, 1], "units": [1, 1]"#, ""),
        (r#""message_packets": [1, 4]"#, "begins below the minimum of 2"),
        // Packets may be empty.
        (r#""payload": [0, 0]"#, ""),
    ] {
        refused::<thread2::Weights>(weights, words);
    }
    for direction in ["tlps", "acks", "naks"] {
        let weights = format!(r#""{direction}": {{"lost": 100, "damaged": 20}}"#);
        let words = "lost and damaged exclude each other and are 120 percent";
        refused::<dll::Weights>(&weights, words);
    }
    for (weights, words) in [
        (r#""tlps_per_packet": [0, 0]"#, "begins below the minimum of 1"),
        (r#""tlps": {"blackout_length": [0, 3]}"#, "begins below the minimum of 1"),
        (r#""untroubled_tlps": [0, 0]"#, ""),
    ] {
        refused::<dll::Weights>(weights, words);
    }
}
