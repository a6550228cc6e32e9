//! `--plan`: the runs of a plan, and waivers, which hide only the failures they name, until they
//! expire.

use crate::common::{
    assert_code, assert_error, assert_error_at, assert_same_run, code, cosim, is_longer, json,
    patched_rtl, program, project, run, text, wait_until,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// A shard without cases: the run is checked and written, but nothing runs.
const NONE: &str = "18446744073709551615/18446744073709551615";
const HEAD: &str = "format = \"cosim-plan\"\nversion = 1\n";

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn run_plan(plan: &Path, out: &Path, more: &[&str]) -> Output {
    let words =
        ["run", "--quiet", "--plan", plan.to_str().unwrap(), "--out", out.to_str().unwrap()];
    run(words.iter().chain(more))
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_invalid_plan_is_refused_with_line_and_column_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let waiver = |more: &str| {
        format!(
            "{HEAD}[[run]]\nblocks = [\"qp\"]\n[[waiver]]\nblock = \"qp\"\nsignature = \"hang-x\"\n{more}"
        )
    };
    let run = |more: &str| format!("{HEAD}[[run]]\nblocks = [\"qp\"]\n{more}");
    let cases: Vec<(&str, String, &str, &str)> = vec![
        ("a.toml", "format = \"cosim-plan\"\nversion =".to_owned(), "E0205", "a.toml:2:10: "),
        (
            "b.toml",
            format!("{HEAD}[[run]]\nblocks = [\"q\"]\n"),
            "E0215",
            "b.toml:3:1: run[0]: `blocks`: ",
        ),
        ("c.toml", run("case = 3\n"), "E0213", "c.toml:5:1: run[0]"),
        ("c.toml", run("case = 3\n"), "E0213", "`case`"),
        ("d.toml", run("cases = \"many\"\n"), "E0215", "d.toml:5:9: run[0]"),
        ("e.toml", run("fixes = \"none\"\n"), "E0215", "`fixes` of block qp: "),
        ("e.toml", run("fixes = \"random:0\"\n"), "E0215", "`fixes` of block qp: `random:0`"),
        (
            "f.toml",
            run("parameters = { DEPTH = 3 }\n"),
            "E0215",
            "`parameters` of block qp: unknown parameter `DEPTH`",
        ),
        ("g.toml", run("packets = 0\n"), "E0215", "1 to 20000"),
        ("h.toml", run("scenarios = [\"storm\"]\n"), "E0216", "`storm`"),
        ("i.toml", run("seeds = [3, 3]\n"), "E0215", "seed 3"),
        ("j.toml", run("min_coverage = 101\n"), "E0215", "101"),
        (
            "u.toml",
            run("min_coverage = 90\nuntil_coverage = 95\n"),
            "E0215",
            "u.toml:3:1: run[0]: `min_coverage` and `until_coverage`",
        ),
        ("v.toml", run("round = 8\n"), "E0213", "`round`"),
        ("k.toml", run("name = \"../x\"\n"), "E0215", "`../x`"),
        ("l.toml", run("[[run]]\nblocks = [\"all\"]\n"), "E0216", "`qp`"),
        ("m.toml", HEAD.to_owned(), "E0214", "`run`"),
        ("n.toml", waiver("expires = \"2027-01-31\"\n"), "E0214", "n.toml:5:1: waiver[0]: "),
        ("o.toml", waiver("reason = \"known\"\n"), "E0214", "o.toml:5:1: waiver[0]: "),
        (
            "p.toml",
            waiver("reason = \"known\"\nexpires = \"2027-02-30\"\n"),
            "E0215",
            "p.toml:9:11: waiver[0].expires: `2027-02-30`",
        ),
        ("q.toml", waiver("reason = \" \"\nexpires = \"2027-02-28\"\n"), "E0217", "`reason`"),
        (
            "r.toml",
            waiver("reason = \"known\"\nexpires = \"2027-02-28\"\n")
                .replace("block = \"qp\"", "block = \"dll\""),
            "E0217",
            "[[run]]",
        ),
        (
            "s.json",
            "{\"format\": \"cosim-plan\",\n \"version\": 1, \"run\": [{\"blocks\": []}]}"
                .to_owned(),
            "E0215",
            "s.json:2:38: run[0]: `blocks`",
        ),
        ("t.json", "{\"format\": \"other\"}".to_owned(), "E0213", "`other`"),
        ("u.toml", run("").replace("version = 1", "version = 2"), "E0206", "`version`"),
        ("v.yaml", run(""), "E0206", "v.yaml: "),
    ];
    for (name, plan, number, place) in cases {
        let plan = write(folder.path(), name, &plan);
        let output = run_plan(&plan, &out, &[]);
        assert_error_at(&output, number, place);
        assert!(!out.exists(), "{name}: something is written");
    }
    // Options that conflict with the plan are refused.
    let plan = write(folder.path(), "z.toml", &run(""));
    for again in
        [["--block", "qp"], ["--packets", "3"], ["--min-coverage", "1"], ["--until-coverage", "1"]]
    {
        assert_error(&run_plan(&plan, &out, &again), "E0101");
    }
}

const TWO_SEEDS: &str = r#"
seeds = [1, 2]
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
"#;

#[test]
fn a_plan_runs_what_it_lists_even_if_it_is_killed_and_resumed() {
    let folder = TempDir::new().unwrap();
    let below = |name: &str| folder.path().join(name);
    let plan = write(folder.path(), "two.toml", &format!("{HEAD}{TWO_SEEDS}"));
    let whole = below("whole");
    let output = run_plan(&plan, &whole, &[]);
    assert_code(&output, 0);
    let names = ["few-dll", "few-qp", "qp-seed-1", "qp-seed-2"];
    assert_eq!(entries(&whole), [&names[..], &["report.html"]].concat());
    let last = "PASS  4 runs: qp-seed-1 passed, qp-seed-2 passed, few-qp passed, few-dll passed";
    assert!(text(&output).contains(last), "{}", text(&output));
    // Each run equals one with the same options.
    let same = below("same");
    let options = ["--seed", "2", "--cases", "300", "--packets", "40"];
    let words = ["run", "--quiet", "--block", "qp", "--out", same.to_str().unwrap()];
    assert_eq!(code(&run(words.iter().chain(&options))), 0);
    assert_same_run(&same, &whole.join("qp-seed-2"));

    let killed = below("killed");
    let mut command = program();
    command.args(["run", "--quiet", "--plan", plan.to_str().unwrap(), "--threads", "1", "--out"]);
    let mut child = command.arg(&killed).stdout(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || is_longer(&killed.join("qp-seed-2/run.journal"), 20_000));
    child.kill().unwrap();
    child.wait().unwrap();
    let output = run(["resume", "--quiet", killed.to_str().unwrap()]);
    assert_code(&output, 0);
    assert!(text(&output).contains("qp-seed-1: it had ended before"), "{}", text(&output));
    for name in names {
        assert_same_run(&whole.join(name), &killed.join(name));
    }
    // A seed and cases on the command line take precedence over the plan.
    let other = below("other");
    assert_code(&run_plan(&plan, &other, &["--seed", "9", "--cases", "1"]), 0);
    assert_eq!(entries(&other), ["few-dll", "few-qp", "qp", "report.html"]);
    let results = json(&other.join("qp/results.json"));
    assert_eq!((&results["run"]["seed"], &results["run"]["cases"]), (&9.into(), &1.into()));
}

/// The default goal of a plan does not apply to a run with a goal of its own.
#[test]
fn a_plan_says_when_a_run_has_covered_enough() {
    let folder = TempDir::new().unwrap();
    let listed = "min_coverage = 100\n[[run]]\nblocks = [\"qp\"]\nuntil_coverage = 80\n";
    let plan = write(folder.path(), "until.toml", &format!("{HEAD}{listed}"));
    let [planned, same] = ["planned", "same"].map(|name| folder.path().join(name));
    assert_code(&run_plan(&plan, &planned, &[]), 0);
    let options = ["--block", "qp", "--until-coverage", "80"];
    let words = ["run", "--quiet", "--out", same.to_str().unwrap()];
    assert_eq!(code(&run(words.iter().chain(&options))), 0);
    assert_eq!(json(&same.join("results.json"))["ended"], "covered");
    assert_same_run(&same, &planned);
    let shard = run_plan(&plan, &folder.path().join("shard"), &["--shard", "1/2"]);
    assert_error_at(&shard, "E0110", "--min-coverage");
}

/// JSON and TOML are equivalent, and files are found relative to the plan.
#[test]
fn a_plan_in_json_is_that_in_toml_and_knows_files_beside_it() {
    let folder = TempDir::new().unwrap();
    let own = r#"{"name": "own", "about": "no gaps", "weights": {"gap": 0}}"#;
    write(folder.path(), "own.json", own);
    let plan = "[[run]]\nblocks = [\"thread2\"]\nfixes = \"spec\"\nscenarios = [\"own.json\"]\ncases = 3\n";
    let toml = write(folder.path(), "plan.toml", &format!("{HEAD}{plan}"));
    let plan = r#"{"format": "cosim-plan", "version": 1,
        "run": [{"blocks": ["thread2"], "fixes": "spec", "scenarios": ["own.json"], "cases": 3}]}"#;
    let json_plan = write(folder.path(), "plan.json", plan);
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for (plan, out) in [(&toml, &one), (&json_plan, &other)] {
        assert_eq!(code(&run_plan(plan, out, &[])), 0);
    }
    assert_same_run(&one, &other);
    let schema = cosim().args(["schema", "plan"]).output().unwrap();
    let schema = serde_json::from_slice(&schema.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&serde_json::from_str::<Value>(plan).unwrap()));
    assert!(!schema.is_valid(&serde_json::json!({"format": "cosim-plan", "version": 1})));
}

