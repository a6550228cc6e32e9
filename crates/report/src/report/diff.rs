//! The page of a comparison of two RTLs, with a section for each profile.

use super::page::{Fact, Head, Section, Tone, render};
use crate::paths;
use cosim_base::error::Error;
use cosim_base::program;
use cosim_block::rtl::{Rtl, command_line};
use cosim_formal::certificate::BELIEVED;
use cosim_formats::diff::{Diff, DiffStep, DiffVerdict, ProfileDiff, ShownDifference};
use cosim_harness::harness::Blocks;
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/diff.html");

#[derive(Serialize)]
struct Page<'a> {
    diff: &'a Diff,
    profiles: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    profile: &'a str,
    word: &'static str,
    tone: Tone,
    lines: Vec<String>,
    shown: Option<&'a ShownDifference>,
    legal: Option<String>,
    steps: &'a [DiffStep],
    /// What to do next.
    next: Vec<String>,
}

/// Renders the page.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(folder: &Path, diff: &Diff, blocks: Blocks<'_>) -> Result<String, Error> {
    let subject = &diff.subject;
    let about = blocks.find(&subject.block).map_or("", |block| block.title);
    let profiles: Vec<Row<'_>> =
        diff.profiles.iter().map(|profile| row(folder, diff, profile)).collect();
    let of_word = |word: &'static str| {
        let count = profiles.iter().filter(|row| row.word == word).count();
        let tone = if word == "DIFFERENT" { Tone::Bad } else { Tone::Open };
        Fact::new(count.to_string(), word.to_lowercase())
            .tone(tone, count > 0 && word != "equivalent")
    };
    let head = Head {
        title: format!("{}: two RTLs of {}", diff.word(), subject.block),
        verdict: diff.word().to_owned(),
        tone: tone(diff.word()),
        heading: format!("{}, {} and {}", subject.block, subject.old.named, subject.new.named),
        about: about.to_owned(),
        facts: ["equivalent", "DIFFERENT", BELIEVED, "undecided"].map(of_word).into(),
        command: Some(command(diff)),
        sections: vec![
            Section::new("profiles", "Profiles", profiles.len().to_string()),
            Section::new("run", "Run", ""),
        ],
    };
    render(&head, TEMPLATE, &Page { diff, profiles })
}

fn tone(word: &str) -> Tone {
    match word {
        "equivalent" => Tone::Good,
        "DIFFERENT" => Tone::Bad,
        _ => Tone::Open,
    }
}

/// The command that repeats the comparison.
fn command(diff: &Diff) -> String {
    let subject = &diff.subject;
    let mut words = vec![program::called(), "diff".to_owned()];
    if [&subject.old, &subject.new].iter().any(|side| side.named.starts_with('-')) {
        words.push("--".to_owned());
    }
    words.extend([&subject.old, &subject.new].map(|side| side.named.clone()));
    let mut options = vec!["--block".to_owned(), subject.block.clone()];
    let profiles: Vec<&str> = diff.profiles.iter().map(|one| one.profile.as_str()).collect();
    options.extend(["--fixes".to_owned(), profiles.join(",")]);
    if subject.legal_only {
        options.push("--legal-only".to_owned());
    }
    if subject.accept_believed {
        options.push("--accept-believed".to_owned());
    }
    let Rtl { include, defines, .. } = &subject.old.given;
    let both = Rtl { include: include.clone(), defines: defines.clone(), ..Rtl::default() };
    options.extend(both.arguments());
    words.splice(2..2, options);
    command_line(&words)
}

fn row<'a>(folder: &Path, diff: &Diff, profile: &'a ProfileDiff) -> Row<'a> {
    let ProfileDiff { profile, steps, verdict } = profile;
    let (shown, lines) = match verdict {
        DiffVerdict::Different(shown) => (Some(&**shown), Vec::new()),
        other => (None, other.lines()),
    };
    let next = shown.map_or_else(Vec::new, |shown| {
        [&diff.subject.new, &diff.subject.old]
            .map(|side| {
                let mut words = vec![program::called(), "explain".to_owned()];
                match side.given.is_built_in() {
                    true => words.extend(["--rtl", Rtl::BUILT_IN].map(str::to_owned)),
                    false => words.extend(side.given.arguments()),
                }
                words.push(paths::word(&shown.vector.path(folder)));
                command_line(&words)
            })
            .into()
    });
    Row {
        profile,
        word: verdict.word(),
        tone: tone(verdict.word()),
        lines,
        shown,
        legal: shown.map(|shown| shown.legal.words()),
        steps,
        next,
    }
}
