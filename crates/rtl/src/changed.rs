//! What changed between two versions of an RTL.
//!
//! Both texts are compared after preprocessing, token by token. A change inside of a `begin`..`end`
//! block of a process has no effect on a simulation that never enters the block.

use crate::models::{Examined, Pragmas, PreprocessedRtl};
use cosim_base::error::Error;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use std::collections::BTreeSet;
use std::ops::Range;
use verilated_lexer::Kind;

/// A file, and a line from 1. The file has its name as Verilator sees it, but without the folder
/// that all files have: RTL may be built in at one time and given as a folder at another.
pub type Line = (String, u32);

/// The folders of Verilator's names that stand for all of the RTL.
const FOLDERS: [&str; 2] = ["@rtl/", "@built-in/"];

/// The name of a file in a [`Line`].
pub fn file_of_line(name: &str) -> &str {
    FOLDERS.iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name)
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// Nothing: the tokens are the same.
    Nothing,
    /// Statements inside of blocks of processes. For each block, its lines in the old RTL.
    Blocks(Vec<BTreeSet<Line>>),
    /// Something else, first at this place of the new RTL.
    Anything(String),
}

/// What differs between two RTLs.
///
/// # Errors
/// If Verilator's preprocessor fails.
pub fn changed(old: &Examined, new: &Examined) -> Result<Changed, Error> {
    let data = |examined: &Examined| -> Vec<_> {
        examined.design.data.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
    };
    if data(old) != data(new) {
        return Ok(Changed::Anything("a data file".to_owned()));
    }
    let texts = [old.expanded(Pragmas::Ignored)?, new.expanded(Pragmas::Ignored)?];
    let [old, new] = [&texts[0], &texts[1]].map(|texts| tokens_of(texts));
    Ok(between(&old, &new))
}

/// The lines of the new RTL whose tokens differ from the old RTL, and those beside deleted lines:
/// names as Verilator sees them, with the number of the line.
///
/// # Errors
/// If Verilator's preprocessor fails.
pub fn changed_lines(old: &Examined, new: &Examined) -> Result<BTreeSet<String>, Error> {
    let texts = [old.expanded(Pragmas::Ignored)?, new.expanded(Pragmas::Ignored)?];
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
    fn place(&self) -> Line {
        (PreprocessedRtl::place(file_of_line(self.file)), self.line)
    }

    /// The place with the name that Verilator sees.
    fn seen(&self) -> String {
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
        if let Some((name, named)) = directive(&token) {
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

/// File and number of a directive such as `` `line 3 "a.v" 1``.
fn directive<'a>(token: &verilated_lexer::Token<'a>) -> Option<(&'a str, u32)> {
    let is_directive = token.kind == Kind::LineDirective;
    let text = token.text.strip_prefix("`line").filter(|_| is_directive)?;
    let (number, rest) = text.split_once('"')?;
    let (name, _) = rest.rsplit_once('"')?;
    Some((name, number.trim().parse().ok()?))
}

const PROCESSES: [&str; 4] = ["always", "always_ff", "always_comb", "always_latch"];

/// A text without the blocks of its processes, and these blocks.
struct Cut<'t, 'a> {
    outside: Vec<Token<'a>>,
    bodies: Vec<&'t [Token<'a>]>,
}

impl<'t, 'a> Cut<'t, 'a> {
    fn new(tokens: &'t [Token<'a>]) -> Self {
        let mut cut = Self { outside: Vec::new(), bodies: Vec::new() };
        let mut at = 0;
        while at < tokens.len() {
            let body = PROCESSES.contains(&tokens[at].text).then(|| body(tokens, at)).flatten();
            let end = body.as_ref().map_or(at + 1, |body| body.start);
            cut.outside.extend(&tokens[at..end]);
            at = end;
            if let Some(body) = body {
                at = body.end;
                cut.bodies.push(&tokens[body]);
            }
        }
        cut
    }
}

