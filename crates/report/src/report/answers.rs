//! The page of a command that asked the provers, with a line for each question.

use super::html::explanation;
use super::page::{Fact, Head, Section, Tone, render};
use super::waves::{self, Waves};
use crate::paths;
use cosim_base::error::Error;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_block::rtl::{Rtl, command_line};
use cosim_formal::certificate::Certificate;
use cosim_formats::answers::{
    AnswerRecord, AnswerRow, AnswerStatus, ComparisonStep, Counts, Outcome, ProverCommand,
    QuestionKind, Subject, SubjectRtl,
};
use cosim_formats::run::EXPLAINED;
use cosim_harness::harness::{BlockInfo, Blocks, TransitionProperty};
use serde::Serialize;
use std::cmp::Reverse;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/answers.html");

#[derive(Serialize)]
struct Page<'a> {
    record: &'a AnswerRecord,
    /// The questions whose answers do not pass, then all.
    failed: Vec<Row<'a>>,
    rows: Vec<Row<'a>>,
    /// The properties of `prove` by rule and profile.
    matrix: Vec<MatrixRow>,
    /// The numbers of points and bins of `close`, by profile and kind.
    coverage: Vec<(&'a str, &'static str, Counts)>,
    shown: Vec<Counterexample<'a>>,
    /// The steps of `diff`, with the profiles in which each had this result.
    steps: Vec<(String, &'a str, &'a str)>,
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
    profile: String,
    kind: QuestionKind,
    question: &'a str,
    word: &'static str,
    outcome: Outcome,
    passes: bool,
    details: Vec<String>,
    /// How the proof is certified, or why it is not.
    certificate: String,
    certified: bool,
    /// The command that decided it, and its depth.
    engine: &'a str,
    depth: Option<u32>,
    seconds: f64,
    vector: Option<&'a RunFile>,
    waves: &'a [RunFile],
    line: Option<usize>,
    /// What the rule means that the property is about.
    meaning: Option<&'static str>,
    next: Vec<String>,
    anchor: String,
}

/// The properties of a rule, or of an output, in each profile.
#[derive(Serialize)]
struct MatrixRow {
    name: String,
    meaning: Option<&'static str>,
    /// The rules whose properties have an output that no property names.
    by: Vec<String>,
    cells: Vec<Vec<MatrixCell>>,
}

#[derive(Serialize)]
struct Counterexample<'a> {
    question: &'a str,
    profile: String,
    waves: Waves,
}

