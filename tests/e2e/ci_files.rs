//! Files for CI systems: `junit.xml`, `summary.md` and annotations, checked with third-party tools.

use crate::common::{
    assert_code, changed_rtl, code, cosim, json, of_a_block, program, project, python, text,
    typed_in,
};
use regex::Regex;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Counts what a third-party reader finds in a file.
const COUNT: &str = "
import sys
from junitparser import JUnitXml, Failure, Error
suites = list(JUnitXml.fromfile(sys.argv[1]))
cases = [case for suite in suites for case in suite]
kinds = lambda kind: sum(isinstance(result, kind) for case in cases for result in case.result)
print(len(suites), len(cases), kinds(Failure), kinds(Error))
for case in cases:
    for result in case.result:
        print(case.classname, case.name, result.type, sep='|')
";

fn python_prints(script: &[&str]) -> String {
    let output = python().args(script).output().unwrap();
    assert!(output.status.success(), "{script:?}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Validates a `junit.xml` and returns its counts.
fn counted(folder: &Path) -> String {
    let file = folder.join("junit.xml").display().to_string();
    let schema = project().join("tests/e2e/data/junit-10.xsd").display().to_string();
    let validate = "import sys, xmlschema; xmlschema.validate(sys.argv[2], sys.argv[1])";
    python_prints(&["-c", validate, &schema, &file]);
    python_prints(&["-c", COUNT, &file])
}

fn run_into(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = cosim();
    for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    let out = folder.to_str().unwrap();
    let words = [&["run", "--quiet", "--no-waves", "--out", out], arguments].concat();
    command.args(of_a_block(words)).output().unwrap()
}

/// RTL of `thread2` that is never ready for a packet.
fn bad_rtl() -> TempDir {
    changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "fetch_cxt_egress_ready = 1'b1",
        "fetch_cxt_egress_ready = 1'b0",
    )
}

#[test]
fn a_green_run_has_a_test_case_for_each_case() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments = ["--cases", "2", "--scenario", "smoke", "--scenario", "ring"];
    assert_code(&run_into(&out, &arguments, &[]), 0);
    // Two profiles with two scenarios each.
    assert_eq!(counted(&out), "4 8 0 0\n");
    let page = fs::read_to_string(out.join("summary.md")).unwrap();
    assert!(page.starts_with("## PASS: `thread2`, seed 1\n"), "{page}");
    assert!(!out.join("gl-code-quality-report.json").exists());
}

#[test]
fn beyond_a_thousand_cases_a_suite_says_how_many() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments = ["--cases", "1003", "--packets", "1", "--scenario", "smoke", "--fixes", "spec"];
    assert_eq!(code(&run_into(&out, &arguments, &[])), 0);
    assert_eq!(counted(&out), "1 1001 0 0\n");
    let xml = fs::read_to_string(out.join("junit.xml")).unwrap();
    assert!(xml.contains("thread2/spec/smoke: 3 further cases"), "{xml}");
}

#[test]
fn a_failure_says_how_to_see_it_again_and_where_its_vector_is() {
    let (folder, rtl) = (TempDir::new().unwrap(), bad_rtl());
    let out = folder.path().join("run");
    let rtl = rtl.path().to_str().unwrap();
    let arguments =
        ["--cases", "30", "--scenario", "smoke", "--fixes", "spec", "--seed", "7", "--rtl", rtl];
    assert_code(&run_into(&out, &arguments, &[]), 1);
    let counted = counted(&out);
    let lines: Vec<&str> = counted.lines().collect();
    // Twenty of a signature are listed; the others share a test case.
    assert_eq!(lines[0], "1 21 21 0", "{counted}");
    assert_eq!(lines[1], "thread2.spec.smoke|thread2/spec/smoke/0|mismatch");
    let xml = fs::read_to_string(out.join("junit.xml")).unwrap();
    let build = json(&out.join("results.json"))["run"]["build"].as_str().unwrap().to_owned();
    let again = format!(
        "reproduce: cosim run --seed 7 --case thread2/spec/smoke/0 --rtl {rtl} --build {build}"
    );
    assert!(xml.contains(&again), "{again}\n{xml}");
    let attached = xml.split("[[ATTACHMENT|").nth(1).unwrap().split("]]").next().unwrap();
    assert!(out.join(attached).exists(), "{attached}");
    let page = fs::read_to_string(out.join("summary.md")).unwrap();
    assert!(page.starts_with("## FAIL: `thread2`, seed 7\n"), "{page}");
    assert!(page.contains("- `the RTL violates the specification"), "{page}");
}

