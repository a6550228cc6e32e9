//! Splits preprocessed SystemVerilog into tokens, without comments and directives.

use super::WeaveError;

/// The tokens of a text.
pub type Tokens = Vec<String>;

/// Operators of several characters, longest first. `(*` and `@*` stay two tokens each, because
/// `(*)` is no attribute.
const OPERATORS: [&str; 37] = [
    "<<<=", ">>>=", "<<<", ">>>", "===", "!==", "==?", "!=?", "<<=", ">>=", "<=", ">=", "==", "!=",
    "&&", "||", "<<", ">>", "**", "~&", "~|", "~^", "^~", "+:", "-:", "->", "=>", "::", "++", "--",
    "+=", "-=", "*=", "/=", "&=", "|=", ".*",
];
/// Tokens that end a line of output, for readability.
const LINE_ENDS: [&str; 8] =
    [";", "begin", "end", "endcase", "endmodule", "endpackage", "endfunction", "endtask"];

/// Splits a text into tokens.
pub fn tokens(text: &str) -> Result<Tokens, WeaveError> {
    let mut tokens = Tokens::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '`' => line(rest),
            '/' if rest.starts_with("//") => line(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string(rest).ok_or_else(|| WeaveError::new("a string does not end"))?,
            '\\' => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            '\'' => prefix(&rest[1..], |c| c.is_ascii_alphanumeric() || "_?".contains(c)) + 1,
            _ if first.is_ascii_digit() => number(rest),
            _ if is_name(first) => prefix(rest, |c| is_name(c) || c.is_ascii_digit()),
            _ => OPERATORS
                .iter()
                .find(|operator| rest.starts_with(**operator))
                .map_or(first.len_utf8(), |operator| operator.len()),
        };
        let (token, behind) = rest.split_at(length);
        let is_left_out =
            token.starts_with('`') || token.starts_with("//") || token.starts_with("/*");
        if !is_left_out {
            tokens.push(token.to_owned());
        }
        rest = behind.trim_start();
    }
    Ok(tokens)
}

pub fn text(tokens: &[String]) -> String {
    let mut text = String::new();
    for token in tokens {
        text += token;
        text.push(if LINE_ENDS.contains(&token.as_str()) { '\n' } else { ' ' });
    }
    text
}

/// Splits a text without string literals at blanks.
pub fn words(text: &str) -> Tokens {
    text.split(' ').map(str::to_owned).collect()
}

/// Whether a token is a name or a keyword.
pub fn is_identifier(token: &str) -> bool {
    token.starts_with(|first| is_name(first) && first != '$') || token.starts_with('\\')
}

/// Appends a token.
pub fn push(tokens: &mut Tokens, token: &str) {
    tokens.push(token.to_owned());
}

/// Splits a list at commas outside of brackets. Omits the last token, which ends the list.
pub fn split(list: &[String]) -> impl Iterator<Item = &[String]> {
    let mut depth = 0_u32;
    let list = &list[..list.len().saturating_sub(1)];
    list.split(move |token| {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token == ","
    })
    .filter(|part| !part.is_empty())
}

/// The tokens before and after the first token `at`.
pub fn parted<'a>(
    tokens: &'a [String],
    at: &str,
) -> Result<(&'a [String], &'a [String]), WeaveError> {
    let place = tokens.iter().position(|token| token == at);
    let place = place.ok_or_else(|| WeaveError(format!("an item without `{at}`")))?;
    Ok((&tokens[..place], &tokens[place + 1..]))
}

/// The index of the bracket that matches the one at `close`.
pub fn opening(tokens: &[String], close: usize) -> Option<usize> {
    let mut depth = 0_u32;
    if tokens.get(close)? != ")" {
        return None;
    }
    tokens[..=close].iter().rposition(|token| {
        match token.as_str() {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// The length of the longest prefix whose characters are all of a kind.
fn prefix(text: &str, is_of_kind: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_of_kind(c)).unwrap_or(text.len())
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

/// The length of a number, including base and digits.
fn number(text: &str) -> usize {
    let digits = prefix(text, |c| c.is_ascii_digit() || "_.".contains(c));
    let Some(based) = text[digits..].strip_prefix('\'') else { return digits };
    let base = based.trim_start_matches(['s', 'S']);
    if !base.starts_with(|c: char| "bodhBODH".contains(c)) {
        return digits;
    }
    digits + 1 + prefix(based, |c| c.is_ascii_alphanumeric() || "_?".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_names_numbers_strings_and_operators() {
        let text = "`default_nettype none\nassign a=b<=8'hF_f?\"x\\\"y\":'0;// c\n/* d */always @(*) x[3 +: 2]<<<=1;";
        let expected = [
            "assign",
            "a",
            "=",
            "b",
            "<=",
            "8'hF_f?",
            "\"x\\\"y\"",
            ":",
            "'0",
            ";",
            "always",
            "@",
            "(",
            "*",
            ")",
            "x",
            "[",
            "3",
            "+:",
            "2",
            "]",
            "<<<=",
            "1",
            ";",
        ];
        assert_eq!(tokens(text).unwrap(), expected);
        assert!(tokens("\"no end").is_err());
    }

    #[test]
    fn tokens_survive_their_text() {
        let before = tokens("module m;wire[1:0]a={1'b0,b};endmodule").unwrap();
        assert_eq!(tokens(&text(&before)).unwrap(), before);
    }
}
