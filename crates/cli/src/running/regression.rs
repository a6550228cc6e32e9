//! The steps of a regression that `cosim run` and `cosim watch` share.

mod earlier;
mod progress;
mod until;

use crate::failures::failure::explain_command;
use crate::running::plan::{PlannedRun, RunPlan};
use crate::terminal::options::{
    ModelLimits, Sandboxing, Target, Threads, duration, heading, of_block, whole_number,
};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::program;
use cosim_block::shard::Shard;
use cosim_formats::run::{Header, MOST_CASES};
use cosim_harness::harness::{MOST_PACKETS, Profile};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::runner::{FailureHandling, Limits};
use cosim_regress::setup::Setup;
use cosim_report::report;
use rand::RngExt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use cosim_regress::regression::FinishedRun;
pub use cosim_regress::regression::{CaseName, PreparedRegression, Regression, RunStart};
pub use earlier::EarlierRunOptions;
pub use progress::Renderer;
pub use until::UntilCovered;

/// What to run, and for how long.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// Seed of the run: a number or `random` [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = heading::WHAT)]
    seed: Option<Seed>,
    /// Run N cases of each profile and scenario [default: the number of the block, see `cosim
    /// list`; unlimited with --time].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u64>(0..=MOST_CASES - 1), help_heading = heading::WHAT)]
    cases: Option<u64>,
    /// Transactions of each case [default: drawn from its seed, 64 on average, sometimes
    /// thousands].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u32>(1..=u64::from(MOST_PACKETS)), help_heading = heading::WHAT)]
    pub packets: Option<u32>,
    /// Select a built-in scenario or a JSON or TOML file; may be repeated [default: all].
    #[arg(long, value_name = "NAME|FILE", help_heading = heading::WHAT)]
    pub scenario: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Stop after N failures.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u64>(1..=MOST_CASES), help_heading = heading::STOP)]
    max_failures: Option<u64>,
    /// Stop after N cases in which the model did not return.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = whole_number::<u64>(1..=MOST_CASES), help_heading = heading::STOP)]
    max_hangs: u64,
    /// Start no case after DURATION, such as 90s or 10m.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true,
          value_parser = duration, help_heading = heading::STOP)]
    pub time: Option<Duration>,
    /// Keep failing vectors as they are.
    #[arg(long, help_heading = heading::OUTPUT)]
    no_shrink: bool,
    /// Write no waves of failures.
    #[arg(long, help_heading = heading::OUTPUT)]
    no_waves: bool,
    /// Leave the RTL of a run with failures out of its run directory; `replay` with
    /// --recorded-rtl needs it.
    #[arg(long, help_heading = heading::OUTPUT)]
    no_sources: bool,
    /// Print failures on standard error as `FILE:LINE:COLUMN: error: TEXT`, for editors.
    #[arg(long, help_heading = heading::OUTPUT)]
    problems: bool,
    #[command(flatten)]
    limits: ModelLimits,
}

#[derive(Debug, Clone, Copy)]
enum Seed {
    Number(u64),
    Random,
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        text.parse()
            .map(Self::Number)
            .map_err(|_| "expected a number from 0 to 2^64 - 1, or `random`".to_owned())
    }
}

impl Options {
    /// Prints the failures of a run for editors, if the user asks for that.
    ///
    /// # Errors
    /// If its results cannot be read.
    pub fn show_problems(&self, run: &FinishedRun) -> Result<(), Error> {
        if self.problems && run.results.is_some() {
            let folder = &run.folder;
            let explain =
                |number, header: &Header| explain_command(number, folder, header, &header.given);
            program::show(&report::problems(folder, &explain)?);
        }
        Ok(())
    }

    /// Takes threads and sandbox from the command that resumes this one. The run directory must not
    /// choose the sandbox, because it may come from somebody else.
    pub fn resume_with(&mut self, threads: Threads, sandboxing: Sandboxing) {
        self.threads = threads.or(self.threads);
        self.limits = self.limits.with_sandbox(sandboxing);
    }

    /// Replaces the seed `random` by the number drawn before, because the seed also draws profiles.
    pub fn set_random_seed(&mut self, drawn: u64) {
        if matches!(self.seed, Some(Seed::Random)) {
            self.seed = Some(Seed::Number(drawn));
        }
    }

    /// The regressions of the selected blocks, or of a single case.
    ///
    /// # Errors
    /// [`Error::Usage`] for invalid options.
    pub fn jobs(&self, case: Option<CaseName>) -> Result<Vec<Regression>, Error> {
        let seed = self.seed().unwrap_or(1);
        let chosen = match &case {
            Some(case) => vec![self.target.of_case(&case.block, &case.profile)?],
            None => {
                let blocks = self.target.blocks()?;
                let profiles = |block: &&'static BlockHandle| {
                    let profiles = self.target.drawn_profiles(block, seed);
                    Ok((*block, profiles.map_err(of_block(block, &blocks))?))
                };
                blocks.iter().map(profiles).collect::<Result<Vec<_>, Error>>()?
            }
        };
        let job = |(block, profiles)| self.job(block, profiles, case.clone(), seed);
        chosen.into_iter().map(job).collect()
    }

    /// The regressions of a plan. Options for seed and cases take precedence.
    ///
    /// # Errors
    /// An error in the plan.
    pub fn planned(&self, path: &Path) -> Result<Vec<Regression>, Error> {
        let plan = RunPlan::read(path, self.seed())?;
        let job = |run: &PlannedRun| {
            let PlannedRun { block, profiles, scenarios, .. } = run.clone();
            let (cases, packets) = (self.cases.or(run.cases), run.packets);
            let options = Self { scenario: scenarios, cases, packets, ..self.clone() };
            let job = options.job(block, profiles, None, run.seed)?;
            let (name, goal, until) = (run.name.clone(), run.min_coverage, run.until_coverage);
            Ok(Regression { name, goal, until, waivers: plan.waivers_of(block), ..job })
        };
        plan.runs.iter().map(job).collect()
    }

    fn seed(&self) -> Option<u64> {
        self.seed.map(|seed| match seed {
            Seed::Number(seed) => seed,
            Seed::Random => u64::from(rand::rng().random::<u32>()),
        })
    }

    fn job(
        &self,
        block: &'static BlockHandle,
        profiles: Vec<Profile>,
        case: Option<CaseName>,
        seed: u64,
    ) -> Result<Regression, Error> {
        let scenarios = match &case {
            // The user must still name the file of a scenario that is not built in.
            Some(case) if self.scenario.is_empty() => vec![case.scenario.clone()],
            _ => self.scenario.clone(),
        };
        let indices = match (&case, self.cases, self.time) {
            (Some(case), ..) => case.index..case.index + 1,
            (None, Some(cases), _) => 0..cases,
            (None, None, Some(_)) => 0..u64::MAX,
            (None, None, None) => 0..block.info().cases,
        };
        let threads = self.threads.count();
        let Self { max_failures, max_hangs, time, .. } = *self;
        Ok(Regression {
            name: block.info().name.to_owned(),
            block,
            seed,
            setup: Setup {
                profiles,
                scenarios,
                packets: self.packets,
                rtl: self.target.rtl()?,
                coverage: false,
            },
            case,
            indices,
            shard: Shard::WHOLE,
            limits: Limits { threads, max_failures, max_hangs, time },
            keep: FailureHandling {
                shrink: !self.no_shrink,
                waves: !self.no_waves,
                sources: !self.no_sources,
            },
            save: 0,
            goal: None,
            until: None,
            closed: Vec::new(),
            waivers: Vec::new(),
            program: self.limits.program()?,
        })
    }
}