#[test]
fn github_gets_annotations_and_a_page() {
    let (folder, rtl) = (TempDir::new().unwrap(), bad_rtl());
    let page = folder.path().join("page.md");
    fs::write(&page, "before\n").unwrap();
    let environment = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", page.to_str().unwrap())];
    let rtl = rtl.path().to_str().unwrap();
    let arguments = ["--cases", "3", "--scenario", "smoke", "--fixes", "spec", "--rtl", rtl];
    let arguments = [&arguments[..], &["--format", "json"]].concat();
    let output = run_into(&folder.path().join("run"), &arguments, &environment);
    assert_eq!(code(&output), 1);
    // Standard output is still JSON.
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["passed"], false);
    let printed = String::from_utf8(output.stderr).unwrap();
    let command = printed.lines().find(|line| line.starts_with("::error ")).unwrap();
    assert!(
        command.contains("title=cosim thread2%3A mismatch-fetch_cxt_egress_ready"),
        "{printed}"
    );
    assert!(command.contains("%0Athe RTL violates the specification"), "{printed}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("before\n## FAIL: `thread2`, seed 1\n"), "{page}");
    // Its commands name the program as the job called it, which may be in no PATH.
    let commands =
        page.lines().filter(|line| line.contains("reproduce: ") || line.starts_with("All of them"));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 2, "{page}");
    for line in commands {
        let command = line.rsplit_once("`").unwrap().0.rsplit_once('`').unwrap().1;
        let output = typed_in(folder.path(), command);
        assert_eq!(code(&output), 1, "{command}: {}", text(&output));
    }
}

/// The snippet for editors finds the failures of its own command, and errors of the compilation.
#[test]
fn editors_find_the_lines_of_failures() {
    let tasks = json(&project().join("docs/how-to/editor/tasks.json"));
    let patterns = |task: usize| -> Vec<(Regex, Value)> {
        let matchers = &tasks["tasks"][task]["problemMatcher"];
        let one = std::slice::from_ref(matchers);
        let matchers = matchers.as_array().map_or(one, Vec::as_slice);
        let pattern = |matcher: &Value| {
            let pattern = matcher["pattern"].clone();
            (Regex::new(pattern["regexp"].as_str().unwrap()).unwrap(), pattern)
        };
        matchers.iter().map(pattern).collect()
    };
    // Per task: file, line, column and severity of what its patterns find.
    let found = |output: &Output| -> Vec<Vec<(String, u64, u64, String)>> {
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let places = |task| {
            let patterns = patterns(task);
            let of_line = |line: &str| {
                patterns.iter().find_map(|(regex, pattern)| {
                    let groups = regex.captures(line)?;
                    let text = |name: &str| {
                        let group = pattern[name].as_u64().and_then(|at| groups.get(at as usize));
                        group.map_or("", |group| group.as_str()).to_owned()
                    };
                    let number = |name: &str| text(name).parse().unwrap();
                    Some((text("file"), number("line"), number("column"), text("severity")))
                })
            };
            printed.lines().filter_map(of_line).collect()
        };
        [0, 1].map(places).to_vec()
    };
    let folder = TempDir::new().unwrap();
    let typed = |rtl: &str, line: &str| {
        let rtl_folder = folder.path().join("rtl");
        let _ = fs::remove_dir_all(&rtl_folder);
        fs::create_dir(&rtl_folder).unwrap();
        let name = "QpStateCtrl.sv";
        let text = fs::read_to_string(project().join("rtl/qp").join(name)).unwrap();
        assert!(text.contains(rtl));
        fs::write(rtl_folder.join(name), text.replace(rtl, line)).unwrap();
        let command = tasks["tasks"][0]["command"].as_str().unwrap();
        let program = program().get_program().to_string_lossy().into_owned();
        let command = command.replacen("cosim", &program, 1);
        let command = format!(
            "{command} --block qp --cases 12 --max-failures 9 --no-waves --quiet --out run"
        );
        let _ = fs::remove_dir_all(folder.path().join("run"));
        typed_in(folder.path(), &command)
    };
    let right = "service == qp_pkg::SERVICE_RD\n               || service == qp_pkg::SERVICE_XRC;";
    let output = typed(right, "service == qp_pkg::SERVICE_RD;");
    assert_code(&output, 1);
    let found_lines = found(&output);
    let file = "rtl/QpStateCtrl.sv";
    let results = json(&folder.path().join("run/results.json"));
    let failures = results["failures"].as_array().unwrap();
    let suspects = failures.iter().filter_map(|group| group["suspects"].get(0));
    let suspects: Vec<(&Value, &Value)> =
        suspects.map(|suspect| (&suspect["line"], &suspect["column"])).collect();
    for lines in &found_lines {
        assert!((1..=failures.len()).contains(&lines.len()), "{lines:?}");
        let (name, line, column, level) = &lines[0];
        assert_eq!((&**name, &**level), (file, "error"), "{lines:?}");
        assert!(suspects.contains(&(&(*line).into(), &(*column).into())), "{lines:?}");
    }
    // Each line ends with a command that explains this failure.
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let command = printed.lines().find(|line| line.starts_with(file)).unwrap();
    let command = command.rsplit("; ").next().unwrap();
    let explained = typed_in(folder.path(), command);
    assert_eq!(code(&explained), 1, "{command}: {}", text(&explained));
    let output = typed("is_reliable = service", "is_reliable = = service");
    assert_code(&output, 2);
    let source = fs::read_to_string(folder.path().join(file)).unwrap();
    let bug = source.lines().position(|line| line.contains("= = service")).unwrap() as u64 + 1;
    for lines in found(&output) {
        let (name, line, ..) = &lines[0];
        assert_eq!((&**name, *line), (file, bug));
    }
}

