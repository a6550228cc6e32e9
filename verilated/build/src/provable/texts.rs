//! The preprocessed text of the RTL, where the tree does not say what the RTL says: whether an
//! index is cast to the width of its array or cut, and whether a `case` is `casex`.
//!
//! Places in the tree are those of the preprocessed text: macros are expanded, comments gone.

use super::constant::place;
use crate::tree::Element;
use std::collections::BTreeMap;
use verilated_lexer::line_directive;

/// The lines of each file by number.
type Lines = BTreeMap<u32, String>;

/// The lines of each file, by the letter of the file.
#[derive(Debug, Default)]
pub(super) struct Texts(BTreeMap<String, Lines>);

impl Texts {
    /// Reads the output of Verilator's preprocessor. `files` are names by letter. A line that has
    /// several texts has none.
    pub(super) fn from_preprocessed(preprocessed: &str, files: &BTreeMap<String, String>) -> Self {
        let mut by_name: BTreeMap<String, Lines> = BTreeMap::new();
        let (mut file, mut number) = (String::new(), 0);
        for line in preprocessed.lines() {
            if let Some((next, name, _)) = line_directive(line) {
                (number, file) = (next, name.to_owned());
                continue;
            }
            let lines = by_name.entry(file.clone()).or_default();
            let text = lines.entry(number).or_insert_with(|| line.to_owned());
            if text.trim().is_empty() {
                line.clone_into(text);
            } else if text != line && !line.trim().is_empty() {
                // No column of it has an element.
                "`".clone_into(text);
            }
            number += 1;
        }
        let of = |name: &String| by_name.get(name).cloned();
        Self(files.iter().filter_map(|(id, name)| Some((id.clone(), of(name)?))).collect())
    }

    /// The text of a line before an element, and that from it on.
    pub(super) fn around(&self, element: &Element) -> Option<(&str, &str)> {
        let (file, [line, column, ..]) = place(element)?;
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let line = self.0.get(file)?.get(&line)?;
        line.split_at_checked(column).filter(|_| !line.contains('`'))
    }

    /// The index of a select, without its brackets and what is in brackets inside, and without the
    /// width of a part. `None` if it is not plain text.
    pub(super) fn index(&self, select: &Element) -> Option<String> {
        let (file, [line, ..]) = place(select)?;
        let (_, first) = self.around(select)?;
        let rest = self.0.get(file)?.range(line.checked_add(1)?..).map(|(_, text)| text);
        let mut depth = 0;
        let mut index = String::new();
        for line in std::iter::once(first).chain(rest.map(String::as_str)) {
            for letter in line.chars() {
                match letter {
                    '[' => depth += 1,
                    ']' if depth == 1 => {
                        let end = ["+:", "-:"].iter().filter_map(|width| index.find(width)).min();
                        index.truncate(end.unwrap_or(index.len()));
                        return Some(index);
                    }
                    ']' => depth -= 1,
                    '`' => return None,
                    letter if depth == 1 => index.push(letter),
                    _ if depth == 0 => return None,
                    _ => {}
                }
            }
            index.push(' ');
        }
        None
    }

    /// The size to which a variable is cast, such as the `W` of `W'(name)`.
    pub(super) fn size_of_cast(&self, variable: &Element) -> Option<&str> {
        let (before, text) = self.around(variable)?;
        text.strip_prefix(variable.name())?.trim_start().strip_prefix(')')?;
        let before = before.trim_end().strip_suffix('(')?.trim_end().strip_suffix('\'')?;
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let rest = before.trim_end_matches(is_word);
        let size = &before[rest.len()..];
        (!size.is_empty() && !rest.ends_with([':', '.', '\'', '$', '\\'])).then_some(size)
    }
}

/// The number of operators in an expression.
pub(super) fn operators(text: &str) -> usize {
    let is_operator = |letter: char| "+-*/%&|^~!<>=?".contains(letter);
    text.split(|letter| !is_operator(letter)).filter(|run| !run.is_empty()).count()
}

/// The names in an expression.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_$'".contains(letter);
    text.split(move |letter| !is_word(letter))
        .filter(|word| !word.contains('\'') && !word.starts_with(|one: char| one.is_ascii_digit()))
        .filter(|word| !word.is_empty())
}
