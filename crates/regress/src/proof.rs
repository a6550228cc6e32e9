//! Proves the properties of one block, and replays counterexamples on the RTL and the golden model.

use crate::agreement::observe;
use crate::blocks::BlockHandle;
use crate::worker::one_shot::VectorJob;
use crate::worker::{Finish, OneShotWorker};
use cosim_aig::Violation;
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_block::engine::{Query, RawVector};
use cosim_block::rtl::{Rtl, Simulator};
use cosim_block::vector::{Origin, VectorFile};
use cosim_formal::certificate::solver;
use cosim_formal::engine::Decider;
use cosim_formal::prove::{FAILS, Kind, Memories, ProofOutcome, Property, PropertyStatus, Prover};
use cosim_formats::proof::{
    INTERRUPTED, ProfileProof, Proof, ProofSubject, PropertyResult, VECTORS,
};
use cosim_formats::run::EXPLAINED;
use cosim_harness::harness::{Profile, Verdict};
use cosim_rtl::models::{RtlModels as _, View};
use cosim_rtl::yosys;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use verilated::BeforeReset;
use verilated_runtime::Tracing;

/// Properties that fail in simulated cycles, by output of the network.
pub type Violations = BTreeMap<String, Violation>;

/// Cycles to drive after a counterexample, in which the violation may reach an output.
const BEHIND: usize = 100;

/// The result of a property is known.
#[derive(Debug, Clone, Copy)]
pub struct ProofEvent<'a> {
    pub profile: &'a str,
    pub result: &'a PropertyResult,
    /// Properties of the profile with a result so far.
    pub done: usize,
    /// All selected properties of the profile.
    pub all: usize,
}

/// The callback for events; several threads call it.
pub type ProofEvents<'a> = dyn Fn(ProofEvent<'_>) + std::marker::Sync + 'a;

/// The places of the properties that `only` selects.
pub fn places(prover: &Prover, only: Option<&str>) -> Vec<usize> {
    let all = prover.properties().iter().enumerate();
    let selected = all.filter(|(_, property)| property.is_selected(only));
    selected.map(|(place, _)| place).collect()
}

/// The proofs of one block.
pub struct ProofRun<'a> {
    pub block: &'static BlockHandle,
    pub rtl: &'a Rtl,
    /// Replays counterexamples.
    pub worker: &'a OneShotWorker,
    /// Text that selected properties contain.
    pub only: Option<&'a str>,
    /// Whether the properties are that outputs are free of X.
    pub x: bool,
    /// Depth in cycles to which a bounded result is accepted as a proof.
    pub accept_bounded: Option<u32>,
    /// Whether results count that are only believed.
    pub accept_believed: bool,
    /// The folder of the result.
    pub folder: &'a Path,
}

