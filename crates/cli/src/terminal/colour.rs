//! Colours of output for people.
//!
//! Text is painted after its control characters were escaped. `anstream` removes the colours where
//! there is no terminal, and where `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const UNSURE: Style = AnsiColor::Yellow.on_default().bold();

/// Words at the beginning of a line, and their style.
const WORDS: [(&str, Style); 8] = [
    ("PASS", GOOD),
    ("FAIL", BAD),
    ("NOT WRITTEN", BAD),
    ("INTERRUPTED", UNSURE),
    ("STOPPED", UNSURE),
    ("error", BAD),
    ("internal error", BAD),
    ("warning", UNSURE),
];

pub fn painted(text: &str) -> String {
    let mut painted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let first = |(word, _): &&(&str, Style)| {
            let after = line.strip_prefix(word)?.chars().next();
            after.is_none_or(|c| !c.is_alphanumeric() && c != '_').then_some(())
        };
        match WORDS.iter().find(|word| first(word).is_some()) {
            Some((word, style)) => {
                let rest = &line[word.len()..];
                painted += &format!("{style}{word}{style:#}{rest}");
            }
            None => painted += line,
        }
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_errors_at_the_beginning_of_a_line_have_colours() {
        let text = painted("PASS  dll\n  FAIL\nerror[E0101]: x\nPASSED\n");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains('\u{1b}') && lines[2].contains('\u{1b}'), "{text:?}");
        assert_eq!((lines[1], lines[3]), ("  FAIL", "PASSED"));
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "PASS  dll\n  FAIL\nerror[E0101]: x\nPASSED\n"
        );
    }
}
