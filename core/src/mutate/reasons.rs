//! Mutations of which a person has written why they make no difference: a file for `cosim mutate --equivalents`.
//!
//! A line of the RTL is named by its text, so a reason stays right when lines above it come and go.

use super::mutation::Mutation;
use crate::error::Error;
use crate::models::Examined;
use crate::program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::Spanned;

/// The only value of `format`.
const FORMAT: &str = "cosim-equivalents";
/// The only version.
const VERSION: u64 = 1;

/// A file of reasons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: String,
    version: u64,
    #[serde(default)]
    equivalent: Vec<Spanned<Reason>>,
}

/// Why a mutation makes no difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The block.
    pub block: String,
    /// In which profiles; in all, if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// The file of the RTL.
    pub file: String,
    /// The text of one of the lines that the mutation comes from.
    pub line: String,
    /// What the mutation does, in the words of a grading.
    pub does: String,
    /// Why that makes no difference.
    pub reason: String,
}

/// The reasons of a file.
///
/// # Errors
/// [`Error::File`] or [`Error::Input`] if it is none, or speaks of a block or a profile that is not there.
pub fn read(path: &Path) -> Result<Vec<Reason>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::unreadable(path, &error))?;
    let Text { format, version, equivalent } =
        toml::from_str(&text).map_err(|error| Error::toml(path, &text, None, &error))?;
    if format != FORMAT || version != VERSION {
        let message = format!("is {format} {version}, expected {FORMAT} {VERSION}");
        return Err(Error::File { path: path.to_owned(), message });
    }
    let reasons = equivalent.into_iter().map(|reason| {
        let start = reason.span().start;
        let reason = reason.into_inner();
        match reason.objection() {
            None => Ok(reason),
            Some(message) => Err(Error::at_offset(path, &text, start, message)),
        }
    });
    reasons.collect()
}

impl Reason {
    /// What is wrong with it, by itself.
    fn objection(&self) -> Option<String> {
        let Self { block, profiles, reason, .. } = self;
        if reason.trim().is_empty() {
            return Some("has no `reason`: say why the mutation makes no difference".to_owned());
        }
        let Some(known) = program::find(block) else {
            return Some(format!(
                "`{block}` is no block of this program; see `{} list`",
                program::name()
            ));
        };
        let is_there = |name: &&String| known.profiles().iter().any(|known| known.name == **name);
        let missing = profiles.iter().find(|name| !is_there(name))?;
        Some(format!("`{missing}` is no profile of {block}; see `{} list`", program::name()))
    }
}

/// The reasons that are about a profile of an RTL.
#[derive(Debug, Default)]
pub struct Reasons<'a> {
    of_profile: Vec<&'a Reason>,
    /// The lines of its files.
    lines: BTreeMap<String, Vec<String>>,
}

impl<'a> Reasons<'a> {
    /// Those of some that are about this profile.
    pub fn new(all: &'a [Reason], profile: &str, examined: &Examined) -> Self {
        let is_of = |reason: &&Reason| {
            reason.profiles.is_empty() || reason.profiles.iter().any(|name| name == profile)
        };
        let lines = examined.texts.iter().map(|source| {
            let text = String::from_utf8_lossy(&source.text);
            let lines = text.lines().map(|line| line.trim().to_owned()).collect();
            (examined.typed(&source.name.to_string_lossy()), lines)
        });
        Self { of_profile: all.iter().filter(is_of).collect(), lines: lines.collect() }
    }

    /// What is written of a mutation.
    pub fn of(&self, mutation: &Mutation) -> Option<String> {
        let does = mutation.words();
        let is_about = |reason: &&&Reason| {
            let comes_from = mutation.sources.iter().any(|source| {
                let line = self.lines.get(&source.file).and_then(|lines| {
                    lines.get(usize::try_from(source.line).ok()?.checked_sub(1)?)
                });
                Path::new(&source.file).ends_with(&reason.file)
                    && line.is_some_and(|line| line == reason.line.trim())
            });
            comes_from && reason.does == does
        };
        self.of_profile.iter().find(is_about).map(|reason| reason.reason.clone())
    }

    /// Those whose line is not there, each in words: the RTL has changed, or is another.
    pub fn stale(&self) -> Vec<String> {
        let is_there = |reason: &&&Reason| {
            self.lines.iter().any(|(file, lines)| {
                Path::new(file).ends_with(&reason.file)
                    && lines.iter().any(|line| line == reason.line.trim())
            })
        };
        let stale = self.of_profile.iter().filter(|reason| !is_there(reason));
        let words = |reason: &&Reason| {
            let Reason { file, line, .. } = reason;
            format!("{file} has no line `{}`: what is written of it is about nothing", line.trim())
        };
        stale.map(words).collect()
    }
}
