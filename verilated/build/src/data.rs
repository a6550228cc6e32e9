//! Finds the names of files that RTL opens at run time, for example with `$readmemh`.
//!
//! Verilator reports the names that are constant after elaboration. It elaborates one set of
//! parameters and drops what that set does not use, so this module also searches the preprocessed
//! text. The caller locates the files.

use crate::{Elaboration, Preprocessed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A call that opens a file to read it, in an elaborated design.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Opened {
    /// The name of the file; `None` if the RTL computes it.
    pub name: Option<String>,
    /// Whether the simulation fails without the file, as for `$readmemh`.
    pub is_required: bool,
    /// The file with the call, as Verilator names it.
    pub file: PathBuf,
    /// The line of the call.
    pub line: u32,
}

/// The names of the files that RTL opens to read them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataNames {
    /// Constant names, with the call if it is elaborated.
    pub constant: BTreeMap<String, Option<Opened>>,
    /// Calls with names that the RTL computes.
    pub computed: Vec<Opened>,
}

impl DataNames {
    /// The names in a design.
    pub fn from_design(preprocessed: &Preprocessed, elaboration: &Elaboration) -> Self {
        let mut names = Self::default();
        let text: String = preprocessed.texts.values().flat_map(|text| [text, "\n"]).collect();
        names.constant.extend(in_text(&text).into_iter().map(|name| (name, None)));
        for opened in &elaboration.opened {
            match &opened.name {
                Some(name) => {
                    let known = names.constant.entry(name.clone()).or_default();
                    if known.as_ref().is_none_or(|known| !known.is_required) {
                        *known = Some(opened.clone());
                    }
                }
                None => names.computed.push(opened.clone()),
            }
        }
        names
    }
}

/// Whether a text contains a call that opens a file.
pub fn opens_files(text: &str) -> bool {
    CALLS.iter().any(|call| text.contains(call))
}

/// The calls that open files.
const CALLS: [&str; 3] = ["$readmemh", "$readmemb", "$fopen"];

/// Whether this mode only writes the file.
pub(crate) fn only_writes(mode: &str) -> bool {
    mode.starts_with(['w', 'a']) && !mode.contains('+')
}

/// The text of a constant in Verilator's description: a quoted text, or a number that encodes one.
pub(crate) fn constant(text: &str) -> Option<String> {
    if let Some(text) = text.strip_prefix('"') {
        return text.strip_suffix('"').map(str::to_owned);
    }
    let (_, digits) = text.split_once("'h")?;
    let digits = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[start..].to_vec()).ok()
}

/// A token of Verilog, as far as file names need it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// A quoted text.
    Text(String),
    /// An identifier, or the name of a system function with its `$`.
    Name(String),
    /// Anything else.
    Sign(char),
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                let mut quoted = String::new();
                while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
                    match letter {
                        '"' => break,
                        '\\' => quoted.extend(letters.next()),
                        letter => quoted.push(letter),
                    }
                }
                words.push(Word::Text(quoted));
            }
            '\\' => {
                let mut name = String::new();
                while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
                    name.push(letter);
                }
                words.push(Word::Name(name));
            }
            letter if is_name(letter) => {
                let mut name = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| is_name(*letter)) {
                    name.push(letter);
                }
                words.push(Word::Name(name));
            }
            letter if letter.is_whitespace() => {}
            letter => words.push(Word::Sign(letter)),
        }
    }
    words
}

/// Splits the tokens at the end of an argument, list element or assignment.
fn expression(words: &[Word]) -> (&[Word], &[Word]) {
    let mut depth = 0;
    let end = words.iter().position(|word| {
        match word {
            Word::Sign('(' | '{' | '[') => depth += 1,
            Word::Sign(')' | '}' | ']') => depth -= 1,
            Word::Sign(',') if depth == 0 => return true,
            Word::Sign(';') => return true,
            _ => {}
        }
        depth < 0
    });
    words.split_at(end.unwrap_or(words.len()))
}

