//! Replaying a vector, with waves and a record of the cycles around its end.

use crate::error::Error;
use crate::harness::{self, Block, Outcome, Profile, Stimulus, Verdict, Watch};
use crate::models::Rtl;
use crate::observe::{Observed, Record};
use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use verilated::BeforeReset;
use verilated_build::Tracing;

/// Where and what to trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waves {
    /// The file; its ending says the format.
    pub path: PathBuf,
    /// Every cycle, and not only those around the end.
    pub all: bool,
}

/// Where an FST file's header has the date: behind block type, nine 8-byte fields, the time scale and
/// 128 bytes of version.
const FST_DATE: Range<u64> = 202..321;

/// Cycles traced before a failure.
const BEFORE: u64 = 50;
/// Cycles traced after a mismatch.
const AFTER: u64 = 10;

impl Waves {
    /// The format of a trace by its file's ending.
    ///
    /// # Errors
    /// [`Error::Usage`] for another ending.
    pub fn format(path: &Path) -> Result<Tracing, Error> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("vcd") => Ok(Tracing::Vcd),
            Some("fst") => Ok(Tracing::Fst),
            _ => {
                let message =
                    format!("--trace {}: expected a name in .fst or .vcd", path.display());
                Err(Error::Usage(message))
            }
        }
    }
}

/// Runs a stimulus once.
pub fn replay<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    rtl: &Rtl,
    watch: &Watch,
) -> Result<Outcome, Error> {
    let mut model = rtl.model::<B>(&profile.parameters)?.create(BeforeReset::Ones)?;
    Ok(harness::run(stimulus, &profile.parameters, &mut model, watch))
}

/// Runs a stimulus again with waves. `outcome` is what it did without: it says where to look.
pub fn trace<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    rtl: &Rtl,
    outcome: &Outcome,
    waves: &Waves,
    watch: &Watch,
) -> Result<(), Error> {
    let kind = rtl.observed::<B>(&profile.parameters, Waves::format(&waves.path)?)?;
    let window = if waves.all { 0..u64::MAX } else { window(outcome) };
    let mut observed = Observed::<B>::new(&kind, window, AFTER)?;
    observed.trace(&waves.path)?;
    harness::run(stimulus, &profile.parameters, &mut observed, watch);
    observed.finish();
    undate(&waves.path)
}

/// Blanks the date in the header of an FST file: the same case is to give the same bytes.
fn undate(path: &Path) -> Result<(), Error> {
    if Waves::format(path)? != Tracing::Fst {
        return Ok(());
    }
    let mut file = OpenOptions::new().write(true).open(path).map_err(Error::write(path))?;
    file.seek(SeekFrom::Start(FST_DATE.start)).map_err(Error::write(path))?;
    let blank = vec![0; (FST_DATE.end - FST_DATE.start) as usize];
    file.write_all(&blank).map_err(Error::write(path))
}

/// Runs a stimulus again and keeps the cycles around its end: so many before it, so many after it.
pub fn record<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    rtl: &Rtl,
    outcome: &Outcome,
    [before, after]: [u64; 2],
    watch: &Watch,
) -> Result<VecDeque<Record<B>>, Error> {
    let kind = rtl.observed::<B>(&profile.parameters, Tracing::Off)?;
    let end = end_of(outcome);
    let window = end.saturating_sub(before)..end.saturating_add(after + 1);
    let mut observed = Observed::<B>::new(&kind, window, after)?;
    harness::run(stimulus, &profile.parameters, &mut observed, watch);
    Ok(observed.finish())
}

/// The cycles worth a trace.
fn window(outcome: &Outcome) -> Range<u64> {
    let end = end_of(outcome);
    end.saturating_sub(BEFORE)..end.saturating_add(AFTER + 1)
}

/// The cycle in which a case was decided.
fn end_of(outcome: &Outcome) -> u64 {
    match &outcome.verdict {
        Verdict::Mismatch(mismatch) => mismatch.cycle,
        Verdict::Hang { cycle: Some(cycle), .. }
        | Verdict::CheckFailed { cycle, .. }
        | Verdict::Crashed { cycle: Some(cycle), .. } => *cycle,
        _ => outcome.cycles,
    }
}
