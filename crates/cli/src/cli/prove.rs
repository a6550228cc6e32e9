//! `cosim prove`.

use super::options::{Caching, Format, Formatting, ModelLimits, Target, heading, of_block};
use super::{interruption, print_json, print_text};
use crate::agreement::Pair;
use crate::error::{Error, codes};
use crate::files::{Sync, write_whole};
use crate::harness::{Profile, Verdict};
use crate::models::{Rtl, View};
use crate::mutate::netlist_model;
use crate::program;
use crate::program::AnyBlock;
use crate::prove::{Kind, Memories, ProofOutcome, Property, PropertyStatus, Prover};
use crate::report::write_proof;
use crate::runner::{DirectoryLock, HTML, OutputLocation};
use crate::vector::{Origin, VectorFile};
use crate::worker::OneShotWorker;
use crate::worker::one_shot::VectorJob;
use crate::yosys;
use clap::Args;
use cosim_formats::proof::{
    Counts, FORMAT, PROOF, ProfileProof, Proof, PropertyResult, VECTORS, VERSION,
};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use verilated::BeforeReset;

/// Cycles behind what breaks a property in which it may show.
const BEHIND: usize = 100;

/// What is to be proved.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Prove only the properties whose text contains TEXT.
    #[arg(long, value_name = "TEXT", help_heading = heading::WHAT)]
    only: Option<String>,
    /// Accept an unproved property without a counterexample within DEPTH cycles of reset.
    #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::CHECK)]
    accept_bounded: Option<u32>,
    /// Write the result to DIR, a new or empty folder [default: runs/prove-BLOCK-TIME].
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    caching: Caching,
    #[command(flatten)]
    limits: ModelLimits,
}

/// Proves what blocks promise, one block after another. Exit code 1 if a property is not proved, or if there is none.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let blocks = arguments.target.blocks()?;
    let rtl = arguments.target.rtl()?;
    if !rtl.is_of_models() {
        let message = "--simulator icarus and --netlist have no effect on proofs; leave them out";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    let worker = OneShotWorker::new(arguments.limits.program()?, Arc::clone(&interrupted));
    let only = arguments.only.as_deref();
    let answers = arguments.caching.answers()?;
    let mut jobs = Vec::new();
    for block in &blocks {
        let profiles = arguments.target.profiles(*block).map_err(of_block(*block, &blocks))?;
        rtl.check_profiles(block.info(), &profiles).map_err(of_block(*block, &blocks))?;
        let prover = |profile: &Profile| {
            Ok((
                profile.clone(),
                Prover::new(block.info(), &rtl, &profile.parameters, only, &answers)?,
            ))
        };
        let provers = profiles.iter().map(prover).collect::<Result<Vec<_>, Error>>()?;
        jobs.push((*block, provers));
    }
    let mut asked =
        jobs.iter().flat_map(|(_, provers)| provers).filter_map(|(_, one)| one.as_ref().ok());
    if let Some(only) = only
        && !asked.any(|prover| !places(prover, Some(only)).is_empty())
    {
        let message = format!(
            "--only: no property contains `{only}`; run without --only to list all \
                 properties"
        );
        return Err(Error::Usage(codes::NOTHING_SELECTED, message));
    }
    for (block, provers) in &jobs {
        let check = |(profile, prover): &(Profile, Result<Prover, String>)| match prover {
            Ok(prover) => {
                let model = rtl.build_for_user(block.info(), &profile.parameters, View::Bare)?;
                let netlist = netlist_model(block.info(), &prover.netlist()?)?;
                Pair { block: *block, profile, rtl: &model, netlist: &netlist }.check(&worker)
            }
            // No property can be proved, for example because of a second clock.
            Err(_) => Ok(()),
        };
        provers.par_iter().map(check).collect::<Result<(), Error>>()?;
    }
    let place = match &arguments.out {
        Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: false },
        None => OutputLocation::New { stem: format!("prove-{}", arguments.target.name(&blocks)) },
    };
    let names: Vec<&str> = blocks.iter().map(|block| block.info().name).collect();
    let mut proofs = Vec::new();
    for ((block, provers), place) in jobs.into_iter().zip(place.of_blocks(&names)?) {
        let claim = DirectoryLock::new(&place)?;
        let accept_bounded = arguments.accept_bounded;
        let job =
            Job { block, rtl: &rtl, worker: &worker, only, accept_bounded, folder: &claim.folder };
        let proof = job.prove(provers)?;
        let text = serde_json::to_string_pretty(&proof)
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        write_whole(&claim.folder.join(PROOF), format!("{text}\n").as_bytes(), Sync::OnDisk)?;
        write_proof(&claim.folder, &proof)?;
        if arguments.formatting.format == Format::Text {
            print_text(&format!("{}{}", proof.text(), claim.folder.join(HTML).display()))?;
        }
        claim.release();
        proofs.push(proof);
    }
    let [asked, found] = answers.counts();
    if asked > 0 {
        program::say(format_args!("{found} of {asked} answers of Yosys and ABC were in the cache"));
    }
    let holds = proofs.iter().all(Proof::holds);
    if arguments.formatting.format == Format::Text {
        let counts = Counts::of(&proofs);
        let result = if holds { "PASS" } else { "FAIL" };
        let hint = match counts.bounded {
            0 => "",
            _ if holds => ", accepted by --accept-bounded",
            _ => "; a bounded property fails unless --accept-bounded DEPTH accepts its depth",
        };
        print_text(&format!("{result}  {counts}{hint}"))?;
    }
    if arguments.formatting.format == Format::Json {
        match proofs.as_slice() {
            [proof] => print_json(proof)?,
            proofs => print_json(&proofs)?,
        }
    }
    Ok(ExitCode::from(u8::from(!holds)))
}

