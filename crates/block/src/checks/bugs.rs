//! Checks that the regression finds every bug of a folder of patches.

use super::{CheckFailures, Checks, Result, failed, files, json};
use crate::shard::Shard;
use cosim_base::parallel;
use cosim_harness::harness::BlockInfo;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The seeds of the runs that must find a bug.
const SEEDS: [u64; 3] = [11, 22, 33];

/// The expectations for the bugs of a folder.
#[derive(Debug, Clone, Copy)]
pub struct Bugs<'a> {
    /// The number of bugs, so that a missing one is noticed.
    pub count: usize,
    /// Maximum number of packets in the shrunk vector, by the name of the patch. `None` permits
    /// any.
    pub most_packets: fn(&str) -> Option<u64>,
    /// Bugs for which the RTL is not blamed, with the expected result: `undecided` or `raw_pins`.
    /// `None` permits any result except blaming the golden model.
    pub open: Option<&'a [(&'a str, &'a str)]>,
    /// Prefixes of the ports at which a bug may be reported, by the name of its patch. For a bug in
    /// a part of the block, these are the ports of that part. Empty permits any port.
    pub reported_at: fn(&str) -> &'static [&'static str],
    /// The bugs to check, by their position. [`Shard::WHOLE`] selects all.
    pub part: Shard,
}

impl Bugs<'_> {
    /// Expects `count` bugs for which the RTL is blamed, with vectors of any size.
    pub const fn with_count(count: usize) -> Self {
        Self {
            count,
            most_packets: |_| None,
            open: Some(&[]),
            reported_at: |_| &[],
            part: Shard::WHOLE,
        }
    }
}

#[expect(clippy::print_stdout, reason = "a test captures it, and `scripts/test bugs` shows it")]
pub fn check(checks: &Checks, folder: &Path, bugs: &Bugs<'_>) -> Result {
    let all: Vec<(String, PathBuf)> = files(folder, "patch")?
        .into_iter()
        .map(|patch| (patch.file_stem().unwrap_or_default().to_string_lossy().into_owned(), patch))
        .collect();
    let mut wrong = Vec::new();
    if all.len() != bugs.count {
        let (folder, count) = (folder.display(), all.len());
        wrong.push(format!("{folder}: {count} bugs, expected {}", bugs.count));
    }
    for (open, _) in bugs.open.unwrap_or_default() {
        if !all.iter().any(|(name, _)| name == open) {
            wrong.push(format!("{open}: no such bug, remove it from `Bugs::open`"));
        }
    }
    let part: Vec<_> = (0..)
        .zip(&all)
        .filter(|(place, _)| bugs.part.contains(*place))
        .map(|(_, bug)| bug)
        .collect();
    let found: Vec<Result<String>> = parallel::map(&part, |(name, patch)| {
        find(checks, patch, (bugs.most_packets)(name), (bugs.reported_at)(name))
    });
    let blamed =
        |is: fn(&str) -> bool| found.iter().filter(|side| side.as_deref().is_ok_and(is)).count();
    let right = blamed(|side| side == "rtl");
    let unknown = blamed(|side| ["undecided", "raw_pins"].contains(&side));
    let (block, count) = (&checks.info.name, found.len());
    let other = count - right - unknown;
    println!(
        "{block}, {count} bugs: blame {right} right, {unknown} unknown, {other} wrong or none"
    );
    for ((name, _), side) in part.into_iter().zip(found) {
        let expected = |open: &[(&str, &str)]| {
            let listed = open.iter().find(|(other, _)| other == name);
            listed.map_or("rtl", |(_, side)| *side).to_owned()
        };
        match (side, bugs.open.map(expected)) {
            (Err(failed), _) => wrong.push(format!("{name}: {failed}")),
            (Ok(side), Some(expected)) if side != expected => {
                wrong.push(format!("{name}: the blame is {side}, expected {expected}"));
            }
            _ => {}
        }
    }
    CheckFailures::from_lines(wrong)
}

/// A copy of the block's RTL with a patch, which may name the files below any folder.
///
/// # Errors
/// If the patch does not apply, or `patch` is not installed.
fn patched(info: &BlockInfo, patch: &Path) -> Result<TempDir> {
    let io =
        |error: std::io::Error| CheckFailures::from_line(format!("cannot copy the RTL: {error}"));
    let folder = TempDir::new().map_err(io)?;
    for (name, text) in info.rtl.sources {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(io)?;
        fs::write(path, text).map_err(io)?;
    }
    let text = fs::read_to_string(patch).map_err(io)?;
    let names: Vec<&str> = info.rtl.sources.iter().map(|(name, _)| *name).collect();
    let strip = levels(&text, &names).ok_or_else(|| {
        CheckFailures::from_line(format!(
            "the patch changes none of the files {}",
            names.join(", ")
        ))
    })?;
    let output = Command::new("patch")
        .args([&format!("-p{strip}"), "--silent", "--fuzz=0", "--input"])
        .arg(std::path::absolute(patch).map_err(io)?)
        .current_dir(folder.path())
        .output()
        .map_err(|error| {
            let advice = "install it with `apt-get install patch`";
            CheckFailures::from_line(format!("cannot run `patch`: {error}; {advice}"))
        })?;
    match output.status.success() {
        true => Ok(folder),
        false => Err(failed("does not apply", &output)),
    }
}

