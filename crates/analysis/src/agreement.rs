//! Compares the netlist that Yosys generates from an RTL with Verilator's model of the RTL.
//!
//! Proofs and mutants are results about the netlist. Before a command counts them, the model
//! runs the first cases of each scenario, the vectors of the block's corpus and random pins from
//! power-on. [`observe`] records what it does, for the graph that engines get
//! ([`cosim_formal`]); [`Pair`] compares it with a model of the netlist. The check proves nothing
//! beyond this stimulus: `docs/how-to/proof.md` lists the remaining assumptions.

use cosim_base::error::{Error, codes};
use cosim_block::agreement::{Compared, Disagreement, ModelComparison, RandomPins, RecordedInputs};
use cosim_block::built::Built;
use cosim_block::rtl::Rtl;
use cosim_block::vector::VectorFile;
use cosim_block::worker::task::{Action, Task};
use cosim_harness::harness::{Difference, LONGEST, Profile};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::setup::{Session, Setup, cases_of};
use cosim_regress::worker::{Finish, OneShotWorker};
use std::path::Path;
use walkdir::WalkDir;

/// The folder of the corpora, one folder per block, below the working directory.
const CORPUS: &str = "vectors";
pub const SEED: u64 = 1;
const CASES: u64 = 3;
/// Cycles of each case of which outputs are compared with those of a graph.
const OUTPUTS: usize = 500;
/// Runs of random pins: 20,480 cycles, in one evaluation of 320 cycles of the graph.
const RANDOM: RandomPins = RandomPins { seed: 1, runs: 64, cycles: 320 };

/// An RTL under one profile, and its netlist.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub block: &'static BlockHandle,
    pub profile: &'a Profile,
    /// Verilator's model of the RTL.
    pub rtl: &'a Built,
    pub netlist: &'a Built,
}

impl Pair<'_> {
    /// Runs both models on the cases and the corpus.
    ///
    /// # Errors
    /// [`Error::NetlistDiffers`], [`Error::Interrupted`], or an error in a vector.
    pub fn check(&self, worker: &OneShotWorker) -> Result<(), Error> {
        let Self { block, profile, .. } = *self;
        let comparison = stimulus(block, profile)?;
        match self.compare(worker, comparison)? {
            Finish::Done(Compared { disagreement: None, .. }) => Ok(()),
            Finish::Done(Compared {
                disagreement: Some(Disagreement { name, difference }),
                ..
            }) => {
                let Difference { cycle, port, values: [rtl, netlist] } = difference;
                let port = port.as_deref().unwrap_or("the model");
                Err(Error::NetlistDiffers {
                    block: block.info().name.to_owned(),
                    profile: profile.name.to_string(),
                    name,
                    what: format!(
                        "at cycle {cycle}, {port}: {rtl} in the RTL, {netlist} in the netlist"
                    ),
                })
            }
            // Either of the two models may be the cause.
            Finish::Lost(verdict) => Err(Error::Lost(
                codes::MODEL_CRASHED,
                format!(
                    "{}, profile {}: the RTL or its netlist fails, so nothing was counted: \
                     {verdict}",
                    block.info().name,
                    profile.name
                ),
            )),
            Finish::Interrupted => Err(Error::Interrupted),
        }
    }

    fn compare(
        &self,
        worker: &OneShotWorker,
        comparison: ModelComparison,
    ) -> Result<Finish<Compared>, Error> {
        worker.run_task::<Compared>(Task {
            block: self.block.info().name.to_owned(),
            profile: self.profile.name.to_string(),
            model: self.rtl.clone(),
            action: Action::Compare(self.netlist.clone(), comparison),
        })
    }
}

/// The first cases and the corpus.
fn stimulus(block: &'static BlockHandle, profile: &Profile) -> Result<ModelComparison, Error> {
    let session = Session::new(block, &Setup::from_profile(profile, Rtl::default()))?;
    let mut cases = cases_of(block.info(), &session, profile, SEED, 0..CASES);
    cases.retain(|case| session.length(case) <= LONGEST);
    Ok(ModelComparison {
        scenarios: session.scenarios_text(),
        cases,
        vectors: corpus(block.info().name)?,
        from_power_on: None,
        first: 0,
        is_recorded: false,
        recorded_outputs: 0,
    })
}

/// What Verilator's model of an RTL does in the first cases, in the corpus, and with random pins
/// from power-on. The inner error says why no answer about the RTL counts.
///
/// # Errors
/// [`Error::Interrupted`], or an error in a vector.
pub fn observe(
    block: &'static BlockHandle,
    profile: &Profile,
    rtl: &Built,
    worker: &OneShotWorker,
) -> Result<Result<Vec<RecordedInputs>, String>, Error> {
    let comparison = ModelComparison {
        from_power_on: Some(RANDOM),
        is_recorded: true,
        recorded_outputs: OUTPUTS,
        ..stimulus(block, profile)?
    };
    Ok(match (Pair { block, profile, rtl, netlist: rtl }).compare(worker, comparison)? {
        Finish::Done(Compared { disagreement: None, recorded, .. }) => Ok(recorded),
        Finish::Done(Compared {
            disagreement: Some(Disagreement { name, difference }), ..
        }) => {
            let Difference { cycle, port, values: [one, other] } = difference;
            let port = port.as_deref().unwrap_or("the model");
            Err(format!(
                "Verilator's model of the RTL does not do the same twice: at cycle {cycle} of {name}, \
                 {port} is {one} and {other}"
            ))
        }
        Finish::Lost(verdict) => Err(format!("Verilator's model of the RTL fails: {verdict}")),
        Finish::Interrupted => return Err(Error::Interrupted),
    })
}

/// The vectors of a block, sorted.
pub fn corpus(block: &str) -> Result<Vec<VectorFile>, Error> {
    let folder = Path::new(CORPUS).join(block);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut vectors = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::File {
            code: codes::FILE_UNREADABLE,
            path: folder.clone(),
            message: format!("cannot be read: {error}"),
        })?;
        let is_json = entry.path().extension().is_some_and(|ending| ending == "json");
        if is_json && entry.path().is_file() {
            vectors.push(VectorFile::read(entry.path())?);
        }
    }
    Ok(vectors)
}
