//! Writes `timing.json`: everything that depends on the machine or the time.

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::{Command, Stdio};

/// The contents of `timing.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timing {
    /// When the run ended, in UTC.
    pub ended: String,
    /// The command line.
    #[serde(default)]
    pub command: Vec<String>,
    /// Number of threads.
    pub threads: usize,
    /// Wall-clock seconds for running cases.
    pub seconds: f64,
    /// Wall-clock seconds for minimising failures and writing waves.
    pub failures_seconds: f64,
    /// Cycles compared per second, without the time for failures.
    pub cycles_per_second: f64,
    #[serde(default)]
    pub peak_memory: PeakMemory,
    /// The git commit of the working directory, if it has one.
    pub commit: Option<String>,
    /// Seconds since the start and cycles compared until then, at a few points in time.
    pub progress: Vec<(f64, u64)>,
    /// The sandbox of the models; none if no model ran.
    pub sandbox: Option<String>,
    /// Workers lost to causes outside the RTL. Their cases were repeated.
    pub lost_workers: LostWorkers,
}

/// Workers lost to causes outside the RTL.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LostWorkers {
    /// The number of lost workers.
    pub count: u64,
    /// The first of them, each with its case and the cause.
    pub first: Vec<String>,
}

impl LostWorkers {
    const NAMED: usize = 100;

    /// Adds a lost worker.
    pub fn add(&mut self, how: &str) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(how.to_owned());
        }
    }

    /// Adds the lost workers of a shard.
    pub fn extend(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        let room = Self::NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room).cloned());
    }
}

/// Samples of a run's progress. Their number is limited, however long the run takes.
#[derive(Debug, Clone)]
pub struct Milestones {
    /// The samples, in order.
    pub points: Vec<(f64, u64)>,
    /// Seconds between samples.
    every: f64,
}

impl Default for Milestones {
    fn default() -> Self {
        Self { points: vec![(0.0, 0)], every: 0.02 }
    }
}

impl Milestones {
    const MOST: usize = 128;

    /// Adds a sample: cycles compared after these seconds.
    pub fn pass(&mut self, seconds: f64, cycles: u64) {
        let last = self.points.last().map_or(0.0, |(seconds, _)| *seconds);
        if seconds < last + self.every {
            return;
        }
        self.points.push((seconds, cycles));
        if self.points.len() > Self::MOST {
            // Keep every other sample and halve the rate.
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2.0;
        }
    }
}

/// The git commit of the working directory, if there is one.
pub fn commit() -> Option<String> {
    let git =
        Command::new("git").args(["rev-parse", "HEAD"]).stderr(Stdio::null()).output().ok()?;
    let name = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !name.is_empty()).then_some(name)
}

/// Peak resident memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PeakMemory {
    /// Of this program.
    pub program: Option<u64>,
    /// Of the largest child process that has ended, such as a worker or a compiler.
    pub largest_process: Option<u64>,
}

impl PeakMemory {
    /// The peak so far.
    pub fn now() -> Self {
        // `maxrss` is in KiB on Linux.
        let of = |who| Some(u64::try_from(getrusage(who).ok()?.max_rss()).ok()? * 1024);
        let program = own_peak().or_else(|| of(UsageWho::RUSAGE_SELF));
        Self { program, largest_process: of(UsageWho::RUSAGE_CHILDREN) }
    }
}

/// The peak memory of this program in bytes. `getrusage` would include that of the process that
/// started it.
fn own_peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