fn waiver(signature: &str, expires: &str) -> String {
    format!(
        "[[waiver]]\nblock = \"thread2\"\nsignature = \"{signature}\"\nreason = \"is being mended\"\nexpires = \"{expires}\"\n"
    )
}

#[test]
fn a_waived_failure_is_listed_and_counts_only_when_its_day_is_over() {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = wrong.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let below = |name: &str| folder.path().join(name);
    let head = format!(
        "{HEAD}[[run]]\nblocks = [\"thread2\"]\nfixes = \"spec\"\nscenarios = [\"ring\"]\ncases = 12\n"
    );
    let known = "mismatch-rq_offset_din-UPDATE_RQ_s";
    let plan = |name: &str, waivers: &[String]| {
        write(folder.path(), name, &format!("{head}{}", waivers.concat()))
    };
    let options = ["--rtl", rtl.to_str().unwrap(), "--no-waves", "--no-shrink"];
    let waived =
        plan("waived.toml", &[waiver(known, "2999-12-31"), waiver("hang-x", "2999-12-31")]);
    let whole = below("whole");
    let output = run_plan(&waived, &whole, &options);
    let printed = text(&output);
    assert_eq!(code(&output), 0, "{printed}");
    assert!(
        printed.contains("PASS  thread2, seed 1: 12 cases, ")
            && !printed.contains(", 0 of them failed"),
        "{printed}"
    );
    assert!(
        printed.contains(&format!("{known}: "))
            && printed.contains("waived until 2999-12-31: is being mended"),
        "{printed}"
    );
    assert!(printed.contains("waiver of thread2 hang-x until 2999-12-31 is unused"), "{printed}");
    let results = json(&whole.join("results.json"));
    assert_eq!(results["passed"], true);
    assert_eq!(results["failures"][0]["waived"]["expired"], false);
    let junit = fs::read_to_string(whole.join("junit.xml")).unwrap();
    assert!(junit.contains("<skipped") && !junit.contains("<failure"), "{junit}");

    let page = fs::read_to_string(whole.join("report.html")).unwrap();
    assert!(page.contains("Waived until 2999-12-31: is being mended"));

    // Shards apply waivers, too, and do not report them as unused.
    let shards: Vec<PathBuf> = (1..=2).map(|index| below(&format!("shard-{index}"))).collect();
    for (index, shard) in (1..).zip(&shards) {
        let output =
            run_plan(&waived, shard, &[&options[..], &["--shard", &format!("{index}/2")]].concat());
        assert_code(&output, 0);
        assert!(!text(&output).contains("is unused"), "{}", text(&output));
    }
    let merged = below("merged");
    let words = shards.iter().map(|shard| shard.to_str().unwrap());
    let output = run(["merge", "--out", merged.to_str().unwrap()].into_iter().chain(words));
    assert_code(&output, 0);
    assert!(text(&output).contains("hang-x until 2999-12-31 is unused"), "{}", text(&output));
    assert_same_run(&whole, &merged);

    let expired = plan("expired.toml", &[waiver(known, "2001-01-01")]);
    let output = run_plan(&expired, &below("expired"), &options);
    assert_code(&output, 1);
    assert!(
        text(&output).contains("was waived until 2001-01-01, which has passed"),
        "{}",
        text(&output)
    );
    let junit = fs::read_to_string(below("expired").join("junit.xml")).unwrap();
    assert!(junit.contains("<failure"), "{junit}");
    is_expired_in_shards(&expired, &options, folder.path());
    // A waiver of another failure has no effect.
    let foreign = plan("foreign.toml", &[waiver("mismatch-rq_offset_din-IDLE_s", "2999-12-31")]);
    assert_eq!(code(&run_plan(&foreign, &below("foreign"), &options)), 1);
    // Waived failures are repeated like any other.
    let output = run(["replay", whole.to_str().unwrap(), "--rtl", "built-in", "--quiet"]);
    assert_code(&output, 0);
    assert!(text(&output).contains("PASS"), "{}", text(&output));
}

