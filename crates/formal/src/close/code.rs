//! The text of an RTL without comments and strings, and where its statements are.

use super::instrument::{LineOf, Range};
use std::collections::{BTreeMap, BTreeSet};
use verilated_lexer::{Kind, tokens};

pub type LineAndColumn = (u32, u32);

/// The lines of a file. Comments and texts are blank, and each sign keeps its column.
#[derive(Debug, Default)]
pub struct Code {
    lines: Vec<String>,
}

impl Code {
    fn read_file<'t>(file: &str, line_of: &LineOf<'t>) -> Self {
        let lines = (1..).map_while(|number| line_of(file, number));
        let text: Vec<&str> = lines.collect();
        let text = text.join("\n");
        let mut code = String::with_capacity(text.len());
        for token in tokens(&text) {
            let filler = match token.kind {
                Kind::LineComment | Kind::BlockComment | Kind::String => " ",
                // A word in place of the name.
                Kind::EscapedName => "_",
                _ => {
                    code.push_str(token.text);
                    continue;
                }
            };
            for line in token.text.split_inclusive('\n') {
                let part = line.strip_suffix('\n').unwrap_or(line);
                code.push_str(&filler.repeat(part.len()));
                code.push_str(&line[part.len()..]);
            }
        }
        Self { lines: code.split('\n').map(str::to_owned).collect() }
    }

    pub fn line(&self, number: u32) -> Option<&str> {
        self.lines.get((number as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The words and other signs of a range, with their places; `None` if a macro or a directive
    /// hides some.
    fn tokens(&self, range: &Range<'_>) -> Option<Vec<(LineAndColumn, &str)>> {
        let mut all = Vec::new();
        for line in range.from.0..=range.to.0 {
            let code = self.line(line)?;
            let mut rest = code;
            while let Some(sign) = rest.chars().next() {
                let place = (line, (code.len() - rest.len()) as u32 + 1);
                let length = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
                let (word, behind) = rest.split_at(length.max(sign.len_utf8()));
                rest = behind;
                let is_there = range.from <= place && place < range.to;
                if !is_there || word.trim().is_empty() {
                    continue;
                }
                if word == "`" {
                    return None;
                }
                all.push((place, word));
            }
        }
        Some(all)
    }

    /// Where the `else` of the `if` of this range is, if it has one; `None` if the text does not
    /// show it.
    pub fn other_side(&self, range: &Range<'_>) -> Option<Option<LineAndColumn>> {
        let tokens = self.tokens(range)?;
        let (places, words): (Vec<LineAndColumn>, Vec<&str>) = tokens.into_iter().unzip();
        if words.first() != Some(&"if") {
            return None;
        }
        let end = statement(&words, behind_parentheses(&words, 1)?)?;
        match words.get(end) {
            None => Some(None),
            Some(&"else") if statement(&words, end + 1)? == words.len() => Some(Some(places[end])),
            Some(_) => None,
        }
    }

    /// The lines of functions and tasks. Yosys may evaluate a call at once, so that its statements
    /// are not in the netlist. All lines, if a macro may begin or end one.
    pub fn lines_of_functions(&self) -> BTreeSet<u32> {
        let (mut lines, mut depth, mut in_macro) = (BTreeSet::new(), 0_u32, false);
        for (number, code) in (1..).zip(&self.lines) {
            in_macro |= code.trim_start().starts_with("`define");
            let mut is_inside = depth > 0;
            for word in code.split(|sign| !is_part(sign)) {
                let is_end = matches!(word, "endfunction" | "endtask");
                if !is_end && !matches!(word, "function" | "task") {
                    continue;
                }
                if in_macro {
                    return (1..).zip(&self.lines).map(|(number, _)| number).collect();
                }
                depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
                is_inside |= depth > 0;
            }
            in_macro &= code.trim_end().ends_with('\\');
            if is_inside {
                lines.insert(number);
            }
        }
        lines
    }
}

pub fn is_part(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_' || sign == '$'
}

/// The place behind a pair of parentheses that opens here.
fn behind_parentheses(words: &[&str], at: usize) -> Option<usize> {
    if words.get(at) != Some(&"(") {
        return None;
    }
    behind(words, at, &["("], &[")"])
}

/// The place behind the end of what opens here.
fn behind(words: &[&str], at: usize, opens: &[&str], closes: &[&str]) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, word) in words.iter().enumerate().skip(at) {
        if opens.contains(word) {
            depth += 1;
        } else if closes.contains(word) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(place + 1);
            }
        }
    }
    None
}

/// The place behind the statement that begins here; `None` if it is of another form.
fn statement(words: &[&str], at: usize) -> Option<usize> {
    let next = words.get(at + 1).copied();
    match *words.get(at)? {
        "begin" | "fork" => {
            let ends = ["end", "join", "join_any", "join_none"];
            let end = behind(words, at, &["begin", "fork"], &ends)?;
            Some(if words.get(end) == Some(&":") { end + 2 } else { end })
        }
        "if" => {
            let end = statement(words, behind_parentheses(words, at + 1)?)?;
            match words.get(end) {
                Some(&"else") => statement(words, end + 1),
                _ => Some(end),
            }
        }
        "unique" | "unique0" | "priority" => statement(words, at + 1),
        "case" | "casez" | "casex" => behind(words, at, &["case", "casez", "casex"], &["endcase"]),
        "for" | "while" | "repeat" | "foreach" => {
            statement(words, behind_parentheses(words, at + 1)?)
        }
        ";" => Some(at + 1),
        "(" if next == Some("*") => {
            let end = words[at..].windows(2).position(|pair| pair == ["*", ")"])?;
            statement(words, at + end + 2)
        }
        word if word.starts_with(is_part) && next == Some(":") => statement(words, at + 2),
        word if word.starts_with(is_part) || word == "{" => {
            // No statement is a part of an assignment.
            const OTHERS: [&str; 14] = [
                "begin", "end", "if", "else", "case", "casez", "casex", "endcase", "for", "while",
                "do", "forever", "wait", "fork",
            ];
            let end = words[at..].iter().position(|word| *word == ";")?;
            let is_one = !words[at..at + end].iter().any(|word| OTHERS.contains(word));
            is_one.then_some(at + end + 1)
        }
        _ => None,
    }
}

/// The code of the files that have points.
#[derive(Debug)]
pub struct Codes {
    files: BTreeMap<String, Code>,
}

impl Codes {
    pub fn new<'a, 't>(files: impl Iterator<Item = &'a str>, line_of: &LineOf<'t>) -> Self {
        let files: BTreeSet<&str> = files.collect();
        let code = |file: &str| (file.to_owned(), Code::read_file(file, line_of));
        Self { files: files.into_iter().map(code).collect() }
    }

    pub fn code_of_file(&self, file: &str) -> Option<&Code> {
        self.files.get(file)
    }

    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        self.code_of_file(file)?.line(line)
    }
}
