//! `cosim mutate --only`: analyses one mutant and writes its RTL, the case that kills it, waves
//! and explanation.

use super::{Arguments, PreparedGrading, claimed};
use crate::failures::explain;
use crate::{interruption, print_text};
use cosim_analysis::agreement::Pair;
use cosim_analysis::mutate::analysis::{ChosenMutants, check_netlist, check_rtl};
use cosim_analysis::mutate::grade::{CaseSet, Workers};
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_block::engine::Waves;
use cosim_block::mutate::KillMethod;
use cosim_block::rtl::Rtl;
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::mutation::{Mutation, VECTORS};
use cosim_regress::worker::OneShotWorker;
use cosim_regress::worker::one_shot::VectorJob;
use cosim_rtl::backend::{RtlModels as _, View};
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

/// Cases to run before checking for a kill.
const BATCH: usize = 64;

/// Analyses one mutant. Exit code 1 if it survives.
pub fn execute(arguments: &Arguments, id: u32) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    // Check that the mutant exists before writing anything.
    let blocks = arguments.target.blocks()?;
    let [block] = &blocks[..] else {
        return Err(Error::Usage(
            codes::CHOOSE_ONE,
            "--only takes one block; choose it with --block".to_owned(),
        ));
    };
    if arguments.target.profiles(block)?.len() > 1 {
        let message = "--only takes one profile, because each profile has other mutants; choose it \
             with --fixes";
        return Err(Error::Usage(codes::CHOOSE_ONE, message.to_owned()));
    }
    let prepared = PreparedGrading::new(arguments, block, &blocks)?;
    let most = prepared.chosen.iter().map(|chosen| chosen.mutants.mutations.len()).sum::<usize>();
    if id == 0 || id as usize > most {
        return Err(Error::Usage(
            codes::COMMAND_LINE,
            format!("--only: mutants have the numbers 1 to {most}"),
        ));
    }
    let jobs = claimed(arguments, vec![prepared])?;
    let missing = || Error::Environment(codes::INTERNAL, "no mutant has this number".to_owned());
    let job = jobs.into_iter().next().ok_or_else(missing)?;
    let ChosenMutants { profile, mutants } = job.chosen.first().ok_or_else(missing)?;
    let mutation =
        mutants.mutations.iter().find(|mutation| mutation.id == id).ok_or_else(missing)?;
    print_text(&format!(
        "mutant {id} of {} {}: {}",
        job.header.block,
        profile.name,
        about(mutation)
    ))?;

    // The RTL with this mutation only, inserted by Yosys itself.
    let folder = job.lock.folder.join(VECTORS);
    fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
    let path = |ending: &str| folder.join(format!("{}-{id}.{ending}", profile.name));
    let rtl = Rtl { paths: vec![path("v")], ..Rtl::default() };
    write_whole(&path("v"), mutants.rtl_with(mutation)?.as_bytes(), Sync::OnDisk)?;

    let session = job.session(profile)?;
    let cases = job.cases(profile, &session);
    let model = mutants.build(job.block.info(), std::slice::from_ref(mutation))?;
    let worker = OneShotWorker::new(job.program.clone(), Arc::clone(&interrupted));
    let unchanged =
        job.setup.rtl.build_for_user(job.block.info(), &profile.parameters, View::Quick)?;
    Pair { block: job.block, profile, rtl: &unchanged, netlist: &model }.check(&worker)?;
    let ground = CaseSet {
        block: job.block.info().name,
        profile: &profile.name,
        model: &model,
        scenarios: &session.opening(0)?.scenarios,
        packets: job.header.packets,
        cases: &cases,
        method: KillMethod::Compare,
    };
    let workers =
        Workers { program: &job.program, threads: job.threads, interrupted: &interrupted };
    let mut found = None;
    for begin in (0..cases.len()).step_by(BATCH) {
        let end = cases.len().min(begin + BATCH);
        // Refuse a case that fails without the mutation.
        check_rtl(&workers, &ground, &unchanged, begin..end)?;
        let mut all = workers.round(&ground, begin..end, &[0, id])?;
        check_netlist(&all, &ground)?;
        found = all.remove(&id);
        if found.is_some() {
            break;
        }
    }
    let Some((index, outcome)) = found else {
        print_text(&format!("survived {} cases; its RTL: {}", cases.len(), path("v").display()))?;
        job.lock.release();
        return Ok(ExitCode::from(1));
    };
    let case = &cases[index];
    print_text(&format!("killed by {}: {}", case.name, outcome.verdict))?;
    let origin = Origin {
        about: format!("finds a mutation: {}", about(mutation)),
        case: Some(case.name.clone()),
        seed: Some(job.header.run_seed),
        build: Some(job.header.build.clone()),
        rtl: Some(rtl.examined(job.block.info())?.identity.clone()),
        given: rtl.clone(),
        ..Origin::default()
    };
    let text = session.vector(case, origin, Some(&outcome.verdict))?;
    let vector = path("json");
    write_whole(&vector, text.as_bytes(), Sync::OnDisk)?;
    let file = VectorFile::from_text(text, &vector)?;
    let subject = VectorJob { block: job.block, vector: &file, profile, rtl: &rtl };
    worker.trace(&subject, Waves { path: path("fst"), all: false })?.done()?;
    explain::show(vector, rtl, arguments.limits, interrupted)?;
    let [vector, waves, rtl] =
        ["json", "fst", "v"].map(|ending| path(ending).display().to_string());
    print_text(&format!("vector {vector}, waves {waves}, RTL {rtl}"))?;
    job.lock.release();
    Ok(ExitCode::SUCCESS)
}

fn about(mutation: &Mutation) -> String {
    format!("{}: {}", mutation.first_place(), mutation.words())
}
