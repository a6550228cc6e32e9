//! Functional coverage of runs, and coverage goals.

use crate::common::{assert_code, assert_error_at, code, json, python, run, text, write_record};
use cosim::PROGRAM;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

fn coverage(folder: &Path) -> Value {
    json(&folder.join("coverage.json"))
}

/// Number of bins of a group.
fn bins(group: &Value) -> usize {
    let axes = group["axes"].as_array().unwrap();
    axes.iter().map(|axis| axis["values"].as_array().unwrap().len()).product()
}

#[test]
fn coverage_fits_its_schema_and_adds_up() {
    let schema = run(["schema", "coverage"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for block in PROGRAM.blocks.iter().map(|block| block.info().name) {
        let folder = TempDir::new().unwrap();
        assert_code(&run_into(folder.path(), &["--block", block, "--cases", "2"]), 0);
        let coverage = coverage(folder.path());
        let errors: Vec<String> =
            validator.iter_errors(&coverage).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let groups = coverage["groups"].as_array().unwrap();
        let all: usize = groups.iter().map(bins).sum();
        // Coverage must agree with the rules and hits in results.json.
        let results = json(&folder.path().join("results.json"));
        let rules = groups[0]["axes"][0]["values"].as_array().unwrap();
        for profile in coverage["profiles"].as_array().unwrap() {
            let hits: Vec<u64> = profile["hits"]
                .as_array()
                .unwrap()
                .iter()
                .map(|hits| hits.as_u64().unwrap())
                .collect();
            assert_eq!(hits.len(), all);
            let unreachable = profile["unreachable"].as_object().unwrap();
            let can_be = |bin: &usize| !unreachable.contains_key(&bin.to_string());
            assert_eq!((0..all).filter(can_be).count(), profile["reachable"]);
            assert_eq!(
                (0..all).filter(can_be).filter(|bin| hits[*bin] > 0).count(),
                profile["hit"]
            );
            let profiles = results["profiles"].as_array().unwrap();
            let same = |other: &&Value| other["profile"] == profile["profile"];
            let reported = &profiles.iter().find(same).unwrap()["rules"];
            for (rule, hits) in rules.iter().zip(&hits) {
                let name = rule["name"].as_str().unwrap();
                assert_eq!(reported[name].as_u64().unwrap_or(0), *hits, "{block} {name}");
            }
        }
    }
    assert!(!validator.is_valid(&serde_json::json!({ "format": "cosim-coverage" })));
}

#[test]
fn names_of_groups_and_bins_are_unique_and_every_bin_has_a_meaning() {
    let listed = run(["list", "--format", "json"]);
    let blocks: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for block in blocks.as_array().unwrap() {
        let groups = block["groups"].as_array().unwrap();
        let names: BTreeSet<&str> =
            groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), groups.len(), "{}", block["name"]);
        for group in groups {
            assert_ne!(group["about"], "", "{}", group["name"]);
            for axis in group["axes"].as_array().unwrap() {
                let values = axis["values"].as_array().unwrap();
                let names: BTreeSet<&str> =
                    values.iter().map(|value| value["name"].as_str().unwrap()).collect();
                assert_eq!(names.len(), values.len(), "{}: {}", group["name"], axis["name"]);
                assert!(values.iter().all(|value| value["meaning"] != ""), "{}", group["name"]);
            }
        }
    }
}

#[test]
fn coverage_below_the_goal_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let with = |name: &str, least: &str, cases: &str| {
        let out = folder.path().join(name);
        let given = ["--block", "qp", "--cases", cases, "--min-coverage", least];
        let output = run_into(&out, &given);
        (code(&output), text(&output), json(&out.join("results.json"))["passed"].clone())
    };
    let (exit, printed, passed) = with("few", "99", "1");
    assert_eq!((exit, passed), (1, false.into()), "{printed}");
    assert!(
        printed.starts_with("FAIL") && printed.contains("less than 99 % (--min-coverage)"),
        "{printed}"
    );
    let (exit, printed, passed) = with("enough", "10", "1");
    assert_eq!((exit, passed), (0, true.into()), "{printed}");
    assert!(printed.contains("% of 674 reachable bins, "), "{printed}");
    let (exit, printed, _) = with("all", "100", "400");
    assert_eq!(exit, 0, "{printed}");
    assert!(printed.contains("coverage: 100 % of 674 reachable bins\n"), "{printed}");
    for wrong in ["101", "-1", "all"] {
        let output = run(["run", "--block", "qp", "--min-coverage", wrong]);
        assert_error_at(&output, "E0101", "0 to 100");
    }
}

