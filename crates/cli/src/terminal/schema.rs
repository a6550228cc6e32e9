//! `cosim schema`: JSON schemas of the public file formats.

use crate::print_json;
use crate::running::plan;
use clap::{Args, ValueEnum};
use cosim_base::error::{Error, codes};
use cosim_formats::answers::AnswerRecord;
use cosim_formats::coverage;
use cosim_formats::mutation as report;
use cosim_formats::run::results_schema;
use cosim_regress::blocks;
use serde_json::Value;
use std::process::ExitCode;

/// Which schema to print.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File format whose schema to print.
    #[arg(value_enum)]
    kind: Kind,
}

/// A public file format.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// Vectors.
    Vector,
    /// results.json of a run directory.
    Results,
    /// coverage.json, a coverage database.
    Coverage,
    /// answers.json of prove, diff and cover close.
    Answers,
    /// mutate.json of a mutation analysis.
    Mutate,
    /// Run plans.
    Plan,
}

impl Arguments {
    pub const fn is_of_blocks(&self) -> bool {
        matches!(self.kind, Kind::Vector)
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let schema = match arguments.kind {
        Kind::Vector => vector()?,
        Kind::Results => results_schema(),
        Kind::Coverage => coverage::schema(),
        Kind::Answers => AnswerRecord::schema(),
        Kind::Mutate => report::schema(),
        Kind::Plan => plan::schema(),
    };
    print_json(&schema)?;
    Ok(ExitCode::SUCCESS)
}

/// The JSON schema of vectors, with one alternative per block.
fn vector() -> Result<Value, Error> {
    let program = blocks::program().ok_or_else(blocks::missing)?;
    let text = program.answer("schema")?;
    serde_json::from_slice(&text)
        .map_err(|error| Error::Environment(codes::WORKER_FAILED, format!("a schema: {error}")))
}
