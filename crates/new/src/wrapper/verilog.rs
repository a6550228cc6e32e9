//! Names in Verilog text.

use verilated_lexer::is_keyword;

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// A name of letters, digits and `_`; other characters become `_`.
pub fn plain(name: &str) -> String {
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

/// A name of the RTL as an identifier, escaped where it has to be. An escaped identifier contains
/// the printable characters of ASCII only; others cannot be in a name, and become `_`.
pub fn name(name: &str) -> String {
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if begins && name.chars().all(is_plain) && !is_keyword(name) {
        return name.to_owned();
    }
    let printable = |letter: char| if letter.is_ascii_graphic() { letter } else { '_' };
    format!("\\{} ", name.chars().map(printable).collect::<String>())
}

/// The text of a type, such as `logic [7:0]` or `package::type [1:0]`.
pub fn type_text(text: &str) -> String {
    let Some((package, rest)) = text.split_once("::") else { return text.to_owned() };
    let end = rest.find(|letter| !is_plain(letter)).unwrap_or(rest.len());
    let (kind, ranges) = rest.split_at(end);
    format!("{}::{}{ranges}", name(package), name(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::names as hostile_names;

    #[test]
    fn names_are_escaped_where_they_have_to_be() {
        for (given, expected) in [
            ("a", "a"),
            ("_a0", "_a0"),
            ("use", "\\use "),
            ("a+b", "\\a+b "),
            ("0", "\\0 "),
            ("a b\n", "\\a_b_ "),
        ] {
            assert_eq!(name(given), expected);
        }
        for (given, expected) in [
            ("logic [7:0]", "logic [7:0]"),
            ("p::t [1:0][2:0]", "p::t [1:0][2:0]"),
            ("p::use [1:0]", "p::\\use  [1:0]"),
        ] {
            assert_eq!(type_text(given), expected);
        }
    }

    /// An escaped identifier ends at white space.
    #[test]
    fn no_name_ends_an_identifier_early() {
        for given in hostile_names() {
            let escaped = name(&given);
            let inner =
                escaped.strip_prefix('\\').map_or(escaped.as_str(), |rest| &rest[..rest.len() - 1]);
            assert!(inner.chars().all(|letter| letter.is_ascii_graphic()), "{given:?}");
            assert!(plain(&given).chars().all(is_plain), "{given:?}");
        }
    }
}
