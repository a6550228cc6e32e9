//! Compares two models of an RTL on the same stimulus.

mod pins;

use crate::built::Built;
use crate::engine::{BlockEngine, Cases, ModelContext};
use crate::vector::{VectorFile, stimuli_of};
use cosim_base::error::Error;
use cosim_harness::harness::{
    Block, Case, Difference, Drive, Dut, Explain, Profile, ResetPin, Stimulus, Watch,
    first_difference, first_difference_from_power_on,
};
use serde::{Deserialize, Serialize};
use verilated::{BeforeReset, Error as ModelError, Model, ModelKind, Pins as _};

/// The stimulus of both models.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelComparison {
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// The vectors. The worker skips those of other profiles.
    pub vectors: Vec<VectorFile>,
    /// Random pins from power-on, which are driven after cases and vectors.
    pub from_power_on: Option<RandomPins>,
    /// The first cycle in which outputs count.
    pub first: u64,
    /// Whether the inputs of all cases are returned, and not only those of a disagreement.
    pub is_recorded: bool,
    /// Cycles of each case of which the outputs of the first model are returned, too.
    pub recorded_outputs: usize,
}

/// Runs that begin at power-on, with all inputs random, resets among them. Registers hold random
/// values at first, so both models must be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomPins {
    /// The seed of pins and registers.
    pub seed: u32,
    /// The number of runs.
    pub runs: u32,
    /// The cycles of each run.
    pub cycles: u32,
}

/// The inputs of a case, and outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedInputs {
    /// The name of the case.
    pub case: String,
    /// Whether the inputs are unconstrained random stimulus.
    pub is_raw: bool,
    /// The bytes of all cycles, from the reset cycle on, each as in the struct of the ports.
    #[serde(with = "cosim_harness::as_hex")]
    pub cycles: Vec<u8>,
    /// The bytes of the outputs of the first cycles, each as in the struct of the ports.
    #[serde(with = "cosim_harness::as_hex")]
    pub outputs: Vec<u8>,
}

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
    /// The number of cases and vectors that ran.
    pub cases: u64,
    /// The inputs of all cases, if they are [recorded](ModelComparison::is_recorded). Those of the
    /// case with the disagreement come last.
    pub recorded: Vec<RecordedInputs>,
}

impl Compared {
    /// Adds cases up to the first in which the models differ. `run` runs the case with an index.
    fn extend(
        &mut self,
        count: usize,
        is_recorded: bool,
        run: &dyn Fn(usize) -> Result<(RecordedInputs, Option<Difference>), Error>,
    ) -> Result<(), Error> {
        for index in 0..count {
            if self.disagreement.is_some() {
                break;
            }
            let (recorded, difference) = run(index)?;
            self.cases += 1;
            let name = recorded.case.clone();
            if is_recorded || difference.is_some() {
                self.recorded.push(recorded);
            }
            self.disagreement = difference.map(|difference| Disagreement { name, difference });
        }
        Ok(())
    }
}

/// A block whose models can be compared.
pub trait CompareBlock {
    /// Compares two models of an RTL. Call it only in a worker.
    ///
    /// # Errors
    /// As [`compare`]. [`Error::Model`] if a model cannot be loaded.
    fn compare(
        &self,
        rtl: ModelContext<'_>,
        netlist: &Built,
        comparison: &ModelComparison,
    ) -> Result<Compared, Error>;
}

impl<B: Explain> CompareBlock for BlockEngine<B> {
    fn compare(
        &self,
        rtl: ModelContext<'_>,
        netlist: &Built,
        comparison: &ModelComparison,
    ) -> Result<Compared, Error> {
        let ((profile, kind), watch) = (rtl.load::<B>()?, rtl.watch);
        let netlist = watch.model(|| netlist.load::<B>(&profile.parameters))?;
        compare::<B>(comparison, &profile, &kind, netlist, watch)
    }
}

