//! `cosim mutate --golden`: injects faults into the golden model instead of the RTL.

use super::Arguments;
use crate::options::{Format, of_block};
use crate::replay::expand;
use crate::{interruption, print_json, print_text};
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_base::program;
use cosim_block::built::Built;
use cosim_block::mutate::golden::{Fault, FaultRequest, FaultScore, ProfileFaults};
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_block::vector::VectorFile;
use cosim_block::worker::task::{Action, Task};
use cosim_formats::mutation::{GOLDEN as RESULT, counted};
use cosim_formats::run::Plan;
use cosim_formats::run::{DirectoryLock, OutputLocation};
use cosim_harness::harness::Profile;
use cosim_regress::blocks::BlockHandle;
use cosim_regress::setup::{Session, Setup};
use cosim_regress::worker::OneShotWorker;
use serde::Serialize;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Default number of faults of each profile.
const FAULTS: u32 = 1000;
/// Default number of cases of each scenario.
const CASES: u64 = 3;

/// Maximum number of faults that the report text lists.
const MAX_LISTED: usize = 20;

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
    let blocks = arguments.target.blocks()?;
    let mut corpus = Vec::new();
    for path in expand(&arguments.corpus)? {
        corpus.push(VectorFile::read(&path)?);
    }
    let mut jobs: Vec<(&'static BlockHandle, Vec<Profile>)> = Vec::new();
    for block in &blocks {
        let profiles = arguments.target.profiles(block).map_err(of_block(block, &blocks))?;
        jobs.push((*block, profiles));
    }
    let place = match &arguments.out {
        Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: arguments.force },
        None => OutputLocation::New {
            stem: format!("golden-{}-{}", arguments.target.name(&blocks), arguments.seed),
        },
    };
    let names: Vec<&str> = blocks.iter().map(|block| block.info().name).collect();
    let worker = OneShotWorker::new(arguments.limits.program()?, interruption()?);
    let cases = arguments.cases.unwrap_or(CASES);
    let mut reports = Vec::new();
    for ((block, profiles), place) in jobs.into_iter().zip(place.of_blocks(&names)?) {
        let graded = |profile: &Profile| {
            let setup = Setup {
                profiles: vec![profile.clone()],
                scenarios: arguments.scenario.clone(),
                packets: arguments.packets,
                rtl: Rtl::default(),
                coverage: false,
            };
            let session = Session::new(block, &setup)?;
            let plan = Plan {
                block: block.info().name,
                seed: arguments.run_seed.unwrap_or(1),
                profiles: setup.profiles,
                scenarios: session.scenarios(),
                indices: 0..cases,
                shard: Shard::WHOLE,
            };
            let request = FaultRequest {
                profile: profile.name.to_string(),
                scenarios: session.scenarios_text(),
                cases: plan.iter().collect(),
                packets: arguments.packets,
                corpus: corpus.clone(),
                faults: arguments.mutants.unwrap_or(FAULTS),
                seed: arguments.seed,
                threads: arguments.threads.count(),
            };
            let task = Task {
                block: block.info().name.to_owned(),
                profile: profile.name.to_string(),
                model: Built::Linked,
                action: Action::GoldenFaults(Box::new(request)),
            };
            worker.have::<ProfileFaults>(task)?.done()
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
            let line: String =
                report.profiles.iter().map(|graded| summary(graded, &report.block)).collect();
            print_text(&format!("{line}{}", path.display()))?;
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

/// The report text: counts, and the undetected faults.
fn summary(graded: &ProfileFaults, block: &str) -> String {
    let ProfileFaults { profile, cases, vectors, score, faults } = graded;
    let FaultScore { faults: all, seen, checks, corpus, either, percent } = score;
    let mut text = format!(
        "{block} {profile}: {all} faults in the golden model, {seen} change an output in \
         {cases} cases and {vectors} vectors; detected by checks {checks}, by the corpus \
         {corpus}, by either {either} ({percent:.2} %)\n"
    );
    let checks = faults.iter().filter_map(|fault| fault.noticed.as_ref());
    let by = counted(checks.map(|(check, _)| check.as_str()));
    if !by.is_empty() {
        let by: Vec<String> = by.iter().map(|(check, times)| format!("{check} {times}")).collect();
        let _ = writeln!(text, "  noticed by {}", by.join(", "));
    }
    let left: Vec<&Fault> =
        faults.iter().filter(|fault| fault.is_seen() && !fault.is_noticed()).collect();
    for fault in left.iter().take(MAX_LISTED) {
        let case = fault.differs.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  {:>5} {}: seen in {case} only", fault.id, fault.words());
    }
    if left.len() > MAX_LISTED {
        let _ = writeln!(text, "  and {} more undetected", left.len() - MAX_LISTED);
    }
    text
}