#[test]
fn gitlab_gets_a_code_quality_report() {
    let (folder, rtl) = (TempDir::new().unwrap(), bad_rtl());
    let out = folder.path().join("run");
    let rtl = rtl.path().to_str().unwrap();
    let arguments = ["--cases", "3", "--scenario", "smoke", "--fixes", "spec", "--rtl", rtl];
    assert_eq!(code(&run_into(&out, &arguments, &[("GITLAB_CI", "true")])), 1);
    let report = json(&out.join("gl-code-quality-report.json"));
    let [issue] = &report.as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(issue["severity"], "blocker");
    assert_eq!(issue["fingerprint"].as_str().unwrap().len(), 32);
    let path = issue["location"]["path"].as_str().unwrap();
    assert!(Path::new(path).starts_with(rtl), "{path}");
    // Replacing a run also removes the report.
    let again = ["--force", "--cases", "1", "--scenario", "smoke"];
    assert_eq!(code(&run_into(&out, &again, &[])), 0);
    assert!(!out.join("gl-code-quality-report.json").exists());
}

/// The schemas are those bundled with the checker.
#[test]
fn the_example_workflows_follow_their_schemas() {
    let check = |schema: &str, file: &str| {
        let file = project().join("docs/how-to/ci").join(file).display().to_string();
        python_prints(&["-m", "check_jsonschema", "--builtin-schema", schema, &file]);
    };
    check("vendor.github-workflows", "github.yml");
    check("vendor.gitlab-ci", "gitlab-ci.yml");
    check("vendor.github-workflows", "../scale-out/github.yml");
    check("vendor.gitlab-ci", "../scale-out/gitlab-ci.yml");
}

/// The schemas are those of the Kubernetes API.
#[test]
fn the_example_job_follows_the_schema_of_kubernetes() {
    let file = project().join("docs/how-to/scale-out/kubernetes.yaml");
    let validate = |file: &Path| {
        let words = ["-m", "kubernetes_validate", "--strict"];
        python().args(words).arg(file).output().unwrap()
    };
    let output = validate(&file);
    assert!(output.status.success(), "{}", text(&output));
    // The validator checks types and names.
    let folder = TempDir::new().unwrap();
    let wrong = folder.path().join("wrong.yaml");
    let right = fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("completionMode: Indexed", "completionMode: 3"),
        ("backoffLimitPerIndex", "backoffLimitPerPod"),
    ] {
        fs::write(&wrong, right.replace(from, to)).unwrap();
        let output = validate(&wrong);
        assert!(
            !output.status.success() && text(&output).contains("did not validate"),
            "{}",
            text(&output)
        );
    }
}
