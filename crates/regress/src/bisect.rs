//! Finds the first commit at which RTL fails.
//!
//! git chooses each commit as `git bisect` does: the one whose result says most about the others.
//! Commits with the same RTL have the same result. The search depends on the history and on the
//! results alone, so a repeated search takes the same steps.

use crate::revision::{Named, git};
use cosim_base::error::{Error, codes};
use cosim_base::text;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the RTL of a commit does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitResult {
    /// It passes.
    Passes,
    /// It fails, with the verdict.
    Fails(String),
    /// It cannot be tested, for example because it does not compile.
    Unusable(String),
}

/// A history of RTL, from a commit at which it passes to one at which it fails.
#[derive(Debug)]
pub struct History {
    good: String,
    bad: String,
    /// The folder or file, from the root of the repository.
    path: String,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// Its date, such as `2026-11-26`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bisection {
    /// The first commit that fails. With more than one, it is one of them, and those after the
    /// first cannot be tested.
    pub first: Vec<Commit>,
    /// The verdict at the first failing commit.
    pub verdict: String,
    /// Its change of the RTL, as a patch.
    pub patch: String,
    /// Number of commits between the two ends that change the RTL.
    pub commits: usize,
    /// Number of RTLs that were tested.
    pub tested: usize,
    /// Commits that could not be tested, each with the reason.
    pub skipped: Vec<(Commit, String)>,
}

/// The most characters of a patch that are kept.
const LONGEST_PATCH: usize = 64 << 10;

fn wrong(message: String) -> Error {
    Error::Usage(codes::BISECTION_ENDS, message)
}

/// Runs git; it must succeed.
fn read(arguments: &[&str]) -> Result<String, Error> {
    let output = git(arguments, None)?;
    let failed = || Error::Usage(codes::BAD_REVISION, format!("git {} fails", arguments.join(" ")));
    output.map(|output| String::from_utf8_lossy(&output).into_owned()).ok_or_else(failed)
}

impl History {
    /// The history between `REF:PATH` and `REF:PATH`, or `REF` with the same path.
    ///
    /// # Errors
    /// [`Error::Usage`] if a commit does not exist, the paths differ, or `good` is no ancestor.
    pub fn new(good: &str, bad: &str) -> Result<Self, Error> {
        let shown = text::line(good);
        let (_, path) = good
            .split_once(':')
            .ok_or_else(|| wrong(format!("{shown}: expected REF:PATH, such as v1.0:rtl")))?;
        if path.starts_with(['.', '/']) {
            return Err(wrong(format!("{shown}: name the path from the root of the repository")));
        }
        let bad = if bad.contains(':') { bad.to_owned() } else { format!("{bad}:{path}") };
        if bad.split_once(':').map(|(_, other)| other) != Some(path) {
            let message = format!("{shown} and {} name different paths", text::line(&bad));
            return Err(wrong(message));
        }
        let commit = |named: &str| {
            let revision = Named::revision(named)?;
            Ok::<_, Error>(revision.commit().unwrap_or_default().to_owned())
        };
        let history = Self { good: commit(good)?, bad: commit(&bad)?, path: path.to_owned() };
        let is_ancestor = ["merge-base", "--is-ancestor", &history.good, &history.bad];
        if history.good == history.bad || git(&is_ancestor, None)?.is_none() {
            return Err(wrong(format!("{shown} is no ancestor of {}", text::line(&bad))));
        }
        Ok(history)
    }

    /// The RTL at a commit.
    ///
    /// # Errors
    /// [`Error::Usage`] if the path does not exist there.
    fn rtl_at(&self, commit: &str) -> Result<Named, Error> {
        Named::revision(&format!("{commit}:{}", self.path))
    }

    fn paths(&self) -> Vec<String> {
        let is_root = self.path.is_empty();
        if is_root { Vec::new() } else { vec![format!(":(top,literal){}", self.path)] }
    }

    /// Commits that change the RTL, the one whose result says most first.
    fn candidates(&self, bad: &str, good: &[String]) -> Result<Vec<String>, Error> {
        let without: Vec<String> = good.iter().map(|commit| format!("^{commit}")).collect();
        let mut arguments = vec!["rev-list", "--bisect-all", bad];
        arguments.extend(without.iter().map(String::as_str));
        arguments.push("--");
        let paths = self.paths();
        arguments.extend(paths.iter().map(String::as_str));
        let listed = read(&arguments)?;
        let hashes = listed.lines().filter_map(|line| line.split_whitespace().next());
        Ok(hashes.map(str::to_owned).collect())
    }

