//! Writes `timing.json`: everything that depends on the machine or the time.

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::{Command, Stdio};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timing {
    /// When the run ended, in UTC.
    pub ended: String,
    #[serde(default)]
    pub command: Vec<String>,
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
    /// The sandbox of the models; none if no model ran.
    pub sandbox: Option<String>,
    /// Workers lost to causes outside the RTL. Their cases were repeated.
    pub lost_workers: LostWorkers,
}

/// Workers lost to causes outside the RTL.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LostWorkers {
    pub count: u64,
    /// The first of them, each with its case and the cause.
    pub first: Vec<String>,
}

impl LostWorkers {
    const NAMED: usize = 100;

    pub fn add(&mut self, how: &str) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(how.to_owned());
        }
    }

    pub fn extend(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        let room = Self::NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room).cloned());
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
    pub program: Option<u64>,
    /// Of the largest child process that has ended, such as a worker or a compiler.
    pub largest_process: Option<u64>,
}

impl PeakMemory {
    pub fn measure() -> Self {
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