/// The places of the properties that are asked.
fn places(prover: &Prover, only: Option<&str>) -> Vec<usize> {
    let all = prover.properties().iter().enumerate();
    let asked = all.filter(|(_, property)| property.is_asked(only));
    asked.map(|(place, _)| place).collect()
}

/// The proofs of one block.
struct Job<'a> {
    block: &'static dyn AnyBlock,
    rtl: &'a Rtl,
    worker: &'a OneShotWorker,
    /// What properties are to have in their words.
    only: Option<&'a str>,
    /// The cycles that are accepted in place of a proof.
    accept_bounded: Option<u32>,
    folder: &'a Path,
}

impl Job<'_> {
    fn prove(&self, provers: Vec<(Profile, Result<Prover, String>)>) -> Result<Proof, Error> {
        let profiles = provers.into_iter().map(|(profile, prover)| {
            let name = profile.name.to_string();
            Ok(match prover {
                Err(because) => {
                    ProfileProof { profile: name, properties: Vec::new(), because: Some(because) }
                }
                Ok(prover) => {
                    let properties = places(&prover, self.only).into_par_iter();
                    let properties =
                        properties.map(|place| self.property(&profile, &prover, place));
                    let properties = properties.collect::<Result<Vec<PropertyResult>, Error>>()?;
                    ProfileProof { profile: name, properties, because: None }
                }
            })
        });
        Ok(Proof {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: program::version().to_owned(),
            build: program::build().to_owned(),
            yosys: yosys::version()?,
            rtl: self.rtl.examined(self.block.info())?.identity.clone(),
            given: self.rtl.clone(),
            block: self.block.info().name.to_owned(),
            only: self.only.map(str::to_owned),
            accept_bounded: self.accept_bounded,
            profiles: profiles.collect::<Result<_, Error>>()?,
        })
    }

    fn property(
        &self,
        profile: &Profile,
        prover: &Prover,
        place: usize,
    ) -> Result<PropertyResult, Error> {
        let property = &prover.properties()[place];
        let is_hang = property.kind == Kind::Hang;
        let shown = match prover.prove(place)? {
            ProofOutcome::PropertyStatus(shown) if is_hang => not_reached(shown),
            ProofOutcome::PropertyStatus(shown) => shown,
            ProofOutcome::Broken { cycles, memories } => {
                let name = format!("{}-{}-{place}.json", self.block.info().name, profile.name);
                let replayed = self.replayed(profile, &cycles, property, &name)?;
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
        Ok(PropertyResult { kind: property.kind, property: property.text.clone(), shown })
    }

    /// Drives what was found into the model, with registers before reset that differ, until it differs from the golden
    /// model; if it never does, the vector is what was found. What is broken inside may show behind it only.
    fn replayed(
        &self,
        profile: &Profile,
        found: &[Vec<String>],
        property: &Property,
        name: &str,
    ) -> Result<Replayed, Error> {
        let vector = Path::new(VECTORS).join(name);
        let path = self.folder.join(&vector);
        let folder = self.folder.join(VECTORS);
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        let origin = Origin {
            about: format!("found by cosim prove: {}", property.text),
            build: Some(program::build().to_owned()),
            rtl: Some(self.rtl.examined(self.block.info())?.identity.clone()),
            given: self.rtl.clone(),
            ..Origin::default()
        };
        let text = |cycles: &[Vec<String>], before_reset, recorded| {
            self.block.raw_vector(profile, cycles, before_reset, origin.clone(), recorded)
        };
        let replay = |cycles: &[Vec<String>], before_reset| -> Result<Verdict, Error> {
            let file = VectorFile::from_text(text(cycles, before_reset, None)?, &path)?;
            let subject = VectorJob { block: self.block, vector: &file, profile, rtl: self.rtl };
            Ok(self.worker.replay(&subject)?.done()?.outcome.verdict)
        };
        let mut verdict = Verdict::Match;
        // A hang lasts, whatever comes next.
        let behind = if property.kind == Kind::Hang { vec![Vec::new()] } else { behind(found) };
        for behind in behind {
            let mut cycles = [found, &behind].concat();
            for before_reset in [BeforeReset::Random(1), BeforeReset::Zeros, BeforeReset::Ones] {
                verdict = replay(&cycles, before_reset)?;
                if verdict.is_failure() {
                    if let Verdict::Mismatch(mismatch) = &verdict {
                        cycles.truncate(mismatch.cycle as usize);
                    }
                    let text = text(&cycles, before_reset, Some(&verdict))?;
                    write_whole(&path, text.as_bytes(), Sync::OnDisk)?;
                    return Ok(Replayed { verdict, vector });
                }
            }
        }
        let text = text(found, BeforeReset::Random(1), None)?;
        write_whole(&path, text.as_bytes(), Sync::OnDisk)?;
        Ok(Replayed { verdict, vector })
    }
}

/// What may follow what breaks a property: nothing; what came last, on and on; all inputs low.
fn behind(found: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let last = found.last().cloned().unwrap_or_default();
    vec![Vec::new(), vec![last; BEHIND], vec![Vec::new(); BEHIND]]
}

/// What a replay of what was found shows.
struct Replayed {
    verdict: Verdict,
    /// The vector, below the folder of the result.
    vector: PathBuf,
}

/// Why nothing differs although something is broken.
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

/// A hang that is said to be known, and that nothing brings about.
fn not_reached(shown: PropertyStatus) -> PropertyStatus {
    let because = match shown {
        PropertyStatus::Proved { .. } => {
            "proved unreachable: this known hang never happens; remove it".to_owned()
        }
        PropertyStatus::Bounded { cycles, .. } => {
            format!("not reached within {cycles} cycles")
        }
        other => return other,
    };
    PropertyStatus::Open { because }
}
