//! Stable codes of the errors that users see.
//!
//! `table.rs` declares each code once: its number, name, exit code, title and explanation. `cosim
//! error`, the list in the book and the exit codes are generated from it. A code names a kind of
//! mistake, not one message.

mod table;

pub use table::*;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The code of an error, such as `E0213`.
#[derive(Clone, Copy)]
pub struct Code(&'static Entry);

/// Who must act. Determines the command's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The RTL failed.
    Rtl,
    /// The user's input is wrong.
    User,
    /// The machine lacks something.
    Machine,
    Interrupted,
}

/// A row of the table.
#[derive(Debug)]
struct Entry {
    number: &'static str,
    name: &'static str,
    class: Class,
    title: &'static str,
    explanation: &'static str,
}

/// The groups of codes, by prefix.
const GROUPS: [(&str, &str); 7] = [
    ("E01", "Command line"),
    ("E02", "Input files"),
    ("E03", "User RTL and building models"),
    ("E04", "Running models and workers"),
    ("E05", "Formal engines"),
    ("E06", "Output files and caches"),
    ("E09", "Machine and missing tools"),
];

/// Maximum line length of explanations, in characters.
const WIDTH: usize = 100;

impl Code {
    /// The code with this number or name, ignoring case.
    pub fn find(text: &str) -> Option<Self> {
        let is_it = |code: &Self| {
            code.number().eq_ignore_ascii_case(text) || code.name().eq_ignore_ascii_case(text)
        };
        ALL.iter().copied().find(is_it)
    }

    /// The number, such as `E0213`.
    pub fn number(self) -> &'static str {
        self.0.number
    }

    /// The name of the constant, such as `UNKNOWN_FIELD`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// A short description of the mistake.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// The exit code of a command that ends with this error.
    pub fn exit(self) -> u8 {
        match self.0.class {
            Class::Rtl => 1,
            Class::User => 2,
            Class::Machine => 3,
            Class::Interrupted => 130,
        }
    }

    /// What is wrong, why, and what to do, wrapped to lines.
    pub fn explanation(self) -> String {
        wrapped(self.0.explanation)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.number())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Code {}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.number())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = String::deserialize(deserializer)?;
        Self::find(&number)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown error code {number}")))
    }
}

/// The groups, each with its title and codes.
pub fn groups() -> impl Iterator<Item = (&'static str, Vec<Code>)> {
    GROUPS.into_iter().map(|(prefix, title)| {
        let is_inside = |code: &Code| code.number().starts_with(prefix);
        (title, ALL.iter().copied().filter(is_inside).collect())
    })
}

/// All codes with their explanations, as Markdown.
pub fn page() -> String {
    let mut page = String::new();
    for (title, codes) in groups() {
        page += &format!("\n## {title}\n");
        for code in codes {
            let exit = code.exit();
            page += &format!("\n### {code}: {}\n\nExit code {exit}.\n\n", code.title());
            page += &format!("{}\n", code.explanation());
        }
    }
    page
}

/// Wraps a text to lines of at most [`WIDTH`] characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut().filter(|line| line.len() + 1 + word.len() <= WIDTH) {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
