//! `cosim bench`.

mod instructions;

use crate::running::summary::rtl_files;
use crate::terminal::options::{Format, Formatting, ModelLimits, Target, heading, of_block};
use crate::{interruption, print_json, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::engine::{BenchReport, PartTiming, Speed};
use cosim_block::rtl::Rtl;
use cosim_block::worker::task::{Action, Task};
use cosim_harness::harness::Profile;
use cosim_regress::blocks::BlockHandle;
use cosim_regress::worker::OneShotWorker;
use cosim_rtl::backend::{RtlModels as _, View};
use cosim_rtl::models::Examined;
use std::process::ExitCode;

/// What to measure.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Count instructions per cycle with valgrind instead, for the built-in RTL.
    #[arg(long, help_heading = heading::WHAT)]
    instructions: bool,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    limits: ModelLimits,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let rtl = arguments.target.rtl()?;
    let blocks = arguments.target.blocks()?;
    if arguments.instructions {
        return count(arguments, &blocks, &rtl);
    }
    let worker = OneShotWorker::new(arguments.limits.program()?, interruption()?);
    let mut all = Vec::new();
    for block in &blocks {
        let profiles = arguments.target.profiles(block).map_err(of_block(block, &blocks))?;
        let examined = rtl.examined(block.info())?;
        rtl.check_profiles(block.info(), &profiles)?;
        let reports = profiles
            .iter()
            .map(|profile| measure(&worker, block, profile, &rtl, &examined))
            .collect::<Result<Vec<BenchReport>, Error>>()?;
        if arguments.formatting.format == Format::Text {
            for report in &reports {
                print_text(&table(report))?;
            }
            let linked = profiles.iter().filter(|profile| is_linked(block, profile, &rtl));
            if rtl.is_usual() && instructions::can_count() {
                for profile in linked {
                    print_text(&instructions::count(block, &profile.name)?.line())?;
                }
            }
            if !rtl.is_built_in() {
                print_text(&format!("RTL {}, {}", examined.identity, rtl_files(&examined.files)))?;
            }
        }
        all.extend(reports);
    }
    if arguments.formatting.format == Format::Json {
        print_json(&all)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a model is linked into the program. Instructions are counted in a process that loads no
/// other model.
fn is_linked(block: &BlockHandle, profile: &Profile, rtl: &Rtl) -> bool {
    rtl.build_for_user(block.info(), &profile.parameters, View::Bare)
        .is_ok_and(|model| model == Built::Linked)
}

fn count(
    arguments: &Arguments,
    blocks: &[&'static BlockHandle],
    rtl: &Rtl,
) -> Result<ExitCode, Error> {
    if !rtl.is_usual() {
        let message = "--instructions counts the built-in RTL only; leave out --rtl, -D and \
             --simulator";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    let mut all = Vec::new();
    for block in blocks {
        for profile in &arguments.target.profiles(block).map_err(of_block(block, blocks))? {
            if !is_linked(block, profile, rtl) {
                let name = &profile.name;
                let message = format!(
                    "--instructions: this program contains no model of profile {name}; `cosim \
                     list` names the profiles"
                );
                return Err(Error::Usage(codes::UNKNOWN_PROFILE, message));
            }
            let counted = instructions::count(block, &profile.name)?;
            if arguments.formatting.format == Format::Text {
                print_text(&counted.rows())?;
            }
            all.push(counted);
        }
    }
    if arguments.formatting.format == Format::Json {
        print_json(&all)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    worker: &OneShotWorker,
    block: &BlockHandle,
    profile: &Profile,
    rtl: &Rtl,
    examined: &Examined,
) -> Result<BenchReport, Error> {
    let model = rtl.build_for_user(block.info(), &profile.parameters, View::Bare)?;
    let action =
        Action::Bench(rtl.build_for_user(block.info(), &profile.parameters, View::Plain)?);
    let (block, profile) = (block.info().name.to_owned(), profile.name.to_string());
    let task = Task { block, profile, model, action };
    let mut report: BenchReport = worker.run_task(task)?.done()?;
    // Show the user's paths instead of internal ones.
    report.two_evaluations = report.two_evaluations.map(|reason| examined.text(&reason));
    Ok(report)
}

fn table(report: &BenchReport) -> String {
    let BenchReport { block, fixes, scenario, cycles, .. } = report;
    let row = |what: &str, speed: &Speed| {
        let Speed { cycles_per_second, ratio } = speed;
        format!("  {what:66} {:7.2} M cycles/s  {ratio:5.2}\n", cycles_per_second / 1e6)
    };
    let driven = match &report.two_evaluations {
        None => "the same with registered inputs, one evaluation per cycle",
        Some(_) => "the same as the harness drives it, two evaluations per cycle",
    };
    let reason = report.two_evaluations.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!("  two evaluations: {reason}\n"));
    let part = |part: &PartTiming| format!("    {:24} {:7.1} ns\n", part.name, part.nanoseconds);
    format!(
        "{block} {fixes}, scenario {scenario}, {cycles} cycles on one core, ratio to the bare model\n\
         {}{}{reason}{}  coverage takes {:.1} % of the speed without it\n{}{}  for each cycle, alone\n{}",
        row("bare Verilated model, recorded inputs, driven from C++", &report.bare),
        row(driven, &report.driven),
        row("lock-step: stimulus, golden model, compare, checks, coverage", &report.lock_step),
        100.0 * report.coverage_cost,
        row("whole cases, with random generation and model creation", &report.whole),
        row("recorded cases on several RTLs in turn", &report.reused),
        report.parts.iter().map(part).collect::<String>(),
    )
}
