//! `cosim run`: results, files and limits of a run, with any number of threads.

use crate::common::Place;
use crate::merge::shards;

/// Without this, raw pins could hide that traffic misses a rule.
#[test]
#[ignore = "slow: a regression of all blocks"]
fn traffic_alone_hits_every_rule_that_can_be_hit() {
    let place = Place::new();
    for block in place.json_of(0, "list").as_array().unwrap() {
        let name = block["name"].as_str().unwrap();
        let scenarios = block["scenarios"].as_array().unwrap().iter();
        let scenarios = scenarios.map(|scenario| scenario["name"].as_str().unwrap());
        let scenarios = scenarios.filter(|name| *name != "chaos");
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