/// An expired waiver stays expired in a merge, whatever the shards' `timing.json` contains.
fn is_expired_in_shards(plan: &Path, options: &[&str], folder: &Path) {
    let shards = ["1/2", "2/2"].map(|shard| {
        let out = folder.join(format!("expired-{}", shard.replace('/', "-of-")));
        assert_code(&run_plan(plan, &out, &[options, &["--shard", shard]].concat()), 1);
        out
    });
    let out = folder.join("expired-merged");
    let merged = || {
        let words = shards.iter().map(|shard| shard.to_str().unwrap());
        let fixed = ["merge", "--force", "--out", out.to_str().unwrap()];
        let output = run(fixed.into_iter().chain(words));
        (code(&output), text(&output))
    };
    assert_eq!(merged().0, 1);
    let times = shards.each_ref().map(|shard| shard.join("timing.json"));
    let texts = times.each_ref().map(|path| fs::read_to_string(path).unwrap());
    let write = |texts: [&str; 2]| {
        for (path, text) in times.iter().zip(texts) {
            match text {
                "" => drop(fs::remove_file(path)),
                text => fs::write(path, text).unwrap(),
            }
        }
    };
    let [one, two] = texts.each_ref().map(String::as_str);
    for damaged in [["", ""], ["", "{"], [one, ""], ["{}", two]] {
        write(damaged);
        assert_eq!(merged().0, 2, "{damaged:?}");
    }
    // `ended` is edited to a time before the waiver expired.
    let early = texts.each_ref().map(|text| {
        let (before, behind) = text.split_once("\"ended\":\"").expect("a moment");
        let (_, behind) = behind.split_once('"').expect("its end");
        format!("{before}\"ended\":\"2000-01-01T00:00:00.000Z\"{behind}")
    });
    write(early.each_ref().map(String::as_str));
    assert_eq!(merged().0, 1);
    write([one, two]);
    // Edits to the record with the checksum: its day and the result of the waiver.
    let results = shards[1].join("results.json");
    let text_of = fs::read_to_string(&results).unwrap();
    let day = text_of.lines().find(|line| line.starts_with("\"day\": ")).expect("a day");
    for (from, to) in [(day, "\"day\": \"2000-01-01\","), ("\"expired\":true", "\"expired\":false")]
    {
        let edited = text_of.replace(from, to);
        assert_ne!(edited, text_of, "{from}");
        fs::write(&results, edited).unwrap();
        assert_eq!(merged().0, 2, "{from}");
    }
    fs::write(&results, text_of).unwrap();
    assert_eq!(merged().0, 1);
}

