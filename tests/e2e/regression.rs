//! `cosim run`: results, files and limits of a run, with any number of threads. Each run directory
//! belongs to one run, and no files of other runs are lost.

use crate::common::{Place, assert_contains, cases, contents, members, project};
use crate::merge::shards;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Child;

/// Without this, raw pins could hide that traffic misses a rule.
#[test]
#[ignore = "slow: a regression of all blocks"]
fn traffic_alone_hits_every_rule_that_can_be_hit() {
    let place = Place::new();
    for block in place.json_of(0, "list").as_array().unwrap() {
        let name = block["name"].as_str().unwrap();
        let scenarios = members(&block["scenarios"], "name");
        let scenarios = scenarios.iter().filter(|name| **name != "chaos");
        let options: String = scenarios.map(|name| format!(" --scenario {name}")).collect();
        place.exits(0, &format!("run --quiet --cases 120 --block {name} --out {name}{options}"));
        let results = place.results(name);
        for profile in results["profiles"].as_array().unwrap() {
            for (rule, hits) in profile["rules"].as_object().unwrap() {
                assert!(hits.as_u64().unwrap() > 0, "{name} {} {rule}", profile["profile"]);
            }
        }
    }
}

/// A reason that `cosim prove` proves is not marked as argued. Nothing is proved for rx.
#[test]
fn unreachable_rows_are_listed_with_the_reason() {
    let place = Place::new();
    for (block, options, profile, rule, reason) in [
        ("thread2", "--packets 64", 0usize, "T43", "nothing enters EQ_REQ_s without F1 (proof: "),
        ("thread2", "--packets 64", 1, "T08", "replaced by F0 (proof: `cosim prove`)"),
        ("recv", "--fixes spec", 0, "P14", "needs F0 (proof: `cosim prove`)"),
        ("rx", "--fixes spec", 0, "EV2", "of thread2 there is no length error (argued)"),
    ] {
        place.run(&format!("run --cases 1 --force --block {block} --out {block} {options}"));
        let profile = &place.results(block)["profiles"][profile];
        let found = profile["unreachable"][rule].as_str().unwrap();
        assert!(found.contains(reason), "{rule}: {found}");
    }
}

/// T43 (F1 without F2), F5 alone, F6 with F3, everything but F0. The others distinguish any two
/// fixes.
#[test]
fn other_masks_match_too() {
    let place = Place::new();
    for mask in ["0x02", "0x20", "0x48", "0xfe", "0x55", "0x33", "0x0f"] {
        place.exits(0, &format!("run --quiet --fixes {mask} --cases 25 --out {mask}"));
    }
}

/// Is a run the same, to the byte, with another number of threads and as merged shards?
#[test]
fn each_way_to_split_a_run_writes_its_bytes() {
    let offset = "  assign msg_offset = msg_offset_used[qp]";
    let dice = "  reg [31:0] dice;\n  always @(posedge clk) dice <= $random;\n  \
                assign msg_offset = dice[7:0] == 8'h5a ? 32'd5 : msg_offset_used[qp]";
    for (place, options, code, ways) in [
        // A bug with several variants, shrunk and traced. Shards differ in their first failure.
        (
            Place::with_bug("thread2/43-rq-wrap-one-late"),
            "--rtl rtl --seed 77 --cases 4 --save-vectors 5",
            1,
            "--threads 1, --threads 7, 4 shards",
        ),
        // From the kept cases, the first case of each bin cannot be computed.
        (
            Place::with_bug("qp/54-query-no-post-in-err"),
            "--block qp --rtl rtl/qp --cases 40 --scenario chaos --scenario default --no-shrink \
             --no-waves",
            1,
            "1 shards",
        ),
        // `$random` depends on the case only, not on cases that run before it or in parallel.
        (
            Place::with_change("ReqRecvCore_Thread_2.v", offset, dice),
            "--rtl rtl --fixes spec --scenario smoke --cases 60 --no-shrink --no-waves",
            1,
            "--threads 1, --threads 2, --threads 8",
        ),
        // The run ends at its coverage goal.
        (Place::new(), "--block qp --until-coverage 100", 0, "--threads 1, --threads 5"),
    ] {
        let run = format!("run --quiet {options}");
        place.exits(code, &format!("{run} --out whole"));
        for (number, way) in ways.split(", ").enumerate() {
            let line = match way.strip_suffix(" shards") {
                Some(count) => {
                    let shards = shards(&place, count.parse().unwrap(), &run, &[0, 1]);
                    let mut names: Vec<&str> = shards.split(' ').collect();
                    names.reverse();
                    format!("merge {}", names.join(" "))
                }
                None => format!("{run} {way}"),
            };
            place.exits(code, &format!("{line} --out {number}"));
            place.same_run("whole", &number.to_string());
        }
    }
}

#[test]
fn seeds_draw_cases_and_limits_end_a_run() {
    let place = Place::new();
    let drawn = ["1", "2"].map(|seed| {
        place.exits(0, &format!("run --seed {seed} --cases 2 --out seed-{seed}"));
        place.results(format!("seed-{seed}"))["cases"].clone()
    });
    assert_ne!(drawn[0], drawn[1], "another seed draws other cases");
    place.prints(1, &["no cycle was compared"], "run --cases 0 --out nothing");
    place.exits(0, "run --time 1s --quiet --out timed");
    assert_eq!(place.results("timed")["ended"], "time");
    // The last of very many shards has at most one case and is found without iterating over the
    // others.
    let shard = "--time 1s --shard 2/1000000000000";
    place.exits(0, &format!("run {shard} --scenario smoke --quiet --out shard"));
}

#[test]
fn json_on_standard_output_is_json() {
    assert!(Place::new().json_of(0, "bench --fixes spec").is_array());
}

