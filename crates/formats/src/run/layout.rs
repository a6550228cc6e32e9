//! Names and formats of the files in a run directory.

use crate::record::RecordFormat;
use cosim_base::run_file::RunFolder;
use serde::Serialize;

/// Results of a complete run.
pub const RESULTS: &str = "results.json";
/// Results of a run that is running or was killed.
pub const PARTIAL: &str = "results.json.partial";
/// Times and other data of the machine.
pub const TIMING: &str = "timing.json";
pub const FAILURES: &str = RunFolder::Failures.name();
pub const SAVED: &str = RunFolder::Saved.name();
/// The format of the results. Their cases are read one by one, so their size has no limit.
pub const RESULTS_FORMAT: RecordFormat =
    RecordFormat { name: "cosim-results", version: 1, most: u64::MAX };
/// The first bytes of every `results.json`.
pub const MARK: &str = "{\n\"format\": \"cosim-results\"";
pub const JOURNAL: &str = "run.journal";
/// Test results for CI systems.
pub const JUNIT: &str = "junit.xml";
pub const HTML: &str = "report.html";
/// The summary in Markdown, for CI systems.
pub const MARKDOWN: &str = "summary.md";
/// Artifact of kind `codequality` for GitLab.
pub const CODE_QUALITY: &str = "gl-code-quality-report.json";

/// Serializes to JSON. All types used here have string keys and finite numbers, so this cannot
/// fail.
pub fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""))
}
