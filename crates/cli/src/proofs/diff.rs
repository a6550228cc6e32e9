//! `cosim diff`.

pub mod top;

use crate::blocks::new::module;
use crate::proofs::answers::ProverOptions;
use crate::terminal::options::{Choice, Target, duration, heading, of_block, path};
use crate::{interruption, worst};
use clap::Args;
use cosim_analysis::diff::DiffRun;
use cosim_analysis::subject::{subject, subject_rtl};
use cosim_base::error::{Error, codes};
use cosim_block::rtl::Rtl;
use cosim_formats::answers::{ANSWERS, AnswerRecord, ProverCommand, SIDES, Subject, SubjectRtl};
use cosim_formats::run::DirectoryLock;
use cosim_new::Reset;
use cosim_regress::revision::{Named, named};
use cosim_regress::worker::OneShotWorker;
use cosim_rtl::backend::RtlModels as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use top::Top;
use verilated_build::activity::Activity;

/// Two RTLs to compare.
#[derive(Debug, Args)]
pub struct Arguments {
    /// RTL before the change: a folder, a file, a file list (`.f`), REF:PATH of git, or `built-in`.
    #[arg(value_name = "OLD")]
    old: String,
    /// RTL after the change.
    #[arg(value_name = "NEW")]
    new: String,
    /// Select blocks, with commas between them, or `all`; may be repeated [default: the only block
    /// of the program].
    #[arg(long, value_name = "NAME|all", value_delimiter = ',', help_heading = heading::WHAT)]
    block: Vec<String>,
    /// Compare a module without a block, with any values at its inputs. The first comparison
    /// compiles the library, which takes some minutes.
    #[arg(long, value_name = "MODULE", value_parser = module, conflicts_with_all = ["block", "fixes", "parameter"], help_heading = heading::WHAT)]
    top: Option<String>,
    /// Clock input, active on its rising edge; may be repeated [default: the inputs whose edges
    /// registers wait for].
    #[arg(long, value_name = "NAME", requires = "top", help_heading = heading::WHAT)]
    clock: Vec<String>,
    /// Reset input and its value in reset [default: rst, reset, rst_n or similar, if any; 0 if the
    /// name ends in n].
    #[arg(long, value_name = "NAME[=VALUE]", requires = "top", help_heading = heading::WHAT)]
    reset: Option<Reset>,
    #[command(flatten)]
    choice: Choice,
    /// Compare for legal traffic only: offers of the environment stay until they are accepted.
    #[arg(long, help_heading = heading::WHAT)]
    legal_only: bool,
    /// Search DIR first for included files and modules; may be repeated.
    #[arg(short = 'I', value_name = "DIR", allow_hyphen_values = true, value_parser = path, help_heading = heading::RTL)]
    include: Vec<PathBuf>,
    /// Define a Verilog macro; may be repeated.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = heading::RTL)]
    define: Vec<String>,
    /// Begin no further step of a profile after DURATION.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, help_heading = heading::STOP)]
    time: Duration,
    /// Write no waves.
    #[arg(long, help_heading = heading::OUTPUT)]
    no_waves: bool,
    #[command(flatten)]
    options: ProverOptions,
}

impl Arguments {
    /// Whether a block is written for the command.
    pub const fn has_top(&self) -> bool {
        self.top.is_some()
    }

    /// Sets the block of `--top`; the result is held while it is used.
    fn set_top(&self, old: &Named, options: &Rtl) -> Result<Option<File>, Error> {
        let Some(module) = &self.top else { return Ok(None) };
        if *old == Named::BuiltIn {
            let message = "--top compares RTL that has no block, so none is built in; name OLD";
            return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
        }
        let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let rtl = old.rtl(&folder.path().join("rtl"), options)?;
        let (clock, reset) = (&self.clock[..], self.reset.as_ref());
        Top { module, clock, reset, rtl: &rtl }.set().map(Some)
    }
}

/// Removes the RTL of revisions from a folder that gets no result, which would not be replaced.
struct Sides(PathBuf);

impl Drop for Sides {
    fn drop(&mut self) {
        if !self.0.join(ANSWERS).exists() {
            SIDES.iter().for_each(|side| drop(fs::remove_dir_all(self.0.join(side))));
        }
    }
}

/// Compares two RTLs of each block. Exit code 0 if they are equivalent, 1 if they differ, and 4 if
/// neither is shown, or if they are only believed to be equivalent.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let sides = [named(&arguments.old)?, named(&arguments.new)?];
    let options = Rtl {
        include: arguments.include.clone(),
        defines: arguments.define.clone(),
        ..Rtl::default()
    };
    let _held = arguments.set_top(&sides[0], &options)?;
    let target = Target::built_in(&arguments.block, &arguments.choice);
    let blocks = target.blocks()?;
    let worker = OneShotWorker::new(arguments.options.limits.program()?, Arc::clone(&interrupted));
    let answers = arguments.options.caching.answers()?;
    let mut jobs = Vec::new();
    for block in &blocks {
        jobs.push((*block, target.profiles(block).map_err(of_block(block, &blocks))?));
    }
    let place = arguments.options.location(format!("diff-{}", target.name(&blocks)));
    let names: Vec<&str> = blocks.iter().map(|block| block.info().name).collect();
    let mut results: Vec<AnswerRecord> = Vec::new();
    for ((block, profiles), place) in jobs.into_iter().zip(place.of_blocks(&names)?) {
        let info = block.info();
        let claim = DirectoryLock::new(&place)?;
        let _sides = Sides(claim.folder.clone());
        let rtl = |side: usize| -> Result<Rtl, Error> {
            let rtl = sides[side].rtl(&claim.folder.join(SIDES[side]), &options)?;
            rtl.check_profiles(info, &profiles).map_err(of_block(block, &blocks))?;
            Ok(rtl)
        };
        let rtl = [rtl(0)?, rtl(1)?];
        let described = |side: usize, typed: &str| -> Result<SubjectRtl, Error> {
            let commit = sides[side].commit().map(str::to_owned);
            Ok(SubjectRtl { named: typed.to_owned(), commit, ..subject_rtl(block, &rtl[side])? })
        };
        let new = described(1, &arguments.new)?;
        let subject = Subject {
            old: Some(described(0, &arguments.old)?),
            legal_only: arguments.legal_only,
            accept_believed: arguments.options.certainty.accept_believed,
            ..subject(ProverCommand::Diff, block, new)?
        };
        let mut compared = Vec::new();
        for profile in &profiles {
            let activity = Activity::start(format!("comparing {}, {}", info.name, profile.name));
            let run = DiffRun {
                block,
                rtl: [&rtl[0], &rtl[1]],
                worker: &worker,
                answers: &answers,
                folder: &claim.folder,
                deadline: Instant::now() + arguments.time,
                legal_only: arguments.legal_only,
                has_waves: !arguments.no_waves,
                activity: &activity,
            };
            compared.push(run.profile(profile)?);
        }
        let diff = AnswerRecord::new(subject, compared);
        arguments.options.finish(claim, &diff, false)?;
        results.push(diff);
    }
    if results.is_empty() {
        return Err(Error::Usage(codes::NOTHING_SELECTED, "no block is selected".to_owned()));
    }
    arguments.options.print(&results)?;
    Ok(ExitCode::from(worst(results.iter().map(AnswerRecord::exit))))
}
