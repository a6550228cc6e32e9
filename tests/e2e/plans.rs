//! `--plan`: the runs of a plan, and waivers, which hide only the failures they name, until they
//! expire.

use crate::common::{Place, assert_error_at, blocks, project, schema, source};
use crate::merge::shards;
use crate::resume::ended;
use rustix::process::Signal;
use serde_json::{Value, json};

/// A shard without cases: the run is checked and written, but nothing runs.
const NONE: &str = "18446744073709551615/18446744073709551615";
const HEAD: &str = "format = \"cosim-plan\"\nversion = 1\n";
const QP: &str = "[[run]]\nblocks = [\"qp\"]\n";

#[test]
fn an_invalid_plan_is_refused_with_line_and_column_and_nothing_is_written() {
    let place = Place::new();
    let refused = |name: &str, plan: &str, number: &str, words: &[&str]| {
        place.write(name, plan);
        let output = place.run(&format!("run --plan {name} --out out"));
        assert_error_at(&output, number, words);
        assert!(!place.has_file("out"), "{plan}: something is written");
    };
    for (run, number, words) in [
        ("case = 3", "E0213", &["r.toml:5:1: run[0]", "`case`"][..]),
        ("cases = \"many\"", "E0215", &["r.toml:5:9: run[0]"]),
        ("fixes = \"none\"", "E0215", &["`fixes` of block qp: "]),
        ("fixes = \"random:0\"", "E0215", &["`fixes` of block qp: `random:0`"]),
        ("parameters = { A = 3 }", "E0215", &["`parameters` of block qp: unknown", "`A`"]),
        ("packets = 0", "E0215", &["1 to 20000"]),
        ("scenarios = [\"storm\"]", "E0216", &["`storm`"]),
        ("seeds = [3, 3]", "E0215", &["seed 3"]),
        ("min_coverage = 101", "E0215", &["101"]),
        ("min_coverage = nan", "E0215", &[""]),
        (
            "min_coverage = 90\nuntil_coverage = 95",
            "E0215",
            &["r.toml:3:1: run[0]: `min_coverage`", "`until_coverage`"],
        ),
        ("round = 8", "E0213", &["`round`"]),
        ("name = \"../x\"", "E0215", &["`../x`"]),
        ("[[run]]\nblocks = [\"all\"]", "E0216", &["`qp`"]),
    ] {
        refused("r.toml", &format!("{HEAD}{QP}{run}\n"), number, words);
    }
    for (block, reason, expires, number, words) in [
        ("qp", "", "expires = \"2027-01-31\"", "E0214", &["w.toml:5:1: waiver[0]: "][..]),
        ("qp", "reason = \"a\"", "", "E0214", &["w.toml:5:1: waiver[0]: "]),
        (
            "qp",
            "reason = \"a\"",
            "expires = \"2027-02-30\"",
            "E0215",
            &["w.toml:9:11: waiver[0].expires", "`2027-02-30`"],
        ),
        ("qp", "reason = \" \"", "expires = \"2027-02-28\"", "E0217", &["`reason`"]),
        ("dll", "reason = \"a\"", "expires = \"2027-02-28\"", "E0217", &["[[run]]"]),
    ] {
        let waiver = format!("block = \"{block}\"\nsignature = \"hang-x\"\n{reason}\n{expires}");
        refused("w.toml", &format!("{HEAD}{QP}[[waiver]]\n{waiver}\n"), number, words);
    }
    let json = "{\"format\": \"cosim-plan\",\n \"version\": 1, \"run\": [{\"blocks\": []}]}";
    let run = &format!("{HEAD}{QP}");
    for (name, plan, number, words) in [
        ("a.toml", "format = \"cosim-plan\"\nversion =", "E0205", "a.toml:2:10: "),
        ("b.toml", &run.replace("qp", "q"), "E0215", "b.toml:3:1: run[0]: `blocks`: "),
        ("m.toml", HEAD, "E0214", "`run`"),
        ("s.json", json, "E0215", "s.json:2:37: run[0]: `blocks`"),
        ("t.json", "{\"format\": \"other\"}", "E0213", "`other`"),
        ("u.toml", &run.replace("version = 1", "version = 2"), "E0206", "`version`"),
        ("v.yaml", run, "E0206", "v.yaml: "),
    ] {
        refused(name, plan, number, &[words]);
    }
    // Options that conflict with the plan are refused.
    place.write("z.toml", run);
    let again = ["--block qp", "--packets 3", "--min-coverage 1", "--until-coverage 1"];
    place.refuses("run --plan z.toml --out out", &again.map(|option| ("E0101", "", option)));
}

