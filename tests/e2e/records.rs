//! Records of other people: without a checksum they are refused, the files that they name stay in
//! their run directory, and no number in them takes memory or time without a limit.

use crate::common::{
    assert_code, assert_error, assert_error_at, code, files, json, patched_rtl, program, project,
    run, write_record,
};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A run of a wrong `qp`.
fn red_run(out: &Path, options: &[&str]) {
    let wrong = patched_rtl(&project().join("tests/bad_rtl/qp/54-query-no-post-in-err.patch"));
    let rtl = wrong.path().join("rtl/qp");
    let [rtl, out] = [&rtl, out].map(|path| path.to_str().unwrap());
    let fixed = ["run", "--block", "qp", "--no-shrink", "--quiet", "--rtl", rtl, "--out", out];
    assert_code(&run(fixed.iter().chain(options)), 1);
}

fn run_qp(out: &Path) {
    let options = ["--block", "qp", "--cases", "1", "--scenario", "default", "--quiet"];
    assert_code(
        &run(["run"].into_iter().chain(options).chain(["--out", out.to_str().unwrap()])),
        0,
    );
}

fn merge(folder: &Path, out: &Path) -> Output {
    run(["merge", folder.to_str().unwrap(), "--out", out.to_str().unwrap()])
}

/// All commands that read results.
fn readers(folder: &Path, below: &Path) -> Vec<Output> {
    let [folder, below] = [folder, below].map(|path| path.to_str().unwrap());
    let [out, history, page] = ["out", "h.db", "x.xml"].map(|name| format!("{below}/{name}"));
    vec![
        run(["merge", folder, "--out", &out]),
        run(["history", "add", &history, folder]),
        run(["report", folder]),
        run(["replay", folder]),
        run(["open", "--waves", "--print", folder]),
        run(["cover", "report", folder, "--format", "ucis", "--out", &page]),
    ]
}

/// Fault 4 of the attack: with `version` set back, no checksum was needed.
#[test]
fn results_without_a_checksum_are_refused_whatever_their_version() {
    let folder = TempDir::new().unwrap();
    let [good, below] = ["run", "below"].map(|name| folder.path().join(name));
    run_qp(&good);
    fs::create_dir(&below).unwrap();
    for (name, count) in [("results.json", 5), ("coverage.json", 1)] {
        let path = good.join(name);
        let sealed = fs::read_to_string(&path).unwrap();
        let (members, _) = sealed.rsplit_once(",\n\"checksum\"").unwrap();
        for (version, number) in [(0, "E0206"), (1, "E0219"), (2, "E0206"), (4, "E0206")] {
            let version = format!("\"version\": {version},");
            let edited = format!("{members}\n}}\n").replace("\"version\": 1,", &version);
            fs::write(&path, edited).unwrap();
            let outputs = readers(&good, &below);
            let outputs = if count == 1 { &outputs[5..] } else { &outputs[..count] };
            for output in outputs {
                assert_error(output, number);
            }
            assert_eq!(files(&below, "db"), Vec::<PathBuf>::new(), "no history is left");
            assert!(!below.join("out").exists(), "nothing is merged");
        }
        fs::write(&path, sealed).unwrap();
    }
}

/// A proof and a mutation analysis that somebody wrote by hand.
#[test]
fn proofs_and_mutation_analyses_need_a_checksum() {
    let folder = TempDir::new().unwrap();
    for (name, format) in [("proof.json", "cosim-proof"), ("mutate.json", "cosim-mutation")] {
        let run_of = folder.path().join(format);
        fs::create_dir(&run_of).unwrap();
        for (version, number) in [(1, "E0219"), (2, "E0206")] {
            let text = format!("{{\"format\": \"{format}\", \"version\": {version}}}\n");
            fs::write(run_of.join(name), text).unwrap();
            assert_error(&run(["report", run_of.to_str().unwrap()]), number);
        }
        assert!(!run_of.join("report.html").exists());
    }
    let shard = folder.path().join("cosim-mutation");
    assert_error(&merge(&shard, &folder.path().join("out")), "E0206");
}

