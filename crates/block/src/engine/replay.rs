//! Replays a vector, with a waveform and records of the cycles around its end.

use crate::observe::{Observed, Record};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{self, Blame, Block, Outcome, Profile, Stimulus, Verdict, Watch};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use verilated::ModelKind;
use verilated_runtime::Tracing;

/// The request for a waveform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waves {
    /// The file. Its ending selects the format.
    #[serde(with = "cosim_base::path_bytes")]
    pub path: PathBuf,
    /// Whether to trace every cycle instead of those around the end.
    pub all: bool,
}

/// Position of the date in the header of an FST file: after block type, nine 8-byte fields, the
/// time scale and 128 bytes of version.
const FST_DATE: Range<u64> = 202..321;

/// The FST block types that contain the hierarchy, each with another compression.
const FST_HIERARCHY: [u8; 3] = [4, 6, 7];

/// Cycles traced before a failure.
const BEFORE: u64 = 50;
/// Cycles traced after a mismatch.
const AFTER: u64 = 10;

impl Waves {
    /// The format for a file's ending.
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
                Err(Error::Usage(codes::BAD_OUTPUT, message))
            }
        }
    }
}

/// Runs a stimulus once.
pub fn replay<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Outcome, Error> {
    watch.model(|| {
        let mut model = kind.create(stimulus.before_reset)?;
        Ok(harness::run(stimulus, &profile.parameters, &mut model, watch))
    })
}

/// Determines the blame: runs RTL and golden model separately with a stimulus.
pub fn judge<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Blame, Error> {
    watch.model(|| {
        let mut model = kind.create(stimulus.before_reset)?;
        Ok(harness::judge(stimulus, &profile.parameters, &mut model, watch))
    })
}

/// Runs a stimulus again and writes a waveform. `outcome` is that of the run without tracing. It
/// selects the traced cycles, and the traced run must repeat it.
///
/// # Errors
/// [`Error::Lost`] if the model ends differently with tracing, or [`Error::Write`].
pub fn trace<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    outcome: &Outcome,
    waves: &Waves,
    watch: &Watch,
) -> Result<(), Error> {
    let window = if waves.all { 0..u64::MAX } else { window(outcome, [BEFORE, AFTER]) };
    let mut observed = Observed::<B>::new(kind, stimulus.before_reset, window, AFTER)?;
    observed.trace(&waves.path)?;
    let seen = harness::run(stimulus, &profile.parameters, &mut observed, watch);
    is_the_same(&outcome.verdict, &seen.verdict)?;
    let lost = observed.trace_error().map(ToString::to_string);
    finish_waves(&waves.path, lost.or(observed.finish().err().map(|error| error.to_string())))
}

/// Checks a written waveform. `lost` is why the trace ended early.
fn finish_waves(path: &Path, lost: Option<String>) -> Result<(), Error> {
    let reason = match lost {
        Some(reason) => reason,
        None if is_whole(path)? => return undate(path),
        None => "the waveform is incomplete; check that the disk is not full".to_owned(),
    };
    Err(Error::write(path)(io::Error::other(reason)))
}

/// Checks that the observed run has the same verdict, because RTL may detect the observing top.
fn is_the_same(verdict: &Verdict, observed: &Verdict) -> Result<(), Error> {
    if verdict.is_repeated_by(observed) || *observed == Verdict::Cancelled {
        return Ok(());
    }
    Err(Error::Lost(
        codes::NOT_REPRODUCIBLE,
        format!(
            "the RTL behaves differently while it is traced: the result is {observed} with the \
             trace and {verdict} without"
        ),
    ))
}

/// Whether the runtime wrote the whole file. It does not report all errors.
fn is_whole(path: &Path) -> Result<bool, Error> {
    let mut file = File::open(path).map_err(Error::write(path))?;
    let length = file.metadata().map_err(Error::write(path))?.len();
    match Waves::format(path)? {
        Tracing::Fst => Ok(fst_ends(&mut file, length)),
        _ => {
            let mut last = [0];
            let read = file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last));
            Ok(read.is_ok() && last == [b'\n'])
        }
    }
}

/// Whether an FST file is a complete sequence of blocks, each with type and length, and one of them
/// has the hierarchy.
fn fst_ends(file: &mut (impl Read + Seek), length: u64) -> bool {
    let (mut position, mut has_hierarchy) = (0, false);
    while position < length {
        let mut head = [0; 9];
        let read = file.seek(SeekFrom::Start(position)).and_then(|_| file.read_exact(&mut head));
        let [kind, size @ ..] = head;
        let Some(next) = u64::from_be_bytes(size).checked_add(position + 1) else { return false };
        if read.is_err() || next < position + 9 {
            return false;
        }
        has_hierarchy |= FST_HIERARCHY.contains(&kind);
        position = next;
    }
    position == length && has_hierarchy
}

/// Blanks the date in the header of an FST file, so that the same case gives the same bytes.
fn undate(path: &Path) -> Result<(), Error> {
    if Waves::format(path)? != Tracing::Fst {
        return Ok(());
    }
    let mut file = OpenOptions::new().write(true).open(path).map_err(Error::write(path))?;
    file.seek(SeekFrom::Start(FST_DATE.start)).map_err(Error::write(path))?;
    let blank = vec![0; (FST_DATE.end - FST_DATE.start) as usize];
    file.write_all(&blank).map_err(Error::write(path))
}

/// Runs a stimulus again and records a number of cycles before its end, and of cycles after it.
///
/// # Errors
/// [`Error::Lost`] if the model ends differently while it is observed, or [`Error::Model`].
pub fn record<B: Block>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    outcome: &Outcome,
    around: [u64; 2],
    watch: &Watch,
) -> Result<Vec<Record>, Error> {
    let window = window(outcome, around);
    let mut observed = Observed::<B>::new(kind, stimulus.before_reset, window, around[1])?;
    let seen = harness::run(stimulus, &profile.parameters, &mut observed, watch);
    is_the_same(&outcome.verdict, &seen.verdict)?;
    observed.finish()
}

fn window(outcome: &Outcome, [before, after]: [u64; 2]) -> Range<u64> {
    let end = outcome.verdict.cycle().unwrap_or(outcome.cycles);
    end.saturating_sub(before)..end.saturating_add(after + 1)
}
