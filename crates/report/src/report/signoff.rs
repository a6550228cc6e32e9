//! The sign-off matrix: for each rule of a specification, what shows it.
//!
//! Cases count how often the golden model used the rule. Everything else names the rule: the file
//! name or description of a vector, a bin, a comment beside a mutated line, a property, the
//! description of a planted bug. So an empty cell may also mean that a name is missing.

use super::page::{Fact, Head, Section, Tone, render};
use super::{Results, specification};
use cosim_base::error::{Error, codes};
use cosim_base::files::read_input_text;
use cosim_base::program;
use cosim_block::rtl::command_line;
use cosim_formats::answers::{ANSWERS, AnswerRecord, ProverCommand};
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_formats::mutation::{self, MutantClass, MutantStatus};
use cosim_formats::run::RESULTS;
use cosim_harness::harness::{BlockInfo, Blocks};
use cosim_rtl::backend::RtlModels as _;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const TEMPLATE: &str = include_str!("../../templates/signoff.html");
/// Largest vector or patch that is read, in bytes; maximum number of files in a folder.
const MOST_BYTES: u64 = 1 << 20;
const MOST_FILES: usize = 20_000;
/// Number of lines below a comment that it is taken to describe.
const LINES_OF_A_COMMENT: usize = 8;

/// What is known of the rules of a block.
#[derive(Debug, Serialize)]
pub struct SignOff {
    pub block: String,
    /// Whether the run, which every other result is about, passed.
    pub passed: bool,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// The columns, in order.
    pub columns: Vec<&'static str>,
    /// Columns without a source, and the option or the command that gives one.
    pub missing: Vec<(&'static str, String)>,
    /// The rules, those with empty cells first.
    pub rules: Vec<RuleEvidence>,
}

#[derive(Debug, Serialize)]
pub struct RuleEvidence {
    pub rule: String,
    pub meaning: String,
    pub cells: Vec<EvidenceCell>,
}

/// A cell of the matrix: what holds, of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EvidenceCell {
    /// Hits, or items that hold: bins hit, mutants killed, properties proved.
    pub good: u64,
    /// All items; `null` where only the number counts.
    pub all: Option<u64>,
}

impl EvidenceCell {
    /// Whether nothing shows the rule.
    pub fn is_empty(self) -> bool {
        self.good == 0
    }

    /// As text: `3`, `2/3` or nothing.
    pub fn text(self) -> String {
        match self {
            Self { good: 0, all: None | Some(0) } => String::new(),
            Self { good, all: None } => good.to_string(),
            Self { good, all: Some(all) } => format!("{good}/{all}"),
        }
    }
}

#[derive(Debug, Default)]
pub struct Sources<'a> {
    /// Run directories and results of `mutate` and `prove`.
    pub folders: &'a [PathBuf],
    pub vectors: &'a [PathBuf],
    /// Folders of planted bugs, as patches.
    pub bugs: &'a [PathBuf],
}