/// Fault 5 and 11: a shard named files outside of its run directory, and links of a page.
#[test]
fn names_of_files_stay_in_the_run_directory() {
    let folder = TempDir::new().unwrap();
    let [good, below] = ["run", "below"].map(|name| folder.path().join(name));
    red_run(&good, &["--cases", "4", "--scenario", "default"]);
    fs::create_dir(&below).unwrap();
    let path = good.join("results.json");
    let text_of = fs::read_to_string(&path).unwrap();
    let group = json(&path)["failures"][0].clone();
    fs::write(folder.path().join("secret.json"), "secret").unwrap();
    for field in ["vector", "waves", "explanation"] {
        let name = group[field].as_str().unwrap_or_else(|| panic!("{field}: {group}"));
        for bad in
            ["../secret.json", "/etc/passwd", "failures/../../secret.json", "javascript:alert(1)"]
        {
            let from = format!("\"{field}\":\"{name}\"");
            assert!(text_of.contains(&from), "{from}");
            write_record(&path, &text_of.replace(&from, &format!("\"{field}\":\"{bad}\"")));
            for (place, output) in readers(&good, &below)[..5].iter().enumerate() {
                // `merge` calls any part of a shard that it cannot read damaged.
                assert_error(output, if place == 0 { "E0219" } else { "E0215" });
            }
            assert!(!below.join("out").exists() && !below.join("h.db").exists(), "{field}: {bad}");
        }
    }
    write_record(&path, &text_of);

    // A name that is good, and a link under it.
    let vector = good.join(group["vector"].as_str().unwrap());
    let before = fs::read(&vector).unwrap();
    fs::remove_file(&vector).unwrap();
    symlink(folder.path().join("secret.json"), &vector).unwrap();
    let out = below.join("out");
    assert_error(&merge(&good, &out), "E0201");
    assert!(!out.exists(), "no part of the merge is left");
    fs::remove_file(&vector).unwrap();
    fs::write(&vector, before).unwrap();
    let waves = good.join(group["waves"].as_str().unwrap());
    fs::remove_file(&waves).unwrap();
    symlink("/etc/passwd", &waves).unwrap();
    let opened = run(["open", "--waves", "--print", good.to_str().unwrap()]);
    assert_error(&opened, "E0201");
}

/// A page is not written through a link of the run directory.
#[test]
fn a_report_is_not_written_through_a_link() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    run_qp(&out);
    let victim = folder.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    for name in ["report.html", "junit.xml", "summary.md"] {
        fs::remove_file(out.join(name)).unwrap();
        symlink(&victim, out.join(name)).unwrap();
    }
    assert_code(&run(["report", out.to_str().unwrap()]), 0);
    assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains("PASS"));
}

/// Fault 18: the merge of one whole run has the bytes of the run, also with failures.
#[test]
fn a_whole_run_merges_to_its_own_bytes() {
    let folder = TempDir::new().unwrap();
    let [whole, merged] = ["whole", "merged"].map(|name| folder.path().join(name));
    // With these cases, what each one is the first to hit cannot be computed from what is left.
    let cases = ["--cases", "40", "--scenario", "chaos", "--scenario", "default"];
    red_run(&whole, &[&cases[..], &["--no-waves"]].concat());
    assert_eq!(code(&merge(&whole, &merged)), 1);
    for name in ["results.json", "coverage.json", "junit.xml", "summary.md"] {
        let [left, right] = [&whole, &merged].map(|run| fs::read(run.join(name)).unwrap());
        assert!(left == right, "{name}");
    }
    for ending in ["json", "fst"] {
        let names = |run: &Path| -> Vec<_> {
            let all = files(&run.join("failures"), ending);
            all.iter().map(|path| path.file_name().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&whole), names(&merged));
    }
}

#[test]
fn a_call_that_fails_leaves_no_history() {
    let folder = TempDir::new().unwrap();
    let [file, out] = ["new.db", "out"].map(|name| folder.path().join(name));
    let name = file.to_str().unwrap();
    let add = run(["history", "add", name, folder.path().to_str().unwrap()]);
    assert_error(&add, "E0201");
    assert!(!file.exists());
    let none = ["run", "--block", "none", "--history", name, "--out", out.to_str().unwrap()];
    assert_error(&run(none), "E0102");
    let options = ["--block", "qp", "--rtl", "no-such-rtl", "--history", name];
    assert_code(&run(["run", "--out", out.to_str().unwrap()].iter().chain(&options)), 2);
    assert!(!file.exists());
}

/// Runs the program with 2 GB of address space.
fn limited(arguments: &[&str]) -> Output {
    let program = program();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""]).arg(program.get_program());
    let variables = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.args(arguments).envs(variables).current_dir(project());
    command.output().expect("a shell")
}

