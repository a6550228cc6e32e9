//! Processes failures: groups them by signature, and stores vectors, blame and waveforms.

use crate::blocks::BlockHandle;
use crate::setup::Session;
use crate::suspects::suspicious_lines;
use crate::worker::OneShotWorker;
use crate::worker::one_shot::VectorJob;
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::engine::{ShrunkVector, Waves};
use cosim_block::explanation::Suspect;
use cosim_block::rtl::Rtl;
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::run::{
    CASES_SHOWN, EXPLAINED, Evidence, FAILURES, Group, MOST_LOCATED, MOST_VARIANTS,
    VECTORS_PER_GROUP, Variant, is_explained, settle_groups,
};
use cosim_harness::harness::{Blame, Case, Fingerprint, Outcome, Profile, Signature, Verdict};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use verilated_runtime::Tracing;

/// Cycles that shrinking one failure of a run may take: some seconds. It does not depend on other
/// failures, which may be those of another shard.
pub const SHRINK_BUDGET: u64 = 2_000_000;
const MOST_NOTES: usize = 6;
/// How long after an interruption vectors are still written. There may be hundreds, of many MiB.
const LAST_WORK: Duration = Duration::from_millis(300);
const VECTOR: &str = "json";
/// Ending of a vector before it is minimised.
const ORIGINAL: &str = "original.json";
/// How to process the first failure of a signature.
#[derive(Debug, Clone, Copy)]
pub struct FailureHandling {
    pub shrink: bool,
    pub waves: bool,
    pub sources: bool,
}

/// Stores failures, in the order of the plan.
pub struct Failures {
    block: &'static BlockHandle,
    session: Arc<Session>,
    rtl: Rtl,
    folder: PathBuf,
    origin: Origin,
    keep: FailureHandling,
    worker: OneShotWorker,
    groups: Vec<Group>,
    unwritten: Vec<Error>,
    interrupted: Cell<Option<Instant>>,
}

impl Failures {
    /// Failures of a run in `folder`. `origin` holds the fields that all vectors share.
    pub fn new(
        block: &'static BlockHandle,
        session: Arc<Session>,
        rtl: Rtl,
        folder: &Path,
        origin: Origin,
        keep: FailureHandling,
        worker: OneShotWorker,
    ) -> Self {
        let folder = folder.to_owned();
        Self {
            block,
            session,
            rtl,
            folder,
            origin,
            keep,
            worker,
            groups: Vec::new(),
            unwritten: Vec::new(),
            interrupted: Cell::new(None),
        }
    }