/// The number of folders before the RTL's file names in a patch.
fn levels(patch: &str, sources: &[&str]) -> Option<usize> {
    let named = patch.lines().find_map(|line| line.strip_prefix("+++ "))?;
    let named = Path::new(named.split('\t').next()?.trim());
    let source = sources.iter().find(|source| named.ends_with(source))?;
    Some(named.components().count() - Path::new(source).components().count())
}

/// Finds one bug. Returns the side that is blamed.
fn find(
    checks: &Checks,
    patch: &Path,
    most_packets: Option<u64>,
    reported_at: &[&str],
) -> Result<String> {
    let copy = patched(checks.info, patch)?;
    let rtl = copy.path().to_string_lossy().into_owned();
    let folder = TempDir::new().map_err(|error| CheckFailures::from_line(error.to_string()))?;
    // A bug that the first profile shows is also found by the default run, whose cases have the
    // same seeds. This saves compiling the models of other profiles.
    let first = checks.info.profiles.first().map_or("all", |profile| &profile.name);
    let mut profiles = first;
    for seed in SEEDS {
        let out = folder.path().join(seed.to_string());
        let mut output = run(checks, &rtl, seed, profiles, &out)?;
        if output.status.code() == Some(0) && profiles == first {
            profiles = "all";
            output = run(checks, &rtl, seed, profiles, &out)?;
        }
        if output.status.code() != Some(1) {
            return Err(failed(&format!("seed {seed} does not find the bug"), &output));
        }
    }
    let out = folder.path().join(SEEDS[0].to_string());
    let group = json(&out.join("results.json"))?["failures"][0].clone();
    let vector = out.join(group["vector"].as_str().unwrap_or("no vector"));
    let vector = vector.to_string_lossy();
    if let (Some(packets), Some(most)) = (group["packets"].as_u64(), most_packets)
        && packets > most
    {
        let line = format!("shrunk to {packets} packets, expected at most {most}");
        return Err(CheckFailures::from_line(line));
    }
    let port = group["verdict"]["port"].as_str().unwrap_or("no port");
    if !reported_at.is_empty() && !reported_at.iter().any(|beginning| port.starts_with(beginning)) {
        let expected = reported_at.join("*, ");
        return Err(CheckFailures::from_line(format!(
            "reported at {port}, expected one of {expected}*"
        )));
    }
    let again = checks.run(["replay", "--expect-recorded", "--rtl", &rtl, &vector])?;
    if !again.status.success() {
        return Err(failed("the failure does not happen again in replay", &again));
    }
    let good = checks.run(["replay", "--rtl", "built-in", &vector])?;
    if !good.status.success() {
        return Err(failed("the vector also fails on the correct RTL", &good));
    }
    match group["judgement"]["broken_by"].as_str() {
        Some(side @ ("rtl" | "undecided" | "raw_pins")) => Ok(side.to_owned()),
        other => {
            let line = format!("the golden model is right, but the blame is {other:?}");
            Err(CheckFailures::from_line(line))
        }
    }
}

/// A default run with the RTL in a folder, up to the first failure.
fn run(checks: &Checks, rtl: &str, seed: u64, profiles: &str, out: &Path) -> Result<Output> {
    let out = out.to_string_lossy();
    let block = checks.info.name;
    let number = seed.to_string();
    // One thread, because bugs run in parallel.
    let mut arguments = vec!["run", "--block", block, "--rtl", rtl, "--seed", &number, "--quiet"];
    arguments.extend(["--max-failures", "1", "--threads", "1", "--no-waves", "--force"]);
    arguments.extend(["--fixes", profiles, "--out", &out]);
    // Shrinking is checked with the first seed only.
    if seed != SEEDS[0] {
        arguments.push("--no-shrink");
    }
    checks.run(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_of_a_file_below_any_folder() {
        let sources = ["Top.v", "inc/Top.vh"];
        let levels = |name: &str| levels(&format!("--- a/x\n+++ {name}\n@@"), &sources);
        assert_eq!(levels("b/rtl/Top.v"), Some(2));
        assert_eq!(levels("b/hw/rtl/inc/Top.vh\t2020-01-01"), Some(3));
        assert_eq!(levels("Top.v"), Some(0));
        assert_eq!(levels("b/rtl/Other.v"), None);
    }
}
