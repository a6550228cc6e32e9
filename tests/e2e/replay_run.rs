//! `cosim replay RUN_DIR`: the failures of a run, on other RTL or from the run directory alone,
//! which may come from anyone.

use crate::common::{
    assert_code, assert_error, assert_error_at, changed_rtl, code, json, run, run_in, text,
    typed_in, write_record,
};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const TOP: &str = "ReqRecvCore_Thread_2.v";
const INCOMPLETE: &str = "E0223";
const DAMAGED: &str = "E0219";
const UNREADABLE: &str = "E0201";

/// Runs RTL with a bug in `folder`, and removes the RTL.
fn failing_run(folder: &Path, more: &[&str]) {
    let bad = changed_rtl(TOP, "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    fs::create_dir(folder.join("rtl")).unwrap();
    fs::copy(bad.path().join(TOP), folder.join("rtl").join(TOP)).unwrap();
    let words = ["run", "--cases", "3", "--fixes", "repaired", "--no-waves", "--quiet"];
    let place = ["--rtl", "rtl", "-DUNUSED=1", "--out", "run"];
    assert_code(&run_in(folder, &[&words[..], &place, more].concat()), 1);
    fs::remove_dir_all(folder.join("rtl")).unwrap();
}

fn reproduce(folder: &Path, more: &[&str]) -> Output {
    let words = ["replay", folder.to_str().unwrap(), "--recorded-rtl", "--expect-recorded"];
    run(words.iter().chain(more))
}

#[test]
fn failures_are_replayed_from_the_run_directory_alone() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    failing_run(here.path(), &[]);
    // The page shows the command.
    let page = fs::read_to_string(here.path().join("run/report.html")).unwrap();
    let (_, shown) = page.split_once("id=\"reproduce-all\">").expect("the command");
    let (shown, _) = shown.split_once('<').unwrap();
    let shown = shown.replace("&#x2f;", "/");
    assert_eq!(code(&typed_in(here.path(), &shown)), 1, "{shown}");
    let artifact = there.path().join("artifact");
    fs::rename(here.path().join("run"), &artifact).unwrap();
    let output = reproduce(&artifact, &[]);
    assert_code(&output, 0);
    let results = json(&artifact.join("results.json"));
    // The same RTL, under another path.
    let rtl = results["run"]["rtl"].as_str().unwrap();
    let printed = text(&output);
    assert!(printed.contains(&format!("RTL {rtl},")) && !printed.contains("warning"), "{printed}");
    // Each vector that the results name has failed as recorded.
    let report = of_json(&reproduce(&artifact, &["--format", "json"]));
    let failures = results["failures"].as_array().unwrap().len() as u64;
    assert!(report["still_fails"].as_u64().unwrap() >= failures, "{report}");
    assert_eq!([&report["fixed"], &report["different"], &report["not_run"]], [0, 0, 0], "{report}");
    // The RTL can be kept, and the command that is printed explains the first failure on it.
    let kept = there.path().join("kept/rtl");
    let output = reproduce(&artifact, &["--rtl-out", kept.to_str().unwrap()]);
    assert_code(&output, 0);
    let printed = text(&output);
    let next = printed.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let explained = typed_in(there.path(), next);
    assert_eq!(code(&explained), 1, "{next}: {}", text(&explained));
    // It is not written over, and a repaired copy matches.
    assert_eq!(code(&reproduce(&artifact, &["--rtl-out", kept.to_str().unwrap()])), 2);
    let file = kept.join(TOP);
    let repaired =
        fs::read_to_string(&file).unwrap().replace("mr_bypass = 1'b0", "mr_bypass = 1'b1");
    fs::write(&file, repaired).unwrap();
    assert_eq!(code(&typed_in(there.path(), next)), 0);
}

