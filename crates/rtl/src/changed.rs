//! Which lines changed between two versions of an RTL. Both texts are compared after preprocessing,
//! token by token.

use crate::models::{Examined, PreprocessedRtl};
use cosim_base::error::Error;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::collections::BTreeSet;
use verilated_lexer::{Kind, line_directive};

/// The lines of the new RTL whose tokens differ from the old RTL, and those beside deleted lines:
/// names as Verilator sees them, with the number of the line.
///
/// # Errors
/// If Verilator's preprocessor fails.
pub fn changed_lines(old: &Examined, new: &Examined) -> Result<BTreeSet<String>, Error> {
    let texts = [old.expanded()?, new.expanded()?];
    let [old, new] = [&texts[0], &texts[1]].map(|texts| tokens_of(texts));
    Ok(lines_between(&old, &new))
}

/// Whether both preprocessed texts have the same tokens.
pub fn is_same(old: &PreprocessedRtl, new: &PreprocessedRtl) -> bool {
    tokens_of(old) == tokens_of(new)
}

/// A word, a number, a string or a sign, and its place.
#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    file: &'a str,
    line: u32,
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Token<'_> {
    /// The place with the name that Verilator sees.
    fn place_and_name(&self) -> String {
        format!("{}:{}", PreprocessedRtl::place(self.file), self.line)
    }
}

/// Ends each text, so that no token moves from one to the next unnoticed.
const END: Token<'static> = Token { text: "\n", file: "", line: 0 };

fn tokens_of(texts: &PreprocessedRtl) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    for texts in &texts.simulated {
        for text in texts {
            tokens(text, &mut all);
            all.push(END);
        }
        all.push(END);
    }
    all
}

fn tokens<'a>(text: &'a str, all: &mut Vec<Token<'a>>) {
    // The file, the line of the text behind its directive, and the number of that line.
    let (mut file, mut first, mut number) = ("", 1, 1);
    for token in verilated_lexer::tokens(text) {
        let directive = line_directive(token.text).filter(|_| token.kind == Kind::LineDirective);
        if let Some((named, name, _)) = directive {
            (file, first, number) = (name, token.line.saturating_add(1), named);
        } else if token.is_code() || is_obeyed(&token) {
            let line = number.saturating_add(token.line.saturating_sub(first));
            // What follows may be C++, in which blanks and comments are others.
            let is_foreign = token.kind == Kind::Directive && token.text.starts_with("`systemc_");
            let text = if is_foreign { &text[token.start..] } else { token.text };
            all.push(Token { text, file, line });
        }
    }
}

/// Whether Verilator obeys a comment: one that begins with its name.
fn is_obeyed(token: &verilated_lexer::Token<'_>) -> bool {
    const NAME: &str = "verilator";
    let comment = token.comment().and_then(|comment| comment.get(..NAME.len()));
    comment.is_some_and(|begin| begin.eq_ignore_ascii_case(NAME))
}

type Row<'t, 'a> = &'t [Token<'a>];

fn rows<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<Row<'t, 'a>> {
    tokens.chunk_by(|one, next| (one.file, one.line) == (next.file, next.line)).collect()
}

fn lines_between(old: &[Token<'_>], new: &[Token<'_>]) -> BTreeSet<String> {
    fn text(row: &&[Token<'_>]) -> String {
        row.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }
    let texts = |rows: &[Row<'_, '_>]| rows.iter().map(text).collect::<Vec<String>>();
    let (old, new) = (rows(old), rows(new));
    let mut lines = BTreeSet::new();
    for change in capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&new)) {
        let (tag, _, mut range) = change.as_tag_tuple();
        match tag {
            DiffTag::Equal => continue,
            DiffTag::Delete => range = range.start.saturating_sub(1)..range.start + 1,
            DiffTag::Insert | DiffTag::Replace => {}
        }
        let changed = new.get(range.start..range.end.min(new.len())).unwrap_or_default();
        lines.extend(
            changed.iter().filter(|row| row[0].line > 0).map(|row| row[0].place_and_name()),
        );
    }
    lines
}

#[cfg(test)]
mod tests;
