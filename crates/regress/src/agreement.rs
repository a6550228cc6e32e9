//! Compares the netlist that Yosys generates from an RTL with Verilator's model of the RTL.
//!
//! Proofs, mutants and gates are results about the netlist. Before a command counts them, both
//! models run the first cases of each scenario and the vectors of the block's corpus. The check
//! proves nothing beyond this stimulus: `docs/how-to/proof.md` lists the remaining assumptions.
//! The properties of a proof are evaluated on the same cycles.

use crate::blocks::AnyBlock;
use crate::engine::{Cases, Engine, Session, Setup, load};
use crate::mutate::grade::cases_of;
use crate::worker::{Action, Task};
use crate::worker::{Finish, OneShotWorker};
use cosim_base::error::{Error, codes};
use cosim_formal::aig::{Aig, RecordedInputs, Violation};
use cosim_formal::prove::FAILS;
use cosim_formats::vector::VectorFile;
use cosim_harness::harness::{
    Block, Case, Difference, Dut, Explain, LONGEST, Profile, Scenario, Watch, first_difference,
};
use cosim_rtl::models::{Built, Rtl};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use verilated::{BeforeReset, Model, ModelKind, Pins as _};
use walkdir::WalkDir;
use zerocopy::IntoBytes as _;

/// The folder of the corpora, one folder per block, below the working directory.
const CORPUS: &str = "vectors";
/// The seed of the cases.
const SEED: u64 = 1;
/// Cases of each scenario.
const CASES: u64 = 3;

/// The stimulus of both models.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// The vectors. The worker skips those of other profiles.
    pub vectors: Vec<VectorFile>,
    /// The network of a proof, whose properties are evaluated in every cycle.
    pub network: Option<Aig>,
}

/// Properties that fail in simulated cycles, by output of the network.
pub type Violations = BTreeMap<String, Violation>;

/// A case or vector in which the models differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// Its name.
    pub name: String,
    /// The difference.
    pub difference: Difference,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The first case in which the models differ. The comparison ends there.
    pub disagreement: Option<Disagreement>,
    /// The properties that fail.
    pub violations: Violations,
}

/// An RTL under one profile, and its netlist.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// The block.
    pub block: &'static dyn AnyBlock,
    /// The profile.
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
    ///
    /// # Errors
    /// As [`Pair::check`].
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
        let mut cases = cases_of(block.info(), &session, profile, SEED, CASES);
        cases.retain(|case| session.length(case) <= LONGEST);
        self.compare(
            worker,
            Comparison {
                scenarios: session.scenarios_text(),
                cases,
                vectors: corpus(block.info().name)?,
                network: network.cloned(),
            },
        )
    }

    fn compare(&self, worker: &OneShotWorker, comparison: Comparison) -> Result<Violations, Error> {
        let Self { block, profile, rtl, netlist } = *self;
        let task = Task {
            block: block.info().name.to_owned(),
            profile: profile.name.to_string(),
            model: rtl.clone(),
            action: Action::Compare(netlist.clone(), comparison),
        };
        match worker.have::<Compared>(task)? {
            Finish::Done(Compared { disagreement: None, violations }) => Ok(violations),
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
fn corpus(block: &str) -> Result<Vec<VectorFile>, Error> {
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

/// A block whose models can be compared.
pub trait CompareBlock {
    /// Compares two models of an RTL. Call it only in a worker.
    ///
    /// # Errors
    /// As [`compare`]. [`Error::Model`] if a model cannot be loaded.
    fn compare(
        &self,
        profile: &str,
        models: [&Built; 2],
        comparison: &Comparison,
        watch: &Watch,
    ) -> Result<Compared, Error>;
}

impl<B: Explain> CompareBlock for Engine<B> {
    fn compare(
        &self,
        profile: &str,
        [rtl, netlist]: [&Built; 2],
        comparison: &Comparison,
        watch: &Watch,
    ) -> Result<Compared, Error> {
        let (profile, rtl) = watch.model(|| load::<B>(profile, rtl))?;
        let netlist = watch.model(|| netlist.load::<B>(&profile.parameters))?;
        compare::<B>(comparison, &profile, &rtl, netlist, watch)
    }
}

/// Compares two models, up to the first case or vector in which they differ.
///
/// # Errors
/// [`Error::Environment`] if the scenarios cannot be read, or an error in a vector.
pub fn compare<B: Block>(
    comparison: &Comparison,
    profile: &Profile,
    rtl: &ModelKind<B::Inputs, B::Outputs>,
    netlist: ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Compared, Error> {
    // A netlist of `mutate` contains mutations; enable none.
    let netlist = netlist.with_mutation(0);
    let scenarios: Vec<Scenario<B::Weights>> = serde_json::from_str(&comparison.scenarios)
        .map_err(|error| Error::Environment(codes::WORKER_FAILED, format!("scenarios: {error}")))?;
    let cases = Cases::<B> { scenarios, profiles: vec![profile.clone()], packets: None };
    let mut all = Vec::new();
    for file in comparison.vectors.iter().filter(|file| file.block == B::NAME) {
        let vector = file.parse::<B>()?;
        let profiles = Profile::parse_beside(&vector.fixes, &vector.parameters, B::PROFILES);
        if profiles.is_ok_and(|profiles| profiles.contains(profile)) {
            all.push((file.path.display().to_string(), vector.stimulus));
        }
    }
    let drawn = comparison.cases.iter().map(|case| (case.name.clone(), cases.stimulus(case)));
    let mut recorded = Vec::new();
    for (name, stimulus) in drawn.chain(all) {
        // A random seed selects the bits of a register by its name, and the netlist has other
        // names.
        let before_reset = match stimulus.before_reset {
            BeforeReset::Random(_) => BeforeReset::Zeros,
            given => given,
        };
        let [left, right] = [rtl, &netlist].map(|kind| watch.model(|| kind.create(before_reset)));
        let (mut left, mut right) = (Recorded::new(left?), Recorded::new(right?));
        let duts = [&mut left, &mut right];
        if let Some(difference) = first_difference(&stimulus, &profile.parameters, duts, watch) {
            return Ok(Compared {
                disagreement: Some(Disagreement { name, difference }),
                violations: Violations::new(),
            });
        }
        if comparison.network.is_some() {
            recorded.push(RecordedInputs { case: name, cycles: left.inputs });
        }
    }
    let network = comparison.network.as_ref();
    let ports = (B::Inputs::PORTS, size_of::<B::Inputs>());
    let violations = network.map(|network| network.violations(&FAILS, ports, &recorded));
    Ok(Compared { disagreement: None, violations: violations.unwrap_or_default() })
}

/// A model that records its inputs.
struct Recorded<B: Block> {
    model: Model<B::Inputs, B::Outputs>,
    /// The bytes of the inputs of all cycles.
    inputs: Vec<u8>,
}

impl<B: Block> Recorded<B> {
    const fn new(model: Model<B::Inputs, B::Outputs>) -> Self {
        Self { model, inputs: Vec::new() }
    }
}

impl<B: Block> Dut<B> for Recorded<B> {
    fn power_up(&mut self) -> Result<(), verilated::Error> {
        Dut::<B>::power_up(&mut self.model)
    }

    fn settle(
        &mut self,
        inputs: &B::Inputs,
        outputs: &mut B::Outputs,
    ) -> Result<(), verilated::Error> {
        self.inputs.extend_from_slice(inputs.as_bytes());
        self.model.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), verilated::Error> {
        self.model.edge()
    }
}
