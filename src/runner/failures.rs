//! What is kept of failing cases: groups by signature, vectors, waves.

use super::guard::guarded;
use crate::engine::{AnyBlock, Session, ShrunkVector, Waves};
use crate::error::Error;
use crate::harness::{Case, Outcome, Overrides, Signature, Verdict, Watch};
use crate::models::Rtl;
use crate::vector::{Origin, VectorFile};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Cycles that shrinking one failure may run.
pub const SHRINK_BUDGET: u64 = 16_000_000;
/// Vectors written for one signature; further cases are counted only.
const VECTORS_PER_GROUP: u64 = 20;

/// The failures with one signature.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// What they have in common.
    pub signature: Signature,
    /// How many there are.
    pub count: u64,
    /// The first case.
    pub case: String,
    /// What happened to it.
    pub verdict: Verdict,
    /// Its vector in the run directory, shrunk if it could be.
    pub vector: String,
    /// Packets and cycles of that vector.
    pub packets: u64,
    /// Cycles of that vector.
    pub cycles: u64,
    /// Its waves in the run directory, if they could be made.
    pub waves: Option<String>,
    /// What could not be done and why.
    pub notes: Vec<String>,
    /// The first cases, the one above included.
    #[serde(skip)]
    pub first_cases: Vec<Case>,
}

/// Cases whose commands are shown for a group.
pub const CASES_SHOWN: usize = 3;

/// What is done with the first failure of a signature.
#[derive(Debug, Clone, Copy)]
pub struct Keep {
    /// Its vector is shrunk.
    pub shrink: bool,
    /// Its waves are written.
    pub waves: bool,
    /// Time after which a model that does not return is given up.
    pub stuck_after: Duration,
}

/// Keeps failures, in the order of the plan.
pub struct Failures {
    block: &'static dyn AnyBlock,
    session: Arc<dyn Session>,
    rtl: Rtl,
    folder: PathBuf,
    origin: Origin,
    keep: Keep,
    interrupted: Arc<AtomicBool>,
    groups: Vec<Group>,
}

impl Failures {
    /// Failures of a run in `folder`; `origin` has what their vectors have in common.
    pub fn new(
        block: &'static dyn AnyBlock,
        session: Arc<dyn Session>,
        rtl: Rtl,
        folder: &Path,
        origin: Origin,
        keep: Keep,
        interrupted: Arc<AtomicBool>,
    ) -> Self {
        let folder = folder.to_owned();
        Self { block, session, rtl, folder, origin, keep, interrupted, groups: Vec::new() }
    }

    /// The groups, by first appearance.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Adds a failing case.
    ///
    /// # Errors
    /// [`Error::Write`] if its vector cannot be written.
    pub fn add(&mut self, case: &Case, fixes: &str, outcome: &Outcome) -> Result<(), Error> {
        let Some(signature) = Signature::of(&outcome.verdict) else { return Ok(()) };
        let name = format!("{signature}-{}", case.name.replace('/', "-"));
        let vector = format!("failures/{name}.json");
        let origin = Origin {
            about: format!("{}: {}", case.name, outcome.verdict),
            case: Some(case.name.clone()),
            ..self.origin.clone()
        };
        if let Some(group) = self.groups.iter_mut().find(|group| group.signature == signature) {
            group.count += 1;
            if group.first_cases.len() < CASES_SHOWN {
                group.first_cases.push(case.clone());
            }
            if group.count <= VECTORS_PER_GROUP {
                let text = self.session.vector(case, origin, Some(&outcome.verdict))?;
                self.write(&vector, &text)?;
            }
            return Ok(());
        }
        let mut notes = Vec::new();
        // What takes the process's thread with it must not be run again here.
        let lost = matches!(
            outcome.verdict,
            Verdict::Hang { cycle: None, .. } | Verdict::Crashed { cycle: None, .. }
        );
        // As it is first: whatever happens to what follows, the failure is kept.
        let text = self.session.vector(case, origin.clone(), Some(&outcome.verdict))?;
        self.write(&vector, &text)?;
        let mut shown = outcome.clone();
        if self.keep.shrink && !lost {
            match self.shrink(case, outcome, origin) {
                Ok(shrunk) => {
                    if shrunk.out_of_budget {
                        notes.push(format!(
                            "shrinking ended early; candidates tried: {}",
                            shrunk.tried
                        ));
                    }
                    self.write(&vector, &shrunk.text)?;
                    shown = shrunk.outcome;
                }
                Err(error) => notes.push(format!("not shrunk: {error}")),
            }
        }
        let waves = format!("failures/{name}.fst");
        let traced = self.keep.waves
            && !lost
            && match self.trace(&vector, &waves, fixes) {
                Ok(()) => true,
                Err(error) => {
                    notes.push(format!("no waves: {error}"));
                    false
                }
            };
        self.groups.push(Group {
            signature,
            count: 1,
            case: case.name.clone(),
            verdict: shown.verdict,
            vector,
            packets: shown.packets,
            cycles: shown.cycles,
            waves: traced.then_some(waves),
            notes,
            first_cases: vec![case.clone()],
        });
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::write(folder))?;
        }
        fs::write(&path, text).map_err(Error::write(path))
    }

    fn shrink(
        &self,
        case: &Case,
        outcome: &Outcome,
        origin: Origin,
    ) -> Result<ShrunkVector, Error> {
        let (session, case, outcome) = (Arc::clone(&self.session), case.clone(), outcome.clone());
        self.guarded(move |watch| {
            session.shrunk(&case, &outcome, origin, SHRINK_BUDGET, watch, &mut ())
        })
    }

    fn trace(&self, vector: &str, waves: &str, fixes: &str) -> Result<(), Error> {
        let loaded = self.block.load(&VectorFile::read(&self.folder.join(vector))?)?;
        let waves = Waves { path: self.folder.join(waves), all: false };
        let none = Overrides::new();
        let (rtl, profiles) = (self.rtl.clone(), loaded.profiles(Some(fixes), &none)?);
        self.guarded(move |watch| {
            profiles.iter().try_for_each(|profile| {
                loaded.replay(profile, &rtl, Some(&waves), watch).map(|_| ())
            })
        })
    }

    fn guarded<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        guarded(self.keep.stuck_after, &self.interrupted, work)?
    }
}
