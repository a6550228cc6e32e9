//! Breaks lines that are wider than the terminal.
//!
//! A terminal breaks a line in the middle of a word, and the next row begins at its edge. Here, the
//! rest of a line is indented. A command stays one that a shell reads, with `\` at its breaks.

use std::io;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Terminals that are narrower are treated as having this width.
const LEAST: usize = 20;

/// The terminal on standard output.
pub struct Terminal<'a> {
    width: Option<usize>,
    /// The program with which commands begin, which may follow a word with a colon.
    program: &'a str,
}

impl<'a> Terminal<'a> {
    pub fn new(program: &'a str) -> Self {
        let size = terminal_size::terminal_size_of(io::stdout());
        Self { width: size.map(|(width, _)| usize::from(width.0).max(LEAST)), program }
    }

    pub fn fit(&self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let mut fitted = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            if line.width() <= width {
                fitted += line;
            } else {
                break_line(line, width, is_command(line, self.program), &mut fitted);
            }
            fitted += end;
        }
        fitted
    }

    /// The number of rows of a line.
    pub fn height(&self, line: &str) -> usize {
        self.fit(line).lines().count()
    }
}

fn is_command(line: &str, program: &str) -> bool {
    let line = line.trim_start();
    let after = line.split_once(": ").map_or("", |(_, rest)| rest);
    let begins = |text: &str| text.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '));
    begins(line) || begins(after)
}

/// The state of a shell that reads a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

fn break_line(line: &str, width: usize, is_command: bool, fitted: &mut String) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let hanging = " ".repeat((indent + 2).min(width / 2));
    // Room for ` \`, or for `'\` in quotes.
    let most = if is_command { width - 2 } else { width };
    let (mut row, mut columns, mut quote, mut escaped) = (String::new(), 0, Quote::None, false);
    // The place behind the last space at which the row can end.
    let mut space = None;
    for letter in line.chars() {
        let wide = letter.width().unwrap_or(0);
        if columns + wide > most && !escaped {
            match space.take() {
                Some(place) => {
                    let rest = row.split_off(place);
                    *fitted += row.trim_end_matches(' ');
                    *fitted += if is_command { " \\\n" } else { "\n" };
                    let room = most.saturating_sub(rest.width() + wide);
                    row = format!("{}{rest}", &hanging[..hanging.len().min(room)]);
                }
                None if !is_command => {
                    *fitted += &row;
                    fitted.push('\n');
                    row = hanging.clone();
                }
                // An indented rest would be a word of its own.
                None if quote == Quote::Single => {
                    *fitted += &row;
                    *fitted += "'\\\n";
                    row = "'".to_owned();
                }
                None => {
                    *fitted += &row;
                    *fitted += "\\\n";
                    row.clear();
                }
            }
            columns = row.as_str().width();
        }
        row.push(letter);
        columns += wide;
        let was_escaped = std::mem::take(&mut escaped);
        if is_command && !was_escaped {
            match (letter, quote) {
                ('\\', Quote::None | Quote::Double) => escaped = true,
                ('\'', Quote::None) => quote = Quote::Single,
                ('\'', Quote::Single) | ('"', Quote::Double) => quote = Quote::None,
                ('"', Quote::None) => quote = Quote::Double,
                _ => {}
            }
        }
        let ends_word = letter == ' ' && quote == Quote::None && !was_escaped;
        if ends_word && !row.trim_start().is_empty() {
            space = Some(row.len());
        }
    }
    *fitted += &row;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(text: &str, width: usize, program: &str) -> String {
        Terminal { width: Some(width), program }.fit(text)
    }

    fn assert_fits(text: &str, width: usize) {
        for line in text.lines() {
            assert!(line.width() <= width, "{} of {width}: {line:?}", line.width());
        }
    }

    #[test]
    fn a_long_line_breaks_between_words_and_its_rest_is_indented() {
        let text = "short\n    one two three four five six\n";
        let expected = "short\n    one two three\n      four five six\n";
        assert_eq!(fit(text, 20, "cosim"), expected);
        assert_eq!(fit(text, 80, "cosim"), text);
        // A word that is too long, in letters of two columns.
        let wide = format!("  vector: {}/x.json", "\u{5bbd}".repeat(40));
        let fitted = fit(&wide, 30, "cosim");
        assert_fits(&fitted, 30);
        let joined: String = fitted.lines().map(str::trim_start).collect();
        assert_eq!(joined.replace("vector:", ""), wide.trim_start().replace("vector: ", ""));
    }

    /// The words of a command, as a shell reads them.
    fn words(command: &str) -> String {
        let mut bash = std::process::Command::new("bash");
        let output = bash.arg("-c").arg(format!("printf '%s|' {}", command.trim_start()));
        String::from_utf8(output.output().expect("bash runs").stdout).expect("UTF-8")
    }

    #[test]
    fn a_broken_command_has_the_same_words_for_a_shell() {
        let long = "x/".repeat(60);
        for command in [
            "    target/debug/cosim run --seed 1 --case thread2/spec/smoke/0 --rtl my-rtl"
                .to_owned(),
            "    cosim explain 1 --rtl 'my  rtl with spaces and a long name' --assertions"
                .to_owned(),
            format!("    cosim run --rtl {long} --rtl '{long} {long}'"),
            format!("    cosim run --rtl \"it's $long {long}\" a\\ b\\'c\\\"d"),
            format!("    cosim run --rtl '{long}'\"'\"'{long}'"),
        ] {
            let program = if command.contains("target") { "target/debug/cosim" } else { "cosim" };
            for width in (20..100).step_by(9) {
                let fitted = fit(&command, width, program);
                assert_fits(&fitted, width);
                assert_eq!(words(&fitted), words(&command), "{width}: {fitted}");
            }
        }
    }
}
