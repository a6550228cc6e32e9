//! What the commands that ask the provers write about their queries, RTL and tools, and about
//! inputs that they found.

use cosim_base::error::Error;
use cosim_base::program;
use cosim_block::engine::{Query, RawVector};
use cosim_block::rtl::Rtl;
use cosim_block::vector::Origin;
use cosim_formal::certificate::solver;
use cosim_formats::answers::{ProverCommand, Subject, SubjectRtl};
use cosim_harness::harness::{Profile, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::yosys;
use std::time::Instant;
use verilated::BeforeReset;

/// RTL that queries are about.
///
/// # Errors
/// The RTL cannot be read.
pub fn subject_rtl(block: &BlockHandle, rtl: &Rtl) -> Result<SubjectRtl, Error> {
    let identity = rtl.examined(block.info())?.identity.clone();
    Ok(SubjectRtl { identity, given: rtl.clone(), ..SubjectRtl::default() })
}

/// What the queries of a command are about, with the versions of the tools that answer.
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

/// The origin of inputs that were found for an RTL.
///
/// # Errors
/// The RTL cannot be read.
pub fn origin(block: &BlockHandle, rtl: &Rtl, about: String) -> Result<Origin, Error> {
    Ok(Origin {
        about,
        build: Some(program::build().to_owned()),
        rtl: Some(rtl.examined(block.info())?.identity.clone()),
        given: rtl.clone(),
        ..Origin::default()
    })
}

/// The vector with the cycles of a trace: the names of the bits that are 1.
///
/// # Errors
/// The block refuses it.
pub fn vector_of(
    block: &BlockHandle,
    profile: &Profile,
    cycles: &[Vec<String>],
    before_reset: BeforeReset,
    origin: Origin,
    recorded: Option<Verdict>,
) -> Result<String, Error> {
    block.query(&Query::RawVector(Box::new(RawVector {
        profile: profile.name.to_string(),
        cycles: cycles.to_vec(),
        before_reset,
        origin,
        recorded,
    })))
}

/// Seconds since a query was asked, to a hundredth.
pub fn seconds_since(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 100.0).round() / 100.0
}
