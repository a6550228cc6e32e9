//! Escapes foreign text for each output format.
//!
//! Names of files, vectors, waivers and RTL are untrusted. Text written into a format goes through
//! the function of that format. For the terminal, HTML, XML and JSON, all output passes through one
//! function (`cli::print_text`, `cli::print_json`, `program::show`, `report::page`), so callers
//! need not escape. A value that must stay on one line goes through [`line()`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Whether a character can control the output or hide text: control characters, line separators,
/// direction overrides, and invisible marks.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

/// Replaces each character that is `escaped` by the output of `escape`.
fn replaced(
    text: &str,
    escaped: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if escaped(letter) { escape(letter, &mut safe) } else { safe.push(letter) }
    }
    Cow::Owned(safe)
}

fn unicode(letter: char, safe: &mut String) {
    safe.extend(letter.escape_unicode());
}

/// Text for a terminal, a log, HTML or XML. Control characters become `\u{1b}`; newlines and tabs
/// stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| is_unsafe(letter) && !matches!(letter, '\n' | '\t'), unicode)
}

/// A value that must stay on one line.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_unsafe, |letter, safe| match letter {
        '\n' | '\r' | '\t' => safe.extend(letter.escape_default()),
        letter => unicode(letter, safe),
    })
}

/// A path on one line.
pub fn path(path: &Path) -> String {
    line(&path.display().to_string()).into_owned()
}

/// JSON from `serde_json`, for a terminal. Unsafe characters occur in strings only, where JSON
/// escapes are valid.
pub fn json(text: &str) -> Cow<'_, str> {
    replaced(
        text,
        |letter| is_unsafe(letter) && letter != '\n',
        |letter, safe| {
            let _ = write!(safe, "\\u{:04x}", u32::from(letter));
        },
    )
}

/// A code span of Markdown, valid in a table, too: only backticks end a code span, and a bar ends a
/// table cell.
pub fn markdown(text: &str) -> String {
    let text = line(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A Verilog line comment. Simulators differ in how they read characters beyond ASCII.
pub fn verilog_comment(text: &str) -> Cow<'_, str> {
    replaced(
        text,
        |letter| !matches!(letter, ' '..='~'),
        |letter, safe| match letter {
            '\n' | '\r' | '\t' => safe.extend(letter.escape_default()),
            letter => unicode(letter, safe),
        },
    )
}

/// The string argument of a Verilog `$display`.
pub fn verilog_string(text: &str) -> String {
    let mut quoted = String::new();
    for letter in verilog_comment(text).chars() {
        match letter {
            '%' => quoted.push_str("%%"),
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter => quoted.push(letter),
        }
    }
    quoted
}

/// The text of a GitHub workflow command.
pub fn github(text: &str) -> String {
    let text = lines(&text.replace('\r', "")).replace('%', "%25");
    text.replace('\n', "%0A")
}

/// A property of a GitHub workflow command.
pub fn github_property(text: &str) -> String {
    github(text).replace(':', "%3A").replace(',', "%2C")
}

/// A hint such as "; did you mean `run`?" if one of the known names is similar to `name`; otherwise
/// nothing.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    like(name, known).map_or_else(String::new, |like| format!("; did you mean `{like}`?"))
}

/// The known name that is most like this one, if any is like it.
pub fn like<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    let most = (name.chars().count() / 3).max(1);
    known.into_iter().min_by_key(distance).filter(|like| distance(like) <= most)
}

/// The percentage with two decimals, rounded down, so that 100 means all; 0 if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => (part * 10_000 / whole) as f64 / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ESC, BEL, CR, NEL, CSI, line and paragraph separators, a direction override, a zero-width
    /// space.
    const EVIL: [char; 9] =
        ['\x1b', '\x07', '\r', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}', '\u{202e}', '\u{200b}'];

    #[test]
    fn no_format_lets_control_characters_through() {
        for letter in EVIL {
            let text = format!("a{letter}b");
            for safe in [
                lines(&text).into_owned(),
                line(&text).into_owned(),
                path(Path::new(&text)),
                json(&text).into_owned(),
                markdown(&text),
                verilog_comment(&text).into_owned(),
                verilog_string(&text),
                github(&text),
                github_property(&text),
            ] {
                assert!(!safe.chars().any(|letter| EVIL.contains(&letter)), "{text:?}: {safe:?}");
            }
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        let text = "RTL ok: a-b_c/d.v, 100 cycles; \u{e4}\u{4e2d} \u{2026} \u{1f600}";
        for safe in [lines(text), line(text), json(text)] {
            assert_eq!(safe, text);
        }
        assert_eq!(lines("a\n\tb"), "a\n\tb");
        assert_eq!(line("a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn each_format_has_its_own_escapes() {
        assert_eq!(lines("\x1b[31m"), "\\u{1b}[31m");
        assert_eq!(json("{\n \"a\u{9b}\": 1}"), "{\n \"a\\u009b\": 1}");
        assert_eq!(markdown("a|b"), "`a\\|b`");
        assert_eq!(markdown("a``b\nc"), "``` a``b\\nc ```");
        assert_eq!(verilog_comment("x\nendmodule \u{e4}"), "x\\nendmodule \\u{e4}");
        assert_eq!(verilog_string("100 % \"of\" a\\b\nc"), "100 %% \\\"of\\\" a\\\\b\\\\nc");
        assert_eq!(github("100%\na\r"), "100%25%0Aa");
        assert_eq!(github_property("a:b,c\n"), "a%3Ab%2Cc%0A");
    }
}