    fn commit(&self, hash: &str) -> Result<Commit, Error> {
        let format = "--format=%ad%x09%s";
        let shown = read(&["rev-list", "--max-count=1", "--date=short", format, hash])?;
        let line = shown.lines().nth(1).unwrap_or_default();
        let (date, subject) = line.split_once('\t').unwrap_or_default();
        Ok(Commit {
            hash: hash.to_owned(),
            date: date.to_owned(),
            subject: text::line(subject).into_owned(),
        })
    }

    /// The change of the RTL in a commit, against its first parent.
    fn patch(&self, hash: &str) -> Result<String, Error> {
        let parent = format!("{hash}^1");
        let plain = ["diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--no-color"];
        let mut arguments = plain.to_vec();
        arguments.extend([&*parent, hash, "--"]);
        let paths = self.paths();
        arguments.extend(paths.iter().map(String::as_str));
        let mut patch: String = read(&arguments)?.chars().take(LONGEST_PATCH).collect();
        patch.retain(|letter| matches!(letter, '\n' | '\t') || !letter.is_control());
        Ok(patch)
    }

    /// Searches the first commit that fails. `test` receives a commit and its RTL; the failing end
    /// comes first.
    ///
    /// # Errors
    /// An error of `test`. [`Error::Usage`] if the first end does not pass, or the last one does
    /// not fail.
    pub fn bisect(
        &self,
        test: &mut dyn FnMut(&str, &Named) -> Result<CommitResult, Error>,
    ) -> Result<Bisection, Error> {
        let mut results: BTreeMap<String, CommitResult> = BTreeMap::new();
        let mut result_at = |commit: &str| -> Result<CommitResult, Error> {
            let named = match self.rtl_at(commit) {
                Ok(named) => named,
                Err(Error::Usage(_, message)) => return Ok(CommitResult::Unusable(message)),
                Err(other) => return Err(other),
            };
            let key = named.object().unwrap_or_default().to_owned();
            if let Some(known) = results.get(&key) {
                return Ok(known.clone());
            }
            let result = test(commit, &named)?;
            results.insert(key, result.clone());
            Ok(result)
        };
        let end = |name: &str, commit: &str, what: &str| {
            wrong(format!("{name}, commit {}: {what}", &commit[..12.min(commit.len())]))
        };
        let mut verdict = match result_at(&self.bad)? {
            CommitResult::Fails(verdict) => verdict,
            CommitResult::Passes => return Err(end("BAD", &self.bad, "it passes")),
            CommitResult::Unusable(reason) => return Err(end("BAD", &self.bad, &reason)),
        };
        match result_at(&self.good)? {
            CommitResult::Passes => {}
            CommitResult::Fails(verdict) => return Err(end("GOOD", &self.good, &verdict)),
            CommitResult::Unusable(reason) => return Err(end("GOOD", &self.good, &reason)),
        }
        let (mut good, mut bad) = (vec![self.good.clone()], self.bad.clone());
        let commits = self.candidates(&bad, &good)?.len();
        let mut skipped: BTreeMap<String, String> = BTreeMap::new();
        let rest = loop {
            let candidates = self.candidates(&bad, &good)?;
            let is_open = |one: &&String| **one != bad && !skipped.contains_key(*one);
            let Some(next) = candidates.iter().find(is_open) else { break candidates };
            match result_at(next)? {
                CommitResult::Passes => good.push(next.clone()),
                CommitResult::Fails(found) => (bad, verdict) = (next.clone(), found),
                CommitResult::Unusable(reason) => drop(skipped.insert(next.clone(), reason)),
            }
        };
        let unknown: BTreeSet<&String> = rest.iter().filter(|one| **one != bad).collect();
        let first = std::iter::once(&bad).chain(unknown);
        let named = |(hash, reason): (String, String)| Ok((self.commit(&hash)?, reason));
        Ok(Bisection {
            first: first.map(|hash| self.commit(hash)).collect::<Result<_, Error>>()?,
            verdict,
            patch: self.patch(&bad)?,
            commits,
            tested: results.len(),
            skipped: skipped.into_iter().map(named).collect::<Result<_, Error>>()?,
        })
    }

    /// The folder or file of the RTL, from the root of the repository.
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}