impl SignOff {
    /// Collects the evidence. All results must be of one block and RTL.
    ///
    /// # Errors
    /// [`Error::File`] for a folder without results, or with those of another block or RTL.
    /// [`Error::Usage`] if no run is among them, or if the block has no rules.
    pub fn collect(sources: &Sources<'_>, blocks: Blocks<'_>) -> Result<Self, Error> {
        let (mut runs, mut mutants, mut proofs) = (Vec::new(), Vec::new(), Vec::new());
        for folder in sources.folders {
            let has = |name: &str| folder.join(name).is_file();
            if has(RESULTS) {
                runs.push((folder, Results::read(folder, |_, _| ())?));
            } else if has(mutation::RESULT) {
                mutants.push((folder, mutation::Report::read(folder)?));
            } else if has(ANSWERS) {
                proofs.push((folder, AnswerRecord::read_of(ProverCommand::Prove, folder)?));
            } else {
                let message = format!("has none of {RESULTS}, {} and {ANSWERS}", mutation::RESULT);
                return Err(Error::File { code: codes::NOT_A_RUN, path: folder.clone(), message });
            }
        }
        let nothing = |message: &str| Error::Usage(codes::NOTHING_SELECTED, message.to_owned());
        let Some((_, first)) = runs.first() else {
            return Err(nothing("name a run directory; its RTL is what is signed off"));
        };
        let (name, rtl) = (first.run.block.clone(), first.run.rtl.clone());
        let all = runs
            .iter()
            .map(|(folder, one)| (*folder, &one.run.block, &one.run.rtl))
            .chain(mutants.iter().map(|(folder, one)| (*folder, &one.run.block, &one.run.rtl)))
            .chain(proofs.iter().map(|(folder, AnswerRecord { subject, .. })| {
                (*folder, &subject.block, &subject.rtl.identity)
            }));
        for (folder, of_block, of_rtl) in all {
            if (of_block, of_rtl) != (&name, &rtl) {
                return Err(Error::File {
                    code: codes::OTHER_RUN,
                    path: folder.clone(),
                    message: format!(
                        "is of block {of_block}, RTL {of_rtl}; the first run is of {name}, RTL {rtl}"
                    ),
                });
            }
        }
        let block = blocks.find(&name);
        let rules = rules(block, runs.iter().map(|(_, results)| results));
        if rules.is_empty() {
            return Err(nothing("the block has no rules: its golden model names none in RULES"));
        }
        let databases = runs.iter().map(|(folder, _)| Database::read(&folder.join(COVERAGE)));
        let databases = databases.collect::<Result<Vec<Database>, Error>>()?;
        let bins: Vec<(String, bool)> = databases.iter().flat_map(bins).collect();
        let mutated: Vec<(String, bool)> =
            mutants.iter().flat_map(|(_, report)| mutated(report, block)).collect();
        let proved: Vec<(String, bool)> = proofs
            .iter()
            .flat_map(|(_, proof)| proof.rows())
            .map(|row| (row.question.clone(), row.status.is_proved()))
            .collect();
        let vectors = texts(sources.vectors, "json", &|text, stem| about(text, stem, &name))?;
        let bugs = texts(sources.bugs, "patch", &|text, stem| {
            let head = text.lines().take_while(|line| line.starts_with('#'));
            Some(head.chain([stem]).collect::<Vec<_>>().join(" "))
        })?;
        let given = &first.run.given;
        let to_run = |command: &str| {
            let words = [&program::called(), command, "--block", &name, "--out", "DIR"];
            let words = words.map(str::to_owned).into_iter().chain(given.arguments());
            command_line(&words.collect::<Vec<_>>())
        };
        let all = [
            ("cases", None),
            ("vectors", sources.vectors.is_empty().then(|| "--vectors DIR".to_owned())),
            ("bins", None),
            ("mutants", mutants.is_empty().then(|| to_run("mutate"))),
            ("proofs", proofs.is_empty().then(|| to_run("prove"))),
            ("planted bugs", sources.bugs.is_empty().then(|| "--bugs DIR".to_owned())),
        ];
        let named = |texts: &[String], rule: &str| EvidenceCell {
            good: texts.iter().filter(|text| names(text, rule)).count() as u64,
            all: None,
        };
        let of = |items: &[(String, bool)], rule: &str| {
            let own = items.iter().filter(|(text, _)| names(text, rule));
            let (good, all) =
                own.fold((0, 0), |(good, all), (_, holds)| (good + u64::from(*holds), all + 1));
            EvidenceCell { good, all: Some(all) }
        };
        let hits = |rule: &str| {
            let profiles = runs.iter().flat_map(|(_, results)| &results.profiles);
            let hits = profiles.filter_map(|profile| profile.rules.get(rule));
            EvidenceCell { good: hits.fold(0, |sum, hits| sum.saturating_add(*hits)), all: None }
        };
        let mut rules: Vec<RuleEvidence> = rules
            .into_iter()
            .map(|(rule, meaning)| RuleEvidence {
                cells: [
                    hits(&rule),
                    named(&vectors, &rule),
                    of(&bins, &rule),
                    of(&mutated, &rule),
                    of(&proved, &rule),
                    named(&bugs, &rule),
                ]
                .into_iter()
                .zip(&all)
                .filter(|(_, (_, missing))| missing.is_none())
                .map(|(cell, _)| cell)
                .collect(),
                rule,
                meaning,
            })
            .collect();
        // The sort is stable: rules with as many empty cells keep their order.
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.empty()));
        let passed = runs.iter().all(|(_, results)| results.passed);
        let (mut columns, mut missing) = (Vec::new(), Vec::new());
        for (column, source) in all {
            match source {
                None => columns.push(column),
                Some(source) => missing.push((column, source)),
            }
        }
        Ok(Self { block: name, passed, rtl, columns, missing, rules })
    }

    /// The number of rules without a case, and of empty cells.
    pub fn gaps(&self) -> (usize, usize) {
        let cases = self.rules.iter().filter(|rule| rule.cells[0].is_empty());
        (cases.count(), self.rules.iter().map(RuleEvidence::empty).sum())
    }

    pub fn csv(&self) -> String {
        let cell = |text: &str| {
            // A spreadsheet computes what begins like a formula.
            let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let mark = if is_formula { "'" } else { "" };
            format!("\"{mark}{}\"", text.replace('"', "\"\""))
        };
        let line = |cells: Vec<String>| cells.join(",") + "\r\n";
        let heads = ["rule", "meaning"].iter().chain(&self.columns);
        let mut text = line(heads.map(|head| cell(head)).collect());
        for RuleEvidence { rule, meaning, cells } in &self.rules {
            let own = [cell(rule), cell(meaning)].into_iter();
            text += &line(own.chain(cells.iter().map(|one| cell(&one.text()))).collect());
        }
        text
    }

    /// Renders the page.
    ///
    /// # Errors
    /// [`Error::Environment`] if the template fails.
    pub fn page(&self, blocks: Blocks<'_>) -> Result<String, Error> {
        let block = blocks.find(&self.block);
        let (without_case, empty) = self.gaps();
        let (verdict, tone) = match () {
            () if !self.passed => ("FAIL", Tone::Bad),
            () if empty > 0 || !self.missing.is_empty() => ("GAPS", Tone::Open),
            () => ("COMPLETE", Tone::Good),
        };
        let specification = block.and_then(specification::read_specification);
        let head = Head {
            title: format!("{verdict}: sign-off of {}", self.block),
            verdict: verdict.to_owned(),
            tone,
            heading: format!("{}, sign-off", self.block),
            about: block.map_or("", |block| block.title).to_owned(),
            facts: vec![
                Fact::new(self.rules.len().to_string(), "rules"),
                Fact::new(without_case.to_string(), "without a case")
                    .tone(Tone::Bad, without_case > 0),
                Fact::new(empty.to_string(), "empty cells").tone(Tone::Open, empty > 0),
            ],
            sections: vec![Section::new("matrix", "Matrix", self.rules.len().to_string())]
                .into_iter()
                .chain(
                    specification
                        .iter()
                        .map(|_| Section::new("specification", "Specification", "")),
                )
                .collect(),
            ..Head::default()
        };
        let rows = self.rules.iter().map(|rule| Row {
            is_specified: specification
                .as_ref()
                .is_some_and(|one| one.rules.contains(rule.rule.as_str())),
            cells: rule.cells.iter().map(|cell| (cell.text(), cell.is_empty())).collect(),
            rule: &rule.rule,
            meaning: &rule.meaning,
            empty: rule.empty(),
        });
        let rows = rows.collect();
        render(&head, TEMPLATE, &Page { sign_off: self, rows, specification })
    }
}

