//! Functional coverage of runs, and coverage goals.

use crate::ci_files::python_prints;
use crate::common::{Place, blocks, members, schema};
use crate::merge::shards;
use serde_json::Value;
use std::collections::BTreeSet;

fn bins(group: &Value) -> usize {
    let axes = group["axes"].as_array().unwrap();
    axes.iter().map(|axis| axis["values"].as_array().unwrap().len()).product()
}

/// How often each bin of a profile was hit.
fn hits(profile: &Value) -> Vec<u64> {
    profile["hits"].as_array().unwrap().iter().map(|hits| hits.as_u64().unwrap()).collect()
}

/// Whether each bin of the first profile of a run was hit.
fn hit_bins(place: &Place, run: &str) -> Vec<bool> {
    let coverage = place.json(&format!("{run}/coverage.json"));
    hits(&coverage["profiles"][0]).iter().map(|hits| *hits > 0).collect()
}

#[test]
fn coverage_fits_its_schema_and_adds_up() {
    let place = Place::new();
    let validator = schema("coverage");
    for block in blocks() {
        place.exits(0, &format!("run --block {block} --cases 2 --out {block}"));
        let coverage = place.json(&format!("{block}/coverage.json"));
        validator.validate(&coverage).unwrap();
        let groups = coverage["groups"].as_array().unwrap();
        let all: usize = groups.iter().map(bins).sum();
        // Coverage must agree with the rules and hits in results.json.
        let results = place.results(block);
        let rules = groups[0]["axes"][0]["values"].as_array().unwrap();
        for profile in coverage["profiles"].as_array().unwrap() {
            let hits = hits(profile);
            assert_eq!(hits.len(), all);
            let unreachable = profile["unreachable"].as_object().unwrap();
            let reachable = || (0..all).filter(|bin| !unreachable.contains_key(&bin.to_string()));
            assert_eq!(reachable().count(), profile["reachable"]);
            assert_eq!(reachable().filter(|bin| hits[*bin] > 0).count(), profile["hit"]);
            let mut profiles = results["profiles"].as_array().unwrap().iter();
            let reported = profiles.find(|other| other["profile"] == profile["profile"]).unwrap();
            for (rule, hits) in rules.iter().zip(&hits) {
                let name = rule["name"].as_str().unwrap();
                let counted = reported["rules"][name].as_u64().unwrap_or(0);
                assert_eq!(counted, *hits, "{block} {name}");
            }
        }
    }
    assert!(!validator.is_valid(&serde_json::json!({ "format": "cosim-coverage" })));
}

#[test]
fn names_of_groups_and_bins_are_unique_and_every_bin_has_a_meaning() {
    // The names of a list, which must differ.
    let names = |list: &Value, about: &Value| {
        let names = members(list, "name");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{about}");
    };
    for block in Place::new().json_of(0, "list").as_array().unwrap() {
        names(&block["groups"], &block["name"]);
        for group in block["groups"].as_array().unwrap() {
            assert_ne!(group["about"], "", "{}", group["name"]);
            for axis in group["axes"].as_array().unwrap() {
                names(&axis["values"], &group["name"]);
                let mut values = axis["values"].as_array().unwrap().iter();
                assert!(values.all(|value| value["meaning"] != ""), "{}", group["name"]);
            }
        }
    }
}

#[test]
fn coverage_below_the_goal_is_a_failure() {
    let place = Place::new();
    for (name, code, line, words) in [
        ("few", 1, "99 --cases 1", "less than 99 % (--min-coverage)"),
        ("enough", 0, "10 --cases 1", "% of 615 reachable bins, "),
        ("all", 0, "100 --cases 400", "coverage: 100 % of 615 reachable bins\n"),
    ] {
        let run = format!("run --block qp --out {name} --min-coverage {line}");
        let printed = place.prints(code, &[words], &run);
        assert_eq!(printed.starts_with("FAIL"), code == 1, "{printed}");
        assert_eq!(place.results(name)["passed"], code == 0);
    }
}