/// The default goal does not apply to a run with a goal of its own.
const TWO_SEEDS: &str = r#"
seeds = [1, 2]
min_coverage = 1
[[run]]
blocks = ["qp"]
cases = 300
packets = 40
[[run]]
name = "few"
blocks = ["qp", "dll"]
fixes = "spec"
seeds = [7]
cases = 2
[[run]]
name = "until"
blocks = ["qp"]
seeds = [1]
until_coverage = 80
"#;

#[test]
fn a_plan_runs_what_it_lists_even_if_it_is_killed_and_resumed() {
    let place = Place::new();
    place.write("two.toml", &format!("{HEAD}{TWO_SEEDS}"));
    let run = "run --quiet --plan two.toml --out";
    let last = "qp-seed-1 passed, qp-seed-2 passed, few-qp passed, few-dll passed, until passed";
    place.prints(0, &[&format!("PASS  5 runs: {last}")], &format!("{run} whole"));
    let names = ["few-dll", "few-qp", "qp-seed-1", "qp-seed-2", "report.html", "until"];
    assert_eq!(place.names("whole"), names);
    // Each run equals one with the same options.
    for (name, options) in [
        ("qp-seed-2", "--seed 2 --cases 300 --packets 40 --min-coverage 1"),
        ("until", "--until-coverage 80"),
    ] {
        place.exits(0, &format!("run --quiet --block qp --out {name} {options}"));
        place.same_run(name, &format!("whole/{name}"));
    }
    assert_eq!(place.results("until")["ended"], "covered");
    place.fails("E0110", "--min-coverage", &format!("{run} shard --shard 1/2"));

    let killed = format!("{run} killed --threads 1");
    ended(&place, &killed, Signal::KILL, "killed/qp-seed-2/run.journal", 20_000);
    place.prints(0, &["qp-seed-1: it had ended before"], "resume --quiet killed");
    place.same_run("whole", "killed");
    // A seed and cases on the command line take precedence over the plan.
    let passed = "qp passed, few-qp passed, few-dll passed, until";
    place.prints(1, &[passed], &format!("{run} other --seed 9 --cases 1"));
    let run = &place.results("other/qp")["run"];
    assert_eq!((&run["seed"], &run["cases"]), (&9.into(), &1.into()));
}

/// JSON and TOML are equivalent, and files are found relative to the plan.
#[test]
fn a_plan_in_json_is_that_in_toml_and_knows_files_beside_it() {
    let place = Place::new();
    let own = r#"{ "name": "own", "about": "only SENDs",
        "weights": { "operations": { "write": 0, "long_write": 0, "read": 0, "unknown": 0 } } }"#;
    place.write("plans/own.json", own);
    let rest = "fixes = \"spec\"\nscenarios = [\"own.json\"]\ncases = 3\n";
    let toml = format!("{HEAD}[[run]]\nblocks = [\"thread2\"]\n{rest}");
    let plan = r#"{"format": "cosim-plan", "version": 1,
        "run": [{"blocks": ["thread2"], "fixes": "spec", "scenarios": ["own.json"], "cases": 3}]}"#;
    for (ending, text) in [("toml", &*toml), ("json", plan)] {
        place.write(&format!("plans/plan.{ending}"), text);
        place.exits(0, &format!("run --quiet --plan plans/plan.{ending} --out {ending}"));
    }
    place.same_run("toml", "json");
    place.exits(0, "run --quiet --fixes spec --cases 3 --scenario plans/own.json --out line");
    let [of_plan, of_line] = ["toml", "line"].map(|run| place.results(run));
    assert_eq!(of_plan["cases"], of_line["cases"], "the same scenario on the command line");
    assert_eq!(of_plan["profiles"][0]["rules"]["T05"], 0, "no READ was drawn");
    let schema = schema("plan");
    assert!(schema.is_valid(&serde_json::from_str::<Value>(plan).unwrap()));
    assert!(!schema.is_valid(&json!({"format": "cosim-plan", "version": 1})));
}