impl RuleEvidence {
    fn empty(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_empty()).count()
    }
}

#[derive(Serialize)]
struct Page<'a> {
    sign_off: &'a SignOff,
    rows: Vec<Row<'a>>,
    specification: Option<specification::Specification>,
}

#[derive(Serialize)]
struct Row<'a> {
    rule: &'a str,
    meaning: &'a str,
    is_specified: bool,
    /// The cells as text, and whether they are empty.
    cells: Vec<(String, bool)>,
    empty: usize,
}

/// The rules of a block and those that runs have, with their meanings.
fn rules<'a>(
    block: Option<&BlockInfo>,
    runs: impl Iterator<Item = &'a Results>,
) -> Vec<(String, String)> {
    let known = block.map_or(&[][..], |block| block.rules);
    let mut rules: Vec<(String, String)> =
        known.iter().map(|rule| (rule.name.to_owned(), rule.meaning.to_owned())).collect();
    let reported = runs.flat_map(|results| &results.profiles);
    for name in reported.flat_map(|profile| profile.rules.keys().chain(profile.unreachable.keys()))
    {
        if !rules.iter().any(|(rule, _)| rule == name) {
            rules.push((name.clone(), String::new()));
        }
    }
    rules
}

/// Whether a text has a name as a word of its own, in either case.
fn names(text: &str, name: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_of_word)
            && !text[at + name.len()..].chars().next().is_some_and(is_of_word)
    })
}

/// The reachable bins with their meanings, and whether a case hit them.
fn bins(database: &Database) -> Vec<(String, bool)> {
    let of = |profile: &String| {
        let covered = database.covered(profile);
        let missed = database.uncovered(profile, &covered);
        let hits = covered.hits.iter().enumerate();
        let reachable: Vec<(String, bool)> = hits
            .filter_map(|(bin, hits)| {
                let bin = u32::try_from(bin).ok()?;
                let is_reachable = *hits > 0 || missed.contains(&bin);
                is_reachable.then(|| (database.bin_name(bin), *hits > 0))
            })
            .collect();
        reachable
    };
    database.profiles.keys().flat_map(of).collect()
}