/// A link in RTL of others may lead to a private file of the user, and a run directory is passed
/// on.
#[test]
fn no_file_behind_a_link_out_of_the_rtl_is_copied() {
    const SECRET: &str = "password 1234";
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let bad = changed_rtl(TOP, "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    let text_of_top = fs::read_to_string(bad.path().join(TOP)).unwrap();
    let opens = "initial begin : opens integer f; f = $fopen(\"x.hex\", \"r\"); end\nendmodule";
    let top = text_of_top.replacen("endmodule", opens, 1);
    fs::create_dir(at("private")).unwrap();
    fs::write(at("private/secret"), format!("// {SECRET}\n")).unwrap();
    let run = |name: &str| {
        let words = ["run", "--cases", "3", "--fixes", "repaired", "--no-waves", "--quiet"];
        let output =
            run_in(folder.path(), &[&words[..], &["--rtl", name, "--out", "run"]].concat());
        assert_code(&output, 1);
        let copy = fs::read_to_string(at("run/rtl.json")).ok();
        fs::remove_dir_all(at("run")).unwrap();
        (copy, text(&output))
    };
    let header = format!("`include \"y.vh\"\n{top}");
    for (name, top, link, target) in [
        ("data", &top, "x.hex", "../private/secret"),
        ("header", &header, "y.vh", "../private/secret"),
        ("below", &header, "inc", "../private"),
    ] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join(TOP), top).unwrap();
        symlink(target, at(name).join(link)).unwrap();
        if name == "below" {
            fs::copy(at("private/secret"), at("private/y.vh")).unwrap();
        }
        let (copy, printed) = run(name);
        assert_eq!(copy, None, "{name}");
        assert!(
            printed.contains("warning: `replay --recorded-rtl` will not find the RTL"),
            "{name}: {printed}"
        );
    }
    // A link inside of the folder, and a link to the folder itself.
    fs::create_dir(at("whole")).unwrap();
    fs::write(at("whole").join(TOP), &header).unwrap();
    fs::write(at("whole/z.vh"), format!("// {SECRET}\n")).unwrap();
    symlink("z.vh", at("whole/y.vh")).unwrap();
    symlink("whole", at("link")).unwrap();
    let (copy, printed) = run("link");
    assert!(copy.unwrap().contains(SECRET), "{printed}");
}

/// What the command prints as JSON.
fn of_json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(output)))
}

#[test]
fn a_run_without_its_rtl_or_without_failures_is_refused() {
    let folder = TempDir::new().unwrap();
    failing_run(folder.path(), &["--no-sources"]);
    assert!(!folder.path().join("run/rtl.json").exists());
    assert_error_at(&reproduce(&folder.path().join("run"), &[]), INCOMPLETE, "rtl.json");
    let words = ["run", "--cases", "1", "--scenario", "smoke", "--quiet", "--out", "green"];
    assert_eq!(code(&run_in(folder.path(), &words)), 0);
    assert!(!folder.path().join("green/rtl.json").exists());
    assert_error(&reproduce(&folder.path().join("green"), &[]), "E0210");
}

/// The RTL of a run directory has no more rights than RTL that the user names.
#[test]
fn a_hostile_run_directory_stays_in_the_sandbox_and_in_its_folder() {
    let folder = TempDir::new().unwrap();
    failing_run(folder.path(), &[]);
    let artifact = folder.path().join("run");
    let path = artifact.join("rtl.json");
    let good = fs::read_to_string(&path).unwrap();
    // RTL that starts a program.
    let mark = folder.path().join("mark");
    let harm =
        format!("endmodule\\nmodule harm; initial $system(\\\"touch {}\\\");", mark.display());
    let call = "harm harm();";
    let module = good.rfind("endmodule").unwrap();
    let harmful = format!("{}{call} {harm} {}", &good[..module], &good[module..]);
    write_record(&path, &harmful);
    let output = reproduce(&artifact, &[]);
    assert!(text(&output).contains("warning: the RTL of the run was"), "{}", text(&output));
    assert!(!mark.exists(), "the sandbox holds: {}", text(&output));
    reproduce(&artifact, &["--no-sandbox"]);
    assert!(mark.exists(), "without it, the RTL does harm: {}", text(&output));
    // Names that lead out of the copy, hidden files, and edited or linked records.
    let name = format!("\"{TOP}\": {{");
    assert!(good.contains(&name), "{good}");
    for wrong in ["../x.v", "/tmp/x.v", "a/../../x.v", ".git/config", "a//b.v", "./x.v", ""] {
        write_record(&path, &good.replacen(&name, &format!("\"{wrong}\": {{"), 1));
        let kept = folder.path().join("kept");
        let output = reproduce(&artifact, &["--rtl-out", kept.to_str().unwrap()]);
        assert_error_at(&output, DAMAGED, "rtl.json");
        assert!(!kept.exists(), "{wrong}");
    }
    fs::write(&path, good.replacen(&name, "\"other.v\": {", 1)).unwrap();
    assert_error_at(&reproduce(&artifact, &[]), DAMAGED, "rtl.json");
    fs::remove_file(&path).unwrap();
    let victim = folder.path().join("victim.json");
    fs::write(&victim, &good).unwrap();
    symlink(&victim, &path).unwrap();
    assert_error_at(&reproduce(&artifact, &[]), UNREADABLE, "rtl.json");
    fs::remove_file(&path).unwrap();
    fs::write(&path, &good).unwrap();
    // A vector that is a link.
    let results = json(&artifact.join("results.json"));
    let vector = artifact.join(results["failures"][0]["vector"].as_str().unwrap());
    fs::rename(&vector, &victim).unwrap();
    symlink(&victim, &vector).unwrap();
    assert_error_at(&reproduce(&artifact, &[]), UNREADABLE, "failures/");
}

