//! Registers without reset: initial values are random, expose bugs, and are stored in the vector.

use crate::common::{Place, THREAD2_TOP as TOP, files};
use crate::waves::{DUT, GOLDEN, values};
use serde_json::{Value, json as value};
use wellen::simple::read;

const OFFSET: &str = "  assign msg_offset = msg_offset_used[qp]";

/// RTL whose message offset is right only while a register without reset holds the right value.
fn rtl_that_needs(right: &str) -> Place {
    // The value that changes the register never occurs.
    let wrong = format!(
        "  reg [3:0] mode;\n  always @(posedge clk) if (fetch_cxt_egress_head == 416'h5eed) \
         mode <= mode + 1;\n  \
         wire right = {right};\n  assign msg_offset = !right ? 32'd0 : msg_offset_used[qp]"
    );
    Place::with_change(TOP, OFFSET, &wrong)
}

/// The failure of a run of one profile, and its vector. The vector's replay fails again with this
/// RTL and matches with the good one.
fn find_failure(place: &Place, out: &str, more: &str) -> (Value, String) {
    let run = "run --fixes repaired --cases 20 --quiet --max-failures 1 --rtl rtl";
    place.exits(1, &format!("{run} --out {out} {more}"));
    let vector = place.vector(out);
    place.exits(0, &format!("replay --expect-recorded --rtl rtl {vector}"));
    place.exits(0, &format!("replay --rtl built-in {vector}"));
    (place.results(out)["failures"][0].clone(), vector)
}

#[test]
fn a_register_that_works_only_when_it_begins_as_ones_or_zeros_is_found() {
    // Zeros are easiest to read, and ones are the default.
    for (right, held) in [("&mode", value!("zeros")), ("~|mode", Value::Null)] {
        let place = rtl_that_needs(right);
        let (_, vector) = find_failure(&place, "run", "--no-waves");
        assert_eq!(place.json(&vector)["stimulus"]["before_reset"], held);
        // The waveform must show the failure, not a matching case.
        let printed = place.prints(1, &["differs:"], &format!("explain --rtl rtl {vector}"));
        let zeros = printed.contains("registers hold zeros before reset");
        assert_eq!(zeros, held == "zeros", "{printed}");
    }
}

/// A failure that needs one value of sixteen is the same with any number of threads, in waveforms
/// and in `explain`, where the golden model's observer surrounds the design, and in a model without
/// registered inputs.
#[test]
fn a_register_that_fails_at_one_value_of_sixteen_is_found_everywhere() {
    let place = rtl_that_needs("mode != 4'b0101");
    let (group, vector) = find_failure(&place, "one", "--threads 1");
    let (_, same) = find_failure(&place, "other", "--threads 3");
    for (one, two) in [(vector.as_str(), same.as_str()), ("one/results.json", "other/results.json")]
    {
        assert_eq!(place.text(one), place.text(two), "{one}");
    }
    let mut changed = place.json(&vector);
    let seed = changed["stimulus"]["before_reset"]["random"].as_u64();
    assert!(seed.is_some_and(|seed| u32::try_from(seed).is_ok()), "{changed}");
    // Other initial values do not fail.
    for before_reset in [value!("zeros"), value!("ones")] {
        changed["stimulus"]["before_reset"] = before_reset;
        place.write("changed.json", &changed.to_string());
        place.exits(0, "replay --rtl rtl changed.json");
    }
    assert_eq!(group["notes"], value!([]), "{group}");
    let waves = files(&place.path("one/failures"), "fst");
    assert_eq!(waves.len(), 1, "{group}");
    let mut wave = read(&waves[0]).unwrap();
    let held = values(&mut wave, &DUT, "mode").into_iter().map(|(_, value)| value);
    assert_eq!(held.collect::<Vec<_>>(), ["0101"]);
    assert!(!values(&mut wave, &GOLDEN, "state").is_empty());
    place.prints(1, &["differs:"], &format!("explain --rtl rtl {vector}"));

    // A falling edge prevents registered inputs.
    let falling = "  reg seen;\n  always @(negedge clk) seen <= rst;\n  \
                   wire never = seen && fetch_cxt_egress_head == 416'h5eed;\n  \
                   wire right = never | ";
    place.edit(&format!("rtl/{TOP}"), "  wire right = ", falling);
    place.exits(0, &format!("replay --expect-recorded --rtl rtl {vector}"));
}

/// RTL that detects whether it was compiled with tracing.
#[test]
fn waves_that_do_not_show_the_failure_are_refused_and_the_run_says_so() {
    let place = rtl_that_needs("(^mode | 1'b1) & $c1(\"VM_TRACE\")");
    let (group, vector) = find_failure(&place, "run", "");
    let note = group["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("no waves: the RTL behaves differently while it is traced"), "{note}");
    assert!(files(&place.path("run/failures"), "fst").is_empty());
    let traced = "while it is traced: the result is match";
    place.prints(1, &[traced], &format!("replay --rtl rtl {vector} --trace waves.fst"));
    assert!(!place.has_file("waves.fst"));
}
