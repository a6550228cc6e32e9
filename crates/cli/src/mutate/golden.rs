//! `cosim mutate --golden`: injects faults into the golden model instead of the RTL.

use super::Arguments;
use crate::options::{Format, of_block};
use crate::replay::expand;
use crate::{interruption, print_json, print_text};
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_base::program;
use cosim_formats::run::{DirectoryLock, OutputLocation};
use cosim_formats::vector::VectorFile;
use cosim_harness::harness::Profile;
use cosim_regress::blocks::AnyBlock;
use cosim_regress::mutate::golden::{FaultRequest, ProfileFaults, RESULT};
use rayon::ThreadPoolBuilder;
use serde::Serialize;
use std::process::ExitCode;

/// Default number of faults of each profile.
const FAULTS: u32 = 1000;
/// Default number of cases of each scenario.
const CASES: u64 = 3;

/// The content of `golden.json`.
#[derive(Serialize)]
struct Report {
    format: &'static str,
    version: u64,
    tool: String,
    build: String,
    block: String,
    seed: u64,
    run_seed: u64,
    cases: u64,
    profiles: Vec<ProfileFaults>,
}

/// Grades the scoreboard and corpus of each block.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if !arguments.target.rtl()?.is_usual() {
        let message = "--golden injects faults into the golden model and runs no RTL; leave out \
             the options for RTL";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    let interrupted = interruption()?;
    let blocks = arguments.target.blocks()?;
    let mut corpus = Vec::new();
    for path in expand(&arguments.corpus)? {
        corpus.push(VectorFile::read(&path)?);
    }
    let mut jobs: Vec<(&dyn AnyBlock, Vec<Profile>)> = Vec::new();
    for block in &blocks {
        let profiles = arguments.target.profiles(*block).map_err(of_block(*block, &blocks))?;
        jobs.push((*block, profiles));
    }
    let place = match &arguments.out {
        Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: arguments.force },
        None => OutputLocation::New {
            stem: format!("golden-{}-{}", arguments.target.name(&blocks), arguments.seed),
        },
    };
    let names: Vec<&str> = blocks.iter().map(|block| block.info().name).collect();
    let threads = arguments.threads.count();
    // A faulty golden model may panic. The panic hook is silent for threads of this name.
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "case-golden".into());
    let pool =
        pool.build().map_err(|error| Error::Environment(codes::SYSTEM, error.to_string()))?;
    let cases = arguments.cases.unwrap_or(CASES);
    let mut reports = Vec::new();
    for ((block, profiles), place) in jobs.into_iter().zip(place.of_blocks(&names)?) {
        let graded = |profile: &Profile| {
            let ask = FaultRequest {
                profile,
                faults: arguments.mutants.unwrap_or(FAULTS),
                seed: arguments.seed,
                cases,
                run_seed: arguments.run_seed.unwrap_or(1),
                packets: arguments.packets,
                corpus: &corpus,
                interrupted: &interrupted,
            };
            pool.install(|| block.golden_faults(&ask, &arguments.scenario))
        };
        let profiles = profiles.iter().map(graded).collect::<Result<Vec<_>, Error>>()?;
        let claim = DirectoryLock::new(&place)?;
        let report = Report {
            format: "cosim-golden-faults",
            version: 1,
            tool: program::version().to_owned(),
            build: program::build().to_owned(),
            block: block.info().name.to_owned(),
            seed: arguments.seed,
            run_seed: arguments.run_seed.unwrap_or(1),
            cases,
            profiles,
        };
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        let path = claim.folder.join(RESULT);
        write_whole(&path, format!("{text}\n").as_bytes(), Sync::OnDisk)?;
        claim.release();
        if arguments.formatting.format == Format::Text {
            let told: String =
                report.profiles.iter().map(|graded| graded.text(&report.block)).collect();
            print_text(&format!("{told}{}", path.display()))?;
        }
        reports.push(report);
    }
    if arguments.formatting.format == Format::Json {
        match reports.as_slice() {
            [report] => print_json(report)?,
            reports => print_json(&reports)?,
        }
    }
    let mut code = 0;
    for report in &reports {
        for ProfileFaults { profile, score, .. } in &report.profiles {
            if score.seen == 0 {
                code = 1;
                program::fail(format_args!(
                    "{} {profile}: no fault changes an output; use more --mutants or --cases",
                    report.block
                ));
            } else if arguments.min_score.is_some_and(|wanted| score.percent < wanted) {
                code = 1;
                program::fail(format_args!(
                    "{} {profile}: {:.2} % of the faults were detected, below {} %",
                    report.block,
                    score.percent,
                    arguments.min_score.unwrap_or_default()
                ));
            }
        }
    }
    Ok(ExitCode::from(code))
}
