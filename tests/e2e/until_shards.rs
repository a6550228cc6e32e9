//! `cosim run --until-coverage` in shards: is it the run of one machine, whatever happens to them; and is anything else refused?

use crate::common::{
    assert_error_at, code, files, json, patched_rtl, program, project, run, text, wait_until,
    write_record,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--quiet", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

/// Starts shard I of 3.
fn start(out: &Path, index: usize, arguments: &[&str]) -> Child {
    let mut command = program();
    command.args(["run", "--quiet", "--threads", "1", "--out"]).arg(out);
    command.args(["--shard", &format!("{index}/3")]).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn merge(shards: &[PathBuf], out: &Path, more: &[&str]) -> Output {
    let shards = shards.iter().map(|shard| shard.to_str().unwrap());
    let out = ["--out", out.to_str().unwrap()];
    run(["merge", "--quiet"].into_iter().chain(shards).chain(out).chain(more.iter().copied()))
}

#[track_caller]
fn assert_same(whole: &Path, merged: &Path) {
    let vectors = |folder: &Path| -> Vec<PathBuf> {
        let vectors = files(&folder.join("failures"), "json").into_iter();
        vectors.map(|path| path.strip_prefix(folder).unwrap().to_owned()).collect()
    };
    assert_eq!(vectors(whole), vectors(merged));
    let names = ["results.json", "coverage.json", "junit.xml", "summary.md"].map(PathBuf::from);
    for name in names.into_iter().chain(vectors(whole)) {
        let [left, right] = [whole, merged].map(|folder| fs::read(folder.join(&name)).unwrap());
        assert!(left == right, "{} is another one in {}", name.display(), merged.display());
    }
}

/// All at the same time; one of them is killed in the midst of it and gone on with when the others have ended.
#[test]
fn shards_of_which_one_is_killed_make_the_run_of_one_machine() {
    let folder = TempDir::new().unwrap();
    let until = ["--block", "qp", "--until-coverage", "100", "--round", "48"];
    let [whole, merged, exchange] =
        ["whole", "merged", "exchange"].map(|name| folder.path().join(name));
    assert_eq!(code(&run_into(&whole, &until)), 0);
    let arguments = [&until[..], &["--exchange", exchange.to_str().unwrap()]].concat();
    let shards = [1, 2, 3].map(|index| folder.path().join(format!("shard-{index}")));
    let [mut first, mut killed, mut last] =
        [1, 2, 3].map(|index| start(&shards[index - 1], index, &arguments));
    wait_until(&mut killed, || exchange.join("qp/round-000003").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!([&mut first, &mut last].map(|child| child.wait().unwrap().code()), [Some(0); 2]);
    let early = merge(&shards, &merged, &[]);
    assert_error_at(&early, "E0223", "shard-2: ");
    let output = run(["run", "--quiet", "--resume", shards[1].to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let output = merge(&shards, &merged, &[]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert_same(&whole, &merged);
    // Each of them has it all.
    assert_eq!(
        json(&shards[1].join("results.json"))["cases"],
        json(&whole.join("results.json"))["cases"]
    );

    let refused = folder.path().join("refused");
    let refuse = |shards: &[PathBuf], more: &[&str], expected: &str| {
        let output = merge(shards, &refused, more);
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(text(&output).contains(expected), "{expected}: {}", text(&output));
        assert!(!refused.exists());
    };
    refuse(&shards[..2], &[], "shards of qp are missing: 3/3");
    refuse(&shards, &["--part", "1/3"], "of which each shard has all: leave --part out");
    let coverage = shards[2].join("coverage.json");
    let text_of = fs::read_to_string(&coverage).unwrap();
    let (from, to) = text_of.split_once("\"cycles\":").expect("cycles");
    let cut = to.find(|c: char| !c.is_ascii_digit() && c != ' ').unwrap();
    write_record(&coverage, &format!("{from}\"cycles\":7{}", &to[cut..]));
    refuse(&shards, &[], "says something else of what was covered");
    let results = shards[1].join("results.json");
    let text_of = fs::read_to_string(&results).unwrap();
    let (from, to) = text_of.split_once("\"packets\":[").expect("packets");
    write_record(&results, &format!("{from}\"packets\":[9{to}"));
    refuse(&shards, &[], "shard-2: says something else of qp/");
}

/// Failures, and a limit of them: both are the same wherever the cases were run. The shards come one after the other, as where
/// there is no room for all at once.
#[test]
#[ignore = "slow: shards of a red run, one after the other"]
fn shards_of_a_red_run_end_at_the_same_failure() {
    let bad = patched_rtl(&project().join("tests/bad_rtl/qp/24-notification-survives-rts.patch"));
    let rtl = bad.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let [whole, merged, exchange] =
        ["whole", "merged", "exchange"].map(|name| folder.path().join(name));
    let arguments = ["--block", "qp", "--rtl", rtl.to_str().unwrap(), "--no-waves"];
    let until = ["--until-coverage", "100", "--cases", "40", "--max-failures", "5"];
    let arguments = [&arguments[..], &until].concat();
    assert_eq!(code(&run_into(&whole, &arguments)), 1);
    assert_eq!(json(&whole.join("results.json"))["ended"], "max-failures");
    let arguments = [&arguments[..], &["--exchange", exchange.to_str().unwrap()]].concat();
    let shards = [2, 1].map(|index| {
        let out = folder.path().join(format!("shard-{index}"));
        let shard = format!("{index}/2");
        let output = run_into(&out, &[&arguments[..], &["--shard", &shard]].concat());
        assert_eq!(code(&output), 1, "{}", text(&output));
        out
    });
    assert_eq!(code(&merge(&shards, &merged, &[])), 1);
    assert_same(&whole, &merged);
}

#[test]
fn what_shards_cannot_do_together_is_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let [out, exchange] = ["out", "exchange"].map(|name| folder.path().join(name));
    let given = exchange.to_str().unwrap();
    let shard = ["--block", "qp", "--until-coverage", "50", "--cases", "1", "--shard", "1/2"];
    for (more, expected) in [
        (&[][..], "which cases come next depends on what all before them hit"),
        (&["--exchange", given, "--time", "1h"], "each shard would end it at another case"),
    ] {
        let output = run_into(&out, &[&shard[..], more].concat());
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(text(&output).contains(expected), "{}", text(&output));
    }
    let alone = run_into(&out, &["--until-coverage", "50", "--exchange", given]);
    assert_eq!(code(&alone), 2, "{}", text(&alone));
    assert!(!exchange.exists());
    // A folder with what another run has covered.
    let first = folder.path().join("first");
    let output = run_into(&first, &[&shard[..], &["--exchange", given]].concat());
    assert!([0, 1].contains(&code(&output)), "{}", text(&output));
    for (option, expected) in [
        (["--seed", "2"], "belongs to another run: its seed is 1, here it is 2"),
        (["--round", "8"], "its round is null, here it is 8"),
        (["--max-failures", "8"], "its max_failures is null, here it is 8"),
    ] {
        let output = run_into(&out, &[&shard[..], &["--exchange", given], &option].concat());
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(text(&output).contains(expected), "{}", text(&output));
    }
    assert!(!out.exists());
}
