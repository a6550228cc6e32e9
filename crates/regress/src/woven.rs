//! Finds all bugs of a block in one model, into which [`weave`] puts them.
//!
//! A bug counts as found only if one of the cases of a default run fails with it, so the result is
//! that of `cosim run --max-failures 1`. Shrinking, replay and blame are not checked here: see
//! `Checks::bugs_are_found`.

mod weave;

use crate::blocks::BlockHandle;
use crate::mutate::grade::{CaseSet, Workers, cases_of, rounds};
use crate::mutate::woven_model;
use crate::setup::{Session, Setup};
use crate::worker::WorkerProgram;
use cosim_base::error::Error;
use cosim_block::built::Built;
use cosim_block::checks::{CheckFailures, Result, SEEDS, WovenBug, patched};
use cosim_block::engine::SessionSetup;
use cosim_block::mutate::KillMethod;
use cosim_block::rtl::Rtl;
use cosim_harness::harness::{BlockInfo, Case, Profile, Verdict};
use cosim_rtl::models::{RtlModels as _, kept};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use verilated_build::{Design, Kept};
use verilated_runtime::Verilator;
use weave::{WeaveError, Woven, weave};

/// The number that selects the good RTL.
const GOOD: u32 = 0;
/// The context of the search for the bugs of one block.
struct BugSearch<'a> {
    block: &'static BlockHandle,
    top: &'a str,
    /// The preprocessed good RTL.
    good: String,
    /// The preprocessed RTL of each bug, by the bug's number.
    bugs: BTreeMap<u32, String>,
    program: WorkerProgram,
    kept: Kept,
}

/// Runs the default cases of each of [`SEEDS`] on the bugs that patches add to a block.
///
/// # Errors
/// If a patch does not apply, or if the good RTL fails.
pub fn find_bugs(
    block: &'static BlockHandle,
    patches: &[PathBuf],
    program: WorkerProgram,
) -> Result<Vec<WovenBug>> {
    let examined = Rtl::default().examined(block.info())?;
    let verilator = Verilator::find().map_err(Error::from)?;
    let preprocessed = |patch| preprocessed(block.info(), &verilator, patch);
    let good = preprocessed(None)?;
    let texts: Vec<Result<String>> =
        patches.par_iter().map(|patch| preprocessed(Some(patch))).collect();
    let mut changed = BTreeMap::new();
    let mut unusable = BTreeMap::new();
    for (number, text) in (1..).zip(texts) {
        match text {
            Ok(text) => drop(changed.insert(number, text)),
            Err(failed) => drop(unusable.insert(number, failed.to_string())),
        }
    }
    let top = &examined.design.top;
    let search = BugSearch { block, top, good, bugs: changed, program, kept: kept()? };
    let mut numbers: BTreeSet<u32> = search.bugs.keys().copied().collect();
    let Woven { unwoven, .. } = search.woven(&numbers)?;
    numbers.retain(|number| !unwoven.contains_key(number));
    unusable.extend(unwoven.into_iter().map(|(number, WeaveError(reason))| (number, reason)));
    let found = search.found(&numbers)?;
    let bug = |(number, patch): (u32, &PathBuf)| WovenBug {
        name: patch.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        unwoven: unusable.get(&number).cloned(),
        found: found.iter().map(|found| found.get(&number).cloned()).collect(),
    };
    Ok((1..).zip(patches).map(bug).collect())
}