impl ProofRun<'_> {
    /// Compares each network with Verilator's model of the RTL. A prover whose network differs is
    /// replaced by the reason. Returns the properties of each profile that fail in simulated cases.
    ///
    /// # Errors
    /// A tool fails, or [`Error::Interrupted`].
    pub fn judge(
        &self,
        provers: &mut [(Profile, Result<Prover, String>)],
    ) -> Result<Vec<Violations>, Error> {
        let info = self.block.info();
        let judge = |(profile, prover): &mut (Profile, Result<Prover, String>)| {
            // No property can be proved, for example because of a second clock.
            let Ok(network) = prover else { return Ok(Violations::new()) };
            let model = self.rtl.build_for_user(info, &profile.parameters, View::Quick)?;
            let recorded = observe(self.block, profile, &model, self.worker)?;
            let cases = recorded.as_deref().unwrap_or_default();
            let doubt = match &recorded {
                Ok(cases) => network.doubt(info, cases),
                Err(because) => Some(because.clone()),
            };
            let ports = (info.inputs, info.power_up.len());
            let violations = network.network().violations(&FAILS, ports, cases);
            if let Some(because) = doubt {
                *prover = Err(because);
            }
            Ok(violations)
        };
        provers.par_iter_mut().map(judge).collect()
    }

    /// What the proofs are about. It asks tools, which an interruption ends.
    ///
    /// # Errors
    /// A tool fails.
    pub fn subject(&self) -> Result<ProofSubject, Error> {
        Ok(ProofSubject {
            tool: program::version().to_owned(),
            build: program::build().to_owned(),
            yosys: yosys::version()?,
            solver: solver::version(),
            rtl: self.rtl.examined(self.block.info())?.identity.clone(),
            given: self.rtl.clone(),
            block: self.block.info().name.to_owned(),
            only: self.only.map(str::to_owned),
            x: self.x,
            accept_bounded: self.accept_bounded,
            accept_believed: self.accept_believed,
        })
    }

    /// Proves the properties of every profile, and replays each counterexample. `simulated` are
    /// the properties of each profile that fail in simulated cases: one that is proved as well is
    /// disputed.
    ///
    /// # Errors
    /// A tool fails, or a file cannot be written.
    pub fn prove(
        &self,
        subject: ProofSubject,
        provers: Vec<(Profile, Result<Prover, String>)>,
        simulated: &[Violations],
        events: &ProofEvents<'_>,
    ) -> Result<Proof, Error> {
        let profiles = provers.into_iter().zip(simulated).map(|((profile, prover), simulated)| {
            let name = profile.name.to_string();
            Ok(match prover {
                Err(because) => {
                    ProfileProof { profile: name, properties: Vec::new(), because: Some(because) }
                }
                Ok(mut prover) => {
                    let places = places(&prover, self.only);
                    match prover.decide_together(&places) {
                        Err(error) if error.code() == codes::INTERRUPTED => {}
                        other => other?,
                    }
                    let (all, done) = (places.len(), AtomicUsize::new(0));
                    let properties = places.into_par_iter().map(|place| {
                        let result = match self.property(&profile, &prover, place, simulated) {
                            Err(error) if error.code() == codes::INTERRUPTED => {
                                interrupted(&prover.properties()[place])
                            }
                            other => other?,
                        };
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        events(ProofEvent { profile: &profile.name, result: &result, done, all });
                        Ok(result)
                    });
                    let properties = properties.collect::<Result<Vec<PropertyResult>, Error>>()?;
                    ProfileProof { profile: name, properties, because: None }
                }
            })
        });
        Ok(Proof::new(subject, profiles.collect::<Result<_, Error>>()?))
    }

    fn property(
        &self,
        profile: &Profile,
        prover: &Prover,
        place: usize,
        simulated: &Violations,
    ) -> Result<PropertyResult, Error> {
        let property = &prover.properties()[place];
        let is_hang = property.kind == Kind::Hang;
        let started = Instant::now();
        let (outcome, by) = prover.decide(place)?;
        let shown = match outcome {
            ProofOutcome::PropertyStatus(shown) if is_hang => not_reached(shown),
            ProofOutcome::PropertyStatus(shown) => shown.against(place, simulated),
            ProofOutcome::Broken { cycles, memories } => {
                let name = format!("{}-{}-{place}", self.block.info().name, profile.name);
                let vector = RunFile::new(VECTORS, &name, "json");
                if property.kind == Kind::XFree {
                    let shown =
                        self.with_four_values(profile, &cycles, property, vector, memories)?;
                    return Ok(result(property, by, started, shown));
                }
                let replayed = self.replayed(profile, &cycles, property, vector)?;
                let Replayed { verdict, vector } = replayed;
                let verdict_text = verdict.to_string();
                let is_of_any_data = matches!(memories, Memories::Cut | Memories::Kept);
                match verdict.is_failure() {
                    true => PropertyStatus::Refuted { verdict: verdict_text, vector },
                    false if is_hang && !is_of_any_data => {
                        let cycles = cycles.len() as u32;
                        PropertyStatus::Reached { cycles, verdict: verdict_text, vector }
                    }
                    false => PropertyStatus::Unconfirmed {
                        because: unconfirmed(memories).to_owned(),
                        vector,
                    },
                }
            }
        };
        Ok(result(property, by, started, shown))
    }

    /// Replays a counterexample with different register values before reset and different inputs
    /// after it, until the RTL differs from the golden model. A violation inside the RTL may reach
    /// an output only later. If nothing differs, the vector is the counterexample itself.
    fn replayed(
        &self,
        profile: &Profile,
        found: &[Vec<String>],
        property: &Property,
        vector: RunFile,
    ) -> Result<Replayed, Error> {
        let path = vector.path(self.folder);
        let origin = self.origin(property, self.rtl)?;
        let text = |cycles: &[Vec<String>], before_reset, recorded: Option<Verdict>| {
            let query = Query::RawVector(Box::new(RawVector {
                profile: profile.name.to_string(),
                cycles: cycles.to_vec(),
                before_reset,
                origin: origin.clone(),
                recorded,
            }));
            self.block.ask::<String>(&query)
        };
        let replay = |cycles: &[Vec<String>], before_reset| -> Result<Verdict, Error> {
            let file = VectorFile::from_text(text(cycles, before_reset, None)?, &path)?;
            let subject = VectorJob { block: self.block, vector: &file, profile, rtl: self.rtl };
            Ok(self.worker.replay(&subject)?.done()?.outcome.verdict)
        };
        let mut verdict = Verdict::Match;
        // A hang persists for all later inputs.
        let behind = if property.kind == Kind::Hang { vec![Vec::new()] } else { behind(found) };
        for behind in behind {
            let mut cycles = [found, &behind].concat();
            for before_reset in [BeforeReset::Random(1), BeforeReset::Zeros, BeforeReset::Ones] {
                verdict = replay(&cycles, before_reset)?;
                if verdict.is_failure() {
                    if let Verdict::Mismatch(mismatch) = &verdict {
                        cycles.truncate(mismatch.cycle as usize);
                    }
                    let text = text(&cycles, before_reset, Some(verdict.clone()))?;
                    vector.write(self.folder, text.as_bytes(), Sync::OnDisk)?;
                    self.explain(text, profile, &vector)?;
                    return Ok(Replayed { verdict, vector });
                }
            }
        }
        let text = text(found, BeforeReset::Random(1), None)?;
        vector.write(self.folder, text.as_bytes(), Sync::OnDisk)?;
        Ok(Replayed { verdict, vector })
    }
}