#[test]
fn failures_are_repeated_and_are_fixed_still_red_or_different() {
    let out = TempDir::new().unwrap();
    let folder = out.path().join("run");
    // Wrong for one QP in four.
    let bad = changed_rtl(TOP, "? rq_offset_new :", "? rq_offset_new ^ {23'd0, &qp[1:0]} :");
    assert_code(
        &run([
            "run",
            "--fixes",
            "repaired",
            "--scenario",
            "default",
            "--cases",
            "80",
            "--no-shrink",
            "--no-waves",
            "--quiet",
            "--rtl",
            bad.path().to_str().unwrap(),
            "--out",
            folder.to_str().unwrap(),
        ]),
        1,
    );
    let results = json(&folder.join("results.json"));
    let totals = &results["totals"];
    let cases = totals["cases"].as_u64().unwrap();
    let failed = cases - totals["matched"].as_u64().unwrap();
    // More failures than are listed individually.
    assert!(failed > 20 && failed < cases, "{totals}");

    // A run directory may come from anyone, so it does not choose what is compiled. On the built-in
    // RTL, all would look fixed.
    let unnamed = run(["replay", folder.to_str().unwrap()]);
    assert_error_at(&unnamed, "E0211", "--recorded-rtl");
    let replay = |arguments: &[&str]| {
        let words = ["replay", folder.to_str().unwrap(), "--format", "json"];
        let output = run(words.iter().chain(arguments));
        (code(&output), of_json(&output))
    };
    let names = |report: &Value| -> Vec<String> {
        let all = report["replays"].as_array().unwrap().iter();
        all.map(|replay| replay["name"].as_str().unwrap().to_owned()).collect()
    };
    // On the RTL of the run, all failures occur again: of the vectors, and of each failed case.
    let (code_of_same, same) = replay(&["--recorded-rtl"]);
    let all = names(&same);
    assert_eq!((code_of_same, &same["still_fails"]), (1, &Value::from(all.len())), "{same}");
    let of_cases: Vec<&String> = all.iter().filter(|name| name.starts_with("thread2/")).collect();
    assert_eq!(of_cases.len() as u64, failed);
    assert_eq!(of_cases[0], results["failures"][0]["case"].as_str().unwrap());
    assert!(all.len() > of_cases.len(), "{all:?}");

    let (code_of_good, good) = replay(&["--rtl", "built-in"]);
    assert_eq!((code_of_good, &good["fixed"]), (0, &Value::from(all.len())), "{good}");
    assert_eq!(names(&good), all);

    let other = changed_rtl(TOP, "fetch_cxt_egress_ready = 1'b1", "fetch_cxt_egress_ready = 1'b0");
    let (code_of_other, different) = replay(&["--rtl", other.path().to_str().unwrap()]);
    assert_eq!((code_of_other, &different["still_fails"]), (1, &Value::from(0)), "{different}");
    assert!(different["different"].as_u64().unwrap() > 0, "{different}");

    // One line for each cause, with the number that `explain` takes.
    let shown = text(&run(["replay", folder.to_str().unwrap(), "--rtl", "built-in"]));
    assert!(shown.lines().any(|line| line.starts_with("fixed        1. mismatch-")), "{shown}");

    // Without their scenarios, the cases do not run, and that is no pass.
    let path = folder.join("results.json");
    let record = fs::read_to_string(&path).unwrap();
    let weights = format!("\"weights\":{}", results["run"]["weights"]);
    assert!(record.contains(&weights), "{record}");
    write_record(&path, &record.replacen(&weights, "\"weights\":\"0\"", 1));
    let (code_of_left, left) = replay(&["--rtl", "built-in"]);
    assert_eq!((code_of_left, &left["not_run"]), (1, &Value::from(failed)), "{left}");
    assert_eq!(left["fixed"], all.len() as u64 - failed, "{left}");
}