#[test]
fn a_waived_failure_is_listed_and_counts_only_when_its_day_is_over() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let known = "mismatch-rq_offset_din-UPDATE_RQ_s";
    // The command line of a run with waivers, without its folder.
    let plan = |name: &str, waivers: &[(&str, &str)]| {
        let rest = "fixes = \"spec\"\nscenarios = [\"ring\"]\ncases = 12\n";
        let mut text = format!("{HEAD}[[run]]\nblocks = [\"thread2\"]\n{rest}");
        for (signature, expires) in waivers {
            text += "[[waiver]]\nblock = \"thread2\"\nreason = \"is being mended\"\n";
            text += &format!("signature = \"{signature}\"\nexpires = \"{expires}\"\n");
        }
        place.write(&format!("{name}.toml"), &text);
        format!("run --quiet --plan {name}.toml --rtl rtl --no-waves --no-shrink")
    };
    let waived = plan("waived", &[(known, "2999-12-31"), ("hang-x", "2999-12-31")]);
    let listed = [
        &*format!("{known}: "),
        "waived until 2999-12-31: is being mended",
        "waiver of thread2 hang-x until 2999-12-31 is unused",
    ];
    let printed = place.prints(0, &listed, &format!("{waived} --out whole"));
    assert!(!printed.contains(", 0 of them failed"), "{printed}");
    let results = place.results("whole");
    assert_eq!(results["passed"], true);
    assert_eq!(results["failures"][0]["waived"]["expired"], false);
    let junit = place.text("whole/junit.xml");
    assert!(junit.contains("<skipped") && !junit.contains("<failure"), "{junit}");
    assert!(place.text("whole/report.html").contains("Waived until 2999-12-31: is being mended"));
    // Shards apply waivers, too, and do not report them as unused.
    for index in ["1", "2"] {
        let printed = place.exits(0, &format!("{waived} --out waived-{index} --shard {index}/2"));
        assert!(!printed.contains("is unused"), "{printed}");
    }
    place.prints(0, &["hang-x until 2999-12-31 is unused"], "merge --out merged waived-1 waived-2");
    place.same_run("whole", "merged");

    let expired = plan("expired", &[(known, "2001-01-01")]);
    let passed = "was waived until 2001-01-01, which has passed";
    place.prints(1, &[passed], &format!("{expired} --out expired"));
    assert!(place.text("expired/junit.xml").contains("<failure"));
    is_expired_in_shards(&place, &expired);
    // Waived failures are repeated like any other.
    place.prints(0, &["PASS"], "replay whole --rtl built-in --quiet");
}

/// An expired waiver stays expired in a merge, whatever the shards' `timing.json` contains.
fn is_expired_in_shards(place: &Place, run: &str) {
    let parts = shards(place, 2, run, &[1]);
    let merges = |code: i32| place.exits(code, &format!("merge --force --out parts {parts}"));
    merges(1);
    let times = ["1of2/timing.json", "2of2/timing.json"];
    let texts = times.map(|name| place.text(name));
    for name in times {
        place.remove(name);
        merges(2);
    }
    for damaged in ["{", "{}"] {
        place.write(times[0], damaged);
        place.write(times[1], &texts[1]);
        merges(2);
    }
    // `ended` is edited to a time before the waiver expired.
    for (name, text) in times.iter().zip(&texts) {
        place.write(name, text);
        let (_, ended) = text.split_once("\"ended\":\"").expect("a moment");
        place.edit(name, &format!("\"ended\":\"{}", &ended[..10]), "\"ended\":\"2000-01-01");
    }
    merges(1);
    // Edits to the record with the checksum: its day and the result of the waiver.
    let results = "2of2/results.json";
    let text = place.text(results);
    let day = text.lines().find(|line| line.starts_with("\"day\": ")).expect("a day");
    for (from, to) in [(day, "\"day\": \"2000-01-01\","), ("\"expired\":true", "\"expired\":false")]
    {
        place.edit(results, from, to);
        merges(2);
        place.write(results, &text);
    }
    merges(1);
}

/// Runs few cases to keep the test short, so the coverage goal is missed. `COSIM_TEST_GATE=1` runs
/// all.
#[test]
fn the_gate_runs_and_the_nightly_is_valid() {
    let place = Place::new();
    let plans = project().join("docs/how-to/ci");
    let is_whole = std::env::var_os("COSIM_TEST_GATE").is_some();
    let gate = plans.join("gate.toml").display().to_string();
    let (code, few) = if is_whole { (0, "") } else { (1, "--cases 1") };
    let printed = place.exits(code, &format!("run --quiet --plan {gate} --out gate {few}"));
    for name in blocks() {
        let results = place.results(format!("gate/{name}"));
        assert_eq!(results["totals"]["cases"], results["totals"]["matched"], "{name}");
        assert_eq!(results["run"]["min_coverage"], 100.0);
    }
    let missed = "less than 100 % (--min-coverage)";
    assert!(is_whole || printed.contains(missed), "{printed}");

    // Random parameters need a compilation per model, so named ones replace them here.
    let nightly = source(plans.join("nightly.toml"));
    assert!(nightly.contains("random:4"), "{nightly}");
    place.write("nightly.toml", &nightly.replace("random:4", "spec"));
    // Nothing is compared.
    place.exits(1, &format!("run --quiet --plan nightly.toml --out nightly --shard {NONE}"));
    let names = place.names("nightly");
    for name in ["rx-seed-13", "dll-shallow-seed-12", "random-recv-seed-13", "score"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    // The index page is beside them.
    assert_eq!(names.len(), 3 * (blocks().count() + 3 + 4) + 2);
    let run = &place.results("nightly/long-rx-seed-12")["run"];
    let values = ["seed", "packets", "cases"].map(|name| run[name].as_u64());
    assert_eq!(values, [Some(12), Some(2000), Some(40)]);
}
