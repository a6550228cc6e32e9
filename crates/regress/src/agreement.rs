//! Compares the netlist that Yosys generates from an RTL with Verilator's model of the RTL.
//!
//! Proofs, mutants and gates are results about the netlist. Before a command counts them, both
//! models run the first cases of each scenario and the vectors of the block's corpus. The check
//! proves nothing beyond this stimulus: `docs/how-to/proof.md` lists the remaining assumptions.
//! The properties of a proof are evaluated on the same cycles.

use crate::blocks::BlockHandle;
use crate::mutate::grade::cases_of;
use crate::setup::{Session, Setup};
use crate::worker::{Finish, OneShotWorker};
use cosim_base::error::{Error, codes};
use cosim_block::agreement::{Compared, Disagreement, ModelComparison, RecordedInputs};
use cosim_block::built::Built;
use cosim_block::rtl::Rtl;
use cosim_block::vector::VectorFile;
use cosim_block::worker::task::{Action, Task};
use cosim_formal::aig::{Aig, Violation};
use cosim_formal::prove::FAILS;
use cosim_harness::harness::{Difference, LONGEST, Profile};
use std::collections::BTreeMap;
use std::path::Path;
use walkdir::WalkDir;

/// The folder of the corpora, one folder per block, below the working directory.
const CORPUS: &str = "vectors";
/// The seed of the cases.
pub const SEED: u64 = 1;
/// Cases of each scenario.
const CASES: u64 = 3;

/// Properties that fail in simulated cycles, by output of the network.
pub type Violations = BTreeMap<String, Violation>;

/// An RTL under one profile, and its netlist.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub block: &'static BlockHandle,
    pub profile: &'a Profile,
    /// Verilator's model of the RTL.
    pub rtl: &'a Built,
    /// A model of the netlist.
    pub netlist: &'a Built,
}

impl Pair<'_> {
    /// Runs both models on the cases and the corpus.
    ///
    /// # Errors
    /// [`Error::NetlistDiffers`], [`Error::Interrupted`], or an error in a vector.
    pub fn check(&self, worker: &OneShotWorker) -> Result<(), Error> {
        self.evaluate(worker, None).map(drop)
    }

    /// Runs both models like [`Pair::check`], and evaluates the properties of a network.
    pub fn evaluate(
        &self,
        worker: &OneShotWorker,
        network: Option<&Aig>,
    ) -> Result<Violations, Error> {
        let Self { block, profile, .. } = *self;
        let setup = Setup {
            profiles: vec![profile.clone()],
            scenarios: Vec::new(),
            packets: None,
            rtl: Rtl::default(),
            coverage: false,
        };
        let session = Session::new(block, &setup)?;
        let mut cases = cases_of(block.info(), &session, profile, SEED, 0..CASES);
        cases.retain(|case| session.length(case) <= LONGEST);
        let recorded = self.compare(
            worker,
            ModelComparison {
                scenarios: session.scenarios_text(),
                cases,
                vectors: corpus(block.info().name)?,
                first: 0,
                is_recorded: network.is_some(),
            },
        )?;
        let info = block.info();
        let ports = (info.inputs, info.power_up.len());
        let violations = network.map(|network| network.violations(&FAILS, ports, &recorded));
        Ok(violations.unwrap_or_default())
    }

    fn compare(
        &self,
        worker: &OneShotWorker,
        comparison: ModelComparison,
    ) -> Result<Vec<RecordedInputs>, Error> {
        let Self { block, profile, rtl, netlist } = *self;
        let task = Task {
            block: block.info().name.to_owned(),
            profile: profile.name.to_string(),
            model: rtl.clone(),
            action: Action::Compare(netlist.clone(), comparison),
        };
        match worker.have::<Compared>(task)? {
            Finish::Done(Compared { disagreement: None, recorded, .. }) => Ok(recorded),
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