/// The comments at the lines of mutants that may differ, and whether a case killed them.
fn mutated(report: &mutation::Report, block: Option<&'static BlockInfo>) -> Vec<(String, bool)> {
    let examined = block.and_then(|block| report.run.given.examined(block).ok());
    let Some(examined) = examined.filter(|examined| examined.identity == report.run.rtl) else {
        return Vec::new();
    };
    let texts = examined.texts.iter().map(|file| {
        let text = String::from_utf8_lossy(&file.text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (examined.typed(&file.name.to_string_lossy()), lines)
    });
    let texts: BTreeMap<String, Vec<String>> = texts.collect();
    let mutants = report.profiles.iter().flat_map(|graded| &graded.mutants);
    let may_differ = |mutant: &&mutation::Mutant| match mutant.counts() {
        MutantClass::Equivalent => false,
        MutantClass::Believed => !report.run.accept_believed,
        _ => true,
    };
    let counts = mutants.filter(may_differ);
    let described = |mutant: &mutation::Mutant| {
        let sources = mutant.mutation.sources.iter();
        let comments = sources.filter_map(|source| comment(texts.get(&source.file)?, source.line));
        comments.collect::<Vec<_>>().join(" ")
    };
    counts
        .map(|mutant| (described(mutant), matches!(mutant.status, MutantStatus::Killed { .. })))
        .collect()
}

/// The comment of a line, or the nearest one above it within the same paragraph.
fn comment(lines: &[String], line: u32) -> Option<String> {
    let at = (line as usize).checked_sub(1)?;
    let above = lines.get(..=at)?.iter().rev().take(LINES_OF_A_COMMENT);
    let paragraph = above.take_while(|line| !line.trim().is_empty());
    let mut comments = paragraph.filter_map(|line| Some(line.split_once("//")?.1.to_owned()));
    comments.next()
}

/// What the files with an ending below folders say, as far as `of` makes a text of them.
fn texts(
    folders: &[PathBuf],
    ending: &str,
    of: &dyn Fn(&str, &str) -> Option<String>,
) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for folder in folders {
        let unreadable = |error: std::io::Error| Error::unreadable(folder, &error);
        let entries = fs::read_dir(folder).map_err(unreadable)?.take(MOST_FILES);
        let mut paths = entries
            .map(|entry| Ok(entry.map_err(unreadable)?.path()))
            .collect::<Result<Vec<PathBuf>, Error>>()?;
        paths.retain(|path| {
            path.extension().is_some_and(|other| other == ending)
                && path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES)
        });
        paths.sort();
        for path in &paths {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            found.extend(of(&read_input_text(path, MOST_BYTES)?, &stem));
        }
    }
    Ok(found)
}

/// What a vector of a block says about itself; `None` for other files.
fn about(text: &str, stem: &str, block: &str) -> Option<String> {
    let vector: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_own = vector["format"] == "cosim-vector" && vector["block"] == block;
    let about = vector["origin"]["about"].as_str().unwrap_or_default();
    is_own.then(|| format!("{stem} {about}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_a_rule_as_a_word_of_its_own() {
        for text in ["C1", "c1-reset-to-init", "// C1, C2", "(C1)", "x: C1+Q1", "C1: 4 outputs"] {
            assert!(names(text, "C1"), "{text}");
        }
        for text in ["", "C10", "AC1", "C1_x", "c 1", "C"] {
            assert!(!names(text, "C1"), "{text}");
        }
    }

    #[test]
    fn a_line_has_the_nearest_comment_of_its_paragraph() {
        let lines = ["// C1: init", "a <= b;", "c <= d; // C2", "e <= f;", "", "g <= h;"];
        let lines: Vec<String> = lines.map(str::to_owned).to_vec();
        let of = |line| comment(&lines, line).map(|text| text.trim().to_owned());
        assert_eq!(of(1).as_deref(), Some("C1: init"));
        assert_eq!(of(2).as_deref(), Some("C1: init"));
        assert_eq!(of(3).as_deref(), Some("C2"));
        assert_eq!(of(4).as_deref(), Some("C2"));
        assert_eq!((of(5), of(6), of(0), of(99)), (None, None, None, None));
    }

    #[test]
    fn a_table_for_spreadsheets_has_no_formulas() {
        let cells = vec![
            EvidenceCell { good: 0, all: Some(2) },
            EvidenceCell { good: 0, all: None },
            EvidenceCell { good: 3, all: None },
        ];
        let rules = vec![RuleEvidence {
            rule: "=HYPERLINK(\"x\")".to_owned(),
            meaning: "a, \"b\"".to_owned(),
            cells,
        }];
        let columns = vec!["cases", "bins", "proofs"];
        let (block, rtl, missing) = ("b".to_owned(), String::new(), Vec::new());
        let sign_off = SignOff { block, passed: true, rtl, columns, missing, rules };
        let expected = "\"rule\",\"meaning\",\"cases\",\"bins\",\"proofs\"\r\n\
                        \"'=HYPERLINK(\"\"x\"\")\",\"a, \"\"b\"\"\",\"0/2\",\"\",\"3\"\r\n";
        assert_eq!(sign_off.csv(), expected);
        assert_eq!(sign_off.gaps(), (1, 2));
    }
}
