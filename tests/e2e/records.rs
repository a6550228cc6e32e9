//! Records of other people: without a checksum they are refused, the files that they name stay in
//! their run directory, and no number in them takes memory or time without a limit.

use crate::common::{Place, assert_error, assert_error_at, vector_of};
use crate::full_disk::under;
use std::fs;

/// All commands that read the results in `run`.
const READERS: [&str; 6] = [
    "merge run --out out",
    "history add h.jsonl run",
    "report run",
    "replay run",
    "open --waves --print run",
    "cover report run --format ucis --out x.xml",
];

fn run_of_qp() -> Place {
    let place = Place::new();
    place.exits(0, "run --block qp --cases 1 --scenario default --quiet --out run");
    place
}

/// Fault 4 of the attack: with `version` set back, no checksum was needed.
#[test]
fn results_without_a_checksum_are_refused_whatever_their_version() {
    let place = run_of_qp();
    for (name, readers) in [("results.json", &READERS[..5]), ("coverage.json", &READERS[5..])] {
        let name = format!("run/{name}");
        let sealed = place.text(&name);
        let (members, _) = sealed.rsplit_once(",\n\"checksum\"").unwrap();
        for (version, number) in [(0, "E0206"), (1, "E0219"), (2, "E0206"), (4, "E0206")] {
            let version = format!("\"version\": {version},");
            let edited = format!("{members}\n}}\n").replace("\"version\": 1,", &version);
            place.write(&name, &edited);
            for reader in readers {
                place.fails(number, "", reader);
            }
            // No history and no merge is left.
            assert_eq!(place.names(""), ["run"]);
        }
        place.write(&name, &sealed);
    }
    // A page is not written through a link of the run directory.
    place.write("victim", "mine");
    for name in ["report.html", "junit.xml", "summary.md"] {
        let name = format!("run/{name}");
        place.remove(&name);
        place.link(place.path("victim"), &name);
    }
    place.exits(0, "report run");
    assert_eq!(place.text("victim"), "mine");
    assert!(place.text("run/report.html").contains("PASS"));
}

/// Fault 5 and 11: a shard named files outside of its run directory, and links of a page.
#[test]
fn names_of_files_stay_in_the_run_directory() {
    let place = Place::with_bug("qp/54-query-no-post-in-err");
    let run = "run --block qp --cases 4 --scenario default --no-shrink --quiet --rtl rtl/qp";
    place.exits(1, &format!("{run} --out run"));
    let results = "run/results.json";
    let text = place.text(results);
    let group = place.results("run")["failures"][0].clone();
    place.write("secret.json", "secret");
    for field in ["vector", "waves", "explanation"] {
        let name = group[field].as_str().unwrap_or_else(|| panic!("{field}: {group}"));
        for bad in
            ["../secret.json", "/etc/passwd", "failures/../../secret.json", "javascript:alert(1)"]
        {
            let [from, to] = [name, bad].map(|name| format!("\"{field}\":\"{name}\""));
            place.write(results, &text);
            place.edit_record(results, &from, &to);
            // `merge` calls any part of a shard that it cannot read damaged.
            place.fails("E0219", "", READERS[0]);
            for reader in &READERS[1..5] {
                place.fails("E0215", "", reader);
            }
            assert!(!place.has_file("out") && !place.has_file("h.jsonl"), "{field}: {bad}");
        }
    }
    place.write(results, &text);

    // A name that is good, and a link under it.
    for (field, target, reader) in
        [("vector", place.path("secret.json"), 0), ("waves", "/etc/passwd".into(), 4)]
    {
        let file = format!("run/{}", group[field].as_str().unwrap());
        let before = fs::read(place.path(&file)).unwrap();
        place.remove(&file);
        place.link(target, &file);
        place.fails("E0201", "", READERS[reader]);
        assert!(!place.has_file("out"), "no part of the merge is left");
        place.remove(&file);
        fs::write(place.path(&file), before).unwrap();
    }
}

