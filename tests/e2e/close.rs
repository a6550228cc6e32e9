//! `cosim cover close`: each uncovered point gets a vector or a proof, and a run believes no proof
//! that is not its own.

use crate::common::{Place, assert_code, assert_contains, schema, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// Two cases of each scenario of recv in a profile.
const COVERED: &str = "run --block recv --fixes spec --cases 2 --coverage --out";

/// The answers for a profile, by question.
fn results(place: &Place) -> BTreeMap<String, Value> {
    let rows = place.json("closed/answers.json")["profiles"][0]["rows"].as_array().unwrap().clone();
    rows.into_iter().map(|row| (row["question"].as_str().unwrap().to_owned(), row)).collect()
}

/// The item `default:`: nothing leads to state 7.
const DEAD: &str = "RecvSideFsm.sv:234, line case";

#[test]
fn uncovered_points_get_vectors_and_proofs() {
    // No case draws this length.
    let rare = "  logic rare;\n  always_comb begin\n    if (pkt_msg_len == 32'hdead_beef) rare = 1'b1;\n    \
                else rare = 1'b0;\n  end\n";
    let outputs = "  // ---- Outputs";
    let place = Place::with_change("RecvSideFsm.sv", outputs, &format!("{rare}{outputs}"));
    place.exits(0, &format!("{COVERED} one --rtl rtl"));
    let output = place.run("cover close one --cases 40 --out closed --rtl rtl");
    let printed = text(&output);
    let found = results(&place);
    let of = |status: &str| found.values().filter(|one| one["status"] == status).count();
    // The dead line of the specification, and bits above the largest level.
    assert_eq!(found[DEAD]["status"], "proved", "{printed}");
    assert_eq!(found["RecvSideFsm.sv:84, toggle level[7]"]["status"], "proved", "{printed}");
    assert!(found.values().all(|one| one["status"] != "failing"), "{printed}");
    let is_searched =
        |one: &Value| one["found_by"] == "a bounded search" && one["kind"] == "branch";
    assert!(found.values().any(is_searched), "{printed}");
    assert!(of("proved") >= 20, "{printed}");
    assert_code(&output, if of("open") > 0 { 4 } else { 0 });
    let is_hit_bin = |one: &Value| one["kind"] == "bin" && one["status"] == "reached";
    assert!(found.values().any(is_hit_bin), "{printed}");
    assert_contains(&place.text("closed/report.html"), &[DEAD]);
    // Each vector does what it says.
    for one in found.values().filter(|one| one["status"] == "reached") {
        let vector = one["vector"].as_str().unwrap();
        place.exits(0, &format!("replay closed/{vector} --rtl rtl"));
    }
    schema("answers").validate(&place.json("closed/answers.json")).unwrap();

    // A later run does not count what is proved, and names the file.
    let again = format!("{COVERED} again --rtl rtl --closed closed --force");
    place.exits(0, &again);
    let used = &place.results("again")["run"]["closed"][0];
    let expected = (&"closed".into(), Some(of("proved") as u64));
    assert_eq!((&used["file"], used["used"].as_u64()), expected);
    let reported = "points are not counted: closed has the proofs";
    place.prints(0, &[reported], "cover report one --closed closed");

    // Other RTL has the point again.
    let changed = "the text of the RTL has changed";
    place.prints(0, &[changed], &format!("{COVERED} three --closed closed"));
    let database = place.json("three/coverage.json");
    assert!(database["code"][0]["proved"].is_null(), "{}", database["code"][0]["proved"]);

    // A false proof: edited, it is refused; resealed, a check refutes it.
    let record = place.text("closed/answers.json");
    let point = "\"status\": \"reached\"";
    assert!(record.contains(point));
    let certificate = "\"status\": \"proved\", \"traffic\": \"any\", \
                       \"certificate\": {\"by\": \"structure\"}";
    let lie = record.replacen(point, certificate, 1);
    place.write("closed/answers.json", &lie);
    place.fails("E0219", "", &again.replace("again", "four"));
    assert!(!place.has_file("four"));
    place.write_record("closed/answers.json", &lie);
    let check = "cover close --check closed --time 2m --rtl rtl";
    place.prints(4, &["proofs confirmed, 0 believed, 1 not"], check);
}

#[test]
fn without_a_certificate_a_point_is_only_believed_to_be_unreachable() {
    let place = Place::new();
    place.exits(0, &format!("{COVERED} one"));
    let close = |exit: i32, status: &str, line: &str, more: &str| {
        let close = "cover close one --only ':234, line case' --cases 0 --out closed --force";
        place.exits(exit, &format!("{line} {close} {more}"));
        assert_eq!(results(&place)[DEAD]["status"], status);
    };
    let [missing, silent] = [true, false].map(|is_missing| place.without_solver(is_missing));
    close(4, "believed", &missing, "");
    close(0, "believed", &silent, "--accept-believed");
    // A run takes no such proof. A check with a solver confirms it.
    place.prints(0, &["only believed"], &format!("{COVERED} two --closed closed"));
    let check = "cover close --check closed";
    place.exits(4, &format!("{missing} {check}"));
    place.exits(0, &format!("{missing} {check} --accept-believed"));
    place.exits(0, check);
    close(0, "proved", "", "");
}

/// In the cycle in which it is reset, dll shows what registers have after an asynchronous reset.
#[test]
fn the_netlist_of_an_asynchronous_reset_does_what_verilator_does() {
    let place = Place::new();
    place.exits(0, "run --block dll --fixes spec --cases 1 --coverage --out one");
    place.exits(0, "cover close one --only 'toggle span_d[9]' --cases 0 --out closed");
    let found = results(&place);
    assert!(!found.is_empty() && found.values().all(|one| one["status"] == "proved"), "{found:?}");
}

#[test]
fn a_database_without_code_or_of_other_rtl_is_refused() {
    let place = Place::new();
    place.exits(0, "run --block recv --fixes spec --cases 1 --out plain");
    place.fails("E0225", "", "cover close plain");
    place.fails("E0103", "", "cover close plain --profile other");
    place.fails("E0201", "", "cover close --check plain");
}