    /// The groups, by first appearance.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn restore(&mut self, groups: Vec<Group>) {
        self.groups = groups;
    }

    /// Number of kinds of failures. The first failure of each kind is shrunk, traced and judged.
    pub fn kinds(&self) -> usize {
        self.groups.iter().map(|group| group.variants.len()).sum()
    }

    /// Whether the user interrupted the run, so that files of a failure may be missing.
    pub fn is_interrupted(&self) -> bool {
        self.worker.is_interrupted()
    }

    pub fn unwritten(&self) -> &[Error] {
        &self.unwritten
    }

    /// Adds a failing case. Write errors become notes, and the failure still counts.
    ///
    /// # Errors
    /// [`Error::Environment`] if it has no vector.
    pub fn add(&mut self, case: &Case, profile: &Profile, outcome: &Outcome) -> Result<(), Error> {
        let Some(signature) = Signature::from_verdict(&outcome.verdict) else { return Ok(()) };
        if outcome.verdict == Verdict::NoGoldenModel {
            // All cases fail alike, so nothing is worth storing.
            return Ok(());
        }
        let stem = &format!("{signature}-{}", case.name);
        let origin = Origin {
            about: format!("{}: {}", case.name, outcome.verdict),
            case: Some(case.name.clone()),
            ..self.origin.clone()
        };
        let rule =
            Fingerprint::from_verdict(&outcome.verdict).map_or_else(String::new, |one| one.rule);
        if let Some(place) = self.groups.iter().position(|group| group.signature == signature) {
            let group = &mut self.groups[place];
            group.count += 1;
            if group.first_cases.len() < CASES_SHOWN {
                group.first_cases.push(case.clone());
            }
            match group.variants.iter().position(|variant| variant.rule == rule) {
                Some(known) => group.variants[known].count += 1,
                None if group.variants.len() >= MOST_VARIANTS => {
                    *group.further_rules.entry(rule).or_default() += 1;
                }
                None => {
                    let mut notes = Vec::new();
                    let kept = self.keep_first(case, profile, outcome, origin, stem, &mut notes);
                    let judgement = self.judge(&kept, profile, &mut notes);
                    let first = Evidence { judgement, notes, ..kept.evidence };
                    let group = &mut self.groups[place];
                    group.variants.push(Variant { rule, with: None, count: 1, first });
                    return Ok(());
                }
            }
            if self.groups[place].count <= VECTORS_PER_GROUP {
                let text = self.vector(case, origin, outcome);
                let group = &mut self.groups[place];
                let file = file(stem, VECTOR);
                if let Err(error) = text.and_then(|text| write(&self.folder, &file, &text)) {
                    let note = format!("cannot write a further vector: {error}");
                    let notes = &mut group.first.notes;
                    if !notes.contains(&note) && notes.len() < MOST_NOTES {
                        notes.push(note);
                    }
                    self.unwritten.push(error);
                }
            }
            return Ok(());
        }
        let mut notes = Vec::new();
        let kept = self.keep_first(case, profile, outcome, origin, stem, &mut notes);
        let judgement = self.judge(&kept, profile, &mut notes);
        let SavedFailure { evidence, text, lost, .. } = kept;
        let first = Evidence { judgement, ..evidence };
        let mut group = Group {
            explanation: None,
            signature,
            count: 1,
            waived: None,
            first: first.clone(),
            waves: None,
            suspects: Vec::new(),
            variants: vec![Variant { rule, with: None, count: 1, first }],
            further_rules: BTreeMap::new(),
            first_cases: vec![case.clone()],
        };
        if let Some(text) = text.as_ref().filter(|_| !lost && self.groups.len() < MOST_LOCATED)
            && !is_explained(&group, &self.groups)
        {
            group.suspects = self.suspects(text, profile, &mut notes);
        }
        let waves = file(stem, "fst");
        let traced = self.keep.waves
            && !lost
            && match text.as_ref().map(|text| self.trace(text.clone(), &waves, profile)) {
                Some(Ok(())) => true,
                None => false,
                Some(Err(error)) => {
                    notes.push(format!("no waves: {error}"));
                    if matches!(error, Error::Write { .. } | Error::Worker { .. })
                        && error.code().exit() == 3
                    {
                        self.unwritten.push(error);
                    }
                    false
                }
            };
        group.explanation = traced.then(|| self.explain(text, stem, profile, &mut notes)).flatten();
        group.waves = traced.then_some(waves);
        group.variants[0].first.notes.clone_from(&notes);
        group.first.notes = notes;
        self.groups.push(group);
        Ok(())
    }

    /// Stores the first failure of its kind, with its original and shrunk vectors.
    fn keep_first(
        &mut self,
        case: &Case,
        profile: &Profile,
        outcome: &Outcome,
        origin: Origin,
        stem: &str,
        notes: &mut Vec<String>,
    ) -> SavedFailure {
        let hangs = matches!(outcome.verdict, Verdict::Hang { cycle: None, .. });
        let lost = hangs || matches!(outcome.verdict, Verdict::Crashed { cycle: None, .. });
        // Write the original first, so that it exists whatever happens later.
        let name = file(stem, VECTOR);
        let as_found = self.vector(case, origin, outcome);
        let mut vector = self.keep_vector(&name, as_found.as_deref(), notes);
        let mut text = as_found.ok();
        let mut original = None;
        let mut shown = outcome.clone();
        let mut drawn = None;
        // Do not shrink a hang: every candidate would take the full timeout.
        if let Some(found) = text.clone().filter(|_| self.keep.shrink && !hangs) {
            let shrunk = if lost {
                self.shrink_lost(found.clone(), profile, &outcome.verdict)
            } else {
                self.shrink(found.clone(), profile)
            };
            match shrunk {
                Ok(shrunk) => {
                    if shrunk.out_of_budget {
                        notes.push(format!(
                            "shrinking stopped after {} candidates; `cosim shrink` continues",
                            shrunk.candidates
                        ));
                    }
                    // Hard-link the original, because the disk may have no room for a second copy.
                    let unshrunk = file(stem, ORIGINAL);
                    original = match &vector {
                        Some(path) => self.link_as(path, &unshrunk),
                        None => None,
                    }
                    .or_else(|| self.keep_vector(&unshrunk, Ok(&found), notes));
                    if let Some(path) = self.keep_vector(&name, Ok(&shrunk.text), notes) {
                        vector = Some(path);
                        text = Some(shrunk.text);
                        drawn = Some(found);
                        shown = shrunk.outcome;
                    }
                }
                Err(error) => notes.push(format!("not shrunk: {error}")),
            }
        }
        let evidence = Evidence {
            case: case.name.clone(),
            verdict: shown.verdict,
            judgement: None,
            notes: Vec::new(),
            vector,
            original,
            packets: shown.packets,
            cycles: shown.cycles,
        };
        SavedFailure { evidence, text, drawn, lost }
    }

    fn vector(&self, case: &Case, origin: Origin, outcome: &Outcome) -> Result<String, Error> {
        if self.is_too_late() {
            return Err(Error::Interrupted);
        }
        self.session.vector(case, origin, Some(&outcome.verdict))
    }

    /// Whether an interruption was too long ago to start another vector. The results still hold the
    /// failure and the command that reproduces it.
    fn is_too_late(&self) -> bool {
        if self.interrupted.get().is_none() && self.worker.is_interrupted() {
            self.interrupted.set(Some(Instant::now()));
        }
        self.interrupted.get().is_some_and(|since| since.elapsed() > LAST_WORK)
    }

    /// Returns an error after an interruption, before a large vector is parsed.
    fn check_interrupted(&self) -> Result<(), Error> {
        if self.worker.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub fn settle(&mut self) {
        settle_groups(&mut self.groups);
    }

    /// Writes a vector, or notes the error. Returns the file if it is written.
    fn keep_vector(
        &mut self,
        name: &RunFile,
        text: Result<&str, &Error>,
        notes: &mut Vec<String>,
    ) -> Option<RunFile> {
        let written = match text {
            Ok(text) => write(&self.folder, name, text),
            Err(error) => Err(Error::Environment(codes::INTERNAL, format!("{name}: {error}"))),
        };
        match written {
            Ok(()) => Some(name.clone()),
            Err(error) => {
                let note = format!("not written: {error}");
                // The original and the shrunk vector may fail with the same error.
                if !notes.contains(&note) {
                    notes.push(note);
                    self.unwritten.push(error);
                }
                None
            }
        }
    }

    /// Hard-links a vector under a second name, so that a shrunk one can replace the first. Returns
    /// `None` if the file system has no hard links.
    fn link_as(&self, file: &RunFile, again: &RunFile) -> Option<RunFile> {
        let linked = fs::hard_link(file.path(&self.folder), again.path(&self.folder));
        linked.ok().map(|()| again.clone())
    }

    /// Shrinks a vector whose model ends its process.
    fn shrink_lost(
        &self,
        text: String,
        profile: &Profile,
        verdict: &Verdict,
    ) -> Result<ShrunkVector, Error> {
        self.check_interrupted()?;
        let vector = VectorFile::from_text(text, &self.folder)?;
        let subject = self.subject(&vector, profile);
        self.worker.shrink_lost(&subject, verdict, SHRINK_BUDGET, &mut ())
    }

    fn shrink(&self, text: String, profile: &Profile) -> Result<ShrunkVector, Error> {
        self.check_interrupted()?;
        let vector = VectorFile::from_text(text, &self.folder)?;
        self.worker.shrink(&self.subject(&vector, profile), SHRINK_BUDGET, &mut ())?.done()
    }

    /// The blame of the shrunk vector, or of the original if no check decides on the shrunk one.
    fn judge(
        &self,
        kept: &SavedFailure,
        profile: &Profile,
        notes: &mut Vec<String>,
    ) -> Option<Blame> {
        if kept.lost {
            return None;
        }
        let mut first: Option<Blame> = None;
        for (text, shrunk) in [(kept.text.as_ref(), true), (kept.drawn.as_ref(), false)] {
            let Some(text) = text else { continue };
            if first.as_ref().is_some_and(Blame::is_of_raw_pins) {
                break;
            }
            match self.judge_one(text, profile) {
                Ok(judgement) if judgement.is_decided() => {
                    if !shrunk {
                        notes.push(
                            "blame is that of the original case, before shrinking".to_owned(),
                        );
                    }
                    return Some(judgement);
                }
                Ok(judgement) => first = first.or(Some(judgement)),
                Err(error) => notes.push(format!("not judged: {error}")),
            }
        }
        first
    }

    fn judge_one(&self, text: &str, profile: &Profile) -> Result<Blame, Error> {
        self.check_interrupted()?;
        let vector = VectorFile::from_text(text.to_owned(), &self.folder)?;
        self.worker.judge(&self.subject(&vector, profile))?.done()
    }

    fn suspects(&self, text: &str, profile: &Profile, notes: &mut Vec<String>) -> Vec<Suspect> {
        let find = || {
            self.check_interrupted()?;
            let vector = VectorFile::from_text(text.to_owned(), &self.folder)?;
            suspicious_lines(&self.worker, &self.subject(&vector, profile))
        };
        match find() {
            Ok(located) => located,
            Err(error) => {
                notes.push(format!("no suspicious lines: {error}"));
                Vec::new()
            }
        }
    }

    fn trace(&self, text: String, waves: &RunFile, profile: &Profile) -> Result<(), Error> {
        self.check_interrupted()?;
        let path = waves.path(&self.folder);
        let folder = self.folder.join(FAILURES);
        fs::create_dir_all(&folder).map_err(Error::write(folder))?;
        let vector = VectorFile::from_text(text, &path)?;
        self.worker.trace(&self.subject(&vector, profile), Waves { path, all: false })?.done()
    }

    /// Stores the explanation of a failure. Returns the file if it is written.
    fn explain(
        &self,
        text: Option<String>,
        stem: &str,
        profile: &Profile,
        notes: &mut Vec<String>,
    ) -> Option<RunFile> {
        let explain = |text| {
            self.check_interrupted()?;
            let vector = VectorFile::from_text(text, &self.folder)?;
            let explanation =
                self.worker.explain(&self.subject(&vector, profile), Tracing::Fst)?.done()?;
            let text = serde_json::to_string(&explanation)
                .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
            let file = file(stem, EXPLAINED);
            write(&self.folder, &file, &(text + "\n"))?;
            Ok(file)
        };
        match explain(text?) {
            Ok(file) => Some(file),
            Err::<_, Error>(error) => {
                notes.push(format!("not explained: {error}"));
                None
            }
        }
    }

    fn subject<'a>(&'a self, vector: &'a VectorFile, profile: &'a Profile) -> VectorJob<'a> {
        VectorJob { block: self.block, vector, profile, rtl: &self.rtl }
    }
}

/// The stored first failure of its kind.
struct SavedFailure {
    evidence: Evidence,
    /// Text of the vector as written last, unless it is too large.
    text: Option<String>,
    /// Text of the original vector.
    drawn: Option<String>,
    /// Whether running it ends or hangs the worker.
    lost: bool,
}

fn file(stem: &str, ending: &'static str) -> RunFile {
    RunFile::new(RunFolder::Failures, stem, ending)
}

fn write(run: &Path, file: &RunFile, text: &str) -> Result<(), Error> {
    file.write(run, text.as_bytes(), Sync::OnDisk)
}