/// Compares two models, up to the first case or vector in which they differ.
///
/// # Errors
/// [`Error::Environment`] if the scenarios cannot be read, or an error in a vector.
pub fn compare<B: Block>(
    comparison: &ModelComparison,
    profile: &Profile,
    rtl: &ModelKind<B::Inputs, B::Outputs>,
    netlist: ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Compared, Error> {
    // A netlist of `mutate` contains mutations; enable none.
    let netlist = netlist.with_mutation(0);
    let cases = Cases::<B>::read(&comparison.scenarios, vec![profile.clone()], None)?;
    let vectors = stimuli_of::<B>(&comparison.vectors, profile)?;
    let create = |before_reset| -> Result<[Recorded<B>; 2], Error> {
        let left = watch.model(|| rtl.create(before_reset))?;
        let right = watch.model(|| netlist.create(before_reset))?;
        Ok([Recorded::new(left, comparison.recorded_outputs), Recorded::new(right, 0)])
    };
    let run = |name: &str, stimulus: &Stimulus<B>| -> Result<_, Error> {
        // A random seed selects the bits of a register by its name, and the netlist has other
        // names.
        let before_reset = match stimulus.before_reset {
            BeforeReset::Random(_) => BeforeReset::Zeros,
            given => given,
        };
        let [mut left, mut right] = create(before_reset)?;
        let duts = [&mut left, &mut right];
        let difference =
            first_difference(stimulus, &profile.parameters, duts, comparison.first, watch);
        Ok((left.recorded(name, matches!(stimulus.drive, Drive::Cycles(_))), difference))
    };
    let mut compared = Compared::default();
    compared.extend(comparison.cases.len(), comparison.is_recorded, &|index| {
        let case = &comparison.cases[index];
        run(&case.name, &cases.stimulus(case))
    })?;
    compared.extend(vectors.len(), comparison.is_recorded, &|index| {
        let (name, stimulus) = &vectors[index];
        run(name, stimulus)
    })?;
    let ran = compared.cases;
    if let Some(random) = comparison.from_power_on {
        let reset = B::RESET.map(ResetPin::name_and_level);
        compared.extend(random.runs as usize, true, &|index| {
            let run = index as u32;
            let pins = pins::random(B::Inputs::PORTS, size_of::<B::Inputs>(), reset, random, run);
            let [mut left, mut right] = create(BeforeReset::Random(random.seed.wrapping_add(run)))?;
            let duts = [&mut left, &mut right];
            let difference = first_difference_from_power_on::<B, _>(&pins, duts, watch);
            Ok((left.recorded(&format!("random pins {run}"), true), difference))
        })?;
    }
    Ok(Compared { cases: ran, ..compared })
}

/// A model that records its inputs and outputs.
struct Recorded<B: Block> {
    model: Model<B::Inputs, B::Outputs>,
    /// The bytes of the inputs of all cycles.
    inputs: Vec<u8>,
    /// The bytes of the outputs of the first cycles.
    outputs: Vec<u8>,
    /// The cycles of which outputs are still to be recorded.
    left: usize,
}

impl<B: Block> Recorded<B> {
    const fn new(model: Model<B::Inputs, B::Outputs>, left: usize) -> Self {
        Self { model, inputs: Vec::new(), outputs: Vec::new(), left }
    }

    fn recorded(self, case: &str, is_raw: bool) -> RecordedInputs {
        let Self { inputs: cycles, outputs, .. } = self;
        RecordedInputs { case: case.to_owned(), is_raw, cycles, outputs }
    }
}

impl<B: Block> Dut<B> for Recorded<B> {
    fn power_up(&mut self) -> Result<(), ModelError> {
        Dut::<B>::power_up(&mut self.model)
    }

    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), ModelError> {
        self.inputs.extend_from_slice(inputs.as_bytes());
        self.model.settle(inputs, outputs)?;
        if self.left > 0 {
            self.left -= 1;
            self.outputs.extend_from_slice(outputs.as_bytes());
        }
        Ok(())
    }

    fn edge(&mut self) -> Result<(), ModelError> {
        self.model.edge()
    }
}
