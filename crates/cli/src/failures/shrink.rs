//! `cosim shrink`.

use crate::failures::failure::NumberedRun;
use crate::failures::replay::{CheckedVector, load};
use crate::terminal::options::{
    Format, Formatting, ModelLimits, Quietness, VectorRtl, VectorTarget, check_output, heading,
    only, path, whole_number,
};
use crate::terminal::progress;
use crate::{INTERRUPTED, counted, interruption, next_line, print_json, print_text, written};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::files::{Sync, write_whole};
use cosim_base::text;
use cosim_block::engine::{ShrinkProgress, ShrunkVector};
use cosim_harness::harness::Signature;
use cosim_regress::runner::SHRINK_BUDGET;
use cosim_regress::worker::OneShotWorker;
use cosim_regress::worker::one_shot::VectorJob;
use cosim_report::paths::word;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use verilated_build::activity::Activity;

/// A failing vector to make smaller.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Vector to shrink, or the number of a failure of the latest run.
    #[arg(value_name = "VECTOR|N", value_parser = path, default_value = "1")]
    vector: PathBuf,
    #[command(flatten)]
    run: NumberedRun,
    #[command(flatten)]
    target: VectorTarget,
    #[command(flatten)]
    rtl: VectorRtl,
    /// Write the smaller vector to FILE [default: VECTOR with the ending .shrunk.json].
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    /// Stop the search after N cycles of simulation.
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true, value_parser = whole_number::<u64>(0..=u64::MAX), default_value_t = 8 * SHRINK_BUDGET, help_heading = heading::STOP)]
    budget: u64,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    #[command(flatten)]
    limits: ModelLimits,
}

impl Arguments {
    pub fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.vector)
    }
}

struct Shown(Activity);

impl ShrinkProgress for Shown {
    fn candidate(&mut self, candidates: u64, kept: u64) {
        self.0.note(format!("{candidates} candidates tried, {kept} accepted"));
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let path = arguments.run.vector(&arguments.vector)?;
    let vector: CheckedVector = load(&path, arguments.target.block.as_deref())?;
    let profiles = vector.loaded.profiles(
        arguments.target.choice.fixes.as_deref(),
        &arguments.target.choice.overrides()?,
    )?;
    let profile = only(&profiles)?;
    let rtl = arguments.rtl.of_vector(&path, &vector.loaded)?;
    vector.loaded.check_profiles(&rtl, &profiles)?;
    let out = arguments.out.clone().unwrap_or_else(|| path.with_extension("shrunk.json"));
    check_output(&out)?;
    if arguments.quietness.quiet {
        progress::hush();
    }
    let mut shown = Shown(Activity::start(format!("shrinking {}", path.display())));
    let worker = OneShotWorker::new(arguments.limits.program()?, Arc::clone(&interrupted));
    let subject = VectorJob { block: vector.block, vector: &vector.file, profile, rtl: &rtl };
    let shrunk = worker.shrink(&subject, arguments.budget, &mut shown);
    drop(shown);
    let shrunk = shrunk?.done()?;
    let ShrunkVector { outcome, candidates, out_of_budget, is_smaller, .. } = &shrunk;
    // A file that was asked for is written in any case.
    let is_written = *is_smaller || arguments.out.is_some();
    let out = if is_written { out } else { path };
    if is_written {
        write_whole(&out, shrunk.text.as_bytes(), Sync::OnDisk)?;
    }
    let ended = match (interrupted.load(Ordering::Relaxed), out_of_budget) {
        (true, _) => ", interrupted",
        (false, true) => ", stopped by --budget",
        (false, false) => "",
    };
    match arguments.formatting.format {
        Format::Json => print_json(&json!({
            "vector": out.to_string_lossy(),
            "packets": outcome.packets,
            "cycles": outcome.cycles,
            "candidates": candidates,
            "complete": ended.is_empty(),
            "signature": Signature::from_verdict(&outcome.verdict),
            "outcome": outcome.verdict,
        }))?,
        Format::Text => {
            let already = if *is_smaller { "" } else { "already smallest: " };
            let next = word(&out);
            let mut next = vec!["explain", &next];
            let rtl = rtl.arguments();
            if arguments.rtl.is_named() {
                next.extend(rtl.iter().map(String::as_str));
            }
            let end = match is_written {
                true => written(&out, &next),
                false => next_line(&next),
            };
            print_text(&format!(
                "{}: {already}{}, {}, {} tried{ended}\n  {}\n{end}",
                text::path(&out),
                counted(outcome.packets, "packet"),
                counted(outcome.cycles, "cycle"),
                counted(*candidates, "candidate"),
                outcome.verdict
            ))?;
        }
    }
    Ok(ExitCode::from(if interrupted.load(Ordering::Relaxed) { INTERRUPTED } else { 0 }))
}