#[test]
fn a_run_ends_at_its_coverage_goal() {
    let place = Place::new();
    let goal = "run --block qp --until-coverage";
    let stopped = "stopped when every profile covered 100 % (--until-coverage, at most 4400 cases)";
    place.prints(0, &[stopped, "coverage: 100 % of"], &format!("{goal} 100 --out all"));
    let results = place.results("all");
    assert_eq!(results["ended"], "covered");
    assert!(results["totals"]["cases"].as_u64() < Some(4400), "{}", results["totals"]);
    // Cases come in the order of the plan, so the run is a prefix of the full one.
    place.exits(0, "run --block qp --out plain");
    let plain = place.results("plain");
    let [started, plain] = [&results, &plain].map(|run| run["cases"].as_array().unwrap());
    assert!(plain.starts_with(&started[..started.len() - 1]) && started.len() > 1);
    // A goal of 0 needs no case, and a run without a cycle fails.
    place.exits(1, &format!("{goal} 0 --out nothing"));
    assert_eq!(place.results("nothing")["totals"]["cases"], 0);
    let missed = ["less than 100 % (--until-coverage)", "    not hit: "];
    let printed = place.prints(1, &missed, &format!("{goal} 100 --cases 4 --out few"));
    assert!(printed.starts_with("FAIL"), "{printed}");
    assert_eq!(place.results("few")["totals"]["cases"], 44);
}

/// A failure is reproduced by its command, and with all others, as in any run.
#[test]
fn a_case_that_fails_is_run_again_like_any_other() {
    // Few cases show the bug.
    let place = Place::with_bug("qp/24-notification-survives-rts");
    let run = "run --block qp --rtl rtl --until-coverage 100 --cases 40 --out out";
    let printed = place.json_of(1, &format!("{run} --no-shrink --no-waves"));
    let commands = printed["commands"].as_object().unwrap();
    assert!(!commands.is_empty());
    for (number, command) in commands.values().enumerate() {
        let line = command.as_str().unwrap();
        assert_contains(line, &["--build "]);
        let line = format!("{line} --quiet --no-shrink --no-waves --out {number}");
        place.typed(1, &line);
    }
    let again = place.json_of(1, "replay --recorded-rtl out");
    let totals = &printed["totals"];
    let failed = totals["cases"].as_u64().unwrap() - totals["matched"].as_u64().unwrap();
    let replays = again["replays"].as_array().unwrap().iter();
    let cases = replays.filter(|replay| replay["name"].as_str().unwrap().starts_with("qp/"));
    let is_same = |replay: &&Value| assert_eq!(replay["result"], "still fails", "{replay}");
    assert_eq!(cases.inspect(is_same).count() as u64, failed, "{again}");
}

const SHORT: &str = "run --cases 1 --scenario smoke";

#[test]
fn only_a_run_is_replaced_and_only_by_force() {
    let place = Place::new();
    for (folder, more) in [("run", "--save-vectors 2"), ("file", ""), ("link", "")] {
        place.exits(0, &format!("{SHORT} --out {folder} {more}"));
    }
    assert!(!place.names("run/saved").is_empty());
    place.write("file/failures/notes.md", "why");
    place.link(project(), "link/saved");
    for (folder, more) in [
        ("run", ""),
        ("run", "--case thread2/spec/smoke/0"),
        ("file", "--force"),
        ("link", "--force"),
    ] {
        let before = contents(&place.path(folder));
        place.fails("E0602", "", &format!("run --seed 2 --out {folder} {more}"));
        assert_eq!(contents(&place.path(folder)), before, "nothing was written");
    }
    place.exits(0, &format!("{SHORT} --out run --force --seed 2"));
    assert_eq!(place.results("run")["run"]["seed"], 2);
    assert!(!place.has_file("run/saved"), "nothing of the first run is left");
}

#[test]
fn a_run_without_out_has_a_directory_of_its_own_and_latest_points_to_it() {
    let place = Place::new();
    let mut named = Vec::new();
    // A reproduce command may run in the same folder and must not touch the run.
    for (line, expected) in
        [(SHORT, 2), (SHORT, 2), ("run --case thread2/spec/smoke/0", 1), (SHORT, 2)]
    {
        let printed = place.exits(0, line);
        let name = printed.split("wrote runs/").nth(1).and_then(|rest| rest.split('/').next());
        let name = name.unwrap_or_else(|| panic!("{printed}"));
        let latest = fs::read_link(place.path("runs/latest")).unwrap();
        assert_eq!(latest, Path::new(name), "the newest");
        // Names like thread2-1-20260131T235959Z, with suffix -2 if that exists.
        let time = name.strip_prefix("thread2-1-").unwrap_or_else(|| panic!("{name}"));
        let shape = time.replace(|letter: char| letter.is_ascii_digit(), "0");
        assert!(shape.starts_with("00000000T000000Z"), "{name}");
        named.push((format!("runs/{name}"), expected));
    }
    for (run, expected) in named {
        assert_eq!(cases(&place.results(&run)).len(), expected, "{run}");
    }
    // Simultaneous runs have different directories.
    let children: Vec<Child> = (0..8).map(|_| place.start(SHORT)).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let runs = place.names("runs");
    assert_eq!(runs.len(), 13, "twelve runs and the link: {runs:?}");
    assert!(runs.iter().all(|run| place.has_file(&format!("runs/{run}/results.json"))));
    // A folder called `latest` is left alone.
    let latest = place.path("runs/latest");
    fs::remove_file(&latest).unwrap();
    fs::create_dir(&latest).unwrap();
    place.prints(0, &["warning: cannot update runs/latest"], SHORT);
    assert!(latest.is_dir() && !latest.is_symlink());
}
