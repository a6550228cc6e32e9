//! `cosim resume` of mutation analyses that were killed or interrupted.

use super::{
    Arguments, GradingResult, MutationAnalysis, MutationRequest, PreparedGrading, analysis, choose,
};
use crate::running::resume;
use cosim_analysis::mutate::merge::GRADING;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_formal::certificate::solver;
use cosim_formats::mutation::{PARTIAL, Report, RunCommand};
use cosim_formats::run::{DirectoryLock, runs_in};
use cosim_harness::harness::Profile;
use cosim_regress::blocks;
use cosim_regress::setup::Setup;
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::yosys;
use std::env;
use std::path::{Path, PathBuf};

/// The complete and the resumable analyses in a folder, of one block or of several.
pub(super) fn jobs(now: &resume::Arguments, folder: &Path) -> Result<Vec<MutationRequest>, Error> {
    let wrong = |message: String| Error::File {
        code: codes::CANNOT_RESUME,
        path: folder.to_owned(),
        message,
    };
    let folders = runs_in(folder, &GRADING)?;
    let mut reports: Vec<(PathBuf, Report)> = Vec::new();
    for folder in folders {
        let report = Report::read(&folder)?;
        finish_write(&folder, &report)?;
        reports.push((folder, report));
    }
    let place = |report: &Report| {
        blocks::all_blocks().iter().position(|block| block.info().name == report.run.block)
    };
    reports.sort_by_key(|(_, report)| place(report));
    let Some(run_command) = reports.iter().find_map(|(_, report)| report.run_command.clone())
    else {
        let message = "its analysis has ended, so there is nothing to resume; repeat it with `mutate --force`";
        return Err(wrong(message.to_owned()));
    };
    for (path, report) in reports.iter().filter(|(_, report)| !report.complete) {
        let started = report.run_command.as_ref().unwrap_or(&run_command);
        let is_own = started.is_own(&report.run.given);
        now.check_command(path, &started.command, &started.folder, is_own)?;
    }
    let RunCommand { command, folder: at, .. } = run_command;
    // The original arguments are relative to the original working directory.
    env::set_current_dir(&at).map_err(|error| {
        wrong(format!("was started in folder {}, which cannot be entered: {error}", at.display()))
    })?;
    let then = crate::mutate_arguments(&command)
        .ok_or_else(|| wrong("was not started by a compatible `mutate` command".to_owned()))?;
    let limits = then.limits.with_sandbox(now.sandboxing);
    let threads = now.threads.or(then.threads);
    let caching = if now.caching.is_off() { now.caching } else { then.caching };
    let arguments =
        Arguments { threads, quietness: now.output.quietness(), limits, caching, ..then };
    let todo = |(folder, report): (PathBuf, Report)| match report.complete {
        true => Ok(MutationRequest::Finished(Box::new(GradingResult {
            report,
            is_whole: true,
            folder,
        }))),
        false => Ok(MutationRequest::Analysis(Box::new(resumed(&arguments, &folder, report)?))),
    };
    reports.into_iter().map(todo).collect()
}

/// Finishes an analysis that was killed after writing its result, but before removing the partial
/// one.
fn finish_write(folder: &Path, report: &Report) -> Result<(), Error> {
    if !report.complete || !folder.join(PARTIAL).exists() {
        return Ok(());
    }
    let claim = DirectoryLock::lock_again(folder)?;
    report.write(folder)?;
    claim.release();
    Ok(())
}

fn resumed(
    arguments: &Arguments,
    folder: &Path,
    before: Report,
) -> Result<MutationAnalysis, Error> {
    let wrong = |message: String| Error::File {
        code: codes::CANNOT_RESUME,
        path: folder.to_owned(),
        message,
    };
    let run = before.run.clone();
    let block = blocks::find(&run.block).ok_or_else(|| {
        wrong(format!(
            "this program has no block `{}`; use the program that made \
             the results",
            run.block
        ))
    })?;
    let profiles = run.profiles.iter().map(|name| {
        let found = Profile::parse(name, block.info().profiles);
        found.map_err(|error| wrong(error.to_string()))
    });
    let profiles = profiles.collect::<Result<Vec<Vec<Profile>>, Error>>()?.concat();
    let setup = Setup {
        profiles: profiles.clone(),
        scenarios: run.scenarios.clone(),
        packets: run.packets,
        rtl: run.given.clone(),
        coverage: false,
    };
    let now = run.given.examined(block.info())?.identity.clone();
    let yosys = yosys::version()?;
    let named = |solver: Option<String>| solver.unwrap_or_else(|| "missing".to_owned());
    let solver = named(solver::version());
    for (what, then, now) in [
        ("RTL", run.rtl.as_str(), now.as_str()),
        ("build of the program", &run.build, program::build()),
        ("Yosys", &run.yosys, &yosys),
        ("CaDiCaL", &named(run.solver.clone()), &solver),
    ] {
        if then != now {
            let message = format!(
                "cannot be resumed: {what} was {then} and is {now} now; start again with \
                     `mutate --force`"
            );
            return Err(wrong(message));
        }
    }
    let chosen = choose(block, &setup, &run, &arguments.caching.answers()?)?;
    let claim = DirectoryLock::lock_again(folder)?;
    let name = block.info().name.to_owned();
    let prepared = PreparedGrading { name, block, chosen, setup, header: run };
    analysis(arguments, prepared, claim, before)
}
