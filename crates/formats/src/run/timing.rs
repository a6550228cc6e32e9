//! `timing.json`: all that depends on the machine or the moment.

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::{Command, Stdio};

/// What depends on the machine or the moment.
#[derive(Debug, Clone, Serialize)]
pub struct Timing {
    /// When the run ended, in UTC.
    pub ended: String,
    /// The command line.
    pub command: Vec<String>,
    /// Threads used.
    pub threads: usize,
    /// Wall-clock time in which cases were run.
    pub seconds: f64,
    /// Wall-clock time in which failures were shrunk and traced.
    pub failures_seconds: f64,
    /// Cycles compared per second, failures' time not counted.
    pub cycles_per_second: f64,
    /// Memory that was taken at most.
    pub peak_memory: PeakMemory,
    /// The commit of the folder that the run was started in, if it is one of git's.
    pub commit: Option<String>,
    /// Seconds since the beginning, and cycles compared until then: a few points in time.
    pub progress: Vec<(f64, u64)>,
    /// The sandbox of the models; none if no model ran.
    pub sandbox: Option<String>,
    /// Workers lost to causes outside the RTL. Their cases were repeated.
    pub lost_workers: LostWorkers,
    /// Cases whose scoreboard and coverage an earlier run has evaluated; see [`Judged`](crate::judged::Judged).
    pub judged_before: u64,
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
        self.count += other.count;
        let room = Self::NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room).cloned());
    }
}

/// Points in time at which it is noted how far a run is; so few whatever it takes.
#[derive(Debug, Clone)]
pub struct Milestones {
    points: Vec<(f64, u64)>,
    /// From one to the next.
    every: f64,
}

impl Default for Milestones {
    fn default() -> Self {
        Self { points: vec![(0.0, 0)], every: 0.02 }
    }
}

impl Milestones {
    const MOST: usize = 128;

    /// So many cycles have been compared after so many seconds.
    pub fn pass(&mut self, seconds: f64, cycles: u64) {
        let last = self.points.last().map_or(0.0, |(seconds, _)| *seconds);
        if seconds < last + self.every {
            return;
        }
        self.points.push((seconds, cycles));
        if self.points.len() > Self::MOST {
            // Every other one, from now on half as often.
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2.0;
        }
    }

    /// The points, in order.
    pub fn into_points(self) -> Vec<(f64, u64)> {
        self.points
    }
}

/// The commit that is checked out here, if git knows of one.
pub fn commit() -> Option<String> {
    let git =
        Command::new("git").args(["rev-parse", "HEAD"]).stderr(Stdio::null()).output().ok()?;
    let name = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !name.is_empty()).then_some(name)
}

/// The most memory that was resident at a time, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PeakMemory {
    /// Of the program.
    pub program: Option<u64>,
    /// Of the largest process that it started and that has ended: a worker, or a compiler.
    pub largest_process: Option<u64>,
}

impl PeakMemory {
    /// Until now.
    pub fn now() -> Self {
        // Linux counts in KiB.
        let of = |who| Some(u64::try_from(getrusage(who).ok()?.max_rss()).ok()? * 1024);
        let program = own_peak().or_else(|| of(UsageWho::RUSAGE_SELF));
        Self { program, largest_process: of(UsageWho::RUSAGE_CHILDREN) }
    }
}

/// The most memory that this program has had, in bytes. What `getrusage` says of a process begins with the peak of the one
/// that started it.
fn own_peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
