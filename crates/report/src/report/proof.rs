//! The page of a proof, with a line for each property.

use super::html::explanation;
use super::page::{Fact, Head, Section, Tone, render};
use super::waves::{self, Waves};
use crate::paths;
use cosim_base::error::Error;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_block::rtl::command_line;
use cosim_formal::certificate::{BELIEVED, Certificate};
use cosim_formal::prove::PropertyStatus;
use cosim_formats::proof::{Proof, PropertyResult};
use cosim_formats::run::EXPLAINED;
use cosim_harness::harness::{BlockInfo, Blocks};
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/proof.html");

#[derive(Serialize)]
struct Page<'a> {
    proof: &'a Proof,
    /// The properties that fail, then all.
    failed: Vec<Row<'a>>,
    rows: Vec<Row<'a>>,
    matrix: Vec<MatrixRow>,
    /// Counterexamples as waves.
    shown: Vec<Counterexample<'a>>,
    assertions: Option<Assertions>,
}

/// The file with the assertions of the built-in RTL.
#[derive(Serialize)]
struct Assertions {
    name: &'static str,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    number: usize,
    text: &'static str,
    is_target: bool,
}

#[derive(Clone, Serialize)]
struct Row<'a> {
    profile: &'a str,
    property: &'a str,
    word: &'static str,
    more: String,
    /// How the proof is certified, or why it is not.
    certificate: String,
    certified: bool,
    /// The command that decided it, and its depth.
    engine: String,
    depth: Option<u32>,
    seconds: f64,
    holds: bool,
    vector: Option<&'a RunFile>,
    /// The line of its assertion.
    line: Option<usize>,
    /// What the rule means that the property is about.
    meaning: Option<&'static str>,
    /// What to do next.
    next: Option<String>,
    /// The anchor of the row.
    anchor: String,
}

/// The properties of a rule, or of an output, in each profile.
#[derive(Serialize)]
struct MatrixRow {
    name: String,
    meaning: Option<&'static str>,
    cells: Vec<Vec<MatrixCell>>,
}

/// A counterexample.
#[derive(Serialize)]
struct Counterexample<'a> {
    property: &'a str,
    profile: &'a str,
    waves: Waves,
}

/// A property in the matrix.
#[derive(Serialize)]
struct MatrixCell {
    word: &'static str,
    holds: bool,
    certified: bool,
    anchor: String,
    property: String,
    /// Engine, depth, time and certificate.
    by: String,
}