/// A failure without a vector is its case.
#[test]
fn a_failure_without_a_vector_is_repeated() {
    let folder = TempDir::new().unwrap();
    failing_run(folder.path(), &[]);
    let artifact = folder.path().join("run");
    let path = artifact.join("results.json");
    let results = json(&path);
    let mut record = fs::read_to_string(&path).unwrap();
    let count = record.matches("\"vector\":\"").count();
    assert!(count > 0, "{record}");
    for failure in results["failures"].as_array().unwrap() {
        let variants = failure["variants"].as_array().unwrap().iter();
        for first in std::iter::once(failure).chain(variants) {
            let vector = format!("\"vector\":{}", first["vector"]);
            record = record.replace(&vector, "\"vector\":null");
        }
    }
    write_record(&path, &record);
    let report = of_json(&reproduce(&artifact, &["--format", "json"]));
    assert_eq!(report["passed"], true, "{report}");
    let replays = report["replays"].as_array().unwrap();
    assert!(!replays.is_empty(), "{report}");
    for replay in replays {
        assert!(replay["name"].as_str().unwrap().starts_with("thread2/"), "{replay}");
    }
    // Nor can it be claimed to be fixed without running.
    let case = results["failures"][0]["case"].as_str().unwrap();
    write_record(&path, &record.replace(case, "thread2/repaired/default/999999"));
    let report = of_json(&reproduce(&artifact, &["--format", "json"]));
    assert_eq!((&report["passed"], &report["not_run"]), (&false.into(), &1.into()), "{report}");
}

#[test]
fn what_is_no_whole_run_with_failures_is_refused() {
    let folder = TempDir::new().unwrap();
    failing_run(folder.path(), &[]);
    let at = |name: &str| folder.path().join(name);
    for (more, number) in [
        (&["--trace", "x.fst"][..], "E0107"),
        (&["--fixes", "spec"], "E0107"),
        (&["--parameter", "X=1"], "E0107"),
        (&["--run", "run"], "E0107"),
        (&["vectors"], "E0108"),
        (&["--block", "qp"], "E0209"),
    ] {
        assert_error(&reproduce(&at("run"), more), number);
    }
    // A vector of another failure.
    let results = json(&at("run/results.json"));
    let vector =
        |number: usize| at("run").join(results["failures"][number]["vector"].as_str().unwrap());
    let one = fs::read_to_string(vector(0)).unwrap();
    let green = fs::read_dir("vectors/thread2").unwrap().next().unwrap().unwrap().path();
    fs::copy(green, vector(0)).unwrap();
    assert_error_at(&reproduce(&at("run"), &[]), DAMAGED, "failures/");
    let case = results["failures"][0]["case"].as_str().unwrap();
    fs::write(vector(0), one.replace(case, "thread2/repaired/default/77")).unwrap();
    assert_error_at(&reproduce(&at("run"), &[]), DAMAGED, "failures/");
    fs::write(vector(0), one).unwrap();
    // A killed run.
    fs::create_dir(at("killed")).unwrap();
    fs::write(at("killed/run.journal"), "").unwrap();
    assert_error_at(&reproduce(&at("killed"), &[]), "E0218", "resume");
    assert_eq!(code(&reproduce(&at("none"), &[])), 2);
}

/// A merge of shards is a run.
#[test]
fn failures_of_shards_are_replayed_from_their_merge() {
    let folder = TempDir::new().unwrap();
    let bad = changed_rtl(TOP, "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    for (shard, name) in [("1/2", "one"), ("2/2", "two")] {
        let words = ["run", "--cases", "3", "--fixes", "repaired", "--no-waves", "--quiet"];
        let shard = ["--rtl", bad.path().to_str().unwrap(), "--shard", shard, "--out", name];
        assert_code(&run_in(folder.path(), &[&words[..], &shard].concat()), 1);
    }
    assert_code(&run_in(folder.path(), &["merge", "one", "two", "--out", "whole"]), 1);
    assert_code(&reproduce(&folder.path().join("whole"), &[]), 0);
    let words = ["replay", "whole", "--rtl", "built-in", "--quiet"];
    assert_code(&run_in(folder.path(), &words), 0);
}