/// Numbers that are huge, negative, not finite or no numbers, in every kind of file.
#[test]
fn numbers_out_of_range_are_refused_in_bounded_memory() {
    let place = run_of_qp();
    // With 2 GB of address space.
    let limited = |line: &str| under("ulimit -v 2000000; exec", &place, "", line);
    let refused = |line: &str, number: &str| assert_error(&limited(line), number);
    let good = fs::read_to_string(vector_of("qp")).unwrap();
    let head = r#"{"format": "cosim-vector", "version": 1, "block": "qp", "fixes": "all",
        "origin": {"about": ""}, "recorded": null, "stimulus": {"traffic": "#;
    let steps = "{},".repeat(1 << 23);
    for (text, number) in [
        (good.replacen("\"0x5eed\"", "1e999", 1), "E0204"),
        (good.replacen("\"version\": 1", "\"version\": 1e3", 1), "E0206"),
        ("[".repeat(1_000_000), "E0215"),
        (format!("{head}{{\"steps\": [{steps}{{}}]}}}}}}"), "E0202"),
    ] {
        place.write("v.json", &text);
        refused("replay v.json", number);
    }

    let results = "run/results.json";
    let text = place.text(results);
    let huge = "18446744073709551615";
    for (from, to, number) in [
        ("\"cases\":1,\"matched\":1", "\"cases\":HUGE,\"matched\":1", "E0215"),
        ("\"cases\":1,\"matched\":1", "\"cases\":1,\"matched\":HUGE", "E0215"),
        ("{\"from\":0", "{\"from\":HUGE", "E0219"),
        ("\"seed\":1", "\"seed\":1e999", "E0204"),
        ("\"seed\":1", "\"seed\":-1", "E0215"),
    ] {
        place.write(results, &text);
        place.edit_record(results, from, &to.replace("HUGE", huge));
        for line in ["report run", "replay run", "history add h.jsonl run"] {
            refused(line, number);
        }
    }
    place.write(results, &text);

    let coverage = "run/coverage.json";
    let text = place.text(coverage);
    let (before, behind) = text.split_once("{\"first\":").expect("a part");
    let (_, behind) = behind.split_once('}').expect("its end");
    for [first, step, count] in [["0", "1", huge], [huge, "1", "1"], ["0", "0", "1"]] {
        let part = format!("{{\"first\":{first},\"step\":{step},\"count\":{count}}}");
        place.write_record(coverage, &format!("{before}{part}{behind}"));
        refused("cover report run/coverage.json", "E0215");
    }
    // A cross of six axes with 1000 values each.
    let value = "{\"name\":\"v\",\"meaning\":\"\"}";
    let axis = format!("{{\"name\":\"a\",\"values\":[{}]}}", vec![value; 1000].join(","));
    let axes = vec![axis; 6].join(",");
    let group = format!("\"groups\": [\n{{\"name\":\"g\",\"about\":\"\",\"axes\":[{axes}]}},");
    place.write_record(coverage, &text.replacen("\"groups\": [", &group, 1));
    let output = limited("cover report run/coverage.json");
    assert_error_at(&output, "E0219", &["1048576 bins"]);

    let seeds: Vec<String> = (0..20_000).map(|seed| seed.to_string()).collect();
    let seeds = format!("seeds = [{}]", seeds.join(","));
    let head = "format = \"cosim-plan\"\nversion = 1\n[[run]]\nblocks = [\"qp\"]\n";
    for (option, number) in [("cases = 9223372036854775807", "E0215"), (&seeds, "E0216")] {
        place.write("p.toml", &format!("{head}{option}\n"));
        refused("run --plan p.toml --out p", number);
    }
    for weights in [
        "weights = { raw_cycles_per_packet = 9223372036854775807 }",
        "weights = { raw_cycles_per_packet = inf }",
        "long = { percent = 100, packets = [1, 9223372036854775807] }",
    ] {
        place.write("s.toml", &format!("name = \"own\"\nabout = \"x\"\n{weights}\n"));
        refused("run --block qp --cases 1 --scenario s.toml --out s", "E0215");
    }
}
