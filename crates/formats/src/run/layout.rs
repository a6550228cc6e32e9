//! The names of the files of a run directory, and how they begin.

use serde::Serialize;

/// The results of a run that has ended.
pub const RESULTS: &str = "results.json";
/// The results of a run that goes on, or was killed.
pub const PARTIAL: &str = "results.json.partial";
/// Times.
pub const TIMING: &str = "timing.json";
/// The folder of failures.
pub const FAILURES: &str = "failures";
/// The folder of saved vectors.
pub const SAVED: &str = "saved";
/// What `format` says in them.
pub const RESULTS_FORMAT: &str = "cosim-results";
/// How every `results.json` begins.
pub const MARK: &str = "{\n\"format\": \"cosim-results\"";
/// The version of `results.json`.
pub const RESULTS_VERSION: u64 = 6;
/// The oldest readable version. Version 4 has no checksum, and version 5 no `comparison`.
pub const RESULTS_OLDEST: u64 = 4;
/// The file in a run directory.
pub const JOURNAL: &str = "run.journal";
/// Test results for CI systems.
pub const JUNIT: &str = "junit.xml";
/// The page for people.
pub const HTML: &str = "report.html";
/// The summary for a page of a CI system.
pub const MARKDOWN: &str = "summary.md";
/// What GitLab takes as an artifact of kind `codequality`.
pub const CODE_QUALITY: &str = "gl-code-quality-report.json";

/// JSON text; what is written here has string keys and finite numbers, so it always has one.
pub fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""))
}