/// Renders the page.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(folder: &Path, proof: &Proof, blocks: Blocks<'_>) -> Result<String, Error> {
    let block = blocks.find(&proof.subject.block);
    let all = proof.profiles.iter();
    let all = all.flat_map(|profile| profile.properties.iter().map(move |one| (profile, one)));
    let mut rows: Vec<Row<'_>> =
        all.map(|(profile, proven)| row(folder, &profile.profile, proven, proof, block)).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        row.anchor = format!("property-{}", number + 1);
    }
    let matrix = matrix(proof, &rows, block);
    // The sort is stable: the properties of each kind keep their order.
    rows.sort_by_key(|row| (row.holds, severity(row.word)));
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for Row { word, .. } in &rows {
        match counts.iter_mut().find(|(known, _)| known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let result = proof.verdict();
    let is_broken = rows.iter().any(|row| severity(row.word) == 0)
        || proof.profiles.iter().any(|profile| profile.because.is_some());
    let tone = match () {
        () if proof.holds() => Tone::Good,
        () if is_broken || rows.is_empty() => Tone::Bad,
        () => Tone::Open,
    };
    let about = block.map_or("", |block| block.title);
    let assertions = block.and_then(|block| block.rtl.assertions).map(|(name, text)| Assertions {
        name,
        lines: text
            .lines()
            .zip(1..)
            .map(|(text, number)| {
                let is_target = rows.iter().any(|row| row.line == Some(number));
                Line { number, text, is_target }
            })
            .collect(),
    });
    let failed: Vec<Row<'_>> = rows.iter().filter(|row| !row.holds).cloned().collect();
    let counterexample = |row: &Row<'_>| {
        let explanation = explanation(folder, &row.vector?.beside(EXPLAINED))?;
        waves::of(&explanation)
    };
    let shown = failed.iter().filter_map(|row| {
        let (property, profile) = (row.property, row.profile);
        Some(Counterexample { property, profile, waves: counterexample(row)? })
    });
    let shown: Vec<Counterexample<'_>> = shown.collect();
    let fact = |(word, count): (&'static str, usize)| {
        let bad = rows.iter().any(|row| row.word == word && !row.holds);
        let tone = if severity(word) == 0 { Tone::Bad } else { Tone::Open };
        Fact::new(count.to_string(), word).tone(tone, bad)
    };
    let head = Head {
        title: format!("{result}: proof of {}", proof.subject.block),
        verdict: result.to_owned(),
        tone,
        heading: format!("{}, proof", proof.subject.block),
        about: about.to_owned(),
        facts: counts.into_iter().map(fact).collect(),
        command: Some(command(proof)),
        sections: vec![
            Section::new("failed", "Not proved", failed.len().to_string()),
            Section::new("matrix", "Matrix", matrix.len().to_string()),
            Section::new("properties", "All properties", rows.len().to_string()),
            Section::new("assertions", "Assertions", ""),
            Section::new("run", "Run", ""),
        ],
    };
    let mut head = head;
    head.sections.retain(|section| assertions.is_some() || section.id != "assertions");
    render(&head, TEMPLATE, &Page { proof, failed, rows, matrix, shown, assertions })
}

/// The properties by the first word of their names, a rule or an output, and by profile. Rows of
/// properties that do not hold come first, then rules and outputs without a property.
fn matrix(proof: &Proof, rows: &[Row<'_>], block: Option<&BlockInfo>) -> Vec<MatrixRow> {
    let rules = block.map_or(&[][..], |block| block.rules);
    let outputs = block.map_or(&[][..], |block| block.outputs);
    let mut all: Vec<MatrixRow> = Vec::new();
    let name_of = |property: &str| {
        let first = property.split([' ', ':']).next().unwrap_or_default();
        let is_rule = rules.iter().any(|rule| rule.name == first);
        let is_output = outputs.iter().any(|port| port.name == first);
        let is_name = is_rule || is_output || property[first.len()..].starts_with(':');
        if is_name { first } else { "the whole block" }.to_owned()
    };
    let mut names: Vec<String> = rows.iter().map(|row| name_of(row.property)).collect();
    names.extend(rules.iter().map(|rule| rule.name.to_owned()));
    // An output is named by each property whose text has it as a word.
    let is_named = |output: &str| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        rows.iter().any(|row| row.property.split(|c| !is_word(c)).any(|word| word == output))
    };
    names.extend(
        outputs.iter().map(|port| port.name).filter(|name| !is_named(name)).map(str::to_owned),
    );
    for name in names {
        if all.iter().any(|known| known.name == name) {
            continue;
        }
        let cell = |row: &Row<'_>| MatrixCell {
            word: row.word,
            holds: row.holds,
            certified: row.certified,
            anchor: row.anchor.clone(),
            property: row.property.to_owned(),
            by: std::iter::once(row.engine.clone())
                .chain(row.depth.map(|depth| format!("depth {depth}")))
                .chain([format!("{} s", row.seconds), row.certificate.clone()])
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
        };
        let cells = proof.profiles.iter().map(|profile| {
            let of =
                |row: &&Row<'_>| row.profile == profile.profile && name_of(row.property) == name;
            rows.iter().filter(of).map(cell).collect()
        });
        let meaning = rules.iter().find(|rule| rule.name == name).map(|rule| rule.meaning);
        all.push(MatrixRow { cells: cells.collect(), meaning, name });
    }
    let order = |row: &MatrixRow| {
        let mut cells = row.cells.iter().flatten();
        match row.cells.iter().any(|cell| !cell.is_empty()) {
            true if cells.any(|cell| !cell.holds) => 0,
            true => 2,
            false => 1,
        }
    };
    all.sort_by_key(order);
    all
}