/// The output of `cosim cover` for files.
fn cover(arguments: &[&str], files: &[&Path]) -> Output {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    run(["cover"].iter().chain(arguments).chain(&files))
}

#[test]
fn shards_merge_to_the_whole_in_any_order_and_repeatedly() {
    let folder = TempDir::new().unwrap();
    let of = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let block = if name == "dll" { "dll" } else { "qp" };
        let given = [&["--block", block, "--cases", "6"], more].concat();
        assert_eq!(code(&run_into(&out, &given)), 0);
        out
    };
    let whole = of("whole", &[]);
    let shards = [of("one", &["--shard", "1/2"]), of("two", &["--shard", "2/2"])];
    let merged = |name: &str, files: &[&Path]| {
        let out = folder.path().join(name);
        assert_code(&cover(&["merge", "--out", out.to_str().unwrap()], files), 0);
        out
    };
    let first = merged("a.json", &[&shards[0], &shards[1]]);
    let again = merged("b.json", &[&shards[1], &first, &shards[0]]);
    assert_eq!(fs::read(&first).unwrap(), fs::read(&again).unwrap());
    assert_eq!(json(&first)["profiles"], coverage(&whole)["profiles"]);
    // The whole contains all cases of the shards.
    let all = merged("c.json", &[&first, &whole]);
    assert_eq!(json(&all)["parts"], coverage(&whole)["parts"]);

    let other = of("dll", &["--fixes", "spec"]);
    let output = cover(
        &["merge", "--out", folder.path().join("d.json").to_str().unwrap()],
        &[&whole, &other],
    );
    assert_eq!(code(&output), 2);
    assert!(
        text(&output).contains("one database is of block qp, the other of block dll"),
        "{}",
        text(&output)
    );
    assert_code(&cover(&["report"], &[&folder.path().join("nothing.json")]), 2);
}

/// Whether each bin of a profile was hit.
fn hit(profile: &Value) -> Vec<bool> {
    profile["hits"].as_array().unwrap().iter().map(|hits| hits.as_u64().unwrap() > 0).collect()
}

#[test]
fn ranked_cases_have_the_coverage_of_all_of_them() {
    let folder = TempDir::new().unwrap();
    let all = folder.path().join("all");
    assert_eq!(code(&run_into(&all, &["--block", "qp", "--cases", "20"])), 0);
    let output = cover(&["rank", "--format", "json"], &[&all]);
    assert_code(&output, 0);
    let ranked: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(ranked.len() < 60, "{} of 220 cases", ranked.len());
    let alone = |case: &Value| {
        let name = case["case"].as_str().unwrap();
        let out = folder.path().join(name.replace('/', "-"));
        assert_eq!(code(&run_into(&out, &["--case", name])), 0);
        hit(&coverage(&out)["profiles"][0])
    };
    let mut together = vec![false; hit(&coverage(&all)["profiles"][0]).len()];
    let mut each = Vec::new();
    for case in &ranked {
        let hit = alone(case);
        let adds = hit.iter().zip(&together).filter(|(hit, known)| **hit && !**known).count();
        assert_eq!(adds, case["adds"], "{case}");
        together.iter_mut().zip(&hit).for_each(|(known, hit)| *known |= hit);
        each.push(hit);
    }
    assert_eq!(together, hit(&coverage(&all)["profiles"][0]));
    // Each ranked case is necessary.
    for left_out in 0..each.len() {
        let others = || each.iter().enumerate().filter(|(index, _)| *index != left_out);
        let is_hit = |bin: usize| others().any(|(_, hit)| hit[bin]);
        assert!((0..together.len()).any(|bin| together[bin] && !is_hit(bin)), "{left_out}");
    }
}

