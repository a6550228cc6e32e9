//! Files for CI systems: `junit.xml`, `summary.md` and annotations, checked with third-party tools.

use crate::common::{
    Place, assert_code, assert_contains, json, program, project, python, source, text, typed_in,
};
use regex::Regex;
use serde_json::Value;
use std::process::Output;

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

#[track_caller]
pub fn python_prints(words: &[&str]) -> String {
    let output = python().args(words).output().unwrap();
    assert_code(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

/// Validates the `junit.xml` of a run and returns its counts.
fn counted(place: &Place, run: &str) -> String {
    let file = place.path(run).join("junit.xml").display().to_string();
    let schema = project().join("tests/e2e/data/junit-10.xsd").display().to_string();
    let validate = "import sys, xmlschema; xmlschema.validate(sys.argv[2], sys.argv[1])";
    python_prints(&["-c", validate, &schema, &file]);
    python_prints(&["-c", COUNT, &file])
}

/// Variables of a run outside of CI.
const NO_CI: &str = "GITHUB_ACTIONS= GITLAB_CI=";

const RUN: &str = "run --quiet --no-waves --scenario smoke";

#[test]
fn each_case_of_a_green_run_is_a_test_case_up_to_a_thousand() {
    let place = Place::new();
    place.exits(0, &format!("{NO_CI} {RUN} --scenario ring --cases 2 --out few"));
    // Two profiles with two scenarios each.
    assert_eq!(counted(&place, "few"), "4 8 0 0\n");
    let page = place.text("few/summary.md");
    assert!(page.starts_with("## PASS: `thread2`, seed 1\n"), "{page}");
    place.exits(0, &format!("{NO_CI} {RUN} --fixes spec --cases 1003 --packets 1 --out many"));
    assert_eq!(counted(&place, "many"), "1 1001 0 0\n");
    let further = "thread2/spec/smoke: 3 further cases";
    assert_contains(&place.text("many/junit.xml"), &[further]);
}

#[test]
fn a_failure_says_how_to_see_it_again_and_gitlab_gets_a_code_quality_report() {
    let place = Place::never_ready();
    let red = "--cases 30 --fixes spec --seed 7 --rtl rtl --out run";
    place.exits(1, &format!("{NO_CI} GITLAB_CI=true {RUN} {red}"));
    let counted = counted(&place, "run");
    let lines: Vec<&str> = counted.lines().collect();
    // Twenty of a signature are listed; the others share a test case.
    assert_eq!(lines[0], "1 21 21 0", "{counted}");
    assert_eq!(lines[1], "thread2.spec.smoke|thread2/spec/smoke/0|mismatch");
    let xml = place.text("run/junit.xml");
    let build = place.results("run")["run"]["build"].as_str().unwrap().to_owned();
    let again = "reproduce: cosim run --seed 7 --case thread2/spec/smoke/0 --rtl rtl --build";
    assert_contains(&xml, &[&format!("{again} {build}")]);
    let attached = xml.split("[[ATTACHMENT|").nth(1).unwrap().split("]]").next().unwrap();
    assert!(place.path("run").join(attached).exists(), "{attached}");
    let page = place.text("run/summary.md");
    assert!(page.starts_with("## FAIL: `thread2`, seed 7\n"), "{page}");
    assert_contains(&page, &["- `the RTL violates the specification"]);
    let report = place.json("run/gl-code-quality-report.json");
    let [issue] = &report.as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(issue["severity"], "blocker");
    assert_eq!(issue["fingerprint"].as_str().unwrap().len(), 32);
    let path = issue["location"]["path"].as_str().unwrap();
    assert!(path.starts_with("rtl/"), "{path}");
    // Replacing a run also removes the report.
    place.exits(0, &format!("{NO_CI} {RUN} --cases 1 --out run --force"));
    assert!(!place.has_file("run/gl-code-quality-report.json"));
}

#[test]
fn github_gets_annotations_and_a_page() {
    let place = Place::never_ready();
    place.write("page.md", "before\n");
    let github = "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=page.md";
    let red = "--cases 3 --fixes spec --rtl rtl --out run --format json";
    let output = place.run(&format!("{github} {RUN} {red}"));
    assert_code(&output, 1);
    // Standard output is still JSON.
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["passed"], false);
    let printed = String::from_utf8(output.stderr).unwrap();
    let command = printed.lines().find(|line| line.starts_with("::error ")).unwrap();
    let title = "title=cosim thread2%3A mismatch-fetch_cxt_egress_ready";
    assert_contains(command, &[title, "%0Athe RTL violates the specification"]);
    let page = place.text("page.md");
    assert!(page.starts_with("before\n## FAIL: `thread2`, seed 1\n"), "{page}");
    // Its commands name the program as the job called it, which may be in no PATH.
    let is_command = |line: &&str| line.contains("reproduce: ") || line.starts_with("All of them");
    let commands: Vec<&str> = page.lines().filter(is_command).collect();
    assert!(commands.len() >= 2, "{page}");
    for line in commands {
        let command = line.rsplit('`').nth(1).unwrap();
        place.typed(1, command);
    }
}

/// The snippet for editors finds the failures of its own command, and errors of the compilation.
#[test]
fn editors_find_the_lines_of_failures() {
    let tasks = json("docs/how-to/editor/tasks.json");
    // Per task: file, line, column and severity of what its patterns find.
    let found = |output: &Output| -> Vec<Vec<[String; 4]>> {
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let of_task = |task: &Value| {
            let one = &task["problemMatcher"];
            let matchers = one.as_array().map_or(std::slice::from_ref(one), Vec::as_slice);
            let of_line = |line: &str| {
                matchers.iter().find_map(|matcher| {
                    let pattern = &matcher["pattern"];
                    let regex = Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
                    let groups = regex.captures(line)?;
                    Some(["file", "line", "column", "severity"].map(|name| {
                        let group = pattern[name].as_u64().and_then(|at| groups.get(at as usize));
                        group.map_or("", |group| group.as_str()).to_owned()
                    }))
                })
            };
            printed.lines().filter_map(of_line).collect()
        };
        tasks["tasks"].as_array().unwrap().iter().map(of_task).collect()
    };
    let (place, file) = (Place::new(), "rtl/QpStateCtrl.sv");
    let source = source("rtl/qp/QpStateCtrl.sv");
    let typed = |right: &str, wrong: &str| {
        place.write(file, &source);
        place.edit(file, right, wrong);
        let program = program().get_program().to_string_lossy().into_owned();
        let command = tasks["tasks"][0]["command"].as_str().unwrap();
        let command = command.replacen("cosim", &program, 1);
        let few = "--block qp --cases 12 --max-failures 9 --no-waves --quiet --force --out run";
        typed_in(&place.path(""), &format!("{command} {few}"))
    };
    let right = "service == qp_pkg::SERVICE_RD\n               || service == qp_pkg::SERVICE_XRC;";
    let output = typed(right, "service == qp_pkg::SERVICE_RD;");
    assert_code(&output, 1);
    let results = place.results("run");
    let failures = results["failures"].as_array().unwrap();
    let suspects = failures.iter().filter_map(|group| group["suspects"].get(0));
    let suspects: Vec<[String; 2]> =
        suspects.map(|suspect| ["line", "column"].map(|name| suspect[name].to_string())).collect();
    for lines in found(&output) {
        assert!((1..=failures.len()).contains(&lines.len()), "{lines:?}");
        let [name, line, column, level] = lines[0].clone();
        assert_eq!((&*name, &*level), (file, "error"), "{lines:?}");
        assert!(suspects.contains(&[line, column]), "{lines:?}");
    }
    // Each line ends with a command that explains this failure.
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let command = printed.lines().find(|line| line.starts_with(file)).unwrap();
    place.typed(1, command.rsplit("; ").next().unwrap());
    let output = typed("is_reliable = service", "is_reliable = = service");
    assert_code(&output, 2);
    let source = place.text(file);
    let bug = source.lines().position(|line| line.contains("= = service")).unwrap() + 1;
    for lines in found(&output) {
        assert_eq!(lines[0][..2], [file.to_owned(), bug.to_string()]);
    }
}

/// The schemas are those bundled with the checkers.
#[test]
fn the_example_workflows_and_jobs_follow_their_schemas() {
    for (schema, file) in [
        ("vendor.github-workflows", "ci/github.yml"),
        ("vendor.gitlab-ci", "ci/gitlab-ci.yml"),
        ("vendor.github-workflows", "scale-out/github.yml"),
        ("vendor.gitlab-ci", "scale-out/gitlab-ci.yml"),
    ] {
        let file = project().join("docs/how-to").join(file).display().to_string();
        python_prints(&["-m", "check_jsonschema", "--builtin-schema", schema, &file]);
    }
    let job = source("docs/how-to/scale-out/kubernetes.yaml");
    let place = Place::new();
    // The validator checks types and names.
    for (from, to, is_valid) in [
        ("", "", true),
        ("completionMode: Indexed", "completionMode: 3", false),
        ("backoffLimitPerIndex", "backoffLimitPerPod", false),
    ] {
        place.write("job.yaml", &job.replace(from, to));
        let mut validate = python();
        validate.args(["-m", "kubernetes_validate", "--strict"]).arg(place.path("job.yaml"));
        let output = validate.output().unwrap();
        assert_eq!(output.status.success(), is_valid, "{to}: {}", text(&output));
        assert!(is_valid || text(&output).contains("did not validate"), "{}", text(&output));
    }
}
