//! Simulations that Icarus compiled. Each case runs in a process of its own.

use super::four_values::{GoldenSide, blame, golden_at, outcome, write_case};
use super::{Runner, Waves};
use crate::built::Built;
use crate::driven::DrivenPins;
use crate::engine::explain;
use crate::explanation::Explanation;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    Blame, BlockInfo, Explain, Outcome, Profile, Recording, Stimulus, Verdict, Watch,
};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::fs::{self, File};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use verilated_files::attached;

/// The program that runs a compiled simulation.
pub const PROGRAM: &str = "vvp";
/// Interval at which the file that grows by a byte in each cycle is polled.
const LOOKED_AT: Duration = Duration::from_millis(500);
/// Limit of processor time per case, in seconds.
const SECONDS: u64 = 600;
/// Limit of each file that a simulation writes, in bytes: waves, and what it prints.
const MOST_OUTPUT: u64 = 4 << 30;
/// Maximum candidates of shrinking: each needs a process of about 10 ms.
const TRIES: u64 = 400;
/// Folder of the data files.
const FILES: &str = "data";

/// A compiled simulation.
pub struct Icarus {
    profile: Profile,
    compiled: PathBuf,
}

impl Icarus {
    pub fn new(profile: &Profile, compiled: &Path) -> Self {
        Self { profile: profile.clone(), compiled: compiled.to_owned() }
    }

    /// Runs a case from reset to its end. `waves` is a VCD or FST file to write.
    fn simulate<B: Explain>(
        &self,
        stimulus: &Stimulus<B>,
        waves: Option<&Path>,
        watch: &Watch,
    ) -> Result<Outcome, Error> {
        watch.during(|| {
            let parameters = &self.profile.parameters;
            let recording = Recording::new(stimulus, parameters);
            let golden = GoldenSide {
                info: BlockInfo::from_block::<B>(),
                outcome: recording.outcome(),
                pins: DrivenPins::from_recording(&recording, stimulus.before_reset),
                at: &|cycle| golden_at(&recording, parameters, cycle),
            };
            self.compare(&golden, waves, watch)
        })
    }

    /// Runs a case whose golden side is known.
    fn compare(
        &self,
        golden: &GoldenSide<'_>,
        waves: Option<&Path>,
        watch: &Watch,
    ) -> Result<Outcome, Error> {
        if !golden.info.is_written() || golden.outcome.verdict == Verdict::Cancelled {
            return Ok(golden.outcome.clone());
        }
        let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let case = folder.path().join("case");
        write_case(golden, &case).map_err(Error::write(&case))?;
        let pulse = folder.path().join("pulse");
        let mut arguments =
            vec![format!("+case={}", case.display()), format!("+pulse={}", pulse.display())];
        if let Some(waves) = waves {
            let is_fst = waves.extension().is_some_and(|ending| ending == "fst");
            arguments.extend(is_fst.then(|| "-fst".to_owned()));
            let waves = std::path::absolute(waves).map_err(Error::write(waves))?;
            arguments.push(format!("+waves={}", waves.display()));
        }
        let output = alive(&pulse, watch, || simulate(&self.compiled, &arguments, folder.path()))??;
        Ok(outcome(golden, &output))
    }
}

impl<B: Explain> Runner<B> for Icarus {
    fn run(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Outcome, Error> {
        self.simulate(stimulus, None, watch)
    }

    fn trace(
        &self,
        stimulus: &Stimulus<B>,
        _observed: &Built,
        waves: &Waves,
        watch: &Watch,
    ) -> Result<(), Error> {
        self.simulate(stimulus, Some(&waves.path), watch).map(drop)
    }

    fn judge(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Blame, Error> {
        Ok(blame(stimulus, &self.profile, watch))
    }

    fn explain(
        &self,
        stimulus: &Stimulus<B>,
        _observed: &Built,
        watch: &Watch,
    ) -> Result<Explanation, Error> {
        let outcome = self.simulate(stimulus, None, watch)?;
        let mut explained = explain::explain_four(stimulus, &self.profile, &outcome);
        if outcome.verdict.is_failure() {
            explained.judgement = Some(blame(stimulus, &self.profile, watch));
        }
        Ok(explained)
    }

    fn cost_of_a_try(&self, budget: u64) -> u64 {
        budget / TRIES
    }

    fn two_evaluations(&self) -> Option<String> {
        None
    }
}

/// Runs a compiled simulation. Its processor time and its output are limited, which ends a
/// zero-delay loop. Data files and the output are written below `scratch`, and the working
/// directory is one in which the RTL finds its data files.
fn simulate(compiled: &Path, arguments: &[String], scratch: &Path) -> Result<Output, Error> {
    let mut command = Command::new(PROGRAM);
    if let Some(folder) = attached::detach(compiled, &scratch.join(FILES))? {
        command.current_dir(folder);
    }
    let compiled = std::path::absolute(compiled).map_err(Error::write(compiled))?;
    let paths = ["stdout", "stderr"].map(|name| scratch.join(name));
    let [stdout, stderr] = &paths;
    let created = |path: &Path| File::create(path).map_err(Error::write(path));
    let spawned = command
        .arg("-n")
        .arg(compiled)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(created(stdout)?)
        .stderr(created(stderr)?)
        .spawn();
    let mut child = spawned.map_err(|error| {
        let message = format!(
            "cannot run `{PROGRAM}` of Icarus Verilog: {error}; install it with `apt-get install iverilog`"
        );
        Error::Environment(codes::ICARUS_MISSING, message)
    })?;
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        let limits = [(Resource::Cpu, SECONDS), (Resource::Fsize, MOST_OUTPUT)];
        for (resource, limit) in limits {
            let limit = Rlimit { current: Some(limit), ..getrlimit(resource) };
            // Fails if the program has ended already.
            let _ = prlimit(Some(pid), resource, limit);
        }
    }
    let status = child.wait().map_err(|error| {
        Error::Environment(codes::SYSTEM, format!("a running simulation: {error}"))
    })?;
    let [stdout, stderr] = paths.each_ref().map(|path| fs::read(path).map_err(Error::write(path)));
    Ok(Output { status, stdout: stdout?, stderr: stderr? })
}

/// Runs `work` and reports the simulation's progress to `watch`, so that a long case is not a hang.
fn alive<T>(pulse: &Path, watch: &Watch, work: impl FnOnce() -> T) -> Result<T, Error> {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let look = || {
            while !is_done.load(Ordering::Relaxed) {
                watch.reached(pulse.metadata().map_or(0, |pulse| pulse.len()));
                thread::park_timeout(LOOKED_AT);
            }
        };
        let looker = thread::Builder::new().spawn_scoped(scope, look).map_err(|error| {
            Error::Environment(codes::SYSTEM, format!("cannot start a thread: {error}"))
        })?;
        let result = panic::catch_unwind(AssertUnwindSafe(work));
        is_done.store(true, Ordering::Relaxed);
        looker.thread().unpark();
        result.map_err(|panic| panic::resume_unwind(panic))
    })
}
