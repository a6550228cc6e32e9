//! `cosim reproduce`: the failures of a run from its run directory alone, which may come from
//! anyone.

use crate::common::{
    assert_error, assert_error_at, changed_rtl, code, json, run, run_in, text, typed_in,
    write_record,
};
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
    let output = run_in(folder, &[&words[..], &place, more].concat());
    assert_eq!(code(&output), 1, "{}", text(&output));
    fs::remove_dir_all(folder.join("rtl")).unwrap();
}

fn reproduce(folder: &Path, more: &[&str]) -> Output {
    let words = ["reproduce", folder.to_str().unwrap()];
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
    assert_eq!(code(&typed_in(here.path(), &shown)), 0, "{shown}");
    let artifact = there.path().join("artifact");
    fs::rename(here.path().join("run"), &artifact).unwrap();
    let output = reproduce(&artifact, &[]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let results = json(&artifact.join("results.json"));
    // The same RTL, under another path.
    let rtl = results["run"]["rtl"].as_str().unwrap();
    let printed = text(&output);
    assert!(printed.contains(&format!("RTL {rtl},")) && !printed.contains("warning"), "{printed}");
    // Each vector that the results name has failed as recorded.
    let vectors = json_lines(&artifact);
    assert!(vectors.len() >= results["failures"].as_array().unwrap().len());
    assert!(vectors.iter().all(|ok| *ok), "{printed}");
    // The RTL can be kept, and the command that is printed explains the first failure on it.
    let kept = there.path().join("kept/rtl");
    let output = reproduce(&artifact, &["-o", kept.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let printed = text(&output);
    let next = printed.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let explained = typed_in(there.path(), next);
    assert_eq!(code(&explained), 1, "{next}: {}", text(&explained));
    // It is not written over, and a repaired copy matches.
    assert_eq!(code(&reproduce(&artifact, &["-o", kept.to_str().unwrap()])), 2);
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
        assert_eq!(code(&output), 1, "{}", text(&output));
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
        assert!(printed.contains("warning: `reproduce` will need the RTL"), "{name}: {printed}");
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

/// Whether each replayed vector was as expected.
fn json_lines(artifact: &Path) -> Vec<bool> {
    let output = reproduce(artifact, &["--format", "json"]);
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ok = |report: &serde_json::Value| report["ok"].as_bool().unwrap();
    reports.as_array().unwrap().iter().map(ok).collect()
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
        let output = reproduce(&artifact, &["-o", kept.to_str().unwrap()]);
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
