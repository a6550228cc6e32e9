//! `cosim schema`: JSON schemas of the public file formats.

use super::{plan, print_json};
use clap::{Args, ValueEnum};
use cosim_base::error::Error;
use cosim_formats::coverage;
use cosim_formats::mutation as report;
use cosim_formats::run::results_schema;
use cosim_regress::blocks;
use schemars::SchemaGenerator;
use serde_json::{Value, json};
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
    /// mutate.json of a mutation analysis.
    Mutate,
    /// Run plans.
    Plan,
}

/// Prints a schema.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let schema = match arguments.kind {
        Kind::Vector => vector(),
        Kind::Results => results_schema(),
        Kind::Coverage => coverage::schema(),
        Kind::Mutate => report::schema(),
        Kind::Plan => plan::schema(),
    };
    print_json(&schema)?;
    Ok(ExitCode::SUCCESS)
}

/// The JSON schema of vectors, with one alternative per block.
fn vector() -> Value {
    let mut generator = SchemaGenerator::default();
    let vectors: Vec<Value> =
        blocks::all().iter().map(|block| block.vector_schema(&mut generator)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cosim vector",
        "oneOf": vectors,
        "$defs": generator.take_definitions(true),
    })
}