impl ProofRun<'_> {
    /// Replays a counterexample to freedom of X with four values: the X shows at an output, or the
    /// RTL hides it from the simulator.
    fn with_four_values(
        &self,
        profile: &Profile,
        found: &[Vec<String>],
        property: &Property,
        vector: RunFile,
        memories: Memories,
    ) -> Result<PropertyStatus, Error> {
        let rtl = Rtl { simulator: Simulator::Icarus, ..self.rtl.clone() };
        let origin = self.origin(property, &rtl)?;
        let text = |recorded: Option<Verdict>| {
            self.block.ask::<String>(&Query::RawVector(Box::new(RawVector {
                profile: profile.name.to_string(),
                cycles: found.to_vec(),
                before_reset: BeforeReset::Random(1),
                origin: origin.clone(),
                recorded,
            })))
        };
        let (first, path) = (text(None)?, vector.path(self.folder));
        let file = VectorFile::from_text(first.clone(), &path)?;
        let subject = VectorJob { block: self.block, vector: &file, profile, rtl: &rtl };
        let replayed = match self.worker.replay(&subject) {
            Ok(finish) => Ok(finish.done()?.outcome.verdict),
            Err(Error::Environment(_, message)) => Err(message),
            Err(error) => return Err(error),
        };
        let (text, shown) = match replayed {
            Ok(verdict) if verdict.is_failure() => {
                let shown = PropertyStatus::Refuted {
                    verdict: verdict.to_string(),
                    vector: vector.clone(),
                };
                (text(Some(verdict))?, shown)
            }
            replayed => {
                let because = match replayed {
                    Err(message) => message,
                    Ok(_) => hidden(memories).to_owned(),
                };
                (first, PropertyStatus::Unconfirmed { because, vector: vector.clone() })
            }
        };
        vector.write(self.folder, text.as_bytes(), Sync::OnDisk)?;
        Ok(shown)
    }

    fn origin(&self, property: &Property, rtl: &Rtl) -> Result<Origin, Error> {
        Ok(Origin {
            about: format!("found by cosim prove: {}", property.text),
            build: Some(program::build().to_owned()),
            rtl: Some(rtl.examined(self.block.info())?.identity.clone()),
            given: rtl.clone(),
            ..Origin::default()
        })
    }

    /// Writes what the page shows of a counterexample as waves.
    fn explain(&self, text: String, profile: &Profile, vector: &RunFile) -> Result<(), Error> {
        let file = VectorFile::from_text(text, &vector.path(self.folder))?;
        let subject = VectorJob { block: self.block, vector: &file, profile, rtl: self.rtl };
        // A model that ends its process has no waves.
        let Finish::Done(explanation) = self.worker.explain(&subject, Tracing::Off)? else {
            return Ok(());
        };
        let text = serde_json::to_string(&explanation)
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        let explained = vector.beside(EXPLAINED);
        explained.write(self.folder, (text + "\n").as_bytes(), Sync::Lazy)
    }
}

