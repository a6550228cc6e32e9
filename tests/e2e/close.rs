//! `cosim cover close`: each uncovered point gets a vector or a proof, and a run believes no proof
//! that is not its own.

use crate::common::{
    assert_code, assert_error, changed_rtl, code, json, program, run, run_in, text,
    without_certificates, write_record,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Two cases of each scenario of recv in a profile.
fn covered(folder: &Path, options: &[&str]) -> std::process::Output {
    let fixed = ["run", "--block", "recv", "--fixes", "spec", "--cases", "2", "--coverage"];
    run_in(folder, &[&fixed[..], options].concat())
}

/// The results of a profile: status by `file:line kind details`.
fn results(file: &Path) -> BTreeMap<String, Value> {
    let closed = json(file);
    let points = closed["profiles"][0]["points"].as_array().unwrap().clone();
    let name = |point: &Value| {
        let place = &point["point"];
        let text = |at: usize| place[at].as_str().unwrap();
        format!("{}:{} {} {}", text(0), place[1], text(3), text(4))
    };
    points.into_iter().map(|point| (name(&point), point)).collect()
}

/// The item `default:`: nothing leads to state 7.
const DEAD: &str = "RecvSideFsm.sv:234 line case";

#[test]
fn uncovered_points_get_vectors_and_proofs() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    // No case draws this length.
    let rare = "  logic rare;\n  always_comb begin\n    if (pkt_msg_len == 32'hdead_beef) rare = 1'b1;\n    \
                else rare = 1'b0;\n  end\n";
    let outputs = "  // ---- Outputs";
    let rtl = changed_rtl("RecvSideFsm.sv", outputs, &format!("{rare}{outputs}"));
    let rtl = ["--rtl", rtl.path().to_str().unwrap()];
    assert_code(&covered(folder.path(), &[&rtl[..], &["--out", "one"]].concat()), 0);
    let close = ["cover", "close", "one", "--cases", "40", "--out", "closed"];
    let close = [&close[..], &rtl].concat();
    let output = run_in(folder.path(), &close);
    let printed = text(&output);
    let found = results(&at("closed/closed.json"));
    let of = |status: &str| found.values().filter(|one| one["status"] == status).count();
    // The dead line of the specification, and bits above the largest level.
    assert_eq!(found[DEAD]["status"], "proved", "{printed}");
    assert_eq!(found["RecvSideFsm.sv:84 toggle level[7]"]["status"], "proved", "{printed}");
    assert!(found.values().all(|one| one["status"] != "failing"), "{printed}");
    let is_searched = |one: &Value| one["by"] == "a bounded search" && one["point"][3] == "branch";
    assert!(found.values().any(is_searched), "{printed}");
    assert!(of("proved") >= 20, "{printed}");
    let bins = json(&at("closed/closed.json"))["profiles"][0]["bins"].as_array().unwrap().clone();
    let is_open = bins.iter().chain(found.values()).any(|one| one["status"] == "open");
    assert_eq!(code(&output), if is_open { 4 } else { 0 }, "{printed}");
    assert!(bins.iter().any(|one| one["status"] == "vector"), "{printed}");
    // Each vector does what it says.
    for one in found.values().filter(|one| one["status"] == "vector") {
        let vector = at("closed").join(one["vector"].as_str().unwrap());
        assert_code(&run(["replay", vector.to_str().unwrap()].iter().chain(&rtl)), 0);
    }
    let schema = serde_json::from_slice(&run(["schema", "closed"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json(&at("closed/closed.json"))));

    // A later run does not count what is proved, and names the file.
    let again = |out: &str| {
        covered(folder.path(), &[&rtl[..], &["--closed", "closed", "--out", out]].concat())
    };
    assert_code(&again("two"), 0);
    let used = &json(&at("two/results.json"))["run"]["closed"][0];
    let expected = (&"closed".into(), Some(of("proved") as u64));
    assert_eq!((&used["file"], used["used"].as_u64()), expected);
    let reported = run_in(folder.path(), &["cover", "report", "one", "--closed", "closed"]);
    assert!(text(&reported).contains("points are not counted: closed has the proofs"));

    // Other RTL has the point again.
    let output = covered(folder.path(), &["--closed", "closed", "--out", "three"]);
    assert_code(&output, 0);
    assert!(text(&output).contains("the text of the RTL has changed"), "{}", text(&output));
    let database = json(&at("three/coverage.json"));
    assert!(database["code"][0]["proved"].is_null(), "{}", database["code"][0]["proved"]);

    // A false proof: edited, it is refused; resealed, a check refutes it.
    let file = at("closed/closed.json");
    let record = fs::read_to_string(&file).unwrap();
    let point = "\"status\": \"vector\"";
    assert!(record.contains(point));
    let certificate = "\"status\": \"proved\", \"inputs\": \"all\", \"together\": 1, \
                       \"certificate\": {\"by\": \"structure\"}";
    let lie = record.replacen(point, certificate, 1);
    fs::write(&file, &lie).unwrap();
    assert_error(&again("four"), "E0219");
    assert!(!at("four").exists());
    write_record(&file, &lie);
    let check = ["cover", "close", "--check", "closed", "--time", "2m"];
    let check = run_in(folder.path(), &[&check[..], &rtl].concat());
    assert_code(&check, 4);
    assert!(text(&check).contains("proofs confirmed, 0 believed, 1 not"), "{}", text(&check));
}

#[test]
fn without_a_certificate_a_point_is_only_believed_to_be_unreachable() {
    let folder = TempDir::new().unwrap();
    let output = covered(folder.path(), &["--out", "one"]);
    assert_code(&output, 0);
    let close = |mut command: std::process::Command, options: &[&str]| {
        command.args(["cover", "close", "one", "--only", ":234, line case", "--cases", "0"]);
        command.args(["--out", "closed", "--force"]).args(options);
        let output = command.current_dir(folder.path()).output().unwrap();
        let found = results(&folder.path().join("closed/closed.json"));
        (code(&output), found[DEAD]["status"].as_str().unwrap().to_owned())
    };
    let without = |is_missing| without_certificates(is_missing, folder.path());
    for (command, options, exit, status) in [
        (without(true), &[][..], 4, "believed"),
        (without(false), &[], 4, "believed"),
        (without(false), &["--accept-believed"], 0, "believed"),
    ] {
        assert_eq!(close(command, options), (exit, status.to_owned()));
    }
    // A run takes no such proof. A check with a solver confirms it.
    let output = covered(folder.path(), &["--closed", "closed", "--out", "two"]);
    assert!(text(&output).contains("only believed"), "{}", text(&output));
    let check = |mut command: std::process::Command, options: &[&str]| {
        command.args(["cover", "close", "--check", "closed"]).args(options);
        code(&command.current_dir(folder.path()).output().unwrap())
    };
    let exits = [
        check(without(true), &[]),
        check(without(true), &["--accept-believed"]),
        check(program(), &[]),
    ];
    assert_eq!(exits, [4, 0, 0]);
    assert_eq!(close(program(), &[]), (0, "proved".to_owned()));
}

#[test]
fn a_database_without_code_or_of_other_rtl_is_refused() {
    let folder = TempDir::new().unwrap();
    let fixed = ["run", "--block", "recv", "--fixes", "spec", "--cases", "1", "--out", "plain"];
    assert_eq!(code(&run_in(folder.path(), &fixed)), 0);
    assert_error(&run_in(folder.path(), &["cover", "close", "plain"]), "E0225");
    let close = ["cover", "close", "plain", "--profile", "other"];
    assert_error(&run_in(folder.path(), &close), "E0103");
    assert_error(&run_in(folder.path(), &["cover", "close", "--check", "plain"]), "E0201");
}