/// Numbers that are huge, negative, not finite or no numbers, in every kind of file.
#[test]
fn numbers_out_of_range_are_refused_in_bounded_memory() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let vectors = files(&project().join("vectors/thread2"), "json");
    let vector = vectors.iter().find(|path| path.to_string_lossy().contains("t14-")).unwrap();
    let good = fs::read_to_string(vector).unwrap();
    let replay = |text: &str, number: &str| {
        fs::write(at("v.json"), text).unwrap();
        assert_error(&limited(&["replay", &at("v.json")]), number);
    };
    for again in ["18446744073709551615", "18446744073709551616", "-1", "1e9", "[]", "65536"] {
        let from = "\"header\": {";
        replay(&good.replacen(from, &format!("\"again\": {again}, {from}"), 1), "E0215");
    }
    let from = "\"header\": {";
    replay(&good.replacen(from, &format!("\"again\": 1e999, {from}"), 1), "E0204");
    replay(&good.replacen("\"version\": 1", "\"version\": 1e3", 1), "E0206");
    replay(&"[".repeat(1_000_000), "E0215");
    let many = |item: &str| {
        format!(
            "{{\"format\": \"cosim-vector\", \"version\": 1, \"block\": \"qp\", \"fixes\": \
             \"all\", \"origin\": {{\"about\": \"\"}}, \"recorded\": null, \"stimulus\": \
             {{\"traffic\": {{\"steps\": [{}{item}]}}}}}}",
            format!("{item},").repeat(1 << 23)
        )
    };
    replay(&many("{}"), "E0202");

    let out = folder.path().join("run");
    run_qp(&out);
    let results = out.join("results.json");
    let text_of = fs::read_to_string(&results).unwrap();
    let huge = "18446744073709551615";
    for (from, to, number) in [
        ("\"cases\":1,\"matched\":1", format!("\"cases\":{huge},\"matched\":1"), "E0215"),
        ("\"cases\":1,\"matched\":1", format!("\"cases\":1,\"matched\":{huge}"), "E0215"),
        ("{\"from\":0", format!("{{\"from\":{huge}"), "E0219"),
        ("\"seed\":1", "\"seed\":1e999".to_owned(), "E0204"),
        ("\"seed\":1", "\"seed\":-1".to_owned(), "E0215"),
    ] {
        assert!(text_of.contains(from), "{from}: {text_of}");
        write_record(&results, &text_of.replace(from, &to));
        for command in ["report", "replay"] {
            let output = limited(&[command, out.to_str().unwrap()]);
            assert_error(&output, number);
        }
        let added = limited(&["history", "add", &at("h.db"), out.to_str().unwrap()]);
        assert_error(&added, number);
    }
    write_record(&results, &text_of);

    let coverage = out.join("coverage.json");
    let text_of = fs::read_to_string(&coverage).unwrap();
    let database = json(&coverage);
    let part = &database["parts"][0]["cases"];
    for cases in [
        format!("{{\"first\":0,\"step\":1,\"count\":{huge}}}"),
        format!("{{\"first\":{huge},\"step\":1,\"count\":1}}"),
        "{\"first\":0,\"step\":0,\"count\":1}".to_owned(),
    ] {
        let from = format!(
            "{{\"first\":{},\"step\":{},\"count\":{}}}",
            part["first"], part["step"], part["count"]
        );
        assert!(text_of.contains(&from), "{from}");
        write_record(&coverage, &text_of.replacen(&from, &cases, 1));
        let output = limited(&["cover", "report", coverage.to_str().unwrap()]);
        assert_error(&output, "E0215");
    }
    // A cross of six axes with 1000 values each.
    let value = "{\"name\":\"v\",\"meaning\":\"\"}";
    let axis = format!("{{\"name\":\"a\",\"values\":[{}]}}", vec![value; 1000].join(","));
    let axes = vec![axis; 6].join(",");
    let group = format!("\"groups\": [\n{{\"name\":\"g\",\"about\":\"\",\"axes\":[{axes}]}},");
    write_record(&coverage, &text_of.replacen("\"groups\": [", &group, 1));
    let output = limited(&["cover", "report", coverage.to_str().unwrap()]);
    assert_error_at(&output, "E0219", "1048576 bins");

    let plan = |text: &str, number: &str| {
        fs::write(at("p.toml"), format!("format = \"cosim-plan\"\nversion = 1\n{text}")).unwrap();
        assert_error(&limited(&["run", "--plan", &at("p.toml"), "--out", &at("p")]), number);
    };
    plan("[[run]]\nblocks = [\"qp\"]\ncases = 9223372036854775807\n", "E0215");
    plan("[[run]]\nblocks = [\"qp\"]\npackets = -1\n", "E0215");
    plan("[[run]]\nblocks = [\"qp\"]\nmin_coverage = inf\n", "E0215");
    plan("[[run]]\nblocks = [\"qp\"]\nmin_coverage = nan\n", "E0215");
    let seeds: Vec<String> = (0..20_000).map(|seed| seed.to_string()).collect();
    plan(&format!("[[run]]\nblocks = [\"qp\"]\nseeds = [{}]\n", seeds.join(",")), "E0216");

    let scenario = |weights: &str| {
        let text = format!("name = \"own\"\nabout = \"x\"\n{weights}\n");
        fs::write(at("s.toml"), text).unwrap();
        let options = ["run", "--block", "qp", "--cases", "1", "--scenario", &at("s.toml")];
        let output = limited(&[&options[..], &["--out", &at("s")]].concat());
        assert_error(&output, "E0215");
    };
    scenario("weights = { raw_cycles_per_packet = 9223372036854775807 }");
    scenario("weights = { raw_cycles_per_packet = -1 }");
    scenario("weights = { raw_cycles_per_packet = inf }");
    scenario("long = { percent = 100, packets = [1, 9223372036854775807] }");
}