#[test]
fn ranked_cases_are_written_as_vectors_that_match() {
    let folder = TempDir::new().unwrap();
    let [all, smoke] = ["all", "smoke"].map(|name| folder.path().join(name));
    assert_eq!(
        code(&run_into(&all, &["--block", "qp", "--until-coverage", "99", "--seed", "3"])),
        0
    );
    let ranked = cover(&["rank", "--format", "json"], &[&all]);
    let ranked: Vec<Value> = serde_json::from_slice(&ranked.stdout).unwrap();
    assert_code(&cover(&["rank", "--out", smoke.to_str().unwrap()], &[&all]), 0);
    let mut vectors: Vec<String> = fs::read_dir(&smoke)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    vectors.sort();
    assert_eq!(vectors.len(), ranked.len());
    // The vectors are the cases, cycle by cycle.
    let cases: BTreeSet<String> = vectors
        .iter()
        .map(|vector| json(Path::new(vector))["origin"]["case"].as_str().unwrap().to_owned())
        .collect();
    let named = ranked.iter().map(|case| case["case"].as_str().unwrap().to_owned());
    assert_eq!(cases, named.collect());
    let replay = ["replay", "--expect-recorded", "--format", "json"];
    assert_code(&run(replay.into_iter().chain(vectors.iter().map(String::as_str))), 0);

    // Existing files are kept.
    let again = cover(&["rank", "--out", smoke.to_str().unwrap()], &[&all]);
    assert_error_at(&again, "E0602", "smoke: ");
    // Another build may generate other cases.
    let file = all.join("coverage.json");
    let build = json(&file)["runs"][0]["build"].as_str().unwrap().to_owned();
    let other = folder.path().join("other.json");
    write_record(&other, &fs::read_to_string(&file).unwrap().replace(&build, "0123456789ab"));
    let out = folder.path().join("none");
    let refused = cover(&["rank", "--out", out.to_str().unwrap()], &[&other]);
    assert_error_at(&refused, "E0220", "build 0123456789ab");
    assert!(!out.exists());
}

/// Runs Python with pyucis, a UCIS reader from PyPI.
fn pyucis(arguments: &[&str]) -> String {
    let output = python().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Merges files with pyucis and prints all bins and the hit ones. Its own command merges in the
/// same way, but cannot write XML.
const MERGE: &str = "
import sys
from ucis.mem.mem_ucis import MemUCIS
from ucis.merge.db_merger import DbMerger
from ucis.report.coverage_report_builder import CoverageReportBuilder
from ucis.xml.xml_reader import XmlReader
merged = MemUCIS()
DbMerger().merge(merged, [XmlReader().read(path) for path in sys.argv[1:]])
groups = CoverageReportBuilder.build(merged).covergroups
bins = [bin for group in groups for point in group.coverpoints for bin in point.bins]
print(len(bins), sum(bin.count > 0 for bin in bins))
";

#[test]
fn pyucis_reads_and_merges_the_ucis_report() {
    let folder = TempDir::new().unwrap();
    let report = |name: &str, seed: &str| {
        let out = folder.path().join(name);
        let given = ["--block", "qp", "--cases", "1", "--seed", seed];
        assert_eq!(code(&run_into(&out, &given)), 0);
        let xml = folder.path().join(format!("{name}.xml")).display().to_string();
        assert_code(&cover(&["report", "--format", "ucis", "--out", &xml], &[&out]), 0);
        (xml, coverage(&out)["profiles"][0].clone())
    };
    let [(one, first), (two, second)] = [report("one", "1"), report("two", "2")];
    let printed = pyucis(&["-m", "ucis", "show", "summary", &one]);
    let summary: Value = serde_json::from_str(&printed[printed.find("\n{").unwrap()..]).unwrap();
    assert_eq!(summary["statistics"]["total_bins"], first["reachable"]);
    assert_eq!(summary["statistics"]["covered_bins"], first["hit"]);
    let unreachable = first["unreachable"].as_object().unwrap();
    let can_be = |bin: usize| !unreachable.contains_key(&bin.to_string());
    let either = hit(&first).into_iter().zip(hit(&second)).map(|(one, two)| one || two);
    let either = either.enumerate().filter(|(bin, hit)| *hit && can_be(*bin)).count();
    let merged = pyucis(&["-c", MERGE, &one, &two]);
    assert_eq!(merged.trim(), format!("{} {either}", first["reachable"]));
}
