//! `cosim bench`.

use super::options::{Format, Patience, Target};
use super::summary::rtl_files;
use super::{interruption, print_json, print_text};
use crate::engine::{Action, BenchReport, Task};
use crate::error::Error;
use crate::models::View;
use crate::worker::Desk;
use clap::Args;
use std::process::ExitCode;

/// What to measure.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    patience: Patience,
}

/// Measures each profile.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let block = arguments.target.block()?;
    let rtl = arguments.target.rtl()?;
    let profiles = arguments.target.profiles(block)?;
    let desk = Desk::new(arguments.patience.program()?, interruption()?);
    let examined = block.examine(&rtl)?;
    block.check_profiles(&rtl, &profiles)?;
    let reports = profiles
        .iter()
        .map(|profile| {
            let model = block.build(profile, &rtl, View::Bare)?;
            let (block, profile) = (block.name().to_owned(), profile.name.to_string());
            desk.have(Task { block, profile, model, action: Action::Bench })?.done()
        })
        .collect::<Result<Vec<BenchReport>, Error>>()?;
    match arguments.format {
        Format::Json => print_json(&reports)?,
        Format::Text => {
            for report in &reports {
                print_text(&table(report))?;
            }
            if !rtl.is_built_in() {
                print_text(&format!("RTL {}, {}", examined.identity, rtl_files(&examined.files)))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(report: &BenchReport) -> String {
    let BenchReport { block, fixes, scenario, cycles, bare, lock_step, whole } = report;
    let row = |what: &str, speed: f64| {
        format!("  {what:58} {:7.2} M cycles/s  {:5.2}\n", speed / 1e6, speed / bare)
    };
    format!(
        "{block} {fixes}, scenario {scenario}, {cycles} cycles on one core, ratio to the bare model\n\
         {}{}{}",
        row("bare Verilated model, recorded inputs, driven from C++", *bare),
        row("lock-step loop: stimulus, golden model, compare, checks", *lock_step),
        row("whole cases: random generation and model creation, too", *whole),
    )
}
