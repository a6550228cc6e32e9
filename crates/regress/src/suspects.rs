//! Suspicious lines of the RTL for a failing vector.

use crate::setup::{Session, Setup, cases_of};
use crate::worker::OneShotWorker;
use crate::worker::one_shot::VectorJob;
use cosim_base::error::Error;
use cosim_block::driven::DrivenPins;
use cosim_block::engine::Query;
use cosim_block::explanation::Suspect;
use cosim_block::rtl::Simulator;
use cosim_block::vector::{Origin, VectorFile};
use cosim_locate::{Cases, Pins};
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::models::verilator;
use tempfile::TempDir;
use verilated_build::{Design, SourceFile};
use verilated_files::foreign::lay_out;

/// Packets of the cases beside the failing one.
const PACKETS: u32 = 20;
const SEED: u64 = 1;

/// The lines of an RTL that may hold the cause of a failure. The other cases are the first one of
/// each scenario; the golden model says what they expect. Of a block whose outputs are
/// transactions, `worker` records the failing case, and there are no other cases. The most
/// suspicious line is the first one. There are none if nothing says what is expected, or if the
/// design is not understood.
///
/// # Errors
/// If the block does not answer, or Verilator cannot be run.
pub fn suspicious_lines(
    worker: &OneShotWorker,
    subject: &VectorJob<'_>,
) -> Result<Vec<Suspect>, Error> {
    let VectorJob { block, vector, profile, rtl } = *subject;
    let info = block.info();
    if !info.is_written() || rtl.simulator != Simulator::Verilator {
        return Ok(Vec::new());
    }
    let name = profile.name.to_string();
    let is_recorded = !info.transaction_outputs.is_empty();
    let failing: DrivenPins = match is_recorded {
        true => worker.record(subject)?.done()?,
        false => block.query(&Query::Drive(vector.clone(), name.clone()))?,
    };
    if is_recorded && failing.wrong.is_empty() {
        return Ok(Vec::new());
    }
    let setup = Setup { packets: Some(PACKETS), ..Setup::from_profile(profile, rtl.clone()) };
    let session = Session::new(block, &setup)?;
    let mut others = Vec::new();
    let cases = if is_recorded { 0..0 } else { 0..1 };
    for case in cases_of(info, &session, profile, SEED, cases) {
        let text = session.vector(&case, Origin::default(), None)?;
        let file = VectorFile::from_text(text, &vector.path)?;
        others.push(block.query::<DrivenPins>(&Query::Drive(file, name.clone()))?);
    }
    let examined = rtl.examined(info)?;
    let temporary = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let files = examined.texts.iter().map(SourceFile::named);
    let folder = lay_out(&temporary.path().join("files"), files)
        .map_err(|error| examined.plain(error.into()))?;
    let mut design = Design { folder: Some(folder), ..examined.design.clone() };
    design.parameters = profile.parameters.verilog(info.rtl.mask_parameter);
    design.parameters.retain(|(name, _)| examined.parameters.contains(name));
    let pins = Pins { clock: info.rtl.clock, inputs: info.inputs, outputs: info.outputs };
    let cases = Cases { failing: &failing, others: &others };
    let out = temporary.path().join("described");
    let located = design.with_tree(&verilator()?, &out, |tree| {
        cosim_locate::suspicious_lines(tree, &design.top, pins, &cases)
    });
    let typed = |line: Suspect| Suspect { file: examined.typed(&line.file), ..line };
    let located = located.map_err(|error| examined.plain(error))?;
    Ok(located.unwrap_or_default().into_iter().map(typed).collect())
}