/// The result of a property whose proof began then.
fn result(
    property: &Property,
    by: Option<Decider>,
    started: Instant,
    shown: PropertyStatus,
) -> PropertyResult {
    let seconds = (started.elapsed().as_secs_f64() * 100.0).round() / 100.0;
    PropertyResult { kind: property.kind, property: property.text.clone(), by, seconds, shown }
}

/// Why a simulation with four values shows no X.
fn hidden(memories: Memories) -> &'static str {
    match memories {
        Memories::None | Memories::Whole => {
            "Icarus Verilog shows no X on this trace: a condition on an X takes its other branch \
             there, so the output has a value, but one that depends on the X"
        }
        _ => {
            "Icarus Verilog shows no X on this trace, which may contain memory values that never \
             occur, because the memories are too large to be modelled exactly"
        }
    }
}

/// The result of a property whose proof was interrupted.
fn interrupted(property: &Property) -> PropertyResult {
    let shown = PropertyStatus::Open { because: INTERRUPTED.to_owned() };
    let (kind, property) = (property.kind, property.text.clone());
    PropertyResult { kind, property, by: None, seconds: 0.0, shown }
}

/// Inputs after a counterexample: none, its last cycle repeated, or all inputs low.
fn behind(found: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let last = found.last().cloned().unwrap_or_default();
    vec![Vec::new(), vec![last; BEHIND], vec![Vec::new(); BEHIND]]
}

/// The result of replaying a counterexample.
struct Replayed {
    verdict: Verdict,
    /// The vector in the result folder.
    vector: RunFile,
}

/// Why the replay of a counterexample shows no difference.
fn unconfirmed(memories: Memories) -> &'static str {
    match memories {
        Memories::Cut | Memories::Kept => {
            "the trace may contain memory values that never occur, because the memories are too \
             large to be modelled exactly"
        }
        _ => {
            "RTL and golden model agree on this trace: the property or the golden model is wrong, \
             or the trace relies on register values before reset"
        }
    }
}

/// The result for a known hang that is never reached.
fn not_reached(shown: PropertyStatus) -> PropertyStatus {
    let because = match shown {
        PropertyStatus::Proved { certificate, .. }
        | PropertyStatus::Believed { certificate, .. } => {
            let word = certificate.word("proved");
            format!("{word} unreachable: this known hang never happens; remove it")
        }
        PropertyStatus::Bounded { cycles, .. } => {
            format!("not reached within {cycles} cycles")
        }
        other => return other,
    };
    PropertyStatus::Open { because }
}
