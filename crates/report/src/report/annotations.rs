//! Annotations for CI systems: messages and a summary page on GitHub, a code quality report on
//! GitLab.

use super::{Results, page_of_run, reproduce_all};
use cosim_base::error::Error;
use cosim_base::files::write_inside;
use cosim_base::program;
use cosim_base::text;
use cosim_block::explanation::Suspect;
use cosim_formats::run::{CODE_QUALITY, Group, Header, MARKDOWN, causes};
use cosim_harness::harness::Blame;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of annotations that GitHub shows for a step.
const GITHUB_SHOWS: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ci {
    /// GitHub Actions, with the file for the step's summary, if there is one.
    GitHub(Option<PathBuf>),
    GitLab,
}

impl Ci {
    /// Detects the CI system from environment variables.
    pub fn detect() -> Option<Self> {
        Self::from_environment(|name| env::var_os(name))
    }

    fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let is_true = |name| variable(name).is_some_and(|value| value == "true");
        match () {
            () if is_true("GITHUB_ACTIONS") => {
                let summary = variable("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
                Some(Self::GitHub(summary.map(PathBuf::from)))
            }
            () if is_true("GITLAB_CI") => Some(Self::GitLab),
            () => None,
        }
    }
}

/// Reports a run to the CI system. Returns the lines to print on the standard error.
///
/// # Errors
/// If a file for the CI system cannot be written.
pub fn annotate(ci: &Ci, folder: &Path) -> Result<String, Error> {
    let results = Results::read(folder, |_, _| ())?;
    match ci {
        Ci::GitHub(summary) => {
            if let Some(path) = summary {
                let file = OpenOptions::new().append(true).create(true).open(path);
                let page =
                    page_of_run(&results, &program::called(), reproduce_all(folder).as_deref());
                file.and_then(|mut file| writeln!(file, "{page}")).map_err(Error::write(path))?;
            }
            Ok(commands(&results, folder))
        }
        Ci::GitLab => {
            let issues: Vec<Value> =
                results.failures.iter().map(|group| issue(&results, group)).collect();
            let text = Value::from(issues).to_string() + "\n";
            write_inside(folder, CODE_QUALITY, text.as_bytes())?;
            Ok(String::new())
        }
    }
}

/// Workflow commands for GitHub's runner, one per line.
fn commands(results: &Results, folder: &Path) -> String {
    let mut commands = String::new();
    for group in results.failures.iter().take(GITHUB_SHOWS) {
        let title = format!("cosim {}: {}", results.run.block, group.signature);
        let mut message = describe(group);
        if let Some(vector) = &group.first.vector {
            let _ = write!(message, "\nvector: {}", text::path(&folder.join(vector)));
        }
        let file =
            location(results, &group.suspects).map_or_else(String::new, |(path, line, column)| {
                format!("file={},line={line},col={column},", text::github_property(path))
            });
        let title = text::github_property(&title);
        let level = if group.is_waived() { "warning" } else { "error" };
        let _ = writeln!(commands, "::{level} {file}title={title}::{}", text::github(&message));
    }
    if let Some(reason) = results.no_pass() {
        let block = text::github_property(&results.run.block);
        let _ = writeln!(commands, "::error title=cosim {block}::{reason}");
    }
    commands
}

/// The failures of a run, one per line, in the form that compilers use and editors read:
/// `FILE:LINE:COLUMN: error: MESSAGE`. A failure is a probable cause, as in the summary; `explain`
/// returns the command for the one with this number.
///
/// # Errors
/// If the results cannot be read.
pub fn problems(
    folder: &Path,
    explain: &dyn Fn(usize, &Header) -> String,
) -> Result<String, Error> {
    let results = Results::read(folder, |_, _| ())?;
    let mut lines = String::new();
    for (number, cause) in (1..).zip(causes(&results.failures)) {
        let group = cause.main;
        let level = if group.is_waived() { "warning" } else { "error" };
        let own = text::path(&folder.join(MARKDOWN));
        let (file, line, column) = location(&results, cause.suspects()).unwrap_or((&own, 1, 1));
        let blame = group.first.judgement.as_ref().map(|judgement| judgement.badge());
        let blame = blame.map_or_else(String::new, |badge| format!("; blame: {badge}"));
        let command = explain(number, &results.run);
        let problem = format!(
            "{file}:{line}:{column}: {level}: {}{blame}; cases: {}; {command}",
            group.first.verdict,
            cause.count(),
        );
        let _ = writeln!(lines, "{}", text::line(&problem));
    }
    Ok(lines)
}

/// An entry of GitLab's code quality report.
fn issue(results: &Results, group: &Group) -> Value {
    let what = format!("{}/{}", results.run.block, group.signature);
    let fingerprint: String =
        Sha256::digest(&what).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let (path, line, _) = location(results, &group.suspects).unwrap_or((MARKDOWN, 1, 1));
    json!({
        "description": describe(group),
        "check_name": group.signature.to_string(),
        "fingerprint": fingerprint,
        "severity": if group.is_waived() { "info" } else { "blocker" },
        "location": { "path": path, "lines": { "begin": line } },
    })
}

fn describe(group: &Group) -> String {
    let judgement = group.first.judgement.iter().flat_map(Blame::lines);
    let lines = std::iter::once(format!("{} ({} cases)", group.first.verdict, group.count));
    let waived = group.waived.iter().map(ToString::to_string);
    let suspect = group.suspects.first().map(|suspect| format!("suspect: {suspect}"));
    let lines: Vec<String> = lines.chain(waived).chain(judgement).chain(suspect).collect();
    text::lines(&lines.join("\n")).into_owned()
}

/// File, line and column of an annotation: the most suspicious line, or else the start of the first
/// file of the user RTL.
fn location<'a>(results: &'a Results, suspects: &'a [Suspect]) -> Option<(&'a str, u32, u32)> {
    if let Some(suspect) = suspects.first() {
        return Some((&suspect.file, suspect.line, suspect.column));
    }
    let given = results.run.rtl_files.iter().find(|file| !file.built_in);
    given.or(results.run.rtl_files.first()).map(|file| (file.path.as_str(), 1, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ci_of(variables: &[(&str, &str)]) -> Option<Ci> {
        Ci::from_environment(|name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_names_the_ci_system() {
        assert_eq!(ci_of(&[]), None);
        assert_eq!(ci_of(&[("GITHUB_ACTIONS", "false"), ("GITLAB_CI", "")]), None);
        assert_eq!(ci_of(&[("GITLAB_CI", "true")]), Some(Ci::GitLab));
        assert_eq!(ci_of(&[("GITHUB_ACTIONS", "true")]), Some(Ci::GitHub(None)));
        let both = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "/s")];
        assert_eq!(ci_of(&both), Some(Ci::GitHub(Some("/s".into()))));
    }
}
