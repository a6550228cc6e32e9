//! Proves the properties of one block, and replays counterexamples on the RTL and the golden model.

use crate::agreement::observe;
use crate::queue::run_queries;
use crate::subject::{origin, seconds_since, subject, subject_rtl, vector_of};
use cosim_aig::Violation;
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::rtl::{Rtl, Simulator};
use cosim_block::vector::{Origin, VectorFile};
use cosim_formal::answer::Answer;
use cosim_formal::prove::{FAILS, Kind, Memories, Property, PropertyAnswer, Prover};
use cosim_formats::answers::{
    AnswerRecord, AnswerRow, AnswerStatus, FoundInputs, INTERRUPTED, ProfileAnswers, Proof,
    ProverCommand, QuestionKind, Subject,
};
use cosim_formats::run::EXPLAINED;
use cosim_harness::harness::{Profile, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::worker::one_shot::VectorJob;
use cosim_regress::worker::{Finish, OneShotWorker};
use cosim_rtl::backend::{RtlModels as _, View};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use verilated::BeforeReset;
use verilated_build::activity::Activity;
use verilated_runtime::Tracing;

/// Properties that fail in simulated cycles, by output of the network.
pub type Violations = BTreeMap<String, Violation>;

/// Cycles to drive after a counterexample, in which the violation may reach an output.
const BEHIND: usize = 100;

/// The places of the properties that `only` selects.
pub fn places(prover: &Prover, only: Option<&str>) -> Vec<usize> {
    let all = prover.properties().iter().enumerate();
    let selected = all.filter(|(_, property)| property.is_selected(only));
    selected.map(|(place, _)| place).collect()
}

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
    pub accept_believed: bool,
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
                Ok(cases) => network.find_doubt(info, cases),
                Err(because) => Some(because.clone()),
            };
            let size = info.power_up.len();
            let violations = network.network().violations(&FAILS, info.inputs, size, cases);
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
    pub fn subject(&self) -> Result<Subject, Error> {
        let rtl = subject_rtl(self.block, self.rtl)?;
        Ok(Subject {
            only: self.only.map(str::to_owned),
            x: self.x,
            accept_bounded: self.accept_bounded,
            accept_believed: self.accept_believed,
            ..subject(ProverCommand::Prove, self.block, rtl)?
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
        subject: Subject,
        provers: Vec<(Profile, Result<Prover, String>)>,
        simulated: &[Violations],
        activity: &Activity,
    ) -> Result<AnswerRecord, Error> {
        let profiles = provers.into_iter().zip(simulated).map(|((profile, prover), simulated)| {
            let mut answers = ProfileAnswers::new(&profile);
            match prover {
                Err(because) => answers.because = Some(because),
                Ok(mut prover) => {
                    let places = places(&prover, self.only);
                    match prover.decide_together(&places) {
                        Err(error) if error.code() == codes::INTERRUPTED => {}
                        other => other?,
                    }
                    let ask =
                        |place: &usize| match self.property(&profile, &prover, *place, simulated) {
                            Err(error) if error.code() == codes::INTERRUPTED => {
                                let status = AnswerStatus::open(INTERRUPTED);
                                Ok(row(&prover.properties()[*place], status))
                            }
                            other => other,
                        };
                    let mut rows = BTreeMap::new();
                    let threads = rayon::current_num_threads();
                    run_queries(&places, threads, activity, ask, |place, row| {
                        rows.insert(*place, row);
                        Ok(())
                    })?;
                    answers.rows = rows.into_values().collect();
                }
            }
            Ok(answers)
        });
        Ok(AnswerRecord::new(subject, profiles.collect::<Result<_, Error>>()?))
    }

    fn property(
        &self,
        profile: &Profile,
        prover: &Prover,
        place: usize,
        simulated: &Violations,
    ) -> Result<AnswerRow, Error> {
        let property = &prover.properties()[place];
        let is_hang = property.kind == Kind::Hang;
        let started = Instant::now();
        let found = prover.decide(place)?;
        let by = found.answer.by().cloned();
        let status = match found {
            PropertyAnswer { answer: Answer::Reached { trace: cycles, .. }, memories, .. } => {
                let name = format!("{}-{}-{place}", self.block.info().name, profile.name);
                let vector = RunFile::new(RunFolder::Failures, &name, "json");
                if property.kind == Kind::XFree {
                    self.with_four_values(profile, &cycles, property, vector, memories)?
                } else {
                    let verdict = self.replayed(profile, &cycles, property, &vector)?;
                    let is_of_any_data = matches!(memories, Memories::Cut | Memories::Kept);
                    let found = |verdict| inputs(&cycles, verdict, vector);
                    match verdict.is_failure() {
                        true => AnswerStatus::Failing(found(verdict.to_string())),
                        false if is_hang && !is_of_any_data => {
                            AnswerStatus::Reached(found(verdict.to_string()))
                        }
                        false => AnswerStatus::Unconfirmed(found(unconfirmed(memories).to_owned())),
                    }
                }
            }
            found if is_hang => not_reached(status(found)),
            found => status(found.against(place, simulated)),
        };
        Ok(AnswerRow { by, seconds: seconds_since(started), ..row(property, status) })
    }

    /// Replays a counterexample with different register values before reset and different inputs
    /// after it, until the RTL differs from the golden model. A violation inside the RTL may reach
    /// an output only later. If nothing differs, the vector is the counterexample itself.
    fn replayed(
        &self,
        profile: &Profile,
        found: &[Vec<String>],
        property: &Property,
        vector: &RunFile,
    ) -> Result<Verdict, Error> {
        let path = vector.path(self.folder);
        let origin = self.origin(property, self.rtl)?;
        let text = |cycles: &[Vec<String>], before_reset, recorded: Option<Verdict>| {
            vector_of(self.block, profile, cycles, before_reset, origin.clone(), recorded)
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
                    self.explain(text, profile, vector)?;
                    return Ok(verdict);
                }
            }
        }
        let text = text(found, BeforeReset::Random(1), None)?;
        vector.write(self.folder, text.as_bytes(), Sync::OnDisk)?;
        Ok(verdict)
    }
}