/// Runs few cases to keep the test short, so the coverage goal is missed. `COSIM_TEST_GATE=1` runs
/// all.
#[test]
fn the_gate_runs_and_the_nightly_is_valid() {
    let folder = TempDir::new().unwrap();
    let plan = |name: &str| project().join("docs/how-to/ci").join(name);
    let gate = folder.path().join("gate");
    let is_whole = std::env::var_os("COSIM_TEST_GATE").is_some();
    let few: &[&str] = if is_whole { &[] } else { &["--cases", "1"] };
    let output = run_plan(&plan("gate.toml"), &gate, few);
    assert_eq!(code(&output), i32::from(!is_whole), "{}", text(&output));
    for block in cosim::PROGRAM.blocks {
        let results = json(&gate.join(block.info().name).join("results.json"));
        assert_eq!(
            results["totals"]["cases"],
            results["totals"]["matched"],
            "{}",
            block.info().name
        );
        assert_eq!(results["run"]["min_coverage"], 100.0);
    }
    assert!(
        is_whole || text(&output).contains("less than 100 % (--min-coverage)"),
        "{}",
        text(&output)
    );

    // Random parameters need a compilation per model, so named ones replace them here.
    let text_of_plan = fs::read_to_string(plan("nightly.toml")).unwrap();
    assert!(text_of_plan.contains("random:4"), "{text_of_plan}");
    let named = text_of_plan.replace("random:4", "spec");
    let named = write(folder.path(), "nightly.toml", &named);
    let nightly = folder.path().join("nightly");
    let output = run_plan(&named, &nightly, &["--shard", NONE]);
    assert_eq!(code(&output), 1, "nothing was compared: {}", text(&output));
    let names = entries(&nightly);
    for name in [
        "rx-seed-13",
        "long-thread2-seed-11",
        "dll-shallow-seed-12",
        "random-recv-seed-13",
        "score",
    ] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    // The index page is beside them.
    assert_eq!(names.len(), 3 * (cosim::PROGRAM.blocks.len() + 3 + 4) + 2);
    let results = json(&nightly.join("long-rx-seed-12/results.json"));
    let run = &results["run"];
    assert_eq!(
        (&run["seed"], &run["packets"], &run["cases"]),
        (&12.into(), &2000.into(), &40.into())
    );
}