#[derive(Serialize)]
struct MatrixCell {
    word: &'static str,
    passes: bool,
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
pub fn page(folder: &Path, record: &AnswerRecord, blocks: Blocks<'_>) -> Result<String, Error> {
    let Subject { command, block: name, rtl, old, .. } = &record.subject;
    let (block, is_proof) = (blocks.find(name), *command == ProverCommand::Prove);
    let all = record.profiles.iter();
    let all = all.flat_map(|profile| profile.rows.iter().map(move |one| (profile, one)));
    let mut all_rows: Vec<Row<'_>> = (1..)
        .zip(all)
        .map(|(number, (profile, one))| {
            let anchor = format!("question-{number}");
            Row { anchor, ..row(folder, &profile.profile, one, record, block) }
        })
        .collect();
    // The sorts are stable: questions with the same outcome keep their order.
    let mut rows = joined(&mut all_rows);
    rows.sort_by_key(|row| (row.passes, Reverse(row.outcome)));
    let mut by_outcome: Vec<&Row<'_>> = all_rows.iter().collect();
    by_outcome.sort_by_key(|row| (row.passes, Reverse(row.outcome)));
    let mut facts: Vec<(usize, &Row<'_>)> = Vec::new();
    for row in by_outcome {
        match facts.iter_mut().find(|(_, known)| known.word == row.word) {
            Some((count, _)) => *count += 1,
            None => facts.push((1, row)),
        }
    }
    let fact = |(count, row): (usize, &Row<'_>)| {
        Fact::new(count.to_string(), row.word).tone(tone(row.outcome), !row.passes)
    };
    let facts = facts.into_iter().map(fact).collect();
    let matrix = if is_proof { matrix(record, &all_rows, block) } else { Vec::new() };
    let assertions = block.filter(|_| is_proof).and_then(|block| block.rtl.assertions);
    let assertions = assertions.map(|(name, text)| Assertions {
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
    let failed: Vec<Row<'_>> = rows.iter().filter(|row| !row.passes).cloned().collect();
    let shown = failed.iter().filter_map(|row| {
        let explanation = explanation(folder, &row.vector?.beside(EXPLAINED))?;
        let (question, profile) = (row.question, row.profile.clone());
        Some(Counterexample { question, profile, waves: waves::draw_waves(&explanation)? })
    });
    let shown: Vec<Counterexample<'_>> = shown.collect();
    let mut coverage = Vec::new();
    for profile in record.profiles.iter().filter(|_| *command == ProverCommand::Close) {
        let table = profile.table().into_iter();
        coverage.extend(table.map(|(kind, counts)| (profile.profile.as_str(), kind, counts)));
    }
    let (outcome, verdict) = (record.outcome(), record.verdict());
    let heading = match old {
        Some(old) => format!("{name}, {} and {}", old.named, rtl.named),
        None if is_proof => format!("proof of {name}"),
        None => format!("coverage of {name}"),
    };
    let mut sections = vec![Section::new("failed", "Not passed", failed.len().to_string())];
    let optional = [
        (!matrix.is_empty(), "matrix", "Matrix"),
        (!coverage.is_empty(), "coverage", "Coverage"),
        (true, "questions", "All questions"),
        (old.is_some(), "steps", "Steps"),
        (assertions.is_some(), "assertions", "Assertions"),
        (true, "run", "Run"),
    ];
    let optional = optional.into_iter().filter(|(is_there, ..)| *is_there);
    sections.extend(optional.map(|(_, id, title)| Section::new(id, title, "")));
    let head = Head {
        title: format!("{verdict}: {heading}"),
        verdict: verdict.to_owned(),
        tone: if record.passes(outcome) { Tone::Good } else { tone(outcome) },
        heading,
        about: block.map_or("", |block| block.title).to_owned(),
        facts,
        command: Some(command_of(folder, record)),
        sections,
    };
    let mut steps: Vec<(String, &str, &str)> = Vec::new();
    for profile in &record.profiles {
        for ComparisonStep { step, result } in &profile.steps {
            match steps.iter_mut().find(|known| (known.1, known.2) == (step, result)) {
                Some((of, ..)) => *of += &format!(", {}", profile.profile),
                None => steps.push((profile.profile.clone(), step, result)),
            }
        }
    }
    let page = Page { record, failed, rows, matrix, coverage, shown, steps, assertions };
    render(&head, TEMPLATE, &page)
}

/// The colour of an outcome that does not pass.
fn tone(outcome: Outcome) -> Tone {
    if outcome == Outcome::Failing { Tone::Bad } else { Tone::Open }
}

/// A row for each question that all profiles in it answer alike. The rows of these profiles lead
/// to it.
fn joined<'a>(all: &mut [Row<'a>]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for one in all {
        let key = |row: &Row<'_>| {
            let links = (row.vector.is_some(), row.waves.len(), row.next.clone());
            let by = (row.engine.to_owned(), row.depth, row.certificate.clone());
            (row.question.to_owned(), row.word, row.details.clone(), by, links)
        };
        let known = rows.iter_mut().find(|row| row.kind == one.kind && key(row) == key(one));
        match known.filter(|row| row.vector.is_none()) {
            Some(row) => {
                row.profile += &format!(", {}", one.profile);
                row.seconds = ((row.seconds + one.seconds) * 100.0).round() / 100.0;
                one.anchor.clone_from(&row.anchor);
            }
            None => rows.push(one.clone()),
        }
    }
    rows
}

/// The properties by the first word of their names, a rule or an output, and by profile. Rows of
/// properties that do not pass come first, then rules and outputs without a property.
fn matrix(record: &AnswerRecord, rows: &[Row<'_>], block: Option<&BlockInfo>) -> Vec<MatrixRow> {
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
    let mut names: Vec<String> = rows.iter().map(|row| name_of(row.question)).collect();
    names.extend(rules.iter().map(|rule| rule.name.to_owned()));
    // An output is named by each property whose text has it as a word.
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has = |text: &str, output: &str| text.split(|c| !is_word(c)).any(|word| word == output);
    let is_named = |output: &str| rows.iter().any(|row| has(row.question, output));
    let facts =
        block.and_then(|block| block.answers.facts(&block.profiles.first()?.parameters).ok());
    let transitions = facts.map_or_else(Vec::new, |facts| facts.properties.transitions);
    let assertions = block.and_then(|block| block.rtl.assertions).map_or("", |(_, text)| text);
    let covered_by = |output: &str| -> Vec<String> {
        let is_requested = |name: &str| rows.iter().any(|row| row.question.starts_with(name));
        let has_output =
            |rule: &&TransitionProperty| rule.outputs.iter().any(|(to, _)| *to == output);
        let rules = transitions.iter().filter(has_output).map(|rule| rule.rule);
        let rules = rules.filter(|rule| is_requested(&format!("{rule}: ")));
        let asserted = assertions.split("// property: ").skip(1);
        let asserted = asserted.filter_map(|text| text.split("\n\n").next());
        let asserted = asserted.filter(|text| has(text, output));
        let asserted = asserted.filter_map(|text| text.lines().next());
        let asserted = asserted.filter(|text| is_requested(text));
        rules.chain(asserted).map(str::to_owned).collect()
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
            passes: row.passes,
            certified: row.certified,
            anchor: row.anchor.clone(),
            property: row.question.to_owned(),
            by: std::iter::once(row.engine.to_owned())
                .chain(row.depth.map(|depth| format!("depth {depth}")))
                .chain([format!("{} s", row.seconds), row.certificate.clone()])
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
        };
        let cells = record.profiles.iter().map(|profile| {
            let is_of = |row: &Row<'_>| row.profile == profile.profile;
            let of = |row: &&Row<'_>| is_of(row) && name_of(row.question) == name;
            rows.iter().filter(of).map(cell).collect()
        });
        let meaning = rules.iter().find(|rule| rule.name == name).map(|rule| rule.meaning);
        let (cells, by) = (cells.collect(), covered_by(&name));
        all.push(MatrixRow { cells, meaning, by, name });
    }
    let order = |row: &MatrixRow| {
        let mut cells = row.cells.iter().flatten();
        match row.cells.iter().any(|cell| !cell.is_empty()) {
            true if cells.any(|cell| !cell.passes) => 0,
            false if row.by.is_empty() => 1,
            _ => 2,
        }
    };
    all.sort_by_key(order);
    all
}

/// The command that repeats it, or that proves closed coverage again.
fn command_of(folder: &Path, record: &AnswerRecord) -> String {
    let Subject { command, block, rtl, old, only, x, legal_only, .. } = &record.subject;
    let mut words = vec![program::called()];
    words.extend(command.name().split(' ').map(str::to_owned));
    if *command == ProverCommand::Close {
        words.extend(["--check".to_owned(), paths::word(folder)]);
        words.extend(rtl.given.arguments());
        return command_line(&words);
    }
    let profiles: Vec<&str> = record.profiles.iter().map(|one| one.profile.as_str()).collect();
    words.extend(["--block", block, "--fixes", &profiles.join(",")].map(str::to_owned));
    if let Some(only) = only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    if let Some(depth) = record.subject.accept_bounded {
        words.extend(["--accept-bounded".to_owned(), depth.to_string()]);
    }
    let flags = [
        ("--x", *x),
        ("--legal-only", *legal_only),
        ("--accept-believed", record.subject.accept_believed),
    ];
    words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()));
    let Some(old) = old else {
        words.extend(rtl.given.arguments());
        return command_line(&words);
    };
    let Rtl { include, defines, .. } = &old.given;
    let both = Rtl { include: include.clone(), defines: defines.clone(), ..Rtl::default() };
    words.extend(both.arguments());
    words.extend(["--", &old.named, &rtl.named].map(str::to_owned));
    command_line(&words)
}