impl ProofRun<'_> {
    /// Replays a counterexample to freedom of X with four values: the X shows at an output, or the
    /// RTL hides it from the simulator.
    fn with_four_values(
        &self,
        profile: &Profile,
        cycles: &[Vec<String>],
        property: &Property,
        vector: RunFile,
        memories: Memories,
    ) -> Result<AnswerStatus, Error> {
        let rtl = Rtl { simulator: Simulator::Icarus, ..self.rtl.clone() };
        let origin = self.origin(property, &rtl)?;
        let text = |recorded: Option<Verdict>| {
            let before_reset = BeforeReset::Random(1);
            vector_of(self.block, profile, cycles, before_reset, origin.clone(), recorded)
        };
        let (first, path) = (text(None)?, vector.path(self.folder));
        let file = VectorFile::from_text(first.clone(), &path)?;
        let subject = VectorJob { block: self.block, vector: &file, profile, rtl: &rtl };
        let replayed = match self.worker.replay(&subject) {
            Ok(finish) => Ok(finish.done()?.outcome.verdict),
            Err(Error::Environment(_, message)) => Err(message),
            Err(error) => return Err(error),
        };
        let (text, status) = match replayed {
            Ok(verdict) if verdict.is_failure() => {
                let failing = inputs(cycles, verdict.to_string(), vector.clone());
                (text(Some(verdict))?, AnswerStatus::Failing(failing))
            }
            replayed => {
                let because = match replayed {
                    Err(message) => message,
                    Ok(_) => hidden(memories).to_owned(),
                };
                (first, AnswerStatus::Unconfirmed(inputs(cycles, because, vector.clone())))
            }
        };
        vector.write(self.folder, text.as_bytes(), Sync::OnDisk)?;
        Ok(status)
    }

    fn origin(&self, property: &Property, rtl: &Rtl) -> Result<Origin, Error> {
        origin(self.block, rtl, format!("found by cosim prove: {}", property.text))
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

fn row(property: &Property, status: AnswerStatus) -> AnswerRow {
    AnswerRow::new(QuestionKind::Property(property.kind), property.text.clone(), status)
}

/// The answer for a property without a trace.
fn status(PropertyAnswer { answer, traffic, memories }: PropertyAnswer) -> AnswerStatus {
    match answer {
        Answer::Never { certificate, .. } => {
            let proof = Proof::new(traffic, certificate);
            AnswerStatus::from_proof(Proof { memories: Some(memories), ..proof })
        }
        Answer::Open { cycles: Some(cycles), because, .. } => {
            let because = Some(because).filter(|because| !because.is_empty());
            AnswerStatus::Bounded { cycles, traffic, because }
        }
        Answer::Disputed { because } => AnswerStatus::Disputed { because },
        Answer::Open { because, .. } => AnswerStatus::open(because),
        Answer::Reached { .. } => AnswerStatus::open("its trace was not replayed"),
    }
}

fn inputs(cycles: &[Vec<String>], verdict: String, vector: RunFile) -> FoundInputs {
    let found_by = format!("a search of {} cycles", cycles.len());
    FoundInputs { found_by, verdict, vector, difference: None }
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

/// Inputs after a counterexample: none, its last cycle repeated, or all inputs low.
fn behind(found: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let last = found.last().cloned().unwrap_or_default();
    vec![Vec::new(), vec![last; BEHIND], vec![Vec::new(); BEHIND]]
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

/// The answer for a known hang that is never reached.
fn not_reached(status: AnswerStatus) -> AnswerStatus {
    AnswerStatus::open(match status {
        AnswerStatus::Proved(_) | AnswerStatus::Believed(_) => {
            format!("{} unreachable: this known hang never happens; remove it", status.word())
        }
        AnswerStatus::Bounded { cycles, .. } => format!("not reached within {cycles} cycles"),
        other => return other,
    })
}