#[test]
fn shards_merge_to_the_whole_in_any_order_and_repeatedly() {
    let place = Place::new();
    let shards = shards(&place, 2, "run --cases 6 --block qp", &[0]);
    place.exits(0, "run --cases 6 --block qp --out whole");
    place.exits(0, "run --cases 6 --block dll --fixes spec --out dll");
    let whole = place.json("whole/coverage.json");
    place.exits(0, &format!("cover merge --out a.json {shards}"));
    place.exits(0, "cover merge --out b.json 2of2 a.json 1of2");
    place.exits(0, "cover merge --out c.json a.json whole");
    assert_eq!(place.text("a.json"), place.text("b.json"));
    assert_eq!(place.json("a.json")["profiles"], whole["profiles"]);
    // The whole contains all cases of the shards.
    assert_eq!(place.json("c.json")["parts"], whole["parts"]);
    place.prints(2, &["block qp", "block dll"], "cover merge --out d.json whole dll");
    place.exits(2, "cover report nothing.json");
}

#[test]
fn ranked_cases_have_the_coverage_of_all_and_are_written_as_vectors() {
    let place = Place::new();
    place.exits(0, "run --block qp --until-coverage 99 --seed 3 --out all");
    let ranked = place.json_of(0, "cover rank all");
    let all = hit_bins(&place, "all");
    let mut together = vec![false; all.len()];
    let mut each = Vec::new();
    for case in ranked.as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        place.exits(0, &format!("run --seed 3 --case {name} --out alone --force"));
        let hit = hit_bins(&place, "alone");
        let adds = hit.iter().zip(&together).filter(|(hit, known)| **hit && !**known).count();
        assert_eq!(adds, case["adds"], "{case}");
        together.iter_mut().zip(&hit).for_each(|(known, hit)| *known |= hit);
        each.push(hit);
    }
    assert_eq!(together, all);
    // Each ranked case is necessary: it alone hits some bin.
    let is_alone = |bin: usize| each.iter().filter(|hit| hit[bin]).count() == 1;
    for hit in &each {
        assert!((0..all.len()).any(|bin| hit[bin] && is_alone(bin)));
    }
    // The vectors are the cases, cycle by cycle.
    place.exits(0, "cover rank --out smoke all");
    let vectors = place.names("smoke");
    let origin = |name: &String| place.json(&format!("smoke/{name}"))["origin"]["case"].clone();
    let cases: Vec<Value> = vectors.iter().map(origin).collect();
    let ranked = members(&ranked, "case");
    assert_eq!(cases.len(), ranked.len());
    assert!(ranked.iter().all(|case| cases.contains(&(*case).into())), "{cases:?}");
    place.exits(0, "replay --expect-recorded smoke");
    // Existing files are kept.
    place.fails("E0602", "smoke: ", "cover rank --out smoke all");
    // Another build may generate other cases.
    let build = place.json("all/coverage.json")["runs"][0]["build"].as_str().unwrap().to_owned();
    let other = place.text("all/coverage.json").replace(&build, "0123456789ab");
    place.write_record("other.json", &other);
    place.fails("E0220", "build 0123456789ab", "cover rank --out none other.json");
    assert!(!place.has_file("none"));
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
    let place = Place::new();
    let [one, two] = ["1", "2"].map(|seed| {
        place.exits(0, &format!("run --block qp --cases 1 --seed {seed} --out {seed}"));
        place.exits(0, &format!("cover report --format ucis --out {seed}.xml {seed}"));
        place.path(&format!("{seed}.xml")).display().to_string()
    });
    let first = place.json("1/coverage.json")["profiles"][0].clone();
    let printed = python_prints(&["-m", "ucis", "show", "summary", &one]);
    let summary: Value = serde_json::from_str(&printed[printed.find("\n{").unwrap()..]).unwrap();
    assert_eq!(summary["statistics"]["total_bins"], first["reachable"]);
    assert_eq!(summary["statistics"]["covered_bins"], first["hit"]);
    let unreachable = first["unreachable"].as_object().unwrap();
    let either =
        hit_bins(&place, "1").into_iter().zip(hit_bins(&place, "2")).map(|(one, two)| one || two);
    let is_counted =
        |(bin, hit): &(usize, bool)| *hit && !unreachable.contains_key(&bin.to_string());
    let either = either.enumerate().filter(is_counted).count();
    let merged = python_prints(&["-c", MERGE, &one, &two]);
    assert_eq!(merged.trim(), format!("{} {either}", first["reachable"]));
}
