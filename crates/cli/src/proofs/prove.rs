//! `cosim prove`.

use crate::proofs::answers::ProverOptions;
use crate::terminal::options::{Format, Target, heading, of_block, whole_number};
use crate::{INTERRUPTED, interruption, print_text, worst};
use clap::Args;
use cosim_analysis::proof::{ProofRun, places};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_formal::prove::Prover;
use cosim_formats::answers::{AnswerRecord, Counts, verdict};
use cosim_formats::run::DirectoryLock;
use cosim_harness::harness::Profile;
use cosim_regress::blocks::BlockHandle;
use cosim_regress::worker::OneShotWorker;
use cosim_rtl::backend::{self, Feature, RtlModels as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use verilated_build::activity::Activity;

/// What is to be proved.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Prove only the properties whose text contains TEXT.
    #[arg(long, alias = "property", value_name = "TEXT", help_heading = heading::WHAT)]
    only: Option<String>,
    /// Prove instead that each output is free of X: that registers without a reset, unwritten
    /// memory words, idle payload and undefined bits do not reach it.
    #[arg(long, help_heading = heading::WHAT)]
    x: bool,
    /// Accept an unproved property without a counterexample within DEPTH cycles of reset.
    #[arg(long, value_name = "DEPTH", value_parser = whole_number::<u32>(1..=u64::from(u32::MAX)), help_heading = heading::CHECK)]
    accept_bounded: Option<u32>,
    #[command(flatten)]
    options: ProverOptions,
}

/// Proves the properties of each block. Exit code 1 if a property is not proved, or if there is
/// none, and 4 if one is only believed.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let blocks = arguments.target.blocks()?;
    let rtl = arguments.target.rtl()?;
    backend::check(&rtl, Feature::Proofs)?;
    let worker = OneShotWorker::new(arguments.options.limits.program()?, Arc::clone(&interrupted));
    let only = arguments.only.as_deref();
    let answers = arguments.options.caching.answers()?;
    let mut jobs = Vec::new();
    for block in &blocks {
        let _activity = Activity::start(format!("preparing the proofs of {}", block.info().name));
        let profiles = arguments.target.profiles(block).map_err(of_block(block, &blocks))?;
        rtl.check_profiles(block.info(), &profiles).map_err(of_block(block, &blocks))?;
        let prover = |profile: &Profile| {
            let (info, parameters) = (block.info(), &profile.parameters);
            let prover = match arguments.x {
                true => Prover::of_unknowns(info, &rtl, parameters, &answers),
                false => Prover::new(info, &rtl, parameters, only, &answers),
            };
            let prover = match prover {
                Ok(prover) => Ok(prover),
                Err(reason) => Err(reason.because()?),
            };
            Ok((profile.clone(), prover))
        };
        let provers = profiles.iter().map(prover).collect::<Result<Vec<_>, Error>>()?;
        jobs.push((*block, provers));
    }
    let all = || jobs.iter().flat_map(|(_, provers)| provers).map(|(_, prover)| prover);
    let is_selected = |prover: &Result<Prover, String>| match prover {
        Ok(prover) => !places(prover, only).is_empty(),
        // The reason why nothing is proved comes first.
        Err(_) => true,
    };
    if let Some(only) = only
        && !all().any(is_selected)
    {
        let message = format!(
            "--only: no property contains `{only}`; run without --only to list all properties"
        );
        return Err(Error::Usage(codes::NOTHING_SELECTED, message));
    }
    let run = |block: &'static BlockHandle| ProofRun {
        block,
        rtl: &rtl,
        worker: &worker,
        only,
        x: arguments.x,
        accept_bounded: arguments.accept_bounded,
        accept_believed: arguments.options.certainty.accept_believed,
        folder: Path::new(""),
    };
    let mut simulated = Vec::new();
    for (block, provers) in &mut jobs {
        let _activity =
            Activity::start(format!("comparing netlist and RTL of {}", block.info().name));
        let run = run(block);
        simulated.push((run.judge(provers)?, run.subject()?));
    }
    let stem = format!("prove-{}", arguments.target.name(&blocks));
    let place = arguments.options.location(stem);
    let names: Vec<&str> = blocks.iter().map(|block| block.info().name).collect();
    let mut proofs = Vec::new();
    let folders = place.of_blocks(&names)?;
    for (((block, provers), (simulated, subject)), place) in
        jobs.into_iter().zip(simulated).zip(folders)
    {
        let claim = DirectoryLock::new(&place)?;
        let run = ProofRun { folder: &claim.folder, ..run(block) };
        let all = provers.iter().filter_map(|(_, prover)| prover.as_ref().ok());
        let all: usize = all.map(|prover| places(prover, only).len()).sum();
        let proving = Activity::start(format!("proving {}", block.info().name));
        let proving = proving.counting("properties", 0, Some(all as u64));
        let proof = run.prove(subject, provers, &simulated, &proving)?;
        drop(proving);
        arguments.options.finish(claim, &proof, false)?;
        let is_interrupted = proof.is_interrupted();
        proofs.push(proof);
        if is_interrupted {
            break;
        }
    }
    let is_interrupted = proofs.last().is_some_and(AnswerRecord::is_interrupted);
    let [selected, found] = answers.counts();
    if selected > 0 {
        program::print_note(format_args!(
            "{found} of {selected} answers of Yosys and ABC were in the cache"
        ));
    }
    let exit = worst(proofs.iter().map(AnswerRecord::exit));
    arguments.options.print(&proofs)?;
    if arguments.options.formatting.format == Format::Text {
        let counts = Counts::count_records(&proofs);
        let result = if is_interrupted { "INTERRUPTED" } else { verdict(exit) };
        let mut hints = String::new();
        if counts.believed > 0 {
            hints += match arguments.options.certainty.accept_believed {
                true => ", accepted by --accept-believed",
                false => "; --accept-believed accepts what is only believed",
            };
        }
        if counts.bounded > 0 {
            hints += match exit {
                1 => "; a bounded property fails unless --accept-bounded DEPTH accepts its depth",
                _ => ", accepted by --accept-bounded",
            };
        }
        print_text(&format!("{result}  {counts}{hints}"))?;
    }
    Ok(ExitCode::from(if is_interrupted { INTERRUPTED } else { exit }))
}