/// The file names in preprocessed text: string literals in calls that open files, and string
/// literals assigned anywhere to the names in such calls, for example to parameters.
fn in_text(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !opens_files(text) {
        return found;
    }
    let words = words(text);
    // The expressions assigned to each name, by `=` or as `.NAME(...)`.
    let mut given: BTreeMap<&str, Vec<&[Word]>> = BTreeMap::new();
    let mut pending: Vec<&[Word]> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Word::Name(name) = word else { continue };
        let behind = &words[at + 1..];
        let is_override = at > 0 && words[at - 1] == Word::Sign('.');
        match behind {
            [Word::Sign('('), rest @ ..] if CALLS.contains(&name.as_str()) => {
                let (argument, rest) = expression(rest);
                let is_written = || match rest {
                    [Word::Sign(','), Word::Text(mode), ..] => only_writes(mode),
                    [Word::Sign(','), ..] => false,
                    // `$fopen` without a mode opens a channel for writing.
                    _ => true,
                };
                if name != "$fopen" || !is_written() {
                    pending.push(argument);
                }
            }
            [Word::Sign('='), Word::Sign('='), ..] => {}
            [Word::Sign('='), rest @ ..] => {
                given.entry(name).or_default().push(expression(rest).0);
            }
            [Word::Sign('('), rest @ ..] if is_override => {
                given.entry(name).or_default().push(expression(rest).0);
            }
            _ => {}
        }
    }
    while let Some(expression) = pending.pop() {
        for word in expression {
            match word {
                Word::Text(text) => drop(found.insert(text.clone())),
                Word::Name(name) => pending.extend(given.remove(name.as_str()).unwrap_or_default()),
                Word::Sign(_) => {}
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_calls_and_in_assigned_constants() {
        for (text, expected) in [
            ("$readmemh(\"a.hex\", m);", vec!["a.hex"]),
            ("$readmemb (\"a.hex\" , m, 0, 3);", vec!["a.hex"]),
            ("parameter F = \"a.hex\"; $readmemh(F, m);", vec!["a.hex"]),
            ("parameter string F = \"a.hex\", G = \"b\"; $readmemh(F, m);", vec!["a.hex"]),
            (
                "module s #(parameter F = \"d.hex\"); $readmemh(F, m); s #(.F(\"o.hex\")) s();",
                vec!["d.hex", "o.hex"],
            ),
            ("localparam A = \"a.hex\"; s #(.F(A)) s(); $readmemh(F, m);", vec!["a.hex"]),
            ("$readmemh(p::F, m); localparam F = \"a.hex\";", vec!["a.hex"]),
            ("F = K ? \"a.hex\" : \"b.hex\"; $readmemh(F, m);", vec!["a.hex", "b.hex"]),
            ("f = $fopen(\"a.txt\", \"r\");", vec!["a.txt"]),
            ("f = $fopen(\"a.txt\", \"w\"); g = $fopen(\"b.txt\");", vec![]),
            ("$display(\"a.hex\"); $dumpfile(\"b.vcd\"); $readmemh(x, m);", vec![]),
            ("if (F == \"no\") $readmemh(F, m);", vec![]),
            ("F = \"a.hex\";", vec![]),
            ("wire \\odd\"name ; $readmemh(\"a.hex\", m);", vec!["a.hex"]),
        ] {
            assert_eq!(in_text(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn a_constant_is_a_text_or_a_number_that_encodes_one() {
        for (text, expected) in [
            ("\"s.hex\"", Some("s.hex")),
            ("72'h6d6163726f2e686578", Some("macro.hex")),
            ("80'h7a2e686578", Some("z.hex")),
            ("16'h0061", Some("a")),
            ("varref", None),
        ] {
            assert_eq!(constant(text).as_deref(), expected, "{text}");
        }
    }
}
