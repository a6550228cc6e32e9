//! The page of a proof, with a line for each property.

use super::page::render;
use cosim_base::error::Error;
use cosim_formal::prove::PropertyStatus;
use cosim_formats::proof::{Proof, PropertyResult};
use cosim_regress::program;
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/proof.html");

#[derive(Serialize)]
struct Page<'a> {
    proof: &'a Proof,
    result: &'static str,
    about: Option<&'static str>,
    /// Numbers of properties by result.
    counts: Vec<(&'static str, usize)>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    profile: &'a str,
    property: &'a str,
    word: &'static str,
    more: String,
    holds: bool,
    vector: Option<&'a Path>,
}

/// Renders the page.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(proof: &Proof) -> Result<String, Error> {
    let all = proof.profiles.iter();
    let all = all.flat_map(|profile| profile.properties.iter().map(move |one| (profile, one)));
    let rows: Vec<Row<'_>> =
        all.map(|(profile, proven)| row(&profile.profile, proven, proof.accept_bounded)).collect();
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for Row { word, .. } in &rows {
        match counts.iter_mut().find(|(known, _)| known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let result = if proof.holds() { "PASS" } else { "FAIL" };
    let about = program::find(&proof.block).map(|block| block.info().title);
    let title = format!("{result}: proof of {}", proof.block);
    render(&title, TEMPLATE, &Page { proof, result, about, counts, rows })
}

fn row<'a>(profile: &'a str, proven: &'a PropertyResult, accepted: Option<u32>) -> Row<'a> {
    let PropertyResult { property, shown, .. } = proven;
    let vector = match shown {
        PropertyStatus::Reached { vector, .. }
        | PropertyStatus::Refuted { vector, .. }
        | PropertyStatus::Unconfirmed { vector, .. } => Some(vector.as_path()),
        _ => None,
    };
    let holds = shown.holds(accepted);
    Row { profile, property, word: shown.word(), more: shown.more(), holds, vector }
}
