//! Names and formats of the files in a run directory.

use serde::Serialize;

/// Results of a complete run.
pub const RESULTS: &str = "results.json";
/// Results of a run that is running or was killed.
pub const PARTIAL: &str = "results.json.partial";
/// Times and other data of the machine.
pub const TIMING: &str = "timing.json";
/// Folder of failures.
pub const FAILURES: &str = "failures";
/// Folder of saved vectors.
pub const SAVED: &str = "saved";
/// The value of `format` in the results.
pub const RESULTS_FORMAT: &str = "cosim-results";
/// The first bytes of every `results.json`.
pub const MARK: &str = "{\n\"format\": \"cosim-results\"";
/// The version of `results.json`.
pub const RESULTS_VERSION: u64 = 6;
/// The oldest readable version. Version 4 has no checksum, and version 5 no `comparison`.
pub const RESULTS_OLDEST: u64 = 4;
/// The journal of an unfinished run.
pub const JOURNAL: &str = "run.journal";
/// Test results for CI systems.
pub const JUNIT: &str = "junit.xml";
/// The HTML report.
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