/// The inside of the block of a process whose keyword is at a place.
fn body(tokens: &[Token<'_>], keyword: usize) -> Option<Range<usize>> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    let mut at = keyword + 1;
    if is(at, "@") {
        at += 1;
        if is(at, "(") {
            let mut depth = 0_usize;
            loop {
                depth = if is(at, "(") { depth + 1 } else { depth };
                depth = if is(at, ")") { depth - 1 } else { depth };
                at += 1;
                if depth == 0 {
                    break;
                }
                tokens.get(at)?;
            }
        } else {
            at += 1;
        }
    }
    (is(at, "begin")).then_some(())?;
    Some(at + 1..end_of_block(tokens, at)?)
}

/// The `end` of the block whose `begin` is at a place.
fn end_of_block(tokens: &[Token<'_>], begin: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.text {
            "begin" => depth += 1,
            "end" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn between(old: &[Token<'_>], new: &[Token<'_>]) -> Changed {
    let cuts = [Cut::new(old), Cut::new(new)];
    let [old, new] = &cuts;
    let anything = |token: Option<&Token<'_>>| match token {
        Some(token) if token.line > 0 => Changed::Anything(token.seen()),
        _ => Changed::Anything("the end of a file".to_owned()),
    };
    let same = common(&old.outside, &new.outside);
    if old.outside != new.outside || old.bodies.len() != new.bodies.len() {
        return anything(new.outside.get(same));
    }
    let mut blocks = Vec::new();
    for (old, new) in old.bodies.iter().zip(&new.bodies).filter(|(old, new)| old != new) {
        match changed_blocks(old, new) {
            Ok(found) => blocks
                .extend(found.into_iter().map(|at| old[at].iter().map(Token::place).collect())),
            Err(at) => return anything(new.get(at).or(new.last())),
        }
    }
    if blocks.is_empty() { Changed::Nothing } else { Changed::Blocks(blocks) }
}

/// Length of the common beginning.
fn common(old: &[Token<'_>], new: &[Token<'_>]) -> usize {
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

/// The innermost blocks that contain all that differs between two bodies: their tokens in the old
/// one. An error is a place of the new one where the body itself differs.
fn changed_blocks(old: &[Token<'_>], new: &[Token<'_>]) -> Result<Vec<Range<usize>>, usize> {
    fn texts<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
        tokens.iter().map(|token| token.text).collect()
    }
    let changes = capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new));
    // The same token in the new body.
    let mut same = vec![None; old.len()];
    for (tag, old, new) in changes.iter().map(DiffOp::as_tag_tuple) {
        if tag == DiffTag::Equal {
            old.zip(new).for_each(|(old, new)| same[old] = Some(new));
        }
    }
    let mut blocks = Vec::new();
    for (tag, old_range, new_range) in changes.iter().map(DiffOp::as_tag_tuple) {
        if tag == DiffTag::Equal {
            continue;
        }
        let mut open = Vec::new();
        for (at, token) in old[..old_range.start].iter().enumerate() {
            match token.text {
                "begin" => open.push(at),
                "end" => drop(open.pop()),
                _ => {}
            }
        }
        // A block that begins and ends at the same tokens in both, around the change.
        let block = |begin: &usize| {
            let end = end_of_block(old, *begin)?;
            let (new_begin, new_end) = (same[*begin]?, same[end]?);
            let is_around = end_of_block(new, new_begin) == Some(new_end)
                && old_range.end <= end
                && (new_begin + 1..=new_end).contains(&new_range.start)
                && new_range.end <= new_end;
            is_around.then_some(*begin + 1..end)
        };
        blocks.push(open.iter().rev().find_map(block).ok_or(new_range.start)?);
    }
    Ok(blocks)
}

/// A line as its tokens.
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
        lines.extend(changed.iter().filter(|row| row[0].line > 0).map(|row| row[0].seen()));
    }
    lines
}

#[cfg(test)]
mod tests;