/// The order of results that do not hold: broken ones first.
fn severity(word: &str) -> u8 {
    match word {
        "BROKEN" | "broken?" | "DISPUTED" => 0,
        "open" => 1,
        "bounded" | BELIEVED => 2,
        _ => 3,
    }
}

/// The command that repeats the proof.
fn command(proof: &Proof) -> String {
    let mut words = vec![program::called()];
    words.extend(["prove", "--block", &proof.subject.block].map(str::to_owned));
    let profiles: Vec<&str> = proof.profiles.iter().map(|one| one.profile.as_str()).collect();
    words.extend(["--fixes".to_owned(), profiles.join(",")]);
    if let Some(only) = &proof.subject.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    if proof.subject.x {
        words.push("--x".to_owned());
    }
    if let Some(depth) = proof.subject.accept_bounded {
        words.extend(["--accept-bounded".to_owned(), depth.to_string()]);
    }
    if proof.subject.accept_believed {
        words.push("--accept-believed".to_owned());
    }
    words.extend(proof.subject.given.arguments());
    command_line(&words)
}

fn row<'a>(
    folder: &Path,
    profile: &'a str,
    proven: &'a PropertyResult,
    proof: &Proof,
    block: Option<&'static BlockInfo>,
) -> Row<'a> {
    let PropertyResult { property, by, seconds, shown, .. } = proven;
    let vector = match shown {
        PropertyStatus::Reached { vector, .. }
        | PropertyStatus::Refuted { vector, .. }
        | PropertyStatus::Unconfirmed { vector, .. } => Some(vector),
        _ => None,
    };
    let holds = shown.holds(proof.accepted());
    let replay = |vector: &RunFile| {
        let mut words = vec![program::called(), "explain".to_owned()];
        words.push(paths::word(&vector.path(folder)));
        words.extend(proof.subject.given.arguments());
        command_line(&words)
    };
    let next = match shown {
        _ if holds => None,
        PropertyStatus::Bounded { cycles, .. } => Some(format!(
            "The property has no counterexample within {cycles} cycles. --accept-bounded accepts that depth."
        )),
        PropertyStatus::Proved { .. } | PropertyStatus::Believed { .. } => {
            Some("CaDiCaL did not certify the proof. --accept-believed accepts it.".to_owned())
        }
        PropertyStatus::Open { .. } | PropertyStatus::Disputed { .. } => None,
        _ => vector.map(replay),
    };
    let assertions = block.and_then(|block| block.rtl.assertions);
    let is_it = |line: &str| {
        line.trim_start().strip_prefix("// property: ").is_some_and(|text| text.trim() == property)
    };
    let line = assertions.and_then(|(_, text)| text.lines().position(is_it)).map(|place| place + 1);
    let first = property.split([' ', ':']).next().unwrap_or_default();
    let rule = block.and_then(|block| block.rules.iter().find(|rule| rule.name == first));
    let more = shown.more().trim_start_matches([':', ';', ' ']).to_owned();
    let (word, meaning) = (shown.word(), rule.map(|rule| rule.meaning));
    let certified = shown.certificate().is_some_and(Certificate::is_there);
    let certificate = shown.certificate().map_or(String::new(), Certificate::to_string);
    Row {
        profile,
        property,
        word,
        more,
        certificate,
        certified,
        engine: by.as_ref().map_or(String::new(), |by| by.engine.clone()),
        depth: by.as_ref().and_then(|by| by.depth),
        seconds: *seconds,
        holds,
        vector,
        line,
        meaning,
        next,
        anchor: String::new(),
    }
}
