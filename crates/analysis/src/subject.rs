//! What the commands that ask the provers write about their questions: RTL and tools.

use cosim_base::error::Error;
use cosim_base::program;
use cosim_block::rtl::Rtl;
use cosim_formal::certificate::solver;
use cosim_formats::answers::{ProverCommand, Subject, SubjectRtl};
use cosim_regress::blocks::BlockHandle;
use cosim_rtl::models::RtlModels as _;
use cosim_rtl::yosys;
use std::time::Instant;

/// RTL that questions are about.
///
/// # Errors
/// The RTL cannot be read.
pub fn subject_rtl(block: &BlockHandle, rtl: &Rtl) -> Result<SubjectRtl, Error> {
    let identity = rtl.examined(block.info())?.identity.clone();
    Ok(SubjectRtl { identity, given: rtl.clone(), ..SubjectRtl::default() })
}

/// What the questions of a command are about, with the versions of the tools that answer.
///
/// # Errors
/// There is no Yosys.
pub fn subject(
    command: ProverCommand,
    block: &BlockHandle,
    rtl: SubjectRtl,
) -> Result<Subject, Error> {
    Ok(Subject {
        command,
        tool: program::version().to_owned(),
        build: program::build().to_owned(),
        yosys: yosys::version()?,
        solver: solver::version(),
        block: block.info().name.to_owned(),
        rtl,
        ..Subject::default()
    })
}

/// Seconds since a question was asked, to a hundredth.
pub fn seconds_since(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 100.0).round() / 100.0
}