fn explain(vector: &Path, rtl: &SubjectRtl) -> String {
    let mut words = vec![program::called(), "explain".to_owned()];
    match rtl.given.is_built_in() {
        true => words.extend(["--rtl", Rtl::BUILT_IN].map(str::to_owned)),
        false => words.extend(rtl.given.arguments()),
    }
    words.push(paths::word(vector));
    command_line(&words)
}

fn row<'a>(
    folder: &Path,
    profile: &'a str,
    row: &'a AnswerRow,
    record: &'a AnswerRecord,
    block: Option<&'static BlockInfo>,
) -> Row<'a> {
    let AnswerRow { kind, question, by, seconds, status, .. } = row;
    let Subject { rtl, old, accept_bounded, .. } = &record.subject;
    let outcome = status.outcome(*accept_bounded);
    let passes = record.passes(outcome);
    let found = status.found_inputs();
    let next = match (status, found) {
        _ if passes => Vec::new(),
        (AnswerStatus::Bounded { cycles, .. }, _) => vec![format!(
            "The property has no counterexample within {cycles} cycles. --accept-bounded accepts that depth."
        )],
        (AnswerStatus::Proved(_) | AnswerStatus::Believed(_), _) => {
            vec!["CaDiCaL did not certify the proof. --accept-believed accepts it.".to_owned()]
        }
        (_, Some(found)) => {
            let vector = found.vector.path(folder);
            std::iter::once(rtl).chain(old).map(|rtl| explain(&vector, rtl)).collect()
        }
        _ => Vec::new(),
    };
    let assertions = block.and_then(|block| block.rtl.assertions);
    let is_it = |line: &str| {
        line.trim_start().strip_prefix("// property: ").is_some_and(|text| text.trim() == question)
    };
    let line = assertions.and_then(|(_, text)| text.lines().position(is_it)).map(|place| place + 1);
    let first = question.split([' ', ':']).next().unwrap_or_default();
    let rule = block.and_then(|block| block.rules.iter().find(|rule| rule.name == first));
    let certificate = status.proof().map(|proof| &proof.certificate);
    let difference = found.and_then(|found| found.difference.as_ref());
    Row {
        profile: profile.to_owned(),
        kind: *kind,
        question,
        word: status.word(),
        outcome,
        passes,
        details: status.details(),
        certificate: certificate.map_or(String::new(), Certificate::to_string),
        certified: status.is_proved(),
        engine: by.as_ref().map_or("", |by| &by.engine),
        depth: by.as_ref().and_then(|by| by.depth),
        seconds: *seconds,
        vector: found.map(|found| &found.vector),
        waves: difference.map_or(&[][..], |difference| &difference.waves),
        line,
        meaning: rule.map(|rule| rule.meaning),
        next,
        anchor: String::new(),
    }
}
