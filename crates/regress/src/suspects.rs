//! Suspicious lines of the RTL for a failing vector.

use crate::blocks::BlockHandle;
use crate::mutate::grade::cases_of;
use crate::setup::{Session, Setup};
use cosim_base::error::Error;
use cosim_block::driven::DrivenPins;
use cosim_block::engine::Query;
use cosim_block::rtl::{Rtl, Simulator};
use cosim_block::vector::{Origin, VectorFile};
use cosim_harness::harness::Profile;
use cosim_rtl::locate::{Cases, Located, suspects};
use cosim_rtl::models::RtlModels as _;

/// Packets of the cases beside the failing one.
const PACKETS: u32 = 20;
/// The seed of these cases.
const SEED: u64 = 1;

/// The lines of an RTL that may hold the cause of a failure. The other cases are the first one of
/// each scenario; the golden model says what they expect.
///
/// # Errors
/// If the block does not answer, or Verilator cannot be run.
pub fn suspicious_lines(
    block: &'static BlockHandle,
    vector: &VectorFile,
    profile: &Profile,
    rtl: &Rtl,
) -> Result<Located, Error> {
    let info = block.info();
    if !info.transaction_outputs.is_empty() || !info.has_golden {
        return Ok(Err("no golden model says what each cycle expects".to_owned()));
    }
    if rtl.simulator != Simulator::Verilator {
        return Ok(Err("the RTL is not simulated by Verilator".to_owned()));
    }
    let name = profile.name.to_string();
    let failing: DrivenPins = block.ask(&Query::Drive(vector.clone(), name.clone()))?;
    let setup = Setup {
        profiles: vec![profile.clone()],
        scenarios: Vec::new(),
        packets: Some(PACKETS),
        rtl: rtl.clone(),
        coverage: false,
    };
    let session = Session::new(block, &setup)?;
    let mut others = Vec::new();
    for case in cases_of(info, &session, profile, SEED, 0..1) {
        let text = session.vector(&case, Origin::default(), None)?;
        let file = VectorFile::from_text(text, &vector.path)?;
        others.push(block.ask::<DrivenPins>(&Query::Drive(file, name.clone()))?);
    }
    let examined = rtl.examined(info)?;
    suspects(info, &examined, &profile.parameters, &Cases { failing: &failing, others: &others })
}