impl BugSearch<'_> {
    /// Weaves these bugs into one text.
    fn woven(&self, bugs: &BTreeSet<u32>) -> Result<Woven> {
        let bugs: Vec<(u32, &str)> = self
            .bugs
            .iter()
            .filter(|(number, _)| bugs.contains(number))
            .map(|(number, text)| (*number, text.as_str()))
            .collect();
        weave(&self.good, self.top, &bugs).map_err(|WeaveError(reason)| {
            CheckFailures::one(format!("the RTL cannot be woven: {reason}"))
        })
    }

    /// Returns, for each seed, the first failure of each bug that the seed finds. A round runs its
    /// cases in every profile before the next round begins, because the first cases of one profile
    /// find many bugs that no case of another profile finds.
    fn found(&self, bugs: &BTreeSet<u32>) -> Result<Vec<BTreeMap<u32, Verdict>>> {
        let block = self.block;
        let open = |found: &BTreeMap<u32, Verdict>| -> BTreeSet<u32> {
            bugs.iter().filter(|bug| !found.contains_key(bug)).copied().collect()
        };
        let mut found = vec![BTreeMap::new(); SEEDS.len()];
        let mut runs: Vec<Option<ProfileRun<'_>>> =
            block.info().profiles.iter().map(|_| None).collect();
        let mut begin = 0;
        for end in rounds(block.info().cases) {
            for (index, (profile, run)) in block.info().profiles.iter().zip(&mut runs).enumerate() {
                let any_open: BTreeSet<u32> = found.iter().flat_map(open).collect();
                if any_open.is_empty() && index > 0 {
                    break;
                }
                let run = match run {
                    Some(run) => run,
                    None => run.insert(self.profile_run(profile, &any_open)?),
                };
                for (seed, found) in found.iter_mut().enumerate() {
                    // The good RTL must pass, or a weaving error would count as a found bug. The
                    // first seed runs it on all cases of the first profile, and in other profiles
                    // as far as bugs need cases.
                    let good = (seed == 0).then_some(GOOD);
                    let numbers: Vec<u32> = good.into_iter().chain(open(found)).collect();
                    if !numbers.is_empty() {
                        found.extend(run.round(&self.program, seed, begin..end, &numbers)?);
                    }
                }
            }
            begin = end;
        }
        Ok(found)
    }

    /// Builds a model of one profile with these bugs, and generates the cases of every seed.
    fn profile_run(
        &self,
        profile: &'static Profile,
        bugs: &BTreeSet<u32>,
    ) -> Result<ProfileRun<'_>> {
        let block = self.block;
        let text = self.woven(bugs)?.text;
        let model = woven_model(block.info(), &profile.parameters, &text, self.kept.clone())?;
        let session = Session::new(
            block,
            &Setup {
                profiles: vec![profile.clone()],
                scenarios: Vec::new(),
                packets: None,
                rtl: Rtl::default(),
                coverage: false,
            },
        )?;
        let cases = SEEDS
            .map(|seed| cases_of(block.info(), &session, profile, seed, 0..block.info().cases));
        let opening = session.opening(u64::MAX)?;
        Ok(ProfileRun {
            block,
            profile,
            model,
            opening,
            cases,
            scenarios: session.scenarios().len(),
        })
    }
}

/// The cases of one profile, and a model with the bugs.
struct ProfileRun<'a> {
    block: &'a BlockHandle,
    profile: &'a Profile,
    model: Built,
    opening: SessionSetup,
    /// By seed.
    cases: [Vec<Case>; SEEDS.len()],
    scenarios: usize,
}

impl ProfileRun<'_> {
    /// Runs the cases of one round on some of the bugs. Returns the first failure of each bug that
    /// is found.
    fn round(
        &self,
        program: &WorkerProgram,
        seed: usize,
        round: Range<u64>,
        bugs: &[u32],
    ) -> Result<BTreeMap<u32, Verdict>> {
        let cases = &self.cases[seed];
        let ground = CaseSet {
            block: self.block.info().name,
            profile: &self.profile.name,
            model: &self.model,
            scenarios: &self.opening.scenarios,
            packets: None,
            cases,
            method: KillMethod::Compare,
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let workers = Workers { program, threads, interrupted: &Arc::default() };
        let place = |index: u64| usize::try_from(index).unwrap_or(usize::MAX) * self.scenarios;
        let found = workers.round(&ground, place(round.start)..place(round.end), bugs)?;
        if let Some((case, outcome)) = found.get(&GOOD) {
            let (case, verdict) = (&cases[*case].name, &outcome.verdict);
            return Err(CheckFailures::one(format!(
                "the woven RTL without a bug: {case}: {verdict}"
            )));
        }
        Ok(found.into_iter().map(|(bug, (_, outcome))| (bug, outcome.verdict)).collect())
    }
}

/// Preprocesses the RTL of a block, with an optional patch, into one text.
fn preprocessed(
    info: &'static BlockInfo,
    verilator: &Verilator,
    patch: Option<&PathBuf>,
) -> Result<String> {
    let folder = patched(info, patch.map(PathBuf::as_path))?;
    // These files include all others.
    let is_source =
        |name: &Path| name.extension().is_some_and(|ending| ending == "v" || ending == "sv");
    let names = info.rtl.sources.iter().map(|(name, _)| PathBuf::from(name));
    let sources: Vec<PathBuf> = names.filter(|name| is_source(name)).collect();
    let design = Design {
        sources: sources.clone(),
        include: vec![".".into()],
        folder: Some(folder.path().to_owned()),
        ..Rtl::default().examined(info)?.design.clone()
    };
    let texts = design.preprocess(verilator).map_err(Error::from)?.texts;
    Ok(sources.iter().filter_map(|source| texts.get(source)).map(String::as_str).collect())
}
